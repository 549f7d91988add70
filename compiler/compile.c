/* From a model file to a program: read, parse, choose the model, fill in parameters, run the
 * passes. */
#include "base/file.h"
#include "base/messages.h"
#include "codegen/skeleton/skeleton.h"
#include "compiler/graph.h"
#include "compiler/session.h"
#include "frontend/dsl/dsl.h"
#include "frontend/weights/weights.h"
#include "ir/conflict.h"
#include "ir/text.h"

#include <stdio.h>

enum { ERROR_LIMIT = 20 };

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct CompileCall {
    tcc_compiler *compiler;
    Str path;
    bool in_memory;
    Str text;
    tcc_graph *graph; /* instead of a file */
    tcc_unit *unit;
    uint32_t file;
    const Graph *model; /* what was built, in the core */
} CompileCall;

static bool is_graph(Str path) { return str_ends_with(path, STR(".tir")); }

/* Leaves the text in the core, as its first file. */
static Status read_source(CompileCall *call) {
    Core *core = call->unit->core;
    uint64_t most = is_graph(call->path) ? TEXT_MAX_BYTES : DSL_MAX_BYTES;
    if (!call->in_memory)
        TRY(file_read(core->arena, core->diags, (Loc){0}, call->path, most, &call->text));
    else
        call->text = str_copy(core->arena, call->text);
    call->file = diags_add_file(core->diags, str_copy(core->arena, call->path), call->text);
    return STATUS_ok;
}

/* What was built is a text as well, with its places, for whoever compares it. */
static Status bring_graph(CompileCall *call) {
    Core *core = call->unit->core;
    Buf buf = {.arena = core->arena};
    call->model = graph_bring(call->graph, core->ctx, core->arena, core->diags, &core->options);
    if (call->model == NULL) return STATUS_invalid;
    for (uint32_t i = 1; i <= diags_file_count(core->diags); i++) {
        buf_quoted(&buf, diags_file_path(core->diags, i));
        buf_quoted(&buf, diags_file_label(core->diags, i));
    }
    Module module = {.ctx = core->ctx, .arena = core->arena};
    vec_push(core->arena, &module.models, (Graph *)(uintptr_t)call->model);
    print_module(&buf, &module, &(PrintOptions){.origins = true, .files = true});
    call->text = buf_str(&buf);
    return STATUS_ok;
}

static Module *parse_language(tcc_unit *unit, uint32_t file, WeightTable *table) {
    DslOptions options = {.file = file,
                          .ranges = options_ranges(&unit->core->options),
                          .entry = unit->core->options.entry,
                          .weights = table,
                          .allow_missing =
                              str_starts_with(unit->core->options.params, STR("random"))};
    return dsl_compile(unit->core->ctx, unit->core->arena, unit->core->diags, &options);
}

static void free_table(void *table) { weights_free(table); }

static Module *parse_source(tcc_unit *unit, uint32_t file, Str path) {
    if (is_graph(path))
        return parse_module_narrowed(unit->core->ctx, unit->core->arena, unit->core->diags, file,
                                     options_ranges(&unit->core->options));
    if (!str_ends_with(path, STR(".g"))) {
        diag_error(unit->core->diags, (Loc){0}, MSG_LANGUAGE, STR_ARG(path));
        return NULL;
    }
    GuardDefer defer;
    WeightTable *table = weights_new(unit->core->arena);
    guard_defer(&defer, free_table, table);
    Str params = unit->core->options.params;
    bool from_file = params.size > 0 && !str_starts_with(params, STR("random"));
    bool loaded =
        !from_file || weights_load(table, unit->core->diags, (Loc){0}, params) == STATUS_ok;
    Module *module = loaded ? parse_language(unit, file, table) : NULL;
    if (module != NULL) core_note_inputs(unit->core, table);
    guard_undefer(&defer);
    weights_free(table);
    return module;
}

static const char *model_names(Arena *arena, const Module *module) {
    enum { MOST = 8 };
    Buf names = {.arena = arena};
    for (size_t i = 0; i < module->models.count && i < MOST; i++)
        buf_print(&names, "%s%.*s", i ? ", " : "", STR_ARG(*module->models.data[i]->name));
    if (module->models.count > MOST) buf_put(&names, STR(", ..."));
    return buf_str(&names).data;
}

/* A graph may be one that fuse has been over: its kernels name what they are built from. */
static bool check_skeletons(tcc_unit *unit, const Graph *model) {
    bool good = true;
    for (size_t i = 0; i < model->nodes.count; i++) {
        const Node *node = graph_node(model, (NodeId)i);
        if (node->op != OP_kernel) continue;
        Str name = *node_attr(node, "skeleton").str;
        if (skeleton_find(name) != NULL) continue;
        diag_error(unit->core->diags, node->origin == NULL ? (Loc){0} : node->origin->loc,
                   MSG_SKELETON, STR_ARG(name));
        good = false;
    }
    return good;
}

static const Graph *choose_model(tcc_unit *unit, const Module *module, Str path) {
    Str entry = unit->core->options.entry;
    for (size_t i = 0; entry.size > 0 && i < module->models.count; i++)
        if (str_equal(*module->models.data[i]->name, entry)) return module->models.data[i];
    if (entry.size > 0)
        diag_error(unit->core->diags, (Loc){0}, MSG_NO_ENTRY, STR_ARG(entry));
    else if (module->models.count == 0)
        diag_error(unit->core->diags, (Loc){0}, MSG_NO_MODEL);
    else if (module->models.count > 1)
        diag_error(unit->core->diags, (Loc){0}, MSG_MANY_MODELS, STR_ARG(path),
                   module->models.count, model_names(unit->core->arena, module));
    else
        return module->models.data[0];
    return NULL;
}

/* ---- passes ---------------------------------------------------------------------------------- */

static void pass_on_dump(void *user, Str pass, Str text) {
    const tcc_compiler *compiler = user;
    if (compiler->on_dump == NULL) return;
    char title[64];
    int size = snprintf(title, sizeof title, "# after %.*s\n", STR_ARG(pass));
    compiler->on_dump(compiler->dump_user, title, (size_t)size);
    compiler->on_dump(compiler->dump_user, text.data, text.size);
}

PassOptions pass_options(const Options *o) {
    return (PassOptions){.level = o->level,
                         .strict_sums = o->strict_sums,
                         .excess =
                             o->round_everywhere || o->level == 0 ? EXCESS_none : EXCESS_fused,
                         .passes = o->passes,
                         .skip = o->skip,
                         .rewrite_limit = o->pass_limit,
                         .dump_letters = o->dump_letters,
                         .dump_after = o->dump_after,
                         .dump_dir = o->dump_dir,
                         .schedules = o->schedules.data,
                         .schedule_count = (uint32_t)o->schedules.count};
}

static bool run_passes(tcc_unit *unit) {
    CostModel *cost = NEW(unit->core->arena, CostModel);
    *cost = core_cost_model(unit->core);
    const Target *last = unit->core->target_count > 0
                             ? unit->core->targets[unit->core->target_count - 1]
                             : unit->core->gpu;
    unit->core->pass = (PassContext){.ir = unit->core->ctx,
                                     .diags = unit->core->diags,
                                     .target = last,
                                     .cost = cost,
                                     .options = pass_options(&unit->core->options),
                                     .hooks = {.dump = pass_on_dump, .user = unit->compiler},
                                     .arena = unit->core->arena,
                                     .scratch = arena_new(NULL)};
    return passes_run(&unit->core->pass, unit->core->arena, unit->core->source,
                      &unit->core->result);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* From here on the core tells nobody anything. */
static void finish(Core *core) {
    diags_finish(core->diags);
    core->teller = NULL;
    core->pass.hooks = (PassHooks){0};
}

static void log_passes(const tcc_unit *unit) {
    const PassContext *pass = &unit->core->pass;
    for (size_t i = 0; i < pass->stats.count; i++) {
        const PassStat *s = &pass->stats.data[i];
        compiler_log(unit->compiler, TCC_LOG_STEPS, "pass", str_from(s->pass), s->seconds,
                     "%u nodes, then %u%s", s->nodes_before, s->nodes_after,
                     s->changed ? "" : " (unchanged)");
    }
}

static const Graph *parse_model(CompileCall *call) {
    const Module *module = parse_source(call->unit, call->file, call->path);
    return module == NULL ? NULL : choose_model(call->unit, module, call->path);
}

static Status compile(CompileCall *call) {
    tcc_unit *unit = call->unit;
    const Graph *model = call->graph != NULL ? call->model : parse_model(call);
    if (model != NULL && check_skeletons(unit, model) &&
        graph_refuse_conflict(model, unit->core->diags))
        unit->core->source = unit_fill_params(unit, model);
    bool good = unit->core->source != NULL && run_passes(unit);
    log_passes(unit);
    finish(unit->core);
    if (good) core_measure(unit->core);
    return good ? STATUS_ok : STATUS_invalid;
}

/* A compilation that others may wait for. */
typedef struct Making {
    tcc_cache *cache;
    CacheKey key;
} Making;

static void abandon(void *data) {
    Making *making = data;
    cache_abandon(making->cache, &making->key);
}

static Status compile_for_cache(CompileCall *call, Making *making) {
    GuardDefer defer;
    Core *core = call->unit->core;
    guard_defer(&defer, abandon, making);
    core->most_bytes = cache_most_bytes(making->cache);
    Status status = compile(call);
    guard_undefer(&defer);
    if (status == STATUS_ok && atomic_load(&core->bytes) <= core->most_bytes)
        cache_put(making->cache, &making->key, core);
    else
        abandon(making);
    return status;
}

/* A core whose files changed is forgotten, and compiled anew. */
static Core *take_current(const Making *making) {
    for (;;) {
        Core *core = cache_take(making->cache, &making->key);
        if (core == NULL) return NULL;
        bool holds = core_inputs_hold(core);
        if (!holds) cache_drop(making->cache, &making->key, core);
        if (holds) return core;
        core_release(core);
    }
}

/* What the maker was told, but for the first that were told again already. */
static void tell_again(tcc_compiler *compiler, const Core *core, size_t told) {
    for (size_t i = told; i < core->reports.count; i++)
        compiler_diagnose(compiler, &core->reports.data[i]);
}

static Status find_or_compile(CompileCall *call) {
    tcc_unit *unit = call->unit;
    Making making = {.cache = compiler_cache(call->compiler)};
    TRY(call->graph != NULL ? bring_graph(call) : read_source(call));
    if (making.cache == NULL) return compile(call);
    making.key = compile_key(unit->core, call->path, call->text);
    Core *found = take_current(&making);
    if (found == NULL) return compile_for_cache(call, &making);
    compiler_log(call->compiler, TCC_LOG_CALLS, "cache-hit", call->path, 0,
                 "what was compiled before is used again");
    size_t told = unit->core->reports.count;
    core_release(unit->core);
    unit->core = found;
    tell_again(call->compiler, found, told);
    return STATUS_ok;
}

static void free_unit(void *unit) { tcc_unit_free(unit); }

static tcc_status compile_body(void *data) {
    CompileCall *call = data;
    GuardDefer defer;
    Core *core = core_new(call->compiler);
    call->unit = unit_new(call->compiler, core);
    guard_defer(&defer, free_unit, call->unit);
    core->teller = call->compiler;
    core->diags = diags_new(core->arena, core_diagnose, core, ERROR_LIMIT);
    tcc_status status = unit_choose_targets(call->unit);
    if (status == TCC_OK) status = compiler_status(find_or_compile(call));
    guard_undefer(&defer);
    if (status == TCC_OK) return TCC_OK;
    tcc_unit_free(call->unit);
    call->unit = NULL;
    return status;
}

static tcc_status compile_call(CompileCall *call, tcc_unit **out_unit) {
    if (out_unit == NULL) return compiler_refuse_null(call->compiler, "out_unit");
    *out_unit = NULL;
    double begin = compiler_clock();
    tcc_status status = compiler_enter(call->compiler, compile_body, call);
    if (status != TCC_OK) return status;
    *out_unit = call->unit;
    compiler_log(call->compiler, TCC_LOG_CALLS, "compiled", call->path, compiler_clock() - begin,
                 "the passes are done");
    return TCC_OK;
}

tcc_status tcc_compile_file(tcc_compiler *compiler, const char *path, tcc_unit **out_unit) {
    CompileCall call = {.compiler = compiler, .path = str_from(path)};
    if (path == NULL) return compiler_refuse_null(compiler, "path");
    return compile_call(&call, out_unit);
}

tcc_status tcc_compile_memory(tcc_compiler *compiler, const char *path, const void *text,
                              size_t size, tcc_unit **out_unit) {
    CompileCall call = {
        .compiler = compiler, .path = str_from(path), .in_memory = true, .text = {text, size}};
    if (path == NULL) return compiler_refuse_null(compiler, "path");
    if (text == NULL && size > 0) return compiler_refuse_null(compiler, "text");
    return compile_call(&call, out_unit);
}

static tcc_status whole_body(void *data) { return graph_is_whole(data) ? TCC_OK : TCC_INVALID; }

/* What the graph lacks is told to its own compiler, and is the message of the one that compiles. */
tcc_status check_whole_graph(tcc_compiler *compiler, tcc_graph *graph) {
    if (graph->lacks_output) return compiler_fail(compiler, TCC_INVALID, "%s", graph->first);
    tcc_status status = graph_enter(graph, whole_body, graph);
    if (status != TCC_OK && compiler != graph->compiler)
        compiler_fail(compiler, status, "%s", graph->compiler->message);
    return status;
}

tcc_status compile_whole_graph(tcc_compiler *compiler, tcc_graph *graph, tcc_unit **out_unit) {
    CompileCall call = {.compiler = compiler, .path = graph->name, .graph = graph};
    return compile_call(&call, out_unit);
}

tcc_status tcc_compile_graph(tcc_compiler *compiler, tcc_graph *graph, tcc_unit **out_unit) {
    if (out_unit == NULL) return compiler_refuse_null(compiler, "out_unit");
    *out_unit = NULL;
    if (compiler == NULL || graph == NULL) return compiler_refuse_null(compiler, "graph");
    tcc_status status = check_whole_graph(compiler, graph);
    return status == TCC_OK ? compile_whole_graph(compiler, graph, out_unit) : status;
}
