#include "codegen/tile/prove.h"

enum { MAX_STEPS = 5, FUEL = 20 };

/* What follows from  rest + a // d >= 0  for d > 0:  d·rest + a >= 0. */
static void assume_scaled(Prover *prover, const Dim *fact, const DimTerm *term) {
    const DimAtom *atom = term->atoms[0];
    if (term->atom_count > 1 || atom->kind != ATOM_floordiv || term->coefficient != 1) return;
    const Dim *quotient = dim_floordiv(prover->ctx, atom->a, atom->b);
    const Dim *rest = dim_sub(prover->ctx, fact, quotient);
    prover_assume(prover, dim_add(prover->ctx, dim_mul(prover->ctx, rest, atom->b), atom->a));
}

void prover_assume(Prover *prover, const Dim *fact) {
    vec_push(prover->arena, &prover->facts, fact);
    for (uint32_t i = 0; i < fact->term_count; i++) assume_scaled(prover, fact, &fact->terms[i]);
}

void prover_assume_range(Prover *prover, const Dim *lo, const Dim *value, const Dim *hi) {
    prover_assume(prover, dim_sub(prover->ctx, value, lo));
    prover_assume(prover, dim_offset(prover->ctx, dim_sub(prover->ctx, hi, value), -1));
}

static bool search(Prover *prover, const Dim *dim, int steps);

/* ---- weakenings ------------------------------------------------------------------------------ */

/* rest ± (a // d), for d > 0: not negative exactly where  d·rest + a  is, or  d·rest - a + d - 1.
 */
static bool replace_quotient(Prover *prover, const Dim *dim, const DimTerm *term, int steps) {
    IrContext *ctx = prover->ctx;
    const DimAtom *atom = term->atoms[0];
    int64_t sign = term->coefficient;
    if (term->atom_count > 1 || atom->kind != ATOM_floordiv || (sign != 1 && sign != -1))
        return false;
    const Dim *quotient = dim_floordiv(ctx, atom->a, atom->b);
    const Dim *rest = dim_sub(ctx, dim, dim_scale(ctx, quotient, sign));
    const Dim *scaled = dim_add(ctx, dim_mul(ctx, rest, atom->b), dim_scale(ctx, atom->a, sign));
    if (sign < 0) scaled = dim_add(ctx, scaled, dim_offset(ctx, atom->b, -1));
    return search(prover, scaled, steps);
}

/* ---- search ---------------------------------------------------------------------------------- */

static bool same_atoms(const DimTerm *a, const DimTerm *b) {
    if (a->atom_count != b->atom_count) return false;
    for (uint32_t i = 0; i < a->atom_count; i++) {
        if (a->atoms[i] != b->atoms[i]) return false;
    }
    return true;
}

/* How often the fact can be taken away for the sake of a term that both hold; 0: it does not help.
 */
static int64_t multiple(const Dim *dim, const Dim *fact) {
    int64_t most = 0;
    for (uint32_t i = 0; i < dim->term_count; i++) {
        for (uint32_t k = 0; k < fact->term_count; k++) {
            if (!same_atoms(&dim->terms[i], &fact->terms[k])) continue;
            int64_t ratio = dim->terms[i].coefficient / fact->terms[k].coefficient;
            if (ratio > most) most = ratio;
        }
    }
    return most;
}

/* Whether at most `steps` weakenings lead to something that is seen to be >= 0. */
static bool search(Prover *prover, const Dim *dim, int steps) {
    IrContext *ctx = prover->ctx;
    if (dim_is_overflow(dim)) return false;
    if (dim_proves_le(ctx, dim_const(ctx, 0), dim)) return true;
    if (steps == 0 || prover->fuel == 0 || dim->hi < 0) return false;
    prover->fuel--;
    for (size_t i = prover->facts.count; i-- > 0;) {
        const Dim *fact = prover->facts.data[i];
        int64_t times = multiple(dim, fact);
        if (times > 0 && search(prover, dim_sub(ctx, dim, dim_scale(ctx, fact, times)), steps - 1))
            return true;
    }
    for (uint32_t i = 0; i < dim->term_count; i++) {
        if (replace_quotient(prover, dim, &dim->terms[i], steps - 1)) return true;
    }
    return false;
}

/* Whether the facts cannot hold together: nothing is done there. */
static bool contradict(const Prover *prover) {
    for (size_t i = 0; i < prover->facts.count; i++) {
        const Dim *fact = prover->facts.data[i];
        if (!dim_is_overflow(fact) && fact->hi < 0) return true;
    }
    return false;
}

bool prover_nonnegative(Prover *prover, const Dim *dim) {
    if (contradict(prover)) return true;
    prover->fuel = FUEL;
    for (int steps = 0; steps <= MAX_STEPS && prover->fuel > 0; steps++) {
        if (search(prover, dim, steps)) return true;
    }
    return false;
}

bool prover_less(Prover *prover, const Dim *a, const Dim *b) {
    return prover_nonnegative(prover, dim_offset(prover->ctx, dim_sub(prover->ctx, b, a), -1));
}
