#include "embedder.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tcc/model.h>

/* Texts of a batch are padded to the longest: batches are small, of texts of like length. */
enum { BATCH = 8 };

struct Embedder {
    Vocabulary *vocabulary;
    const tcc_model_api *api;
    tcc_model *model;
    tcc_session *session;
    int64_t max_tokens;
    int64_t *ids, *mask; /* [BATCH, max_tokens] at most */
    float *vectors;      /* [BATCH, EMBEDDING] */
};

/* A text in the order of their lengths. */
typedef struct Place {
    size_t text;
    int64_t count, *ids;
} Place;

static bool fail(const char *what, const char *why) {
    fprintf(stderr, "minilm: %s: %s\n", what, why);
    return false;
}

/* ---- the model ------------------------------------------------------------------------------- */

static bool load_api(Embedder *e, const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return fail(path, dlerror());
    void *symbol = dlsym(library, TCC_MODEL_GET_API);
    if (!symbol) return fail(path, "is not a model");
    tcc_model_get_api_function *get_api;
    memcpy(&get_api, &symbol, sizeof get_api); /* ISO C has no cast from data to function */
    e->api = get_api(TCC_MODEL_API_VERSION);
    return e->api || fail(path, "is of another version");
}

/* The model must take ids and mask [B, T], both i64, and give f32 [B, EMBEDDING]. */
static bool check_interface(Embedder *e, const char *path) {
    tcc_port ids = {.size = sizeof ids}, mask = {.size = sizeof mask}, out = {.size = sizeof out};
    if (e->api->input_count(e->model) != 2 || e->api->output_count(e->model) != 1 ||
        e->api->input_port(e->model, 0, &ids) != TCC_OK ||
        e->api->input_port(e->model, 1, &mask) != TCC_OK ||
        e->api->output_port(e->model, 0, &out) != TCC_OK)
        return fail(path, "does not have two inputs and one output");
    bool fits = ids.dtype == TCC_I64 && ids.rank == 2 && mask.dtype == TCC_I64 && mask.rank == 2 &&
                out.dtype == TCC_F32 && out.rank == 2 && out.dims[1] == EMBEDDING &&
                ids.dims[0] < 0 && ids.hi[0] >= BATCH && ids.dims[1] < 0;
    e->max_tokens = ids.hi[1];
    return fits || fail(path, "is not a model of sentences");
}

static bool open_model(Embedder *e, const char *path) {
    char message[256] = "";
    if (!load_api(e, path)) return false;
    if (e->api->open(NULL, &e->model, message, sizeof message) != TCC_OK)
        return fail(path, message);
    if (!check_interface(e, path)) return false;
    return e->api->session_new(e->model, &e->session) == TCC_OK || fail(path, "out of memory");
}

static bool make_buffers(Embedder *e) {
    size_t cells = BATCH * (size_t)e->max_tokens;
    e->ids = malloc(cells * sizeof *e->ids);
    e->mask = malloc(cells * sizeof *e->mask);
    e->vectors = malloc(sizeof *e->vectors * BATCH * EMBEDDING);
    return (e->ids && e->mask && e->vectors) || fail("a batch", "does not fit in memory");
}

Embedder *embedder_open(const char *model_path, const char *vocabulary_path) {
    Embedder *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    const char *wrong = vocabulary_read(vocabulary_path, &e->vocabulary);
    if (wrong) fail(vocabulary_path, wrong);
    if (!wrong && open_model(e, model_path) && make_buffers(e)) return e;
    embedder_close(e);
    return NULL;
}

void embedder_close(Embedder *e) {
    if (e->session) e->api->session_free(e->session);
    if (e->model) e->api->close(e->model);
    vocabulary_free(e->vocabulary);
    free(e->ids);
    free(e->mask);
    free(e->vectors);
    free(e);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static int compare_lengths(const void *a, const void *b) {
    const Place *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? -1 : 1;
    return (x->text > y->text) - (x->text < y->text);
}

/* All tokens of a text, in memory of just that size. */
static bool read_tokens(Embedder *e, const Text *text, Place *place) {
    place->count = wordpiece_ids(e->vocabulary, text->data, text->size, e->ids, e->max_tokens);
    place->ids = malloc((size_t)place->count * sizeof *place->ids);
    if (!place->ids) return fail("the tokens", "do not fit in memory");
    memcpy(place->ids, e->ids, (size_t)place->count * sizeof *place->ids);
    return true;
}

static tcc_tensor tensor(tcc_dtype dtype, int64_t rows, int64_t columns, void *data) {
    return (tcc_tensor){.size = sizeof(tcc_tensor),
                        .dtype = (int32_t)dtype,
                        .rank = 2,
                        .data = data,
                        .dims = {rows, columns}};
}

/* Places in the order of their lengths: the last is the longest. */
static bool run_batch(Embedder *e, const Place *places, int64_t count, float *vectors) {
    int64_t tokens = places[count - 1].count;
    for (int64_t i = 0; i < count; i++) {
        for (int64_t t = 0; t < tokens; t++) {
            bool is_token = t < places[i].count;
            e->ids[i * tokens + t] = is_token ? places[i].ids[t] : 0;
            e->mask[i * tokens + t] = is_token;
        }
    }
    tcc_tensor inputs[] = {tensor(TCC_I64, count, tokens, e->ids),
                           tensor(TCC_I64, count, tokens, e->mask)};
    tcc_tensor output = tensor(TCC_F32, count, EMBEDDING, e->vectors);
    if (e->api->run(e->session, inputs, 2, &output, 1) != TCC_OK)
        return fail("run", e->api->session_message(e->session));
    for (int64_t i = 0; i < count; i++)
        memcpy(vectors + places[i].text * EMBEDDING, e->vectors + i * EMBEDDING,
               sizeof *vectors * EMBEDDING);
    return true;
}

int embedder_run(Embedder *e, const Text *texts, size_t count, float *vectors) {
    Place *places = calloc(count ? count : 1, sizeof *places);
    bool good = places != NULL || fail("the texts", "do not fit in memory");
    for (size_t i = 0; i < count && good; i++) {
        places[i].text = i;
        good = read_tokens(e, &texts[i], &places[i]);
    }
    if (good) qsort(places, count, sizeof *places, compare_lengths);
    for (size_t i = 0; i < count && good; i += BATCH)
        good = run_batch(e, places + i, (int64_t)(count - i < BATCH ? count - i : BATCH), vectors);
    for (size_t i = 0; i < count && places; i++) free(places[i].ids);
    free(places);
    return good ? 0 : 1;
}
