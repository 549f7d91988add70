// Dims that may be negative as far as their ranges tell: `x[5:]` of a dim N in 1..9 has N - 5
// elements. The model compiles at every level, for every skeleton; its entry refuses the sizes for
// which a slice lies outside, and gives the right values for the others.
#include "tests/support/host.h"

static const char text[] =
    "dim N in 1..9\n"
    "model m(x: f32[N]) -> (cut: f32[N - 5], total: f32, long: f32[2*N - 8], last: i64[N - 5],\n"
    "                       most: f32[N - 5], product: f32[N - 5, N - 5], sums: f32[N - 5],\n"
    "                       turned: f32[N - 5, 2], taken: f32[N - 5]) {\n"
    "    cut = x[5:]\n"
    "    total = sum(x[5:] * x[:-5])\n"
    "    long = pad(concat([x[5:], x[5:]]), [1], [1], value=7.0)\n"
    "    sorted, last = sort(x[5:], descending=true)\n"
    "    most = cum_max(x[5:], 0)\n"
    "    a = reshape(x[5:], [N - 5, 1])\n"
    "    product = a @ a.T\n"
    "    sums = sum(product, axis=1)\n"
    "    turned = concat([a, a * 2.0], axis=1)\n"
    "    taken = scatter_set(x[5:], last, gather(x[5:], last))\n"
    "}\n";

enum { OUTPUTS = 9, MAX_VALUES = 16 };

typedef struct Run {
    Host host;
    float in[9], out[OUTPUTS][MAX_VALUES];
    int64_t order[MAX_VALUES];
} Run;

static tcc_status run(Run *r, int64_t n) {
    tcc_tensor x = {.size = sizeof x, .dtype = TCC_F32, .rank = 1, .data = r->in, .dims = {n}};
    tcc_tensor outs[OUTPUTS];
    for (int64_t i = 0; i < n; i++) r->in[i] = (float)(i + 1);
    for (uint32_t o = 0; o < OUTPUTS; o++) {
        tcc_port port = {.size = sizeof port};
        CHECK(r->host.api->output_port(r->host.model, o, &port) == TCC_OK);
        outs[o] = (tcc_tensor){.size = sizeof outs[o],
                               .dtype = port.dtype,
                               .rank = port.rank,
                               .data = port.dtype == TCC_I64 ? (void *)r->order : r->out[o]};
        for (uint32_t i = 0; i < port.rank; i++) {
            CHECK(port.lo[i] >= 0);
            outs[o].dims[i] = port.hi[i];
        }
        tcc_status status = r->host.api->output_dims(r->host.session, &x, 1, o, outs[o].dims);
        if (status != TCC_OK) return status;
    }
    return r->host.api->run(r->host.session, &x, 1, outs, OUTPUTS);
}

// x is 1, 2, 3, …, so that x[5:] is 6, 7, … and x[:-5] is 1, 2, ….
static void check_values(const Run *r, int n) {
    int count = n - 5;
    float total = 0, sum = 0;
    for (int i = 0; i < count; i++) {
        total += (float)((i + 6) * (i + 1));
        sum += (float)(i + 6);
    }
    CHECK_NEAR(r->out[1][0], total, 0);
    CHECK_NEAR(r->out[2][0], 7, 0);
    CHECK_NEAR(r->out[2][2 * count + 1], 7, 0);
    for (int i = 0; i < count; i++) {
        float x = (float)(i + 6);
        CHECK_NEAR(r->out[0][i], x, 0);
        CHECK_NEAR(r->out[2][1 + i], x, 0);
        CHECK_NEAR(r->out[2][1 + count + i], x, 0);
        CHECK_INT(r->order[i], count - 1 - i);
        CHECK_NEAR(r->out[4][i], x, 0);
        CHECK_NEAR(r->out[5][i * count], x * 6, 0);
        CHECK_NEAR(r->out[6][i], x * sum, 0);
        CHECK_NEAR(r->out[7][2 * i + 1], 2 * x, 0);
        CHECK_NEAR(r->out[8][i], x, 0);
    }
}

static void test_slices_are_checked_at_entry(void) {
    static const char *const levels[] = {"0", "1", "2"};
    for (int level = 0; level < 3; level++) {
        Run r;
        bool good = host_open(&r.host, text, levels[level], NULL);
        for (int n = 1; n <= 9 && good; n++) {
            tcc_status status = run(&r, n);
            CHECK_INT(status, n < 5 ? TCC_INVALID : TCC_OK);
            if (status == TCC_OK) check_values(&r, n);
            if (n >= 5) continue;
            const char *message = r.host.api->session_message(r.host.session);
            if (!CHECK(strncmp(message, "test.g:", 7) == 0)) printf("    %s\n", message);
        }
        host_close(&r.host);
    }
}

int main(void) {
    RUN(test_slices_are_checked_at_entry);
    return test_done();
}
