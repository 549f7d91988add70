/* A host program outside this tree: compiles a model from memory and runs it, by the installed
 * headers and library alone. It is C99 and C++ at once. Prints the library's version. */
#include <tcc/tcc.h>

#include <stdio.h>
#include <string.h>

static const char text[] = "model twice(x: f32[4]) -> (y: f32[4]) { y = x + x }\n";

static tcc_tensor vector_of(float *data) {
    tcc_tensor tensor;
    memset(&tensor, 0, sizeof tensor);
    tensor.size = sizeof tensor;
    tensor.dtype = TCC_F32;
    tensor.rank = 1;
    tensor.dims[0] = 4;
    tensor.data = data;
    return tensor;
}

/* Whether 1, 2, 3, 4 come out twice as large. */
static int is_doubled(const tcc_model_api *api, tcc_session *session) {
    float x[4] = {1, 2, 3, 4}, y[4] = {0, 0, 0, 0};
    tcc_tensor input = vector_of(x), output = vector_of(y);
    int i;
    if (api->run(session, &input, 1, &output, 1) != TCC_OK) return 0;
    for (i = 0; i < 4; i++)
        if (y[i] != 2 * x[i]) return 0;
    return 1;
}

static int run_model(tcc_unit *unit) {
    const tcc_model_api *api = NULL;
    tcc_model *model = NULL;
    tcc_session *session = NULL;
    int good;
    if (tcc_unit_open(unit, NULL, &api, &model) != TCC_OK) return 0;
    good = api->session_new(model, &session) == TCC_OK && is_doubled(api, session);
    if (session) api->session_free(session);
    api->close(model);
    return good;
}

int main(void) {
    tcc_compiler *compiler = NULL;
    tcc_unit *unit = NULL;
    int good = tcc_compiler_new(&compiler) == TCC_OK &&
               tcc_compile_memory(compiler, "twice.g", text, sizeof text - 1, &unit) == TCC_OK &&
               run_model(unit);
    if (!good) fprintf(stderr, "use: %s\n", compiler ? tcc_message(compiler) : "no compiler");
    tcc_unit_free(unit);
    tcc_compiler_free(compiler);
    printf("%s %d\n", tcc_version(), TCC_VERSION_NUMBER);
    return good ? 0 : 1;
}
