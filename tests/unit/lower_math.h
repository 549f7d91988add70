// Compiles loops over the elementwise emitters and runs them on this machine; for the lower_math
// tests alone.
//
// A kernel applies one op or cast to arrays in storage form. Many of them make one module, which is
// compiled once. The JIT resolves no symbol of the process, so a kernel that would call a library
// function fails to compile.
#ifndef TCC_TESTS_UNIT_LOWER_MATH_H
#define TCC_TESTS_UNIT_LOWER_MATH_H

#include <llvm-c/Analysis.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "codegen/lower/math.h"
#include "tests/unit/test.h"

// count is a multiple of 16.
typedef void (*Kernel)(const void *a, const void *b, void *out, int64_t count);

typedef struct KernelSpec {
    Op op;      // a unary, binary or compare op, OP_cast or OP_select (b where a is not 0, else a)
    DType from; // of the operands
    DType to;   // of the result
    unsigned lanes;
    unsigned features; // MATH_… bits, and BENCH_NONPOSITIVE: exp by math_exp_nonpositive
} KernelSpec;
enum { BENCH_NONPOSITIVE = 1 << 16 };

typedef struct Bench {
    LLVMOrcThreadSafeContextRef safe;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetMachineRef machine;
    LLVMOrcLLJITRef jit;
    int kernels;
} Bench;

static inline void bench_require(LLVMErrorRef error) {
    if (!error) return;
    char *message = LLVMGetErrorMessage(error);
    printf("%s\n", message);
    LLVMDisposeErrorMessage(message);
    exit(1);
}

static inline LLVMTargetMachineRef bench_machine(const char *triple, const char *cpu,
                                                 const char *features) {
    LLVMTargetRef target;
    char *message = NULL;
    if (LLVMGetTargetFromTriple(triple, &target, &message)) {
        printf("%s\n", message);
        exit(1);
    }
    return LLVMCreateTargetMachine(target, triple, cpu, features, LLVMCodeGenLevelDefault,
                                   LLVMRelocPIC, LLVMCodeModelDefault);
}

static inline Bench bench_open(void) {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    Bench b = {.safe = LLVMOrcCreateNewThreadSafeContext()};
    b.context = LLVMOrcThreadSafeContextGetContext(b.safe);
    b.module = LLVMModuleCreateWithNameInContext("bench", b.context);
    b.machine = bench_machine("x86_64-unknown-linux-gnu", "x86-64-v3", "");
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(b.machine);
    LLVMSetModuleDataLayout(b.module, layout);
    LLVMDisposeTargetData(layout);
    LLVMSetTarget(b.module, "x86_64-unknown-linux-gnu");
    return b;
}

static inline LLVMValueRef bench_apply(const MathContext *m, KernelSpec k, LLVMValueRef a,
                                       LLVMValueRef b) {
    if (k.features & BENCH_NONPOSITIVE) return math_exp_nonpositive(m, k.from, a);
    switch (op_info(k.op)->class) {
    case CLASS_UNARY: return math_unary(m, k.op, k.from, a);
    case CLASS_BINARY: return math_binary(m, k.op, k.from, a, b);
    case CLASS_COMPARE: return math_compare(m, k.op, k.from, a, b);
    case CLASS_SELECT: return math_select(m, math_convert(m, k.from, DT_bool, a), b, a);
    default: return math_convert(m, k.from, k.to, a);
    }
}

static inline LLVMValueRef bench_load(const MathContext *m, DType dtype, LLVMValueRef base,
                                      LLVMValueRef index) {
    LLVMTypeRef type = math_storage_type(m, dtype);
    LLVMTypeRef element = m->lanes ? LLVMGetElementType(type) : type;
    LLVMValueRef at = LLVMBuildGEP2(m->builder, element, base, &index, 1, "");
    LLVMValueRef value = LLVMBuildLoad2(m->builder, type, at, "");
    LLVMSetAlignment(value, 1);
    return math_unpack(m, dtype, value);
}

static inline void bench_store(const MathContext *m, DType dtype, LLVMValueRef base,
                               LLVMValueRef index, LLVMValueRef value) {
    LLVMTypeRef type = math_storage_type(m, dtype);
    LLVMTypeRef element = m->lanes ? LLVMGetElementType(type) : type;
    LLVMValueRef at = LLVMBuildGEP2(m->builder, element, base, &index, 1, "");
    LLVMSetAlignment(LLVMBuildStore(m->builder, math_pack(m, dtype, value), at), 1);
}

// Emits `void name(a, b, out, n)` into `module`: a loop of steps of max(lanes, 1) elements.
static inline void bench_emit(LLVMModuleRef module, const char *name, MathTarget target,
                              KernelSpec k) {
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0),
                index = LLVMInt64TypeInContext(context);
    LLVMTypeRef params[] = {pointer, pointer, pointer, index};
    LLVMTypeRef signature = LLVMFunctionType(LLVMVoidTypeInContext(context), params, 4, 0);
    LLVMValueRef f = LLVMAddFunction(module, name, signature);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(context, f, "");
    LLVMBasicBlockRef loop = LLVMAppendBasicBlockInContext(context, f, "");
    LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(context, f, "");
    MathContext m = {
        LLVMCreateBuilderInContext(context), context, module, target, k.lanes, k.features};
    LLVMPositionBuilderAtEnd(m.builder, entry);
    LLVMBuildBr(m.builder, loop);
    LLVMPositionBuilderAtEnd(m.builder, loop);
    LLVMValueRef i = LLVMBuildPhi(m.builder, index, "");
    LLVMValueRef a = bench_load(&m, k.from, LLVMGetParam(f, 0), i);
    LLVMValueRef b = bench_load(&m, k.from, LLVMGetParam(f, 1), i);
    bench_store(&m, k.to, LLVMGetParam(f, 2), i, bench_apply(&m, k, a, b));
    LLVMValueRef step = LLVMConstInt(index, k.lanes ? k.lanes : 1, 0);
    LLVMValueRef next = LLVMBuildAdd(m.builder, i, step, "");
    LLVMValueRef zero = LLVMConstInt(index, 0, 0);
    LLVMAddIncoming(i, (LLVMValueRef[]){zero, next}, (LLVMBasicBlockRef[]){entry, loop}, 2);
    LLVMValueRef more = LLVMBuildICmp(m.builder, LLVMIntSLT, next, LLVMGetParam(f, 3), "");
    LLVMBuildCondBr(m.builder, more, loop, done);
    LLVMPositionBuilderAtEnd(m.builder, done);
    LLVMBuildRetVoid(m.builder);
    LLVMDisposeBuilder(m.builder);
}

// Adds a kernel; its number is that of the call, from 0.
static inline int bench_add(Bench *b, KernelSpec k) {
    char name[32];
    snprintf(name, sizeof name, "k%d", b->kernels);
    bench_emit(b->module, name, MATH_X86, k);
    return b->kernels++;
}

static inline void bench_optimize(LLVMModuleRef module, LLVMTargetMachineRef machine) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    bench_require(
        LLVMRunPasses(module, "function(early-cse,instcombine,simplifycfg)", machine, options));
    LLVMDisposePassBuilderOptions(options);
}

// Compiles all that was added.
static inline void bench_compile(Bench *b) {
    char *message = NULL;
    if (LLVMVerifyModule(b->module, LLVMReturnStatusAction, &message)) {
        printf("%s\n", message);
        exit(1);
    }
    LLVMDisposeMessage(message);
    bench_optimize(b->module, b->machine);
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(
        builder, LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(b->machine));
    bench_require(LLVMOrcCreateLLJIT(&b->jit, builder));
    LLVMOrcThreadSafeModuleRef module = LLVMOrcCreateNewThreadSafeModule(b->module, b->safe);
    bench_require(LLVMOrcLLJITAddLLVMIRModule(b->jit, LLVMOrcLLJITGetMainJITDylib(b->jit), module));
}

static inline Kernel bench_kernel(Bench *b, int number) {
    char name[32];
    snprintf(name, sizeof name, "k%d", number);
    LLVMOrcExecutorAddress address = 0;
    bench_require(LLVMOrcLLJITLookup(b->jit, &address, name));
    Kernel kernel;
    memcpy(&kernel, &(uintptr_t){address}, sizeof kernel);
    return kernel;
}

static inline void bench_close(Bench *b) {
    bench_require(LLVMOrcDisposeLLJIT(b->jit));
    LLVMOrcDisposeThreadSafeContext(b->safe);
}

// A fixed sequence of 64-bit numbers (splitmix64).
static inline uint64_t bench_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

#endif
