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

bool domain_accumulates(Op op) {
    switch (op_info(op)->class) {
    case CLASS_REDUCE:
    case CLASS_ARGREDUCE:
    case CLASS_CUMULATIVE:
    case CLASS_CONTRACT:
    case CLASS_CONV:
    case CLASS_WINDOW:
    case CLASS_ITEM: return true;
    default: return false;
    }
}

/* How a node gets at what the skeleton accumulates. */
typedef enum Reach {
    REACH_none,
    REACH_at_once, /* by elementwise ops, at the domain's own index */
    REACH_moved    /* also by permutes or reshapes */
} Reach;

static Reach reach_of(const Node *node, const Reach *reach) {
    Reach best = REACH_none;
    for (uint32_t i = 0; i < node->arg_count; i++)
        if (reach[node->args[i]] > best) best = reach[node->args[i]];
    if (domain_accumulates(node->op)) return REACH_at_once;
    if (best == REACH_none || op_is_elementwise(node->op)) return best;
    return node->op == OP_permute || node->op == OP_reshape ? REACH_moved : REACH_at_once;
}

/* The operand of an elementwise node that was moved out of the domain's order; NODE_none when none
 * was. */
static NodeId find_moved(const ValueEmitter *e, NodeId id) {
    const Node *node = graph_node(e->region, id);
    if (!op_is_elementwise(node->op)) return NODE_none;
    Reach *reach = NEW_ARRAY(e->arena, Reach, id);
    for (NodeId i = 0; i < id; i++) reach[i] = reach_of(graph_node(e->region, i), reach);
    for (uint32_t i = 0; i < node->arg_count; i++)
        if (reach[node->args[i]] == REACH_moved) return node->args[i];
    return NODE_none;
}

void domain_index_of(ValueEmitter *e, const Domain *domain, NodeId id, const Dim **out_index) {
    const Node *node = graph_node(e->region, id);
    NodeId moved = find_moved(e, id);
    if (moved != NODE_none) {
        domain_index_of(e, domain, moved, out_index);
        return;
    }
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
