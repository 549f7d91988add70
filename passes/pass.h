/* Passes: what each is given, what it may ask, and the runner that calls them.
 *
 * A pass reads one graph and builds another; it prints, times, checks and dumps nothing itself. The
 * table is passes.def; the row's name x is the function pass_x, in passes/x.c or passes/x/.
 */
#ifndef TCC_PASSES_PASS_H
#define TCC_PASSES_PASS_H

#include "ir/cost.h"
#include "ir/program.h"

/* What can be said of a whole graph by looking at it; the needs and gives of passes.def. */
typedef enum PassFact {
    FACT_inlined = 1, /* no call */
    FACT_unfused = 2, /* no kernel */
    FACT_fused = 4,   /* only leaves, kernels and items at the top */
} PassFact;

typedef enum RemarkKind {
    REMARK_applied, /* a rewrite was made */
    REMARK_missed,  /* a rewrite or move was rejected, for the reason in the text */
    REMARK_choice   /* one of several was chosen; the numbers are the evidence */
} RemarkKind;

typedef struct RemarkNumber {
    const char *name; /* "bytes", "us", …: a literal */
    double value;
} RemarkNumber;

enum { REMARK_MAX_NUMBERS = 6 };

/* One decision, as data for `tcc explain`: kept in the context, in order. */
typedef struct Remark {
    const char *pass; /* its name, filled in by pass_remark */
    const char *rule; /* a literal: "batch-norm-into-weights" */
    RemarkKind kind;
    Str where;            /* the kernel's or parameter's name, or the node as text; may be empty */
    const Origin *origin; /* may be NULL */
    uint32_t number_count;
    RemarkNumber numbers[REMARK_MAX_NUMBERS];
    Str text;   /* one sentence without a full stop; may be empty */
    Str advice; /* what would change the decision; may be empty */
} Remark;

/* `--schedule=KERNEL:field=value,…`: the fields replace what the cost model chose. */
typedef struct ScheduleOverride {
    Str kernel; /* the kernel's name, or "*" */
    Str text;
} ScheduleOverride;

typedef enum ExcessPrecision {
    EXCESS_fused, /* 16-bit values stay f32 inside a kernel where the contract allows it */
    EXCESS_none   /* every op rounds to its dtype */
} ExcessPrecision;

typedef struct PassOptions {
    int level;        /* of -O, 0 to 3 */
    bool strict_sums; /* no rewrite that changes the order or grouping of a float sum */
    ExcessPrecision excess;
    Str passes;            /* --passes=a,b,c: these instead of the pipeline of the level */
    Str skip;              /* --skip=a,b: the pipeline without these */
    int64_t rewrite_limit; /* --pass-limit=N: the first N rewrites only; negative: all */
    Str dump_letters;      /* -dIFU */
    Str dump_after;        /* --dump-after=a,b, or "all" */
    Str dump_dir;          /* dumps are files there (NN-name.tir) instead of going to the hook */
    bool round_trip; /* print, parse and print again after each pass, as debug builds always do */
    const ScheduleOverride *schedules;
    uint32_t schedule_count;
} PassOptions;

/* A rewrite, for who looks for a wrong one: texts in the context's arena, a node a line. */
typedef struct PassRewrite {
    const char *pass, *rule;
    Str before, after; /* the node with what it is made from; after: empty where nobody says */
    const Origin *origin;
} PassRewrite;

typedef struct PassHooks {
    /* The text of the graph after a pass, or one line "(unchanged)". */
    void (*dump)(void *user, Str pass, Str text);
    /* The last rewrite that the limit allows, when it is about to be made, and again when it is
     * known what became of it. May be NULL, as the other. */
    void (*rewrite)(void *user, const PassRewrite *rewrite);
    void *user;
} PassHooks;

/* What one pass did, for --time-passes. */
typedef struct PassStat {
    const char *pass;
    double seconds;                     /* the pass alone, without the runner's checks */
    uint32_t nodes_before, nodes_after; /* regions included */
    uint64_t bytes;                     /* of the arena of its result */
    int64_t rewrites;
    bool changed;
} PassStat;

/* What passes have done, counted: it must not grow faster than programs (tests/unit/growth.c). */
typedef struct PassWork {
    uint64_t rules;  /* of fold, tried on a node */
    uint64_t priced; /* nodes of groups whose cost was taken */
    uint64_t judged; /* nodes of regions that codegen was asked about */
} PassWork;

typedef struct PassContext {
    IrContext *ir;
    Diags *diags;
    const Target *target;
    const CostModel *cost; /* NULL: nothing is known of costs */
    PassOptions options;
    PassHooks hooks;
    Arena *arena;   /* lives as long as remarks and statistics are wanted */
    Arena *scratch; /* inside a pass; emptied by the runner after it */
    /* The state of a run; zero at its begin. */
    const char *pass; /* the one that is running */
    int64_t rewrites; /* made so far, by all passes */
    PassWork work;
    PassRewrite last; /* that the limit allowed; zeros without a limit */
    VEC(Remark) remarks;
    VEC(PassStat) stats;
} PassContext;

/* Whether one more rewrite, of node `id` by `rule` (a literal), may be made; counts it. Asked
 * directly before each rewrite that could be left out (not by inline, fuse and the like, without
 * which there is no program), so that bisection finds the one that is wrong. */
bool pass_allows(PassContext *ctx, const char *rule, const Graph *graph, NodeId id);
/* What became of the node that was allowed last. */
void pass_became(PassContext *ctx, const Graph *graph, NodeId id);

/* Keeps a remark; texts and numbers are copied, `pass` is filled in. */
void pass_remark(PassContext *ctx, const Remark *remark);

typedef Graph *PassFunction(PassContext *ctx, Arena *arena, const Graph *graph);

typedef struct PassInfo {
    const char *name;
    char letter;
    int from, to;
    uint32_t needs, gives, breaks;
    const char *meaning;
    PassFunction *run; /* NULL for what makes a program */
} PassInfo;

typedef enum PassId {
#define PASS(name, letter, from, to, needs, gives, breaks, meaning) PASS_##name,
#define PROGRAM_PASS(name, letter, from, to, needs, gives, breaks, meaning) PASS_##name,
#include "passes/passes.def"
    PASS_count
} PassId;

#define PASS(name, letter, from, to, needs, gives, breaks, meaning) PassFunction pass_##name;
#include "passes/passes.def"

const PassInfo *pass_info(PassId id);
bool pass_find(Str name, PassId *out_id);

/* A list of passes to run. */
typedef struct Pipeline {
    uint32_t count;
    PassId items[32];
} Pipeline;

/* The pipeline of options for a graph of these facts: that of the level or `passes`, without
 * `skip`. False for unknown names (of dumps too) or too long a list, with the reason in
 * *out_message (in `arena`). */
bool pipeline_from_options(const PassOptions *options, uint32_t facts, Arena *arena,
                           Pipeline *out_pipeline, const char **out_message);

/* The first constraint of passes.def that the pipeline breaks, as a sentence in `arena`, when
 * `facts` hold at its begin; NULL when there is none. */
const char *pipeline_fault(const Pipeline *pipeline, uint32_t facts, Arena *arena);

/* Which facts hold for the graph. */
uint32_t graph_facts(const Graph *graph);

/* What a run leaves: the last graph and, if the pipeline ends with `memory`, the program. */
typedef struct PassResult {
    const Graph *graph;
    Program *program;
} PassResult;

/* Runs the pipeline of ctx->options on a verified graph; the result is in `arena`. False after
 * diagnostics (a pipeline that is not possible, a dump that cannot be written, what a pass
 * reported). A pass that leaves a wrong graph is a bug: it is raised with the pass and the node in
 * its message. */
bool passes_run(PassContext *ctx, Arena *arena, const Graph *graph, PassResult *out_result);

/* --list-passes and --time-passes. */
void passes_print_list(Buf *buf);
void passes_print_times(Buf *buf, const PassContext *ctx);

/* A remark as a line without its place and newline: "fuse: output missed at exp_4: it is a result
 * of the model (bytes 1024)". */
void buf_remark(Buf *buf, const Remark *remark);

#endif
