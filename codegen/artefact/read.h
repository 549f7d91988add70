/* Reading what an artefact says of itself, without loading it. The file is not trusted: offsets and
 * sizes are held against the bytes that are there before anything is read or allocated. */
#ifndef TCC_CODEGEN_ARTEFACT_READ_H
#define TCC_CODEGEN_ARTEFACT_READ_H

#include "base/diag.h"
#include "base/status.h"

typedef enum ArtefactPart {
    ARTEFACT_metadata, /* JSON */
    ARTEFACT_graph     /* .tir text, with the decisions behind it as comments */
} ArtefactPart;

/* The text of a part of the file `file` of `diags`, whose bytes are `bytes`; in `arena`.
 * STATUS_invalid after an error that names the byte. */
Status artefact_read(Arena *arena, Diags *diags, uint32_t file, Str bytes, ArtefactPart part,
                     Str *out_text);

#endif
