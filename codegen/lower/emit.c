#include "codegen/lower/emit.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>

#include "base/guard.h"
#include "codegen/lower/reserve.h"
#include "codegen/lower/sanitize.h"

/* ---- LLVM's own state: its registry of targets and its fatal-error handler, once a process --- */

static pthread_once_t llvm_once = PTHREAD_ONCE_INIT;

static void raise_fatal(const char *reason) { guard_raise(GUARD_backend, "llvm: %s", reason); }

/* Loop strength reduction takes up to half of the time of code generation and gives, over addresses
 * that are a base and a scaled index already, no shorter loops. */
static void set_options(void) {
    const char *const words[] = {"tensorcc", "-disable-lsr"};
    LLVMParseCommandLineOptions(sizeof words / sizeof *words, words, NULL);
}

/* Nothing may be raised out of here, since whoever comes second waits for its end; the reserve is
 * there. */
static void start_llvm(void) {
    bool outer = guard_set_backend(false);
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMInstallFatalErrorHandler(raise_fatal);
    set_options();
    guard_set_backend(outer);
}

void emit_start(void) {
    reserve_need();
    pthread_once(&llvm_once, start_llvm);
}

/* ---- target machines ------------------------------------------------------------------------- */

typedef struct Machine {
    const char *name, *triple, *cpu, *features;
} Machine;

#define LINUX "x86_64-unknown-linux-gnu"
#define CUDA "nvptx64-nvidia-cuda"

static const Machine machines[] = {
    {"x86-64-v3", LINUX, "x86-64-v3", ""},
    {"x86-64-v4", LINUX, "x86-64-v4", "-prefer-256-bit"},
    {"x86-64-v4+vnni", LINUX, "x86-64-v4", "-prefer-256-bit,+avx512vnni"},
    {"sm_80", CUDA, "sm_80", "+ptx80"},
    {"sm_86", CUDA, "sm_86", "+ptx80"},
    {"sm_89", CUDA, "sm_89", "+ptx84"},
    {"sm_90a", CUDA, "sm_90a", "+ptx83"},
};

static const Machine *find_machine(const char *name) {
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (str_equal(str_from(machines[i].name), str_from(name))) return &machines[i];
    bug("no LLVM machine for target %s", name);
}

struct Emitter {
    LLVMTargetMachineRef machine;
    LLVMPassBuilderOptionsRef options;
    const char *triple, *passes;
    char *layout;
    bool is_gpu;
};

/* A third of the time of default<O3> for the same code, programs being vectors and unrolled
 * already. */
#define FULL_PASSES                                                                                \
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"                 \
    "loop-mssa(licm),gvn,instcombine<no-verify-fixpoint>,dce,simplifycfg)"
#define FAST_PASSES "function(sroa,early-cse)"

static LLVMTargetMachineRef make_machine(const Machine *machine, EmitLevel level) {
    LLVMTargetRef target = NULL;
    char *message = NULL;
    if (LLVMGetTargetFromTriple(machine->triple, &target, &message)) {
        LLVMDisposeMessage(message);
        guard_raise(GUARD_backend, "llvm has no target %s", machine->triple);
    }
    LLVMCodeGenOptLevel effort =
        level == EMIT_fast ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault;
    LLVMTargetMachineRef made =
        LLVMCreateTargetMachine(target, machine->triple, machine->cpu, machine->features, effort,
                                LLVMRelocPIC, LLVMCodeModelSmall);
    if (!made) guard_raise(GUARD_backend, "llvm makes no machine for %s", machine->cpu);
    return made;
}

static char *layout_text(LLVMTargetMachineRef machine) {
    LLVMTargetDataRef data = LLVMCreateTargetDataLayout(machine);
    char *text = LLVMCopyStringRepOfTargetData(data);
    LLVMDisposeTargetData(data);
    return text;
}

Emitter *emitter_new(Arena *arena, const Target *target, EmitLevel level) {
    emit_start();
    const Machine *machine = find_machine(target->name);
    Emitter *emitter = NEW(arena, Emitter);
    emitter->triple = machine->triple;
    emitter->passes = level == EMIT_fast ? FAST_PASSES : FULL_PASSES;
    emitter->is_gpu = target->kind == TARGET_gpu;
    emitter->machine = make_machine(machine, level);
    emitter->layout = layout_text(emitter->machine);
    emitter->options = LLVMCreatePassBuilderOptions();
    return emitter;
}

void emitter_free(Emitter *emitter) {
    if (!emitter) return;
    LLVMDisposePassBuilderOptions(emitter->options);
    LLVMDisposeMessage(emitter->layout);
    LLVMDisposeTargetMachine(emitter->machine);
}

/* ---- diagnostics of one emission ------------------------------------------------------------- */

typedef struct Complaint {
    Arena *arena;
    const char *first; /* the first error; NULL when there was none */
} Complaint;

static void note_error(Complaint *complaint, char *text) {
    if (!complaint->first)
        complaint->first =
            str_terminated(complaint->arena, str_from(text ? text : "unknown error"));
    LLVMDisposeMessage(text);
}

static void hear(LLVMDiagnosticInfoRef diagnostic, void *user) {
    if (LLVMGetDiagInfoSeverity(diagnostic) != LLVMDSError) return;
    note_error(user, LLVMGetDiagInfoDescription(diagnostic));
}

/* Does nothing after an error. */
static void run_passes(const Emitter *emitter, LLVMModuleRef module, const char *passes,
                       Complaint *complaint) {
    if (complaint->first) return;
    reserve_need();
    LLVMErrorRef error = LLVMRunPasses(module, passes, emitter->machine, emitter->options);
    if (!error) return;
    char *text = LLVMGetErrorMessage(error);
    complaint->first = str_terminated(complaint->arena, str_from(text));
    LLVMDisposeErrorMessage(text);
}

static void free_text(void *text) { LLVMDisposeMessage(text); }
static void free_buffer(void *buffer) { LLVMDisposeMemoryBuffer(buffer); }

/* Copies, with a zero behind that is not counted, and frees what LLVM gave. */
static Str take_bytes(Arena *arena, Str bytes, void (*free_bytes)(void *), void *owner) {
    GuardDefer defer;
    guard_defer(&defer, free_bytes, owner);
    Str copy = str_copy(arena, bytes);
    guard_undefer(&defer);
    free_bytes(owner);
    return copy;
}

static Str print_ir(LLVMModuleRef module, Arena *arena) {
    char *text = LLVMPrintModuleToString(module);
    return take_bytes(arena, str_from(text), free_text, text);
}

static Str generate(const Emitter *emitter, LLVMModuleRef module, EmitKind kind, Arena *arena,
                    Complaint *complaint) {
    LLVMCodeGenFileType type = kind == EMIT_object ? LLVMObjectFile : LLVMAssemblyFile;
    LLVMMemoryBufferRef buffer = NULL;
    char *text = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(emitter->machine, module, type, &text, &buffer)) {
        note_error(complaint, text);
        return (Str){0};
    }
    Str bytes = {LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer)};
    return take_bytes(arena, bytes, free_buffer, buffer);
}

Status emit_module(Emitter *emitter, LLVMModuleRef module, EmitKind kind, Arena *arena,
                   Str *out_bytes, const char **out_message) {
    require(kind != EMIT_object || !emitter->is_gpu);
    Complaint complaint = {.arena = arena};
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMContextSetDiagnosticHandler(context, hear, &complaint);
    LLVMSetTarget(module, emitter->triple);
    LLVMSetDataLayout(module, emitter->layout);
    char *text = NULL;
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &text))
        note_error(&complaint, text);
    else
        LLVMDisposeMessage(text);
    run_passes(emitter, module, emitter->passes, &complaint);
    const char *sanitizer = kind == EMIT_object ? sanitize_kernels(module) : NULL;
    if (sanitizer) run_passes(emitter, module, sanitizer, &complaint);
    reserve_need();
    if (!complaint.first)
        *out_bytes = kind == EMIT_llvm ? print_ir(module, arena)
                                       : generate(emitter, module, kind, arena, &complaint);
    LLVMContextSetDiagnosticHandler(context, NULL, NULL);
    *out_message = complaint.first;
    return complaint.first ? STATUS_internal : STATUS_ok;
}

/* ---- a program in a context of its own ------------------------------------------------------- */

typedef struct Emission {
    Emitter *emitter;
    const TileProgram *program;
    const LowerOptions *options;
    EmitKind kind;
    Arena *arena;
    Str *out_bytes;
    const char **out_message;
} Emission;

static Status emit_in(LLVMContextRef context, const Emission *e) {
    LLVMModuleRef module = lower_program(context, e->program, e->options);
    Status status =
        emit_module(e->emitter, module, e->kind, e->arena, e->out_bytes, e->out_message);
    LLVMDisposeModule(module);
    return status;
}

/* A context in which LLVM failed is not touched again; after other errors it goes with its modules.
 */
static Status emit_guarded(LLVMContextRef context, const Emission *e, Guard *guard) {
    guard_enter(guard);
    guard->scope.backend = true;
    if (setjmp(guard->jump) == 0) {
        Status status = emit_in(context, e);
        guard_leave(guard);
        LLVMContextDispose(context);
        return status;
    }
    guard_leave(guard);
    if (guard->kind != GUARD_backend) {
        if (!guard_is_backend(guard->kind)) LLVMContextDispose(context);
        guard_raise(guard->kind, "%s", guard->message);
    }
    *e->out_message = str_terminated(e->arena, str_from(guard->message));
    return STATUS_internal;
}

Status emit_program(Emitter *emitter, const TileProgram *program, const LowerOptions *options,
                    EmitKind kind, Arena *arena, Str *out_bytes, const char **out_message) {
    const Emission emission = {emitter, program, options, kind, arena, out_bytes, out_message};
    Guard guard;
    reserve_need();
    return emit_guarded(LLVMContextCreate(), &emission, &guard);
}
