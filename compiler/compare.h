/* A tensor against the evaluator's value of it, by the tolerances that come with that. */
#ifndef TCC_COMPILER_COMPARE_H
#define TCC_COMPILER_COMPARE_H

#include "ir/eval.h"

#include <tcc/tcc.h>

/* Outputs of a whole model whose bounds say nothing any more are judged by their rms, which may be
 * larger where the model rounds to floats of 8 or 16 bits on its way. */
typedef enum CompareScope { COMPARE_kernel, COMPARE_model, COMPARE_narrow_model } CompareScope;

/* That of a whole model. */
CompareScope compare_scope_of(const Graph *model);

/* Whether some element of `got` is not the evaluator's, and has a tolerance that says nothing. */
bool compare_is_open(const Tensor *got, const EvalValue *want);

/* Fills in *result but for its names, which stay. The tensors have one shape. `kept` is what the
 * evaluator gives where 8- and 16-bit floats stay f32 as long as they may: what agrees with it is
 * right where `want` says nothing. NULL: none. */
void compare_tensors(const Tensor *got, const EvalValue *want, const EvalValue *kept,
                     CompareScope scope, tcc_check_result *result);

#endif
