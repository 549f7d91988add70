/* Convolutions: what their walks have in common, and which walk it is.
 *
 *   conv_tiles.c     register tiles of pixels by output channels, on CPUs always over channels-last
 *                    pixels (x itself or a padded copy of the part at hand)
 *   conv_winograd.c  the same tiles, of products of transforms: F(2x2, 3x3)
 *   conv_mma.c       tensor cores
 *   conv_points.c    element by element: groups of few output channels
 */
#include "codegen/skeleton/conv.h"

enum { MIN_TILE_CHANNELS = 8 };

NodeId conv_find(const Graph *g) {
    for (NodeId id = 0; id < g->nodes.count; id++)
        if (op_info(graph_node(g, id)->op)->class == CLASS_CONV) return id;
    return NODE_none;
}

void conv_describe(Conv *s, const SkeletonRequest *request, NodeId id) {
    const Graph *g = request->region;
    s->request = request;
    s->id = id;
    s->node = graph_node(g, id);
    s->x = graph_type(g, s->node->args[0]);
    s->w = graph_type(g, s->node->args[1]);
    s->strides = node_attr(s->node, "strides").ints;
    s->dilations = node_attr(s->node, "dilations").ints;
    s->lo = node_attr(s->node, "lo").ints;
    s->hi = node_attr(s->node, "hi").ints;
    s->groups = node_attr(s->node, "groups").i;
    s->spatial = s->x->rank - 2;
    s->channels = s->w->dims[1];
    s->outputs = dim_floordiv(request->ctx, s->w->dims[0], dim_const(request->ctx, s->groups));
    s->domain.rank = s->node->type->rank;
    for (uint32_t i = 0; i < s->domain.rank; i++) s->domain.dims[i] = s->node->type->dims[i];
}

TileId conv_as_sum(Conv *s, ValueEmitter *e, TileId value) {
    DType dtype = emit_sum_dtype(e, s->id);
    if (value == TILE_none || tile_value_type(e->program, value)->dtype == dtype) return value;
    return tile_cast(&e->b, value, dtype);
}

/* Whether elements that are left out by a guard read as 0: they do where the value is loaded, but
 * not where it is computed from what was loaded. */
static bool guards_to_zero(const Graph *g, NodeId id) {
    for (;;) {
        const Node *node = graph_node(g, id);
        switch (node->op) {
        case OP_input: return true;
        case OP_permute:
        case OP_reverse:
        case OP_slice: id = node->args[0]; break;
        default: return false;
        }
    }
}

TileId conv_read_x(Conv *s, ValueEmitter *e, size_t mark) {
    NodeId x = s->node->args[0];
    TileId value = conv_as_sum(s, e, emit_value(e, x, s->x_index));
    if (value == TILE_none || guards_to_zero(e->region, x)) return value;
    TileId inside = emit_test(e, mark);
    if (inside == TILE_none) return value;
    TileId zero = emit_identity(e, emit_sum_dtype(e, s->id), OP_add);
    return tile_map(&e->b, OP_select, (TileId[]){inside, value, zero}, 3);
}

const Dim *conv_tap_position(const Conv *s, const ValueEmitter *e, uint32_t axis, const Dim *out) {
    const Dim *at = dim_scale(e->ctx, out, s->strides->items[axis]);
    at = dim_add(e->ctx, at, dim_scale(e->ctx, s->w_index[2 + axis], s->dilations->items[axis]));
    return dim_offset(e->ctx, at, -s->lo->items[axis]);
}

void conv_set_channel(Conv *s, IrContext *ctx, const Dim *channel) {
    s->w_index[1] = channel;
    s->x_index[1] = dim_add(ctx, dim_mul(ctx, s->group, s->channels), channel);
}

const Dim *conv_output_channel(const Conv *s, IrContext *ctx, const Dim *channel) {
    return dim_add(ctx, dim_mul(ctx, s->group, s->outputs), channel);
}

void conv_store(Conv *s, ValueEmitter *e, TileId acc) {
    if (e->error != NULL) return;
    size_t provided = e->provisions.count;
    Provision p = {.node = s->id, .value = emit_pin(e, s->id, acc)};
    for (uint32_t i = 0; i < s->domain.rank; i++) p.index[i] = s->domain.index[i];
    emit_provide(e, &p);
    for (uint32_t i = 0; i < e->region->outputs.count; i++) domain_store(e, &s->domain, i, false);
    e->provisions.count = provided;
}

void conv_set_shape(ValueEmitter *e, uint32_t rank, int64_t first, int64_t second, int64_t lanes) {
    TileShape shape = {.rank = rank,
                       .lanes = (uint32_t)lanes,
                       .extents = {dim_const(e->ctx, first), dim_const(e->ctx, second)}};
    emit_set_shape(e, shape);
}

bool conv_is_channels_last(const Conv *s) {
    const Graph *g = s->request->region;
    NodeId id = s->node->args[0];
    uint32_t axis = 1;
    for (;;) {
        const Node *node = graph_node(g, id);
        if (node->arg_count == 0 || graph_type(g, node->args[0])->rank != node->type->rank)
            return axis + 1 == node->type->rank;
        if (node->op == OP_permute) axis = (uint32_t)node_attr(node, "perm").ints->items[axis];
        id = node->args[0];
    }
}

TileProgram *skeleton_build_conv(const SkeletonRequest *request, const char **out_why) {
    NodeId id = conv_find(request->region);
    *out_why = "there is no convolution";
    if (id == NODE_none) return NULL;
    Conv s = {0};
    conv_describe(&s, request, id);
    bool few = request->target->kind == TARGET_gpu && s.outputs->hi < MIN_TILE_CHANNELS;
    if (few || request->state == TILE_free) return conv_build_points(&s, out_why);
    emit_init(&s.e, request->ctx, request->arena, request->region, request->state, request->name,
              request->round_everywhere);
    if (!conv_build_winograd(&s) && !conv_build_mma(&s)) conv_build_tiles(&s);
    *out_why = s.e.error;
    return s.e.error == NULL ? s.e.program : NULL;
}
