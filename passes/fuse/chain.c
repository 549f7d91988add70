/* Chains, the macro move for attention: a contraction whose operand is made, through maps and
 * reductions along the axis that it sums, of another contraction's result.
 *
 *     scores = contract(q, k);  …;  max, Σ exp, … along the keys;  …;  contract(weights, v)
 *
 * What lies between the two contractions on the way to the weights joins them in one group, if the
 * cascade algebra (cascade.h) finds all its sums in one sweep over the keys: then the kernel holds
 * a block of weights at a time, and the rows of scores, which would be the largest tensors of the
 * model, are never stored. No two of these parts alone would do, as they need whole rows. */
#include "passes/fuse/chain.h"

#include "passes/fuse/cascade.h"
#include "passes/fuse/cost.h"
#include "passes/fuse/reduction.h"

enum { MOST_BETWEEN = 96 };

typedef struct Chain {
    Fuser *f;
    NodeId scores, values; /* the contractions */
    uint32_t operand;      /* of `values`: the weights */
    NodeId weights;
    uint32_t axis; /* of the weights, the one that is summed */
    NodeId behind[MOST_BETWEEN];
    uint32_t behind_count;
    VEC(NodeId) nodes; /* of the group, in order */
    const Dim *rows;   /* elements of what reductions of the weights give */
    size_t core;       /* how many of them lead to the sums of values */
    bool *in;          /* by node */
    const char *why;   /* when it cannot be one kernel */
} Chain;

/* ---- what lies between ----------------------------------------------------------------------- */

static bool same_dims(const Type *a, const Type *b) {
    bool same = a->rank == b->rank;
    for (uint32_t i = 0; same && i < a->rank; i++) same = a->dims[i] == b->dims[i];
    return same;
}

/* The axis of the weights that `values` sums over; false when they are several. */
static bool find_axis(Chain *c) {
    const Node *node = graph_node(c->f->graph, c->values);
    const Type *type = graph_type(c->f->graph, c->weights);
    const IntList *labels = node_attr(node, c->operand ? "b" : "a").ints;
    uint32_t count = 0;
    for (uint32_t i = 0; i < labels->count; i++) {
        if (ints_find(node_attr(node, "out").ints, labels->items[i]) >= 0) continue;
        c->axis = i;
        count++;
    }
    c->rows = dim_const(c->f->ctx->ir, 1);
    for (uint32_t i = 0; i < type->rank; i++)
        if (i != c->axis) c->rows = dim_mul(c->f->ctx->ir, c->rows, type->dims[i]);
    return count == 1;
}

static bool is_row_reduction(const Chain *c, NodeId id) {
    if (fuser_class(c->f, id) != CLASS_REDUCE) return false;
    ReduceClass class = reduction_class(c->f, id);
    return class.axes == 1U << c->axis &&
           same_dims(class.type, graph_type(c->f->graph, c->weights));
}

static bool is_listed(const Chain *c, NodeId id) {
    for (uint32_t i = 0; i < c->behind_count; i++)
        if (c->behind[i] == id) return true;
    return false;
}

static bool is_passed(const Chain *c, NodeId id) {
    return fuser_is_op(c->f, id) && (fuser_is_pointwise(c->f, id) || is_row_reduction(c, id));
}

/* From the weights back to the contractions of their dims. */
static void look_behind(Chain *c) {
    const Fuser *f = c->f;
    c->scores = NODE_none;
    c->behind[c->behind_count++] = c->weights;
    for (uint32_t i = 0; i < c->behind_count; i++) {
        NodeId id = c->behind[i];
        bool scores = fuser_class(f, id) == CLASS_CONTRACT &&
                      same_dims(graph_type(f->graph, id), graph_type(f->graph, c->weights));
        if (scores && f->in[id].count == 0) c->scores = id;
        if (!is_passed(c, id)) continue;
        const Node *node = graph_node(f->graph, id);
        for (uint32_t k = 0; k < node->arg_count; k++)
            if (c->behind_count < MOST_BETWEEN && !is_listed(c, node->args[k]))
                c->behind[c->behind_count++] = node->args[k];
    }
}

/* Without one, two products are better made by themselves, with their operands packed. */
static bool has_reduction(const Chain *c) {
    for (uint32_t i = 0; i < c->behind_count; i++)
        if (fuser_is_op(c->f, c->behind[i]) && is_row_reduction(c, c->behind[i])) return true;
    return false;
}

/* The scores, what is made of them on the way to the weights, the sums of these, and `values`, in
 * order. */
static void take_core(Chain *c) {
    const Fuser *f = c->f;
    for (NodeId id = c->scores; id < c->values; id++) {
        bool wanted = is_listed(c, id) || (fuser_is_op(f, id) && is_row_reduction(c, id));
        if (!wanted) continue;
        const Node *node = graph_node(f->graph, id);
        bool made = id == c->scores;
        for (uint32_t i = 0; is_passed(c, id) && i < node->arg_count; i++)
            made |= c->in[node->args[i]];
        if (!made || f->in[id].count > 0) continue;
        c->in[id] = true;
        vec_push(f->arena, &c->nodes, id);
    }
    c->in[c->values] = true;
    vec_push(f->arena, &c->nodes, c->values);
    c->core = c->nodes.count;
}

/* ---- what follows ---------------------------------------------------------------------------- */

static bool fits_behind(const Chain *c, NodeId id) {
    const Fuser *f = c->f;
    switch (fuser_class(f, id)) {
    case CLASS_SLICE:
    case CLASS_PAD:
    case CLASS_REVERSE:
    case CLASS_CONCAT:
    case CLASS_GATHER: return false;
    default: break;
    }
    if (!fuser_is_pointwise(f, id) || f->in[id].count > 0) return false;
    const Dim *count = type_elements(f->ctx->ir, graph_type(f->graph, id));
    return count == c->rows || count == type_elements(f->ctx->ir, graph_type(f->graph, c->values));
}

/* Maps of the sums of values, and what repeats a row's number for them. What else needs something
 * of the chain is `outside`, and so is all that needs that. */
static void take_epilogue(Chain *c) {
    const Fuser *f = c->f;
    bool *outside = NEW_ARRAY(f->arena, bool, f->graph->nodes.count);
    for (NodeId id = c->scores + 1; id < f->graph->nodes.count; id++) {
        if (!f->live[id] || c->in[id]) continue;
        const Node *node = graph_node(f->graph, id);
        bool uses = false, tainted = false;
        for (uint32_t i = 0; i < node->arg_count; i++) {
            uses |= c->in[node->args[i]];
            tainted |= outside[node->args[i]];
        }
        bool room = c->nodes.count < FUSE_MAX_NODES / 2 && !fuser_find_ban(f, c->values, id);
        if (uses && !tainted && room && fuser_is_op(f, id) &&
            (fits_behind(c, id) || is_row_reduction(c, id))) {
            c->in[id] = true;
            vec_push(f->arena, &c->nodes, id);
        } else if (uses || tainted) {
            outside[id] = true;
        }
    }
}

/* How many of the first `count` nodes are needed outside of them. */
static uint32_t count_results(const Chain *c, size_t count) {
    const Fuser *f = c->f;
    bool *first = NEW_ARRAY(f->arena, bool, f->graph->nodes.count);
    uint32_t results = 0;
    for (size_t i = 0; i < count; i++) first[c->nodes.data[i]] = true;
    for (size_t i = 0; i < count; i++) {
        NodeId id = c->nodes.data[i];
        bool needed = f->is_output[id];
        for (uint32_t u = f->user_start[id]; !needed && u < f->user_start[id + 1]; u++)
            needed = !first[f->users[u]];
        results += needed;
    }
    return results;
}

/* The longest beginning with one result; its least length goes to c->core. */
static bool cut(Chain *c) {
    size_t least = 0, longest = 0;
    for (size_t count = c->core; count <= c->nodes.count; count++) {
        if (count_results(c, count) != 1) continue;
        longest = count;
        if (least == 0) least = count;
    }
    c->core = least;
    c->nodes.count = longest;
    return longest > 0;
}

/* ---- whether it is worth it ------------------------------------------------------------------ */

/* Where the weights lie in the region, which is numbered anew. */
static NodeId last_contraction(const Graph *region) {
    for (NodeId id = (NodeId)region->nodes.count; id-- > 0;)
        if (graph_node(region, id)->op == OP_contract) return id;
    return NODE_none;
}

/* Why the region's sums cannot be made in one sweep over the keys. */
static const char *cascade_fault(const Chain *c, const Graph *region) {
    Axes *axes = &c->f->axes;
    const Cascade *cascade = cascade_analyse_chain(axes, c->f->arena, region,
                                                   last_contraction(region), c->operand, c->axis);
    if (cascade == NULL) return "the row between the contractions has too many reductions";
    for (uint32_t i = 0; i < cascade->count; i++) {
        const CascadeSum *sum = &cascade->sums[i];
        for (uint32_t k = 0; k < sum->factor_count; k++)
            if (sum->factors[k].form == CASCADE_hoisted)
                return "the weights are divided by what is known only after all of them, and "
                       "moving the division behind their sum was not allowed";
        if (sum->form > CASCADE_corrected)
            return "a sum along the keys needs another one to be finished before";
    }
    if (cascade->derived_sweeps > 1) return "its sums were not found in one sweep over the keys";
    return NULL;
}

static double total(Amount a) {
    double sum = 0;
    for (int p = 0; p < FUSE_POINTS; p++) sum += a.at[p];
    return sum;
}

/* The longest axis of the scores that keys do not have, at each setting: lanes of vectors. */
static Amount query_lanes(const Chain *c) {
    const Type *type = graph_type(c->f->graph, c->scores);
    Amount most = {{1, 1, 1}};
    for (uint32_t i = 0; i < type->rank; i++) {
        Amount extent = amount_of_dim(c->f, type->dims[i]);
        const Node *node = graph_node(c->f->graph, c->values);
        const IntList *mine = node_attr(node, c->operand ? "b" : "a").ints;
        const IntList *other = node_attr(node, c->operand ? "a" : "b").ints;
        if (i == c->axis || ints_find(other, mine->items[i]) >= 0) continue;
        for (int p = 0; p < FUSE_POINTS; p++)
            if (extent.at[p] > most.at[p]) most.at[p] = extent.at[p];
    }
    return most;
}

/* Fused, the scores are never stored, but a block of queries fills whole vectors; apart, two more
 * kernels are launched, and one of them does little but read and write the scores. */
static bool is_cheaper(Chain *c, const Group *group, Refusal *out_refusal) {
    const Fuser *f = c->f;
    Work fused = cost_of_group(f, group);
    Amount lanes = query_lanes(c), bytes = amount_bytes(f, c->scores), apart;
    Amount plain = cost_work_time(f, &fused);
    double width = (double)f->ctx->target->lanes;
    for (int p = 0; p < FUSE_POINTS; p++) {
        double rows = lanes.at[p] < 1 ? 1 : lanes.at[p];
        double filled = (double)(int64_t)((rows + width - 1) / width) * width;
        fused.flops.at[p] *= filled / rows;
        apart.at[p] = plain.at[p] + cost_time_at(f, 2 * bytes.at[p], 0) + f->ctx->target->launch_ns;
    }
    Amount one = cost_work_time(f, &fused);
    refusal_note(out_refusal, "fused ns", one.at[1]);
    refusal_note(out_refusal, "apart ns", apart.at[1]);
    return total(one) < total(apart);
}

/* ---- the groups ------------------------------------------------------------------------------ */

static void note_chain(Fuser *f, const Chain *c, const char *why, const Refusal *price) {
    ChainNote note = {.scores = c->scores, .values = c->values, .why = why, .price = *price};
    vec_push(f->arena, &f->chain_notes, note);
}

static void undo(Fuser *f, const Group *group) {
    for (size_t i = 0; i < group->nodes.count; i++) f->in[group->nodes.data[i]].count = 0;
    f->groups.count--;
}

static const char *banned(const Fuser *f, NodeId values) {
    for (size_t i = 0; i < f->chain_bans.count; i++)
        if (f->chain_bans.data[i].root == values) return f->chain_bans.data[i].why;
    return NULL;
}

static void make_group(Chain *c) {
    Fuser *f = c->f;
    Refusal price = {.reason = REASON_slower};
    const char *why = banned(f, c->values);
    take_core(c);
    take_epilogue(c);
    if (why == NULL && !cut(c)) why = "the weights are needed elsewhere, and have to be stored";
    if (why != NULL) {
        note_chain(f, c, why, &price);
        return;
    }
    Group *group = group_add(f, c->nodes.data[0]);
    for (size_t i = 1; i < c->nodes.count; i++) group_join(f, group, c->nodes.data[i]);
    group->seeded = group->chain = true;
    group->root = c->values;
    group->seed_count = (uint32_t)c->nodes.count;
    group->core = (uint32_t)c->core;
    Region region = group_region(f, group, c->nodes.count, f->arena, NULL);
    if (group_has_cycle(f, group)) why = "what lies between is needed before";
    if (why == NULL) why = cascade_fault(c, region.graph);
    if (why == NULL && !is_cheaper(c, group, &price)) why = "fused, it would take longer";
    if (why != NULL) undo(f, group);
    note_chain(f, c, why, &price);
}

static void try_operand(Fuser *f, NodeId values, uint32_t operand) {
    Chain *c = NEW(f->arena, Chain);
    *c = (Chain){.f = f, .values = values, .operand = operand};
    c->weights = graph_node(f->graph, values)->args[operand];
    if (f->in[values].count > 0 || !fuser_is_op(f, c->weights) || !find_axis(c)) return;
    if (fuser_class(f, c->weights) == CLASS_CONTRACT) return;
    look_behind(c);
    if (c->scores == NODE_none || !has_reduction(c)) return;
    c->in = NEW_ARRAY(f->arena, bool, f->graph->nodes.count);
    make_group(c);
}

void fuse_seed_chains(Fuser *f) {
    f->chain_notes.count = 0;
    if (f->ctx->target == NULL || f->ctx->target->kind != TARGET_cpu) return;
    for (NodeId id = 0; id < f->graph->nodes.count; id++) {
        if (!fuser_is_op(f, id) || fuser_class(f, id) != CLASS_CONTRACT) continue;
        try_operand(f, id, 0);
        try_operand(f, id, 1);
    }
}

/* ---- what was decided ------------------------------------------------------------------------ */

static void note(Remark *remark, const char *name, double value) {
    remark->numbers[remark->number_count++] = (RemarkNumber){name, value};
}

/* A row of scores for a block of queries that stays in the second cache needs no corrections. */
const char *fuse_chain_strategy(Fuser *f, const Group *group, Str name) {
    enum { QUERIES = 64 };
    const Target *target = f->ctx->target;
    const Node *values = graph_node(f->graph, group->root);
    const IntList *a = node_attr(values, "a").ints, *out = node_attr(values, "out").ints;
    const Dim *keys = NULL;
    for (uint32_t i = 0; i < a->count; i++)
        if (ints_find(out, a->items[i]) < 0) keys = graph_type(f->graph, values->args[0])->dims[i];
    double bytes = keys ? (double)keys->hi * QUERIES * 4 : 0;
    bool fits = bytes <= (double)target->l2_bytes / 4;
    Remark remark = {.rule = "fuse-strategy", .kind = REMARK_choice, .where = name};
    remark.origin = values->origin;
    remark.text = fits ? STR("resident: the scores of a block of queries stay in the cache")
                       : STR("stream: keys come in blocks, and sums are corrected as maxima grow");
    note(&remark, "live bytes", bytes);
    pass_remark(f->ctx, &remark);
    return fits ? "resident" : "stream";
}

void fuse_remark_chains(Fuser *f) {
    for (size_t i = 0; i < f->chain_notes.count; i++) {
        const ChainNote *n = &f->chain_notes.data[i];
        Remark remark = {.rule = "fuse-attention",
                         .kind = n->why ? REMARK_missed : REMARK_applied,
                         .origin = graph_node(f->graph, n->values)->origin};
        remark.where = str_format(f->arena, "contract_%u -> contract_%u", n->scores, n->values);
        remark.text = n->why ? str_from(n->why)
                             : STR("two contractions with a row of weights between them are one "
                                   "kernel, which never stores the weights");
        note(&remark, "bytes", amount_bytes(f, n->scores).at[1]);
        for (uint32_t k = 0; k < n->price.number_count; k++)
            remark.numbers[remark.number_count++] = n->price.numbers[k];
        pass_remark(f->ctx, &remark);
    }
}
