/* The runner: calls the passes of a pipeline, and alone verifies, times, counts, dumps and checks
 * that every graph's text reads back. */
#include "base/file.h"
#include "base/guard.h"
#include "base/map.h"
#include "base/messages.h"
#include "ir/program_tools.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "passes/compare.h"
#include "passes/memory/memory.h"
#include "passes/pass.h"

#include <time.h>

#ifdef __OPTIMIZE__
static const bool debug_build = false;
#else
static const bool debug_build = true;
#endif

/* One run. Each graph lies in an arena of its own, which is freed once the next graph exists; the
 * last one lies in the caller's. */
typedef struct Run {
    PassContext *ctx;
    const Graph *graph;
    Arena *own;  /* of `graph`, NULL when it is the caller's */
    Arena *next; /* of the graph in the making */
    uint32_t number;
} Run;

static void release_run(void *object) {
    Run *run = object;
    arena_free(run->own);
    arena_free(run->next);
    arena_free(run->ctx->scratch);
    run->ctx->scratch = NULL;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static Str graph_text(Arena *arena, const Graph *graph) {
    Graph *models[] = {(Graph *)graph};
    Module module = {.ctx = graph->ctx, .arena = arena, .models = {models, 1, 1}};
    Buf buf = {.arena = arena};
    print_module(&buf, &module, &(PrintOptions){.origins = false});
    return buf_str(&buf);
}

/* Blobs by digest, for reading a text back. */
typedef struct Blobs {
    Arena *arena;
    Map map;
} Blobs;

static Str digest_key(uint8_t digest[32]) { return (Str){(const char *)digest, 32}; }

static void keep_blob(void *user, const Blob *blob) {
    Blobs *blobs = user;
    uint8_t digest[32];
    ir_blob_sha256(blob, digest);
    map_set(&blobs->map, digest_key(digest), (void *)blob);
}

static const Blob *find_blob(void *user, const uint8_t digest[32]) {
    const Blobs *blobs = user;
    return map_get(&blobs->map, digest_key((uint8_t *)digest));
}

/* Prints, parses and prints again: a graph whose text does not read back is a bug of the pass or of
 * the printer. */
static void check_text(const PassContext *ctx, const Graph *graph) {
    Arena *arena = ctx->scratch;
    Str text = graph_text(arena, graph);
    Graph *models[] = {(Graph *)graph};
    Module module = {.ctx = graph->ctx, .arena = arena, .models = {models, 1, 1}};
    Blobs blobs = {.arena = arena, .map = {.arena = arena}};
    module_visit_blobs(&module, keep_blob, &blobs);
    Diags *diags = diags_new(arena, NULL, NULL, 0);
    uint32_t file = diags_add_file(diags, STR("after-pass.tir"), text);
    const Module *again = parse_module(graph->ctx, arena, diags, file, find_blob, &blobs);
    if (!again || again->models.count != 1) bug("pass %s: its graph's text is refused", ctx->pass);
    if (!str_equal(text, graph_text(arena, again->models.data[0]))) {
        bug("pass %s: its graph's text reads back as another graph", ctx->pass);
    }
}

/* ---- dumps ----------------------------------------------------------------------------------- */

static bool has_letter(Str letters, char letter) {
    for (size_t i = 0; i < letters.size; i++) {
        if (letters.data[i] == letter) return true;
    }
    return false;
}

static bool names_pass(Str list, Str name) {
    for (size_t i = 0, n; i < list.size; i += n + 1) {
        for (n = 0; i + n < list.size && list.data[i + n] != ',';) n++;
        Str part = {list.data + i, n};
        if (str_equal(part, name) || str_equal(part, STR("all"))) return true;
    }
    return false;
}

static bool write_dump(const Run *run, Str name, Str text) {
    const PassContext *ctx = run->ctx;
    Str path = str_format(ctx->scratch, "%.*s/%02u-%.*s.tir", STR_ARG(ctx->options.dump_dir),
                          run->number, STR_ARG(name));
    AtomicFile file;
    Loc nowhere = {0};
    if (folder_make(ctx->scratch, ctx->diags, nowhere, ctx->options.dump_dir) != STATUS_ok)
        return false;
    if (atomic_file_begin(&file, ctx->scratch, ctx->diags, nowhere, path, 0666) != STATUS_ok) {
        return false;
    }
    atomic_file_write(&file, text.data, text.size);
    return atomic_file_commit(&file, ctx->diags, nowhere) == STATUS_ok;
}

static bool wants_dump(const PassOptions *options, const PassInfo *info) {
    return has_letter(options->dump_letters, info->letter) ||
           names_pass(options->dump_after, str_from(info->name));
}

/* A file stands for itself; what scrolls by is the graph alone. */
static Str with_blobs(Arena *arena, const Graph *graph, Str text) {
    Buf buf = {.arena = arena};
    Graph *models[] = {(Graph *)(uintptr_t)graph};
    Module module = {.ctx = graph->ctx, .arena = arena, .models = {models, 1, 1}};
    buf_put(&buf, text);
    print_blobs(&buf, &module);
    return buf_str(&buf);
}

static bool dump(const Run *run, const PassInfo *info, Str text) {
    const PassContext *ctx = run->ctx;
    Str name = str_from(info->name);
    if (ctx->options.dump_dir.size) return write_dump(run, name, text);
    if (ctx->hooks.dump) ctx->hooks.dump(ctx->hooks.user, name, text);
    return true;
}

/* ---- one pass -------------------------------------------------------------------------------- */

static void check_graph(const PassContext *ctx, const PassInfo *info, const Graph *graph) {
    const char *fault = graph_verify(graph, ctx->scratch);
    if (fault) bug("pass %s: %s", info->name, fault);
    uint32_t missing = info->gives & ~graph_facts(graph);
    if (missing) bug("pass %s does not give what it should (%u)", info->name, missing);
    if (ctx->options.round_trip || debug_build) check_text(ctx, graph);
}

static void begin_pass(PassContext *ctx, const PassInfo *info) {
    arena_free(ctx->scratch);
    ctx->scratch = NULL; /* for who frees it when there is no memory for another */
    ctx->scratch = arena_new(NULL);
    ctx->pass = info->name;
}

/* Replaces run->graph; false after diagnostics. */
static bool run_graph_pass(Run *run, const PassInfo *info, Arena *into) {
    PassContext *ctx = run->ctx;
    begin_pass(ctx, info);
    run->next = into ? NULL : arena_new(NULL);
    Arena *arena = into ? into : run->next;
    size_t errors = diags_error_count(ctx->diags), used = arena_used(arena);
    int64_t rewrites = ctx->rewrites;
    double start = seconds_now();
    const Graph *graph = info->run(ctx, arena, run->graph);
    PassStat stat = {.pass = info->name, .seconds = seconds_now() - start};
    if (diags_error_count(ctx->diags) > errors) return false;
    check_graph(ctx, info, graph);
    stat.nodes_before = graph_size(run->graph);
    stat.nodes_after = graph_size(graph);
    stat.bytes = arena_used(arena) - used;
    stat.rewrites = ctx->rewrites - rewrites;
    stat.changed = !graph_equal(run->graph, graph);
    vec_push(ctx->arena, &ctx->stats, stat);
    bool good = true;
    if (wants_dump(&ctx->options, info)) {
        Str text = stat.changed ? graph_text(ctx->scratch, graph) : STR("(unchanged)\n");
        if (stat.changed && ctx->options.dump_dir.size)
            text = with_blobs(ctx->scratch, graph, text);
        good = dump(run, info, text);
    }
    arena_free(run->own);
    run->own = run->next;
    run->next = NULL;
    run->graph = graph;
    return good;
}

static Program *run_program_pass(Run *run, const PassInfo *info, Arena *arena) {
    PassContext *ctx = run->ctx;
    begin_pass(ctx, info);
    size_t errors = diags_error_count(ctx->diags), used = arena_used(arena);
    double start = seconds_now();
    Program *program = memory_make_program(ctx, arena, run->graph);
    PassStat stat = {.pass = info->name, .seconds = seconds_now() - start, .changed = true};
    if (diags_error_count(ctx->diags) > errors) return NULL;
    const char *fault = program_verify(program, ctx->scratch);
    if (fault) bug("pass %s: %s", info->name, fault);
    stat.nodes_before = graph_size(run->graph);
    stat.nodes_after = (uint32_t)program->launches.count;
    stat.bytes = arena_used(arena) - used;
    vec_push(ctx->arena, &ctx->stats, stat);
    if (!wants_dump(&ctx->options, info)) return program;
    Buf buf = {.arena = ctx->scratch};
    buf_program(&buf, program);
    return dump(run, info, buf_str(&buf)) ? program : NULL;
}

/* ---- the pipeline ---------------------------------------------------------------------------- */

static uint32_t count_graph_passes(const Pipeline *pipeline) {
    uint32_t count = pipeline->count;
    return count && !pass_info(pipeline->items[count - 1])->run ? count - 1 : count;
}

static bool run_pipeline(Run *run, const Pipeline *pipeline, Arena *arena, PassResult *out_result) {
    uint32_t count = count_graph_passes(pipeline);
    if (!count) run->graph = graph_copy(arena, run->graph);
    for (; run->number < count; run->number++) {
        Arena *into = run->number + 1 == count ? arena : NULL;
        if (!run_graph_pass(run, pass_info(pipeline->items[run->number]), into)) return false;
    }
    *out_result = (PassResult){.graph = run->graph};
    if (count == pipeline->count) return true;
    out_result->program = run_program_pass(run, pass_info(pipeline->items[count]), arena);
    return out_result->program != NULL;
}

static bool choose_pipeline(const PassContext *ctx, const Graph *graph, Pipeline *out_pipeline) {
    const char *message;
    Arena *arena = ctx->arena;
    bool good =
        pipeline_from_options(&ctx->options, graph_facts(graph), arena, out_pipeline, &message);
    if (good) message = pipeline_fault(out_pipeline, graph_facts(graph), arena);
    if (good && !message) return true;
    diag_error(ctx->diags, (Loc){0}, MSG_PIPELINE, message);
    return false;
}

bool passes_run(PassContext *ctx, Arena *arena, const Graph *graph, PassResult *out_result) {
    Pipeline pipeline;
    if (!choose_pipeline(ctx, graph, &pipeline)) return false;
    Run run = {.ctx = ctx, .graph = graph};
    GuardDefer defer;
    guard_defer(&defer, release_run, &run);
    bool good = run_pipeline(&run, &pipeline, arena, out_result);
    guard_undefer(&defer);
    release_run(&run);
    ctx->pass = NULL;
    return good;
}
