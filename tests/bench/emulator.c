/* The emulated device on one core: warp instructions a second of a mix of arithmetic and of copies
 * (emulator.ptx), with checks off, cheap and full; and how long a module of 1,000 lines takes to
 * load. Times are of the processor, so that others on the machine matter less. Then a product of
 * matrices by tensor cores, as tcc compiles it, on two cores and by the clock on the wall. */
#include "emulator/machine/machine.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static Str read_text(Arena *arena, const char *path) {
    Buf text = {.arena = arena};
    char part[4096];
    FILE *file = fopen(path, "r");
    if (!file) return (Str){NULL, 0};
    for (size_t size; (size = fread(part, 1, sizeof part, file)) > 0;) buf_bytes(&text, part, size);
    fclose(file);
    return buf_str(&text);
}

/* The best of some rounds: what the program needs when nobody is in its way. */
static double best_rate(EmuDevice *device, const EmuFunction *function, EmuChecks checks,
                        uint32_t turns) {
    uint64_t memory =
        emu_memory_allocate(emu_device_memory(device), 4096, 256, EMU_BLOCK_device, NULL);
    struct {
        uint64_t out;
        uint32_t turns;
    } parameters = {memory, turns};
    EmuLaunch launch = {
        .function = function, .grid = {1, 1, 1}, .block = {256, 1, 1}, .parameters = &parameters};
    EmuOptions options = {.checks = checks, .workers = 1};
    double best = 0;
    for (int round = 0; round < rounds_wanted(9); round++) {
        EmuCounters counters;
        double before = cpu_seconds();
        if (emu_launch(device, &launch, &options, NULL, &counters) != EMU_OK) return 0;
        double rate = (double)counters.instructions / (cpu_seconds() - before);
        if (rate > best) best = rate;
    }
    emu_memory_release(emu_device_memory(device), memory);
    return best;
}

static void measure_rates(EmuDevice *device, const EmuModule *module) {
    static const struct {
        const char *name;
        EmuChecks checks;
        uint32_t turns;
        double goal;
    } levels[] = {{"off", EMU_CHECKS_off, 20000, 100},
                  {"cheap", EMU_CHECKS_cheap, 20000, 0},
                  {"full", EMU_CHECKS_full, 2000, 10}};
    static const char *const kernels[] = {"mix", "copy"};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++) {
            char name[64];
            const EmuFunction *function = emu_module_function(module, str_from(kernels[k]));
            snprintf(name, sizeof name, "emulator: %s, checks %s", kernels[k], levels[i].name);
            print_figure(name,
                         1e-6 * best_rate(device, function, levels[i].checks, levels[i].turns),
                         "M warp instructions/s",
                         k == 0 && levels[i].goal > 0 ? GOAL_at_least : GOAL_none, levels[i].goal);
        }
}

/* The body of the mix over and over, until there are 1,000 lines. */
static Str long_module(Arena *arena) {
    Buf text = {.arena = arena};
    buf_print(&text, ".version 8.0\n.target sm_80\n.address_size 64\n"
                     ".visible .entry k(.param .u64 out)\n{\n.reg .pred %%p<4>; .reg .b32 %%r<400>;"
                     ".reg .f32 %%f<400>; .reg .b64 %%d<8>;\n"
                     "ld.param.u64 %%d1, [out];\nmov.u32 %%r1, %%tid.x;\n"
                     "mov.f32 %%f1, 0f3F800000;\n");
    for (int i = 1; i < 198; i++)
        buf_print(&text,
                  "mad.lo.s32 %%r%d, %%r%d, 3, %d;\ncvt.rn.f32.s32 %%f%d, %%r%d;\n"
                  "fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;\nsetp.lt.f32 %%p1, %%f%d, %%f%d;\n"
                  "@%%p1 st.global.f32 [%%d1+%d], %%f%d;\n",
                  i + 1, i, i, i + 1, i + 1, i + 1, i + 1, i, i, i + 1, i, 4 * i, i + 1);
    buf_print(&text, "ret;\n}\n");
    return buf_str(&text);
}

static void measure_load(EmuDevice *device) {
    double best = 1e9;
    for (int round = 0; round < rounds_wanted(9); round++) {
        Arena *arena = arena_new(NULL);
        Str text = long_module(arena), log;
        EmuModule *module;
        double before = cpu_seconds();
        if (emu_module_load(device, text, arena, &module, &log) != EMU_OK) {
            printf("%.*s\n", STR_ARG(log));
            return;
        }
        double seconds = cpu_seconds() - before;
        if (seconds < best) best = seconds;
        emu_module_free(module);
        arena_free(arena);
    }
    print_figure("emulator: load a module of 1,000 lines", 1e3 * best, "ms", GOAL_below, 5);
}

enum { SIDE = 512, TILE = 64, THREADS = 128, ONE_F16 = 0x3c00, SIDE_F16 = 0x6000 };

/* A matrix on the device, every element `bits`. */
static uint64_t make_matrix(EmuMemory *memory, uint16_t bits, bool written, EmuBlock *out_block) {
    uint64_t size = (uint64_t)SIDE * SIDE * sizeof bits;
    uint64_t address = emu_memory_allocate(memory, size, 256, EMU_BLOCK_device, NULL);
    if (!emu_memory_find(memory, address, size, out_block)) exit(EXIT_FAILURE);
    for (uint64_t i = 0; i < size; i += sizeof bits)
        memcpy(out_block->bytes + i, &bits, sizeof bits);
    if (written) emu_block_mark_written(out_block, address, size);
    return address;
}

/* Of ones: each element of the product is SIDE. Its parameters are those of runtime/abi_gpu.h. */
static double product_seconds(EmuDevice *device, const EmuFunction *function, EmuChecks checks) {
    EmuMemory *memory = emu_device_memory(device);
    EmuBlock a, b, c;
    enum { TILES = SIDE / TILE * (SIDE / TILE) };
    uint64_t words[6] = {make_matrix(memory, ONE_F16, true, &a),
                         make_matrix(memory, ONE_F16, true, &b),
                         make_matrix(memory, 0, false, &c),
                         emu_memory_allocate(memory, 64, 256, EMU_BLOCK_managed, NULL),
                         0,
                         TILES};
    EmuLaunch launch = {
        .function = function, .grid = {TILES, 1, 1}, .block = {THREADS, 1, 1}, .parameters = words};
    EmuOptions options = {.checks = checks, .workers = 2};
    EmuCounters counters;
    double before = seconds_now();
    EmuStatus status = emu_launch(device, &launch, &options, NULL, &counters);
    double seconds = seconds_now() - before;
    uint16_t last;
    memcpy(&last, c.bytes + c.size - sizeof last, sizeof last);
    bool good = status == EMU_OK && counters.findings == 0 && last == SIDE_F16;
    for (int i = 0; i < 4; i++) emu_memory_release(memory, words[i]);
    return good ? seconds : 1e9;
}

static void measure_product(EmuDevice *device, const char *path) {
    static const char *const names[] = {"off", "cheap", "full"};
    Arena *arena = arena_new(NULL);
    EmuModule *module;
    Str log, text = read_text(arena, path);
    if (emu_module_load(device, text, arena, &module, &log) == EMU_OK) {
        for (int checks = EMU_CHECKS_off; checks <= EMU_CHECKS_full; checks++) {
            double best = 1e9;
            char name[64];
            for (int round = 0; round < rounds_wanted(5); round++) {
                double seconds =
                    product_seconds(device, emu_module_function_at(module, 0), (EmuChecks)checks);
                best = seconds < best ? seconds : best;
            }
            snprintf(name, sizeof name, "emulator: 512^3 of f16 on two cores, checks %s",
                     names[checks]);
            print_figure(name, best, "s", checks == EMU_CHECKS_full ? GOAL_below : GOAL_none, 0.5);
        }
        emu_module_free(module);
    }
    arena_free(arena);
}

int main(int count, char **arguments) {
    Arena *arena = arena_new(NULL);
    EmuDevice *device = emu_device_new(&emu_models[0]);
    EmuModule *module;
    Str log, text = read_text(arena, "tests/bench/emulator.ptx");
    if (!device || emu_module_load(device, text, arena, &module, &log) != EMU_OK) {
        fprintf(stderr, "tests/bench/emulator.ptx cannot be loaded\n");
        return EXIT_FAILURE;
    }
    measure_rates(device, module);
    measure_load(device);
    if (count > 1) measure_product(device, arguments[1]);
    emu_module_free(module);
    emu_device_free(device);
    arena_free(arena);
    return EXIT_SUCCESS;
}
