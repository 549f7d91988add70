/* The command tcc: which command is meant, and what holds for the whole process. setlocale is never
 * called, so numbers are read and written the same everywhere. */
#include "driver/options.h"
#include "driver/report.h"
#include "driver/temporary.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const CommandInfo commands[COMMAND_count] = {
#define COMMAND(name, operand, meaning) {#name, operand, meaning, cmd_##name},
#include "driver/commands.def"
#undef COMMAND
};

const CommandInfo *command_info(CommandId id) { return &commands[id]; }

CommandId command_find(const char *word) {
    int i = COMMAND_compile + 1;
    while (i < COMMAND_count && strcmp(word, commands[i].name) != 0) i++;
    return (CommandId)i;
}

/* A file of ours must not become 0, 1 or 2 because the caller closed one of those. What is opened
 * instead fails when it is used as if it were there. */
static void open_standard_files(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* A pipe without a reader and a file past the size limit are errors of the write, which cleans up
 * after itself; as signals they would leave temporary files behind. */
static void ignore_write_signals(void) {
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

static Exit dispatch(const Options *options) {
    bool version = options_has(options, OPTION_version);
    if (options_has(options, OPTION_help) || options_has(options, OPTION_help_short)) {
        help_print(options->command);
        return EXIT_fine;
    }
    if (version || (options_has(options, OPTION_verbose) && !options->operand)) {
        printf("tcc %s\n", tcc_version());
        return EXIT_fine;
    }
    return commands[options->command].run(options);
}

int main(int argc, char **argv) {
    Options options;
    open_standard_files();
    ignore_write_signals();
    Exit result = options_parse(&options, argc, argv);
    if (result == EXIT_fine) result = dispatch(&options);
    options_free(&options);
    temporary_end();
    return report_finish(result);
}
