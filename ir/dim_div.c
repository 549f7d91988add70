/* Floor division and what follows from it. The order in which a quotient a // b is simplified:
 *
 *   1. it has one value by intervals, or -b <= a < 2b is proved      -> that constant
 *   2. long division: a = q·b + r with terms in q                     -> q + r // b
 *   3. b = g·h and a = g·q + r where r // g is one constant k         -> (q + k) // h
 *   4. the leading coefficient of a is negative: floor(a/b) = -1 - floor((-a - 1)/b)
 *   5. a = x // c + y with no other quotient in y                     -> (x + c·y) // (c·b)
 *   6. an opaque atom
 *
 * Each step ends or leaves a smaller problem of the same kind, and what step 6 keeps passes through
 * all of them unchanged; that is why text reads back to the same Dim. Results are remembered by (a,
 * b). */
#include "base/guard.h"
#include "ir/dim_internal.h"

/* ---- long division --------------------------------------------------------------------------- */

/* Writes the factors of `term` that are not in `lead`; false unless lead's are all in it. */
static bool divide_atoms(const Monomial *term, const DimTerm *lead, const DimAtom **out) {
    uint32_t k = 0, count = 0;
    for (uint32_t i = 0; i < term->count; i++) {
        if (k < lead->atom_count && term->atoms[i] == lead->atoms[k]) {
            k++;
        } else if (count < term->count - lead->atom_count) {
            out[count++] = term->atoms[i];
        } else {
            return false;
        }
    }
    return k == lead->atom_count;
}

/* Moves a multiple of the divisor from rest to quotient, if some term allows it. Coefficients
 * divide without rest or not at all: 3x // 2 = x + x // 2 would tear apart what belongs together,
 * and double an opaque x at each step of a chain. */
static bool divide_step(Poly *rest, Poly *quotient, const Dim *by, const DimTerm *lead) {
    const DimAtom *atoms[DIM_MAX_DEGREE];
    for (uint32_t i = 0; i < rest->count; i++) {
        const Monomial *term = &rest->terms[i];
        int64_t factor = term->coefficient / lead->coefficient;
        if (term->count < lead->atom_count || term->coefficient % lead->coefficient) continue;
        if (!divide_atoms(term, lead, atoms)) continue;
        uint32_t count = term->count - lead->atom_count;
        DimTerm part = {1, count, atoms};
        Dim single = {.term_count = 1, .terms = &part};
        if (count == 0) single = (Dim){.constant = 1};
        poly_add(quotient, &single, factor);
        poly_add_product(rest, &single, by, -factor);
        return true;
    }
    return false;
}

/* A bound on the steps that no sane division reaches; whatever is left then stays in the rest. */
enum { MAX_DIVISION_STEPS = 4 * DIM_MAX_TERMS };

static void divide_poly(const Dim *a, const Dim *b, Poly *quotient, Poly *rest) {
    DimTerm lead = b->term_count ? b->terms[0] : (DimTerm){b->constant, 0, NULL};
    poly_init(quotient, NULL);
    poly_init(rest, a);
    for (int i = 0; i < MAX_DIVISION_STEPS && divide_step(rest, quotient, b, &lead); i++) {
    }
    if (b->term_count || rest->overflow) return;
    int64_t whole = floor_div(rest->constant, b->constant);
    rest->constant -= whole * b->constant;
    poly_add_constant(quotient, whole);
}

void dim_divide(IrContext *ctx, const Dim *a, const Dim *b, const Dim **out_quotient,
                const Dim **out_rest) {
    Poly quotient, rest;
    divide_poly(a, b, &quotient, &rest);
    *out_quotient = poly_dim(ctx, &quotient);
    *out_rest = poly_dim(ctx, &rest);
}

static bool divides(IrContext *ctx, const Dim *a, const Dim *b, const Dim **out_quotient) {
    const Dim *rest;
    dim_divide(ctx, a, b, out_quotient, &rest);
    return dim_equals_int(rest, 0) && !(*out_quotient)->overflow;
}

typedef enum KeepMods { TEAR_mods, KEEP_mods } KeepMods;

/* Division that first takes out whole remainders: 6·(x mod 12) + y by 6 is x mod 12, although the
 * terms of the remainder may have merged with those of y. Remainders that do not divide are divided
 * term by term like all else, or kept as they are: 3·(x mod 2) is at most 3, but 3x is not. */
static void divide_mods(IrContext *ctx, KeepMods keep, const Dim *a, const Dim *b,
                        const Dim **out_quotient, const Dim **out_rest) {
    const Dim *quotient = dim_const(ctx, 0), *kept = quotient, *factor;
    for (; a->mod; a = a->mod->rest) {
        const Dim *part = dim_index_mod(ctx, a->mod->base, a->mod->modulus);
        if (divides(ctx, a->mod->factor, b, &factor)) {
            quotient = dim_add(ctx, quotient, dim_mul(ctx, factor, part));
        } else {
            kept = dim_add(ctx, kept, dim_mul(ctx, a->mod->factor, part));
        }
    }
    if (keep == TEAR_mods) a = dim_add(ctx, a, kept);
    dim_divide(ctx, a, b, out_quotient, out_rest);
    *out_quotient = dim_add(ctx, *out_quotient, quotient);
    if (keep == KEEP_mods) *out_rest = dim_add(ctx, *out_rest, kept);
}

/* ---- the steps ------------------------------------------------------------------------------- */

/* Step 1: proves k·b <= a < (k + 1)·b. */
static bool proves_quotient(IrContext *ctx, const Dim *a, const Dim *b, int64_t k) {
    const Dim *rest = dim_sub(ctx, a, dim_scale(ctx, b, k));
    if (rest->hi < 0 || rest->lo >= b->hi) return false;
    return dim_proves_nonnegative(ctx, rest) &&
           dim_proves_nonnegative(ctx, dim_offset(ctx, dim_sub(ctx, b, rest), -1));
}

static bool find_constant_quotient(IrContext *ctx, const Dim *a, const Dim *b, int64_t *out_k) {
    int64_t divisor;
    if (dim_is_const(b, &divisor)) {
        *out_k = floor_div(a->lo, divisor);
        if (*out_k == floor_div(a->hi, divisor)) return true;
    }
    static const int64_t likely[] = {0, -1, 1};
    for (size_t i = 0; i < sizeof likely / sizeof *likely; i++) {
        *out_k = likely[i];
        if (proves_quotient(ctx, a, b, likely[i])) return true;
    }
    return false;
}

/* Step 2. By a divisor of several terms, only a division that makes the rest shorter counts: else
 * N // (N + M) would become 1 + (-M) // (N + M). */
static const Dim *divide_terms(IrContext *ctx, const Dim *a, const Dim *b) {
    const Dim *quotient, *rest;
    int64_t k;
    divide_mods(ctx, KEEP_mods, a, b, &quotient, &rest);
    if (quotient->overflow || rest->overflow) return NULL;
    if (rest != a && find_constant_quotient(ctx, rest, b, &k)) return dim_offset(ctx, quotient, k);
    divide_mods(ctx, TEAR_mods, a, b, &quotient, &rest);
    if (quotient->overflow || rest->overflow || dim_equals_int(quotient, 0)) return NULL;
    bool simple = b->term_count == 0 || (b->term_count == 1 && b->constant == 0);
    if (!simple && rest->term_count >= a->term_count) return NULL;
    return dim_add(ctx, quotient, dim_index_floordiv(ctx, rest, b));
}

/* Step 3 for one factor g of b. */
static const Dim *divide_by_factor(IrContext *ctx, const Dim *a, const Dim *b, const Dim *g) {
    const Dim *quotient, *rest, *other, *none;
    int64_t k;
    divide_mods(ctx, KEEP_mods, a, g, &quotient, &rest);
    if (quotient->overflow || rest->overflow || dim_is_const(quotient, NULL)) return NULL;
    if (!find_constant_quotient(ctx, rest, g, &k)) return NULL;
    dim_divide(ctx, b, g, &other, &none);
    if (other->lo <= 0) return NULL; /* by its interval, which is wider than its values */
    return dim_index_floordiv(ctx, dim_offset(ctx, quotient, k), other);
}

/* The largest common divisor, below `below`, of `number` and a coefficient of `dim`. */
static int64_t next_factor(const Dim *dim, int64_t number, int64_t below) {
    int64_t best = 1;
    for (uint32_t i = 0; i < dim->term_count; i++) {
        int64_t common = gcd_int(dim->terms[i].coefficient, number);
        if (common < below && common > best) best = common;
    }
    return best;
}

static const Dim *divide_by_number(IrContext *ctx, const Dim *a, const Dim *b) {
    int64_t number = b->term_count ? b->terms[0].coefficient : b->constant;
    int64_t below = b->term_count ? INT64_MAX : number;
    for (int64_t g = next_factor(a, number, below); g > 1; g = next_factor(a, number, g)) {
        const Dim *result = divide_by_factor(ctx, a, b, dim_const(ctx, g));
        if (result) return result;
    }
    return NULL;
}

static const Dim *divide_by_atoms(IrContext *ctx, const Dim *a, const Dim *b) {
    if (b->term_count != 1) return NULL;
    const DimTerm *term = &b->terms[0];
    for (uint32_t i = 0; i < term->atom_count; i++) {
        const DimAtom *atom = term->atoms[i];
        bool only = term->atom_count == 1 && term->coefficient == 1;
        if (only || atom->lo < 0 || (i && atom == term->atoms[i - 1])) continue;
        const Dim *result = divide_by_factor(ctx, a, b, dim_of_atom(ctx, atom));
        if (result) return result;
    }
    return NULL;
}

static const Dim *divide_by_factors(IrContext *ctx, const Dim *a, const Dim *b) {
    if (b->term_count > 1 || (b->term_count && b->constant)) return NULL;
    const Dim *result = divide_by_number(ctx, a, b);
    return result ? result : divide_by_atoms(ctx, a, b);
}

/* Step 4. */
static const Dim *divide_negative(IrContext *ctx, const Dim *a, const Dim *b) {
    int64_t leading = a->term_count ? a->terms[0].coefficient : a->constant;
    if (leading >= 0) return NULL;
    const Dim *mirrored = dim_offset(ctx, dim_scale(ctx, a, -1), -1);
    return dim_offset(ctx, dim_scale(ctx, dim_index_floordiv(ctx, mirrored, b), -1), -1);
}

/* The one quotient among the terms of `dim`, with coefficient 1 and no factor. */
static const DimAtom *only_quotient(const Dim *dim) {
    const DimAtom *found = NULL;
    for (uint32_t i = 0; i < dim->term_count; i++) {
        const DimTerm *term = &dim->terms[i];
        for (uint32_t k = 0; k < term->atom_count; k++) {
            if (term->atoms[k]->kind != ATOM_floordiv) continue;
            if (found || term->atom_count > 1 || term->coefficient != 1) return NULL;
            found = term->atoms[k];
        }
    }
    return found;
}

/* Step 5. */
static const Dim *divide_quotient(IrContext *ctx, const Dim *a, const Dim *b) {
    const DimAtom *inner = only_quotient(a);
    if (!inner) return NULL;
    const Dim *others = dim_sub(ctx, a, dim_of_atom(ctx, inner));
    const Dim *dividend = dim_add(ctx, inner->a, dim_mul(ctx, inner->b, others));
    const Dim *divisor = dim_mul(ctx, inner->b, b);
    if (dividend->overflow || divisor->overflow || divisor->lo <= 0) return NULL;
    return dim_index_floordiv(ctx, dividend, divisor);
}

static const Dim *simplify_floordiv(IrContext *ctx, const Dim *a, const Dim *b) {
    int64_t k;
    if (dim_equals_int(b, 1)) return a;
    if (find_constant_quotient(ctx, a, b, &k)) return dim_const(ctx, k);
    const Dim *result = divide_terms(ctx, a, b);
    if (!result) result = divide_by_factors(ctx, a, b);
    if (!result) result = divide_negative(ctx, a, b);
    if (!result) result = divide_quotient(ctx, a, b);
    return result ? result : dim_opaque(ctx, ATOM_floordiv, a, b);
}

/* ---- the public functions -------------------------------------------------------------------- */

typedef struct Quotient {
    const Dim *a, *b, *result;
} Quotient;

static bool quotient_equal(const void *item, const void *key) {
    const Quotient *x = item, *y = key;
    return x->a == y->a && x->b == y->b;
}

const Dim *dim_index_floordiv(IrContext *ctx, const Dim *a, const Dim *b) {
    bool two_signs = b->lo < 0 && b->hi > 0, zero = b->lo == 0 && b->hi == 0;
    if (a->overflow || b->overflow || two_signs || zero) return dim_overflow(ctx);
    if (b->lo < 0) return dim_index_floordiv(ctx, dim_scale(ctx, a, -1), dim_scale(ctx, b, -1));
    Quotient key = {a, b, NULL};
    uint64_t hash = hash_word(a->id, b->id);
    const Quotient *known = intern_find(&ctx->quotients, hash, quotient_equal, &key);
    if (known) return known->result;
    key.result = simplify_floordiv(ctx, a, b);
    intern_add(&ctx->quotients, ctx->arena, hash, arena_copy(ctx->arena, &key, sizeof key));
    return key.result;
}

static bool may_be_zero(const Dim *dim) { return dim->lo <= 0 && dim->hi >= 0; }

const Dim *dim_floordiv(IrContext *ctx, const Dim *a, const Dim *b) {
    return may_be_zero(b) ? dim_overflow(ctx) : dim_index_floordiv(ctx, a, b);
}

const Dim *dim_index_mod(IrContext *ctx, const Dim *a, const Dim *b) {
    return dim_sub(ctx, a, dim_mul(ctx, b, dim_index_floordiv(ctx, a, b)));
}

const Dim *dim_mod(IrContext *ctx, const Dim *a, const Dim *b) {
    return may_be_zero(b) ? dim_overflow(ctx) : dim_index_mod(ctx, a, b);
}

const Dim *dim_ceildiv(IrContext *ctx, const Dim *a, const Dim *b) {
    return dim_scale(ctx, dim_floordiv(ctx, dim_scale(ctx, a, -1), b), -1);
}

/* ---- remainders in sums -----------------------------------------------------------------------
 *
 * A sum of remainders of nested quotients, such as an index after a few reshapes, is written in
 * terms of a, a // 3, a // 24, …, whose coefficients are mixtures: 256·(a mod 3) + 32·(a // 3 mod
 * 8) + a // 24 is 256·a - 736·(a // 3) - 255·(a // 24). It is taken apart from the smallest divisor
 * up: the coefficient of a can only come from a mod 3, which then leaves the right one for a // 3,
 * and so on. */

enum { MAX_QUOTIENTS = 16 };

typedef struct Quotients {
    uint32_t count;
    const DimAtom *atoms[MAX_QUOTIENTS]; /* shallow before deep, small divisors before large ones */
} Quotients;

static bool comes_before(const DimAtom *a, const DimAtom *b) {
    if (a->depth != b->depth) return a->depth < b->depth;
    if (a->b->hi != b->b->hi) return a->b->hi < b->b->hi;
    return atom_compare(a, b) < 0;
}

static void add_quotient(Quotients *list, const DimAtom *atom) {
    uint32_t at = list->count;
    while (at && comes_before(atom, list->atoms[at - 1])) at--;
    if ((at && list->atoms[at - 1] == atom) || list->count == MAX_QUOTIENTS) return;
    for (uint32_t i = list->count++; i > at; i--) list->atoms[i] = list->atoms[i - 1];
    list->atoms[at] = atom;
}

static Quotients find_quotients(const Dim *dim) {
    Quotients list = {.count = 0};
    for (uint32_t i = 0; i < dim->term_count; i++) {
        for (uint32_t k = 0; k < dim->terms[i].atom_count; k++) {
            const DimAtom *atom = dim->terms[i].atoms[k];
            if (atom->kind == ATOM_floordiv) add_quotient(&list, atom);
        }
    }
    return list;
}

/* Whether dim = factor·(base mod modulus) + rest is a real find: one that makes the rest shorter.
 * The products are not interned: one of them might be the very Dim that is being built. */
static bool try_factor(IrContext *ctx, const Dim *dim, DimMod try, DimMod *out_mod) {
    Poly rest, whole;
    DimTerm terms[DIM_MAX_TERMS];
    if (try.factor->overflow || dim_equals_int(try.factor, 0)) return false;
    poly_init(&rest, dim);
    poly_init(&whole, NULL);
    const Dim *quotient = dim_index_floordiv(ctx, try.base, try.modulus);
    poly_add_product(&rest, try.factor, try.base, -1);
    poly_add_product(&whole, try.modulus, quotient, 1);
    Dim view = poly_view(&whole, terms);
    poly_add_product(&rest, try.factor, &view, 1);
    if (rest.overflow || rest.count >= dim->term_count) return false;
    try.rest = poly_dim(ctx, &rest);
    *out_mod = try;
    return !try.rest->overflow;
}

/* The factor by which the leading term of the base stands in dim. */
static bool try_base(IrContext *ctx, const Dim *dim, const Dim *base, const Dim *modulus,
                     DimMod *out_mod) {
    if (base->overflow || !base->term_count) return false;
    Dim lead = {.term_count = 1, .terms = base->terms};
    Poly factor, rest;
    divide_poly(dim, &lead, &factor, &rest);
    DimMod try = {.factor = poly_dim(ctx, &factor), .base = base, .modulus = modulus};
    return try_factor(ctx, dim, try, out_mod);
}

/* The greatest product of atoms and number that divides both; NULL when that is 1. */
static const Dim *common_factor(IrContext *ctx, const Dim *a, const Dim *b) {
    if (a->term_count > 1 || b->term_count > 1) return NULL;
    if ((a->term_count && a->constant) || (b->term_count && b->constant)) return NULL;
    const DimTerm *x = a->terms, *y = b->terms;
    const DimAtom *atoms[DIM_MAX_DEGREE];
    uint32_t count = 0, i = 0, k = 0;
    while (a->term_count && b->term_count && i < x->atom_count && k < y->atom_count) {
        int here = atom_compare(x->atoms[i], y->atoms[k]);
        if (here == 0) atoms[count++] = x->atoms[i];
        i += here <= 0;
        k += here >= 0;
    }
    int64_t first = a->term_count ? x->coefficient : a->constant;
    int64_t second = b->term_count ? y->coefficient : b->constant;
    Poly common;
    poly_init(&common, NULL);
    poly_add_term(&common, gcd_int(first, second), atoms, count);
    const Dim *dim = poly_dim(ctx, &common);
    return dim_equals_int(dim, 1) || dim->lo < 0 ? NULL : dim;
}

/* The factor that takes the quotient out of the sum: its coefficient is -factor·modulus. */
static bool try_coefficient(IrContext *ctx, const Dim *dim, const DimAtom *atom, DimMod *out_mod) {
    const Dim *coefficient = dim_coefficient(ctx, dim, atom), *factor, *others;
    if (coefficient->overflow) return false;
    const Dim *modulus = common_factor(ctx, coefficient, atom->b);
    if (divides(ctx, coefficient, atom->b, &factor)) modulus = atom->b;
    if (!modulus || !divides(ctx, coefficient, modulus, &factor)) return false;
    if (!divides(ctx, atom->b, modulus, &others)) return false;
    const Dim *base = dim_index_floordiv(ctx, atom->a, others);
    if (base->overflow) return false;
    return try_factor(ctx, dim, (DimMod){dim_scale(ctx, factor, -1), base, modulus, NULL}, out_mod);
}

/* A quotient x // b is a part of (x // g) mod (b / g) for each g that divides b: those that are
 * divisors of other quotients here are tried first, then 1. */
static bool find_mod_of(IrContext *ctx, const Dim *dim, const Quotients *list, uint32_t at,
                        DimMod *out_mod) {
    const DimAtom *atom = list->atoms[at];
    for (uint32_t i = at; i-- > 0;) {
        const Dim *inner = list->atoms[i]->b, *modulus;
        if (inner == atom->b || !divides(ctx, atom->b, inner, &modulus)) continue;
        const Dim *base = dim_index_floordiv(ctx, atom->a, inner);
        if (try_base(ctx, dim, base, modulus, out_mod)) return true;
    }
    return try_base(ctx, dim, atom->a, atom->b, out_mod) ||
           try_coefficient(ctx, dim, atom, out_mod);
}

bool dim_find_mod(IrContext *ctx, const Dim *dim, DimMod *out_mod) {
    Quotients list = find_quotients(dim);
    for (uint32_t i = 0; i < list.count; i++) {
        if (find_mod_of(ctx, dim, &list, i, out_mod)) return true;
    }
    return false;
}
