// Loads, stores and atomics of every space, size and vector; what is wrong with the others; blocks
// on several host threads.
#include "tests/unit/emulator_run.h"

// A kernel over one array of bytes; %t is the thread, %o the array.
static const char *kernel(Rig *rig, const char *before, const char *body) {
    return str_format(rig->arena,
                      "%s\n.visible .entry k(.param .u64 out, .param .align 8 .b8 block[32])\n{\n"
                      ".reg .pred %%p<8>; .reg .b16 %%h<8>; .reg .b32 %%r<32>; .reg .b64 %%d<16>;\n"
                      ".reg .f32 %%f<8>; .reg .f64 %%g<4>; .reg .b128 %%q<4>; .reg .b32 %%t;\n"
                      ".reg .b64 %%o, %%a;\n"
                      "ld.param.u64 %%o, [out]; mov.u32 %%t, %%tid.x;\n"
                      "mul.wide.u32 %%a, %%t, 16; add.s64 %%a, %%a, %%o;\n"
                      "%s\nret;\n}\n",
                      before, body)
        .data;
}

enum { BYTES = 4096 };

// Runs the body on a copy of `bytes`, which then holds what the kernel left.
static EmuStatus run_bytes(Rig *rig, const char *before, const char *body, uint32_t grid,
                           uint32_t threads, uint8_t *bytes) {
    if (!CHECK_INT(rig_load(rig, kernel(rig, before, body)), EMU_OK)) {
        printf("%s\n", rig->log);
        return EMU_INVALID_PTX;
    }
    uint64_t parameters[5] = {rig_copy(rig, bytes, BYTES), 0x1122334455667788, 0x99aabbccddeeff00,
                              3, 4};
    EmuStatus status = rig_run(rig, "k", grid, threads, 0, parameters, false);
    memcpy(bytes, rig_bytes(rig, parameters[0]), BYTES);
    emu_memory_release(emu_device_memory(rig->device), parameters[0]);
    return status;
}

static void fill(uint8_t *bytes) {
    for (int i = 0; i < BYTES; i++) bytes[i] = (uint8_t)(i * 37 + i / 256);
}

// Each thread moves its 16 bytes by `body` into the 16 bytes 2048 further on.
static void check_move(const char *before, const char *body, int size) {
    Rig rig;
    uint8_t bytes[BYTES], first[BYTES];
    fill(bytes);
    memcpy(first, bytes, BYTES);
    rig_open(&rig, "sm_90a");
    CHECK_INT(run_bytes(&rig, before, body, 1, 100, bytes), EMU_OK);
    int wrong = 0;
    for (int t = 0; t < 100; t++)
        wrong += memcmp(bytes + 2048 + 16 * t, first + 16 * t, (size_t)size) != 0;
    if (!CHECK_INT(wrong, 0)) printf("    %s\n", body);
    CHECK_STR(rig.log, "");
    rig_close(&rig);
}

// Every type by every kind of load and of store, alone and in vectors of up to 16 bytes.
static void check_types(const char *load, const char *store) {
    static const struct {
        const char *type;
        int size;
        char registers;
    } types[] = {{"u8", 1, 'h'},  {"s8", 1, 'h'},  {"b8", 1, 'h'},  {"u16", 2, 'h'},
                 {"s16", 2, 'h'}, {"b16", 2, 'h'}, {"u32", 4, 'r'}, {"s32", 4, 'r'},
                 {"b32", 4, 'r'}, {"f32", 4, 'f'}, {"u64", 8, 'd'}, {"s64", 8, 'd'},
                 {"b64", 8, 'd'}, {"f64", 8, 'g'}};
    static const char *const vectors[] = {"", ".v2", "", ".v4"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (int n = 1; n <= 4 && n * types[i].size <= 16; n *= 2) {
            char list[32], body[160], c = types[i].registers;
            if (n == 1) snprintf(list, sizeof list, "%%%c1", c);
            if (n == 2) snprintf(list, sizeof list, "{%%%c1, %%%c2}", c, c);
            if (n == 4) snprintf(list, sizeof list, "{%%%c1, %%%c2, %%%c3, %%%c4}", c, c, c, c);
            snprintf(body, sizeof body, "%s%s.%s %s, [%%a]; %s%s.%s [%%a+2048], %s;", load,
                     vectors[n - 1], types[i].type, list, store, vectors[n - 1], types[i].type,
                     list);
            check_move("", body, n * types[i].size);
        }
}

static void test_types(void) {
    check_types("ld.global", "st.global");
    check_types("ld.global.nc", "st.global");
    check_types("ld", "st");
}

static void test_sizes(void) {
    check_move("", "ld.global.u8 %h1, [%a]; st.global.u8 [%a+2048], %h1;", 1);
    check_move("", "ld.global.s8 %r1, [%a]; st.global.b8 [%a+2048], %r1;", 1);
    check_move("", "ld.global.b16 %h1, [%a]; st.global.u16 [%a+2048], %h1;", 2);
    check_move("", "ld.global.nc.u32 %r1, [%a]; st.global.u32 [%a+2048], %r1;", 4);
    check_move("", "ld.global.f32 %f1, [%a]; st.global.f32 [%a+2048], %f1;", 4);
    check_move("", "ld.f64 %g1, [%a]; st.f64 [%a+2048], %g1;", 8);
    check_move("", "ld.global.s32 %d1, [%a]; st.global.u32 [%a+2048], %d1;", 4);
    check_move("", "ld.global.v2.u16 {%h1, %h2}, [%a]; st.global.v2.b16 [%a+2048], {%h1, %h2};", 4);
    check_move("",
               "ld.global.v4.u8 {%r1, %r2, %r3, %r4}, [%a];"
               "st.global.v4.u8 [%a+2048], {%r1, %r2, %r3, %r4};",
               4);
    check_move("",
               "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%a];"
               "st.global.v4.b32 [%a+2048], {%r1, %r2, %r3, %r4};",
               16);
    check_move("", "ld.global.v2.b64 {%d1, %d2}, [%a]; st.global.v2.u64 [%a+2048], {%d1, %d2};",
               16);
    check_move("", "ld.global.b128 %q1, [%a]; st.global.b128 [%a+2048], %q1;", 16);
    check_move("",
               "ld.global.b128 %q1, [%a]; mov.b128 {%d1, %d2}, %q1; mov.b128 %q2, {%d1, %d2};"
               "st.global.b128 [%a+2048], %q2;",
               16);
    check_move("", "ld.relaxed.gpu.global.u64 %d1, [%a]; st.release.sys.global.u64 [%a+2048], %d1;",
               8);
    check_move("", "ld.volatile.u32 %r1, [%a]; st.volatile.u32 [%a+2048], %r1;", 4);
    check_move("",
               "ld.global.b64 %d1, [%a]; mov.b64 {%r1, %r2}, %d1; mov.b32 {%h1, %h3}, %r1;"
               "mov.u16 %h2, %h3; mov.b32 %r3, {%h1, %h2}; mov.b64 %d2, {%r3, %r2}; st.global.b64 "
               "[%a+2048], %d2;",
               8);
}

static void test_spaces(void) {
    check_move(
        ".shared .align 16 .b8 tile[2048];",
        "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%a]; mov.u32 %r5, tile; shl.b32 %r6, %t, 4;\n"
        "add.u32 %r5, %r5, %r6; st.shared.v4.b32 [%r5], {%r1, %r2, %r3, %r4};\n"
        "cvt.u64.u32 %d1, %r5; cvta.shared.u64 %d1, %d1; ld.v2.b64 {%d2, %d3}, [%d1];\n"
        "st.global.v2.b64 [%a+2048], {%d2, %d3};",
        16);
    check_move("",
               "{ .local .align 16 .b8 mine[64]; mov.u64 %d1, mine; and.b32 %r1, %t, 48;\n"
               "cvt.u64.u32 %d2, %r1; add.s64 %d1, %d1, %d2; ld.global.b128 %q1, [%a];\n"
               "st.local.b128 [%d1], %q1; cvta.local.u64 %d3, %d1; ld.b128 %q2, [%d3];\n"
               "st.global.b128 [%a+2048], %q2; }",
               16);
    check_move(
        "", // some lanes shared, some local, some global, by generic addresses
        "{ .local .align 8 .b8 mine[8]; .shared .align 8 .b8 ours[800]; ld.global.b64 %d1, [%a];\n"
        "mov.u64 %d2, mine; cvta.local.u64 %d2, %d2; mul.wide.u32 %d3, %t, 8; mov.u64 %d4, ours;\n"
        "add.s64 %d3, %d3, %d4; cvta.shared.u64 %d3, %d3; rem.u32 %r1, %t, 3;\n"
        "setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 1; selp.b64 %d5, %d2, %d3, %p1;\n"
        "add.s64 %d6, %a, 2056; selp.b64 %d5, %d6, %d5, %p2; st.b64 [%d5], %d1;\n"
        "ld.b64 %d7, [%d5]; st.global.b64 [%a+2048], %d7; isspacep.shared %p3, %d5;\n"
        "isspacep.local %p4, %d5; isspacep.global %p5, %d5; xor.pred %p6, %p3, %p4;\n"
        "xor.pred %p6, %p6, %p5; @!%p6 trap; setp.eq.u32 %p3, %r1, 2; @!%p3 bra END;\n"
        "isspacep.shared %p4, %d5; @!%p4 trap; END: }",
        8);
    check_move(".const .align 4 .u32 table[4] = {5, 6, 7, 8}; .global .align 8 .u64 where = table;",
               "ld.global.u32 %r1, [%a]; ld.const.u32 %r2, [table+8]; mov.u64 %d1, table;\n"
               "cvta.const.u64 %d1, %d1; ld.u32 %r3, [%d1+4]; ld.global.u64 %d2, [where];\n"
               "ld.u32 %r4, [%d2]; mad.lo.u32 %r5, %r2, 100, %r3; mad.lo.u32 %r5, %r5, 10, %r4;\n"
               "setp.ne.u32 %p1, %r5, 7065; @%p1 trap; st.global.u32 [%a+2048], %r1;",
               4);
    check_move("",
               "ld.global.u32 %r1, [%a]; ld.param.v2.u32 {%r2, %r3}, [block]; ld.param.u8 %r4, "
               "[block+9];\n"
               "mov.b64 %d1, block; cvta.param.u64 %d2, %d1; ld.u64 %d3, [%d2+8]; ld.param.u16 "
               "%r5, [%d1+16];\n"
               "setp.ne.u32 %p1, %r2, 0x55667788; @%p1 trap; setp.ne.u32 %p1, %r3, 0x11223344; "
               "@%p1 trap;\n"
               "setp.ne.u32 %p1, %r4, 0xff; @%p1 trap; setp.ne.u64 %p1, %d3, 0x99aabbccddeeff00; "
               "@%p1 trap;\n"
               "setp.ne.u32 %p1, %r5, 3; @%p1 trap; st.global.u32 [%a+2048], %r1;",
               4);
    check_move(
        "",
        "ld.global.b64 %d1, [%a]; stacksave.u64 %d2; and.b32 %r1, %t, 7; add.u32 %r1, %r1, 8;\n"
        "cvt.u64.u32 %d3, %r1; alloca.u64 %d4, %d3, 32; st.local.u64 [%d4], %d1;\n"
        "ld.local.u64 %d5, [%d4]; stackrestore.u64 %d2; stacksave.u64 %d6;\n"
        "setp.ne.u64 %p1, %d2, %d6; @%p1 trap; st.global.b64 [%a+2048], %d5;",
        8);
}

// Hints change nothing but what discard forgets.
static void test_hints(void) {
    check_move(
        "",
        "createpolicy.fractional.L2::evict_last.b64 %d5, 0f3F000000;\n"
        "createpolicy.range.L2::evict_last.b64 %d6, [%o], 256, 256; createpolicy.cvt.L2.b64 %d7, "
        "%d5;\n"
        "prefetch.global.L1 [%a]; prefetch.L2 [%a]; prefetchu.L1 [%a];\n"
        "prefetch.global.L2::evict_last [%a]; applypriority.global.L2::evict_normal [%a], 128;\n"
        "ld.global.L1::no_allocate.L2::cache_hint.b32 %r1, [%a], %d5;\n"
        "ldu.global.u32 %r2, [%a]; setp.ne.u32 %p1, %r1, %r2; @%p1 trap;\n"
        "griddepcontrol.wait; st.global.cs.b32 [%a+2048], %r1; griddepcontrol.launch_dependents;\n"
        "pmevent 3; fence.sc.cta; fence.acq_rel.gpu; fence.acquire.sys; fence.release.cluster;\n"
        "membar.cta; membar.sys; fence.proxy.alias; fence.proxy.async.global;",
        4);
    Rig rig;
    uint8_t bytes[BYTES];
    fill(bytes);
    rig_open(&rig, "sm_80");
    CHECK_INT(run_bytes(&rig, "", "discard.global.L2 [%o+128], 128;", 1, 1, bytes), EMU_OK);
    CHECK_INT(bytes[127], (uint8_t)(127 * 37));
    CHECK_INT(bytes[128], 0xff);
    CHECK_INT(bytes[255], 0xff);
    CHECK_INT(bytes[256], (uint8_t)(256 * 37 + 1));
    rig_close(&rig);
}

// Sign and zero extension into wider registers, and stores that truncate.
static void test_extension(void) {
    Rig rig;
    uint8_t bytes[BYTES] = {0x80, 0xff, 0xfe, 0x90};
    rig_open(&rig, "sm_80");
    CHECK_INT(
        run_bytes(&rig, "",
                  "ld.global.s8 %d1, [%o]; st.global.u64 [%o+16], %d1;\n"
                  "ld.global.u8 %d1, [%o]; st.global.u64 [%o+24], %d1;\n"
                  "ld.global.s16 %r1, [%o]; st.global.u32 [%o+32], %r1;\n"
                  "ld.global.b16 %r1, [%o]; st.global.u32 [%o+36], %r1;\n"
                  "ld.global.s32 %d1, [%o]; st.global.u64 [%o+40], %d1;\n"
                  "ld.global.u32 %d1, [%o]; st.global.u64 [%o+48], %d1;\n"
                  "ld.global.s8 %h1, [%o+3]; cvt.s32.s16 %r2, %h1; st.global.u32 [%o+56], %r2;",
                  1, 1, bytes),
        EMU_OK);
    static const uint8_t want[] = {
        0x80, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x80, 0,    0,    0,    0,    0,    0,
        0,    0x80, 0xff, 0xff, 0xff, 0x80, 0xff, 0,    0,    0x80, 0xff, 0xfe, 0x90, 0xff, 0xff,
        0xff, 0xff, 0x80, 0xff, 0xfe, 0x90, 0,    0,    0,    0,    0x90, 0xff, 0xff, 0xff};
    CHECK_MEM(bytes + 16, want, sizeof want);
    rig_close(&rig);
}

static void expect_fault(const char *before, const char *body, EmuStatus status,
                         EmuFindingKind kind, uint32_t lane) {
    Rig rig;
    uint8_t bytes[BYTES] = {0};
    rig_open(&rig, "sm_90a");
    CHECK_INT(run_bytes(&rig, before, body, 1, 32, bytes), status);
    bool good = CHECK_INT(rig.kind, kind);
    if (!CHECK_INT(rig.lane, lane) || !good) printf("    %s\n%s\n", body, rig.log);
    rig_close(&rig);
}

static void test_faults(void) {
    const char *tile = ".shared .align 4 .b8 tile[64];";
    expect_fault("", "mul.wide.u32 %d1, %t, 400; add.s64 %d1, %d1, %o; ld.global.u32 %r1, [%d1];",
                 EMU_ILLEGAL_ADDRESS, EMU_FINDING_out_of_bounds, 11);
    expect_fault("", "setp.eq.u32 %p1, %t, 9; @%p1 add.s64 %a, %a, 2; ld.global.u32 %r1, [%a];",
                 EMU_MISALIGNED_ADDRESS, EMU_FINDING_misaligned, 9);
    expect_fault("", "mov.u64 %d1, 8; ld.global.u64 %d2, [%d1];", EMU_ILLEGAL_ADDRESS,
                 EMU_FINDING_null_pointer, 0);
    expect_fault(tile,
                 "mov.u32 %r1, tile; shl.b32 %r2, %t, 2; add.u32 %r1, %r1, %r2;\n"
                 "st.shared.u32 [%r1], %r2;",
                 EMU_ILLEGAL_ADDRESS, EMU_FINDING_out_of_bounds, 16);
    expect_fault(tile, "mov.u64 %d1, tile; cvta.shared.u64 %d1, %d1; ld.global.u32 %r1, [%d1];",
                 EMU_INVALID_SPACE, EMU_FINDING_wrong_space, 0);
    expect_fault("", "ld.shared.u32 %r1, [%a];", EMU_ILLEGAL_ADDRESS, EMU_FINDING_out_of_bounds, 0);
    expect_fault(".const .u32 c = 4;", "mov.u64 %d1, c; cvta.const.u64 %d1, %d1; st.u32 [%d1], 5;",
                 EMU_ILLEGAL_ADDRESS, EMU_FINDING_read_only, 0);
    expect_fault("", "mov.u64 %d1, 0x0500000000000000; ld.u32 %r1, [%d1];", EMU_INVALID_SPACE,
                 EMU_FINDING_wrong_space, 0);
    expect_fault("", "mov.u64 %d1, -4; ld.global.u32 %r1, [%d1];", EMU_INVALID_SPACE,
                 EMU_FINDING_wrong_space, 0);
    expect_fault("",
                 "{ .local .align 4 .b8 mine[4]; mov.u64 %d1, mine; st.local.u32 [%d1+64], %t; }",
                 EMU_ILLEGAL_ADDRESS, EMU_FINDING_out_of_bounds, 0);
}

static void test_use_after_free(void) {
    Rig rig;
    rig_open(&rig, "sm_80");
    CHECK_INT(rig_load(&rig, kernel(&rig, "", "ld.global.u32 %r1, [%a];")), EMU_OK);
    uint64_t parameters[5] = {rig_memory(&rig, 1024)};
    emu_memory_release(emu_device_memory(rig.device), parameters[0]);
    CHECK_INT(rig_run(&rig, "k", 1, 32, 0, parameters, false), EMU_ILLEGAL_ADDRESS);
    CHECK_INT(rig.kind, EMU_FINDING_use_after_free);
    rig_close(&rig);
}

// Every lane of every block changes the same words, on one and on four host threads.
static void test_atomics(void) {
    static const char *const body =
        "mov.u32 %r9, %ctaid.x; mov.u32 %r8, %ntid.x; mad.lo.u32 %r1, %r9, %r8, %t; mov.u32 %r7, "
        "1;\n"
        "red.global.add.u32 [%o], 1; atom.global.add.u64 %d1, [%o+8], 3;\n"
        "red.global.max.u32 [%o+16], %r1; red.global.min.s32 [%o+20], %r1;\n"
        "atom.global.inc.u32 %r2, [%o+24], 9; atom.global.dec.u32 %r2, [%o+28], 6;\n"
        "red.global.xor.b32 [%o+32], %r1; and.b32 %r3, %t, 31; shl.b32 %r3, 1, %r3;\n"
        "red.global.or.b32 [%o+36], %r3; not.b32 %r4, %r3; red.global.and.b32 [%o+40], %r4;\n"
        "red.global.add.f32 [%o+44], 0f3F800000; red.global.add.f64 [%o+48], 0d3FE0000000000000;\n"
        "mov.b32 %r5, 0x3c004000; red.global.add.noftz.f16x2 [%o+56], %r5;\n"
        "mov.b16 %h1, 0x3f80; red.global.add.noftz.bf16 [%o+60], %h1;\n"
        "AGAIN: ld.relaxed.gpu.global.u32 %r5, [%o+64]; add.u32 %r6, %r5, 2;\n"
        "atom.global.cas.b32 %r2, [%o+64], %r5, %r6; setp.ne.u32 %p1, %r2, %r5; @%p1 bra AGAIN;\n"
        "atom.global.v2.f32.add {%f1, %f2}, [%o+72], {0f3F800000, 0f40000000};\n"
        "mov.b128 %q1, {%d1, %d1}; atom.global.b128.exch %q2, [%o+80], %q1;";
    for (int workers = 1; workers <= 4; workers += 3) {
        Rig rig;
        union {
            uint8_t bytes[BYTES];
            uint32_t words[BYTES / 4];
            uint64_t longs[BYTES / 8];
            float floats[BYTES / 4];
            double doubles[BYTES / 8];
            uint16_t halves[BYTES / 2];
        } m = {.words = {[5] = 0x7fffffff, [10] = 0xffffffff}};
        rig_open(&rig, "sm_90a");
        rig.options.workers = workers;
        CHECK_INT(run_bytes(&rig, "", body, 16, 64, m.bytes), EMU_OK);
        CHECK_INT(m.words[0], 1024);
        CHECK_INT(m.longs[1], 3072);
        CHECK_INT(m.words[4], 1023);
        CHECK_INT(m.words[5], 0);
        CHECK_INT(m.words[6], 1024 % 10);
        CHECK_INT(m.words[7], 6 - (1024 - 1) % 7);
        CHECK_INT(m.words[8], 0);
        CHECK_INT(m.words[9], 0xffffffff);
        CHECK_INT(m.words[10], 0);
        CHECK(m.floats[11] == 1024);
        CHECK(m.doubles[6] == 512);
        CHECK_INT(m.halves[28], 0x6800); // 2048
        CHECK_INT(m.halves[29], 0x6400); // 1024
        CHECK_INT(m.halves[30], 0x4380); // 256: one more is lost by bf16
        CHECK_INT(m.words[16], 2048);
        CHECK(m.floats[18] == 1024 && m.floats[19] == 2048);
        CHECK(m.longs[10] == m.longs[11]);
        rig_close(&rig);
    }
}

// Sectors and wavefronts: of one access by 32 lanes, for each way they may lie.
static void check_counters(const char *body, uint64_t sectors, uint64_t useful, uint64_t waves) {
    Rig rig;
    uint8_t bytes[BYTES] = {0};
    rig_open(&rig, "sm_80");
    CHECK_INT(run_bytes(&rig, ".shared .align 16 .b8 tile[4096];", body, 1, 32, bytes), EMU_OK);
    bool good = CHECK_INT(rig.counters.global_sectors, sectors);
    good = CHECK_INT(rig.counters.global_useful_bytes, useful) && good;
    if (!CHECK_INT(rig.counters.shared_wavefronts, waves) || !good) printf("    %s\n", body);
    rig_close(&rig);
}

static void test_counters(void) {
    const char *const global = "mul.wide.u32 %d1, %t, ";
#define GLOBAL(stride, rest)                                                                       \
    str_format(arena, "%s%s; add.s64 %%d1, %%d1, %%o; %s", global, stride, rest).data
#define SHARED(stride, rest)                                                                       \
    str_format(arena, "mov.u32 %%r1, tile; mad.lo.u32 %%r1, %%t, %s, %%r1; %s", stride, rest).data
    Arena *arena = arena_new(NULL);
    check_counters(GLOBAL("4", "ld.global.u32 %r1, [%d1];"), 4, 128, 0);
    check_counters(GLOBAL("4", "ld.global.u32 %r1, [%d1+16];"), 5, 128, 0);
    check_counters(GLOBAL("64", "ld.global.u32 %r1, [%d1];"), 32, 128, 0);
    check_counters(GLOBAL("0", "ld.global.u32 %r1, [%d1];"), 1, 128, 0);
    check_counters(GLOBAL("16", "ld.global.v2.u64 {%d2, %d3}, [%d1];"), 16, 512, 0);
    check_counters(SHARED("4", "st.shared.u32 [%r1], %t;"), 0, 0, 1);
    check_counters(SHARED("8", "st.shared.u32 [%r1], %t;"), 0, 0, 2);
    check_counters(SHARED("128", "st.shared.u32 [%r1], %t;"), 0, 0, 32);
    check_counters(SHARED("132", "st.shared.u8 [%r1], %t;"), 0, 0, 1); // no two in a bank
    check_counters(SHARED("16", "st.shared.v4.u32 [%r1], {%t, %t, %t, %t};"), 0, 0, 4);
    check_counters(SHARED("8", "st.shared.u64 [%r1], %o;"), 0, 0, 2);
    check_counters(
        SHARED("0", "st.shared.u32 [tile], 1; bar.warp.sync -1; ld.shared.u32 %r2, [%r1];"), 0, 0,
        2);
    arena_free(arena);
}

// What a launch may not ask for.
static void test_limits(void) {
    Rig rig;
    rig_open(&rig, "sm_80");
    CHECK_INT(rig_load(&rig, kernel(&rig, ".shared .b8 s[40000];",
                                    "mov.u32 %r1, s; st.shared.u8 [%r1], %r1;")),
              EMU_OK);
    uint64_t parameters[5] = {rig_memory(&rig, 1024)};
    CHECK_INT(rig_run(&rig, "k", 1, 32, 0, parameters, false), EMU_OK);
    CHECK_INT(rig_run(&rig, "k", 1, 32, 100000, parameters, false), EMU_OK);
    CHECK_INT(rig_run(&rig, "k", 1, 32, 150000, parameters, false), EMU_OUT_OF_RESOURCES);
    CHECK_INT(rig_run(&rig, "k", 1, 1025, 0, parameters, false), EMU_INVALID_VALUE);
    CHECK_INT(rig_run(&rig, "k", 0, 32, 0, parameters, false), EMU_INVALID_VALUE);
    EmuFunctionInfo info;
    emu_function_info(emu_module_function(rig.module, STR("k")), &info);
    CHECK_INT(info.static_shared, 40000);
    CHECK_INT(info.parameter_count, 2);
    CHECK_INT(info.parameter_bytes, 40);
    CHECK_INT(info.max_threads, 1024);
    rig_close(&rig);
}

// What cannot be executed is said with its line when the module is loaded.
static void test_refused(void) {
    Rig rig;
    rig_open(&rig, "sm_90a");
    CHECK_INT(rig_load(&rig, kernel(&rig, "", "barrier.cluster.arrive;\n")), EMU_INVALID_PTX);
    if (!CHECK(strstr(rig.log, "line 12: error:") && strstr(rig.log, "barrier.cluster.arrive")))
        printf("%s\n", rig.log);
    CHECK_INT(rig_load(&rig, kernel(&rig, ".extern .func f();", "call f;")), EMU_INVALID_PTX);
    CHECK(strstr(rig.log, "function f has no body") != NULL);
    Arena *arena = arena_new(NULL);
    EmuModule *module;
    Str log, text = STR(".version 9.0\n.target sm_100\n.address_size 64\n.entry k() { ret; }\n");
    CHECK_INT(emu_module_load(rig.device, text, arena, &module, &log), EMU_NO_BINARY);
    text = STR(".version 99.0\n.target sm_80\n.address_size 64\n");
    CHECK_INT(emu_module_load(rig.device, text, arena, &module, &log), EMU_UNSUPPORTED_VERSION);
    CHECK(module == NULL);
    arena_free(arena);
    rig_close(&rig);
}

static void test_options(void) {
    EmuOptions options;
    setenv("TCC_EMU_CHECKS", "cheap", 1);
    setenv("TCC_EMU_ORDER", "random", 1);
    setenv("TCC_EMU_SEED", "77", 1);
    setenv("TCC_EMU_WORKERS", "3", 1);
    setenv("TCC_EMU_APPROX", "worst", 1);
    CHECK(emu_options_from_environment(&options) == NULL);
    CHECK_INT(options.checks, EMU_CHECKS_cheap);
    CHECK_INT(options.order, EMU_ORDER_random);
    CHECK_INT(options.seed, 77);
    CHECK_INT(options.workers, 3);
    CHECK_INT(options.approximation, EMU_APPROXIMATION_worst);
    setenv("TCC_EMU_ORDER", "backwards", 1);
    CHECK_STR(emu_options_from_environment(&options),
              "TCC_EMU_ORDER is not round_robin, random or adversarial");
    setenv("TCC_EMU_ORDER", "adversarial", 1);
    setenv("TCC_EMU_WORKERS", "-1", 1);
    CHECK_STR(emu_options_from_environment(&options), "TCC_EMU_WORKERS is no number of threads");
}

int main(void) {
    RUN(test_types);
    RUN(test_sizes);
    RUN(test_spaces);
    RUN(test_hints);
    RUN(test_extension);
    RUN(test_faults);
    RUN(test_use_after_free);
    RUN(test_atomics);
    RUN(test_counters);
    RUN(test_limits);
    RUN(test_refused);
    RUN(test_options);
    return test_done();
}
