// Softmax, and mean and variance, over every set of axes of tensors whose inner rows are odd: what
// is computed once and read again lies in rows of the kernel's own memory, which begin anywhere.
// Compiled at every level for both vector widths and compared with the evaluator.
#include "tests/support/host.h"

enum { AXES = 3, TEXT = 1024, SHAPES = 8 };

static const int64_t shapes[SHAPES][AXES] = {{20, 5, 25}, {3, 7, 9},  {4, 2, 33},  {17, 3, 5},
                                             {2, 9, 63},  {6, 13, 1}, {11, 1, 19}, {5, 5, 127}};

static const char *const bodies[] = {
    // %1$s: the axes, %2$s: the shape
    "    e = exp(x - max(x, axis=[%1$s], keep=true))\n"
    "    y = e / sum(e, axis=[%1$s], keep=true)\n",
    "    d = x - mean(x, axis=[%1$s], keep=true)\n"
    "    y = d / sqrt(mean(d * d, axis=[%1$s], keep=true) + 0.001)\n",
    "    e = sin(x) + x * x\n"
    "    y = e - sum(e * tanh(x), axis=[%1$s], keep=true) * e\n",
};
enum { BODIES = sizeof bodies / sizeof *bodies };

static void put_axes(unsigned set, char *text, size_t size) {
    int at = 0;
    for (int axis = 0; axis < AXES; axis++)
        if (set >> axis & 1)
            at += snprintf(text + at, size - (size_t)at, "%s%d", at ? ", " : "", axis);
}

static void put_model(const char *body, const int64_t *dims, unsigned set, char *text) {
    char axes[16], shape[64];
    int at = 0;
    put_axes(set, axes, sizeof axes);
    snprintf(shape, sizeof shape, "f32[%d, %d, %d]", (int)dims[0], (int)dims[1], (int)dims[2]);
    at = snprintf(text, TEXT, "model m(x: %s) -> (y: %s) {\n", shape, shape);
    at += snprintf(text + at, TEXT - (size_t)at, body, axes);
    snprintf(text + at, TEXT - (size_t)at, "}\n");
}

static void check_model(const char *text, const int64_t *dims, const char *level,
                        const char *target) {
    tcc_compiler *compiler = NULL;
    tcc_unit *unit = NULL;
    tcc_array *x = NULL;
    bool good = tcc_compiler_new(&compiler) == TCC_OK &&
                tcc_set_option(compiler, "O", level) == TCC_OK &&
                tcc_set_option(compiler, "target", target) == TCC_OK &&
                tcc_compile_memory(compiler, "test.g", text, strlen(text), &unit) == TCC_OK &&
                tcc_array_new(compiler, TCC_F32, AXES, dims, &x) == TCC_OK;
    if (good) {
        tcc_array_fill_random(x, 7);
        good = tcc_unit_check(unit, tcc_array_tensor(x), 1, NULL, NULL) == TCC_OK;
    }
    if (!CHECK(good)) printf("    -O%s %s: %s\n%s", level, target, tcc_message(compiler), text);
    tcc_array_free(x);
    tcc_unit_free(unit);
    tcc_compiler_free(compiler);
}

static void test_every_set_of_axes(void) {
    static const char *const targets[] = {"x86-64-v3", "native"};
    char text[TEXT];
    unsigned number = 0;
    for (int s = 0; s < SHAPES; s++) {
        for (unsigned set = 1; set < 1u << AXES; set++) {
            for (int b = 0; b < BODIES; b++, number++) {
                put_model(bodies[b], shapes[s], set, text);
                bool both = test_long();
                if (both || number % 2 == 0) check_model(text, shapes[s], "2", targets[0]);
                if (both || number % 2 == 1) check_model(text, shapes[s], "2", targets[1]);
                if (both) check_model(text, shapes[s], "1", targets[number % 2]);
            }
        }
    }
}

int main(void) {
    RUN(test_every_set_of_axes);
    return test_done();
}
