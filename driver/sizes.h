/* The sizes of a model's dims in one run: learnt from files, set by -D, or what the model is tuned
 * for. */
#ifndef TCC_DRIVER_SIZES_H
#define TCC_DRIVER_SIZES_H

#include "driver/dim_expr.h"
#include "driver/json.h"
#include "driver/model_source.h"

struct Sizes {
    Size *items;
    size_t count;
    JsonValue *metadata; /* that the names lie in */
};

/* The dims that the model's metadata lists, none known. Closed in any case. */
Exit sizes_open(Sizes *out_sizes, const ModelSource *source);
void sizes_close(Sizes *sizes);

/* Axes of a file that are a dim alone give that dim its size. */
void sizes_learn(Sizes *sizes, const tcc_port *port, const tcc_tensor *tensor);

/* -D NAME=SIZE; one that a file contradicts is wrong. */
Exit sizes_set(Sizes *sizes, const Options *options);

/* What is still unknown becomes what the model is tuned for. */
void sizes_default(Sizes *sizes);

#endif
