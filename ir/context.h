/* The IR context: one compilation's interning tables (dims, types, lists, strings) and blobs, in an
 * arena of session lifetime. Belongs to one thread at a time; several contexts are independent. */
#ifndef TCC_IR_CONTEXT_H
#define TCC_IR_CONTEXT_H

#include "base/diag.h"
#include "ir/dim.h"
#include "ir/dtype.h"
#include "ir/type.h"

/* `arena` outlives the context. ir_context_free only releases what lies outside it (blobs). */
IrContext *ir_context_new(Arena *arena);
void ir_context_free(IrContext *ctx);
Arena *ir_context_arena(IrContext *ctx);

/* Interned lists and strings: equal contents are the same pointer. */
typedef struct IntList {
    uint32_t count;
    int64_t items[];
} IntList;

typedef struct DimList {
    uint32_t count;
    const Dim *items[];
} DimList;

const IntList *ir_ints(IrContext *ctx, const int64_t *items, uint32_t count);

/* Where the first item of this value is, or -1; whether all items have it. */
int ints_find(const IntList *list, int64_t value);
bool ints_are(const IntList *list, int64_t value);
const DimList *ir_dims(IrContext *ctx, const Dim *const *items, uint32_t count);
const Str *ir_string(IrContext *ctx, Str text);

/* Blobs: constant tensor bytes (dense, row-major, in the dtype's memory form), shared by reference
 * and interned by content. Their memory is owned by the context or, for mapped weights, by
 * `release`. */
typedef struct Blob {
    const void *bytes;
    size_t size;
    uint64_t hash;                /* hash_bytes of the contents */
    void (*release)(void *owner); /* called once by ir_context_free; may be NULL */
    void *owner;
    uint32_t id;
} Blob;

/* Copies the bytes. */
const Blob *ir_blob(IrContext *ctx, const void *bytes, size_t size);
/* Takes the bytes as they are; `release(owner)` is called when the context is freed (or at once
 * when an equal blob exists already). */
const Blob *ir_blob_adopt(IrContext *ctx, const void *bytes, size_t size, void (*release)(void *),
                          void *owner);

/* The SHA-256 of a blob's bytes, computed on each call. */
void ir_blob_sha256(const Blob *blob, uint8_t out_digest[32]);

#endif
