/* The command line, read by the table options.def and by tcc_option_at. */
#ifndef TCC_DRIVER_OPTIONS_H
#define TCC_DRIVER_OPTIONS_H

#include "driver/command.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tcc/tcc.h>

typedef enum OptionId {
#define OPTION(id, commands, name, argument, meaning) OPTION_##id,
#include "driver/options.def"
#undef OPTION
    OPTION_compiler /* one of tcc_option_at */
} OptionId;

typedef struct OptionInfo {
    const char *name, *argument, *meaning;
    unsigned commands;
} OptionInfo;

/* The row of an option of our own. */
const OptionInfo *option_info(OptionId id);

/* An option as it was given; texts are those of argv and of the tables. */
typedef struct OptionUse {
    OptionId id;
    const char *name, *value; /* value: NULL for options that take none */
} OptionUse;

struct Options {
    CommandId command;
    const char *operand; /* the model, for most commands; NULL when there is none */
    OptionUse *uses;     /* in order */
    size_t count;
};

/* Reads argv[1…]; the first word may name a command. EXIT_usage after a message. In any case
 * `out_options` is released by options_free. */
Exit options_parse(Options *out_options, int argc, char **argv);
void options_free(Options *options);

/* Says on stderr which command a word may have meant, when one is like it. */
bool options_suggest_command(const char *word);
/* Whether a value was given for an option of the compiler; the first one, NULL when none was. */
const OptionUse *options_for_compiler(const Options *options);

/* The value that was given last; NULL when the option was not given, "" for one without value. */
const char *options_last(const Options *options, OptionId id);
bool options_has(const Options *options, OptionId id);
/* The last value as a number of at least `least`; `otherwise` when not given. EXIT_usage after a
 * message when it is no such number. */
Exit options_int(const Options *options, OptionId id, int64_t least, int64_t otherwise,
                 int64_t *out_value);
Exit options_seconds(const Options *options, OptionId id, double otherwise, double *out_value);

/* The whole text as a decimal number; false when it is none or does not fit. */
bool parse_int(const char *text, int64_t *out_value);

/* An option of either table. */
typedef struct OptionText {
    const char *name, *argument, *meaning;
} OptionText;

/* Calls `visit` for each option of a command: first the command's own, then the compiler's, where
 * the command reads a model and has none of that name itself. */
void options_each(CommandId command, void (*visit)(void *user, const OptionText *option),
                  void *user);
void options_each_own(CommandId command, void (*visit)(void *user, const OptionText *option),
                      void *user);
void options_each_compiler(CommandId command, void (*visit)(void *user, const OptionText *option),
                           void *user);

/* Whether a name is a word, whose value stands behind "=", not one letter. */
bool option_is_word(const char *name);
/* Whether an option of one letter takes its value joined only: `tcc -O model.g` means the level
 * that -O alone is. */
bool option_is_joined(const char *name);

/* How an option is written: "-" or "--" for its name. */
const char *option_dashes(const char *name);

/* Prints the help of the command to stdout. */
void help_print(CommandId command);

#endif
