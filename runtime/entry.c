/* The entry point of a model.so: its own artefact, laid out by the linker, behind the common table.
 */
#include "runtime/model.h"

/* Written by code generation into the objects that are linked with this one. */
extern const TccImage tcc_artefact_image;
extern const unsigned char tcc_artefact_weights[];
extern TccKernel *const tcc_artefact_kernels[];
extern const char tcc_artefact_metadata[];
extern const uint64_t tcc_artefact_metadata_size;

static tcc_status entry_open(const tcc_open_options *options, tcc_model **out_model, char *message,
                             size_t message_size) {
    TccArtefact artefact = {.image = &tcc_artefact_image,
                            .weights = tcc_artefact_weights,
                            .kernels = tcc_artefact_kernels,
                            .metadata = tcc_artefact_metadata,
                            .metadata_size = (size_t)tcc_artefact_metadata_size};
    return model_open(&artefact, options, NULL, out_model, message, message_size);
}

static const tcc_model_api api = {MODEL_API_COMMON, .open = entry_open};

const tcc_model_api *tcc_model_get_api(uint32_t version) {
    return version >= 1 && version <= TCC_MODEL_API_VERSION ? &api : NULL;
}
