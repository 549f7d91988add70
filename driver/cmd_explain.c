/* tcc explain: the decisions of the passes. */
#include "driver/compile.h"
#include "driver/model_source.h"
#include "driver/option_values.h"
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
    while (show && *show) {
        size_t size = strcspn(show, ",");
        if (!option_takes("show", show, size)) {
            report_option_value("show", show, size);
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
    if (is_artefact_given(options)) {
        report_error("%s is compiled already: explain takes the model file that it came from",
                     options->operand);
        return EXIT_usage;
    }
    result = compilation_open(&c, options);
    if (result == EXIT_fine) result = explain(&c, options);
    compilation_close(&c);
    return result;
}
