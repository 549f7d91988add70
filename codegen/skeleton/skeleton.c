#include "codegen/skeleton/skeleton.h"

#include "base/guard.h"
#include "base/scratch.h"
#include "codegen/skeleton/contract.h"
#include "codegen/tile/tile_tools.h"

#include <math.h>

static const Skeleton skeletons[] = {
#define SKELETON(name, meaning) {#name, meaning, skeleton_build_##name},
#include "codegen/skeleton/skeleton.def"
#undef SKELETON
};

const Skeleton *skeleton_at(uint32_t index) {
    return index < sizeof skeletons / sizeof *skeletons ? &skeletons[index] : NULL;
}

const Skeleton *skeleton_find(Str name) {
    for (uint32_t i = 0; skeleton_at(i) != NULL; i++)
        if (str_equal(name, str_from(skeletons[i].name))) return &skeletons[i];
    return NULL;
}

/* ---- schedules ------------------------------------------------------------------------------- */

/* As many accumulators as leave room for the panel's vectors and one broadcast. */
static void tile_sizes(const SkeletonRequest *request, Schedule *schedule) {
    const Target *target = request->target;
    if (target->kind == TARGET_gpu) {
        schedule->nr = target->lanes;
        schedule->mr = 8;
        schedule->rows = 8;
        return;
    }
    int64_t bytes = schedule_sum_bytes(request->region);
    schedule->rows = 1;
    schedule->nr = target_panel_columns(target, bytes);
    int64_t wide = (schedule->nr * bytes + target->vector_bytes - 1) / target->vector_bytes;
    int64_t rows = ((int64_t)target->vector_registers - wide - 1) / wide;
    schedule->mr = rows < 1 ? 1 : rows;
    contract_schedule(request, schedule);
}

/* Outputs that no cache holds are written past the caches. */
static bool should_stream(const SkeletonRequest *request) {
    double bytes = 0;
    const Graph *g = request->region;
    for (size_t i = 0; i < g->outputs.count; i++) {
        const Type *type = graph_type(g, g->outputs.data[i].node);
        bytes += (double)dim_tune_value(type_bytes(request->ctx, type));
    }
    return bytes > (double)request->target->l3_bytes / 2;
}

/* Far enough for the memory's latency, near enough to stay in the first cache. */
enum { AHEAD_BYTES = 8192 };

/* Warps enough for all multiprocessors to have some to change between, but each with several
 * accesses under way. */
static int64_t warp_grain(const SkeletonRequest *request) {
    enum { LEAST = 256, MOST = 4096, WARPS = 32 };
    const Graph *g = request->region;
    const Type *type = graph_type(g, g->outputs.data[0].node);
    int64_t elements = dim_tune_value(type_elements(request->ctx, type)), grain = LEAST;
    while (grain < MOST && grain * WARPS * (int64_t)request->target->cores < elements) grain *= 2;
    return grain;
}

static Schedule warp_schedule(const SkeletonRequest *request) {
    Schedule schedule = {.unroll = 4, .streaming = 1, .grain = warp_grain(request)};
    tile_sizes(request, &schedule);
    return schedule;
}

Schedule skeleton_schedule(const SkeletonRequest *request) {
    if (request->target->kind == TARGET_gpu) return warp_schedule(request);
    bool streams = should_stream(request);
    Schedule schedule = {.unroll = 4,
                         .streaming = streams ? 2 : 1,
                         .ahead = streams ? AHEAD_BYTES : 0,
                         .grain = streams ? 32768 : 4096};
    tile_sizes(request, &schedule);
    return schedule;
}

/* ---- costs ----------------------------------------------------------------------------------- */

static TileCounts count_at_tune(const TileProgram *program) {
    Scratch scratch;
    Arena *arena = scratch_open(&scratch);
    uint32_t symbols = dim_symbol_count(program->ctx);
    int64_t *values = NEW_ARRAY(arena, int64_t, symbols);
    for (uint32_t i = 0; i < symbols; i++) values[i] = dim_symbol_at(program->ctx, i)->tune;
    TileCounts counts = tile_count(program, values);
    scratch_close(&scratch);
    return counts;
}

KernelCost skeleton_cost(const TileProgram *program, const Target *target) {
    TileCounts counts = count_at_tune(program);
    KernelCost cost = {.bytes = counts.loaded_bytes + counts.stored_bytes,
                       .flops = counts.operations,
                       .scratch_bytes = counts.scratch_bytes};
    double memory = cost.bytes / target->memory_gbytes;
    double arithmetic = cost.flops / (target->core_gflops * target->cores);
    cost.ns = target->launch_ns + (memory > arithmetic ? memory : arithmetic);
    return cost;
}

/* All that lies in the kernel's arguments. */
static double argument_bytes(const TileProgram *program) {
    double bytes = 0;
    for (size_t i = 0; i < program->views.count; i++) {
        const TileView *view = &program->views.data[i];
        double size = dtype_info(view->dtype)->bits / 8.0;
        for (uint32_t a = 0; a < view->rank; a++) size *= (double)dim_tune_value(view->dims[a]);
        if (view->space != SPACE_scratch) bytes += size;
    }
    return bytes;
}

/* Work that is worth a second thread is more data than the second cache holds, so nothing comes
 * faster than from there but what is read again. No core is a quarter faster than its target's. */
double skeleton_least_ns(const TileProgram *program, const Target *target) {
    TileCounts counts = count_at_tune(program);
    double bytes = counts.loaded_bytes + counts.stored_bytes, once = argument_bytes(program);
    double ns = bytes / (2 * target->l2_gbytes), points = 1;
    ns = fmax(ns, fmin(bytes, once) / target->l2_gbytes);
    ns = fmax(ns, counts.simple_flops / (1.25 * target->core_gflops));
    for (uint32_t i = 0; i < program->work_rank; i++)
        points *= (double)dim_tune_value(program->work_extents[i]);
    return ns / fmax(points, 1);
}

/* ---- what the passes ask --------------------------------------------------------------------- */

static SkeletonRequest make_request(void *self, const Graph *region, Str strategy,
                                    const Target *target, Arena *arena, TileState state) {
    SkeletonRequest request = {.ctx = self,
                               .arena = arena,
                               .region = region,
                               .name = STR("kernel"),
                               .strategy = strategy,
                               .target = target,
                               .state = state};
    request.schedule = skeleton_schedule(&request);
    return request;
}

static TileProgram *try_build(void *self, const Graph *region, Str skeleton, Str strategy,
                              const Target *target, Arena *arena, const char **out_why) {
    const Skeleton *found = skeleton_find(skeleton);
    *out_why = "there is no skeleton of that name";
    if (found == NULL) return NULL;
    SkeletonRequest request = make_request(self, region, strategy, target, arena, TILE_placed);
    return found->build(&request, out_why);
}

static bool model_legal(void *self, const Graph *region, Str skeleton, Str strategy,
                        const Target *target, Arena *arena, const char **out_why) {
    return try_build(self, region, skeleton, strategy, target, arena, out_why) != NULL;
}

static KernelCost model_cost(void *self, const Graph *region, Str skeleton, Str strategy,
                             const Target *target, Arena *arena) {
    const char *why;
    TileProgram *program = try_build(self, region, skeleton, strategy, target, arena, &why);
    if (program == NULL) bug("the cost of an illegal group was asked: %s", why);
    return skeleton_cost(program, target);
}

/* Whether a field of schedules means something to the skeleton; `names` stand between blanks. */
static bool field_applies(const char *names, Str skeleton) {
    Str list = str_from(names);
    for (size_t begin = 0; begin < list.size;) {
        size_t end = begin;
        while (end < list.size && list.data[end] != ' ') end++;
        if (str_equal((Str){list.data + begin, end - begin}, skeleton)) return true;
        begin = end + 1;
    }
    return false;
}

static Str model_schedule(void *self, const Graph *region, Str skeleton, Str strategy,
                          const Target *target, Arena *arena) {
    SkeletonRequest request = make_request(self, region, strategy, target, arena, TILE_placed);
    Schedule schedule = request.schedule;
#define SCHEDULE(field, skeletons, initial, least, greatest, meaning)                              \
    if (!field_applies(skeletons, skeleton)) schedule.field = initial;
#include "ir/schedule.def"
#undef SCHEDULE
    Buf buf = {.arena = arena};
    buf_schedule(&buf, &schedule);
    return buf_str(&buf);
}

CostModel skeleton_cost_model(IrContext *ctx) {
    return (CostModel){
        .self = ctx, .legal = model_legal, .cost = model_cost, .schedule = model_schedule};
}
