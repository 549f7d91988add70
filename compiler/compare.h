/* A tensor against the evaluator's value of it, by the tolerances that come with that. */
#ifndef TCC_COMPILER_COMPARE_H
#define TCC_COMPILER_COMPARE_H

#include "ir/eval.h"

#include <tcc/tcc.h>

/* Outputs of a whole model whose bounds say nothing any more are judged by their rms. */
typedef enum CompareScope { COMPARE_kernel, COMPARE_model } CompareScope;

/* Fills in *result but for its names, which stay. The tensors have one shape. */
void compare_tensors(const Tensor *got, const EvalValue *want, CompareScope scope,
                     tcc_check_result *result);

#endif
