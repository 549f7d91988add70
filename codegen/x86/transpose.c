/* Transposing in registers, by squares of one machine register's width: log2(k) times, vector i and
 * vector i + k/2 are interleaved into vectors 2i and 2i + 1. */
#include "codegen/x86/x86.h"

enum { MOST_LANES = 64 };

static uint32_t lane_bytes(LLVMTypeRef lane) {
    switch (LLVMGetTypeKind(lane)) {
    case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(lane) / 8;
    case LLVMDoubleTypeKind: return 8;
    default: return 4;
    }
}

static V shuffle(Lowering *l, V a, V b, const uint32_t *lanes, uint32_t count) {
    V numbers[MOST_LANES];
    require(count <= MOST_LANES);
    for (uint32_t i = 0; i < count; i++) numbers[i] = ll_i32(l, lanes[i]);
    return LLVMBuildShuffleVector(l->builder, a, b, LLVMConstVector(numbers, count), "");
}

/* `count` lanes from `first` on. */
static V slice(Lowering *l, V value, uint32_t first, uint32_t count) {
    uint32_t lanes[MOST_LANES];
    for (uint32_t i = 0; i < count; i++) lanes[i] = first + i;
    return shuffle(l, value, LLVMGetPoison(LLVMTypeOf(value)), lanes, count);
}

static V concatenate(Lowering *l, V a, V b, uint32_t count) {
    uint32_t lanes[MOST_LANES];
    for (uint32_t i = 0; i < 2 * count; i++) lanes[i] = i;
    return shuffle(l, a, b, lanes, 2 * count);
}

/* The lower (part 0) or upper halves of two vectors of k lanes, interleaved. */
static V interleave(Lowering *l, V a, V b, uint32_t k, uint32_t part) {
    uint32_t lanes[MOST_LANES];
    for (uint32_t i = 0; i < k; i++) lanes[i] = part * k / 2 + i / 2 + i % 2 * k;
    return shuffle(l, a, b, lanes, k);
}

static void transpose_square(Lowering *l, V *vectors, uint32_t k) {
    V next[MOST_LANES];
    for (uint32_t step = 1; step < k; step *= 2) {
        for (uint32_t i = 0; i < k; i++)
            next[i] = interleave(l, vectors[i / 2], vectors[i / 2 + k / 2], k, i % 2);
        for (uint32_t i = 0; i < k; i++) vectors[i] = next[i];
    }
}

/* Joins pieces of k lanes, in order, to one register. */
static V join(Lowering *l, V *pieces, uint32_t count, uint32_t k) {
    for (; count > 1; count /= 2, k *= 2)
        for (uint32_t i = 0; i < count / 2; i++)
            pieces[i] = concatenate(l, pieces[2 * i], pieces[2 * i + 1], k);
    return pieces[0];
}

void x86_transpose(Lowering *l, const V *vectors, uint32_t lanes, uint32_t rows, V *out_registers) {
    uint32_t k = 32 / lane_bytes(LLVMGetElementType(LLVMTypeOf(vectors[0])));
    V square[MOST_LANES], pieces[MOST_LANES];
    if (k > lanes) k = lanes;
    if (k > rows) k = rows;
    V *blocks = NEW_ARRAY(l->arena, V, (size_t)rows * (lanes / k));
    for (uint32_t row = 0; row < rows; row += k)
        for (uint32_t lane = 0; lane < lanes; lane += k) {
            for (uint32_t i = 0; i < k; i++) square[i] = slice(l, vectors[lane + i], row, k);
            transpose_square(l, square, k);
            for (uint32_t i = 0; i < k; i++) blocks[(row + i) * (lanes / k) + lane / k] = square[i];
        }
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t i = 0; i < lanes / k; i++) pieces[i] = blocks[row * (lanes / k) + i];
        out_registers[row] = join(l, pieces, lanes / k, k);
    }
}
