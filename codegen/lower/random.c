/* Philox4x32-10 (Salmon and others, Parallel random numbers: as easy as 1, 2, 3, SC 2011), lane by
 * lane: each lane computes its whole block and takes one of its four words. */
#include "codegen/lower/lowering.h"

enum { PHILOX_ROUNDS = 10 };

typedef struct Philox {
    LLVMTypeRef word, wide; /* lanes of i32 and i64 */
    V counter[4];
    V key[2];
} Philox;

static V word_const(const Philox *p, uint32_t value) { return ll_const(p->word, (int64_t)value); }

/* The product of a word and a constant as two words. */
static void multiply(Lowering *l, const Philox *p, V a, uint32_t factor, V *out_high, V *out_low) {
    V wide = ll_mul(l, ll_cast(l, a, l->i64, false), ll_const(p->wide, (int64_t)factor));
    V high = LLVMBuildLShr(l->builder, wide, ll_const(p->wide, 32), "");
    *out_high = ll_cast(l, high, l->i32, false);
    *out_low = ll_cast(l, wide, l->i32, false);
}

static V exclusive_or(Lowering *l, V a, V b) { return LLVMBuildXor(l->builder, a, b, ""); }

static void run_round(Lowering *l, Philox *p) {
    V high[2], low[2];
    multiply(l, p, p->counter[0], 0xD2511F53u, &high[0], &low[0]);
    multiply(l, p, p->counter[2], 0xCD9E8D57u, &high[1], &low[1]);
    p->counter[0] = exclusive_or(l, exclusive_or(l, high[1], p->counter[1]), p->key[0]);
    p->counter[2] = exclusive_or(l, exclusive_or(l, high[0], p->counter[3]), p->key[1]);
    p->counter[1] = low[1];
    p->counter[3] = low[0];
    p->key[0] = ll_add(l, p->key[0], word_const(p, 0x9E3779B9u));
    p->key[1] = ll_add(l, p->key[1], word_const(p, 0xBB67AE85u));
}

static V upper_word(Lowering *l, V wide) {
    V shift = ll_const(LLVMTypeOf(wide), 32);
    return ll_cast(l, LLVMBuildLShr(l->builder, wide, shift, ""), l->i32, false);
}

static V random_words(Lowering *l, V key, V counter, int64_t stream, uint32_t lanes) {
    uint32_t width = l->model->width(lanes);
    Philox p = {.word = ll_lanes(l->i32, width), .wide = ll_lanes(l->i64, width)};
    V block = LLVMBuildLShr(l->builder, counter, ll_const(p.wide, 2), "");
    p.counter[0] = ll_cast(l, block, l->i32, false);
    p.counter[1] = upper_word(l, block);
    p.counter[2] = word_const(&p, (uint32_t)stream);
    p.counter[3] = word_const(&p, (uint32_t)((uint64_t)stream >> 32));
    p.key[0] = ll_splat(l, ll_cast(l, key, l->i32, false), width);
    p.key[1] = ll_splat(l, upper_word(l, key), width);
    for (int i = 0; i < PHILOX_ROUNDS; i++) run_round(l, &p);
    V which = ll_and(l, ll_cast(l, counter, l->i32, false), word_const(&p, 3));
    V word = p.counter[0];
    for (uint32_t i = 1; i < 4; i++) {
        V is = ll_compare(l, LLVMIntEQ, which, word_const(&p, i));
        word = ll_select(l, is, p.counter[i], word);
    }
    return word;
}

void lower_random(Lowering *l, const TileInstr *instr) {
    const TileType *type = tile_value_type(l->program, instr->result);
    V key = values_of(l, instr->args[0])->items[0];
    const V *counters = values_of(l, instr->args[1])->items;
    Registers registers = values_new(l, type);
    for (uint32_t i = 0; i < tile_register_count(type); i++)
        registers.items[i] = random_words(l, key, counters[i], instr->integer, values_lanes(type));
    l->values[instr->result] = registers;
}
