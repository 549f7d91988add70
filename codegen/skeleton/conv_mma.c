/* Convolutions by tensor cores: rows are pixels, columns output channels, k taps and channels. */
#include "codegen/skeleton/conv.h"
#include "codegen/skeleton/mma.h"

static void set_pixel(Conv *s, const Dim *row) {
    const Dim *dims[TYPE_MAX_RANK], *index[TYPE_MAX_RANK];
    dims[0] = s->domain.dims[0];
    for (uint32_t i = 0; i < s->spatial; i++) dims[1 + i] = s->domain.dims[2 + i];
    emit_delinear(&s->e, 1 + s->spatial, dims, row, index);
    s->domain.index[0] = s->x_index[0] = index[0];
    for (uint32_t i = 0; i < s->spatial; i++) s->domain.index[2 + i] = index[1 + i];
}

static void set_tap(Conv *s, const Dim *k) {
    const Dim *dims[TYPE_MAX_RANK], *index[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < s->spatial; i++) dims[i] = s->w->dims[2 + i];
    dims[s->spatial] = s->channels;
    emit_delinear(&s->e, 1 + s->spatial, dims, k, index);
    for (uint32_t i = 0; i < s->spatial; i++) s->w_index[2 + i] = index[i];
    conv_set_channel(s, s->e.ctx, index[s->spatial]);
}

static TileId read_pixels(MmaWalk *w, const Dim *row, const Dim *k) {
    Conv *s = w->user;
    ValueEmitter *e = w->e;
    set_pixel(s, row);
    set_tap(s, k);
    for (uint32_t i = 0; i < s->spatial; i++) {
        s->x_index[2 + i] = conv_tap_position(s, e, i, s->domain.index[2 + i]);
        emit_push_guard(e, s->x_index[2 + i], dim_const(e->ctx, 0), s->x->dims[2 + i]);
    }
    return emit_value(e, s->node->args[0], s->x_index);
}

static TileId read_weights(MmaWalk *w, const Dim *row, const Dim *k) {
    Conv *s = w->user;
    set_tap(s, k);
    s->w_index[0] = conv_output_channel(s, w->e->ctx, row);
    return emit_value(w->e, s->node->args[1], s->w_index);
}

static void store_sums(MmaWalk *w, const Dim *row, const Dim *column, TileId sums) {
    Conv *s = w->user;
    set_pixel(s, row);
    s->domain.index[1] = conv_output_channel(s, w->e->ctx, column);
    conv_store(s, w->e, sums);
}

static MmaWalk walk_of(Conv *s) {
    IrContext *ctx = s->request->ctx;
    DType dtype = s->x->dtype == s->w->dtype ? s->x->dtype : DT_count;
    bool wide = dtype == DT_f64;
    MmaWalk walk = {.e = &s->e, .n = s->outputs, .k = s->channels, .user = s};
    walk.sum = wide ? DT_f64 : dtype_compute(s->node->type->dtype);
    walk.operand = mma_operand_dtype(s->request, dtype, walk.sum);
    walk.m = s->domain.dims[0];
    for (uint32_t i = 0; i < s->spatial; i++) {
        walk.m = dim_mul(ctx, walk.m, s->domain.dims[2 + i]);
        walk.k = dim_mul(ctx, walk.k, s->w->dims[2 + i]);
    }
    walk.a = read_pixels;
    walk.b = read_weights;
    walk.store = store_sums;
    walk.b_along_k = true;
    return walk;
}

bool conv_build_mma(Conv *s) {
    MmaWalk walk = walk_of(s);
    if (walk.operand == DT_count || !mma_pays(walk.m, walk.n, walk.k)) return false;
    s->group = domain_add_work(&s->e, "g", dim_const(s->e.ctx, s->groups));
    mma_build(&walk);
    return true;
}
