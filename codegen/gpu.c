/* Compiling all kernels of a program for a GPU: one module, one text of PTX. */
#include "base/guard.h"
#include "codegen/kernel_internal.h"
#include "codegen/lower/reserve.h"

typedef struct GpuJob {
    const KernelRequest *request;
    const Target *gpu;
    Arena *arena;
    GpuImage *image;
    LLVMContextRef context;
    LLVMModuleRef module;
    Emitter *emitter;
} GpuJob;

/* What LLVM failed in stays. */
static void drop(void *data) {
    GpuJob *job = data;
    if (guard_is_backend(guard_raised())) return;
    emitter_free(job->emitter);
    if (job->module != NULL) LLVMDisposeModule(job->module);
    if (job->context != NULL) LLVMContextDispose(job->context);
}

static GpuFacts facts_of(const TileProgram *tile, const LowerOptions *options, Arena *arena) {
    LowerLaunch launch = lower_launch(tile, options, arena);
    return (GpuFacts){.symbol = options->symbol.data,
                      .shape = launch.shape,
                      .points = launch.points,
                      .scratch = launch.scratch,
                      .dims = launch.dims};
}

/* Without a module of LLVM's only the facts. */
static Status lower_all(GpuJob *job, const char **out_message) {
    const Program *p = job->request->program;
    KernelLaunches launches = kernel_find_launches(p, job->arena);
    for (uint32_t k = 0; k < p->kernels.count; k++) {
        const char *why, *symbol = p->kernels.data[k].name->data;
        guard_poll();
        if (job->module != NULL) reserve_need();
        TileProgram *tile = kernel_tile(p, k, job->gpu, TILE_placed, job->request->round_everywhere,
                                        job->arena, &why);
        if (tile == NULL) {
            *out_message = str_format(job->arena, "kernel %s: %s", symbol, why).data;
            return STATUS_internal;
        }
        LowerOptions options = kernel_lower_options(p, &launches, k, job->gpu, symbol, job->arena);
        if (job->module != NULL) lower_into(job->module, tile, &options);
        job->image->facts[k] = facts_of(tile, &options, job->arena);
    }
    return STATUS_ok;
}

/* After an error LLVM's context is in no known state, and stays. */
static Status emit_all(GpuJob *job, const char **out_message) {
    job->emitter = emitter_new(job->arena, job->gpu, job->request->level);
    Status status = emit_module(job->emitter, job->module, EMIT_assembly, job->arena,
                                &job->image->ptx, out_message);
    if (status == STATUS_ok) return status;
    job->module = NULL;
    job->context = NULL;
    return status;
}

Status kernels_compile_gpu(const KernelRequest *request, const Target *gpu, Arena *arena,
                           GpuImage *out_image, const char **out_message) {
    GuardDefer defer;
    GpuJob job = {.request = request, .gpu = gpu, .arena = arena, .image = out_image};
    *out_image = (GpuImage){.target = gpu,
                            .facts = NEW_ARRAY(arena, GpuFacts, request->program->kernels.count)};
    guard_defer(&defer, drop, &job);
    emit_start();
    bool outer = guard_set_backend(true);
    job.context = LLVMContextCreate();
    job.module = LLVMModuleCreateWithNameInContext("kernels", job.context);
    Status status = lower_all(&job, out_message);
    if (status == STATUS_ok) status = emit_all(&job, out_message);
    guard_undefer(&defer);
    drop(&job);
    guard_set_backend(outer);
    return status;
}

Status kernels_describe_gpu(const KernelRequest *request, const Target *gpu, Arena *arena,
                            GpuFacts **out_facts, const char **out_message) {
    GpuImage image = {.facts = NEW_ARRAY(arena, GpuFacts, request->program->kernels.count)};
    GpuJob job = {.request = request, .gpu = gpu, .arena = arena, .image = &image};
    *out_facts = image.facts;
    return lower_all(&job, out_message);
}
