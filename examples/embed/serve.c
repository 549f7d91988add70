/* A server without a network: loads several model.so files once and runs jobs on them from a pool
 * of threads. Models are shared by all threads; each thread has a session of its own of each model
 * that it has met.
 *
 *     serve THREADS JOBS MODEL.so...
 *
 * Models take one vector of f32 and give f32. Job j goes to model j modulo their number, with
 * 1 + j % 100 numbers, and prints the sum of its results. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tcc/model.h>

enum { MAX_MODELS = 16, MAX_THREADS = 64, MAX_INPUT = 100, MAX_OUTPUT = 1000 };

typedef struct Loaded {
    void *library;
    const tcc_model_api *api;
    tcc_model *model;
} Loaded;

typedef struct Server {
    Loaded models[MAX_MODELS];
    int model_count, job_count;
    atomic_int next_job, failures;
    double *sums; /* by job: each is written by the thread that has the job */
} Server;

/* ---- models ---------------------------------------------------------------------------------- */

static int load(Loaded *loaded, const char *path) {
    char message[256] = "it is no model.so";
    tcc_model_get_api_function *get;
    /* One thread a run: the pool has the cores busy already. */
    tcc_open_options options = {.size = sizeof options, .threads = 1};
    loaded->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = loaded->library ? dlsym(loaded->library, TCC_MODEL_GET_API) : NULL;
    if (symbol == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 0;
    }
    memcpy(&get, &symbol, sizeof get);
    loaded->api = get(TCC_MODEL_API_VERSION);
    if (loaded->api != NULL &&
        loaded->api->open(&options, &loaded->model, message, sizeof message) == TCC_OK)
        return 1;
    fprintf(stderr, "%s: %s\n", path, message);
    return 0;
}

static void unload(Server *server) {
    for (int i = 0; i < server->model_count; i++) {
        Loaded *loaded = &server->models[i];
        if (loaded->model != NULL) loaded->api->close(loaded->model);
        if (loaded->library != NULL) dlclose(loaded->library);
    }
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static tcc_tensor vector(float *data, int64_t count) {
    return (tcc_tensor){
        .size = sizeof(tcc_tensor), .dtype = TCC_F32, .rank = 1, .data = data, .dims = {count}};
}

static tcc_status run(const Loaded *loaded, tcc_session *session, int job, double *sum) {
    float in[MAX_INPUT], out[MAX_OUTPUT];
    int64_t count = 1 + job % MAX_INPUT, elements = 1;
    tcc_port port = {.size = sizeof port};
    for (int64_t i = 0; i < count; i++) in[i] = (float)((i * 7 + job) % 11) - 5;
    tcc_tensor input = vector(in, count), output = vector(out, 0);
    loaded->api->output_port(loaded->model, 0, &port);
    tcc_status status = loaded->api->output_dims(session, &input, 1, 0, output.dims);
    output.rank = port.rank;
    for (uint32_t i = 0; i < port.rank; i++) elements *= output.dims[i];
    if (status == TCC_OK && elements > MAX_OUTPUT) status = TCC_INVALID;
    if (status == TCC_OK) status = loaded->api->run(session, &input, 1, &output, 1);
    *sum = 0;
    for (int64_t i = 0; status == TCC_OK && i < elements; i++) *sum += (double)out[i];
    return status;
}

static void do_job(Server *server, tcc_session **sessions, int job) {
    int which = job % server->model_count;
    const Loaded *loaded = &server->models[which];
    tcc_status status = TCC_OK;
    if (sessions[which] == NULL) status = loaded->api->session_new(loaded->model, &sessions[which]);
    if (status == TCC_OK) status = run(loaded, sessions[which], job, &server->sums[job]);
    if (status != TCC_OK) atomic_fetch_add(&server->failures, 1);
}

static void *work(void *data) {
    Server *server = data;
    tcc_session *sessions[MAX_MODELS] = {NULL};
    for (;;) {
        int job = atomic_fetch_add(&server->next_job, 1);
        if (job >= server->job_count) break;
        do_job(server, sessions, job);
    }
    for (int i = 0; i < server->model_count; i++)
        if (sessions[i] != NULL) server->models[i].api->session_free(sessions[i]);
    return NULL;
}

static int serve(Server *server, int thread_count) {
    pthread_t threads[MAX_THREADS];
    int started = 0;
    while (started < thread_count && pthread_create(&threads[started], NULL, work, server) == 0)
        started++;
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
    return started > 0 && atomic_load(&server->failures) == 0;
}

int main(int argc, char **argv) {
    Server server = {.model_count = argc - 3};
    int threads = argc > 1 ? atoi(argv[1]) : 0, good = 1;
    server.job_count = argc > 2 ? atoi(argv[2]) : 0;
    if (threads < 1 || threads > MAX_THREADS || server.job_count < 1 || server.model_count < 1 ||
        server.model_count > MAX_MODELS) {
        fprintf(stderr, "usage: serve THREADS JOBS MODEL.so...\n");
        return 2;
    }
    for (int i = 0; i < server.model_count && good; i++)
        good = load(&server.models[i], argv[i + 3]);
    server.sums = calloc((size_t)server.job_count, sizeof *server.sums);
    good = good && server.sums != NULL && serve(&server, threads);
    for (int job = 0; good && job < server.job_count; job++)
        printf("%d %.10g\n", job, server.sums[job]);
    if (!good) fprintf(stderr, "serve: %d jobs failed\n", atomic_load(&server.failures));
    free(server.sums);
    unload(&server);
    return good ? 0 : 1;
}
