/* The parts of check.c, which compares compiled code with the evaluator. */
#ifndef TCC_COMPILER_CHECK_H
#define TCC_COMPILER_CHECK_H

#include "compiler/check_device.h"
#include "compiler/compare.h"
#include "compiler/session.h"

/* One check, of one model on one set of inputs. Only the thread of the call uses it. */
typedef struct Checker {
    tcc_unit *unit;
    const tcc_tensor *inputs;
    uint32_t input_count;
    tcc_check_callback *callback;
    void *user;
    const char *device_name; /* as in tcc_open_options */
    CheckDevice *device;     /* NULL on the CPU */
    uint64_t findings;       /* of the software device before */
    Arena *arena;
    int64_t *symbols; /* by id */
    int64_t *dims;    /* by slot */
    Tensor *buffers;  /* of the program, with the compiled values */
    Arena **homes;    /* by buffer: where it lives, NULL when it does not */
    bool mismatch;
    bool failed; /* a kernel reported an index out of range */
} Checker;

const Program *check_program(const Checker *c);

/* ---- preparing (check_prepare.c) --- */

/* The dims from the inputs' shapes, by slot and by symbol. */
tcc_status check_bind_dims(Checker *c);

/* Memory for what the caller and the model own, filled; buffers between kernels are made for the
 * first kernel that uses them. */
tcc_status check_make_buffers(Checker *c);

/* Memory for a buffer of the program under the dims at hand, filled with a pattern, until it is
 * freed. Freeing one that has none does nothing. */
void check_make_buffer(Checker *c, uint32_t number);
void check_free_buffer(Checker *c, uint32_t number);

/* ---- judging (check_judge.c) --- */

/* One output of a kernel or of the model, and what it should be. */
typedef struct Expected {
    CompareScope scope;
    Str kernel;
    const char *output;
    const Tensor *got;
    const EvalValue *want, *kept; /* as for compare_tensors */
    const char *error;            /* an index out of range, or NULL */
} Expected;

/* Compares, tells the callback, and notes a mismatch. */
void check_compare(Checker *c, const Expected *e);

/* The words for an index out of range. */
void check_put_index(Buf *buf, int64_t index, int64_t bound);

/* What the evaluator found on `graph`, with its place; NULL when it found nothing. */
const char *check_index_text(const Checker *c, const Graph *graph, const EvalError *error);

/* Whether both report an index out of range or neither does. Which of several comes first is the
 * compiled code's choice. */
tcc_status check_same_report(Checker *c, const char *what, Str name, bool failed,
                             const char *compiled, const char *expected);

/* Where tolerances say nothing of some output: the results of `graph`, on the same inputs, whose 8-
 * and 16-bit floats stay f32 as long as they may. NULL where it is not asked, or has none. */
EvalValue *check_evaluate_kept(const Checker *c, const Graph *graph, const EvalValue *args,
                               const Tensor *const *got, const EvalValue *want);

/* ---- kernels (check_kernel.c) --- */

/* Runs a launch of the program, whose buffers all have memory, and compares what it wrote. */
tcc_status check_launch(Checker *c, const Launch *launch);

#endif
