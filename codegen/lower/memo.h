/* Values of Dims that are available at the builder's position. Scopes nest: what was added since
 * memo_open is forgotten by memo_close, because it does not dominate what follows. */
#ifndef TCC_CODEGEN_LOWER_MEMO_H
#define TCC_CODEGEN_LOWER_MEMO_H

#include <llvm-c/Types.h>

#include "base/vec.h"
#include "ir/dim.h"

enum { MEMO_HEADS = 256 };

typedef struct MemoEntry {
    const Dim *dim;
    uint32_t form; /* 0: scalar; else which lanes */
    LLVMValueRef value;
    uint32_t next; /* index + 1 of the entry before it under the same head */
} MemoEntry;

typedef struct Memo {
    Arena *arena;
    VEC(MemoEntry) entries;
    uint32_t heads[MEMO_HEADS];
} Memo;

LLVMValueRef memo_find(const Memo *memo, const Dim *dim, uint32_t form); /* NULL when absent */
void memo_add(Memo *memo, const Dim *dim, uint32_t form, LLVMValueRef value);
size_t memo_open(const Memo *memo);
void memo_close(Memo *memo, size_t mark);

#endif
