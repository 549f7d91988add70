#include "passes/fuse/cascade.h"

#include "ir/tensor.h"

#include <math.h>
#include <string.h>

typedef struct Builder {
    Axes *axes;
    Arena *arena;
    const Graph *region;
    Cascade *cascade;
    const Type *domain; /* of the reductions' operands */
    uint32_t reduced;   /* its axes that are reduced, as bits */
    const Dim *index[TYPE_MAX_RANK];
    Map terms; /* by key */
    VEC(const Term *) list;
} Builder;

/* ---- terms ----------------------------------------------------------------------------------- */

static bool is_reduction(const Node *node) {
    OpClass class = op_info(node->op)->class;
    return class == CLASS_REDUCE || class == CLASS_ARGREDUCE;
}

static bool mentions_row(const Builder *b, const Dim *const *index, uint32_t rank) {
    for (uint32_t i = 0; i < rank; i++) {
        for (uint32_t axis = 0; axis < b->domain->rank; axis++) {
            const Dim *variable = b->index[axis];
            bool known = (b->reduced >> axis & 1) && variable->term_count == 1;
            if (known && dim_mentions(index[i], variable->terms[0].atoms[0]->symbol)) return true;
        }
    }
    return false;
}

static const Term *intern(Builder *b, const Term *term, const uint32_t *key, size_t words) {
    Str text = {(const char *)key, words * sizeof *key};
    const Term *old = map_get(&b->terms, text);
    if (old) return old;
    Term *kept = arena_copy(b->arena, term, sizeof *term);
    kept->id = (uint32_t)b->list.count;
    map_set(&b->terms, text, kept);
    vec_push(b->arena, &b->list, kept);
    return kept;
}

/* A term that is told apart by its node and index alone. */
static const Term *intern_leaf(Builder *b, const Term *term, const Dim *const *index) {
    uint32_t key[2 + TYPE_MAX_RANK] = {0, term->node}, rank;
    rank = graph_type(b->region, term->node)->rank;
    for (uint32_t i = 0; i < rank; i++) key[2 + i] = index[i]->id;
    return intern(b, term, key, 2 + rank);
}

static double constant_of(const Node *node) {
    if (node->op != OP_const) return (double)NAN;
    Tensor t = {.dtype = node->type->dtype};
    t.data = (void *)(uintptr_t)node_attr(node, "value").blob->bytes;
    return tensor_get(&t, 0);
}

/* All reductions behind a node, whatever lies between. */
static uint32_t deps_behind(const Builder *b, NodeId id) {
    bool *behind = NEW_ARRAY(b->arena, bool, id + 1);
    uint32_t deps = 0;
    behind[id] = true;
    for (NodeId at = id + 1; at-- > 0;) {
        const Node *node = graph_node(b->region, at);
        if (!behind[at]) continue;
        for (uint32_t i = 0; i < b->cascade->count; i++)
            if (b->cascade->sums[i].node == at) deps |= 1U << i;
        for (uint32_t i = 0; i < node->arg_count; i++) behind[node->args[i]] = true;
    }
    return deps;
}

static const Term *make_leaf(Builder *b, NodeId id, const Dim *const *index) {
    const Node *node = graph_node(b->region, id);
    Term term = {.op = OP_input, .node = id, .reduction = -1, .constant = constant_of(node)};
    bool leaf = op_info(node->op)->class == CLASS_LEAF;
    term.opaque = !leaf;
    term.varies = !leaf || mentions_row(b, index, node->type->rank);
    if (!leaf) term.deps = deps_behind(b, id);
    return intern_leaf(b, &term, index);
}

/* The result of a reduction, at the row's own place. */
static const Term *make_result(Builder *b, NodeId id, const Dim *const *index) {
    for (uint32_t i = 0; i < b->cascade->count; i++) {
        if (b->cascade->sums[i].node != id) continue;
        Term term = {.op = OP_input, .node = id, .reduction = (int)i, .deps = 1U << i};
        term.constant = (double)NAN;
        bool at_row = !mentions_row(b, index, graph_type(b->region, id)->rank);
        if (at_row) return intern_leaf(b, &term, index);
    }
    return make_leaf(b, id, index);
}

static const Term *make_term(Builder *b, NodeId id, const Dim *const *index);

static const Term *make_map(Builder *b, NodeId id, const Dim *const *index) {
    const Node *node = graph_node(b->region, id);
    Term term = {.op = node->op, .node = id, .arg_count = node->arg_count, .reduction = -1};
    uint32_t key[6] = {1, node->op, (uint32_t)node->type->dtype};
    term.constant = (double)NAN;
    for (uint32_t i = 0; i < node->arg_count; i++) {
        const Term *arg = term.args[i] = make_term(b, node->args[i], index);
        term.varies |= arg->varies;
        term.deps |= arg->deps;
        key[3 + i] = arg->id;
    }
    return intern(b, &term, key, 3 + node->arg_count);
}

static const Term *make_term(Builder *b, NodeId id, const Dim *const *index) {
    const Dim *at[TYPE_MAX_RANK], *inner[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < graph_type(b->region, id)->rank; i++) at[i] = index[i];
    for (;;) {
        const Node *node = graph_node(b->region, id);
        bool moves = (op_info(node->op)->flags & FLAG_movement) != 0;
        if (!moves || node->op == OP_pad || node->op == OP_concat) break;
        axes_operand_index(b->axes->ctx, b->region, node, at, inner);
        id = node->args[0];
        for (uint32_t i = 0; i < graph_type(b->region, id)->rank; i++) at[i] = inner[i];
    }
    const Node *node = graph_node(b->region, id);
    if (is_reduction(node)) return make_result(b, id, at);
    return op_is_elementwise(node->op) ? make_map(b, id, at) : make_leaf(b, id, at);
}

/* ---- factors --------------------------------------------------------------------------------- */

static bool is_passed(const Term *t) {
    return t->op == OP_cast && t->args[0]->op != OP_input; /* a rounding, nothing more */
}

static void add_factor(CascadeSum *sum, const Term *term, bool inverse) {
    if (sum->factor_count == CASCADE_MAX_FACTORS) {
        sum->form = CASCADE_dependent;
        return;
    }
    sum->factors[sum->factor_count++] = (Factor){term, inverse, CASCADE_plain};
}

/* Of a product: x·y and x/y; of a maximum's operand: x + y and x - y. */
static void collect(CascadeSum *sum, const Term *t, bool inverse, Op together, Op apart) {
    if (t->op == together || t->op == apart) {
        collect(sum, t->args[0], inverse, together, apart);
        collect(sum, t->args[1], t->op == apart ? !inverse : inverse, together, apart);
    } else if (is_passed(t)) {
        collect(sum, t->args[0], inverse, together, apart);
    } else {
        add_factor(sum, t, inverse);
    }
}

/* t as a - b; false if it is no difference. */
static bool split_difference(const Term *t, const Term **a, const Term **b) {
    if (t->op == OP_sub) {
        *a = t->args[0], *b = t->args[1];
        return true;
    }
    for (int i = 0; t->op == OP_add && i < 2; i++) {
        if (t->args[i]->op != OP_neg) continue;
        *a = t->args[1 - i], *b = t->args[i]->args[0];
        return true;
    }
    return false;
}

/* r == -inf ? 0 : r, or the other way round: the reduction r; -1: it is no such term. */
static int measured_from_zero(const Term *t) {
    if (t->op != OP_select) return -1;
    const Term *test = t->args[0];
    bool equal = test->op == OP_eq;
    if (!equal && test->op != OP_ne) return -1;
    const Term *zero = t->args[equal ? 1 : 2], *r = t->args[equal ? 2 : 1];
    bool known = zero->constant == 0 && test->args[0] == r && test->args[1]->constant == -INFINITY;
    return known ? r->reduction : -1;
}

/* exp(a - max a); *out_zero_unit: from 0 where the maximum is -inf. */
static int correcting_maximum(const Cascade *c, const Factor *f, bool *out_zero_unit) {
    const Term *a, *b;
    if (f->inverse || f->term->op != OP_exp) return -1;
    if (!split_difference(f->term->args[0], &a, &b) || a->deps) return -1;
    int reduction = b->reduction >= 0 ? b->reduction : measured_from_zero(b);
    *out_zero_unit = b->reduction < 0;
    if (reduction < 0) return -1;
    const CascadeSum *r = &c->sums[reduction];
    return r->scalar == OP_max && r->operand == a ? reduction : -1;
}

static bool is_length(const Builder *b, double value) { return value == b->cascade->length; }

/* The sum that `mean` is the mean of: Σ / n, or Σ · (1/n). -1: it is no mean. Only for rows of
 * known length. */
static int mean_of(const Builder *b, const Term *mean) {
    for (int i = 0; i < 2 && (mean->op == OP_div || mean->op == OP_mul); i++) {
        const Term *sum = mean->args[i], *n = mean->args[1 - i];
        if (mean->op == OP_div && i == 1) break;
        double count = mean->op == OP_div ? n->constant : 1 / n->constant;
        if (sum->reduction >= 0 && (is_length(b, count) || is_length(b, rint(count))))
            return sum->reduction;
    }
    return -1;
}

/* a - mean of a */
static int centring_sum(const Builder *b, const Factor *f) {
    const Term *a, *mean;
    if (f->inverse || !split_difference(f->term, &a, &mean) || a->deps) return -1;
    int reduction = mean_of(b, mean);
    if (reduction < 0) return -1;
    const CascadeSum *r = &b->cascade->sums[reduction];
    return r->scalar == OP_add && r->operand == a ? reduction : -1;
}

/* ---- classing -------------------------------------------------------------------------------- */

static void worsen(CascadeSum *sum, CascadeForm form) {
    if (form > sum->form) sum->form = form;
}

static void class_factor(const Builder *b, CascadeSum *sum, Factor *f) {
    bool adds = sum->scalar == OP_add;
    bool zero_unit = false;
    int reference = adds ? correcting_maximum(b->cascade, f, &zero_unit) : -1;
    if (f->term->deps == 0) {
        f->form = CASCADE_plain;
    } else if (!f->term->varies) {
        f->form = CASCADE_hoisted;
    } else if (reference >= 0 && (sum->reference < 0 || sum->reference == reference)) {
        f->form = CASCADE_corrected;
        sum->reference = reference;
        sum->zero_unit = zero_unit;
    } else {
        f->form = CASCADE_dependent;
    }
    worsen(sum, f->form);
}

/* Two equal factors a - mean, and besides them only what does not vary. */
static bool is_centred(const Builder *b, CascadeSum *sum) {
    int first = -1;
    uint32_t centred = 0;
    for (uint32_t i = 0; i < sum->factor_count; i++) {
        const Factor *f = &sum->factors[i];
        if (!f->term->varies) continue;
        int reference = centring_sum(b, f);
        if (reference < 0 || (first >= 0 && f->term != sum->factors[first].term)) return false;
        first = (int)i;
        sum->reference = reference;
        centred++;
    }
    return centred == 2;
}

static void set_centred(CascadeSum *sum) {
    sum->form = CASCADE_centred;
    for (uint32_t i = 0; i < sum->factor_count; i++) {
        Factor *f = &sum->factors[i];
        f->form = f->term->varies ? CASCADE_centred
                  : f->term->deps ? CASCADE_hoisted
                                  : CASCADE_plain;
    }
}

static void class_sum(const Builder *b, CascadeSum *sum) {
    bool sums = sum->scalar == OP_add;
    bool extremes = sum->scalar == OP_max || sum->scalar == OP_min;
    sum->reference = -1;
    if (sums)
        collect(sum, sum->operand, false, OP_mul, OP_div);
    else if (extremes)
        collect(sum, sum->operand, false, OP_add, OP_sub);
    else
        add_factor(sum, sum->operand, false);
    if (sums && is_centred(b, sum)) {
        set_centred(sum);
        return;
    }
    sum->reference = -1;
    for (uint32_t i = 0; i < sum->factor_count; i++) class_factor(b, sum, &sum->factors[i]);
    if (!sums && !extremes && sum->operand->deps) sum->form = CASCADE_dependent;
}

/* The sweep after those of what `deps` names. */
static void find_sweeps(Cascade *c, CascadeSum *sum) {
    uint32_t after = 0, derived = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        if (!(sum->operand->deps >> i & 1)) continue;
        if (c->sums[i].sweep > after) after = c->sums[i].sweep;
        if (c->sums[i].derived_sweep > derived) derived = c->sums[i].derived_sweep;
    }
    sum->sweep = after + 1;
    sum->derived_sweep = derived + 1;
    bool corrected = sum->form == CASCADE_corrected || sum->form == CASCADE_centred;
    if (sum->form == CASCADE_hoisted) sum->derived_sweep = 1;
    if (corrected) sum->derived_sweep = c->sums[sum->reference].derived_sweep;
    if (sum->sweep > c->sweeps) c->sweeps = sum->sweep;
    if (sum->derived_sweep > c->derived_sweeps) c->derived_sweeps = sum->derived_sweep;
}

/* ---- the region ------------------------------------------------------------------------------ */

static void set_domain(Builder *b, const Type *domain, uint32_t reduced) {
    b->domain = domain;
    b->reduced = reduced;
    axes_identity(b->axes, b->domain, b->index);
    b->cascade->length = 1;
    for (uint32_t i = 0; i < b->domain->rank; i++) {
        int64_t extent;
        if (!(b->reduced >> i & 1)) continue;
        bool known = dim_is_const(b->domain->dims[i], &extent);
        b->cascade->length *= known ? (double)extent : (double)NAN;
    }
}

static void find_domain(Builder *b, const Node *node) {
    uint32_t reduced = 0;
    if (op_info(node->op)->class == CLASS_ARGREDUCE) {
        reduced = 1U << node_attr(node, "axis").i;
    } else {
        const IntList *axes = node_attr(node, "axes").ints;
        for (uint32_t i = 0; i < axes->count; i++) reduced |= 1U << axes->items[i];
    }
    set_domain(b, graph_type(b->region, node->args[0]), reduced);
}

static void add_sum(Builder *b, NodeId id, Op scalar, const Term *operand) {
    CascadeSum *sum = &b->cascade->sums[b->cascade->count];
    *sum = (CascadeSum){.node = id, .scalar = scalar, .operand = operand};
    class_sum(b, sum);
    find_sweeps(b->cascade, sum);
    b->cascade->count++;
}

/* False when there are too many. */
static bool add_reductions(Builder *b) {
    for (NodeId id = 0; id < b->region->nodes.count; id++) {
        const Node *node = graph_node(b->region, id);
        if (!is_reduction(node)) continue;
        if (b->cascade->count == CASCADE_MAX_SUMS) return false;
        if (b->domain == NULL) find_domain(b, node);
        add_sum(b, id, op_info(node->op)->scalar, make_term(b, node->args[0], b->index));
    }
    return true;
}

static Cascade *finish(Builder *b) {
    Cascade *cascade = b->cascade;
    cascade->terms = b->list.data;
    cascade->term_count = (uint32_t)b->list.count;
    if (!cascade_is_valid(cascade, b->arena)) cascade->derived_sweeps = cascade->sweeps;
    return cascade;
}

static Builder begin(Axes *axes, Arena *arena, const Graph *region) {
    Builder b = {.axes = axes, .arena = arena, .region = region, .cascade = NEW(arena, Cascade)};
    b.terms.arena = arena;
    return b;
}

Cascade *cascade_analyse(Axes *axes, Arena *arena, const Graph *region) {
    Builder b = begin(axes, arena, region);
    return add_reductions(&b) ? finish(&b) : NULL;
}

/* ---- contractions as sums over a row --------------------------------------------------------- */

/* The other operand's term: along the labels of the weights at the row's index, along its own ones
 * at any. */
static const Term *other_operand(Builder *b, const Node *node, uint32_t weights) {
    const IntList *mine = node_attr(node, weights ? "b" : "a").ints;
    const IntList *labels = node_attr(node, weights ? "a" : "b").ints;
    NodeId other = node->args[1 - weights];
    const Dim *index[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < labels->count; i++) {
        int at = ints_find(mine, labels->items[i]);
        char name[] = {'n', (char)('0' + i)};
        const Dim *extent = graph_type(b->region, other)->dims[i];
        index[i] =
            at >= 0
                ? b->index[at]
                : dim_of_symbol(b->axes->ctx,
                                dim_shared_index(b->axes->ctx, (Str){name, sizeof name}, extent));
    }
    return make_term(b, other, index);
}

static const Term *product_of(Builder *b, NodeId id, const Term *x, const Term *y) {
    Term term = {.op = OP_mul, .node = id, .arg_count = 2, .args = {x, y}, .reduction = -1};
    uint32_t key[] = {2, x->id, y->id};
    term.constant = (double)NAN;
    term.varies = x->varies || y->varies;
    term.deps = x->deps | y->deps;
    return intern(b, &term, key, 3);
}

Cascade *cascade_analyse_chain(Axes *axes, Arena *arena, const Graph *region, NodeId contract,
                               uint32_t weights, uint32_t axis) {
    Builder b = begin(axes, arena, region);
    const Node *node = graph_node(region, contract);
    set_domain(&b, graph_type(region, node->args[weights]), 1U << axis);
    if (!add_reductions(&b) || b.cascade->count == CASCADE_MAX_SUMS) return NULL;
    const Term *operand = make_term(&b, node->args[weights], b.index);
    add_sum(&b, contract, OP_add,
            product_of(&b, contract, operand, other_operand(&b, node, weights)));
    return finish(&b);
}
