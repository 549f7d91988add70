/* Kernels under LLVM's sanitizers: a build that has a sanitizer of its own (-DTCC_SANITIZE=address
 * or thread) instruments the kernels too where the environment variable TCC_SANITIZE_KERNELS is
 * set, for models that are run in the process; a model.so of such kernels does not link. */
#ifndef TCC_CODEGEN_LOWER_SANITIZE_H
#define TCC_CODEGEN_LOWER_SANITIZE_H

#include <llvm-c/Core.h>

/* Marks the functions of the module. The passes that then have to be run over it; NULL: none. */
const char *sanitize_kernels(LLVMModuleRef module);

#endif
