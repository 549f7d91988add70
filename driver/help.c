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

static void print_option(void *user, const OptionText *option) {
    (void)user;
    const char *name = option->name, *argument = option->argument;
    const char *between = !*argument               ? ""
                          : option_is_word(name)   ? "="
                          : option_is_joined(name) ? ""
                                                   : " ";
    int column = printf("  %s%s%s%s", option_dashes(name), name, between, argument);
    print_meaning(option->meaning, column);
}

static void print_commands(void) {
    printf("\ncommands:\n");
    for (int i = COMMAND_compile + 1; i < COMMAND_count; i++) {
        const CommandInfo *info = command_info((CommandId)i);
        print_meaning(info->meaning, printf("  tcc %s %s", info->name, info->operand));
    }
    printf("\n`tcc COMMAND --help` prints the options of a command. A MODEL is a .g or .tir file, "
           "- for\n"
           "the text of a .g file on stdin, or for run, bench, explain and info a compiled "
           "model.so.\n");
}

void help_print(CommandId command) {
    const CommandInfo *info = command_info(command);
    printf("usage: tcc%s%s [OPTION...]%s%s\n%s\n", command == COMMAND_compile ? "" : " ",
           command == COMMAND_compile ? "" : info->name, *info->operand ? " " : "", info->operand,
           info->meaning);
    if (command == COMMAND_compile) print_commands();
    printf("\noptions:\n");
    options_each_own(command, print_option, NULL);
    if (CMD_model >> command & 1) {
        printf("\noptions of the compiler, where MODEL is not compiled already:\n");
        options_each_compiler(command, print_option, NULL);
    }
    printf("\nThe exit status is 0 when all is fine, 1 when the input is wrong or a check failed, "
           "2 when the\n"
           "command line is wrong, 3 when the environment did not allow it.\n");
}
