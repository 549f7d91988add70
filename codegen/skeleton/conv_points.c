/* Convolutions element by element, with vectors along whichever axis is contiguous. */
#include "codegen/skeleton/conv.h"
#include "codegen/skeleton/pointwise.h"

/* x at the current tap, 0 outside. */
static TileId read_tap(Conv *s, ValueEmitter *e) {
    size_t mark = emit_guard_mark(e);
    for (uint32_t i = 0; i < s->spatial; i++)
        emit_push_guard(e, s->x_index[2 + i], dim_const(e->ctx, 0), s->x->dims[2 + i]);
    TileId x = conv_read_x(s, e, mark);
    emit_pop_guards(e, mark);
    return x;
}

static TileId add_point(SumNest *n, TileId acc) {
    Conv *s = n->user;
    TileId x = read_tap(s, n->e);
    TileId w = conv_as_sum(s, n->e, emit_value(n->e, s->node->args[1], s->w_index));
    return x == TILE_none || w == TILE_none ? acc : tile_dot(&n->e->b, acc, x, w);
}

static void enter_point(SumNest *n, uint32_t axis) {
    Conv *s = n->user;
    if (axis == s->spatial) {
        conv_set_channel(s, n->e->ctx, n->index[axis]);
        return;
    }
    s->w_index[2 + axis] = n->index[axis];
    s->x_index[2 + axis] = conv_tap_position(s, n->e, axis, s->domain.index[2 + axis]);
}

static TileId sum_point(Conv *s, ValueEmitter *e, TileId acc) {
    DType dtype = emit_sum_dtype(e, s->id);
    SumNest nest = {.e = e,
                    .dtype = dtype,
                    .plain = !dtype_is_float(dtype),
                    .body = add_point,
                    .enter = enter_point,
                    .user = s,
                    .rank = s->spatial + 1};
    for (uint32_t i = 0; i <= s->spatial; i++) {
        nest.extents[i] = i < s->spatial ? s->w->dims[2 + i] : s->channels;
        nest.names[i] = i < s->spatial ? "t" : "c";
    }
    return sum_nest(&nest, acc);
}

static void emit_point(ValueEmitter *e, const Domain *domain, const SkeletonRequest *request) {
    Conv s = {0};
    conv_describe(&s, request, conv_find(request->region));
    s.domain = *domain;
    s.x_index[0] = domain->index[0];
    s.w_index[0] = domain->index[1];
    /* Where a group has no outputs, there is no element to ask for its group. */
    const Dim *outputs = dim_max(e->ctx, s.outputs, dim_const(e->ctx, 1));
    s.group = dim_floordiv(e->ctx, domain->index[1], outputs);
    TileId acc = emit_identity(e, emit_sum_dtype(e, s.id), OP_add);
    conv_store(&s, e, sum_point(&s, e, acc));
}

TileProgram *conv_build_points(Conv *s, const char **out_why) {
    return pointwise_build(s->request, s->node->type, emit_point, out_why);
}
