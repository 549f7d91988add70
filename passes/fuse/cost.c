/* Prices: what a kernel takes, by its bytes, its operations and its launch, at each setting of the
 * dims; and whether a node is better computed where it is used. */
#include "passes/fuse/cost.h"

#include "passes/fuse/bands.h"

#include "ir/infer.h"

#include <math.h>

enum { TILE_ROWS = 64, MAX_CONE = 24, MAX_MOVES = 8 };

/* ---- amounts --------------------------------------------------------------------------------- */

static Amount constant(double value) {
    Amount a;
    for (int p = 0; p < FUSE_POINTS; p++) a.at[p] = value;
    return a;
}

static Amount add(Amount a, Amount b) {
    for (int p = 0; p < FUSE_POINTS; p++) a.at[p] += b.at[p];
    return a;
}

static Amount scale(Amount a, double factor) {
    for (int p = 0; p < FUSE_POINTS; p++) a.at[p] *= factor;
    return a;
}

static Amount times(Amount a, Amount b) {
    for (int p = 0; p < FUSE_POINTS; p++) a.at[p] *= b.at[p];
    return a;
}

/* a / b, and a where b is less than 1. */
static Amount over(Amount a, Amount b) {
    for (int p = 0; p < FUSE_POINTS; p++) a.at[p] /= b.at[p] > 1 ? b.at[p] : 1;
    return a;
}

Amount amount_of_dim(const Fuser *f, const Dim *dim) {
    Amount a;
    for (int p = 0; p < FUSE_POINTS; p++) {
        int64_t value;
        a.at[p] = dim_evaluate(dim, f->settings[p], &value) ? (double)value : (double)dim->hi;
    }
    return a;
}

Amount amount_bytes(const Fuser *f, NodeId id) {
    const Type *type = graph_type(f->graph, id);
    if (!type->is_tuple) return amount_of_dim(f, type_bytes(f->ctx->ir, type));
    Amount sum = constant(0);
    for (uint32_t i = 0; i < type->item_count; i++)
        sum = add(sum, amount_of_dim(f, type_bytes(f->ctx->ir, type->items[i])));
    return sum;
}

Amount amount_elements(const Fuser *f, NodeId id) {
    const Type *type = graph_type(f->graph, id);
    if (type->is_tuple) type = type->items[0];
    return amount_of_dim(f, type_elements(f->ctx->ir, type));
}

/* ---- one op ---------------------------------------------------------------------------------- */

/* Operations of one element. A simple op takes the place of a multiply-add, which counts 2. */
double cost_flops(const Fuser *f, NodeId id) {
    const Node *node = graph_node(f->graph, id);
    if (op_info(node->op)->ulp > 0) return node->op == OP_pow ? 120 : 40;
    switch (op_info(node->op)->class) {
    case CLASS_RESHAPE:
    case CLASS_PERMUTE:
    case CLASS_BROADCAST:
    case CLASS_SLICE:
    case CLASS_REVERSE:
    case CLASS_ITEM: return 0;
    case CLASS_GATHER: return 12;
    case CLASS_CONCAT: return 2 * (double)node->arg_count;
    case CLASS_RANDOM: return 80;
    default: break;
    }
    switch (node->op) {
    case OP_div:
    case OP_sqrt:
    case OP_rem:
    case OP_mod:
    case OP_floordiv: return 16;
    default: return 2;
    }
}

/* Measured, as lines of LLVM's IR. */
static uint32_t code_of_op(const Fuser *f, const Node *node) {
    if (node->op == OP_sin || node->op == OP_cos || node->op == OP_tan) return 60;
    if (node->op == OP_pow) return 70;
    if (op_info(node->op)->class == CLASS_RANDOM) return 80;
    if (op_info(node->op)->ulp > 0) return 15;
    bool divides =
        node->op == OP_div || node->op == OP_rem || node->op == OP_mod || node->op == OP_floordiv;
    return divides && !dtype_is_float(graph_type(f->graph, node->args[0])->dtype) ? 40 : 1;
}

uint32_t cost_code(const Fuser *f, NodeId id) {
    const Node *node = graph_node(f->graph, id);
    uint32_t code = code_of_op(f, node);
    if (node->type->is_tuple) return code;
    return node->type->dtype == DT_f64 && code > 1 ? 2 * code : code;
}

/* The product of the dims of labels in `labels` that are not in `without`. */
static Amount label_product(const Fuser *f, NodeId operand, const IntList *labels,
                            const IntList *without) {
    Amount product = constant(1);
    for (uint32_t i = 0; i < labels->count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < without->count; k++)
            found |= without->items[k] == labels->items[i];
        const Dim *dim = graph_type(f->graph, operand)->dims[i];
        if (!found) product = times(product, amount_of_dim(f, dim));
    }
    return product;
}

/* An operand of a contraction is read once for each panel of the result along the other operand's
 * own labels; the one that is not along the vectors element by element. */
static Amount contract_evaluations(const Fuser *f, NodeId user, NodeId arg) {
    const Node *node = graph_node(f->graph, user);
    const IntList *a = node_attr(node, "a").ints, *b = node_attr(node, "b").ints;
    const IntList *out = node_attr(node, "out").ints;
    bool is_a = node->args[0] == arg, along = false;
    const IntList *mine = is_a ? a : b;
    for (uint32_t i = 0; out->count && i < mine->count; i++)
        along |= mine->items[i] == out->items[out->count - 1];
    Amount others = label_product(f, node->args[is_a ? 1 : 0], is_a ? b : a, mine);
    double lanes = (double)f->ctx->target->lanes;
    for (int p = 0; p < FUSE_POINTS; p++) {
        double panel = along ? TILE_ROWS : lanes;
        double panels = others.at[p] > panel ? others.at[p] / panel : 1;
        others.at[p] = along ? panels : panels * lanes;
    }
    return times(amount_elements(f, arg), others);
}

/* x is read once a tap and panel of output channels, weights once a tile of pixels. */
static Amount conv_evaluations(const Fuser *f, NodeId user, NodeId arg) {
    const Node *node = graph_node(f->graph, user);
    const Type *w = graph_type(f->graph, node->args[1]);
    double lanes = (double)f->ctx->target->lanes;
    if (node->args[1] == arg)
        return scale(times(amount_elements(f, arg),
                           over(amount_elements(f, user), amount_of_dim(f, w->dims[0]))),
                     1.0 / TILE_ROWS);
    Amount taps = over(amount_elements(f, node->args[1]), amount_of_dim(f, w->dims[0]));
    Amount panels = scale(amount_of_dim(f, w->dims[0]), 1 / lanes);
    Amount pixels = over(amount_elements(f, user), amount_of_dim(f, w->dims[0]));
    for (int p = 0; p < FUSE_POINTS; p++)
        if (panels.at[p] < 1) panels.at[p] = 1;
    return scale(times(times(pixels, taps), panels), lanes);
}

static Amount window_evaluations(const Fuser *f, NodeId user) {
    const IntList *window = node_attr(graph_node(f->graph, user), "window").ints;
    Amount count = amount_elements(f, user);
    for (uint32_t i = 0; i < window->count; i++) count = scale(count, (double)window->items[i]);
    return count;
}

/* What does not vary along the vectors is computed before the loop that they make. */
static Amount broadcast_evaluations(const Fuser *f, NodeId user, NodeId arg,
                                    const Amount *evaluations) {
    const Node *node = graph_node(f->graph, user);
    const IntList *axes = node_attr(node, "axes").ints;
    const Type *type = graph_type(f->graph, arg);
    uint32_t last = node->type->rank;
    if (last == 0) return *evaluations;
    const Dim *extent = node->type->dims[last - 1];
    bool varies = axes->count > 0 && axes->items[axes->count - 1] == last - 1 &&
                  type->dims[type->rank - 1] == extent;
    return varies ? *evaluations : over(*evaluations, amount_of_dim(f, extent));
}

Amount cost_steps(const Fuser *f, NodeId id) {
    const Node *node = graph_node(f->graph, id);
    switch (fuser_class(f, id)) {
    case CLASS_REDUCE:
    case CLASS_ARGREDUCE: return amount_elements(f, node->args[0]);
    case CLASS_WINDOW: return window_evaluations(f, id);
    case CLASS_CONTRACT:
        return times(amount_elements(f, id),
                     label_product(f, node->args[0], node_attr(node, "a").ints,
                                   node_attr(node, "out").ints));
    case CLASS_CONV: {
        const Type *w = graph_type(f->graph, node->args[1]);
        Amount taps = over(amount_elements(f, node->args[1]), amount_of_dim(f, w->dims[0]));
        return times(amount_elements(f, id), taps);
    }
    default: return amount_elements(f, id);
    }
}

Amount cost_evaluations(const Fuser *f, NodeId user, NodeId arg, const Amount *evaluations) {
    switch (fuser_class(f, user)) {
    case CLASS_BROADCAST: return broadcast_evaluations(f, user, arg, evaluations);
    case CLASS_REDUCE:
    case CLASS_ARGREDUCE:
    case CLASS_CUMULATIVE:
    case CLASS_SORT:
    case CLASS_SCATTER: return amount_elements(f, arg);
    case CLASS_CONTRACT: return contract_evaluations(f, user, arg);
    case CLASS_CONV: return conv_evaluations(f, user, arg);
    case CLASS_WINDOW: return window_evaluations(f, user);
    default: return *evaluations;
    }
}

/* ---- kernels --------------------------------------------------------------------------------- */

double cost_time_on(const Fuser *f, double bytes, double flops, double cores) {
    const Target *t = fuser_prices(f);
    bool cached = bytes < (double)t->l3_bytes / 2;
    double memory = bytes / (cached ? t->l2_gbytes * cores : t->memory_gbytes);
    double arithmetic = flops / (t->core_gflops * cores);
    return t->launch_ns + (memory > arithmetic ? memory : arithmetic);
}

double cost_time_at(const Fuser *f, double bytes, double flops) {
    return cost_time_on(f, bytes, flops, fuser_prices(f)->cores);
}

static void add_source(Sources *s, NodeId id) {
    for (uint32_t i = 0; i < s->count; i++)
        if (s->items[i] == id) return;
    if (s->count < FUSE_MAX_SOURCES) s->items[s->count++] = id;
}

static bool is_movement(const Fuser *f, NodeId id) {
    return (op_info(graph_node(f->graph, id)->op)->flags & FLAG_movement) != 0;
}

/* The tensor in memory that a read of `id` comes to: movement that no group holds yet costs
 * nothing. */
static void add_moved(const Fuser *f, Sources *s, NodeId id, uint32_t depth) {
    if (kernel_holds_leaf(f->graph, id)) return;
    bool moves = fuser_is_op(f, id) && f->in[id].count == 0 && is_movement(f, id);
    if (!moves || depth == 0) {
        add_source(s, id);
        return;
    }
    const Node *node = graph_node(f->graph, id);
    for (uint32_t i = 0; i < node->arg_count; i++) add_moved(f, s, node->args[i], depth - 1);
}

/* A point of a kernel of bands has whole rows, so that cores share no panels: each reads all
 * weights, and few rows are for few cores. */
static void add_bands(const Fuser *f, const Group *group, Work *work) {
    NodeId product = band_product(f, group);
    if (product == NODE_none) return;
    Amount rows = over(amount_elements(f, product), amount_of_dim(f, band_columns(f, product)));
    for (int p = 0; p < FUSE_POINTS; p++) work->bands.at[p] = ceil(rows.at[p] / BAND_ROWS);
    work->again = amount_bytes(f, band_weights(f, product));
}

Work cost_of_group(const Fuser *f, const Group *group) {
    f->ctx->work.priced += group->nodes.count;
    Work work = {.flops = constant(0), .stored = constant(0)};
    add_bands(f, group, &work);
    for (size_t i = 0; i < group->nodes.count; i++) {
        NodeId id = group->nodes.data[i];
        const Node *node = graph_node(f->graph, id);
        work.flops = add(work.flops, scale(group->evaluations.data[i], cost_flops(f, id)));
        if (group_stores(f, group, id)) work.stored = add(work.stored, amount_bytes(f, id));
        for (uint32_t k = 0; k < node->arg_count; k++)
            if (!group_has(group, node->args[k]))
                add_moved(f, &work.sources, node->args[k], MAX_MOVES);
    }
    return work;
}

Amount cost_work_time(const Fuser *f, const Work *work) {
    Amount bytes = work->stored, time;
    for (uint32_t i = 0; i < work->sources.count; i++)
        bytes = add(bytes, amount_bytes(f, work->sources.items[i]));
    for (int p = 0; p < FUSE_POINTS; p++) {
        double cores = fuser_prices(f)->cores;
        if (work->bands.at[p] > 0 && work->bands.at[p] < cores) cores = work->bands.at[p];
        if (work->bands.at[p] > 0) bytes.at[p] += (cores - 1) * work->again.at[p];
        time.at[p] = cost_time_on(f, bytes.at[p], work->flops.at[p], cores);
    }
    return time;
}

/* ---- absorbing ------------------------------------------------------------------------------- */

/* What it takes to compute a node from memory: all maps behind it that no group holds yet. */
typedef struct Cone {
    NodeId nodes[MAX_CONE];
    uint32_t count;
    bool whole; /* false: it was too large to be followed */
    double flops;
    Sources sources;
} Cone;

static void follow(const Fuser *f, Cone *cone, NodeId id) {
    for (uint32_t i = 0; i < cone->count; i++)
        if (cone->nodes[i] == id) return;
    bool inside = fuser_is_op(f, id) && f->in[id].count == 0 && fuser_is_pointwise(f, id);
    if (!inside) {
        if (!kernel_holds_leaf(f->graph, id)) add_source(&cone->sources, id);
        return;
    }
    if (cone->count == MAX_CONE) {
        cone->whole = false;
        add_source(&cone->sources, id);
        return;
    }
    cone->nodes[cone->count++] = id;
    cone->flops += cost_flops(f, id);
    const Node *node = graph_node(f->graph, id);
    for (uint32_t i = 0; i < node->arg_count; i++) follow(f, cone, node->args[i]);
}

static void drop_source(Sources *s, NodeId id) {
    for (uint32_t i = 0; i < s->count; i++)
        if (s->items[i] == id) s->items[i--] = s->items[--s->count];
}

/* The time of the group when it computes `id` itself, and when it reads it. */
static void time_group(const Fuser *f, NodeId id, const Group *group, const Cone *cone,
                       Amount *inside, Amount *outside) {
    Work work = cost_of_group(f, group);
    drop_source(&work.sources, id);
    Work with = work, without = work;
    with.flops = add(with.flops, scale(cost_uses(f, id, group), cost_flops(f, id)));
    for (uint32_t i = 0; i < cone->sources.count; i++)
        add_source(&with.sources, cone->sources.items[i]);
    add_source(&without.sources, id);
    *inside = add(*inside, cost_work_time(f, &with));
    *outside = add(*outside, cost_work_time(f, &without));
}

Amount cost_uses(const Fuser *f, NodeId id, const Group *group) {
    Amount sum = constant(0);
    for (size_t i = 0; i < group->nodes.count; i++) {
        NodeId user = group->nodes.data[i];
        const Node *node = graph_node(f->graph, user);
        for (uint32_t k = 0; k < node->arg_count; k++) {
            if (node->args[k] != id) continue;
            Amount more = cost_evaluations(f, user, id, &group->evaluations.data[i]);
            bool once = op_is_elementwise(node->op); /* of several elementwise uses */
            for (int p = 0; once && p < FUSE_POINTS; p++)
                if (more.at[p] > sum.at[p]) sum.at[p] = more.at[p];
            if (!once) sum = add(sum, more);
            break;
        }
    }
    return sum;
}

bool cost_prefers_absorbed(const Fuser *f, NodeId id, Group *const *groups, size_t count,
                           Refusal *out_refusal) {
    Cone cone = {.whole = true};
    follow(f, &cone, id);
    if (count > 1 && (!cone.whole || cone.flops > FUSE_DEAR_FLOPS)) {
        *out_refusal = refusal(REASON_dear_to_repeat);
        refusal_note(out_refusal, "flops", cone.flops);
        return false;
    }
    Work own = {.sources = cone.sources, .stored = amount_bytes(f, id)};
    own.flops = scale(amount_elements(f, id), cone.flops);
    Amount inside = constant(0), outside = cost_work_time(f, &own);
    for (size_t i = 0; i < count; i++) time_group(f, id, groups[i], &cone, &inside, &outside);
    double ratio = 0;
    for (int p = 0; p < FUSE_POINTS; p++) ratio += inside.at[p] / outside.at[p];
    if (ratio < FUSE_POINTS) return true;
    *out_refusal = refusal(REASON_slower);
    refusal_note(out_refusal, "fused ns", inside.at[1]);
    refusal_note(out_refusal, "apart ns", outside.at[1]);
    return false;
}
