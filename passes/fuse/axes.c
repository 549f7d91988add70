/* Dims do the composing: an index is a Dim for each axis, and what reshape does to it is a division
 * that the canonical form cancels where axes are merged that were split. */
#include "passes/fuse/axes.h"

#include <string.h>

/* ---- variables ------------------------------------------------------------------------------- */

static const Dim *find_variable(Axes *axes, uint32_t axis, const Dim *extent) {
    char name[] = {'i', (char)('0' + axis)};
    return dim_of_symbol(axes->ctx, dim_shared_index(axes->ctx, (Str){name, sizeof name}, extent));
}

void axes_identity(Axes *axes, const Type *type, const Dim **out_index) {
    for (uint32_t i = 0; i < type->rank; i++) out_index[i] = find_variable(axes, i, type->dims[i]);
}

/* ---- maps ------------------------------------------------------------------------------------ */

static void reshape_index(IrContext *ctx, const Type *from, const Type *to, const Dim *const *index,
                          const Dim **out_index) {
    const Dim *position = dim_const(ctx, 0), *one = dim_const(ctx, 1);
    for (uint32_t i = 0; i < from->rank; i++)
        position = dim_add(ctx, dim_mul(ctx, position, from->dims[i]), index[i]);
    for (uint32_t i = to->rank; i-- > 0;) {
        const Dim *extent = to->dims[i]->lo > 0 ? to->dims[i] : dim_max(ctx, to->dims[i], one);
        out_index[i] = i == 0 ? position : dim_mod(ctx, position, extent);
        position = dim_floordiv(ctx, position, extent);
    }
}

static void reverse_index(IrContext *ctx, const Type *type, const IntList *reversed,
                          const Dim *const *index, const Dim **out_index) {
    for (uint32_t i = 0; i < type->rank; i++) out_index[i] = index[i];
    for (uint32_t i = 0; i < reversed->count; i++) {
        int64_t axis = reversed->items[i];
        const Dim *last = dim_offset(ctx, type->dims[axis], -1);
        out_index[axis] = dim_sub(ctx, last, index[axis]);
    }
}

static const Dim *moved_component(IrContext *ctx, const Node *node, const Type *type, uint32_t i,
                                  const Dim *const *index) {
    switch (node->op) {
    case OP_broadcast: {
        int64_t axis = node_attr(node, "axes").ints->items[i];
        return dim_equals_int(type->dims[i], 1) ? dim_const(ctx, 0) : index[axis];
    }
    case OP_slice: {
        int64_t step = node_attr(node, "step").ints->items[i];
        return dim_add(ctx, node_attr(node, "start").dims->items[i],
                       dim_scale(ctx, index[i], step));
    }
    case OP_pad: return dim_sub(ctx, index[i], node_attr(node, "lo").dims->items[i]);
    default: return index[i];
    }
}

void axes_operand_index(IrContext *ctx, const Graph *graph, const Node *node,
                        const Dim *const *index, const Dim **out_index) {
    const Type *type = graph_type(graph, node->args[0]);
    if (node->op == OP_reshape) {
        reshape_index(ctx, node->type, type, index, out_index);
    } else if (node->op == OP_reverse) {
        reverse_index(ctx, type, node_attr(node, "axes").ints, index, out_index);
    } else if (node->op == OP_permute) {
        const IntList *perm = node_attr(node, "perm").ints;
        for (uint32_t i = 0; i < type->rank; i++) out_index[perm->items[i]] = index[i];
    } else {
        for (uint32_t i = 0; i < type->rank; i++)
            out_index[i] = moved_component(ctx, node, type, i, index);
    }
}

/* Where element `index` of the operand goes; for permute and reshape. */
static void result_index(IrContext *ctx, const Graph *graph, const Node *node,
                         const Dim *const *index, const Dim **out_index) {
    const Type *type = graph_type(graph, node->args[0]);
    if (node->op == OP_reshape) {
        reshape_index(ctx, type, node->type, index, out_index);
        return;
    }
    const IntList *perm = node_attr(node, "perm").ints;
    for (uint32_t i = 0; i < type->rank; i++) out_index[i] = index[perm->items[i]];
}

/* Whether the place in memory of the element of a tensor is a sum of multiples of variables: no
 * quotient is left. */
static bool is_affine_place(IrContext *ctx, const Type *type, const Dim *const *index) {
    const Dim *place = dim_const(ctx, 0);
    for (uint32_t i = 0; i < type->rank; i++)
        place = dim_add(ctx, dim_mul(ctx, place, type->dims[i]), index[i]);
    for (uint32_t t = 0; t < place->term_count; t++) {
        for (uint32_t a = 0; a < place->terms[t].atom_count; a++)
            if (place->terms[t].atoms[a]->kind != ATOM_symbol) return false;
    }
    return true;
}

static void copy_index(const Dim **to, const Dim *const *from) {
    for (uint32_t i = 0; i < TYPE_MAX_RANK; i++) to[i] = from[i];
}

bool axes_prefer_moved(Axes *axes, const Graph *graph, NodeId base, NodeId last) {
    const Dim *index[TYPE_MAX_RANK] = {0}, *next[TYPE_MAX_RANK] = {0};
    axes_identity(axes, graph_type(graph, last), index);
    for (NodeId id = last; id != base; id = graph_node(graph, id)->args[0]) {
        axes_operand_index(axes->ctx, graph, graph_node(graph, id), index, next);
        copy_index(index, next);
    }
    if (is_affine_place(axes->ctx, graph_type(graph, base), index)) return false;
    NodeId path[16];
    uint32_t count = 0;
    for (NodeId id = last; id != base && count < 16; id = graph_node(graph, id)->args[0])
        path[count++] = id;
    if (count == 16) return false;
    axes_identity(axes, graph_type(graph, base), index);
    while (count-- > 0) {
        result_index(axes->ctx, graph, graph_node(graph, path[count]), index, next);
        copy_index(index, next);
    }
    return is_affine_place(axes->ctx, graph_type(graph, last), index);
}

/* ---- contexts -------------------------------------------------------------------------------- */

/* The walk of the emitter: each node once for each index and each set of guards that it is asked
 * for. */
typedef struct Walk {
    Axes *axes;
    const Graph *region;
    Arena *arena;
    Map seen;
    uint32_t count, limit;
} Walk;

typedef struct Key {
    NodeId node;
    uint32_t index[TYPE_MAX_RANK]; /* ids of dims, from 1 */
    uint64_t guards;
} Key;

static bool is_new(Walk *w, NodeId id, const Dim *const *index, uint64_t guards) {
    Key key;
    memset(&key, 0, sizeof key);
    key.node = id;
    key.guards = guards;
    for (uint32_t i = 0; i < graph_type(w->region, id)->rank; i++) key.index[i] = index[i]->id + 1;
    Str text = {(const char *)&key, sizeof key};
    return map_set(&w->seen, text, w) == NULL;
}

static void visit(Walk *w, NodeId id, const Dim *const *index, uint64_t guards);

static void visit_concat(Walk *w, const Node *node, const Dim *const *index, uint64_t guards) {
    IrContext *ctx = w->axes->ctx;
    int64_t axis = node_attr(node, "axis").i;
    const Dim *inner[TYPE_MAX_RANK], *start = dim_const(ctx, 0);
    for (uint32_t i = 0; i < node->type->rank; i++) inner[i] = index[i];
    for (uint32_t i = 0; i < node->arg_count; i++) {
        inner[axis] = dim_sub(ctx, index[axis], start);
        visit(w, node->args[i], inner, hash_word(guards, inner[axis]->id + i));
        start = dim_add(ctx, start, graph_type(w->region, node->args[i])->dims[axis]);
    }
}

static void visit_pad(Walk *w, const Node *node, const Dim *const *index, uint64_t guards) {
    const Dim *inner[TYPE_MAX_RANK];
    axes_operand_index(w->axes->ctx, w->region, node, index, inner);
    for (uint32_t i = 0; i < node->type->rank; i++) guards = hash_word(guards, inner[i]->id);
    visit(w, node->args[0], inner, guards);
}

/* An op that accumulates walks its operands by itself; a gathered index is a variable. */
static void visit_afresh(Walk *w, const Node *node) {
    const Dim *inner[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < node->arg_count; i++) {
        if (graph_type(w->region, node->args[i])->is_tuple) continue;
        axes_identity(w->axes, graph_type(w->region, node->args[i]), inner);
        visit(w, node->args[i], inner, 0);
    }
}

static void visit_operands(Walk *w, const Node *node, const Dim *const *index, uint64_t guards) {
    const Dim *inner[TYPE_MAX_RANK];
    switch (op_info(node->op)->class) {
    case CLASS_RESHAPE:
    case CLASS_PERMUTE:
    case CLASS_BROADCAST:
    case CLASS_SLICE:
    case CLASS_REVERSE:
        axes_operand_index(w->axes->ctx, w->region, node, index, inner);
        visit(w, node->args[0], inner, guards);
        break;
    case CLASS_PAD: visit_pad(w, node, index, guards); break;
    case CLASS_CONCAT: visit_concat(w, node, index, guards); break;
    default:
        if (!op_is_elementwise(node->op)) {
            visit_afresh(w, node);
            break;
        }
        for (uint32_t i = 0; i < node->arg_count; i++) visit(w, node->args[i], index, guards);
    }
}

static void visit(Walk *w, NodeId id, const Dim *const *index, uint64_t guards) {
    const Node *node = graph_node(w->region, id);
    if (w->count > w->limit || node->type->is_tuple || !is_new(w, id, index, guards)) return;
    w->count++;
    visit_operands(w, node, index, guards);
}

uint32_t axes_count_contexts(Axes *axes, Arena *arena, const Graph *region, uint32_t limit) {
    Walk w = {.axes = axes, .region = region, .arena = arena, .limit = limit};
    w.seen.arena = arena;
    for (size_t i = 0; i < region->outputs.count; i++) {
        const Dim *index[TYPE_MAX_RANK];
        axes_identity(axes, graph_type(region, region->outputs.data[i].node), index);
        visit(&w, region->outputs.data[i].node, index, 0);
    }
    return w.count;
}
