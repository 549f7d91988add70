/* Loads hello.so and runs it on four rows: hello ./hello.so */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <tcc/model.h>

enum { ROWS = 4, CLASSES = 3 };

/* The table of functions of the model.so at `path` (with a slash in it); NULL when it has none. */
static const tcc_model_api *load(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, TCC_MODEL_GET_API) : NULL;
    tcc_model_get_api_function *get;
    if (!symbol) fprintf(stderr, "%s\n", dlerror());
    if (!symbol) return NULL;
    memcpy(&get, &symbol, sizeof get);
    return get(TCC_MODEL_API_VERSION);
}

/* ROWS rows of `columns` elements, or just ROWS elements when that is 0. */
static tcc_tensor rows(tcc_dtype dtype, int64_t columns, void *data) {
    return (tcc_tensor){.size = sizeof(tcc_tensor),
                        .dtype = (int32_t)dtype,
                        .rank = columns ? 2 : 1,
                        .data = data,
                        .dims = {ROWS, columns}};
}

static tcc_status classify(const tcc_model_api *api, tcc_session *session) {
    float x[ROWS][2] = {{1, 0}, {0, 1}, {-1, -1}, {3, 2}}, probs[ROWS][CLASSES];
    int64_t best[ROWS];
    tcc_tensor inputs[] = {rows(TCC_F32, 2, x)};
    tcc_tensor outputs[] = {rows(TCC_F32, CLASSES, probs), rows(TCC_I64, 0, best)};
    tcc_status status = api->run(session, inputs, 1, outputs, 2);
    for (int i = 0; i < ROWS && status == TCC_OK; i++)
        printf("%.4f %.4f %.4f: class %d\n", (double)probs[i][0], (double)probs[i][1],
               (double)probs[i][2], (int)best[i]);
    return status;
}

int main(int argc, char **argv) {
    char message[256] = "";
    tcc_model *model = NULL;
    tcc_session *session = NULL;
    const tcc_model_api *api = argc == 2 ? load(argv[1]) : NULL;
    if (!api) return 2;
    tcc_status status = api->open(NULL, &model, message, sizeof message);
    if (status == TCC_OK) status = api->session_new(model, &session);
    if (status == TCC_OK) status = classify(api, session);
    if (status != TCC_OK)
        fprintf(stderr, "error: %s\n", session ? api->session_message(session) : message);
    if (session) api->session_free(session);
    if (model) api->close(model);
    return status == TCC_OK ? 0 : 1;
}
