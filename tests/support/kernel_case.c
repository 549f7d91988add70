#include "tests/support/kernel_case.h"

#include "base/guard.h"
#include "codegen/lower/emit.h"
#include "codegen/lower/jit.h"
#include "codegen/skeleton/skeleton.h"
#include "codegen/tile/tile_tools.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Runner {
    const KernelCase *test;
    Arena *arena;
    EvalValue *expected;
    void **buffers; // of the program: inputs, then outputs
    int64_t *symbols;
    const char *what;
} Runner;

static uint32_t output_count(const Runner *r) { return (uint32_t)r->test->region->outputs.count; }

// Outputs are poisoned, so that an element that is not written shows.
static void poison_outputs(Runner *r) {
    size_t inputs = r->test->region->inputs.count;
    for (uint32_t i = 0; i < output_count(r); i++)
        memset(r->buffers[inputs + i], 0xA5, tensor_bytes(&r->expected[i].tensor) + 64);
}

// `guarded`: there are 64 bytes behind each output.
static const char *compare(Runner *r, bool guarded) {
    size_t inputs = r->test->region->inputs.count;
    for (uint32_t o = 0; o < output_count(r); o++) {
        const EvalValue *want = &r->expected[o];
        Tensor got = want->tensor;
        got.data = r->buffers[inputs + o];
        for (int64_t i = 0; i < tensor_elements(&got); i++) {
            double a = tensor_get(&got, i), b = tensor_get(&want->tensor, i);
            double bound = want->bound ? want->bound[i] : 0;
            bool exact = !dtype_is_float(got.dtype) &&
                         tensor_get_int(&got, i) == tensor_get_int(&want->tensor, i);
            if (exact || bound == INFINITY || a == b || (isnan(a) && isnan(b))) continue;
            if (!isnan(a) && !isnan(b) && !isinf(a) && !isinf(b) && fabs(a - b) <= bound) continue;
            return str_format(r->arena,
                              "%s: output %u element %lld: got %.17g, want %.17g, bound %g",
                              r->what, o, (long long)i, a, b, bound)
                .data;
        }
        const unsigned char *end = (unsigned char *)got.data + tensor_bytes(&got);
        for (int i = 0; guarded && i < 64; i++)
            if (end[i] != 0xA5)
                return str_format(r->arena, "%s: wrote past output %u", r->what, o).data;
    }
    return NULL;
}

static TileProgram *build(Runner *r, const Target *target, TileState state, const char **out_why) {
    SkeletonRequest request = {.ctx = r->test->ctx,
                               .arena = r->arena,
                               .region = r->test->region,
                               .name = STR("kernel"),
                               .strategy = r->test->strategy,
                               .target = target,
                               .state = state};
    request.schedule = r->test->schedule ? *r->test->schedule : skeleton_schedule(&request);
    const Skeleton *skeleton = skeleton_find(r->test->skeleton);
    TileProgram *program = skeleton->build(&request, out_why);
    if (!program) return NULL;
    const char *fault = tile_verify(program, r->arena);
    if (!fault) return program;
    Buf buf = {.arena = r->arena};
    buf_print(&buf, "verifier: %s\n", fault);
    tile_print(&buf, program);
    *out_why = buf.data;
    return NULL;
}

// Whether the program's text reads back as the same text.
static bool reads_back(Runner *r, const TileProgram *program) {
    Buf first = {.arena = r->arena}, second = {.arena = r->arena};
    IrContext *ctx = ir_context_new(r->arena);
    Diags *diags = diags_new(r->arena, NULL, NULL, 0);
    tile_print(&first, program);
    TileProgram *read =
        tile_parse(ctx, r->arena, diags, diags_add_file(diags, STR("tile"), buf_str(&first)));
    if (read) tile_print(&second, read);
    ir_context_free(ctx);
    return read && str_equal(buf_str(&first), buf_str(&second));
}

// Symbols made while building (loop variables) need room in the environment.
static void grow_symbols(Runner *r) {
    uint32_t count = dim_symbol_count(r->test->ctx);
    r->symbols = NEW_ARRAY(r->arena, int64_t, count + 64);
    for (uint32_t i = 0; i < count; i++) {
        bool named = dim_symbol_at(r->test->ctx, i)->kind == SYMBOL_named;
        r->symbols[i] = named ? r->test->symbols[i] : 0;
    }
}

static const char *interpret(Runner *r, const TileProgram *program) {
    const char *message = NULL;
    int64_t site;
    poison_outputs(r);
    grow_symbols(r);
    if (!tile_interpret(program, r->buffers, r->symbols, r->arena, &site, &message))
        return str_format(r->arena, "%s: interpreter: %s", r->what, message).data;
    if (site >= 0) return str_format(r->arena, "%s: an index error was reported", r->what).data;
    return compare(r, true);
}

static int64_t evaluate(const Runner *r, const Dim *dim) {
    int64_t value = 0;
    dim_evaluate(dim, r->symbols, &value);
    return value;
}

static const char *call(Runner *r, const TileProgram *program, const Target *target,
                        TccKernel *kernel, const DimSymbol *const *dims, uint32_t dim_count) {
    int64_t values[64], points = 1;
    TccErrorWord error = {0};
    for (uint32_t i = 0; i < dim_count; i++) values[i] = r->symbols[dims[i]->id];
    for (uint32_t i = 0; i < program->work_rank; i++)
        points *= evaluate(r, program->work_extents[i]);
    int64_t scratch = evaluate(r, lower_scratch(program, target).bytes);
    void *memory = aligned_alloc(64, (size_t)(scratch + 127) / 64 * 64);
    memset(memory, 0x5A, (size_t)scratch + 63);
    TccKernelArgs args = {
        .buffers = r->buffers, .dims = values, .scratch = memory, .error = &error};
    poison_outputs(r);
    // In three pieces, the last first: the order of points must not matter.
    int64_t a = points / 3, b = points - points / 4;
    kernel(&args, b, points);
    kernel(&args, 0, a);
    kernel(&args, a, b);
    free(memory);
    if (error.state != 0)
        return str_format(r->arena, "%s: an index error was reported", r->what).data;
    return compare(r, true);
}

enum { MAX_DIMS = 64 };

static uint32_t named_dims(const Runner *r, const DimSymbol **dims) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < dim_symbol_count(r->test->ctx) && count < MAX_DIMS; i++)
        if (dim_symbol_at(r->test->ctx, i)->kind == SYMBOL_named)
            dims[count++] = dim_symbol_at(r->test->ctx, i);
    return count;
}

// ---- PTX ----

static size_t element_bytes(const Tensor *tensor) {
    uint32_t bits = dtype_info(tensor->dtype)->bits;
    return bits < 8 ? 1 : bits / 8;
}

static EmulatedBuffer *device_buffers(Runner *r) {
    const Graph *g = r->test->region;
    size_t inputs = g->inputs.count, count = inputs + g->outputs.count;
    EmulatedBuffer *buffers = NEW_ARRAY(r->arena, EmulatedBuffer, count);
    for (size_t i = 0; i < count; i++) {
        const Tensor *t = i < inputs ? &r->test->inputs[i].tensor : &r->expected[i - inputs].tensor;
        buffers[i] = (EmulatedBuffer){.data = r->buffers[i],
                                      .bytes = tensor_bytes(t),
                                      .element = element_bytes(t),
                                      .packed = dtype_info(t->dtype)->bits < 8,
                                      .output = i >= inputs};
    }
    return buffers;
}

static const char *emulate(Runner *r, const TileProgram *program, const LowerOptions *options,
                           Str ptx) {
    LowerLaunch launch = lower_launch(program, options, r->arena);
    int64_t values[MAX_DIMS];
    for (uint32_t i = 0; i < launch.shape.dim_count; i++)
        values[i] = r->symbols[options->dims[launch.dims[i]]->id];
    const Graph *g = r->test->region;
    EmulatedLaunch what = {.ptx = ptx,
                           .symbol = options->symbol.data,
                           .shape = launch.shape,
                           .points = evaluate(r, launch.points),
                           .scratch = evaluate(r, launch.scratch),
                           .dims = values,
                           .buffers = device_buffers(r),
                           .buffer_count = (uint32_t)(g->inputs.count + g->outputs.count)};
    for (uint64_t turn = 0; turn < 2; turn++) {
        TccErrorWord error;
        what.misaligned = turn == 1;
        what.seed = turn;
        poison_outputs(r);
        const char *fault = emulated_run(r->test->device, &what, r->arena, &error);
        if (!fault && error.state != 0) fault = "an index error was reported";
        if (!fault) fault = compare(r, false);
        if (fault) return fault;
    }
    return NULL;
}

static const char *through_ptx(Runner *r, const TileProgram *program, const Target *target) {
    const KernelCase *test = r->test;
    const DimSymbol *dims[MAX_DIMS];
    long number = test->assembler ? test->assembler->kernels : 0;
    LowerOptions options = {.target = target,
                            .symbol = str_format(r->arena, "kernel_%ld", number),
                            .dims = dims,
                            .dim_count = named_dims(r, dims)};
    const char *message = NULL;
    Str ptx;
    Emitter *emitter = emitter_new(r->arena, target, test->fast ? EMIT_fast : EMIT_full);
    Status status =
        emit_program(emitter, program, &options, EMIT_assembly, r->arena, &ptx, &message);
    emitter_free(emitter);
    if (status != STATUS_ok) return message;
    const char *fault = test->assembler ? ptx_batch_add(test->assembler, ptx) : NULL;
    if (!fault && test->device) fault = emulate(r, program, &options, ptx);
    if (!fault) return NULL;
    return str_format(r->arena, "PTX: %s%s%.*s", fault, getenv("TCC_TEST_PTX") ? "\n" : "",
                      getenv("TCC_TEST_PTX") ? (int)ptx.size : 0, ptx.data)
        .data;
}

static const char *compile(Runner *r, const TileProgram *program, const Target *target) {
    const DimSymbol *dims[MAX_DIMS];
    uint32_t count = named_dims(r, dims);
    LowerOptions options = {
        .target = target, .symbol = STR("kernel"), .dims = dims, .dim_count = count};
    const char *message = NULL;
    Str object;
    Emitter *emitter = emitter_new(r->arena, target, EMIT_full);
    Status status =
        emit_program(emitter, program, &options, EMIT_object, r->arena, &object, &message);
    emitter_free(emitter);
    if (status != STATUS_ok) return str_format(r->arena, "%s: %s", r->what, message).data;
    Jit *jit = jit_new(r->arena, &message);
    TccKernel *kernel = NULL;
    if (jit && jit_add(jit, object, &message) == STATUS_ok)
        kernel = jit_find(jit, "kernel", &message);
    const char *fault = kernel ? call(r, program, target, kernel, dims, count)
                               : str_format(r->arena, "%s: %s", r->what, message).data;
    jit_free(jit);
    return fault;
}

static const char *run_one(Runner *r, const char *what, const char *target_name, TileState state) {
    const Target *target = target_find(str_from(target_name));
    const char *why = NULL;
    r->what = what;
    TileProgram *program = build(r, target, state, &why);
    if (!program) return str_format(r->arena, "%s: %s", what, why).data;
    const char *fault = reads_back(r, program) ? NULL : "its text does not read back";
    if (!fault) fault = interpret(r, program);
    if (!fault && state == TILE_placed && target->kind == TARGET_cpu && r->test->compile) {
        r->what = "compiled";
        fault = compile(r, program, target);
    }
    if (!fault && state == TILE_placed && target->kind == TARGET_gpu && r->test->gpu) {
        r->what = "PTX";
        fault = through_ptx(r, program, target);
    }
    if (!fault) return NULL;
    Buf buf = {.arena = r->arena};
    buf_print(&buf, "%s\n", fault);
    tile_print(&buf, program);
    return buf.data;
}

// The outputs as they are, one after the other.
static Str copy_outputs(const Runner *r) {
    Buf buf = {.arena = r->arena};
    for (uint32_t i = 0; i < output_count(r); i++)
        buf_put(&buf, (Str){r->buffers[r->test->region->inputs.count + i],
                            tensor_bytes(&r->expected[i].tensor)});
    return buf_str(&buf);
}

// For AVX-512 as well: its bits are those that AVX2 has left in the buffers.
static const char *run_wide(Runner *r) {
    if (!r->test->compile || !r->test->same_bits || !__builtin_cpu_supports("avx512vl"))
        return NULL;
    Str before = copy_outputs(r);
    const char *fault = run_one(r, "placed for x86-64-v4", "x86-64-v4", TILE_placed);
    if (!fault && !str_equal(before, copy_outputs(r))) fault = "AVX-512 has other bits than AVX2";
    return fault;
}

static const char *run_all(const KernelCase *test, Arena *arena) {
    Runner r = {.test = test, .arena = arena};
    const Graph *g = test->region;
    EvalOptions options = {.bounds = true, .symbols = test->symbols};
    EvalError error = {0};
    const char *message = NULL;
    r.expected = NEW_ARRAY(arena, EvalValue, g->outputs.count);
    if (!eval_graph(g, test->inputs, &options, arena, r.expected, &error, &message))
        return str_format(arena, "evaluator: %s", message).data;
    r.buffers = NEW_ARRAY(arena, void *, g->inputs.count + g->outputs.count);
    for (size_t i = 0; i < g->inputs.count; i++) r.buffers[i] = test->inputs[i].tensor.data;
    for (size_t i = 0; i < g->outputs.count; i++)
        r.buffers[g->inputs.count + i] =
            arena_alloc(arena, tensor_bytes(&r.expected[i].tensor) + 64);
    const char *fault = run_one(&r, "free", "x86-64-v3", TILE_free);
    if (!fault) fault = run_one(&r, "placed for x86-64-v3", "x86-64-v3", TILE_placed);
    if (!fault) fault = run_wide(&r);
    const char *gpu = test->gpu ? test->gpu : "sm_80";
    if (!fault) fault = run_one(&r, "placed for a GPU", gpu, TILE_placed);
    return fault;
}

const char *kernel_case_run(const KernelCase *test, Arena *arena) {
    Guard guard;
    const char *volatile fault = NULL;
    guard_enter(&guard);
    if (setjmp(guard.jump) == 0)
        fault = run_all(test, arena);
    else
        fault = str_copy(arena, str_from(guard.message)).data;
    guard_leave(&guard);
    return fault;
}
