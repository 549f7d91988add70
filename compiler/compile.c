/* From a model file to a program: read, parse, choose the model, fill in parameters, run the
 * passes. */
#include "base/file.h"
#include "base/messages.h"
#include "codegen/skeleton/skeleton.h"
#include "compiler/graph.h"
#include "compiler/session.h"
#include "frontend/dsl/dsl.h"
#include "frontend/weights/weights.h"
#include "ir/text.h"

#include <stdio.h>
#include <stdlib.h>

enum { ERROR_LIMIT = 20 };

/* ---- units ----------------------------------------------------------------------------------- */

static void free_unit(void *data) { tcc_unit_free(data); }

void tcc_unit_free(tcc_unit *unit) {
    if (unit == NULL) return;
    jit_free(unit->jit);
    free(unit->weights);
    if (unit->ctx != NULL) ir_context_free(unit->ctx);
    arena_free(unit->pass.scratch);
    arena_free(unit->arena);
    compiler_release(unit->compiler);
    free(unit);
}

static tcc_unit *new_unit(tcc_compiler *compiler) {
    tcc_unit *unit = calloc(1, sizeof *unit);
    if (unit == NULL) guard_raise(GUARD_memory, "out of memory");
    unit->compiler = compiler;
    unit->options = compiler->options;
    compiler->holds++;
    return unit;
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct CompileCall {
    tcc_compiler *compiler;
    Str path;
    bool in_memory;
    Str text;
    tcc_graph *graph; /* instead of a file */
    tcc_unit *unit;
} CompileCall;

static bool is_graph(Str path) { return str_ends_with(path, STR(".tir")); }

static Status read_source(CompileCall *call, uint32_t *out_file) {
    tcc_unit *unit = call->unit;
    Str text = call->text;
    uint64_t most = is_graph(call->path) ? TEXT_MAX_BYTES : DSL_MAX_BYTES;
    if (!call->in_memory)
        TRY(file_read(unit->arena, unit->diags, (Loc){0}, call->path, most, &text));
    else
        text = str_copy(unit->arena, text);
    *out_file = diags_add_file(unit->diags, str_copy(unit->arena, call->path), text);
    return STATUS_ok;
}

static Module *parse_language(tcc_unit *unit, uint32_t file, WeightTable *table) {
    size_t count = unit->options.dims.count;
    DslDim *dims = NEW_ARRAY(unit->arena, DslDim, count);
    for (size_t i = 0; i < count; i++) {
        DimOption d = unit->options.dims.data[i];
        dims[i] = (DslDim){.name = d.name, .lo = d.lo, .hi = d.hi, .tune = d.tune};
    }
    DslOptions options = {.file = file,
                          .dims = dims,
                          .dim_count = count,
                          .entry = unit->options.entry,
                          .weights = table,
                          .allow_missing = str_starts_with(unit->options.params, STR("random"))};
    return dsl_compile(unit->ctx, unit->arena, unit->diags, &options);
}

static void free_table(void *table) { weights_free(table); }

static Module *parse_source(tcc_unit *unit, uint32_t file, Str path) {
    if (is_graph(path)) return parse_module(unit->ctx, unit->arena, unit->diags, file, NULL, NULL);
    if (!str_ends_with(path, STR(".g"))) {
        diag_error(unit->diags, (Loc){0}, MSG_LANGUAGE, STR_ARG(path));
        return NULL;
    }
    GuardDefer defer;
    WeightTable *table = weights_new(unit->arena);
    guard_defer(&defer, free_table, table);
    Str params = unit->options.params;
    bool from_file = params.size > 0 && !str_starts_with(params, STR("random"));
    bool loaded = !from_file || weights_load(table, unit->diags, (Loc){0}, params) == STATUS_ok;
    Module *module = loaded ? parse_language(unit, file, table) : NULL;
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
        diag_error(unit->diags, node->origin == NULL ? (Loc){0} : node->origin->loc, MSG_SKELETON,
                   STR_ARG(name));
        good = false;
    }
    return good;
}

static const Graph *choose_model(tcc_unit *unit, const Module *module, Str path) {
    Str entry = unit->options.entry;
    for (size_t i = 0; entry.size > 0 && i < module->models.count; i++)
        if (str_equal(*module->models.data[i]->name, entry)) return module->models.data[i];
    if (entry.size > 0)
        diag_error(unit->diags, (Loc){0}, MSG_NO_ENTRY, STR_ARG(entry));
    else if (module->models.count == 0)
        diag_error(unit->diags, (Loc){0}, MSG_NO_MODEL);
    else if (module->models.count > 1)
        diag_error(unit->diags, (Loc){0}, MSG_MANY_MODELS, STR_ARG(path), module->models.count,
                   model_names(unit->arena, module));
    else
        return module->models.data[0];
    return NULL;
}

/* ---- passes ---------------------------------------------------------------------------------- */

static void pass_on_dump(void *user, Str pass, Str text) {
    tcc_compiler *compiler = user;
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
    CostModel *cost = NEW(unit->arena, CostModel);
    *cost = skeleton_cost_model(unit->ctx);
    const Target *last = unit->target_count > 0 ? unit->targets[unit->target_count - 1] : unit->gpu;
    unit->pass = (PassContext){.ir = unit->ctx,
                               .diags = unit->diags,
                               .target = last,
                               .cost = cost,
                               .options = pass_options(&unit->options),
                               .hooks = {.dump = pass_on_dump, .user = unit->compiler},
                               .arena = unit->arena,
                               .scratch = arena_new(NULL)};
    return passes_run(&unit->pass, unit->arena, unit->source, &unit->result);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static Status compile(CompileCall *call) {
    tcc_unit *unit = call->unit;
    uint32_t file = 0;
    unit->arena = arena_new(NULL);
    unit->ctx = ir_context_new(unit->arena);
    unit->diags = diags_new(unit->arena, compiler_diagnose, call->compiler, ERROR_LIMIT);
    const Graph *model = NULL;
    if (call->graph != NULL) {
        model = graph_bring(call->graph, unit->ctx, unit->arena, unit->diags, &unit->options);
    } else {
        TRY(read_source(call, &file));
        const Module *module = parse_source(unit, file, call->path);
        model = module == NULL ? NULL : choose_model(unit, module, call->path);
    }
    if (model != NULL && check_skeletons(unit, model)) unit->source = unit_fill_params(unit, model);
    if (unit->source == NULL || !run_passes(unit)) return STATUS_invalid;
    return STATUS_ok;
}

static tcc_status compile_body(void *data) {
    CompileCall *call = data;
    GuardDefer defer;
    call->unit = new_unit(call->compiler);
    guard_defer(&defer, free_unit, call->unit);
    tcc_status status = unit_choose_targets(call->unit);
    if (status == TCC_OK) status = compiler_status(compile(call));
    if (call->unit->diags != NULL) diags_finish(call->unit->diags);
    guard_undefer(&defer);
    if (status == TCC_OK) return TCC_OK;
    tcc_unit_free(call->unit);
    call->unit = NULL;
    return status;
}

static tcc_status compile_call(CompileCall *call, tcc_unit **out_unit) {
    if (out_unit == NULL) return compiler_refuse_null(call->compiler, "out_unit");
    *out_unit = NULL;
    tcc_status status = compiler_enter(call->compiler, compile_body, call);
    if (status == TCC_OK) *out_unit = call->unit;
    return status;
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
static tcc_status check_graph(tcc_compiler *compiler, tcc_graph *graph) {
    if (graph->lacks_output) return compiler_fail(compiler, TCC_INVALID, "%s", graph->first);
    tcc_status status = graph_enter(graph, whole_body, graph);
    if (status != TCC_OK && compiler != graph->compiler)
        compiler_fail(compiler, status, "%s", graph->compiler->message);
    return status;
}

tcc_status tcc_compile_graph(tcc_compiler *compiler, tcc_graph *graph, tcc_unit **out_unit) {
    CompileCall call = {.compiler = compiler, .graph = graph};
    if (out_unit == NULL) return compiler_refuse_null(compiler, "out_unit");
    *out_unit = NULL;
    if (compiler == NULL || graph == NULL) return compiler_refuse_null(compiler, "graph");
    tcc_status status = check_graph(compiler, graph);
    if (status != TCC_OK) return status;
    return compile_call(&call, out_unit);
}
