// A host whose address space ends (ulimit -v) somewhere in a compilation, in LLVM too: the call
// fails with TCC_MEMORY, and where the limit is lifted the same host compiles and runs.
#include "tests/support/host.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEP = 1 << 20, MOST_STEPS = 100, GOOD = 10, LACKED = 11, WRONG = 12 };

static const char text[] = "dim N in 1..64\n"
                           "model m(x: f32[N, 4], w: f32[4, 8]) -> (y, i) {\n"
                           "    y, i = sort(softmax(relu(x @ w)) + sum(x))\n"
                           "}\n";

static size_t address_space(void) {
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%zu", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return pages * 4096;
}

static void limit(rlim_t bytes) {
    struct rlimit now;
    getrlimit(RLIMIT_AS, &now);
    setrlimit(RLIMIT_AS, &(struct rlimit){bytes, now.rlim_max});
}

// Ones times ones: all of a row are 1/8, to which the sum of x, 8, is added.
static bool right(const tcc_model_api *api, tcc_session *session) {
    float x[8], w[32], y[16] = {0};
    int64_t i[16];
    for (int k = 0; k < 8; k++) x[k] = 1;
    for (int k = 0; k < 32; k++) w[k] = 1;
    tcc_tensor inputs[] = {host_matrix(x, 2, 4), host_matrix(w, 4, 8)};
    tcc_tensor outputs[] = {host_matrix(y, 2, 8), host_matrix(i, 2, 8)};
    outputs[1].dtype = TCC_I64;
    if (api->run(session, inputs, 2, outputs, 2) != TCC_OK) return false;
    return y[0] == 8.125f && y[15] == 8.125f && i[15] == 7;
}

// A new compiler's whole life. TCC_INTERNAL where the numbers are wrong.
static tcc_status live(void) {
    Host h = {0};
    tcc_open_options options = {.size = sizeof options, .threads = 1};
    tcc_status status = tcc_compiler_new(&h.compiler);
    if (status == TCC_OK) status = tcc_set_option(h.compiler, "threads", "2");
    if (status == TCC_OK)
        status = tcc_compile_memory(h.compiler, "test.g", text, strlen(text), &h.unit);
    if (status == TCC_OK) status = tcc_unit_open(h.unit, &options, &h.api, &h.model);
    if (status == TCC_OK) status = h.api->session_new(h.model, &h.session);
    if (status == TCC_OK && !right(h.api, h.session)) status = TCC_INTERNAL;
    if (status != TCC_OK && status != TCC_MEMORY)
        fprintf(stderr, "status %d: %s\n", status, h.compiler ? tcc_message(h.compiler) : "");
    host_close(&h);
    return status;
}

static int child(size_t more) {
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    limit(address_space() + more);
    tcc_status status = live();
    limit(RLIM_INFINITY);
    if (status != TCC_OK && status != TCC_MEMORY) return WRONG;
    return live() != TCC_OK ? WRONG : status == TCC_OK ? GOOD : LACKED;
}

// How a child with `more` bytes of address space ended: GOOD, LACKED, or what is wrong.
static int try_with(size_t more) {
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) _exit(child(more));
    if (!CHECK(waitpid(pid, &status, 0) == pid)) return WRONG;
    bool good = WIFEXITED(status) && (WEXITSTATUS(status) == GOOD || WEXITSTATUS(status) == LACKED);
    if (!CHECK(good)) printf("    with %zu bytes more: wait status %#x\n", more, (unsigned)status);
    return WIFEXITED(status) ? WEXITSTATUS(status) : WRONG;
}

// From nothing until there is enough, several times in a row.
static void test_every_limit(void) {
    size_t step = test_long() ? STEP / 10 : STEP;
    int lacked = 0, enough = 0;
    for (size_t k = 0; k < MOST_STEPS * (STEP / step) && enough < 10; k++) {
        int how = try_with(k * step);
        lacked += how == LACKED;
        enough = how == GOOD ? enough + 1 : 0;
    }
    CHECK(lacked > 20);
    CHECK_INT(enough, 10);
}

int main(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return test_skip("sanitizers take address space of their own");
#else
    RUN(test_every_limit);
    return test_done();
#endif
}
