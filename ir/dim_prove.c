/* The prover of inequalities, and min and max, which are decided by it.
 *
 * dim >= 0 is proved by eliminating one atom after another, the deepest and youngest first, each by
 * a bound in the direction that makes the dim smaller: a symbol by its limit - 1, its greatest or
 * its least value; a quotient q = x // b by  b·q <= x  or  b·q >= x - b + 1,  after multiplying all
 * by b; min(x, y) by x or y from above, by both from below; max likewise; until the interval of
 * what remains is not negative. A symbol's limit mentions only older symbols, and a quotient only
 * shallower atoms, so this ends; a budget of steps bounds it. */
#include "ir/dim_internal.h"

enum { PROOF_STEPS = 48 };

static bool prove(IrContext *ctx, const Dim *dim, int *budget);

/* coefficient·value + rest >= 0? */
static bool prove_with(IrContext *ctx, const Dim *coefficient, const Dim *value, const Dim *rest,
                       int *budget) {
    return prove(ctx, dim_add_product(ctx, rest, coefficient, value), budget);
}

static bool prove_symbol(IrContext *ctx, const DimAtom *atom, bool rising, const Dim *coefficient,
                         const Dim *rest, int *budget) {
    const Dim *limit = atom->symbol->limit;
    if (!rising && limit &&
        prove_with(ctx, coefficient, dim_offset(ctx, limit, -1), rest, budget)) {
        return true;
    }
    const Dim *end = dim_const(ctx, rising ? atom->lo : atom->hi);
    return prove_with(ctx, coefficient, end, rest, budget);
}

/* c·q + rest > -1 is proved as b·(c·q + rest) > -b. */
static bool prove_quotient(IrContext *ctx, const DimAtom *atom, bool rising, const Dim *coefficient,
                           const Dim *rest, int *budget) {
    const Dim *less = dim_offset(ctx, atom->b, -1);
    const Dim *value = rising ? dim_sub(ctx, atom->a, less) : atom->a;
    const Dim *scaled = dim_add(ctx, dim_mul(ctx, atom->b, rest), less);
    if (prove_with(ctx, coefficient, value, scaled, budget)) return true;
    const Dim *end = dim_const(ctx, rising ? atom->lo : atom->hi);
    return prove_with(ctx, coefficient, end, rest, budget);
}

static bool prove_extreme(IrContext *ctx, const DimAtom *atom, bool rising, const Dim *coefficient,
                          const Dim *rest, int *budget) {
    bool needs_both = (atom->kind == ATOM_min) == rising;
    bool first = prove_with(ctx, coefficient, atom->a, rest, budget);
    if (first != needs_both) return first;
    return prove_with(ctx, coefficient, atom->b, rest, budget);
}

/* The last atom, in the canonical order, that comes before `below` (NULL: any). */
static const DimAtom *last_atom(const Dim *dim, const DimAtom *below) {
    const DimAtom *last = NULL;
    for (uint32_t i = 0; i < dim->term_count; i++) {
        for (uint32_t k = 0; k < dim->terms[i].atom_count; k++) {
            const DimAtom *atom = dim->terms[i].atoms[k];
            if (below && atom_compare(atom, below) >= 0) continue;
            if (!last || atom_compare(atom, last) > 0) last = atom;
        }
    }
    return last;
}

/* A dim of the same sign whose coefficients have no common divisor: g·x + c >= 0 is
 * x + c // g >= 0. */
static const Dim *reduce_fraction(IrContext *ctx, const Dim *dim) {
    int64_t common = 0;
    for (uint32_t i = 0; i < dim->term_count; i++)
        common = gcd_int(common, dim->terms[i].coefficient);
    if (common <= 1) return dim;
    Poly poly;
    poly_init(&poly, NULL);
    for (uint32_t i = 0; i < dim->term_count; i++) {
        const DimTerm *term = &dim->terms[i];
        poly_add_term(&poly, term->coefficient / common, term->atoms, term->atom_count);
    }
    poly_add_constant(&poly, floor_div(dim->constant, common));
    return poly_dim(ctx, &poly);
}

static bool prove(IrContext *ctx, const Dim *dim, int *budget) {
    if (dim->overflow || dim->hi < 0) return false;
    if (dim->lo >= 0) return true;
    dim = reduce_fraction(ctx, dim);
    if (dim->lo >= 0) return true;
    if (--*budget < 0) return false;
    const DimAtom *atom = NULL;
    while ((atom = last_atom(dim, atom))) {
        const Dim *coefficient, *rest;
        if (!dim_split_atom(ctx, dim, atom, &coefficient, &rest)) continue;
        if (coefficient->lo < 0 && coefficient->hi > 0) continue;
        bool rising = coefficient->lo >= 0;
        switch (atom->kind) {
        case ATOM_symbol: return prove_symbol(ctx, atom, rising, coefficient, rest, budget);
        case ATOM_floordiv: return prove_quotient(ctx, atom, rising, coefficient, rest, budget);
        case ATOM_min:
        case ATOM_max: return prove_extreme(ctx, atom, rising, coefficient, rest, budget);
        }
    }
    return false;
}

/* The common case at once: a symbol below its own limit, which cancels what else there is. */
static bool prove_by_limit(IrContext *ctx, const Dim *dim) {
    for (uint32_t i = 0; i < dim->term_count; i++) {
        const DimTerm *term = &dim->terms[i];
        const DimSymbol *symbol = term->atoms[0]->symbol;
        if (term->atom_count != 1 || term->atoms[0]->kind != ATOM_symbol || !symbol->limit)
            continue;
        if (term->coefficient >= 0) continue;
        const Dim *last =
            dim_sub(ctx, dim_of_symbol(ctx, symbol), dim_offset(ctx, symbol->limit, -1));
        if (dim_sub(ctx, dim, dim_scale(ctx, last, term->coefficient))->lo >= 0) return true;
    }
    return false;
}

bool dim_proves_nonnegative(IrContext *ctx, const Dim *dim) {
    int budget = PROOF_STEPS;
    if (dim->lo < 0 && dim->hi >= 0 && prove_by_limit(ctx, dim)) return true;
    return prove(ctx, dim, &budget);
}

bool dim_proves_le(IrContext *ctx, const Dim *a, const Dim *b) {
    return dim_proves_nonnegative(ctx, dim_sub(ctx, b, a));
}

bool dim_proves_lt(IrContext *ctx, const Dim *a, const Dim *b) {
    return dim_proves_nonnegative(ctx, dim_offset(ctx, dim_sub(ctx, b, a), -1));
}

/* ---- min and max ----------------------------------------------------------------------------- */

/* The operands of a nest of one kind, each with what is added to the nest added to it. */
enum { MAX_OPERANDS = 16 };

typedef struct Operands {
    uint32_t count;
    const Dim *items[MAX_OPERANDS];
} Operands;

/* Adds an operand unless one there already decides against it; removes those that it decides
 * against. */
static bool add_operand(IrContext *ctx, DimAtomKind kind, Operands *list, const Dim *dim) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const Dim *old = list->items[i];
        bool old_wins =
            kind == ATOM_min ? dim_proves_le(ctx, old, dim) : dim_proves_le(ctx, dim, old);
        if (old_wins) return true;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        const Dim *old = list->items[i];
        bool new_wins =
            kind == ATOM_min ? dim_proves_le(ctx, dim, old) : dim_proves_le(ctx, old, dim);
        if (!new_wins) list->items[kept++] = old;
    }
    list->count = kept;
    if (kept == MAX_OPERANDS) return false;
    list->items[list->count++] = dim;
    return true;
}

static bool flatten(IrContext *ctx, DimAtomKind kind, Operands *list, const Dim *dim) {
    const DimAtom *atom = dim_lone_atom(dim);
    if (!atom || atom->kind != kind) return add_operand(ctx, kind, list, dim);
    return flatten(ctx, kind, list, dim_offset(ctx, atom->a, dim->constant)) &&
           flatten(ctx, kind, list, dim_offset(ctx, atom->b, dim->constant));
}

static void sort_operands(Operands *list) {
    for (uint32_t i = 1; i < list->count; i++) {
        const Dim *item = list->items[i];
        uint32_t at = i;
        for (; at && dim_compare(list->items[at - 1], item) > 0; at--) {
            list->items[at] = list->items[at - 1];
        }
        list->items[at] = item;
    }
}

/* The operands in order, the constant of the first taken out of all: max(N - 1, 0) is max(N, 1)
 * - 1. */
static const Dim *extreme(IrContext *ctx, DimAtomKind kind, const Dim *a, const Dim *b) {
    Operands list = {0};
    if (a->overflow || b->overflow) return dim_overflow(ctx);
    if (!flatten(ctx, kind, &list, a) || !flatten(ctx, kind, &list, b)) return dim_overflow(ctx);
    sort_operands(&list);
    if (list.count == 1) return list.items[0];
    int64_t shift = list.items[0]->constant;
    const Dim *nest = dim_offset(ctx, list.items[0], -shift);
    for (uint32_t i = 1; i < list.count && !nest->overflow; i++) {
        const Dim *item = dim_offset(ctx, list.items[i], -shift);
        nest = item->overflow ? item : dim_opaque(ctx, kind, nest, item);
    }
    return dim_offset(ctx, nest, shift);
}

const Dim *dim_min(IrContext *ctx, const Dim *a, const Dim *b) {
    return extreme(ctx, ATOM_min, a, b);
}

const Dim *dim_max(IrContext *ctx, const Dim *a, const Dim *b) {
    return extreme(ctx, ATOM_max, a, b);
}
