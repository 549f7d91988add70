/* Code without guards beside the guarded one.
 *
 * Most guards only cut the last tile of a row or the last rows of a block. Where a guard over tile
 * axes holds for a whole tile can be decided from its least and greatest value, so that a block, a
 * loop or the first iterations of a loop are emitted twice: once as if these guards were not there,
 * with plain vector accesses, and once as they are. Each guard is assumed by its three Dims, which
 * name the axes' extents too. The budget bounds what this adds to the code.
 */
#include "codegen/lower/lowering.h"

enum { VERSION_SMALLEST = 1, VERSION_LARGEST = 250 };

static const TileType *accessed_type(const Lowering *l, const TileInstr *instr) {
    switch (instr->op) {
    case TILE_load:
    case TILE_test:
    case TILE_check: return tile_value_type(l->program, instr->result);
    case TILE_store: return tile_value_type(l->program, instr->args[0]);
    default: return NULL;
    }
}

/* ---- the extremes of a guard ----------------------------------------------------------------- */

typedef struct Extremes {
    const Dim *least, *greatest;
} Extremes;

/* The least and the greatest of `dim` over a tile's elements; false when it is not affine in an
 * axis with a constant coefficient. *out_axes says whether it depends on any. */
static bool find_extremes(Lowering *l, const TileType *type, const Dim *dim, Extremes *out,
                          bool *out_axes) {
    IrContext *ctx = l->program->ctx;
    TileProgram *program = (TileProgram *)(uintptr_t)l->program;
    const Dim *least = dim, *greatest = dim;
    for (uint32_t axis = 0; axis < type->rank; axis++) {
        const DimSymbol *symbol = tile_axis_symbol(program, axis, type->extents[axis]);
        if (!dim_mentions(dim, symbol)) continue;
        const Dim *coefficient, *rest;
        int64_t factor = 0;
        if (!dim_split_affine(ctx, dim, symbol, &coefficient, &rest) ||
            !dim_is_const(coefficient, &factor))
            return false;
        const Dim *zero = dim_const(ctx, 0), *last = dim_offset(ctx, type->extents[axis], -1);
        const Dim *low = factor > 0 ? zero : last, *high = factor > 0 ? last : zero;
        least = dim_substitute(ctx, least, &symbol, &low, 1);
        greatest = dim_substitute(ctx, greatest, &symbol, &high, 1);
        *out_axes = true;
    }
    *out = (Extremes){least, greatest};
    return true;
}

static bool mentions_axis(Lowering *l, const TileType *type, const Dim *dim) {
    TileProgram *program = (TileProgram *)(uintptr_t)l->program;
    for (uint32_t axis = 0; axis < type->rank; axis++)
        if (dim_mentions(dim, tile_axis_symbol(program, axis, type->extents[axis]))) return true;
    return false;
}

static bool guard_extremes(Lowering *l, const TileType *type, const TileGuard *guard,
                           Extremes *out) {
    bool axes = false;
    if (mentions_axis(l, type, guard->lo) || mentions_axis(l, type, guard->hi)) return false;
    return find_extremes(l, type, guard->value, out, &axes) && axes;
}

static bool lower_side_holds(Lowering *l, const TileGuard *guard, const Extremes *extremes) {
    return dim_proves_le(l->program->ctx, guard->lo, extremes->least);
}

static bool upper_side_holds(Lowering *l, const TileGuard *guard, const Extremes *extremes) {
    return dim_proves_lt(l->program->ctx, extremes->greatest, guard->hi);
}

static bool guard_mentions(const TileGuard *guard, const DimSymbol *symbol) {
    return dim_mentions(guard->value, symbol) || dim_mentions(guard->lo, symbol) ||
           dim_mentions(guard->hi, symbol);
}

static bool same_guard(const TileGuard *a, const TileGuard *b) {
    return a->value == b->value && a->lo == b->lo && a->hi == b->hi;
}

bool versions_assumed(const Lowering *l, const TileGuard *guard) {
    for (size_t i = 0; i < l->assumed.count; i++)
        if (same_guard(&l->assumed.data[i], guard)) return true;
    return false;
}

static bool holds(Lowering *l, const TileType *type, const TileGuard *guard) {
    Extremes extremes;
    bool axes = false;
    if (versions_assumed(l, guard)) return true;
    if (mentions_axis(l, type, guard->lo) || mentions_axis(l, type, guard->hi)) return false;
    return find_extremes(l, type, guard->value, &extremes, &axes) &&
           lower_side_holds(l, guard, &extremes) && upper_side_holds(l, guard, &extremes);
}

bool versions_hold(Lowering *l, const TileInstr *instr, const TileType *type) {
    for (uint32_t i = 0; i < instr->guard_count; i++)
        if (!holds(l, type, &instr->guards[i])) return false;
    return true;
}

/* ---- collecting ------------------------------------------------------------------------------ */

typedef bool GuardFilter(Lowering *l, const TileGuard *guard, const Extremes *extremes,
                         const DimSymbol *symbol);

typedef struct Collector {
    GuardSet set;
    GuardFilter *filter;
    const DimSymbol *symbol;      /* for the filter */
    VEC(const DimSymbol *) inner; /* variables of the loops entered so far */
} Collector;

static bool is_known(const Lowering *l, const GuardSet *set, const TileGuard *guard) {
    for (size_t i = 0; i < set->items.count; i++)
        if (same_guard(&set->items.data[i], guard)) return true;
    return versions_assumed(l, guard);
}

static bool mentions_inner(const Collector *c, const TileGuard *guard) {
    for (size_t i = 0; i < c->inner.count; i++)
        if (guard_mentions(guard, c->inner.data[i])) return true;
    return false;
}

static void collect_guard(Lowering *l, Collector *c, const TileType *type, const TileGuard *guard) {
    Extremes extremes;
    if (is_known(l, &c->set, guard) || mentions_inner(c, guard)) return;
    if (!guard_extremes(l, type, guard, &extremes)) return;
    if (lower_side_holds(l, guard, &extremes) && upper_side_holds(l, guard, &extremes)) return;
    if (!c->filter(l, guard, &extremes, c->symbol)) return;
    vec_push(l->arena, &c->set.items, *guard);
    vec_push(l->arena, &c->set.types, type);
}

static void collect_block(Lowering *l, Collector *c, const TileBlock *block) {
    for (size_t i = 0; i < block->instrs.count; i++) {
        const TileInstr *instr = block->instrs.data[i];
        const TileType *type = accessed_type(l, instr);
        for (uint32_t j = 0; type && j < instr->guard_count; j++)
            collect_guard(l, c, type, &instr->guards[j]);
        if (instr->op == TILE_for) vec_push(l->arena, &c->inner, instr->variable);
        for (uint32_t j = 0; j < instr->block_count; j++) collect_block(l, c, &instr->blocks[j]);
        if (instr->op == TILE_for) c->inner.count--;
    }
}

static bool is_without(Lowering *l, const TileGuard *guard, const Extremes *extremes,
                       const DimSymbol *symbol) {
    (void)l, (void)extremes;
    return !symbol || !guard_mentions(guard, symbol);
}

/* Only the value depends on the variable, and rises with it; what it must not fall below holds. */
static bool is_rising(Lowering *l, const TileGuard *guard, const Extremes *extremes,
                      const DimSymbol *symbol) {
    const Dim *coefficient, *rest;
    int64_t factor = 0;
    if (!dim_mentions(guard->value, symbol)) return false;
    if (dim_mentions(guard->lo, symbol) || dim_mentions(guard->hi, symbol)) return false;
    if (!dim_split_affine(l->program->ctx, guard->value, symbol, &coefficient, &rest)) return false;
    if (!dim_is_const(coefficient, &factor) || factor < 0) return false;
    return lower_side_holds(l, guard, extremes);
}

GuardSet versions_collect(Lowering *l, const TileBlock *block, const DimSymbol *without) {
    Collector c = {.filter = is_without, .symbol = without};
    if (l->model->versions) collect_block(l, &c, block);
    return c.set;
}

GuardSet versions_collect_rising(Lowering *l, const TileInstr *loop) {
    Collector c = {.filter = is_rising, .symbol = loop->variable};
    if (l->model->versions) collect_block(l, &c, &loop->blocks[0]);
    return c.set;
}

/* ---- conditions and assumptions -------------------------------------------------------------- */

static V compare(Lowering *l, LLVMIntPredicate predicate, const Dim *a, const Dim *b) {
    return ll_compare(l, predicate, dims_emit(l, a), dims_emit(l, b));
}

static const Dim *advance(Lowering *l, const Dim *dim, const DimSymbol *variable, int64_t ahead) {
    if (!variable || ahead == 0) return dim;
    IrContext *ctx = l->program->ctx;
    const Dim *later = dim_offset(ctx, dim_of_symbol(ctx, variable), ahead);
    return dim_substitute(ctx, dim, &variable, &later, 1);
}

V versions_condition(Lowering *l, const GuardSet *set, const DimSymbol *variable, int64_t ahead) {
    V all = NULL;
    for (size_t i = 0; i < set->items.count; i++) {
        const TileGuard *guard = &set->items.data[i];
        Extremes extremes;
        require(guard_extremes(l, set->types.data[i], guard, &extremes));
        if (!lower_side_holds(l, guard, &extremes))
            all = ll_and(l, all, compare(l, LLVMIntSLE, guard->lo, extremes.least));
        if (upper_side_holds(l, guard, &extremes)) continue;
        const Dim *greatest = advance(l, extremes.greatest, variable, ahead);
        all = ll_and(l, all, compare(l, LLVMIntSLT, greatest, guard->hi));
    }
    return all ? all : ll_true(l);
}

size_t versions_assume(Lowering *l, const GuardSet *set) {
    size_t mark = l->assumed.count;
    for (size_t i = 0; i < set->items.count; i++)
        vec_push(l->arena, &l->assumed, set->items.data[i]);
    return mark;
}

void versions_forget(Lowering *l, size_t mark) { l->assumed.count = mark; }

/* What an op adds to the code for each register, in plain instructions. */
static int64_t op_cost(const TileInstr *instr) {
    if (instr->op != TILE_map) return 1;
    switch (instr->scalar) {
    case OP_sin:
    case OP_cos:
    case OP_tan:
    case OP_pow: return 60;
    case OP_log:
    case OP_log2:
    case OP_log1p: return 25;
    case OP_exp:
    case OP_exp2:
    case OP_expm1:
    case OP_tanh:
    case OP_atan:
    case OP_erf:
    case OP_erfc: return 15;
    default: return 1;
    }
}

static int64_t block_cost(const Lowering *l, const TileBlock *block) {
    int64_t cost = 0;
    for (size_t i = 0; i < block->instrs.count; i++) {
        const TileInstr *instr = block->instrs.data[i];
        const TileType *type = accessed_type(l, instr);
        if (!type && instr->result_count > 0) type = tile_value_type(l->program, instr->result);
        cost += VERSION_SMALLEST + (type ? tile_register_count(type) * op_cost(instr) : 0);
        for (uint32_t j = 0; j < instr->block_count; j++) cost += block_cost(l, &instr->blocks[j]);
    }
    return cost;
}

bool versions_afford(Lowering *l, const TileBlock *block) {
    int64_t cost = block_cost(l, block);
    if (cost > VERSION_LARGEST || cost > l->version_budget) return false;
    l->version_budget -= cost;
    return true;
}
