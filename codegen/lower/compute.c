/* Constants, indices, tests, elementwise ops and broadcasts. */
#include "codegen/lower/lowering.h"

/* A value whose register `index` may become known as a splat. */
static void set_splat(Lowering *l, Registers *registers, const TileType *type, uint32_t index,
                      V scalar) {
    if (!registers->splats) registers->splats = NEW_ARRAY(l->arena, V, tile_register_count(type));
    registers->splats[index] = scalar;
    registers->items[index] = ll_splat(l, scalar, l->model->width(values_lanes(type)));
}

void lower_const(Lowering *l, const TileInstr *instr) {
    const TileType *type = tile_value_type(l->program, instr->result);
    Registers registers = values_new(l, type);
    V scalar = values_number(l, type->dtype, instr->number, instr->integer, 1);
    for (uint32_t i = 0; i < tile_register_count(type); i++)
        set_splat(l, &registers, type, i, scalar);
    l->values[instr->result] = registers;
}

/* In 32 bits where that is enough: the comparisons and conversions behind are then as narrow. */
void lower_index(Lowering *l, const TileInstr *instr) {
    const TileType *type = tile_value_type(l->program, instr->result);
    Registers registers = values_new(l, type);
    uint32_t lanes = values_lanes(type);
    for (uint32_t i = 0; i < tile_register_count(type); i++) {
        const Dim *value = dims_of_register(l, type, i, instr->value);
        if (lanes == 1 || !dim_mentions(value, dims_lane_symbol(l, lanes))) {
            set_splat(l, &registers, type, i, dims_emit(l, value));
            continue;
        }
        V number = dims_emit_lanes(l, value, lanes, dims_fits_narrow(value));
        registers.items[i] = ll_cast(l, number, l->i64, true);
    }
    l->values[instr->result] = registers;
}

void lower_test(Lowering *l, const TileInstr *instr) {
    const TileType *type = tile_value_type(l->program, instr->result);
    Registers registers = values_new(l, type);
    uint32_t lanes = values_lanes(type);
    for (uint32_t i = 0; i < tile_register_count(type); i++) {
        Mask mask = guards_mask(l, instr, type, i);
        V holds = guards_lanes(l, &mask, lanes);
        registers.items[i] = holds ? holds : ll_const(values_type(l, DT_bool, lanes), 1);
    }
    l->values[instr->result] = registers;
}

/* ---- map ---- */

typedef struct MapOp {
    Op op;
    OpClass class;
    DType from, to;
    uint32_t lanes;
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
    return values_from_register_form(l, map->to, math_unary(&m, map->op, map->from, number),
                                     map->lanes);
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

void lower_map(Lowering *l, const TileInstr *instr) {
    const TileType *type = tile_value_type(l->program, instr->result);
    MapOp map = {.op = instr->scalar, .class = op_info(instr->scalar)->class, .to = type->dtype};
    map.from = tile_value_type(l->program, instr->args[0])->dtype;
    map.lanes = values_lanes(type);
    require(instr->arg_count <= MAP_MAX_ARGS);
    Registers registers = values_new(l, type);
    for (uint32_t i = 0; i < tile_register_count(type); i++) {
        V args[MAP_MAX_ARGS] = {0};
        for (uint32_t j = 0; j < instr->arg_count; j++)
            args[j] = values_of(l, instr->args[j])->items[i];
        registers.items[i] = map_register(l, &map, args);
    }
    l->values[instr->result] = registers;
}

/* ---- move ---- */

typedef struct Move {
    const TileInstr *instr;
    const TileType *from, *to;
    const Registers *operand;
} Move;

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

/* The operand's element that lane 0 of a result's register takes, in row-major order. */
static uint32_t source_element(const Move *move, const int64_t *at) {
    int64_t element = 0;
    for (uint32_t i = 0; i < move->from->rank; i++)
        element = element * extent_of(move->from, i) + at[move->instr->axes[i]];
    return (uint32_t)element;
}

/* Along the lanes the operand's registers are the result's; across them it has lanes 1. */
static void move_register(Lowering *l, const Move *move, Registers *registers, uint32_t index) {
    int64_t at[TILE_MAX_RANK];
    coordinates(move->to, index, at);
    uint32_t rank = move->from->rank, lanes = values_lanes(move->from);
    V source = move->operand->items[source_element(move, at) / lanes];
    bool along = rank > 0 && move->instr->axes[rank - 1] + 1 == move->to->rank;
    require(lanes == (along ? values_lanes(move->to) : 1));
    if (along)
        registers->items[index] = source;
    else
        set_splat(l, registers, move->to, index, source);
}

void lower_move(Lowering *l, const TileInstr *instr) {
    const Move move = {.instr = instr,
                       .from = tile_value_type(l->program, instr->args[0]),
                       .to = tile_value_type(l->program, instr->result),
                       .operand = values_of(l, instr->args[0])};
    Registers registers = values_new(l, move.to);
    for (uint32_t i = 0; i < tile_register_count(move.to); i++)
        move_register(l, &move, &registers, i);
    l->values[instr->result] = registers;
}
