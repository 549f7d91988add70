// Makes a failing case smaller while it fails in the same way.
#ifndef TCC_TESTS_FUZZ_SHRINK_H
#define TCC_TESTS_FUZZ_SHRINK_H

#include "tests/fuzz/judge.h"

// `why` is what fuzz_judge_apart said of the case; the result says the like of it in fewer nodes,
// fewer elements and simpler numbers. In `arena`.
FuzzCase fuzz_shrink(FuzzJudge *judge, Arena *arena, const FuzzCase *c, uint32_t way,
                     const char *why);

#endif
