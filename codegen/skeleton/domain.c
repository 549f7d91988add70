#include "codegen/skeleton/domain.h"

NodeId domain_base(const Graph *region, NodeId output) {
    for (;;) {
        const Node *node = graph_node(region, output);
        if (node->op != OP_permute && node->op != OP_reshape) return output;
        output = node->args[0];
    }
}

const Dim *domain_extent(IrContext *ctx, const Dim *const *dims, uint32_t from, uint32_t to) {
    const Dim *product = dim_const(ctx, 1);
    for (uint32_t i = from; i < to; i++) product = dim_mul(ctx, product, dims[i]);
    return product;
}

bool domain_fits(IrContext *ctx, const Domain *domain, const Type *type) {
    return type_elements(ctx, type) == domain_extent(ctx, domain->dims, 0, domain->rank);
}

static bool same_dims(const Domain *domain, const Type *type) {
    if (domain->rank != type->rank) return false;
    for (uint32_t i = 0; i < type->rank; i++)
        if (domain->dims[i] != type->dims[i]) return false;
    return true;
}

void domain_index_in(ValueEmitter *e, const Domain *domain, const Type *type,
                     const Dim **out_index) {
    if (same_dims(domain, type)) {
        for (uint32_t i = 0; i < domain->rank; i++) out_index[i] = domain->index[i];
        return;
    }
    const Dim *position = emit_linear(e->ctx, domain->rank, domain->dims, domain->index);
    emit_delinear(e, type->rank, type->dims, position, out_index);
}

void domain_index_of(ValueEmitter *e, const Domain *domain, NodeId id, const Dim **out_index) {
    const Node *node = graph_node(e->region, id);
    if (node->op != OP_permute && node->op != OP_reshape) {
        domain_index_in(e, domain, node->type, out_index);
        return;
    }
    const Dim *inner[TYPE_MAX_RANK];
    const Type *type = graph_type(e->region, node->args[0]);
    domain_index_of(e, domain, node->args[0], inner);
    if (node->op == OP_permute) {
        const IntList *perm = node_attr(node, "perm").ints;
        for (uint32_t i = 0; i < type->rank; i++) out_index[i] = inner[perm->items[i]];
    } else {
        emit_delinear(e, node->type->rank, node->type->dims,
                      emit_linear(e->ctx, type->rank, type->dims, inner), out_index);
    }
}

void domain_store(ValueEmitter *e, const Domain *domain, uint32_t output, bool streaming) {
    NodeId id = e->region->outputs.data[output].node, base = domain_base(e->region, id);
    const Dim *inner[TYPE_MAX_RANK], *outer[TYPE_MAX_RANK];
    size_t mark = emit_guard_mark(e);
    domain_index_of(e, domain, base, inner);
    domain_index_of(e, domain, id, outer);
    emit_store(e, output, emit_value(e, base, inner), outer, streaming);
    emit_pop_guards(e, mark);
}

const Dim *domain_add_work(ValueEmitter *e, const char *name, const Dim *extent) {
    if (dim_equals_int(extent, 1)) return dim_const(e->ctx, 0);
    return dim_of_symbol(e->ctx, tile_add_work(e->program, name, extent));
}
