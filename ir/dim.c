/* Dims as data: symbols, atoms, the canonical order, interning, and the interval of a sum. */
#include "ir/dim.h"

#include "base/guard.h"
#include "ir/dim_internal.h"

#include <string.h>

int64_t gcd_int(int64_t a, int64_t b) {
    uint64_t x = a < 0 ? -(uint64_t)a : (uint64_t)a, y = b < 0 ? -(uint64_t)b : (uint64_t)b;
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return (int64_t)x;
}

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* ---- the canonical order --------------------------------------------------------------------- */

static int order(int64_t a, int64_t b) { return (a > b) - (a < b); }

int atom_compare(const DimAtom *a, const DimAtom *b) {
    if (a == b) return 0;
    if (a->depth != b->depth) return order(a->depth, b->depth);
    if (a->kind != b->kind) return order(a->kind, b->kind);
    if (a->kind == ATOM_symbol) return order(a->symbol->id, b->symbol->id);
    int first = dim_compare(a->a, b->a);
    return first ? first : dim_compare(a->b, b->b);
}

int product_compare(const DimAtom *const *a, uint32_t a_count, const DimAtom *const *b,
                    uint32_t b_count) {
    if (a_count != b_count) return order(b_count, a_count);
    for (uint32_t i = 0; i < a_count; i++) {
        int here = atom_compare(a[i], b[i]);
        if (here) return here;
    }
    return 0;
}

int dim_compare(const Dim *a, const Dim *b) {
    if (a == b) return 0;
    for (uint32_t i = 0; i < a->term_count && i < b->term_count; i++) {
        const DimTerm *x = &a->terms[i], *y = &b->terms[i];
        int here = product_compare(x->atoms, x->atom_count, y->atoms, y->atom_count);
        if (!here) here = order(x->coefficient, y->coefficient);
        if (here) return here;
    }
    if (a->term_count != b->term_count) return order(b->term_count, a->term_count);
    return order(a->constant, b->constant);
}

/* ---- symbols and atoms ----------------------------------------------------------------------- */

static bool atom_equal(const void *item, const void *key) {
    const DimAtom *a = item, *b = key;
    return a->kind == b->kind && a->symbol == b->symbol && a->a == b->a && a->b == b->b;
}

static const DimAtom *intern_atom(IrContext *ctx, const DimAtom *key) {
    uint64_t hash = hash_word(key->kind, key->symbol ? key->symbol->id : key->a->id);
    hash = hash_word(hash, key->b ? key->b->id : 0);
    const DimAtom *found = intern_find(&ctx->atoms, hash, atom_equal, key);
    if (found) return found;
    DimAtom *atom = arena_copy(ctx->arena, key, sizeof *key);
    atom->id = ctx->atom_count++;
    intern_add(&ctx->atoms, ctx->arena, hash, atom);
    return atom;
}

const DimSymbol *dim_new_symbol(IrContext *ctx, DimSymbolKind kind, Str name, int64_t lo,
                                int64_t hi, int64_t tune, const Dim *limit) {
    require(-DIM_LIMIT <= lo && lo <= hi && hi <= DIM_LIMIT && lo <= tune && tune <= hi);
    const DimSymbol *known = kind == SYMBOL_index ? NULL : dim_find_symbol(ctx, name);
    if (known) return known;
    DimSymbol *symbol = NEW(ctx->arena, DimSymbol);
    uint32_t id = (uint32_t)ctx->symbols.count;
    *symbol = (DimSymbol){str_copy(ctx->arena, name), id, kind, lo, hi, tune, limit};
    vec_push(ctx->arena, &ctx->symbols, symbol);
    if (kind != SYMBOL_index) map_set(&ctx->named_symbols, symbol->name, symbol);
    return symbol;
}

typedef struct SharedIndex {
    Str name;
    const Dim *extent;
    const DimSymbol *symbol;
} SharedIndex;

static bool same_index(const void *item, const void *key) {
    const SharedIndex *index = item, *wanted = key;
    return index->extent == wanted->extent && str_equal(index->name, wanted->name);
}

const DimSymbol *dim_shared_index(IrContext *ctx, Str name, const Dim *extent) {
    SharedIndex key = {.name = name, .extent = extent};
    uint64_t hash = hash_word(str_hash(name), extent->id);
    const SharedIndex *found = intern_find(&ctx->shared_indices, hash, same_index, &key);
    if (found) return found->symbol;
    int64_t last = extent->hi > 0 ? extent->hi - 1 : 0;
    key.symbol = dim_new_symbol(ctx, SYMBOL_index, name, 0, last, 0, extent);
    key.name = key.symbol->name;
    intern_add(&ctx->shared_indices, ctx->arena, hash, arena_copy(ctx->arena, &key, sizeof key));
    return key.symbol;
}

const DimSymbol *dim_find_symbol(const IrContext *ctx, Str name) {
    return map_get(&ctx->named_symbols, name);
}

uint32_t dim_symbol_count(const IrContext *ctx) { return (uint32_t)ctx->symbols.count; }

const DimSymbol *dim_symbol_at(const IrContext *ctx, uint32_t id) {
    require(id < ctx->symbols.count);
    return ctx->symbols.data[id];
}

const Dim *dim_of_atom(IrContext *ctx, const DimAtom *atom) {
    Poly poly;
    poly_init(&poly, NULL);
    poly_add_term(&poly, 1, &atom, 1);
    return poly_dim(ctx, &poly);
}

const DimAtom *dim_symbol_atom(IrContext *ctx, const DimSymbol *symbol) {
    DimAtom key = {.kind = ATOM_symbol, .size = 1, .symbol = symbol};
    key.lo = symbol->lo;
    key.hi = symbol->hi;
    return intern_atom(ctx, &key);
}

const Dim *dim_of_symbol(IrContext *ctx, const DimSymbol *symbol) {
    if (symbol->lo == symbol->hi) return dim_const(ctx, symbol->lo);
    return dim_of_atom(ctx, dim_symbol_atom(ctx, symbol));
}

static uint32_t depth_of(const Dim *dim) {
    uint32_t depth = 0;
    for (uint32_t i = 0; i < dim->term_count; i++) {
        for (uint32_t k = 0; k < dim->terms[i].atom_count; k++) {
            const DimAtom *atom = dim->terms[i].atoms[k];
            if (atom->depth > depth) depth = atom->depth;
        }
    }
    return depth;
}

static uint32_t size_of(const Dim *dim) {
    uint32_t size = 0;
    for (uint32_t i = 0; i < dim->term_count; i++) {
        for (uint32_t k = 0; k < dim->terms[i].atom_count; k++)
            size += dim->terms[i].atoms[k]->size;
    }
    return size;
}

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t greater(int64_t a, int64_t b) { return a > b ? a : b; }

/* A quotient is monotone in its dividend; by a growing divisor it moves towards 0 (or -1). The
 * divisor is at least 1 wherever the quotient has a value. */
static void set_atom_interval(DimAtom *atom) {
    const Dim *a = atom->a, *b = atom->b;
    if (atom->kind == ATOM_floordiv) {
        int64_t least = b->lo < 1 ? 1 : b->lo;
        atom->lo = floor_div(a->lo, a->lo < 0 ? least : b->hi);
        atom->hi = floor_div(a->hi, a->hi < 0 ? b->hi : least);
    } else if (atom->kind == ATOM_min) {
        atom->lo = lesser(a->lo, b->lo);
        atom->hi = lesser(a->hi, b->hi);
    } else {
        atom->lo = greater(a->lo, b->lo);
        atom->hi = greater(a->hi, b->hi);
    }
}

const Dim *dim_opaque(IrContext *ctx, DimAtomKind kind, const Dim *a, const Dim *b) {
    DimAtom key = {.kind = kind, .a = a, .b = b};
    uint32_t a_depth = depth_of(a), b_depth = depth_of(b);
    key.depth = 1 + (a_depth > b_depth ? a_depth : b_depth);
    key.size = 1 + size_of(a) + size_of(b);
    if (key.depth > DIM_MAX_DEPTH || key.size > DIM_MAX_SIZE) return dim_overflow(ctx);
    set_atom_interval(&key);
    return dim_of_atom(ctx, intern_atom(ctx, &key));
}

const DimAtom *dim_lone_atom(const Dim *dim) {
    if (dim->term_count != 1) return NULL;
    const DimTerm *term = &dim->terms[0];
    return term->coefficient == 1 && term->atom_count == 1 ? term->atoms[0] : NULL;
}

bool dim_has_kind(const Dim *dim, DimAtomKind kind) {
    for (uint32_t i = 0; i < dim->term_count; i++) {
        for (uint32_t k = 0; k < dim->terms[i].atom_count; k++) {
            if (dim->terms[i].atoms[k]->kind == kind) return true;
        }
    }
    return false;
}

/* ---- intervals ------------------------------------------------------------------------------- */

typedef struct Interval {
    Wide lo, hi;
    bool unbounded; /* some product left the range in which Wide is exact */
} Interval;

#define WIDE_LIMIT ((Wide)1 << 64)

static void interval_times(Interval *range, int64_t lo, int64_t hi) {
    Wide ends[4] = {range->lo * lo, range->lo * hi, range->hi * lo, range->hi * hi};
    range->lo = range->hi = ends[0];
    for (int i = 1; i < 4; i++) {
        if (ends[i] < range->lo) range->lo = ends[i];
        if (ends[i] > range->hi) range->hi = ends[i];
    }
    if (range->lo < -WIDE_LIMIT || range->hi > WIDE_LIMIT) {
        *range = (Interval){-WIDE_LIMIT, WIDE_LIMIT, true};
    }
}

/* A power of one atom is bounded as a whole: an even one is not negative. */
static Interval term_interval(const DimTerm *term) {
    Interval range = {term->coefficient, term->coefficient, false};
    for (uint32_t i = 0; i < term->atom_count;) {
        const DimAtom *atom = term->atoms[i];
        uint32_t end = i;
        Interval power = {1, 1, false};
        for (; end < term->atom_count && term->atoms[end] == atom; end++) {
            interval_times(&power, atom->lo, atom->hi);
        }
        if ((end - i) % 2 == 0 && power.lo < 0) power.lo = 0;
        i = end;
        range.unbounded |= power.unbounded || power.lo < -DIM_LIMIT || power.hi > DIM_LIMIT;
        if (range.unbounded) return range;
        interval_times(&range, (int64_t)power.lo, (int64_t)power.hi);
    }
    return range;
}

static Interval sum_interval(const Dim *dim) {
    Interval sum = {dim->constant, dim->constant, false};
    for (uint32_t i = 0; i < dim->term_count; i++) {
        Interval term = term_interval(&dim->terms[i]);
        sum.unbounded |= term.unbounded;
        sum.lo += term.lo;
        sum.hi += term.hi;
    }
    if (sum.unbounded) sum = (Interval){-WIDE_LIMIT, WIDE_LIMIT, true};
    return sum;
}

/* Terms that cancel each other make a remainder's sum look wider than it is. */
static void narrow_by_mod(Interval *sum, const DimMod *mod) {
    Interval part = {mod->factor->lo, mod->factor->hi, false};
    interval_times(&part, 0, mod->modulus->hi - 1);
    if (part.unbounded || mod->rest->overflow) return;
    Wide lo = part.lo + mod->rest->lo, hi = part.hi + mod->rest->hi;
    if (lo > sum->lo) sum->lo = lo;
    if (hi < sum->hi) sum->hi = hi;
}

static int64_t common_divisor(const Dim *dim) {
    int64_t divisor = gcd_int(dim->constant, 0);
    for (uint32_t i = 0; i < dim->term_count; i++) {
        divisor = gcd_int(divisor, dim->terms[i].coefficient);
    }
    return divisor;
}

/* ---- interning ------------------------------------------------------------------------------- */

static bool term_equal(const DimTerm *term, const Monomial *monomial) {
    return term->coefficient == monomial->coefficient && term->atom_count == monomial->count &&
           !memcmp(term->atoms, monomial->atoms, monomial->count * sizeof *term->atoms);
}

static bool poly_equal(const void *item, const void *key) {
    const Dim *dim = item;
    const Poly *poly = key;
    if (dim->constant != poly->constant || dim->term_count != poly->count) return false;
    for (uint32_t i = 0; i < poly->count; i++) {
        if (!term_equal(&dim->terms[i], &poly->terms[i])) return false;
    }
    return true;
}

static uint64_t hash_poly(const Poly *poly) {
    uint64_t hash = (uint64_t)poly->constant;
    for (uint32_t i = 0; i < poly->count; i++) {
        const Monomial *term = &poly->terms[i];
        hash = hash_word(hash, (uint64_t)term->coefficient);
        for (uint32_t k = 0; k < term->count; k++) hash = hash_word(hash, term->atoms[k]->id + 1);
    }
    return hash;
}

static const DimTerm *copy_terms(Arena *arena, const Poly *poly) {
    DimTerm *terms = NEW_ARRAY(arena, DimTerm, poly->count);
    for (uint32_t i = 0; i < poly->count; i++) {
        const Monomial *term = &poly->terms[i];
        const DimAtom **atoms = arena_copy(arena, term->atoms, term->count * sizeof *term->atoms);
        terms[i] = (DimTerm){term->coefficient, term->count, atoms};
    }
    return terms;
}

/* Remainders are not looked for in longer sums: substituted or read back as remainders, these could
 * for a while have more terms than Dims may have. */
enum { MAX_TERMS_WITH_MOD = 24 };

/* False when the value may leave the range that Dims have. */
static bool set_facts(IrContext *ctx, Dim *dim) {
    if (size_of(dim) > DIM_MAX_SIZE) return false;
    Interval sum = sum_interval(dim);
    DimMod mod;
    dim->lo = -DIM_LIMIT;
    dim->hi = DIM_LIMIT;
    bool sought = dim->term_count > 1 && dim->term_count <= MAX_TERMS_WITH_MOD;
    if (sought && dim_find_mod(ctx, dim, &mod)) {
        dim->mod = arena_copy(ctx->arena, &mod, sizeof mod);
        narrow_by_mod(&sum, &mod);
    }
    if (sum.lo < -DIM_LIMIT || sum.hi > DIM_LIMIT) return false;
    dim->lo = (int64_t)sum.lo;
    dim->hi = (int64_t)sum.hi;
    dim->divisor = common_divisor(dim);
    return true;
}

const Dim *poly_dim(IrContext *ctx, const Poly *poly) {
    if (poly->overflow) return dim_overflow(ctx);
    uint64_t hash = hash_poly(poly);
    const Dim *found = intern_find(&ctx->dims, hash, poly_equal, poly);
    if (found) return found;
    Dim *dim = NEW(ctx->arena, Dim);
    dim->constant = poly->constant;
    dim->term_count = poly->count;
    dim->terms = copy_terms(ctx->arena, poly);
    if (!set_facts(ctx, dim)) return dim_overflow(ctx);
    dim->id = ctx->dim_count++;
    intern_add(&ctx->dims, ctx->arena, hash, dim);
    return dim;
}

const Dim *dim_overflow(IrContext *ctx) {
    if (!ctx->overflow) {
        Dim *dim = NEW(ctx->arena, Dim);
        *dim = (Dim){.overflow = true, .lo = -DIM_LIMIT, .hi = DIM_LIMIT, .divisor = 1};
        dim->id = ctx->dim_count++;
        ctx->overflow = dim;
    }
    return ctx->overflow;
}

bool dim_is_overflow(const Dim *dim) { return dim->overflow; }

bool dim_is_const(const Dim *dim, int64_t *out_value) {
    if (dim->overflow || dim->term_count) return false;
    if (out_value) *out_value = dim->constant;
    return true;
}

bool dim_equals_int(const Dim *dim, int64_t value) {
    return dim_is_const(dim, NULL) && dim->constant == value;
}

bool dim_proves_divisible(const Dim *dim, int64_t by) {
    return !dim->overflow && by != 0 && dim->divisor % by == 0;
}

/* ---- narrower ranges ------------------------------------------------------------------------- */

const DimRange *dim_ranges_find(const DimRanges *ranges, Str name) {
    for (size_t i = 0; i < ranges->count; i++)
        if (str_equal(ranges->items[i].name, name)) return &ranges->items[i];
    return NULL;
}

bool dim_range_is_within(const DimRange *range, int64_t lo, int64_t hi) {
    return range->lo >= lo && range->hi <= hi && range->lo <= range->tune &&
           range->tune <= range->hi;
}
