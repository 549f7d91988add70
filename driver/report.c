#include "driver/report.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- messages -------------------------------------------------------------------------------- */

typedef struct Style {
    const char *word, *begin;
} Style;

static const Style styles[] = {
    [TCC_NOTE] = {"note", "\033[1;36m"},
    [TCC_WARNING] = {"warning", "\033[1;35m"},
    [TCC_ERROR] = {"error", "\033[1;31m"},
};

/* no-color.org: any value that is not empty turns colour off. */
static bool use_colour(void) {
    const char *no = getenv("NO_COLOR");
    return !(no && *no) && isatty(STDERR_FILENO);
}

static void print_word(tcc_severity severity) {
    const Style *style = &styles[severity];
    if (use_colour())
        fprintf(stderr, "%s%s:\033[0m", style->begin, style->word);
    else
        fprintf(stderr, "%s:", style->word);
}

static void say(tcc_severity severity, const char *format, va_list args) {
    fflush(stdout);
    fputs("tcc: ", stderr);
    print_word(severity);
    fputc(' ', stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

void report_error(const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(TCC_ERROR, format, args);
    va_end(args);
}

void report_note(const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(TCC_NOTE, format, args);
    va_end(args);
}

Exit report_memory(void) {
    report_error("out of memory");
    return EXIT_environment;
}

/* The severity's word stands behind the place, before the text. */
void report_diagnostic(const tcc_diagnostic *diagnostic) {
    const char *rendered = diagnostic->rendered, *word = styles[diagnostic->severity].word;
    const char *at = strstr(rendered, diagnostic->text);
    size_t size = strlen(word) + 2; /* ": " */
    fflush(stdout);
    if (!diagnostic->path) fputs("tcc: ", stderr);
    if (!use_colour() || !at || (size_t)(at - rendered) < size) {
        fputs(rendered, stderr);
        return;
    }
    int place = (int)((size_t)(at - rendered) - size);
    if (place > 0) fprintf(stderr, "\033[1m%.*s\033[0m", place, rendered);
    print_word(diagnostic->severity);
    fprintf(stderr, " %s", at);
}

Exit report_exit(tcc_status status) {
    switch (status) {
    case TCC_OK: return EXIT_fine;
    case TCC_INVALID:
    case TCC_MISMATCH:
    case TCC_INDEX: return EXIT_wrong;
    case TCC_ENVIRONMENT:
    case TCC_MEMORY:
    case TCC_INTERNAL:
    case TCC_CANCELLED: break;
    }
    return EXIT_environment;
}

bool report_is_reader_gone(void) {
    struct pollfd stream = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&stream, 1, 0) > 0 && stream.revents & POLLERR;
}

Exit report_finish(Exit result) {
    bool failed = ferror(stdout) != 0;
    int error = fflush(stdout) == 0 ? 0 : errno;
    if (!failed && error == 0) return result;
    if (!report_is_reader_gone())
        report_error("could not write to stdout%s%s", error ? ": " : "",
                     error ? strerror(error) : "");
    return result == EXIT_fine ? EXIT_environment : result;
}
