/* Units as files, and files of units read back. */
#include "base/file.h"
#include "codegen/artefact/artefact.h"
#include "codegen/artefact/read.h"
#include "compiler/session.h"
#include "ir/text.h"

#include <string.h>
#include <sys/stat.h>

enum { MAX_ARTEFACT_BYTES = 1 << 30 };

typedef struct WriteCall {
    tcc_unit *unit;
    ArtefactKind kind;
    Str path;
} WriteCall;

/* The decisions stand behind the graph as comments that begin so: the section is .tir text still.
 */
static const char explain_mark[] = "#: ";

static void put_explanation(Buf *buf, Str text) {
    for (size_t begin = 0, end; begin < text.size; begin = end) {
        for (end = begin; end < text.size && text.data[end] != '\n'; end++) {
        }
        end += end < text.size;
        buf_put(buf, str_from(explain_mark));
        buf_put(buf, (Str){text.data + begin, end - begin});
    }
}

/* What put_explanation wrote. */
static Str find_explanation(Arena *arena, Str text) {
    Buf buf = {.arena = arena};
    Str mark = str_from(explain_mark);
    for (size_t begin = 0, end; begin < text.size; begin = end) {
        for (end = begin; end < text.size && text.data[end] != '\n'; end++) {
        }
        end += end < text.size;
        Str line = {text.data + begin, end - begin};
        if (!str_starts_with(line, mark)) continue;
        buf_put(&buf, (Str){line.data + mark.size, line.size - mark.size});
    }
    return buf_str(&buf);
}

static Str graph_text(tcc_unit *unit) {
    Buf buf = {.arena = unit->arena};
    Module module = {.ctx = unit->core->ctx, .arena = unit->arena};
    if (unit->core->options.strip_info) return (Str){0};
    vec_push(unit->arena, &module.models, (Graph *)(uintptr_t)unit->core->result.graph);
    print_module(&buf, &module, &(PrintOptions){.origins = true});
    put_explanation(&buf, unit_explanation(unit));
    return buf_str(&buf);
}

/* Whether the path names a file that the unit was made from: its model, or weights. */
static bool is_source(tcc_unit *unit, Str path) {
    struct stat output, source;
    if (stat(str_terminated(unit->arena, path), &output) != 0 || !S_ISREG(output.st_mode))
        return false;
    for (uint32_t file = 1; file <= diags_file_count(unit->core->diags); file++) {
        const char *name = str_terminated(unit->arena, diags_file_path(unit->core->diags, file));
        if (stat(name, &source) == 0 && source.st_dev == output.st_dev &&
            source.st_ino == output.st_ino)
            return true;
    }
    return false;
}

static tcc_status write_body(void *data) {
    WriteCall *call = data;
    tcc_unit *unit = call->unit;
    if (is_source(unit, call->path))
        return compiler_fail(unit->compiler, TCC_INVALID,
                             "%.*s would be replaced, and the model was made from it",
                             STR_ARG(call->path));
    tcc_status status = unit_compile_kernels(unit);
    if (status != TCC_OK) return status;
    ArtefactRequest request = {.program = unit->core->result.program,
                               .targets = unit->core->targets,
                               .target_count = unit->core->target_count,
                               .kernels = &unit->core->kernels,
                               .gpu = unit->core->gpu != NULL ? &unit->core->gpu_image : NULL,
                               .compiler = tcc_version(),
                               .options = options_text(&unit->core->options, unit->arena),
                               .graph = graph_text(unit),
                               .places = unit->core->diags};
    Diags *diags = diags_new(unit->arena, compiler_diagnose, unit->compiler, 0);
    return compiler_status(artefact_write(&request, call->kind, unit->arena, diags, call->path));
}

static tcc_status write_unit(tcc_unit *unit, ArtefactKind kind, const char *path) {
    WriteCall call = {unit, kind, str_from(path)};
    if (path == NULL) return compiler_refuse_null(unit_compiler(unit), "path");
    double begin = compiler_clock();
    tcc_status status = unit_enter(unit, write_body, &call);
    if (status == TCC_OK)
        compiler_log(unit->compiler, TCC_LOG_CALLS, "written", call.path, compiler_clock() - begin,
                     "the artefact is complete");
    return status;
}

tcc_status tcc_unit_write(tcc_unit *unit, const char *path) {
    return write_unit(unit, ARTEFACT_shared, path);
}

tcc_status tcc_unit_write_object(tcc_unit *unit, const char *path) {
    return write_unit(unit, ARTEFACT_object, path);
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct ReadCall {
    tcc_compiler *compiler;
    Str path;
    const char *kind;
    Str text;
} ReadCall;

static tcc_status read_body(void *data) {
    ReadCall *call = data;
    Str file;
    arena_free(call->compiler->reading);
    call->compiler->reading = NULL;
    Arena *arena = call->compiler->reading = arena_new(NULL);
    Diags *diags = diags_new(arena, compiler_diagnose, call->compiler, 0);
    Status status = file_read(arena, diags, (Loc){0}, call->path, MAX_ARTEFACT_BYTES, &file);
    if (status != STATUS_ok) return compiler_status(status);
    bool explain = strcmp(call->kind, "explain") == 0;
    bool graph = explain || strcmp(call->kind, "graph") == 0;
    if (!graph && strcmp(call->kind, "metadata") != 0)
        return compiler_fail(call->compiler, TCC_INVALID, "an artefact holds no \"%s\"",
                             call->kind);
    uint32_t number = diags_add_file(diags, call->path, STR(""));
    status = artefact_read(arena, diags, number, file, graph ? ARTEFACT_graph : ARTEFACT_metadata,
                           &call->text);
    if (explain && status == STATUS_ok) call->text = find_explanation(arena, call->text);
    return compiler_status(status);
}

tcc_status tcc_artefact_read(tcc_compiler *compiler, const char *path, const char *kind,
                             const char **out_text, size_t *out_size) {
    ReadCall call = {.compiler = compiler, .path = str_from(path), .kind = kind};
    if (out_text != NULL) *out_text = NULL;
    if (out_size != NULL) *out_size = 0;
    if (out_text == NULL) return compiler_refuse_null(compiler, "out_text");
    if (out_size == NULL) return compiler_refuse_null(compiler, "out_size");
    if (path == NULL) return compiler_refuse_null(compiler, "path");
    if (kind == NULL) return compiler_refuse_null(compiler, "kind");
    tcc_status status = compiler_enter(compiler, read_body, &call);
    *out_text = call.text.data;
    *out_size = call.text.size;
    return status;
}
