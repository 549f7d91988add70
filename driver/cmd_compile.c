/* tcc MODEL: writes a model.so, an object, or a level as text. */
#include "driver/compile.h"
#include "driver/option_values.h"
#include "driver/report.h"
#include "driver/temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- what to write --------------------------------------------------------------------------- */

/* The kind of text that is asked for; NULL for a file of code. --passes without a place to write
 * to is there to look at what they leave. */
static const char *text_kind(const Options *options) {
    const char *kind = options_last(options, OPTION_emit);
    if (kind) return strcmp(kind, "obj") == 0 ? NULL : kind;
    if (options_has(options, OPTION_assembly)) return "asm";
    if (options_has(options, OPTION_output) || options_has(options, OPTION_object)) return NULL;
    for (size_t i = 0; i < options->count; i++)
        if (strcmp(options->uses[i].name, "passes") == 0) return "ir";
    return NULL;
}

static bool wants_object(const Options *options) {
    const char *kind = options_last(options, OPTION_emit);
    return options_has(options, OPTION_object) || (kind && strcmp(kind, "obj") == 0);
}

static Exit check_kinds(const Options *options) {
    const char *kind = options_last(options, OPTION_emit);
    if (kind && !option_takes("emit", kind, strlen(kind))) {
        report_option_value("emit", kind, strlen(kind));
        return EXIT_usage;
    }
    int kinds = options_has(options, OPTION_emit) + options_has(options, OPTION_assembly) +
                options_has(options, OPTION_object);
    if (kinds <= 1) return EXIT_fine;
    report_error("only one of -c, -S and --emit says what to write");
    return EXIT_usage;
}

/* The model's file name with another suffix, in the working folder as compilers do it; the caller
 * frees it. NULL after a message. */
static char *default_output(const char *model, const char *suffix) {
    const char *slash = strrchr(model, '/'), *name = slash ? slash + 1 : model;
    const char *dot = strrchr(name, '.');
    size_t size = dot && dot != name ? (size_t)(dot - name) : strlen(name);
    if (strcmp(model, "-") == 0 || size == 0) {
        report_error("the output needs a name: give -o FILE");
        return NULL;
    }
    char *output = malloc(size + strlen(suffix) + 1);
    if (output)
        sprintf(output, "%.*s%s", (int)size, name, suffix);
    else
        report_memory();
    return output;
}

/* ---- writing --------------------------------------------------------------------------------- */

static Exit write_text(Compilation *c, const char *kind, const char *path) {
    const char *text;
    size_t size;
    Exit result = compilation_options_result(c, tcc_unit_text(c->unit, kind, &text, &size));
    return result == EXIT_fine ? report_text(path, text, size) : result;
}

static Exit write_code(Compilation *c, const Options *options, const char *path) {
    if (strcmp(path, "-") == 0) path = "/dev/stdout";
    tcc_status status = wants_object(options) ? tcc_unit_write_object(c->unit, path)
                                              : tcc_unit_write(c->unit, path);
    return compilation_options_result(c, status);
}

static Exit compile(Compilation *c, const Options *options, const char *path) {
    Exit result = compilation_run(c, options);
    if (result != EXIT_fine) return result;
    const char *kind = text_kind(options);
    result = kind ? write_text(c, kind, path) : write_code(c, options, path);
    if (result == EXIT_fine) compilation_tell(c, options);
    return result;
}

/* Two names of one regular file. */
static bool is_same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

static Exit compile_to_output(const Options *options) {
    const char *path = options_last(options, OPTION_output);
    char *name = NULL;
    if (!path && !text_kind(options)) {
        path = name = default_output(options->operand, wants_object(options) ? ".o" : ".so");
        if (!path) return EXIT_usage;
    }
    if (path && !name && is_same_file(path, options->operand)) {
        report_error("-o %s would replace the model", path);
        return EXIT_usage;
    }
    Compilation c;
    if (!text_kind(options)) temporary_begin();
    Exit result = compilation_open(&c, options);
    if (result == EXIT_fine) result = compile(&c, options, path);
    compilation_close(&c);
    free(name);
    return result;
}

/* ---- reference texts ------------------------------------------------------------------------- */

static const struct Reference {
    OptionId option;
    const char *kind;
} references[] = {
    {OPTION_help_ops, "ops"},
    {OPTION_list_functions, "functions"},
    {OPTION_list_passes, "passes"},
    {OPTION_list_targets, "targets"},
    {OPTION_list_schedules, "schedules"},
};

static const char *wanted_reference(const Options *options) {
    for (size_t i = 0; i < sizeof references / sizeof *references; i++)
        if (options_has(options, references[i].option)) return references[i].kind;
    return NULL;
}

static Exit print_reference(const Options *options, const char *kind) {
    Compilation c;
    const char *text;
    size_t size;
    Exit result = compilation_open(&c, options);
    if (result == EXIT_fine)
        result = compilation_result(&c, tcc_reference(c.compiler, kind, &text, &size));
    if (result == EXIT_fine) result = report_text(options_last(options, OPTION_output), text, size);
    compilation_close(&c);
    return result;
}

Exit cmd_compile(const Options *options) {
    const char *kind = wanted_reference(options);
    if (kind) return print_reference(options, kind);
    Exit result = check_kinds(options);
    if (result != EXIT_fine) return result;
    if (!compilation_model(options)) return EXIT_usage;
    return compile_to_output(options);
}
