// Every op alone through its skeleton: evaluator, tile programs in both states, compiled code.
#include "test.h"

#include "passes/kernel.h"
#include "tests/support/kernel_case.h"
#include "tests/support/op_cases.h"

static long cases, compiled;

// The GPUs that cases are compiled for in turn.
typedef struct Gpu {
    const char *target;
    PtxBatch batch;
    Emulated device;
} Gpu;

static Gpu gpus[] = {{.target = "sm_80"}, {.target = "sm_90a"}};
enum { GPUS = sizeof gpus / sizeof *gpus };

static void open_gpus(void) {
    for (int i = 0; i < GPUS; i++) {
        Arena *arena = arena_new(NULL);
        gpus[i].batch =
            (PtxBatch){.arena = arena, .target = gpus[i].target, .text = {.arena = arena}};
        CHECK(emulated_open(&gpus[i].device, gpus[i].target));
    }
}

static void close_gpus(void) {
    long assembled = 0, launches = 0;
    for (int i = 0; i < GPUS; i++) {
        const char *fault = ptx_batch_end(&gpus[i].batch);
        if (!CHECK(fault == NULL)) printf("    %.8000s\n", fault);
        assembled += gpus[i].batch.assembled;
        launches += gpus[i].device.launches;
        emulated_close(&gpus[i].device);
        arena_free(gpus[i].batch.arena);
    }
    printf("       %ld assembled for a GPU, %ld launches on the software device\n", assembled,
           launches);
}

static void choose_gpu(KernelCase *test) {
    Gpu *gpu = &gpus[compiled++ % GPUS];
    test->gpu = gpu->target;
    test->device = &gpu->device;
    if (ptx_assembler() != NULL && getenv("TCC_TEST_NO_PTXAS") == NULL)
        test->assembler = &gpu->batch;
}

// Names the case in front of the fault.
static void run_case(Op op, DType dtype, uint32_t number, bool *out_more) {
    Arena *arena = arena_new(NULL);
    IrContext *ctx = ir_context_new(arena);
    OpCase c;
    *out_more = op_case_build(ctx, arena, op, dtype, number, &c);
    if (*out_more && c.graph) {
        EvalValue inputs[OP_CASE_MAX_INPUTS] = {0};
        for (size_t i = 0; i < c.graph->inputs.count; i++)
            op_case_tensor(arena, graph_type(c.graph, c.graph->inputs.data[i]), c.symbols,
                           number * 31 + i, c.index_limits[i], &inputs[i].tensor);
        const char *skeleton = kernel_skeleton(op_info(op)->class);
        if (!skeleton) skeleton = "elementwise";
        cases++;
        KernelCase test = {.ctx = ctx,
                           .region = c.graph,
                           .skeleton = str_from(skeleton),
                           .symbols = c.symbols,
                           .inputs = inputs,
                           .compile = test_long() || cases % 7 == 0};
        if (test.compile) choose_gpu(&test);
        const char *fault = kernel_case_run(&test, arena);
        if (!CHECK(fault == NULL))
            printf("    %s %s case %u: %.1500s\n", op_info(op)->name, dtype_name(dtype), number,
                   fault);
    }
    ir_context_free(ctx);
    arena_free(arena);
}

// In the short form a sample of the cases: each op and dtype gets some of them.
static void test_ops(void) {
    open_gpus();
    const char *only = getenv("TCC_TEST_OP");
    uint32_t step = test_long() ? 1 : 37, start = 0;
    for (Op op = OP_none + 1; op < OP_count; op++) {
        if (!op_case_is_lowered(op) || (only && strcmp(only, op_info(op)->name) != 0)) continue;
        for (DType dtype = 0; dtype < DT_count; dtype++) {
            if (!op_accepts(op, dtype)) continue;
            bool more = true;
            for (uint32_t number = start++ % step; more; number += step)
                run_case(op, dtype, number, &more);
        }
    }
    close_gpus();
    printf("       %ld cases, %ld of them compiled\n", cases, compiled);
}

int main(void) {
    RUN(test_ops);
    return test_done();
}
