// docs/language.md: every example compiles, and every function of the language is listed.
#include "base/embedded.h"
#include "frontend/dsl/builtin.h"
#include "tests/support/dsl_compile.h"
#include "tests/unit/test.h"

extern const EmbeddedFile frontend_library_files[];
extern const size_t frontend_library_count;

static Str page;

static const char *find(Str text, const char *part) {
    size_t size = strlen(part);
    for (size_t i = 0; i + size <= text.size; i++) {
        if (memcmp(text.data + i, part, size) == 0) return text.data + i;
    }
    return NULL;
}

static Str from(const char *at) { return (Str){at, page.size - (size_t)(at - page.data)}; }

static void check_example(Str text) {
    DslRun run;
    dsl_run(&run, "docs/language.md", text, NULL);
    bool good = CHECK(!run.raised && run.module != NULL);
    for (size_t i = 0; i < run.messages.count && !good; i++)
        printf("%s", run.messages.data[i].rendered);
    dsl_run_free(&run);
}

static void test_examples(void) {
    int count = 0;
    Str rest = page;
    const char *start;
    while ((start = find(rest, "\n```g\n"))) {
        Str body = from(start + 6);
        const char *end = find(body, "\n```");
        if (!CHECK(end != NULL)) return;
        check_example((Str){body.data, (size_t)(end - body.data) + 1});
        count++;
        rest = from(end + 4);
    }
    CHECK(count >= 10);
}

static void test_builtins_are_listed(void) {
    Arena *arena = arena_new(NULL);
    for (size_t i = 0; i < builtin_count(); i++) {
        const Builtin *row = builtin_at(i);
        Buf buf = {.arena = arena};
        buf_print(&buf, "`%.*s(", STR_ARG(row->name));
        for (const char *c = row->parameters; *c; c++) {
            if (*c == ' ')
                buf_put(&buf, STR(", "));
            else
                buf_char(&buf, *c);
        }
        buf_put(&buf, STR(")`"));
        if (!CHECK(find(page, buf.data) != NULL)) printf("    %s is not listed\n", buf.data);
    }
    arena_free(arena);
}

// Functions whose names begin with _ serve the library alone.
static void check_listed(Arena *arena, Str text) {
    const char *at;
    while ((at = find(text, "\nfn "))) {
        const char *name = at + 4, *end = name;
        while (*end != '{') end++;
        text = (Str){end, text.size - (size_t)(end - text.data)};
        if (*name == '_') continue;
        Str signature = str_format(arena, "`%.*s`", (int)(end - 1 - name), name);
        if (!CHECK(find(page, signature.data) != NULL))
            printf("    %s is not listed\n", signature.data);
    }
}

static void test_library_is_listed(void) {
    Arena *arena = arena_new(NULL);
    for (size_t i = 0; i < frontend_library_count; i++) {
        const EmbeddedFile *file = &frontend_library_files[i];
        check_listed(arena, (Str){(const char *)file->bytes, file->size});
    }
    arena_free(arena);
}

static void test_limits_are_listed(void) {
    static const struct {
        const char *text;
        int64_t limit;
    } limits[] = {{"16 MiB", DSL_MAX_BYTES >> 20},    {"1,000,000 syntax", DSL_MAX_NODES},
                  {"1,000 levels", DSL_MAX_HEIGHT},   {"2,000 through", DSL_MAX_DEPTH},
                  {"| 200 |", DSL_MAX_CALLS},         {"100,000 trips", DSL_MAX_TRIPS},
                  {"10,000,000 steps", DSL_MAX_STEPS}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        CHECK(find(page, limits[i].text) != NULL);
        char digits[32] = "";
        size_t count = 0;
        for (const char *c = limits[i].text; *c && *c != 'M' && *c != 's'; c++) {
            if (*c >= '0' && *c <= '9') digits[count++] = *c;
        }
        int64_t shown = strtoll(digits, NULL, 10);
        CHECK_INT(shown, limits[i].limit);
    }
}

int main(void) {
    page = dsl_read_file("docs/language.md");
    if (!CHECK(page.data != NULL)) return test_done();
    RUN(test_examples);
    RUN(test_builtins_are_listed);
    RUN(test_library_is_listed);
    RUN(test_limits_are_listed);
    free((void *)(uintptr_t)page.data);
    return test_done();
}
