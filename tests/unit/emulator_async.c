// Asynchronous copies and mbarriers of the emulator, form by form: what a copy writes, which group
// a wait waits for, and how phases of an mbarrier end.
#include "tests/unit/emulator_run.h"

enum { WORDS = 16 };

// Runs `body` in one thread; `%q0` is memory with the words 1000, 1001 ..., `%q1` gets the results.
static bool run(const char *body, EmuCompletion completion, uint32_t *results) {
    Rig rig;
    uint32_t words[64];
    rig_open(&rig, "sm_90a");
    rig.options.completion = completion;
    for (uint32_t i = 0; i < 64; i++) words[i] = 1000 + i;
    Str text = str_format(
        rig.arena,
        ".visible .entry k(.param .u64 in, .param .u64 out) {\n.reg .pred %%p<8>; .reg .b32 "
        "%%r<40>;\n"
        ".reg .b64 %%q<4>; .reg .b64 %%s<8>;\n.shared .align 16 .b8 tile[256]; .shared .b64 bar;\n"
        "ld.param.u64 %%q0, [in];\nld.param.u64 %%q1, [out];\n%s\nret;\n}\n",
        body);
    uint64_t parameters[] = {rig_copy(&rig, words, sizeof words), rig_memory(&rig, 4 * WORDS)};
    bool good = CHECK_INT(rig_load(&rig, text.data), EMU_OK);
    if (good) good = CHECK_INT(rig_run(&rig, "k", 1, 1, 0, parameters, false), EMU_OK);
    if (good) good = CHECK_INT(rig.findings, 0);
    if (good) memcpy(results, rig_bytes(&rig, parameters[1]), 4 * WORDS);
    if (!good) printf("    %s\n", rig.log);
    rig_close(&rig);
    return good;
}

#define STORE(word, register) "st.global.u32 [%q1+" #word "*4], " register ";\n"
// 1 where the predicate holds.
#define STORE_TRUTH(word, predicate) "selp.u32 %r30, 1, 0, " predicate ";\n" STORE(word, "%r30")

static void check_copies(EmuCompletion completion) {
    uint32_t r[WORDS];
    if (run("mov.u32 %r1, tile;\nmov.u32 %r2, 5;\nmov.u32 %r3, 0;\nsetp.eq.u32 %p0, %r3, 0;\n"
            "cp.async.ca.shared.global [tile], [%q0], 4;\n"
            "cp.async.ca.shared.global [%r1+8], [%q0+8], 8;\n"
            "cp.async.cg.shared.global [%r1+16], [%q0+16], 16;\n"
            "cp.async.commit_group;\n"
            "cp.async.ca.shared.global.L2::128B [%r1+32], [%q0+32], 8, %r2;\n" // 5 of 8 bytes
            "cp.async.cg.shared::cta.global [%r1+48], [%q0+48], 16, 0;\n"      // none
            "cp.async.ca.shared.global [%r1+64], [%q0+64], 4, %p0;\n"          // ignored
            "cp.async.ca.shared.global [%r1+68], [%q0+68], 4, !%p0;\n"
            "cp.async.commit_group;\ncp.async.wait_group 1;\n"
            "ld.shared.u32 %r4, [tile];\nld.shared.u32 %r5, [%r1+12];\nld.shared.u32 %r6, "
            "[%r1+28];\n"
            "cp.async.wait_group 0;\n"
            "ld.shared.u32 %r7, [%r1+32];\nld.shared.u32 %r8, [%r1+36];\nld.shared.u32 %r9, "
            "[%r1+60];\n"
            "ld.shared.u32 %r10, [%r1+64];\nld.shared.u32 %r11, [%r1+68];\n"
            "cp.async.wait_all;\n" STORE(0, "%r4") STORE(1, "%r5") STORE(2, "%r6") STORE(3, "%r7")
                STORE(4, "%r8") STORE(5, "%r9") STORE(6, "%r10") STORE(7, "%r11"),
            completion, r)) {
        CHECK_INT(r[0], 1000);
        CHECK_INT(r[1], 1003);
        CHECK_INT(r[2], 1007);
        CHECK_INT(r[3], 1008);
        CHECK_INT(r[4], 1009 & 0xff);
        CHECK_INT(r[5], 0);
        CHECK_INT(r[6], 0);
        CHECK_INT(r[7], 1017);
    }
}

static void test_copies(void) {
    check_copies(EMU_COMPLETION_latest);
    check_copies(EMU_COMPLETION_eager);
    check_copies(EMU_COMPLETION_random);
}

static void test_parity_of_a_fresh_mbarrier(void) {
    uint32_t r[WORDS];
    if (run("mbarrier.init.shared.b64 [bar], 1;\nmov.u32 %r1, 0;\nmov.u32 %r2, 1;\n"
            "mbarrier.try_wait.parity.shared.b64 %p1, [bar], 1;\n"
            "mbarrier.try_wait.parity.shared.b64 %p2, [bar], %r1, 1000;\n"
            "mbarrier.arrive.shared.b64 %s0, [bar];\n"
            "mbarrier.test_wait.parity.shared.b64 %p3, [bar], 0;\n"
            "mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 %p4, [bar], %r2;\n" STORE_TRUTH(
                0, "%p1") STORE_TRUTH(1, "%p2") STORE_TRUTH(2, "%p3") STORE_TRUTH(3, "%p4"),
            EMU_COMPLETION_latest, r)) {
        CHECK_INT(r[0], 1);
        CHECK_INT(r[1], 0);
        CHECK_INT(r[2], 1);
        CHECK_INT(r[3], 0);
    }
}

static void test_counts_and_states(void) {
    uint32_t r[WORDS];
    if (run("mbarrier.init.shared.b64 [bar], 6;\n"
            "mbarrier.arrive.noComplete.shared.b64 %s0, [bar], 2;\n"
            "mbarrier.pending_count.b64 %r1, %s0;\n"
            "mbarrier.arrive.release.cta.shared.b64 %s1, [bar], 3;\n"
            "mbarrier.pending_count.b64 %r2, %s1;\n"
            "mbarrier.test_wait.shared.b64 %p1, [bar], %s1;\n"
            "mbarrier.arrive.shared.b64 _, [bar];\n"
            "mbarrier.test_wait.shared.b64 %p2, [bar], %s1;\n"
            "mbarrier.try_wait.shared.b64 %p3, [bar], %s0;\n"
            "mbarrier.inval.shared.b64 [bar];\n"
            "mbarrier.init.shared.b64 [bar], 2;\n"
            "mbarrier.arrive_drop.shared.b64 %s2, [bar];\n"
            "mbarrier.arrive.shared.b64 %s3, [bar];\n" // ends the phase; the next expects one
            "mbarrier.arrive.shared.b64 %s4, [bar];\n"
            "mbarrier.test_wait.shared.b64 %p4, [bar], %s4;\n"
            "mbarrier.pending_count.b64 %r3, %s4;\n" STORE(0, "%r1") STORE(1, "%r2")
                STORE_TRUTH(2, "%p1") STORE_TRUTH(3, "%p2") STORE_TRUTH(4, "%p3")
                    STORE_TRUTH(5, "%p4") STORE(6, "%r3"),
            EMU_COMPLETION_latest, r)) {
        CHECK_INT(r[0], 6);
        CHECK_INT(r[1], 4);
        CHECK_INT(r[2], 0);
        CHECK_INT(r[3], 1);
        CHECK_INT(r[4], 1);
        CHECK_INT(r[5], 1);
        CHECK_INT(r[6], 1);
    }
}

static void test_expected_bytes(void) {
    uint32_t r[WORDS];
    if (run("mbarrier.init.shared.b64 [bar], 1;\n"
            "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 16;\n" // before it is expected
            "mbarrier.arrive.expect_tx.shared.b64 %s0, [bar], 64;\n"
            "mbarrier.test_wait.shared.b64 %p1, [bar], %s0;\n"
            "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 48;\n"
            "mbarrier.test_wait.shared.b64 %p2, [bar], %s0;\n"
            "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 8;\n"
            "mbarrier.arrive.shared.b64 %s1, [bar];\n"
            "mbarrier.test_wait.shared.b64 %p3, [bar], %s1;\n"
            "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 8;\n"
            "mbarrier.test_wait.shared.b64 %p4, [bar], %s1;\n" STORE_TRUTH(0, "%p1")
                STORE_TRUTH(1, "%p2") STORE_TRUTH(2, "%p3") STORE_TRUTH(3, "%p4"),
            EMU_COMPLETION_latest, r)) {
        CHECK_INT(r[0], 0);
        CHECK_INT(r[1], 1);
        CHECK_INT(r[2], 0);
        CHECK_INT(r[3], 1);
    }
}

static void check_arrival_of_copies(EmuCompletion completion) {
    uint32_t r[WORDS];
    if (run("mov.u32 %r1, tile;\nmbarrier.init.shared.b64 [bar], 1;\n"
            "cp.async.ca.shared.global [%r1], [%q0+12], 4;\n"
            "cp.async.mbarrier.arrive.shared.b64 [bar];\n" // expects one more, and brings it
            "mbarrier.arrive.shared.b64 %s0, [bar];\n"
            "WAIT: mbarrier.test_wait.shared.b64 %p1, [bar], %s0;\n@!%p1 bra WAIT;\n"
            "ld.shared.u32 %r2, [%r1];\n" STORE(0, "%r2"),
            completion, r))
        CHECK_INT(r[0], 1003);
    if (run("mov.u32 %r1, tile;\nmbarrier.init.shared.b64 [bar], 1;\n"
            "cp.async.ca.shared.global [%r1], [%q0+16], 4;\n"
            "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n"
            "WAIT: mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra WAIT;\n"
            "ld.shared.u32 %r2, [%r1];\n" STORE(0, "%r2"),
            completion, r))
        CHECK_INT(r[0], 1004);
}

static void test_arrival_of_copies(void) {
    check_arrival_of_copies(EMU_COMPLETION_latest);
    check_arrival_of_copies(EMU_COMPLETION_eager);
    check_arrival_of_copies(EMU_COMPLETION_random);
}

int main(void) {
    RUN(test_copies);
    RUN(test_parity_of_a_fresh_mbarrier);
    RUN(test_counts_and_states);
    RUN(test_expected_bytes);
    RUN(test_arrival_of_copies);
    return test_done();
}
