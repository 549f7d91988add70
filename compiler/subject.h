/* What bisect and reduce examine: a model that was read and not compiled, the inputs that it is run
 * on, and probes, which are steps of its compilation that may crash. */
#ifndef TCC_COMPILER_SUBJECT_H
#define TCC_COMPILER_SUBJECT_H

#include "base/scratch.h"
#include "compiler/session.h"
#include "compiler/walk.h"
#include "ir/eval.h"

#include <tcc/bisect.h>

/* One set of inputs. */
typedef struct InputSet {
    Str what;         /* "random:3, N=7" */
    bool tame;        /* without NaN, inf and the like */
    int64_t *symbols; /* by id */
    Tensor *inputs;
} InputSet;

/* What the evaluator says of a set. */
typedef struct Reference {
    EvalValue *outputs;
    EvalError error;
} Reference;

/* How far the whole compilation and its runs have come. */
typedef enum Stage {
    STAGE_reading,
    STAGE_evaluator,
    STAGE_passes,
    STAGE_kernels, /* one by one */
    STAGE_outputs, /* of a program whose kernels are right */
    STAGE_planned, /* the same over planned memory */
    STAGE_run      /* the runtime */
} Stage;

/* What a probe leaves behind, and notes while it runs. No pointers: it comes from elsewhere. */
typedef struct ProbeResult {
    tcc_status status; /* TCC_OK: all is well; TCC_MISMATCH: values differ; TCC_INTERNAL */
    Stage stage;
    Placement placement;
    uint32_t set, launch, sets_done, sets_refused;
    int64_t rewrites; /* that the passes made */
    char text[1024];  /* what is wrong */
    char rule[64], place[600];
    char before[1500], after[1500];
} ProbeResult;

typedef struct Subject Subject;
typedef void ProbeBody(Subject *subject, const void *data, ProbeResult *result);

struct tcc_probe {
    Subject *subject;
    ProbeBody *body;
    const void *data;
};

/* The text of a model file, or where that is. */
typedef struct Source {
    Str path;
    bool in_memory;
    Str text;
} Source;

struct Subject {
    tcc_compiler *compiler;
    tcc_search_options search;
    Source source;
    Arena *arena;
    uint32_t cache_units; /* of the compiler: nothing is kept while a fault is looked for */
    uint32_t probes;
    /* Of the model that was read. */
    tcc_unit *unit;
    IrContext *ctx;
    const Diags *diags;
    const Graph *graph;
    const Target *target; /* that this processor runs best; NULL: none */
    const Target *tuned;  /* that schedules are chosen for */
    Options options;
    InputSet *sets;
    uint32_t set_count;
    /* The set that failed. */
    const InputSet *set;
    Reference want;
};

/* Reads the model, in a probe first, and makes its sets of inputs. */
tcc_status subject_open(Subject *subject);
void subject_close(Subject *subject);

/* Takes the host's options, NULL for none. False, with a message on the compiler, when they say a
 * size that they cannot have. */
bool subject_take_options(Subject *subject, const tcc_search_options *options);

/* Runs body(subject, data, result) apart. `out_result` tells how it ended: a probe that did not
 * come back is TCC_INTERNAL with `crashed`. Raises GUARD_memory where memory lacked in it. */
typedef struct Outcome {
    ProbeResult result;
    bool crashed, slow; /* slow: it was ended, so it is crashed, too */
} Outcome;
void subject_probe(Subject *subject, ProbeBody *body, const void *data, Outcome *out_outcome);
/* A line for the host's progress callback. */
void subject_tell(const Subject *subject, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* inputs.c: the sets of the search options. */
tcc_status subject_make_sets(Subject *subject);

/* The model's outputs on a set, by the evaluator; false with *out_why when it refuses. */
bool subject_evaluate(const Subject *subject, const Graph *graph, const InputSet *set, bool bounds,
                      Arena *arena, Reference *out, const char **out_why);

/* Notes in the result what differs; false when something does. `want` has an entry an output. */
bool subject_compare(const Subject *subject, const InputSet *set, const Tensor *got,
                     const EvalValue *want, const Str *names, size_t count, ProbeResult *result);

/* Runs the passes on the model. False with a text when they refuse it. */
typedef struct PassRun {
    PassContext context;
    PassResult result;
    const char *refused;
} PassRun;
bool subject_run_passes(const Subject *subject, const PassOptions *options, PassHooks hooks,
                        Arena *arena, PassRun *out_run);

/* whole.c: "output NAME" of each output. */
Str *subject_output_names(const Subject *subject, Arena *arena);
/* The outputs of a launch that has run against what they must be, as subject_compare. */
bool subject_compare_launch(const Subject *subject, const InputSet *set, const Walk *walk,
                            uint32_t launch, const EvalValue *want, Arena *arena,
                            ProbeResult *result);
/* Whether an index out of range was reported where the evaluator found one; notes it if not. */
bool subject_same_error(bool failed, const EvalError *want, ProbeResult *result);

/* whole.c: compiles the model and runs it on the sets: all of them, or `only` one. */
typedef struct WholeProbe {
    const InputSet *only;
} WholeProbe;
ProbeBody probe_whole;

#endif
