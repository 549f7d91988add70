// PTX texts of many kernels in one file for ptxas, whose start takes longer than a small kernel.
#ifndef TCC_TESTS_SUPPORT_PTX_BATCH_H
#define TCC_TESTS_SUPPORT_PTX_BATCH_H

#include "base/str.h"

typedef struct PtxBatch {
    Arena *arena;
    const char *target; // "sm_80"
    Buf text;
    long kernels, assembled; // waiting, and done
} PtxBatch;

// Where ptxas is; NULL where there is none.
const char *ptx_assembler(void);

// Adds a module's text, whose entries' names no other has. When there are enough they are
// assembled: NULL, or what ptxas says of them with the text.
const char *ptx_batch_add(PtxBatch *batch, Str ptx);

// Assembles what waits.
const char *ptx_batch_end(PtxBatch *batch);

#endif
