/* Loads and stores: subscripts that are composed access maps, proved to lie inside their view or
 * guarded. */
#include "codegen/skeleton/emit_internal.h"

TileId emit_cast(TileBuilder *b, TileId value, DType to) {
    return tile_value_type(b->program, value)->dtype == to ? value : tile_cast(b, value, to);
}

/* Whether each lane has several neighbours, one a register, or all lanes have one element. */
static bool is_thread_access(ValueEmitter *e, const Dim *position) {
    const DimSymbol *axes[2];
    const Dim *coefficients[2], *rest = position;
    for (uint32_t i = 0; i < 2; i++) {
        axes[i] = tile_axis_symbol(e->program, i, e->shape.extents[i]);
        if (!dim_split_affine(e->ctx, rest, axes[i], &coefficients[i], &rest)) return false;
    }
    bool same = dim_equals_int(coefficients[0], 0) && dim_equals_int(coefficients[1], 0);
    return same ||
           (dim_equals_int(coefficients[0], 1) && dim_equals_int(coefficients[1], e->neighbours));
}

/* Whether a subscript is more than one vector access: for the choice of the vector axis. */
static void count_access(ValueEmitter *e, uint32_t view, const Dim *const *subscripts) {
    if (e->shape.rank == 0 || e->shape.lanes <= 1) return;
    const TileView *v = &e->program->views.data[view];
    const Dim *position = emit_linear(e->ctx, v->rank, v->dims, subscripts);
    if (e->neighbours > 1 && e->shape.rank == 2) {
        e->slow_accesses += !is_thread_access(e, position);
        return;
    }
    uint32_t last = e->shape.rank - 1;
    const DimSymbol *lane = tile_axis_symbol(e->program, last, e->shape.extents[last]);
    const Dim *coefficient, *rest;
    bool affine = dim_split_affine(e->ctx, position, lane, &coefficient, &rest);
    if (affine && (dim_equals_int(coefficient, 0) || dim_equals_int(coefficient, 1))) return;
    e->slow_accesses++;
    bool near = e->near_symbol != NULL &&
                dim_split_affine(e->ctx, position, e->near_symbol, &coefficient, &rest);
    if (near && dim_equals_int(coefficient, 1)) e->near_accesses++;
}

/* Takes gathered symbols out of the subscripts into `at` tiles: each may occur in one subscript,
 * affinely. */
static bool split_dynamic(ValueEmitter *e, uint32_t rank, const Dim **subscripts, TileId *at,
                          bool *out_any) {
    for (uint32_t i = 0; i < rank; i++) at[i] = TILE_none;
    for (size_t d = 0; d < e->dynamics.count; d++) {
        const DynamicIndex *dynamic = &e->dynamics.data[d];
        for (uint32_t i = 0; i < rank; i++) {
            if (!dim_mentions(subscripts[i], dynamic->symbol)) continue;
            const Dim *coefficient, *rest;
            if (!dim_split_affine(e->ctx, subscripts[i], dynamic->symbol, &coefficient, &rest) ||
                !dim_equals_int(coefficient, 1) || at[i] != TILE_none)
                return false;
            subscripts[i] = rest;
            at[i] = dynamic->value;
            *out_any = true;
        }
    }
    return true;
}

/* The greatest subscript that a gathered index makes: it lies below its symbol's limit. */
static const Dim *greatest_gathered(ValueEmitter *e, const Dim *rest, TileId at) {
    const Dim *limit = NULL;
    for (size_t d = 0; d < e->dynamics.count; d++)
        if (e->dynamics.data[d].value == at) limit = e->dynamics.data[d].symbol->limit;
    return dim_offset(e->ctx, dim_add(e->ctx, rest, limit), -1);
}

/* Every element that is computed lies inside; where that does not follow from what is known here,
 * the access gets a guard of its own, which always holds. They are popped with the caller's mark.
 * False when a guard is needed on a gathered index, which no guard can name: dims that a check at
 * entry makes equal are not known to be so here. */
static bool guard_access(ValueEmitter *e, uint32_t view, const Dim *const *subscripts,
                         const TileId *at) {
    const TileView *v = &e->program->views.data[view];
    size_t facts = e->prover.facts.count, given = e->guards.count;
    for (size_t i = 0; i < given; i++)
        prover_assume_range(&e->prover, e->guards.data[i].lo, e->guards.data[i].value,
                            e->guards.data[i].hi);
    const Dim *zero = dim_const(e->ctx, 0);
    bool possible = true;
    for (uint32_t i = 0; i < v->rank; i++) {
        bool gathered = at != NULL && at[i] != TILE_none;
        const Dim *most = gathered ? greatest_gathered(e, subscripts[i], at[i]) : subscripts[i];
        if (prover_nonnegative(&e->prover, subscripts[i]) &&
            prover_less(&e->prover, most, v->dims[i]))
            continue;
        if (gathered) possible = false;
        emit_push_guard(e, subscripts[i], zero, v->dims[i]);
    }
    e->prover.facts.count = facts;
    return possible;
}

/* Whether each element of the tile has a gathered index of its own. */
static bool gathers_lanes(const ValueEmitter *e, uint32_t rank, const TileId *at) {
    for (uint32_t i = 0; i < rank; i++)
        if (at[i] != TILE_none && tile_value_type(e->program, at[i])->rank > 0) return true;
    return false;
}

/* What is used over and over stays in the caches by itself. */
static bool is_large(const ValueEmitter *e, uint32_t view) {
    enum { LARGE_BYTES = 1 << 20 };
    const TileView *v = &e->program->views.data[view];
    double bytes = dtype_info(v->dtype)->bits / 8.0;
    for (uint32_t i = 0; i < v->rank; i++) bytes *= (double)dim_tune_value(v->dims[i]);
    return bytes >= LARGE_BYTES;
}

static TileId ask_for(ValueEmitter *e, uint32_t view, const Dim **subscripts, uint32_t rank) {
    if (rank > 0) {
        subscripts[rank - 1] = dim_add(e->ctx, subscripts[rank - 1], e->ask);
        tile_prefetch(&e->b, view, subscripts);
    }
    return TILE_none;
}

TileId emit_load(ValueEmitter *e, uint32_t view, DType dtype, const Dim *const *index,
                 uint32_t rank) {
    const Dim *subscripts[TYPE_MAX_RANK];
    TileId at[TYPE_MAX_RANK];
    bool any = false;
    for (uint32_t i = 0; i < rank; i++) subscripts[i] = index[i];
    if (e->ask != NULL) return ask_for(e, view, subscripts, rank);
    if (!split_dynamic(e, rank, subscripts, at, &any))
        return emit_fail(e, "a gathered index is transformed before it is used");
    if (any && gathers_lanes(e, rank, at))
        e->slow_accesses++;
    else
        count_access(e, view, subscripts);
    size_t mark = emit_guard_mark(e);
    if (!guard_access(e, view, subscripts, any ? at : NULL))
        return emit_fail(e, "a gathered index is not proved to lie inside");
    TileId value = tile_load(&e->b, emit_type(e, e->words ? DT_i32 : dtype), view, subscripts,
                             any ? at : NULL, e->guards.data, (uint32_t)e->guards.count, 0);
    if (e->words) return value;
    if (e->ahead > 0 && is_large(e, view)) emit_last(e)->ahead = e->ahead;
    emit_pop_guards(e, mark);
    return emit_cast(&e->b, value, dtype_compute(dtype));
}

void emit_store(ValueEmitter *e, uint32_t output, TileId value, const Dim *const *index,
                bool streaming) {
    if (value == TILE_none || e->error != NULL) return;
    const Type *type = graph_type(e->region, e->region->outputs.data[output].node);
    uint32_t view = e->output_view + output;
    count_access(e, view, index);
    size_t mark = emit_guard_mark(e);
    guard_access(e, view, index, NULL);
    TileInstr *store = tile_store(&e->b, emit_cast(&e->b, value, type->dtype), view, index, NULL,
                                  e->guards.data, (uint32_t)e->guards.count, OP_none);
    store->streaming = streaming;
    emit_pop_guards(e, mark);
}
