/* Sorting by all threads of a point: a bitonic network (Batcher, Sorting networks and their
 * applications, AFIPS 1968) in the form whose comparators all put the smaller one first, so that
 * rows of any length are sorted as if they were filled up with greatest keys, which stay where they
 * are. Keys that are equal are told apart by their indices, which makes the order the stable one.
 *
 *     for size = 2, 4, … while size / 2 < count:
 *         each i with its mirror image in the run of `size` that it is in
 *         for distance = size/4, size/8, … 1: each i with i + distance
 */
#include "codegen/nvptx/nvptx.h"

typedef struct Network {
    DType dtype;
    bool descending;
    V keys, indices; /* addresses */
    V count;         /* i64 */
    V lane;          /* i64 */
} Network;

/* ---- loops ----------------------------------------------------------------------------------- */

typedef struct Turn {
    LLVMBasicBlockRef before, body, done;
    V at;
    size_t mark;
} Turn;

/* while (at < limit), or with limit NULL while (at > 0) */
static V goes_on(Lowering *l, V at, V limit) {
    return limit ? ll_compare(l, LLVMIntULT, at, limit)
                 : ll_compare(l, LLVMIntNE, at, ll_i64(l, 0));
}

static Turn begin_loop(Lowering *l, V from, V limit) {
    Turn turn = {.before = ll_here(l), .body = ll_block(l, "sort"), .done = ll_block(l, "sorted")};
    ll_branch(l, goes_on(l, from, limit), turn.body, turn.done);
    ll_enter(l, turn.body);
    turn.at = ll_phi(l, l->i64);
    ll_incoming(turn.at, from, turn.before);
    turn.mark = memo_open(&l->memo);
    return turn;
}

static void end_loop(Lowering *l, const Turn *turn, V next, V limit) {
    memo_close(&l->memo, turn->mark);
    ll_incoming(turn->at, next, ll_here(l));
    ll_branch(l, goes_on(l, next, limit), turn->body, turn->done);
    ll_enter(l, turn->done);
}

static V half(Lowering *l, V value) { return LLVMBuildLShr(l->builder, value, ll_i64(l, 1), ""); }

/* ---- a comparator ---------------------------------------------------------------------------- */

typedef struct Element {
    V key, index, index_address, at;
} Element;

static Element load_element(Lowering *l, const Network *n, V at) {
    Element e = {.at = at, .index_address = ll_gep(l, l->i64, n->indices, at)};
    e.key = sort_load_key(l, n->dtype, n->keys, at);
    e.index = LLVMBuildLoad2(l->builder, l->i64, e.index_address, "");
    return e;
}

static void store_element(Lowering *l, const Network *n, const Element *place,
                          const Element *value) {
    sort_store_key(l, n->dtype, n->keys, place->at, value->key);
    LLVMBuildStore(l->builder, value->index, place->index_address);
}

/* Whether b must stand before a. */
static V is_wrong(Lowering *l, const Network *n, const Element *a, const Element *b) {
    const Element *small = n->descending ? a : b, *large = n->descending ? b : a;
    V less = sort_is_less(l, n->dtype, small->key, large->key);
    V more = sort_is_less(l, n->dtype, large->key, small->key);
    V earlier = ll_compare(l, LLVMIntSLT, b->index, a->index);
    V tie = ll_and(l, LLVMBuildNot(l->builder, more, ""), earlier);
    return LLVMBuildOr(l->builder, less, tie, "");
}

static void compare(Lowering *l, const Network *n, V first, V second) {
    Element a = load_element(l, n, first), b = load_element(l, n, second);
    LLVMBasicBlockRef swap = ll_block(l, "swap"), behind = ll_block(l, "kept");
    ll_branch(l, is_wrong(l, n, &a, &b), swap, behind);
    ll_enter(l, swap);
    store_element(l, n, &a, &b);
    store_element(l, n, &b, &a);
    ll_jump(l, behind);
    ll_enter(l, behind);
}

/* ---- the network ----------------------------------------------------------------------------- */

/* Each element with the one whose number differs in the bits of `change`, all at the same time. */
static void run_stage(Lowering *l, const Network *n, V change) {
    Turn turn = begin_loop(l, n->lane, n->count);
    LLVMBasicBlockRef pair = ll_block(l, "pair"), behind = ll_block(l, "alone");
    V other = LLVMBuildXor(l->builder, turn.at, change, "");
    V inside = ll_compare(l, LLVMIntULT, other, n->count);
    ll_branch(l, ll_and(l, ll_compare(l, LLVMIntULT, turn.at, other), inside), pair, behind);
    ll_enter(l, pair);
    compare(l, n, turn.at, other);
    ll_jump(l, behind);
    ll_enter(l, behind);
    end_loop(l, &turn, ll_add(l, turn.at, ll_i64(l, l->threads)), n->count);
    nvptx_order_lanes(l);
}

void nvptx_sort(Lowering *l, const TileInstr *instr) {
    Network n = {.dtype = l->program->views.data[instr->views[0]].dtype,
                 .descending = instr->descending,
                 .keys = l->views[instr->views[0]],
                 .indices = l->views[instr->views[1]],
                 .count = dims_emit(l, instr->value),
                 .lane = ll_cast(l, l->lane, l->i64, false)};
    V limit = ll_add(l, n.count, n.count);
    nvptx_order_lanes(l);
    Turn sizes = begin_loop(l, ll_i64(l, 2), limit);
    run_stage(l, &n, ll_sub(l, sizes.at, ll_i64(l, 1)));
    Turn distances = begin_loop(l, half(l, half(l, sizes.at)), NULL);
    run_stage(l, &n, distances.at);
    end_loop(l, &distances, half(l, distances.at), NULL);
    end_loop(l, &sizes, ll_add(l, sizes.at, sizes.at), limit);
}
