// Texts that are made to break a parser: cut short, nested, huge, full of mistakes. It must say
// what is wrong, in time and memory that the text's size bounds.
#include "tests/unit/emulator_ptx.h"

#include <time.h>

// Time of this process, whatever else the machine does.
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static PtxStatus parse(Arena *arena, Str text, uint32_t *out_errors) {
    const PtxModule *module;
    PtxErrors errors;
    PtxStatus status = ptx_parse(arena, text, &module, &errors);
    CHECK((status == PTX_OK) == (errors.count == 0) && errors.count <= 20);
    CHECK((status == PTX_OK) == (module != NULL));
    for (uint32_t i = 0; i < errors.count; i++)
        CHECK(errors.items[i].line > 0 && errors.items[i].column > 0 &&
              errors.items[i].message.size > 0 && str_is_utf8(errors.items[i].text));
    if (out_errors) *out_errors = errors.count;
    return status;
}

// Every start of a text, and every text with one byte replaced.
static void test_cut_and_changed(void) {
    static const char bytes[] = {0, '{', '}', ';', '.', '"', '%', '(', '\n', (char)0xff, '9'};
    Arena *files = arena_new(NULL);
    Str text = ptx_file(files, "tests/emulator/ptx/accept/constants.ptx");
    char *copy = arena_copy(files, text.data, text.size);
    size_t step = test_long() ? 1 : 7;
    for (size_t i = 0; i < text.size; i += step) {
        Arena *arena = arena_new(NULL);
        parse(arena, (Str){text.data, i}, NULL);
        copy[i] = bytes[i % sizeof bytes];
        parse(arena, (Str){copy, text.size}, NULL);
        copy[i] = text.data[i];
        arena_free(arena);
    }
    arena_free(files);
}

static Str repeated(Arena *arena, const char *part, int count) {
    Buf buf = {.arena = arena};
    for (int i = 0; i < count; i++) buf_put(&buf, str_from(part));
    return buf_str(&buf);
}

// Deep nesting of everything that nests is refused.
static void test_nesting(void) {
    static const char *const parts[][2] = {{"", "{ "},
                                           {"add.s32 %r1, %r2, ", "("},
                                           {"add.s32 %r1, %r2, ", "-"},
                                           {"mov.b64 %rd1, ", "{"},
                                           {"add.s32 %r1, %r2, ", "1 ? 2 : "}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        Arena *arena = arena_new(NULL);
        Str deep = repeated(arena, parts[i][1], 100000);
        Str text = ptx_around(
            arena, str_terminated(arena, str_format(arena, "%s%.*s", parts[i][0], STR_ARG(deep))));
        CHECK_INT(parse(arena, text, NULL), PTX_INVALID);
        arena_free(arena);
    }
}

static void test_many_errors(void) {
    Arena *arena = arena_new(NULL);
    uint32_t errors;
    Str bad = repeated(arena, "add.s32 %r1, %r2;\n", 1000);
    CHECK_INT(parse(arena, ptx_around(arena, bad.data), &errors), PTX_INVALID);
    CHECK_INT(errors, 20);
    arena_free(arena);
}

// Sizes that a few characters name cost nothing.
static void test_huge_numbers(void) {
    static const char *const texts[] = {
        ".reg .b32 %q<4000000000>; mov.b32 %q399999999, 1;",
        ".local .b8 a[1000000000000];",
        ".reg .b32 %q<99999999999999999999>;",
        "add.s32 %r1, %r2, 123456789012345678901234567890;",
        ".loc 4294967295 4294967295 4294967295",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Arena *arena = arena_new(NULL);
        CHECK_INT(parse(arena, ptx_around(arena, texts[i]), NULL), PTX_OK);
        CHECK(arena_used(arena) < 1 << 16);
        arena_free(arena);
    }
    Arena *arena = arena_new(NULL);
    Str huge = STR(".version 9.0\n.target sm_80\n.global .b8 a[100000000] = {1};\n"
                   ".global .b8 b[4][100000000] = {{1}, {2}};");
    CHECK_INT(parse(arena, huge, NULL), PTX_INVALID);
    CHECK(arena_used(arena) < 1 << 22);
    arena_free(arena);
}

// Twice the text takes about twice the time: the text is what many bad things are made of.
static double time_of(const char *part, int count) {
    Arena *arena = arena_new(NULL);
    Str text = ptx_around(arena, repeated(arena, part, count).data);
    double start = now();
    parse(arena, text, NULL);
    double took = now() - start;
    arena_free(arena);
    return took;
}

static void test_linear(void) {
    static const char *const parts[] = {"{ .reg .b32 x; bra out; mov.b32 x, 1; }\n",
                                        "add.s32 %r1, %r2, %r3;\n",
                                        "// comment\n/* another */\n",
                                        "{ .reg .b32 %r<9>; mov.b32 %r1, 2; }\n",
                                        ".loc 1 2 3\n.loc 3 4 5\nmov.b32 %r1, %r2;\n",
                                        "/* ",
                                        "\"",
                                        "x: "};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        double small = 1e9, large = 1e9;
        for (int k = 0; k < 3; k++) {
            small = fmin(small, time_of(parts[i], 4000));
            large = fmin(large, time_of(parts[i], 32000));
        }
        if (!CHECK(large < 40 * small + 0.02))
            printf("8 times \"%s\" takes %.0f times as long\n", parts[i], large / small);
    }
}

// A module of a thousand lines, as nvcc makes them, loads in under 5 ms.
static void test_speed(void) {
    Arena *files = arena_new(NULL);
    Str text = ptx_file(files, "tests/emulator/cuda/ptx/shared.sm_80.ptx");
    int lines = 0;
    for (size_t i = 0; i < text.size; i++) lines += text.data[i] == '\n';
    double best = 1e9;
    for (int i = 0; i < 9; i++) {
        Arena *arena = arena_new(NULL);
        double start = now();
        parse(arena, text, NULL);
        best = fmin(best, now() - start);
        arena_free(arena);
    }
    printf("%d lines in %.2f ms\n", lines, best * 1e3);
    CHECK(lines > 800);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    CHECK(best * 1000 / lines < 5e-3);
#endif
    arena_free(files);
}

int main(void) {
    RUN(test_cut_and_changed);
    RUN(test_nesting);
    RUN(test_many_errors);
    RUN(test_huge_numbers);
    RUN(test_linear);
    RUN(test_speed);
    return test_done();
}
