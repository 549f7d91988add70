/* The metadata of an artefact: what it is, as JSON for people and tools (.tcc.meta, `tcc info`). */
#ifndef TCC_CODEGEN_ARTEFACT_METADATA_H
#define TCC_CODEGEN_ARTEFACT_METADATA_H

#include "ir/program.h"

typedef struct MetadataRequest {
    const Program *program;
    const Target *const *targets;
    uint32_t target_count;
    const Target *gpu;    /* NULL without one */
    const char *compiler; /* its version */
    Str options;          /* those that decide what is compiled, as the command line has them */
} MetadataRequest;

/* The text, terminated, in `arena`; its bytes depend on the request alone. */
Str metadata_write(const MetadataRequest *request, Arena *arena);

#endif
