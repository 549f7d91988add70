#include "runtime/model.h"

#include "runtime/cuda.h"
#include "runtime/features.h"
#include "runtime/messages.h"
#include "runtime/structs.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LONG_MESSAGE = 1024 };

/* ---- opening --------------------------------------------------------------------------------- */

/* What open says, into the caller's buffer. */
typedef struct Answer {
    char *text; /* may be NULL */
    size_t size;
} Answer;

static tcc_status say(Answer answer, tcc_status status, const char *id, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static tcc_status say(Answer answer, tcc_status status, const char *id, const char *format, ...) {
    char text[LONG_MESSAGE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (answer.text != NULL && answer.size > 0)
        snprintf(answer.text, answer.size, "%s [%s]", text, id);
    return status;
}

/* The last variant whose features are all there: variants are stored from plain to special. */
static bool choose_variant(const TccImage *image, uint32_t *out_variant) {
    const TccVariant *variants = image_at(image, image->variants);
    uint32_t have = cpu_features();
    bool found = false;
    for (uint32_t i = 0; i < image->variants.count; i++) {
        if ((variants[i].features & ~have) != 0) continue;
        *out_variant = i;
        found = true;
    }
    return found;
}

static tcc_status say_no_variant(const TccImage *image, Answer answer) {
    const TccVariant *variants = image_at(image, image->variants);
    return say(answer, TCC_ENVIRONMENT, RUN_PROCESSOR,
               image->variants.count > 0 ? image_string(image, variants[0].name) : "no CPU");
}

/* ---- devices --------------------------------------------------------------------------------- */

/* "cuda" for "cuda" and "cuda:1". */
static bool is_device(const char *name, const char *kind) {
    size_t size = strlen(kind);
    return strncmp(name, kind, size) == 0 && (name[size] == 0 || name[size] == ':');
}

/* "cuda", or "cuda:" and the number of one. */
static bool is_cuda(const char *name) {
    if (!is_device(name, "cuda") || name[4] == 0) return is_device(name, "cuda");
    size_t digits = strspn(name + 5, "0123456789");
    return digits > 0 && digits < 6 && name[5 + digits] == 0;
}

/* A GPU is never replaced by the CPU, but where the host left the choice. */
static tcc_status use_device(tcc_model *model, const char *name, Answer answer) {
    char text[LONG_MESSAGE - 64] = "out of memory";
    bool any = name != NULL && strcmp(name, "auto") == 0;
    model->device = &cpu_device;
    if (name == NULL || *name == 0 || strcmp(name, "cpu") == 0) return TCC_OK;
    if (!any && !is_cuda(name) && !is_device(name, "emu"))
        return say(answer, TCC_INVALID, RUN_DEVICE_NAME, name);
    if (any && model->artefact.image->gpu_target == 0) return TCC_OK;
    tcc_status status = cuda_model_begin(model, any ? "cuda" : name, text, sizeof text);
    if (status == TCC_OK) return TCC_OK;
    cuda_model_end(model);
    return any ? TCC_OK : say(answer, status, RUN_OPEN_DEVICE, text);
}

static bool prepare_threads(tcc_model *model, const tcc_open_options *options) {
    if (options->parallel_for != NULL) {
        model->parallel_for = options->parallel_for;
        model->parallel_user = options->parallel_user;
        model->threads = options->threads > 0 ? options->threads : 1;
        return true;
    }
    model->pool = pool_new(&model->memory, options->threads);
    if (model->pool == NULL) return false;
    model->threads = pool_threads(model->pool);
    return true;
}

static tcc_model *new_model(const TccArtefact *artefact, const Memory *memory,
                            const tcc_open_options *options) {
    tcc_model *model = memory_new(memory, sizeof *model);
    if (model == NULL) return NULL;
    model->artefact = *artefact;
    model->memory = *memory;
    atomic_init(&model->holds, 1);
    if (prepare_threads(model, options)) {
        if (artefact->owner != NULL) artefact->hold(artefact->owner);
        return model;
    }
    memory_free(memory, model, sizeof *model);
    return NULL;
}

tcc_status model_open(const TccArtefact *artefact, const tcc_open_options *options,
                      const tcc_allocator *allocator, tcc_model **out_model, char *message,
                      size_t message_size) {
    const TccImage *image = artefact->image;
    Answer answer = {message, message_size};
    tcc_open_options o = {0};
    Memory memory;
    uint32_t variant = 0;
    if (out_model == NULL) return say(answer, TCC_INVALID, RUN_NULL, "out_model");
    *out_model = NULL;
    if (image->magic != TCC_IMAGE_MAGIC || image->abi != TCC_ABI_VERSION)
        return say(answer, TCC_INVALID, RUN_ABI, image->abi, TCC_ABI_VERSION);
    if (!struct_take(&o, sizeof o, options, STRUCT_UPTO(tcc_open_options, parallel_user)))
        return say(answer, TCC_INVALID, RUN_OPEN_SIZE);
    if (!memory_from(o.allocator != NULL ? o.allocator : allocator, &memory))
        return say(answer, TCC_INVALID, RUN_ALLOCATOR);
    if (!choose_variant(image, &variant)) return say_no_variant(image, answer);
    tcc_model *model = new_model(artefact, &memory, &o);
    if (model == NULL) return say(answer, TCC_MEMORY, RUN_MEMORY);
    model->variant = variant;
    tcc_status status = use_device(model, o.device, answer);
    if (status == TCC_OK)
        *out_model = model;
    else
        model_release(model);
    return status;
}

void model_hold(tcc_model *model) { atomic_fetch_add(&model->holds, 1); }

/* The owner goes last: it has what the model is made of. */
void model_release(tcc_model *model) {
    if (model == NULL || atomic_fetch_sub(&model->holds, 1) != 1) return;
    Memory memory = model->memory;
    TccArtefact artefact = model->artefact;
    cuda_model_end(model);
    pool_free(model->pool);
    memory_free(&memory, model, sizeof *model);
    if (artefact.owner != NULL) artefact.release(artefact.owner);
}

/* ---- the interface --------------------------------------------------------------------------- */

const char *model_metadata(const tcc_model *model, size_t *out_size) {
    if (out_size != NULL) *out_size = model == NULL ? 0 : model->artefact.metadata_size;
    return model == NULL ? "" : model->artefact.metadata;
}

uint32_t model_input_count(const tcc_model *model) {
    return model == NULL ? 0 : model->artefact.image->inputs.count;
}

uint32_t model_output_count(const tcc_model *model) {
    return model == NULL ? 0 : model->artefact.image->outputs.count;
}

static tcc_status fill_port(const TccImage *image, TccTable table, uint32_t index, tcc_port *out) {
    if (out == NULL || index >= table.count) return TCC_INVALID;
    const TccPort *port = (const TccPort *)image_at(image, table) + index;
    tcc_port p = {
        .name = image_string(image, port->name), .dtype = port->dtype, .rank = port->rank};
    for (uint32_t i = 0; i < port->rank; i++) {
        bool fixed = port->dim_names[i] == 0;
        p.lo[i] = port->lo[i];
        p.hi[i] = port->hi[i];
        p.dims[i] = fixed ? port->lo[i] : -1;
        p.dim_names[i] = fixed ? NULL : image_string(image, port->dim_names[i]);
    }
    size_t least = STRUCT_UPTO(tcc_port, dim_names);
    return struct_give(out, &p, sizeof p, least) ? TCC_OK : TCC_INVALID;
}

tcc_status model_input_port(const tcc_model *model, uint32_t index, tcc_port *out_port) {
    if (model == NULL) return TCC_INVALID;
    return fill_port(model->artefact.image, model->artefact.image->inputs, index, out_port);
}

tcc_status model_output_port(const tcc_model *model, uint32_t index, tcc_port *out_port) {
    if (model == NULL) return TCC_INVALID;
    return fill_port(model->artefact.image, model->artefact.image->outputs, index, out_port);
}
