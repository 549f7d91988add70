#include "tests/support/programs.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const names[] = {"chain", "outputs", "steps", "dims", "nest", "mixed", "layers"};

const char *program_kind_name(ProgramKind kind) { return names[kind]; }

static void put_chain(FILE *f, int count) {
    fputs("model m(x: f32[1024]) -> (y: f32[1024]) {\n", f);
    for (int i = 0; i < count; i++) fputs("    x = sin(x)\n", f);
    fputs("    y = x\n}\n", f);
}

static void put_outputs(FILE *f, int count) {
    fputs("model m(x: f32[64]) -> (", f);
    for (int i = 0; i < count; i++) fprintf(f, "%sy%d: f32[64]", i ? ", " : "", i);
    fputs(") {\n", f);
    for (int i = 0; i < count; i++) fprintf(f, "    y%d = x + %d.0\n", i, i);
    fputs("}\n", f);
}

static void put_steps(FILE *f, int count) {
    fprintf(f,
            "model m(x: f32[64]) -> (y: f32[64]) {\n    for i in 0..<%d { x = x + 1.0 }\n"
            "    y = x\n}\n",
            count);
}

static void put_dims(FILE *f, int count) {
    for (int i = 0; i < count; i++) fprintf(f, "dim D%d in 1..64\n", i);
    fputs("model m(", f);
    for (int i = 0; i < count; i++) fprintf(f, "%sx%d: f32[D%d]", i ? ", " : "", i, i);
    fputs(") -> (", f);
    for (int i = 0; i < count; i++) fprintf(f, "%sy%d: f32[D%d]", i ? ", " : "", i, i);
    fputs(") {\n", f);
    for (int i = 0; i < count; i++) fprintf(f, "    y%d = x%d + 1.0\n", i, i);
    fputs("}\n", f);
}

static void put_nest(FILE *f, int count) {
    fputs("model m(x: f32[64]) -> (y: f32[64]) {\n    y = ", f);
    for (int i = 0; i < count; i++) fputs("sin(", f);
    fputs("x", f);
    for (int i = 0; i < count; i++) fputs(")", f);
    fputs("\n}\n", f);
}

static void put_mixed(FILE *f, int count) {
    unsigned state = 1;
    fputs("model m(x: f32[1024], w: f32[1024]) -> (y: f32[1024]) {\n    v0 = x\n    v1 = w\n", f);
    for (int i = 2; i < count; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        int back = 2 + (int)(state >> 16) % 20, a = i - 1, b = i > back ? i - back : 0;
        switch ((state >> 8) % 5) {
        case 0: fprintf(f, "    v%d = v%d + v%d\n", i, a, b); break;
        case 1: fprintf(f, "    v%d = v%d * v%d\n", i, a, b); break;
        case 2: fprintf(f, "    v%d = v%d - v%d\n", i, a, b); break;
        case 3: fprintf(f, "    v%d = maximum(v%d, v%d)\n", i, a, b); break;
        default: fprintf(f, "    v%d = abs(v%d)\n", i, a); break;
        }
    }
    fprintf(f, "    y = v%d\n}\n", count - 1);
}

static void put_layers(FILE *f, int count) {
    fputs("model m(x: f32[16, 64]) -> (y: f32[16, 64]) {\n", f);
    for (int i = 0; i < count; i++)
        fprintf(f, "    param w%d: f32[64, 64]\n    x = relu(x @ w%d)\n", i, i);
    fputs("    y = x\n}\n", f);
}

char *program_text(ProgramKind kind, int count) {
    static void (*const put[])(FILE *, int) = {put_chain, put_outputs, put_steps, put_dims,
                                               put_nest,  put_mixed,   put_layers};
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (f == NULL) return NULL;
    put[kind](f, count);
    fclose(f);
    return text;
}
