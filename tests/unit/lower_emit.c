// Emission and loading: what LLVM cannot do is a status, objects import nothing and are the same
// each time, threads compile side by side.
#include "lower_run.h"

#include <elf.h>
#include <pthread.h>

static const char text[] =
    "tile 1\n"
    "dim N in 1..1000 tune 100\n"
    "kernel @k~I(%x: view<global ~T [N]>, %y: view<global ~T [N]> out) placed {\n"
    "  %s = alloc scratch ~T [32]\n"
    "  work %i in [(N + 31) // 32] {\n"
    "    %0 = load %x[32*%i + $0] where 0 <= 32*%i + $0 < N : tile<~T [32] lanes=32>\n"
    "    store %0, %s[$0]\n"
    "    %1 = load %s[31 - $0] : tile<~T [32] lanes=32>\n"
    "    %2 = cast f32 %1\n"
    "    %3 = tanh %2\n"
    "    %5 = exp %3\n"
    "    %7 = cast ~T %5\n"
    "    store %7, %y[32*%i + $0] where 0 <= 32*%i + $0 < N\n"
    "  }\n"
    "}\n";

static const char *const numbers[] = {"0", "1", "2", "3", "4", "5", "6", "7"};

static RunCase spec_of(int i) {
    static const char *const types[] = {"f32", "bf16", "f16", "i8"};
    return (RunCase){
        .text = text, .places = {{'T', types[i % 4]}, {'I', numbers[i]}}, .dims = {{"N", 1}}};
}

// ---- what goes into an object ----

static bool has_imports(Str object) {
    const Elf64_Ehdr *header = (const void *)object.data;
    const Elf64_Shdr *sections = (const void *)(object.data + header->e_shoff);
    for (int i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB) continue;
        const Elf64_Sym *symbols = (const void *)(object.data + sections[i].sh_offset);
        for (size_t s = 1; s < sections[i].sh_size / sizeof *symbols; s++)
            if (symbols[s].st_shndx == SHN_UNDEF) return true;
    }
    return false;
}

static void test_objects(void) {
    static const char *const targets[] = {"x86-64-v3", "x86-64-v4"};
    for (int i = 0; i < 8; i++) {
        Run run;
        Str first, second;
        RunCase spec = spec_of(i);
        EmitLevel level = i < 4 ? EMIT_full : EMIT_fast;
        if (run_begin(&run, &spec) && run_emit(&run, targets[i % 2], level, EMIT_object, &first) &&
            run_emit(&run, targets[i % 2], level, EMIT_object, &second)) {
            CHECK(!has_imports(first));
            if (CHECK_INT(first.size, second.size)) CHECK_MEM(first.data, second.data, first.size);
        }
        run_end(&run);
    }
}

static void test_texts(void) {
    static const struct {
        const char *target;
        EmitKind kind;
        const char *holds;
    } wants[] = {{"x86-64-v3", EMIT_llvm, "define void @k0(ptr"},
                 {"x86-64-v3", EMIT_assembly, "%ymm"},
                 {"x86-64-v4", EMIT_assembly, "%zmm"},
                 {"sm_80", EMIT_assembly, ".target sm_80"},
                 {"sm_90a", EMIT_assembly, ".visible .entry k0("},
                 {"sm_86", EMIT_assembly, ".reqntid 128"},
                 {"sm_89", EMIT_llvm, "define ptx_kernel void @k0"}};
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
        Run run;
        Str out = {0};
        RunCase spec = spec_of(0);
        if (run_begin(&run, &spec) &&
            run_emit(&run, wants[i].target, EMIT_full, wants[i].kind, &out) &&
            !CHECK(strstr(out.data, wants[i].holds) != NULL))
            printf("    no \"%s\" in\n%s\n", wants[i].holds, out.data);
        run_end(&run);
    }
}

// ---- what LLVM refuses ----

// A function that NVPTX cannot translate: an exponential of LLVM's own, or an ordered store.
static LLVMModuleRef refused_module(LLVMContextRef context, bool fatal) {
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("refused", context);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(context);
    LLVMTypeRef f32 = LLVMFloatTypeInContext(context), ptr = LLVMPointerTypeInContext(context, 0);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), &ptr, 1, 0);
    LLVMValueRef function = LLVMAddFunction(module, "f", type), at = LLVMGetParam(function, 0);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(context, function, ""));
    LLVMValueRef value = LLVMBuildLoad2(b, f32, at, "");
    unsigned id = LLVMLookupIntrinsicID("llvm.exp", 8);
    LLVMValueRef callee = LLVMGetIntrinsicDeclaration(module, id, &f32, 1);
    if (!fatal) value = LLVMBuildCall2(b, LLVMGlobalGetValueType(callee), callee, &value, 1, "");
    LLVMValueRef store = LLVMBuildStore(b, value, at);
    LLVMSetAlignment(store, 4);
    if (fatal) LLVMSetOrdering(store, LLVMAtomicOrderingRelease);
    LLVMBuildRetVoid(b);
    LLVMDisposeBuilder(b);
    return module;
}

// The context of a fatal error is leaked on purpose (emit.h).
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
static void expect_leaks(bool expected) { expected ? __lsan_disable() : __lsan_enable(); }
#else
static void expect_leaks(bool expected) { (void)expected; }
#endif

// How emission ends: a status, or a guard raised by LLVM's fatal error.
static GuardKind emit_refused(bool fatal, Status *out_status) {
    Arena *arena = arena_new(NULL);
    Emitter *emitter = emitter_new(arena, target_find(STR("sm_80")), EMIT_full);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = refused_module(context, fatal);
    Str out = {0};
    const char *message = NULL;
    Guard guard;
    guard_enter(&guard);
    if (setjmp(guard.jump) == 0) {
        *out_status = emit_module(emitter, module, EMIT_assembly, arena, &out, &message);
        LLVMDisposeModule(module);
        LLVMContextDispose(context);
        emitter_free(emitter);
        if (*out_status != STATUS_ok) CHECK(message != NULL && message[0] != 0);
    } else {
        CHECK(guard.message[0] != 0);
    }
    guard_leave(&guard);
    GuardKind kind = guard.kind;
    arena_free(arena);
    return kind;
}

static void test_refusals(void) {
    for (int i = 0; i < 6; i++) {
        Status status = STATUS_ok;
        expect_leaks(true);
        GuardKind kind = emit_refused(i % 2, &status);
        expect_leaks(false);
        CHECK(kind == GUARD_backend || (kind == GUARD_none && status == STATUS_internal));
    }
    RunCase spec = spec_of(1);
    run_case(&(RunCase){.text = spec.text,
                        .places = {spec.places[0], spec.places[1]},
                        .dims = {{"N", 100}},
                        .ulps = 200});
}

// ---- threads ----

typedef struct Worker {
    pthread_t thread;
    Str objects[8];
    Arena *arena;
    Status status;
} Worker;

static void *compile_all(void *user) {
    Worker *worker = user;
    const Target *target = target_find(STR("x86-64-v3"));
    Emitter *emitter = emitter_new(worker->arena, target, EMIT_full);
    for (int i = 0; i < 8; i++) {
        RunCase spec = spec_of(i);
        Run run;
        const char *message = NULL;
        if (!run_begin(&run, &spec)) worker->status = STATUS_invalid;
        LowerOptions options = run_options(&run, target);
        Status status = emit_program(emitter, run.program, &options, EMIT_object, worker->arena,
                                     &worker->objects[i], &message);
        if (status != STATUS_ok) worker->status = status;
        run_end(&run);
    }
    emitter_free(emitter);
    return NULL;
}

static void test_threads(void) {
    Worker workers[3] = {0};
    for (int i = 0; i < 3; i++) {
        workers[i].arena = arena_new(NULL);
        CHECK_INT(pthread_create(&workers[i].thread, NULL, compile_all, &workers[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK_INT(workers[i].status, STATUS_ok);
    }
    for (int i = 1; i < 3; i++)
        for (int j = 0; j < 8; j++)
            if (CHECK_INT(workers[i].objects[j].size, workers[0].objects[j].size))
                CHECK_MEM(workers[i].objects[j].data, workers[0].objects[j].data,
                          workers[0].objects[j].size);
    for (int i = 0; i < 3; i++) arena_free(workers[i].arena);
}

// ---- loading ----

static void test_jits(void) {
    Worker worker = {.arena = arena_new(NULL)};
    const char *message = NULL;
    compile_all(&worker);
    Jit *jits[3];
    for (int i = 0; i < 3; i++) {
        jits[i] = jit_new(worker.arena, &message);
        if (!CHECK(jits[i] != NULL)) return;
        for (int j = 0; j < 8; j++)
            CHECK_INT(jit_add(jits[i], worker.objects[j], &message), STATUS_ok);
    }
    TccKernel *kernels[3];
    for (int i = 0; i < 3; i++) {
        kernels[i] = jit_find(jits[i], "k5", &message);
        CHECK(kernels[i] != NULL);
        message = NULL;
        CHECK(jit_find(jits[i], "no_such", &message) == NULL && message != NULL);
    }
    CHECK(kernels[0] != kernels[1] && kernels[1] != kernels[2]);
    message = NULL;
    CHECK(jit_add(jits[1], STR("this is no object file"), &message) != STATUS_ok &&
          message != NULL);
    jit_free(jits[1]);
    CHECK(jit_find(jits[2], "k7", &message) != NULL);
    jit_free(jits[0]);
    jit_free(jits[2]);
    jit_free(NULL);
    arena_free(worker.arena);
}

int main(void) {
    RUN(test_objects);
    RUN(test_texts);
    RUN(test_refusals);
    RUN(test_threads);
    RUN(test_jits);
    if (!run_ptxas()) printf("skipped: ptxas is not installed, PTX was emitted only\n");
    return test_done();
}
