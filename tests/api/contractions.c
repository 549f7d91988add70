// Contractions of every kind: dtypes × sizes × orders of the operands × constant or not ×
// prologues × epilogues × batches × dims that vary, drawn with a fixed seed. Each is compiled for
// every CPU target that this machine executes, compared with the evaluator within the derived
// tolerance, and gives the same bits for every target, in every run and on 1, 2 and 7 threads. The
// short form takes a tenth.
#include "tests/support/host.h"

enum { CASES = 600, SHORT = 10, TEXT = 2048, MOST_BYTES = 1 << 22 };

static const char *const targets[] = {"x86-64-v3", "x86-64-v4", "x86-64-v4+vnni"};
enum { TARGETS = sizeof targets / sizeof *targets };

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

// ---- runs ---------------------------------------------------------------------------------------

typedef struct Result {
    size_t bytes;
    char *data;
} Result;

static void judge(void *user, const tcc_check_result *r) {
    if (!CHECK(r->mismatches == 0))
        printf("    %s: %s element %llu is %.9g, expected %.9g within %g\n    %s", r->kernel,
               r->output, (unsigned long long)r->first_index, r->got, r->expected, r->tolerance,
               (const char *)user);
}

static size_t bytes_of(const tcc_tensor *t) {
    size_t bytes = t->dtype == TCC_F64 ? 8 : t->dtype == TCC_F16 || t->dtype == TCC_BF16 ? 2 : 4;
    for (uint32_t i = 0; i < t->rank; i++) bytes *= (size_t)t->dims[i];
    return bytes;
}

// The model's result on so many threads.
static Result run_once(Host *h, int32_t threads, const tcc_tensor *inputs, uint32_t count) {
    tcc_open_options options = {.size = sizeof options, .threads = threads};
    tcc_tensor y = {.size = sizeof y};
    tcc_port port = {.size = sizeof port};
    Result r = {0};
    if (!host_start(h, &options)) return r;
    CHECK_INT(h->api->output_port(h->model, 0, &port), TCC_OK);
    y.dtype = port.dtype;
    y.rank = port.rank;
    CHECK_INT(h->api->output_dims(h->session, inputs, count, 0, y.dims), TCC_OK);
    r.bytes = bytes_of(&y);
    y.data = r.data = calloc(r.bytes + 1, 1);
    if (!CHECK_INT(h->api->run(h->session, inputs, count, &y, 1), TCC_OK))
        printf("    %s\n", h->api->session_message(h->session));
    h->api->session_free(h->session);
    h->api->close(h->model);
    h->session = NULL;
    h->model = NULL;
    return r;
}

static void check_same(const Result *first, Result *other, const Case *c, const char *what) {
    bool same = first->bytes == other->bytes && first->data && other->data &&
                memcmp(first->data, other->data, first->bytes) == 0;
    if (!CHECK(same)) printf("    other bits %s:\n%s", what, c->text);
    free(other->data);
}

static uint32_t make_inputs(Host *h, const Case *c, tcc_array **arrays, tcc_tensor *inputs) {
    const tcc_model_api *api;
    tcc_model *model;
    if (!CHECK_INT(tcc_unit_open(h->unit, NULL, &api, &model), TCC_OK)) return 0;
    uint32_t count = api->input_count(model);
    for (uint32_t i = 0; i < count; i++) {
        tcc_port port = {.size = sizeof port};
        int64_t dims[TCC_MAX_RANK];
        CHECK_INT(api->input_port(model, i, &port), TCC_OK);
        for (uint32_t k = 0; k < port.rank; k++)
            dims[k] = port.dims[k] < 0 ? (int64_t)(strlen(c->text) * 7 % 131) : port.dims[k];
        CHECK_INT(tcc_array_new(h->compiler, port.dtype, port.rank, dims, &arrays[i]), TCC_OK);
        tcc_array_fill_random(arrays[i], i + 1);
        inputs[i] = *tcc_array_tensor(arrays[i]);
    }
    api->close(model);
    return count;
}

static bool compile(Host *h, const Case *c, const char *target) {
    *h = (Host){0};
    bool good =
        tcc_compiler_new(&h->compiler) == TCC_OK &&
        tcc_set_option(h->compiler, "target", target) == TCC_OK &&
        tcc_set_option(h->compiler, "params", "random:1") == TCC_OK &&
        tcc_compile_memory(h->compiler, "case.g", c->text, strlen(c->text), &h->unit) == TCC_OK;
    if (!CHECK(good)) printf("    %s\n%s", tcc_message(h->compiler), c->text);
    return good;
}

static bool executes(const char *target) {
    if (strcmp(target, "x86-64-v3") == 0) return true;
    if (strcmp(target, "x86-64-v4") == 0) return __builtin_cpu_supports("avx512vl");
    return __builtin_cpu_supports("avx512vnni");
}

static void check_case(int number) {
    static const int32_t threads[] = {1, 1, 2, 7};
    Case c = make_case(number);
    Result first = {0};
    for (int t = 0; t < TARGETS; t++) {
        Host h;
        tcc_array *arrays[2] = {0};
        tcc_tensor inputs[2];
        if (!executes(targets[t])) continue;
        if (compile(&h, &c, targets[t])) {
            uint32_t count = make_inputs(&h, &c, arrays, inputs);
            if (!CHECK_INT(tcc_unit_check(h.unit, inputs, count, judge, c.text), TCC_OK))
                printf("    %s: %s\n%s", targets[t], tcc_message(h.compiler), c.text);
            for (int i = 0; i < 4; i++) {
                Result r = run_once(&h, threads[i], inputs, count);
                if (first.data == NULL)
                    first = r;
                else
                    check_same(&first, &r, &c, targets[t]);
            }
            for (uint32_t i = 0; i < count; i++) tcc_array_free(arrays[i]);
        }
        host_close(&h);
    }
    free(first.data);
}

static void test_cases(void) {
    int step = test_long() ? 1 : SHORT;
    for (int i = 0; i < CASES; i += step) check_case(i);
}

int main(int argc, char **argv) {
    if (argc > 1) {
        check_case(atoi(argv[1]));
        return test_done();
    }
    RUN(test_cases);
    return test_done();
}
