/* Dims: integer expressions over symbols, hash-consed in canonical form.
 *
 * A Dim is a sum  constant + Σ coefficient · atom · atom · …  whose atoms are symbols and the
 * opaque floordiv, min and max of two Dims. There is no mod atom: x mod d is x - d·(x floordiv d),
 * so that every identity between quotients and remainders is a cancellation of terms (ir/README.md
 * tells the whole story). Terms and atoms are sorted, so equal canonical forms are the same
 * pointer, and pointer equality is the proof of equality that the compiler uses.
 *
 * The same expressions describe tensor extents (over the model's named dims) and index expressions
 * (over loop variables): composing access maps through reshape is arithmetic here, and
 * (i·N + j) floordiv N = i follows from the range of j. Every symbol has a range; every Dim has an
 * interval and a known divisor, computed when it is built.
 *
 * Arithmetic is exact in int64; a result that may lie outside ±2^62, or one of absurd size (more
 * than DIM_MAX_TERMS terms, DIM_MAX_DEGREE factors, DIM_MAX_DEPTH nested atoms, DIM_MAX_SIZE atoms
 * when written out), becomes the one overflow Dim, which every operation propagates and the
 * verifier reports.
 *
 * All functions take the IrContext that interns the result; not thread-safe within one context.
 */
#ifndef TCC_IR_DIM_H
#define TCC_IR_DIM_H

#include "base/str.h"

typedef struct IrContext IrContext;
typedef struct Dim Dim;

enum { DIM_MAX_TERMS = 64, DIM_MAX_DEGREE = 12, DIM_MAX_DEPTH = 24, DIM_MAX_SIZE = 4096 };

typedef enum DimSymbolKind {
    SYMBOL_named, /* a model's dim: bound from the inputs' shapes at entry */
    SYMBOL_bound, /* written by a kernel at run time, under a static upper bound */
    SYMBOL_index  /* a loop variable or a tile axis of generated code */
} DimSymbolKind;

typedef struct DimSymbol {
    Str name;
    uint32_t id; /* dense in creation order; indexes environments */
    DimSymbolKind kind;
    int64_t lo, hi;   /* both ends included */
    int64_t tune;     /* the value that costs are estimated for; lo <= tune <= hi */
    const Dim *limit; /* when not NULL: the value is < limit (an exact bound for index variables) */
} DimSymbol;

typedef enum DimAtomKind { ATOM_symbol, ATOM_floordiv, ATOM_min, ATOM_max } DimAtomKind;

typedef struct DimAtom {
    DimAtomKind kind;
    uint32_t id;             /* dense in creation order */
    uint32_t depth;          /* 0 for symbols, else one more than the deepest atom of a and b */
    uint32_t size;           /* atoms in its text, itself included */
    const DimSymbol *symbol; /* ATOM_symbol */
    const Dim *a, *b;        /* the others; the divisor b of a floordiv is never negative */
    int64_t lo, hi;
} DimAtom;

typedef struct DimTerm {
    int64_t coefficient; /* never 0 */
    uint32_t atom_count; /* at least 1; sorted, repeated for powers */
    const DimAtom *const *atoms;
} DimTerm;

/* A remainder that was recognised in a sum: the sum is  factor·(base mod modulus) + rest. */
typedef struct DimMod {
    const Dim *factor, *base, *modulus, *rest;
} DimMod;

struct Dim {
    uint32_t id;
    bool overflow; /* the overflow Dim: all else is meaningless */
    int64_t constant;
    uint32_t term_count;
    const DimTerm *terms; /* by falling degree, then by atoms */
    int64_t lo, hi;       /* an interval that holds every value */
    int64_t divisor;      /* divides every value; 0 only for the constant 0 */
    const DimMod *mod;    /* NULL: none was found */
};

/* Symbols. Named and bound symbols are interned by name: declaring one again gives the old one, and
 * another range is the caller's error to report (dim_find_symbol first). Index symbols are always
 * new. `limit` may mention older symbols only. */
const DimSymbol *dim_new_symbol(IrContext *ctx, DimSymbolKind kind, Str name, int64_t lo,
                                int64_t hi, int64_t tune, const Dim *limit);
/* The index symbol of that name from 0 to below `extent`, the same one each time. */
const DimSymbol *dim_shared_index(IrContext *ctx, Str name, const Dim *extent);
const DimSymbol *dim_find_symbol(const IrContext *ctx, Str name); /* NULL if unknown */
uint32_t dim_symbol_count(const IrContext *ctx);
const DimSymbol *dim_symbol_at(const IrContext *ctx, uint32_t id);

const Dim *dim_const(IrContext *ctx, int64_t value);
/* A symbol with a single value is that constant. */
const Dim *dim_of_symbol(IrContext *ctx, const DimSymbol *symbol);
const Dim *dim_add(IrContext *ctx, const Dim *a, const Dim *b);
const Dim *dim_sub(IrContext *ctx, const Dim *a, const Dim *b);
const Dim *dim_mul(IrContext *ctx, const Dim *a, const Dim *b);
const Dim *dim_scale(IrContext *ctx, const Dim *a, int64_t factor);
const Dim *dim_offset(IrContext *ctx, const Dim *a, int64_t addend);
/* Floor division and its modulus (sign of the divisor). A divisor that may be 0 gives the overflow
 * Dim. Simplifies by ranges, limits and divisibility: (x·d + r) floordiv d = x for 0 <= r < d, also
 * for a symbolic d when r's symbols have limits that prove it. d·(x floordiv d) + x mod d is x. */
const Dim *dim_floordiv(IrContext *ctx, const Dim *a, const Dim *b);
const Dim *dim_mod(IrContext *ctx, const Dim *a, const Dim *b);
const Dim *dim_ceildiv(IrContext *ctx, const Dim *a, const Dim *b);
/* The same for index expressions, where a divisor that is 0 means that no index exists and the
 * value is never used: a divisor with the range [0, hi] counts as at least 1. */
const Dim *dim_index_floordiv(IrContext *ctx, const Dim *a, const Dim *b);
const Dim *dim_index_mod(IrContext *ctx, const Dim *a, const Dim *b);
const Dim *dim_min(IrContext *ctx, const Dim *a, const Dim *b);
const Dim *dim_max(IrContext *ctx, const Dim *a, const Dim *b);

bool dim_is_overflow(const Dim *dim);
bool dim_is_const(const Dim *dim, int64_t *out_value); /* out_value may be NULL */
bool dim_equals_int(const Dim *dim, int64_t value);

/* What can be proved from ranges, limits and canonical forms; false means "not proved". */
bool dim_proves_le(IrContext *ctx, const Dim *a, const Dim *b);
bool dim_proves_lt(IrContext *ctx, const Dim *a, const Dim *b);
bool dim_proves_divisible(const Dim *dim, int64_t by);

/* `dim` as coefficient·symbol + rest, with neither part holding the symbol; false if it is not
 * affine in it. */
bool dim_split_affine(IrContext *ctx, const Dim *dim, const DimSymbol *symbol,
                      const Dim **out_coefficient, const Dim **out_rest);
bool dim_mentions(const Dim *dim, const DimSymbol *symbol);
/* The symbol that `dim` is and nothing more, or NULL. */
const DimSymbol *dim_as_symbol(const Dim *dim);

/* `dim` with each symbols[i] replaced by values[i], simplified again. */
const Dim *dim_substitute(IrContext *ctx, const Dim *dim, const DimSymbol *const *symbols,
                          const Dim *const *values, uint32_t count);

/* The value with symbol k bound to values[k]; false on overflow or a zero divisor. */
bool dim_evaluate(const Dim *dim, const int64_t *values, int64_t *out_value);
/* The value with every named symbol at its tune value and index symbols at 0. */
int64_t dim_tune_value(const Dim *dim);

/* Finds the symbol that a name in text means; NULL when unknown. */
typedef const DimSymbol *DimResolve(void *user, Str name);

/* Text: "2*N + 1", "(N + 3) // 4", "N % 4", "min(N, 8)". Reads back to the same Dim. `*text` is
 * advanced past what was read; unknown names, malformed text and nesting beyond 64 give NULL. Names
 * are those of dim_find_symbol, or for dim_parse_names (index symbols in tile text) what `resolve`
 * says. */
/* A range that a named dim is narrowed to before anything is made of it, so that a type that is too
 * large for the declared range may do for this one. */
typedef struct DimRange {
    Str name;
    int64_t lo, hi, tune;
} DimRange;
typedef struct DimRanges {
    const DimRange *items;
    size_t count;
} DimRanges;

/* The range of that name, within the declared lo..hi or not; NULL when there is none. */
const DimRange *dim_ranges_find(const DimRanges *ranges, Str name);
bool dim_range_is_within(const DimRange *range, int64_t lo, int64_t hi);

void buf_dim(Buf *buf, const Dim *dim);
const Dim *dim_parse(IrContext *ctx, Str *text);
const Dim *dim_parse_names(IrContext *ctx, Str *text, DimResolve *resolve, void *user);

#endif
