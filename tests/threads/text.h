// What the comments of tests/threads/*.g say: the inputs of a model, and the outputs that are
// right.
//
//     #: x = [2, nan, 7*3] n = -1 -> y[5] = [0..4] z ~1e-6 0.25
//     #:     w = true
//     #: x = [1, 2, 3, 4, 5] n = 9 -> index 9
//     #ptx: max.NaN
//
// A line of `#:` and one blank begins a case, one of `#:` and more blanks goes on with it. A value
// is a number or a flat list in row-major order; v*n is v n times, a..b the whole numbers from a
// to b, a..b:s in steps of s. NAME[dims] asks for that shape, `=` for the very number (NaN for
// NaN, zeros with their sign), `~t` for one within t of the value relative to it. `index n` in
// place of outputs: the run must report that index as out of range. `#ptx:` names a text that the
// PTX for sm_80 must hold.
#ifndef TCC_TESTS_THREADS_TEXT_H
#define TCC_TESTS_THREADS_TEXT_H

#include "base/str.h"
#include "base/vec.h"
#include "ir/tensor.h"

typedef struct ThreadValue {
    Str name;
    bool has_shape;
    uint32_t rank;
    int64_t dims[TYPE_MAX_RANK];
    double tolerance; // relative
    VEC(Str) numbers;
} ThreadValue;

typedef struct ThreadCase {
    VEC(ThreadValue) inputs, outputs;
    bool index_error;
    int64_t index;
} ThreadCase;

typedef struct Thread {
    VEC(ThreadCase) cases;
    Str ptx; // empty: none is asked for
} Thread;

// False when the comments cannot be read: *out_why (in `arena`) says where.
bool thread_read(Arena *arena, Str text, Thread *out, Str *out_why);

// The value of that name, or NULL.
const ThreadValue *thread_find(const ThreadValue *values, size_t count, Str name);

// Fills a tensor whose dims are known with the numbers, rounded to its dtype; false when they are
// not as many as its elements, or one is no number.
bool thread_fill(const ThreadValue *value, Tensor *out);

#endif
