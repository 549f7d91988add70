/* classify: reads handwritten digits with a compiled model.
 *
 *     classify MODEL.so IMAGES.npy LABELS.npy [EXPECTED.npy]
 *
 * A host program: it needs model.h alone, loads the model by dlopen and runs it on buffers of its
 * own, in batches and image by image. Prints the accuracy, how far the probabilities are from
 * EXPECTED, and the latency. The exit status is 1 when less than 97 % of the digits are read right
 * or a probability is off by more than 1e-4, 2 for a wrong command line, and 3 when something could
 * not be read or run. */
#include "npy.h"

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tcc/model.h>

enum { SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 10, BATCH_RUNS = 100 };

static const double MIN_ACCURACY = 0.97, MAX_DIFFERENCE = 1e-4;

/* The images, what they show, and what the model makes of them. */
typedef struct Digits {
    Npy images, labels, expected;
    int64_t count;
    float *probs; /* [count, CLASSES] */
} Digits;

typedef struct Model {
    const tcc_model_api *api;
    tcc_model *model;
    tcc_session *session;
    int64_t max_batch;
} Model;

static bool fail(const char *what, const char *why) {
    fprintf(stderr, "classify: %s: %s\n", what, why);
    return false;
}

/* ---- the model ------------------------------------------------------------------------------- */

static bool load_api(Model *m, const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return fail(path, dlerror());
    void *symbol = dlsym(library, TCC_MODEL_GET_API);
    if (!symbol) return fail(path, "is not a model");
    tcc_model_get_api_function *get_api;
    memcpy(&get_api, &symbol, sizeof get_api); /* ISO C has no cast from data to function */
    m->api = get_api(TCC_MODEL_API_VERSION);
    return m->api || fail(path, "is of another version");
}

/* The model must take images [N, 1, 8, 8] and give probabilities [N, 10], both f32. */
static bool check_interface(Model *m, const char *path) {
    tcc_port in = {.size = sizeof in}, out = {.size = sizeof out};
    if (m->api->input_count(m->model) != 1 || m->api->output_count(m->model) != 1 ||
        m->api->input_port(m->model, 0, &in) != TCC_OK ||
        m->api->output_port(m->model, 0, &out) != TCC_OK)
        return fail(path, "does not have one input and one output");
    bool fits = in.dtype == TCC_F32 && in.rank == 4 && in.dims[1] == 1 && in.dims[2] == SIDE &&
                in.dims[3] == SIDE && out.dtype == TCC_F32 && out.rank == 2 &&
                out.dims[1] == CLASSES;
    m->max_batch = in.dims[0] < 0 ? in.hi[0] : in.dims[0];
    return fits || fail(path, "is not a model of digits");
}

static bool open_model(Model *m, const char *path) {
    char message[256] = "";
    if (!load_api(m, path)) return false;
    if (m->api->open(NULL, &m->model, message, sizeof message) != TCC_OK)
        return fail(path, message);
    if (!check_interface(m, path)) return false;
    return m->api->session_new(m->model, &m->session) == TCC_OK || fail(path, "out of memory");
}

static void close_model(Model *m) {
    if (m->session) m->api->session_free(m->session);
    if (m->model) m->api->close(m->model);
}

/* Runs images first..first+count-1 into their place among the probabilities. */
static bool run_images(const Model *m, const Digits *d, int64_t first, int64_t count) {
    tcc_tensor image = {.size = sizeof image,
                        .dtype = TCC_F32,
                        .rank = 4,
                        .data = (float *)d->images.data + first * PIXELS,
                        .dims = {count, 1, SIDE, SIDE}};
    tcc_tensor probs = {.size = sizeof probs,
                        .dtype = TCC_F32,
                        .rank = 2,
                        .data = d->probs + first * CLASSES,
                        .dims = {count, CLASSES}};
    return m->api->run(m->session, &image, 1, &probs, 1) == TCC_OK ||
           fail("run", m->api->session_message(m->session));
}

/* ---- the data -------------------------------------------------------------------------------- */

static bool read_array(const char *path, const char *descr, int64_t size, Npy *out_array) {
    const char *wrong = npy_read(path, descr, size, out_array);
    return !wrong || fail(path, wrong);
}

static bool read_digits(Digits *d, char **paths, int path_count) {
    if (!read_array(paths[0], "<f4", sizeof(float), &d->images) ||
        !read_array(paths[1], "<i8", sizeof(int64_t), &d->labels))
        return false;
    d->count = d->labels.count;
    if (d->count == 0 || d->images.count != d->count * PIXELS)
        return fail(paths[0], "is not as many 8x8 images as there are labels");
    if (path_count > 2 && !read_array(paths[2], "<f4", sizeof(float), &d->expected)) return false;
    if (d->expected.data && d->expected.count != d->count * CLASSES)
        return fail(paths[2], "is not ten probabilities an image");
    d->probs = malloc((size_t)d->count * CLASSES * sizeof *d->probs);
    return d->probs || fail("the probabilities", "do not fit in memory");
}

static void free_digits(Digits *d) {
    npy_free(&d->images);
    npy_free(&d->labels);
    npy_free(&d->expected);
    free(d->probs);
}

/* ---- accuracy -------------------------------------------------------------------------------- */

static int best_class(const float *probs) {
    int best = 0;
    for (int i = 1; i < CLASSES; i++)
        if (probs[i] > probs[best]) best = i;
    return best;
}

static bool is_accurate(const Digits *d) {
    const int64_t *labels = d->labels.data;
    int64_t right = 0;
    for (int64_t i = 0; i < d->count; i++) right += best_class(d->probs + i * CLASSES) == labels[i];
    double accuracy = (double)right / (double)d->count;
    printf("accuracy: %.2f %% (%lld of %lld digits)\n", 100 * accuracy, (long long)right,
           (long long)d->count);
    return accuracy >= MIN_ACCURACY;
}

/* What is not a number differs from everything. */
static bool is_expected(const Digits *d) {
    if (!d->expected.data) return true;
    const float *expected = d->expected.data;
    double largest = 0;
    for (int64_t i = 0; i < d->expected.count; i++) {
        double difference = fabs((double)d->probs[i] - (double)expected[i]);
        if (isnan(difference)) difference = INFINITY;
        if (difference > largest) largest = difference;
    }
    printf("largest difference from the expected probabilities: %.2g\n", largest);
    return largest <= MAX_DIFFERENCE;
}

/* ---- latency --------------------------------------------------------------------------------- */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare_times(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median time of `runs` runs of `batch` images each, which go through all images in turn;
 * negative when one failed. */
static double median_time(const Model *m, const Digits *d, int64_t batch, int64_t runs) {
    double *times = malloc((size_t)runs * sizeof *times), median = -1;
    int64_t batches = d->count / batch, done = 0;
    for (; times && done < runs; done++) {
        double start = now();
        if (!run_images(m, d, done % batches * batch, batch)) break;
        times[done] = now() - start;
    }
    if (times && done == runs) {
        qsort(times, (size_t)runs, sizeof *times, compare_times);
        median = times[runs / 2];
    }
    free(times);
    return median;
}

static bool print_latency(const Model *m, const Digits *d) {
    int64_t batch = m->max_batch < d->count ? m->max_batch : d->count;
    double one = median_time(m, d, 1, d->count);
    double many = median_time(m, d, batch, BATCH_RUNS);
    if (one < 0 || many < 0) return false;
    printf("latency: %.1f us for one image, %.1f us for %lld (%.2f us an image)\n", 1e6 * one,
           1e6 * many, (long long)batch, 1e6 * many / (double)batch);
    return true;
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool run_all(const Model *m, const Digits *d) {
    for (int64_t first = 0; first < d->count; first += m->max_batch) {
        int64_t left = d->count - first;
        if (!run_images(m, d, first, left < m->max_batch ? left : m->max_batch)) return false;
    }
    return true;
}

/* The exit status. Each check prints what it found, so both are made. */
static int judge(const Model *m, const Digits *d) {
    if (!run_all(m, d)) return 3;
    bool accurate = is_accurate(d), expected = is_expected(d);
    if (!print_latency(m, d)) return 3;
    return accurate && expected ? 0 : 1;
}

int main(int argc, char **argv) {
    Digits digits = {0};
    Model model = {0};
    if (argc < 4 || argc > 5) {
        fprintf(stderr, "usage: classify MODEL.so IMAGES.npy LABELS.npy [EXPECTED.npy]\n");
        return 2;
    }
    bool ready = read_digits(&digits, argv + 2, argc - 2) && open_model(&model, argv[1]);
    int status = ready ? judge(&model, &digits) : 3;
    close_model(&model);
    free_digits(&digits);
    return status;
}
