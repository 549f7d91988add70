// Scalar semantics of the elementwise ops, as LLVM IR.
//
// One emitter an op, for x86 vectors and NVPTX scalars alike: an LLVM builder call is the same for
// T and <n x T>, so every polynomial is written once and its constants are splatted to the lane
// count. What comes out is straight-line IR without a branch, a call or a symbol: only intrinsics
// that both targets select to instructions. No fast-math flag is set; fma is used inside a
// polynomial only, never across two ops of the user.
//
// Values have one of two forms.
//   register form (math_type)           bool: i1; i4, i8: i8 (i4 sign-extended); u4, u8: i8 (u4
//   zero-extended);
//                                       i16 to u64: iN; f8*, f16, bf16, f32: float; f64: double.
//     A float that stands for an f16, bf16 or f8 value holds a number that this type represents.
//   storage form (math_storage_type)    what lies in memory: bool: i8 0/1; f16, bf16: i16 bits;
//   f8*: i8 bits;
//                                       others as in registers (4-bit values are unpacked by the
//                                       load).
// A fused chain that may keep excess precision names DT_f32 for its ops on 16-bit values and rounds
// once, in math_pack, with the same result as math_round followed by math_pack.
//
// Errors in ULP of the result type, and where each was measured: math.def.
#ifndef TCC_CODEGEN_LOWER_MATH_H
#define TCC_CODEGEN_LOWER_MATH_H

#include <llvm-c/Core.h>

#include "ir/ops.h"

typedef enum MathTarget {
    MATH_X86,   // x86-64-v3 at least: AVX2 and FMA
    MATH_NVPTX, // sm_80 at least
} MathTarget;

enum {
    MATH_F16C = 1,    // x86: vcvtph2ps, vcvtps2ph
    MATH_AVX512F = 2, // x86: 512-bit vectors (the emitters need no other code; for callers)
    MATH_AVX512BF16 =
        4, // x86: math_pack of bf16 may use vcvtneps2bf16, which flushes denormals to zero
};

// Where and how to emit. Borrowed by every function for the call; nothing is kept.
typedef struct MathContext {
    LLVMBuilderRef builder; // positioned in a block; the emitters add no block
    LLVMContextRef context;
    LLVMModuleRef module; // receives declarations of intrinsics only
    MathTarget target;
    unsigned lanes;    // 0: scalars; n > 0: <n x T>
    unsigned features; // MATH_F16C | ...
} MathContext;

// The lane type of a value in registers, and in memory.
LLVMTypeRef math_type(const MathContext *m, DType dtype);
LLVMTypeRef math_storage_type(const MathContext *m, DType dtype);

// Repeats a scalar in every lane (the scalar itself when lanes is 0).
LLVMValueRef math_splat(const MathContext *m, LLVMValueRef scalar);

// Storage form to register form: exact. Register form to storage form: a float value is rounded to
// nearest even first, so `value` may have excess precision.
LLVMValueRef math_unpack(const MathContext *m, DType dtype, LLVMValueRef stored);
LLVMValueRef math_pack(const MathContext *m, DType dtype, LLVMValueRef value);

// Rounds a float to the nearest value of f16, bf16 or f8 (ties to even; f8e4m3 saturates, the
// others overflow to infinity); wraps an i8 to 4 bits; any other dtype: `value` itself.
LLVMValueRef math_round(const MathContext *m, DType dtype, LLVMValueRef value);

// Casts between any two dtypes, register form to register form, rounded once. Float to int
// truncates, saturates, NaN gives 0; int to int wraps; to bool is != 0 (NaN is true); bool gives 0
// or 1.
LLVMValueRef math_convert(const MathContext *m, DType from, DType to, LLVMValueRef value);

// Ops on register forms, result in the register form of `dtype`. f16, bf16 and f8 compute in f32
// and round once. Integers: wrap; x/0, x//0 and x%0 are 0; least/-1 wraps; shift counts outside [0,
// width) give 0, or the sign for shr of signed values; floor, ceil, trunc and round are the
// identity. An op that the dtype does not have is a bug of the caller.
LLVMValueRef math_unary(const MathContext *m, Op op, DType dtype, LLVMValueRef a);
LLVMValueRef math_binary(const MathContext *m, Op op, DType dtype, LLVMValueRef a, LLVMValueRef b);

// e^a where a is a float of at most 0, up to a few units above, or NaN: cheaper than math_unary.
LLVMValueRef math_exp_nonpositive(const MathContext *m, DType dtype, LLVMValueRef a);

// OP_eq ne lt le gt ge: i1 lanes. IEEE for floats: only ne is true of a NaN.
LLVMValueRef math_compare(const MathContext *m, Op op, DType dtype, LLVMValueRef a, LLVMValueRef b);

// condition ? a : b, lane by lane; condition in the register form of bool.
LLVMValueRef math_select(const MathContext *m, LLVMValueRef condition, LLVMValueRef a,
                         LLVMValueRef b);

#endif
