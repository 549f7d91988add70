/* Control ops as straight code. Programs have no branches: a cond computes both blocks and selects,
 * a scan of constant length and a loop of few steps are unrolled. Blocks that may fail (an index)
 * are left, since code that is not wanted must not report an error. */
#include "ir/build.h"
#include "passes/compare.h"
#include "passes/decompose/decompose.h"

enum {
    MAX_LOOP_STEPS = 64,
    MAX_SCAN_STEPS = 4096,
    MAX_UNROLLED_NODES = 100000 /* steps times nodes of the body */
};

static bool may_fail(const Graph *graph) {
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const Node *node = &graph->nodes.data[i];
        if (op_info(node->op)->flags & FLAG_fallible && node->op != OP_loop) return true;
        for (uint32_t k = 0; k < node->region_count; k++) {
            if (may_fail(node->regions[k])) return true;
        }
    }
    return false;
}

static NodeId *mapped_args(const Rewrite *r, NodeId id, uint32_t from, uint32_t count) {
    NodeId *args = NEW_ARRAY(r->ctx->scratch, NodeId, count);
    for (uint32_t i = 0; i < count; i++) args[i] = rewrite_arg(r, id, from + i);
    return args;
}

/* What the rule returns for its results, as values of the types that the op gives: they are kept
 * for items when there are several. */
static NodeId give_results(Rewrite *r, NodeId id, NodeId *results) {
    const Type *type = graph_node(r->from, id)->type;
    if (!type->is_tuple) return build_as(r->to, results[0], type);
    for (uint32_t i = 0; i < type->item_count; i++) {
        results[i] = build_as(r->to, results[i], type->items[i]);
    }
    r->results[id] = results;
    return results[0];
}

/* `condition`, a bool scalar, chooses between whole tensors. */
static NodeId choose(Graph *g, NodeId condition, NodeId yes, NodeId no) {
    const Type *type = graph_type(g, yes);
    if (yes == no) return yes;
    NodeId wide =
        type->rank ? build_broadcast(g, condition, type->dims, type->rank, NULL) : condition;
    return build_select(g, wide, yes, no);
}

NodeId decompose_cond(Rewrite *r, NodeId id) {
    const Node *node = graph_node(r->from, id);
    const Graph *then = node->regions[0], *other = node->regions[1];
    if (may_fail(then) || may_fail(other)) return NODE_none;
    NodeId condition = rewrite_arg(r, id, 0);
    const NodeId *args = mapped_args(r, id, 1, node->arg_count - 1);
    size_t count = then->outputs.count;
    NodeId *yes = NEW_ARRAY(r->ctx->scratch, NodeId, count);
    NodeId *no = NEW_ARRAY(r->ctx->scratch, NodeId, count);
    rewrite_splice(r, then, args, yes);
    rewrite_splice(r, other, args, no);
    for (size_t i = 0; i < count; i++) yes[i] = choose(r->to, condition, yes[i], no[i]);
    return give_results(r, id, yes);
}

/* Each step goes on with the body's values only while the condition has held so far. */
NodeId decompose_loop(Rewrite *r, NodeId id) {
    const Node *node = graph_node(r->from, id);
    const Graph *condition = node->regions[0], *body = node->regions[1];
    int64_t limit = node_attr(node, "limit").i;
    int64_t size = (int64_t)graph_size(condition) + graph_size(body);
    bool short_loop = limit <= MAX_LOOP_STEPS && limit * size <= MAX_UNROLLED_NODES;
    if (!short_loop || may_fail(condition) || may_fail(body)) return NODE_none;
    uint32_t count = node->arg_count;
    NodeId *values = mapped_args(r, id, 0, count);
    NodeId *next = NEW_ARRAY(r->ctx->scratch, NodeId, count);
    NodeId active = NODE_none;
    for (int64_t step = 0; step < limit; step++) {
        NodeId holds;
        rewrite_splice(r, condition, values, &holds);
        active = step ? build_binary(r->to, OP_and, active, holds) : holds;
        rewrite_splice(r, body, values, next);
        for (uint32_t i = 0; i < count; i++) values[i] = choose(r->to, active, next[i], values[i]);
    }
    return give_results(r, id, values);
}

/* ---- scan ------------------------------------------------------------------------------------ */

/* The values of all steps, one after the other along a new axis 0. */
static NodeId stack_steps(Graph *g, Arena *scratch, const NodeId *values, int64_t count) {
    const Type *type = graph_type(g, values[0]);
    const Dim *dims[TYPE_MAX_RANK + 1] = {dim_const(g->ctx, 1)};
    for (uint32_t i = 0; i < type->rank; i++) dims[i + 1] = type->dims[i];
    NodeId *parts = NEW_ARRAY(scratch, NodeId, (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        parts[i] = build_reshape(g, values[i], dims, type->rank + 1);
    }
    if (count == 1) return parts[0];
    Attr attrs[] = {{.i = 0}};
    return build_op(g, OP_concat, parts, (uint32_t)count, attrs);
}

typedef struct Scan {
    Rewrite *r;
    const Node *node;
    const Graph *body;
    uint32_t carried;
    int64_t steps;
    NodeId *args;  /* the carried values, then the sequences */
    NodeId **made; /* by result of the body and step */
} Scan;

static void scan_step(Scan *s, int64_t step) {
    Arena *scratch = s->r->ctx->scratch;
    size_t outputs = s->body->outputs.count;
    NodeId *values = NEW_ARRAY(scratch, NodeId, s->node->arg_count);
    NodeId *results = NEW_ARRAY(scratch, NodeId, outputs);
    for (uint32_t i = 0; i < s->node->arg_count; i++) {
        bool carried = i < s->carried;
        values[i] = carried ? s->args[i] : build_step(s->r->to, s->args[i], step);
    }
    rewrite_splice(s->r, s->body, values, results);
    for (uint32_t i = 0; i < outputs; i++) {
        if (i < s->carried)
            s->args[i] = results[i];
        else
            s->made[i][step] = results[i];
    }
}

static NodeId *scan_results(Scan *s) {
    size_t outputs = s->body->outputs.count;
    NodeId *results = NEW_ARRAY(s->r->ctx->scratch, NodeId, outputs);
    const Type *type = s->node->type;
    for (uint32_t i = 0; i < outputs; i++) {
        if (i < s->carried) {
            results[i] = s->args[i];
        } else if (!s->steps) {
            results[i] = decompose_zeros(s->r->to, type->is_tuple ? type->items[i] : type);
        } else {
            results[i] = stack_steps(s->r->to, s->r->ctx->scratch, s->made[i], s->steps);
        }
    }
    return results;
}

NodeId decompose_scan(Rewrite *r, NodeId id) {
    Scan s = {.r = r, .node = graph_node(r->from, id)};
    s.body = s.node->regions[0];
    s.carried = (uint32_t)node_attr(s.node, "carried").i;
    const Type *sequence = graph_type(r->to, rewrite_arg(r, id, s.carried));
    bool known = dim_is_const(sequence->dims[0], &s.steps) && s.steps <= MAX_SCAN_STEPS;
    if (!known || s.steps * graph_size(s.body) > MAX_UNROLLED_NODES) return NODE_none;
    s.args = mapped_args(r, id, 0, s.node->arg_count);
    s.made = NEW_ARRAY(r->ctx->scratch, NodeId *, s.body->outputs.count);
    for (size_t i = 0; i < s.body->outputs.count; i++) {
        s.made[i] = NEW_ARRAY(r->ctx->scratch, NodeId, (size_t)s.steps);
    }
    bool reverse = node_attr(s.node, "reverse").i != 0;
    for (int64_t i = 0; i < s.steps; i++) scan_step(&s, reverse ? s.steps - 1 - i : i);
    return give_results(r, id, scan_results(&s));
}
