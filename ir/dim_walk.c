/* Walks over dims: substitution, evaluation, and questions about one symbol. */
#include "base/guard.h"
#include "ir/dim_internal.h"

static bool atom_mentions(const DimAtom *atom, const DimSymbol *symbol) {
    if (atom->kind == ATOM_symbol) return atom->symbol == symbol;
    return dim_mentions(atom->a, symbol) || dim_mentions(atom->b, symbol);
}

const DimSymbol *dim_as_symbol(const Dim *dim) {
    if (dim->term_count != 1 || dim->constant != 0) return NULL;
    const DimTerm *term = &dim->terms[0];
    bool lone = term->coefficient == 1 && term->atom_count == 1;
    return lone && term->atoms[0]->kind == ATOM_symbol ? term->atoms[0]->symbol : NULL;
}

bool dim_mentions(const Dim *dim, const DimSymbol *symbol) {
    for (uint32_t i = 0; i < dim->term_count; i++) {
        for (uint32_t k = 0; k < dim->terms[i].atom_count; k++) {
            if (atom_mentions(dim->terms[i].atoms[k], symbol)) return true;
        }
    }
    return false;
}

bool dim_split_affine(IrContext *ctx, const Dim *dim, const DimSymbol *symbol,
                      const Dim **out_coefficient, const Dim **out_rest) {
    const DimAtom *atom = dim_symbol_atom(ctx, symbol);
    if (dim->overflow) return false;
    if (!dim_split_atom(ctx, dim, atom, out_coefficient, out_rest)) return false;
    return !dim_mentions(*out_coefficient, symbol) && !dim_mentions(*out_rest, symbol);
}

/* ---- substitution ---------------------------------------------------------------------------- */

typedef struct Bindings {
    IrContext *ctx;
    const DimSymbol *const *symbols;
    const Dim *const *values;
    uint32_t count;
} Bindings;

static const Dim *substitute(const Bindings *bindings, const Dim *dim);

/* A divisor that might have been 0 stands in an index expression. */
static const Dim *divide(IrContext *ctx, const Dim *old_b, const Dim *a, const Dim *b) {
    return old_b->lo > 0 ? dim_floordiv(ctx, a, b) : dim_index_floordiv(ctx, a, b);
}

static const Dim *substitute_atom(const Bindings *bindings, const DimAtom *atom) {
    IrContext *ctx = bindings->ctx;
    if (atom->kind == ATOM_symbol) {
        for (uint32_t i = 0; i < bindings->count; i++) {
            if (bindings->symbols[i] == atom->symbol) return bindings->values[i];
        }
        return dim_of_symbol(ctx, atom->symbol);
    }
    const Dim *a = substitute(bindings, atom->a), *b = substitute(bindings, atom->b);
    switch (atom->kind) {
    case ATOM_floordiv: return divide(ctx, atom->b, a, b);
    case ATOM_min: return dim_min(ctx, a, b);
    case ATOM_max: return dim_max(ctx, a, b);
    case ATOM_symbol: break;
    }
    bug("an atom of kind %d", (int)atom->kind);
}

static bool mentions_any(const Bindings *bindings, const Dim *dim) {
    for (uint32_t i = 0; i < bindings->count; i++) {
        if (dim_mentions(dim, bindings->symbols[i])) return true;
    }
    return false;
}

/* A remainder is rebuilt as one: its two halves apart could leave the range that their sum keeps.
 */
static const Dim *substitute(const Bindings *bindings, const Dim *dim) {
    IrContext *ctx = bindings->ctx;
    if (dim->overflow || !mentions_any(bindings, dim)) return dim;
    if (dim->mod) {
        const Dim *base = substitute(bindings, dim->mod->base);
        const Dim *modulus = substitute(bindings, dim->mod->modulus);
        const Dim *quotient = divide(ctx, dim->mod->modulus, base, modulus);
        const Dim *part = dim_sub(ctx, base, dim_mul(ctx, modulus, quotient));
        part = dim_mul(ctx, part, substitute(bindings, dim->mod->factor));
        return dim_add(ctx, part, substitute(bindings, dim->mod->rest));
    }
    const Dim *sum = dim_const(ctx, dim->constant);
    for (uint32_t i = 0; i < dim->term_count; i++) {
        const DimTerm *term = &dim->terms[i];
        const Dim *product = dim_const(ctx, term->coefficient);
        for (uint32_t k = 0; k < term->atom_count; k++) {
            product = dim_mul(ctx, product, substitute_atom(bindings, term->atoms[k]));
        }
        sum = dim_add(ctx, sum, product);
    }
    return sum;
}

const Dim *dim_substitute(IrContext *ctx, const Dim *dim, const DimSymbol *const *symbols,
                          const Dim *const *values, uint32_t count) {
    return substitute(&(Bindings){ctx, symbols, values, count}, dim);
}

/* ---- evaluation ------------------------------------------------------------------------------ */

/* `values` NULL: tune values, and 0 for index symbols. */
static bool evaluate(const Dim *dim, const int64_t *values, int64_t *out_value);

static int64_t symbol_value(const DimSymbol *symbol, const int64_t *values) {
    if (values) return values[symbol->id];
    return symbol->kind == SYMBOL_index ? 0 : symbol->tune;
}

static bool evaluate_atom(const DimAtom *atom, const int64_t *values, int64_t *out_value) {
    int64_t a, b;
    if (atom->kind == ATOM_symbol) {
        *out_value = symbol_value(atom->symbol, values);
        return true;
    }
    if (!evaluate(atom->a, values, &a) || !evaluate(atom->b, values, &b)) return false;
    switch (atom->kind) {
    case ATOM_floordiv:
        if (b <= 0) return false;
        *out_value = floor_div(a, b);
        return true;
    case ATOM_min: *out_value = a < b ? a : b; return true;
    case ATOM_max: *out_value = a > b ? a : b; return true;
    case ATOM_symbol: break;
    }
    bug("an atom of kind %d", (int)atom->kind);
}

/* Products are held below 2^100, where a next factor of up to 2^63 could leave Wide. */
static bool multiply(Wide *product, int64_t factor) {
    const Wide most = (Wide)1 << 64;
    if (*product > most || *product < -most) return false;
    *product *= factor;
    return true;
}

static bool evaluate(const Dim *dim, const int64_t *values, int64_t *out_value) {
    Wide sum = dim->constant;
    if (dim->overflow) return false;
    for (uint32_t i = 0; i < dim->term_count; i++) {
        const DimTerm *term = &dim->terms[i];
        Wide product = term->coefficient;
        for (uint32_t k = 0; k < term->atom_count; k++) {
            int64_t factor;
            if (!evaluate_atom(term->atoms[k], values, &factor)) return false;
            if (!multiply(&product, factor)) return false;
        }
        if (product > (Wide)1 << 100 || product < -((Wide)1 << 100)) return false;
        sum += product;
    }
    if (sum < -DIM_LIMIT || sum > DIM_LIMIT) return false;
    *out_value = (int64_t)sum;
    return true;
}

bool dim_evaluate(const Dim *dim, const int64_t *values, int64_t *out_value) {
    return evaluate(dim, values, out_value);
}

/* What does not evaluate costs as much as it can. */
int64_t dim_tune_value(const Dim *dim) {
    int64_t value;
    return evaluate(dim, NULL, &value) ? value : dim->hi;
}
