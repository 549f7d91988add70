#include "passes/fuse/bands.h"

#include "passes/fuse/cost.h"
#include "passes/fuse/reduction.h"

#include <math.h>

static NodeId find_class(const Fuser *f, const Group *group, OpClass class) {
    for (size_t i = 0; i < group->nodes.count; i++)
        if (fuser_class(f, group->nodes.data[i]) == class) return group->nodes.data[i];
    return NODE_none;
}

NodeId band_product(const Fuser *f, const Group *group) {
    return group_is_row(f, group) ? find_class(f, group, CLASS_CONTRACT) : NODE_none;
}

NodeId band_weights(const Fuser *f, NodeId product) {
    const Node *node = graph_node(f->graph, product);
    const IntList *out = node_attr(node, "out").ints;
    return node->args[ints_find(node_attr(node, "b").ints, out->items[out->count - 1]) >= 0];
}

/* The axes of the result that its rows run along, as bits: labels of the weights alone. */
static uint32_t column_axes(const Fuser *f, NodeId product) {
    const Node *node = graph_node(f->graph, product);
    const IntList *out = node_attr(node, "out").ints;
    bool is_b = band_weights(f, product) == node->args[1];
    const IntList *other = node_attr(node, is_b ? "a" : "b").ints;
    uint32_t axes = 0;
    for (uint32_t i = 0; i < out->count; i++)
        if (ints_find(other, out->items[i]) < 0) axes |= 1U << i;
    return axes;
}

static bool has_reductions_alone(const Fuser *f, const Group *group) {
    for (size_t i = 0; i < group->nodes.count; i++) {
        NodeId id = group->nodes.data[i];
        if (fuser_is_heavy(f, id) && !reduction_is(f, id)) return false;
    }
    return group_is_row(f, group);
}

static bool reads(const Fuser *f, const Group *group, const Group *from) {
    for (size_t i = 0; i < group->nodes.count; i++) {
        const Node *node = graph_node(f->graph, group->nodes.data[i]);
        for (uint32_t k = 0; k < node->arg_count; k++)
            if (group_has(from, node->args[k])) return true;
    }
    return false;
}

const Dim *band_columns(const Fuser *f, NodeId product) {
    const Type *type = graph_type(f->graph, product);
    uint32_t axes = column_axes(f, product);
    const Dim *columns = dim_const(f->ctx->ir, 1);
    for (uint32_t i = 0; i < type->rank; i++)
        if (axes >> i & 1) columns = dim_mul(f->ctx->ir, columns, type->dims[i]);
    return columns;
}

/* Whether the reductions are over the rows of the contraction and read what comes of it. */
static bool are_rows_of(const Fuser *f, NodeId id, const Group *product, const Group *rows) {
    if (!has_reductions_alone(f, rows) || !reads(f, rows, product)) return false;
    ReduceClass whole = {.type = graph_type(f->graph, id), .axes = column_axes(f, id)};
    for (size_t i = 0; i < rows->nodes.count; i++) {
        if (!reduction_is(f, rows->nodes.data[i])) continue;
        ReduceClass class = reduction_class(f, rows->nodes.data[i]);
        if (!reduction_same_class(&class, &whole)) return false;
    }
    return whole.axes != 0;
}

/* Each core goes through all weights with a band of rows: its second cache shall hold both. */
static bool are_held(const Fuser *f, NodeId product) {
    int64_t columns;
    const Type *type = graph_type(f->graph, product);
    double bytes = dtype_info(dtype_compute(type->dtype))->bits / 8.0, held = 0;
    if (!dim_is_const(band_columns(f, product), &columns)) return false;
    for (int p = 0; p < FUSE_POINTS; p++)
        held = fmax(held, amount_bytes(f, band_weights(f, product)).at[p]);
    held += (double)columns * BAND_ROWS * bytes;
    return held <= (double)fuser_prices(f)->l2_bytes / 2;
}

bool band_may_follow(const Fuser *f, const Group *product, const Group *rows,
                     Refusal *out_refusal) {
    NodeId id = find_class(f, product, CLASS_CONTRACT);
    bool may = f->ctx->target->kind == TARGET_cpu && id != NODE_none && !product->chain &&
               graph_type(f->graph, id)->rank > 0 && are_rows_of(f, id, product, rows);
    *out_refusal = refusal(may ? REASON_band : REASON_two_walks);
    return may && are_held(f, id);
}
