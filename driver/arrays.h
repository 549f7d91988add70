/* The arrays of a run: inputs from -i and -D, and outputs of the sizes that follow. */
#ifndef TCC_DRIVER_ARRAYS_H
#define TCC_DRIVER_ARRAYS_H

#include "driver/model_source.h"

/* What becomes of an input that -i does not name. */
typedef enum InputDefault { INPUT_required, INPUT_random } InputDefault;

typedef struct Arrays {
    tcc_array **items;   /* NULL where there is none yet */
    tcc_tensor *tensors; /* views of the items */
    uint32_t count;
} Arrays;

/* One array an input. Dims of inputs that no file gives come from files that share them, from -D,
 * or are those the model is tuned for. Released by arrays_free in any case. */
Exit arrays_make_inputs(Arrays *out_inputs, const Options *options, ModelSource *source,
                        InputDefault otherwise);

/* One array an output, of the sizes that the inputs lead to. */
Exit arrays_make_outputs(Arrays *out_outputs, ModelSource *source, const Arrays *inputs);

void arrays_free(Arrays *arrays);

#endif
