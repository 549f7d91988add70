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

int main(void) {
    RUN(test_vector_add);
    return test_done();
}
