/* What the processor at hand can do, as the TargetFeature bits that variants ask for. */
#ifndef TCC_RUNTIME_FEATURES_H
#define TCC_RUNTIME_FEATURES_H

#include <stdint.h>

enum {
    CPU_avx2 = 1 << 0,   /* with FMA, F16C and BMI2 */
    CPU_avx512 = 1 << 1, /* F, BW, CD, DQ, VL */
    CPU_avx512_vnni = 1 << 2,
    CPU_avx512_bf16 = 1 << 3,
    CPU_avx512_fp16 = 1 << 4,
    CPU_amx_bf16 = 1 << 5,
    CPU_amx_int8 = 1 << 6
};

/* Asks the processor and the operating system (the registers must be saved too). */
uint32_t cpu_features(void);

#endif
