/* From LLVM modules to optimised IR, assembly, PTX and object files.
 *
 * LLVM's fatal errors become GUARD_backend, a lack of memory in it GUARD_memory or, seldom,
 * GUARD_backend_memory (reserve.h), its error diagnostics a failing status: nothing here ends the
 * process or writes to stderr. After a fatal error the LLVM context it happened in is
 * leaked on purpose, since its state is unknown.
 */
#ifndef TCC_CODEGEN_LOWER_EMIT_H
#define TCC_CODEGEN_LOWER_EMIT_H

#include "base/status.h"
#include "codegen/lower/lower.h"

typedef enum EmitLevel {
    EMIT_fast, /* least compile time */
    EMIT_full  /* best code */
} EmitLevel;

typedef enum EmitKind {
    EMIT_llvm,     /* LLVM IR as text, after the passes */
    EMIT_assembly, /* x86 assembly; for NVPTX the PTX text */
    EMIT_object    /* a relocatable ELF file (x86 only) */
} EmitKind;

/* An LLVM target machine. Used by one thread at a time; making one costs about 0.4 ms, so each
 * compiling thread keeps its own. */
typedef struct Emitter Emitter;

/* Registers LLVM's targets and its error handler, once a process, whichever thread comes first.
 * emitter_new and jit_new call it. */
void emit_start(void);

/* The emitter's struct lives in `arena`; emitter_free releases what LLVM holds. Raises
 * GUARD_backend when LLVM lacks the target. */
Emitter *emitter_new(Arena *arena, const Target *target, EmitLevel level);
void emitter_free(Emitter *emitter);

/* Optimises the module in place and writes it as `kind`; the bytes are in `arena`, texts
 * terminated. The module stays the caller's. STATUS_internal with *out_message (in `arena`) on
 * failure. */
Status emit_module(Emitter *emitter, LLVMModuleRef module, EmitKind kind, Arena *arena,
                   Str *out_bytes, const char **out_message);

/* lower_program and emit_module in an LLVM context of their own. LLVM's fatal errors are a failing
 * status here; bugs and lack of memory are raised further. */
Status emit_program(Emitter *emitter, const TileProgram *program, const LowerOptions *options,
                    EmitKind kind, Arena *arena, Str *out_bytes, const char **out_message);

#endif
