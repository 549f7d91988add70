/* What kernel.c and compile.c share: how one kernel of a program is lowered. */
#ifndef TCC_CODEGEN_KERNEL_INTERNAL_H
#define TCC_CODEGEN_KERNEL_INTERNAL_H

#include "codegen/kernel.h"

/* The launches of each kernel, in order: `first` by kernel, `next` by launch; UINT32_MAX ends. */
typedef struct KernelLaunches {
    uint32_t *first, *next;
} KernelLaunches;

KernelLaunches kernel_find_launches(const Program *program, Arena *arena);

/* How kernel `index` is lowered to the function `symbol`. */
LowerOptions kernel_lower_options(const Program *program, const KernelLaunches *launches,
                                  uint32_t index, const Target *target, const char *symbol,
                                  Arena *arena);

/* What the runtime needs to know of the kernel. */
KernelFacts kernel_facts(const TileProgram *tile, const Target *target);

#endif
