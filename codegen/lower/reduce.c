/* Reductions, scans and dots. The order in which a reduction folds is that of tile.h, whatever the
 * layout: for a power of two the halves, which are whole registers first and parts of one last. */
#include "codegen/lower/lowering.h"

static int64_t extent_of(const TileType *type, uint32_t axis) {
    int64_t extent = 0;
    require(dim_is_const(type->extents[axis], &extent));
    return extent;
}

/* The registers of a tile as [outer][count][inner] around an axis. */
typedef struct Span {
    uint32_t outer, count, inner;
    bool last;      /* the axis is the last one: its elements are lanes of `count` registers */
    uint32_t lanes; /* of a register */
    int64_t extent;
} Span;

static Span span_of(const TileType *type, uint32_t axis) {
    Span span = {
        .outer = 1, .inner = 1, .lanes = values_lanes(type), .extent = extent_of(type, axis)};
    span.last = axis + 1 == type->rank;
    for (uint32_t i = 0; i < type->rank; i++) {
        uint32_t registers =
            (uint32_t)(extent_of(type, i) / (i + 1 == type->rank ? span.lanes : 1));
        if (i < axis)
            span.outer *= registers;
        else if (i == axis)
            span.count = registers;
        else
            span.inner *= registers;
    }
    return span;
}

typedef struct Fold {
    Op op;
    DType dtype;
    uint32_t lanes;
    bool ignores_nan; /* a maximum of f32 or f64 */
} Fold;

static V fold(Lowering *l, const Fold *f, V a, V b) {
    if (f->ignores_nan) return ll_select(l, LLVMBuildFCmp(l->builder, LLVMRealOGT, a, b, ""), a, b);
    return values_binary(l, f->op, f->dtype, a, b, f->lanes);
}

static bool is_power_of_two(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

/* Halves of `items`, down to one; the items are overwritten. */
static V fold_halves(Lowering *l, const Fold *f, V *items, uint32_t count) {
    for (uint32_t half = count / 2; half > 0; half /= 2)
        for (uint32_t i = 0; i < half; i++) items[i] = fold(l, f, items[i], items[i + half]);
    return items[0];
}

static V fold_in_order(Lowering *l, const Fold *f, const V *items, uint32_t count) {
    V value = items[0];
    for (uint32_t i = 1; i < count; i++) value = fold(l, f, value, items[i]);
    return value;
}

static V fold_items(Lowering *l, const Fold *f, V *items, uint32_t count) {
    if (count == 0) return values_unit(l, f->op, f->dtype, f->lanes);
    return is_power_of_two(count) ? fold_halves(l, f, items, count)
                                  : fold_in_order(l, f, items, count);
}

static V fold_lanes(Lowering *l, Fold f, V value) {
    for (uint32_t count = f.lanes; count > 1; count /= 2) {
        V low, high;
        l->model->halves(l, value, count, &low, &high);
        f.lanes = l->model->threads ? 1 : count / 2;
        value = fold(l, &f, low, high);
    }
    return value;
}

/* All elements of some registers, as one scalar. */
static V fold_elements(Lowering *l, Fold f, V *items, const Span *span) {
    if (is_power_of_two(span->extent))
        return fold_lanes(l, f, fold_halves(l, &f, items, span->count));
    V *elements = NEW_ARRAY(l->arena, V, (size_t)span->extent);
    for (uint32_t i = 0; i < (uint32_t)span->extent; i++)
        elements[i] = l->model->extract(l, items[i / f.lanes], f.lanes, i % f.lanes);
    f.lanes = 1;
    return fold_items(l, &f, elements, (uint32_t)span->extent);
}

static V reduce_one(Lowering *l, const Fold *f, const Span *span, const V *registers,
                    uint32_t outer, uint32_t inner) {
    V *items = NEW_ARRAY(l->arena, V, span->count);
    for (uint32_t i = 0; i < span->count; i++)
        items[i] = registers[(outer * span->count + i) * span->inner + inner];
    if (span->last) return fold_elements(l, *f, items, span);
    return fold_items(l, f, items, span->count);
}

void lower_reduce(Lowering *l, const TileInstr *instr) {
    const TileType *type = tile_value_type(l->program, instr->args[0]);
    Span span = span_of(type, instr->axis);
    Fold f = {.op = instr->scalar,
              .dtype = type->dtype,
              .lanes = span.lanes,
              .ignores_nan = instr->ignores_nan};
    const V *from = values_of(l, instr->args[0])->items;
    Registers registers = values_new(l, tile_value_type(l->program, instr->result));
    for (uint32_t outer = 0; outer < span.outer; outer++)
        for (uint32_t inner = 0; inner < span.inner; inner++)
            registers.items[outer * span.inner + inner] =
                reduce_one(l, &f, &span, from, outer, inner);
    l->values[instr->result] = registers;
}

/* ---- scan ------------------------------------------------------------------------------------ */

/* Along registers `stride` apart, from `first` on. */
static void scan_one(Lowering *l, const TileInstr *instr, const Fold *f, const V *from, V *to,
                     const Span *span, uint32_t first) {
    V sum = instr->exclusive ? values_unit(l, f->op, f->dtype, f->lanes) : NULL;
    for (uint32_t i = 0; i < span->count; i++) {
        uint32_t at = first + (instr->reverse ? span->count - 1 - i : i) * span->inner;
        V next = sum ? fold(l, f, sum, from[at]) : from[at];
        to[at] = instr->exclusive ? sum : next;
        sum = next;
    }
}

void lower_scan(Lowering *l, const TileInstr *instr) {
    const TileType *type = tile_value_type(l->program, instr->result);
    Span span = span_of(type, instr->axis);
    require(span.lanes == 1);
    Fold f = {.op = instr->scalar, .dtype = type->dtype, .lanes = span.lanes};
    const V *from = values_of(l, instr->args[0])->items;
    Registers registers = values_new(l, type);
    for (uint32_t outer = 0; outer < span.outer; outer++)
        for (uint32_t inner = 0; inner < span.inner; inner++)
            scan_one(l, instr, &f, from, registers.items, &span,
                     outer * span.count * span.inner + inner);
    l->values[instr->result] = registers;
}

/* ---- dot ------------------------------------------------------------------------------------- */

static V multiply_add(Lowering *l, DType dtype, V a, V b, V sum, uint32_t lanes) {
    if (!dtype_is_float(dtype)) {
        V product = values_binary(l, OP_mul, dtype, a, b, lanes);
        return values_binary(l, OP_add, dtype, sum, product, lanes);
    }
    V args[3] = {values_to_register_form(l, dtype, a, lanes),
                 values_to_register_form(l, dtype, b, lanes),
                 values_to_register_form(l, dtype, sum, lanes)};
    LLVMTypeRef type = LLVMTypeOf(args[0]);
    V result = ll_intrinsic(l, "llvm.fma", &type, 1, args, 3);
    return values_from_register_form(l, dtype, result, lanes);
}

void lower_dot(Lowering *l, const TileInstr *instr) {
    const TileType *type = tile_value_type(l->program, instr->result);
    uint32_t lanes = values_lanes(type), width = l->model->width(lanes);
    const V *sums = values_of(l, instr->args[0])->items;
    const V *a = values_of(l, instr->args[1])->items, *b = values_of(l, instr->args[2])->items;
    Registers registers = values_new(l, type);
    if (tile_value_type(l->program, instr->args[1])->rank == type->rank) {
        for (uint32_t i = 0; i < tile_register_count(type); i++)
            registers.items[i] = multiply_add(l, type->dtype, a[i], b[i], sums[i], lanes);
        l->values[instr->result] = registers;
        return;
    }
    uint32_t rows = (uint32_t)extent_of(type, 0), columns = (uint32_t)(extent_of(type, 1) / lanes);
    for (uint32_t i = 0; i < rows; i++) {
        V row = ll_splat(l, a[i], width);
        for (uint32_t j = 0; j < columns; j++) {
            uint32_t at = i * columns + j;
            registers.items[at] = multiply_add(l, type->dtype, row, b[j], sums[at], lanes);
        }
    }
    l->values[instr->result] = registers;
}

/* Byte `byte` of words, as an i32. */
static V byte_of(Lowering *l, V word, int byte, bool is_signed) {
    LLVMTypeRef type = LLVMTypeOf(word);
    V up = LLVMBuildShl(l->builder, word, ll_const(type, 24 - 8 * byte), "");
    V by = ll_const(type, 24);
    return is_signed ? LLVMBuildAShr(l->builder, up, by, "")
                     : LLVMBuildLShr(l->builder, up, by, "");
}

static V multiply_add_bytes(Lowering *l, V a, V b, V sum, uint32_t lanes) {
    bool vnni = l->options->target->features & FEATURE_avx512_vnni;
    if (vnni && l->options->target->kind == TARGET_cpu && lanes == 16) {
        V args[3] = {sum, a, b};
        return ll_intrinsic(l, "llvm.x86.avx512.vpdpbusd.512", NULL, 0, args, 3);
    }
    for (int byte = 0; byte < 4; byte++) {
        V product = values_binary(l, OP_mul, DT_i32, byte_of(l, a, byte, false),
                                  byte_of(l, b, byte, true), lanes);
        sum = values_binary(l, OP_add, DT_i32, sum, product, lanes);
    }
    return sum;
}

void lower_dot4(Lowering *l, const TileInstr *instr) {
    const TileType *type = tile_value_type(l->program, instr->result);
    uint32_t lanes = values_lanes(type), width = l->model->width(lanes);
    uint32_t rows = (uint32_t)extent_of(type, 0), columns = (uint32_t)(extent_of(type, 1) / lanes);
    const V *sums = values_of(l, instr->args[0])->items;
    const V *a = values_of(l, instr->args[1])->items, *b = values_of(l, instr->args[2])->items;
    Registers registers = values_new(l, type);
    for (uint32_t i = 0; i < rows; i++) {
        V row = ll_splat(l, a[i], width);
        for (uint32_t j = 0; j < columns; j++)
            registers.items[i * columns + j] =
                multiply_add_bytes(l, row, b[j], sums[i * columns + j], lanes);
    }
    l->values[instr->result] = registers;
}
