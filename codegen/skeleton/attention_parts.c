/* What a region must be to become an attention kernel, and its parts: the two products, the axes of
 * queries and keys, the reductions between, and weights as they are measured from the maximum. */
#include "codegen/skeleton/attention.h"
#include "codegen/skeleton/facts.h"

#include "ir/tensor.h"

#include <math.h>

/* ---- labels ---------------------------------------------------------------------------------- */

static void describe_product(const Graph *g, NodeId id, Product *p) {
    const Node *node = graph_node(g, id);
    *p = (Product){.id = id, .node = node, .out = node_attr(node, "out").ints};
    p->labels[0] = node_attr(node, "a").ints;
    p->labels[1] = node_attr(node, "b").ints;
    p->operands[0] = node->args[0];
    p->operands[1] = node->args[1];
}

static void find_summed(const Graph *g, Product *p) {
    const IntList *labels = p->labels[p->outer];
    const Type *type = graph_type(g, p->operands[p->outer]);
    for (uint32_t i = 0; i < labels->count; i++) {
        if (ints_find(p->out, labels->items[i]) >= 0) continue;
        p->summed[p->summed_count] = labels->items[i];
        p->extents[p->summed_count++] = type->dims[i];
    }
}

void attention_operand_index(const Product *p, uint32_t which, const Dim **out_index) {
    const IntList *labels = p->labels[which];
    for (uint32_t i = 0; i < labels->count; i++) {
        int at = ints_find(p->out, labels->items[i]);
        for (uint32_t k = 0; at < 0 && k < p->summed_count; k++)
            if (p->summed[k] == labels->items[i]) out_index[i] = p->position[k];
        if (at >= 0) out_index[i] = p->result[at];
    }
}

/* ---- the two products ------------------------------------------------------------------------ */

static bool same_dims(const Type *a, const Type *b) {
    bool same = a->rank == b->rank;
    for (uint32_t i = 0; same && i < a->rank; i++) same = a->dims[i] == b->dims[i];
    return same;
}

/* Whether `id` is computed from `from`. */
static bool depends_on(const Attention *s, NodeId id, NodeId from) {
    const Graph *g = s->request->region;
    if (from == NODE_none || id < from) return false;
    bool *made = NEW_ARRAY(s->e.arena, bool, id + 1);
    made[from] = true;
    for (NodeId at = from + 1; at <= id; at++) {
        const Node *node = graph_node(g, at);
        for (uint32_t i = 0; i < node->arg_count; i++) made[at] |= made[node->args[i]];
    }
    return made[id];
}

static bool find_products(Attention *s) {
    const Graph *g = s->request->region;
    NodeId found[2] = {NODE_none, NODE_none};
    uint32_t count = 0;
    for (NodeId id = 0; id < g->nodes.count; id++) {
        if (graph_node(g, id)->op != OP_contract) continue;
        if (count < 2) found[count] = id;
        count++;
    }
    if (count != 2) {
        emit_fail(&s->e, "attention has two contractions");
        return false;
    }
    describe_product(g, found[0], &s->scores);
    describe_product(g, found[1], &s->values);
    s->values.outer = depends_on(s, s->values.operands[0], found[0]) ? 0 : 1;
    s->weights = s->values.operands[s->values.outer];
    bool chained = depends_on(s, s->weights, found[0]) &&
                   !depends_on(s, s->values.operands[1 - s->values.outer], found[0]);
    bool floats = dtype_is_float(graph_type(g, found[0])->dtype) &&
                  dtype_is_float(graph_type(g, found[1])->dtype) &&
                  dtype_is_float(graph_type(g, s->weights)->dtype);
    if (!chained || !floats || !same_dims(graph_type(g, s->weights), s->scores.node->type))
        emit_fail(&s->e, "the second contraction does not sum what is made of the first");
    return s->e.error == NULL;
}

/* The one axis of the weights that is summed. */
static bool find_key_axis(Attention *s) {
    find_summed(s->request->region, &s->values);
    int at = s->values.summed_count == 1
                 ? ints_find(s->values.labels[s->values.outer], s->values.summed[0])
                 : -1;
    if (at < 0) {
        emit_fail(&s->e, "the weights are summed over several axes");
        return false;
    }
    s->key_axis = (uint32_t)at;
    int64_t label = s->scores.out->items[at];
    bool first = ints_find(s->scores.labels[0], label) >= 0;
    bool second = ints_find(s->scores.labels[1], label) >= 0;
    s->scores.outer = first ? 1 : 0;
    if (first == second) emit_fail(&s->e, "both operands of the scores have the keys' axis");
    return first != second;
}

/* Axes of the scores that neither keys nor values have: a block of such queries shares both. The
 * longest. */
static bool find_query_axis(Attention *s) {
    const Type *type = s->scores.node->type;
    int64_t most = -1;
    for (uint32_t i = 0; i < type->rank; i++) {
        int64_t label = s->scores.out->items[i];
        int64_t other = s->values.labels[s->values.outer]->items[i];
        bool own = ints_find(s->scores.labels[1 - s->scores.outer], label) < 0 &&
                   ints_find(s->values.labels[1 - s->values.outer], other) < 0;
        if (!own || i == s->key_axis || dim_tune_value(type->dims[i]) <= most) continue;
        most = dim_tune_value(type->dims[i]);
        s->query_axis = i;
    }
    find_summed(s->request->region, &s->scores);
    if (most < 0) emit_fail(&s->e, "no axis of the scores has keys and values in common");
    return most >= 0;
}

/* The labels that values alone have. */
static void find_columns(Attention *s) {
    const Graph *g = s->request->region;
    s->columns = dim_const(s->e.ctx, 1);
    for (uint32_t i = 0; i < s->values.out->count; i++) {
        int64_t label = s->values.out->items[i];
        if (ints_find(s->values.labels[s->values.outer], label) >= 0) continue;
        const Dim *dim = graph_type(g, s->values.id)->dims[i];
        s->columns = dim_mul(s->e.ctx, s->columns, dim);
        s->column_count++;
    }
}

/* ---- the reductions between ------------------------------------------------------------------ */

static void add_reduction(Attention *s, NodeId id) {
    const Node *node = graph_node(s->request->region, id);
    const IntList *axes = node_attr(node, "axes").ints;
    NodeId *place = node->op == OP_reduce_max   ? &s->maximum
                    : node->op == OP_reduce_sum ? &s->sum
                                                : NULL;
    bool over_keys = axes->count == 1 && axes->items[0] == s->key_axis &&
                     same_dims(graph_type(s->request->region, node->args[0]), s->scores.node->type);
    if (!over_keys || place == NULL || *place != NODE_none || !dtype_is_float(node->type->dtype))
        emit_fail(&s->e, "a reduction is neither the maximum nor the sum of a row of weights");
    else
        *place = id;
}

static bool find_reductions(Attention *s) {
    const Graph *g = s->request->region;
    s->maximum = s->sum = NODE_none;
    for (NodeId id = 0; id < g->nodes.count; id++) {
        OpClass class = op_info(graph_node(g, id)->op)->class;
        if (class == CLASS_REDUCE) add_reduction(s, id);
        if (domain_accumulates(graph_node(g, id)->op) && class != CLASS_REDUCE &&
            class != CLASS_CONTRACT)
            emit_fail(&s->e, "there is another op that accumulates");
    }
    s->kept = s->maximum == NODE_none ? s->weights : graph_node(g, s->maximum)->args[0];
    if (depends_on(s, s->weights, s->sum) || depends_on(s, s->kept, s->sum))
        emit_fail(&s->e, "the weights depend on their sum");
    return s->e.error == NULL;
}

/* ---- weights as measured from the maximum ---------------------------------------------------- */

static NodeId without_movement(const Graph *g, NodeId id) {
    for (;;) {
        const Node *node = graph_node(g, id);
        bool moves = node->op == OP_broadcast || node->op == OP_reshape || node->op == OP_permute;
        if (!moves) return id;
        id = node->args[0];
    }
}

static bool is_number(const Graph *g, NodeId id, double number) {
    const Node *node = graph_node(g, without_movement(g, id));
    int64_t count;
    if (node->op != OP_const || !type_is_static(node->type, &count) || count != 1) return false;
    Tensor t = {.dtype = node->type->dtype};
    t.data = (void *)(uintptr_t)node_attr(node, "value").blob->bytes;
    return tensor_get(&t, 0) == number;
}

/* m, or m with 0 in the place of -inf. */
static bool is_measure(Attention *s, NodeId id) {
    const Graph *g = s->request->region;
    id = without_movement(g, id);
    if (id == s->maximum) return true;
    const Node *node = graph_node(g, id);
    if (node->op != OP_select) return false;
    const Node *test = graph_node(g, without_movement(g, node->args[0]));
    bool equal = test->op == OP_eq;
    if (!equal && test->op != OP_ne) return false;
    NodeId zero = node->args[equal ? 1 : 2], other = node->args[equal ? 2 : 1];
    s->zero_unit = is_number(g, zero, 0) && is_number(g, test->args[1], -INFINITY) &&
                   without_movement(g, test->args[0]) == s->maximum &&
                   without_movement(g, other) == s->maximum;
    return s->zero_unit;
}

typedef enum Form { FORM_plain, FORM_measured, FORM_other } Form;

/* exp(a - m), or exp(a + -m) */
static bool is_exponential(Attention *s, const Node *node) {
    const Graph *g = s->request->region;
    if (node->op != OP_exp) return false;
    const Node *difference = graph_node(g, node->args[0]);
    if (difference->op == OP_sub)
        return difference->args[0] == s->kept && is_measure(s, difference->args[1]);
    for (int i = 0; difference->op == OP_add && i < 2; i++) {
        const Node *negative = graph_node(g, without_movement(g, difference->args[1 - i]));
        if (difference->args[i] == s->kept && negative->op == OP_neg)
            return is_measure(s, negative->args[0]);
    }
    return false;
}

/* A product with one factor exp(a - m) moves by exp(m_old - m_new) when m grows. */
static Form form_of(Attention *s, NodeId id) {
    const Node *node = graph_node(s->request->region, id);
    if (!depends_on(s, id, s->maximum)) return FORM_plain;
    if (is_exponential(s, node)) return FORM_measured;
    Form first = node->arg_count > 0 ? form_of(s, node->args[0]) : FORM_other;
    switch (node->op) {
    case OP_cast:
        if (s->e.rounded[id] && dtype_compute(node->type->dtype) != node->type->dtype)
            return FORM_other;
        return dtype_is_float(node->type->dtype) ? first : FORM_other;
    case OP_mul: {
        Form second = form_of(s, node->args[1]);
        return first == FORM_plain ? second : second == FORM_plain ? first : FORM_other;
    }
    case OP_div: return form_of(s, node->args[1]) == FORM_plain ? first : FORM_other;
    default: return FORM_other;
    }
}

static bool check_forms(Attention *s) {
    const Graph *g = s->request->region;
    if (s->maximum == NODE_none) return true;
    if (depends_on(s, s->kept, s->maximum)) return false;
    if (form_of(s, s->weights) != FORM_measured) return false;
    return s->sum == NODE_none || form_of(s, graph_node(g, s->sum)->args[0]) == FORM_measured;
}

void attention_find_parts(Attention *s) {
    if (!find_products(s) || !find_key_axis(s) || !find_query_axis(s)) return;
    find_columns(s);
    if (!find_reductions(s)) return;
    if (!check_forms(s)) emit_fail(&s->e, "the weights are not exp(a - max a) times a factor");
    s->ignores_nan =
        s->maximum != NODE_none && facts_nan_returns(s->request->region, s->maximum, s->e.arena);
    const Type *type = s->scores.node->type;
    s->domain.rank = type->rank;
    for (uint32_t i = 0; i < type->rank; i++) s->domain.dims[i] = type->dims[i];
}
