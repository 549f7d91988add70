// fuzz-hosts FIRST COUNT: hosts of the seeds FIRST, FIRST + 1 and so on, each in its own process.
// fuzz-hosts --print=SEED: its graph, as the text that leads to its outputs.
//
// A host builds a random graph, compiles it at some level, has it checked against the evaluator,
// and runs it on one and on three threads, which must give the same bits. In one of three its
// allocator fails, in one of six the process may have little memory. Whatever happens it has to end
// in time, with a status that fits: a host that hangs prints what its threads wait for, and stays
// for a debugger where FUZZ_STOP is set.
#include "tests/fuzz/hosts/hosts.h"

#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSOR_SECONDS = 60, CLOCK_SECONDS = 240, HANGS = 3, WRONG = 4 };

// ---- a host that hangs

static void print_file(const char *task, const char *name) {
    char path[300], text[300];
    snprintf(path, sizeof path, "/proc/self/task/%s/%s", task, name);
    FILE *file = fopen(path, "r");
    if (!file) return;
    if (fgets(text, sizeof text, file)) fprintf(stderr, "    %s %s: %s\n", task, name, text);
    fclose(file);
}

static void say_where(int number) {
    DIR *tasks = opendir("/proc/self/task");
    fprintf(stderr, "hangs: %s\n", number == SIGPROF ? "busy" : "waiting");
    for (const struct dirent *entry; tasks && (entry = readdir(tasks));) {
        if (entry->d_name[0] == '.') continue;
        print_file(entry->d_name, "wchan");
        print_file(entry->d_name, "syscall");
    }
    if (getenv("FUZZ_STOP")) pause(); // for a debugger
    _exit(HANGS);
}

static void limit_time(void) {
    signal(SIGPROF, say_where);
    signal(SIGALRM, say_where);
    struct itimerval timer = {.it_value = {.tv_sec = PROCESSOR_SECONDS}};
    setitimer(ITIMER_PROF, &timer, NULL);
    timer.it_value.tv_sec = CLOCK_SECONDS;
    setitimer(ITIMER_REAL, &timer, NULL);
}

// ---- memory

typedef struct Counted {
    atomic_long calls, held;
    long fails_at; // 0: never
    bool ever_after;
} Counted;

static void *allocate(void *user, size_t size, size_t alignment) {
    Counted *c = user;
    long n = atomic_fetch_add(&c->calls, 1) + 1;
    bool fails = c->fails_at && (c->ever_after ? n >= c->fails_at : n == c->fails_at);
    void *memory =
        fails ? NULL : aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory) atomic_fetch_add(&c->held, 1);
    return memory;
}

static void release(void *user, void *memory, size_t size) {
    Counted *c = user;
    (void)size;
    if (memory) atomic_fetch_sub(&c->held, 1);
    free(memory);
}

// A few megabytes more than there is now.
static void limit_memory(Host *h) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return;
    if (fscanf(file, "%ld", &pages) != 1) pages = 0;
    fclose(file);
    rlim_t bytes = (rlim_t)pages * 4096 + ((rlim_t)1 << 16) * (1 + pick(h, 1500));
    setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

// ---- one host

typedef struct Trial {
    Host host;
    Memory memory;
    tcc_unit *unit;
    const tcc_model_api *api;
    tcc_array *arrays[MAX_INPUTS];
    tcc_tensor inputs[MAX_INPUTS];
    uint32_t input_count;
    int64_t n;
    bool wrong;
    char why[400];
} Trial;

static void blame(Trial *t, const char *what) {
    if (t->wrong) return;
    t->wrong = true;
    snprintf(t->why, sizeof t->why, "%s: %s", what, tcc_message(t->host.compiler));
}

// Whether to go on. A lack of memory is no fault where memory is made to lack.
static bool fine(Trial *t, tcc_status status, const char *what) {
    bool lacks = status == TCC_MEMORY || status == TCC_ENVIRONMENT;
    if (status == TCC_OK) return true;
    if (status == TCC_INTERNAL || !(lacks && t->memory != MEMORY_plain)) blame(t, what);
    return false;
}

// The same where the sizes may not fit the model, which is told when it is entered.
static bool fits(Trial *t, tcc_status status, const char *what) {
    return status != TCC_INVALID && fine(t, status, what);
}

static void note_result(void *user, const tcc_check_result *result) {
    Trial *t = user;
    if (result->mismatches > 0) blame(t, result->output);
}

static bool make_inputs(Trial *t, tcc_model *model) {
    t->input_count = t->api->input_count(model);
    for (uint32_t i = 0; i < t->input_count; i++) {
        tcc_port port = {.size = sizeof port};
        int64_t dims[TCC_MAX_RANK];
        if (!fine(t, t->api->input_port(model, i, &port), "input_port")) return false;
        for (uint32_t a = 0; a < port.rank; a++) dims[a] = port.dims[a] < 0 ? t->n : port.dims[a];
        tcc_status made =
            tcc_array_new(t->host.compiler, port.dtype, port.rank, dims, &t->arrays[i]);
        if (!fine(t, made, "tcc_array_new")) return false;
        tcc_array_fill_random(t->arrays[i], i + 1);
        t->inputs[i] = *tcc_array_tensor(t->arrays[i]);
    }
    return true;
}

// The sum over the bytes of all outputs, in their order.
static bool run(Trial *t, int threads, uint64_t *out_sum) {
    tcc_open_options options = {.size = sizeof options, .threads = threads};
    tcc_model *model = NULL;
    tcc_session *session = NULL;
    tcc_array *arrays[3] = {0};
    tcc_tensor outputs[3];
    bool good = fine(t, tcc_unit_open(t->unit, &options, &t->api, &model), "tcc_unit_open") &&
                (t->input_count > 0 || make_inputs(t, model)) &&
                fine(t, t->api->session_new(model, &session), "session_new");
    uint32_t count = good ? t->api->output_count(model) : 0;
    for (uint32_t i = 0; i < count && good; i++) {
        tcc_port port = {.size = sizeof port};
        int64_t dims[TCC_MAX_RANK];
        good = fine(t, t->api->output_port(model, i, &port), "output_port") &&
               fits(t, t->api->output_dims(session, t->inputs, t->input_count, i, dims),
                    "output_dims") &&
               fine(t, tcc_array_new(t->host.compiler, port.dtype, port.rank, dims, &arrays[i]),
                    "tcc_array_new");
        if (good) outputs[i] = *tcc_array_tensor(arrays[i]);
    }
    good = good && fine(t, t->api->run(session, t->inputs, t->input_count, outputs, count), "run");
    *out_sum = 14695981039346656037u;
    for (uint32_t i = 0; i < count && good; i++) {
        const tcc_tensor *o = &outputs[i];
        size_t size = o->dtype == TCC_F32 || o->dtype == TCC_I32 ? 4
                      : o->dtype == TCC_I64                      ? 8
                      : o->dtype == TCC_F16                      ? 2
                                                                 : 1;
        for (uint32_t a = 0; a < o->rank; a++) size *= (size_t)o->dims[a];
        for (size_t b = 0; b < size; b++)
            *out_sum = (*out_sum ^ ((const unsigned char *)o->data)[b]) * 1099511628211u;
    }
    for (int i = 0; i < 3; i++) tcc_array_free(arrays[i]);
    if (session) t->api->session_free(session);
    if (model) t->api->close(model);
    return good;
}

static void compile_and_run(Trial *t) {
    static const char *const levels[] = {"0", "1", "2", "3"};
    Host *h = &t->host;
    uint64_t one, three;
    if (!fine(t, tcc_set_option(h->compiler, "O", levels[pick(h, 4)]), "tcc_set_option")) return;
    tcc_status status = tcc_compile_graph(h->compiler, h->graph, &t->unit);
    // What a graph may not hold yet, or what contradicts itself.
    if (status == TCC_INVALID || !fine(t, status, "tcc_compile_graph")) return;
    if (!run(t, 1, &one)) return;
    status = tcc_unit_check(t->unit, t->inputs, t->input_count, note_result, t);
    if (status != TCC_MISMATCH && !fine(t, status, "tcc_unit_check")) return;
    if (run(t, 3, &three) && one != three) blame(t, "three threads give other bits");
}

static void free_trial(Trial *t) {
    for (uint32_t i = 0; i < MAX_INPUTS; i++) tcc_array_free(t->arrays[i]);
    tcc_unit_free(t->unit);
    tcc_graph_free(t->host.graph);
    tcc_compiler_free(t->host.compiler);
}

static int run_seed(uint64_t seed) {
    Trial t = {.host = {.state = seed * 7919 + 1}};
    Host *h = &t.host;
    Counted counted = {0};
    tcc_allocator own = {sizeof own, allocate, release, &counted};
    tcc_compiler_options options = {.size = sizeof options, .allocator = &own};
    limit_time();
    uint32_t how = pick(h, 6);
    t.memory = how < 2 ? MEMORY_fails : how == 2 ? MEMORY_limited : MEMORY_plain;
    if (t.memory == MEMORY_fails) {
        counted.fails_at = 1 + pick(h, pick(h, 2) ? 100 : 3000);
        counted.ever_after = pick(h, 2);
    }
    if (t.memory == MEMORY_limited) limit_memory(h);
    if (tcc_compiler_new_with(&options, &h->compiler) == TCC_OK &&
        tcc_graph_new(h->compiler, "host", &h->graph) == TCC_OK) {
        build(h);
        t.n = 1 + pick(h, 9);
        while (tcc_graph_depth(h->graph) > 0) tcc_graph_abandon(h->graph);
        if (h->outputs > 0) compile_and_run(&t);
    }
    if (t.wrong) fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, t.why);
    free_trial(&t);
    long held = atomic_load(&counted.held);
    if (held != 0) fprintf(stderr, "seed %llu leaks %ld blocks\n", (unsigned long long)seed, held);
    return t.wrong || held != 0 ? WRONG : 0;
}

static bool judge(uint64_t seed, int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    if (WIFSIGNALED(status))
        fprintf(stderr, "seed %llu ends with signal %d\n", (unsigned long long)seed,
                WTERMSIG(status));
    printf("FAILED seed %llu\n", (unsigned long long)seed);
    return false;
}

// The graph of a seed, as text.
static int print_seed(uint64_t seed) {
    Host h = {.state = seed * 7919 + 1};
    uint32_t how = pick(&h, 6);
    const char *text;
    size_t size;
    if (how < 2) {
        pick(&h, pick(&h, 2) ? 100 : 3000);
        pick(&h, 2);
    } else if (how == 2) {
        pick(&h, 1500);
    }
    if (tcc_compiler_new(&h.compiler) == TCC_OK &&
        tcc_graph_new(h.compiler, "host", &h.graph) == TCC_OK) {
        build(&h);
        while (tcc_graph_depth(h.graph) > 0) tcc_graph_abandon(h.graph);
        if (tcc_graph_text(h.graph, &text, &size) == TCC_OK) fwrite(text, 1, size, stdout);
    }
    tcc_graph_free(h.graph);
    tcc_compiler_free(h.compiler);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && strncmp(argv[1], "--print=", 8) == 0)
        return print_seed(strtoull(argv[1] + 8, NULL, 10));
    if (argc < 3) {
        fprintf(stderr, "usage: fuzz-hosts FIRST COUNT | --print=SEED\n");
        return 2;
    }
    uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
    long failures = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        int status = 0;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) _exit(run_seed(seed));
        if (child < 0 || waitpid(child, &status, 0) < 0) return 1;
        failures += !judge(seed, status);
    }
    printf("%llu hosts, %ld failed\n", (unsigned long long)count, failures);
    return failures > 0;
}
