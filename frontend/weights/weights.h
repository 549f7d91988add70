/* Weights: named tensors out of .safetensors, .npz and .npy files and folders of them.
 *
 * A file is not trusted: sizes, counts and offsets are checked against the bytes that are there
 * before anything is read or allocated, and what is not exactly right is refused with the byte
 * where it stands w.safetensors: error: byte 1024: tensor "fc1.weight": … Limits: names of 65,535
 * bytes, rank 8, a safetensors header of 100,000,000 bytes, an .npy header of 10,000. NaN payloads,
 * infinities, denormals and -0 come through bit by bit.
 */
#ifndef TCC_FRONTEND_WEIGHTS_WEIGHTS_H
#define TCC_FRONTEND_WEIGHTS_WEIGHTS_H

#include "base/diag.h"
#include "base/status.h"
#include "ir/dtype.h"

enum { WEIGHT_MAX_RANK = 8, WEIGHT_MAX_NAME = 65535 };

/* The memory that the bytes of some weights lie in, outside the caller's arenas. Thread-safe. */
typedef struct WeightStorage WeightStorage;

typedef struct Weight {
    Str name;
    DType dtype;
    uint32_t rank;
    int64_t dims[WEIGHT_MAX_RANK];
    const void *bytes; /* dense, row-major, little-endian, aligned for the dtype; never written */
    size_t size;       /* of `bytes`; exactly what dtype and dims need */
    WeightStorage *storage;
    uint32_t file;   /* of the Diags, for messages about this tensor (with line 0) */
    uint64_t offset; /* of the tensor in that file, for "byte %llu" */
    bool used;       /* set by the caller; see weights_warn_unused */
} Weight;

typedef struct WeightTable WeightTable;

/* An empty table. weights_free drops its references to the storages; the caller guards that with
 * guard_defer where something may raise in between. */
WeightTable *weights_new(Arena *arena);
void weights_free(WeightTable *table);

/* Adds all tensors of a file or folder; may be called several times. `path` is used as it is (see
 * file_beside), `loc` is where it was named. An .npy file gives one tensor of its own name without
 * the suffix; of a folder all .npy, .npz and .safetensors files count, in the order of their names.
 * STATUS_invalid or STATUS_environment after at least one error; the table then holds what was
 * good. */
Status weights_load(WeightTable *table, Diags *diags, Loc loc, Str path);

/* A tensor of the dtype, dims and size of `shape`, whose bytes the caller writes to *out_bytes. It
 * has no name, and is none of the table's but lives as long, until weights_name; the name is
 * new. */
Weight *weights_add(WeightTable *table, const Weight *shape, void **out_bytes);
void weights_name(WeightTable *table, Weight *weight, Str name);

/* NULL when there is none. */
Weight *weights_find(const WeightTable *table, Str name);

/* From now on there is none of that name. */
void weights_forget(WeightTable *table, Str name);

/* In the order of loading. */
size_t weights_count(const WeightTable *table);
Weight *weights_at(const WeightTable *table, size_t index);

/* What the table was read from, in order: each file with its bytes; each folder with the names of
 * the files that counted in it. */
typedef struct WeightSource {
    Str path;
    const void *bytes;
    size_t size;
} WeightSource;
size_t weights_source_count(const WeightTable *table);
const WeightSource *weights_source_at(const WeightTable *table, size_t index);

/* The SHA-256 of what weights_source_at would now have as the bytes of `path`. Scratch memory comes
 * from `arena`. */
Status weights_digest(Arena *arena, Diags *diags, Str path, uint8_t out_digest[32]);

/* Writes the names of the first tensors with `used` unset, and returns how many there are. */
size_t weights_put_unused(const WeightTable *table, Buf *names);
/* One warning that names the tensors with `used` unset (the first few); none when all were used. */
void weights_warn_unused(const WeightTable *table, Diags *diags, Loc loc);

/* A further reference, and its end. release fits ir_blob_adopt: the owner is the storage. */
WeightStorage *weight_storage_retain(WeightStorage *storage);
void weight_storage_release(void *storage);

#endif
