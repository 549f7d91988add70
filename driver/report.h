/* What the command says: messages on stderr, results on stdout or in files. Colour is used on
 * stderr only, when it is a terminal and NO_COLOR is not set. */
#ifndef TCC_DRIVER_REPORT_H
#define TCC_DRIVER_REPORT_H

#include "driver/command.h"

#include <stdbool.h>
#include <stddef.h>

#include <tcc/tcc.h>

/* "tcc: error: …" and "tcc: note: …", one line each. */
void report_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says that memory is out, and returns EXIT_environment. */
Exit report_memory(void);
/* A diagnostic as the compiler rendered it. */
void report_diagnostic(const tcc_diagnostic *diagnostic);

/* The exit status that stands for a failure: what is wrong with the input, or with the rest of the
 * world. */
Exit report_exit(tcc_status status);

/* Prints `text` to stdout, or writes the file `path` unless that is NULL or "-": to a temporary
 * file, renamed when complete, so that an older file is whole until the new one is. EXIT_wrong
 * after a message when it could not be written. */
Exit report_text(const char *path, const char *text, size_t size);

/* Whether stdout is a pipe that nobody reads any more, which is not worth a message. */
bool report_is_reader_gone(void);

/* Ends the output: `result`, or EXIT_environment when stdout did not take all of it. A reader that
 * went away is not worth a message. */
Exit report_finish(Exit result);

#endif
