// Every elementwise op and every cast as PTX: it must compile without a diagnostic, name no
// external symbol, and be accepted by ptxas where there is one.
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

static void open_nvptx(void) {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
}

// The PTX of one function a spec; NULL when LLVM reported an error.
static char *ptx_of(const KernelSpec *specs, int count) {
    LLVMContextRef context = LLVMContextCreate();
    int errors = 0;
    LLVMContextSetDiagnosticHandler(context, count_diagnostic, &errors);
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("math", context);
    LLVMTargetMachineRef machine = bench_machine("nvptx64-nvidia-cuda", "sm_80", "+ptx80");
    LLVMSetTarget(module, "nvptx64-nvidia-cuda");
    for (int i = 0; i < count; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s_%s_%s", op_info(specs[i].op)->name,
                 dtype_name(specs[i].from), dtype_name(specs[i].to));
        bench_emit(module, name, MATH_NVPTX, specs[i]);
    }
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
    snprintf(command, sizeof command, "%s -arch=sm_80 -O1 -c -o /dev/null %s", ptxas, path);
    bool good = written && system(command) == 0;
    unlink(path);
    return good;
}

static void check_ptx(const KernelSpec *specs, int count) {
    char *text = ptx_of(specs, count);
    if (!CHECK(text != NULL)) return;
    CHECK(strstr(text, ".extern") == NULL);
    CHECK(strstr(text, "call") == NULL);
    const char *ptxas = find_ptxas();
    if (ptxas) CHECK(assembles(ptxas, text));
    free(text);
}

static DType result_of(Op op, DType dtype) {
    return op_info(op)->class == CLASS_COMPARE ? DT_bool : dtype;
}

static void test_ops(void) {
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
        check_ptx(specs, count);
    }
}

static void test_casts(void) {
    KernelSpec specs[DT_count * DT_count];
    int count = 0;
    for (int from = 0; from < DT_count; from++)
        for (int to = 0; to < DT_count; to++)
            specs[count++] = (KernelSpec){OP_cast, (DType)from, (DType)to, 0, 0};
    check_ptx(specs, count);
}

int main(void) {
    open_nvptx();
    if (!find_ptxas()) printf("skipped: assembling, for there is no ptxas\n");
    RUN(test_ops);
    RUN(test_casts);
    return test_done();
}
