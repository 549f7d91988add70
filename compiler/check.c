/* Compiled code against the evaluator: each kernel on the inputs that the compiled model gave it,
 * then the whole model. On a GPU the whole is a run of a session, which must give the bits of the
 * kernels one by one; each kernel runs twice, from memory that is aligned and from such that is
 * not, since it has code for both. */
#include "base/scratch.h"
#include "compiler/check_device.h"
#include "compiler/compare.h"
#include "compiler/session.h"
#include "ir/excess.h"
#include "ir/infer.h"
#include "runtime/copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

typedef struct Checker {
    tcc_unit *unit;
    const tcc_tensor *inputs;
    uint32_t input_count;
    tcc_check_callback *callback;
    void *user;
    const char *device_name; /* as in tcc_open_options */
    CheckDevice *device;     /* NULL on the CPU */
    uint64_t findings;       /* of the software device before */
    Arena *arena;
    int64_t *symbols; /* by id */
    int64_t *dims;    /* by slot */
    Tensor *buffers;  /* of the program, with the compiled values */
    Arena **homes;    /* by buffer: where it lives, NULL when it does not */
    bool mismatch;
    bool failed; /* a kernel reported an index out of range */
} Checker;

static const Program *program_of(const Checker *c) { return c->unit->core->result.program; }

/* One output of a kernel or of the model, and what it should be. */
typedef struct Expected {
    CompareScope scope;
    Str kernel;
    const char *output;
    const Tensor *got;
    const EvalValue *want, *kept; /* as for compare_tensors */
    const char *error;            /* an index out of range, or NULL */
} Expected;

static void compare(Checker *c, const Expected *e) {
    tcc_check_result r = {.kernel = str_terminated(c->arena, e->kernel), .output = e->output};
    compare_tensors(e->got, e->want, e->kept, e->scope, &r);
    r.error = e->error;
    if (!r.agrees) c->mismatch = true;
    if (c->callback != NULL) c->callback(c->user, &r);
}

/* ---- indices out of range -------------------------------------------------------------------- */

static void put_index(Buf *buf, int64_t index, int64_t bound) {
    buf_print(buf, "index %lld is not in %lld..%lld", (long long)index, (long long)-bound,
              (long long)(bound - 1));
}

/* What the evaluator found on `graph`, with its place; NULL when it found nothing. */
static const char *index_text(const Checker *c, const Graph *graph, const EvalError *error) {
    Buf buf = {.arena = c->arena};
    if (!error->failed) return NULL;
    Loc loc = origin_loc(graph_node(graph, error->node)->origin);
    diags_put_place(&buf, c->unit->core->diags, loc);
    if (buf.size > 0) buf_put(&buf, STR(": "));
    put_index(&buf, error->index, error->bound);
    return buf.data;
}

/* Whether both report an index out of range or neither does. Which of several comes first is the
 * compiled code's choice. */
static tcc_status same_report(Checker *c, const char *what, Str name, bool failed,
                              const char *compiled, const char *expected) {
    if (failed == (expected != NULL)) return TCC_OK;
    c->mismatch = true;
    return compiler_fail(c->unit->compiler, TCC_MISMATCH,
                         "%s %.*s: only %s reports an index out of range: %s", what, STR_ARG(name),
                         failed ? "the compiled code" : "the evaluator",
                         failed ? compiled : expected);
}

/* ---- preparing ------------------------------------------------------------------------------- */

static void make_buffer(Checker *c, uint32_t number) {
    const Type *type = program_of(c)->buffers.data[number].type;
    Tensor *t = &c->buffers[number];
    *t = (Tensor){.dtype = type->dtype, .rank = type->rank};
    for (uint32_t i = 0; i < type->rank; i++)
        if (!dim_evaluate(type->dims[i], c->symbols, &t->dims[i])) t->dims[i] = 0;
    c->homes[number] = arena_new(NULL);
    char *raw = arena_alloc(c->homes[number], tensor_bytes(t) + 2 * ALIGNMENT);
    t->data = raw + (ALIGNMENT - (uintptr_t)raw % ALIGNMENT);
    memset(t->data, 0xA5, tensor_bytes(t));
}

static void free_buffer(Checker *c, uint32_t number) {
    arena_free(c->homes[number]);
    c->homes[number] = NULL;
}

/* The dims from the inputs' shapes, by slot and by symbol. */
static tcc_status bind_dims(Checker *c) {
    const Graph *g = program_of(c)->graph;
    if (c->input_count != g->inputs.count)
        return compiler_fail(c->unit->compiler, TCC_INVALID,
                             "%u inputs were given, the model has %zu", c->input_count,
                             g->inputs.count);
    for (size_t i = 0; i < g->inputs.count; i++) {
        const Type *type = graph_type(g, g->inputs.data[i]);
        if (c->inputs[i].size != sizeof *c->inputs || c->inputs[i].device != TCC_CPU)
            return compiler_fail(c->unit->compiler, TCC_INVALID,
                                 "input %zu: tcc_tensor.size or device is wrong", i);
        if (c->inputs[i].rank != type->rank || c->inputs[i].dtype != (int32_t)type->dtype)
            return compiler_fail(c->unit->compiler, TCC_INVALID,
                                 "input %zu has a wrong dtype or rank", i);
        for (uint32_t a = 0; a < type->rank; a++) {
            const DimSymbol *symbol = dim_as_symbol(type->dims[a]);
            if (symbol == NULL) continue;
            int64_t size = c->inputs[i].dims[a];
            if (size < symbol->lo || size > symbol->hi)
                return compiler_fail(c->unit->compiler, TCC_INVALID,
                                     "input %zu: dim %.*s is %lld, not in %lld..%lld", i,
                                     STR_ARG(symbol->name), (long long)size, (long long)symbol->lo,
                                     (long long)symbol->hi);
            c->symbols[symbol->id] = size;
        }
    }
    for (size_t i = 0; i < program_of(c)->dims.count; i++)
        c->dims[i] = c->symbols[program_of(c)->dims.data[i]->id];
    return TCC_OK;
}

/* The caller's tensor as a dense one: its strides are taken as a run takes them. */
static tcc_status take_input(Checker *c, uint32_t index, Tensor *out) {
    const tcc_tensor *input = &c->inputs[index];
    uint32_t bits = dtype_info(out->dtype)->bits;
    for (uint32_t a = 0; a < input->rank; a++)
        if (input->dims[a] != out->dims[a])
            return compiler_fail(c->unit->compiler, TCC_INVALID,
                                 "input %u: axis %u has %lld elements, expected %lld", index, a,
                                 (long long)input->dims[a], (long long)out->dims[a]);
    if (tensor_elements(out) == 0) return TCC_OK;
    if (input->data == NULL)
        return compiler_fail(c->unit->compiler, TCC_INVALID, "input %u has no data", index);
    if (bits < 8 && !tensor_is_dense(input))
        return compiler_fail(c->unit->compiler, TCC_INVALID,
                             "input %u has 4-bit elements and must be dense", index);
    if (bits < 8)
        memcpy(out->data, tensor_begin(input), tensor_bytes(out));
    else
        tensor_gather(input, bits / 8, out->data);
    return TCC_OK;
}

/* What the caller and the model own; buffers between kernels are made for their first kernel. */
static tcc_status make_buffers(Checker *c) {
    const Program *p = program_of(c);
    c->buffers = NEW_ARRAY(c->arena, Tensor, p->buffers.count);
    c->homes = NEW_ARRAY(c->arena, Arena *, p->buffers.count);
    tcc_status status = TCC_OK;
    for (uint32_t i = 0; i < p->buffers.count && status == TCC_OK; i++) {
        const Buffer *b = &p->buffers.data[i];
        if (b->kind == BUFFER_arena) continue;
        make_buffer(c, i);
        if (b->kind == BUFFER_constant)
            memcpy(c->buffers[i].data, p->constants.data[b->index].blob->bytes,
                   tensor_bytes(&c->buffers[i]));
        if (b->kind == BUFFER_input) status = take_input(c, b->index, &c->buffers[i]);
    }
    return status;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static int64_t evaluate(const Checker *c, const Dim *dim) {
    int64_t value = 0;
    return dim_evaluate(dim, c->symbols, &value) ? value : 0;
}

/* On the CPU. */
static tcc_status run_here(Checker *c, const Launch *launch, TccErrorWord *out_error) {
    const TccArtefact *artefact = &c->unit->core->artefact;
    const Program *p = program_of(c);
    uint32_t variant = 0;
    while (artefact->kernels[variant * p->kernels.count + launch->kernel] == NULL) variant++;
    size_t at = variant * p->kernels.count + launch->kernel;
    const KernelFacts *facts = &c->unit->core->kernels.facts[at];
    void **pointers = NEW_ARRAY(c->arena, void *, launch->buffer_count);
    for (uint32_t i = 0; i < launch->buffer_count; i++)
        pointers[i] = c->buffers[launch->buffers[i]].data;
    size_t scratch = (size_t)evaluate(c, facts->scratch) + ALIGNMENT;
    void *memory = aligned_alloc(ALIGNMENT, (scratch + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (memory == NULL) return compiler_fail(c->unit->compiler, TCC_MEMORY, "out of memory");
    TccKernelArgs args = {
        .buffers = pointers, .dims = c->dims, .scratch = memory, .error = out_error};
    artefact->kernels[at](&args, 0, evaluate(c, facts->points));
    free(memory);
    return TCC_OK;
}

static DeviceBuffer *device_buffers(const Checker *c, const Launch *launch) {
    uint32_t inputs = (uint32_t)program_of(c)->kernels.data[launch->kernel].region->inputs.count;
    DeviceBuffer *buffers = NEW_ARRAY(c->arena, DeviceBuffer, launch->buffer_count);
    for (uint32_t i = 0; i < launch->buffer_count; i++) {
        const Tensor *t = &c->buffers[launch->buffers[i]];
        uint32_t bits = dtype_info(t->dtype)->bits;
        buffers[i] = (DeviceBuffer){.data = t->data,
                                    .bytes = tensor_bytes(t),
                                    .element = bits < 8 ? 1 : bits / 8,
                                    .output = i >= inputs,
                                    .packed = bits < 8};
    }
    return buffers;
}

/* Once more from memory aligned for the dtypes alone, into memory of its own: the same bits. */
static tcc_status run_misaligned(Checker *c, const Launch *launch, DeviceLaunch what, char *text,
                                 size_t size) {
    DeviceBuffer *others = arena_copy(c->arena, what.buffers, what.buffer_count * sizeof *others);
    TccErrorWord error;
    for (uint32_t i = 0; i < what.buffer_count; i++)
        if (others[i].output) others[i].data = arena_alloc(c->arena, others[i].bytes + 1);
    what.misaligned = true;
    const DeviceBuffer *first = what.buffers;
    what.buffers = others;
    tcc_status status = check_device_launch(c->device, &what, c->arena, &error, text, size);
    for (uint32_t i = 0; i < what.buffer_count && status == TCC_OK && what.points > 0; i++) {
        if (!first[i].output || memcmp(first[i].data, others[i].data, first[i].bytes) == 0)
            continue;
        status = TCC_MISMATCH;
        Str name = *program_of(c)->kernels.data[launch->kernel].name;
        snprintf(text, size, "kernel %.*s gives other bits when its buffers are not aligned",
                 STR_ARG(name));
    }
    return status;
}

static tcc_status run_there(Checker *c, const Launch *launch, TccErrorWord *out_error) {
    const GpuFacts *facts = &c->unit->core->gpu_image.facts[launch->kernel];
    DeviceLaunch what = {.kernel = launch->kernel,
                         .buffers = device_buffers(c, launch),
                         .buffer_count = launch->buffer_count,
                         .dims = c->dims,
                         .points = evaluate(c, facts->points),
                         .scratch = evaluate(c, facts->scratch)};
    char text[512] = "";
    tcc_status status =
        check_device_launch(c->device, &what, c->arena, out_error, text, sizeof text);
    if (status == TCC_OK) status = run_misaligned(c, launch, what, text, sizeof text);
    return status == TCC_OK ? status : compiler_fail(c->unit->compiler, status, "%s", text);
}

static tcc_status run_kernel(Checker *c, const Launch *launch, const char *expected_error) {
    TccErrorWord error = {0};
    tcc_status status =
        c->device != NULL ? run_there(c, launch, &error) : run_here(c, launch, &error);
    if (status != TCC_OK) return status;
    bool failed = error.state != 0;
    Buf compiled = {.arena = c->arena};
    put_index(&compiled, error.index, error.bound);
    c->failed |= failed;
    return same_report(c, "kernel", *program_of(c)->kernels.data[launch->kernel].name, failed,
                       compiled.data, expected_error);
}

/* Where tolerances say nothing of some output: the results of `graph`, on the same inputs, whose 8-
 * and 16-bit floats stay f32 as long as they may. NULL where it is not asked, or has none. */
static EvalValue *evaluate_kept(const Checker *c, const Graph *graph, const EvalValue *args,
                                const Tensor *const *got, const EvalValue *want) {
    const Options *o = &c->unit->core->options;
    size_t count = graph->outputs.count;
    bool open = false;
    for (size_t i = 0; i < count; i++) open = open || compare_is_open(got[i], &want[i]);
    if (!open || o->round_everywhere || o->level == 0) return NULL;
    bool whole = graph == program_of(c)->graph;
    const Graph *kept = whole ? excess_kernels(graph, c->arena) : excess_region(graph, c->arena);
    EvalValue *results = NEW_ARRAY(c->arena, EvalValue, count);
    EvalOptions options = {.bounds = true, .symbols = c->symbols};
    EvalError error = {0};
    const char *message = NULL;
    bool good = eval_graph(kept, args, &options, c->arena, results, &error, &message);
    return good ? results : NULL;
}

static tcc_status check_launch(Checker *c, const Launch *launch) {
    const Kernel *kernel = &program_of(c)->kernels.data[launch->kernel];
    const Graph *region = kernel->region;
    uint32_t inputs = (uint32_t)region->inputs.count;
    EvalValue *args = NEW_ARRAY(c->arena, EvalValue, inputs);
    EvalValue *want = NEW_ARRAY(c->arena, EvalValue, region->outputs.count);
    EvalOptions options = {.bounds = true, .symbols = c->symbols};
    EvalError error = {0};
    const char *message = NULL;
    for (uint32_t i = 0; i < inputs; i++) args[i].tensor = c->buffers[launch->buffers[i]];
    if (!eval_graph(region, args, &options, c->arena, want, &error, &message))
        return compiler_fail(c->unit->compiler, TCC_INVALID, "the evaluator: %s", message);
    const char *found = index_text(c, region, &error);
    tcc_status status = run_kernel(c, launch, found);
    if (status != TCC_OK) return status;
    const Tensor **got = NEW_ARRAY(c->arena, const Tensor *, region->outputs.count);
    for (uint32_t o = 0; o < region->outputs.count; o++)
        got[o] = &c->buffers[launch->buffers[inputs + o]];
    const EvalValue *kept = evaluate_kept(c, region, args, got, want);
    for (uint32_t o = 0; o < region->outputs.count; o++) {
        const char *name = str_format(c->arena, "%u", o).data;
        Expected e = {COMPARE_kernel, *kernel->name, name, got[o], &want[o], kept, found};
        if (kept != NULL) e.kept = &kept[o];
        compare(c, &e);
    }
    return TCC_OK;
}

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
    const Program *p = program_of(c);
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
    const Program *p = program_of(c);
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
    const Program *p = program_of(c);
    EvalValue *args = NEW_ARRAY(c->arena, EvalValue, g->inputs.count);
    EvalValue *want = NEW_ARRAY(c->arena, EvalValue, g->outputs.count);
    EvalOptions options = {.bounds = true, .symbols = c->symbols};
    EvalError error = {0};
    const char *message = NULL;
    for (size_t i = 0; i < g->inputs.count; i++) args[i].tensor = c->buffers[p->input_buffers[i]];
    if (!eval_graph(g, args, &options, c->arena, want, &error, &message))
        return compiler_fail(c->unit->compiler, TCC_INVALID, "the evaluator: %s", message);
    const char *found = index_text(c, g, &error);
    tcc_status status = same_report(c, "model", *g->name, c->failed, "one of its kernels", found);
    const Tensor **got = NEW_ARRAY(c->arena, const Tensor *, g->outputs.count);
    for (size_t o = 0; o < g->outputs.count; o++) got[o] = &c->buffers[p->output_buffers[o]];
    const EvalValue *kept = evaluate_kept(c, p->graph, args, got, want);
    for (size_t o = 0; status == TCC_OK && o < g->outputs.count; o++) {
        const char *name = str_terminated(c->arena, *g->outputs.data[o].name);
        Expected e = {COMPARE_model, *g->name, name, got[o], &want[o], kept, found};
        if (kept != NULL) e.kept = &kept[o];
        compare(c, &e);
    }
    return status;
}

/* Checks a launch with memory of its own. `last` is the last launch that uses each buffer. */
static tcc_status take_launch(Checker *c, uint32_t number, const uint32_t *last) {
    const Program *p = program_of(c);
    const Launch *launch = &p->launches.data[number];
    Arena *whole = c->arena;
    Scratch scratch;
    for (uint32_t i = 0; i < launch->buffer_count; i++)
        if (c->homes[launch->buffers[i]] == NULL) make_buffer(c, launch->buffers[i]);
    c->arena = scratch_open(&scratch);
    tcc_status status = check_launch(c, launch);
    scratch_close(&scratch);
    c->arena = whole;
    for (uint32_t i = 0; i < launch->buffer_count; i++) {
        uint32_t buffer = launch->buffers[i];
        if (p->buffers.data[buffer].kind == BUFFER_arena && last[buffer] == number)
            free_buffer(c, buffer);
    }
    return status;
}

static tcc_status check_launches(Checker *c) {
    const Program *p = program_of(c);
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
    for (uint32_t i = 0; c->homes != NULL && i < program_of(c)->buffers.count; i++)
        free_buffer(c, i);
}

static tcc_status run_checks(Checker *c) {
    c->symbols = NEW_ARRAY(c->arena, int64_t, dim_symbol_count(c->unit->core->ctx) + 1);
    c->dims = NEW_ARRAY(c->arena, int64_t, program_of(c)->dims.count + 1);
    tcc_status status = bind_dims(c);
    if (status == TCC_OK) status = make_buffers(c);
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
