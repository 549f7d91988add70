#include "tests/fuzz/hosts/hosts.h"

#include <string.h>

enum { MAX_DEPTH = 3, MAX_CARRIED = 3 };

uint32_t pick(Host *h, uint32_t below) {
    h->state = h->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((h->state >> 33) % below);
}

static tcc_value number(Host *h, int64_t value) { return tcc_graph_int(h->graph, value); }

static tcc_value any(Host *h) {
    return h->count ? h->pool[h->count - 1 - pick(h, h->count < 6 ? h->count : 6)] : TCC_NO_VALUE;
}

static tcc_value_info info_of(Host *h, tcc_value v) {
    tcc_value_info info = {.size = sizeof info, .dtype = -1};
    if (v == TCC_NO_VALUE || tcc_graph_info(h->graph, v, &info) != TCC_OK) info.dtype = -1;
    return info;
}

// Tensors that are not too large; everything else is forgotten.
static void keep(Host *h, tcc_value v) {
    tcc_value_info info = info_of(h, v);
    int64_t elements = 1;
    if (info.dtype < 0) return;
    for (uint32_t i = 0; i < info.rank && elements <= 4096; i++)
        elements *= info.dims[i] < 0 ? 9 : info.dims[i];
    if (elements <= 4096 && h->count < MAX_POOL) h->pool[h->count++] = v;
}

// Some value of the pool that has the type of `v`, which may be itself.
static tcc_value like(Host *h, tcc_value v) {
    const char *text = info_of(h, v).text;
    uint32_t from = pick(h, h->count);
    for (uint32_t i = 0; i < h->count && text; i++) {
        tcc_value other = h->pool[(from + i) % h->count];
        const char *its = info_of(h, other).text;
        if (its && strcmp(its, text) == 0) return other;
    }
    return v;
}

// ---- calls that make one value

static void make_binary(Host *h) {
    static const char *const ops[] = {"+", "-", "*", "/", "//", "%", "<", "==", "and", "@", "**"};
    tcc_value x = any(h), y = pick(h, 3) ? like(h, x) : any(h);
    if (pick(h, 4) == 0) y = number(h, (int64_t)pick(h, 5) - 2);
    keep(h, tcc_graph_binary(h->graph, ops[pick(h, pick(h, 3) ? 3 : 11)], x, y));
}

static void make_unary(Host *h) {
    static const char *const names[] = {
        "relu", "exp",     "tanh",    "abs", "sqrt", "sigmoid", "sign", "floor",
        "silu", "softmax", "reverse", "f32", "f16",  "i32",     "bool", "none of these"};
    tcc_value args[] = {any(h), number(h, 0)};
    const char *name = names[pick(h, 16)];
    bool has_axis = strcmp(name, "softmax") == 0 || strcmp(name, "reverse") == 0;
    if (pick(h, 8) == 0)
        keep(h, tcc_graph_unary(h->graph, pick(h, 2) ? "-" : "not", args[0]));
    else
        keep(h, tcc_graph_apply(h->graph, name, args, has_axis ? 2 : 1));
}

static void make_reduction(Host *h) {
    static const char *const names[] = {"sum", "max", "min", "mean", "prod", "argmax", "cum_sum"};
    tcc_value args[] = {any(h), number(h, (int64_t)pick(h, 3) - 1)};
    keep(h, tcc_graph_apply(h->graph, names[pick(h, 7)], args, 2));
}

static void make_movement(Host *h) {
    tcc_value x = any(h), none = tcc_graph_none(h->graph), pair[] = {x, like(h, x)};
    tcc_value end = pick(h, 2) ? none : number(h, 1 + pick(h, 3));
    tcc_value cut = tcc_graph_slice(h->graph, number(h, pick(h, 2)), end, none);
    switch (pick(h, 5)) {
    case 0: keep(h, tcc_graph_member(h->graph, x, "T")); break;
    case 1: keep(h, tcc_graph_index(h->graph, x, &cut, 1)); break;
    case 2:
        cut = number(h, pick(h, 2));
        keep(h, tcc_graph_index(h->graph, x, &cut, 1));
        break;
    case 3: keep(h, tcc_graph_index(h->graph, x, &none, 1)); break;
    default: {
        tcc_value args[] = {tcc_graph_list(h->graph, pair, 2), number(h, 0)};
        keep(h, tcc_graph_apply(h->graph, "concat", args, 2));
    }
    }
}

static void make_constant(Host *h) {
    float numbers[6];
    for (int i = 0; i < 6; i++) numbers[i] = (float)((int)pick(h, 9) - 4);
    tcc_tensor t = {.size = sizeof t, .dtype = TCC_F32, .rank = 1, .data = numbers};
    t.dims[0] = 1 + pick(h, 6);
    keep(h, tcc_graph_constant(h->graph, &t));
}

// ---- blocks

static void make_calls(Host *h, uint32_t calls);

// What was made since is gone with the block.
static void leave(Host *h, uint32_t count) {
    h->count = count;
    h->depth--;
}

static bool end_block(Host *h, const tcc_value *results, uint32_t result_count, uint32_t count) {
    tcc_value v = tcc_graph_end(h->graph, results, result_count);
    leave(h, count);
    if (tcc_graph_depth(h->graph) > h->depth) tcc_graph_abandon(h->graph);
    tcc_value_info info = info_of(h, v);
    for (uint32_t i = 0; v != TCC_NO_VALUE && i < result_count; i++)
        keep(h, info.dtype >= 0 ? v : tcc_graph_item(h->graph, v, i));
    return v != TCC_NO_VALUE;
}

static tcc_value truth(Host *h) {
    tcc_value all[] = {any(h), any(h)};
    tcc_value sums[] = {tcc_graph_apply(h->graph, "sum", all, 1),
                        tcc_graph_apply(h->graph, "sum", all + 1, 1)};
    return tcc_graph_binary(h->graph, "<", sums[0], pick(h, 2) ? sums[1] : number(h, 0));
}

static void make_cond(Host *h) {
    tcc_value c = truth(h), x = any(h), yes[2], no[2];
    uint32_t count = h->count, results = 1 + pick(h, 2);
    if (tcc_graph_begin_cond(h->graph, c) != TCC_OK) return;
    h->depth++;
    make_calls(h, pick(h, 4));
    for (uint32_t i = 0; i < 2; i++) yes[i] = pick(h, 6) ? like(h, x) : any(h);
    if (tcc_graph_else(h->graph, yes, results) != TCC_OK) {
        tcc_graph_abandon(h->graph);
        leave(h, count);
        return;
    }
    h->count = count;
    make_calls(h, pick(h, 4));
    for (uint32_t i = 0; i < 2; i++) no[i] = pick(h, 6) ? like(h, x) : any(h);
    end_block(h, no, results, count);
}

static void make_loop(Host *h) {
    tcc_value carried[2] = {any(h), number(h, 0)}, inside[2];
    uint32_t count = h->count;
    int64_t limit = pick(h, 8) ? 1 + pick(h, 5) : 200;
    if (tcc_graph_begin_loop(h->graph, carried, 2, limit, inside) != TCC_OK) return;
    h->depth++;
    tcc_value steps = number(h, (int64_t)pick(h, limit > 100 ? 150 : (uint32_t)limit));
    tcc_value more = tcc_graph_binary(h->graph, "<", inside[1], steps);
    if (tcc_graph_do(h->graph, more, inside) != TCC_OK) {
        tcc_graph_abandon(h->graph);
        leave(h, count);
        return;
    }
    keep(h, inside[0]);
    if (limit < 100) make_calls(h, pick(h, 4));
    tcc_value next[] = {like(h, inside[0]),
                        tcc_graph_binary(h->graph, "+", inside[1], number(h, 1))};
    end_block(h, next, 2, count);
}

static void make_scan(Host *h) {
    tcc_value sequence = any(h), carried[1] = {any(h)}, state[1], slice[1];
    uint32_t count = h->count, states = pick(h, 2);
    if (tcc_graph_begin_scan(h->graph, carried, states, &sequence, 1, (int)pick(h, 2), state,
                             slice) != TCC_OK)
        return;
    h->depth++;
    keep(h, slice[0]);
    if (states) keep(h, state[0]);
    make_calls(h, pick(h, 4));
    tcc_value results[] = {states ? like(h, state[0]) : any(h), any(h)};
    end_block(h, results, states + pick(h, 2), count);
}

static void make_block(Host *h) {
    if (h->depth == MAX_DEPTH) return;
    switch (pick(h, 3)) {
    case 0: make_cond(h); break;
    case 1: make_loop(h); break;
    default: make_scan(h);
    }
}

static void make_calls(Host *h, uint32_t calls) {
    for (uint32_t i = 0; i < calls; i++) {
        TCC_GRAPH_HERE(h->graph);
        if (pick(h, 5) == 0) tcc_graph_label(h->graph, "a label");
        switch (pick(h, 12)) {
        case 0:
        case 1:
        case 2: make_unary(h); break;
        case 3:
        case 4:
        case 5: make_binary(h); break;
        case 6: make_reduction(h); break;
        case 7:
        case 8: make_movement(h); break;
        case 9: make_constant(h); break;
        default: make_block(h);
        }
    }
}

// ---- the whole

static void make_input(Host *h, const char *name, bool has_n) {
    static const tcc_dtype dtypes[] = {TCC_F32, TCC_F32, TCC_F16, TCC_I32, TCC_BOOL};
    static const int64_t sizes[] = {1, 2, 3, 5, 0, 8};
    tcc_value dims[3];
    for (int i = 0; i < 3; i++) dims[i] = number(h, sizes[pick(h, 6)]);
    if (has_n) dims[0] = h->n;
    keep(h, tcc_graph_input(h->graph, name, has_n ? TCC_F32 : dtypes[pick(h, 5)], dims,
                            has_n ? 1 + pick(h, 2) : pick(h, 4)));
}

void build(Host *h) {
    static const char *const names[] = {"a", "b", "c"}, *const outs[] = {"y", "z", "w"};
    h->n = tcc_graph_dim(h->graph, "N", pick(h, 2), 9, 4);
    make_input(h, "n", true);
    for (uint32_t i = pick(h, 4); i-- > 0;) make_input(h, names[i], false);
    make_calls(h, 2 + pick(h, 14));
    for (uint32_t i = 0; i < 3 && h->count > 0; i++)
        h->outputs += tcc_graph_output(h->graph, outs[i], any(h)) == TCC_OK;
}
