#include "codegen/skeleton/attention.h"
#include "codegen/skeleton/facts.h"

#include "ir/tensor.h"

#include <math.h>

/* ---- labels ---------------------------------------------------------------------------------- */

static int find_label(const IntList *labels, int64_t label) {
    for (uint32_t i = 0; i < labels->count; i++)
        if (labels->items[i] == label) return (int)i;
    return -1;
}

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
        if (find_label(p->out, labels->items[i]) >= 0) continue;
        p->summed[p->summed_count] = labels->items[i];
        p->extents[p->summed_count++] = type->dims[i];
    }
}

void attention_operand_index(const Product *p, uint32_t which, const Dim **out_index) {
    const IntList *labels = p->labels[which];
    for (uint32_t i = 0; i < labels->count; i++) {
        int at = find_label(p->out, labels->items[i]);
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
                 ? find_label(s->values.labels[s->values.outer], s->values.summed[0])
                 : -1;
    if (at < 0) {
        emit_fail(&s->e, "the weights are summed over several axes");
        return false;
    }
    s->key_axis = (uint32_t)at;
    int64_t label = s->scores.out->items[at];
    bool first = find_label(s->scores.labels[0], label) >= 0;
    bool second = find_label(s->scores.labels[1], label) >= 0;
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
        bool own = find_label(s->scores.labels[1 - s->scores.outer], label) < 0 &&
                   find_label(s->values.labels[1 - s->values.outer], other) < 0;
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
        if (find_label(s->values.labels[s->values.outer], label) >= 0) continue;
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

static void analyse(Attention *s) {
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

/* ---- sizes ----------------------------------------------------------------------------------- */

DType attention_sum_dtype(const Attention *s, const Product *p) {
    return emit_sum_dtype(&s->e, p->id);
}

/* As many rows as leave room for a row of vectors and one broadcast, among those that divide
 * `whole` rows. */
static int64_t rows_beside(const Attention *s, const Product *p, int64_t columns, int64_t whole) {
    const Target *t = s->request->target;
    if (t->kind == TARGET_gpu) return 8;
    int64_t bytes = dtype_info(attention_sum_dtype(s, p))->bits / 8;
    int64_t wide = columns * bytes / t->vector_bytes;
    int64_t rows = ((int64_t)t->vector_registers - wide - 1) / (wide > 0 ? wide : 1);
    while (rows > 1 && whole % rows != 0) rows--;
    return rows < 1 ? 1 : rows;
}

/* As many columns as are whole vectors, with accumulators for at least six rows beside them. */
static int64_t columns_of(const Attention *s, const Product *p, int64_t whole, int64_t most) {
    int64_t lanes = s->request->target->lanes, best = lanes;
    for (int64_t n = lanes; n <= most; n += lanes)
        if (whole % n == 0 && rows_beside(s, p, n, 12) >= 6) best = n;
    return best;
}

/* The block of queries that leaves the fewest lanes without one; the larger of equals. */
static int64_t queries_of(const Attention *s) {
    static const int64_t sizes[] = {64, 48, 32, 16};
    int64_t lanes = s->request->target->lanes, best = 0, least = INT64_MAX;
    int64_t count = dim_tune_value(s->domain.dims[s->query_axis]);
    if (s->request->target->kind == TARGET_gpu) return lanes;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t lanes_used = (count + sizes[i] - 1) / sizes[i] * sizes[i];
        if (lanes_used >= least) continue;
        best = sizes[i];
        least = lanes_used;
    }
    return best;
}

/* Keys of a block: a multiple of every tile's rows and of SUM_BLOCK, few enough for the second
 * cache. They decide when the sums are corrected, so they do not depend on the target. */
enum { BLOCK_KEYS = 3 * SUM_BLOCK, GPU_BLOCK_KEYS = SUM_BLOCK };

static void choose_sizes(Attention *s) {
    const Dim *keys = s->domain.dims[s->key_axis];
    bool gpu = s->request->target->kind == TARGET_gpu;
    int64_t lanes = s->request->target->lanes, wanted = s->request->schedule.queries;
    s->queries = wanted > 0 ? wanted : queries_of(s);
    if (s->queries % lanes != 0) {
        emit_fail(&s->e, "queries=%lld is no multiple of the %lld lanes", (long long)s->queries,
                  (long long)lanes);
        return;
    }
    s->keys = gpu ? GPU_BLOCK_KEYS : BLOCK_KEYS;
    s->resident = str_equal(s->request->strategy, STR("resident")) && !gpu;
    if (s->resident) s->keys = keys->hi < 1 ? 1 : keys->hi;
    s->score_columns = columns_of(s, &s->scores, s->queries, s->queries);
    s->score_rows = rows_beside(s, &s->scores, s->score_columns, BLOCK_KEYS);
    int64_t columns = (s->columns->hi + lanes - 1) / lanes * lanes;
    s->value_columns = columns_of(s, &s->values, columns, 64);
    s->value_rows = rows_beside(s, &s->values, s->value_columns, s->queries);
}

/* ---- scratch --------------------------------------------------------------------------------- */

static uint32_t add_view(Attention *s, const char *name, DType dtype, const Dim *first,
                         const Dim *second) {
    TileView view = {.name = str_from(name),
                     .space = SPACE_scratch,
                     .dtype = dtype,
                     .rank = second == NULL ? 1 : 2,
                     .dims = {first, second},
                     .alignment = 64,
                     .written = true};
    return tile_add_view(s->e.program, &view);
}

static const Dim *padded(Attention *s, const Dim *dim) {
    int64_t lanes = s->request->target->lanes;
    return dim_scale(s->e.ctx, dim_ceildiv(s->e.ctx, dim, dim_const(s->e.ctx, lanes)), lanes);
}

static void add_views(Attention *s) {
    IrContext *ctx = s->e.ctx;
    const Graph *g = s->request->region;
    AttentionViews *v = &s->views;
    const Dim *queries = dim_const(ctx, s->queries), *keys = dim_const(ctx, s->keys);
    const Dim *depth = domain_extent(ctx, s->scores.extents, 0, s->scores.summed_count);
    DType score = attention_sum_dtype(s, &s->scores), value = attention_sum_dtype(s, &s->values);
    DType kept = dtype_compute(graph_type(g, s->kept)->dtype);
    v->queries = add_view(s, "queries", score, depth, queries);
    v->weights = add_view(s, "weights", kept, keys, queries);
    v->result = add_view(s, "result", value, queries, padded(s, s->columns));
    if (s->copies_keys) v->keys = add_view(s, "keys", score, keys, padded(s, depth));
    if (s->copies_values) v->values = add_view(s, "values", value, keys, padded(s, s->columns));
    if (s->sum != NODE_none)
        v->sum = add_view(s, "sum", emit_sum_dtype(&s->e, s->sum), queries, NULL);
    if (s->maximum == NODE_none) return;
    v->maximum = add_view(s, "maximum", kept, queries, NULL);
    v->factor = add_view(s, "factor", value, queries, NULL);
}

const Dim *attention_within(const Attention *s, const Dim *dim, const Dim *index) {
    return dim_equals_int(dim, 1) ? dim_const(s->e.ctx, 0) : index;
}

void attention_set_shape(Attention *s, uint32_t rank, int64_t first, int64_t second,
                         int64_t lanes) {
    TileShape shape = {.rank = rank,
                       .lanes = (uint32_t)lanes,
                       .extents = {dim_const(s->e.ctx, first), dim_const(s->e.ctx, second)}};
    emit_set_shape(&s->e, shape);
}

TileId attention_load(Attention *s, uint32_t view, const Dim *first, const Dim *second) {
    DType dtype = s->e.program->views.data[view].dtype;
    return tile_load(&s->e.b, emit_type(&s->e, dtype), view, (const Dim *[]){first, second}, NULL,
                     NULL, 0, 0);
}

void attention_store(Attention *s, TileId value, uint32_t view, const Dim *first,
                     const Dim *second) {
    if (value == TILE_none) return;
    value = attention_as(s, value, s->e.program->views.data[view].dtype);
    tile_store(&s->e.b, value, view, (const Dim *[]){first, second}, NULL, NULL, 0, OP_none);
}

TileId attention_as(Attention *s, TileId value, DType dtype) {
    if (value == TILE_none || tile_value_type(s->e.program, value)->dtype == dtype) return value;
    return tile_cast(&s->e.b, value, dtype);
}

/* ---- building -------------------------------------------------------------------------------- */

static void add_grid(Attention *s) {
    ValueEmitter *e = &s->e;
    for (uint32_t i = 0; i < s->domain.rank; i++)
        if (i != s->key_axis && i != s->query_axis)
            s->domain.index[i] = domain_add_work(e, "b", s->domain.dims[i]);
    const Dim *size = dim_const(e->ctx, s->queries);
    const Dim *blocks = dim_ceildiv(e->ctx, s->domain.dims[s->query_axis], size);
    s->first_query = dim_scale(e->ctx, domain_add_work(e, "q", blocks), s->queries);
}

/* Whether an element of the operand takes more than a load of the dtype that it is summed in. */
static bool is_computed(const Attention *s, NodeId id, DType dtype) {
    const Graph *g = s->request->region;
    for (;;) {
        const Node *node = graph_node(g, id);
        if (node->op == OP_input) return node->type->dtype != dtype;
        if ((op_info(node->op)->flags & FLAG_movement) == 0 || node->arg_count != 1) return true;
        id = node->args[0];
    }
}

TileProgram *skeleton_build_attention(const SkeletonRequest *request, const char **out_why) {
    Attention attention = {.request = request}, *s = &attention;
    emit_init(&s->e, request->ctx, request->arena, request->region, request->state, request->name,
              request->round_everywhere);
    analyse(s);
    if (s->e.error == NULL && request->state == TILE_free) {
        attention_build_free(s);
    } else if (s->e.error == NULL) {
        const Product *p = &s->scores;
        choose_sizes(s);
        s->copies_keys =
            is_computed(s, p->operands[1 - p->outer], attention_sum_dtype(s, &s->scores));
        p = &s->values;
        s->copies_values =
            is_computed(s, p->operands[1 - p->outer], attention_sum_dtype(s, &s->values));
        add_views(s);
        add_grid(s);
        attention_find_keys(s);
        if (s->e.error == NULL) attention_sweep(s);
    }
    *out_why = s->e.error;
    return s->e.error == NULL ? s->e.program : NULL;
}
