/* The model in this process: the image, the weights and the kernels as a model.so would hold them.
 */
#include "codegen/artefact/metadata.h"
#include "compiler/session.h"
#include "runtime/features.h"
#include "runtime/model.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

tcc_status unit_compile_kernels(tcc_unit *unit) {
    const char *message = NULL;
    if (unit->has_kernels) return TCC_OK;
    if (unit->result.program == NULL)
        return compiler_fail(unit->compiler, TCC_INVALID,
                             "the passes that were run make no program");
    if (unit->target_count == 0)
        return compiler_fail(unit->compiler, TCC_INVALID, "no CPU is among the targets");
    KernelRequest request = {.program = unit->result.program,
                             .targets = unit->targets,
                             .target_count = unit->target_count,
                             .level = unit->options.level == 0 ? EMIT_fast : EMIT_full,
                             .round_everywhere =
                                 unit->options.round_everywhere || unit->options.level == 0,
                             .threads = unit->options.threads};
    Status status = kernels_compile(&request, unit->arena, &unit->kernels, &message);
    if (status != STATUS_ok)
        return compiler_fail(unit->compiler, compiler_status(status), "%s", message);
    unit->has_kernels = true;
    return TCC_OK;
}

/* The variant that this processor runs best. */
static uint32_t usable_variant(const tcc_unit *unit, uint32_t have) {
    uint32_t best = UINT32_MAX;
    for (uint32_t v = 0; v < unit->target_count; v++)
        if ((unit->targets[v]->features & ~have) == 0) best = v;
    return best;
}

static tcc_status load_kernels(tcc_unit *unit, uint32_t variant, TccKernel ***out_table) {
    const char *message = NULL;
    uint32_t kernels = (uint32_t)unit->result.program->kernels.count;
    TccKernel **table = NEW_ARRAY(unit->arena, TccKernel *, kernels * unit->target_count + 1);
    unit->jit = jit_new(unit->arena, &message);
    bool loaded = unit->jit != NULL;
    for (size_t i = 0; loaded && i < unit->kernels.objects.count; i++) {
        const KernelObject *object = &unit->kernels.objects.data[i];
        if (object->variant == variant)
            loaded = jit_add(unit->jit, object->bytes, &message) == STATUS_ok;
    }
    for (uint32_t k = variant * kernels; loaded && k < (variant + 1) * kernels; k++) {
        table[k] = jit_find(unit->jit, unit->kernels.symbols[k], &message);
        loaded = table[k] != NULL;
    }
    *out_table = table;
    return loaded ? TCC_OK : compiler_fail(unit->compiler, TCC_INTERNAL, "%s", message);
}

static tcc_status copy_weights(tcc_unit *unit) {
    const Program *p = unit->result.program;
    uint64_t *offsets;
    uint64_t size = image_place_constants(p, unit->arena, &offsets);
    unit->weights = aligned_alloc(PAGE, (size_t)(size / PAGE + 1) * PAGE);
    if (unit->weights == NULL) return compiler_fail(unit->compiler, TCC_MEMORY, "out of memory");
    for (size_t i = 0; i < p->constants.count; i++)
        memcpy((char *)unit->weights + offsets[i], p->constants.data[i].blob->bytes,
               p->constants.data[i].blob->size);
    return TCC_OK;
}

tcc_status unit_make_artefact(tcc_unit *unit) {
    const char *message = NULL;
    TccKernel **table;
    if (unit->artefact.image != NULL) return TCC_OK;
    tcc_status status = unit_compile_kernels(unit);
    if (status != TCC_OK) return status;
    uint32_t variant = usable_variant(unit, cpu_features());
    if (variant == UINT32_MAX)
        return compiler_fail(unit->compiler, TCC_ENVIRONMENT,
                             "this processor cannot run what was compiled for %s",
                             unit->targets[0]->name);
    ImageRequest request = {.program = unit->result.program,
                            .targets = unit->targets,
                            .target_count = unit->target_count,
                            .facts = unit->kernels.facts,
                            .diags = unit->diags};
    Str image = image_write(&request, unit->arena, &message);
    if (image.data == NULL) return compiler_fail(unit->compiler, TCC_INVALID, "%s", message);
    status = load_kernels(unit, variant, &table);
    if (status == TCC_OK) status = copy_weights(unit);
    if (status != TCC_OK) return status;
    MetadataRequest about = {.program = unit->result.program,
                             .targets = unit->targets,
                             .target_count = unit->target_count,
                             .compiler = tcc_version(),
                             .options = options_text(&unit->options, unit->arena)};
    Str metadata = metadata_write(&about, unit->arena);
    unit->artefact = (TccArtefact){.image = (const TccImage *)(const void *)image.data,
                                   .weights = unit->weights,
                                   .kernels = table,
                                   .metadata = metadata.data,
                                   .metadata_size = metadata.size};
    return TCC_OK;
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
    char message[256] = "";
    tcc_status status = unit_make_artefact(call->unit);
    if (status != TCC_OK) return status;
    status =
        model_open(&call->unit->artefact, call->options, &call->model, message, sizeof message);
    return status == TCC_OK ? status : compiler_fail(call->unit->compiler, status, "%s", message);
}

tcc_status tcc_unit_open(tcc_unit *unit, const tcc_open_options *options,
                         const tcc_model_api **out_api, tcc_model **out_model) {
    OpenCall call = {.unit = unit, .options = options};
    if (out_api != NULL) *out_api = NULL;
    if (out_model != NULL) *out_model = NULL;
    if (out_api == NULL) return compiler_refuse_null(unit_compiler(unit), "out_api");
    if (out_model == NULL) return compiler_refuse_null(unit_compiler(unit), "out_model");
    tcc_status status = compiler_enter(unit_compiler(unit), open_body, &call);
    if (status == TCC_OK) *out_api = &api;
    *out_model = call.model;
    return status;
}
