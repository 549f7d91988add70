#include "driver/compile.h"

#include "driver/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the compiler ---------------------------------------------------------------------------- */

static void tell(void *user, const tcc_diagnostic *diagnostic) {
    Compilation *compilation = user;
    if (diagnostic->severity == TCC_ERROR)
        snprintf(compilation->last_error, sizeof compilation->last_error, "%s", diagnostic->id);
    bool wanted = strcmp(diagnostic->id, "cannot-write") != 0 ||
                  strstr(diagnostic->text, "/dev/stdout") == NULL || !report_is_reader_gone();
    if (wanted) report_diagnostic(diagnostic);
}

static void dump(void *user, const char *text, size_t size) {
    (void)user;
    fwrite(text, 1, size, stderr);
}

/* -D of run and its kin is the compiler's where it gives a range. */
static bool is_for_compiler(const OptionUse *use) {
    return use->id == OPTION_compiler ||
           (use->id == OPTION_size && strstr(use->value, "..") != NULL);
}

/* What is to run on a GPU is compiled for one, unless --target says what for: the oldest, whose PTX
 * runs on all. */
static void choose_target(Compilation *compilation, const Options *options) {
    const char *device = options_last(options, OPTION_device);
    if (device && strcmp(device, "cpu") != 0)
        tcc_set_option(compilation->compiler, "target", "native,sm_80");
}

static Exit set_options(Compilation *compilation, const Options *options) {
    choose_target(compilation, options);
    for (size_t i = 0; i < options->count; i++) {
        const OptionUse *use = &options->uses[i];
        if (!is_for_compiler(use)) continue;
        if (tcc_set_option(compilation->compiler, use->name, use->value) == TCC_OK) continue;
        report_error("%s", tcc_message(compilation->compiler));
        return EXIT_usage;
    }
    return EXIT_fine;
}

Exit compilation_open(Compilation *out_compilation, const Options *options) {
    *out_compilation = (Compilation){0};
    if (tcc_compiler_new(&out_compilation->compiler) != TCC_OK) return report_memory();
    tcc_on_diagnostic(out_compilation->compiler, tell, out_compilation);
    tcc_on_dump(out_compilation->compiler, dump, NULL);
    return set_options(out_compilation, options);
}

void compilation_close(Compilation *compilation) {
    tcc_unit_free(compilation->unit);
    tcc_compiler_free(compilation->compiler);
    free(compilation->text);
}

/* ---- what calls come to ---------------------------------------------------------------------- */

/* A file that the user named and that cannot be read or written is wrong input; a linker that is
 * missing is not. */
static bool is_about_named_file(const char *id) {
    static const char *const ids[] = {"cannot-read", "cannot-write", "not-a-file",
                                      "bad-path",    "too-large",    "file-shrank"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (strcmp(id, ids[i]) == 0) return true;
    return false;
}

Exit compilation_result(Compilation *compilation, tcc_status status) {
    Exit result = report_exit(status);
    if (status == TCC_OK || status == TCC_MISMATCH) return result;
    if (!compilation->last_error[0]) report_error("%s", tcc_message(compilation->compiler));
    if (status == TCC_ENVIRONMENT && is_about_named_file(compilation->last_error))
        result = EXIT_wrong;
    compilation->last_error[0] = '\0';
    return result;
}

Exit compilation_options_result(Compilation *compilation, tcc_status status) {
    const char *id = compilation->last_error;
    bool usage = status == TCC_INVALID && (!id[0] || strcmp(id, "pipeline") == 0);
    Exit result = compilation_result(compilation, status);
    return usage ? EXIT_usage : result;
}

/* ---- compiling ------------------------------------------------------------------------------- */

enum { PIECE = 1 << 16, MAX_TEXT = 1 << 28 };

/* All of stdin, as terminated text. NULL with errno when it could not be read. */
static char *read_stdin(size_t *out_size) {
    size_t size = 0, room = 0;
    char *text = NULL;
    for (;;) {
        if (room - size < PIECE) {
            char *larger = room < MAX_TEXT ? realloc(text, room = room * 2 + PIECE) : NULL;
            if (!larger) break;
            text = larger;
        }
        ssize_t got = read(STDIN_FILENO, text + size, room - size - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        size += (size_t)got;
        text[size] = '\0';
        *out_size = size;
        if (got == 0) return text;
    }
    if (room >= MAX_TEXT) errno = EFBIG;
    free(text);
    return NULL;
}

Exit compilation_read_stdin(Compilation *c) {
    c->text = read_stdin(&c->text_size);
    if (c->text) return EXIT_fine;
    report_error("could not read stdin: %s", strerror(errno));
    return errno == ENOMEM ? EXIT_environment : EXIT_wrong;
}

static Exit compile_stdin(Compilation *c) {
    Exit result = compilation_read_stdin(c);
    if (result != EXIT_fine) return result;
    return compilation_result(
        c, tcc_compile_memory(c->compiler, "stdin.g", c->text, c->text_size, &c->unit));
}

const char *compilation_model(const Options *options) {
    if (!options->operand) report_error("no model was given; tcc --help tells more");
    return options->operand;
}

Exit compilation_run(Compilation *compilation, const Options *options) {
    const char *path = compilation_model(options);
    if (!path) return EXIT_usage;
    if (strcmp(path, "-") == 0) return compile_stdin(compilation);
    tcc_status status = tcc_compile_file(compilation->compiler, path, &compilation->unit);
    return compilation_options_result(compilation, status);
}

/* ---- telling --------------------------------------------------------------------------------- */

static void print_text(tcc_status status, const char *text, size_t size) {
    if (status == TCC_OK) fwrite(text, 1, size, stderr);
}

void compilation_tell(Compilation *compilation, const Options *options) {
    const char *text = "";
    size_t size = 0;
    if (options_has(options, OPTION_verbose)) {
        tcc_status status = tcc_unit_explain(compilation->unit, "memory", &text, &size);
        print_text(status, text, size);
    }
    if (options_has(options, OPTION_times) || options_has(options, OPTION_time_passes)) {
        tcc_status status = tcc_unit_text(compilation->unit, "times", &text, &size);
        print_text(status, text, size);
    }
}
