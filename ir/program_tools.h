/* What can be done with any Program: print it, verify it, run it by the evaluator. */
#ifndef TCC_IR_PROGRAM_TOOLS_H
#define TCC_IR_PROGRAM_TOOLS_H

#include "ir/eval.h"
#include "ir/program.h"
#include "ir/text.h"

/* The program as text (--emit=program): dims, interface, buckets, constants, buffers with lifetimes
 * and offsets, kernels with their regions, launches. */
void buf_program(Buf *buf, const Program *program);

/* Reads what buf_program wrote (file `file` of `diags`), as parse_module reads graphs. The program
 * is verified; its graph is built again from its launches. NULL after diagnostics. */
Program *program_read(IrContext *ctx, Arena *arena, Diags *diags, uint32_t file, BlobLookup *lookup,
                      void *user);

/* The bytes that a tensor of the type needs at most while the program's dims are within the bucket.
 */
int64_t program_bytes(const Program *program, const Type *type, uint32_t bucket);

/* Whether output 0 of the kernel may be written over the given input: an elementwise kernel of one
 * output that reads the input only at the index that it writes, with elements of one size. */
bool program_in_place(const Kernel *kernel, uint32_t input);

/* Which of the kernel's buffers (inputs, then outputs) lie at the same place as another one in some
 * launch: what compiled code must not assume to be apart. out_flags has one entry a buffer. */
void program_find_aliases(const Program *program, uint32_t kernel, bool *out_flags);

/* Checks that launches name buffers of the types that their kernel's region has, that every buffer
 * is written once, before it is read, and never when it is an input or a constant, that no two live
 * buffers of the arena overlap in any bucket (but for program_in_place), that offsets are aligned
 * and inside the arena, and that names are unique C identifiers. NULL when all is well, else the
 * first fault (in `arena`). */
const char *program_verify(const Program *program, Arena *arena);

/* The first bucket that serves the dims (values by symbol id, as dim_evaluate takes them); the
 * bucket count when none does. */
uint32_t program_bucket(const Program *program, const int64_t *symbols);

/* Runs the program: every kernel's region by eval_graph, over buffers that lie in one arena at
 * their planned offsets, so that a wrong plan gives wrong results; the arena is filled with 0xff
 * bytes first. Inputs by index; one result per output, in `arena`. False with *out_message for dims
 * that no bucket serves and for what the evaluator refuses. */
bool program_eval(const Program *program, const Tensor *inputs, const int64_t *symbols,
                  Arena *arena, Tensor *out_results, const char **out_message);

#endif
