/* A compiler with the options of the command line, and a model file compiled by it. */
#ifndef TCC_DRIVER_COMPILE_H
#define TCC_DRIVER_COMPILE_H

#include "driver/options.h"

/* Must stay where it is between open and close: the compiler's callbacks point to it. */
typedef struct Compilation {
    tcc_compiler *compiler;
    tcc_unit *unit; /* NULL until compiled */
    char *text;     /* of stdin; NULL otherwise */
    size_t text_size;
    char
        last_error[64]; /* the id of the last error told; empty when none was since the last call */
} Compilation;

/* A compiler with all options set that were given for it. EXIT_usage after a message when it
 * refuses one. Closed in any case. */
Exit compilation_open(Compilation *out_compilation, const Options *options);
void compilation_close(Compilation *compilation);

/* Compiles the model of the command line. EXIT_usage when none was given. */
Exit compilation_run(Compilation *compilation, const Options *options);

/* Reads all of stdin into `text`. */
Exit compilation_read_stdin(Compilation *compilation);

/* What a call on the compiler came to: says the message of a failure that no diagnostic told. */
Exit compilation_result(Compilation *compilation, tcc_status status);
/* The same for compiling and showing: what no diagnostic tells there is wrong with the options. */
Exit compilation_options_result(Compilation *compilation, tcc_status status);

/* What -v and -ftime-report print of a unit, on stderr. */
void compilation_tell(Compilation *compilation, const Options *options);

/* The model of the command line; NULL after a message when there is none. */
const char *compilation_model(const Options *options);

#endif
