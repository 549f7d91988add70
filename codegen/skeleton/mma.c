/* A block of 128 threads makes a tile of 64 × 64 sums, in steps of 64 bytes of k. Operands pass
 * through scratch, which pads their rows so that no two of 8 rows begin in one bank; the sums leave
 * by it as well, and the epilogue reads them row by row.
 *
 *     work …, %i in [M / 64], %j in [N / 64] {
 *       %acc = for %s in [K / step], in blocks {
 *         store a[64·%i + …, step·%s + …] -> %a    store b[…] -> %b
 *         mma %acc, %a, %b }
 *       mma_store %acc, %c
 *       for %r in 0..4 { load %c[16·%r + …] -> epilogue -> store } }
 *
 * Sums are made in blocks (sums.h) of as few steps as keep the truncation that tensor cores do at
 * each addition within the tolerance. */
#include "codegen/skeleton/mma.h"
#include "codegen/skeleton/sums.h"

enum {
    SIDE = 64,         /* rows and columns of a block's tile */
    THREADS = 128,     /* of a block */
    STEP_BYTES = 64,   /* of k at a time */
    PITCH_BYTES = 80,  /* of a row of an operand in scratch */
    STEP_CHAIN = 8,    /* as many terms in a row as a step counts for, in blocks of sums */
    SUM_REGISTERS = 8, /* of a tile of the epilogue */
    LEAST_SIDE = 16
};

typedef struct Tile {
    MmaWalk *w;
    const Dim *row, *column; /* where it begins */
    int64_t step;            /* elements of k */
    uint32_t a, b, c;        /* scratch */
} Tile;

DType mma_operand_dtype(const SkeletonRequest *request, DType dtype, DType sum) {
    if (request->target->kind != TARGET_gpu || request->state != TILE_placed) return DT_count;
    switch (dtype) {
    case DT_f16:
    case DT_bf16: return sum == DT_f32 ? dtype : DT_count;
    case DT_f8e4m3:
    case DT_f8e5m2: return sum == DT_f32 ? DT_f16 : DT_count;
    case DT_i8:
    case DT_u8: return sum == DT_i32 ? dtype : DT_count;
    default: return DT_count;
    }
}

bool mma_pays(const Dim *m, const Dim *n, const Dim *k) {
    return dim_tune_value(m) >= LEAST_SIDE && dim_tune_value(n) >= LEAST_SIDE &&
           dim_tune_value(k) >= LEAST_SIDE;
}

static void set_shape(MmaWalk *w, int64_t registers) {
    IrContext *ctx = w->e->ctx;
    emit_set_shape(w->e,
                   (TileShape){.rank = 2,
                               .extents = {dim_const(ctx, registers), dim_const(ctx, THREADS)},
                               .lanes = THREADS});
}

/* The number of an element of the current shape. */
static const Dim *element(MmaWalk *w) {
    return dim_add(w->e->ctx, dim_scale(w->e->ctx, emit_axis(w->e, 0), THREADS),
                   emit_axis(w->e, 1));
}

static uint32_t add_scratch(MmaWalk *w, const char *name, DType dtype, int64_t columns) {
    IrContext *ctx = w->e->ctx;
    TileView view = {.name = str_from(name),
                     .space = SPACE_scratch,
                     .dtype = dtype,
                     .rank = 2,
                     .dims = {dim_const(ctx, SIDE), dim_const(ctx, columns)},
                     .alignment = 64,
                     .written = true};
    return tile_add_view(w->e->program, &view);
}

/* ---- operands -------------------------------------------------------------------------------- */

typedef struct Operand {
    MmaOperand *value;
    const Dim *first, *extent; /* of its rows */
    bool along_k;
    uint32_t view;
} Operand;

/* SIDE rows of an operand, a step of k from `k` on: into scratch, 0 past the ends. */
static void fill(Tile *t, const Operand *o, const Dim *k) {
    MmaWalk *w = t->w;
    ValueEmitter *e = w->e;
    IrContext *ctx = e->ctx;
    set_shape(w, SIDE * t->step / THREADS);
    const Dim *n = element(w), *width = dim_const(ctx, o->along_k ? t->step : SIDE);
    const Dim *outer = dim_floordiv(ctx, n, width), *inner = dim_mod(ctx, n, width);
    const Dim *place[2] = {o->along_k ? outer : inner, o->along_k ? inner : outer};
    const Dim *row = dim_add(ctx, o->first, place[0]), *at = dim_add(ctx, k, place[1]);
    size_t mark = emit_guard_mark(e), scope = emit_scope(e);
    emit_push_guard(e, row, dim_const(ctx, 0), o->extent);
    emit_push_guard(e, at, dim_const(ctx, 0), w->k);
    TileId value = o->value(w, row, at);
    if (value != TILE_none) {
        DType dtype = tile_value_type(e->program, value)->dtype;
        TileId inside = emit_test(e, mark), zero = emit_number(e, dtype, 0);
        if (inside != TILE_none)
            value = tile_map(&e->b, OP_select, (TileId[]){inside, value, zero}, 3);
        if (dtype != w->operand) value = tile_cast(&e->b, value, w->operand);
        tile_store(&e->b, value, o->view, place, NULL, NULL, 0, OP_none);
    }
    emit_pop_guards(e, mark);
    emit_end_scope(e, scope);
}

static TileId add_step(SumNest *nest, TileId acc) {
    Tile *t = nest->user;
    MmaWalk *w = t->w;
    const Dim *k = dim_scale(w->e->ctx, nest->index[0], t->step);
    fill(t, &(Operand){w->a, t->row, w->m, w->a_along_k, t->a}, k);
    fill(t, &(Operand){w->b, t->column, w->n, w->b_along_k, t->b}, k);
    if (w->e->error != NULL) return acc;
    return tile_mma(&w->e->b, acc, t->a, t->b, dim_const(w->e->ctx, t->step));
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void sum_tile(Tile *t) {
    MmaWalk *w = t->w;
    ValueEmitter *e = w->e;
    SumNest nest = {.e = e,
                    .dtype = w->sum,
                    .plain = !dtype_is_float(w->sum),
                    .rank = 1,
                    .extents = {dim_ceildiv(e->ctx, w->k, dim_const(e->ctx, t->step))},
                    .names = {"s"},
                    .chain = STEP_CHAIN,
                    .body = add_step,
                    .user = t};
    set_shape(w, SIDE * SIDE / THREADS);
    TileId acc = sum_nest(&nest, emit_identity(e, w->sum, OP_add));
    if (e->error == NULL) tile_mma_store(&e->b, acc, t->c);
}

/* SUM_REGISTERS of each thread at a time. */
static void store_tile(Tile *t) {
    MmaWalk *w = t->w;
    ValueEmitter *e = w->e;
    IrContext *ctx = e->ctx;
    const Dim *zero = dim_const(ctx, 0), *side = dim_const(ctx, SIDE);
    int64_t each = SUM_REGISTERS * THREADS;
    EmitLoop loop = emit_begin_for(e, "r", zero, dim_const(ctx, SIDE * SIDE / each), NULL, 0);
    set_shape(w, SUM_REGISTERS);
    const Dim *n = dim_add(ctx, dim_scale(ctx, loop.variable, each), element(w));
    const Dim *place[2] = {dim_floordiv(ctx, n, side), dim_mod(ctx, n, side)};
    const Dim *row = dim_add(ctx, t->row, place[0]), *column = dim_add(ctx, t->column, place[1]);
    TileId sums = tile_load(&e->b, emit_type(e, w->sum), t->c, place, NULL, NULL, 0, 0);
    size_t mark = emit_guard_mark(e);
    emit_push_guard(e, row, zero, w->m);
    emit_push_guard(e, column, zero, w->n);
    w->store(w, row, column, sums);
    emit_pop_guards(e, mark);
    emit_end_for(e, loop, NULL);
}

void mma_build(MmaWalk *w) {
    ValueEmitter *e = w->e;
    IrContext *ctx = e->ctx;
    const Dim *side = dim_const(ctx, SIDE);
    int64_t bytes = dtype_info(w->operand)->bits / 8;
    Tile t = {.w = w, .step = STEP_BYTES / bytes};
    t.row = dim_scale(ctx, domain_add_work(e, "i", dim_ceildiv(ctx, w->m, side)), SIDE);
    t.column = dim_scale(ctx, domain_add_work(e, "j", dim_ceildiv(ctx, w->n, side)), SIDE);
    t.a = add_scratch(w, "a", w->operand, PITCH_BYTES / bytes);
    t.b = add_scratch(w, "b", w->operand, PITCH_BYTES / bytes);
    t.c = add_scratch(w, "c", w->sum, SIDE);
    sum_tile(&t);
    if (e->error == NULL) store_tile(&t);
}
