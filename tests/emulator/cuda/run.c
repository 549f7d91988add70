// Runs the kernels that nvcc and clang compiled (ptx/, made by `make`) on the emulated device, each
// under every order of warps and every time of completion, and compares with references in C.
//
//     emulator-cuda            all of them
//     emulator-cuda NAME...    the kernels of these names
#include "tests/emulator/cuda/cases.h"

#include "base/guard.h"
#include "emulator/machine/machine.h"
#include "tests/unit/emulator_coverage.h"
#include "tests/unit/test.h"

typedef struct Session {
    Arena *arena;
    EmuDevice *device;
    EmuModule *module;
    const CudaCase *at;
    const char *target;
    EmuOptions options;
    char said[2000]; // findings
    char printed[2000];
    int findings;
} Session;

// ---- inputs -----------------------------------------------------------------------------------

static uint64_t draw(uint64_t *random) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return *random >> 24;
}

static double small_float(uint64_t *random) {
    return (double)(int64_t)(draw(random) % 400001 - 200000) / 100000;
}

static void fill_one(Data data, void *place, uint64_t *random) {
    double x = small_float(random);
    uint64_t bits = draw(random);
    switch (data) {
    case DATA_none: break;
    case DATA_i32: *(int32_t *)place = (int32_t)(bits % 2001) - 1000; break;
    case DATA_u32: *(uint32_t *)place = (uint32_t)bits; break;
    case DATA_i64:
        *(int64_t *)place = (int64_t)((bits << (bits & 1 ? 24 : 0)) ^ (bits >> 7)) - (1 << 20);
        break;
    case DATA_f32: *(float *)place = (float)x; break;
    case DATA_f64: *(double *)place = x; break;
    case DATA_u8: *(uint8_t *)place = (uint8_t)bits; break;
    case DATA_u16: *(uint16_t *)place = (uint16_t)bits; break;
    case DATA_f16: *(uint16_t *)place = (uint16_t)small_encode(SMALL_f16, SMALL_rn, 0, x); break;
    case DATA_bf16: *(uint16_t *)place = (uint16_t)small_encode(SMALL_bf16, SMALL_rn, 0, x); break;
    case DATA_fp8: *(uint8_t *)place = (uint8_t)((bits & 0x80) | (0x20 + bits % 0x20)); break;
    }
}

static void *filled(Arena *arena, Data data, size_t count, uint64_t seed) {
    uint64_t random = seed * 977 + 12345;
    size_t size = data_size(data);
    uint8_t *bytes = arena_alloc(arena, count * size + 8);
    for (size_t i = 0; i < count; i++) fill_one(data, bytes + i * size, &random);
    return bytes;
}

// ---- comparing --------------------------------------------------------------------------------

static double value_at(Data data, const void *bytes, size_t i) {
    switch (data) {
    case DATA_f32: return (double)((const float *)bytes)[i];
    case DATA_f64: return ((const double *)bytes)[i];
    case DATA_f16: return small_decode(SMALL_f16, ((const uint16_t *)bytes)[i]);
    case DATA_bf16: return small_decode(SMALL_bf16, ((const uint16_t *)bytes)[i]);
    case DATA_i32: return ((const int32_t *)bytes)[i];
    case DATA_u32: return ((const uint32_t *)bytes)[i];
    case DATA_i64: return (double)((const int64_t *)bytes)[i];
    case DATA_u16: return ((const uint16_t *)bytes)[i];
    default: return ((const uint8_t *)bytes)[i];
    }
}

static bool is_float(Data data) {
    return data == DATA_f32 || data == DATA_f64 || data == DATA_f16 || data == DATA_bf16;
}

static bool same(const CudaCase *c, const void *got, const void *want, size_t i) {
    size_t size = data_size(c->out);
    const uint8_t *x = got, *y = want;
    if (memcmp(x + i * size, y + i * size, size) == 0) return true;
    if (!is_float(c->out)) return false;
    double g = value_at(c->out, got, i), w = value_at(c->out, want, i);
    if (isnan(g) || isnan(w)) return isnan(g) && isnan(w);
    return fabs(g - w) <= c->tolerance * fmax(1, fabs(w));
}

static bool compare(const Session *s, const void *got, const void *want) {
    for (size_t i = 0; i < s->at->out_count; i++) {
        if (same(s->at, got, want, i)) continue;
        printf("%s (%s): element %zu is %.17g, %.17g expected\n", s->at->kernel, s->target, i,
               value_at(s->at->out, got, i), value_at(s->at->out, want, i));
        return false;
    }
    return true;
}

// ---- running ----------------------------------------------------------------------------------

static void on_finding(void *user, const EmuFinding *finding) {
    Session *s = user;
    size_t used = strlen(s->said);
    s->findings++;
    snprintf(s->said + used, sizeof s->said - used, "%.*s\n", STR_ARG(finding->message));
}

static void on_print(void *user, Str text) {
    Session *s = user;
    size_t used = strlen(s->printed);
    snprintf(s->printed + used, sizeof s->printed - used, "%.*s", STR_ARG(text));
}

static uint64_t put(Session *s, const void *bytes, size_t size) {
    EmuMemory *memory = emu_device_memory(s->device);
    uint64_t address = emu_memory_allocate(memory, size ? size : 1, 256, EMU_BLOCK_device, NULL);
    EmuBlock block;
    if (!CHECK(address && emu_memory_find(memory, address, 1, &block))) return 0;
    memcpy(block.bytes, bytes, size);
    emu_block_mark_written(&block, address, size);
    return address;
}

static void get(Session *s, uint64_t address, void *bytes, size_t size) {
    EmuBlock block;
    if (CHECK(emu_memory_find(emu_device_memory(s->device), address, 1, &block)))
        memcpy(bytes, block.bytes, size);
}

static CudaRun run_of(const CudaCase *c) {
    int block = c->block[0] * c->block[1], blocks = c->grid[0] * c->grid[1];
    return (CudaRun){.n = c->n, .threads = block * blocks, .block = block, .blocks = blocks};
}

static bool launch(Session *s, const EmuFunction *function, const uint64_t addresses[3]) {
    const CudaCase *c = s->at;
    struct {
        uint64_t pointers[3];
        int32_t n;
    } parameters = {{addresses[0], addresses[1], addresses[2]}, c->n};
    EmuLaunch what = {.function = function,
                      .grid = {(uint32_t)c->grid[0], (uint32_t)c->grid[1], 1},
                      .block = {(uint32_t)c->block[0], (uint32_t)c->block[1], 1},
                      .dynamic_shared = c->dynamic_shared,
                      .parameters = &parameters,
                      .cooperative = c->cooperative};
    EmuReporter reporter = {
        .finding = on_finding, .print = on_print, .user = s, .executed = coverage_note};
    s->said[0] = s->printed[0] = 0;
    s->findings = 0;
    EmuStatus status = emu_launch(s->device, &what, &s->options, &reporter, NULL);
    if (!CHECK_INT(status, EMU_OK) || !CHECK_INT(s->findings, 0)) {
        printf("%s (%s):\n%s", c->kernel, s->target, s->said);
        return false;
    }
    return true;
}

static void run_case(Session *s) {
    const CudaCase *c = s->at;
    const EmuFunction *function = emu_module_function(s->module, str_from(c->kernel));
    size_t size = c->out_count * data_size(c->out);
    CudaRun run = run_of(c);
    if (!CHECK(function != NULL)) return;
    void *a = filled(s->arena, c->a, c->a_count, 1), *b = filled(s->arena, c->b, c->b_count, 2);
    void *got = arena_alloc(s->arena, size), *want = arena_alloc(s->arena, size + 64);
    run.a = a;
    run.b = b;
    run.out = want;
    c->reference(&run);
    uint64_t addresses[3] = {put(s, a, c->a_count * data_size(c->a) + 8),
                             put(s, b, c->b_count * data_size(c->b) + 8), put(s, got, size)};
    if (launch(s, function, addresses)) {
        get(s, addresses[2], got, size);
        CHECK(compare(s, got, want));
        CHECK((s->printed[0] != 0) == (c->printed != NULL));
        if (c->printed) CHECK(strstr(s->printed, c->printed) != NULL);
    }
    for (int i = 0; i < 3; i++) emu_memory_release(emu_device_memory(s->device), addresses[i]);
}

static bool is_wanted(const CudaCase *c, int count, char **names) {
    for (int i = 1; i < count; i++)
        if (strcmp(names[i], c->kernel) == 0) return true;
    return count < 2;
}

static const EmuModel *find_model(const char *key) {
    for (int i = 0; i < emu_model_count; i++)
        if (strcmp(emu_models[i].key, key) == 0) return &emu_models[i];
    return NULL;
}

static Str read_text(Arena *arena, const char *path) {
    FILE *file = fopen(path, "rb");
    if (!CHECK(file != NULL)) return (Str){0};
    Buf text = {.arena = arena};
    char part[4096];
    for (size_t size; (size = fread(part, 1, sizeof part, file)) > 0;) buf_bytes(&text, part, size);
    fclose(file);
    return buf_str(&text);
}

static bool load(Session *s, const CudaFile *file) {
    Str log = {0};
    const char *path = str_terminated(
        s->arena, str_format(s->arena, "tests/emulator/cuda/ptx/%s.%s.ptx", file->name, s->target));
    EmuStatus status =
        emu_module_load(s->device, read_text(s->arena, path), s->arena, &s->module, &log);
    if (CHECK_INT(status, EMU_OK)) return true;
    printf("%s.%s: %.*s\n", file->name, s->target, STR_ARG(log));
    return false;
}

// Each order with each completion; checks are full.
static void run_file(const CudaFile *file, const char *target, int count, char **names) {
    Session s = {.arena = arena_new(NULL), .target = target};
    s.device = emu_device_new(find_model(target));
    if (CHECK(s.device != NULL) && load(&s, file)) {
        for (s.at = file->cases; s.at->kernel; s.at++) {
            if (!is_wanted(s.at, count, names)) continue;
            for (int way = 0; way < 9; way++) {
                s.options = (EmuOptions){.checks = EMU_CHECKS_full,
                                         .order = (EmuOrder)(way / 3),
                                         .completion = (EmuCompletion)(way % 3),
                                         .seed = (uint64_t)way,
                                         .workers = way % 2 ? 1 : 2};
                run_case(&s);
            }
        }
        emu_module_free(s.module);
    }
    emu_device_free(s.device);
    arena_free(s.arena);
}

int main(int count, char **names) {
    for (const CudaFile *file = cuda_files; file->name; file++)
        for (const char *const *target = file->targets; *target; target++)
            run_file(file, *target, count, names);
    return test_done();
}
