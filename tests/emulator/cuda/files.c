// The files of kernels, and for which targets their PTX is stored.
#include "tests/emulator/cuda/cases.h"

static const char *const sm_80[] = {"sm_80", NULL};
static const char *const sm_80_90[] = {"sm_80", "sm_90a", NULL};
static const char *const sm_89[] = {"sm_89", NULL};
static const char *const sm_90[] = {"sm_90a", NULL};

const CudaFile cuda_files[] = {{"arithmetic", sm_80, arithmetic_cases},
                               {"warp", sm_80, warp_cases},
                               {"shared", sm_80_90, shared_cases},
                               {"atomics", sm_80, atomics_cases},
                               {"control", sm_80_90, control_cases},
                               {"half", sm_80, half_cases},
                               {"fp8", sm_89, fp8_cases},
                               {"math", sm_80, math_cases},
                               {"tensor", sm_80_90, tensor_cases},
                               {"hopper", sm_90, hopper_cases},
                               {"async", sm_80, async_cases},
                               {"runtime", sm_80, runtime_cases},
                               {"clang", sm_80, clang_cases},
                               {"clang_plain", sm_80, clang_cases},
                               {0}};

size_t data_size(Data data) {
    switch (data) {
    case DATA_none: return 0;
    case DATA_u8:
    case DATA_fp8: return 1;
    case DATA_u16:
    case DATA_f16:
    case DATA_bf16: return 2;
    case DATA_i32:
    case DATA_u32:
    case DATA_f32: return 4;
    case DATA_i64:
    case DATA_f64: return 8;
    }
    return 0;
}
