/* Registers across the threads of a point: a warp's, or those of a block. All threads run all code;
 * what they hold differs. A warp passes values on by shuffles, a block through shared memory. */
#include "codegen/nvptx/nvptx.h"

static uint32_t width(uint32_t lanes) {
    require(lanes <= 1 || lanes >= WARP_LANES);
    return 0;
}

static V lane_index(Lowering *l, uint32_t lanes) {
    require(lanes <= 1 || lanes == l->threads);
    return lanes > 1 ? l->lane : ll_i32(l, 0);
}

static bool is_block(const Lowering *l) { return l->threads > WARP_LANES; }

/* ---- shuffles: of 32-bit words --------------------------------------------------------------- */

typedef struct Shuffle {
    const char *name;
    V operand;
} Shuffle;

static V shuffle_word(Lowering *l, const Shuffle *shuffle, V word) {
    V args[4] = {ll_i32(l, -1), word, shuffle->operand, ll_i32(l, WARP_LANES - 1)};
    return ll_intrinsic(l, shuffle->name, NULL, 0, args, 4);
}

static V shuffle_int(Lowering *l, const Shuffle *shuffle, V value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    if (LLVMGetIntTypeWidth(type) <= 32)
        return ll_cast(l, shuffle_word(l, shuffle, ll_cast(l, value, l->i32, false)), type, false);
    V shift = ll_i64(l, 32);
    V low = shuffle_word(l, shuffle, ll_cast(l, value, l->i32, false));
    V upper = ll_cast(l, LLVMBuildLShr(l->builder, value, shift, ""), l->i32, false);
    V high = ll_cast(l, shuffle_word(l, shuffle, upper), l->i64, false);
    high = LLVMBuildShl(l->builder, high, shift, "");
    return LLVMBuildOr(l->builder, ll_cast(l, low, l->i64, false), high, "");
}

static V shuffle_value(Lowering *l, const Shuffle *shuffle, V value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    if (kind == LLVMIntegerTypeKind) return shuffle_int(l, shuffle, value);
    LLVMTypeRef bits = kind == LLVMDoubleTypeKind ? l->i64 : l->i32;
    V moved = shuffle_int(l, shuffle, LLVMBuildBitCast(l->builder, value, bits, ""));
    return LLVMBuildBitCast(l->builder, moved, type, "");
}

/* ---- through shared memory ------------------------------------------------------------------- */

/* What thread `from` holds; every thread of the block takes part. */
static V pass_on(Lowering *l, V value, V from) {
    LLVMTypeRef type = LLVMTypeOf(value);
    bool flag = type == l->i1;
    if (flag) value = ll_cast(l, value, l->i8, false);
    LLVMTypeRef held = LLVMTypeOf(value);
    LLVMBuildStore(l->builder, value, ll_gep(l, held, l->exchange, l->lane));
    nvptx_order_lanes(l);
    V taken = LLVMBuildLoad2(l->builder, held, ll_gep(l, held, l->exchange, from), "");
    nvptx_order_lanes(l);
    return flag ? ll_cast(l, taken, type, false) : taken;
}

V nvptx_exchange(Lowering *l, V value, uint32_t change) {
    if (change >= WARP_LANES)
        return pass_on(l, value, LLVMBuildXor(l->builder, l->lane, ll_i32(l, change), ""));
    const Shuffle shuffle = {"llvm.nvvm.shfl.sync.bfly.i32", ll_i32(l, change)};
    return shuffle_value(l, &shuffle, value);
}

static V extract(Lowering *l, V value, uint32_t lanes, uint32_t lane) {
    if (lanes <= 1) return value;
    if (is_block(l)) return pass_on(l, value, ll_i32(l, lane));
    const Shuffle shuffle = {"llvm.nvvm.shfl.sync.idx.i32", ll_i32(l, lane)};
    return shuffle_value(l, &shuffle, value);
}

/* In lane i of the lower half that of i + count/2; the lanes above hold the same sums in the end,
 * the ops that fold being commutative. */
static void halves(Lowering *l, V value, uint32_t count, V *out_low, V *out_high) {
    *out_low = value;
    *out_high = nvptx_exchange(l, value, count / 2);
}

void nvptx_order_lanes(Lowering *l) {
    V all = ll_i32(l, -1);
    if (is_block(l))
        ll_intrinsic(l, "llvm.nvvm.barrier0", NULL, 0, NULL, 0);
    else
        ll_intrinsic(l, "llvm.nvvm.bar.warp.sync", NULL, 0, &all, 1);
}

static void one_lane(Lowering *l, void (*emit)(Lowering *, void *), void *user) {
    LLVMBasicBlockRef first = ll_block(l, "first"), behind = ll_block(l, "all");
    nvptx_order_lanes(l);
    ll_branch(l, ll_compare(l, LLVMIntEQ, l->lane, ll_i32(l, 0)), first, behind);
    size_t mark = memo_open(&l->memo);
    ll_enter(l, first);
    emit(l, user);
    ll_jump(l, behind);
    memo_close(&l->memo, mark);
    ll_enter(l, behind);
    nvptx_order_lanes(l);
}

/* ---- transposing ----------------------------------------------------------------------------- */

/* Row `row` and column `column` of a warp's square. Rows are rotated by their number, so that
 * neither the elements of a row nor those of a column share a bank. */
static V square_place(Lowering *l, LLVMTypeRef type, V row, V column) {
    V side = ll_i32(l, WARP_LANES);
    V rotated = ll_and(l, ll_add(l, row, column), ll_i32(l, WARP_LANES - 1));
    V at = ll_cast(l, ll_add(l, ll_mul(l, row, side), rotated), l->i64, false);
    V first = ll_mul(l, l->in_block, ll_i64(l, WARP_LANES * WARP_LANES));
    return ll_gep(l, type, l->turning, ll_add(l, first, at));
}

static uint64_t widest_element(const TileProgram *program) {
    uint64_t most = 1;
    for (size_t i = 0; i < program->views.count; i++) {
        uint64_t bytes = dtype_info(program->views.data[i].dtype)->bits / 8;
        if (bytes > most) most = bytes;
    }
    return most;
}

static void transpose(Lowering *l, const V *vectors, uint32_t lanes, uint32_t rows,
                      V *out_registers) {
    require(lanes == WARP_LANES && rows == WARP_LANES);
    LLVMTypeRef type = LLVMTypeOf(vectors[0]);
    uint64_t squares = widest_element(l->program) * WARP_LANES * BLOCK_THREADS;
    if (!l->turning) l->turning = nvptx_shared_memory(l, "turning", squares);
    nvptx_order_lanes(l);
    for (uint32_t i = 0; i < lanes; i++)
        LLVMBuildStore(l->builder, vectors[i], square_place(l, type, ll_i32(l, i), l->lane));
    nvptx_order_lanes(l);
    for (uint32_t i = 0; i < rows; i++)
        out_registers[i] =
            LLVMBuildLoad2(l->builder, type, square_place(l, type, l->lane, ll_i32(l, i)), "");
}

const LaneModel lane_model_nvptx = {
    .width = width,
    .lane_index = lane_index,
    .extract = extract,
    .halves = halves,
    .load = nvptx_load,
    .store = nvptx_store,
    .each_lane = nvptx_each_lane,
    .transpose = transpose,
    .order_lanes = nvptx_order_lanes,
    .report = nvptx_report,
    .one_lane = one_lane,
    .kernel = nvptx_kernel,
    .note_place = nvptx_note_place,
    .mma = nvptx_mma,
    .sort = nvptx_sort,
    .threads = true,
};
