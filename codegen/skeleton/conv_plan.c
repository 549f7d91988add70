/* Tiles, blocks and the grid of a convolution, chosen by counting what they cost.
 *
 * Time is counted in slots: one slot is one vector multiply-add, of which a core starts two a
 * cycle. A tile of p pixels takes p · vectors slots a step of the sum, but at least as many as its
 * chains of dependent additions need, and a few more for reading the weights. */
#include "codegen/skeleton/conv_plan.h"

enum {
    FEW_OUTPUTS = 8,       /* of a group: fewer leave most of a panel empty */
    CHAIN_SLOTS = 8,       /* two multiply-adds a cycle, four cycles each */
    POINTS_A_CORE = 4,     /* grid points that a core should have at the least */
    COPY_SLOTS = 6,        /* a vector read from the second cache and stored */
    MOST_COPIED = 1 << 28, /* bytes */
    GPU_TILES = 8          /* of a warp's grid point */
};

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

typedef struct Planner {
    const Conv *s;
    const Target *target;
    ConvPlan plan;
    int64_t bytes, vectors; /* of a sum; registers of a row of a tile */
    int64_t mr;             /* pixels of a tile at the most */
    int64_t height, width;  /* of the result along its last two spatial axes */
    bool is_static;         /* both are known */
    int64_t images;         /* batch and leading spatial axes */
    int64_t channels, channels_hi, taps, panels;
} Planner;

static int64_t tune(const Dim *dim) { return most(dim_tune_value(dim), 1); }

static int64_t kernel_at(const Planner *p, uint32_t axis, bool greatest) {
    const Dim *dim = p->s->w->dims[2 + axis];
    return greatest ? most(dim->hi, 1) : tune(dim);
}

/* ---- tiles ----------------------------------------------------------------------------------- */

static int64_t tile_slots(const Planner *p, int64_t pixels) {
    return most(pixels * p->vectors, CHAIN_SLOTS) + p->vectors;
}

/* `size` neighbours in tiles of `step` times `each` pixels, the last one smaller. */
static int64_t line_slots(const Planner *p, int64_t size, int64_t step, int64_t each) {
    if (!p->is_static) return ceil_div(size, step) * tile_slots(p, step * each);
    int64_t rest = size % step;
    return size / step * tile_slots(p, step * each) + (rest ? tile_slots(p, rest * each) : 0);
}

static int64_t best_step(const Planner *p, int64_t size, int64_t greatest, int64_t each) {
    int64_t best = 1;
    for (int64_t step = 2; step <= least(greatest, p->is_static ? size : greatest); step++)
        if (line_slots(p, size, step, each) <= line_slots(p, size, best, each)) best = step;
    return best;
}

static void choose_tile(Planner *p) {
    ConvPlan *plan = &p->plan;
    plan->columns = best_step(p, p->width, p->mr, 1);
    plan->rows = 1;
    bool guarded = plan->spread && !plan->copies; /* by whole rows */
    if (p->is_static && plan->columns == p->width && !guarded)
        plan->rows = best_step(p, p->height, p->mr / p->width, p->width);
}

/* ---- what a grid point copies ---------------------------------------------------------------- */

/* Places along an axis that `block` neighbouring results read. */
static int64_t places(const Planner *p, uint32_t axis, int64_t block, bool greatest) {
    int64_t kernel = kernel_at(p, axis, greatest);
    if (kernel == 1 || block == 1) return kernel == 1 ? block : kernel;
    return (block - 1) * p->s->strides->items[axis] + (kernel - 1) * p->s->dilations->items[axis] +
           1;
}

static int64_t pixel_elements(const Planner *p, bool greatest) {
    int64_t channels = greatest ? p->channels_hi : p->channels;
    if (p->plan.spread) return channels * p->plan.panels * p->plan.nr;
    return p->plan.pitch ? p->plan.pitch : channels;
}

/* The elements of the copy for a block of the result; less than 0 where they overflow. */
static int64_t copied(const Planner *p, int64_t rows, int64_t columns, bool greatest) {
    uint32_t last = p->s->spatial - 1;
    int64_t elements = pixel_elements(p, greatest);
    for (uint32_t i = 0; i <= last; i++) {
        int64_t block = i == last ? columns : i + 1 == last ? rows : 1;
        if (__builtin_mul_overflow(elements, places(p, i, block, greatest), &elements)) return -1;
    }
    return elements;
}

static bool fits(const Planner *p, int64_t rows, int64_t columns, int64_t bytes) {
    int64_t elements = copied(p, rows, columns, false);
    return elements >= 0 && elements <= bytes / p->bytes;
}

/* Pixels a multiple of 128 channels apart would share few sets of the first cache. */
static int64_t choose_pitch(const Planner *p) {
    enum { ALIASING = 128, APART = 16 };
    int64_t channels = 0;
    bool known = dim_is_const(p->s->channels, &channels);
    return known && channels > 0 && channels % ALIASING == 0 ? channels + APART : 0;
}

/* Without padding every tile of a known shape reads pixels of x alone, where they are. With one
 * channel a lane a copy would take as long as the few taps: which pixels lie outside is known of
 * each tile. */
static bool needs_copy(const Planner *p) {
    const Conv *s = p->s;
    bool depthwise = p->plan.spread && dim_equals_int(s->channels, 1) &&
                     dim_equals_int(s->outputs, 1) && p->taps <= SUM_BLOCK;
    if (p->plan.spread && !depthwise) return true;
    for (uint32_t i = 0; i < s->spatial; i++) {
        bool padded = s->lo->items[i] != 0 || s->hi->items[i] != 0;
        if (padded && !depthwise) return true;
        if (!dim_is_const(s->x->dims[2 + i], NULL) || !dim_is_const(s->w->dims[2 + i], NULL))
            return true;
    }
    if (depthwise) return !conv_is_channels_last(s);
    uint32_t last = s->spatial - 1;
    bool aliasing = p->plan.pitch != 0 && p->channels * p->bytes * s->strides->items[last] >= 2048;
    return aliasing || !conv_is_channels_last(s);
}

/* ---- the grid -------------------------------------------------------------------------------- */

/* What the slowest core takes: its grid points one after the other. */
static double grid_slots(const Planner *p, int64_t rows) {
    const ConvPlan *plan = &p->plan;
    int64_t groups = ceil_div(p->panels, plan->panels) * (plan->spread ? 1 : p->s->groups);
    int64_t blocks = ceil_div(p->height, rows) * ceil_div(p->width, plan->block_columns);
    int64_t points = groups * p->images * blocks, cores = (int64_t)p->target->cores;
    double row = (double)line_slots(p, p->width, plan->columns, plan->rows) / (double)plan->rows;
    double sums = row * (double)(rows * p->taps * p->channels * plan->panels);
    double copy =
        (double)copied(p, rows, plan->block_columns, false) * COPY_SLOTS / (double)p->target->lanes;
    double a_core = (double)ceil_div(points, cores);
    if (points < cores * POINTS_A_CORE) a_core *= 1.03;
    return a_core * (sums + (plan->copies ? copy : 0));
}

/* As many panels a grid point as have their weights in the second cache beside what it copied; of
 * those across groups, which are gone through for each tile, as have their weights or the rows of
 * the copy that are used at once in the first. No grid point has fewer than another. */
static void choose_panels(Planner *p) {
    int64_t bytes = p->taps * p->channels * p->plan.nr * p->bytes;
    int64_t room = p->target->l2_bytes * 3 / 8;
    p->plan.panels = 1;
    if (p->plan.spread) {
        if (p->plan.copies) bytes = copied(p, p->plan.rows, p->width, false) * p->bytes;
        room = p->target->l1_bytes / (p->plan.copies ? 2 : 4);
    }
    int64_t weights = p->taps * p->channels * tune(p->s->w->dims[0]) * p->bytes;
    p->plan.asks = !p->plan.spread && weights > p->target->l2_bytes / 2;
    int64_t many = most(room / most(bytes, 1), 1);
    p->plan.panels = ceil_div(p->panels, ceil_div(p->panels, least(many, p->panels)));
}

static void choose_blocks(Planner *p) {
    ConvPlan *plan = &p->plan;
    int64_t bytes = p->target->l2_bytes / 4;
    int64_t across = ceil_div(p->width, plan->columns);
    while (across > 1 && plan->copies && !fits(p, plan->rows, across * plan->columns, bytes))
        across = ceil_div(across, 2);
    plan->block_columns = across * plan->columns;
    int64_t best = 1, all = ceil_div(p->height, plan->rows);
    uint32_t last = p->s->spatial - 1;
    bool sparse = last > 0 && p->s->dilations->items[last - 1] > 1;
    for (int64_t n = 2; n <= all && !sparse; n++) {
        if (plan->copies && !fits(p, n * plan->rows, plan->block_columns, bytes)) break;
        if (grid_slots(p, n * plan->rows) <= grid_slots(p, best * plan->rows)) best = n;
    }
    plan->block_rows = best * plan->rows;
}

static Planner start(const Conv *s) {
    Planner p = {.s = s, .target = s->request->target, .images = tune(s->domain.dims[0])};
    uint32_t last = s->spatial - 1;
    const Dim *width = s->domain.dims[2 + last], *height = last ? s->domain.dims[1 + last] : NULL;
    p.width = tune(width);
    p.height = height ? tune(height) : 1;
    p.is_static = dim_is_const(width, NULL) && (!height || dim_is_const(height, NULL));
    for (uint32_t i = 0; i + 1 < last; i++) p.images *= tune(s->domain.dims[2 + i]);
    p.bytes = dtype_info(emit_sum_dtype(&s->e, s->id))->bits / 8;
    p.channels = tune(s->channels);
    p.channels_hi = most(s->channels->hi, 1);
    p.taps = 1;
    for (uint32_t i = 0; i <= last; i++) p.taps *= kernel_at(&p, i, false);
    return p;
}

/* Narrow panels where there are few outputs, and longer tiles for them. */
static void choose_panel_width(Planner *p) {
    const Conv *s = p->s;
    int64_t lanes = p->target->lanes, outputs = most(s->outputs->hi, 1);
    bool cpu = p->target->kind == TARGET_cpu;
    p->plan.nr = s->request->schedule.nr;
    p->mr = s->request->schedule.mr;
    p->plan.spread = cpu && s->groups > 1 && outputs < FEW_OUTPUTS;
    while (p->plan.nr % (2 * lanes) == 0 && (p->plan.spread || outputs <= p->plan.nr / 2)) {
        p->plan.nr /= 2;
        if (!p->plan.spread) p->mr *= 2;
    }
    const Dim *all = p->plan.spread ? s->w->dims[0] : s->outputs;
    p->vectors = most(p->plan.nr * p->bytes / p->target->vector_bytes, 1);
    p->panels = ceil_div(tune(all), p->plan.nr);
}

ConvPlan conv_plan(const Conv *s) {
    Planner p = start(s);
    choose_panel_width(&p);
    if (p.target->kind == TARGET_gpu) {
        p.plan.rows = p.plan.block_rows = p.plan.panels = 1;
        p.plan.columns = p.mr;
        p.plan.block_columns = p.mr * GPU_TILES;
        return p.plan;
    }
    p.plan.pitch = p.plan.spread ? 0 : choose_pitch(&p);
    p.plan.copies = needs_copy(&p);
    choose_tile(&p);
    choose_panels(&p);
    choose_blocks(&p);
    int64_t all = copied(&p, p.plan.block_rows, p.plan.block_columns, true);
    if (all < 0 || all > MOST_COPIED / p.bytes) p.plan.copies = p.plan.spread = false;
    return p.plan;
}
