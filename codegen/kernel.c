#include "codegen/kernel.h"

#include "base/guard.h"
#include "codegen/kernel_internal.h"
#include "codegen/skeleton/skeleton.h"
#include "codegen/tile/tile_tools.h"

/* Fields that a schedule leaves 0 are the skeleton's choice. */
static Schedule complete_schedule(const SkeletonRequest *request, Schedule given) {
    Schedule chosen = skeleton_schedule(request);
#define SCHEDULE(field, skeletons, initial, least, greatest, meaning)                              \
    if (given.field == 0) given.field = chosen.field;
#include "ir/schedule.def"
#undef SCHEDULE
    return given;
}

TileProgram *kernel_tile(const Program *program, uint32_t index, const Target *target,
                         TileState state, bool round_everywhere, Arena *arena,
                         const char **out_why) {
    const Kernel *kernel = &program->kernels.data[index];
    const Skeleton *skeleton = skeleton_find(*kernel->skeleton);
    *out_why = "there is no skeleton of that name";
    if (skeleton == NULL) return NULL;
    SkeletonRequest request = {.ctx = program->ctx,
                               .arena = arena,
                               .region = kernel->region,
                               .name = *kernel->name,
                               .strategy = *kernel->strategy,
                               .target = target,
                               .state = state,
                               .round_everywhere = round_everywhere};
    Schedule given = target == program->target ? kernel->schedule : (Schedule){0};
    request.schedule = complete_schedule(&request, given);
    TileProgram *tile = skeleton->build(&request, out_why);
    if (tile == NULL) return NULL;
    *out_why = tile_verify(tile, arena);
    return *out_why == NULL ? tile : NULL;
}

const char *kernel_symbol(const Program *program, uint32_t index, uint32_t variant, Arena *arena) {
    return str_format(arena, "tcc_%.*s_v%u", STR_ARG(*program->kernels.data[index].name), variant)
        .data;
}

/* ---- which arguments may share memory -------------------------------------------------------- */

static bool ranges_meet(const Program *p, const Buffer *a, const Buffer *b) {
    if (a->kind != BUFFER_arena || b->kind != BUFFER_arena) return false;
    for (uint32_t i = 0; i < p->bucket_count; i++) {
        int64_t a0 = a->offset[i], b0 = b->offset[i];
        int64_t a1 = a0 + type_bytes(p->ctx, a->type)->hi,
                b1 = b0 + type_bytes(p->ctx, b->type)->hi;
        if (a0 < b1 && b0 < a1) return true;
    }
    return false;
}

KernelLaunches kernel_find_launches(const Program *p, Arena *arena) {
    size_t kernels = p->kernels.count, launches = p->launches.count;
    KernelLaunches found = {NEW_ARRAY(arena, uint32_t, kernels),
                            NEW_ARRAY(arena, uint32_t, launches)};
    for (size_t k = 0; k < kernels; k++) found.first[k] = UINT32_MAX;
    for (size_t l = launches; l-- > 0;) {
        uint32_t *first = &found.first[p->launches.data[l].kernel];
        found.next[l] = *first;
        *first = (uint32_t)l;
    }
    return found;
}

static void mark_aliases(const Program *p, const Launch *launch, uint32_t inputs, uint32_t count,
                         bool *aliases) {
    for (uint32_t o = inputs; o < count; o++)
        for (uint32_t i = 0; i < inputs; i++)
            if (ranges_meet(p, &p->buffers.data[launch->buffers[o]],
                            &p->buffers.data[launch->buffers[i]]))
                aliases[o] = aliases[i] = true;
}

LowerOptions kernel_lower_options(const Program *p, const KernelLaunches *launches, uint32_t index,
                                  const Target *target, const char *symbol, Arena *arena) {
    LowerOptions options = {.target = target,
                            .symbol = str_from(symbol),
                            .dims = p->dims.data,
                            .dim_count = (uint32_t)p->dims.count,
                            .places = p->places};
    const Graph *region = p->kernels.data[index].region;
    uint32_t inputs = (uint32_t)region->inputs.count;
    uint32_t count = inputs + (uint32_t)region->outputs.count;
    bool *aliases = NEW_ARRAY(arena, bool, count);
    for (uint32_t l = launches->first[index]; l != UINT32_MAX; l = launches->next[l])
        mark_aliases(p, &p->launches.data[l], inputs, count, aliases);
    options.may_alias = aliases;
    options.may_alias_count = count;
    return options;
}

/* ---- facts ----------------------------------------------------------------------------------- */

KernelFacts kernel_facts(const TileProgram *tile, const Target *target) {
    IrContext *ctx = tile->ctx;
    KernelFacts facts = {.points = dim_const(ctx, 1), .scratch = lower_scratch(tile, target).bytes};
    for (uint32_t i = 0; i < tile->work_rank; i++)
        facts.points = dim_mul(ctx, facts.points, tile->work_extents[i]);
    facts.ns_per_point = skeleton_least_ns(tile, target);
    return facts;
}

/* What LLVM failed in stays. */
static void drop_emitter(void *emitter) {
    if (!guard_is_backend(guard_raised())) emitter_free(emitter);
}

Status kernel_emit(const Program *program, uint32_t index, const Target *target, EmitLevel level,
                   bool round_everywhere, EmitKind kind, const char *symbol, Arena *arena,
                   Str *out_bytes, const char **out_message) {
    TileProgram *tile =
        kernel_tile(program, index, target, TILE_placed, round_everywhere, arena, out_message);
    if (tile == NULL) return STATUS_internal;
    KernelLaunches launches = kernel_find_launches(program, arena);
    LowerOptions options = kernel_lower_options(program, &launches, index, target, symbol, arena);
    GuardDefer defer;
    Emitter *emitter = emitter_new(arena, target, level);
    guard_defer(&defer, drop_emitter, emitter);
    Status status = emit_program(emitter, tile, &options, kind, arena, out_bytes, out_message);
    guard_undefer(&defer);
    emitter_free(emitter);
    return status;
}
