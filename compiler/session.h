/* What the files of compiler/ share: the handles behind tcc.h and the edge of the library. */
#ifndef TCC_COMPILER_SESSION_H
#define TCC_COMPILER_SESSION_H

#include "base/diag.h"
#include "base/guard.h"
#include "base/status.h"
#include "codegen/kernel.h"
#include "codegen/lower/jit.h"
#include "frontend/weights/weights.h"
#include "passes/pass.h"
#include "runtime/image.h"

#include <pthread.h>
#include <stdatomic.h>
#include <tcc/tcc.h>

/* The options that were set, as they were given. Texts are in the compiler's arena. */
typedef struct Options {
    int level;
    VEC(DimRange) dims;
    Str target, entry, params;
    VEC(ScheduleOverride) schedules;
    bool strict_sums, strip_info, round_everywhere;
    Str passes, skip, dump_letters, dump_after, dump_dir;
    int64_t pass_limit;
    uint32_t threads;
    uint32_t cache_units;
} Options;

enum { MESSAGE_SIZE = 1024, MAX_TARGETS = 4, USUAL_CACHE_UNITS = 8 };

struct tcc_compiler {
    ArenaSource memory; /* of itself and of handles */
    ArenaSource work;   /* of what it compiles: the cache's, when the host gave one */
    Arena *arena;       /* of options and texts */
    int holds;          /* the host's, and each unit's and graph's */
    uint32_t graphs;    /* that were made, to tell their values apart */
    Options options;
    tcc_cache *cache; /* NULL until its own is needed */
    bool shared_cache;
    tcc_diagnostic_callback *on_diagnostic;
    void *diagnostic_user;
    tcc_text_callback *on_dump;
    void *dump_user;
    tcc_log_callback *on_log;
    tcc_log_level log_level;
    void *log_user;
    char message[MESSAGE_SIZE];
    Arena *reading; /* of tcc_artefact_read and tcc_reference: the last text */
};

/* A file of weights, or a folder of them, that a model was compiled with. */
typedef struct CoreInput {
    Str path;
    uint8_t digest[32];
} CoreInput;

/* What was compiled: shared by the units of one compilation that the cache gave out, by the models
 * that were opened from it, and by the cache. It changes no more once the passes are done, but for
 * kernels and the artefact, which are made when they are first asked for, and for what is interned
 * in `ctx`: whoever reads or makes any of that holds `lock`. */
typedef struct Core {
    ArenaSource memory;
    atomic_int holds;
    atomic_size_t bytes; /* about what it takes */
    uint64_t most_bytes; /* that the cache would keep; 0: it is not for the cache */
    pthread_mutex_t lock;
    tcc_compiler *teller; /* the compiler that is told of diagnostics; NULL when nobody is */
    VEC(Diag) reports;    /* what it was told */
    VEC(CoreInput) inputs;
    Options options; /* as they were when it was compiled */
    Arena *arena;    /* of everything here */
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
    GpuImage gpu_image;   /* of `gpu`, once there are kernels */
    Jit *jit;             /* the first CPU variant in this process */
    TccArtefact artefact; /* of the JIT program */
    void *weights;
    size_t weights_size;
} Core;

/* A host's handle. */
struct tcc_unit {
    tcc_compiler *compiler;
    ArenaSource memory;
    Core *core;
    Arena *arena; /* of the texts that the host was given */
};

/* core.c: an empty core, held once, with a copy of the options. Raises GUARD_memory. */
Core *core_new(const tcc_compiler *compiler);
/* core.c: sets `bytes` from what there is. */
void core_measure(Core *core);
void core_hold(Core *core);
void core_release(Core *core); /* NULL is allowed; any thread */

/* core.c: a handle of `core`, whose hold it takes over; held by the compiler. Raises GUARD_memory,
 * and the core is released then. */
tcc_unit *unit_new(tcc_compiler *compiler, Core *core);

/* Calls body(data) inside a guard. What it raises becomes a status and the compiler's message. */
tcc_status compiler_enter(tcc_compiler *compiler, tcc_status (*body)(void *data), void *data);

/* The same for a call on a unit, with its core locked. */
tcc_status unit_enter(tcc_unit *unit, tcc_status (*body)(void *data), void *data);

/* Sets the message of the compiler; returns `status`. */
tcc_status compiler_fail(tcc_compiler *compiler, tcc_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What every public function does with a pointer that must not be NULL but is; so must not be
 * `compiler`, but may. */
tcc_status compiler_refuse_null(tcc_compiler *compiler, const char *name);
/* NULL for NULL. */
tcc_compiler *unit_compiler(const tcc_unit *unit);
tcc_status compiler_status(Status status);
/* The host's allocator, or malloc's for NULL; false when it is none. */
bool memory_of(const tcc_allocator *allocator, ArenaSource *out_memory);

void compiler_release(tcc_compiler *compiler);

/* A compiler of the same options, cache and memory, without callbacks; the caller's. Raises
 * GUARD_memory. */
tcc_compiler *compiler_clone(tcc_compiler *compiler);

/* Tells the host's log. */
void compiler_log(const tcc_compiler *compiler, tcc_log_level level, const char *event, Str subject,
                  double seconds, const char *format, ...) __attribute__((format(printf, 6, 7)));
double compiler_clock(void); /* seconds of a clock that only goes on */

/* The sink that hands diagnostics to the host; `user` is the compiler. */
void compiler_diagnose(void *user, const Diag *diag);
/* The sink of a core, which tells its teller and keeps what it told. */
void core_diagnose(void *user, const Diag *diag);

/* cache.c: the core of the key, held for the caller, or NULL: the caller is then the one who makes
 * it, others wait, until cache_put (which takes a hold of its own) or cache_abandon. While it waits
 * it may raise GUARD_stopped. */
typedef struct CacheKey {
    uint8_t bytes[32];
} CacheKey;
Core *cache_take(tcc_cache *cache, const CacheKey *key);
void cache_put(tcc_cache *cache, const CacheKey *key, Core *core);
void cache_abandon(tcc_cache *cache, const CacheKey *key);
/* Forgets `core`, which is not what the key stands for any more, unless another took its place. */
void cache_drop(tcc_cache *cache, const CacheKey *key, const Core *core);
void cache_hold(tcc_cache *cache);
/* NULL without memory; 0: the usual. */
tcc_cache *cache_new(const ArenaSource *memory, uint32_t units, uint64_t bytes);
uint64_t cache_most_bytes(const tcc_cache *cache);
ArenaSource cache_memory(const tcc_cache *cache);
/* The cache that the compiler's options ask for; NULL: none. Raises GUARD_memory. */
tcc_cache *compiler_cache(tcc_compiler *compiler);

/* key.c: the key of a compilation of `text` as the file `path`. */
CacheKey compile_key(const Core *core, Str path, Str text);
/* key.c: keeps what the table was read from, unless the core is not for the cache or gets too large
 * for it by that. */
void core_note_inputs(Core *core, const WeightTable *table);
/* key.c: whether the files still have the bytes that the core was compiled with. */
bool core_inputs_hold(const Core *core);

/* options.c: one option into `compiler->options`. */
tcc_status option_set(tcc_compiler *compiler, Str name, Str value);
/* The options that decide what is compiled, as a command line. */
Str options_text(const Options *options, Arena *arena);
Options options_copy(const Options *options, Arena *arena);
/* The dims that are narrowed. */
static inline DimRanges options_ranges(const Options *options) {
    return (DimRanges){options->dims.data, options->dims.count};
}

/* target.c: `unit->targets` and `unit->gpu` from the option. */
tcc_status unit_choose_targets(tcc_unit *unit);

/* compile.c: what the passes are told. */
PassOptions pass_options(const Options *options);
/* cost.c: their cost model; a group is legal if it is for all targets of the core. */
CostModel core_cost_model(Core *core);

/* params.c: the graph with values for its parameters that have none, as --params says. NULL after
 * diagnostics. */
Graph *unit_fill_params(tcc_unit *unit, const Graph *graph);

/* json.c: the metadata as an artefact has it; the decisions; the graph after the passes. */
Str core_metadata(const Core *core, Arena *arena);
void json_explain(Buf *buf, const Core *core, const GpuFacts *gpu); /* NULL without a GPU */
void json_graph(Buf *buf, const Core *core);

/* explain.c: all decisions as text, for a unit with compiled kernels. */
Str unit_explanation(tcc_unit *unit);

/* open.c: how each kernel of the program is launched on the unit's GPU; NULL without one. */
tcc_status unit_gpu_facts(tcc_unit *unit, GpuFacts **out_facts);

/* open.c: compiles the kernels unless that was done. */
tcc_status unit_compile_kernels(tcc_unit *unit);
/* open.c: makes unit->artefact unless that was done. */
tcc_status unit_make_artefact(tcc_unit *unit);

#endif
