#include "tests/support/op_cases.h"

#include "ir/infer.h"

#include <math.h>
#include <stdio.h>

typedef enum Variant { PLAIN, DYNAMIC, PERMUTED, BROADCAST, VARIANT_COUNT } Variant;

typedef struct Shape {
    uint32_t rank;
    int64_t dims[4];
} Shape;

// What a case is built with.
typedef struct Maker {
    IrContext *ctx;
    OpCase *out;
    Graph *g;
    Op op;
    DType dtype;
    Variant variant;
    char failed;
} Maker;

static const Shape shapes[] = {{1, {0}},    {1, {1}},        {1, {7}},        {1, {64}},
                               {1, {65}},   {2, {7, 65}},    {2, {64, 1}},    {2, {65, 7}},
                               {2, {3, 0}}, {3, {2, 7, 65}}, {3, {3, 65, 16}}};
enum { SHAPE_COUNT = sizeof shapes / sizeof *shapes };

// No multiple of anything, by OpLarge.
static const Shape large_shapes[] = {{3, {31, 260, 129}}, {3, {5, 68, 129}}};

static bool is_large(const Shape *s) {
    return s >= large_shapes && s < large_shapes + sizeof large_shapes / sizeof *large_shapes;
}

// ---- pieces
// -------------------------------------------------------------------------------------------

// A dim of the size: a constant, or (in dynamic cases) a new symbol that has this value.
static const Dim *make_dim(Maker *m, int64_t size) {
    if (m->variant != DYNAMIC) return dim_const(m->ctx, size);
    char name[16];
    snprintf(name, sizeof name, "N%lld", (long long)size);
    const DimSymbol *symbol = dim_find_symbol(m->ctx, str_from(name));
    if (!symbol)
        symbol =
            dim_new_symbol(m->ctx, SYMBOL_named, str_copy(ir_context_arena(m->ctx), str_from(name)),
                           size == 0 ? 0 : 1, 80, size == 0 ? 1 : size, NULL);
    m->out->symbols[symbol->id] = size;
    return dim_of_symbol(m->ctx, symbol);
}

static NodeId build(Maker *m, Op op, const NodeId *args, uint32_t count, const Attr *attrs) {
    NodeId id = NODE_none;
    if (!m->failed) id = graph_build(m->g, NULL, NULL, op, args, count, attrs, NULL, 0);
    if (id == NODE_none) m->failed = 1;
    return id == NODE_none ? 0 : id;
}

static const Type *make_type(Maker *m, DType dtype, const Shape *shape) {
    const Dim *dims[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < shape->rank; i++) dims[i] = make_dim(m, shape->dims[i]);
    return type_tensor(m->ctx, dtype, shape->rank, dims);
}

static NodeId add_input(Maker *m, const Type *type) {
    char name[16];
    snprintf(name, sizeof name, "x%zu", m->g->inputs.count);
    return graph_add_input(m->g, str_copy(ir_context_arena(m->ctx), str_from(name)), type, NULL);
}

// An operand of the shape: an input, the transposed view of one, or one repeated along the first
// axis.
static NodeId operand(Maker *m, DType dtype, const Shape *shape) {
    if (m->variant == PERMUTED && shape->rank >= 2) {
        Shape turned = *shape;
        int64_t perm[4];
        for (uint32_t i = 0; i < shape->rank; i++) {
            turned.dims[i] = shape->dims[shape->rank - 1 - i];
            perm[i] = shape->rank - 1 - i;
        }
        NodeId x = add_input(m, make_type(m, dtype, &turned));
        Attr attrs[] = {{.ints = ir_ints(m->ctx, perm, shape->rank)}};
        return build(m, OP_permute, &x, 1, attrs);
    }
    if (m->variant == BROADCAST && shape->rank >= 2) {
        Shape row = {shape->rank - 1, {0}};
        int64_t axes[4];
        for (uint32_t i = 0; i + 1 < shape->rank; i++)
            row.dims[i] = shape->dims[i + 1], axes[i] = i + 1;
        NodeId x = add_input(m, make_type(m, dtype, &row));
        const Type *type = make_type(m, dtype, shape);
        Attr attrs[] = {{.dims = ir_dims(m->ctx, type->dims, type->rank)},
                        {.ints = ir_ints(m->ctx, axes, row.rank)}};
        return build(m, OP_broadcast, &x, 1, attrs);
    }
    return add_input(m, make_type(m, dtype, shape));
}

static NodeId indices(Maker *m, const Shape *shape, int64_t limit) {
    NodeId id = add_input(m, make_type(m, DT_i64, shape));
    m->out->index_limits[m->g->inputs.count - 1] = limit;
    return id;
}

static const IntList *ints(Maker *m, uint32_t count, int64_t a, int64_t b, int64_t c, int64_t d) {
    return ir_ints(m->ctx, (int64_t[]){a, b, c, d}, count);
}

static const DimList *dims_of(Maker *m, uint32_t count, const int64_t *sizes) {
    const Dim *list[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < count; i++) list[i] = dim_const(m->ctx, sizes[i]);
    return ir_dims(m->ctx, list, count);
}

static void output(Maker *m, NodeId id) {
    const Type *type = m->failed ? NULL : graph_type(m->g, id);
    if (!type) return;
    if (!type->is_tuple) {
        graph_add_output(m->g, STR("y"), id);
        return;
    }
    for (uint32_t i = 0; i < type->item_count; i++) {
        Attr attrs[] = {{.i = i}};
        NodeId item = build(m, OP_item, &id, 1, attrs);
        graph_add_output(m->g, i == 0 ? STR("y") : STR("z"), item);
    }
}

// ---- cases by class: the k-th of the class's attribute choices; false past the last
// ----------------------

static bool elementwise(Maker *m, const Shape *s, uint32_t k) {
    int count = op_info(m->op)->operand_count;
    NodeId args[3];
    if (m->op == OP_cast) {
        if (k >= DT_count) return false;
        args[0] = operand(m, m->dtype, s);
        Attr attrs[] = {{.bits = 0}, {.i = 1}};
        attrs[0].dtype = (DType)k;
        output(m, build(m, m->op, args, 1, attrs));
        return true;
    }
    if (k > 0) return false;
    for (int i = 0; i < count; i++)
        args[i] = operand(m, m->op == OP_select && i == 0 ? DT_bool : m->dtype, s);
    output(m, build(m, m->op, args, (uint32_t)count, NULL));
    return true;
}

static bool reduction(Maker *m, const Shape *s, uint32_t k) {
    // Every single axis, then all of them.
    if (k > s->rank || (s->rank == 1 && k == 1)) return false;
    NodeId x = operand(m, m->dtype, s);
    int64_t axes[] = {0, 1, 2, 3};
    uint32_t count = k == s->rank ? s->rank : 1;
    if (k < s->rank) axes[0] = k;
    Attr attrs[] = {{.ints = ir_ints(m->ctx, axes, count)}, {.bits = 0}};
    attrs[1].dtype = m->dtype;
    output(m, build(m, m->op, &x, 1, attrs));
    return true;
}

static bool arg_reduction(Maker *m, const Shape *s, uint32_t k) {
    if (k >= s->rank) return false;
    NodeId x = operand(m, m->dtype, s);
    Attr attrs[] = {{.i = k}};
    output(m, build(m, m->op, &x, 1, attrs));
    return true;
}

static bool cumulative(Maker *m, const Shape *s, uint32_t k) {
    if (k >= 4 * s->rank) return false;
    NodeId x = operand(m, m->dtype, s);
    Attr attrs[] = {{.i = k / 4}, {.i = k & 1}, {.i = k >> 1 & 1}};
    output(m, build(m, m->op, &x, 1, attrs));
    return true;
}

static bool reshape(Maker *m, const Shape *s, uint32_t k) {
    const Type *type;
    if (k > 1 || (k == 1 && s->rank < 2)) return false;
    NodeId x = operand(m, m->dtype, s);
    type = graph_type(m->g, x);
    const Dim *flat[] = {type_elements(m->ctx, type)};
    const Dim *split[] = {dim_const(m->ctx, 1), flat[0], dim_const(m->ctx, 1)};
    Attr attrs[] = {{.dims = k == 1 ? ir_dims(m->ctx, flat, 1) : ir_dims(m->ctx, split, 3)}};
    output(m, build(m, m->op, &x, 1, attrs));
    return true;
}

static bool permute(Maker *m, const Shape *s, uint32_t k) {
    if (k > 0 || s->rank < 2) return false;
    NodeId x = operand(m, m->dtype, s);
    int64_t perm[] = {s->rank - 1, 0, 1};
    Attr attrs[] = {{.ints = ir_ints(m->ctx, perm, s->rank)}};
    output(m, build(m, m->op, &x, 1, attrs));
    return true;
}

static bool broadcast(Maker *m, const Shape *s, uint32_t k) {
    if (k > 1) return false;
    NodeId x = operand(m, m->dtype, s);
    const Type *type = graph_type(m->g, x);
    const Dim *list[TYPE_MAX_RANK];
    int64_t axes[4];
    uint32_t rank = 0;
    if (k == 0) list[rank++] = dim_const(m->ctx, 5);
    for (uint32_t i = 0; i < type->rank; i++) axes[i] = rank, list[rank++] = type->dims[i];
    if (k == 1) list[rank++] = dim_const(m->ctx, 9);
    Attr attrs[] = {{.dims = ir_dims(m->ctx, list, rank)},
                    {.ints = ir_ints(m->ctx, axes, type->rank)}};
    output(m, build(m, m->op, &x, 1, attrs));
    return true;
}

static bool slice(Maker *m, const Shape *s, uint32_t k) {
    if (k > 1) return false;
    NodeId x = operand(m, m->dtype, s);
    const Type *type = graph_type(m->g, x);
    const Dim *start[TYPE_MAX_RANK], *limit[TYPE_MAX_RANK];
    int64_t step[4];
    for (uint32_t i = 0; i < type->rank; i++) {
        int64_t from = s->dims[i] > 2 ? 2 : 0;
        start[i] = dim_const(m->ctx, m->variant == DYNAMIC ? 0 : from);
        limit[i] = k == 0 || s->dims[i] < 4 || m->variant == DYNAMIC
                       ? type->dims[i]
                       : dim_offset(m->ctx, type->dims[i], -1);
        step[i] = k == 0 ? 1 : 3;
    }
    Attr attrs[] = {{.dims = ir_dims(m->ctx, start, type->rank)},
                    {.dims = ir_dims(m->ctx, limit, type->rank)},
                    {.ints = ir_ints(m->ctx, step, type->rank)}};
    output(m, build(m, m->op, &x, 1, attrs));
    return true;
}

// In the last case a row is longer than what lies in it by more than half a register of lanes.
static bool pad(Maker *m, const Shape *s, uint32_t k) {
    if (k > 2) return false;
    NodeId args[] = {operand(m, m->dtype, s), 0};
    args[1] = add_input(m, type_scalar(m->ctx, m->dtype));
    int64_t lo[] = {k, 2, 1, 0}, hi[] = {k == 2 ? 9 : 3, k == 2 ? 9 : k, k == 2 ? 9 : 0, 1};
    Attr attrs[] = {{.dims = dims_of(m, s->rank, lo)}, {.dims = dims_of(m, s->rank, hi)}};
    output(m, build(m, m->op, args, 2, attrs));
    return true;
}

static bool reverse(Maker *m, const Shape *s, uint32_t k) {
    if (k >= s->rank) return false;
    NodeId x = operand(m, m->dtype, s);
    Attr attrs[] = {{.ints = ints(m, 1, k, 0, 0, 0)}};
    output(m, build(m, m->op, &x, 1, attrs));
    return true;
}

static bool concat(Maker *m, const Shape *s, uint32_t k) {
    if (k >= s->rank) return false;
    NodeId args[3];
    Shape other = *s;
    other.dims[k] = 3;
    args[0] = operand(m, m->dtype, s);
    args[1] = operand(m, m->dtype, &other);
    args[2] = args[0];
    Attr attrs[] = {{.i = k}};
    output(m, build(m, m->op, args, 3, attrs));
    return true;
}

// Axis and batch of gather and scatter by k; the index tensor has one or two axes of its own.
static bool gathering(Maker *m, const Shape *s, uint32_t k) {
    uint32_t axis = k % 4, batch = k / 4 % 2;
    if (k >= 8) return false;
    if (axis >= s->rank || batch > axis || s->dims[axis] == 0) return true;
    bool scatter = op_info(m->op)->class == CLASS_SCATTER;
    Shape where = {batch + 1, {0}}, update = {0, {0}};
    for (uint32_t i = 0; i < batch; i++) where.dims[i] = s->dims[i];
    where.dims[batch] = 5;
    for (uint32_t i = 0; i < axis; i++) update.dims[update.rank++] = s->dims[i];
    update.dims[update.rank++] = 5;
    for (uint32_t i = axis + 1; i < s->rank; i++) update.dims[update.rank++] = s->dims[i];
    NodeId args[3];
    args[0] = operand(m, m->dtype, s);
    args[1] = indices(m, &where, s->dims[axis]);
    if (scatter) args[2] = operand(m, m->dtype, &update);
    Attr attrs[] = {{.i = axis}, {.i = batch}};
    output(m, build(m, m->op, args, scatter ? 3 : 2, attrs));
    return true;
}

typedef struct Product {
    Shape a, b;
    int64_t la[4], lb[4], lo[4];
    uint32_t out_rank;
} Product;

static const Product products[] = {
    {{2, {7, 65}}, {2, {65, 64}}, {0, 1}, {1, 2}, {0, 2}, 2}, // matmul
    {{2, {7, 65}}, {2, {9, 65}}, {0, 1}, {2, 1}, {0, 2}, 2},  // b transposed
    {{2, {65, 7}}, {2, {65, 1}}, {1, 0}, {1, 2}, {0, 2}, 2},  // a transposed, one column
    {{2, {1, 64}}, {2, {64, 65}}, {0, 1}, {1, 2}, {0, 2}, 2}, // one row
    {{2, {7, 0}}, {2, {0, 5}}, {0, 1}, {1, 2}, {0, 2}, 2},    // nothing to sum
    {{2, {0, 7}}, {2, {7, 5}}, {0, 1}, {1, 2}, {0, 2}, 2},    // no rows
    {{3, {2, 7, 16}}, {3, {2, 16, 33}}, {3, 0, 1}, {3, 1, 2}, {3, 0, 2}, 3}, // batch
    {{3, {2, 7, 16}}, {2, {16, 33}}, {3, 0, 1}, {1, 2}, {3, 0, 2}, 3},       // two m axes
    {{2, {7, 16}}, {2, {33, 16}}, {0, 1}, {2, 1}, {2, 0}, 2},                // result transposed
    {{2, {65, 33}}, {2, {33, 48}}, {0, 1}, {1, 2}, {0, 2}, 2},               // many rows
};

static const Product large_product = {{3, {3, 130, 65}}, {3, {3, 65, 140}}, {3, 0, 1},
                                      {3, 1, 2},         {3, 0, 2},         3};

static bool contraction(Maker *m, const Shape *s, uint32_t k) {
    bool large = is_large(s);
    if (k >= (large ? 1 : sizeof products / sizeof *products)) return false;
    const Product *p = large ? &large_product : &products[k];
    NodeId args[] = {operand(m, m->dtype, &p->a), operand(m, m->dtype, &p->b)};
    Attr attrs[] = {{.ints = ir_ints(m->ctx, p->la, p->a.rank)},
                    {.ints = ir_ints(m->ctx, p->lb, p->b.rank)},
                    {.ints = ir_ints(m->ctx, p->lo, p->out_rank)},
                    {.bits = 0}};
    attrs[3].dtype = m->dtype;
    output(m, build(m, m->op, args, 2, attrs));
    return true;
}

typedef struct Filter {
    Shape x, w;
    int64_t strides[3], dilations[3], lo[3], hi[3], groups;
} Filter;

static const Filter filters[] = {
    {{4, {2, 3, 9, 9}}, {4, {16, 3, 3, 3}}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {{4, {1, 4, 8, 7}}, {4, {5, 4, 3, 2}}, {2, 1}, {1, 2}, {0, 2}, {1, 0}, 1},
    {{4, {2, 4, 6, 6}}, {4, {4, 1, 3, 3}}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 4},
    {{4, {1, 4, 5, 5}}, {4, {24, 2, 3, 3}}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 2},
    {{3, {2, 3, 20}}, {3, {8, 3, 5}}, {2}, {1}, {2}, {2}, 1},
    {{4, {0, 3, 5, 5}}, {4, {4, 3, 3, 3}}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
};

static const Filter large_filters[] = {
    {{4, {3, 5, 31, 33}}, {4, {20, 5, 3, 3}}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {{4, {3, 24, 31, 33}}, {4, {24, 1, 3, 3}}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 24},
};

static bool convolution(Maker *m, const Shape *s, uint32_t k) {
    bool large = is_large(s);
    if (k >= (large ? sizeof large_filters : sizeof filters) / sizeof *filters) return false;
    const Filter *f = large ? &large_filters[k] : &filters[k];
    NodeId args[] = {operand(m, m->dtype, &f->x), operand(m, m->dtype, &f->w)};
    uint32_t spatial = f->x.rank - 2;
    Attr attrs[] = {{.ints = ir_ints(m->ctx, f->strides, spatial)},
                    {.ints = ir_ints(m->ctx, f->dilations, spatial)},
                    {.ints = ir_ints(m->ctx, f->lo, spatial)},
                    {.ints = ir_ints(m->ctx, f->hi, spatial)},
                    {.i = f->groups},
                    {.bits = 0}};
    attrs[5].dtype = m->dtype;
    output(m, build(m, m->op, args, 2, attrs));
    return true;
}

static bool window(Maker *m, const Shape *s, uint32_t k) {
    if (k > 2) return false;
    NodeId x = operand(m, m->dtype, s);
    int64_t size = k == 2 ? 5 : 2;
    uint32_t r = s->rank;
    Attr attrs[] = {{.ints = ints(m, r, r == 3 ? 1 : size, size, size, 1)},
                    {.ints = ints(m, r, r == 3 ? 1 : 1 + k % 2, 2, 1, 1)},
                    {.ints = ints(m, r, 1, 1 + k % 2, 1, 1)},
                    {.ints = ints(m, r, r == 3 ? 0 : k % 2, 1, k % 2, 0)},
                    {.ints = ints(m, r, r == 3 ? 0 : 1, 1, 0, 0)}};
    output(m, build(m, m->op, &x, 1, attrs));
    return true;
}

static bool sorting(Maker *m, const Shape *s, uint32_t k) {
    if (k >= 2 * s->rank) return false;
    NodeId x = operand(m, m->dtype, s);
    int64_t size = s->dims[k / 2];
    if (m->op == OP_topk && (m->variant == DYNAMIC || size == 0)) return true;
    Attr sort[] = {{.i = k / 2}, {.i = k % 2}};
    Attr topk[] = {{.i = k / 2}, {.i = size < 3 ? size : 3}, {.i = k % 2}};
    output(m, build(m, m->op, &x, 1, m->op == OP_topk ? topk : sort));
    return true;
}

static bool random_bits(Maker *m, const Shape *s, uint32_t k) {
    if (k > 0) return false;
    NodeId key = add_input(m, type_scalar(m->ctx, DT_u64));
    const Type *type = make_type(m, DT_u32, s);
    if (m->variant == DYNAMIC) add_input(m, type); // which binds the dims
    Attr attrs[] = {{.i = 3}, {.dims = ir_dims(m->ctx, type->dims, type->rank)}};
    output(m, build(m, m->op, &key, 1, attrs));
    return true;
}

static bool leaf(Maker *m, const Shape *s, uint32_t k) {
    const Type *type = make_type(m, m->dtype, s);
    if (m->op == OP_iota && k < s->rank) {
        if (m->variant == DYNAMIC) add_input(m, type); // which binds the dims
        Attr attrs[] = {{.i = k}};
        output(m, graph_add(m->g, OP_iota, type, NULL, 0, attrs, NULL, 0, NULL));
        return true;
    }
    if (m->op == OP_dim && k == 0 && m->variant == DYNAMIC) {
        add_input(m, type);
        Attr attrs[] = {{.dim = dim_offset(m->ctx, type->dims[0], 3)}};
        output(m, build(m, OP_dim, NULL, 0, attrs));
        return true;
    }
    return false;
}

static bool make(Maker *m, const Shape *s, uint32_t k) {
    if (op_is_elementwise(m->op)) return elementwise(m, s, k);
    switch (op_info(m->op)->class) {
    case CLASS_REDUCE: return reduction(m, s, k);
    case CLASS_ARGREDUCE: return arg_reduction(m, s, k);
    case CLASS_CUMULATIVE: return cumulative(m, s, k);
    case CLASS_RESHAPE: return reshape(m, s, k);
    case CLASS_PERMUTE: return permute(m, s, k);
    case CLASS_BROADCAST: return broadcast(m, s, k);
    case CLASS_SLICE: return slice(m, s, k);
    case CLASS_PAD: return pad(m, s, k);
    case CLASS_REVERSE: return reverse(m, s, k);
    case CLASS_CONCAT: return concat(m, s, k);
    case CLASS_GATHER:
    case CLASS_SCATTER: return gathering(m, s, k);
    case CLASS_CONTRACT: return (s == shapes || is_large(s)) && contraction(m, s, k);
    case CLASS_CONV: return (s == shapes || is_large(s)) && convolution(m, s, k);
    case CLASS_WINDOW: return window(m, s, k);
    case CLASS_SORT: return sorting(m, s, k);
    case CLASS_RANDOM: return random_bits(m, s, k);
    case CLASS_LEAF: return leaf(m, s, k);
    default: return false;
    }
}

bool op_case_is_lowered(Op op) {
    OpClass class = op_info(op)->class;
    return op != OP_input && op != OP_param && op != OP_const && class != CLASS_COND &&
           class != CLASS_LOOP && class != CLASS_SCAN && class != CLASS_ITEM &&
           class != CLASS_CALL && class != CLASS_KERNEL;
}

enum { CHOICES = 20 }; // of attributes, at most

uint32_t op_case_count(void) { return CHOICES * SHAPE_COUNT * VARIANT_COUNT; }

static void build_case(Maker *m, Arena *arena, const Shape *shape, uint32_t choice, OpCase *out) {
    *out = (OpCase){0};
    m->out = out;
    m->g = graph_new(m->ctx, arena, STR("case"));
    bool made = make(m, shape, choice);
    out->graph = made && !m->failed && m->g->outputs.count > 0 ? m->g : NULL;
}

bool op_case_build(IrContext *ctx, Arena *arena, Op op, DType dtype, uint32_t number, OpCase *out) {
    uint32_t choice = number % CHOICES, rest = number / CHOICES;
    if (number >= op_case_count()) return false;
    Maker m = {.ctx = ctx, .op = op, .dtype = dtype, .variant = rest / SHAPE_COUNT};
    build_case(&m, arena, &shapes[rest % SHAPE_COUNT], choice, out);
    return true;
}

bool op_case_build_large(IrContext *ctx, Arena *arena, Op op, DType dtype, uint32_t number,
                         OpLarge size, OpCase *out) {
    Maker m = {.ctx = ctx, .op = op, .dtype = dtype, .variant = PLAIN};
    build_case(&m, arena, &large_shapes[size], number, out);
    return number < CHOICES;
}

// ---- values
// -------------------------------------------------------------------------------------------------

static uint64_t next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// Where a number is rounded to a narrower format: the middle of two of its numbers, and just beside
// it, which f64 alone can tell.
static double middle_value(uint64_t bits) {
    static const int precisions[] = {3, 4, 8, 11, 24};
    double unit = ldexp(1, 1 - precisions[bits % 5]), beside = (double)(bits / 5 % 3) - 1;
    double middle = 1 + floor((double)(bits >> 40 & 1023) * 0x1p-10 / unit) * unit + unit / 2;
    double value = (middle + beside * 0x1p-44) * (double)(1 << (bits >> 50 & 3));
    return bits >> 52 & 1 ? -value : value;
}

// The ends of the ranges of integers, among them, are powers of two.
static double float_value(OpValues values, uint64_t bits) {
    static const double special[] = {0.0,    -0.0,   1.0,     -1.0,   0.5,    INFINITY, -INFINITY,
                                     NAN,    3e38,   1e-40,   0x1p7,  -0x1p7, 0x1p8,    0x1p15,
                                     0x1p16, 0x1p31, -0x1p31, 0x1p32, 0x1p63, -0x1p63,  0x1p64};
    double unit = (double)(bits >> 11) * 0x1p-53;
    if (values == VALUES_tame) return (unit - 0.5) * 4;
    if (values == VALUES_exact) return (double)(bits % 7) - 3;
    if (bits % 23 == 0) return special[bits / 23 % (sizeof special / sizeof *special)];
    if (bits % 29 == 0) return middle_value(bits / 29);
    return (unit - 0.5) * (bits % 7 == 0 ? 60 : 4);
}

// The ends of the range and what stands beside them, -1, and the middle of two 16-bit floats.
static int64_t end_value(DType dtype, uint64_t bits) {
    uint32_t width = dtype_info(dtype)->bits;
    int64_t least = (int64_t)(UINT64_MAX << (width - 1)), beside = (int64_t)(bits / 4 & 1);
    switch (bits % 4) {
    case 0: return least + beside;
    case 1: return ~least - beside;
    case 2: return -1 - beside;
    default: return width > 16 ? (3ll << (width - 4)) + (1ll << (width - 11)) + beside : beside;
    }
}

static int64_t int_value(DType dtype, OpValues values, uint64_t bits) {
    if (dtype == DT_bool) return (int64_t)(bits & 1);
    if (values == VALUES_exact) return (int64_t)(bits % 7) - (dtype_is_signed(dtype) ? 3 : 0);
    if (values == VALUES_wild && bits % 19 == 0) return end_value(dtype, bits / 19);
    return bits % 3 ? (int64_t)(bits >> 8 & 15) - 4 : (int64_t)bits;
}

void op_case_fill(Tensor *tensor, OpValues values, uint64_t seed, int64_t index_limit) {
    for (int64_t i = 0; i < tensor_elements(tensor); i++) {
        uint64_t bits = next(&seed);
        if (index_limit > 0)
            tensor_set_int(tensor, i, (int64_t)(bits % (uint64_t)(2 * index_limit)) - index_limit);
        else if (dtype_is_float(tensor->dtype))
            tensor_set(tensor, i, float_value(values, bits));
        else
            tensor_set_int(tensor, i, int_value(tensor->dtype, values, bits));
    }
}

void op_case_tensor(Arena *arena, const Type *type, const int64_t *symbols, uint64_t seed,
                    int64_t index_limit, Tensor *out) {
    *out = (Tensor){.dtype = type->dtype, .rank = type->rank};
    for (uint32_t i = 0; i < type->rank; i++) dim_evaluate(type->dims[i], symbols, &out->dims[i]);
    out->data = arena_alloc(arena, tensor_bytes(out) + 64);
    op_case_fill(out, VALUES_wild, seed, index_limit);
}
