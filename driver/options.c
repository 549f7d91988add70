/* An option is `-x VALUE` or `-xVALUE` where its name is one letter, else `--word=VALUE` or
 * `--word VALUE`; those that begin with f are written with one dash, as compilers have it. */
#include "driver/options.h"

#include "driver/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const OptionInfo infos[] = {
#define OPTION(id, commands, name, argument, meaning) {name, argument, meaning, commands},
#include "driver/options.def"
#undef OPTION
};

enum { OWN_COUNT = sizeof infos / sizeof *infos };

const OptionInfo *option_info(OptionId id) { return &infos[id]; }

const char *option_dashes(const char *name) {
    return name[1] == '\0' || name[0] == 'f' ? "-" : "--";
}

bool option_is_word(const char *name) { return name[1] != '\0'; }

bool option_is_joined(const char *name) { return strcmp(name, "O") == 0 || strcmp(name, "d") == 0; }

/* ---- visiting -------------------------------------------------------------------------------- */

void options_each_own(CommandId command, void (*visit)(void *user, const OptionText *option),
                      void *user) {
    for (int i = 0; i < OWN_COUNT; i++) {
        const OptionInfo *info = &infos[i];
        if (info->commands >> command & 1)
            visit(user, &(OptionText){info->name, info->argument, info->meaning});
    }
}

/* Whether the command has an option of its own of that name, which then hides the compiler's. */
static bool is_own(CommandId command, const char *name) {
    for (int i = 0; i < OWN_COUNT; i++)
        if (infos[i].commands >> command & 1 && strcmp(infos[i].name, name) == 0) return true;
    return false;
}

void options_each_compiler(CommandId command, void (*visit)(void *user, const OptionText *option),
                           void *user) {
    const tcc_option *option;
    if ((CMD_model >> command & 1) == 0) return;
    for (uint32_t i = 0; (option = tcc_option_at(i)) != NULL; i++)
        if (!is_own(command, option->name))
            visit(user, &(OptionText){option->name, option->argument, option->meaning});
}

void options_each(CommandId command, void (*visit)(void *user, const OptionText *option),
                  void *user) {
    options_each_own(command, visit, user);
    options_each_compiler(command, visit, user);
}

/* ---- finding the option that a word means ---------------------------------------------------- */

/* An option of either table, and the rest of the word: NULL, or the value joined to the name. */
typedef struct Match {
    OptionId id;
    const char *name, *argument, *joined;
} Match;

/* How much of a word a name takes: `word` is without its dashes, `dashes` their number. 0: it is
 * another name. */
static size_t name_length(const char *name, bool takes, const char *word, int dashes) {
    size_t size = strlen(name);
    if (strncmp(word, name, size) != 0) return 0;
    if (size == 1) return dashes == 1 && (takes || word[1] == '\0') ? size : 0;
    return word[size] == '\0' || word[size] == '=' ? size : 0;
}

/* Fills `match` when the name fits better than what it holds (a whole word before one letter). */
static void consider(Match *match, size_t *best, OptionId id, const char *name,
                     const char *argument, const char *word, int dashes) {
    size_t size = name_length(name, argument[0] != '\0', word, dashes);
    if (size <= *best) return;
    const char *rest = word + size;
    if (size > 1 && *rest == '=')
        rest++;
    else if (*rest == '\0')
        rest = NULL;
    *best = size;
    *match = (Match){id, name, argument, rest};
}

static bool find_option(CommandId command, const char *argument, Match *out_match) {
    int dashes = argument[1] == '-' ? 2 : 1;
    const char *word = argument + dashes;
    size_t best = 0;
    for (int i = 0; i < OWN_COUNT; i++) {
        if ((infos[i].commands >> command & 1) == 0) continue;
        consider(out_match, &best, (OptionId)i, infos[i].name, infos[i].argument, word, dashes);
    }
    const tcc_option *option;
    for (uint32_t i = 0; (option = tcc_option_at(i)) != NULL; i++)
        consider(out_match, &best, OPTION_compiler, option->name, option->argument, word, dashes);
    return best > 0;
}

/* ---- unknown options ------------------------------------------------------------------------- */

enum { MAX_NAME = 40 };

/* Levenshtein's distance of two names, the second of `size` bytes; large for long ones. */
static size_t distance(const char *a, const char *b, size_t size) {
    size_t row[MAX_NAME + 1];
    if (size > MAX_NAME) return SIZE_MAX;
    for (size_t j = 0; j <= size; j++) row[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < size; j++) {
            size_t change = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = diagonal < row[j] ? diagonal + 1 : row[j] + 1;
            if (change < row[j + 1]) row[j + 1] = change;
        }
    }
    return row[size];
}

/* The name that is likest to a word, among those of a command; NULL when none is like it. */
static const char *closest(CommandId command, const char *word, size_t size) {
    const char *best = NULL;
    size_t least = size / 3 + 2; /* one typing error in three letters, and one more */
    const tcc_option *option;
    for (uint32_t i = 0;; i++) {
        const char *name;
        if (i < OWN_COUNT) {
            if ((infos[i].commands >> command & 1) == 0) continue;
            name = infos[i].name;
        } else {
            if ((option = tcc_option_at(i - OWN_COUNT)) == NULL) return best;
            name = option->name;
        }
        size_t d = name[1] == '\0' ? SIZE_MAX : distance(name, word, size);
        if (d >= least) continue;
        best = name;
        least = d;
    }
}

bool options_suggest_command(const char *word) {
    const char *best = NULL;
    size_t least = strlen(word) < 3 ? 2 : 3; /* one or two typing errors */
    for (int i = COMMAND_compile + 1; i < COMMAND_count; i++) {
        const char *name = command_info((CommandId)i)->name;
        size_t d = distance(name, word, strlen(word));
        if (d >= least) continue;
        best = name;
        least = d;
    }
    if (best) report_note("did you mean tcc %s?", best);
    return best != NULL;
}

/* Whether another command takes an option of its own by this name. */
static bool is_taken_by(CommandId other, const char *argument) {
    Match match;
    return find_option(other, argument, &match) && match.id != OPTION_compiler;
}

static Exit refuse(CommandId command, const char *argument) {
    const char *word = argument + (argument[1] == '-' ? 2 : 1);
    size_t size = strcspn(word, "=");
    const char *name = closest(command, word, size);
    bool known = false;
    report_error("there is no option %.*s of tcc %s", (int)(word + size - argument), argument,
                 command == COMMAND_compile ? "MODEL" : command_info(command)->name);
    for (int i = 0; i < COMMAND_count; i++) {
        if (!is_taken_by((CommandId)i, argument)) continue;
        report_note("tcc %s has it",
                    i == COMMAND_compile ? "MODEL" : command_info((CommandId)i)->name);
        known = true;
    }
    if (!known && name) report_note("did you mean %s%s?", option_dashes(name), name);
    return EXIT_usage;
}

/* ---- reading the line ------------------------------------------------------------------------ */

/* Takes the option at argv[*at], and its value where that is the next word. */
static Exit take_option(Options *options, int argc, char **argv, int *at) {
    Match match;
    const char *argument = argv[*at];
    if (!find_option(options->command, argument, &match)) return refuse(options->command, argument);
    const char *dashes = option_dashes(match.name);
    bool takes = match.argument[0] != '\0';
    if (!takes && match.joined) {
        report_error("%s%s takes no value", dashes, match.name);
        return EXIT_usage;
    }
    if (takes && !match.joined && !option_is_joined(match.name)) {
        if (*at + 1 < argc) match.joined = argv[++*at];
    }
    if (takes && !match.joined) {
        report_error("%s%s needs a value: %s", dashes, match.name, match.argument);
        return EXIT_usage;
    }
    options->uses[options->count++] = (OptionUse){match.id, match.name, match.joined};
    return EXIT_fine;
}

static Exit take_operand(Options *options, const char *operand) {
    const char *first = options->operand;
    if (command_info(options->command)->operand[0] == '\0') {
        report_error("tcc %s takes nothing, not '%s'", command_info(options->command)->name,
                     operand);
        return EXIT_usage;
    }
    if (first) {
        report_error("one %s at a time: %s and %s were given",
                     CMD_model >> options->command & 1 ? "model" : "word", first, operand);
        if (options->command == COMMAND_compile && !strchr(first, '.'))
            options_suggest_command(first);
        return EXIT_usage;
    }
    options->operand = operand;
    return EXIT_fine;
}

/* Every model's file name has a suffix, so a word alone was meant as a command, unless it is there.
 */
static Exit check_operand(const Options *options) {
    const char *word = options->operand;
    if (options->command != COMMAND_compile || !word || word[0] == '\0' || strpbrk(word, "./-"))
        return EXIT_fine;
    if (access(word, F_OK) == 0) return EXIT_fine;
    report_error("there is no command and no file '%s'", word);
    if (!options_suggest_command(word))
        report_note("tcc --help lists the commands; the name of a model file ends in .g or .tir");
    return EXIT_usage;
}

Exit options_parse(Options *out_options, int argc, char **argv) {
    *out_options = (Options){.command = COMMAND_compile};
    out_options->uses = calloc((size_t)argc + 1, sizeof *out_options->uses);
    if (!out_options->uses) return report_memory();
    int at = 1;
    Exit result = EXIT_fine;
    if (argc > 1 && command_find(argv[1]) != COMMAND_count) {
        out_options->command = command_find(argv[1]);
        at = 2;
    }
    for (bool only_operands = false; at < argc && result == EXIT_fine; at++) {
        const char *word = argv[at];
        if (only_operands || word[0] != '-' || word[1] == '\0') {
            result = take_operand(out_options, word);
        } else if (strcmp(word, "--") == 0) {
            only_operands = true;
        } else {
            result = take_option(out_options, argc, argv, &at);
        }
    }
    return result == EXIT_fine ? check_operand(out_options) : result;
}

void options_free(Options *options) { free(options->uses); }

/* ---- asking ---------------------------------------------------------------------------------- */

const char *options_last(const Options *options, OptionId id) {
    for (size_t i = options->count; i-- > 0;) {
        const OptionUse *use = &options->uses[i];
        if (use->id == id) return use->value ? use->value : "";
    }
    return NULL;
}

const OptionUse *options_for_compiler(const Options *options) {
    for (size_t i = 0; i < options->count; i++) {
        const OptionUse *use = &options->uses[i];
        if (use->id == OPTION_compiler || use->id == OPTION_times ||
            use->id == OPTION_time_passes ||
            (use->id == OPTION_size && strstr(use->value, "..") != NULL))
            return use;
    }
    return NULL;
}

bool options_has(const Options *options, OptionId id) { return options_last(options, id) != NULL; }

bool parse_int(const char *text, int64_t *out_value) {
    char *end;
    if (strspn(text, "-0123456789") != strlen(text)) return false;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0) return false;
    *out_value = value;
    return true;
}

Exit options_int(const Options *options, OptionId id, int64_t least, int64_t otherwise,
                 int64_t *out_value) {
    const char *text = options_last(options, id);
    *out_value = otherwise;
    if (!text || (parse_int(text, out_value) && *out_value >= least)) return EXIT_fine;
    report_error("%s%s takes a whole number of at least %lld, not '%s'",
                 option_dashes(infos[id].name), infos[id].name, (long long)least, text);
    return EXIT_usage;
}

Exit options_seconds(const Options *options, OptionId id, double otherwise, double *out_value) {
    const char *text = options_last(options, id);
    char *end;
    *out_value = otherwise;
    if (!text) return EXIT_fine;
    *out_value = strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(*out_value) && *out_value >= 0) return EXIT_fine;
    report_error("%s%s takes a number of seconds, not '%s'", option_dashes(infos[id].name),
                 infos[id].name, text);
    return EXIT_usage;
}
