/* tcc run: one run on arrays; its outputs are written where -o says, the others printed. */
#include "driver/arrays.h"
#include "driver/json.h"
#include "driver/report.h"
#include "driver/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- printing -------------------------------------------------------------------------------- */

static void print_output(const tcc_port *port, const tcc_tensor *tensor) {
    char shape[200];
    shape_text(shape, sizeof shape, tensor->rank, tensor->dims);
    printf("%s: %s%s\n", port->name, dtype_text(tensor->dtype), shape);
    tensor_print(tensor);
}

static void print_values_json(const tcc_tensor *tensor) {
    char text[VALUE_SIZE];
    int64_t count = tensor_element_count(tensor);
    for (int64_t i = 0; i < count; i++) {
        value_text(text, tensor, i);
        const char *quote = value_is_json(text) ? "" : "\"";
        printf("%s%s%s%s", i ? ", " : "", quote, text, quote);
    }
}

/* All values, or the file that has them. */
static void print_output_json(const tcc_port *port, const tcc_tensor *tensor, const char *file) {
    printf("{\"name\": ");
    json_print_string(port->name);
    printf(", \"dtype\": \"%s\", \"shape\": [", dtype_text(tensor->dtype));
    for (uint32_t a = 0; a < tensor->rank; a++)
        printf("%s%" PRId64, a ? ", " : "", tensor->dims[a]);
    printf("], \"elements\": %" PRId64 ", ", tensor_element_count(tensor));
    if (file) {
        printf("\"file\": ");
        json_print_string(file);
        putchar('}');
        return;
    }
    printf("\"values\": [");
    print_values_json(tensor);
    printf("]}");
}

/* The file that -o names for an output; NULL when it is printed. */
static const char *file_of(const Options *options, const char *output) {
    size_t size = strlen(output);
    const char *file = NULL;
    for (size_t i = 0; i < options->count; i++) {
        const OptionUse *use = &options->uses[i];
        if (use->id == OPTION_output && strncmp(use->value, output, size) == 0 &&
            use->value[size] == '=')
            file = use->value + size + 1;
    }
    return file;
}

static Exit print_outputs(const Options *options, const ModelSource *s, const Arrays *outputs) {
    bool json = options_has(options, OPTION_json);
    if (json) printf("{\"outputs\": [");
    for (uint32_t i = 0; i < outputs->count; i++) {
        tcc_port port = {.size = sizeof port};
        tcc_status status = s->api->output_port(s->model, i, &port);
        if (status != TCC_OK) return report_exit(status);
        const char *file = file_of(options, port.name);
        if (json) {
            if (i) printf(", ");
            print_output_json(&port, &outputs->tensors[i], file);
        } else if (!file) {
            print_output(&port, &outputs->tensors[i]);
        }
    }
    if (json) printf("]}\n");
    return EXIT_fine;
}

/* ---- writing --------------------------------------------------------------------------------- */

static int64_t find_output(const ModelSource *s, const char *name, size_t size) {
    tcc_port port = {.size = sizeof port};
    for (uint32_t i = 0; i < s->api->output_count(s->model); i++) {
        if (s->api->output_port(s->model, i, &port) != TCC_OK) return -1;
        if (strlen(port.name) == size && memcmp(port.name, name, size) == 0) return i;
    }
    return -1;
}

static bool is_npy(const char *path) {
    size_t size = strlen(path);
    return size > 4 && strcmp(path + size - 4, ".npy") == 0;
}

/* One -o: NAME=FILE. Without `outputs` it is only checked. */
static Exit write_output(ModelSource *s, const char *value, const Arrays *outputs) {
    size_t size = strcspn(value, "=");
    if (value[size] == '\0' || !is_npy(value + size + 1)) {
        report_error("-o of run takes NAME=FILE.npy, not '%s'", value);
        return EXIT_usage;
    }
    int64_t index = find_output(s, value, size);
    if (index < 0) {
        report_error("the model has no output '%.*s'", (int)size, value);
        return EXIT_wrong;
    }
    if (!outputs) return EXIT_fine;
    tcc_status status =
        tcc_array_write(s->compilation.compiler, outputs->items[index], value + size + 1);
    return compilation_result(&s->compilation, status);
}

static Exit write_outputs(const Options *options, ModelSource *s, const Arrays *outputs) {
    Exit result = EXIT_fine;
    for (size_t i = 0; i < options->count && result == EXIT_fine; i++)
        if (options->uses[i].id == OPTION_output)
            result = write_output(s, options->uses[i].value, outputs);
    return result;
}

/* ---- running --------------------------------------------------------------------------------- */

static Exit run_on(const Options *options, ModelSource *s, const Arrays *inputs) {
    Arrays outputs;
    Exit result = arrays_make_outputs(&outputs, s, inputs);
    if (result == EXIT_fine) {
        tcc_status status =
            s->api->run(s->session, inputs->tensors, inputs->count, outputs.tensors, outputs.count);
        result = model_source_result(s, status);
    }
    if (result == EXIT_fine) result = write_outputs(options, s, &outputs);
    if (result == EXIT_fine) result = print_outputs(options, s, &outputs);
    arrays_free(&outputs);
    return result;
}

static Exit run(const Options *options, ModelSource *s) {
    Arrays inputs;
    Exit result = write_outputs(options, s, NULL);
    if (result != EXIT_fine) return result;
    result = arrays_make_inputs(&inputs, options, s, INPUT_required);
    if (result == EXIT_fine) result = run_on(options, s, &inputs);
    arrays_free(&inputs);
    return result;
}

Exit cmd_run(const Options *options) {
    ModelSource s;
    int64_t threads;
    Exit result = options_int(options, OPTION_threads, 0, 0, &threads);
    if (result != EXIT_fine) return result;
    result = model_source_open(&s, options, (int32_t)threads);
    if (result == EXIT_fine) result = run(options, &s);
    model_source_close(&s);
    return result;
}
