/* tcc info: the metadata of a model, read from a model.so without loading it, or of what a model
 * file compiles to. */
#include "driver/json.h"
#include "driver/model_source.h"
#include "driver/report.h"

#include <stdio.h>

static Exit print_metadata(const Options *options, const char *text, size_t size) {
    JsonValue *root;
    if (!json_read(text, size, &root)) return report_memory();
    if (!root || root->kind != JSON_object) {
        report_error("the metadata of %s are damaged", options->operand);
        json_free(root);
        return EXIT_wrong;
    }
    if (options_has(options, OPTION_json)) {
        fwrite(text, 1, size, stdout);
        putchar('\n');
    } else {
        json_print_tree(root);
    }
    json_free(root);
    return EXIT_fine;
}

static Exit info_of_artefact(const Options *options) {
    Compilation c;
    const char *text;
    size_t size;
    Exit result = artefact_text(&c, options, "metadata", &text, &size);
    if (result == EXIT_fine) result = print_metadata(options, text, size);
    compilation_close(&c);
    return result;
}

static Exit info_of_model(const Options *options) {
    ModelSource s;
    Exit result = model_source_open(&s, options, 1);
    if (result == EXIT_fine) {
        size_t size;
        const char *text = s.api->metadata(s.model, &size);
        result = print_metadata(options, text, size);
    }
    model_source_close(&s);
    return result;
}

Exit cmd_info(const Options *options) {
    if (!compilation_model(options)) return EXIT_usage;
    return is_artefact_given(options) ? info_of_artefact(options) : info_of_model(options);
}
