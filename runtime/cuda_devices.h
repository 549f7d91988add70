/* Which GPUs there are, without a model. Both load the driver, which stays. */
#ifndef TCC_RUNTIME_CUDA_DEVICES_H
#define TCC_RUNTIME_CUDA_DEVICES_H

#include <stdbool.h>
#include <stddef.h>

/* How many devices the driver of that kind ("cuda", "emu") has; 0 with the reason in `text`. */
int cuda_count_devices(const char *kind, char *text, size_t size);
/* Name, architecture and size of one; false with the reason in `text`. */
bool cuda_describe_device(const char *kind, int ordinal, char *text, size_t size);

#endif
