#include "compiler/source.h"

#include "ir/tensor.h"

#include <math.h>

typedef struct Writer {
    Buf buf;
    const Graph *graph;
    bool failed; /* something has no spelling */
} Writer;

/* Writes the expression that the node is. */
typedef void WriteRule(Writer *w, const Node *node, const char *name);

static void put(Writer *w, const char *text) { buf_put(&w->buf, str_from(text)); }

/* ---- pieces ---------------------------------------------------------------------------------- */

static void put_node(Writer *w, NodeId id) {
    const Node *node = graph_node(w->graph, id);
    if (node->op == OP_input)
        buf_put(&w->buf, *node_attr(node, "name").str);
    else if (node->op == OP_item)
        buf_print(&w->buf, "t%u_%lld", node->args[0], (long long)node_attr(node, "index").i);
    else
        buf_print(&w->buf, "t%u", id);
}

static void put_args(Writer *w, const Node *node) {
    for (uint32_t i = 0; i < node->arg_count; i++) {
        if (i > 0) put(w, ", ");
        put_node(w, node->args[i]);
    }
}

static void put_ints(Writer *w, const IntList *list) {
    buf_char(&w->buf, '[');
    for (uint32_t i = 0; i < list->count; i++)
        buf_print(&w->buf, "%s%lld", i > 0 ? ", " : "", (long long)list->items[i]);
    buf_char(&w->buf, ']');
}

static void put_dims(Writer *w, const Dim *const *dims, uint32_t count) {
    buf_char(&w->buf, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) put(w, ", ");
        buf_dim(&w->buf, dims[i]);
    }
    buf_char(&w->buf, ']');
}

static void put_number(Writer *w, const Tensor *t, int64_t index) {
    double value = tensor_get(t, index);
    size_t begin = w->buf.size;
    if (t->dtype == DT_bool) {
        put(w, tensor_get_int(t, index) ? "true" : "false");
    } else if (!dtype_is_float(t->dtype)) {
        if (t->dtype == DT_u64 && tensor_get_int(t, index) < 0) w->failed = true;
        buf_print(&w->buf, "%lld", (long long)tensor_get_int(t, index));
    } else if (isnan(value)) {
        put(w, "nan");
    } else {
        buf_double(&w->buf, value);
        bool whole = isfinite(value);
        for (size_t i = begin; i < w->buf.size; i++)
            whole &= w->buf.data[i] != '.' && w->buf.data[i] != 'e';
        if (whole) put(w, ".0");
    }
}

/* ---- leaves ---------------------------------------------------------------------------------- */

static void write_const(Writer *w, const Node *node, const char *name) {
    enum { MOST = 4096 };
    Tensor t = {.dtype = node->type->dtype, .rank = node->type->rank};
    (void)name;
    for (uint32_t i = 0; i < t.rank; i++) dim_is_const(node->type->dims[i], &t.dims[i]);
    t.data = (void *)(uintptr_t)node_attr(node, "value").blob->bytes;
    int64_t count = tensor_elements(&t);
    if (count == 0 || count > MOST) {
        w->failed = true;
    } else if (t.rank == 0) {
        put(w, "full([], ");
        put_number(w, &t, 0);
    } else {
        put(w, "reshape(tensor([");
        for (int64_t i = 0; i < count; i++) {
            if (i > 0) put(w, ", ");
            put_number(w, &t, i);
        }
        put(w, "]");
    }
    buf_print(&w->buf, ", dtype=%s)", dtype_name(t.dtype));
    if (t.rank == 0) return;
    put(w, ", ");
    put_dims(w, node->type->dims, t.rank);
    put(w, ")");
}

static void write_iota(Writer *w, const Node *node, const char *name) {
    (void)name;
    put(w, "iota(");
    put_dims(w, node->type->dims, node->type->rank);
    buf_print(&w->buf, ", axis=%lld, dtype=%s)", (long long)node_attr(node, "axis").i,
              dtype_name(node->type->dtype));
}

/* ---- ops ------------------------------------------------------------------------------------- */

static void write_call(Writer *w, const Node *node, const char *name) {
    buf_print(&w->buf, "%s(", name);
    put_args(w, node);
    put(w, ")");
}

/* The attributes behind the operands, by their names in the language. */
static void write_attrs(Writer *w, const Node *node, const char *name) {
    const OpInfo *info = op_info(node->op);
    buf_print(&w->buf, "%s(", name);
    put_args(w, node);
    for (uint32_t i = 0; i < info->attr_count; i++) {
        Attr attr = node->attrs[i];
        bool axes = str_equal(str_from(info->attrs[i].name), STR("axes"));
        buf_print(&w->buf, ", %s=", axes ? "axis" : info->attrs[i].name);
        switch (info->attrs[i].kind) {
        case ATTR_int: buf_print(&w->buf, "%lld", (long long)attr.i); break;
        case ATTR_ints: put_ints(w, attr.ints); break;
        case ATTR_dims: put_dims(w, attr.dims->items, attr.dims->count); break;
        case ATTR_dtype: put(w, dtype_name(attr.dtype)); break;
        default: w->failed = true;
        }
    }
    put(w, ")");
}

static void write_flagged(Writer *w, const Node *node, const char *name) {
    const OpInfo *info = op_info(node->op);
    buf_print(&w->buf, "%s(", name);
    put_args(w, node);
    for (uint32_t i = 0; i < info->attr_count; i++) {
        long long value = (long long)node->attrs[i].i;
        bool number = i == 0 || str_equal(str_from(info->attrs[i].name), STR("k"));
        if (number)
            buf_print(&w->buf, ", %s=%lld", info->attrs[i].name, value);
        else
            buf_print(&w->buf, ", %s=%s", info->attrs[i].name, value ? "true" : "false");
    }
    put(w, ")");
}

static void write_cast(Writer *w, const Node *node, const char *name) {
    buf_print(&w->buf, "%s(", name);
    put_args(w, node);
    buf_print(&w->buf, ", to=%s)", dtype_name(node->type->dtype));
}

/* Reductions to the largest and least have no dtype in the language. */
static void write_most(Writer *w, const Node *node, const char *name) {
    buf_print(&w->buf, "%s(", name);
    put_args(w, node);
    put(w, ", axis=");
    put_ints(w, node_attr(node, "axes").ints);
    put(w, ")");
}

static void write_reshape(Writer *w, const Node *node, const char *name) {
    write_call(w, node, name);
    w->buf.size--;
    put(w, ", ");
    put_dims(w, node->type->dims, node->type->rank);
    put(w, ")");
}

static void write_permute(Writer *w, const Node *node, const char *name) {
    write_call(w, node, name);
    w->buf.size--;
    put(w, ", ");
    put_ints(w, node_attr(node, "perm").ints);
    put(w, ")");
}

/* First the axes that are new, of 1, then the sizes. */
static void write_broadcast(Writer *w, const Node *node, const char *name) {
    const Type *from = graph_type(w->graph, node->args[0]);
    const IntList *axes = node_attr(node, "axes").ints;
    buf_print(&w->buf, "%s(reshape(", name);
    put_args(w, node);
    put(w, ", [");
    for (uint32_t i = 0, k = 0; i < node->type->rank; i++) {
        if (i > 0) put(w, ", ");
        bool given = k < axes->count && axes->items[k] == (int64_t)i;
        if (given)
            buf_dim(&w->buf, from->dims[k++]);
        else
            put(w, "1");
    }
    put(w, "]), ");
    put_dims(w, node->type->dims, node->type->rank);
    put(w, ")");
}

static void write_slice(Writer *w, const Node *node, const char *name) {
    const DimList *start = node_attr(node, "start").dims, *limit = node_attr(node, "limit").dims;
    (void)name;
    put_args(w, node);
    if (start->count == 0) return;
    put(w, "[");
    for (uint32_t i = 0; i < start->count; i++) {
        if (i > 0) put(w, ", ");
        buf_dim(&w->buf, start->items[i]);
        put(w, ":");
        buf_dim(&w->buf, limit->items[i]);
        buf_print(&w->buf, ":%lld", (long long)node_attr(node, "step").ints->items[i]);
    }
    put(w, "]");
}

static void write_pad(Writer *w, const Node *node, const char *name) {
    buf_print(&w->buf, "%s(", name);
    put_node(w, node->args[0]);
    put(w, ", ");
    put_dims(w, node_attr(node, "lo").dims->items, node->type->rank);
    put(w, ", ");
    put_dims(w, node_attr(node, "hi").dims->items, node->type->rank);
    put(w, ", ");
    put_node(w, node->args[1]);
    put(w, ")");
}

static void write_concat(Writer *w, const Node *node, const char *name) {
    buf_print(&w->buf, "%s([", name);
    put_args(w, node);
    buf_print(&w->buf, "], axis=%lld)", (long long)node_attr(node, "axis").i);
}

static void put_labels(Writer *w, const IntList *labels) {
    for (uint32_t i = 0; i < labels->count; i++) {
        int64_t label = labels->items[i];
        if (label >= 52) w->failed = true;
        buf_char(&w->buf, (char)(label < 26 ? 'a' + label : 'A' + (label - 26) % 26));
    }
}

static void write_contract(Writer *w, const Node *node, const char *name) {
    buf_print(&w->buf, "%s(\"", name);
    put_labels(w, node_attr(node, "a").ints);
    put(w, ",");
    put_labels(w, node_attr(node, "b").ints);
    put(w, "->");
    put_labels(w, node_attr(node, "out").ints);
    put(w, "\", ");
    put_args(w, node);
    buf_print(&w->buf, ", dtype=%s)", dtype_name(node_attr(node, "dtype").dtype));
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct Spelling {
    const char *name;
    WriteRule *write;
} spellings[OP_count] = {
    [OP_const] = {"", write_const},
    [OP_iota] = {"", write_iota},
    [OP_neg] = {"neg", write_call},
    [OP_abs] = {"abs", write_call},
    [OP_sign] = {"sign", write_call},
    [OP_floor] = {"floor", write_call},
    [OP_ceil] = {"ceil", write_call},
    [OP_trunc] = {"trunc", write_call},
    [OP_round] = {"round", write_call},
    [OP_not] = {"bit_not", write_call},
    [OP_sqrt] = {"sqrt", write_call},
    [OP_rsqrt] = {"rsqrt", write_call},
    [OP_exp] = {"exp", write_call},
    [OP_exp2] = {"exp2", write_call},
    [OP_expm1] = {"expm1", write_call},
    [OP_log] = {"log", write_call},
    [OP_log2] = {"log2", write_call},
    [OP_log1p] = {"log1p", write_call},
    [OP_sin] = {"sin", write_call},
    [OP_cos] = {"cos", write_call},
    [OP_tan] = {"tan", write_call},
    [OP_atan] = {"atan", write_call},
    [OP_tanh] = {"tanh", write_call},
    [OP_erf] = {"erf", write_call},
    [OP_erfc] = {"erfc", write_call},
    [OP_add] = {"add", write_call},
    [OP_sub] = {"sub", write_call},
    [OP_mul] = {"mul", write_call},
    [OP_div] = {"div", write_call},
    [OP_floordiv] = {"floordiv", write_call},
    [OP_rem] = {"rem", write_call},
    [OP_mod] = {"mod", write_call},
    [OP_pow] = {"pow", write_call},
    [OP_min] = {"minimum", write_call},
    [OP_max] = {"maximum", write_call},
    [OP_and] = {"bit_and", write_call},
    [OP_or] = {"bit_or", write_call},
    [OP_xor] = {"bit_xor", write_call},
    [OP_shl] = {"shift_left", write_call},
    [OP_shr] = {"shift_right", write_call},
    [OP_eq] = {"eq", write_call},
    [OP_ne] = {"ne", write_call},
    [OP_lt] = {"lt", write_call},
    [OP_le] = {"le", write_call},
    [OP_gt] = {"gt", write_call},
    [OP_ge] = {"ge", write_call},
    [OP_select] = {"select", write_call},
    [OP_cast] = {"cast", write_cast},
    [OP_reduce_sum] = {"sum", write_attrs},
    [OP_reduce_prod] = {"prod", write_attrs},
    [OP_reduce_max] = {"max", write_most},
    [OP_reduce_min] = {"min", write_most},
    [OP_argmax] = {"argmax", write_attrs},
    [OP_argmin] = {"argmin", write_attrs},
    [OP_cum_sum] = {"cum_sum", write_flagged},
    [OP_cum_prod] = {"cum_prod", write_flagged},
    [OP_cum_max] = {"cum_max", write_flagged},
    [OP_cum_min] = {"cum_min", write_flagged},
    [OP_reshape] = {"reshape", write_reshape},
    [OP_permute] = {"permute", write_permute},
    [OP_broadcast] = {"broadcast_to", write_broadcast},
    [OP_slice] = {"", write_slice},
    [OP_pad] = {"pad", write_pad},
    [OP_reverse] = {"reverse", write_attrs},
    [OP_concat] = {"concat", write_concat},
    [OP_gather] = {"gather", write_attrs},
    [OP_scatter_set] = {"scatter_set", write_attrs},
    [OP_scatter_add] = {"scatter_add", write_attrs},
    [OP_scatter_mul] = {"scatter_mul", write_attrs},
    [OP_scatter_max] = {"scatter_max", write_attrs},
    [OP_scatter_min] = {"scatter_min", write_attrs},
    [OP_contract] = {"einsum", write_contract},
    [OP_conv] = {"conv", write_attrs},
    [OP_window_sum] = {"window_sum", write_attrs},
    [OP_window_max] = {"window_max", write_attrs},
    [OP_window_min] = {"window_min", write_attrs},
    [OP_sort] = {"sort", write_flagged},
    [OP_topk] = {"topk", write_flagged},
};

/* ---- the model ------------------------------------------------------------------------------- */

static void write_statement(Writer *w, NodeId id) {
    const Node *node = graph_node(w->graph, id);
    const struct Spelling *spelling = &spellings[node->op];
    if (node->op == OP_input || node->op == OP_item) return;
    if (spelling->write == NULL) {
        w->failed = true;
        return;
    }
    put(w, "    ");
    for (uint32_t i = 0; node->type->is_tuple && i < node->type->item_count; i++)
        buf_print(&w->buf, "%st%u_%u", i > 0 ? ", " : "", id, i);
    if (!node->type->is_tuple) buf_print(&w->buf, "t%u", id);
    put(w, " = ");
    spelling->write(w, node, spelling->name);
    put(w, "\n");
}

static void write_type(Writer *w, const Type *type) {
    put(w, dtype_name(type->dtype));
    if (type->rank > 0) put_dims(w, type->dims, type->rank);
}

static void write_symbols(Writer *w) {
    const IrContext *ctx = w->graph->ctx;
    for (uint32_t i = 0; i < dim_symbol_count(ctx); i++) {
        const DimSymbol *symbol = dim_symbol_at(ctx, i);
        bool used = false;
        for (size_t k = 0; k < w->graph->inputs.count; k++) {
            const Type *type = graph_type(w->graph, w->graph->inputs.data[k]);
            for (uint32_t a = 0; a < type->rank; a++) used |= dim_mentions(type->dims[a], symbol);
        }
        if (used)
            buf_print(&w->buf, "dim %.*s in %lld..%lld tune %lld\n", STR_ARG(symbol->name),
                      (long long)symbol->lo, (long long)symbol->hi, (long long)symbol->tune);
    }
}

static void write_header(Writer *w) {
    const Graph *g = w->graph;
    buf_print(&w->buf, "model %.*s(", STR_ARG(*g->name));
    for (size_t i = 0; i < g->inputs.count; i++) {
        if (i > 0) put(w, ", ");
        put_node(w, g->inputs.data[i]);
        put(w, ": ");
        write_type(w, graph_type(g, g->inputs.data[i]));
    }
    put(w, ") -> (");
    for (size_t i = 0; i < g->outputs.count; i++) {
        buf_print(&w->buf, "%s%.*s: ", i > 0 ? ", " : "", STR_ARG(*g->outputs.data[i].name));
        write_type(w, graph_type(g, g->outputs.data[i].node));
    }
    put(w, ") {\n");
}

Str source_of_graph(Arena *arena, const Graph *graph) {
    Writer w = {.buf = {.arena = arena}, .graph = graph};
    write_symbols(&w);
    write_header(&w);
    for (NodeId id = 0; id < graph->nodes.count && !w.failed; id++) write_statement(&w, id);
    for (size_t i = 0; i < graph->outputs.count; i++) {
        buf_print(&w.buf, "    %.*s = ", STR_ARG(*graph->outputs.data[i].name));
        put_node(&w, graph->outputs.data[i].node);
        put(&w, "\n");
    }
    put(&w, "}\n");
    return w.failed ? (Str){NULL, 0} : buf_str(&w.buf);
}
