/* Why the driver did not take a module: what its compiler says, and the places that it means. */
#ifndef TCC_RUNTIME_CUDA_REFUSED_H
#define TCC_RUNTIME_CUDA_REFUSED_H

#include <stddef.h>

/* Writes into `text`, terminated, what is to be said of `ptx` by the compiler's log: the kernel and
 * the line of the model that the first line number in it stands for, the instruction, and the
 * log's errors. Empty for an empty log. */
void cuda_explain_refusal(const char *ptx, const char *log, char *text, size_t size);

#endif
