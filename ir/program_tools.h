/* What can be done with any Program: print it, verify it, run it by the evaluator. */
#ifndef TCC_IR_PROGRAM_TOOLS_H
#define TCC_IR_PROGRAM_TOOLS_H

#include "ir/eval.h"
#include "ir/program.h"

/* The program as text, for people (--emit=program): buffers with lifetimes and offsets, constants,
 * kernels with their regions, launches. */
void buf_program(Buf *buf, const Program *program);

/* Checks that launches name buffers of the types that their kernel's region has, that every buffer
 * is written before it is read and never while it is input or constant, that no two live buffers of
 * the arena overlap in any bucket, that offsets are aligned and inside the arena, and that names
 * are unique C identifiers. NULL when all is well, else the first fault (in `arena`). */
const char *program_verify(const Program *program, Arena *arena);

/* The first bucket that serves the dims (values by symbol id, as dim_evaluate takes them); the
 * bucket count when none does. */
uint32_t program_bucket(const Program *program, const int64_t *symbols);

/* Runs the program: every kernel's region by eval_graph, over buffers that lie in one arena at
 * their planned offsets, so that a wrong plan gives wrong results. Inputs by index; one result per
 * output. The arena is filled with 0xff bytes first. */
bool program_eval(const Program *program, const Tensor *inputs, const int64_t *symbols,
                  Arena *arena, Tensor *out_results, const char **out_message);

#endif
