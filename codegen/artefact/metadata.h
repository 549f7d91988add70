/* The metadata of an artefact: what it is, as JSON for people and tools (.tcc.meta, `tcc info`). */
#ifndef TCC_CODEGEN_ARTEFACT_METADATA_H
#define TCC_CODEGEN_ARTEFACT_METADATA_H

#include "ir/program.h"

/* The text, terminated, in `arena`; its bytes depend on the arguments alone. */
Str metadata_write(const Program *program, const Target *const *targets, uint32_t target_count,
                   Arena *arena);

#endif
