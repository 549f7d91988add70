/* siblings: products of one tensor with several known matrices become one product with the
 * matrices side by side, and so does what is made of each column alone afterwards:
 *
 *     x · w1 + b1, x · w2 + b2   ->   y = x · [w1 w2] + [b1 b2];  y[…, :n1], y[…, n1:]
 *
 * Queries, keys and values of an attention are that. One kernel reads x once, in the place of
 * several, and has more panels for threads to share. Each element is summed as before. The results
 * are slices, which cost nothing where a kernel reads them that walks its operands anyhow. So
 * products stay apart whose results are outputs of the model, or go on to ops that would be their
 * epilogue. */
#include "base/guard.h"
#include "ir/build.h"
#include "ir/eval.h"
#include "passes/rewrite.h"

enum {
    MOST_MEMBERS = 4, /* all results lie in memory from the product to the last reader of one */
    MOST_STEPS = 8,   /* of a chain */
    MOST_BYTES = 1 << 28
};

/* A product, and the elementwise ops behind it that need of each column constants alone. */
typedef struct Member {
    NodeId product;
    NodeId chain[MOST_STEPS];
    uint32_t steps;
    int64_t columns;
    struct Family *family;
} Member;

typedef struct Family {
    Member members[MOST_MEMBERS];
    uint32_t count;
    bool judged;         /* whether it may be merged is known */
    NodeId merged;       /* in the new graph; NODE_none until it is made, or when it may not be */
    struct Family *next; /* of the same tensor */
} Family;

typedef struct Siblings {
    const Graph *graph;
    const uint32_t *uses;
    NodeId *user;      /* by node: the last one that uses it */
    Family **families; /* by tensor */
    Member **ends;     /* by node: the member whose chain ends there */
} Siblings;

/* ---- products -------------------------------------------------------------------------------- */

static const IntList *labels_of(const Node *product, uint32_t which) {
    return node_attr(product, which ? "b" : "a").ints;
}

/* The operand that has the columns of the result: its last axis. */
static uint32_t weights_of(const Node *product) {
    const IntList *out = node_attr(product, "out").ints;
    return ints_find(labels_of(product, 1), out->items[out->count - 1]) >= 0;
}

static NodeId tensor_of(const Node *product) { return product->args[!weights_of(product)]; }

static uint32_t column_axis(const Node *product) {
    const IntList *out = node_attr(product, "out").ints;
    int axis = ints_find(labels_of(product, weights_of(product)), out->items[out->count - 1]);
    return (uint32_t)axis;
}

static bool is_known(const Graph *g, NodeId id) {
    const Node *node = graph_node(g, id);
    int64_t count;
    bool known =
        node->op == OP_const || (node->op == OP_param && node_attr(node, "value").blob != NULL);
    return known && type_is_static(node->type, &count);
}

static bool is_product(const Graph *g, const Node *node) {
    if (node->op != OP_contract) return false;
    const IntList *out = node_attr(node, "out").ints;
    if (out->count == 0) return false;
    uint32_t w = weights_of(node);
    bool shared = ints_find(labels_of(node, !w), out->items[out->count - 1]) >= 0;
    return !shared && is_known(g, node->args[w]);
}

static bool same_attrs(const Node *a, const Node *b) {
    for (uint32_t i = 0; i < op_info(a->op)->attr_count; i++)
        if (a->attrs[i].bits != b->attrs[i].bits) return false;
    return true;
}

/* Whether two tensors differ along `axis` at most. */
static bool joins_along(const Graph *g, NodeId x, NodeId y, uint32_t axis) {
    const Type *a = graph_type(g, x), *b = graph_type(g, y);
    bool same = a->dtype == b->dtype && a->rank == b->rank;
    for (uint32_t i = 0; same && i < a->rank; i++) same = i == axis || a->dims[i] == b->dims[i];
    return same;
}

/* ---- what follows a product ------------------------------------------------------------------ */

/* An operand of an elementwise op as what it is a broadcast of; `axis` is the one along the columns
 * there, -1 where all columns get the same. */
typedef struct Operand {
    NodeId source;
    const Node *broadcast; /* NULL: none */
    int axis;
} Operand;

static Operand operand_of(const Graph *g, NodeId id) {
    const Node *node = graph_node(g, id);
    uint32_t last = node->type->rank - 1;
    if (node->op != OP_broadcast) return (Operand){id, NULL, (int)last};
    const Type *from = graph_type(g, node->args[0]);
    int axis = ints_find(node_attr(node, "axes").ints, last);
    bool repeats = axis >= 0 && from->dims[axis] != node->type->dims[last];
    return (Operand){node->args[0], node, repeats ? -1 : axis};
}

static bool is_step(const Graph *g, const Node *node, NodeId value) {
    if (!op_is_elementwise(node->op)) return false;
    for (uint32_t i = 0; i < node->arg_count; i++) {
        if (node->args[i] == value) continue;
        Operand operand = operand_of(g, node->args[i]);
        if (operand.axis >= 0 && !is_known(g, operand.source)) return false;
    }
    return true;
}

static NodeId end_of(const Member *m) { return m->steps ? m->chain[m->steps - 1] : m->product; }

static bool has_one_user(const Siblings *s, NodeId id) {
    if (s->user[id] == NODE_none) return false;
    const Node *user = graph_node(s->graph, s->user[id]);
    uint32_t uses = 0;
    for (uint32_t i = 0; i < user->arg_count; i++) uses += user->args[i] == id;
    return uses == s->uses[id];
}

static void follow_chain(const Siblings *s, Member *m) {
    for (NodeId at = m->product; m->steps < MOST_STEPS && has_one_user(s, at); at = end_of(m)) {
        NodeId user = s->user[at];
        if (!is_step(s->graph, graph_node(s->graph, user), at)) return;
        m->chain[m->steps++] = user;
    }
}

/* ---- families -------------------------------------------------------------------------------- */

static bool same_operand(const Graph *g, NodeId x, NodeId y) {
    Operand a = operand_of(g, x), b = operand_of(g, y);
    if (a.axis != b.axis || (a.broadcast == NULL) != (b.broadcast == NULL)) return false;
    if (a.broadcast && node_attr(a.broadcast, "axes").bits != node_attr(b.broadcast, "axes").bits)
        return false;
    return a.axis < 0 ? a.source == b.source : joins_along(g, a.source, b.source, (uint32_t)a.axis);
}

static bool same_step(const Graph *g, const Member *x, const Member *y, uint32_t step) {
    const Node *a = graph_node(g, x->chain[step]), *b = graph_node(g, y->chain[step]);
    NodeId before_a = step ? x->chain[step - 1] : x->product;
    NodeId before_b = step ? y->chain[step - 1] : y->product;
    bool same = a->op == b->op && a->arg_count == b->arg_count && same_attrs(a, b);
    for (uint32_t i = 0; same && i < a->arg_count; i++) {
        bool value = a->args[i] == before_a;
        same =
            value == (b->args[i] == before_b) && (value || same_operand(g, a->args[i], b->args[i]));
    }
    return same;
}

static bool are_siblings(const Graph *g, const Member *x, const Member *y) {
    const Node *a = graph_node(g, x->product), *b = graph_node(g, y->product);
    uint32_t w = weights_of(a);
    bool same = same_attrs(a, b) && x->steps == y->steps &&
                joins_along(g, a->args[w], b->args[w], column_axis(a));
    for (uint32_t i = 0; same && i < x->steps; i++) same = same_step(g, x, y, i);
    return same;
}

static void add_member(const Siblings *s, Arena *arena, NodeId id) {
    const Node *node = graph_node(s->graph, id);
    Member m = {.product = id};
    if (!dim_is_const(node->type->dims[node->type->rank - 1], &m.columns)) return;
    follow_chain(s, &m);
    Family **list = &s->families[tensor_of(node)], *f = *list;
    while (f && (f->count == MOST_MEMBERS || !are_siblings(s->graph, &f->members[0], &m)))
        f = f->next;
    if (f == NULL) {
        f = NEW(arena, Family);
        *f = (Family){.merged = NODE_none, .next = *list};
        *list = f;
    }
    m.family = f;
    f->members[f->count] = m;
    s->ends[end_of(&m)] = &f->members[f->count++];
}

/* ---- who reads the results ------------------------------------------------------------------- */

/* Kernels of these walk their operands element by element, or copy what they walk often. */
static bool takes_slices(Op op) {
    switch (op_info(op)->class) {
    case CLASS_CONTRACT:
    case CLASS_CONV:
    case CLASS_REDUCE:
    case CLASS_ARGREDUCE:
    case CLASS_WINDOW:
    case CLASS_SLICE: return true;
    default: return op_is_elementwise(op);
    }
}

/* What a kernel of products can do with its result; reductions where they are over whole rows. */
static bool is_epilogue(const Graph *g, const Node *node) {
    if (op_is_elementwise(node->op)) return true;
    if (op_info(node->op)->class != CLASS_REDUCE) return false;
    const IntList *axes = node_attr(node, "axes").ints;
    bool columns = axes->count == 1 && axes->items[0] + 1 == graph_type(g, node->args[0])->rank;
    return columns && graph_node(g, node->args[0])->op != OP_reshape;
}

/* By node: whether it, or what it is after permutes and reshapes, is read by kernels that take
 * slices, and whether its readers would be an epilogue. */
static void find_readers(const Graph *g, const bool *live, bool *out_taken, bool *out_epilogue) {
    for (NodeId id = 0; id < g->nodes.count; id++) out_taken[id] = out_epilogue[id] = true;
    for (size_t i = 0; i < g->outputs.count; i++) out_taken[g->outputs.data[i].node] = false;
    for (NodeId id = (NodeId)g->nodes.count; id-- > 0;) {
        const Node *node = graph_node(g, id);
        bool moved = node->op == OP_permute || node->op == OP_reshape;
        for (uint32_t i = 0; live[id] && i < node->arg_count; i++) {
            NodeId arg = node->args[i];
            out_taken[arg] &= moved ? out_taken[id] : takes_slices(node->op);
            out_epilogue[arg] &= moved ? out_epilogue[id] : is_epilogue(g, node);
        }
    }
}

/* Leaves out products whose result would have to be copied, or would lose an epilogue. */
static void find_families(Siblings *s, const bool *live, Arena *arena) {
    size_t count = s->graph->nodes.count;
    bool *taken = NEW_ARRAY(arena, bool, count), *epilogue = NEW_ARRAY(arena, bool, count);
    find_readers(s->graph, live, taken, epilogue);
    for (NodeId id = 0; id < count; id++) {
        if (!live[id] || !is_product(s->graph, graph_node(s->graph, id))) continue;
        Member m = {.product = id};
        follow_chain(s, &m);
        if (taken[end_of(&m)] && !epilogue[end_of(&m)]) add_member(s, arena, id);
    }
}

static Siblings *find_siblings(const Rewrite *r) {
    Arena *arena = r->ctx->scratch;
    size_t count = r->from->nodes.count;
    const bool *live = graph_find_live(r->from, arena);
    Siblings *s = NEW(arena, Siblings);
    *s = (Siblings){.graph = r->from,
                    .uses = r->uses,
                    .user = NEW_ARRAY(arena, NodeId, count),
                    .families = NEW_ARRAY(arena, Family *, count),
                    .ends = NEW_ARRAY(arena, Member *, count)};
    for (NodeId id = 0; id < count; id++) s->user[id] = NODE_none;
    for (NodeId id = 0; id < count; id++) {
        const Node *node = graph_node(r->from, id);
        for (uint32_t i = 0; live[id] && i < node->arg_count; i++) s->user[node->args[i]] = id;
    }
    find_families(s, live, arena);
    return s;
}

/* ---- one product ----------------------------------------------------------------------------- */

/* Known tensors of the old graph, one of each member, side by side along `axis`: a constant. */
static NodeId joined(const Rewrite *r, const NodeId *parts, uint32_t count, uint32_t axis) {
    Arena *arena = r->ctx->scratch;
    Graph *g = graph_new(r->to->ctx, arena, STR(""));
    NodeId args[MOST_MEMBERS];
    for (uint32_t i = 0; i < count; i++) args[i] = graph_copy_node(g, r->from, parts[i], NULL);
    NodeId whole = build_op(g, OP_concat, args, count, (Attr[]){{.i = axis}});
    graph_add_output(g, STR(""), whole);
    EvalValue value;
    EvalError error = {.failed = false};
    const char *message;
    if (!eval_graph(g, NULL, &(EvalOptions){.bounds = false}, arena, &value, &error, &message))
        bug("known tensors could not be joined: %s", message);
    return build_const(r->to, graph_type(g, whole), value.tensor.data, tensor_bytes(&value.tensor));
}

/* Operand `arg` of a step for all members: the same as it is, or theirs side by side. */
static NodeId joined_operand(const Rewrite *r, const Family *f, uint32_t step, uint32_t arg,
                             const Type *like) {
    NodeId sources[MOST_MEMBERS], source;
    Operand first = {0};
    for (uint32_t i = f->count; i-- > 0;) {
        NodeId id = graph_node(r->from, f->members[i].chain[step])->args[arg];
        first = operand_of(r->from, id);
        sources[i] = first.source;
    }
    source =
        first.axis < 0 ? r->map[first.source] : joined(r, sources, f->count, (uint32_t)first.axis);
    if (first.broadcast == NULL) return source;
    return build_broadcast(r->to, source, like->dims, like->rank,
                           node_attr(first.broadcast, "axes").ints->items);
}

static NodeId joined_step(const Rewrite *r, const Family *f, uint32_t step, NodeId before) {
    const Member *m = &f->members[0];
    const Node *node = graph_node(r->from, m->chain[step]);
    NodeId value = step ? m->chain[step - 1] : m->product;
    NodeId *args = NEW_ARRAY(r->ctx->scratch, NodeId, node->arg_count);
    for (uint32_t i = 0; i < node->arg_count; i++)
        args[i] = node->args[i] == value ? before
                                         : joined_operand(r, f, step, i, graph_type(r->to, before));
    return build_op(r->to, node->op, args, node->arg_count, node->attrs);
}

static NodeId joined_product(const Rewrite *r, const Family *f) {
    const Node *node = graph_node(r->from, f->members[0].product);
    uint32_t w = weights_of(node);
    NodeId weights[MOST_MEMBERS], args[2];
    for (uint32_t i = 0; i < f->count; i++)
        weights[i] = graph_node(r->from, f->members[i].product)->args[w];
    args[!w] = r->map[node->args[!w]];
    args[w] = joined(r, weights, f->count, column_axis(node));
    NodeId value = build_op(r->to, OP_contract, args, 2, node->attrs);
    for (uint32_t i = 0; i < f->members[0].steps; i++) value = joined_step(r, f, i, value);
    return value;
}

/* ---- the pass -------------------------------------------------------------------------------- */

static bool is_small_enough(const Graph *g, const Family *f) {
    double bytes = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        const Node *node = graph_node(g, f->members[i].product);
        const Type *weights = graph_type(g, node->args[weights_of(node)]);
        bytes += (double)type_bytes(g->ctx, weights)->hi;
    }
    return bytes <= MOST_BYTES;
}

static void remark(PassContext *ctx, const Graph *g, const Family *f) {
    Remark made = {.rule = "siblings", .kind = REMARK_applied, .number_count = 2};
    int64_t columns = 0;
    for (uint32_t i = 0; i < f->count; i++) columns += f->members[i].columns;
    const Node *first = graph_node(g, f->members[0].product);
    made.where = str_from(op_info(first->op)->name);
    made.origin = first->origin;
    made.text = STR("products of one tensor are one product");
    made.numbers[0] = (RemarkNumber){"products", f->count};
    made.numbers[1] = (RemarkNumber){"columns", (double)columns};
    pass_remark(ctx, &made);
}

static void merge(Rewrite *r, Family *f, NodeId at) {
    f->judged = true;
    if (f->count < 2 || !is_small_enough(r->from, f)) return;
    if (!pass_allows(r->ctx, "siblings", r->from, at)) return;
    f->merged = joined_product(r, f);
    remark(r->ctx, r->from, f);
}

static NodeId siblings_node(Rewrite *r, NodeId id) {
    if (r->state == NULL) r->state = find_siblings(r);
    const Siblings *s = r->state;
    const Member *m = s->ends[id];
    if (m == NULL) return NODE_none;
    Family *f = m->family;
    if (!f->judged) merge(r, f, id);
    if (f->merged == NODE_none) return NODE_none;
    int64_t from = 0;
    for (const Member *before = f->members; before < m; before++) from += before->columns;
    IrContext *ctx = r->to->ctx;
    NodeId part = build_range(r->to, f->merged, graph_type(r->to, f->merged)->rank - 1,
                              dim_const(ctx, from), dim_const(ctx, from + m->columns));
    return build_as(r->to, part, graph_type(r->from, id));
}

Graph *pass_siblings(PassContext *ctx, Arena *arena, const Graph *graph) {
    return rewrite_graph(ctx, arena, graph, siblings_node, NULL);
}
