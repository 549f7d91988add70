/* What a host waits for: the first result of a model that is compiled in the process, and the same
 * model once more: jit MODEL.g */
#include "measure.h"
#include "subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 21 };

/* From the first call on the library to the first output. */
static double first_result(const char *path) {
    double begin = seconds_now();
    Subject s = subject_new(path, NULL, 0, 1);
    subject_run(&s);
    double seconds = seconds_now() - begin;
    subject_free(&s);
    return seconds;
}

/* In a process that has not used the library before. */
static double first_in_child(const char *path) {
    int ends[2], status = 0;
    double seconds = 0;
    expect(pipe(ends) == 0, "no pipe");
    pid_t child = fork();
    if (child == 0) {
        seconds = first_result(path);
        _exit(write(ends[1], &seconds, sizeof seconds) == sizeof seconds ? 0 : 1);
    }
    close(ends[1]);
    expect(child > 0 && read(ends[0], &seconds, sizeof seconds) == sizeof seconds, "no result");
    expect(waitpid(child, &status, 0) == child && status == 0, "the child failed");
    close(ends[0]);
    return seconds;
}

typedef struct Again {
    tcc_compiler *compiler;
    const char *path;
} Again;

/* Compiled and opened, ready for a session. */
static void compile_again(void *user) {
    Again *a = user;
    const tcc_model_api *api;
    tcc_unit *unit;
    tcc_model *model;
    expect(tcc_compile_file(a->compiler, a->path, &unit) == TCC_OK, "%s", tcc_message(a->compiler));
    expect(tcc_unit_open(unit, NULL, &api, &model) == TCC_OK, "%s", tcc_message(a->compiler));
    api->close(model);
    tcc_unit_free(unit);
}

int main(int argc, char **argv) {
    double seconds[ROUNDS];
    Again again = {.path = argc > 1 ? argv[1] : ""};
    expect(argc == 2, "usage: jit MODEL.g");
    for (int i = 0; i < ROUNDS; i++) seconds[i] = first_in_child(argv[1]);
    print_figure("the first result of digits in a process", median(seconds, ROUNDS) * 1e3, "ms",
                 GOAL_below, 150);
    expect(tcc_compiler_new(&again.compiler) == TCC_OK, "no compiler");
    Contestant contestant = {.run = compile_again, .user = &again};
    measure_all(&contestant, 1, rounds_wanted(501));
    print_figure("the same model again, compiled and opened", contestant.median * 1e3, "ms",
                 GOAL_below, 1);
    tcc_compiler_free(again.compiler);
    return 0;
}
