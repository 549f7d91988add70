// Where things lie on the emulated device: aligned as was asked for and to no more, apart from each
// other, and filled with what nobody would take for a value.
#include "tests/unit/emulator_run.h"

enum { WORDS = 16 };

static void run_words(Rig *rig, const char *text, uint32_t shared, uint32_t *out_words) {
    memset(out_words, 0, WORDS * sizeof *out_words);
    if (!CHECK_INT(rig_load(rig, text), EMU_OK)) printf("%s\n", rig->log);
    if (!rig->module) return;
    uint64_t parameters[1] = {rig_memory(rig, WORDS * sizeof *out_words)};
    CHECK_INT(rig_run(rig, "kernel", 1, 1, shared, parameters, false), EMU_OK);
    memcpy(out_words, rig_bytes(rig, parameters[0]), WORDS * sizeof *out_words);
}

#define HEAD                                                                                       \
    ".visible .entry kernel(.param .u64 out)\n{\n"                                                 \
    ".reg .b32 %r<16>; .reg .b64 %d<8>; .reg .pred %p<4>;\n"                                       \
    "ld.param.u64 %d0, [out];\n"

// Of 2 to the power of what is asked, an odd multiple.
static bool is_barely(uint64_t address, uint64_t align) {
    return address % align == 0 && address % (2 * align) != 0;
}

static void test_shared(void) {
    Rig rig;
    uint32_t words[WORDS];
    rig_open(&rig, "sm_80");
    run_words(&rig,
              ".extern .shared .align 16 .b8 dynamic[];\n"
              ".shared .align 4 .b8 a[12];\n.shared .align 16 .b8 b[40];\n.shared .b8 c[5];\n"
              ".shared .align 128 .b8 d[128];\n" HEAD
              "mov.u32 %r1, a; st.global.u32 [%d0], %r1;\nmov.u32 %r1, b; st.global.u32 [%d0+4], "
              "%r1;\nmov.u32 %r1, c; st.global.u32 [%d0+8], %r1;\nmov.u32 %r1, d; st.global.u32 "
              "[%d0+12], %r1;\nmov.u32 %r1, dynamic; st.global.u32 [%d0+16], %r1;\n"
              "mov.u32 %r1, %total_smem_size; st.global.u32 [%d0+20], %r1;\nret;\n}\n",
              64, words);
    CHECK_INT(rig.findings, 0);
    CHECK(is_barely(words[0], 4) && is_barely(words[1], 16) && is_barely(words[2], 1));
    CHECK(is_barely(words[3], 128) && is_barely(words[4], 16));
    const uint32_t sizes[4] = {12, 40, 5, 128};
    for (int i = 0; i < 4; i++) CHECK(words[i] + sizes[i] + 16 <= words[i + 1]);
    CHECK_INT(words[5], 12 + 4 + 40 + 5 + 67 + 128 + 64); // as a device would lay it out
    rig_close(&rig);
}

static void test_global(void) {
    Rig rig;
    uint32_t words[WORDS];
    uint64_t address, size;
    rig_open(&rig, "sm_80");
    run_words(&rig,
              ".global .align 8 .b8 eight[24];\n.global .b8 one[3];\n.const .align 64 .b8 "
              "constant[64];\n" HEAD "st.global.u32 [%d0], 1;\nret;\n}\n",
              0, words);
    CHECK_INT(words[0], 1);
    CHECK(emu_module_variable(rig.module, STR("eight"), &address, &size) && is_barely(address, 8));
    CHECK(emu_module_variable(rig.module, STR("one"), &address, &size) && is_barely(address, 1));
    CHECK(emu_module_variable(rig.module, STR("constant"), &address, &size));
    CHECK(is_barely(address, 64));
    for (size_t bytes = 1; bytes < 5000; bytes = 3 * bytes + 1)
        CHECK(is_barely(rig_memory(&rig, bytes), 256));
    EmuMemory *memory = emu_device_memory(rig.device);
    CHECK(is_barely(emu_memory_allocate(memory, 8, 4096, EMU_BLOCK_device, NULL), 4096));
    CHECK(is_barely(emu_memory_allocate(memory, 8, 1, EMU_BLOCK_host, NULL), 4096));
    rig_close(&rig);
}

// Also of functions, whose stretches begin wherever their callers' end.
static void test_local(void) {
    Rig rig;
    uint32_t words[WORDS];
    rig_open(&rig, "sm_80");
    run_words(&rig,
              ".func (.param .b32 result) inner()\n{\n.reg .b32 %r<2>;\n.local .align 64 .b8 "
              "x[4];\nmov.u32 %r1, x; st.param.b32 [result], %r1; ret;\n}\n" HEAD
              ".local .align 2 .b8 a[6];\n.local .align 32 .b8 b[4];\n.param .b32 got;\n"
              "mov.u32 %r1, a; st.global.u32 [%d0], %r1;\nmov.u32 %r1, b; st.global.u32 [%d0+4], "
              "%r1;\ncall (got), inner, ();\nld.param.b32 %r1, [got]; st.global.u32 [%d0+8], %r1;\n"
              "mov.u32 %r2, 8; alloca.u32 %r1, %r2, 16; st.global.u32 [%d0+12], %r1;\nret;\n}\n",
              0, words);
    CHECK_INT(rig.findings, 0);
    CHECK(is_barely(words[0], 2) && is_barely(words[1], 32) && is_barely(words[2], 64));
    CHECK(is_barely(words[3], 16));
    CHECK(words[2] >= words[1] + 4 && words[3] >= words[1] + 4);
    rig_close(&rig);
}

// What nobody wrote, in every place. That it is stored is found as well, but for what went through
// a function's result: a store of an unwritten register counts as a write there.
static void test_poison(void) {
    Rig rig;
    uint32_t words[WORDS];
    rig_open(&rig, "sm_80");
    run_words(
        &rig,
        ".func (.param .b32 result) inner()\n{\n.reg .b32 %r<4>;\nst.param.b32 [result], %r3; "
        "ret;\n}\n" HEAD ".shared .align 4 .b8 s[8];\n.local .align 4 .b8 l[8];\n.param .b32 got;\n"
        "ld.shared.u32 %r1, [s]; st.global.u32 [%d0], %r1;\n"
        "ld.local.u32 %r1, [l]; st.global.u32 [%d0+4], %r1;\n"
        "ld.global.u32 %r1, [%d0+32]; st.global.u32 [%d0+8], %r1;\n"
        "st.global.u32 [%d0+12], %r9;\n"
        "call (got), inner, ();\nld.param.b32 %r1, [got]; st.global.u32 [%d0+16], %r1;\n"
        "selp.u32 %r1, 1, 0, %p3; st.global.u32 [%d0+20], %r1;\nret;\n}\n",
        0, words);
    for (int i = 0; i < 5; i++) CHECK_INT(words[i], UINT32_MAX);
    CHECK_INT(rig.kind, EMU_FINDING_uninitialised_store);
    CHECK_INT(rig.findings, 5);
    rig_close(&rig);
}

int main(void) {
    RUN(test_shared);
    RUN(test_global);
    RUN(test_local);
    RUN(test_poison);
    return test_done();
}
