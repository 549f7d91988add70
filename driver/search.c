#include "driver/search.h"

#include "driver/model_source.h"
#include "driver/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_SECONDS = 60, MOST_SECONDS = 100000000, MOST_TRIES = 1000000 };

/* The part of NAME=VALUE before the sign, which the search frees; NULL after a message. */
static char *take_name(Search *s, const char *text) {
    char *name = strndup(text, strcspn(text, "="));
    if (!name) {
        report_memory();
        return NULL;
    }
    s->names[s->name_count++] = name;
    return name;
}

/* ---- -i -------------------------------------------------------------------------------------- */

static Exit read_array(Search *s, const char *path, tcc_given_input *input) {
    tcc_array **slot = &s->arrays[s->array_count];
    tcc_status status = tcc_array_read(s->compilation.compiler, path, slot);
    if (status != TCC_OK) return compilation_result(&s->compilation, status);
    s->array_count++;
    input->value = tcc_array_tensor(*slot);
    return EXIT_fine;
}

static Exit take_input(Search *s, const char *text) {
    const char *sign = strchr(text, '=');
    int64_t seed = s->options.input_count + 1;
    if (!sign) {
        report_error("-i takes NAME=VALUE, not '%s'", text);
        return EXIT_usage;
    }
    tcc_given_input *input = &s->inputs[s->options.input_count++];
    *input = (tcc_given_input){.name = take_name(s, text)};
    if (!input->name) return EXIT_environment;
    if (strcmp(sign, "=zeros") == 0) {
        input->filling = TCC_FILL_ZEROS;
    } else if (strcmp(sign, "=ones") == 0) {
        input->filling = TCC_FILL_ONES;
    } else if (strcmp(sign, "=random") == 0 || strncmp(sign, "=random:", 8) == 0) {
        if (sign[7] && !parse_int(sign + 8, &seed)) {
            report_error("random:SEED takes a whole number, not '%s'", sign + 8);
            return EXIT_usage;
        }
        input->seed = (uint64_t)seed;
    } else {
        return read_array(s, sign + 1, input);
    }
    return EXIT_fine;
}

/* ---- -D -------------------------------------------------------------------------------------- */

/* A range is the compiler's. */
static Exit take_dim(Search *s, const char *text) {
    const char *sign = strchr(text, '=');
    tcc_given_dim *dim = &s->dims[s->options.dim_count];
    if (strstr(text, "..")) return EXIT_fine;
    if (!sign || !parse_int(sign + 1, &dim->size) || dim->size < 0) {
        report_error("-D takes NAME=SIZE or NAME=MIN..MAX, not '%s'", text);
        return EXIT_usage;
    }
    s->options.dim_count++;
    dim->name = take_name(s, text);
    return dim->name ? EXIT_fine : EXIT_environment;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static Exit take_uses(Search *s, const Options *options) {
    Exit result = EXIT_fine;
    s->inputs = calloc(options->count + 1, sizeof *s->inputs);
    s->dims = calloc(options->count + 1, sizeof *s->dims);
    s->arrays = calloc(options->count + 1, sizeof(tcc_array *));
    s->names = calloc(options->count + 1, sizeof(char *));
    if (!s->inputs || !s->dims || !s->arrays || !s->names) return report_memory();
    s->options.inputs = s->inputs;
    s->options.dims = s->dims;
    for (size_t i = 0; i < options->count && result == EXIT_fine; i++) {
        const OptionUse *use = &options->uses[i];
        if (use->id == OPTION_input) result = take_input(s, use->value);
        if (use->id == OPTION_size) result = take_dim(s, use->value);
    }
    return result;
}

static void tell_progress(void *user, const char *text, size_t size) {
    (void)user;
    fwrite(text, 1, size, stderr);
}

static Exit take_numbers(Search *s, const Options *options) {
    int64_t tries, seed;
    Exit result = options_int(options, OPTION_tries, 1, 0, &tries);
    if (result == EXIT_fine) result = options_int(options, OPTION_seed, 0, 0, &seed);
    if (result == EXIT_fine)
        result = options_seconds(options, OPTION_timeout, USUAL_SECONDS, &s->apart.seconds);
    if (result != EXIT_fine) return result;
    if (tries > MOST_TRIES) {
        report_error("--tries takes a whole number of at most %d, not '%s'", MOST_TRIES,
                     options_last(options, OPTION_tries));
        return EXIT_usage;
    }
    if (s->apart.seconds > MOST_SECONDS) s->apart.seconds = MOST_SECONDS; /* which is three years */
    s->options.tries = (uint32_t)tries;
    s->options.seed = (uint64_t)seed;
    s->options.apart = apart_run;
    s->options.apart_user = &s->apart;
    if (options_has(options, OPTION_verbose)) s->options.on_progress = tell_progress;
    return EXIT_fine;
}

Exit search_open(Search *out_search, const Options *options) {
    *out_search = (Search){.options = {.size = sizeof out_search->options}};
    if (!compilation_model(options)) return EXIT_usage;
    if (is_artefact_given(options)) {
        report_error("%s is compiled already: %s takes the model file that it came from",
                     options->operand, command_info(options->command)->name);
        return EXIT_usage;
    }
    Exit result = compilation_open(&out_search->compilation, options);
    if (result == EXIT_fine) result = take_numbers(out_search, options);
    return result == EXIT_fine ? take_uses(out_search, options) : result;
}

void search_close(Search *search) {
    for (size_t i = 0; i < search->array_count; i++) tcc_array_free(search->arrays[i]);
    for (size_t i = 0; i < search->name_count; i++) free(search->names[i]);
    free(search->arrays);
    free(search->names);
    free(search->inputs);
    free(search->dims);
    compilation_close(&search->compilation);
}
