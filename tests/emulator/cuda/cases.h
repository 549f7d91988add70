// Kernels of this folder with what they must give: a reference in plain C that shares nothing with
// the machine but the bytes of its inputs.
#ifndef TCC_TESTS_EMULATOR_CUDA_CASES_H
#define TCC_TESTS_EMULATOR_CUDA_CASES_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// What a buffer holds, and how an input is filled.
typedef enum Data {
    DATA_none,
    DATA_i32,  // -1000 to 1000
    DATA_u32,  // any bits
    DATA_i64,  // any bits, half of them few
    DATA_f32,  // -2 to 2
    DATA_f64,  // -2 to 2
    DATA_u8,   // any
    DATA_u16,  // any
    DATA_f16,  // -2 to 2
    DATA_bf16, // -2 to 2
    DATA_fp8   // any but NaN and infinity, small
} Data;

// A launch: inputs, the output (zeros, to be made), and its size.
typedef struct CudaRun {
    const void *a, *b;
    void *out;
    int n;
    int threads; // in all
    int block;   // threads of one
    int blocks;
} CudaRun;

typedef struct CudaCase {
    const char *kernel;
    int grid[2], block[2];
    int n;
    Data a;
    size_t a_count;
    Data b;
    size_t b_count;
    Data out;
    size_t out_count;
    double tolerance; // of max(1, |value|); 0: the same bits
    void (*reference)(const CudaRun *run);
    uint32_t dynamic_shared;
    bool cooperative;
    const char *printed; // what it prints, sorted by lines; NULL: nothing
} CudaCase;

typedef struct CudaFile {
    const char *name;           // "arithmetic"
    const char *const *targets; // "sm_80" ..., NULL at the end
    const CudaCase *cases;      // without a kernel at the end
} CudaFile;

extern const CudaFile cuda_files[]; // without a name at the end

extern const CudaCase arithmetic_cases[], warp_cases[], shared_cases[], atomics_cases[],
    control_cases[], half_cases[], fp8_cases[], math_cases[], tensor_cases[], hopper_cases[],
    async_cases[], runtime_cases[], clang_cases[];

size_t data_size(Data data);

// ---- small floats, by arithmetic on doubles (small.c) ----------------------------------------

typedef enum SmallFormat { SMALL_f16, SMALL_bf16, SMALL_e4m3, SMALL_e5m2, SMALL_tf32 } SmallFormat;
typedef enum SmallRound { SMALL_rn, SMALL_rz, SMALL_rp, SMALL_rm, SMALL_rna } SmallRound;

double small_decode(SmallFormat format, uint32_t bits);
// Saturates where the format has no infinity, and with `saturate`.
uint32_t small_encode(SmallFormat format, SmallRound round, bool saturate, double value);

#endif
