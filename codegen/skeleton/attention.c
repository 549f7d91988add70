/* An attention kernel as a whole: the sizes of its blocks and tiles, its scratch, its grid, and the
 * words that its other files share. */
#include "codegen/skeleton/attention.h"

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

TileId attention_map2(Attention *s, Op op, TileId a, TileId b) {
    if (a == TILE_none || b == TILE_none) return TILE_none;
    return tile_map(&s->e.b, op, (TileId[]){a, b}, 2);
}

TileId attention_number(Attention *s, DType dtype, double value) {
    return emit_number(&s->e, dtype, value);
}

/* How many queries the block has, up to a multiple of the tiles of values. */
const Dim *attention_query_count(const Attention *s) {
    IrContext *ctx = s->e.ctx;
    const Dim *left = dim_sub(ctx, s->domain.dims[s->query_axis], s->first_query);
    const Dim *tiles = dim_ceildiv(ctx, left, dim_const(ctx, s->value_rows));
    return dim_min(ctx, dim_scale(ctx, tiles, s->value_rows), dim_const(ctx, s->queries));
}

EmitLoop attention_begin_tiles(Attention *s, const char *name, const Dim *count, int64_t size) {
    IrContext *ctx = s->e.ctx;
    const Dim *tiles = dim_ceildiv(ctx, count, dim_const(ctx, size));
    return emit_begin_for(&s->e, name, dim_const(ctx, 0), tiles, NULL, 0);
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
    attention_find_parts(s);
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
