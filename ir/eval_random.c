/* Random bits: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
 * 1, 2, 3" (SC 2011). Element i is word i mod 4 of the block with counter (i div 4, stream), low
 * words first, under the 64-bit key, low word first. */
#include "ir/eval_rules.h"

typedef struct Block {
    uint32_t words[4];
} Block;

static Block philox(Block counter, uint32_t key0, uint32_t key1) {
    uint32_t *c = counter.words;
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = UINT64_C(0xD2511F53) * c[0], p1 = UINT64_C(0xCD9E8D57) * c[2];
        Block next = {{(uint32_t)(p1 >> 32) ^ c[1] ^ key0, (uint32_t)p1,
                       (uint32_t)(p0 >> 32) ^ c[3] ^ key1, (uint32_t)p0}};
        counter = next;
        key0 += UINT32_C(0x9E3779B9);
        key1 += UINT32_C(0xBB67AE85);
    }
    return counter;
}

bool eval_random(Eval *ev, EvalValue *out) {
    uint64_t key = (uint64_t)tensor_get_int(&ev->args[0].tensor, 0);
    uint64_t stream = (uint64_t)ev->node->attrs[0].i;
    int64_t count = tensor_elements(&out->tensor);
    for (int64_t i = 0; i < count; i += 4) {
        uint64_t block = (uint64_t)i / 4;
        Block counter = {
            {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)stream, (uint32_t)(stream >> 32)}};
        Block words = philox(counter, (uint32_t)key, (uint32_t)(key >> 32));
        for (int64_t j = 0; j < 4 && i + j < count; j++) {
            tensor_set_int(&out->tensor, i + j, words.words[j]);
        }
    }
    if (eval_bound_at(&ev->args[0], 0) > 0) eval_all_uncertain(out);
    return true;
}
