/* bisect.h: which step of a compilation is wrong, and the smallest model that shows it.
 *
 * Both searches compile a model many times, in parts, and run what comes out of each part on inputs
 * of several sizes and kinds; the reference evaluator says what is right. A wrong compiler may
 * crash or never end: a host that wants to outlive that gives `apart`, which runs a probe in
 * another process.
 */
#ifndef TCC_BISECT_H
#define TCC_BISECT_H

#include <tcc/tcc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How an input that has no value is filled. */
typedef enum tcc_filling { TCC_FILL_RANDOM, TCC_FILL_ZEROS, TCC_FILL_ONES } tcc_filling;

typedef struct tcc_given_input {
    const char *name;
    const tcc_tensor *value; /* dense, as an .npy file holds its dtype; NULL: made by `filling` */
    tcc_filling filling;
    uint64_t seed; /* of TCC_FILL_RANDOM */
} tcc_given_input;

typedef struct tcc_given_dim {
    const char *name;
    int64_t size;
} tcc_given_dim;

/* One step to be tried. */
typedef struct tcc_probe tcc_probe;
/* Does the step and writes `result`. */
TCC_API void tcc_probe_run(tcc_probe *probe, void *result);

/* Makes tcc_probe_run(probe, memory) happen, in a copy of this process or in this one, and copies
 * the `size` bytes that it has left in `memory` (zeros at its begin) to `result`: also when it did
 * not come back, for it notes where it is. TCC_OK when it came back, else with what happened in
 * `why`: TCC_INTERNAL, "crashes with signal 11", or TCC_ENVIRONMENT where it took too long. */
typedef tcc_status tcc_apart_callback(void *user, tcc_probe *probe, void *result, size_t size,
                                      char *why, size_t why_size);

/* What both searches take; all but `size` may be zero. */
typedef struct tcc_search_options {
    uint32_t size;                 /* of this struct */
    const tcc_given_input *inputs; /* the others are made: random, and with NaN, inf and the like */
    uint32_t input_count;
    const tcc_given_dim *dims; /* the others take several sizes */
    uint32_t dim_count;
    uint32_t tries;            /* how many sets of inputs; 0: 8 */
    uint64_t seed;             /* of the first set */
    double seconds;            /* tcc_reduce makes no model smaller after so long; 0: 300 */
    tcc_apart_callback *apart; /* NULL: all happens in this process */
    void *apart_user;
    tcc_text_callback *on_progress; /* a line for each probe; NULL: none */
    void *progress_user;
} tcc_search_options;

/* ---- which step is wrong ------------------------------------------------------------------- */

typedef enum tcc_fault_part {
    TCC_PART_NONE,      /* all agrees */
    TCC_PART_READING,   /* from the text to a graph */
    TCC_PART_EVALUATOR, /* the reference itself */
    TCC_PART_PASS,      /* a pass, which `pass` names; `rewrite` is the one that is wrong */
    TCC_PART_SKELETON,  /* of a kernel: the tile program is wrong before it is placed */
    TCC_PART_SCHEDULE,  /* placing the tile program by the kernel's schedule */
    TCC_PART_LOWERING,  /* from the placed tile program to LLVM */
    TCC_PART_BACKEND,   /* LLVM's own passes, or what they may assume */
    TCC_PART_RUNTIME,   /* running kernels that are right over a plan that is right */
    TCC_PART_UNKNOWN    /* seen once, but by none of the steps alone */
} tcc_fault_part;

typedef enum tcc_fault_kind {
    TCC_KIND_VALUES, /* a value differs from the evaluator's */
    TCC_KIND_ERROR,  /* an internal error, a verifier's complaint, a refused program */
    TCC_KIND_CRASH   /* the probe did not come back: a signal, or an endless loop */
} tcc_fault_kind;

/* What was found; absent texts are NULL. All live during the call of the callback. */
typedef struct tcc_bisect_report {
    uint32_t size; /* of this struct */
    tcc_fault_part part;
    tcc_fault_kind kind;
    const char *inputs; /* on which, "random:3, N=7" */
    const char *what;   /* what is seen there: "output y: element 3 is 2, expected 4 +- 1e-06" */
    const char *pass;   /* "memory" too */
    int64_t rewrite;    /* with --pass-limit of this number it is wrong, of one less right; -1 */
    const char *rule;   /* of the rewrite */
    const char *place;  /* the node that was rewritten, and where it stands in the source */
    const char *before, *after; /* the nodes that differ, a line each */
    const char *kernel, *skeleton, *strategy, *ops;
    const char *schedule;  /* that the kernel has */
    const char *fields;    /* of it, those without which it is right; empty: with any schedule */
    uint32_t sets, probes; /* of inputs; how much was tried */
} tcc_bisect_report;
typedef void tcc_bisect_callback(void *user, const tcc_bisect_report *report);

/* Finds the first step that is wrong of compiling the model file for the options of the compiler,
 * which may be a crash. TCC_OK when everything agrees, TCC_MISMATCH when a step is wrong;
 * `callback` is told in both cases, once. Otherwise the input is wrong, or the environment. The
 * compiler dumps nothing meanwhile. `options` may be NULL. */
TCC_API tcc_status tcc_bisect_file(tcc_compiler *compiler, const char *path,
                                   const tcc_search_options *options, tcc_bisect_callback *callback,
                                   void *user);
/* The same for a text in memory, as tcc_compile_memory takes it. */
TCC_API tcc_status tcc_bisect_memory(tcc_compiler *compiler, const char *path, const void *text,
                                     size_t size, const tcc_search_options *options,
                                     tcc_bisect_callback *callback, void *user);

/* ---- the smallest model -------------------------------------------------------------------- */

/* A model with inputs. All lives during the call. */
typedef struct tcc_reduced {
    uint32_t size;    /* of this struct */
    const char *text; /* .tir */
    size_t text_size;
    const char *source; /* the same as .g text; NULL where there is none that fails likewise */
    size_t source_size;
    uint32_t nodes, input_count;
    const char *const *input_names;
    const tcc_array *const *inputs;
    const char *what; /* what is wrong with it; NULL for candidates */
    uint32_t probes;
} tcc_reduced;
typedef void tcc_reduced_callback(void *user, const tcc_reduced *reduced);
/* Whether the model still shows what is looked for. */
typedef tcc_status tcc_wanted_callback(void *user, const tcc_reduced *candidate,
                                       int32_t *out_wanted);

/* Makes the model smaller while it fails as it does: while the same step differs, crashes or says
 * the like. With `wanted`, while that says so instead. `callback` gets the smallest that was found.
 * TCC_OK without a call when the model does not fail. */
TCC_API tcc_status tcc_reduce_file(tcc_compiler *compiler, const char *path,
                                   const tcc_search_options *options, tcc_wanted_callback *wanted,
                                   void *wanted_user, tcc_reduced_callback *callback, void *user);
TCC_API tcc_status tcc_reduce_memory(tcc_compiler *compiler, const char *path, const void *text,
                                     size_t size, const tcc_search_options *options,
                                     tcc_wanted_callback *wanted, void *wanted_user,
                                     tcc_reduced_callback *callback, void *user);

#ifdef __cplusplus
}
#endif

#endif
