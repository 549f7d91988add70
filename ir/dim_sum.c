/* The ring of dims: sums and products of sums of products, and splitting a sum by an atom. */
#include "base/guard.h"
#include "ir/dim_internal.h"

#include <string.h>

void poly_init(Poly *poly, const Dim *dim) {
    poly->overflow = false;
    poly->constant = 0;
    poly->count = 0;
    if (dim) poly_add(poly, dim, 1);
}

/* dst += a·b; false when the result is outside the limit. */
static bool add_product(int64_t *dst, int64_t a, int64_t b) {
    Wide sum = (Wide)a * b + *dst;
    if (sum < -DIM_LIMIT || sum > DIM_LIMIT) return false;
    *dst = (int64_t)sum;
    return true;
}

void poly_add_constant(Poly *poly, int64_t addend) {
    if (!add_product(&poly->constant, addend, 1)) poly->overflow = true;
}

/* Where a product stands among the terms, or would stand. */
static uint32_t find_term(const Poly *poly, const DimAtom *const *atoms, uint32_t count,
                          bool *out_found) {
    uint32_t lo = 0, hi = poly->count;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        const Monomial *term = &poly->terms[mid];
        int here = product_compare(term->atoms, term->count, atoms, count);
        if (here == 0) {
            *out_found = true;
            return mid;
        }
        if (here < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    *out_found = false;
    return lo;
}

static void remove_term(Poly *poly, uint32_t at) {
    poly->count--;
    memmove(&poly->terms[at], &poly->terms[at + 1], (poly->count - at) * sizeof *poly->terms);
}

static void insert_term(Poly *poly, uint32_t at, int64_t coefficient, const DimAtom *const *atoms,
                        uint32_t count) {
    memmove(&poly->terms[at + 1], &poly->terms[at], (poly->count - at) * sizeof *poly->terms);
    poly->terms[at].coefficient = coefficient;
    poly->terms[at].count = count;
    memcpy(poly->terms[at].atoms, atoms, count * sizeof *atoms);
    poly->count++;
}

void poly_add_term(Poly *poly, int64_t scale, const DimAtom *const *atoms, uint32_t count) {
    if (poly->overflow || scale == 0) return;
    if (count == 0) {
        poly_add_constant(poly, scale);
        return;
    }
    bool found;
    uint32_t at = find_term(poly, atoms, count, &found);
    if (found) {
        int64_t *coefficient = &poly->terms[at].coefficient;
        poly->overflow = !add_product(coefficient, scale, 1);
        if (*coefficient == 0) remove_term(poly, at);
    } else if (poly->count == DIM_MAX_TERMS || scale < -DIM_LIMIT || scale > DIM_LIMIT) {
        poly->overflow = true;
    } else {
        insert_term(poly, at, scale, atoms, count);
    }
}

/* A product of two coefficients; outside the limit it becomes a value that overflows. */
static int64_t times(int64_t a, int64_t b) {
    int64_t product = 0;
    return add_product(&product, a, b) ? product : INT64_MAX;
}

void poly_add(Poly *poly, const Dim *a, int64_t scale) {
    poly->overflow |= a->overflow || times(a->constant, scale) == INT64_MAX;
    if (poly->overflow) return;
    poly_add_constant(poly, a->constant * scale);
    for (uint32_t i = 0; i < a->term_count; i++) {
        const DimTerm *term = &a->terms[i];
        poly_add_term(poly, times(term->coefficient, scale), term->atoms, term->atom_count);
    }
}

/* Merges two sorted products of atoms into `out`; false when the degree is too high. */
static bool multiply_atoms(const DimTerm *a, const DimTerm *b, const DimAtom **out) {
    if (a->atom_count + b->atom_count > DIM_MAX_DEGREE) return false;
    uint32_t i = 0, k = 0, count = 0;
    while (i < a->atom_count || k < b->atom_count) {
        bool from_a = k == b->atom_count ||
                      (i < a->atom_count && atom_compare(a->atoms[i], b->atoms[k]) <= 0);
        out[count++] = from_a ? a->atoms[i++] : b->atoms[k++];
    }
    return true;
}

/* poly += scale · term · b. */
static void add_scaled(Poly *poly, const DimTerm *term, const Dim *b, int64_t scale) {
    const DimAtom *atoms[DIM_MAX_DEGREE];
    int64_t factor = times(term->coefficient, scale);
    if (factor == INT64_MAX) poly->overflow = true;
    if (poly->overflow) return;
    poly_add_term(poly, times(factor, b->constant), term->atoms, term->atom_count);
    for (uint32_t i = 0; i < b->term_count && !poly->overflow; i++) {
        const DimTerm *other = &b->terms[i];
        if (!multiply_atoms(term, other, atoms)) {
            poly->overflow = true;
            return;
        }
        poly_add_term(poly, times(factor, other->coefficient), atoms,
                      term->atom_count + other->atom_count);
    }
}

void poly_add_product(Poly *poly, const Dim *a, const Dim *b, int64_t scale) {
    int64_t constant = times(a->constant, scale);
    poly->overflow |= a->overflow || b->overflow || constant == INT64_MAX;
    if (poly->overflow) return;
    poly_add(poly, b, constant);
    for (uint32_t i = 0; i < a->term_count; i++) add_scaled(poly, &a->terms[i], b, scale);
}

Dim poly_view(const Poly *poly, DimTerm terms[DIM_MAX_TERMS]) {
    for (uint32_t i = 0; i < poly->count; i++) {
        const Monomial *term = &poly->terms[i];
        terms[i] = (DimTerm){term->coefficient, term->count, term->atoms};
    }
    return (Dim){.overflow = poly->overflow,
                 .constant = poly->constant,
                 .term_count = poly->count,
                 .terms = terms};
}

const Dim *dim_const(IrContext *ctx, int64_t value) {
    Poly poly;
    poly_init(&poly, NULL);
    poly_add_constant(&poly, value);
    return poly_dim(ctx, &poly);
}

static const Dim *combine(IrContext *ctx, const Dim *a, const Dim *b, int64_t scale) {
    Poly poly;
    poly_init(&poly, a);
    poly_add(&poly, b, scale);
    return poly_dim(ctx, &poly);
}

const Dim *dim_add(IrContext *ctx, const Dim *a, const Dim *b) { return combine(ctx, a, b, 1); }

const Dim *dim_sub(IrContext *ctx, const Dim *a, const Dim *b) { return combine(ctx, a, b, -1); }

const Dim *dim_mul(IrContext *ctx, const Dim *a, const Dim *b) {
    Poly poly;
    poly_init(&poly, NULL);
    poly_add_product(&poly, a, b, 1);
    return poly_dim(ctx, &poly);
}

const Dim *dim_add_product(IrContext *ctx, const Dim *sum, const Dim *a, const Dim *b) {
    Poly poly;
    poly_init(&poly, sum);
    poly_add_product(&poly, a, b, 1);
    return poly_dim(ctx, &poly);
}

const Dim *dim_scale(IrContext *ctx, const Dim *a, int64_t factor) {
    Poly poly;
    poly_init(&poly, NULL);
    poly_add(&poly, a, factor);
    return poly_dim(ctx, &poly);
}

const Dim *dim_offset(IrContext *ctx, const Dim *a, int64_t addend) {
    Poly poly;
    poly_init(&poly, a);
    poly_add_constant(&poly, addend);
    return poly_dim(ctx, &poly);
}

/* How often `atom` is a factor of the term; writes the other factors. */
static uint32_t take_out(const DimTerm *term, const DimAtom *atom, const DimAtom **out_others) {
    uint32_t times_found = 0;
    for (uint32_t i = 0; i < term->atom_count; i++) {
        if (term->atoms[i] == atom) {
            times_found++;
        } else {
            out_others[i - times_found] = term->atoms[i];
        }
    }
    return times_found;
}

/* The sum as coefficient·atom + rest, both still being built; false when the atom has a higher
 * power. */
static bool split(const Dim *dim, const DimAtom *atom, Poly *coefficient, Poly *rest) {
    const DimAtom *others[DIM_MAX_DEGREE];
    poly_init(coefficient, NULL);
    poly_init(rest, NULL);
    rest->constant = dim->constant;
    for (uint32_t i = 0; i < dim->term_count; i++) {
        const DimTerm *term = &dim->terms[i];
        uint32_t power = take_out(term, atom, others);
        if (power > 1) return false;
        poly_add_term(power ? coefficient : rest, term->coefficient, others,
                      term->atom_count - power);
    }
    return true;
}

bool dim_split_atom(IrContext *ctx, const Dim *dim, const DimAtom *atom,
                    const Dim **out_coefficient, const Dim **out_rest) {
    Poly coefficient, rest;
    if (!split(dim, atom, &coefficient, &rest)) return false;
    *out_coefficient = poly_dim(ctx, &coefficient);
    *out_rest = poly_dim(ctx, &rest);
    return !(*out_coefficient)->overflow && !(*out_rest)->overflow;
}

const Dim *dim_coefficient(IrContext *ctx, const Dim *dim, const DimAtom *atom) {
    Poly coefficient, rest;
    return split(dim, atom, &coefficient, &rest) ? poly_dim(ctx, &coefficient) : dim_overflow(ctx);
}
