/* Indices made safe: wrapped, checked, reported, clamped. Under a bound of 0 all are out of range,
 * and 0. */
#include "codegen/lower/lowering.h"

typedef struct Check {
    const TileInstr *instr;
    V bound; /* i64 */
} Check;

/* One register, or a scalar (lanes 1); `mask` by lane or NULL. */
static V check_lanes(Lowering *l, const Check *check, V index, V mask, uint32_t lanes) {
    uint32_t width = l->model->width(lanes);
    V bound = ll_splat(l, check->bound, width), zero = LLVMConstNull(LLVMTypeOf(index));
    V negative = ll_compare(l, LLVMIntSLT, index, zero);
    V wrapped = ll_select(l, negative, ll_add(l, index, bound), index);
    V bad = ll_compare(l, LLVMIntUGE, wrapped, bound);
    l->model->report(l, ll_and(l, bad, mask), index, check->bound, check->instr->integer, lanes);
    V most = ll_sub(l, bound, ll_const(LLVMTypeOf(index), 1));
    V safe = ll_max(l, ll_min(l, wrapped, most), zero);
    return mask ? ll_select(l, mask, safe, zero) : safe;
}

void lower_check(Lowering *l, const TileInstr *instr, uint32_t index) {
    const TileType *type = tile_value_type(l->program, instr->result);
    uint32_t lanes = values_lanes(type);
    const Registers *from = values_of(l, instr->args[0]);
    const Check check = {.instr = instr, .bound = dims_emit(l, instr->value)};
    Mask mask = guards_mask(l, instr, type, index);
    V splat = from->splats[index];
    if (splat && !mask.lanes && lanes > 1 && !l->model->threads) {
        V safe = check_lanes(l, &check, splat, mask.uniform, 1);
        values_set_splat(l, instr->result, index, safe);
        return;
    }
    V own = guards_lanes(l, &mask, lanes);
    l->values[instr->result].items[index] = check_lanes(l, &check, from->items[index], own, lanes);
}
