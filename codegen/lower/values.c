/* Tile values: the forms of their lanes, and registers of them. */
#include "codegen/lower/lowering.h"

#include "ir/tensor.h"

#include <math.h>

uint32_t values_lanes(const TileType *type) {
    return type->rank > 0 && type->lanes > 1 ? type->lanes : 1;
}

MathContext values_math(const Lowering *l, uint32_t lanes) {
    bool vectors = l->options->target->kind == TARGET_cpu;
    return (MathContext){.builder = l->builder,
                         .context = l->context,
                         .module = l->module,
                         .target = vectors ? MATH_X86 : MATH_NVPTX,
                         .lanes = l->model->width(lanes),
                         .features = l->math_features};
}

/* 8- and 16-bit floats are kept as their bits and computed as f32. */
static bool is_small_float(DType dtype) {
    return dtype_is_float(dtype) && dtype_compute(dtype) != dtype;
}

LLVMTypeRef values_type(const Lowering *l, DType dtype, uint32_t lanes) {
    MathContext m = values_math(l, lanes);
    return dtype == DT_bool ? ll_lanes(l->i1, m.lanes) : math_storage_type(&m, dtype);
}

V values_to_register_form(Lowering *l, DType dtype, V value, uint32_t lanes) {
    MathContext m = values_math(l, lanes);
    return is_small_float(dtype) ? math_unpack(&m, dtype, value) : value;
}

V values_from_register_form(Lowering *l, DType dtype, V value, uint32_t lanes) {
    MathContext m = values_math(l, lanes);
    return is_small_float(dtype) ? math_pack(&m, dtype, value) : value;
}

V values_to_storage(Lowering *l, DType dtype, V value) {
    return dtype == DT_bool ? ll_cast(l, value, l->i8, false) : value;
}

V values_from_storage(Lowering *l, DType dtype, V value) {
    if (dtype != DT_bool) return value;
    return ll_compare(l, LLVMIntNE, value, LLVMConstNull(LLVMTypeOf(value)));
}

static V scalar_number(Lowering *l, DType dtype, double number, int64_t integer) {
    LLVMTypeRef type = values_type(l, dtype, 1);
    if (!dtype_is_float(dtype)) return LLVMConstInt(type, (uint64_t)integer, 1);
    if (is_small_float(dtype)) return LLVMConstInt(type, number_to_bits(dtype, number), 0);
    return LLVMConstReal(type, number);
}

V values_number(Lowering *l, DType dtype, double number, int64_t integer, uint32_t lanes) {
    if (dtype == DT_bool) integer = integer != 0;
    return ll_splat(l, scalar_number(l, dtype, number, integer), l->model->width(lanes));
}

V values_binary(Lowering *l, Op op, DType dtype, V a, V b, uint32_t lanes) {
    MathContext m = values_math(l, lanes);
    V result = math_binary(&m, op, dtype, values_to_register_form(l, dtype, a, lanes),
                           values_to_register_form(l, dtype, b, lanes));
    return values_from_register_form(l, dtype, result, lanes);
}

static int64_t extreme_int(DType dtype, bool greatest) {
    uint32_t bits = dtype_info(dtype)->bits;
    if (dtype == DT_bool) return greatest;
    if (!dtype_is_signed(dtype)) return greatest ? (int64_t)(UINT64_MAX >> (64 - bits)) : 0;
    int64_t most = (int64_t)(UINT64_MAX >> (65 - bits));
    return greatest ? most : -most - 1;
}

V values_unit(Lowering *l, Op op, DType dtype, uint32_t lanes) {
    switch (op) {
    case OP_mul: return values_number(l, dtype, 1, 1, lanes);
    case OP_max: return values_number(l, dtype, -INFINITY, extreme_int(dtype, false), lanes);
    case OP_min: return values_number(l, dtype, INFINITY, extreme_int(dtype, true), lanes);
    case OP_and:
        return values_number(l, dtype, 0, dtype_is_signed(dtype) ? -1 : extreme_int(dtype, true),
                             lanes);
    default: return values_number(l, dtype, 0, 0, lanes);
    }
}

Registers values_new(Lowering *l, const TileType *type) {
    uint32_t count = tile_register_count(type);
    return (Registers){.items = NEW_ARRAY(l->arena, V, count),
                       .splats = NEW_ARRAY(l->arena, V, count)};
}

const Registers *values_of(const Lowering *l, TileId id) {
    require(id < l->program->values.count && l->values[id].items);
    return &l->values[id];
}

void values_set_splat(Lowering *l, TileId id, uint32_t index, V scalar) {
    uint32_t lanes = values_lanes(tile_value_type(l->program, id));
    l->values[id].splats[index] = scalar;
    l->values[id].items[index] = ll_splat(l, scalar, l->model->width(lanes));
}
