#include "ir/target.h"

/* What the levels of AVX-512 have in common. */
#define X86_64_V4                                                                                  \
    .kind = TARGET_cpu, .lanes = 16, .vector_bytes = 64, .vector_registers = 32,                   \
    .l1_bytes = 48 << 10, .l2_bytes = 2 << 20, .l3_bytes = 32 << 20, .cores = 2,                   \
    .core_gflops = 200, .memory_gbytes = 40, .l2_gbytes = 105, .launch_ns = 100

/* Cache sizes and rates are those of a common machine of the kind; they rank alternatives and are
 * never promises. */
static const Target targets[] = {
    {.kind = TARGET_cpu,
     .name = "x86-64-v3",
     .features = FEATURE_avx2,
     .lanes = 16,
     .vector_bytes = 32,
     .vector_registers = 16,
     .l1_bytes = 32 << 10,
     .l2_bytes = 512 << 10,
     .l3_bytes = 16 << 20,
     .cores = 2,
     .core_gflops = 90,
     .memory_gbytes = 25,
     .l2_gbytes = 80,
     .launch_ns = 100},
    {X86_64_V4, .name = "x86-64-v4", .features = FEATURE_avx2 | FEATURE_avx512},
    {X86_64_V4, .name = "x86-64-v4+vnni",
     .features = FEATURE_avx2 | FEATURE_avx512 | FEATURE_avx512_vnni},
    {.kind = TARGET_gpu,
     .name = "sm_80",
     .lanes = 32,
     .vector_bytes = 16,
     .vector_registers = 255,
     .l1_bytes = 164 << 10,
     .l2_bytes = 40 << 20,
     .l3_bytes = 0,
     .cores = 108,
     .core_gflops = 180,
     .memory_gbytes = 1550,
     .l2_gbytes = 40,
     .launch_ns = 3000},
    {.kind = TARGET_gpu,
     .name = "sm_86",
     .lanes = 32,
     .vector_bytes = 16,
     .vector_registers = 255,
     .l1_bytes = 100 << 10,
     .l2_bytes = 6 << 20,
     .l3_bytes = 0,
     .cores = 84,
     .core_gflops = 350,
     .memory_gbytes = 760,
     .l2_gbytes = 30,
     .launch_ns = 3000},
    {.kind = TARGET_gpu,
     .name = "sm_89",
     .lanes = 32,
     .vector_bytes = 16,
     .vector_registers = 255,
     .l1_bytes = 100 << 10,
     .l2_bytes = 72 << 20,
     .l3_bytes = 0,
     .cores = 142,
     .core_gflops = 560,
     .memory_gbytes = 860,
     .l2_gbytes = 40,
     .launch_ns = 3000},
    {.kind = TARGET_gpu,
     .name = "sm_90a",
     .lanes = 32,
     .vector_bytes = 16,
     .vector_registers = 255,
     .l1_bytes = 228 << 10,
     .l2_bytes = 50 << 20,
     .l3_bytes = 0,
     .cores = 132,
     .core_gflops = 500,
     .memory_gbytes = 4800,
     .l2_gbytes = 60,
     .launch_ns = 3000},
};

const Target *target_at(uint32_t index) {
    return index < sizeof targets / sizeof *targets ? &targets[index] : NULL;
}

const Target *target_find(Str name) {
    for (uint32_t i = 0; target_at(i) != NULL; i++)
        if (str_equal(name, str_from(target_at(i)->name))) return target_at(i);
    return NULL;
}

int64_t target_panel_columns(const Target *target, int64_t bytes) {
    bool wide = target->kind == TARGET_cpu && target->vector_registers >= 32 && bytes <= 4;
    return wide ? 2 * (int64_t)target->lanes : (int64_t)target->lanes;
}

/* How many rows of so many vectors leave registers for the vectors of a panel and a broadcast. */
static int64_t rows_in_registers(const Target *target, int64_t vectors) {
    return ((int64_t)target->vector_registers - vectors - 1) / vectors;
}

int64_t target_contract_columns(const Target *target, int64_t bytes, int64_t rows) {
    int64_t lanes = (int64_t)target->lanes;
    if (target->kind != TARGET_cpu) return lanes;
    int64_t vectors = target->vector_registers >= 32 ? 4 : 2;
    if (rows > rows_in_registers(target, vectors) && rows <= rows_in_registers(target, vectors / 2))
        vectors /= 2;
    int64_t columns = vectors * target->vector_bytes / bytes;
    return columns < lanes ? lanes : columns;
}
