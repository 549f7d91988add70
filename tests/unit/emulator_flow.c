// Where lanes go: divergence, progress, barriers, calls, and what is said when nothing can go on.
#include "tests/unit/emulator_run.h"

// A kernel of one parameter, the address of 32-bit words; %t is the thread, %a the address of its
// word. The body leaves the result in %v.
static const char *kernel(Rig *rig, const char *before, const char *body) {
    return str_format(rig->arena,
                      "%s\n.visible .entry k(.param .u64 out)\n{\n"
                      ".reg .pred %%p<8>; .reg .b32 %%r<32>; .reg .b64 %%d<16>;\n"
                      ".reg .b32 %%t, %%v; .reg .b64 %%o, %%a;\n"
                      "ld.param.u64 %%o, [out]; mov.u32 %%t, %%tid.x;\n"
                      "mul.wide.u32 %%a, %%t, 4; add.s64 %%a, %%a, %%o; mov.u32 %%v, 0;\n"
                      "%s\nst.global.u32 [%%a], %%v; ret;\n}\n",
                      before, body)
        .data;
}

static EmuStatus run_words(Rig *rig, const char *before, const char *body, uint32_t grid,
                           uint32_t block, uint32_t *out) {
    if (!CHECK_INT(rig_load(rig, kernel(rig, before, body)), EMU_OK)) {
        printf("%s\n", rig->log);
        return EMU_INVALID_PTX;
    }
    static const uint32_t zeros[4096];
    uint64_t address = rig_copy(rig, zeros, 4 * block < 16384 ? 4 * block : 16384);
    EmuStatus status = rig_run(rig, "k", grid, block, 0, &address, false);
    memcpy(out, rig_bytes(rig, address), 4 * block);
    emu_memory_release(emu_device_memory(rig->device), address);
    return status;
}

static const EmuOrder orders[] = {EMU_ORDER_round_robin, EMU_ORDER_random, EMU_ORDER_adversarial};

// Nested branches, and a loop that each lane leaves after a number of turns of its own.
static void test_divergence(void) {
    Rig rig;
    uint32_t out[64];
    rig_open(&rig, "sm_90a");
    const char *body = "and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra EVEN;\n"
                       "and.b32 %r1, %t, 2; setp.eq.u32 %p2, %r1, 0; @%p2 bra ONE;\n"
                       "add.u32 %v, %v, 300; bra.uni JOIN;\n"
                       "ONE: add.u32 %v, %v, 100; bra.uni JOIN;\n"
                       "EVEN: add.u32 %v, %v, 20;\n"
                       "JOIN: mov.u32 %r2, 0;\n"
                       "LOOP: add.u32 %v, %v, 1; add.u32 %r2, %r2, 1;\n"
                       "setp.le.u32 %p3, %r2, %t; @%p3 bra LOOP;\n"
                       "activemask.b32 %r3; setp.ne.u32 %p4, %r3, -1; @%p4 add.u32 %v, %v, 10000;";
    for (int k = 0; k < 3; k++) {
        rig.options.order = orders[k];
        CHECK_INT(run_words(&rig, "", body, 1, 64, out), EMU_OK);
        int wrong = 0;
        for (uint32_t t = 0; t < 64; t++) {
            uint32_t want = (t % 2 == 0 ? 20 : t & 2 ? 300 : 100) + t + 1;
            wrong += out[t] != want; // and all lanes met again after the loop
        }
        CHECK_INT(wrong, 0);
    }
    rig_close(&rig);
}

static void test_branch_table(void) {
    Rig rig;
    uint32_t out[40];
    rig_open(&rig, "sm_80");
    const char *body = "rem.u32 %r1, %t, 3; T: .branchtargets A, B, C;\n"
                       "brx.idx %r1, T;\n"
                       "A: mov.u32 %v, 10; bra D; B: mov.u32 %v, 20; bra D; C: mov.u32 %v, 30;\n"
                       "D: add.u32 %v, %v, %t;";
    CHECK_INT(run_words(&rig, "", body, 1, 40, out), EMU_OK);
    int wrong = 0;
    for (uint32_t t = 0; t < 40; t++) wrong += out[t] != 10 * (t % 3 + 1) + t;
    CHECK_INT(wrong, 0);
    const char *beyond = "add.u32 %r1, %t, 0; T: .branchtargets A, B;\n"
                         "brx.idx %r1, T; A: mov.u32 %v, 1; B: mov.u32 %v, 2;";
    CHECK_INT(run_words(&rig, "", beyond, 1, 40, out), EMU_ILLEGAL_INSTRUCTION);
    CHECK_INT(rig.kind, EMU_FINDING_branch_target);
    CHECK_INT(rig.lane, 2);
    rig_close(&rig);
}

// Every lane takes the same lock: whoever has it must get on although the others spin.
static void test_spin_lock(void) {
    Rig rig;
    uint32_t out[64];
    rig_open(&rig, "sm_90a");
    const char *before = ".global .u32 lock; .global .u32 count;";
    const char *body = "mov.u64 %d1, lock; mov.u64 %d2, count;\n"
                       "SPIN: atom.global.cas.b32 %r1, [%d1], 0, 1; setp.ne.u32 %p1, %r1, 0;\n"
                       "@%p1 bra SPIN;\n"
                       "ld.volatile.global.u32 %v, [%d2]; add.u32 %r2, %v, 1;\n"
                       "st.volatile.global.u32 [%d2], %r2; membar.gl;\n"
                       "atom.global.exch.b32 %r3, [%d1], 0;";
    for (int k = 0; k < 3; k++) {
        rig.options.order = orders[k];
        rig.options.step_limit = 10000000;
        CHECK_INT(run_words(&rig, before, body, 1, 64, out), EMU_OK);
        uint64_t seen = 0;
        for (int t = 0; t < 64; t++) seen |= UINT64_C(1) << out[t];
        CHECK(seen == UINT64_MAX);
    }
    rig_close(&rig);
}

// The other way round: one lane waits for a flag that a lane behind the loop sets.
static void test_progress(void) {
    Rig rig;
    uint32_t out[32];
    rig_open(&rig, "sm_80");
    const char *body = "mov.u64 %d1, flag; setp.eq.u32 %p1, %t, 31; @%p1 bra SET;\n"
                       "WAIT: ld.volatile.global.u32 %v, [%d1]; setp.eq.u32 %p2, %v, 0;\n"
                       "@%p2 bra WAIT; bra END;\n"
                       "SET: st.volatile.global.u32 [%d1], 7;\n"
                       "END: ";
    rig.options.step_limit = 1000000;
    CHECK_INT(run_words(&rig, ".global .u32 flag;", body, 1, 32, out), EMU_OK);
    CHECK_INT(out[0], 7);
    const char *never = "setp.lt.u32 %p1, %t, 99; LOOP: @%p1 bra LOOP;";
    CHECK_INT(run_words(&rig, "", never, 1, 32, out), EMU_TIMEOUT);
    CHECK_INT(rig.kind, EMU_FINDING_step_limit);
    rig_close(&rig);
}

static void test_barriers(void) {
    Rig rig;
    uint32_t out[256];
    rig_open(&rig, "sm_90a");
    // Each thread reads what the thread opposite wrote.
    const char *shared = ".shared .align 4 .b8 tile[1024];";
    const char *swap = "mov.u32 %r1, tile; shl.b32 %r2, %t, 2; add.u32 %r2, %r2, %r1;\n"
                       "st.shared.u32 [%r2], %t; bar.sync 0;\n"
                       "sub.u32 %r3, 255, %t; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r1;\n"
                       "ld.shared.u32 %v, [%r3];";
    // Half of the warps produce, the others consume; numbered barriers with counts.
    const char *pairs = "mov.u32 %r1, tile; shl.b32 %r2, %t, 2; add.u32 %r2, %r2, %r1;\n"
                        "setp.ge.u32 %p1, %t, 128; @%p1 bra CONSUME;\n"
                        "st.shared.u32 [%r2], %t; bar.arrive 1, 256; mov.u32 %v, 5; bra END;\n"
                        "CONSUME: bar.sync 1, 256; ld.shared.u32 %v, [%r2+-512];\nEND: ";
    const char *reduce =
        "and.b32 %r1, %t, 3; setp.eq.u32 %p1, %r1, 0; bar.red.popc.u32 %v, 0, %p1;\n"
        "bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, !%p1;\n"
        "@%p2 add.u32 %v, %v, 1000; @%p3 add.u32 %v, %v, 500;";
    for (int k = 0; k < 3; k++) {
        rig.options.order = orders[k];
        int wrong = 0;
        CHECK_INT(run_words(&rig, shared, swap, 2, 256, out), EMU_OK);
        for (uint32_t t = 0; t < 256; t++) wrong += out[t] != 255 - t;
        CHECK_INT(run_words(&rig, shared, pairs, 1, 256, out), EMU_OK);
        for (uint32_t t = 0; t < 256; t++) wrong += out[t] != (t < 128 ? 5 : t - 128);
        CHECK_INT(run_words(&rig, "", reduce, 1, 256, out), EMU_OK);
        for (uint32_t t = 0; t < 256; t++) wrong += out[t] != 64 + 500;
        CHECK_INT(wrong, 0);
        CHECK_STR(rig.log, "");
    }
    rig_close(&rig);
}

// Warps that end no longer count for a barrier without a number; lanes that end do not either.
static void test_barrier_exits(void) {
    Rig rig;
    uint32_t out[128];
    rig_open(&rig, "sm_90a");
    const char *body = "setp.lt.u32 %p1, %t, 40; @%p1 exit; bar.sync 0; mov.u32 %v, 1;";
    CHECK_INT(run_words(&rig, "", body, 1, 128, out), EMU_OK);
    CHECK_INT(out[39], 0);
    CHECK_INT(out[40], 1);
    CHECK_INT(out[127], 1);
    rig_close(&rig);
}

// The numbered barriers that need not be aligned, in all forms.
static void test_loose_barriers(void) {
    Rig rig;
    uint32_t out[128];
    rig_open(&rig, "sm_90a");
    const char *body =
        "setp.lt.u32 %p1, %t, 64; mov.u32 %r1, 2; @%p1 bra A;\n"
        "barrier.sync %r1, 128; barrier.arrive 4, 128; bra B;\n"
        "A: barrier.sync.aligned %r1, 128; barrier.sync 4, 128; B:\n"
        "barrier.red.popc.u32 %v, 1, %p1; barrier.red.popc.aligned.u32 %r2, 1, 128, !%p1;\n"
        "barrier.red.and.pred %p2, 5, %p1; barrier.red.or.aligned.pred %p3, 5, %p1;\n"
        "add.u32 %v, %v, %r2; @%p2 add.u32 %v, %v, 1000; @%p3 add.u32 %v, %v, 500;";
    for (int k = 0; k < 3; k++) {
        rig.options.order = orders[k];
        CHECK_INT(run_words(&rig, "", body, 1, 128, out), EMU_OK);
        int wrong = 0;
        for (uint32_t t = 0; t < 128; t++) wrong += out[t] != 64 + 64 + 500;
        CHECK_INT(wrong, 0);
        CHECK_STR(rig.log, "");
    }
    rig_close(&rig);
}

static void expect_fault(const char *body, EmuStatus status, EmuFindingKind kind,
                         const char *text) {
    Rig rig;
    uint32_t out[128];
    rig_open(&rig, "sm_90a");
    rig.options.step_limit = 1000000;
    CHECK_INT(run_words(&rig, "", body, 1, 128, out), status);
    CHECK_INT(rig.kind, kind);
    if (!CHECK(strstr(rig.log, text) != NULL)) printf("%s\n", rig.log);
    rig_close(&rig);
}

static void test_faults(void) {
    expect_fault(
        "setp.lt.u32 %p1, %t, 64; @%p1 bra A; bar.sync 1, 128; bra B; A: bar.sync 0, 128; B:",
        EMU_TIMEOUT, EMU_FINDING_deadlock, "barrier 1: 64 threads came of 128");
    expect_fault("setp.lt.u32 %p1, %t, 16; @%p1 bra A; bar.sync 0; bra B; A: bar.sync 1; B:",
                 EMU_ILLEGAL_INSTRUCTION, EMU_FINDING_divergent, "lanes 0x0000ffff");
    expect_fault("bar.arrive 0, 256; bar.arrive 0, 256;", EMU_ILLEGAL_INSTRUCTION,
                 EMU_FINDING_barrier_twice, "bar");
    expect_fault("setp.lt.u32 %p1, %t, 64; @%p1 bar.sync 0, 96; @!%p1 bar.sync 0, 128;",
                 EMU_ILLEGAL_INSTRUCTION, EMU_FINDING_barrier_count, "bar");
    expect_fault("setp.eq.u32 %p1, %t, 0; @%p1 exit; shfl.sync.idx.b32 %v, %t, 1, 31, -1;",
                 EMU_ILLEGAL_INSTRUCTION, EMU_FINDING_lane_missing, "exited");
    expect_fault("shfl.sync.idx.b32 %v, %t, 1, 31, 0xff;", EMU_ILLEGAL_INSTRUCTION,
                 EMU_FINDING_not_in_mask, "shfl");
    expect_fault("setp.lt.u32 %p1, %t, 3; @%p1 bra.uni A; mov.u32 %v, 1; A:",
                 EMU_ILLEGAL_INSTRUCTION, EMU_FINDING_not_uniform, ".uni");
    expect_fault("setp.eq.u32 %p1, %t, 77; @%p1 trap;", EMU_LAUNCH_FAILED, EMU_FINDING_trap,
                 "trap");
}

static void test_warp_sync(void) {
    Rig rig;
    uint32_t out[64];
    rig_open(&rig, "sm_90a");
    // Both sides of a branch have a bar.warp.sync of their own, for all lanes.
    const char *body = "setp.lt.u32 %p1, %t, 7; @%p1 bra A;\n"
                       "mov.u32 %v, 1; bar.warp.sync -1; bra B;\n"
                       "A: mov.u32 %v, 2; bar.warp.sync -1; B: add.u32 %v, %v, 10;";
    CHECK_INT(run_words(&rig, "", body, 1, 32, out), EMU_OK);
    CHECK_INT(out[3], 12);
    CHECK_INT(out[9], 11);
    // What one side wrote before is in order with what the other reads after.
    const char *ordered = "mov.u32 %r1, tile; setp.lt.u32 %p1, %t, 7; @%p1 bra A;\n"
                          "st.shared.u32 [%r1], 5; bar.warp.sync -1; bra B;\n"
                          "A: bar.warp.sync -1; ld.shared.u32 %v, [%r1]; B: ";
    CHECK_INT(run_words(&rig, ".shared .align 4 .b8 tile[4];", ordered, 1, 32, out), EMU_OK);
    CHECK_INT(out[3], 5);
    CHECK(!strstr(rig.log, "race_read_write"));
    // Both sides have a barrier of the block.
    const char *blocks = "setp.lt.u32 %p1, %t, 7; @%p1 bra A;\n"
                         "mov.u32 %v, 1; barrier.sync 3; bra B;\n"
                         "A: mov.u32 %v, 2; barrier.sync 3; B: add.u32 %v, %v, 10;";
    CHECK_INT(run_words(&rig, "", blocks, 1, 64, out), EMU_OK);
    CHECK_INT(out[3], 12);
    CHECK_INT(out[63], 11);
    rig_close(&rig);
}

// Groups of lanes that each name only themselves, at one instruction: all of them together, and
// one group after another.
static void test_groups(void) {
    Rig rig;
    uint32_t out[32];
    rig_open(&rig, "sm_90a");
    const char *together = "shr.u32 %r1, %t, 3; shl.b32 %r2, %r1, 3; shl.b32 %r3, 0xff, %r2;\n"
                           "redux.sync.add.u32 %v, %t, %r3;";
    const char *apart = "shr.u32 %r1, %t, 3; shl.b32 %r2, %r1, 3; shl.b32 %r3, 0xff, %r2;\n"
                        "mov.u32 %r4, %t; LOOP: setp.eq.u32 %p1, %r4, 0; @%p1 bra OUT;\n"
                        "sub.u32 %r4, %r4, 1; bra LOOP; OUT: redux.sync.add.u32 %v, %t, %r3;";
    for (int k = 0; k < 2; k++) {
        CHECK_INT(run_words(&rig, "", k ? apart : together, 1, 32, out), EMU_OK);
        int wrong = 0;
        for (uint32_t t = 0; t < 32; t++) wrong += out[t] != t / 8 * 64 + 28;
        CHECK_INT(wrong, 0);
        CHECK_STR(rig.log, "");
    }
    rig_close(&rig);
}

static void test_shuffles(void) {
    Rig rig;
    uint32_t out[32];
    rig_open(&rig, "sm_90a");
    const char *body =
        "add.u32 %r1, %t, 100; shfl.sync.down.b32 %r2|%p1, %r1, 3, 31, -1;\n"
        "selp.u32 %r2, %r2, 7, %p1; shfl.sync.bfly.b32 %r3, %t, 5, 31, -1;\n"
        "shfl.sync.up.b32 %r4, %t, 2, 0x1800, -1;\n" // segments of 8
        "redux.sync.add.u32 %r5, %t, -1; redux.sync.max.s32 %r6, %t, -1;\n"
        "and.b32 %r7, %t, 3; match.any.sync.b32 %r8, %r7, -1; match.all.sync.b32 %r9|%p2, %r7, "
        "-1;\n"
        "setp.gt.u32 %p3, %t, 20; vote.sync.ballot.b32 %r10, %p3, -1;\n"
        "vote.sync.any.pred %p4, %p3, -1; vote.sync.all.pred %p5, %p3, -1;\n"
        "elect.sync %r11|%p6, -1;\n"
        "mov.u32 %v, 0; shl.b32 %r12, %r2, 16; or.b32 %v, %r12, %r3; shl.b32 %r4, %r4, 8;\n"
        "or.b32 %v, %v, %r4;\n"
        "setp.ne.u32 %p1, %r5, 496; @%p1 mov.u32 %v, 1; setp.ne.u32 %p1, %r6, 31;\n"
        "@%p1 mov.u32 %v, 2; shl.b32 %r13, 0x11111111, %r7; setp.ne.u32 %p1, %r8, %r13;\n"
        "@%p1 mov.u32 %v, 3; @%p2 mov.u32 %v, 4; setp.ne.u32 %p1, %r10, 0xffe00000;\n"
        "@%p1 mov.u32 %v, 5; @!%p4 mov.u32 %v, 6; @%p5 mov.u32 %v, 7;\n"
        "setp.eq.u32 %p1, %t, 0; xor.pred %p1, %p1, %p6; @%p1 mov.u32 %v, 8;";
    CHECK_INT(run_words(&rig, "", body, 1, 32, out), EMU_OK);
    int wrong = 0;
    for (uint32_t t = 0; t < 32; t++) {
        uint32_t down = t + 3 <= 31 ? t + 103 : 7, up = t % 8 >= 2 ? t - 2 : t;
        uint32_t want = down << 16 | up << 8 | (t ^ 5);
        wrong += out[t] != want;
        if (out[t] != want) printf("    lane %u: %08x, want %08x\n", t, out[t], want);
    }
    CHECK_INT(wrong, 0);
    rig_close(&rig);
}

// The forms of match, redux and vote that the last test left out, and those of old targets.
static void test_more_shuffles(void) {
    Rig rig;
    uint32_t out[32];
    rig_open(&rig, "sm_90a");
    const char *body =
        "cvt.u64.u32 %d1, %t; shl.b64 %d2, %d1, 33; and.b64 %d2, %d2, 0x300000000;\n"
        "match.any.sync.b64 %r1, %d2, -1; match.all.sync.b64 %r2|%p1, %d2, -1;\n"
        "@%p1 mov.u32 %v, 1; @%p1 bra END; setp.ne.u32 %p1, %r2, 0; @%p1 bra END;\n"
        "and.b32 %r3, %t, 1; shl.b32 %r3, 0x55555555, %r3; setp.ne.u32 %p1, %r1, %r3;\n"
        "@%p1 bra END; mov.b64 %d3, 7; match.all.sync.b64 %r2|%p1, %d3, -1; @!%p1 bra END;\n"
        "add.u32 %r4, %t, 5; redux.sync.min.u32 %r5, %r4, -1; setp.ne.u32 %p1, %r5, 5;\n"
        "@%p1 bra END; redux.sync.and.b32 %r5, %t, -1; setp.ne.u32 %p1, %r5, 0; @%p1 bra END;\n"
        "redux.sync.or.b32 %r5, %t, -1; setp.ne.u32 %p1, %r5, 31; @%p1 bra END;\n"
        "redux.sync.xor.b32 %r5, %r4, -1; sub.s32 %r6, 3, %t; redux.sync.min.s32 %r7, %r6, -1;\n"
        "setp.ne.s32 %p1, %r7, -28; @%p1 bra END; redux.sync.max.u32 %r7, %r6, -1;\n"
        "setp.ne.u32 %p1, %r7, -1; @%p1 bra END; redux.sync.add.s32 %r7, %r6, -1;\n"
        "setp.ne.s32 %p1, %r7, -400; @%p1 bra END; setp.lt.u32 %p2, %t, 4;\n"
        "vote.sync.uni.pred %p3, %p2, -1; @%p3 bra END; vote.sync.all.pred %p3, !%p2, -1;\n"
        "nanosleep.u32 100; mov.u32 %v, 77; END:";
    CHECK_INT(run_words(&rig, "", body, 1, 32, out), EMU_OK);
    int wrong = 0;
    for (uint32_t t = 0; t < 32; t++) wrong += out[t] != 77;
    CHECK_INT(wrong, 0);
    expect_fault("brkpt;", EMU_LAUNCH_FAILED, EMU_FINDING_trap, "brkpt");
    rig_close(&rig);
}

static const char *const functions =
    ".func (.param .b32 result) twice(.param .b32 a)\n"
    "{ .reg .b32 %r<4>; ld.param.b32 %r1, [a]; add.u32 %r2, %r1, %r1;\n"
    "st.param.b32 [result], %r2; ret; }\n"
    ".func (.param .b32 result) thrice(.param .b32 a)\n"
    "{ .reg .b32 %r<4>; ld.param.b32 %r1, [a]; mul.lo.u32 %r2, %r1, 3;\n"
    "st.param.b32 [result], %r2; ret; }\n"
    ".func (.param .b32 result) sum(.param .b32 n)\n" // n + (n - 1) + ... by recursion
    "{ .reg .b32 %r<6>; .reg .pred %p<2>; .local .align 4 .b8 kept[4]; .reg .b64 %d<2>;\n"
    "ld.param.b32 %r1, [n]; mov.u64 %d1, kept; st.local.u32 [%d1], %r1;\n"
    "setp.eq.u32 %p1, %r1, 0; mov.u32 %r4, 0; @%p1 bra END; sub.u32 %r2, %r1, 1;\n"
    "{ .param .b32 p0; st.param.b32 [p0], %r2; .param .b32 r0;\n"
    "call (r0), sum, (p0); ld.param.b32 %r3, [r0]; }\n"
    "ld.local.u32 %r5, [%d1]; add.u32 %r4, %r3, %r5;\n"
    "END: st.param.b32 [result], %r4; ret; }\n"
    ".global .align 8 .u64 table[2] = {twice, thrice};\n";

static void test_calls(void) {
    Rig rig;
    uint32_t out[32];
    rig_open(&rig, "sm_90a");
    const char *direct = "{ .param .b32 p0; st.param.b32 [p0], %t; .param .b32 r0;\n"
                         "call.uni (r0), twice, (p0); ld.param.b32 %v, [r0]; }";
    const char *recursive = "{ .param .b32 p0; st.param.b32 [p0], %t; .param .b32 r0;\n"
                            "call.uni (r0), sum, (p0); ld.param.b32 %v, [r0]; }";
    const char *indirect = "and.b32 %r1, %t, 1; mul.wide.u32 %d1, %r1, 8; mov.u64 %d2, table;\n"
                           "add.s64 %d2, %d2, %d1; ld.global.u64 %d3, [%d2];\n"
                           "{ .param .b32 p0; st.param.b32 [p0], %t; .param .b32 r0;\n"
                           "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                           "call (r0), %d3, (p0), proto; ld.param.b32 %v, [r0]; }";
    int wrong = 0;
    CHECK_INT(run_words(&rig, functions, direct, 1, 32, out), EMU_OK);
    for (uint32_t t = 0; t < 32; t++) wrong += out[t] != 2 * t;
    CHECK_INT(wrong, 0);
    CHECK_INT(run_words(&rig, functions, recursive, 1, 32, out), EMU_OK);
    for (uint32_t t = 0; t < 32; t++) wrong += out[t] != t * (t + 1) / 2;
    CHECK_INT(wrong, 0);
    CHECK_INT(run_words(&rig, functions, indirect, 1, 32, out), EMU_OK);
    for (uint32_t t = 0; t < 32; t++) wrong += out[t] != t * (2 + t % 2);
    CHECK_INT(wrong, 0);
    const char *endless = "{ .param .b32 p0; st.param.b32 [p0], -1; .param .b32 r0;\n"
                          "call.uni (r0), sum, (p0); ld.param.b32 %v, [r0]; }";
    CHECK_INT(run_words(&rig, functions, endless, 1, 32, out), EMU_ILLEGAL_ADDRESS);
    if (!CHECK_INT(rig.kind, EMU_FINDING_stack_overflow)) printf("%s\n", rig.log);
    rig_close(&rig);
}

static void test_builtins(void) {
    Rig rig;
    uint32_t out[32];
    rig_open(&rig, "sm_90a");
    const char *before =
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
        ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n,\n"
        ".param .b64 c);\n"
        ".global .align 1 .b8 text[24] = "
        "{37,100,32,37,115,32,37,46,50,102,32,37,108,108,120,37,37,10};\n"
        ".global .align 1 .b8 word[4] = {97,98,99,0};\n";
    const char *body =
        "setp.ne.u32 %p1, %t, 5; @%p1 bra END;\n"
        "{ .local .align 8 .b8 args[32]; mov.u64 %d1, args; cvta.local.u64 %d2, %d1;\n"
        "st.local.u32 [%d1], -3; mov.u64 %d3, word; cvta.global.u64 %d3, %d3;\n"
        "st.local.u64 [%d1+8], %d3; st.local.f64 [%d1+16], 0d3FF8000000000000;\n"
        "st.local.u64 [%d1+24], 0xabcdef012345; mov.u64 %d4, text; cvta.global.u64 %d4, %d4;\n"
        ".param .b64 p0; st.param.b64 [p0], %d4; .param .b64 p1; st.param.b64 [p1], %d2;\n"
        ".param .b32 r0; call.uni (r0), vprintf, (p0, p1); ld.param.b32 %v, [r0]; }\nEND:";
    CHECK_INT(run_words(&rig, before, body, 1, 32, out), EMU_OK);
    CHECK_STR(rig.printed, "-3 abc 1.50 abcdef012345%\n");
    CHECK_INT(out[5], (int)strlen(rig.printed));
    const char *fails =
        "setp.ne.u32 %p1, %t, 5; @%p1 bra END;\n"
        "{ mov.u64 %d3, word; .param .b64 a; st.param.b64 [a], %d3; .param .b64 b;\n"
        "st.param.b64 [b], %d3; .param .b32 c; st.param.b32 [c], 42; .param .b64 d;\n"
        "st.param.b64 [d], %d3; .param .b64 e; st.param.b64 [e], 1;\n"
        "call.uni __assertfail, (a, b, c, d, e); }\nEND:";
    CHECK_INT(run_words(&rig, before, fails, 1, 32, out), EMU_ASSERT);
    if (!CHECK(strstr(rig.log, "abc:42: abc: assertion `abc` failed"))) printf("%s\n", rig.log);
    rig_close(&rig);
}

// Block 0 waits for block 1: together in a cooperative launch, and also otherwise, after a while.
static void test_blocks_that_wait(void) {
    Rig rig;
    uint32_t out[32];
    rig_open(&rig, "sm_90a");
    const char *body = "mov.u64 %d1, flag; mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0;\n"
                       "@%p1 bra SET; WAIT: ld.acquire.gpu.global.u32 %v, [%d1];\n"
                       "setp.ne.u32 %p2, %v, 99; @%p2 bra WAIT; st.global.u32 [%a], %v; ret;\n"
                       "SET: setp.ne.u32 %p2, %t, 0; @%p2 exit;\n"
                       "atom.release.gpu.global.add.u32 %r2, [%d1], 1; exit;";
    CHECK_INT(run_words(&rig, ".global .u32 flag;", body, 100, 32, out), EMU_OK);
    CHECK_INT(out[0], 99);
    CHECK_INT(rig_load(&rig, kernel(&rig, ".global .u32 flag;", body)), EMU_OK);
    uint64_t address = rig_memory(&rig, 128);
    CHECK_INT(rig_run(&rig, "k", 100, 32, 0, &address, true), EMU_OK);
    CHECK_INT(rig_run(&rig, "k", 100000, 32, 0, &address, true), EMU_COOPERATIVE_TOO_LARGE);
    rig_close(&rig);
}

int main(void) {
    RUN(test_divergence);
    RUN(test_branch_table);
    RUN(test_spin_lock);
    RUN(test_progress);
    RUN(test_barriers);
    RUN(test_barrier_exits);
    RUN(test_loose_barriers);
    RUN(test_faults);
    RUN(test_warp_sync);
    RUN(test_groups);
    RUN(test_shuffles);
    RUN(test_more_shuffles);
    RUN(test_calls);
    RUN(test_builtins);
    RUN(test_blocks_that_wait);
    return test_done();
}
