// Whether a case compiles and gives the right values in one way of compiling it.
#ifndef TCC_TESTS_FUZZ_JUDGE_H
#define TCC_TESTS_FUZZ_JUDGE_H

#include "tests/fuzz/case.h"

// The ways, by number: -O0, -O2, then every pass left out and the orders that the table of passes
// allows.
enum { FUZZ_o0, FUZZ_o2, FUZZ_first_variant };
uint32_t fuzz_way_count(void);
const char *fuzz_way_name(uint32_t way);

typedef struct FuzzJudge FuzzJudge;
// Of what runs on `device`, as in tcc_open_options; NULL: on the CPU.
FuzzJudge *fuzz_judge_new(Arena *arena, const char *device);
void fuzz_judge_free(FuzzJudge *judge);

// Compiles the case and compares each kernel and the whole with the evaluator, runs with 1, 2 and 7
// threads (on a GPU, three in a row) with each other and, for exact cases, every bit with the
// evaluator's. NULL when all is well, else what is wrong, in `arena`.
const char *fuzz_judge(FuzzJudge *judge, Arena *arena, const FuzzCase *c, uint32_t way);

// What becomes, at the same effort of LLVM, the very program that the judge has found right is not
// run again: the same tile programs, launches and places of buffers are the same machine code on
// the same values. Both graphs of a pair count as one; fuzz_judge_forget begins another.
void fuzz_judge_forget(FuzzJudge *judge);
// Whether the last case was left alone for that.
bool fuzz_judge_was_repeated(const FuzzJudge *judge);

// The same in a process of its own, where crashes and endless loops are faults too.
const char *fuzz_judge_apart(FuzzJudge *judge, Arena *arena, const FuzzCase *c, uint32_t way);

// Whether a kernel of the last case that fuzz_judge saw ran on several threads.
bool fuzz_judge_was_threaded(const FuzzJudge *judge);

// Ends this process with SIGPROF when it has used a minute of processor time from here on: the
// clock on the wall says little where others have the processors. A second call starts anew.
void fuzz_limit_time(void);

// Whether the evaluator gives the same bits for both graphs of a pair; else what is wrong.
const char *fuzz_judge_pair(Arena *arena, const FuzzPair *pair);

#endif
