/* A table of interned things: each is found by its hash and an equality test, and stays for ever.
 * What the context (context.h) is made of; its layout is seen by dim*.c, type.c and context.c
 * alone. */
#ifndef TCC_IR_INTERN_H
#define TCC_IR_INTERN_H

#include "base/map.h"
#include "base/vec.h"
#include "ir/context.h"

typedef struct InternSlot {
    uint64_t hash;
    const void *item; /* NULL: free */
} InternSlot;

/* Zero-initialised. */
typedef struct InternTable {
    InternSlot *slots;
    size_t slot_count, count;
} InternTable;

/* Whether an interned item has the contents that `key` describes. */
typedef bool InternEqual(const void *item, const void *key);

/* The item equal to `key`, or NULL. */
const void *intern_find(const InternTable *table, uint64_t hash, InternEqual *equal,
                        const void *key);
/* Adds an item that is not there yet. */
void intern_add(InternTable *table, Arena *arena, uint64_t hash, const void *item);

enum { SIZE_CACHE = 64 };

/* What type_bytes said of a type. */
typedef struct TypeSize {
    const Type *type;
    const Dim *bytes;
} TypeSize;

struct IrContext {
    Arena *arena;
    InternTable ints, dim_lists, strings, blobs, types, dims, atoms, quotients, shared_indices;
    VEC(const Blob *) blob_list;
    VEC(const DimSymbol *) symbols; /* by id */
    Map named_symbols;
    const Dim *overflow;
    TypeSize sizes[SIZE_CACHE]; /* lately, by the types' ids */
    uint32_t type_count, dim_count, atom_count;
};

#endif
