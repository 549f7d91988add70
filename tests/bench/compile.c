/* What compiling takes on one thread, from the text to a model.so, with the size of the program:
 * compile FOLDER MODEL.g... measures generated programs, then the models. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tcc/tcc.h>

#include "measure.h"
#include "tests/support/programs.h"

typedef struct Subject {
    tcc_compiler *compiler;
    const char *path, *text; /* of a file when there is no text */
    char output[512];
} Subject;

static void compile(void *user) {
    Subject *s = user;
    tcc_unit *unit = NULL;
    tcc_status status =
        s->text ? tcc_compile_memory(s->compiler, s->path, s->text, strlen(s->text), &unit)
                : tcc_compile_file(s->compiler, s->path, &unit);
    if (status == TCC_OK) status = tcc_unit_write(unit, s->output);
    expect(status == TCC_OK, "%s: %s", s->path, tcc_message(s->compiler));
    tcc_unit_free(unit);
}

static void measure(Subject *s, const char *name, GoalKind kind, double goal) {
    Contestant contestant = {.run = compile, .user = s};
    measure_all(&contestant, 1, rounds_wanted(1));
    print_figure(name, contestant.median, "s", kind, goal);
}

static void measure_program(Subject *s, ProgramKind kind, int count, double goal) {
    char name[64], *text = program_text(kind, count);
    expect(text != NULL, "no memory");
    snprintf(name, sizeof name, "%s of %d", program_kind_name(kind), count);
    s->path = "generated.g";
    s->text = text;
    measure(s, name, GOAL_below, goal);
    free(text);
}

int main(int argc, char **argv) {
    static const struct {
        ProgramKind kind;
        int count;
        double goal;
    } programs[] = {{PROGRAM_chain, 2000, 3},   {PROGRAM_outputs, 3000, 3},
                    {PROGRAM_steps, 100000, 5}, {PROGRAM_dims, 300, 5},
                    {PROGRAM_nest, 200, 5},     {PROGRAM_mixed, 20000, 10},
                    {PROGRAM_layers, 1000, 5}};
    Subject s = {0};
    expect(argc > 1, "usage: compile FOLDER MODEL.g...");
    expect(tcc_compiler_new(&s.compiler) == TCC_OK, "no compiler");
    tcc_set_option(s.compiler, "threads", "1");
    tcc_set_option(s.compiler, "params", "random");
    tcc_set_option(s.compiler, "unit-cache", "0");
    snprintf(s.output, sizeof s.output, "%s/compiled.so", argv[1]);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        measure_program(&s, programs[i].kind, programs[i].count, programs[i].goal);
    for (int i = 2; i < argc; i++) {
        s.path = argv[i];
        s.text = NULL;
        measure(&s, argv[i], GOAL_none, 0);
    }
    tcc_compiler_free(s.compiler);
    return 0;
}
