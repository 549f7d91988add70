/* The model in this process: the image, the weights and the kernels as a model.so would hold them.
 */
#include "compiler/session.h"
#include "runtime/features.h"
#include "runtime/model.h"

#include <string.h>

enum { PAGE = 4096 };

static void log_kernels(const tcc_unit *unit) {
    const Program *p = unit->core->result.program;
    for (size_t i = 0; i < unit->core->kernels.objects.count; i++) {
        const KernelObject *object = &unit->core->kernels.objects.data[i];
        uint32_t first = object->first % (uint32_t)p->kernels.count;
        compiler_log(unit->compiler, TCC_LOG_STEPS, "kernels", *p->kernels.data[first].name,
                     object->seconds, "%u kernels for %s, %zu bytes", object->count,
                     unit->core->targets[object->variant]->name, object->bytes.size);
    }
}

static KernelRequest request_of(const Core *core) {
    const Options *o = &core->options;
    return (KernelRequest){.program = core->result.program,
                           .targets = core->targets,
                           .target_count = core->target_count,
                           .level = o->level == 0 ? EMIT_fast : EMIT_full,
                           .round_everywhere = o->round_everywhere || o->level == 0,
                           .threads = o->threads};
}

tcc_status unit_gpu_facts(tcc_unit *unit, GpuFacts **out_facts) {
    Core *core = unit->core;
    const char *message = NULL;
    *out_facts = core->gpu != NULL && core->has_kernels ? core->gpu_image.facts : NULL;
    if (core->gpu == NULL || core->has_kernels) return TCC_OK;
    KernelRequest request = request_of(core);
    Status status = kernels_describe_gpu(&request, core->gpu, unit->arena, out_facts, &message);
    if (status == STATUS_ok) return TCC_OK;
    *out_facts = NULL;
    return compiler_fail(unit->compiler, compiler_status(status), "%s", message);
}

tcc_status unit_compile_kernels(tcc_unit *unit) {
    Core *core = unit->core;
    const char *message = NULL;
    if (core->has_kernels) return TCC_OK;
    if (core->result.program == NULL)
        return compiler_fail(unit->compiler, TCC_INVALID,
                             "the passes that were run make no program");
    if (core->target_count == 0)
        return compiler_fail(unit->compiler, TCC_INVALID, "no CPU is among the targets");
    KernelRequest request = request_of(core);
    Status status = kernels_compile(&request, core->arena, &core->kernels, &message);
    if (status != STATUS_ok)
        return compiler_fail(unit->compiler, compiler_status(status), "%s", message);
    if (core->gpu != NULL)
        status = kernels_compile_gpu(&request, core->gpu, core->arena, &core->gpu_image, &message);
    if (status != STATUS_ok)
        return compiler_fail(unit->compiler, compiler_status(status), "%s", message);
    core->has_kernels = true;
    core_measure(core);
    log_kernels(unit);
    return TCC_OK;
}

/* The variant that this processor runs best. */
static uint32_t usable_variant(const Core *core) {
    uint32_t best = UINT32_MAX, have = cpu_features();
    for (uint32_t v = 0; v < core->target_count; v++)
        if ((core->targets[v]->features & ~have) == 0) best = v;
    return best;
}

static bool load_objects(Core *core, uint32_t variant, const char **out_message) {
    for (size_t i = 0; i < core->kernels.objects.count; i++) {
        const KernelObject *object = &core->kernels.objects.data[i];
        if (object->variant != variant) continue;
        if (jit_add(core->jit, object->bytes, out_message) != STATUS_ok) return false;
    }
    return true;
}

/* What a failed attempt left goes first. */
static tcc_status load_kernels(tcc_unit *unit, uint32_t variant, TccKernel ***out_table) {
    const char *message = NULL;
    Core *core = unit->core;
    uint32_t kernels = (uint32_t)core->result.program->kernels.count;
    TccKernel **table = NEW_ARRAY(core->arena, TccKernel *, kernels * core->target_count + 1);
    jit_free(core->jit);
    core->jit = NULL;
    core->jit = jit_new(core->arena, &message);
    bool loaded = core->jit != NULL && load_objects(core, variant, &message);
    for (uint32_t k = variant * kernels; loaded && k < (variant + 1) * kernels; k++) {
        table[k] = jit_find(core->jit, core->kernels.symbols[k], &message);
        loaded = table[k] != NULL;
    }
    *out_table = table;
    return loaded ? TCC_OK : compiler_fail(unit->compiler, TCC_INTERNAL, "%s", message);
}

static tcc_status copy_weights(tcc_unit *unit) {
    Core *core = unit->core;
    const Program *p = core->result.program;
    uint64_t *offsets;
    uint64_t size = image_place_constants(p, core->arena, &offsets);
    source_release(&core->memory, core->weights, core->weights_size);
    core->weights_size = (size_t)(size / PAGE + 1) * PAGE;
    core->weights = source_allocate(&core->memory, core->weights_size, PAGE);
    if (core->weights == NULL) return compiler_fail(unit->compiler, TCC_MEMORY, "out of memory");
    for (size_t i = 0; i < p->constants.count; i++)
        memcpy((char *)core->weights + offsets[i], p->constants.data[i].blob->bytes,
               p->constants.data[i].blob->size);
    return TCC_OK;
}

static void hold_core(void *core) { core_hold(core); }
static void release_core(void *core) { core_release(core); }

static void put_together(Core *core, Str image, TccKernel **table) {
    Str metadata = core_metadata(core, core->arena);
    core->artefact = (TccArtefact){.image = (const TccImage *)(const void *)image.data,
                                   .weights = core->weights,
                                   .kernels = table,
                                   .metadata = metadata.data,
                                   .metadata_size = metadata.size,
                                   .owner = core,
                                   .hold = hold_core,
                                   .release = release_core};
}

tcc_status unit_make_artefact(tcc_unit *unit) {
    Core *core = unit->core;
    const char *message = NULL;
    TccKernel **table;
    if (core->artefact.image != NULL) return TCC_OK;
    tcc_status status = unit_compile_kernels(unit);
    if (status != TCC_OK) return status;
    uint32_t variant = usable_variant(core);
    if (variant == UINT32_MAX)
        return compiler_fail(unit->compiler, TCC_ENVIRONMENT,
                             "this processor cannot run what was compiled for %s",
                             core->targets[0]->name);
    ImageRequest request = {.program = core->result.program,
                            .targets = core->targets,
                            .target_count = core->target_count,
                            .facts = core->kernels.facts,
                            .gpu = core->gpu != NULL ? &core->gpu_image : NULL,
                            .diags = core->diags};
    Str image = image_write(&request, core->arena, &message);
    if (image.data == NULL) return compiler_fail(unit->compiler, TCC_INVALID, "%s", message);
    status = load_kernels(unit, variant, &table);
    if (status == TCC_OK) status = copy_weights(unit);
    if (status == TCC_OK) put_together(core, image, table);
    return status;
}

/* Models of a unit are opened by tcc_unit_open. */
static tcc_status refuse_open(const tcc_open_options *options, tcc_model **out_model, char *message,
                              size_t message_size) {
    static const char text[] = "a model in this process is opened by tcc_unit_open";
    (void)options;
    if (out_model != NULL) *out_model = NULL;
    if (message != NULL && message_size > 0) {
        size_t size = sizeof text < message_size ? sizeof text : message_size;
        memcpy(message, text, size);
        message[size - 1] = 0;
    }
    return TCC_INVALID;
}

static const tcc_model_api api = {MODEL_API_COMMON, .open = refuse_open};

typedef struct OpenCall {
    tcc_unit *unit;
    const tcc_open_options *options;
    tcc_model *model;
} OpenCall;

static tcc_status open_body(void *data) {
    OpenCall *call = data;
    char message[MESSAGE_SIZE] = "";
    ArenaSource memory = call->unit->memory;
    tcc_allocator own = {sizeof own, memory.allocate, memory.release, memory.user};
    tcc_status status = unit_make_artefact(call->unit);
    if (status != TCC_OK) return status;
    status =
        model_open(&call->unit->core->artefact, call->options,
                   memory.allocate == NULL ? NULL : &own, &call->model, message, sizeof message);
    return status == TCC_OK ? status : compiler_fail(call->unit->compiler, status, "%s", message);
}

tcc_status tcc_unit_open(tcc_unit *unit, const tcc_open_options *options,
                         const tcc_model_api **out_api, tcc_model **out_model) {
    OpenCall call = {.unit = unit, .options = options};
    if (out_api != NULL) *out_api = NULL;
    if (out_model != NULL) *out_model = NULL;
    if (out_api == NULL) return compiler_refuse_null(unit_compiler(unit), "out_api");
    if (out_model == NULL) return compiler_refuse_null(unit_compiler(unit), "out_model");
    double begin = compiler_clock();
    tcc_status status = unit_enter(unit, open_body, &call);
    if (status == TCC_OK) *out_api = &api;
    if (status == TCC_OK)
        compiler_log(unit->compiler, TCC_LOG_CALLS, "opened", *unit->core->source->name,
                     compiler_clock() - begin, "the model is ready in this process");
    *out_model = call.model;
    return status;
}
