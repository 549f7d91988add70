/* Registers as LLVM vectors. */
#include "codegen/x86/x86.h"

static uint32_t width(uint32_t lanes) { return lanes > 1 ? lanes : 0; }

static V lane_index(Lowering *l, uint32_t lanes) {
    V numbers[128];
    require(lanes <= sizeof numbers / sizeof *numbers);
    for (uint32_t i = 0; i < lanes; i++) numbers[i] = ll_i32(l, i);
    return lanes > 1 ? LLVMConstVector(numbers, lanes) : numbers[0];
}

static V extract(Lowering *l, V value, uint32_t lanes, uint32_t lane) {
    return lanes > 1 ? ll_extract(l, value, lane) : value;
}

static V slice(Lowering *l, V value, uint32_t start, uint32_t count) {
    V numbers[64];
    require(count <= sizeof numbers / sizeof *numbers);
    if (count == 1) return ll_extract(l, value, start);
    for (uint32_t i = 0; i < count; i++) numbers[i] = ll_i32(l, start + i);
    V poison = LLVMGetPoison(LLVMTypeOf(value));
    return LLVMBuildShuffleVector(l->builder, value, poison, LLVMConstVector(numbers, count), "");
}

static void halves(Lowering *l, V value, uint32_t count, V *out_low, V *out_high) {
    *out_low = slice(l, value, 0, count / 2);
    *out_high = slice(l, value, count / 2, count / 2);
}

static void order_lanes(Lowering *l) { (void)l; }

static void one_lane(Lowering *l, void (*emit)(Lowering *, void *), void *user) { emit(l, user); }

const LaneModel lane_model_x86 = {
    .width = width,
    .lane_index = lane_index,
    .extract = extract,
    .halves = halves,
    .load = x86_load,
    .store = x86_store,
    .each_lane = x86_each_lane,
    .stream = x86_stream,
    .prefetch = x86_prefetch,
    .prefetch_line = x86_prefetch_line,
    .transpose = x86_transpose,
    .order_lanes = order_lanes,
    .report = x86_report,
    .one_lane = one_lane,
    .kernel = x86_kernel,
    .versions = true,
};
