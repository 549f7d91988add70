/* Targets: what kernels are compiled for, as data. */
#ifndef TCC_IR_TARGET_H
#define TCC_IR_TARGET_H

#include "base/str.h"

typedef enum TargetKind { TARGET_cpu, TARGET_gpu } TargetKind;

/* Instruction sets of x86-64 that decide what is emitted. */
typedef enum TargetFeature {
    FEATURE_avx2 = 1 << 0,   /* x86-64-v3: AVX2, FMA, F16C, BMI2 */
    FEATURE_avx512 = 1 << 1, /* x86-64-v4: F, BW, CD, DQ, VL */
    FEATURE_avx512_vnni = 1 << 2,
    FEATURE_avx512_bf16 = 1 << 3,
    FEATURE_avx512_fp16 = 1 << 4,
    FEATURE_amx_bf16 = 1 << 5,
    FEATURE_amx_int8 = 1 << 6
} TargetFeature;

/* Memory of its own that a thread may have in a kernel, at most. */
enum { TARGET_SCRATCH_BYTES = 1 << 30 };

typedef struct Target {
    TargetKind kind;
    const char *name;  /* "x86-64-v3", "x86-64-v4", "sm_80", … as --target= takes it */
    uint32_t features; /* TARGET_cpu */
    /* Elements that tiles of placed programs have along their lane axis: 16 on every CPU, so that
     * sums do not depend on the instruction set; 32, a warp, on GPUs. */
    uint32_t lanes;
    /* Of one core: 32 and 16 with AVX2, 64 and 32 with AVX-512. */
    uint32_t vector_bytes, vector_registers;
    int64_t l1_bytes, l2_bytes, l3_bytes;
    uint32_t cores;
    double core_gflops;   /* f32 multiply-adds of one core, counted as 2 */
    double memory_gbytes; /* per second, all cores */
    double l2_gbytes;     /* per second, one core */
    double launch_ns;     /* what one more kernel costs */
} Target;

/* The target of that name ("native" is resolved by the caller); NULL when unknown. */
const Target *target_find(Str name);
/* The i-th named target, for help texts; NULL past the end. */
const Target *target_at(uint32_t index);

/* How many neighbouring results a register tile of a sum has, for elements of `bytes` in the
 * accumulator: the width of the panels that weights are packed in, and what schedules take for nr
 * by default. */
int64_t target_panel_columns(const Target *target, int64_t bytes);

/* The same for contractions of at most so many rows. Rows that one tile of half the width holds get
 * it: the panel is then read once. */
int64_t target_contract_columns(const Target *target, int64_t bytes, int64_t rows);

#endif
