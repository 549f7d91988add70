/* The verifier: symbols in scope, and the proof that no access leaves its view. */
#include "codegen/tile/verify.h"

#include "codegen/tile/text.h"
#include "codegen/tile/walk.h"

/* ---- symbols --------------------------------------------------------------------------------- */

typedef struct SymbolCheck {
    const Verify *v;
    const TileType *shape;
    const DimSymbol *stranger; /* the first symbol that is not in scope */
} SymbolCheck;

static void check_symbol(void *user, const DimSymbol *symbol) {
    SymbolCheck *check = user;
    const Verify *v = check->v;
    bool known = symbol->kind != SYMBOL_index;
    for (size_t i = 0; !known && i < v->variables.count; i++)
        known = v->variables.data[i] == symbol;
    for (uint32_t i = 0; !known && check->shape && i < check->shape->rank; i++)
        known = tile_find_axis(v->program, check->shape, i) == symbol;
    if (!known && !check->stranger) check->stranger = symbol;
}

bool verify_dim(Verify *v, const Dim *dim, const TileType *shape) {
    if (!dim) return verify_fail(v, "a dim is missing");
    if (dim_is_overflow(dim)) return verify_fail(v, "a dim overflows");
    SymbolCheck check = {.v = v, .shape = shape};
    tile_visit_symbols(dim, check_symbol, &check);
    return !check.stranger || verify_fail(v, "%.*s is not in scope", STR_ARG(check.stranger->name));
}

static bool verify_guards(Verify *v, const TileInstr *instr, const TileType *shape) {
    for (uint32_t i = 0; i < instr->guard_count; i++) {
        const TileGuard *guard = &instr->guards[i];
        if (!verify_dim(v, guard->lo, shape) || !verify_dim(v, guard->value, shape) ||
            !verify_dim(v, guard->hi, shape))
            return false;
        if (instr->op == TILE_load || instr->op == TILE_store)
            prover_assume_range(&v->prover, guard->lo, guard->value, guard->hi);
    }
    return true;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static bool not_proved(Verify *v, const TileView *view, uint32_t axis, const Dim *subscript,
                       const char *what, const Dim *bound) {
    Buf text = {.arena = v->arena}, limit = {.arena = v->arena};
    tile_put_dim(&text, subscript);
    tile_put_dim(&limit, bound);
    return verify_fail(v, "%%%.*s: subscript %u, %.*s, is not proved %s %.*s", STR_ARG(view->name),
                       axis, STR_ARG(buf_str(&text)), what, STR_ARG(buf_str(&limit)));
}

/* The check that an index tile comes from, through moves. */
static const TileInstr *source_of_index(const Verify *v, TileId id) {
    const TileInstr *maker = v->maker[id];
    while (maker && maker->op == TILE_move) maker = v->maker[maker->args[0]];
    return maker && maker->op == TILE_check ? maker : NULL;
}

/* The largest value of the index tile at an axis, as bound - 1; NULL after a fault. */
static const Dim *index_bound(Verify *v, const TileInstr *instr, uint32_t axis,
                              const TileType *shape) {
    TileId id = instr->at[axis];
    if (id >= v->program->values.count || !v->in_scope[id]) {
        verify_fail(v, "the index of axis %u is not defined here", axis);
        return NULL;
    }
    const TileType *type = tile_value_type(v->program, id);
    if (type->dtype != DT_i64 || (type->rank > 0 && !tile_same_shape(type, shape))) {
        verify_fail(v, "the index of axis %u is no i64 tile of the same shape", axis);
        return NULL;
    }
    const TileInstr *source = source_of_index(v, id);
    if (!source) {
        verify_fail(v, "the index of axis %u does not come from a check", axis);
        return NULL;
    }
    const Dim *most = dim_offset(v->program->ctx, source->value, -1);
    if (!prover_nonnegative(&v->prover, most)) {
        verify_fail(v, "the index of axis %u was checked against a bound that may be 0", axis);
        return NULL;
    }
    return most;
}

static bool verify_subscript(Verify *v, const TileInstr *instr, uint32_t axis,
                             const TileType *shape) {
    IrContext *ctx = v->program->ctx;
    const TileView *view = &v->program->views.data[instr->view];
    const Dim *subscript = instr->subscripts[axis], *most = subscript;
    if (!verify_dim(v, subscript, shape)) return false;
    if (instr->at && instr->at[axis] != TILE_none) {
        const Dim *index = index_bound(v, instr, axis, shape);
        if (!index) return false;
        most = dim_add(ctx, subscript, index);
    }
    if (instr->op == TILE_load && axis + 1 == view->rank &&
        tile_takes_words(tile_value_type(v->program, instr->result)->dtype, view->dtype)) {
        if (!dim_proves_divisible(subscript, 4) || most != subscript)
            return verify_fail(v, "words of %%%.*s do not begin at multiples of 4",
                               STR_ARG(view->name));
        most = dim_offset(ctx, subscript, 3);
    }
    if (!prover_nonnegative(&v->prover, subscript))
        return not_proved(v, view, axis, subscript, "at least", dim_const(ctx, 0));
    if (!prover_less(&v->prover, most, view->dims[axis]))
        return not_proved(v, view, axis, most, "less than", view->dims[axis]);
    return true;
}

static bool verify_sort(Verify *v, const TileInstr *instr) {
    if (!verify_dim(v, instr->value, NULL)) return false;
    for (uint32_t i = 0; i < 4; i++) {
        const Dim *room = v->program->views.data[instr->views[i]].dims[0];
        if (!prover_nonnegative(&v->prover, dim_sub(v->program->ctx, room, instr->value)))
            return verify_fail(v, "its count is not proved to fit %%%.*s",
                               STR_ARG(v->program->views.data[instr->views[i]].name));
    }
    return instr->value->hi >= 0 || verify_fail(v, "its count is negative");
}

/* Whether no element of the tile is ever touched: there is none, or a guard never holds. */
static bool is_empty(const Verify *v, const TileInstr *instr, const TileType *shape) {
    for (uint32_t i = 0; shape && i < shape->rank; i++) {
        if (shape->extents[i]->hi <= 0) return true;
    }
    for (uint32_t i = 0; i < instr->guard_count; i++) {
        const TileGuard *guard = &instr->guards[i];
        if (guard->value->hi < guard->lo->lo || guard->value->lo >= guard->hi->hi) return true;
    }
    return v->never > 0;
}

bool verify_access(Verify *v, const TileInstr *instr) {
    const TileType *shape = tile_shape_of(v->program, instr);
    size_t facts = v->prover.facts.count;
    if (instr->op == TILE_sort) return verify_sort(v, instr);
    if (!verify_guards(v, instr, shape)) return false;
    if (instr->op == TILE_index) return verify_dim(v, instr->value, shape);
    if (instr->op == TILE_check) {
        if (!verify_dim(v, instr->value, NULL)) return false;
        return instr->value->hi >= 0 || verify_fail(v, "its bound is negative");
    }
    uint32_t rank = instr->op == TILE_prefetch ? v->program->views.data[instr->view].rank : 0;
    for (uint32_t i = 0; i < rank; i++)
        if (!verify_dim(v, instr->subscripts[i], NULL)) return false;
    if (instr->op != TILE_load && instr->op != TILE_store) return true;
    bool empty = is_empty(v, instr, shape);
    for (uint32_t i = 0; !empty && i < v->program->views.data[instr->view].rank; i++) {
        if (!verify_subscript(v, instr, i, shape)) return false;
    }
    v->prover.facts.count = facts;
    return true;
}
