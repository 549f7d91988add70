/* Compiled code against the evaluator: each kernel on the inputs that the compiled model gave it,
 * then the whole model. On a GPU the whole is a run of a session, which must give the bits of the
 * kernels one by one. */
#include "compiler/check.h"

#include "base/scratch.h"

#include <string.h>

const Program *check_program(const Checker *c) { return c->unit->core->result.program; }

/* ---- the whole model ------------------------------------------------------------------------- */

static tcc_tensor view_of(const Tensor *t) {
    tcc_tensor view = {
        .size = sizeof view, .dtype = (int32_t)t->dtype, .rank = t->rank, .data = t->data};
    memcpy(view.dims, t->dims, sizeof view.dims);
    return view;
}

/* A run of the session: the bits of the kernels one by one, where those were right, or a wrong
 * index as they had. */
static tcc_status run_whole(Checker *c, Tensor *outputs, tcc_tensor *views) {
    const Program *p = check_program(c);
    uint32_t count = (uint32_t)p->graph->outputs.count;
    char text[512] = "";
    for (uint32_t o = 0; o < count; o++) memset(outputs[o].data, 0, tensor_bytes(&outputs[o]));
    tcc_status status =
        check_device_run(c->device, c->inputs, c->input_count, views, count, text, sizeof text);
    if (status == TCC_INDEX && c->failed) return TCC_OK;
    if (status != TCC_OK) return compiler_fail(c->unit->compiler, status, "%s", text);
    for (uint32_t o = 0; o < count && !c->mismatch; o++) {
        const Tensor *one = &c->buffers[p->output_buffers[o]];
        if (memcmp(one->data, outputs[o].data, tensor_bytes(one)) == 0) continue;
        return compiler_fail(c->unit->compiler, TCC_MISMATCH,
                             "output %u of a run has other bits than its kernels one by one", o);
    }
    return TCC_OK;
}

/* Twice: the second run of the same dims is recorded. Then what the software device has found. */
static tcc_status run_session(Checker *c) {
    const Program *p = check_program(c);
    size_t count = p->graph->outputs.count;
    Tensor *outputs = NEW_ARRAY(c->arena, Tensor, count);
    tcc_tensor *views = NEW_ARRAY(c->arena, tcc_tensor, count);
    for (size_t o = 0; o < count; o++) {
        outputs[o] = c->buffers[p->output_buffers[o]];
        outputs[o].data = arena_alloc(c->arena, tensor_bytes(&outputs[o]) + 1);
        views[o] = view_of(&outputs[o]);
    }
    tcc_status status = run_whole(c, outputs, views);
    if (status == TCC_OK) status = run_whole(c, outputs, views);
    uint64_t found = check_device_findings(c->device) - c->findings;
    if (status == TCC_OK && found > 0)
        status = compiler_fail(c->unit->compiler, TCC_MISMATCH,
                               "the software device found %llu faults, which it has told",
                               (unsigned long long)found);
    return status;
}

static tcc_status check_model(Checker *c) {
    const Graph *g = c->unit->core->source;
    const Program *p = check_program(c);
    EvalValue *args = NEW_ARRAY(c->arena, EvalValue, g->inputs.count);
    EvalValue *want = NEW_ARRAY(c->arena, EvalValue, g->outputs.count);
    EvalOptions options = {.bounds = true, .symbols = c->symbols};
    EvalError error = {0};
    const char *message = NULL;
    for (size_t i = 0; i < g->inputs.count; i++) args[i].tensor = c->buffers[p->input_buffers[i]];
    if (!eval_graph(g, args, &options, c->arena, want, &error, &message))
        return compiler_fail(c->unit->compiler, TCC_INVALID, "the evaluator: %s", message);
    const char *found = check_index_text(c, g, &error);
    tcc_status status =
        check_same_report(c, "model", *g->name, c->failed, "one of its kernels", found);
    const Tensor **got = NEW_ARRAY(c->arena, const Tensor *, g->outputs.count);
    for (size_t o = 0; o < g->outputs.count; o++) got[o] = &c->buffers[p->output_buffers[o]];
    const EvalValue *kept = check_evaluate_kept(c, p->graph, args, got, want);
    CompareScope scope = compare_scope_of(g);
    for (size_t o = 0; status == TCC_OK && o < g->outputs.count; o++) {
        const char *name = str_terminated(c->arena, *g->outputs.data[o].name);
        Expected e = {scope, *g->name, name, got[o], &want[o], kept, found};
        if (kept != NULL) e.kept = &kept[o];
        check_compare(c, &e);
    }
    return status;
}

/* Checks a launch with memory of its own. `last` is the last launch that uses each buffer. */
static tcc_status take_launch(Checker *c, uint32_t number, const uint32_t *last) {
    const Program *p = check_program(c);
    const Launch *launch = &p->launches.data[number];
    Arena *whole = c->arena;
    Scratch scratch;
    for (uint32_t i = 0; i < launch->buffer_count; i++)
        if (c->homes[launch->buffers[i]] == NULL) check_make_buffer(c, launch->buffers[i]);
    c->arena = scratch_open(&scratch);
    tcc_status status = check_launch(c, launch);
    scratch_close(&scratch);
    c->arena = whole;
    for (uint32_t i = 0; i < launch->buffer_count; i++) {
        uint32_t buffer = launch->buffers[i];
        if (p->buffers.data[buffer].kind == BUFFER_arena && last[buffer] == number)
            check_free_buffer(c, buffer);
    }
    return status;
}

static tcc_status check_launches(Checker *c) {
    const Program *p = check_program(c);
    uint32_t *last = NEW_ARRAY(c->arena, uint32_t, p->buffers.count);
    for (uint32_t n = 0; n < p->launches.count; n++) {
        const Launch *launch = &p->launches.data[n];
        for (uint32_t i = 0; i < launch->buffer_count; i++) last[launch->buffers[i]] = n;
    }
    tcc_status status = TCC_OK;
    for (uint32_t n = 0; status == TCC_OK && n < p->launches.count; n++)
        status = take_launch(c, n, last);
    return status;
}

static void free_buffers(void *data) {
    Checker *c = data;
    for (uint32_t i = 0; c->homes != NULL && i < check_program(c)->buffers.count; i++)
        check_free_buffer(c, i);
}

static tcc_status run_checks(Checker *c) {
    c->symbols = NEW_ARRAY(c->arena, int64_t, dim_symbol_count(c->unit->core->ctx) + 1);
    c->dims = NEW_ARRAY(c->arena, int64_t, check_program(c)->dims.count + 1);
    tcc_status status = check_bind_dims(c);
    if (status == TCC_OK) status = check_make_buffers(c);
    if (status == TCC_OK) status = check_launches(c);
    if (status == TCC_OK && c->device != NULL) status = run_session(c);
    if (status == TCC_OK) status = check_model(c);
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */

static void close_device(void *data) {
    Checker *c = data;
    check_device_close(c->device);
    c->device = NULL;
}

static tcc_status open_device(Checker *c) {
    char text[512] = "";
    ArenaSource memory = c->unit->memory;
    tcc_allocator own = {sizeof own, memory.allocate, memory.release, memory.user};
    tcc_open_options options = {.size = sizeof options,
                                .threads = 1,
                                .device = c->device_name,
                                .allocator = memory.allocate == NULL ? NULL : &own};
    if (c->device_name == NULL) return TCC_OK;
    tcc_status status = check_device_open(&c->unit->core->artefact, &options, c->arena, &c->device,
                                          text, sizeof text);
    if (status != TCC_OK) return compiler_fail(c->unit->compiler, status, "%s", text);
    if (c->device != NULL) c->findings = check_device_findings(c->device);
    return TCC_OK;
}

static tcc_status check_body(void *data) {
    Checker *c = data;
    GuardDefer buffers, device;
    Scratch scratch;
    tcc_status status = unit_make_artefact(c->unit);
    if (status != TCC_OK) return status;
    c->arena = scratch_open(&scratch);
    guard_defer(&device, close_device, c);
    guard_defer(&buffers, free_buffers, c);
    status = open_device(c);
    if (status == TCC_OK) status = run_checks(c);
    guard_undefer(&buffers);
    free_buffers(c);
    guard_undefer(&device);
    close_device(c);
    scratch_close(&scratch);
    if (status != TCC_OK || !c->mismatch) return status;
    return compiler_fail(c->unit->compiler, TCC_MISMATCH,
                         "compiled code differs from the evaluator");
}

tcc_status tcc_unit_check_on(tcc_unit *unit, const char *device, const tcc_tensor *inputs,
                             uint32_t input_count, tcc_check_callback *callback, void *user) {
    Checker checker = {.unit = unit,
                       .inputs = inputs,
                       .input_count = input_count,
                       .callback = callback,
                       .user = user,
                       .device_name = device};
    if (inputs == NULL && input_count > 0)
        return compiler_refuse_null(unit_compiler(unit), "inputs");
    return unit_enter(unit, check_body, &checker);
}

tcc_status tcc_unit_check(tcc_unit *unit, const tcc_tensor *inputs, uint32_t input_count,
                          tcc_check_callback *callback, void *user) {
    return tcc_unit_check_on(unit, NULL, inputs, input_count, callback, user);
}
