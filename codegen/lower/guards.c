/* Guards as masks. Each side of a guard is a Dim that must not be negative. A side that is provable
 * vanishes; one without the lane is a condition on the whole register; one that is affine in the
 * lane bounds an interval of lanes, whatever the number of such sides; any other is computed by
 * lane. */
#include "codegen/lower/lowering.h"

enum { NEAR = 1 << 30, FORM_near = 1 << 20 };

static void keep_larger(Lowering *l, V *bound, V value) {
    *bound = *bound ? ll_max(l, *bound, value) : value;
}

static void keep_smaller(Lowering *l, V *bound, V value) {
    *bound = *bound ? ll_min(l, *bound, value) : value;
}

/* `base` as a vector to compare lane numbers with: far values are brought near enough for 32 bits.
 */
static V near_splat(Lowering *l, const Dim *base, uint32_t lanes) {
    uint32_t form = FORM_near + lanes;
    V known = memo_find(&l->memo, base, form);
    if (known) return known;
    V near = ll_min(l, ll_max(l, dims_emit(l, base), ll_i64(l, -NEAR)), ll_i64(l, NEAR));
    V splat = ll_splat(l, ll_cast(l, near, l->i32, true), l->model->width(lanes));
    memo_add(&l->memo, base, form, splat);
    return splat;
}

/* coefficient·lane + rest >= 0. What registers of one tile have in common is emitted once: their
 * constants are added to the lane numbers. */
static void add_interval(Lowering *l, Mask *mask, int64_t coefficient, const Dim *rest,
                         uint32_t lanes) {
    IrContext *ctx = l->program->ctx;
    int64_t size = coefficient < 0 ? -coefficient : coefficient;
    const Dim *steps = dim_floordiv(ctx, rest, dim_const(ctx, size));
    int64_t ahead = steps->constant < NEAR / 4 && steps->constant > -NEAR / 4 ? steps->constant : 0;
    V lane = l->model->lane_index(l, lanes), shift = ll_const(LLVMTypeOf(lane), ahead);
    V least = ll_sub(l, lane, shift);
    if (coefficient > 0)
        least = LLVMBuildNeg(l->builder, LLVMBuildAdd(l->builder, lane, shift, ""), "");
    V bound = near_splat(l, dim_offset(ctx, steps, -ahead), lanes);
    mask->lanes = ll_and(l, mask->lanes, ll_compare(l, LLVMIntSGE, bound, least));
    V count = dims_emit(l, steps);
    if (coefficient > 0)
        keep_larger(l, &mask->first, ll_sub(l, ll_i64(l, 0), count));
    else
        keep_smaller(l, &mask->end, ll_add(l, count, ll_i64(l, 1)));
}

static void add_lanes(Lowering *l, Mask *mask, const Dim *side, uint32_t lanes) {
    V value = dims_emit_lanes(l, side, lanes, dims_fits_narrow(side));
    V holds = ll_compare(l, LLVMIntSGE, value, LLVMConstNull(LLVMTypeOf(value)));
    mask->lanes = ll_and(l, mask->lanes, holds);
    mask->scattered = true;
}

/* side >= 0 */
static void add_side(Lowering *l, Mask *mask, const Dim *side, uint32_t lanes) {
    const Dim *coefficient, *rest;
    int64_t factor = 0;
    const DimSymbol *lane = lanes > 1 ? dims_lane_symbol(l, lanes) : NULL;
    if (side->lo >= 0) return;
    if (!lane || !dim_mentions(side, lane)) {
        V holds = ll_compare(l, LLVMIntSGE, dims_emit(l, side), ll_i64(l, 0));
        mask->uniform = ll_and(l, mask->uniform, holds);
    } else if (dim_split_affine(l->program->ctx, side, lane, &coefficient, &rest) &&
               dim_is_const(coefficient, &factor)) {
        add_interval(l, mask, factor, rest, lanes);
    } else {
        add_lanes(l, mask, side, lanes);
    }
}

static void add_guard(Lowering *l, Mask *mask, const TileGuard *guard, const TileType *type,
                      uint32_t index) {
    IrContext *ctx = l->program->ctx;
    const Dim *value = dims_of_register(l, type, index, guard->value);
    const Dim *lo = dims_of_register(l, type, index, guard->lo);
    const Dim *hi = dims_of_register(l, type, index, guard->hi);
    uint32_t lanes = type->rank > 0 ? type->lanes : 1;
    if (!dim_proves_le(ctx, lo, value)) add_side(l, mask, dim_sub(ctx, value, lo), lanes);
    if (!dim_proves_lt(ctx, value, hi))
        add_side(l, mask, dim_offset(ctx, dim_sub(ctx, hi, value), -1), lanes);
}

static V clamp(Lowering *l, V value, uint32_t lanes) {
    return ll_min(l, ll_max(l, value, ll_i64(l, 0)), ll_i64(l, lanes));
}

/* The interval's ends, when it is all of the mask. */
static void close_interval(Lowering *l, Mask *mask, uint32_t lanes) {
    if (mask->scattered) mask->first = mask->end = NULL;
    if (!mask->first && !mask->end) return;
    mask->first = mask->first ? clamp(l, mask->first, lanes) : ll_i64(l, 0);
    mask->end = mask->end ? clamp(l, mask->end, lanes) : ll_i64(l, lanes);
}

Mask guards_mask(Lowering *l, const TileInstr *instr, const TileType *type, uint32_t index) {
    Mask mask = {0};
    for (uint32_t i = 0; i < instr->guard_count; i++)
        if (!versions_assumed(l, &instr->guards[i]))
            add_guard(l, &mask, &instr->guards[i], type, index);
    close_interval(l, &mask, values_lanes(type));
    return mask;
}

V guards_lanes(Lowering *l, const Mask *mask, uint32_t lanes) {
    if (!mask->uniform) return mask->lanes;
    V uniform = ll_splat(l, mask->uniform, l->model->width(lanes));
    return ll_and(l, mask->lanes, uniform);
}

V guards_uniform(Lowering *l, const TileInstr *instr) {
    const TileType scalar = {.lanes = 1};
    return guards_mask(l, instr, &scalar, 0).uniform;
}
