// Numbers for models in tests: values of parameters that have none, sizes of dims, inputs.
#ifndef TCC_TESTS_SUPPORT_MODEL_VALUES_H
#define TCC_TESTS_SUPPORT_MODEL_VALUES_H

#include "ir/eval.h"

// The graph with values in [0.5, 1.5) for parameters without: variances are positive, constants
// fold.
Graph *model_fill_params(const Graph *from, Arena *arena);

// Which number a dim stands for: the least of its range, 1, or 7, the latter two as far as its
// range allows.
typedef enum ModelSize { SIZE_least, SIZE_one, SIZE_odd } ModelSize;

// The values of all dim symbols by id, with room for symbols that are made later.
int64_t *model_symbols(IrContext *ctx, Arena *arena, ModelSize size);

// Wild numbers for floats and bools, small indices for integers.
EvalValue *model_inputs(const Graph *graph, Arena *arena, const int64_t *symbols);

#endif
