// The elementwise ops of floats as they are compiled for GPUs: within the evaluator's bounds over
// edges and many values, however the device's approximate units err, and without an instruction
// whose result the device may choose.
#include "test.h"

#include "codegen/lower/emit.h"
#include "codegen/skeleton/skeleton.h"
#include "ir/build.h"
#include "tests/support/kernel_case.h"
#include "tests/support/op_cases.h"

enum { ELEMENTS = 3072 };

static Emulated device;
static long kernels;

// Bit patterns of every kind, and more of the numbers that programs have.
static void fill(Tensor *tensor, uint64_t seed) {
    uint32_t bits = dtype_info(tensor->dtype)->bits;
    uint64_t state = seed;
    op_case_fill(tensor, seed % 2 ? VALUES_wild : VALUES_tame, seed, 0);
    for (int64_t i = 0; i < ELEMENTS / 3; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t pattern = bits == 64 ? state ^ state << 32 : state >> (64 - bits);
        memcpy((char *)tensor->data + i * (bits / 8), &pattern, bits / 8);
    }
}

static Graph *graph_of(IrContext *ctx, Arena *arena, Op op, DType dtype) {
    Graph *g = graph_new(ctx, arena, STR("math"));
    const Dim *dims[] = {dim_const(ctx, ELEMENTS)};
    const Type *type = type_tensor(ctx, dtype, 1, dims);
    NodeId a = graph_add_input(g, STR("a"), type, NULL);
    NodeId result = op_info(op)->class == CLASS_UNARY
                        ? build_unary(g, op, a)
                        : build_binary(g, op, a, graph_add_input(g, STR("b"), type, NULL));
    graph_add_output(g, STR("y"), result);
    return g;
}

// Two runs a case, and each takes the next of the four ways to be wrong.
static void check_values(Op op, DType dtype) {
    for (uint64_t turn = 0; turn < (test_long() ? 2 : 1); turn++) {
        Arena *arena = arena_new(NULL);
        IrContext *ctx = ir_context_new(arena);
        const int64_t dims[] = {ELEMENTS}, symbols[] = {0};
        EvalValue inputs[2] = {0};
        for (int i = 0; i < 2; i++) {
            Tensor *t = &inputs[i].tensor;
            *t = (Tensor){.dtype = dtype, .rank = 1, .dims = {dims[0]}};
            t->data = arena_alloc(arena, tensor_bytes(t) + 64);
            fill(t, 2 * turn + (uint64_t)i + 10 * (uint64_t)op);
        }
        KernelCase test = {.ctx = ctx,
                           .region = graph_of(ctx, arena, op, dtype),
                           .skeleton = STR("elementwise"),
                           .symbols = symbols,
                           .inputs = inputs,
                           .gpu = "sm_80",
                           .device = &device};
        const char *fault = kernel_case_run(&test, arena);
        kernels++;
        if (!CHECK(fault == NULL))
            printf("    %s %s: %.1500s\n", op_info(op)->name, dtype_name(dtype), fault);
        ir_context_free(ctx);
        arena_free(arena);
    }
}

static bool is_elementwise(Op op) {
    OpClass class = op_info(op)->class;
    return class == CLASS_UNARY || class == CLASS_BINARY || class == CLASS_COMPARE;
}

static void test_values(void) {
    CHECK(emulated_open(&device, "sm_80"));
    for (Op op = OP_none + 1; op < OP_count; op++) {
        for (DType dtype = 0; dtype < DT_count && is_elementwise(op); dtype++)
            if (dtype_is_float(dtype) && op_accepts(op, dtype)) check_values(op, dtype);
    }
    printf("       %ld kernels, %ld launches\n", kernels, device.launches);
    emulated_close(&device);
}

// ---- what the instructions leave open ----------------------------------------------------------

static Str ptx_of(Arena *arena, Op op, DType dtype) {
    IrContext *ctx = ir_context_new(arena);
    const Target *target = target_find(STR("sm_80"));
    const char *message = NULL;
    SkeletonRequest request = {.ctx = ctx,
                               .arena = arena,
                               .region = graph_of(ctx, arena, op, dtype),
                               .name = STR("kernel"),
                               .target = target,
                               .state = TILE_placed};
    request.schedule = skeleton_schedule(&request);
    TileProgram *program = skeleton_find(STR("elementwise"))->build(&request, &message);
    LowerOptions options = {.target = target, .symbol = STR("kernel")};
    Emitter *emitter = emitter_new(arena, target, EMIT_full);
    Str ptx = {"", 0};
    if (program) emit_program(emitter, program, &options, EMIT_assembly, arena, &ptx, &message);
    emitter_free(emitter);
    ir_context_free(ctx);
    return ptx;
}

static bool has(Str text, const char *part) {
    return memmem(text.data, text.size, part, strlen(part)) != NULL;
}

// An instruction that may give more than one result: an approximation, a flush of subnormals, or a
// product and a sum without a rounding of their own, which an assembler may contract.
static bool is_open(Str instruction) {
    static const char *const rounded[] = {"add.f", "sub.f", "mul.f", "mad.f", "add.bf", "mul.bf"};
    if (has(instruction, ".approx") || has(instruction, ".full") || has(instruction, ".ftz"))
        return true;
    for (size_t i = 0; i < sizeof rounded / sizeof *rounded; i++)
        if (str_starts_with(instruction, str_from(rounded[i]))) return true;
    return false;
}

static Str next_word(Str *text) {
    size_t begin = 0, end;
    while (begin < text->size && (unsigned char)text->data[begin] <= ' ') begin++;
    for (end = begin; end < text->size && (unsigned char)text->data[end] > ' ';) end++;
    Str word = {text->data + begin, end - begin};
    *text = (Str){text->data + end, text->size - end};
    return word;
}

static void test_instructions(void) {
    long words = 0;
    for (Op op = OP_none + 1; op < OP_count; op++) {
        for (DType dtype = 0; dtype < DT_count && is_elementwise(op); dtype++) {
            // Narrower ones are computed as f32.
            bool shown = dtype == DT_f64 || dtype == DT_f32 || dtype == DT_f16;
            if (!shown || !op_accepts(op, dtype)) continue;
            Arena *arena = arena_new(NULL);
            Str text = ptx_of(arena, op, dtype);
            CHECK(has(text, ".entry"));
            for (Str word = next_word(&text); word.size; word = next_word(&text), words++)
                if (!CHECK(!is_open(word)))
                    printf("    %s %s: %.*s\n", op_info(op)->name, dtype_name(dtype),
                           STR_ARG(word));
            arena_free(arena);
        }
    }
    CHECK(words > 10000);
    CHECK(is_open(STR("mul.f32")) && is_open(STR("ex2.approx.ftz.f32")));
    CHECK(!is_open(STR("mul.rn.f32")) && !is_open(STR("div.rn.f32")));
}

int main(void) {
    RUN(test_values);
    RUN(test_instructions);
    return test_done();
}
