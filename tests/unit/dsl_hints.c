// What other languages have is an error at its place, with one line that says how it is written
// here.
#include "tests/support/dsl_compile.h"
#include "tests/unit/test.h"

// A statement of a model, what is said of it, and a part of the hint; `column` is that of the
// error within the statement, from 1.
typedef struct Row {
    const char *statement, *id;
    uint32_t column;
    const char *hint;
} Row;

static const Row rows[] = {
    {"y += x", "syntax", 3, "write y = y + x"},
    {"y -= x", "syntax", 3, "write y = y - x"},
    {"y *= x", "syntax", 3, "write y = y * x"},
    {"y /= x", "syntax", 3, "write y = y / x"},
    {"y @= x", "syntax", 3, "write y = y @ x"},
    {"y %= x", "syntax", 3, "write y = y % x"},
    {"y //= x", "syntax", 3, "write y = y // x"},
    {"y **= x", "syntax", 3, "write y = y ** x"},
    {"y++", "syntax", 2, "there is no ++"},
    {"y = select(x <> x, x, x)", "syntax", 15, "written !="},
    {"y = x[..., 0]", "syntax", 7, "give each axis a subscript"},
    {"def f(x):", "syntax", 5, "written fn f(x)"},
    {"class A:", "syntax", 7, "no classes"},
    {"import numpy as np", "syntax", 8, "nothing to import"},
    {"from numpy import exp", "syntax", 6, "nothing to import"},
    {"let y = x", "syntax", 5, "without a word"},
    {"var y = x", "syntax", 5, "without a word"},
    {"const y = x", "syntax", 7, "without a word"},
    {"print(x)", "syntax", 6, "one of its outputs"},
    {"pass", "syntax", 5, "{ }"},
    {"elif x:", "syntax", 6, "else if"},
    {"for i in range(3): y = x", "syntax", 18, "for i in 0 ..< 3"},
    {"while true: y = x", "syntax", 11, "while CONDITION max 8"},
    {"// double", "syntax", 1, "begins with #"},
    {"if x == x: y = x", "syntax", 10, "braces"},
    {"y: f32 = x", "syntax", 2, "not declared with a type"},
    {"y = x is x", "syntax", 7, "written =="},
    {"y = [v for v in x]", "syntax", 8, "no list comprehensions"},
    {"y = select(0 < x < 1, x, x)", "syntax", 18, "a < b and b < c"},
    {"y = select(0 <= x <= 1, x, x)", "syntax", 19, "a <= b and b <= c"},
    {"y = select(0 > x > 1, x, x)", "syntax", 18, "a > b and b > c"},
    {"y = select(0 >= x >= 1, x, x)", "syntax", 19, "a >= b and b >= c"},
    {"y = select(x == x == x, x, x)", "syntax", 19, "a == b and b == c"},
    {"y = select(x != x != x, x, x)", "syntax", 19, "a != b and b != c"},
    {"y = sum(x, axis=(0, 1))", "syntax", 19, "written [0, 1]"},
    {"y = sum(x, dim=1)", "syntax", 12, "axis=1"},
    {"y = lambda a: a", "syntax", 12, "no functions without a name"},
    {"y = x ? x : x", "stray-character", 7, "a if c else b"},
    {"y = x && x", "stray-character", 7, "bit_and"},
    {"y = x || x", "stray-character", 7, "bit_or"},
    {"y = !x", "stray-character", 5, "not is written"},
    {"y = x^2", "stray-character", 6, "a ** b"},
    {"y = ~x", "stray-character", 5, "bit_not"},
    {"y = 'a'", "stray-character", 5, "double quotes"},
    {"y = sum(x, axis=1, keepdims=true)", "unknown-argument", 29, "keep=true"},
    {"y = sum(x, axis=1, keepdim=true)", "unknown-argument", 28, "keep=true"},
    {"y = sum(x, axes=1)", "unknown-argument", 17, "named axis"},
    {"y = sum(x, dims=1)", "unknown-argument", 17, "named axis"},
    {"y = exp(x, out=x)", "unknown-argument", 16, "write y = f(x)"},
    {"y = np.exp(x)", "not-a-function", 5, "write exp(...)"},
    {"y = x.sum()", "not-a-function", 5, "write sum(x, ...)"},
    {"y = (x + x).sum()", "not-a-function", 6, "write sum(...)"},
    {"y = True", "unknown-name", 5, "'true'"},
    {"y = null", "unknown-name", 5, "'None'"},
    {"y = where(x > 0, x, 0)", "unknown-name", 5, "'select'"},
    {"y = float(x)", "unknown-name", 5, "'f32'"},
    {"y = clamp(x, 0, 1)", "unknown-name", 5, "'clip'"},
    {"y = unsqueeze(x, 1)", "unknown-name", 5, "x[:, None]"},
    {"y = transpose(x, 0, 1)", "unknown-name", 5, "x.T"},
    {"y = dropout(x, 0.5)", "unknown-name", 5, "leave it out"},
    {"y = x.view(16)", "not-a-function", 5, "write reshape(x, ...)"},
    {"y = x.t()", "not-a-function", 5, "x.T"},
    {"y = x.squeeze(0)", "not-a-function", 5, "x[:, 0]"},
    {"y = x / x.size(0)", "not-a-function", 9, "x.shape[0]"},
    {"relu(x)", "syntax", 5, "give its value a name"},
    {"fn f(x) { return x }", "syntax", 1, "outside of models"},
    {"model n(x: f32) -> (y: f32) { y = x }", "syntax", 1, "outside of other models"},
    {"else { y = x }", "syntax", 1, "} else {"},
};

static bool has_hint(const DslRun *run, const Row *row, uint32_t column) {
    for (size_t i = 0; i < run->messages.count; i++) {
        const DslMessage *m = &run->messages.data[i];
        if (m->severity == DIAG_note && m->line == 2 && m->column == column &&
            strstr(m->text, row->hint))
            return true;
    }
    return false;
}

static void check_row(const Row *row) {
    enum { INDENT = 4 };
    char text[256];
    DslRun run;
    snprintf(text, sizeof text, "model m(x: f32[4, 4]) -> (y: f32[4, 4]) {\n%*s%s\n}\n", INDENT, "",
             row->statement);
    dsl_run(&run, "hint.g", str_from(text), NULL);
    const DslMessage *first = dsl_run_first(&run);
    uint32_t column = row->column + INDENT;
    bool good = CHECK(first != NULL) && CHECK_STR(first->id, row->id) &&
                CHECK_INT(first->line, 2) && CHECK_INT(first->column, column) &&
                CHECK(has_hint(&run, row, column));
    if (!good) printf("    %s\n", row->statement);
    dsl_run_free(&run);
}

static void test_hints(void) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_row(&rows[i]);
}

// What is right, or wrong in a way of its own, has no hint.
static void test_no_hint_without_need(void) {
    static const char *const statements[] = {"y = x x", "y = x + + x", "y = f(x,, x)", "y x",
                                             "y = x,,", "y = t",       "y = x + size"};
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        char text[128];
        DslRun run;
        snprintf(text, sizeof text, "model m(x: f32[4]) -> (y: f32[4]) {\n%s\n}\n", statements[i]);
        dsl_run(&run, "plain.g", str_from(text), NULL);
        for (size_t k = 0; k < run.messages.count; k++)
            if (!CHECK(strcmp(run.messages.data[k].id, "hint") != 0))
                printf("    %s: %s\n", statements[i], run.messages.data[k].text);
        dsl_run_free(&run);
    }
}

// torch's order: the number of inputs before the one of outputs. The hint is at the former.
static void test_order_of_arguments(void) {
    static const char *const statements[] = {"y = linear(x, 8, 3)", "y = conv2d(x, 2, 16, 3)",
                                             "y = conv2d(x, 2, 3, 1)"};
    for (size_t i = 0; i < 3; i++) {
        char text[128];
        DslRun run;
        bool hinted = false;
        snprintf(text, sizeof text, "model m(x: f32[1, 2, 8, 8]) -> (y) {\n%s\n}\n", statements[i]);
        dsl_run(&run, "order.g", str_from(text), NULL);
        uint32_t column = (uint32_t)(strchr(statements[i], ',') - statements[i]) + 3;
        for (size_t k = 0; k < run.messages.count; k++) {
            const DslMessage *m = &run.messages.data[k];
            hinted |= m->column == column && strstr(m->text, "number of outputs") != NULL;
        }
        if (!CHECK(hinted == (i < 2))) printf("    %s\n", statements[i]); // the last is right
        dsl_run_free(&run);
    }
}

int main(void) {
    RUN(test_hints);
    RUN(test_order_of_arguments);
    RUN(test_no_hint_without_need);
    return test_done();
}
