/* Writing artefacts: a self-contained model.so, or its parts as one relocatable object. */
#ifndef TCC_CODEGEN_ARTEFACT_ARTEFACT_H
#define TCC_CODEGEN_ARTEFACT_ARTEFACT_H

#include "base/diag.h"
#include "base/status.h"
#include "codegen/kernel.h"

typedef enum ArtefactKind { ARTEFACT_shared, ARTEFACT_object } ArtefactKind;

typedef struct ArtefactRequest {
    const Program *program;
    const Target *const *targets;
    uint32_t target_count;
    const CompiledKernels *kernels;
    const GpuImage *gpu;  /* NULL: for no GPU */
    const char *compiler; /* for the metadata (metadata.h) */
    Str options;
    Str graph;           /* text for .tcc.graph, stored compressed; empty: none */
    const Diags *places; /* for the source places of kernels */
} ArtefactRequest;

/* Writes the file: its bytes are a function of the request. An older file of that name is whole
 * until the new one takes its place. STATUS_environment after a diagnostic when a file or the
 * linker fails. */
Status artefact_write(const ArtefactRequest *request, ArtefactKind kind, Arena *arena, Diags *diags,
                      Str path);

#endif
