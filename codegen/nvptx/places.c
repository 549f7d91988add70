/* Lines of the model in the PTX: LLVM's debug information, as far as .file and .loc go. So a
 * debugger, a profiler or the software device names the op that an instruction was made for. */
#include "codegen/nvptx/nvptx.h"

#include "ir/graph.h"
#include "ir/infer.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

/* Directives alone, without sections of DWARF: the one kind that the C interface has no name for.
 */
enum { DIRECTIVES_ONLY = 3, DEBUG_VERSION = 3 };

typedef struct Places {
    LLVMDIBuilderRef builder;
    GuardDefer defer; /* frees it */
    const Diags *diags;
    LLVMMetadataRef function;
    uint32_t file;               /* of the function */
    VEC(LLVMMetadataRef) scopes; /* by file: the function, or a block of it */
    const struct Origin *last;   /* whose place is set */
} Places;

static LLVMMetadataRef file_of(const Places *places, uint32_t file) {
    Str path = diags_file_path(places->diags, file);
    return LLVMDIBuilderCreateFile(places->builder, path.data, path.size, "", 0);
}

static void add_flag(Lowering *l) {
    static const char name[] = "Debug Info Version";
    if (LLVMGetModuleFlag(l->module, name, sizeof name - 1)) return;
    LLVMMetadataRef version = LLVMValueAsMetadata(ll_i32(l, DEBUG_VERSION));
    LLVMAddModuleFlag(l->module, LLVMModuleFlagBehaviorWarning, name, sizeof name - 1, version);
}

static LLVMMetadataRef make_function(Lowering *l, const Places *places, Loc loc) {
    LLVMDIBuilderRef b = places->builder;
    LLVMMetadataRef file = file_of(places, loc.file);
    LLVMDIBuilderCreateCompileUnit(b, LLVMDWARFSourceLanguageC, file, "tcc", 3, 1, "", 0, 0, "", 0,
                                   (LLVMDWARFEmissionKind)DIRECTIVES_ONLY, 0, 0, 0, "", 0, "", 0);
    LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(b, file, NULL, 0, LLVMDIFlagZero);
    size_t size = strlen(l->symbol);
    return LLVMDIBuilderCreateFunction(b, file, l->symbol, size, l->symbol, size, file, loc.line,
                                       type, 0, 1, loc.line, LLVMDIFlagZero, 1);
}

static const struct Origin *first_origin(const TileBlock *block) {
    for (size_t i = 0; i < block->instrs.count; i++) {
        const TileInstr *instr = block->instrs.data[i];
        if (origin_loc(instr->origin).file != 0) return instr->origin;
        for (uint32_t b = 0; b < instr->block_count; b++) {
            const struct Origin *origin = first_origin(&instr->blocks[b]);
            if (origin) return origin;
        }
    }
    return NULL;
}

static LLVMMetadataRef scope_of(Lowering *l, Places *places, uint32_t file) {
    while (places->scopes.count <= file) vec_push(l->arena, &places->scopes, NULL);
    LLVMMetadataRef *scope = &places->scopes.data[file];
    if (!*scope && file == places->file) *scope = places->function;
    if (!*scope)
        *scope = LLVMDIBuilderCreateLexicalBlockFile(places->builder, places->function,
                                                     file_of(places, file), 0);
    return *scope;
}

static void set_place(Lowering *l, Loc loc) {
    LLVMMetadataRef scope = scope_of(l, l->places, loc.file);
    LLVMMetadataRef place =
        LLVMDIBuilderCreateDebugLocation(l->context, loc.line, loc.column, scope, NULL);
    LLVMSetCurrentDebugLocation2(l->builder, place);
}

/* What LLVM failed in stays. */
static void free_builder(void *builder) {
    if (!guard_is_backend(guard_raised())) LLVMDisposeDIBuilder(builder);
}

void nvptx_open_places(Lowering *l) {
    const struct Origin *origin = first_origin(&l->program->body);
    if (!l->options->places || !origin) return;
    Loc loc = origin_loc(origin);
    Places *places = l->places = NEW(l->arena, Places);
    places->builder = LLVMCreateDIBuilder(l->module);
    guard_defer(&places->defer, free_builder, places->builder);
    places->diags = l->options->places;
    places->file = loc.file;
    add_flag(l);
    places->function = make_function(l, places, loc);
    LLVMSetSubprogram(l->function, places->function);
    set_place(l, loc);
}

void nvptx_note_place(Lowering *l, const TileInstr *instr) {
    Places *places = l->places;
    if (!places || instr->origin == NULL || instr->origin == places->last) return;
    Loc loc = origin_loc(instr->origin);
    if (loc.file == 0) return;
    places->last = instr->origin;
    set_place(l, loc);
}

void nvptx_close_places(Lowering *l) {
    if (!l->places) return;
    LLVMDIBuilderFinalize(l->places->builder);
    guard_undefer(&l->places->defer);
    LLVMDisposeDIBuilder(l->places->builder);
    l->places = NULL;
}
