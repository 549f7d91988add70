// Products of one tensor with several weights, each followed by what is made of a column alone and
// read by a kernel of its own: dtypes × numbers of products × widths × endings × readers × dims
// that vary, drawn with a fixed seed. Whether they are one product does not change bits. The short
// form takes one in twenty.
#include "tests/support/every_target.h"

#include <stdarg.h>

enum { CASES = 300, SHORT = 20, TEXT = 4096, MOST = 6 };

static uint64_t state;

static int draw(int count) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)count);
}

static int draw_size(void) {
    static const int sizes[] = {1, 2, 3, 7, 8, 16, 17, 31, 32, 48, 61, 64, 65, 96, 129};
    return sizes[draw(15)];
}

typedef struct Text {
    char data[TEXT];
    size_t size;
} Text;

__attribute__((format(printf, 2, 3))) static void put(Text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    t->size += (size_t)vsnprintf(t->data + t->size, TEXT - t->size, format, args);
    va_end(args);
}

typedef struct Case {
    const char *dtype, *result, *rows; // of x and the weights, of products; the first dims of x
    int rank, k, count, n[MOST], ending, reader;
    bool turned; // weights as [n, k]
} Case;

// What is made of one product, in a language of the columns' parameters b and s.
static const char *const endings[] = {"%s",
                                      "%s + b%d",
                                      "relu(%s + b%d)",
                                      "cast(%s, to=f32) * s%d",
                                      "tanh(cast(%s, to=f32) * s%d + 0.5)",
                                      "%s * 2"};

static bool is_f32_after(const Case *c) { return c->ending == 3 || c->ending == 4; }

static void put_product(Text *t, const Case *c, int i) {
    char product[128], x[16] = "bmk";
    const char *labels = x + (c->rank == 2);
    snprintf(product, sizeof product, "einsum(\"%s,%s->%.*sn\", x, w%d)", labels,
             c->turned ? "nk" : "kn", c->rank - 1, labels, i);
    int rows = c->turned ? c->n[i] : c->k, columns = c->turned ? c->k : c->n[i];
    put(t,
        "    param w%d: %s[%d, %d]\n    param b%d: %s[%d]\n    param s%d: f32[%d]\n    r%d = ", i,
        c->dtype, rows, columns, i, c->result, c->n[i], i, c->n[i], i);
    put(t, endings[c->ending], product, i, i);
    put(t, "\n");
}

// The result of a product as another product, a sum of its rows, a sum of each half, or, where that
// must be a copy or an epilogue, as it is or through an op with a tensor of its size.
static void put_reader(Text *t, const Case *c, int i) {
    const char *dtype = is_f32_after(c) ? "f32" : c->result;
    switch (c->reader) {
    case 0:
        put(t, "    param v%d: %s[%d, 5]\n    y%d = r%d @ v%d\n", i, dtype, c->n[i], i, i, i);
        break;
    case 1: put(t, "    y%d = sum(r%d, axis=0)\n", i, i); break;
    case 2:
        put(t, "    y%d = sum(r%d[:%s, :1], axis=0) + sum(r%d * r%d, axis=0)\n", i, i,
            c->rank == 3 ? ", :" : "", i, i);
        break;
    case 3: put(t, "    y%d = r%d\n", i, i); break;
    default:
        put(t, "    y%d = sum(r%d, axis=0) + sum(r%d * r%d, axis=0)\n", i, i, i,
            (i + 1) % c->count);
    }
}

static Case draw_case(int number) {
    static const char *const dtypes[] = {"f32", "f32", "f32", "bf16", "f16", "f64", "i8"};
    state = (uint64_t)number * 7919 + 23;
    Case c = {.dtype = dtypes[draw(7)], .rank = 2 + draw(2), .k = draw_size()};
    c.result = strcmp(c.dtype, "i8") == 0 ? "i32" : c.dtype;
    c.count = 2 + draw(draw(3) ? 2 : MOST - 1);
    c.rows = c.rank == 3 ? draw(2) ? "2, M" : "3, 7" : draw(2) ? "M" : "37";
    c.turned = draw(3) == 0;
    c.reader = draw(5);
    c.ending = c.reader == 4 || draw(6) == 0 ? 0 : draw(6);
    if (strcmp(c.dtype, "i8") == 0 && c.ending == 2) c.ending = 1;
    int width = draw_size();
    bool same = c.reader == 4 || draw(2);
    for (int i = 0; i < c.count; i++) c.n[i] = same ? width : draw_size();
    if (number % 30 == 0) c.k = 300, c.n[0] = c.n[1] = 200, c.count = 2; // for several threads
    return c;
}

// The dims of y i: those of its reader.
static void put_result_dims(Text *t, const Case *c, int i) {
    const char *rows = c->rank == 3 ? strchr(c->rows, ' ') + 1 : "";
    const char *dtype = is_f32_after(c) ? "f32" : c->result;
    if (c->reader == 0)
        put(t, "y%d: %s[%s, 5]", i, dtype, c->rows);
    else if (c->reader == 3)
        put(t, "y%d: %s[%s, %d]", i, dtype, c->rows, c->n[i]);
    else
        put(t, "y%d: %s[%s%s%d]", i, dtype, rows, *rows ? ", " : "", c->n[i]);
}

static void check_case(int number) {
    Case c = draw_case(number);
    Text t = {.size = 0};
    put(&t, "dim M in 0..160 tune 64\nfn f(x) {\n");
    for (int i = 0; i < c.count; i++) put_product(&t, &c, i);
    for (int i = 0; i < c.count; i++) put_reader(&t, &c, i);
    put(&t, "    return ");
    for (int i = 0; i < c.count; i++) put(&t, "%sy%d", i ? ", " : "", i);
    put(&t, "\n}\nmodel m(x: %s[%s, %d]) -> (", c.dtype, c.rows, c.k);
    for (int i = 0; i < c.count; i++) {
        put(&t, "%s", i ? ", " : "");
        put_result_dims(&t, &c, i);
    }
    put(&t, ") {\n    ");
    for (int i = 0; i < c.count; i++) put(&t, "%sy%d", i ? ", " : "", i);
    put(&t, " = f(x) as \"f\"\n}\n");
    every_target_check(t.data, "skip", "siblings");
}

int main(int argc, char **argv) { return every_target_cases(argc, argv, check_case, CASES, SHORT); }
