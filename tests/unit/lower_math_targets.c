// Every elementwise op and every cast as code for targets that need not be here: it must compile
// without a diagnostic and call nothing. PTX must be accepted by ptxas where there is one.
#include <llvm-c/TargetMachine.h>
#include <unistd.h>

#include "tests/unit/lower_math.h"

static void count_diagnostic(LLVMDiagnosticInfoRef info, void *count) {
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError) return;
    char *text = LLVMGetDiagInfoDescription(info);
    printf("%s\n", text);
    LLVMDisposeMessage(text);
    ++*(int *)count;
}

// What code is asked for.
typedef struct Target {
    MathTarget kind;
    const char *triple, *cpu, *features;
    unsigned lanes, math_features;
} Target;

static const Target nvptx = {MATH_NVPTX, "nvptx64-nvidia-cuda", "sm_80", "+ptx80", 0, 0};
static const Target avx512 = {MATH_X86,    "x86_64-unknown-linux-gnu",
                              "x86-64-v4", "+avx512bf16",
                              16,          MATH_F16C | MATH_AVX512F | MATH_AVX512BF16};
static const Target scalar = {MATH_X86, "x86_64-unknown-linux-gnu", "x86-64-v4", "",
                              0,        MATH_F16C | MATH_AVX512F};

static void open_targets(void) {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
}

static void emit_all(LLVMModuleRef module, const Target *target, const KernelSpec *specs,
                     int count) {
    for (int i = 0; i < count; i++) {
        KernelSpec spec = specs[i];
        char name[64];
        snprintf(name, sizeof name, "%s_%s_%s", op_info(spec.op)->name, dtype_name(spec.from),
                 dtype_name(spec.to));
        spec.lanes = target->lanes;
        spec.features = target->math_features;
        bench_emit(module, name, target->kind, spec);
    }
}

// The assembly text of one function a spec; NULL when LLVM reported an error.
static char *assembly_of(const Target *target, const KernelSpec *specs, int count) {
    LLVMContextRef context = LLVMContextCreate();
    int errors = 0;
    LLVMContextSetDiagnosticHandler(context, count_diagnostic, &errors);
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("math", context);
    LLVMTargetMachineRef machine = bench_machine(target->triple, target->cpu, target->features);
    LLVMSetTarget(module, target->triple);
    emit_all(module, target, specs, count);
    bench_optimize(module, machine);
    LLVMMemoryBufferRef buffer = NULL;
    char *message = NULL;
    bool failed =
        LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile, &message, &buffer);
    char *text = failed || errors ? NULL : strdup(LLVMGetBufferStart(buffer));
    if (message) printf("%s\n", message);
    LLVMDisposeMessage(message);
    if (buffer) LLVMDisposeMemoryBuffer(buffer);
    LLVMDisposeTargetMachine(machine);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return text;
}

static const char *find_ptxas(void) {
    if (system("command -v ptxas >/dev/null 2>&1") == 0) return "ptxas";
    return access("/usr/local/cuda/bin/ptxas", X_OK) == 0 ? "/usr/local/cuda/bin/ptxas" : NULL;
}

// Whether ptxas accepts the text.
static bool assembles(const char *ptxas, const char *text) {
    char path[] = "/tmp/lower_math_XXXXXX", command[256];
    int file = mkstemp(path);
    size_t size = strlen(text);
    bool written = file >= 0 && write(file, text, size) == (ssize_t)size;
    if (file >= 0) close(file);
    snprintf(command, sizeof command, "%s -arch=sm_80 -O0 -c -o /dev/null %s", ptxas, path);
    bool good = written && system(command) == 0;
    unlink(path);
    return good;
}

static void check_text(const Target *target, const KernelSpec *specs, int count) {
    char *text = assembly_of(target, specs, count);
    if (!CHECK(text != NULL)) return;
    CHECK(strstr(text, ".extern") == NULL);
    CHECK(strstr(text, "call") == NULL);
    CHECK(strstr(text, "@PLT") == NULL);
    const char *ptxas = find_ptxas();
    if (target->kind == MATH_NVPTX && ptxas) CHECK(assembles(ptxas, text));
    free(text);
}

static DType result_of(Op op, DType dtype) {
    return op_info(op)->class == CLASS_COMPARE ? DT_bool : dtype;
}

static void check_ops(const Target *target) {
    KernelSpec specs[DT_count];
    for (int op = 1; op < OP_count; op++) {
        OpClass class = op_info((Op)op)->class;
        if (class != CLASS_UNARY && class != CLASS_BINARY && class != CLASS_COMPARE &&
            class != CLASS_SELECT)
            continue;
        int count = 0;
        for (int d = 0; d < DT_count; d++)
            if (op_accepts((Op)op, (DType)d))
                specs[count++] = (KernelSpec){(Op)op, (DType)d, result_of((Op)op, (DType)d), 0, 0};
        check_text(target, specs, count);
    }
}

static void check_casts(const Target *target) {
    KernelSpec specs[DT_count * DT_count];
    int count = 0;
    for (int from = 0; from < DT_count; from++)
        for (int to = 0; to < DT_count; to++)
            specs[count++] = (KernelSpec){OP_cast, (DType)from, (DType)to, 0, 0};
    check_text(target, specs, count);
}

static void test_nvptx(void) {
    check_ops(&nvptx);
    check_casts(&nvptx);
}

static void test_avx512(void) {
    check_ops(&avx512);
    check_casts(&avx512);
}

static void test_scalar(void) {
    check_ops(&scalar);
    check_casts(&scalar);
}

int main(void) {
    open_targets();
    if (!find_ptxas()) printf("skipped: assembling, for there is no ptxas\n");
    RUN(test_nvptx);
    RUN(test_avx512);
    RUN(test_scalar);
    return test_done();
}
