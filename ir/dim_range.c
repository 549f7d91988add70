#include "ir/dim_range.h"

/* ---- ends ------------------------------------------------------------------------------------ */

/* Ends are whole numbers up to 2^62 in magnitude, or infinite; so products fit in Wide. */
static Wide end_of(Wide value) {
    if (value > DIM_LIMIT) return DIM_INFINITE;
    return value < -DIM_LIMIT ? -DIM_INFINITE : value;
}

static bool is_infinite(Wide end) { return end == DIM_INFINITE || end == -DIM_INFINITE; }

static Wide add_ends(Wide a, Wide b) {
    if (is_infinite(a)) return a;
    return is_infinite(b) ? b : end_of(a + b);
}

static Wide multiply_ends(Wide a, Wide b) {
    if (a == 0 || b == 0) return 0;
    if (!is_infinite(a) && !is_infinite(b)) return end_of(a * b);
    return (a < 0) == (b < 0) ? DIM_INFINITE : -DIM_INFINITE;
}

/* a / b rounded down, for b > 0. */
static Wide floor_ends(Wide a, Wide b) {
    if (is_infinite(a)) return a;
    if (is_infinite(b)) return a < 0 ? -1 : 0;
    return a / b - (a % b < 0);
}

static Wide ceil_ends(Wide a, Wide b) { return -floor_ends(-a, b); }

static Wide least(Wide a, Wide b) { return a < b ? a : b; }
static Wide most(Wide a, Wide b) { return a > b ? a : b; }

static DimInterval intersect(DimInterval a, DimInterval b) {
    return (DimInterval){most(a.lo, b.lo), least(a.hi, b.hi)};
}

static DimInterval add(DimInterval a, DimInterval b) {
    return (DimInterval){add_ends(a.lo, b.lo), add_ends(a.hi, b.hi)};
}

static DimInterval multiply(DimInterval a, DimInterval b) {
    Wide p = multiply_ends(a.lo, b.lo), q = multiply_ends(a.lo, b.hi);
    Wide r = multiply_ends(a.hi, b.lo), s = multiply_ends(a.hi, b.hi);
    return (DimInterval){least(least(p, q), least(r, s)), most(most(p, q), most(r, s))};
}

/* ---- from symbols to dims -------------------------------------------------------------------- */

static DimInterval quotient(DimInterval a, DimInterval b) {
    if (b.lo <= 0) return (DimInterval){-DIM_INFINITE, DIM_INFINITE};
    return (DimInterval){least(floor_ends(a.lo, b.lo), floor_ends(a.lo, b.hi)),
                         most(floor_ends(a.hi, b.lo), floor_ends(a.hi, b.hi))};
}

static DimInterval atom_interval(const DimIntervals *known, const DimAtom *atom) {
    DimInterval own = {atom->lo, atom->hi};
    if (atom->kind == ATOM_symbol) return intersect(own, known->symbols[atom->symbol->id]);
    DimInterval a = dim_interval(known, atom->a), b = dim_interval(known, atom->b);
    switch (atom->kind) {
    case ATOM_min: return intersect(own, (DimInterval){least(a.lo, b.lo), least(a.hi, b.hi)});
    case ATOM_max: return intersect(own, (DimInterval){most(a.lo, b.lo), most(a.hi, b.hi)});
    default: return intersect(own, quotient(a, b));
    }
}

/* The product of the atoms but for number `without`. */
static DimInterval product_interval(const DimIntervals *known, const DimTerm *term,
                                    uint32_t without) {
    DimInterval product = {1, 1};
    for (uint32_t k = 0; k < term->atom_count; k++) {
        if (k != without) product = multiply(product, atom_interval(known, term->atoms[k]));
    }
    return product;
}

/* The sum but for term number `without`. */
static DimInterval sum_interval(const DimIntervals *known, const Dim *dim, uint32_t without) {
    DimInterval sum = {dim->constant, dim->constant};
    for (uint32_t i = 0; i < dim->term_count; i++) {
        if (i == without) continue;
        const DimTerm *term = &dim->terms[i];
        DimInterval scale = {term->coefficient, term->coefficient};
        sum = add(sum, multiply(scale, product_interval(known, term, UINT32_MAX)));
    }
    return sum;
}

DimInterval dim_interval(const DimIntervals *known, const Dim *dim) {
    if (dim->overflow) return (DimInterval){-DIM_INFINITE, DIM_INFINITE};
    DimInterval own = {dim->lo, dim->hi};
    return intersect(own, sum_interval(known, dim, UINT32_MAX));
}

/* ---- from dims to symbols -------------------------------------------------------------------- */

static void narrow_symbol(DimIntervals *known, const DimSymbol *symbol, DimInterval want) {
    DimInterval *old = &known->symbols[symbol->id];
    DimInterval both = intersect(*old, want);
    if (both.lo != old->lo || both.hi != old->hi) known->changed = true;
    if (both.lo > both.hi) known->empty = true;
    *old = both;
}

/* a // b in want: want.lo·b <= a <= want.hi·b + b - 1, for some b of its interval. */
static void narrow_quotient(DimIntervals *known, const DimAtom *atom, DimInterval want) {
    DimInterval b = dim_interval(known, atom->b);
    if (b.lo <= 0 || b.lo > b.hi) return;
    Wide above = add_ends(want.hi, 1);
    Wide lo = multiply_ends(want.lo, want.lo >= 0 ? b.lo : b.hi);
    Wide hi = multiply_ends(above, above >= 0 ? b.hi : b.lo);
    dim_narrow(known, atom->a, (DimInterval){lo, add_ends(hi, -1)});
}

static void narrow_atom(DimIntervals *known, const DimAtom *atom, DimInterval want) {
    DimInterval both = {want.lo, DIM_INFINITE};
    switch (atom->kind) {
    case ATOM_symbol: narrow_symbol(known, atom->symbol, want); return;
    case ATOM_floordiv: narrow_quotient(known, atom, want); return;
    case ATOM_max: both = (DimInterval){-DIM_INFINITE, want.hi}; break;
    case ATOM_min: break;
    }
    dim_narrow(known, atom->a, both);
    dim_narrow(known, atom->b, both);
}

/* x·o in want, for some o > 0 of `others`: where x may lie. */
static DimInterval divide(DimInterval want, DimInterval others) {
    Wide low = want.lo >= 0 ? others.hi : others.lo, high = want.hi >= 0 ? others.lo : others.hi;
    return (DimInterval){ceil_ends(want.lo, low), floor_ends(want.hi, high)};
}

static void narrow_term(DimIntervals *known, const DimTerm *term, DimInterval want) {
    Wide scale = term->coefficient;
    if (scale < 0) want = (DimInterval){-want.hi, -want.lo};
    if (scale < 0) scale = -scale;
    want = (DimInterval){ceil_ends(want.lo, scale), floor_ends(want.hi, scale)};
    for (uint32_t k = 0; k < term->atom_count && !known->empty; k++) {
        DimInterval others = product_interval(known, term, k);
        if (others.lo <= 0 || others.lo > others.hi) continue;
        narrow_atom(known, term->atoms[k], divide(want, others));
    }
}

void dim_narrow(DimIntervals *known, const Dim *dim, DimInterval want) {
    if (dim->overflow || known->empty) return;
    DimInterval now = intersect(want, dim_interval(known, dim));
    if (now.lo > now.hi) known->empty = true;
    for (uint32_t i = 0; i < dim->term_count && !known->empty; i++) {
        DimInterval rest = sum_interval(known, dim, i);
        DimInterval part = {add_ends(want.lo, -rest.hi), add_ends(want.hi, -rest.lo)};
        narrow_term(known, &dim->terms[i], part);
    }
}

DimIntervals dim_intervals(const IrContext *ctx, Arena *arena) {
    uint32_t count = dim_symbol_count(ctx);
    DimIntervals known = {.symbols = NEW_ARRAY(arena, DimInterval, count)};
    for (uint32_t i = 0; i < count; i++) {
        const DimSymbol *symbol = dim_symbol_at(ctx, i);
        known.symbols[i] = (DimInterval){symbol->lo, symbol->hi};
    }
    return known;
}
