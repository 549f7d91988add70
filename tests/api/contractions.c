// Contractions of every kind: dtypes × sizes × orders of the operands × constant or not ×
// prologues × epilogues × batches × dims that vary, drawn with a fixed seed. Each is compiled for
// every CPU target that this machine executes, compared with the evaluator within the derived
// tolerance, and gives the same bits for every target, in every run and on 1, 2 and 7 threads. The
// short form takes a tenth.
#include "tests/support/every_target.h"

enum { CASES = 600, SHORT = 10, TEXT = 2048 };

// ---- cases --------------------------------------------------------------------------------------

static uint64_t state;

static int draw(int count) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)count);
}

static int draw_size(bool large) {
    static const int sizes[] = {1,  1,  2,  3,  5,  6,  7,  8,  13, 16, 17,  24,  31,
                                32, 47, 48, 49, 61, 64, 65, 67, 96, 97, 127, 129, 0};
    static const int sums[] = {64, 128, 130, 257, 600, 2304, 4999};
    return large ? sums[draw(7)] : sizes[draw(26)];
}

typedef struct Case {
    char text[TEXT];
} Case;

// "2, M, 64": the batch where there is one; a size of -1 is the dim that varies.
static void put_dims(char *out, size_t size, int batch, int rows, int columns) {
    const int dims[] = {batch, rows, columns};
    size_t at = 0;
    for (int i = batch == 0; i < 3; i++) {
        const char *comma = at > 0 ? ", " : "";
        int length = dims[i] < 0 ? snprintf(out + at, size - at, "%sM", comma)
                                 : snprintf(out + at, size - at, "%s%d", comma, dims[i]);
        at += (size_t)length;
    }
}

// One of the operands or the result: its dims and its labels, which may stand the other way round.
typedef struct Side {
    char dims[64], labels[8];
} Side;

static Side make_side(int batch, bool turned, int rows, int columns, const char *labels) {
    Side side;
    put_dims(side.dims, sizeof side.dims, batch, turned ? columns : rows, turned ? rows : columns);
    snprintf(side.labels, sizeof side.labels, "%s%c%c", batch ? "b" : "", labels[turned],
             labels[!turned]);
    return side;
}

static Case make_case(int number) {
    static const char *const dtypes[] = {"f32", "f32", "f32", "f32", "bf16",
                                         "f16", "f64", "i8",  "i32"};
    static const char *const endings[] = {"s", "relu(s + s)", "s * s + s", "s - s * s", "tanh(s)"};
    Case c = {.text = ""};
    state = (uint64_t)number * 7919 + 17;
    const char *dtype = dtypes[draw(9)];
    bool integer = dtype[0] == 'i', constant = draw(2), computed = draw(4) == 0,
         varies = draw(4) == 0;
    int m = varies ? -1 : draw_size(false), n = draw_size(false), k = draw_size(draw(6) == 0);
    if (number % 60 == 0) m = 205, n = 330, k = 600 + number; // work for several threads
    int batch = draw(4) == 0 ? 1 + draw(3) : 0;
    Side a = make_side(draw(3) > 0 || constant ? batch : 0, draw(3) == 0, m, k, "mk");
    Side b = make_side(a.labels[0] != 'b' || (draw(2) && !constant) ? batch : 0, draw(3) == 0, k, n,
                       "kn");
    Side y = make_side(batch, draw(8) == 0, m, n, "mn");
    const char *ending = endings[draw(integer ? 4 : 5)], *left = computed ? "x + x * x" : "x";
    char sum[128], head[512];
    snprintf(sum, sizeof sum, "einsum(\"%s,%s->%s\", %s, w)", a.labels, b.labels, y.labels, left);
    if (constant)
        snprintf(head, sizeof head,
                 "fn f(x) {\n param w: %s[%s]\n return %s\n}\nmodel m(x: %s[%s])", dtype, b.dims,
                 sum, dtype, a.dims);
    else
        snprintf(head, sizeof head, "model m(x: %s[%s], w: %s[%s])", dtype, a.dims, dtype, b.dims);
    snprintf(c.text, TEXT, "%s%s -> (y: %s[%s]) {\n s = %s\n y = %s\n}\n",
             varies ? "dim M in 0..160 tune 64\n" : "", head, integer ? "i32" : dtype, y.dims,
             constant ? "f(x) as \"f\"" : sum, ending);
    return c;
}

static void check_case(int number) {
    Case c = make_case(number);
    every_target_check(c.text, NULL, NULL);
}

int main(int argc, char **argv) { return every_target_cases(argc, argv, check_case, CASES, SHORT); }
