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

/* ---- long division ------------------------------------------------------------------------------
 */

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

/* Moves a multiple of the divisor from rest to quotient, if some term allows it. */
static bool divide_step(Poly *rest, Poly *quotient, const Dim *by, const DimTerm *lead) {
    const DimAtom *atoms[DIM_MAX_DEGREE];
    for (uint32_t i = 0; i < rest->count; i++) {
        const Monomial *term = &rest->terms[i];
        int64_t factor = term->coefficient / lead->coefficient;
        if (term->count < lead->atom_count || !factor || !divide_atoms(term, lead, atoms)) continue;
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

void dim_divide(IrContext *ctx, const Dim *a, const Dim *b, const Dim **out_quotient,
                const Dim **out_rest) {
    Poly quotient, rest;
    DimTerm lead = b->term_count ? b->terms[0] : (DimTerm){b->constant, 0, NULL};
    poly_init(&quotient, NULL);
    poly_init(&rest, a);
    for (int i = 0; i < MAX_DIVISION_STEPS && divide_step(&rest, &quotient, b, &lead); i++) {
    }
    if (!b->term_count && !rest.overflow) {
        int64_t whole = floor_div(rest.constant, b->constant);
        rest.constant -= whole * b->constant;
        poly_add_constant(&quotient, whole);
    }
    *out_quotient = poly_dim(ctx, &quotient);
    *out_rest = poly_dim(ctx, &rest);
}

/* ---- the steps
 * ------------------------------------------------------------------------------------ */

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
    dim_divide(ctx, a, b, &quotient, &rest);
    if (quotient->overflow || rest->overflow || dim_equals_int(quotient, 0)) return NULL;
    bool simple = b->term_count == 0 || (b->term_count == 1 && b->constant == 0);
    if (!simple && rest->term_count >= a->term_count) return NULL;
    return dim_add(ctx, quotient, dim_floordiv(ctx, rest, b));
}

/* Step 3 for one factor g of b. */
static const Dim *divide_by_factor(IrContext *ctx, const Dim *a, const Dim *b, const Dim *g) {
    const Dim *quotient, *rest, *other, *none;
    int64_t k;
    dim_divide(ctx, a, g, &quotient, &rest);
    if (quotient->overflow || rest->overflow || dim_is_const(quotient, NULL)) return NULL;
    if (!find_constant_quotient(ctx, rest, g, &k)) return NULL;
    dim_divide(ctx, b, g, &other, &none);
    return dim_floordiv(ctx, dim_offset(ctx, quotient, k), other);
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
        if (only || atom->lo < 1 || (i && atom == term->atoms[i - 1])) continue;
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
    return dim_offset(ctx, dim_scale(ctx, dim_floordiv(ctx, mirrored, b), -1), -1);
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
    if (dividend->overflow || divisor->overflow) return NULL;
    return dim_floordiv(ctx, dividend, divisor);
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

/* ---- the public functions
 * --------------------------------------------------------------------------- */

typedef struct Quotient {
    const Dim *a, *b, *result;
} Quotient;

static bool quotient_equal(const void *item, const void *key) {
    const Quotient *x = item, *y = key;
    return x->a == y->a && x->b == y->b;
}

const Dim *dim_floordiv(IrContext *ctx, const Dim *a, const Dim *b) {
    if (a->overflow || b->overflow || (b->lo <= 0 && b->hi >= 0)) return dim_overflow(ctx);
    if (b->hi < 0) return dim_floordiv(ctx, dim_scale(ctx, a, -1), dim_scale(ctx, b, -1));
    Quotient key = {a, b, NULL};
    uint64_t hash = hash_word(a->id, b->id);
    const Quotient *known = intern_find(&ctx->quotients, hash, quotient_equal, &key);
    if (known) return known->result;
    key.result = simplify_floordiv(ctx, a, b);
    intern_add(&ctx->quotients, ctx->arena, hash, arena_copy(ctx->arena, &key, sizeof key));
    return key.result;
}

const Dim *dim_mod(IrContext *ctx, const Dim *a, const Dim *b) {
    return dim_sub(ctx, a, dim_mul(ctx, b, dim_floordiv(ctx, a, b)));
}

const Dim *dim_ceildiv(IrContext *ctx, const Dim *a, const Dim *b) {
    return dim_scale(ctx, dim_floordiv(ctx, dim_scale(ctx, a, -1), b), -1);
}

/* ---- remainders in sums
 * -------------------------------------------------------------------------------- */

/* Whether dim = factor·(base mod modulus) + rest for the quotient `atom` of base by modulus, which
 * has the coefficient -factor·modulus in dim; a real find makes the rest shorter. */
static bool try_mod(IrContext *ctx, const Dim *dim, const DimAtom *atom, const Dim *coefficient,
                    const Dim *modulus, DimMod *out_mod) {
    const Dim *whole, *none, *inner, *base = atom->a;
    dim_divide(ctx, coefficient, modulus, &whole, &none);
    if (none->overflow || !dim_equals_int(none, 0)) return false;
    if (modulus != atom->b) {
        dim_divide(ctx, atom->b, modulus, &inner, &none);
        base = dim_floordiv(ctx, base, inner);
    }
    const Dim *quotient = dim_floordiv(ctx, base, modulus);
    Poly rest;
    poly_init(&rest, dim);
    poly_add_product(&rest, whole, base, 1);
    poly_add_product(&rest, coefficient, quotient, -1);
    if (rest.overflow || rest.count >= dim->term_count) return false;
    *out_mod = (DimMod){dim_scale(ctx, whole, -1), base, modulus, poly_dim(ctx, &rest)};
    return !out_mod->rest->overflow;
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
    return dim_equals_int(dim, 1) || dim->lo < 1 ? NULL : dim;
}

/* A quotient x // b with the coefficient -c·m is part of c·((x // (b/m)) mod m) for each m that
 * divides both b and the coefficient: b itself first, then the greatest common one, then its
 * divisors. */
static bool find_mod_of(IrContext *ctx, const Dim *dim, const DimAtom *atom, DimMod *out_mod) {
    const Dim *coefficient, *others;
    int64_t common;
    if (!dim_split_atom(ctx, dim, atom, &coefficient, &others)) return false;
    if (try_mod(ctx, dim, atom, coefficient, atom->b, out_mod)) return true;
    const Dim *modulus = common_factor(ctx, coefficient, atom->b);
    if (!modulus) return false;
    if (try_mod(ctx, dim, atom, coefficient, modulus, out_mod)) return true;
    if (!dim_is_const(modulus, &common)) return false;
    enum { MAX_MODULUS_TRIED = 64 };
    for (int64_t parts = 2; parts <= MAX_MODULUS_TRIED && parts < common; parts++) {
        if (common % parts) continue;
        modulus = dim_const(ctx, common / parts);
        if (try_mod(ctx, dim, atom, coefficient, modulus, out_mod)) return true;
    }
    return false;
}

bool dim_find_mod(IrContext *ctx, const Dim *dim, DimMod *out_mod) {
    const DimAtom *before = NULL;
    for (uint32_t i = dim->term_count; i-- > 0;) {
        const DimTerm *term = &dim->terms[i];
        for (uint32_t k = term->atom_count; k-- > 0;) {
            const DimAtom *atom = term->atoms[k];
            if (atom->kind != ATOM_floordiv || atom == before) continue;
            before = atom;
            if (find_mod_of(ctx, dim, atom, out_mod)) return true;
        }
    }
    return false;
}
