// The library against numpy: each model of tests/models/library.g on the inputs of its case,
// evaluated, must give the outputs that make_library.py computed, within the derived bound.
#include "ir/eval.h"
#include "tests/support/dsl_compile.h"
#include "tests/unit/test.h"

static DslRun run;
static WeightTable *cases;

static Weight *find_case(const Graph *model, Str name) {
    return weights_find(cases,
                        str_format(run.arena, "%.*s/%.*s", STR_ARG(*model->name), STR_ARG(name)));
}

static Tensor tensor_of(const Weight *weight) {
    Tensor tensor = {.dtype = weight->dtype, .rank = weight->rank};
    for (uint32_t i = 0; i < weight->rank; i++) tensor.dims[i] = weight->dims[i];
    tensor.data = (void *)(uintptr_t)weight->bytes;
    return tensor;
}

// Gives each dim that stands alone on an axis of the input the size that the case has there.
static void bind_dims(const Type *type, const Weight *weight, int64_t *symbols) {
    for (uint32_t i = 0; i < type->rank; i++) {
        const Dim *dim = type->dims[i];
        if (dim->term_count) symbols[dim->terms[0].atoms[0]->symbol->id] = weight->dims[i];
    }
}

static bool read_inputs(const Graph *model, EvalValue *inputs, int64_t *symbols) {
    bool good = true;
    for (size_t i = 0; i < model->inputs.count; i++) {
        const Node *node = graph_node(model, model->inputs.data[i]);
        Weight *weight = find_case(model, *node->attrs[1].str);
        if (!CHECK(weight != NULL)) return false;
        good &= CHECK_INT(weight->dtype, node->type->dtype) &&
                CHECK_INT(weight->rank, node->type->rank);
        if (!good) return false;
        bind_dims(node->type, weight, symbols);
        inputs[i] = (EvalValue){.tensor = tensor_of(weight)};
    }
    return true;
}

// The evaluator's value has the roundings of its own steps besides the bound, which says how far
// others may be from it.
static void check_output(const Graph *model, const Output *output, const EvalValue *got) {
    const Weight *weight = find_case(model, *output->name);
    if (!CHECK(weight != NULL)) return;
    Tensor want = tensor_of(weight);
    if (!CHECK_INT(tensor_elements(&got->tensor), tensor_elements(&want))) return;
    double unit = want.dtype == DT_f16 ? 0x1p-11 : 0x1p-20;
    bool good = true;
    for (int64_t i = 0; i < tensor_elements(&want) && good; i++) {
        double expected = tensor_get(&want, i), slack = got->bound ? got->bound[i] : 0.0;
        good = CHECK_NEAR(tensor_get(&got->tensor, i), expected, slack + unit * fabs(expected));
        good &= CHECK(isinf(expected) || slack <= 1e-3 + 1e-2 * fabs(expected));
    }
    if (!good) printf("    in %s/%s\n", model->name->data, output->name->data);
}

static void check_model(const Graph *model) {
    EvalValue *inputs = NEW_ARRAY(run.arena, EvalValue, model->inputs.count);
    EvalValue *results = NEW_ARRAY(run.arena, EvalValue, model->outputs.count);
    int64_t *symbols = NEW_ARRAY(run.arena, int64_t, dim_symbol_count(run.ctx) + 1u);
    EvalOptions options = {.bounds = true, .symbols = symbols};
    EvalError error = {0};
    const char *message = NULL;
    if (!read_inputs(model, inputs, symbols)) return;
    bool good = eval_graph(model, inputs, &options, run.arena, results, &error, &message);
    if (!CHECK(good && !error.failed)) {
        printf("    %s: %s\n", model->name->data, message ? message : "an index is out of range");
        return;
    }
    for (size_t i = 0; i < model->outputs.count; i++) {
        check_output(model, &model->outputs.data[i], &results[i]);
    }
}

static void test_library(void) {
    Str text = dsl_read_file("tests/models/library.g");
    if (!CHECK(text.data != NULL)) return;
    dsl_run(&run, "tests/models/library.g", text, NULL);
    for (size_t i = 0; i < run.messages.count; i++) printf("%s", run.messages.data[i].rendered);
    CHECK_INT(run.messages.count, 0);
    cases = weights_new(run.arena);
    Str path = STR("tests/models/library_cases.safetensors");
    CHECK_INT(weights_load(cases, run.diags, (Loc){0}, path), STATUS_ok);
    if (CHECK(run.module != NULL)) CHECK_INT(run.module->models.count, 11);
    for (size_t i = 0; run.module && i < run.module->models.count; i++) {
        check_model(run.module->models.data[i]);
    }
    weights_free(cases);
    dsl_run_free(&run);
    free((void *)(uintptr_t)text.data);
}

int main(void) {
    RUN(test_library);
    return test_done();
}
