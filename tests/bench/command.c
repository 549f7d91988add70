/* The time of a command as a process: command GOAL_MS NAME PROGRAM ARGUMENT... */
#include "measure.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

enum { ROUNDS = 21 };

extern char **environ;

static void run_command(void *user) {
    char **words = user;
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    int error = posix_spawn(&child, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    expect(error == 0, "%s could not be started", words[0]);
    expect(waitpid(child, &status, 0) == child, "no child to wait for");
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s failed", words[0]);
}

int main(int argc, char **argv) {
    expect(argc > 3, "usage: command GOAL_MS NAME PROGRAM ARGUMENT...");
    Contestant command = {.run = run_command, .user = argv + 3};
    measure_all(&command, 1, rounds_wanted(ROUNDS));
    print_figure(argv[2], command.median * 1e3, "ms", GOAL_below, strtod(argv[1], NULL));
    return 0;
}
