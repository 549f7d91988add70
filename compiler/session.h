/* What the files of compiler/ share: the handles behind tcc.h and the edge of the library. */
#ifndef TCC_COMPILER_SESSION_H
#define TCC_COMPILER_SESSION_H

#include "base/diag.h"
#include "base/guard.h"
#include "base/status.h"
#include "codegen/kernel.h"
#include "codegen/lower/jit.h"
#include "passes/pass.h"
#include "runtime/image.h"

#include <tcc/tcc.h>

typedef struct DimOption {
    Str name;
    int64_t lo, hi, tune;
} DimOption;

/* The options that were set, as they were given. Texts are in the compiler's arena. */
typedef struct Options {
    int level;
    VEC(DimOption) dims;
    Str target, entry, params;
    VEC(ScheduleOverride) schedules;
    bool strict_sums, strip_info, round_everywhere;
    Str passes, skip, dump_letters, dump_after, dump_dir;
    int64_t pass_limit;
    uint32_t threads;
} Options;

enum { MESSAGE_SIZE = 1024, MAX_TARGETS = 4 };

struct tcc_compiler {
    Arena *arena;    /* of options and texts */
    int holds;       /* the host's, and each unit's and graph's */
    uint32_t graphs; /* that were made, to tell their values apart */
    Options options;
    tcc_diagnostic_callback *on_diagnostic;
    void *diagnostic_user;
    tcc_text_callback *on_dump;
    void *dump_user;
    char message[MESSAGE_SIZE];
    Arena *reading; /* of tcc_artefact_read and tcc_reference: the last text */
};

struct tcc_unit {
    tcc_compiler *compiler;
    Options options; /* as they were when it was compiled */
    Arena *arena;    /* of everything below */
    IrContext *ctx;
    Diags *diags;
    const Target *targets[MAX_TARGETS]; /* CPU variants, from plain to special */
    uint32_t target_count;
    const Target *gpu;   /* NULL without one */
    const Graph *source; /* the model before the passes, with its parameters' values */
    PassContext pass;
    PassResult result;
    bool has_kernels;
    CompiledKernels kernels;
    Jit *jit;             /* the first CPU variant in this process */
    TccArtefact artefact; /* of the JIT program */
    void *weights;
};

/* Calls body(data) inside a guard. What it raises becomes a status and the compiler's message. */
tcc_status compiler_enter(tcc_compiler *compiler, tcc_status (*body)(void *data), void *data);

/* Sets the message of the compiler; returns `status`. */
tcc_status compiler_fail(tcc_compiler *compiler, tcc_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What every public function does with a pointer that must not be NULL but is; so must not be
 * `compiler`, but may. */
tcc_status compiler_refuse_null(tcc_compiler *compiler, const char *name);
/* NULL for NULL. */
tcc_compiler *unit_compiler(const tcc_unit *unit);
tcc_status compiler_status(Status status);

void compiler_release(tcc_compiler *compiler);

/* The sink that hands diagnostics to the host; `user` is the compiler. */
void compiler_diagnose(void *user, const Diag *diag);

/* options.c: one option into `compiler->options`. */
tcc_status option_set(tcc_compiler *compiler, Str name, Str value);
/* The options that decide what is compiled, as a command line. */
Str options_text(const Options *options, Arena *arena);

/* target.c: `unit->targets` and `unit->gpu` from the option. */
tcc_status unit_choose_targets(tcc_unit *unit);

/* compile.c: what the passes are told. */
PassOptions pass_options(const Options *options);

/* params.c: the graph with values for its parameters that have none, as --params says. NULL after
 * diagnostics. */
Graph *unit_fill_params(tcc_unit *unit, const Graph *graph);

/* explain.c: all decisions as text, for a unit with a program. */
Str unit_explanation(tcc_unit *unit);

/* open.c: compiles the kernels unless that was done. */
tcc_status unit_compile_kernels(tcc_unit *unit);
/* open.c: makes unit->artefact unless that was done. */
tcc_status unit_make_artefact(tcc_unit *unit);

#endif
