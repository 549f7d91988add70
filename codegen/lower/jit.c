/* Over LLVM's ORC: one LLJIT an instance, objects added as they are. */
#include "codegen/lower/jit.h"

#include <llvm-c/Core.h>
#include <llvm-c/LLJIT.h>

#include "codegen/lower/emit.h"

struct Jit {
    Arena *arena;
    LLVMOrcLLJITRef engine;
    unsigned objects; /* added so far */
};

/* True when there was an error, whose text goes to *out_message. */
static bool failed(Arena *arena, LLVMErrorRef error, const char **out_message) {
    if (!error) return false;
    char *text = LLVMGetErrorMessage(error);
    *out_message = str_terminated(arena, str_from(text));
    LLVMDisposeErrorMessage(text);
    return true;
}

/* Errors come back from the calls that caused them; what ORC reports beside is not printed. */
static void ignore_error(void *user, LLVMErrorRef error) {
    (void)user;
    LLVMConsumeError(error);
}

Jit *jit_new(Arena *arena, const char **out_message) {
    emit_start();
    Jit *jit = NEW(arena, Jit);
    jit->arena = arena;
    if (failed(arena, LLVMOrcCreateLLJIT(&jit->engine, NULL), out_message)) return NULL;
    LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(jit->engine),
                                            ignore_error, NULL);
    return jit;
}

void jit_free(Jit *jit) {
    if (jit) LLVMConsumeError(LLVMOrcDisposeLLJIT(jit->engine));
}

Status jit_add(Jit *jit, Str object, const char **out_message) {
    Str name = str_format(jit->arena, "object%u", jit->objects++);
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(object.data, object.size, name.data);
    LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(jit->engine);
    LLVMErrorRef error = LLVMOrcLLJITAddObjectFile(jit->engine, library, buffer);
    return failed(jit->arena, error, out_message) ? STATUS_internal : STATUS_ok;
}

TccKernel *jit_find(Jit *jit, const char *symbol, const char **out_message) {
    LLVMOrcExecutorAddress address = 0;
    LLVMErrorRef error = LLVMOrcLLJITLookup(jit->engine, &address, symbol);
    if (failed(jit->arena, error, out_message)) return NULL;
    return (TccKernel *)(uintptr_t)address;
}
