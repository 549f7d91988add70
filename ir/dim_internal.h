/* What the files dim*.c share: sums being built, the canonical order, and the prover. */
#ifndef TCC_IR_DIM_INTERNAL_H
#define TCC_IR_DIM_INTERNAL_H

#include "ir/intern.h"

#define DIM_LIMIT ((int64_t)1 << 62)

/* Wide enough for the product of any two values within the limit, and sums of thousands. */
__extension__ typedef __int128 Wide;

/* A product of atoms with its coefficient, in a sum being built. */
typedef struct Monomial {
    int64_t coefficient;
    uint32_t count;
    const DimAtom *atoms[DIM_MAX_DEGREE];
} Monomial;

/* A sum being built, its terms in canonical order. Once `overflow` is set the rest does not matter.
 */
typedef struct Poly {
    bool overflow;
    int64_t constant;
    uint32_t count;
    Monomial terms[DIM_MAX_TERMS];
} Poly;

/* Empty, or a copy of a Dim. */
void poly_init(Poly *poly, const Dim *dim); /* NULL: the sum 0 */
/* poly += scale·a, and poly += scale·a·b. */
void poly_add(Poly *poly, const Dim *a, int64_t scale);
void poly_add_product(Poly *poly, const Dim *a, const Dim *b, int64_t scale);
void poly_add_constant(Poly *poly, int64_t addend);
/* poly += scale · term; both counts within DIM_MAX_DEGREE. */
void poly_add_term(Poly *poly, int64_t scale, const DimAtom *const *atoms, uint32_t count);
/* The sum as an operand of the functions above; it refers to `poly` and `terms`, and has no
 * interval. */
Dim poly_view(const Poly *poly, DimTerm terms[DIM_MAX_TERMS]);
/* The interned Dim of the sum. */
const Dim *poly_dim(IrContext *ctx, const Poly *poly);

/* The canonical order: a total order of structure, the same in every context in which the symbols
 * were made in the same order. Atoms: shallow before deep, symbols by id. Products: higher degree
 * first, then by atoms; this order is kept by multiplication, so that long division works. */
int atom_compare(const DimAtom *a, const DimAtom *b);
int product_compare(const DimAtom *const *a, uint32_t a_count, const DimAtom *const *b,
                    uint32_t b_count);
int dim_compare(const Dim *a, const Dim *b);

const Dim *dim_overflow(IrContext *ctx);
/* The opaque atom of two simplified Dims, as a Dim; the overflow Dim when it nests too deep. */
const Dim *dim_opaque(IrContext *ctx, DimAtomKind kind, const Dim *a, const Dim *b);
const DimAtom *dim_symbol_atom(IrContext *ctx, const DimSymbol *symbol);
const Dim *dim_of_atom(IrContext *ctx, const DimAtom *atom);
/* The atom of a Dim that is 1·atom + constant, else NULL. */
const DimAtom *dim_lone_atom(const Dim *dim);
bool dim_has_kind(const Dim *dim, DimAtomKind kind); /* at its top, not inside atoms */

/* `dim` = coefficient·atom + rest, where neither holds the atom at its top; false when the atom
 * occurs in higher powers. */
bool dim_split_atom(IrContext *ctx, const Dim *dim, const DimAtom *atom,
                    const Dim **out_coefficient, const Dim **out_rest);

/* sum + a·b. */
const Dim *dim_add_product(IrContext *ctx, const Dim *sum, const Dim *a, const Dim *b);

/* The coefficient alone, also where the rest would overflow; the overflow Dim for higher powers. */
const Dim *dim_coefficient(IrContext *ctx, const Dim *dim, const DimAtom *atom);

/* a = quotient·b + rest by long division with the leading term of b (b not 0). No term of the rest
 * can be divided further. Constants: the rest's constant lies in [0, b) for a constant b. */
void dim_divide(IrContext *ctx, const Dim *a, const Dim *b, const Dim **out_quotient,
                const Dim **out_rest);

/* Finds a remainder in a sum of at least two terms (see DimMod); `rest` has fewer terms than `dim`.
 */
bool dim_find_mod(IrContext *ctx, const Dim *dim, DimMod *out_mod);

/* Whether dim >= 0 follows from ranges and limits. */
bool dim_proves_nonnegative(IrContext *ctx, const Dim *dim);

int64_t gcd_int(int64_t a, int64_t b);   /* of magnitudes; gcd(0, b) = b */
int64_t floor_div(int64_t a, int64_t b); /* b > 0 */

#endif
