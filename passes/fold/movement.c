/* Exact rules of movement ops: identities, compositions, and what does not depend on where it
 * stands. */
#include "ir/build.h"
#include "passes/fold/fold.h"

#include <string.h>

static const Type *type_of(const Fold *f, NodeId id) { return graph_type(f->g, id); }

static bool same_dims(const Type *a, const Type *b) {
    return a->rank == b->rank && !memcmp(a->dims, b->dims, a->rank * sizeof *a->dims);
}

static bool is_one(const Dim *dim) { return dim_equals_int(dim, 1); }
static bool is_zero(const Dim *dim) { return dim_equals_int(dim, 0); }

static const IntList *ints_of(const Fold *f, NodeId id, const char *name) {
    return node_attr(fold_node(f, id), name).ints;
}

static const DimList *dims_of(const Fold *f, NodeId id, const char *name) {
    return node_attr(fold_node(f, id), name).dims;
}

/* The first operand of `id` when it is `op` too, else NODE_none. */
static NodeId inner_of(const Fold *f, NodeId id, Op op) {
    NodeId x = fold_arg(f, id, 0);
    return fold_is(f, x, op) ? x : NODE_none;
}

static bool is_identity(const IntList *list) {
    uint32_t i = 0;
    while (i < list->count && list->items[i] == i) i++;
    return i == list->count;
}

/* ---- broadcasts and elementwise ops ---------------------------------------------------------- */

static NodeId wide(Fold *f, NodeId x, const Type *dims, const int64_t *axes) {
    return build_broadcast(f->g, x, dims->dims, dims->rank, axes);
}

/* x as the broadcast `like` does it. */
static NodeId wide_like(Fold *f, NodeId x, NodeId like) {
    return wide(f, x, type_of(f, like), ints_of(f, like, "axes")->items);
}

/* f(broadcast x) = broadcast f(x) */
NodeId fold_unary_broadcast(Fold *f, NodeId id) {
    NodeId broadcast = inner_of(f, id, OP_broadcast);
    if (broadcast == NODE_none) return NODE_none;
    const Node *node = fold_node(f, id);
    NodeId x = fold_arg(f, broadcast, 0);
    return wide_like(f, fold_simplify(f, build_op(f->g, node->op, &x, 1, node->attrs)), broadcast);
}

NodeId fold_cast_broadcast(Fold *f, NodeId id) { return fold_unary_broadcast(f, id); }

/* The scalar that a splat is made of. */
static NodeId splat_scalar(const Fold *f, NodeId id) {
    Tensor scalar;
    if (!fold_splat(f, id, &scalar)) return NODE_none;
    while (fold_is(f, id, OP_broadcast)) id = fold_arg(f, id, 0);
    return type_of(f, id)->rank ? NODE_none : id;
}

/* What stands for `id` before the broadcast `like`: its own operand if it is made likewise, or a
 * splat of smaller dims. */
static NodeId narrow(Fold *f, NodeId id, NodeId like) {
    bool alike = fold_is(f, id, OP_broadcast) && type_of(f, id)->rank == type_of(f, like)->rank &&
                 ints_of(f, id, "axes") == ints_of(f, like, "axes") &&
                 same_dims(type_of(f, fold_arg(f, id, 0)), type_of(f, fold_arg(f, like, 0)));
    if (alike) return fold_arg(f, id, 0);
    NodeId scalar = splat_scalar(f, id);
    const Type *type = type_of(f, fold_arg(f, like, 0));
    return scalar == NODE_none || !type->rank ? scalar : wide(f, scalar, type, NULL);
}

/* broadcast x ∘ broadcast y = broadcast (x ∘ y), a splat being any broadcast */
NodeId fold_binary_broadcast(Fold *f, NodeId id) {
    const Node *node = fold_node(f, id);
    NodeId x = node->args[0], y = node->args[1];
    NodeId like = fold_is(f, x, OP_broadcast) && splat_scalar(f, x) == NODE_none ? x : y;
    if (!fold_is(f, like, OP_broadcast)) return NODE_none;
    x = narrow(f, x, like);
    y = x == NODE_none ? NODE_none : narrow(f, y, like);
    if (y == NODE_none) return NODE_none;
    return wide_like(f, fold_binary(f, node->op, x, y), like);
}

/* ---- the same number everywhere -------------------------------------------------------------- */

static NodeId moved_splat(Fold *f, NodeId id) {
    NodeId scalar = splat_scalar(f, fold_arg(f, id, 0));
    if (scalar == NODE_none) return NODE_none;
    const Type *type = type_of(f, id);
    return type->rank ? wide(f, scalar, type, NULL) : scalar;
}

NodeId fold_reshape_splat(Fold *f, NodeId id) { return moved_splat(f, id); }
NodeId fold_permute_splat(Fold *f, NodeId id) { return moved_splat(f, id); }
NodeId fold_slice_splat(Fold *f, NodeId id) { return moved_splat(f, id); }
NodeId fold_reverse_splat(Fold *f, NodeId id) { return moved_splat(f, id); }

/* ---- reshape --------------------------------------------------------------------------------- */

static NodeId itself_if_same(const Fold *f, NodeId id) {
    NodeId x = fold_arg(f, id, 0);
    return same_dims(type_of(f, id), type_of(f, x)) ? x : NODE_none;
}

/* To the own dims: nothing. */
NodeId fold_reshape_same(Fold *f, NodeId id) { return itself_if_same(f, id); }

/* Row-major order is kept by both, so the last one counts. */
NodeId fold_reshape_reshape(Fold *f, NodeId id) {
    NodeId inner = inner_of(f, id, OP_reshape);
    if (inner == NODE_none) return NODE_none;
    const Type *type = type_of(f, id);
    return build_reshape(f->g, fold_arg(f, inner, 0), type->dims, type->rank);
}

/* ---- permute --------------------------------------------------------------------------------- */

NodeId fold_permute_same(Fold *f, NodeId id) {
    return is_identity(ints_of(f, id, "perm")) ? fold_arg(f, id, 0) : NODE_none;
}

/* Result axis i is axis q[i] of the inner one, that is axis p[q[i]] of its operand. */
NodeId fold_permute_permute(Fold *f, NodeId id) {
    NodeId inner = inner_of(f, id, OP_permute);
    if (inner == NODE_none) return NODE_none;
    const IntList *p = ints_of(f, inner, "perm"), *q = ints_of(f, id, "perm");
    int64_t perm[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < q->count; i++) perm[i] = p->items[q->items[i]];
    return build_permute(f->g, fold_arg(f, inner, 0), perm);
}

/* A permuted broadcast is a broadcast of the permuted operand: axes in the order in which they come
 * to stand. */
NodeId fold_permute_broadcast(Fold *f, NodeId id) {
    NodeId inner = inner_of(f, id, OP_broadcast);
    if (inner == NODE_none) return NODE_none;
    const IntList *perm = ints_of(f, id, "perm"), *axes = ints_of(f, inner, "axes");
    int64_t order[TYPE_MAX_RANK], places[TYPE_MAX_RANK];
    uint32_t count = 0;
    for (uint32_t i = 0; i < perm->count; i++) {
        for (uint32_t k = 0; k < axes->count; k++) {
            if (axes->items[k] != perm->items[i]) continue;
            order[count] = k;
            places[count++] = i;
        }
    }
    NodeId x = fold_arg(f, inner, 0);
    if (count > 1) x = fold_simplify(f, build_permute(f->g, x, order));
    return wide(f, x, type_of(f, id), places);
}

/* ---- broadcast ------------------------------------------------------------------------------- */

NodeId fold_broadcast_same(Fold *f, NodeId id) { return itself_if_same(f, id); }

/* Axes of one element are left out first, so that one vector has one form however it was shaped. */
NodeId fold_broadcast_units(Fold *f, NodeId id) {
    NodeId x = fold_arg(f, id, 0);
    const Type *type = type_of(f, x);
    const IntList *axes = ints_of(f, id, "axes");
    const Dim *dims[TYPE_MAX_RANK];
    int64_t places[TYPE_MAX_RANK];
    uint32_t rank = 0;
    for (uint32_t i = 0; i < type->rank; i++) {
        if (is_one(type->dims[i])) continue;
        dims[rank] = type->dims[i];
        places[rank++] = axes->items[i];
    }
    if (rank == type->rank) return NODE_none;
    return wide(f, fold_simplify(f, build_reshape(f->g, x, dims, rank)), type_of(f, id), places);
}

NodeId fold_broadcast_broadcast(Fold *f, NodeId id) {
    NodeId inner = inner_of(f, id, OP_broadcast);
    if (inner == NODE_none) return NODE_none;
    const IntList *p = ints_of(f, inner, "axes"), *q = ints_of(f, id, "axes");
    int64_t axes[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < p->count; i++) axes[i] = q->items[p->items[i]];
    return wide(f, fold_arg(f, inner, 0), type_of(f, id), axes);
}

/* ---- slice ----------------------------------------------------------------------------------- */

NodeId fold_slice_all(Fold *f, NodeId id) {
    const IntList *step = ints_of(f, id, "step");
    for (uint32_t i = 0; i < step->count; i++) {
        if (step->items[i] != 1 && !is_one(type_of(f, fold_arg(f, id, 0))->dims[i])) {
            return NODE_none;
        }
    }
    return itself_if_same(f, id);
}

/* One axis of a slice of a slice: element i is start2 + i·step2 of the inner one, that is
 * start1 + (start2 + i·step2)·step1. False when the limit cannot be said. */
static bool compose_axis(IrContext *ctx, const Dim *const *start, const Dim *limit2,
                         const int64_t *step, const Dim *count, const Dim **out_start,
                         const Dim **out_limit) {
    *out_start = dim_add(ctx, start[0], dim_scale(ctx, start[1], step[0]));
    if (step[0] == 1) {
        *out_limit = dim_add(ctx, start[0], limit2);
        return true;
    }
    int64_t n;
    if (!dim_is_const(count, &n)) return false;
    *out_limit = n ? dim_offset(ctx, *out_start, (n - 1) * step[0] * step[1] + 1) : *out_start;
    return true;
}

NodeId fold_slice_slice(Fold *f, NodeId id) {
    NodeId inner = inner_of(f, id, OP_slice);
    if (inner == NODE_none) return NODE_none;
    const Dim *start[TYPE_MAX_RANK], *limit[TYPE_MAX_RANK];
    int64_t steps[TYPE_MAX_RANK];
    const Type *type = type_of(f, id);
    for (uint32_t i = 0; i < type->rank; i++) {
        int64_t step[] = {ints_of(f, inner, "step")->items[i], ints_of(f, id, "step")->items[i]};
        const Dim *starts[] = {dims_of(f, inner, "start")->items[i],
                               dims_of(f, id, "start")->items[i]};
        const Dim *limit2 = dims_of(f, id, "limit")->items[i];
        if (!compose_axis(f->g->ctx, starts, limit2, step, type->dims[i], &start[i], &limit[i])) {
            return NODE_none;
        }
        steps[i] = step[0] * step[1];
    }
    return build_slice(f->g, fold_arg(f, inner, 0), start, limit, steps);
}

/* A slice that lies within one operand of a concat is a slice of that operand. */
NodeId fold_slice_concat(Fold *f, NodeId id) {
    NodeId concat = inner_of(f, id, OP_concat);
    if (concat == NODE_none) return NODE_none;
    IrContext *ctx = f->g->ctx;
    uint32_t rank = type_of(f, id)->rank;
    int64_t axis = node_attr(fold_node(f, concat), "axis").i;
    const Dim *start[TYPE_MAX_RANK], *limit[TYPE_MAX_RANK], *from = dim_const(ctx, 0);
    memcpy(start, dims_of(f, id, "start")->items, rank * sizeof *start);
    memcpy(limit, dims_of(f, id, "limit")->items, rank * sizeof *limit);
    for (uint32_t k = 0; k < fold_node(f, concat)->arg_count; k++) {
        NodeId part = fold_arg(f, concat, k);
        const Dim *to = dim_add(ctx, from, type_of(f, part)->dims[axis]);
        if (dim_proves_le(ctx, from, start[axis]) && dim_proves_le(ctx, limit[axis], to)) {
            start[axis] = dim_sub(ctx, start[axis], from);
            limit[axis] = dim_sub(ctx, limit[axis], from);
            return build_slice(f->g, part, start, limit, ints_of(f, id, "step")->items);
        }
        from = to;
    }
    return NODE_none;
}

/* ---- reverse --------------------------------------------------------------------------------- */

static NodeId build_reverse(Fold *f, NodeId x, const int64_t *axes, uint32_t count) {
    if (!count) return x;
    Attr attrs[] = {{.ints = ir_ints(f->g->ctx, axes, count)}};
    return build_op(f->g, OP_reverse, &x, 1, attrs);
}

NodeId fold_reverse_none(Fold *f, NodeId id) {
    const IntList *axes = ints_of(f, id, "axes");
    int64_t kept[TYPE_MAX_RANK];
    uint32_t count = 0;
    for (uint32_t i = 0; i < axes->count; i++) {
        if (!is_one(type_of(f, id)->dims[axes->items[i]])) kept[count++] = axes->items[i];
    }
    bool same = count && count == axes->count;
    return same ? NODE_none : build_reverse(f, fold_arg(f, id, 0), kept, count);
}

NodeId fold_reverse_reverse(Fold *f, NodeId id) {
    NodeId inner = inner_of(f, id, OP_reverse);
    if (inner == NODE_none) return NODE_none;
    uint32_t mask = 0, count = 0;
    const IntList *lists[] = {ints_of(f, inner, "axes"), ints_of(f, id, "axes")};
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < lists[k]->count; i++) mask ^= 1u << lists[k]->items[i];
    }
    int64_t axes[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < TYPE_MAX_RANK; i++) {
        if (mask & 1u << i) axes[count++] = i;
    }
    return build_reverse(f, fold_arg(f, inner, 0), axes, count);
}

/* ---- concat and pad -------------------------------------------------------------------------- */

typedef VEC(NodeId) Parts;

/* The operands with those of inner concats in place of them, without empty ones; whether there were
 * any. */
static bool collect_parts(Fold *f, NodeId id, int64_t axis, Parts *parts) {
    bool changed = false;
    for (uint32_t k = 0; k < fold_node(f, id)->arg_count; k++) {
        NodeId part = fold_arg(f, id, k);
        bool empty = is_zero(type_of(f, part)->dims[axis]);
        bool nested =
            fold_is(f, part, OP_concat) && node_attr(fold_node(f, part), "axis").i == axis;
        if (nested)
            collect_parts(f, part, axis, parts);
        else if (!empty)
            vec_push(f->ctx->scratch, parts, part);
        changed |= empty || nested;
    }
    return changed;
}

NodeId fold_concat_parts(Fold *f, NodeId id) {
    const Node *node = fold_node(f, id);
    Parts parts = {0};
    bool changed = collect_parts(f, id, node_attr(node, "axis").i, &parts);
    if (parts.count == 1) return parts.data[0];
    if (!changed || !parts.count) return NODE_none;
    return build_op(f->g, OP_concat, parts.data, (uint32_t)parts.count, node->attrs);
}

static bool all_zero(const DimList *dims) {
    uint32_t i = 0;
    while (i < dims->count && is_zero(dims->items[i])) i++;
    return i == dims->count;
}

NodeId fold_pad_none(Fold *f, NodeId id) {
    bool none = all_zero(dims_of(f, id, "lo")) && all_zero(dims_of(f, id, "hi"));
    return none ? fold_arg(f, id, 0) : NODE_none;
}

/* By the same value: the sum of both. */
NodeId fold_pad_pad(Fold *f, NodeId id) {
    NodeId inner = inner_of(f, id, OP_pad), value = fold_arg(f, id, 1);
    if (inner == NODE_none || fold_arg(f, inner, 1) != value) return NODE_none;
    const Dim *lo[TYPE_MAX_RANK], *hi[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < type_of(f, id)->rank; i++) {
        lo[i] =
            dim_add(f->g->ctx, dims_of(f, inner, "lo")->items[i], dims_of(f, id, "lo")->items[i]);
        hi[i] =
            dim_add(f->g->ctx, dims_of(f, inner, "hi")->items[i], dims_of(f, id, "hi")->items[i]);
    }
    return build_pad(f->g, fold_arg(f, inner, 0), value, lo, hi);
}

/* ---- contract -------------------------------------------------------------------------------- */

/* Axis i of the permuted operand is axis perm[i] of the operand itself, which takes its label. */
NodeId fold_contract_permute(Fold *f, NodeId id) {
    const Node *node = fold_node(f, id);
    NodeId args[] = {node->args[0], node->args[1]};
    Attr attrs[OP_MAX_ATTRS];
    memcpy(attrs, node->attrs, op_info(node->op)->attr_count * sizeof *attrs);
    bool found = false;
    for (uint32_t k = 0; k < 2; k++) { /* the labels of operand k are attribute k */
        if (!fold_is(f, args[k], OP_permute)) continue;
        const IntList *perm = ints_of(f, args[k], "perm"), *old = attrs[k].ints;
        int64_t labels[TYPE_MAX_RANK];
        for (uint32_t i = 0; i < perm->count; i++) labels[perm->items[i]] = old->items[i];
        attrs[k].ints = ir_ints(f->g->ctx, labels, perm->count);
        args[k] = fold_arg(f, args[k], 0);
        found = true;
    }
    return found ? build_op(f->g, OP_contract, args, 2, attrs) : NODE_none;
}
