// Every file of tests/threads: a model that another compiler got wrong, with inputs and the right
// outputs in its comments (text.h). Each is compiled at -O0 to -O3 in up to three forms, as it
// stands, with its dims narrowed to the sizes of the case, and with its inputs made constants, so
// that the folder computes it. The compiled code and the evaluator on the graph that all passes
// left must both give the values of the comment.
//
//     threads-run FILE.g...
#include "tests/threads/text.h"
#include "tests/unit/test.h"

#include "base/file.h"
#include "ir/eval.h"
#include "ir/text.h"

#include <tcc/tcc.h>

enum { LEVELS = 4, MAX_PORTS = 16, MAX_CONSTANT = 64 };

typedef enum Form { FORM_open, FORM_fixed, FORM_constant } Form;
static const char *const form_names[] = {"as written", "with fixed dims", "of constants"};

// One compilation and what it is of.
typedef struct Run {
    Arena *arena;
    const char *path;
    Str source;
    const Thread *thread;
    const ThreadCase *now;
    int level;
    Form form;
    tcc_compiler *compiler;
    tcc_unit *unit;
    const tcc_model_api *api;
    tcc_model *model;
    tcc_session *session;
    char diagnostic[1024];
} Run;

static long compilations, comparisons;

static bool fail(const Run *r, const char *what, const char *detail) {
    printf("%s: -O%d, %s, case %td: %s%s%s\n", r->path, r->level, form_names[r->form],
           r->now ? r->now - r->thread->cases.data + 1 : 0, what, *detail ? ": " : "", detail);
    return CHECK(!"a thread");
}

// ---- comparing ------------------------------------------------------------------------------

static bool same_number(double got, double want, double tolerance) {
    if (isnan(got) || isnan(want)) return isnan(got) && isnan(want);
    if (got == want) return signbit(got) == signbit(want);
    return fabs(got - want) <= tolerance * fabs(want);
}

static bool compare_output(const Run *r, const ThreadValue *value, const Tensor *got,
                           const char *by) {
    Tensor want = *got;
    char detail[200];
    want.data = arena_alloc(r->arena, tensor_bytes(got));
    bool shape =
        !value->has_shape || (value->rank == got->rank &&
                              !memcmp(value->dims, got->dims, got->rank * sizeof *got->dims));
    if (!shape || !thread_fill(value, &want)) return fail(r, "another shape", value->name.data);
    for (int64_t i = 0; i < tensor_elements(got); i++) {
        bool same = dtype_is_float(got->dtype)
                        ? same_number(tensor_get(got, i), tensor_get(&want, i), value->tolerance)
                        : tensor_get_int(got, i) == tensor_get_int(&want, i);
        if (same) continue;
        snprintf(detail, sizeof detail, "%.*s[%lld] is %.17g by the %s, not %.17g",
                 STR_ARG(value->name), (long long)i, tensor_get(got, i), by, tensor_get(&want, i));
        return fail(r, "wrong", detail);
    }
    comparisons++;
    return CHECK(true);
}

// ---- the compiled model ---------------------------------------------------------------------

static void port_tensor(const Run *r, const tcc_port *port, const int64_t *dims, Tensor *out) {
    *out = (Tensor){.dtype = (DType)port->dtype, .rank = port->rank};
    memcpy(out->dims, dims, port->rank * sizeof *dims);
    out->data = arena_alloc(r->arena, tensor_bytes(out));
}

// An input has at most one open dim, which its numbers decide.
static bool make_input(const Run *r, uint32_t index, Tensor *out) {
    tcc_port port = {.size = sizeof port};
    r->api->input_port(r->model, index, &port);
    const ThreadValue *value =
        thread_find(r->now->inputs.data, r->now->inputs.count, str_from(port.name));
    if (value == NULL) return fail(r, "the case has no input", port.name);
    int64_t known = 1;
    for (uint32_t a = 0; a < port.rank; a++)
        if (port.dims[a] >= 0) known *= port.dims[a];
    for (uint32_t a = 0; a < port.rank; a++)
        if (port.dims[a] < 0) port.dims[a] = (int64_t)value->numbers.count / known;
    port_tensor(r, &port, port.dims, out);
    return thread_fill(value, out) || fail(r, "the numbers do not fit input", port.name);
}

static tcc_tensor view(const Tensor *t) {
    tcc_tensor v = {.size = sizeof v, .dtype = (int32_t)t->dtype, .rank = t->rank, .data = t->data};
    memcpy(v.dims, t->dims, sizeof v.dims);
    return v;
}

static bool check_index(const Run *r, tcc_status status) {
    char number[48];
    snprintf(number, sizeof number, "index %lld ", (long long)r->now->index);
    const char *message = r->api->session_message(r->session);
    bool good = status == TCC_INDEX && strstr(message, number) != NULL;
    return good ? CHECK(true) : fail(r, "no such index error", message);
}

static bool run_compiled(const Run *r, const Tensor *inputs, uint32_t input_count) {
    tcc_tensor in[MAX_PORTS], out[MAX_PORTS];
    Tensor outputs[MAX_PORTS];
    tcc_port ports[MAX_PORTS];
    uint32_t count = r->api->output_count(r->model);
    for (uint32_t i = 0; i < input_count; i++) in[i] = view(&inputs[i]);
    for (uint32_t o = 0; o < count; o++) {
        int64_t dims[TCC_MAX_RANK];
        ports[o] = (tcc_port){.size = sizeof ports[o]};
        r->api->output_port(r->model, o, &ports[o]);
        if (r->api->output_dims(r->session, in, input_count, o, dims) != TCC_OK)
            return fail(r, "no dims", r->api->session_message(r->session));
        port_tensor(r, &ports[o], dims, &outputs[o]);
        out[o] = view(&outputs[o]);
    }
    tcc_status status = r->api->run(r->session, in, input_count, out, count);
    if (r->now->index_error) return check_index(r, status);
    if (status != TCC_OK) return fail(r, "did not run", r->api->session_message(r->session));
    bool good = CHECK_INT(count, r->now->outputs.count);
    for (uint32_t o = 0; o < count && good; o++) {
        const ThreadValue *value =
            thread_find(r->now->outputs.data, r->now->outputs.count, str_from(ports[o].name));
        good = value ? compare_output(r, value, &outputs[o], "compiled code")
                     : fail(r, "the case has no output", ports[o].name);
    }
    return good;
}

// ---- the evaluator --------------------------------------------------------------------------

static void print_diag(void *user, const Diag *diag) { (void)user, printf("%s", diag->rendered); }

static Module *read_graph(Arena *arena, IrContext *ctx, Str text) {
    Diags *diags = diags_new(arena, print_diag, NULL, 0);
    return parse_module(ctx, arena, diags, diags_add_file(diags, STR("thread.tir"), text), NULL,
                        NULL);
}

static Module *unit_graph(const Run *r, IrContext *ctx) {
    const char *text;
    size_t size;
    if (tcc_unit_text(r->unit, "ir", &text, &size) != TCC_OK) return NULL;
    return read_graph(r->arena, ctx, (Str){text, size});
}

static void bind_dims(const Graph *g, const Tensor *inputs, int64_t *symbols) {
    for (size_t i = 0; i < g->inputs.count; i++) {
        const Type *type = graph_type(g, g->inputs.data[i]);
        for (uint32_t a = 0; a < type->rank; a++) {
            const DimSymbol *symbol = dim_as_symbol(type->dims[a]);
            if (symbol) symbols[symbol->id] = inputs[i].dims[a];
        }
    }
}

static bool evaluate(const Run *r, const Graph *g, const Tensor *inputs) {
    EvalValue values[MAX_PORTS] = {0}, results[MAX_PORTS] = {0};
    EvalError error;
    const char *message;
    int64_t *symbols = NEW_ARRAY(r->arena, int64_t, dim_symbol_count(g->ctx) + 1);
    bind_dims(g, inputs, symbols);
    for (size_t i = 0; i < g->inputs.count; i++) values[i].tensor = inputs[i];
    EvalOptions options = {.symbols = symbols};
    if (!eval_graph(g, values, &options, r->arena, results, &error, &message))
        return fail(r, "not evaluated", message);
    if (r->now->index_error)
        return (error.failed && error.index == r->now->index) ||
               fail(r, "the evaluator has no such index error", "");
    if (error.failed) return fail(r, "the evaluator has an index error", "");
    bool good = true;
    for (size_t o = 0; o < g->outputs.count && good; o++) {
        const ThreadValue *value =
            thread_find(r->now->outputs.data, r->now->outputs.count, *g->outputs.data[o].name);
        good = value && compare_output(r, value, &results[o].tensor, "evaluator");
    }
    return good;
}

// ---- compiling ------------------------------------------------------------------------------

static void keep_diagnostic(void *user, const tcc_diagnostic *diagnostic) {
    Run *r = user;
    if (diagnostic->severity == TCC_ERROR)
        snprintf(r->diagnostic, sizeof r->diagnostic, "%s", diagnostic->rendered);
}

static void unload(Run *r) {
    if (r->session) r->api->session_free(r->session);
    if (r->model) r->api->close(r->model);
    tcc_unit_free(r->unit);
    tcc_compiler_free(r->compiler);
    r->session = NULL;
    r->model = NULL;
    r->unit = NULL;
    r->compiler = NULL;
}

// Options beside the level; NULL: as they are.
typedef struct Settings {
    const char *target, *dim, *passes;
} Settings;

static tcc_status compile(Run *r, const char *name, Str text, Settings settings) {
    char level[] = {(char)('0' + r->level), 0};
    unload(r);
    *r->diagnostic = 0;
    compilations++;
    if (tcc_compiler_new(&r->compiler) != TCC_OK) return TCC_MEMORY;
    tcc_on_diagnostic(r->compiler, keep_diagnostic, r);
    tcc_set_option(r->compiler, "O", level);
    tcc_set_option(r->compiler, "threads", "1");
    if (settings.target) tcc_set_option(r->compiler, "target", settings.target);
    if (settings.dim) tcc_set_option(r->compiler, "D", settings.dim);
    if (settings.passes) tcc_set_option(r->compiler, "passes", settings.passes);
    return tcc_compile_memory(r->compiler, name, text.data, text.size, &r->unit);
}

static bool load(Run *r, const char *name, Str text, const char *dim) {
    tcc_open_options options = {.size = sizeof options, .threads = 2};
    bool good = compile(r, name, text, (Settings){.dim = dim}) == TCC_OK &&
                tcc_unit_open(r->unit, &options, &r->api, &r->model) == TCC_OK &&
                r->api->session_new(r->model, &r->session) == TCC_OK;
    return good || fail(r, "refused", *r->diagnostic ? r->diagnostic : tcc_message(r->compiler));
}

static bool run_case(const Run *r) {
    Tensor inputs[MAX_PORTS];
    uint32_t count = r->api->input_count(r->model);
    for (uint32_t i = 0; i < count; i++)
        if (!make_input(r, i, &inputs[i])) return false;
    IrContext *ctx = ir_context_new(r->arena);
    Module *module = unit_graph(r, ctx);
    bool good = module
                    ? run_compiled(r, inputs, count) && evaluate(r, module->models.data[0], inputs)
                    : fail(r, "the graph does not read back", "");
    ir_context_free(ctx);
    return good;
}

// "N=450" for the open dim of the case's inputs; NULL when there is none.
static const char *case_dim(const Run *r) {
    tcc_port port = {.size = sizeof port};
    for (uint32_t i = 0; i < r->api->input_count(r->model); i++) {
        Tensor t;
        r->api->input_port(r->model, i, &port);
        for (uint32_t a = 0; a < port.rank; a++)
            if (port.dim_names[a] && make_input(r, i, &t))
                return str_format(r->arena, "%s=%lld", port.dim_names[a], (long long)t.dims[a])
                    .data;
    }
    return NULL;
}

// ---- constants in place of inputs -----------------------------------------------------------

// The line of a constant without its number: "const value=[…] : f32[3]".
static Str constant_line(Arena *arena, IrContext *ctx, const Tensor *t) {
    const Dim *dims[TYPE_MAX_RANK];
    Buf line = {.arena = arena};
    for (uint32_t i = 0; i < t->rank; i++) dims[i] = dim_const(ctx, t->dims[i]);
    Attr value = {.blob = ir_blob(ctx, t->data, tensor_bytes(t))};
    Graph *g = graph_new(ctx, arena, STR("constant"));
    print_node(&line, g,
               graph_add(g, OP_const, type_tensor(ctx, t->dtype, t->rank, dims), NULL, 0, &value,
                         NULL, 0, NULL));
    const char *begin = strstr(line.data, "const ");
    return str_from(begin);
}

// The graph's text with the line of each input replaced; empty when one is too large for a line.
static Str with_constants(const Run *r, Str text, const Tensor *inputs, uint32_t count) {
    IrContext *ctx = ir_context_new(r->arena);
    Buf out = {.arena = r->arena};
    uint32_t next = 0;
    for (const char *at = text.data; *at;) {
        const char *end = strchr(at, '\n'), *input = strstr(at, "input index=");
        bool here = input && end && input < end && next < count;
        if (here && tensor_elements(&inputs[next]) > MAX_CONSTANT) return STR("");
        const char *stop = here ? input : end ? end + 1 : at + strlen(at);
        buf_bytes(&out, at, (size_t)(stop - at));
        if (here) {
            buf_put(&out, constant_line(r->arena, ctx, &inputs[next++]));
            buf_char(&out, '\n');
        }
        at = here ? end + 1 : stop;
    }
    ir_context_free(ctx);
    return buf_str(&out);
}

// A constant index out of range is refused when the model is compiled.
static bool refuse_constants(Run *r, Str text) {
    char number[48];
    snprintf(number, sizeof number, "index %lld ", (long long)r->now->index);
    tcc_status status = compile(r, "constant.tir", text, (Settings){0});
    bool good = status == TCC_INVALID && strstr(r->diagnostic, number) != NULL;
    return good ? CHECK(true) : fail(r, "a constant index was not refused", r->diagnostic);
}

static bool run_constants(Run *r, const char *dim) {
    Tensor inputs[MAX_PORTS];
    const char *text;
    size_t size;
    uint32_t count = r->api->input_count(r->model);
    for (uint32_t i = 0; i < count; i++)
        if (!make_input(r, i, &inputs[i])) return false;
    // The model's own graph, before anything is done to it.
    Settings settings = {.dim = dim, .passes = "inline"};
    if (compile(r, r->path, r->source, settings) != TCC_OK ||
        tcc_unit_text(r->unit, "ir", &text, &size) != TCC_OK)
        return fail(r, "no graph", r->diagnostic);
    Str constant = with_constants(r, (Str){text, size}, inputs, count);
    if (constant.size == 0) return true;
    if (r->now->index_error) return refuse_constants(r, constant);
    return load(r, "constant.tir", constant, NULL) && run_case(r);
}

// ---- files ----------------------------------------------------------------------------------

// A case by itself: its dims fixed, then its inputs constant.
static bool run_alone(Run *r) {
    const char *dim = case_dim(r);
    r->form = FORM_fixed;
    if (dim && (!load(r, r->path, r->source, dim) || !run_case(r))) return false;
    r->form = FORM_constant;
    return run_constants(r, dim);
}

static void run_forms(Run *r) {
    const Thread *t = r->thread;
    bool good = true;
    for (size_t i = 0; i < t->cases.count && good; i++) {
        r->form = FORM_open;
        r->now = &t->cases.data[i];
        good = load(r, r->path, r->source, NULL) && run_case(r) && run_alone(r);
    }
}

static void check_ptx(Run *r) {
    const char *text = "";
    size_t size;
    r->level = 2;
    r->form = FORM_open;
    r->now = NULL;
    if (r->thread->ptx.size == 0) return;
    const char *want = str_terminated(r->arena, r->thread->ptx);
    bool good = compile(r, r->path, r->source, (Settings){.target = "sm_80"}) == TCC_OK &&
                tcc_unit_text(r->unit, "ptx", &text, &size) == TCC_OK && strstr(text, want) != NULL;
    if (!good) fail(r, "the PTX does not hold", want);
}

static void run_file(const char *path) {
    Arena *arena = arena_new(NULL);
    Thread thread;
    Str why = {0};
    Run r = {.arena = arena, .path = path, .thread = &thread};
    Diags *diags = diags_new(arena, print_diag, NULL, 0);
    long before = test_counts.failures;
    if (file_read(arena, diags, (Loc){0}, str_from(path), 1 << 20, &r.source) != STATUS_ok ||
        !thread_read(arena, r.source, &thread, &why)) {
        fail(&r, "the comments cannot be read", why.data ? str_terminated(arena, why) : "");
    } else {
        for (r.level = 0; r.level < LEVELS; r.level++) run_forms(&r);
        check_ptx(&r);
    }
    unload(&r);
    printf("%s %s\n", test_counts.failures == before ? "ok    " : "FAILED", path);
    arena_free(arena);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) run_file(argv[i]);
    printf("       %ld compilations, %ld outputs compared\n", compilations, comparisons);
    return test_done();
}
