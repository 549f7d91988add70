/* --help, printed from the tables. */
#include "driver/options.h"

#include <stdio.h>
#include <string.h>

enum { MEANING_COLUMN = 28, WIDTH = 100 };

/* Words of `text` up to the right margin, each line from MEANING_COLUMN on. */
static void print_wrapped(const char *text, int column) {
    while (*text) {
        int word = (int)strcspn(text, " ");
        if (column > MEANING_COLUMN && column + 1 + word > WIDTH) {
            printf("\n%*s", MEANING_COLUMN, "");
            column = MEANING_COLUMN;
        }
        column += printf("%s%.*s", column > MEANING_COLUMN ? " " : "", word, text);
        text += word;
        text += strspn(text, " ");
    }
    putchar('\n');
}

/* `column` characters of the line are printed; the meaning starts in its own column. */
static void print_meaning(const char *meaning, int column) {
    if (column >= MEANING_COLUMN) {
        putchar('\n');
        column = 0;
    }
    printf("%*s", MEANING_COLUMN - column, "");
    print_wrapped(meaning, MEANING_COLUMN);
}

static void print_option(const char *name, const char *argument, const char *meaning) {
    const char *between = !*argument                                         ? ""
                          : name[1] != '\0'                                  ? "="
                          : strcmp(name, "O") == 0 || strcmp(name, "d") == 0 ? ""
                                                                             : " ";
    print_meaning(meaning, printf("  %s%s%s%s", option_dashes(name), name, between, argument));
}

static void print_commands(void) {
    printf("\ncommands:\n");
    for (int i = COMMAND_compile + 1; i < COMMAND_count; i++) {
        const CommandInfo *info = command_info((CommandId)i);
        print_meaning(info->meaning, printf("  tcc %s %s", info->name, info->operand));
    }
    printf("\n`tcc COMMAND --help` prints the options of a command. A MODEL is a .g or .tir file, "
           "- for\n"
           "the text of a .g file on stdin, or for run, bench and info a compiled model.so.\n");
}

/* Whether the command has an option of its own of that name, which then hides the compiler's. */
static bool is_own(CommandId command, const char *name) {
    for (int i = 0; i < OPTION_compiler; i++) {
        const OptionInfo *option = option_info((OptionId)i);
        if (option->commands >> command & 1 && strcmp(option->name, name) == 0) return true;
    }
    return false;
}

void help_print(CommandId command) {
    const CommandInfo *info = command_info(command);
    printf("usage: tcc %s%s[OPTION...] %s\n%s\n", command == COMMAND_compile ? "" : info->name,
           command == COMMAND_compile ? "" : " ", info->operand, info->meaning);
    if (command == COMMAND_compile) print_commands();
    printf("\noptions:\n");
    for (int i = 0; i < OPTION_compiler; i++) {
        const OptionInfo *option = option_info((OptionId)i);
        if (option->commands >> command & 1)
            print_option(option->name, option->argument, option->meaning);
    }
    printf("\noptions of the compiler, where MODEL is not compiled already:\n");
    const tcc_option *option;
    for (uint32_t i = 0; (option = tcc_option_at(i)) != NULL; i++)
        if (!is_own(command, option->name))
            print_option(option->name, option->argument, option->meaning);
    printf("\nThe exit status is 0 when all is fine, 1 when the input is wrong or a check failed, "
           "2 when the\n"
           "command line is wrong, 3 when the environment did not allow it.\n");
}
