/* Constants, indices, tests, elementwise ops and broadcasts. */
#include "codegen/lower/lowering.h"

void lower_const(Lowering *l, const TileInstr *instr, uint32_t index) {
    DType dtype = tile_value_type(l->program, instr->result)->dtype;
    V scalar = values_number(l, dtype, instr->number, instr->integer, 1);
    values_set_splat(l, instr->result, index, scalar);
}

/* In 32 bits where that is enough: the comparisons and conversions behind are then as narrow. */
void lower_index(Lowering *l, const TileInstr *instr, uint32_t index) {
    const TileType *type = tile_value_type(l->program, instr->result);
    uint32_t lanes = values_lanes(type);
    const Dim *value = dims_of_register(l, type, index, instr->value);
    if (lanes == 1 || !dim_mentions(value, dims_lane_symbol(l, lanes))) {
        values_set_splat(l, instr->result, index, dims_emit(l, value));
        return;
    }
    V number = dims_emit_lanes(l, value, lanes, dims_fits_narrow(value));
    l->values[instr->result].items[index] = ll_cast(l, number, l->i64, true);
}

void lower_test(Lowering *l, const TileInstr *instr, uint32_t index) {
    const TileType *type = tile_value_type(l->program, instr->result);
    uint32_t lanes = values_lanes(type);
    Mask mask = guards_mask(l, instr, type, index);
    V holds = guards_lanes(l, &mask, lanes);
    if (!holds) holds = ll_const(values_type(l, DT_bool, lanes), 1);
    l->values[instr->result].items[index] = holds;
}

/* ---- map ------------------------------------------------------------------------------------- */

typedef struct MapOp {
    Op op;
    OpClass class;
    DType from, to;
    uint32_t lanes;
    bool nonpositive;
} MapOp;

static bool is_small_float(DType dtype) {
    return dtype_is_float(dtype) && dtype_compute(dtype) != dtype;
}

/* Packing rounds, so that a float goes to a narrow one in one step. */
static V map_cast(Lowering *l, const MapOp *map, V value) {
    MathContext m = values_math(l, map->lanes);
    V number = values_to_register_form(l, map->from, value, map->lanes);
    bool from_f32 = map->from == DT_f32 || is_small_float(map->from);
    if (!(from_f32 && is_small_float(map->to)))
        number = math_convert(&m, map->from, map->to, number);
    return values_from_register_form(l, map->to, number, map->lanes);
}

static V map_compare(Lowering *l, const MapOp *map, const V *args) {
    MathContext m = values_math(l, map->lanes);
    return math_compare(&m, map->op, map->from,
                        values_to_register_form(l, map->from, args[0], map->lanes),
                        values_to_register_form(l, map->from, args[1], map->lanes));
}

static V map_unary(Lowering *l, const MapOp *map, V value) {
    MathContext m = values_math(l, map->lanes);
    V number = values_to_register_form(l, map->from, value, map->lanes);
    V result = map->nonpositive ? math_exp_nonpositive(&m, map->from, number)
                                : math_unary(&m, map->op, map->from, number);
    return values_from_register_form(l, map->to, result, map->lanes);
}

static V map_register(Lowering *l, const MapOp *map, const V *args) {
    MathContext m = values_math(l, map->lanes);
    switch (map->class) {
    case CLASS_UNARY: return map_unary(l, map, args[0]);
    case CLASS_BINARY: return values_binary(l, map->op, map->from, args[0], args[1], map->lanes);
    case CLASS_COMPARE: return map_compare(l, map, args);
    case CLASS_SELECT: return math_select(&m, args[0], args[1], args[2]);
    case CLASS_CAST: return map_cast(l, map, args[0]);
    default: bug("op %s is not elementwise", op_info(map->op)->name);
    }
}

enum { MAP_MAX_ARGS = 3 };

void lower_map(Lowering *l, const TileInstr *instr, uint32_t index) {
    const TileType *type = tile_value_type(l->program, instr->result);
    MapOp map = {.op = instr->scalar, .class = op_info(instr->scalar)->class, .to = type->dtype};
    map.from = tile_value_type(l->program, instr->args[0])->dtype;
    map.lanes = values_lanes(type);
    map.nonpositive = instr->nonpositive;
    V args[MAP_MAX_ARGS] = {0};
    require(instr->arg_count <= MAP_MAX_ARGS);
    for (uint32_t i = 0; i < instr->arg_count; i++)
        args[i] = values_of(l, instr->args[i])->items[index];
    l->values[instr->result].items[index] = map_register(l, &map, args);
}

void lower_mma(Lowering *l, const TileInstr *instr) {
    require(l->model->mma);
    l->model->mma(l, instr);
}

/* ---- move ------------------------------------------------------------------------------------ */

static int64_t extent_of(const TileType *type, uint32_t axis) {
    int64_t extent = 0;
    require(dim_is_const(type->extents[axis], &extent));
    return extent;
}

/* The coordinates, in elements, of lane 0 of register `index` of `type`. */
static void coordinates(const TileType *type, uint32_t index, int64_t *out_at) {
    for (uint32_t axis = type->rank; axis-- > 0;) {
        int64_t unit = axis + 1 == type->rank ? values_lanes(type) : 1;
        int64_t count = extent_of(type, axis) / unit;
        out_at[axis] = index % count * unit;
        index = (uint32_t)(index / count);
    }
}

/* Along the lanes the operand's registers are the result's; across them it has lanes 1. */
void lower_move(Lowering *l, const TileInstr *instr, uint32_t index) {
    const TileType *from = tile_value_type(l->program, instr->args[0]);
    const TileType *to = tile_value_type(l->program, instr->result);
    uint32_t lanes = values_lanes(from);
    int64_t at[TILE_MAX_RANK] = {0}, element = 0;
    coordinates(to, index, at);
    for (uint32_t i = 0; i < from->rank; i++)
        element = element * extent_of(from, i) + at[instr->axes[i]];
    V source = values_of(l, instr->args[0])->items[element / lanes];
    bool along = from->rank > 0 && instr->axes[from->rank - 1] + 1 == to->rank;
    require(lanes == (along ? values_lanes(to) : 1));
    if (along)
        l->values[instr->result].items[index] = source;
    else
        values_set_splat(l, instr->result, index, source);
}
