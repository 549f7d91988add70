/* How a kernel is launched: what follows from its program alone, so that the artefact can say it
 * without compiling. */
#include "codegen/nvptx/nvptx.h"
#include "codegen/tile/walk.h"

uint32_t nvptx_point_threads(const TileProgram *program) {
    uint32_t threads = WARP_LANES;
    for (size_t i = 0; i < program->values.count; i++) {
        uint32_t lanes = values_lanes(&program->values.data[i]);
        if (lanes > threads) threads = lanes;
    }
    return threads;
}

uint32_t nvptx_block_threads(const TileProgram *program) {
    uint32_t threads = nvptx_point_threads(program);
    return threads > BLOCK_THREADS ? threads : BLOCK_THREADS;
}

int64_t lower_points_of_block(const TileProgram *program) {
    return nvptx_block_threads(program) / nvptx_point_threads(program);
}

typedef struct Mentions {
    const DimSymbol *const *dims;
    uint32_t count;
    bool *mentioned;
} Mentions;

static void see_symbol(void *user, const DimSymbol *symbol) {
    Mentions *m = user;
    for (uint32_t i = 0; i < m->count; i++)
        if (m->dims[i] == symbol) m->mentioned[i] = true;
}

static void see_dim(void *user, const Dim *dim) { tile_visit_symbols(dim, see_symbol, user); }

uint32_t nvptx_dims(const TileProgram *program, const LowerOptions *options, Arena *arena,
                    uint32_t **out_slots) {
    Mentions m = {options->dims, options->dim_count, NEW_ARRAY(arena, bool, options->dim_count)};
    tile_visit_dims(program, see_dim, &m);
    uint32_t count = 0;
    *out_slots = NEW_ARRAY(arena, uint32_t, options->dim_count);
    for (uint32_t i = 0; i < options->dim_count; i++)
        if (m.mentioned[i]) (*out_slots)[count++] = i;
    return count;
}

LowerLaunch lower_launch(const TileProgram *program, const LowerOptions *options, Arena *arena) {
    LowerLaunch launch = {.points = dim_const(program->ctx, 1),
                          .scratch = dim_const(program->ctx, 0)};
    LowerScratch scratch = lower_scratch(program, options->target);
    uint32_t *slots;
    launch.shape.threads = nvptx_block_threads(program);
    launch.shape.points_per_block = (uint32_t)lower_points_of_block(program);
    launch.shape.dim_count = nvptx_dims(program, options, arena, &slots);
    launch.dims = slots;
    for (uint32_t i = 0; i < program->work_rank; i++)
        launch.points = dim_mul(program->ctx, launch.points, program->work_extents[i]);
    if (!scratch.shared)
        launch.scratch = dim_scale(program->ctx, scratch.bytes, launch.shape.points_per_block);
    return launch;
}
