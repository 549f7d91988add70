// Products followed by what is made of whole rows of them (norms, softmax, maxima), which is one
// kernel where the prices say so: dtypes × sizes × constant or not × residuals × several results ×
// batches × dims that vary, drawn with a fixed seed. In f32, f64 and integers the bits are those of
// one kernel an op. The short form takes one in twenty.
#include "tests/support/every_target.h"

enum { CASES = 400, SHORT = 20, TEXT = 2048 };

static uint64_t state;

static int draw(int count) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)count);
}

static int draw_size(void) {
    static const int sizes[] = {1,  2,  3,  7,  8,  15, 16, 17,  31,
                                32, 48, 61, 63, 64, 65, 96, 129, 200};
    return sizes[draw(18)];
}

// What becomes of the rows s: texts with the results y and, where there is one, z.
typedef struct Ending {
    const char *text, *y, *z; // z: its dims behind those of the rows; NULL: no such result
} Ending;

static const Ending endings[] = {
    {"y = layer_norm(s) as \"norm\"", "n", NULL},
    {"z = s\n y = rms_norm(s) as \"norm\"", "n", "n"},
    {"y = softmax(s)", "n", NULL},
    {"y = s - max(s, axis=-1, keep=true)\n z = sum(s * s, axis=-1)", "n", ""},
    {"y = s / maximum(max(abs(s), axis=-1, keep=true), 1e-3)", "n", NULL},
    {"y = max(s, axis=-1)\n z = min(s, axis=-1)", "", ""},
    {"z = relu(s)\n y = z * sum(z, axis=-1, keep=true)", "n", "n"},
};

// One that integers have too.
static bool takes_integers(int ending) { return ending == 3 || ending >= 5; }

static void put_result(char *out, size_t size, const char *name, const char *dtype,
                       const char *rows, const char *dims, int n) {
    if (*dims)
        snprintf(out, size, "%s: %s[%s, %d]", name, dtype, rows, n);
    else
        snprintf(out, size, "%s: %s[%s]", name, dtype, rows);
}

static void check_case(int number) {
    static const char *const dtypes[] = {"f32", "f32", "f32", "f64", "bf16", "f16", "i8"};
    static const char *const rows[] = {"M", "2, M", "37", "3, 5", "1", "24"};
    static const char *const starts[] = {"", " + b", " + r", " + b + r"};
    state = (uint64_t)number * 7919 + 29;
    const char *dtype = dtypes[draw(7)], *lead = rows[draw(6)], *start = starts[draw(4)];
    bool integer = strcmp(dtype, "i8") == 0, constant = draw(3) > 0;
    int k = draw_size(), n = draw_size(), ending = draw(7);
    if (number % 40 == 0) lead = "300", k = 500, n = 160; // for several threads
    if (number % 40 == 20) k = 2500;                      // a sum in parts
    while (integer && !takes_integers(ending)) ending = draw(7);
    const Ending *e = &endings[ending];
    const char *result = integer ? "i32" : dtype;
    char y[128], z[128], text[TEXT];
    put_result(y, sizeof y, "y", result, lead, e->y, n);
    put_result(z, sizeof z, ", z", result, lead, e->z ? e->z : "", n);
    snprintf(text, TEXT,
             "dim M in 0..160 tune 64\nfn f(x, v, r) {\n param w: %s[%d, %d]\n param b: %s[%d]\n"
             " return matmul(x, %s)%s\n}\n"
             "model m(x: %s[%s, %d], v: %s[%d, %d], r: %s[%s, %d]) -> (%s%s) {\n"
             " s = f(x, v, r) as \"f\"\n %s\n}\n",
             dtype, k, n, result, n, constant ? "w" : "v", start, dtype, lead, k, dtype, k, n,
             result, lead, n, y, e->z ? z : "", e->text);
    bool exact = integer || dtype[1] == '3' || dtype[1] == '6';
    every_target_check(
        text, exact ? "passes" : NULL,
        "inline,decompose,fold,steps,siblings,hoist,plan,pack,single,schedule,memory");
}

int main(int argc, char **argv) { return every_target_cases(argc, argv, check_case, CASES, SHORT); }
