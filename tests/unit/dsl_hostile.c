// Files that mean harm or make no sense: every one ends in an error or a module, never in a raised
// guard, and limits are reached before time, memory or stack are.
#include "tests/support/dsl_compile.h"
#include "tests/unit/test.h"

#include <locale.h>

static DslRun run;

// Compiles, and checks that nothing was raised and that errors and a module exclude each other.
static const DslMessage *compile(Str text) {
    dsl_run(&run, "hostile.g", text, NULL);
    const DslMessage *first = dsl_run_first(&run);
    if (!CHECK(!run.raised)) printf("    %s\n", run.guard.message);
    CHECK((run.module == NULL) == (first != NULL));
    return first;
}

static void expect(Str text, const char *id) {
    const DslMessage *first = compile(text);
    if (CHECK(first != NULL)) CHECK_STR(first->id, id);
    dsl_run_free(&run);
}

// ---- damaged files
// ---------------------------------------------------------------------------------

static void truncate_everywhere(const char *path, size_t step) {
    Str text = dsl_read_file(path);
    if (!CHECK(text.data != NULL)) return;
    for (size_t size = 0; size < text.size; size += step) {
        // Memory of exactly that size, so that a sanitizer sees what reads past its end.
        char *part = malloc(size ? size : 1);
        memcpy(part, text.data, size);
        compile((Str){part, size});
        dsl_run_free(&run);
        free(part);
    }
    free((void *)(uintptr_t)text.data);
}

static void test_truncation(void) {
    truncate_everywhere("examples/digits/digits.g", 1);
    truncate_everywhere("examples/encoder/encoder.g", test_long() ? 1 : 7);
    truncate_everywhere("tests/err/syntax.g", test_long() ? 1 : 5);
}

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

// Copies, moves and drops pieces of a good file.
static void scramble(char *bytes, size_t size, uint64_t *state) {
    for (int i = 0; i < 3; i++) {
        size_t from = next_random(state) % size, to = next_random(state) % size;
        size_t count = next_random(state) % 24;
        if (from + count > size || to + count > size) continue;
        memmove(bytes + to, bytes + from, count);
    }
    if (next_random(state) % 2)
        bytes[next_random(state) % size] = "()[]{},:=\n\" .0"[next_random(state) % 14];
}

static void test_scrambled(void) {
    Str text = dsl_read_file("examples/encoder/encoder.g");
    if (!CHECK(text.data != NULL)) return;
    uint64_t state = 20240601;
    char *bytes = malloc(text.size);
    for (int i = 0; i < (test_long() ? 20000 : 400); i++) {
        memcpy(bytes, text.data, text.size);
        scramble(bytes, text.size, &state);
        compile((Str){bytes, text.size});
        dsl_run_free(&run);
    }
    free(bytes);
    free((void *)(uintptr_t)text.data);
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

typedef VEC(Str) Words;

static void find_words(Arena *arena, Str text, Words *words) {
    for (size_t i = 0; i < text.size;) {
        size_t start = i;
        while (i < text.size && is_word(text.data[i])) i++;
        Str word = {text.data + start, i - start};
        if (word.size)
            vec_push(arena, words, word);
        else
            i++;
    }
}

// The text with some of its words replaced by others of its words: it parses mostly, and means
// nothing.
static Str swap_words(Arena *arena, Str text, const Words *words, uint64_t *state) {
    Buf buf = {.arena = arena};
    size_t at = 0;
    for (int i = 0; i < 4; i++) {
        size_t left = words->count - at, pick = at + next_random(state) % (left / 2 + 1);
        if (pick >= words->count) break;
        Str from = words->data[pick], to = words->data[next_random(state) % words->count];
        const char *begin = at ? words->data[at - 1].data + words->data[at - 1].size : text.data;
        buf_put(&buf, (Str){begin, (size_t)(from.data - begin)});
        buf_put(&buf, to);
        at = pick + 1;
    }
    const char *rest = words->data[at - 1].data + words->data[at - 1].size;
    buf_put(&buf, (Str){rest, text.size - (size_t)(rest - text.data)});
    return buf_str(&buf);
}

static void test_swapped_words(void) {
    static const char *const paths[] = {"tests/models/language.g", "tests/models/ops.g",
                                        "tests/models/library.g", "examples/encoder/encoder.g"};
    uint64_t state = 99;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        Str text = dsl_read_file(paths[i]);
        if (!CHECK(text.data != NULL)) continue;
        Arena *arena = arena_new(NULL);
        Words words = {0};
        find_words(arena, text, &words);
        for (int k = 0; k < (test_long() ? 2500 : 150); k++) {
            Arena *scratch = arena_new(NULL);
            compile(swap_words(scratch, text, &words, &state));
            dsl_run_free(&run);
            arena_free(scratch);
        }
        arena_free(arena);
        free((void *)(uintptr_t)text.data);
    }
}

static void test_noise(void) {
    static char bytes[65536];
    uint64_t state = 7;
    expect((Str){bytes, 0}, "no-model");
    expect((Str){bytes, sizeof bytes}, "control-character");
    memset(bytes, 0xff, sizeof bytes);
    expect((Str){bytes, sizeof bytes}, "not-utf8");
    memset(bytes, '\n', sizeof bytes);
    expect((Str){bytes, sizeof bytes}, "no-model");
    for (int i = 0; i < 50; i++) {
        for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = (char)next_random(&state);
        CHECK(compile((Str){bytes, sizeof bytes}) != NULL);
        dsl_run_free(&run);
        for (size_t k = 0; k < 4096; k++) bytes[k] = (char)(' ' + next_random(&state) % 95);
        CHECK(compile((Str){bytes, 4096}) != NULL);
        dsl_run_free(&run);
    }
}

// ---- sizes
// ---------------------------------------------------------------------------------------

// before, then `count` times `piece`, then after.
static Str repeated(Arena *arena, const char *before, const char *piece, size_t count,
                    const char *after) {
    Buf buf = {.arena = arena};
    buf_put(&buf, str_from(before));
    for (size_t i = 0; i < count; i++) buf_put(&buf, str_from(piece));
    buf_put(&buf, str_from(after));
    return buf_str(&buf);
}

#define HEAD "model m(x: f32[3]) -> (y: f32[3]) {\n    y = "
#define TAIL "\n}\n"

static void test_deep_nesting(void) {
    static const struct {
        const char *before, *piece, *after, *id;
    } cases[] = {
        {HEAD "x", " + x", TAIL, "too-deep"},
        {HEAD, "-", "x" TAIL, "too-deep"},
        {HEAD, "not ", "x" TAIL, "too-deep"},
        {HEAD "x", " ** x", TAIL, "too-deep"},
        {HEAD "x", "[:]", TAIL, "too-deep"},
        {HEAD "x", ".T", TAIL, "too-deep"},
        {HEAD "f", "()", TAIL, "too-deep"},
        {HEAD, "x if x else ", "x" TAIL, "too-deep"},
        {HEAD, "(", "x" TAIL, "unclosed-bracket"},
        {HEAD, "[", "x" TAIL, "unclosed-bracket"},
        {HEAD, "f(", "x" TAIL, "unclosed-bracket"},
        {"fn f(x) {\n", "if x {\n", "", "unclosed-bracket"},
        {HEAD "x\n if x == None { y = x }", " else if x == None { y = x }", TAIL, "too-deep"}};
    Arena *arena = arena_new(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect(repeated(arena, cases[i].before, cases[i].piece, 100000, cases[i].after),
               cases[i].id);
    }
    Buf buf = {.arena = arena};
    buf_put(&buf, repeated(arena, HEAD, "(", 100000, "x"));
    buf_put(&buf, repeated(arena, "", ")", 100000, TAIL));
    expect(buf_str(&buf), "too-deep");
    // As many brackets as a file may hold, of two kinds: none is searched for among the others.
    buf = (Buf){.arena = arena};
    buf_put(&buf, repeated(arena, HEAD "(", "[", 100000, "x"));
    buf_put(&buf, repeated(arena, "", "]", 100000, ")" TAIL));
    expect(buf_str(&buf), "too-deep");
    buf = (Buf){.arena = arena};
    buf_put(&buf, repeated(arena, HEAD, "[", 100000, "x"));
    buf_put(&buf, repeated(arena, "", ")", 100000, TAIL));
    expect(buf_str(&buf), "stray-bracket");
    arena_free(arena);
}

// The deepest expression that is allowed, through several calls: limits hold before the stack ends.
static void test_greatest_depth(void) {
    Arena *arena = arena_new(NULL);
    CHECK(compile(repeated(arena, HEAD "x", " + x", 990, TAIL)) == NULL);
    dsl_run_free(&run);
    Buf buf = {.arena = arena};
    for (int i = 0; i < 100; i++) {
        Str name = str_format(arena, "fn g%d(x) { return ", i);
        Str call = str_format(arena, "%s%.0d(x)", i ? "g" : "relu", i ? i - 1 : 0);
        if (i == 1) call = STR("g0(x)");
        buf_put(&buf, repeated(arena, name.data, "x + (", 400, call.data));
        buf_put(&buf, repeated(arena, "", ")", 400, " }\n"));
    }
    buf_put(&buf, STR(HEAD "g99(x)" TAIL));
    expect(buf_str(&buf), "too-deep");
    arena_free(arena);
}

static void test_many_nodes(void) {
    Arena *arena = arena_new(NULL);
    expect(repeated(arena, HEAD "x\n    z = [", "1, ", 1100000, "1]" TAIL), "too-many-nodes");
    expect(repeated(arena, HEAD "x", "\n    z = x", 600000, TAIL), "too-many-nodes");
    expect(repeated(arena, "", ";;;;;;;;\n", 1900000, "x"), "file-size");
    expect(repeated(arena, HEAD, "9", 1000000, TAIL), "int-literal");
    expect(repeated(arena, HEAD "1", "0", 400, ".5" TAIL), "float-literal");
    expect(repeated(arena, HEAD, "a", 1000000, TAIL), "unknown-name");
    expect(repeated(arena, "weights \"", "a", 1000000, "\"\n"), "cannot-read");
    arena_free(arena);
}

static void test_doubling(void) {
    Arena *arena = arena_new(NULL);
    Buf buf = {.arena = arena};
    buf_put(&buf, STR("fn g0(x) { return x + 1.5 }\n"));
    for (int i = 1; i < 60; i++) {
        buf_print(&buf, "fn g%d(x) { return g%d(x * 1.5) * g%d(x + 1.0) }\n", i, i - 1, i - 1);
    }
    buf_put(&buf, STR(HEAD "g59(x)" TAIL));
    const DslMessage *first = compile(buf_str(&buf));
    bool limited =
        first && (strcmp(first->id, "graph-size") == 0 || strcmp(first->id, "too-many-steps") == 0);
    CHECK(limited);
    dsl_run_free(&run);
    arena_free(arena);
}

// ---- surroundings
// ------------------------------------------------------------------------------------

static void test_locale(void) {
    static const char source[] = HEAD "x * 1.5 + 2.5e-1" TAIL;
    const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "C"};
    for (size_t i = 0; i < 3; i++) {
        setlocale(LC_ALL, names[i]);
        CHECK(compile(str_from(source)) == NULL);
        dsl_run_free(&run);
    }
}

static void test_lines_and_marks(void) {
    CHECK(compile(STR("\xEF\xBB\xBFmodel m(x: f32) -> (y: f32) { y = x }")) == NULL);
    dsl_run_free(&run);
    CHECK(compile(STR("model m(x: f32) -> (y: f32) {\r\n  y = x # \xC3\xA9\r\n}\r\n")) == NULL);
    dsl_run_free(&run);
    CHECK(compile(STR("model m(x: f32,\n  z: f32,\n) -> (y: f32) { y = (x +\n\n z); w = 1; }")) ==
          NULL);
    dsl_run_free(&run);
}

int main(void) {
    RUN(test_truncation);
    RUN(test_scrambled);
    RUN(test_swapped_words);
    RUN(test_noise);
    RUN(test_deep_nesting);
    RUN(test_greatest_depth);
    RUN(test_many_nodes);
    RUN(test_doubling);
    RUN(test_locale);
    RUN(test_lines_and_marks);
    return test_done();
}
