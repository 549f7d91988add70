/* The way of what was built to the compiler, and its text. */
#include "base/messages.h"
#include "compiler/graph.h"
#include "ir/import.h"
#include "ir/infer.h"
#include "ir/text.h"
#include "ir/verify.h"

/* ---- the model ------------------------------------------------------------------------------- */

typedef struct Bringing {
    const tcc_graph *graph;
    Diags *diags; /* of the compilation */
    bool may_lack;
} Bringing;

/* A parameter may have got its value after it was declared, which goes before its initialiser, or
 * get it by an option. */
static const Blob *param_value(const Bringing *b, IrContext *ctx, const Node *node) {
    Str name = *node_attr(node, "name").str;
    const Weight *weight = weights_find(b->graph->weights, name);
    if (weight == NULL && node_attr(node, "value").blob == NULL && !b->may_lack)
        diag_error(b->diags, origin_loc(node->origin), MSG_HOST_PARAM, STR_ARG(name));
    if (weight == NULL) return NULL;
    return ir_blob_adopt(ctx, weight->bytes, weight->size, weight_storage_release,
                         weight_storage_retain(weight->storage));
}

/* The host's tensors are shared with the graph. */
static const Blob *bring_value(void *user, IrContext *ctx, const Node *node) {
    const Blob *blob = node_attr(node, "value").blob;
    const Blob *given = node->op == OP_param ? param_value(user, ctx, node) : NULL;
    if (blob == NULL || given != NULL) return given;
    if (blob->release != weight_storage_release) return ir_blob(ctx, blob->bytes, blob->size);
    return ir_blob_adopt(ctx, blob->bytes, blob->size, blob->release,
                         weight_storage_retain(blob->owner));
}

static void bring_files(const tcc_graph *graph, Diags *diags) {
    for (uint32_t i = 1; i <= diags_file_count(graph->diags); i++) {
        Str path = diags_file_path(graph->diags, i), text = diags_file_text(graph->diags, i);
        Str label = diags_file_label(graph->diags, i);
        if (text.size > 0)
            diags_add_file(diags, path, text);
        else
            diags_add_label(diags, path, label);
    }
}

Graph *graph_bring(const tcc_graph *graph, IrContext *ctx, Arena *arena, Diags *diags,
                   const Options *options) {
    bring_files(graph, diags);
    Bringing bringing = {graph, diags, options == NULL || options->params.size > 0};
    ImportOptions how = {options == NULL ? (DimRanges){0} : options_ranges(options), bring_value,
                         &bringing};
    Graph *model = graph_import(ctx, arena, diags, live_graph(graph->live), &how);
    if (diags_error_count(diags) > 0) return NULL;
    const char *fault = model == NULL ? NULL : graph_verify(model, arena);
    if (fault != NULL) bug("a graph that was built is not well formed: %s", fault);
    return model;
}

bool graph_is_whole(tcc_graph *graph) {
    live_set_place(graph->live, graph_place(graph, (Str){0}));
    if (!live_check(graph->live)) return false;
    weights_warn_unused(graph->weights, graph->diags, graph_place(graph, (Str){0}));
    return true;
}

/* ---- the text -------------------------------------------------------------------------------- */

typedef struct GraphText {
    tcc_graph *graph;
    Str text;
} GraphText;

static void free_context(void *ctx) { ir_context_free(ctx); }

static tcc_status text_body(void *data) {
    GraphText *call = data;
    tcc_graph *graph = call->graph;
    GuardDefer defer;
    arena_free(graph->text);
    graph->text = NULL;
    Arena *arena = graph->text = arena_new(NULL);
    IrContext *ctx = ir_context_new(arena);
    guard_defer(&defer, free_context, ctx);
    Diags *diags = diags_new(arena, NULL, NULL, 0);
    Module module = {.ctx = ctx, .arena = arena};
    Graph *model = graph_bring(graph, ctx, arena, diags, NULL);
    Buf buf = {.arena = arena};
    vec_push(arena, &module.models, model);
    print_module(&buf, &module, &(PrintOptions){0});
    print_blobs(&buf, &module);
    call->text = buf_str(&buf);
    guard_undefer(&defer);
    ir_context_free(ctx);
    return TCC_OK;
}

tcc_status tcc_graph_text(tcc_graph *graph, const char **out_text, size_t *out_size) {
    GraphText call = {.graph = graph};
    if (out_text != NULL) *out_text = NULL;
    if (out_size != NULL) *out_size = 0;
    if (graph == NULL) return TCC_INVALID;
    if (out_text == NULL) return compiler_refuse_null(graph->compiler, "out_text");
    if (out_size == NULL) return compiler_refuse_null(graph->compiler, "out_size");
    tcc_status status = graph_enter(graph, text_body, &call);
    if (status != TCC_OK) return status;
    *out_text = call.text.data;
    *out_size = call.text.size;
    return TCC_OK;
}
