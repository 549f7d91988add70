#include "driver/arrays.h"

#include "driver/report.h"
#include "driver/sizes.h"
#include "driver/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Exit arrays_new(Arrays *out, uint32_t count) {
    *out = (Arrays){.count = count};
    out->items = calloc(count + 1, sizeof *out->items);
    out->tensors = calloc(count + 1, sizeof *out->tensors);
    return out->items && out->tensors ? EXIT_fine : report_memory();
}

void arrays_free(Arrays *arrays) {
    for (uint32_t i = 0; arrays->items && i < arrays->count; i++) tcc_array_free(arrays->items[i]);
    free(arrays->items);
    free(arrays->tensors);
}

/* ---- what -i says ---------------------------------------------------------------------------- */

/* The value given for a port; NULL when there is none. */
static const char *given_value(const Options *options, const char *port) {
    size_t size = strlen(port);
    const char *value = NULL;
    for (size_t i = 0; i < options->count; i++) {
        const OptionUse *use = &options->uses[i];
        if (use->id != OPTION_input) continue;
        if (strncmp(use->value, port, size) == 0 && use->value[size] == '=')
            value = use->value + size + 1;
    }
    return value;
}

static bool has_input(const ModelSource *s, const char *name, size_t size) {
    tcc_port port = {.size = sizeof port};
    for (uint32_t i = 0; i < s->api->input_count(s->model); i++) {
        if (s->api->input_port(s->model, i, &port) != TCC_OK) return false;
        if (strlen(port.name) == size && memcmp(port.name, name, size) == 0) return true;
    }
    return false;
}

/* Every -i names an input of the model. */
static Exit check_names(const Options *options, const ModelSource *s) {
    for (size_t i = 0; i < options->count; i++) {
        const OptionUse *use = &options->uses[i];
        if (use->id != OPTION_input) continue;
        size_t size = strcspn(use->value, "=");
        if (use->value[size] == '\0') {
            report_error("-i takes NAME=VALUE, not '%s'", use->value);
            return EXIT_usage;
        }
        if (has_input(s, use->value, size)) continue;
        report_error("the model has no input '%.*s'", (int)size, use->value);
        return EXIT_wrong;
    }
    return EXIT_fine;
}

typedef enum Filling { FILL_none, FILL_file, FILL_random, FILL_zeros, FILL_ones } Filling;

/* What a value asks for: anything that is no word for numbers is a file's name. */
static Exit read_filling(const char *value, InputDefault otherwise, Filling *out_filling,
                         int64_t *seed) {
    if (!value) {
        *out_filling = otherwise == INPUT_random ? FILL_random : FILL_none;
    } else if (strcmp(value, "zeros") == 0) {
        *out_filling = FILL_zeros;
    } else if (strcmp(value, "ones") == 0) {
        *out_filling = FILL_ones;
    } else if (strcmp(value, "random") == 0) {
        *out_filling = FILL_random;
    } else if (strncmp(value, "random:", 7) == 0) {
        *out_filling = FILL_random;
        if (parse_int(value + 7, seed)) return EXIT_fine;
        report_error("random:SEED takes a whole number, not '%s'", value + 7);
        return EXIT_usage;
    } else {
        *out_filling = FILL_file;
    }
    return EXIT_fine;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* An input of the model, and how it is made. */
typedef struct Input {
    tcc_port port;
    const char *value;
    Filling filling;
    int64_t seed;
} Input;

static Exit describe_input(Input *in, uint32_t index, const Options *options, const ModelSource *s,
                           InputDefault otherwise) {
    in->port.size = sizeof in->port;
    in->seed = index + 1; /* inputs of one model differ */
    tcc_status status = s->api->input_port(s->model, index, &in->port);
    if (status != TCC_OK) return report_exit(status);
    in->value = given_value(options, in->port.name);
    Exit result = read_filling(in->value, otherwise, &in->filling, &in->seed);
    if (result != EXIT_fine || in->filling != FILL_none) return result;
    report_error("input '%s' has no value: give -i %s=FILE.npy, random, zeros or ones",
                 in->port.name, in->port.name);
    return EXIT_usage;
}

static Exit read_input(const Input *in, ModelSource *s, Sizes *sizes, tcc_array **out_array) {
    tcc_compiler *compiler = s->compilation.compiler;
    tcc_status status = tcc_array_read(compiler, in->value, out_array);
    if (status != TCC_OK) return compilation_result(&s->compilation, status);
    sizes_learn(sizes, &in->port, tcc_array_tensor(*out_array));
    return EXIT_fine;
}

static Exit input_dims(const Input *in, const Sizes *sizes, int64_t *dims) {
    for (uint32_t a = 0; a < in->port.rank; a++) {
        const char *dim = in->port.dim_names[a];
        dims[a] = in->port.dims[a];
        if (dims[a] >= 0 || (dim && dim_expr_evaluate(dim, sizes, &dims[a]))) continue;
        report_error("the size %s of input '%s' is not known: give -D", dim ? dim : "",
                     in->port.name);
        return EXIT_usage;
    }
    return EXIT_fine;
}

static Exit generate_input(const Input *in, ModelSource *s, const Sizes *sizes,
                           tcc_array **out_array) {
    int64_t dims[TCC_MAX_RANK];
    Exit result = input_dims(in, sizes, dims);
    if (result != EXIT_fine) return result;
    tcc_status status =
        tcc_array_new(s->compilation.compiler, in->port.dtype, in->port.rank, dims, out_array);
    if (status != TCC_OK) return compilation_result(&s->compilation, status);
    if (in->filling == FILL_random) tcc_array_fill_random(*out_array, (uint64_t)in->seed);
    if (in->filling == FILL_ones) tensor_fill_ones(tcc_array_tensor(*out_array));
    return EXIT_fine;
}

/* Files first, for the sizes that they settle; then -D, what the model is tuned for, and the rest.
 */
static Exit make_inputs(Arrays *out, Input *inputs, const Options *options, ModelSource *s,
                        Sizes *sizes) {
    Exit result = EXIT_fine;
    for (uint32_t i = 0; i < out->count && result == EXIT_fine; i++)
        if (inputs[i].filling == FILL_file)
            result = read_input(&inputs[i], s, sizes, &out->items[i]);
    if (result == EXIT_fine) result = sizes_set(sizes, options);
    if (result == EXIT_fine) sizes_default(sizes);
    for (uint32_t i = 0; i < out->count && result == EXIT_fine; i++)
        if (inputs[i].filling != FILL_file)
            result = generate_input(&inputs[i], s, sizes, &out->items[i]);
    for (uint32_t i = 0; i < out->count && result == EXIT_fine; i++)
        out->tensors[i] = *tcc_array_tensor(out->items[i]);
    return result;
}

Exit arrays_make_inputs(Arrays *out_inputs, const Options *options, ModelSource *source,
                        InputDefault otherwise) {
    Sizes sizes = {0};
    uint32_t count = source->api->input_count(source->model);
    Exit result = arrays_new(out_inputs, count);
    Input *inputs = calloc(count + 1, sizeof *inputs);
    if (!inputs) result = report_memory();
    if (result == EXIT_fine) result = check_names(options, source);
    for (uint32_t i = 0; i < count && result == EXIT_fine; i++)
        result = describe_input(&inputs[i], i, options, source, otherwise);
    if (result == EXIT_fine) result = sizes_open(&sizes, source);
    if (result == EXIT_fine) result = make_inputs(out_inputs, inputs, options, source, &sizes);
    sizes_close(&sizes);
    free(inputs);
    return result;
}

/* ---- outputs --------------------------------------------------------------------------------- */

Exit arrays_make_outputs(Arrays *out_outputs, ModelSource *source, const Arrays *inputs) {
    const tcc_model_api *api = source->api;
    Exit result = arrays_new(out_outputs, api->output_count(source->model));
    for (uint32_t i = 0; i < out_outputs->count && result == EXIT_fine; i++) {
        tcc_port port = {.size = sizeof port};
        int64_t dims[TCC_MAX_RANK];
        tcc_status status = api->output_port(source->model, i, &port);
        if (status == TCC_OK)
            status = api->output_dims(source->session, inputs->tensors, inputs->count, i, dims);
        result = model_source_result(source, status);
        if (result != EXIT_fine) break;
        status = tcc_array_new(source->compilation.compiler, port.dtype, port.rank, dims,
                               &out_outputs->items[i]);
        result = compilation_result(&source->compilation, status);
        if (result == EXIT_fine) out_outputs->tensors[i] = *tcc_array_tensor(out_outputs->items[i]);
    }
    return result;
}
