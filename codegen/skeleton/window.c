/* Window kernels: each element of a sliding window's result by itself, over the taps in row-major
 * order. Few taps are laid out one after the other; many are loops, and their sums are made in
 * blocks (sums.h). */
#include "codegen/skeleton/pointwise.h"
#include "codegen/skeleton/sums.h"

enum { UNROLLED_TAPS = 16 };

typedef struct Taps {
    ValueEmitter *e;
    const Node *node;
    const Type *operand;
    const Domain *out;
    const IntList *window, *strides, *dilations, *lo;
    const Dim *index[TYPE_MAX_RANK]; /* in the operand */
    uint32_t axes[TYPE_MAX_RANK];    /* those with several taps */
    size_t mark;                     /* where the guards of a tap begin */
    TileId acc;
} Taps;

static NodeId find_window(const Graph *g) {
    for (NodeId id = 0; id < g->nodes.count; id++)
        if (op_info(graph_node(g, id)->op)->class == CLASS_WINDOW) return id;
    return NODE_none;
}

static void add_element(Taps *t) {
    ValueEmitter *e = t->e;
    Op op = op_info(t->node->op)->scalar;
    TileId value = emit_value(e, t->node->args[0], t->index);
    if (value == TILE_none) return;
    TileId inside = emit_test(e, t->mark);
    if (inside != TILE_none) {
        TileId neutral = emit_identity(e, t->node->type->dtype, op);
        value = tile_map(&e->b, OP_select, (TileId[]){inside, value, neutral}, 3);
    }
    t->acc = tile_map(&e->b, op, (TileId[]){t->acc, value}, 2);
}

/* Goes to a tap along one axis, under the guard that it lies inside. */
static void go_to(Taps *t, uint32_t axis, const Dim *tap) {
    ValueEmitter *e = t->e;
    const Dim *index = dim_scale(e->ctx, t->out->index[axis], t->strides->items[axis]);
    index = dim_add(e->ctx, index, dim_scale(e->ctx, tap, t->dilations->items[axis]));
    t->index[axis] = dim_offset(e->ctx, index, -t->lo->items[axis]);
    emit_push_guard(e, t->index[axis], dim_const(e->ctx, 0), t->operand->dims[axis]);
}

/* The taps one after the other, from `axis` on. */
static void add_taps(Taps *t, uint32_t axis) {
    ValueEmitter *e = t->e;
    if (e->error != NULL) return;
    if (axis == t->operand->rank) {
        add_element(t);
        return;
    }
    for (int64_t tap = 0; tap < t->window->items[axis]; tap++) {
        size_t mark = emit_guard_mark(e);
        go_to(t, axis, dim_const(e->ctx, tap));
        add_taps(t, axis + 1);
        emit_pop_guards(e, mark);
    }
}

/* One step of the loops over the axes with several taps. */
static TileId add_tap(SumNest *n, TileId acc) {
    Taps *t = n->user;
    t->acc = acc;
    for (uint32_t axis = 0, i = 0; axis < t->operand->rank; axis++) {
        bool looped = i < n->rank && t->axes[i] == axis;
        go_to(t, axis, looped ? n->index[i++] : dim_const(n->e->ctx, 0));
    }
    add_element(t);
    emit_pop_guards(n->e, t->mark);
    return t->acc;
}

static void loop_over_taps(Taps *t) {
    DType dtype = t->node->type->dtype;
    bool sum = op_info(t->node->op)->scalar == OP_add && dtype_is_float(dtype);
    SumNest nest = {.e = t->e, .dtype = dtype, .plain = !sum, .body = add_tap, .user = t};
    for (uint32_t axis = 0; axis < t->operand->rank; axis++) {
        if (t->window->items[axis] == 1) continue;
        t->axes[nest.rank] = axis;
        nest.extents[nest.rank] = dim_const(t->e->ctx, t->window->items[axis]);
        nest.names[nest.rank++] = "t";
    }
    t->acc = sum_nest(&nest, t->acc);
}

static void emit_window(ValueEmitter *e, const Domain *domain, const SkeletonRequest *request) {
    NodeId id = find_window(request->region);
    const Node *node = graph_node(request->region, id);
    Taps t = {.e = e,
              .node = node,
              .operand = graph_type(request->region, node->args[0]),
              .out = domain,
              .window = node_attr(node, "window").ints,
              .strides = node_attr(node, "strides").ints,
              .dilations = node_attr(node, "dilations").ints,
              .lo = node_attr(node, "lo").ints};
    int64_t taps = 1;
    for (uint32_t i = 0; i < t.window->count && taps <= UNROLLED_TAPS; i++)
        taps *= t.window->items[i];
    t.mark = emit_guard_mark(e);
    t.acc = emit_identity(e, node->type->dtype, op_info(node->op)->scalar);
    if (taps <= UNROLLED_TAPS)
        add_taps(&t, 0);
    else
        loop_over_taps(&t);
    if (e->error != NULL) return;
    Provision p = {.node = id, .value = emit_pin(e, id, t.acc)};
    for (uint32_t i = 0; i < domain->rank; i++) p.index[i] = domain->index[i];
    emit_provide(e, &p);
    for (uint32_t i = 0; i < request->region->outputs.count; i++)
        domain_store(e, domain, i, request->schedule.streaming == 2);
}

TileProgram *skeleton_build_window(const SkeletonRequest *request, const char **out_why) {
    NodeId id = find_window(request->region);
    if (id == NODE_none) {
        *out_why = "there is no window";
        return NULL;
    }
    return pointwise_build(request, graph_type(request->region, id), emit_window, out_why);
}
