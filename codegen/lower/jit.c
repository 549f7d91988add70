/* Over LLVM's ORC: one LLJIT an instance, objects added as they are. */
#include "codegen/lower/jit.h"

#include <errno.h>
#include <llvm-c/Core.h>
#include <llvm-c/LLJIT.h>
#include <string.h>

#include "base/guard.h"
#include "codegen/lower/emit.h"
#include "codegen/lower/reserve.h"

struct Jit {
    Arena *arena;
    LLVMOrcLLJITRef engine;
    unsigned objects; /* added so far */
    bool inside;      /* LLVM runs, or was unwound: then the engine is not touched again */
    bool outer;       /* the guard's `backend` outside of it */
    bool lacks;       /* LLVM had an error that is a lack of memory */
};

static void enter(Jit *jit) {
    jit->outer = guard_set_backend(true);
    jit->inside = true;
}

static void leave(Jit *jit) {
    jit->inside = false;
    guard_set_backend(jit->outer);
}

/* LLVM makes texts of the system's errors. */
static void note_lack(Jit *jit, const char *text) {
    if (strstr(text, strerror(ENOMEM)) != NULL) jit->lacks = true;
}

/* Leaves LLVM with what it said. True when there was an error, whose text goes to *out_message; a
 * lack of memory is raised. */
static bool failed(Jit *jit, LLVMErrorRef error, const char **out_message) {
    if (error) {
        char *text = LLVMGetErrorMessage(error);
        note_lack(jit, text);
        *out_message = str_terminated(jit->arena, str_from(text));
        LLVMDisposeErrorMessage(text);
    }
    leave(jit);
    if (error && jit->lacks) guard_raise(GUARD_memory, "out of memory");
    return error != NULL;
}

/* Errors come back from the calls that caused them; what ORC reports beside is the reason for some,
 * and is not printed. */
static void hear(void *user, LLVMErrorRef error) {
    char *text = LLVMGetErrorMessage(error);
    note_lack(user, text);
    LLVMDisposeErrorMessage(text);
}

Jit *jit_new(Arena *arena, const char **out_message) {
    emit_start();
    Jit *jit = NEW(arena, Jit);
    jit->arena = arena;
    enter(jit);
    if (failed(jit, LLVMOrcCreateLLJIT(&jit->engine, NULL), out_message)) return NULL;
    enter(jit);
    LLVMOrcExecutionSessionRef session = LLVMOrcLLJITGetExecutionSession(jit->engine);
    LLVMOrcExecutionSessionSetErrorReporter(session, hear, jit);
    leave(jit);
    return jit;
}

void jit_free(Jit *jit) {
    if (!jit || jit->inside) return;
    enter(jit);
    LLVMConsumeError(LLVMOrcDisposeLLJIT(jit->engine));
    leave(jit);
}

Status jit_add(Jit *jit, Str object, const char **out_message) {
    Str name = str_format(jit->arena, "object%u", jit->objects++);
    reserve_need();
    enter(jit);
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(object.data, object.size, name.data);
    LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(jit->engine);
    LLVMErrorRef error = LLVMOrcLLJITAddObjectFile(jit->engine, library, buffer);
    return failed(jit, error, out_message) ? STATUS_internal : STATUS_ok;
}

TccKernel *jit_find(Jit *jit, const char *symbol, const char **out_message) {
    LLVMOrcExecutorAddress address = 0;
    reserve_need();
    enter(jit);
    if (failed(jit, LLVMOrcLLJITLookup(jit->engine, &address, symbol), out_message)) return NULL;
    return (TccKernel *)(uintptr_t)address;
}
