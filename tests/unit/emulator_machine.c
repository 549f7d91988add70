// The machine as a whole: a kernel is loaded and run, memory is what it should be.
#include "tests/unit/emulator_run.h"

static const char *const vector_add =
    ".visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n"
    "{\n"
    ".reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<11>; .reg .f32 %f<4>;\n"
    "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c];\n"
    "ld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "setp.ge.s32 %p1, %r5, %r1;\n"
    "@%p1 bra DONE;\n"
    "cvta.to.global.u64 %rd4, %rd1; mul.wide.s32 %rd5, %r5, 4; add.s64 %rd6, %rd4, %rd5;\n"
    "cvta.to.global.u64 %rd7, %rd2; add.s64 %rd8, %rd7, %rd5;\n"
    "ld.global.f32 %f1, [%rd8]; ld.global.f32 %f2, [%rd6]; add.f32 %f3, %f2, %f1;\n"
    "cvta.to.global.u64 %rd9, %rd3; add.s64 %rd10, %rd9, %rd5;\n"
    "st.global.f32 [%rd10], %f3;\n"
    "DONE: ret;\n"
    "}\n";

static void test_vector_add(void) {
    enum { N = 1000 };
    float a[N], b[N];
    for (int i = 0; i < N; i++) a[i] = (float)i, b[i] = 0.5f * (float)i;
    Rig rig;
    rig_open(&rig, "sm_80");
    CHECK_INT(rig_load(&rig, vector_add), EMU_OK);
    CHECK_STR(rig.log, "");
    uint64_t parameters[4] = {rig_copy(&rig, a, sizeof a), rig_copy(&rig, b, sizeof b),
                              rig_memory(&rig, sizeof a), N};
    CHECK_INT(rig_run(&rig, "add", 8, 128, 0, parameters, false), EMU_OK);
    CHECK_INT(rig.findings, 0);
    CHECK_STR(rig.log, "");
    const float *c = (const float *)(const void *)rig_bytes(&rig, parameters[2]);
    int wrong = 0;
    for (int i = 0; i < N; i++) wrong += c[i] != a[i] + b[i];
    CHECK_INT(wrong, 0);
    CHECK_INT(rig.counters.memory, 8 * 4 * 4 + 32 * 3);
    rig_close(&rig);
}

// Each thread of a grid of blocks in three dimensions says who it is.
static const char *const who =
    ".visible .entry who(.param .u64 out)\n{\n"
    ".reg .pred %p; .reg .b32 %r<40>; .reg .b64 %d<8>;\n"
    "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;\n"
    "mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.z;\n"
    "mov.u32 %r7, %ntid.x; mov.u32 %r8, %ntid.y; mov.u32 %r9, %ntid.z;\n"
    "mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y; mov.u32 %r12, %nctaid.z;\n"
    "mad.lo.u32 %r13, %r3, %r8, %r2; mad.lo.u32 %r13, %r13, %r7, %r1;\n"   // thread of the block
    "mad.lo.u32 %r14, %r6, %r11, %r5; mad.lo.u32 %r14, %r14, %r10, %r4;\n" // block
    "mul.lo.u32 %r15, %r7, %r8; mul.lo.u32 %r15, %r15, %r9; mad.lo.u32 %r16, %r14, %r15, %r13;\n"
    "mov.u32 %r17, %laneid; mov.u32 %r18, %warpid; mad.lo.u32 %r19, %r18, 32, %r17;\n"
    "setp.ne.u32 %p, %r19, %r13; @%p trap;\n"
    "mov.u32 %r20, %lanemask_lt; popc.b32 %r21, %r20; setp.ne.u32 %p, %r21, %r17; @%p trap;\n"
    "mov.u32 %r22, %lanemask_ge; not.b32 %r22, %r22; setp.ne.u32 %p, %r22, %r20; @%p trap;\n"
    "mov.u32 %r23, %lanemask_le; mov.u32 %r24, %lanemask_eq; xor.b32 %r25, %r23, %r24;\n"
    "setp.ne.u32 %p, %r25, %r20; @%p trap; mov.u32 %r26, %lanemask_gt; or.b32 %r26, %r26, %r23;\n"
    "setp.ne.u32 %p, %r26, -1; @%p trap;\n"
    "mov.u64 %d3, %clock64; mov.u32 %r27, %clock; mov.u64 %d4, %globaltimer; mov.u64 %d5, "
    "%clock64;\n"
    "setp.ge.u64 %p, %d3, %d5; @%p trap;\n"
    "mul.wide.u32 %d2, %r16, 4; add.s64 %d1, %d1, %d2; add.u32 %r16, %r16, 1;\n"
    "st.global.u32 [%d1], %r16; ret;\n}\n";

static void test_who(void) {
    Rig rig;
    rig_open(&rig, "sm_89");
    if (!CHECK_INT(rig_load(&rig, who), EMU_OK)) printf("%s\n", rig.log);
    for (int workers = 1; workers <= 3; workers += 2) {
        enum { N = 2 * 3 * 2 * 5 * 3 * 4 };
        uint64_t address = rig_memory(&rig, 4 * N);
        EmuReporter reporter = {rig_finding, rig_print, &rig, coverage_note};
        EmuLaunch launch = {.function = emu_module_function(rig.module, STR("who")),
                            .grid = {2, 3, 2},
                            .block = {5, 3, 4},
                            .parameters = &address};
        rig.options.workers = workers;
        CHECK_INT(emu_launch(rig.device, &launch, &rig.options, &reporter, NULL), EMU_OK);
        CHECK_STR(rig.log, "");
        const uint32_t *words = (const uint32_t *)(const void *)rig_bytes(&rig, address);
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < N; i++) wrong += words[i] != i + 1;
        CHECK_INT(wrong, 0);
    }
    rig_close(&rig);
}

// Initial values: arrays, addresses of variables and of parts of them.
static const char *const variables =
    ".visible .global .align 4 .u32 numbers[4] = {1, 2, 3};\n"
    ".visible .global .align 8 .u64 places[3] = {numbers, numbers+8, generic(numbers)};\n"
    ".visible .global .align 1 .b8 bytes[8] = {0xFF(numbers), 0xFF00(numbers), 7, 0};\n"
    ".visible .const .f32 half = 0f3F000000;\n"
    ".visible .global .f64 wide[2] = {1.5, -2.0};\n"
    ".visible .entry nothing() { ret; }\n";

static void test_variables(void) {
    Rig rig;
    uint64_t numbers, places, at, size;
    rig_open(&rig, "sm_80");
    if (!CHECK_INT(rig_load(&rig, variables), EMU_OK)) printf("%s\n", rig.log);
    CHECK(emu_module_variable(rig.module, STR("numbers"), &numbers, &size));
    CHECK_INT(size, 16);
    static const uint32_t want[] = {1, 2, 3, 0};
    CHECK_MEM(rig_bytes(&rig, numbers), want, 16);
    CHECK(emu_module_variable(rig.module, STR("places"), &places, &size));
    uint64_t addresses[] = {numbers, numbers + 8, numbers};
    CHECK_MEM(rig_bytes(&rig, places), addresses, 24);
    CHECK(emu_module_variable(rig.module, STR("bytes"), &at, &size));
    uint8_t parts[] = {(uint8_t)numbers, (uint8_t)(numbers >> 8), 7, 0, 0, 0, 0, 0};
    CHECK_MEM(rig_bytes(&rig, at), parts, 8);
    CHECK(emu_module_variable(rig.module, STR("half"), &at, &size));
    float half = 0.5f;
    CHECK_MEM(rig_bytes(&rig, at), &half, 4);
    CHECK(emu_module_variable(rig.module, STR("wide"), &at, &size));
    double wide[] = {1.5, -2};
    CHECK_MEM(rig_bytes(&rig, at), wide, 16);
    CHECK(!emu_module_variable(rig.module, STR("nowhere"), &at, &size));
    CHECK(emu_module_function(rig.module, STR("nowhere")) == NULL);
    CHECK_INT(emu_module_function_count(rig.module), 1);
    uint64_t before = emu_memory_blocks(emu_device_memory(rig.device));
    emu_module_free(rig.module);
    rig.module = NULL;
    CHECK_INT(emu_memory_blocks(emu_device_memory(rig.device)), before - 5);
    rig_close(&rig);
}

int main(void) {
    RUN(test_vector_add);
    RUN(test_who);
    RUN(test_variables);
    return test_done();
}
