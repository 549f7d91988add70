#include "driver/sizes.h"

#include "driver/report.h"

#include <stdlib.h>
#include <string.h>

Exit sizes_open(Sizes *out_sizes, const ModelSource *source) {
    size_t size;
    const char *text = source->api->metadata(source->model, &size);
    *out_sizes = (Sizes){0};
    if (!json_read(text, size, &out_sizes->metadata)) return report_memory();
    const JsonValue *list = json_get(out_sizes->metadata, "dims");
    if (!list || list->kind != JSON_array) {
        report_error("the metadata of the model are damaged");
        return EXIT_wrong;
    }
    for (const JsonValue *dim = list->first; dim; dim = dim->next) out_sizes->count++;
    out_sizes->items = calloc(out_sizes->count + 1, sizeof *out_sizes->items);
    if (!out_sizes->items) return report_memory();
    Size *item = out_sizes->items;
    for (const JsonValue *dim = list->first; dim; dim = dim->next, item++) {
        const JsonValue *name = json_get(dim, "name");
        *item = (Size){.name = name ? name->text.data : "",
                       .name_size = name ? name->text.size : 0,
                       .tune = json_get_int(dim, "tune", 1)};
    }
    return EXIT_fine;
}

void sizes_close(Sizes *sizes) {
    free(sizes->items);
    json_free(sizes->metadata);
}

void sizes_learn(Sizes *sizes, const tcc_port *port, const tcc_tensor *tensor) {
    for (uint32_t a = 0; a < port->rank && a < tensor->rank; a++) {
        const char *name = port->dim_names[a];
        Size *size = name ? sizes_find(sizes, name, strlen(name)) : NULL;
        if (!size || size->known) continue;
        size->value = tensor->dims[a];
        size->known = true;
    }
}

/* One -D that is no range; `text` is NAME=SIZE. */
static Exit set_size(Sizes *sizes, const char *text) {
    size_t name_size = strcspn(text, "=");
    int64_t value;
    if (text[name_size] == '\0' || !parse_int(text + name_size + 1, &value) || value < 0) {
        report_error("-D takes NAME=SIZE or NAME=MIN..MAX, not '%s'", text);
        return EXIT_usage;
    }
    Size *size = sizes_find(sizes, text, name_size);
    if (!size) {
        report_error("the model has no dim '%.*s' whose size is open", (int)name_size, text);
        return EXIT_wrong;
    }
    if (size->known && !size->given && size->value != value) {
        report_error("-D %s: an input of -i has %.*s = %lld", text, (int)name_size, text,
                     (long long)size->value);
        return EXIT_wrong;
    }
    size->value = value;
    size->known = size->given = true;
    return EXIT_fine;
}

Exit sizes_set(Sizes *sizes, const Options *options) {
    Exit result = EXIT_fine;
    for (size_t i = 0; i < options->count && result == EXIT_fine; i++) {
        const OptionUse *use = &options->uses[i];
        if (use->id == OPTION_size && !strstr(use->value, ".."))
            result = set_size(sizes, use->value);
    }
    return result;
}

void sizes_default(Sizes *sizes) {
    for (size_t i = 0; i < sizes->count; i++) {
        Size *size = &sizes->items[i];
        if (size->known) continue;
        size->value = size->tune;
        size->known = true;
    }
}
