// Cases as text: two graphs in one .tir file, the case and the one that computes its inputs.
#include "tests/fuzz/case.h"

#include "base/diag.h"
#include "ir/build.h"
#include "ir/eval.h"
#include "ir/text.h"

#include <string.h>

// Constants of more elements do not stand in the text.
enum { PIECE = 64, MAX_SYMBOLS = 4096 };

static const Type *static_type(IrContext *ctx, DType dtype, uint32_t rank, const int64_t *sizes) {
    const Dim *dims[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) dims[i] = dim_const(ctx, sizes[i]);
    return type_tensor(ctx, dtype, rank, dims);
}

// The elements from `at` as a constant.
static NodeId piece(Graph *g, const Tensor *t, int64_t at, int64_t count) {
    int64_t before, bytes;
    dtype_bytes(t->dtype, at, &before);
    dtype_bytes(t->dtype, count, &bytes);
    const Type *type = static_type(g->ctx, t->dtype, 1, &count);
    return build_const(g, type, (const char *)t->data + before, (size_t)bytes);
}

static NodeId numbers(Graph *g, Arena *arena, const Tensor *t) {
    int64_t count = tensor_elements(t), pieces = (count + PIECE - 1) / PIECE;
    const Type *type = static_type(g->ctx, t->dtype, t->rank, t->dims);
    if (count <= PIECE) return build_const(g, type, t->data, tensor_bytes(t));
    NodeId *ids = NEW_ARRAY(arena, NodeId, (size_t)pieces);
    for (int64_t k = 0; k < pieces; k++) {
        int64_t left = count - k * PIECE;
        ids[k] = piece(g, t, k * PIECE, left < PIECE ? left : PIECE);
    }
    NodeId flat = build_op(g, OP_concat, ids, (uint32_t)pieces, (Attr[]){{.i = 0}});
    return build_reshape(g, flat, type->dims, type->rank);
}

Str fuzz_print(Arena *arena, const FuzzCase *c) {
    Graph *values = graph_new(c->ctx, arena, c->exact ? STR("exact_values") : STR("values"));
    for (size_t i = 0; i < c->graph->inputs.count; i++) {
        const Node *input = graph_node(c->graph, c->graph->inputs.data[i]);
        graph_add_output(values, *node_attr(input, "name").str,
                         numbers(values, arena, &c->inputs[i]));
    }
    Module module = {.ctx = c->ctx, .arena = arena};
    Buf buf = {.arena = arena};
    vec_push(arena, &module.models, graph_copy(arena, c->graph));
    vec_push(arena, &module.models, values);
    print_module(&buf, &module, &(PrintOptions){.origins = false});
    return buf_str(&buf);
}

// ---- reading

static void keep_text(void *user, const Diag *diag) {
    const char **why = user;
    if (!*why) *why = diag->rendered;
}

// The dims that the inputs' shapes give.
static bool bind(const Graph *graph, const Tensor *inputs, int64_t *symbols) {
    for (size_t i = 0; i < graph->inputs.count; i++) {
        const Type *type = graph_type(graph, graph->inputs.data[i]);
        if (type->rank != inputs[i].rank || type->dtype != inputs[i].dtype) return false;
        for (uint32_t a = 0; a < type->rank; a++) {
            const DimSymbol *symbol = dim_as_symbol(type->dims[a]);
            if (symbol) symbols[symbol->id] = inputs[i].dims[a];
        }
    }
    return true;
}

bool fuzz_read(Arena *arena, IrContext *ctx, Str text, FuzzCase *out, const char **out_why) {
    *out_why = NULL;
    Diags *diags = diags_new(arena, keep_text, out_why, 1);
    Module *module =
        parse_module(ctx, arena, diags, diags_add_file(diags, STR("case"), text), NULL, NULL);
    if (!module) return false;
    *out_why = "not a graph and one that computes its inputs";
    if (module->models.count != 2) return false;
    const Graph *graph = module->models.data[0], *values = module->models.data[1];
    int64_t *symbols = NEW_ARRAY(arena, int64_t, MAX_SYMBOLS);
    if (values->outputs.count != graph->inputs.count || values->inputs.count > 0) return false;
    EvalValue *results = NEW_ARRAY(arena, EvalValue, values->outputs.count + 1);
    EvalOptions options = {.symbols = symbols};
    EvalError error;
    if (!eval_graph(values, NULL, &options, arena, results, &error, out_why)) return false;
    Tensor *inputs = NEW_ARRAY(arena, Tensor, values->outputs.count + 1);
    for (size_t i = 0; i < values->outputs.count; i++) inputs[i] = results[i].tensor;
    *out_why = "the values do not have the inputs' types";
    if (!bind(graph, inputs, symbols)) return false;
    *out = (FuzzCase){.ctx = ctx,
                      .graph = graph,
                      .inputs = inputs,
                      .symbols = symbols,
                      .exact = str_equal(*values->name, STR("exact_values"))};
    return true;
}
