/* Compiles a text in this process and runs it: ./jit */
#include <stdio.h>
#include <string.h>
#include <tcc/tcc.h>

static const char text[] = "dim N in 1..4096 tune 64\n"
                           "\n"
                           "model distance(a: f32[N], b: f32[N]) -> (d: f32) {\n"
                           "    d = sqrt(sum((a - b) ** 2.0))\n"
                           "}\n";

/* Diagnostics come with the line and a caret, as the command prints them. */
static void on_diagnostic(void *user, const tcc_diagnostic *diagnostic) {
    (void)user;
    fputs(diagnostic->rendered, stderr);
}

static tcc_tensor vector(float *data, int64_t count) {
    return (tcc_tensor){
        .size = sizeof(tcc_tensor), .dtype = TCC_F32, .rank = 1, .data = data, .dims = {count}};
}

static tcc_status run(const tcc_model_api *api, tcc_model *model) {
    float a[] = {1, 2, 3, 4}, b[] = {1, 0, 3, 0}, d = 0;
    tcc_tensor inputs[] = {vector(a, 4), vector(b, 4)};
    tcc_tensor outputs[] = {{.size = sizeof(tcc_tensor), .dtype = TCC_F32, .data = &d}};
    tcc_session *session;
    tcc_status status = api->session_new(model, &session);
    if (status != TCC_OK) return status;
    status = api->run(session, inputs, 2, outputs, 1);
    if (status == TCC_OK)
        printf("distance %.4f\n", (double)d);
    else
        fprintf(stderr, "error: %s\n", api->session_message(session));
    api->session_free(session);
    return status;
}

int main(void) {
    tcc_compiler *compiler;
    tcc_unit *unit = NULL;
    tcc_model *model = NULL;
    const tcc_model_api *api = NULL;
    if (tcc_compiler_new(&compiler) != TCC_OK) return 1;
    tcc_on_diagnostic(compiler, on_diagnostic, NULL);
    tcc_status status = tcc_compile_memory(compiler, "distance.g", text, strlen(text), &unit);
    if (status == TCC_OK) status = tcc_unit_open(unit, NULL, &api, &model);
    if (status == TCC_OK)
        status = run(api, model);
    else
        fprintf(stderr, "error: %s\n", tcc_message(compiler));
    if (model) api->close(model);
    tcc_unit_free(unit);
    tcc_compiler_free(compiler);
    return status == TCC_OK ? 0 : 1;
}
