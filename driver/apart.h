/* Probes in processes of their own, where a crash and an endless loop are results. */
#ifndef TCC_DRIVER_APART_H
#define TCC_DRIVER_APART_H

#include <tcc/bisect.h>

typedef struct Apart {
    double seconds; /* that a probe may take */
} Apart;

/* A tcc_apart_callback; `apart` is an Apart. */
tcc_status apart_run(void *apart, tcc_probe *probe, void *result, size_t size, char *why,
                     size_t why_size);

#endif
