/* tcc completion SHELL: a script for bash or zsh that completes commands, options and the words
 * that options take, printed from the tables. */
#include "driver/option_values.h"
#include "driver/options.h"
#include "driver/report.h"

#include <stdio.h>
#include <string.h>

/* The cases of all commands, and that of compiling, which has no name, for what is left. */
static void each_case(void (*print)(CommandId command, const char *pattern)) {
    for (int i = COMMAND_compile + 1; i < COMMAND_count; i++)
        print((CommandId)i, command_info((CommandId)i)->name);
    print(COMMAND_compile, "*");
}

/* ---- bash ------------------------------------------------------------------------------------ */

static void bash_word(void *user, const OptionText *option) {
    (void)user;
    bool joined = option_is_word(option->name) && *option->argument;
    printf(" %s%s%s", option_dashes(option->name), option->name, joined ? "=" : "");
}

/* The words of one command. */
static void bash_case(CommandId command, const char *pattern) {
    printf("    %s)\n        words='", pattern);
    options_each(command, bash_word, NULL);
    printf("' ;;\n");
}

static void bash_values(void *user, const OptionText *option) {
    (void)user;
    const char *values = option_values(option->name);
    if (values && option_is_word(option->name))
        printf("    %s%s) words='%s' ;;\n", option_dashes(option->name), option->name, values);
}

static void bash_commands(void) {
    for (int i = COMMAND_compile + 1; i < COMMAND_count; i++)
        printf("%s%s", i == COMMAND_compile + 1 ? "" : " ", command_info((CommandId)i)->name);
}

static void print_bash(void) {
    printf(
        "# Completion of tcc for bash: source this, or put it where bash-completion looks.\n"
        "_tcc() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= commands\n"
        "    commands='");
    bash_commands();
    printf("'\n"
           "    COMPREPLY=()\n"
           "    [[ $cur == = ]] && cur=\n"
           "    [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
           "    case $prev in\n");
    options_each(COMMAND_compile, bash_values, NULL);
    options_each(COMMAND_explain, bash_values, NULL);
    printf("    --target) words=$(\"${COMP_WORDS[0]}\" --list-targets 2>/dev/null | "
           "sed '1d;s/ .*//') ;;\n"
           "    help) words=$commands ;;\n"
           "    completion) words='bash zsh' ;;\n"
           "    esac\n"
           "    if [[ $words ]]; then\n"
           "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
           "        return\n"
           "    fi\n"
           "    case ${COMP_WORDS[1]} in\n");
    each_case(bash_case);
    printf("    esac\n"
           "    if ((COMP_CWORD == 1)) && [[ $cur != -* ]]; then\n"
           "        COMPREPLY=($(compgen -W \"$commands\" -- \"$cur\"))\n"
           "    elif [[ $cur == -* ]]; then\n"
           "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
           "        [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null\n"
           "    fi\n"
           "    return 0\n"
           "}\n"
           "complete -o bashdefault -o default -F _tcc tcc tensorcc\n");
}

/* ---- zsh ------------------------------------------------------------------------------------- */

/* Text inside single quotes, where a backslash keeps brackets and colons from meaning anything. */
static void zsh_text(const char *text) {
    for (; *text; text++) {
        if (*text == '\'')
            printf("'\\''");
        else if (strchr("[]:\\", *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void zsh_option(void *user, const OptionText *option) {
    (void)user;
    const char *name = option->name, *values = option_values(name);
    bool takes = *option->argument != '\0';
    const char *sign = !takes                   ? ""
                       : option_is_word(name)   ? "="
                       : option_is_joined(name) ? "-"
                                                : "+";
    printf(" \\\n        '*%s%s%s[", option_dashes(name), name, sign);
    zsh_text(option->meaning);
    printf("]");
    if (takes) {
        printf(":");
        zsh_text(option->argument);
        if (values)
            printf(":(%s)", values);
        else
            printf(":_files");
    }
    printf("'");
}

static void zsh_case(CommandId command, const char *pattern) {
    printf("    %s)\n        _arguments", pattern);
    options_each(command, zsh_option, NULL);
    printf(" \\\n        '*:file:_files' ;;\n");
}

static void print_zsh(void) {
    printf("#compdef tcc tensorcc\n"
           "# Completion of tcc for zsh: a file named _tcc in a folder of $fpath.\n"
           "_tcc() {\n"
           "    local -a commands\n"
           "    commands=(");
    for (int i = COMMAND_compile + 1; i < COMMAND_count; i++) {
        printf("\n        '%s:", command_info((CommandId)i)->name);
        zsh_text(command_info((CommandId)i)->meaning);
        printf("'");
    }
    printf(")\n"
           "    if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then\n"
           "        _describe command commands\n"
           "        _files\n"
           "        return\n"
           "    fi\n"
           "    case $words[2] in\n");
    each_case(zsh_case);
    printf("    esac\n"
           "}\n"
           "_tcc \"$@\"\n");
}

Exit cmd_completion(const Options *options) {
    const char *shell = options->operand;
    if (shell && strcmp(shell, "bash") == 0) {
        print_bash();
    } else if (shell && strcmp(shell, "zsh") == 0) {
        print_zsh();
    } else {
        report_error("completion takes bash or zsh%s%s%s", shell ? ", not '" : "",
                     shell ? shell : "", shell ? "'" : "");
        return EXIT_usage;
    }
    return EXIT_fine;
}
