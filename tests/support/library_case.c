#include "tests/support/library_case.h"

#include "emulator/driver/emu.h"
#include "tests/support/placed_tensor.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---- hosts
// -------------------------------------------------------------------------------------------------

static void keep_diagnostic(void *user, const tcc_diagnostic *diagnostic) {
    LibraryHost *host = user;
    snprintf(host->diagnostic, sizeof host->diagnostic, "%s", diagnostic->rendered);
}

void library_host_open(LibraryHost *host, int level, const char *device) {
    char text[] = {(char)('0' + level), 0};
    *host = (LibraryHost){.device = device};
    if (tcc_compiler_new(&host->compiler) != TCC_OK) return;
    tcc_on_diagnostic(host->compiler, keep_diagnostic, host);
    tcc_set_option(host->compiler, "O", text);
    tcc_set_option(host->compiler, "threads", "1");
    if (device) tcc_set_option(host->compiler, "target", "native,sm_80");
}

void library_host_close(LibraryHost *host) { tcc_compiler_free(host->compiler); }

// ---- one case
// ------------------------------------------------------------------------------------------------

typedef struct Runner {
    const LibraryCase *test;
    Arena *arena;
    LibraryResult *result;
    tcc_unit *unit;
    const tcc_model_api *api;
    tcc_model *model;
    tcc_session *session;
    tcc_tensor *inputs; // dense
    uint32_t output_count;
    Tensor *outputs; // of the first run: what all others must give
    const char *fault;
} Runner;

// Each step returns whether the case goes on.
static bool fail(Runner *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(Runner *r, const char *format, ...) {
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r->fault = str_copy(r->arena, str_from(text)).data;
    return false;
}

static const char *said(const Runner *r) {
    const LibraryHost *host = r->test->host;
    return *host->diagnostic ? host->diagnostic : tcc_message(host->compiler);
}

static bool compile(Runner *r) {
    LibraryHost *host = r->test->host;
    *host->diagnostic = 0;
    Str text = r->test->text;
    if (tcc_compile_memory(host->compiler, "case.tir", text.data, text.size, &r->unit) == TCC_OK)
        return true;
    return fail(r, "refused: %s", said(r));
}

// Whether the unit's program, with all that becomes machine code, was run before; notes it if not.
static bool was_seen(Runner *r) {
    static const char *const kinds[] = {"program", "tile"};
    LibrarySeen *seen = r->test->seen;
    Buf both = {.arena = r->arena};
    if (!seen) return false;
    for (int i = 0; i < 2; i++) {
        const char *text;
        size_t size;
        if (tcc_unit_text(r->unit, kinds[i], &text, &size) != TCC_OK) return false;
        buf_bytes(&both, text, size);
    }
    for (uint32_t i = 0; i < seen->count; i++)
        if (str_equal(seen->programs[i], buf_str(&both))) return r->result->repeated = true;
    if (seen->count < sizeof seen->programs / sizeof *seen->programs)
        seen->programs[seen->count++] = buf_str(&both);
    return false;
}

// ---- the check

static void keep_result(void *user, const tcc_check_result *found) {
    Runner *r = user;
    r->result->elements += found->elements;
    r->result->compared += found->compared;
    if (found->mismatches == 0 || r->fault) return;
    fail(r, "%s output %s: %llu of %llu wrong, element %llu is %.17g, expected %.17g within %g",
         found->kernel, found->output, (unsigned long long)found->mismatches,
         (unsigned long long)found->elements, (unsigned long long)found->first_index, found->got,
         found->expected, found->tolerance);
}

typedef enum Strictness { CHECK_any, CHECK_tame } Strictness;

static bool check(Runner *r, const tcc_tensor *inputs, Strictness strictness) {
    uint64_t before = r->result->elements - r->result->compared;
    tcc_status status = tcc_unit_check_on(r->unit, r->test->host->device, inputs,
                                          r->test->input_count, keep_result, r);
    if (r->fault) return false;
    bool left_out = r->result->elements - r->result->compared > before;
    if (status == TCC_OK || (status == TCC_MISMATCH && left_out && strictness == CHECK_any))
        return true;
    return fail(r, "the check ends with status %d: %s (%llu of %llu elements compared)", status,
                said(r), (unsigned long long)r->result->compared,
                (unsigned long long)r->result->elements);
}

// ---- models and sessions

static void close_model(Runner *r) {
    if (r->api == NULL) return;
    r->api->session_free(r->session);
    r->api->close(r->model);
    r->api = NULL;
    r->session = NULL;
    r->model = NULL;
}

static void count_threads(void *user, const char *kernel, uint64_t ns, uint32_t threads) {
    Runner *r = user;
    (void)kernel;
    (void)ns;
    if (threads > r->result->threads) r->result->threads = threads;
}

static bool open_model(Runner *r, int32_t threads, tcc_parallel_for *parallel_for) {
    tcc_open_options options = {.size = sizeof options,
                                .threads = threads,
                                .parallel_for = parallel_for,
                                .device = r->test->host->device};
    close_model(r);
    if (tcc_unit_open(r->unit, &options, &r->api, &r->model) != TCC_OK)
        return fail(r, "no model for %d threads: %s", threads, said(r));
    if (r->api->session_new(r->model, &r->session) != TCC_OK) return fail(r, "no session");
    r->api->profile(r->session, count_threads, r);
    return true;
}

// The shapes of the outputs, and room for the values of the first run.
static bool shape_outputs(Runner *r) {
    r->output_count = r->api->output_count(r->model);
    r->outputs = NEW_ARRAY(r->arena, Tensor, r->output_count);
    for (uint32_t o = 0; o < r->output_count; o++) {
        Tensor *t = &r->outputs[o];
        tcc_port port = {.size = sizeof port};
        if (r->api->output_port(r->model, o, &port) != TCC_OK) return fail(r, "no port %u", o);
        *t = (Tensor){.dtype = (DType)port.dtype, .rank = port.rank};
        if (r->api->output_dims(r->session, r->inputs, r->test->input_count, o, t->dims) != TCC_OK)
            return fail(r, "output_dims: %s", r->api->session_message(r->session));
        t->data = arena_alloc(r->arena, tensor_bytes(t));
    }
    return true;
}

// ---- runs

typedef struct Tensors {
    PlacedTensor *inputs, *outputs;
    tcc_tensor *in, *out; // their views
} Tensors;

static Tensors place(const Runner *r, Placement placement) {
    uint32_t ins = r->test->input_count, outs = r->output_count;
    Tensors t = {NEW_ARRAY(r->arena, PlacedTensor, ins), NEW_ARRAY(r->arena, PlacedTensor, outs),
                 NEW_ARRAY(r->arena, tcc_tensor, ins), NEW_ARRAY(r->arena, tcc_tensor, outs)};
    for (uint32_t i = 0; i < ins; i++) {
        placed_tensor_new(r->arena, &r->test->inputs[i], placement, &t.inputs[i]);
        placed_tensor_put(&t.inputs[i], r->test->inputs[i].data);
        t.in[i] = t.inputs[i].view;
    }
    for (uint32_t o = 0; o < outs; o++) {
        placed_tensor_new(r->arena, &r->outputs[o], placement, &t.outputs[o]);
        t.out[o] = t.outputs[o].view;
    }
    return t;
}

static bool inputs_are_whole(const Runner *r, const Tensors *t) {
    for (uint32_t i = 0; i < r->test->input_count; i++) {
        const Tensor *want = &r->test->inputs[i];
        void *got = arena_alloc(r->arena, tensor_bytes(want));
        placed_tensor_get(&t->inputs[i], got);
        if (memcmp(got, want->data, tensor_bytes(want)) != 0 ||
            !placed_tensor_is_untouched(&t->inputs[i], false, r->arena))
            return false;
    }
    return true;
}

// Names the first byte of output `o` that is not that of the first run.
static bool fail_bits(Runner *r, const char *what, Placement placement, uint32_t o,
                      const void *got) {
    const unsigned char *a = got, *b = r->outputs[o].data;
    size_t i = 0, bytes = tensor_bytes(&r->outputs[o]);
    while (a[i] == b[i]) i++;
    return fail(r, "%s, placement %d: byte %zu of %zu of output %u is %02x, with one thread %02x",
                what, placement, i, bytes, o, a[i], b[i]);
}

// Runs and compares with the first run, or keeps the values as those of the first.
static bool run(Runner *r, const char *what, Placement placement, bool first) {
    Tensors t = place(r, placement);
    tcc_status status = r->api->run(r->session, t.in, r->test->input_count, t.out, r->output_count);
    if (status != TCC_OK)
        return fail(r, "%s, placement %d: status %d: %s", what, placement, status,
                    r->api->session_message(r->session));
    if (!inputs_are_whole(r, &t)) return fail(r, "%s: an input was written", what);
    for (uint32_t o = 0; o < r->output_count; o++) {
        Tensor *want = &r->outputs[o];
        size_t bytes = tensor_bytes(want);
        if (!placed_tensor_is_untouched(&t.outputs[o], false, r->arena))
            return fail(r, "%s, placement %d: wrote outside output %u", what, placement, o);
        void *got = first ? want->data : arena_alloc(r->arena, bytes);
        placed_tensor_get(&t.outputs[o], got);
        if (memcmp(got, want->data, bytes) == 0) continue;
        return fail_bits(r, what, placement, o, got);
    }
    return true;
}

// The parts of a piece of work one after the other, in an order that is not theirs.
static void run_shuffled(void *user, int32_t count, void (*body)(void *data, int32_t i),
                         void *data) {
    (void)user;
    int32_t step = count % 3 != 0 ? 3 : count % 5 != 0 ? 5 : 1;
    for (int32_t k = 0; k < count; k++) body(data, (k * step + count - 1) % count);
}

// On a GPU the second run of some dims is recorded, and played in the third.
static bool run_again(Runner *r) {
    if (r->test->host->device)
        return run(r, "recorded", PLACE_dense, false) && run(r, "played", PLACE_dense, false);
    return open_model(r, 2, NULL) && run(r, "2 threads", PLACE_dense, false) &&
           open_model(r, 7, NULL) && run(r, "7 threads", PLACE_dense, false) &&
           open_model(r, 7, run_shuffled) && run(r, "7 parts shuffled", PLACE_dense, false);
}

static bool run_with_layouts(Runner *r) {
    if (!r->test->layouts) return true;
    bool good = true;
    for (int p = PLACE_dense + 1; p < PLACE_count && good; p++)
        good = run(r, "7 parts shuffled", (Placement)p, false);
    return good;
}

// The planned arena serves this run, and no more of it is used than was planned.
static bool check_memory(Runner *r) {
    tcc_run_info info = {.size = sizeof info};
    if (r->api->run_info(r->session, &info) != TCC_OK) return fail(r, "no run_info");
    r->result->launches = info.launches;
    if (info.arena_bytes <= info.planned_bytes) return true;
    return fail(r, "%llu bytes of the arena were used, %llu planned",
                (unsigned long long)info.arena_bytes, (unsigned long long)info.planned_bytes);
}

// ---- indices out of range

// The one bad index is reported with its place, and the outputs' memory is as it was.
static bool run_bad_index(Runner *r, uint32_t input) {
    Tensors t = place(r, PLACE_dense);
    Tensor bad = r->test->inputs[input];
    bad.data = arena_copy(r->arena, bad.data, tensor_bytes(&bad));
    tensor_set_int(&bad, 0, r->test->bad_indices[input]);
    placed_tensor_put(&t.inputs[input], bad.data);
    tcc_status status = r->api->run(r->session, t.in, r->test->input_count, t.out, r->output_count);
    if (status != TCC_INDEX) return fail(r, "a bad index gives status %d", status);
    const char *message = r->api->session_message(r->session);
    char number[40];
    snprintf(number, sizeof number, "index %lld ", (long long)r->test->bad_indices[input]);
    if (strstr(message, number) == NULL || strncmp(message, "case.tir:", 9) != 0)
        return fail(r, "a bad index is reported as \"%s\"", message);
    for (uint32_t o = 0; o < r->output_count; o++)
        if (!placed_tensor_is_untouched(&t.outputs[o], false, r->arena))
            return fail(r, "with a bad index: wrote outside output %u", o);
    // The evaluator reports it too, and clamps as the code does.
    tcc_tensor *inputs = arena_copy(r->arena, r->inputs, r->test->input_count * sizeof *inputs);
    inputs[input].data = bad.data;
    return check(r, inputs, CHECK_any) && run(r, "after a bad index", PLACE_dense, false);
}

static bool run_bad_indices(Runner *r) {
    bool good = true;
    for (uint32_t i = 0; r->test->bad_indices && i < r->test->input_count && good; i++)
        if (r->test->bad_indices[i] != 0 && tensor_elements(&r->test->inputs[i]) > 0)
            good = run_bad_index(r, i);
    return good;
}

// ---- the software GPU's checks

static bool find_in_device(void *out_function, const char *name) {
    void *library = dlopen(TCC_EMU_BUILT, RTLD_NOW | RTLD_LOCAL);
    void *address = library ? dlsym(library, name) : NULL;
    memcpy(out_function, &address, sizeof address);
    return address != NULL;
}

// The text of the last finding behind the first `before`; NULL for none.
static const char *find_finding(Arena *arena, uint64_t before) {
    uint64_t (*count)(void);
    int (*get)(uint64_t index, emu_finding * out_finding);
    emu_finding finding = {.size = sizeof finding};
    if (!find_in_device(&count, "emuFindingCount") || !find_in_device(&get, "emuFindingGet"))
        return "the software device has no list of findings";
    if (count() == before) return NULL;
    if (get(count() - 1, &finding) != 0) return "a finding that was not kept";
    return str_format(arena, "the software device says: %s", finding.text).data;
}

static uint64_t count_findings(void) {
    uint64_t (*count)(void);
    return find_in_device(&count, "emuFindingCount") ? count() : 0;
}

// ---- the whole

static tcc_tensor *view_dense(const Runner *r, const Tensor *tensors) {
    tcc_tensor *views = NEW_ARRAY(r->arena, tcc_tensor, r->test->input_count);
    for (uint32_t i = 0; i < r->test->input_count; i++) {
        const Tensor *t = &tensors[i];
        views[i] = (tcc_tensor){.size = sizeof *views,
                                .device = TCC_CPU,
                                .dtype = (int32_t)t->dtype,
                                .rank = t->rank,
                                .data = t->data};
        memcpy(views[i].dims, t->dims, sizeof views[i].dims);
    }
    return views;
}

static bool check_values(Runner *r) {
    const Tensor *tame = r->test->tame;
    if (r->test->unchecked) return true;
    if (!check(r, r->inputs, CHECK_any)) return false;
    return tame == NULL || check(r, view_dense(r, tame), CHECK_tame);
}

const char *library_case_run(const LibraryCase *test, Arena *arena, LibraryResult *out_result) {
    Runner r = {.test = test, .arena = arena, .result = out_result};
    *out_result = (LibraryResult){0};
    if (test->host->compiler == NULL) return "no compiler";
    r.inputs = view_dense(&r, test->inputs);
    uint64_t findings = test->host->device ? count_findings() : 0;
    bool good = compile(&r);
    if (good && !was_seen(&r))
        good = check_values(&r) && open_model(&r, 1, NULL) && shape_outputs(&r) &&
               run(&r, "1 thread", PLACE_dense, true) && check_memory(&r) && run_bad_indices(&r) &&
               run_again(&r) && run_with_layouts(&r);
    out_result->outputs = r.outputs;
    out_result->output_count = r.output_count;
    close_model(&r);
    tcc_unit_free(r.unit);
    const char *finding = test->host->device ? find_finding(arena, findings) : NULL;
    return finding ? finding : good ? NULL : r.fault;
}
