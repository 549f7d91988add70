#include "tests/support/emulated.h"

#include <string.h>

enum { MOST_BLOCKS = 5, STEPS = 1 << 28 };

typedef struct Attempt {
    Emulated *host;
    const EmulatedLaunch *launch;
    Arena *arena;
    uint64_t *addresses; // of blocks: buffers, the error word, scratch
    uint32_t address_count;
    const char *finding; // the first one
} Attempt;

bool emulated_open(Emulated *host, const char *target) {
    *host = (Emulated){.device = NULL};
    for (int i = 0; i < emu_model_count; i++)
        if (strcmp(emu_models[i].key, target) == 0) host->device = emu_device_new(&emu_models[i]);
    return host->device != NULL;
}

void emulated_close(Emulated *host) { emu_device_free(host->device); }

static void note_finding(void *user, const EmuFinding *finding) {
    Attempt *attempt = user;
    if (attempt->finding == NULL)
        attempt->finding = str_copy(attempt->arena, finding->message).data;
}

// ---- memory ----

// 0 for no bytes.
static uint64_t take(Attempt *a, size_t bytes, const void *data) {
    EmuMemory *memory = emu_device_memory(a->host->device);
    uint64_t address = emu_memory_allocate(memory, bytes, 256, EMU_BLOCK_device, NULL);
    if (address == 0) return 0;
    a->addresses[a->address_count++] = address;
    EmuBlock block;
    if (!data || !emu_memory_find(memory, address, bytes, &block)) return address;
    memcpy(block.bytes, data, bytes);
    emu_block_mark_written(&block, address, bytes);
    return address;
}

static uint64_t take_buffer(Attempt *a, const EmulatedBuffer *buffer) {
    enum { WORD = 4 };
    size_t shift = a->launch->misaligned ? buffer->element : 0;
    if (buffer->bytes == 0) return 0;
    if (buffer->output && !buffer->packed) {
        uint64_t address = take(a, buffer->bytes + shift, NULL);
        return address + shift;
    }
    size_t bytes = buffer->bytes + shift;
    if (buffer->packed) bytes = (bytes + WORD - 1) / WORD * WORD;
    char *copy = arena_alloc(a->arena, bytes); // zeros
    memcpy(copy + shift, buffer->data, buffer->bytes);
    return take(a, bytes, copy) + shift;
}

static void bring_back(const Attempt *a, uint64_t address, void *data, size_t bytes) {
    EmuBlock block;
    if (emu_memory_find(emu_device_memory(a->host->device), address, bytes, &block))
        memcpy(data, block.bytes + (address - block.address), bytes);
}

// ---- a launch ----

static uint32_t block_count(const EmulatedLaunch *launch) {
    int64_t each = launch->shape.points_per_block, blocks = (launch->points + each - 1) / each;
    return blocks < MOST_BLOCKS ? (uint32_t)blocks : MOST_BLOCKS;
}

static const char *launch_function(Attempt *a, const EmuFunction *function, const uint64_t *words) {
    const EmulatedLaunch *launch = a->launch;
    // Every way of approximate instructions to be wrong takes its turn.
    EmuApproximation way = EMU_APPROXIMATION_worst + a->host->launches % 4;
    EmuOptions options = {.checks = EMU_CHECKS_full,
                          .order = launch->seed % 2 ? EMU_ORDER_random : EMU_ORDER_round_robin,
                          .seed = launch->seed,
                          .workers = 1,
                          .step_limit = STEPS,
                          .approximation = way};
    EmuReporter reporter = {.finding = note_finding, .user = a};
    EmuLaunch what = {.function = function,
                      .grid = {block_count(launch), 1, 1},
                      .block = {launch->shape.threads, 1, 1},
                      .dynamic_shared = launch->shape.shared_bytes,
                      .dynamic_shared_limit = launch->shape.shared_bytes,
                      .parameters = words};
    EmuCounters counters = {.instructions = 0};
    EmuStatus status = emu_launch(a->host->device, &what, &options, &reporter, &counters);
    a->host->launches++;
    a->host->instructions += counters.instructions;
    a->host->tensor += counters.tensor;
    if (a->finding) return a->finding;
    if (status == EMU_OK) return NULL;
    return str_format(a->arena, "the launch failed with status %d", (int)status).data;
}

static const char *run_module(Attempt *a, EmuModule *module, TccErrorWord *out_error) {
    const EmulatedLaunch *launch = a->launch;
    uint32_t count = launch->buffer_count, n = 0;
    const EmuFunction *function = emu_module_function(module, str_from(launch->symbol));
    if (!function) return "the module has no such entry";
    uint64_t *words = NEW_ARRAY(a->arena, uint64_t, count + launch->shape.dim_count + 3);
    for (uint32_t i = 0; i < count; i++) words[n++] = take_buffer(a, &launch->buffers[i]);
    for (uint32_t i = 0; i < launch->shape.dim_count; i++) words[n++] = (uint64_t)launch->dims[i];
    uint64_t error = words[n++] = take(a, sizeof *out_error, out_error);
    words[n++] = take(a, (size_t)launch->scratch * block_count(launch), NULL);
    words[n++] = (uint64_t)launch->points;
    const char *fault = launch->points > 0 ? launch_function(a, function, words) : NULL;
    bring_back(a, error, out_error, sizeof *out_error);
    for (uint32_t i = 0; i < count; i++)
        if (launch->buffers[i].output)
            bring_back(a, words[i], launch->buffers[i].data, launch->buffers[i].bytes);
    return fault;
}

const char *emulated_run(Emulated *host, const EmulatedLaunch *launch, Arena *arena,
                         TccErrorWord *out_error) {
    Attempt attempt = {.host = host, .launch = launch, .arena = arena};
    attempt.addresses = NEW_ARRAY(arena, uint64_t, launch->buffer_count + 2);
    EmuModule *module = NULL;
    Str log = STR("");
    *out_error = (TccErrorWord){.state = 0};
    if (emu_module_load(host->device, launch->ptx, arena, &module, &log) != EMU_OK)
        return str_format(arena, "does not load: %.*s", STR_ARG(log)).data;
    const char *fault = run_module(&attempt, module, out_error);
    for (uint32_t i = 0; i < attempt.address_count; i++)
        emu_memory_release(emu_device_memory(host->device), attempt.addresses[i]);
    emu_module_free(module);
    return fault;
}
