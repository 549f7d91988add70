// Do the checks find what they are for? Every barrier, wait, fence and commit of right pipelines
// (tests/emulator/pipelines) is taken out in turn, and in one of a few schedules the emulator must
// tell, or the result must differ, or the launch fail. The kernels as they are give no finding, and
// the same results in every order and with every policy of completion.
#include "tests/unit/emulator_run.h"

enum { WORDS = 4096, BYTES = 4 * WORDS, SCHEDULES = 12 };

// What is taken out; of a conditional jump back to a wait, the jump.
static const char *const guards[] = {"bar.sync",
                                     "barrier.sync",
                                     "bar.arrive",
                                     "barrier.arrive",
                                     "bar.warp.sync",
                                     "cp.async.wait_group",
                                     "cp.async.wait_all",
                                     "cp.async.commit_group",
                                     "cp.async.mbarrier.arrive",
                                     "mbarrier.arrive",
                                     "mbarrier.init",
                                     "membar",
                                     "fence.",
                                     "@!done bra"};

typedef struct Kernel {
    const char *name;
    bool halves; // its input is f16
} Kernel;

static const Kernel kernels[] = {
    {"reduce", false},    {"transpose", false}, {"scan", false},
    {"histogram", false}, {"stages", false},    {"specialised", false},
    {"ring", false},      {"last_one", false},  {"matmul", true},
};

typedef struct Outcome {
    EmuStatus status;
    int findings;
    uint8_t bytes[BYTES];
    char log[4096];
} Outcome;

static void fill_input(uint8_t *bytes, bool halves) {
    for (uint32_t i = 0; i < WORDS; i++) {
        uint32_t word = halves ? 0x3c003800 + (i % 5 << 8) + (i % 7 << 24) : i * 2654435761u >> 8;
        memcpy(bytes + 4 * i, &word, 4);
    }
}

static bool run(Str text, const Kernel *kernel, const EmuOptions *options, Outcome *out) {
    Rig rig;
    Str log;
    uint8_t input[BYTES];
    rig_open(&rig, "sm_80");
    rig.options = *options;
    bool loaded = emu_module_load(rig.device, text, rig.arena, &rig.module, &log) == EMU_OK;
    if (loaded) {
        fill_input(input, kernel->halves);
        uint64_t parameters[] = {rig_copy(&rig, input, BYTES), rig_memory(&rig, BYTES)};
        out->status = rig_run(&rig, kernel->name, 1, 128, 0, parameters, false);
        out->findings = rig.findings;
        memcpy(out->bytes, rig_bytes(&rig, parameters[1]), BYTES);
        memcpy(out->log, rig.log, sizeof out->log);
    }
    rig_close(&rig);
    return loaded;
}

static Str read_kernels(Arena *arena) {
    FILE *file = fopen("tests/emulator/pipelines/pipelines.ptx", "r");
    char *text = arena_alloc(arena, 1 << 18);
    size_t size = file ? fread(text, 1, (1 << 18) - 1, file) : 0;
    if (file) fclose(file);
    return (Str){text, size};
}

static const EmuOptions plain = {.checks = EMU_CHECKS_full, .workers = 1, .step_limit = 4000000};

static void test_right_kernels_in_every_order(void) {
    static Outcome first, other;
    Arena *arena = arena_new(NULL);
    Str text = read_kernels(arena);
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        CHECK(run(text, &kernels[i], &plain, &first));
        for (int k = 0; k < 12; k++) {
            EmuOptions options = plain;
            options.order = (EmuOrder)(k % 3);
            options.completion = (EmuCompletion)(k / 3 % 3);
            options.seed = (uint64_t)k;
            CHECK(run(text, &kernels[i], &options, &other));
            bool good = CHECK_INT(other.status, EMU_OK);
            good &= CHECK_INT(other.findings, 0);
            good &= CHECK_MEM(other.bytes, first.bytes, BYTES);
            if (!good) printf("    %s, variant %d:\n%s", kernels[i].name, k, other.log);
        }
    }
    arena_free(arena);
}

// ---- mutants ------------------------------------------------------------------------------------

typedef struct Line {
    size_t at, size;
} Line;

static Line line_at(Str text, size_t at) {
    size_t end = at;
    while (end < text.size && text.data[end] != '\n') end++;
    return (Line){at, end - at};
}

static bool contains(Str text, Line line, const char *word) {
    Str rest = {text.data + line.at, line.size};
    for (; rest.size; rest.data++, rest.size--)
        if (str_starts_with(rest, str_from(word))) return true;
    return false;
}

static bool is_guard(Str text, Line line) {
    for (size_t i = 0; i < sizeof guards / sizeof guards[0]; i++)
        if (contains(text, line, guards[i])) return true;
    return false;
}

// The text without what the line holds; a brace that it opens or closes stays.
static Str without(Arena *arena, Str text, Line line) {
    char *copy = arena_copy(arena, text.data, text.size);
    for (size_t i = line.at; i < line.at + line.size; i++)
        if (copy[i] != '{' && copy[i] != '}') copy[i] = ' ';
    return (Str){copy, text.size};
}

typedef struct Tally {
    int mutants, found, changed, failed;
    int schedules; // that were run
} Tally;

// Whether a schedule shows that the mutant is not right.
static bool judge(Str text, const Kernel *kernel, const Outcome *right, uint64_t seed,
                  Tally *tally) {
    static Outcome got;
    EmuOptions options = plain;
    options.order = seed == 0   ? EMU_ORDER_round_robin
                    : seed == 1 ? EMU_ORDER_adversarial
                                : EMU_ORDER_random;
    options.seed = seed;
    if (!run(text, kernel, &options, &got)) return false;
    tally->schedules++;
    if (got.findings)
        tally->found++;
    else if (got.status != EMU_OK)
        tally->failed++;
    else if (memcmp(got.bytes, right->bytes, BYTES) != 0)
        tally->changed++;
    else
        return false;
    return true;
}

static const Kernel *kernel_of(Str text, Line line, const Kernel *current) {
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (contains(text, line, ".entry ") && contains(text, line, kernels[i].name))
            return &kernels[i];
    return current;
}

static int line_number(Str text, Line line) {
    int number = 1;
    for (size_t i = 0; i < line.at; i++) number += text.data[i] == '\n';
    return number;
}

static void check_mutant(Arena *arena, Str text, Line line, const Kernel *kernel,
                         const Outcome *right, Tally *tally) {
    Str mutant = without(arena, text, line);
    bool caught = false;
    tally->mutants++;
    for (uint64_t seed = 0; seed < SCHEDULES && !caught; seed++)
        caught = judge(mutant, kernel, right, seed, tally);
    if (!CHECK(caught))
        printf("    %s lives without line %d, \"%.*s\"\n", kernel->name, line_number(text, line),
               (int)line.size, text.data + line.at);
}

static void test_mutants_are_caught(void) {
    static Outcome right;
    Arena *arena = arena_new(NULL);
    Str text = read_kernels(arena);
    const Kernel *kernel = NULL, *known = NULL;
    Tally tally = {0};
    for (size_t at = 0; at < text.size;) {
        Line line = line_at(text, at);
        Arena *scratch = arena_new(NULL);
        kernel = kernel_of(text, line, kernel);
        if (kernel != known) CHECK(run(text, kernel, &plain, &right));
        known = kernel;
        if (kernel && is_guard(text, line))
            check_mutant(scratch, text, line, kernel, &right, &tally);
        arena_free(scratch);
        at = line.at + line.size + 1;
    }
    printf("%d mutants in %d runs: %d found, %d failed the launch, %d changed the result\n",
           tally.mutants, tally.schedules, tally.found, tally.failed, tally.changed);
    CHECK(tally.mutants >= 60);
    arena_free(arena);
}

int main(void) {
    RUN(test_right_kernels_in_every_order);
    RUN(test_mutants_are_caught);
    return test_done();
}
