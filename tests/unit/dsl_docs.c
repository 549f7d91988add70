// docs/language.md: every example compiles, and every function of the language is listed.
#include "frontend/dsl/functions.h"
#include "tests/support/dsl_compile.h"
#include "tests/unit/test.h"

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

// Each line "* `signature`" of the printed reference stands in the page.
static void test_functions_are_listed(void) {
    Arena *arena = arena_new(NULL);
    Buf buf = {.arena = arena};
    dsl_print_functions(&buf);
    int count = 0;
    const char *at = buf_str(&buf).data;
    while ((at = strstr(at, "\n* `"))) {
        const char *name = at + 3;
        at = strchr(name + 1, '`');
        if (!CHECK(at != NULL)) break;
        Str signature = str_format(arena, "%.*s", (int)(at + 1 - name), name);
        if (!CHECK(find(page, signature.data) != NULL))
            printf("    %s is not listed\n", signature.data);
        count++;
    }
    CHECK(count > 130);
    arena_free(arena);
}

// Functions that serve the library alone are not printed, and results are counted.
static void test_reference_of_functions(void) {
    Arena *arena = arena_new(NULL);
    Buf buf = {.arena = arena};
    dsl_print_functions(&buf);
    Str text = buf_str(&buf);
    CHECK(find(text, "* `relu(x)`\n  The greater of x and 0; NaN stays\n") != NULL);
    CHECK(find(text, "* `select(c, x, y)`\n  x where c holds, else y\n") != NULL);
    CHECK(find(text, "* `topk(x, k, axis?, largest?)`, 2 results\n") != NULL);
    CHECK(find(text, "* `lstm_cell(x, h, c)`, 2 results\n") != NULL);
    CHECK(find(text, "* `gru_cell(x, h)`\n") != NULL);
    CHECK(find(text, "* `_") == NULL);
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
    RUN(test_functions_are_listed);
    RUN(test_reference_of_functions);
    RUN(test_limits_are_listed);
    free((void *)(uintptr_t)page.data);
    return test_done();
}
