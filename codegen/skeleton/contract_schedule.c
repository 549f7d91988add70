/* The sizes of a contraction: a model of registers, caches and threads.
 *
 * Registers: mr · nr accumulators, a row of nr of b and a broadcast of a. With four vectors of b a
 * step needs fewer loads a multiply-add than with two, and its rows of a, each a stream of its own,
 * are too few to drive each other out of the first cache where they lie a power of two apart.
 *
 * Second cache: the rows of a point stay there while panels go by, each of which comes from the
 * last cache while the one before is multiplied: nr · K elements in the time of rows · nr · K
 * multiply-adds. Half of the cache is for the rows; the panel and the next one share the rest, so
 * that long sums are made in parts. */
#include "codegen/skeleton/contract.h"

enum {
    MOST_HEIGHTS = 8,  /* of tiles, where rows are counted */
    LEAST_ROWS = 48,   /* below, panels come faster than the last cache gives them */
    MOST_BLOCKS = 16,  /* of rows, for threads to have equal shares */
    LEAST_POINTS = 4,  /* where points have several panels */
    MOST_DEPTH = 2048, /* terms, from which on a sum is made in parts */
    PART_DEPTH = 1024, /* of a part */
    COPY_ROWS = 24,    /* from which on copying b pays, if its rows drive each other out of cache */
    COPY_ANY_ROWS = 320, /* likewise in any case */
    ASKING_TILES = 4,    /* that ask for a panel as it is, a line of each step a tile */
    COPY_SLOW_ROWS = 8   /* likewise where it is read element by element */
};

enum { COPY_by_model, COPY_never, COPY_always }; /* copy_a and copy_b of schedules */

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

int64_t contract_tile_rows(const Target *target, int64_t columns, int64_t bytes) {
    int64_t wide = ceil_div(columns * bytes, target->vector_bytes);
    return most(1, least(16, ((int64_t)target->vector_registers - wide - 1) / wide));
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static int64_t tune(const Dim *dim) { return most(1, dim_tune_value(dim)); }

/* Rows in equal tiles, as many as the registers allow; where they are counted when the kernel runs,
 * as many as there is code for. */
static int64_t even_rows(const Dim *m, int64_t mr) {
    int64_t rows;
    if (!dim_is_const(m, &rows)) return most(1, least(m->hi, least(mr, MOST_HEIGHTS)));
    return rows < 1 ? mr : ceil_div(rows, ceil_div(rows, mr));
}

/* For which the sizes of blocks are made: where their number varies, points can hold more than are
 * expected, since a block of its own for each tile would read all panels again. */
static int64_t rows_to_hold(const Dim *m) { return most(tune(m), least(m->hi, LEAST_ROWS)); }

/* Whether threads would get shares of so many points that are a tenth larger than equal ones. */
static bool is_uneven(int64_t points, int64_t threads) {
    return ceil_div(points, threads) * threads * 10 > points * 11;
}

/* Register tiles of a point's rows: as many as the cache holds, for panels come once for each such
 * block; fewer where threads could not share the points, and in equal shares. */
static int64_t tiles_of_point(const Contraction *s, const Schedule *schedule, int64_t bytes) {
    const Target *target = s->request->target;
    int64_t m = rows_to_hold(s->extent[GROUP_m]), k = tune(s->extent[GROUP_k]);
    int64_t n = tune(s->extent[GROUP_n]), panels = s->has_rows ? 1 : ceil_div(n, schedule->nr);
    int64_t points = panels * tune(s->extent[GROUP_batch]), tiles = ceil_div(m, schedule->mr);
    int64_t row_bytes = (k + (s->has_rows ? n : 0)) * bytes;
    int64_t held = most(LEAST_ROWS, target->l2_bytes / 2 / row_bytes) / schedule->mr;
    int64_t blocks = ceil_div(tiles, most(1, held)),
            finest = ceil_div(tiles * schedule->mr, LEAST_ROWS);
    while (blocks < finest && blocks < MOST_BLOCKS && is_uneven(blocks * points, target->cores))
        blocks++;
    return ceil_div(tiles, blocks);
}

/* 0: the sum is made in one. Parts begin where the greatest blocks do. */
static int64_t depth_of_parts(const Contraction *s) {
    int64_t k, chain = 0;
    if (!dim_is_const(s->extent[GROUP_k], &k) || k <= MOST_DEPTH) return 0;
    SumCut cut = sum_cut(k, &chain);
    int64_t block = dtype_is_float(s->node->type->dtype) ? cut.sizes[cut.levels - 1] : 1;
    int64_t depth = ceil_div(k, ceil_div(k, PART_DEPTH));
    return ceil_div(depth, block) * block;
}

static const Node *find_contract(const Graph *g) {
    for (NodeId id = 0; id < g->nodes.count; id++)
        if (graph_node(g, id)->op == OP_contract) return graph_node(g, id);
    return NULL;
}

void contract_schedule(const SkeletonRequest *request, Schedule *schedule) {
    Contraction s = {.request = request,
                     .node = find_contract(request->region),
                     .has_rows = contract_has_rows(request->region)};
    const Target *target = request->target;
    if (s.node == NULL) return;
    contract_find_labels(&s);
    int64_t bytes = dtype_info(dtype_compute(s.node->type->dtype))->bits / 8, n;
    const Dim *columns = s.extent[GROUP_n];
    schedule->nr = target_contract_columns(target, bytes, s.extent[GROUP_m]->hi);
    if (dim_is_const(columns, &n) && n > 0 && n < schedule->nr)
        schedule->nr = ceil_div(n, target->lanes) * target->lanes;
    schedule->mr = even_rows(s.extent[GROUP_m], contract_tile_rows(target, schedule->nr, bytes));
    schedule->rows = tiles_of_point(&s, schedule, bytes);
    schedule->depth = depth_of_parts(&s);
}

/* ---- copies ---------------------------------------------------------------------------------- */

static int64_t sum_bytes(const Contraction *s) {
    return dtype_info(contract_sum_dtype(s))->bits / 8;
}

bool contract_should_pack_a(const Contraction *tried) {
    OperandFacts a = tried->a_facts;
    int64_t k = tried->extent[GROUP_k]->hi, bytes;
    if (tried->request->schedule.copy_a != COPY_by_model)
        return tried->request->schedule.copy_a == COPY_always;
    if (!a.computed && !a.slow) return false;
    if (__builtin_mul_overflow(tried->rows * tried->mr * sum_bytes(tried), k, &bytes)) return false;
    return tried->extent[GROUP_n]->hi > tried->nr && bytes <= 2 * tried->request->target->l2_bytes;
}

/* Whether the steps of a panel, `apart` bytes from each other, take so few sets of the second cache
 * that they drive each other out of it. */
static bool drives_itself_out(const Target *target, int64_t steps, int64_t apart) {
    enum { WAYS = 16 };
    int64_t period = target->l2_bytes / WAYS, common = apart > 0 ? apart & -apart : period;
    int64_t sets = period / least(common, period);
    return steps > sets * (WAYS / 2);
}

bool contract_should_pack_b(const Contraction *tried) {
    const Target *target = tried->request->target;
    OperandFacts b = tried->b_facts;
    int64_t k = tried->extent[GROUP_k]->hi, m = tried->extent[GROUP_m]->hi, bytes;
    if (tried->request->schedule.copy_b != COPY_by_model)
        return tried->request->schedule.copy_b == COPY_always;
    if (__builtin_mul_overflow(tried->nr * sum_bytes(tried), k, &bytes)) return false;
    if (bytes > 2 * target->l2_bytes) return false;
    if (b.slow) return m >= COPY_SLOW_ROWS;
    if (target->kind != TARGET_cpu || m < COPY_ROWS) return false;
    if (b.computed) return true;
    return b.far &&
           (m >= COPY_ANY_ROWS || drives_itself_out(target, k, b.apart * sum_bytes(tried)));
}

/* Panels that are read as they are, and that the second cache does not hold. */
bool contract_should_prefetch(const Contraction *tried) {
    OperandFacts b = tried->b_facts;
    if ((b.slow || b.computed) && !b.quads) return false;
    int64_t rows = tried->extent[GROUP_m]->hi;
    if (rows <= tried->mr) return false; /* the panel is read once, as fast as it comes */
    if (b.far && !b.quads && rows < ASKING_TILES * tried->mr) return false;
    double bytes = (double)tune(tried->extent[GROUP_k]) * (double)tune(tried->extent[GROUP_n]);
    if (!b.quads) bytes *= (double)sum_bytes(tried);
    return bytes > (double)tried->request->target->l2_bytes / 4;
}

/* All that the rows are multiplied with, but, unless rows must be whole, points enough for all
 * threads. */
int64_t contract_panels_of_point(const Contraction *tried) {
    int64_t panels = ceil_div(tune(tried->extent[GROUP_n]), tried->nr);
    if (tried->has_rows) return panels;
    int64_t blocks = ceil_div(ceil_div(tune(tried->extent[GROUP_m]), tried->mr), tried->rows);
    int64_t points = blocks * tune(tried->extent[GROUP_batch]);
    return ceil_div(panels, least(panels, ceil_div(LEAST_POINTS, points)));
}
