/* tcc explain: the decisions of the passes, of a model file or as a model.so keeps them. */
#include "driver/compile.h"
#include "driver/model_source.h"
#include "driver/option_values.h"
#include "driver/report.h"

#include <stdio.h>
#include <string.h>

static Exit explain(Compilation *c, const Options *options) {
    const char *text;
    size_t size;
    Exit result = compilation_run(c, options);
    if (result != EXIT_fine) return result;
    tcc_status status =
        options_has(options, OPTION_json)
            ? tcc_unit_text(c->unit, "explain-json", &text, &size)
            : tcc_unit_explain(c->unit, options_last(options, OPTION_show), &text, &size);
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

static bool is_wanted(const char *show, const char *part, size_t size) {
    for (; show && *show; show += *show == ',') {
        size_t length = strcspn(show, ",");
        if (length == size && memcmp(show, part, size) == 0) return true;
        show += length;
    }
    return false;
}

/* The parts of `text` that --show lists; each begins with its name and a colon. */
static void print_parts(const char *show, const char *text, size_t size) {
    bool wanted = !show || !*show;
    for (const char *line = text, *end = text + size, *next; line < end; line = next) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        next = stop ? stop + 1 : end;
        size_t length = strcspn(line, ":\n");
        if (show && *show && option_takes("show", line, length))
            wanted = is_wanted(show, line, length);
        if (wanted) fwrite(line, 1, (size_t)(next - line), stdout);
    }
}

/* The compiler left its reasons in the artefact, for people. */
static Exit explain_artefact(const Options *options) {
    Compilation c;
    const char *text;
    size_t size;
    if (options_has(options, OPTION_json)) {
        report_error("--json explains a model's source; a model.so keeps the text alone");
        return EXIT_usage;
    }
    Exit result = artefact_text(&c, options, "explain", &text, &size);
    if (result == EXIT_fine) print_parts(options_last(options, OPTION_show), text, size);
    compilation_close(&c);
    return result;
}

Exit cmd_explain(const Options *options) {
    Compilation c;
    Exit result = check_show(options_last(options, OPTION_show));
    if (result != EXIT_fine) return result;
    if (options_has(options, OPTION_json) && options_has(options, OPTION_show)) {
        report_error("--json prints all parts, so --show cannot be given with it");
        return EXIT_usage;
    }
    if (is_artefact_given(options)) return explain_artefact(options);
    result = compilation_open(&c, options);
    if (result == EXIT_fine) result = explain(&c, options);
    compilation_close(&c);
    return result;
}
