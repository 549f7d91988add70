/* Dims as LLVM values. A Dim over uniform symbols is i64 scalar code; one over the lane symbol is
 * computed lane by lane, in 32 bits where its parts are known to fit. What has been emitted in an
 * enclosing scope is taken from the memo. */
#include "codegen/lower/lowering.h"

/* How one Dim is being emitted. */
typedef struct Form {
    uint32_t lanes;        /* 0: scalar */
    const DimSymbol *lane; /* NULL for scalars */
    LLVMTypeRef type;      /* of a lane */
    uint32_t key;          /* of the memo */
} Form;

static V emit(Lowering *l, const Dim *dim, const Form *form);

/* ---- symbols --------------------------------------------------------------------------------- */

/* The place of the symbol, or the free one where it belongs. */
static BoundSymbol *find_bound(const Lowering *l, const DimSymbol *symbol) {
    for (uint32_t at = symbol->id;; at++) {
        BoundSymbol *place = &l->bound[at & (l->bound_size - 1)];
        if (place->symbol == symbol || place->symbol == NULL) return place;
    }
}

static void grow_bound(Lowering *l) {
    BoundSymbol *old = l->bound;
    uint32_t old_size = l->bound_size;
    l->bound_size = old_size ? 2 * old_size : 32;
    l->bound = NEW_ARRAY(l->arena, BoundSymbol, l->bound_size);
    for (uint32_t i = 0; i < old_size; i++)
        if (old[i].symbol) *find_bound(l, old[i].symbol) = old[i];
}

void dims_bind(Lowering *l, const DimSymbol *symbol, V value) {
    if (2 * (l->bound_count + 1) > l->bound_size) grow_bound(l);
    BoundSymbol *place = find_bound(l, symbol);
    l->bound_count += place->symbol == NULL;
    *place = (BoundSymbol){symbol, value};
}

/* A program may have many dims of which a kernel mentions few: they are loaded when first met. */
static V value_of_symbol(Lowering *l, const DimSymbol *symbol) {
    if (l->bound_size > 0) {
        const BoundSymbol *place = find_bound(l, symbol);
        if (place->symbol) return place->value;
    }
    require(l->dims);
    V value = x86_load_dim(l, symbol);
    dims_bind(l, symbol, value);
    return value;
}

const DimSymbol *dims_lane_symbol(Lowering *l, uint32_t lanes) {
    uint32_t index = (uint32_t)__builtin_ctz(lanes);
    require(index < sizeof l->lane_symbols / sizeof *l->lane_symbols);
    if (!l->lane_symbols[index]) {
        IrContext *ctx = l->program->ctx;
        l->lane_symbols[index] = dim_new_symbol(ctx, SYMBOL_index, STR("$lane"), 0,
                                                (int64_t)lanes - 1, 0, dim_const(ctx, lanes));
    }
    return l->lane_symbols[index];
}

static bool fits(const Dim *dim) { return dim->lo >= INT32_MIN && dim->hi <= INT32_MAX; }

static bool atom_fits(const DimAtom *atom) {
    if (atom->kind == ATOM_symbol) return true;
    return dims_fits_narrow(atom->a) && dims_fits_narrow(atom->b);
}

/* Sums and products may wrap on the way, being exact modulo 2^32; divisions and comparisons need
 * their operands to fit. */
bool dims_fits_narrow(const Dim *dim) {
    if (!fits(dim)) return false;
    for (uint32_t i = 0; i < dim->term_count; i++)
        for (uint32_t j = 0; j < dim->terms[i].atom_count; j++)
            if (!atom_fits(dim->terms[i].atoms[j])) return false;
    return true;
}

static bool atom_mentions(const DimAtom *atom, const DimSymbol *symbol) {
    if (atom->kind == ATOM_symbol) return atom->symbol == symbol;
    return dim_mentions(atom->a, symbol) || dim_mentions(atom->b, symbol);
}

static bool term_mentions(const DimTerm *term, const DimSymbol *symbol) {
    for (uint32_t i = 0; i < term->atom_count; i++)
        if (atom_mentions(term->atoms[i], symbol)) return true;
    return false;
}

/* ---- divisions ------------------------------------------------------------------------------- */

/* a // b for operands of any sign. */
static V divide_signed(Lowering *l, V a, V b) {
    V quotient = LLVMBuildSDiv(l->builder, a, b, "");
    V rest = ll_sub(l, a, LLVMBuildMul(l->builder, quotient, b, ""));
    V zero = LLVMConstNull(LLVMTypeOf(a));
    V below = ll_compare(l, LLVMIntSLT, rest, zero); /* the divisor is positive */
    return ll_select(l, below, ll_sub(l, quotient, ll_const(LLVMTypeOf(a), 1)), quotient);
}

static bool is_power_of_two(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

static bool is_u32(const Dim *dim) { return dim->lo >= 0 && dim->hi <= UINT32_MAX; }

/* Division by a power of two is a shift for every sign; the 64-bit division instruction is several
 * times as slow as the 32-bit one. */
static V emit_division(Lowering *l, const DimAtom *atom, const Form *form) {
    int64_t constant = 0;
    V a = emit(l, atom->a, form);
    if (dim_is_const(atom->b, &constant) && is_power_of_two(constant)) {
        V count = ll_const(LLVMTypeOf(a), __builtin_ctzll((uint64_t)constant));
        return LLVMBuildAShr(l->builder, a, count, "");
    }
    V b = emit(l, atom->b, form);
    if (atom->a->lo < 0) return divide_signed(l, a, b);
    if (constant || !is_u32(atom->a) || !is_u32(atom->b) || form->type != l->i64)
        return LLVMBuildUDiv(l->builder, a, b, "");
    V narrow_a = ll_cast(l, a, l->i32, false), narrow_b = ll_cast(l, b, l->i32, false);
    return ll_cast(l, LLVMBuildUDiv(l->builder, narrow_a, narrow_b, ""), l->i64, false);
}

/* ---- atoms, terms, sums ---------------------------------------------------------------------- */

/* The Dim that an atom is, so that the memo knows it. */
static const Dim *atom_dim(Lowering *l, const DimAtom *atom) {
    IrContext *ctx = l->program->ctx;
    switch (atom->kind) {
    case ATOM_floordiv: return dim_floordiv(ctx, atom->a, atom->b);
    case ATOM_min: return dim_min(ctx, atom->a, atom->b);
    case ATOM_max: return dim_max(ctx, atom->a, atom->b);
    case ATOM_symbol: break;
    }
    return dim_of_symbol(ctx, atom->symbol);
}

static V emit_symbol(Lowering *l, const DimSymbol *symbol, const Form *form) {
    if (symbol == form->lane)
        return ll_cast(l, l->model->lane_index(l, form->lanes), form->type, false);
    return value_of_symbol(l, symbol);
}

static V emit_compound(Lowering *l, const DimAtom *atom, const Form *form) {
    if (atom->kind == ATOM_floordiv) return emit_division(l, atom, form);
    V a = emit(l, atom->a, form), b = emit(l, atom->b, form);
    return atom->kind == ATOM_min ? ll_min(l, a, b) : ll_max(l, a, b);
}

static V emit_atom(Lowering *l, const DimAtom *atom, const Form *form) {
    if (atom->kind == ATOM_symbol) return emit_symbol(l, atom->symbol, form);
    const Dim *dim = atom_dim(l, atom);
    V value = memo_find(&l->memo, dim, form->key);
    if (value) return value;
    value = emit_compound(l, atom, form);
    memo_add(&l->memo, dim, form->key, value);
    return value;
}

static Form scalar_form(const Lowering *l) { return (Form){.type = l->i64}; }

static V to_form(Lowering *l, V scalar, const Form *form) {
    if (form->lanes == 0) return scalar;
    return ll_splat(l, ll_cast(l, scalar, form->type, true), l->model->width(form->lanes));
}

/* The product of the atoms that do not depend on the lane is scalar. */
static V emit_term(Lowering *l, const DimTerm *term, const Form *form) {
    Form scalar = scalar_form(l);
    V uniform = NULL, varying = NULL;
    for (uint32_t i = 0; i < term->atom_count; i++) {
        const DimAtom *atom = term->atoms[i];
        bool varies = form->lane && atom_mentions(atom, form->lane);
        V value = emit_atom(l, atom, varies ? form : &scalar);
        V *product = varies ? &varying : &uniform;
        *product = *product ? ll_mul(l, *product, value) : value;
    }
    V factor = ll_i64(l, term->coefficient);
    if (uniform) factor = ll_mul(l, uniform, factor);
    if (!varying) return factor;
    return term->coefficient == 1 && !uniform ? varying
                                              : ll_mul(l, varying, to_form(l, factor, form));
}

static V plus(Lowering *l, V sum, V value) { return sum ? ll_add(l, sum, value) : value; }

static V emit_sum(Lowering *l, const Dim *dim, const Form *form) {
    V uniform = NULL, varying = NULL;
    for (uint32_t i = 0; i < dim->term_count; i++) {
        const DimTerm *term = &dim->terms[i];
        bool varies = form->lane && term_mentions(term, form->lane);
        V *sum = varies ? &varying : &uniform;
        *sum = plus(l, *sum, emit_term(l, term, form));
    }
    if (dim->constant != 0 || !uniform) uniform = plus(l, uniform, ll_i64(l, dim->constant));
    if (!varying) return uniform;
    if (LLVMIsAConstantInt(uniform) && LLVMConstIntGetSExtValue(uniform) == 0) return varying;
    return ll_add(l, varying, to_form(l, uniform, form));
}

/* Dims that differ in the constant only share the rest. */
static V emit_with_constant(Lowering *l, const Dim *dim, const Form *form) {
    if (dim->constant == 0 || form->lanes != 0) return emit_sum(l, dim, form);
    V rest = emit(l, dim_offset(l->program->ctx, dim, -dim->constant), form);
    return ll_add(l, rest, ll_i64(l, dim->constant));
}

static V emit(Lowering *l, const Dim *dim, const Form *form) {
    require(!dim_is_overflow(dim));
    int64_t constant = 0;
    if (dim_is_const(dim, &constant)) return to_form(l, ll_i64(l, constant), form);
    Form scalar = scalar_form(l);
    if (form->lanes != 0 && !dim_mentions(dim, form->lane))
        return to_form(l, emit(l, dim, &scalar), form);
    V value = memo_find(&l->memo, dim, form->key);
    if (value) return value;
    value = emit_with_constant(l, dim, form);
    memo_add(&l->memo, dim, form->key, value);
    return value;
}

V dims_emit(Lowering *l, const Dim *dim) {
    Form form = scalar_form(l);
    return emit(l, dim, &form);
}

V dims_emit_lanes(Lowering *l, const Dim *dim, uint32_t lanes, bool narrow) {
    if (lanes <= 1) return ll_cast(l, dims_emit(l, dim), narrow ? l->i32 : l->i64, true);
    Form form = {.lanes = lanes,
                 .lane = dims_lane_symbol(l, lanes),
                 .type = narrow ? l->i32 : l->i64,
                 .key = lanes * 2 + narrow};
    return emit(l, dim, &form);
}

/* ---- tile axes ------------------------------------------------------------------------------- */

/* What axis `axis` is in register `index`: a number, the last one plus the lane. */
static const Dim *axis_value(Lowering *l, const TileType *type, uint32_t axis, int64_t number) {
    IrContext *ctx = l->program->ctx;
    if (axis + 1 < type->rank || type->lanes <= 1) return dim_const(ctx, number);
    const Dim *lane = dim_of_symbol(ctx, dims_lane_symbol(l, type->lanes));
    return dim_offset(ctx, lane, number * type->lanes);
}

static int64_t axis_registers(const TileType *type, uint32_t axis) {
    int64_t extent = 0;
    require(dim_is_const(type->extents[axis], &extent));
    return axis + 1 == type->rank && type->lanes > 1 ? extent / type->lanes : extent;
}

const Dim *dims_of_register(Lowering *l, const TileType *type, uint32_t index, const Dim *dim) {
    const DimSymbol *symbols[TILE_MAX_RANK];
    const Dim *values[TILE_MAX_RANK];
    /* The axis symbols of an extent are made once a context: finding one changes no program. */
    TileProgram *program = (TileProgram *)(uintptr_t)l->program;
    for (uint32_t axis = type->rank; axis-- > 0;) {
        int64_t count = axis_registers(type, axis);
        symbols[axis] = tile_axis_symbol(program, axis, type->extents[axis]);
        values[axis] = axis_value(l, type, axis, index % count);
        index = (uint32_t)(index / count);
    }
    return dim_substitute(l->program->ctx, dim, symbols, values, type->rank);
}
