#include "runtime/model.h"

#include "runtime/features.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening --------------------------------------------------------------------------------- */

static tcc_status say(char *message, size_t size, tcc_status status, const char *text) {
    if (message != NULL && size > 0) snprintf(message, size, "%s", text);
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

static tcc_status say_no_variant(const TccImage *image, char *message, size_t size) {
    char text[256];
    const TccVariant *variants = image_at(image, image->variants);
    snprintf(text, sizeof text, "the model was compiled for %s, which this processor is not",
             image->variants.count > 0 ? image_string(image, variants[0].name) : "no CPU");
    return say(message, size, TCC_ENVIRONMENT, text);
}

static tcc_status prepare_threads(tcc_model *model, const tcc_open_options *options) {
    int32_t threads = options == NULL ? 0 : options->threads;
    if (options != NULL && options->parallel_for != NULL) {
        model->parallel_for = options->parallel_for;
        model->parallel_user = options->parallel_user;
        model->threads = threads > 0 ? threads : 1;
        return TCC_OK;
    }
    model->pool = pool_new(threads);
    if (model->pool == NULL) return TCC_MEMORY;
    model->threads = pool_threads(model->pool);
    return TCC_OK;
}

static tcc_status say_abi(const TccImage *image, char *message, size_t size) {
    char text[128];
    snprintf(text, sizeof text, "the model has version %u of the ABI, the runtime version %d",
             image->abi, TCC_ABI_VERSION);
    return say(message, size, TCC_INVALID, text);
}

tcc_status model_open(const TccArtefact *artefact, const tcc_open_options *options,
                      tcc_model **out_model, char *message, size_t message_size) {
    const TccImage *image = artefact->image;
    *out_model = NULL;
    if (image->magic != TCC_IMAGE_MAGIC || image->abi != TCC_ABI_VERSION)
        return say_abi(image, message, message_size);
    if (options != NULL && options->size < sizeof *options)
        return say(message, message_size, TCC_INVALID, "tcc_open_options has a wrong size");
    uint32_t variant = 0;
    if (!choose_variant(image, &variant)) return say_no_variant(image, message, message_size);
    tcc_model *model = calloc(1, sizeof *model);
    if (model == NULL) return say(message, message_size, TCC_MEMORY, "out of memory");
    model->artefact = *artefact;
    model->variant = variant;
    atomic_init(&model->holds, 1);
    if (prepare_threads(model, options) != TCC_OK) {
        free(model);
        return say(message, message_size, TCC_MEMORY, "out of memory");
    }
    *out_model = model;
    return TCC_OK;
}

void model_hold(tcc_model *model) { atomic_fetch_add(&model->holds, 1); }

void model_release(tcc_model *model) {
    if (model == NULL || atomic_fetch_sub(&model->holds, 1) != 1) return;
    pool_free(model->pool);
    free(model);
}

/* ---- the interface --------------------------------------------------------------------------- */

const char *model_metadata(const tcc_model *model, size_t *out_size) {
    if (out_size != NULL) *out_size = model->artefact.metadata_size;
    return model->artefact.metadata;
}

uint32_t model_input_count(const tcc_model *model) { return model->artefact.image->inputs.count; }

uint32_t model_output_count(const tcc_model *model) { return model->artefact.image->outputs.count; }

static tcc_status fill_port(const TccImage *image, TccTable table, uint32_t index, tcc_port *out) {
    if (index >= table.count || out->size < sizeof *out) return TCC_INVALID;
    const TccPort *port = (const TccPort *)image_at(image, table) + index;
    uint32_t size = out->size;
    memset(out, 0, sizeof *out);
    out->size = size;
    out->name = image_string(image, port->name);
    out->dtype = port->dtype;
    out->rank = port->rank;
    for (uint32_t i = 0; i < port->rank; i++) {
        bool fixed = port->dim_names[i] == 0;
        out->lo[i] = port->lo[i];
        out->hi[i] = port->hi[i];
        out->dims[i] = fixed ? port->lo[i] : -1;
        out->dim_names[i] = fixed ? NULL : image_string(image, port->dim_names[i]);
    }
    return TCC_OK;
}

tcc_status model_input_port(const tcc_model *model, uint32_t index, tcc_port *out_port) {
    return fill_port(model->artefact.image, model->artefact.image->inputs, index, out_port);
}

tcc_status model_output_port(const tcc_model *model, uint32_t index, tcc_port *out_port) {
    return fill_port(model->artefact.image, model->artefact.image->outputs, index, out_port);
}
