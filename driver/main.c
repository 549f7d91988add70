/* The command tcc: which command is meant, and what holds for the whole process. setlocale is never
 * called, so numbers are read and written the same everywhere. */
#include "driver/options.h"
#include "driver/report.h"
#include "driver/temporary.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
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

/* Passes and LLVM recurse: where the stack is limited to less than they need it is raised, of
 * threads too; where that is not allowed it is said, since no message comes from a full stack. */
static bool has_stack(void) {
    enum { KILOBYTE = 1024, LEAST = 1024 * KILOBYTE, USUAL = 8192 * KILOBYTE };
    struct rlimit limit;
    pthread_attr_t usual;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= LEAST) return true;
    limit.rlim_cur = limit.rlim_max < USUAL ? limit.rlim_max : USUAL;
    if (limit.rlim_cur < LEAST || setrlimit(RLIMIT_STACK, &limit) != 0) {
        report_error("the stack is limited to %llu KiB, and tcc needs %d: ulimit -s %d",
                     (unsigned long long)limit.rlim_cur / KILOBYTE, LEAST / KILOBYTE,
                     LEAST / KILOBYTE);
        return false;
    }
    pthread_attr_init(&usual);
    pthread_attr_setstacksize(&usual, limit.rlim_cur);
    pthread_setattr_default_np(&usual);
    pthread_attr_destroy(&usual);
    return true;
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
    if (result == EXIT_fine && !has_stack()) result = EXIT_environment;
    if (result == EXIT_fine) result = dispatch(&options);
    options_free(&options);
    temporary_end();
    return report_finish(result);
}
