// What the fuzzer works on: a graph with values for its inputs.
#ifndef TCC_TESTS_FUZZ_CASE_H
#define TCC_TESTS_FUZZ_CASE_H

#include "ir/graph.h"
#include "ir/tensor.h"

typedef struct FuzzCase {
    IrContext *ctx;
    const Graph *graph;
    const Tensor *inputs;   // by input index
    const int64_t *symbols; // values of dim symbols by id
    // Every number is an integer that its dtype and every partial sum hold exactly, so that all
    // correct programs give the evaluator's bits.
    bool exact;
    // Enough elements for several threads; exact, so that no bounds need be found for all of them.
    bool large;
} FuzzCase;

// Two graphs of the same values on the same inputs, bit for bit: in `twisted`, operands go through
// chains of ops that change nothing (transposed twice, split and joined, padded and cut…).
typedef struct FuzzPair {
    FuzzCase plain, twisted;
} FuzzPair;

// The pair of a seed, the same on every machine, in `arena`; the caller frees the context.
void fuzz_make(uint64_t seed, Arena *arena, FuzzPair *out);

// A number below `below`, and the next state.
uint32_t fuzz_pick(uint64_t *state, uint32_t below);

// The value of a dim or the number of elements of a type, under values of the symbols.
int64_t fuzz_size(const Dim *dim, const int64_t *symbols);
int64_t fuzz_elements(const Type *type, const int64_t *symbols);

// `x` through a chain of ops that gives its very bits; `x` itself where none fits.
NodeId fuzz_twist(Graph *graph, NodeId x, const int64_t *symbols, uint64_t *state);

// A case as .tir text: the graph, and a graph `values` that computes its inputs. Reads back to the
// same case; NULL with *out_why when it cannot be read.
Str fuzz_print(Arena *arena, const FuzzCase *c);
bool fuzz_read(Arena *arena, IrContext *ctx, Str text, FuzzCase *out, const char **out_why);

#endif
