/* The verifier: what operands and results each op has. */
#include "codegen/tile/verify.h"

#include "codegen/tile/walk.h"

enum { MAX_LANES = 1024, MAX_REGISTERS = 1024 };

/* ---- types ----------------------------------------------------------------------------------- */

static bool verify_layout(Verify *v, const TileType *type) {
    int64_t last = 1;
    for (uint32_t i = 0; i < type->rank; i++) {
        if (!dim_is_const(type->extents[i], &last))
            return verify_fail(v, "extent %u of a placed tile is not a constant", i);
        if (last < 1) return verify_fail(v, "extent %u of a placed tile is not positive", i);
    }
    uint32_t lanes = type->lanes;
    if (lanes == 0 || lanes > MAX_LANES || (lanes & (lanes - 1)) != 0)
        return verify_fail(v, "%u lanes are no power of two up to %u", lanes, MAX_LANES);
    if (last % lanes != 0) return verify_fail(v, "%u lanes do not divide the last extent", lanes);
    if (tile_register_count(type) > MAX_REGISTERS)
        return verify_fail(v, "a tile takes %u registers, more than %u", tile_register_count(type),
                           MAX_REGISTERS);
    return true;
}

bool verify_type(Verify *v, const TileType *type) {
    if (type->rank > TILE_MAX_RANK) return verify_fail(v, "a tile of rank %u", type->rank);
    if ((uint32_t)type->dtype >= DT_count) return verify_fail(v, "a tile of no dtype");
    for (uint32_t i = 0; i < type->rank; i++) {
        if (!verify_dim(v, type->extents[i], NULL)) return false;
        if (type->extents[i]->hi < 0) return verify_fail(v, "extent %u is negative", i);
    }
    if (v->program->state == TILE_placed) return verify_layout(v, type);
    return type->lanes == 0 || verify_fail(v, "a free tile has a layout");
}

static const TileType *arg_type(const Verify *v, const TileInstr *instr, uint32_t i) {
    return tile_value_type(v->program, instr->args[i]);
}

static const TileType *result_type(const Verify *v, const TileInstr *instr) {
    return tile_value_type(v->program, instr->result);
}

static bool result_is(Verify *v, const TileInstr *instr, DType dtype, const TileType *shape) {
    const TileType *type = result_type(v, instr);
    if (type->dtype != dtype)
        return verify_fail(v, "the result is %s instead of %s", dtype_name(type->dtype),
                           dtype_name(dtype));
    return tile_same_shape(type, shape) || verify_fail(v, "the result has another shape or layout");
}

static bool arg_is(Verify *v, const TileInstr *instr, uint32_t i, DType dtype) {
    const TileType *type = arg_type(v, instr, i);
    return type->dtype == dtype || verify_fail(v, "operand %u is %s instead of %s", i,
                                               dtype_name(type->dtype), dtype_name(dtype));
}

/* ---- rules by op ----------------------------------------------------------------------------- */

static bool view_is(Verify *v, const TileInstr *instr, DType dtype) {
    if (instr->view >= v->program->views.count) return verify_fail(v, "there is no such view");
    const TileView *view = &v->program->views.data[instr->view];
    return view->dtype == dtype || verify_fail(v, "a tile of %s and a view of %s",
                                               dtype_name(dtype), dtype_name(view->dtype));
}

static bool check_load(Verify *v, const TileInstr *instr) {
    DType dtype = result_type(v, instr)->dtype;
    bool words = instr->view < v->program->views.count &&
                 tile_takes_words(dtype, v->program->views.data[instr->view].dtype);
    if (!words) return view_is(v, instr, dtype);
    const TileView *view = &v->program->views.data[instr->view];
    bool whole = view->rank > 0 && dim_proves_divisible(view->dims[view->rank - 1], 4);
    return whole || verify_fail(v, "rows of %%%.*s are not made of words", STR_ARG(view->name));
}

static bool check_store(Verify *v, const TileInstr *instr) {
    DType dtype = arg_type(v, instr, 0)->dtype;
    if (!view_is(v, instr, dtype)) return false;
    const TileView *view = &v->program->views.data[instr->view];
    if (view->space == SPACE_constant) return verify_fail(v, "to constant memory");
    if (view->space == SPACE_global && !view->written)
        return verify_fail(v, "to %%%.*s, which is not an output", STR_ARG(view->name));
    if (instr->scalar == OP_none) return true;
    if (instr->scalar >= OP_count || op_info(instr->scalar)->class != CLASS_BINARY ||
        !op_accepts(instr->scalar, dtype))
        return verify_fail(v, "cannot combine %s so", dtype_name(dtype));
    return true;
}

static bool check_prefetch(Verify *v, const TileInstr *instr) {
    if (instr->view >= v->program->views.count) return verify_fail(v, "there is no such view");
    if (instr->at) return verify_fail(v, "takes no elements of tiles as subscripts");
    return v->program->state == TILE_placed || verify_fail(v, "belongs in placed programs");
}

static bool check_index(Verify *v, const TileInstr *instr) {
    return result_is(v, instr, DT_i64, result_type(v, instr));
}

static bool check_test(Verify *v, const TileInstr *instr) {
    return result_is(v, instr, DT_bool, result_type(v, instr));
}

static bool check_map(Verify *v, const TileInstr *instr) {
    Op op = instr->scalar;
    if (op >= OP_count || !op_is_elementwise(op)) return verify_fail(v, "is not elementwise");
    const OpInfo *info = op_info(op);
    if (instr->arg_count != (uint32_t)info->operand_count)
        return verify_fail(v, "has %u operands instead of %d", instr->arg_count,
                           info->operand_count);
    uint32_t first = op == OP_select ? 1 : 0;
    const TileType *type = arg_type(v, instr, first);
    if (first && !arg_is(v, instr, 0, DT_bool)) return false;
    for (uint32_t i = 0; i < instr->arg_count; i++) {
        if (!tile_same_shape(arg_type(v, instr, i), type))
            return verify_fail(v, "operand %u has another shape or layout", i);
        if (i >= first && !arg_is(v, instr, i, type->dtype)) return false;
    }
    if (!op_accepts(op, type->dtype))
        return verify_fail(v, "does not take %s", dtype_name(type->dtype));
    if (op == OP_cast) return result_is(v, instr, result_type(v, instr)->dtype, type);
    return result_is(v, instr, info->class == CLASS_COMPARE ? DT_bool : type->dtype, type);
}

static bool check_move(Verify *v, const TileInstr *instr) {
    const TileType *from = arg_type(v, instr, 0), *to = result_type(v, instr);
    if (from->rank > to->rank) return verify_fail(v, "the result has fewer axes");
    if (from->dtype != to->dtype) return verify_fail(v, "the result has another dtype");
    for (uint32_t i = 0; i < from->rank; i++) {
        uint32_t axis = instr->axes[i];
        if (axis >= to->rank || (i > 0 && axis <= instr->axes[i - 1]))
            return verify_fail(v, "axes do not increase within the result");
        if (from->extents[i] != to->extents[axis])
            return verify_fail(v, "extent %u of the operand is not that of axis %u", i, axis);
    }
    if (v->program->state == TILE_free) return true;
    bool last = from->rank > 0 && instr->axes[from->rank - 1] == to->rank - 1;
    if (from->lanes != (last ? to->lanes : 1))
        return verify_fail(v, "the operand has %u lanes", from->lanes);
    return true;
}

static bool is_accumulable(Op op, DType dtype) {
    static const Op ops[] = {OP_add, OP_mul, OP_min, OP_max, OP_and, OP_or, OP_xor};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (ops[i] == op) return op_accepts(op, dtype);
    }
    return false;
}

static bool accumulates(Verify *v, const TileInstr *instr) {
    const TileType *type = arg_type(v, instr, 0);
    if (instr->axis >= type->rank) return verify_fail(v, "there is no axis %u", instr->axis);
    return is_accumulable(instr->scalar, type->dtype) ||
           verify_fail(v, "has no such op for %s", dtype_name(type->dtype));
}

static bool check_reduce(Verify *v, const TileInstr *instr) {
    if (!accumulates(v, instr)) return false;
    TileType type = *arg_type(v, instr, 0);
    bool is_real = type.dtype == DT_f32 || type.dtype == DT_f64;
    if (instr->ignores_nan && (instr->scalar != OP_max || !is_real))
        return verify_fail(v, "ignores NaN, but is no maximum of f32 or f64");
    if (instr->axis == type.rank - 1 && type.lanes > 1) type.lanes = 1;
    type.rank--;
    for (uint32_t i = instr->axis; i < type.rank; i++) type.extents[i] = type.extents[i + 1];
    return result_is(v, instr, type.dtype, &type);
}

static bool check_scan(Verify *v, const TileInstr *instr) {
    const TileType *type = arg_type(v, instr, 0);
    if (!accumulates(v, instr)) return false;
    if (v->program->state == TILE_placed && type->lanes != 1)
        return verify_fail(v, "the operand has %u lanes", type->lanes);
    return result_is(v, instr, type->dtype, type);
}

static bool check_dot(Verify *v, const TileInstr *instr) {
    const TileType *acc = arg_type(v, instr, 0), *a = arg_type(v, instr, 1);
    const TileType *b = arg_type(v, instr, 2);
    bool each = tile_same_shape(a, acc) && tile_same_shape(b, acc);
    if (each && !op_accepts(OP_mul, acc->dtype))
        return verify_fail(v, "does not take %s", dtype_name(acc->dtype));
    if (each)
        return arg_is(v, instr, 1, acc->dtype) && arg_is(v, instr, 2, acc->dtype) &&
               result_is(v, instr, acc->dtype, acc);
    if (acc->rank != 2 || a->rank != 1 || b->rank != 1)
        return verify_fail(v, "operands are of ranks %u, %u, %u instead of 2, 1, 1", acc->rank,
                           a->rank, b->rank);
    if (a->extents[0] != acc->extents[0] || b->extents[0] != acc->extents[1])
        return verify_fail(v, "extents of the operands do not agree");
    if (!arg_is(v, instr, 1, acc->dtype) || !arg_is(v, instr, 2, acc->dtype)) return false;
    if (!op_accepts(OP_mul, acc->dtype))
        return verify_fail(v, "does not take %s", dtype_name(acc->dtype));
    if (v->program->state == TILE_placed && (a->lanes != 1 || b->lanes != acc->lanes))
        return verify_fail(v, "lanes of the operands do not fit");
    return result_is(v, instr, acc->dtype, acc);
}

static bool check_dot4(Verify *v, const TileInstr *instr) {
    bool rows = arg_type(v, instr, 0)->rank == 2 && arg_type(v, instr, 1)->rank == 1;
    if (!rows) return verify_fail(v, "its operands are no rows of a tile");
    return arg_is(v, instr, 0, DT_i32) && check_dot(v, instr);
}

/* A matrix in scratch with constant dims. */
static const TileView *matrix_view(Verify *v, uint32_t view, int64_t *out_dims) {
    if (view >= v->program->views.count) {
        verify_fail(v, "there is no such view");
        return NULL;
    }
    const TileView *found = &v->program->views.data[view];
    if (found->space == SPACE_scratch && found->rank == 2 &&
        dim_is_const(found->dims[0], &out_dims[0]) && dim_is_const(found->dims[1], &out_dims[1]))
        return found;
    verify_fail(v, "%%%.*s is no matrix in scratch", STR_ARG(found->name));
    return NULL;
}

/* Whether a tile has the elements of a matrix of `elements`, dealt out to lanes. */
static bool is_dealt(Verify *v, const TileType *acc, int64_t elements) {
    int64_t registers = 0, lanes = 0;
    bool fits = v->program->state == TILE_placed && acc->rank == 2 && acc->lanes > 1 &&
                dim_is_const(acc->extents[0], &registers) &&
                dim_is_const(acc->extents[1], &lanes) && lanes == acc->lanes &&
                elements % lanes == 0 && elements / lanes == registers;
    return fits || verify_fail(v, "the tile does not have the sums of %lld elements dealt out",
                               (long long)elements);
}

static DType mma_sum(DType dtype) {
    if (dtype == DT_f16 || dtype == DT_bf16) return DT_f32;
    return dtype == DT_i8 || dtype == DT_u8 ? DT_i32 : DT_count;
}

static bool check_mma(Verify *v, const TileInstr *instr) {
    const TileType *acc = arg_type(v, instr, 0);
    int64_t a_dims[2], b_dims[2], k = 0;
    const TileView *a = matrix_view(v, instr->views[0], a_dims);
    const TileView *b = a ? matrix_view(v, instr->views[1], b_dims) : NULL;
    if (!b) return false;
    if (a->dtype != b->dtype || mma_sum(a->dtype) != acc->dtype)
        return verify_fail(v, "does not make sums of %s from %s and %s", dtype_name(acc->dtype),
                           dtype_name(a->dtype), dtype_name(b->dtype));
    if (!dim_is_const(instr->value, &k) || k < 0 || k > a_dims[1] || k > b_dims[1])
        return verify_fail(v, "its k is no constant within the matrices");
    return is_dealt(v, acc, a_dims[0] * b_dims[0]) && result_is(v, instr, acc->dtype, acc);
}

static bool check_mma_store(Verify *v, const TileInstr *instr) {
    const TileType *acc = arg_type(v, instr, 0);
    int64_t dims[2];
    const TileView *view = matrix_view(v, instr->views[0], dims);
    if (!view) return false;
    if (view->dtype != acc->dtype)
        return verify_fail(v, "%%%.*s is not of %s", STR_ARG(view->name), dtype_name(acc->dtype));
    return is_dealt(v, acc, dims[0] * dims[1]);
}

static bool check_sort(Verify *v, const TileInstr *instr) {
    for (uint32_t i = 0; i < 4; i++) {
        if (instr->views[i] >= v->program->views.count)
            return verify_fail(v, "there is no such view");
        const TileView *view = &v->program->views.data[instr->views[i]];
        if (view->space != SPACE_scratch || view->rank != 1)
            return verify_fail(v, "%%%.*s is not a row of scratch", STR_ARG(view->name));
        DType want = i % 2 ? DT_i64 : v->program->views.data[instr->views[0]].dtype;
        if (view->dtype != want)
            return verify_fail(v, "%%%.*s is not of %s", STR_ARG(view->name), dtype_name(want));
        for (uint32_t k = 0; k < i; k++) {
            if (instr->views[k] == instr->views[i] && k + 2 != i)
                return verify_fail(v, "its views are not distinct");
        }
    }
    return true;
}

static bool check_random(Verify *v, const TileInstr *instr) {
    const TileType *counter = arg_type(v, instr, 1);
    if (arg_type(v, instr, 0)->rank != 0) return verify_fail(v, "the key is not a scalar");
    if (!arg_is(v, instr, 0, DT_u64)) return false;
    if (counter->dtype != DT_u64 && !arg_is(v, instr, 1, DT_i64)) return false;
    return result_is(v, instr, DT_u32, counter);
}

static bool check_check(Verify *v, const TileInstr *instr) {
    if (!arg_is(v, instr, 0, DT_i64)) return false;
    return result_is(v, instr, DT_i64, arg_type(v, instr, 0));
}

typedef struct TypeRule {
    int args; /* -1: the rule looks itself */
    uint32_t results;
    bool (*check)(Verify *v, const TileInstr *instr); /* NULL: any types */
} TypeRule;

static const TypeRule rules[TILE_op_count] = {
    [TILE_load] = {0, 1, check_load},
    [TILE_store] = {1, 0, check_store},
    [TILE_prefetch] = {0, 0, check_prefetch},
    [TILE_const] = {0, 1, NULL},
    [TILE_index] = {0, 1, check_index},
    [TILE_test] = {0, 1, check_test},
    [TILE_map] = {-1, 1, check_map},
    [TILE_move] = {1, 1, check_move},
    [TILE_reduce] = {1, 1, check_reduce},
    [TILE_scan] = {1, 1, check_scan},
    [TILE_dot] = {3, 1, check_dot},
    [TILE_dot4] = {3, 1, check_dot4},
    [TILE_sort] = {0, 0, check_sort},
    [TILE_random] = {2, 1, check_random},
    [TILE_check] = {1, 1, check_check},
    [TILE_mma] = {1, 1, check_mma},
    [TILE_mma_store] = {1, 0, check_mma_store},
};

bool verify_types(Verify *v, const TileInstr *instr) {
    const TypeRule *rule = &rules[instr->op];
    if (rule->args >= 0 && instr->arg_count != (uint32_t)rule->args)
        return verify_fail(v, "has %u operands instead of %d", instr->arg_count, rule->args);
    if (instr->result_count != rule->results)
        return verify_fail(v, "has %u results instead of %u", instr->result_count, rule->results);
    return !rule->check || rule->check(v, instr);
}
