/* tcc explain: the decisions of the passes. */
#include "driver/compile.h"
#include "driver/model_source.h"
#include "driver/report.h"

#include <string.h>

static Exit explain(Compilation *c, const Options *options) {
    const char *text;
    size_t size;
    Exit result = compilation_run(c, options);
    if (result != EXIT_fine) return result;
    tcc_status status = tcc_unit_explain(c->unit, options_last(options, OPTION_show), &text, &size);
    result = compilation_options_result(c, status);
    return result == EXIT_fine ? report_text(NULL, text, size) : result;
}

/* Every word of the list is one that can be shown. */
static Exit check_show(const char *show) {
    static const char *const words[] = {"fusion", "plan", "memory", "schedule"};
    while (show && *show) {
        size_t size = strcspn(show, ","), found = 0;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            found += strlen(words[i]) == size && memcmp(words[i], show, size) == 0;
        if (!found) {
            report_error("--show takes fusion, plan, memory and schedule, not '%.*s'", (int)size,
                         show);
            return EXIT_usage;
        }
        show += size + (show[size] == ',');
    }
    return EXIT_fine;
}

Exit cmd_explain(const Options *options) {
    Compilation c;
    Exit result = check_show(options_last(options, OPTION_show));
    if (result != EXIT_fine) return result;
    if (options->model && strcmp(options->model, "-") != 0 && is_artefact(options->model)) {
        report_error("%s is compiled already: explain takes the model file that it came from",
                     options->model);
        return EXIT_usage;
    }
    result = compilation_open(&c, options);
    if (result == EXIT_fine) result = explain(&c, options);
    compilation_close(&c);
    return result;
}
