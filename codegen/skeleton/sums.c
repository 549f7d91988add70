#include "codegen/skeleton/sums.h"

static int64_t blocks_of(int64_t steps, int64_t size) { return steps / size + (steps % size != 0); }

SumCut sum_cut(int64_t steps, int64_t *chain) {
    SumCut cut = {0};
    int64_t inner = *chain < 1 ? 1 : *chain;
    if (steps <= SUM_BLOCK / inner) {
        *chain = inner * (steps < 1 ? 1 : steps);
        return cut;
    }
    int64_t size = inner < SUM_BLOCK ? SUM_BLOCK / inner : 1;
    cut.sizes[cut.levels++] = size;
    while (blocks_of(steps, size) > SUM_BLOCK && cut.levels < SUM_LEVELS) {
        size *= SUM_BLOCK;
        cut.sizes[cut.levels++] = size;
    }
    *chain = blocks_of(steps, size);
    return cut;
}

const Dim *sum_block_end(IrContext *ctx, const SumCut *cut, uint32_t level, const Dim *from,
                         const Dim *to) {
    return dim_min(ctx, dim_offset(ctx, from, cut->sizes[level]), to);
}

static TileId run_axis(SumNest *n, uint32_t axis, TileId acc);

static TileId run_steps(SumNest *n, uint32_t axis, const Dim *from, const Dim *to, TileId acc) {
    EmitLoop loop = emit_begin_for(n->e, n->names[axis], from, to, &acc, 1);
    n->index[axis] = loop.variable;
    if (n->enter != NULL) n->enter(n, axis);
    bool innermost = axis + 1 == n->rank;
    uint32_t unroll = innermost ? n->unroll : n->outer_unroll;
    if (unroll > 0) loop.loop->unroll = unroll;
    acc = innermost ? n->body(n, loop.loop->carried) : run_axis(n, axis + 1, loop.loop->carried);
    return emit_end_for(n->e, loop, &acc);
}

/* The steps from..to in blocks of `level` - 1 and below. */
static TileId run_level(SumNest *n, uint32_t axis, uint32_t level, const Dim *from, const Dim *to,
                        TileId acc) {
    if (level == 0) return run_steps(n, axis, from, to, acc);
    IrContext *ctx = n->e->ctx;
    const SumCut *cut = &n->cuts[axis];
    const Dim *size = dim_const(ctx, cut->sizes[level - 1]);
    const Dim *count = dim_ceildiv(ctx, dim_sub(ctx, to, from), size);
    EmitLoop loop = emit_begin_for(n->e, "block", dim_const(ctx, 0), count, &acc, 1);
    const Dim *begin = dim_add(ctx, from, dim_mul(ctx, loop.variable, size));
    n->outer[n->outer_count++] = loop.loop->carried;
    emit_set_shape(n->e, n->shape);
    TileId block = emit_identity(n->e, n->dtype, OP_add);
    block =
        run_level(n, axis, level - 1, begin, sum_block_end(ctx, cut, level - 1, begin, to), block);
    n->outer_count--;
    if (n->e->error == NULL) {
        emit_set_shape(n->e, n->shape);
        acc = tile_map(&n->e->b, OP_add, (TileId[]){loop.loop->carried, block}, 2);
    }
    return emit_end_for(n->e, loop, &acc);
}

static TileId run_axis(SumNest *n, uint32_t axis, TileId acc) {
    return run_level(n, axis, n->cuts[axis].levels, dim_const(n->e->ctx, 0), n->extents[axis], acc);
}

static void cut_axes(SumNest *n) {
    n->shape = n->e->shape;
    for (uint32_t i = n->rank; i-- > 0 && !n->plain;)
        n->cuts[i] = sum_cut(n->extents[i]->hi, &n->chain);
}

TileId sum_part(SumNest *n, const Dim *from, const Dim *to, TileId acc) {
    cut_axes(n);
    return run_level(n, 0, n->cuts[0].levels, from, to, acc);
}

TileId sum_nest(SumNest *n, TileId acc) {
    cut_axes(n);
    return n->rank == 0 ? n->body(n, acc) : run_axis(n, 0, acc);
}
