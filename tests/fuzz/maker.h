// The state of a generator, and what the builders of the op classes share.
#ifndef TCC_TESTS_FUZZ_MAKER_H
#define TCC_TESTS_FUZZ_MAKER_H

#include "tests/fuzz/case.h"
#include "tests/support/op_cases.h"

enum { MAX_POOL = 96, MAX_SYMBOLS = 4096, MAX_ARGS = 4, MAX_AXES = 5 };

// A node of both graphs. `most` bounds the magnitude of its elements in exact cases.
typedef struct Value {
    NodeId ids[2];
    double most;
} Value;

typedef struct Maker {
    IrContext *ctx;
    Arena *arena;
    Graph *graphs[2]; // plain, twisted
    uint64_t state, twist_state;
    bool exact, large;
    OpValues fill;
    int64_t *symbols;
    const Dim *named[2]; // the case's dynamic dims; NULL: none
    int64_t max_elements;
    const int64_t *sizes; // that constant dims take
    uint32_t size_count;
    Value pool[MAX_POOL];
    uint32_t count;
    VEC(Tensor) inputs;
    Value picked;   // the first operand of the last op
    bool is_forced; // pick_for gives `forced`, once, where the op takes it
    Value forced;
} Maker;

uint32_t pick(Maker *m, uint32_t below);
const Type *type_of(const Maker *m, Value v);
int64_t size_of(const Maker *m, const Dim *dim);
int64_t axis_size(const Maker *m, Value v, uint32_t axis);
const Dim *pick_dim(Maker *m);

// Whether it has few enough elements, at the sizes of the run and at the ends of its dims; inputs
// must have, and nodes that are kept.
bool is_small(const Maker *m, const Type *type);

// A new input; indices lie in [-limit, limit) where limit > 0.
Value new_input(Maker *m, const Type *type, int64_t index_limit);
// A tensor of one number.
Value fill(Maker *m, const Type *type, double number);

// Some value of a dtype that the op takes (a new input where the pool has none), some of the very
// dims of x and of this dtype.
Value pick_for(Maker *m, Op op);
Value pick_like(Maker *m, Value x, DType dtype);

// Adds the op to both graphs; false when its operands do not fit. `most` as of Value.
bool put(Maker *m, Op op, const Value *args, uint32_t count, const Attr *attrs, double most,
         Value *out);
bool put_regions(Maker *m, Op op, const Value *args, uint32_t count, const Attr *attrs,
                 const Graph *const *regions, uint32_t region_count, double most, Value *out);
// Puts the op's result, or its first two, into the pool.
void keep(Maker *m, Value v);

// Makes an application of the op on values of the pool, or nothing where none fits.
void make_op(Maker *m, Op op);
// Cond, loop, scan and call.
void make_control(Maker *m, Op op);

#endif
