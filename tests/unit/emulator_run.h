// Kernels as text, run on the emulated device: what the tests of the machine share.
#ifndef TCC_TESTS_UNIT_EMULATOR_RUN_H
#define TCC_TESTS_UNIT_EMULATOR_RUN_H

#include "base/guard.h"
#include "emulator/machine/machine.h"
#include "tests/unit/emulator_coverage.h"
#include "tests/unit/test.h"

typedef struct Rig {
    EmuDevice *device;
    Arena *arena;
    EmuModule *module;
    EmuOptions options;
    EmuCounters counters;
    char log[4096];     // of the load, or the messages of findings
    char printed[4096]; // by vprintf
    int findings;
    EmuFindingKind kind; // of the first finding
    uint32_t line, lane; // where it was
} Rig;

static inline const EmuModel *rig_model(const char *key) {
    for (int i = 0; i < emu_model_count; i++)
        if (strcmp(emu_models[i].key, key) == 0) return &emu_models[i];
    return NULL;
}

static inline void rig_open(Rig *rig, const char *key) {
    *rig = (Rig){.options = {.checks = EMU_CHECKS_full, .workers = 1}};
    rig->arena = arena_new(NULL);
    rig->device = emu_device_new(rig_model(key));
}

static inline void rig_close(Rig *rig) {
    emu_module_free(rig->module);
    emu_device_free(rig->device);
    arena_free(rig->arena);
}

static inline void rig_append(char *text, size_t size, Str more) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%.*s", STR_ARG(more));
}

// Loads `body` under a header of the newest version; the log keeps what is wrong with it.
static inline EmuStatus rig_load(Rig *rig, const char *body) {
    Str log,
        text = str_format(rig->arena, ".version 9.0\n.target sm_80\n.address_size 64\n%s", body);
    if (emu_device_model(rig->device)->major == 9)
        text = str_format(rig->arena, ".version 9.0\n.target sm_90a\n.address_size 64\n%s", body);
    emu_module_free(rig->module);
    EmuStatus status = emu_module_load(rig->device, text, rig->arena, &rig->module, &log);
    snprintf(rig->log, sizeof rig->log, "%.*s", STR_ARG(log));
    return status;
}

static inline void rig_finding(void *user, const EmuFinding *finding) {
    Rig *rig = user;
    if (rig->findings++ == 0) {
        rig->kind = finding->kind;
        rig->line = finding->place.ptx_line;
        rig->lane = finding->place.lane;
    }
    rig_append(rig->log, sizeof rig->log, finding->message);
    rig_append(rig->log, sizeof rig->log, STR("\n"));
}

static inline void rig_print(void *user, Str text) {
    Rig *rig = user;
    rig_append(rig->printed, sizeof rig->printed, text);
}

static inline uint64_t rig_memory(Rig *rig, size_t size) {
    return emu_memory_allocate(emu_device_memory(rig->device), size, 256, EMU_BLOCK_device, NULL);
}

static inline uint8_t *rig_bytes(Rig *rig, uint64_t address) {
    EmuBlock block;
    if (!emu_memory_find(emu_device_memory(rig->device), address, 1, &block)) return NULL;
    return block.bytes + (address - block.address);
}

static inline uint64_t rig_copy(Rig *rig, const void *bytes, size_t size) {
    uint64_t address = rig_memory(rig, size);
    EmuBlock block;
    emu_memory_find(emu_device_memory(rig->device), address, 1, &block);
    memcpy(block.bytes, bytes, size);
    emu_block_mark_written(&block, address, size);
    return address;
}

// Runs the kernel `name` over `grid` blocks of `block` threads; parameters are 64-bit words.
static inline EmuStatus rig_run(Rig *rig, const char *name, uint32_t grid, uint32_t block,
                                uint32_t shared, const uint64_t *parameters, bool cooperative) {
    EmuReporter reporter = {rig_finding, rig_print, rig, coverage_note};
    EmuLaunch launch = {.function = emu_module_function(rig->module, str_from(name)),
                        .grid = {grid, 1, 1},
                        .block = {block, 1, 1},
                        .dynamic_shared = shared,
                        .dynamic_shared_limit = shared,
                        .parameters = parameters,
                        .cooperative = cooperative};
    rig->findings = 0;
    rig->log[0] = rig->printed[0] = 0;
    return emu_launch(rig->device, &launch, &rig->options, &reporter, &rig->counters);
}

#endif
