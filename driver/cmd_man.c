/* tcc man: the manual page in the language of man, printed from the tables. */
#include "driver/options.h"

#include <stdio.h>
#include <string.h>

/* Running text: a hyphen is one to be typed, a backslash is itself, and no line begins with a
 * request, as texts here begin with a letter or a hyphen. */
static void man_text(const char *text) {
    for (; *text; text++) {
        if (*text == '-')
            printf("\\-");
        else if (*text == '\\')
            printf("\\e");
        else
            putchar(*text);
    }
}

static void man_option(void *user, const OptionText *option) {
    (void)user;
    const char *name = option->name;
    printf(".TP\n\\fB");
    man_text(option_dashes(name));
    man_text(name);
    printf("\\fR");
    if (*option->argument) {
        printf("%s\\fI", option_is_word(name) ? "=" : option_is_joined(name) ? "" : " ");
        man_text(option->argument);
        printf("\\fR");
    }
    putchar('\n');
    man_text(option->meaning);
    putchar('\n');
}

static void man_command(CommandId command) {
    const CommandInfo *info = command_info(command);
    bool compiles = command == COMMAND_compile;
    printf(".SS \"tcc%s%s%s%s\"\n", compiles ? "" : " ", compiles ? "" : info->name,
           *info->operand ? " " : "", info->operand);
    man_text(info->meaning);
    printf(".\n");
    options_each_own(command, man_option, NULL);
}

static void man_compiler_options(void) {
    const tcc_option *option;
    printf(".SH COMPILER OPTIONS\nFor every command whose model is not compiled already.\n");
    for (uint32_t i = 0; (option = tcc_option_at(i)) != NULL; i++)
        man_option(NULL, &(OptionText){option->name, option->argument, option->meaning});
}

static const char tail[] =
    ".SH EXIT STATUS\n"
    ".TP\n0\nall is fine\n"
    ".TP\n1\nthe input is wrong or a check failed\n"
    ".TP\n2\nthe command line is wrong\n"
    ".TP\n3\nthe environment did not allow it\n"
    ".SH ENVIRONMENT\n"
    ".TP\n\\fBNO_COLOR\\fR\nany value that is not empty turns the colours of messages off\n"
    ".SH EXAMPLES\n"
    ".nf\n"
    "tcc model.g \\-o model.so\n"
    "tcc run model.so \\-i x=x.npy \\-o y=y.npy\n"
    "tcc check model.g \\-D N=8\n"
    "tcc explain model.g \\-\\-show=fusion\n"
    ".fi\n";

Exit cmd_man(const Options *options) {
    (void)options;
    printf(".TH TCC 1 \"\" \"tcc %s\" \"tcc manual\"\n"
           ".SH NAME\ntcc, tensorcc \\- a tensor compiler\n"
           ".SH SYNOPSIS\n",
           tcc_version());
    for (int i = 0; i < COMMAND_count; i++) {
        const CommandInfo *info = command_info((CommandId)i);
        printf("%s\\fBtcc%s%s\\fR [\\fIOPTION\\fR...] \\fI%s\\fR\n", i ? ".br\n" : "", i ? " " : "",
               i ? info->name : "", info->operand);
    }
    printf(
        ".SH DESCRIPTION\n"
        "tcc compiles the text of a tensor model into one shared library that runs it and\n"
        "needs nothing but libc. A \\fIMODEL\\fR is a .g or .tir file, \\- for the text of a .g\n"
        "file on stdin, or for run, bench, explain and info a compiled model.so.\n"
        ".SH COMMANDS\n");
    for (int i = 0; i < COMMAND_count; i++) man_command((CommandId)i);
    man_compiler_options();
    fputs(tail, stdout);
    return EXIT_fine;
}
