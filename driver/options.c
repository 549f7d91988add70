/* An option is `-x VALUE` or `-xVALUE` where its name is one letter, else `--word=VALUE` or
 * `--word VALUE`; those that begin with f are written with one dash, as compilers have it. */
#include "driver/options.h"

#include "driver/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* -O and -d are never followed by their value: `tcc -O model.g` means the level that -O alone is.
 */
static bool may_be_separate(const char *name) {
    return strcmp(name, "O") != 0 && strcmp(name, "d") != 0;
}

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
    if (takes && !match.joined && may_be_separate(match.name)) {
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
    if (options->model) {
        report_error("one model at a time: %s and %s were given", options->model, operand);
        bool file = strchr(options->model, '.') != NULL;
        for (int i = COMMAND_compile + 1; !file && i < COMMAND_count; i++) {
            const char *name = command_info((CommandId)i)->name;
            if (distance(name, options->model, strlen(options->model)) <= 2)
                report_note("did you mean tcc %s?", name);
        }
        return EXIT_usage;
    }
    options->model = operand;
    return EXIT_fine;
}

static bool find_command(const char *word, CommandId *out_command) {
    for (int i = COMMAND_compile + 1; i < COMMAND_count; i++) {
        if (strcmp(word, command_info((CommandId)i)->name) != 0) continue;
        *out_command = (CommandId)i;
        return true;
    }
    return false;
}

Exit options_parse(Options *out_options, int argc, char **argv) {
    *out_options = (Options){.command = COMMAND_compile};
    out_options->uses = calloc((size_t)argc + 1, sizeof *out_options->uses);
    if (!out_options->uses) return report_memory();
    int at = argc > 1 && find_command(argv[1], &out_options->command) ? 2 : 1;
    Exit result = EXIT_fine;
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
    return result;
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
