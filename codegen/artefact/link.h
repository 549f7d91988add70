/* Linking objects into a shared library by the system's linker. */
#ifndef TCC_CODEGEN_ARTEFACT_LINK_H
#define TCC_CODEGEN_ARTEFACT_LINK_H

#include "base/status.h"
#include "base/str.h"

/* Links `objects` into the shared library `output`, which exports only `exported`: with every
 * symbol resolved in the objects and libc. The linker is ld, else ld.lld; it is the only child
 * process that tcc starts. STATUS_environment with *out_message (in `arena`): no linker, or what it
 * said. */
Status link_shared(Arena *arena, const char *const *objects, uint32_t object_count,
                   const char *folder, const char *output, const char *exported,
                   const char **out_message);

/* Joins `objects` into one relocatable object; failures as above. */
Status link_relocatable(Arena *arena, const char *const *objects, uint32_t object_count,
                        const char *folder, const char *output, const char **out_message);

#endif
