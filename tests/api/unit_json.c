// What a unit tells as JSON is JSON, and says what the texts say.
#include "tests/unit/test.h"

#include <tcc/tcc.h>

static const char plain[] = "dim N in 1..64\n"
                            "model m(x: f32[N, 4], w: f32[4, 8]) -> (y: f32[N, 8]) {\n"
                            "    y = softmax(relu(x @ w))\n"
                            "}\n";

// ---- a reader that knows nothing but the grammar ------------------------------------------------

static void skip_space(const char **at) { *at += strspn(*at, " \n"); }

static bool read_string(const char **at) {
    if (*(*at)++ != '"') return false;
    while (**at && **at != '"') {
        if ((unsigned char)**at < ' ') return false;
        *at += **at == '\\' && (*at)[1] ? 2 : 1;
    }
    return *(*at)++ == '"';
}

static bool read_value(const char **at);

static bool read_items(const char **at, char closer) {
    ++*at;
    skip_space(at);
    if (**at == closer) return ++*at, true;
    for (;;) {
        skip_space(at);
        if (closer == '}' && (!read_string(at) || *(*at)++ != ':')) return false;
        if (!read_value(at)) return false;
        skip_space(at);
        char c = *(*at)++;
        if (c == closer) return true;
        if (c != ',') return false;
    }
}

static bool read_value(const char **at) {
    skip_space(at);
    if (**at == '{') return read_items(at, '}');
    if (**at == '[') return read_items(at, ']');
    if (**at == '"') return read_string(at);
    size_t size = strcspn(*at, ",]} \n");
    char word[64];
    char *end;
    if (size == 0 || size >= sizeof word) return false;
    memcpy(word, *at, size);
    word[size] = 0;
    *at += size;
    if (strcmp(word, "null") == 0 || strcmp(word, "true") == 0 || strcmp(word, "false") == 0)
        return true;
    strtod(word, &end);
    return *end == 0;
}

static void check_json(tcc_unit *unit, const char *kind, const char *const *parts) {
    const char *out = NULL;
    size_t size = 0;
    if (!CHECK_INT(tcc_unit_text(unit, kind, &out, &size), TCC_OK)) return;
    const char *at = out;
    bool good = read_value(&at);
    skip_space(&at);
    if (!CHECK(good && *at == 0)) printf("    %s: wrong before:\n%.200s\n", kind, at);
    CHECK_INT(strlen(out), size);
    for (; *parts; parts++)
        if (!CHECK(strstr(out, *parts))) printf("    %s lacks %s in\n%s\n", kind, *parts, out);
}

static void test_json(void) {
    static const char *const graph[] = {
        "\"model\": \"m\"",        "\"op\": \"kernel\"",  "\"regions\": [",  "\"op\": \"contract\"",
        "\"type\": \"f32[N, 8]\"", "\"place\": \"m.g:3:", "\"name\": \"y\"", NULL};
    static const char *const explain[] = {"\"kernels\": [", "\"decisions\": [", "\"kind\": \"",
                                          "\"numbers\": {", "\"skeleton\": \"", NULL};
    static const char *const metadata[] = {"\"model\": \"m\"", "\"inputs\": [", NULL};
    tcc_compiler *compiler;
    tcc_unit *unit;
    if (!CHECK_INT(tcc_compiler_new(&compiler), TCC_OK)) return;
    CHECK_INT(tcc_compile_memory(compiler, "m.g", plain, strlen(plain), &unit), TCC_OK);
    check_json(unit, "ir-json", graph);
    check_json(unit, "explain-json", explain);
    check_json(unit, "metadata", metadata);
    tcc_unit_free(unit);
    tcc_compiler_free(compiler);
}

// Without a program there are no decisions about one; the graph is there all the same.
static void test_without_a_program(void) {
    static const char *const graph[] = {"\"op\": \"contract\"", NULL};
    const char *out;
    size_t size;
    tcc_compiler *compiler;
    tcc_unit *unit;
    if (!CHECK_INT(tcc_compiler_new(&compiler), TCC_OK)) return;
    CHECK_INT(tcc_set_option(compiler, "passes", "inline,decompose,fold"), TCC_OK);
    CHECK_INT(tcc_compile_memory(compiler, "m.g", plain, strlen(plain), &unit), TCC_OK);
    check_json(unit, "ir-json", graph);
    CHECK_INT(tcc_unit_text(unit, "explain-json", &out, &size), TCC_INVALID);
    CHECK_INT(tcc_unit_text(unit, "metadata", &out, &size), TCC_INVALID);
    tcc_unit_free(unit);
    tcc_compiler_free(compiler);
}

int main(void) {
    RUN(test_json);
    RUN(test_without_a_program);
    return test_done();
}
