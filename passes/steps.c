/* steps: products of the same matrix with every step of a sequence become one product.
 *
 *     x[0] · w, x[1] · w, …, x[n - 1] · w   ->   (x · w)[0], (x · w)[1], …
 *
 * That is what a recurrent layer leaves once its steps stand one after the other, whether a scan
 * or a loop of the language wrote them: what the inputs give to the gates does not depend on the
 * state. One product reads the weights once instead of n times, and has rows enough for register
 * tiles and threads. Each result is summed as before. */
#include "base/guard.h"
#include "ir/build.h"
#include "passes/rewrite.h"

enum { LEAST_STEPS = 2, MOST_BYTES = 1 << 28 };

/* Operand `which` of a contraction as step `index` along `axis` of the tensor `whole`. */
typedef struct Step {
    NodeId whole;
    uint32_t which, axis;
    int64_t index, extent;
} Step;

/* Contractions that differ in the step alone. */
typedef struct Family {
    NodeId contract; /* the first of them */
    Step step;
    int64_t count;
    struct Family *next;
} Family;

/* ---- what is a step -------------------------------------------------------------------------- */

static bool is_whole_axis(const Graph *g, const Node *slice, uint32_t axis) {
    return dim_equals_int(node_attr(slice, "start").dims->items[axis], 0) &&
           node_attr(slice, "step").ints->items[axis] == 1 &&
           slice->type->dims[axis] == graph_type(g, slice->args[0])->dims[axis];
}

/* Whether the reshape only drops the axis. */
static bool drops_axis(const Type *from, const Type *to, uint32_t axis) {
    if (to->rank + 1 != from->rank) return false;
    for (uint32_t i = 0; i < to->rank; i++)
        if (to->dims[i] != from->dims[i < axis ? i : i + 1]) return false;
    return true;
}

static bool find_step(const Graph *g, NodeId contract, uint32_t which, Step *out) {
    const Node *reshape = graph_node(g, graph_node(g, contract)->args[which]);
    if (reshape->op != OP_reshape) return false;
    const Node *slice = graph_node(g, reshape->args[0]);
    if (slice->op != OP_slice) return false;
    const Type *whole = graph_type(g, slice->args[0]);
    *out = (Step){.whole = slice->args[0], .which = which, .axis = whole->rank};
    for (uint32_t i = 0; i < whole->rank; i++) {
        if (is_whole_axis(g, slice, i)) continue;
        if (out->axis != whole->rank) return false;
        out->axis = i;
    }
    return out->axis < whole->rank && dim_equals_int(slice->type->dims[out->axis], 1) &&
           dim_is_const(whole->dims[out->axis], &out->extent) &&
           dim_is_const(node_attr(slice, "start").dims->items[out->axis], &out->index) &&
           drops_axis(slice->type, reshape->type, out->axis);
}

/* ---- families -------------------------------------------------------------------------------- */

static bool is_of_family(const Graph *g, const Family *family, NodeId contract, const Step *step) {
    const Node *a = graph_node(g, family->contract), *b = graph_node(g, contract);
    uint32_t other = 1 - step->which;
    bool same = family->step.whole == step->whole && family->step.which == step->which &&
                family->step.axis == step->axis && a->args[other] == b->args[other];
    for (uint32_t i = 0; same && i < op_info(OP_contract)->attr_count; i++)
        same = a->attrs[i].bits == b->attrs[i].bits;
    return same;
}

static bool find_family(const Rewrite *r, const Family *families, NodeId contract,
                        const Family **out_family, Step *out_step) {
    for (uint32_t which = 0; which < 2; which++) {
        if (!find_step(r->from, contract, which, out_step)) continue;
        for (const Family *f = families; f != NULL; f = f->next) {
            if (!is_of_family(r->from, f, contract, out_step)) continue;
            *out_family = f;
            return true;
        }
    }
    return false;
}

static void count_step(Rewrite *r, Family **families, NodeId contract) {
    const Family *known;
    Step step;
    if (find_family(r, *families, contract, &known, &step)) {
        ((Family *)(uintptr_t)known)->count++;
        return;
    }
    for (uint32_t which = 0; which < 2; which++) {
        if (!find_step(r->from, contract, which, &step)) continue;
        Family *family = NEW(r->ctx->scratch, Family);
        *family = (Family){contract, step, 1, *families};
        *families = family;
        return;
    }
}

static Family *find_families(Rewrite *r) {
    Family *families = NULL;
    bool *live = graph_find_live(r->from, r->ctx->scratch);
    for (NodeId id = 0; id < r->from->nodes.count; id++)
        if (live[id] && graph_node(r->from, id)->op == OP_contract) count_step(r, &families, id);
    return families;
}

/* ---- one product ----------------------------------------------------------------------------- */

/* The labels with a new one at `at`, greater than all that the contraction has. */
static const IntList *with_label(IrContext *ctx, const IntList *labels, uint32_t at,
                                 int64_t label) {
    int64_t items[TYPE_MAX_RANK + 1];
    for (uint32_t i = 0; i <= labels->count; i++)
        items[i] = i == at ? label : labels->items[i < at ? i : i - 1];
    return ir_ints(ctx, items, labels->count + 1);
}

static int64_t new_label(const Node *contract) {
    int64_t most = 0;
    const IntList *lists[] = {node_attr(contract, "a").ints, node_attr(contract, "b").ints};
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < lists[k]->count; i++)
            if (lists[k]->items[i] > most) most = lists[k]->items[i];
    return most + 1;
}

static NodeId all_steps(Rewrite *r, NodeId id, const Step *step) {
    const Node *node = graph_node(r->from, id);
    IrContext *ctx = r->to->ctx;
    int64_t label = new_label(node);
    const IntList *labels[] = {node_attr(node, "a").ints, node_attr(node, "b").ints};
    labels[step->which] = with_label(ctx, labels[step->which], step->axis, label);
    NodeId args[] = {rewrite_arg(r, id, 0), rewrite_arg(r, id, 1)};
    args[step->which] = r->map[step->whole];
    Attr attrs[] = {{.ints = labels[0]},
                    {.ints = labels[1]},
                    {.ints = with_label(ctx, node_attr(node, "out").ints, 0, label)},
                    {.dtype = node->type->dtype}};
    return build_op(r->to, OP_contract, args, 2, attrs);
}

/* Most steps are asked for, and all of them together have room. */
static bool is_worth_it(const Rewrite *r, const Family *family) {
    const Type *type = graph_type(r->from, family->contract);
    int64_t bytes = type_bytes(r->from->ctx, type)->hi;
    return family->count >= LEAST_STEPS && 2 * family->count > family->step.extent &&
           type->rank < TYPE_MAX_RANK && bytes <= MOST_BYTES / family->step.extent;
}

static NodeId steps_node(Rewrite *r, NodeId id) {
    const Family *family;
    Step step;
    if (graph_node(r->from, id)->op != OP_contract) return NODE_none;
    if (r->state == NULL) r->state = find_families(r);
    if (!find_family(r, r->state, id, &family, &step) || !is_worth_it(r, family)) return NODE_none;
    if (!pass_allows(r->ctx, "all-steps", r->from, id)) return NODE_none;
    NodeId all = all_steps(r, id, &step);
    return build_step(r->to, all, step.index);
}

Graph *pass_steps(PassContext *ctx, Arena *arena, const Graph *graph) {
    return rewrite_graph(ctx, arena, graph, steps_node, NULL);
}
