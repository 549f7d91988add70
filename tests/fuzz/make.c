// Random graphs, a pair for each seed: inputs, then ops on what is there already.
#include "tests/fuzz/maker.h"

#include "base/guard.h"
#include "ir/build.h"
#include "ir/infer.h"

#include <stdio.h>

enum { MAX_SPREAD = 2000000, MAX_KNOWN = 64 };

uint32_t fuzz_pick(uint64_t *state, uint32_t below) {
    *state = hash_word(*state, 1);
    return (uint32_t)((*state >> 32) % below);
}

int64_t fuzz_size(const Dim *dim, const int64_t *symbols) {
    int64_t value = 0;
    return dim_evaluate(dim, symbols, &value) ? value : -1;
}

int64_t fuzz_elements(const Type *type, const int64_t *symbols) {
    int64_t count = 1;
    for (uint32_t i = 0; i < type->rank; i++) count *= fuzz_size(type->dims[i], symbols);
    return count;
}

uint32_t pick(Maker *m, uint32_t below) { return fuzz_pick(&m->state, below); }
const Type *type_of(const Maker *m, Value v) { return graph_type(m->graphs[0], v.ids[0]); }
int64_t size_of(const Maker *m, const Dim *dim) { return fuzz_size(dim, m->symbols); }
int64_t axis_size(const Maker *m, Value v, uint32_t axis) {
    return size_of(m, type_of(m, v)->dims[axis]);
}

// ---- dims

const Dim *pick_dim(Maker *m) {
    uint32_t at = pick(m, 8);
    if (at < 2 && m->named[at]) return m->named[at];
    return dim_const(m->ctx, m->sizes[pick(m, m->size_count)]);
}

// A dim with a range that a run may have any value of: its ends more often.
static const Dim *name_dim(Maker *m, Str name) {
    static const int64_t least[] = {0, 1, 1, 2}, most[] = {5, 9, 17, 70};
    int64_t lo = least[pick(m, 4)], hi = most[pick(m, 4)];
    int64_t tune = lo + pick(m, (uint32_t)(hi - lo + 1));
    const DimSymbol *s = dim_new_symbol(m->ctx, SYMBOL_named, name, lo, hi, tune, NULL);
    uint32_t at = pick(m, 4);
    m->symbols[s->id] = at == 0   ? lo
                        : at == 1 ? hi
                                  : lo + (int64_t)pick(m, (uint32_t)(hi - lo + 1));
    return dim_of_symbol(m->ctx, s);
}

bool is_small(const Maker *m, const Type *type) {
    return type->rank <= MAX_AXES + 1 && fuzz_elements(type, m->symbols) <= m->max_elements &&
           type_elements(m->ctx, type)->hi <= MAX_SPREAD;
}

// ---- values

static double most_of(DType dtype) {
    const DTypeInfo *info = dtype_info(dtype);
    return -info->least > info->most ? -info->least : info->most;
}

// How large numbers of exact cases may be; integers wrap exactly.
static bool holds_exactly(DType dtype, double most) {
    return !dtype_is_float(dtype) || most <= (double)(1ull << dtype_info(dtype)->precision);
}

// Numbers that the compiler knows: a constant, or a parameter that has its value.
static Value new_known(Maker *m, const Type *type, const Tensor *t, double most) {
    const Blob *blob = ir_blob(m->ctx, t->data, tensor_bytes(t));
    Str name = str_format(m->arena, "p%zu", m->graphs[0]->nodes.count);
    Attr param[] = {{.str = ir_string(m->ctx, name)}, {.blob = blob}},
         constant[] = {{.blob = blob}};
    Value v = {.most = most};
    bool is_param = pick(m, 2);
    for (int g = 0; g < 2; g++)
        v.ids[g] = graph_add(m->graphs[g], is_param ? OP_param : OP_const, type, NULL, 0,
                             is_param ? param : constant, NULL, 0, NULL);
    return v;
}

Value new_input(Maker *m, const Type *type, int64_t index_limit) {
    char name[16];
    Value v = {.most = index_limit > 0 ? (double)index_limit : m->exact ? 6 : most_of(type->dtype)};
    Tensor t;
    OpValues values = m->exact ? VALUES_exact : m->fill;
    op_case_tensor(m->arena, type, m->symbols, m->state, index_limit, &t);
    if (index_limit == 0) op_case_fill(&t, values, m->state, 0);
    if (index_limit == 0 && pick(m, 6) == 0 && type_is_static(type, NULL) &&
        tensor_elements(&t) <= MAX_KNOWN)
        return new_known(m, type, &t, v.most);
    vec_push(m->arena, &m->inputs, t);
    snprintf(name, sizeof name, "x%zu", m->graphs[0]->inputs.count);
    for (int g = 0; g < 2; g++)
        v.ids[g] = graph_add_input(m->graphs[g], str_copy(m->arena, str_from(name)), type, NULL);
    return v;
}

Value fill(Maker *m, const Type *type, double number) {
    Value v = {.most = number < 0 ? -number : number};
    for (int g = 0; g < 2; g++) v.ids[g] = build_fill(m->graphs[g], type, number);
    return v;
}

static Value fresh(Maker *m, DType dtype) {
    const Dim *dims[MAX_AXES];
    static const uint8_t ranks[] = {0, 1, 1, 2, 2, 2, 3, 3, 4};
    uint32_t rank = m->large ? 2 : ranks[pick(m, sizeof ranks)];
    for (uint32_t i = 0; i < rank; i++) dims[i] = pick_dim(m);
    const Type *type = type_tensor(m->ctx, dtype, rank, dims);
    while (!is_small(m, type)) type = type_tensor(m->ctx, dtype, --rank, dims);
    Value v = new_input(m, type, 0);
    keep(m, v);
    return v;
}

static DType pick_dtype(Maker *m, Op op) {
    DType dtype = DT_f32;
    if (pick(m, 2) == 0 && op_accepts(op, dtype)) return dtype;
    do dtype = (DType)pick(m, DT_count);
    while (!op_accepts(op, dtype));
    return dtype;
}

// Younger ones more often, so that chains become long.
static Value pick_any(Maker *m, Op op) {
    for (int tries = 0; tries < 6 && m->count > 0; tries++) {
        uint32_t last = m->count - 1, at = pick(m, m->count);
        Value v = m->pool[pick(m, 2) ? at : last - (pick(m, 2) && last > 0)];
        if (op_accepts(op, type_of(m, v)->dtype)) return v;
    }
    return fresh(m, pick_dtype(m, op));
}

Value pick_for(Maker *m, Op op) {
    bool forced = m->is_forced && op_accepts(op, type_of(m, m->forced)->dtype);
    m->is_forced = false;
    m->picked = forced ? m->forced : pick_any(m, op);
    return m->picked;
}

static bool same_dims(const Maker *m, const Type *a, const Type *b) {
    if (a->rank != b->rank) return false;
    for (uint32_t i = 0; i < a->rank; i++)
        if (size_of(m, a->dims[i]) != size_of(m, b->dims[i])) return false;
    return true;
}

Value pick_like(Maker *m, Value x, DType dtype) {
    const Type *want = type_of(m, x);
    uint32_t from = m->count ? pick(m, m->count) : 0;
    for (uint32_t i = 0; i < m->count; i++) {
        Value y = m->pool[(from + i) % m->count];
        // Dims that are equal in this run only are left to entry checks.
        if (type_of(m, y)->dtype == dtype && same_dims(m, want, type_of(m, y))) return y;
    }
    return new_input(m, type_with_dtype(m->ctx, want, dtype), 0);
}

// ---- nodes

bool put_regions(Maker *m, Op op, const Value *args, uint32_t count, const Attr *attrs,
                 const Graph *const *regions, uint32_t region_count, double most, Value *out) {
    NodeId ids[16];
    out->most = most;
    for (int g = 0; g < 2; g++) {
        for (uint32_t i = 0; i < count; i++) {
            ids[i] = args[i].ids[g];
            if (g == 1 && fuzz_pick(&m->twist_state, 4) == 0)
                ids[i] = fuzz_twist(m->graphs[1], ids[i], m->symbols, &m->twist_state);
        }
        out->ids[g] =
            graph_build(m->graphs[g], NULL, NULL, op, ids, count, attrs, regions, region_count);
        if (out->ids[g] == NODE_none) return false;
    }
    return true;
}

bool put(Maker *m, Op op, const Value *args, uint32_t count, const Attr *attrs, double most,
         Value *out) {
    return put_regions(m, op, args, count, attrs, NULL, 0, most, out);
}

void keep(Maker *m, Value v) {
    const Type *type = type_of(m, v);
    if (type->is_tuple) {
        for (uint32_t i = 0; i < type->item_count; i++) {
            Value item;
            if (put(m, OP_item, &v, 1, (Attr[]){{.i = i}}, v.most, &item)) keep(m, item);
        }
        return;
    }
    if (m->count == MAX_POOL || !is_small(m, type)) return;
    if (!dtype_is_float(type->dtype) && v.most > dtype_info(type->dtype)->most)
        v.most = most_of(type->dtype);
    if (m->exact && !holds_exactly(type->dtype, v.most)) return;
    m->pool[m->count++] = v;
}

// ---- a graph

// Whether exact cases have the op: it maps integers to integers without rounding.
static bool is_exact(Op op) {
    const OpInfo *info = op_info(op);
    switch (op) {
    case OP_sqrt:
    case OP_div:
    case OP_floordiv:
    case OP_rem:
    case OP_mod:
    case OP_pow: return false;
    default: return info->ulp == 0;
    }
}

// Every op is in one of these rows; a row is chosen by its weight, then an op of it.
static const struct {
    OpClass class;
    uint32_t weight;
} weights[] = {{CLASS_LEAF, 1},    {CLASS_UNARY, 5},    {CLASS_BINARY, 6},     {CLASS_COMPARE, 1},
               {CLASS_SELECT, 2},  {CLASS_CAST, 3},     {CLASS_REDUCE, 6},     {CLASS_ARGREDUCE, 1},
               {CLASS_RESHAPE, 3}, {CLASS_PERMUTE, 2},  {CLASS_BROADCAST, 3},  {CLASS_SLICE, 3},
               {CLASS_PAD, 2},     {CLASS_REVERSE, 1},  {CLASS_CONCAT, 2},     {CLASS_GATHER, 2},
               {CLASS_SCATTER, 2}, {CLASS_CONTRACT, 3}, {CLASS_CONV, 1},       {CLASS_WINDOW, 1},
               {CLASS_SORT, 1},    {CLASS_RANDOM, 1},   {CLASS_CUMULATIVE, 2}, {CLASS_COND, 1},
               {CLASS_LOOP, 1},    {CLASS_SCAN, 1},     {CLASS_CALL, 1}};
enum { CLASSES = sizeof weights / sizeof *weights };

static Op pick_op(Maker *m) {
    uint32_t total = 0, i = 0;
    for (int k = 0; k < CLASSES; k++) total += weights[k].weight;
    uint32_t at = pick(m, total);
    while (at >= weights[i].weight) at -= weights[i++].weight;
    Op op;
    do op = (Op)(OP_none + 1 + pick(m, OP_count - 1));
    while (op_info(op)->class != weights[i].class || op == OP_input || op == OP_param ||
           op == OP_const);
    return op;
}

static void make_with(Maker *m, Op op, Value operand) {
    m->is_forced = true;
    m->forced = operand;
    make_op(m, op);
    m->is_forced = false;
}

// A convolution of what an op that works in any layout of images makes of the last one.
static void make_images(Maker *m) {
    static const Op between[] = {OP_reverse, OP_pad, OP_slice, OP_neg, OP_window_sum, OP_concat};
    if (m->count > 0) make_with(m, between[pick(m, 6)], m->pool[m->count - 1]);
    if (m->count > 0) make_with(m, OP_conv, m->pool[m->count - 1]);
}

static void make_node(Maker *m) {
    Op op = pick_op(m);
    OpClass class = op_info(op)->class;
    if (m->exact && !is_exact(op)) return;
    // The evaluator takes its time over these.
    if (m->large && (class == CLASS_CONTRACT || class == CLASS_CONV || class == CLASS_SORT)) return;
    if (op_info(op)->flags & FLAG_regions) {
        make_control(m, op);
        return;
    }
    make_op(m, op);
    if (class == CLASS_CONV && pick(m, 3)) {
        make_images(m);
    } else if (m->count > 0 && pick(m, 6) == 0) { // on the same operand, with other attributes
        make_with(m, op, m->picked);
    }
}

// What nothing else uses, from the end on, so that little of the graph is dead.
static void add_outputs(Maker *m) {
    uint32_t *uses = graph_count_uses(m->graphs[0], m->arena);
    uint32_t wanted = 1 + pick(m, 4), count = 0;
    for (uint32_t i = m->count; i-- > 0 && count < wanted;) {
        Value v = m->pool[i];
        char name[16];
        bool plain = graph_node(m->graphs[0], v.ids[0])->op == OP_input;
        if (count > 0 && (uses[v.ids[0]] > 0 || (plain && pick(m, 8)))) continue;
        snprintf(name, sizeof name, "y%u", count++);
        for (int g = 0; g < 2; g++)
            graph_add_output(m->graphs[g], str_copy(m->arena, str_from(name)), v.ids[g]);
    }
}

static void pick_sizes(Maker *m) {
    static const int64_t sets[][5] = {{1, 2, 3, 4, 5},    {0, 1, 2, 5, 3},   {1, 7, 8, 9, 2},
                                      {3, 16, 17, 33, 1}, {64, 65, 5, 1, 2}, {2, 3, 4, 6, 8},
                                      {1, 1, 2, 3, 13}};
    static const int64_t large[] = {700, 1000, 1300, 600, 2};
    m->sizes = m->large ? large : sets[pick(m, 7)];
    m->size_count = 5;
    m->max_elements = m->large ? 1300000 : 3000;
    if (pick(m, 3)) return;
    m->named[0] = name_dim(m, STR("N"));
    if (pick(m, 3) == 0) m->named[1] = name_dim(m, STR("M"));
}

// A dim's value is read off an input whose axis it is.
static void bind_names(Maker *m) {
    for (int i = 0; i < 2; i++) {
        if (!m->named[i] || dim_is_const(m->named[i], NULL)) continue;
        const Dim *dims[] = {m->named[i], pick_dim(m)};
        const Type *type = type_tensor(m->ctx, pick_dtype(m, OP_reshape), 2 - pick(m, 2), dims);
        keep(m, new_input(m, type, 0));
    }
}

static FuzzCase case_of(const Maker *m, int g) {
    return (FuzzCase){.ctx = m->ctx,
                      .graph = m->graphs[g],
                      .inputs = m->inputs.data,
                      .symbols = m->symbols,
                      .exact = m->exact,
                      .large = m->large};
}

void fuzz_make(uint64_t seed, Arena *arena, FuzzPair *out) {
    Maker m = {.arena = arena, .ctx = ir_context_new(arena)};
    m.state = hash_word(seed, 7);
    m.twist_state = hash_word(seed, 8);
    m.large = pick(&m, 100) == 0;
    m.exact = m.large || pick(&m, 2);
    m.fill = pick(&m, 2) ? VALUES_wild : VALUES_tame;
    m.symbols = NEW_ARRAY(arena, int64_t, MAX_SYMBOLS);
    m.graphs[0] = graph_new(m.ctx, arena, STR("case"));
    m.graphs[1] = graph_new(m.ctx, arena, STR("case"));
    pick_sizes(&m);
    bind_names(&m);
    fresh(&m, pick(&m, 2) ? DT_f32 : pick_dtype(&m, OP_reshape));
    uint32_t nodes = 2 + pick(&m, pick(&m, 8) ? 4 : 14);
    for (uint32_t i = 0; i < nodes; i++) make_node(&m);
    if (m.count == 0) keep(&m, fill(&m, type_scalar(m.ctx, DT_f32), 1));
    add_outputs(&m);
    out->plain = case_of(&m, 0);
    out->twisted = case_of(&m, 1);
}
