/* The labels of a contraction, and its operands and results at their indices. */
#include "codegen/skeleton/contract.h"

static int find_axis(const IntList *labels, int64_t label) {
    for (uint32_t i = 0; i < labels->count; i++)
        if (labels->items[i] == label) return (int)i;
    return -1;
}

static void add_label(Contraction *s, int64_t name, const IntList *a, const IntList *b,
                      const IntList *out) {
    Label l = {.a_axis = find_axis(a, name),
               .b_axis = find_axis(b, name),
               .out_axis = find_axis(out, name)};
    const Graph *g = s->request->region;
    l.dim =
        l.a_axis >= 0 ? graph_type(g, s->a)->dims[l.a_axis] : graph_type(g, s->b)->dims[l.b_axis];
    l.group = l.out_axis < 0 ? GROUP_k
              : l.a_axis < 0 ? GROUP_n
              : l.b_axis < 0 ? GROUP_m
                             : GROUP_batch;
    s->labels[s->label_count++] = l;
}

void contract_find_labels(Contraction *s) {
    const IntList *a = node_attr(s->node, "a").ints, *b = node_attr(s->node, "b").ints;
    const IntList *out = node_attr(s->node, "out").ints;
    s->a = s->node->args[0];
    s->b = s->node->args[1];
    bool swap = out->count > 0 && find_axis(b, out->items[out->count - 1]) < 0;
    if (swap) {
        const IntList *t = a;
        a = b, b = t;
        s->a = s->node->args[1], s->b = s->node->args[0];
    }
    for (uint32_t i = 0; i < out->count; i++) add_label(s, out->items[i], a, b, out);
    for (uint32_t i = 0; i < a->count; i++)
        if (find_axis(out, a->items[i]) < 0) add_label(s, a->items[i], a, b, out);
    for (int g = 0; g < GROUP_count; g++) s->extent[g] = dim_const(s->request->ctx, 1);
    for (uint32_t i = 0; i < s->label_count; i++) {
        const Dim **extent = &s->extent[s->labels[i].group];
        *extent = dim_mul(s->request->ctx, *extent, s->labels[i].dim);
    }
}

void contract_set_group(Contraction *s, LabelGroup group, const Dim *position) {
    const Dim *dims[TYPE_MAX_RANK], *index[TYPE_MAX_RANK];
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->label_count; i++)
        if (s->labels[i].group == group) dims[count++] = s->labels[i].dim;
    emit_delinear(&s->e, count, dims, position, index);
    count = 0;
    for (uint32_t i = 0; i < s->label_count; i++)
        if (s->labels[i].group == group) s->labels[i].index = index[count++];
}

DType contract_sum_dtype(const Contraction *s) { return emit_sum_dtype(&s->e, s->id); }

static TileId as_sum(Contraction *s, TileId value) {
    if (value == TILE_none || tile_value_type(s->e.program, value)->dtype == contract_sum_dtype(s))
        return value;
    return tile_cast(&s->e.b, value, contract_sum_dtype(s));
}

TileId contract_raw_operand(Contraction *s, bool is_a) {
    const Dim *index[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < s->label_count; i++) {
        int axis = is_a ? s->labels[i].a_axis : s->labels[i].b_axis;
        if (axis >= 0) index[axis] = s->labels[i].index;
    }
    return emit_value(&s->e, is_a ? s->a : s->b, index);
}

TileId contract_operand(Contraction *s, bool is_a) {
    return as_sum(s, contract_raw_operand(s, is_a));
}

void contract_add_batch(Contraction *s) {
    for (uint32_t i = 0; i < s->label_count; i++)
        if (s->labels[i].group == GROUP_batch)
            s->labels[i].index = domain_add_work(&s->e, "b", s->labels[i].dim);
}

void contract_set_result_index(Contraction *s) {
    for (uint32_t i = 0; i < s->label_count; i++)
        if (s->labels[i].out_axis >= 0) s->domain.index[s->labels[i].out_axis] = s->labels[i].index;
}

void contract_store(Contraction *s, TileId sums, const Corner *corner) {
    ValueEmitter *e = &s->e;
    size_t provided = e->provisions.count;
    Provision p = {.node = s->id, .value = emit_pin(e, s->id, sums)};
    for (uint32_t i = 0; i < s->domain.rank; i++) p.index[i] = s->domain.index[i];
    emit_provide(e, &p);
    if (s->has_rows)
        contract_store_band(corner);
    else
        for (uint32_t i = 0; i < e->region->outputs.count; i++)
            domain_store(e, &s->domain, i, false);
    e->provisions.count = provided;
}
