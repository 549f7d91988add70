/* Register tiles and the grid of Winograd's algorithm, chosen by counting vector multiply-adds as
 * conv_plan.c does; a transform counts by the time that it was measured to take. */
#include "codegen/skeleton/conv_winograd.h"

enum {
    CHAIN_SLOTS = 8, /* two multiply-adds a cycle, four cycles each */
    MOST_ROWS = 28,  /* of a register tile */
    MOST_TILES = 64, /* of a grid point */
    IN_SLOTS = 160,  /* to transform a vector of channels of a patch */
    OUT_SLOTS = 90,  /* … of its results, back */
    SLOT_BYTES = 3,  /* of weights from memory, in the time of a multiply-add */
    AHEAD_BYTES = 4096,
    F32_BYTES = 4
};

typedef struct Planner {
    const Target *target;
    int64_t channels, vectors, panels, patches;
    int64_t nr, pitch;
} Planner;

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t transform_bytes(const Planner *p, const WinogradPlan *plan) {
    return WINOGRAD_PRODUCTS * plan->tiles * plan->mr * p->pitch * F32_BYTES;
}

/* Of a grid point. */
static int64_t weight_bytes(const Planner *p, const WinogradPlan *plan) {
    return plan->panels * WINOGRAD_PRODUCTS * p->channels * p->nr * F32_BYTES;
}

/* A grid point but for its weights: transforms, and the tiles of each panel. */
static double point_slots(const Planner *p, const WinogradPlan *plan) {
    int64_t step = most(plan->mr * p->vectors, CHAIN_SLOTS) + p->vectors;
    int64_t in = plan->mr * ceil_div(p->channels, p->target->lanes) * IN_SLOTS;
    int64_t out = plan->mr * p->vectors * OUT_SLOTS;
    int64_t tile = WINOGRAD_PRODUCTS * p->channels * step + out;
    return (double)plan->tiles * ((double)in + (double)plan->panels * (double)tile);
}

/* What the slowest core takes, whose last point may have fewer tiles. It goes through the bands of
 * a group of panels one after the other, and reads the weights once if they stay in the second
 * cache beside the transforms. */
static double grid_slots(const Planner *p, const WinogradPlan *plan) {
    int64_t tiles = ceil_div(p->patches, plan->mr), cores = (int64_t)p->target->cores;
    int64_t bands = ceil_div(tiles, plan->tiles), groups = ceil_div(p->panels, plan->panels);
    int64_t points = ceil_div(bands * groups, cores), bytes = weight_bytes(p, plan);
    bool stay = bytes + transform_bytes(p, plan) <= p->target->l2_bytes * 7 / 8;
    double reads = (double)bytes * (double)(stay ? ceil_div(points, bands) : points);
    double share = (double)points;
    if (cores == 1) share *= (double)tiles / (double)(bands * plan->tiles);
    return share * point_slots(p, plan) + reads / SLOT_BYTES;
}

/* Whether the transforms of a grid point stay in the second cache while panels come and go. */
static bool fits(const Planner *p, const WinogradPlan *plan) {
    return transform_bytes(p, plan) <= p->target->l2_bytes / 2;
}

static void keep_better(const Planner *p, const WinogradPlan *plan, WinogradPlan *best,
                        double *least_slots) {
    double slots = grid_slots(p, plan);
    if (slots >= *least_slots) return;
    *least_slots = slots;
    *best = *plan;
}

WinogradPlan winograd_plan(const Conv *s, int64_t nr, int64_t down, int64_t across) {
    const Target *target = s->request->target;
    Planner p = {.target = target, .nr = nr};
    int64_t outputs = 0, images = most(dim_tune_value(s->domain.dims[0]), 1);
    dim_is_const(s->channels, &p.channels);
    dim_is_const(s->outputs, &outputs);
    p.vectors = nr * F32_BYTES / target->vector_bytes;
    p.panels = ceil_div(outputs, nr);
    p.patches = images * down * across;
    p.pitch = ceil_div(p.channels, target->lanes) * target->lanes;
    if (p.pitch % 128 == 0) p.pitch += 16; /* patches would share few sets of the first cache */
    int64_t rows = least((target->vector_registers - 1) / p.vectors - 1, MOST_ROWS);
    WinogradPlan best = {.mr = 1, .nr = nr, .tiles = 1, .panels = 1, .pitch = p.pitch};
    WinogradPlan all = {.panels = p.panels};
    if (weight_bytes(&p, &all) > target->l2_bytes / 2) best.ahead = AHEAD_BYTES;
    WinogradPlan plan = best;
    double slots = grid_slots(&p, &best);
    for (plan.mr = least(rows, p.patches); plan.mr > 0; plan.mr--)
        for (plan.tiles = 1; plan.tiles <= MOST_TILES; plan.tiles++)
            for (plan.panels = p.panels; plan.panels > 0 && fits(&p, &plan); plan.panels--)
                keep_better(&p, &plan, &best, &slots);
    return best;
}
