/* Runs: instructions whose registers depend on single registers of their operands, emitted one
 * register at a time, all instructions for it before the next. That keeps few values alive at once,
 * where tile by tile every intermediate tile would fill the machine's registers.
 *
 * A run ends where the order of memory accesses would change what they mean: at a store to memory
 * that the run has accessed, and at a load of memory that the run has stored to.
 */
#include "codegen/lower/lowering.h"

static EmitRegister *const emitters[TILE_op_count] = {
    [TILE_load] = lower_load,   [TILE_store] = lower_store, [TILE_const] = lower_const,
    [TILE_index] = lower_index, [TILE_test] = lower_test,   [TILE_map] = lower_map,
    [TILE_move] = lower_move,   [TILE_check] = lower_check,
};

static uint32_t registers_of(const Lowering *l, const TileInstr *instr) {
    TileId id = instr->op == TILE_store ? instr->args[0] : instr->result;
    return tile_register_count(tile_value_type(l->program, id));
}

static bool is_access(const TileInstr *instr) {
    return instr->op == TILE_load || instr->op == TILE_store;
}

static bool conflicts(const Lowering *l, const TileInstr *a, const TileInstr *b) {
    if (!is_access(a) || !is_access(b)) return false;
    if (a->op == TILE_load && b->op == TILE_load) return false;
    return access_may_overlap(l, a->view, b->view);
}

/* A move takes its registers from anywhere in its operand, which must be there as a whole. */
static bool takes_whole_result(const TileInstr *instr, const TileInstr *earlier) {
    return instr->op == TILE_move && earlier->result_count > 0 && instr->args[0] == earlier->result;
}

static bool is_ordered_store(Lowering *l, const TileInstr *instr) {
    return instr->op == TILE_store && access_needs_order(l, instr);
}

static bool fits_run(Lowering *l, TileInstr *const *run, size_t count, const TileInstr *next) {
    if (!emitters[next->op] || registers_of(l, next) != registers_of(l, run[0])) return false;
    if (is_ordered_store(l, next) || access_is_transposed(l, next)) return false;
    for (size_t i = 0; i < count; i++)
        if (conflicts(l, run[i], next) || takes_whole_result(next, run[i])) return false;
    return true;
}

size_t runs_length(Lowering *l, TileInstr *const *instrs, size_t count) {
    if (!emitters[instrs[0]->op]) return 0;
    if (l->model->threads || is_ordered_store(l, instrs[0])) return 1;
    if (access_is_transposed(l, instrs[0])) return 1;
    size_t length = 1;
    while (length < count && fits_run(l, instrs, length, instrs[length])) length++;
    return length;
}

void runs_emit(Lowering *l, TileInstr *const *instrs, size_t count) {
    bool ordered = is_ordered_store(l, instrs[0]);
    uint32_t registers = registers_of(l, instrs[0]);
    for (size_t i = 0; i < count; i++)
        if (instrs[i]->result_count > 0)
            l->values[instrs[i]->result] =
                values_new(l, tile_value_type(l->program, instrs[i]->result));
    if (count == 1 && access_is_transposed(l, instrs[0])) {
        lower_transposed(l, instrs[0]);
        return;
    }
    if (ordered) l->model->order_lanes(l);
    for (uint32_t index = 0; index < registers; index++)
        for (size_t i = 0; i < count; i++) {
            lower_note_place(l, instrs[i]);
            emitters[instrs[i]->op](l, instrs[i], index);
        }
    if (ordered) l->model->order_lanes(l);
}
