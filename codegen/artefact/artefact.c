/* A model.so is linked from the runtime (embedded in the compiler), the objects of the kernels and
 * one object of data: the image, the table of kernels, the metadata, the compressed graph and the
 * weights, page-aligned and mapped by the dynamic linker. */
#include "codegen/artefact/artefact.h"

#include "base/embedded.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/messages.h"
#include "codegen/artefact/elf.h"
#include "codegen/artefact/link.h"
#include "codegen/artefact/metadata.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

extern const EmbeddedFile codegen_runtime_object_files[];
extern const size_t codegen_runtime_object_count;

enum { PAGE = 4096, COMPRESSION_LEVEL = 9 };

/* ---- the object of data ---------------------------------------------------------------------- */

static uint32_t add_data(ElfObject *object, const char *section, const char *symbol,
                         uint64_t alignment, const void *bytes, size_t size, size_t padding) {
    uint32_t index = elf_add_section(object, section, alignment, false, true);
    elf_add_bytes(object, index, bytes, size, padding);
    elf_add_symbol(object, symbol, index);
    return index;
}

static void add_kernel_table(ElfObject *object, const ArtefactRequest *request) {
    uint32_t count = (uint32_t)request->program->kernels.count * request->target_count;
    uint32_t table = elf_add_section(object, ".data.rel.ro.tcc", 8, true, true);
    for (uint32_t i = 0; i < count; i++)
        elf_add_pointer(object, table, request->kernels->symbols[i]);
    if (count == 0) elf_add_bytes(object, table, "", 0, sizeof(void *));
    elf_add_symbol(object, "tcc_artefact_kernels", table);
}

static void add_weights(ElfObject *object, const Program *program, Arena *arena) {
    uint64_t *offsets, at = 0;
    uint64_t size = image_place_constants(program, arena, &offsets);
    uint32_t section = elf_add_section(object, ".tcc.weights", PAGE, false, true);
    for (size_t i = 0; i < program->constants.count; i++) {
        const Blob *blob = program->constants.data[i].blob;
        if (offsets[i] != at) continue; /* an equal blob stands there already */
        size_t padding = (WEIGHT_ALIGNMENT - blob->size % WEIGHT_ALIGNMENT) % WEIGHT_ALIGNMENT;
        elf_add_bytes(object, section, blob->bytes, blob->size, padding);
        at += blob->size + padding;
    }
    require(at == size);
    if (size == 0) elf_add_bytes(object, section, "", 0, WEIGHT_ALIGNMENT);
    elf_add_symbol(object, "tcc_artefact_weights", section);
}

/* Not part of the loaded program. */
static Status add_graph(ElfObject *object, Str graph, Arena *arena) {
    if (graph.size == 0) return STATUS_ok;
    size_t room = ZSTD_compressBound(graph.size);
    void *packed = arena_alloc(arena, room);
    size_t size = ZSTD_compress(packed, room, graph.data, graph.size, COMPRESSION_LEVEL);
    if (ZSTD_isError(size)) return STATUS_memory;
    uint32_t section = elf_add_section(object, ".tcc.graph", 1, false, false);
    elf_add_bytes(object, section, packed, size, 0);
    return STATUS_ok;
}

static Status make_data(ElfObject *object, const ArtefactRequest *request, Arena *arena,
                        const char **out_message) {
    ImageRequest image_request = {.program = request->program,
                                  .targets = request->targets,
                                  .target_count = request->target_count,
                                  .facts = request->kernels->facts,
                                  .gpu = request->gpu,
                                  .diags = request->places};
    Str image = image_write(&image_request, arena, out_message);
    if (image.data == NULL) return STATUS_invalid;
    MetadataRequest metadata_request = {.gpu = request->gpu != NULL ? request->gpu->target : NULL,
                                        .program = request->program,
                                        .targets = request->targets,
                                        .target_count = request->target_count,
                                        .compiler = request->compiler,
                                        .options = request->options};
    Str metadata = metadata_write(&metadata_request, arena);
    uint64_t *metadata_size = NEW(arena, uint64_t);
    *metadata_size = metadata.size;
    add_data(object, ".tcc.program", "tcc_artefact_image", 64, image.data, image.size, 0);
    add_kernel_table(object, request);
    add_data(object, ".tcc.meta", "tcc_artefact_metadata", 1, metadata.data, metadata.size, 1);
    add_data(object, ".rodata.tcc", "tcc_artefact_metadata_size", 8, metadata_size,
             sizeof *metadata_size, 0);
    add_weights(object, request->program, arena);
    return add_graph(object, request->graph, arena);
}

/* ---- files in a folder of their own ---------------------------------------------------------- */

/* A temporary folder; removed with all that is in it. */
typedef struct Folder {
    Arena *arena;
    char *path;
    GuardDefer defer;
} Folder;

static void remove_folder(void *object) {
    Folder *folder = object;
    DIR *dir = opendir(folder->path);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] != '.') unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (dir != NULL) closedir(dir);
    rmdir(folder->path);
}

static bool make_folder(Folder *folder, Arena *arena) {
    const char *base = getenv("TMPDIR");
    if (base == NULL || *base == 0) base = "/tmp";
    folder->arena = arena;
    folder->path = (char *)(uintptr_t)str_format(arena, "%s/tcc-XXXXXX", base).data;
    if (mkdtemp(folder->path) == NULL) return false;
    guard_defer(&folder->defer, remove_folder, folder);
    return true;
}

/* A file being written in pieces; the first error is kept. */
typedef struct Piecewise {
    int fd, error;
    GuardDefer defer;
} Piecewise;

static void close_raised(void *piece) { close(((Piecewise *)piece)->fd); }

static void put(void *user, const void *bytes, size_t size) {
    Piecewise *file = user;
    if (file->error == 0) file->error = file_write_all(file->fd, bytes, size);
}

static const char *open_piece(Folder *folder, const char *name, Piecewise *out) {
    const char *path = str_format(folder->arena, "%s/%s", folder->path, name).data;
    *out = (Piecewise){.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    if (out->fd < 0) out->error = errno;
    guard_defer(&out->defer, close_raised, out);
    return path;
}

static int close_piece(Piecewise *file) {
    guard_undefer(&file->defer);
    if (file->fd >= 0 && close(file->fd) != 0 && file->error == 0) file->error = errno;
    return file->error;
}

static int write_piece(Folder *folder, const char *name, const void *bytes, size_t size,
                       const char **out_path) {
    Piecewise file;
    *out_path = open_piece(folder, name, &file);
    put(&file, bytes, size);
    return close_piece(&file);
}

static int write_data(Folder *folder, const ElfObject *object, const char **out_path) {
    Piecewise file;
    *out_path = open_piece(folder, "data.o", &file);
    if (file.error == 0) elf_write(object, put, &file);
    return close_piece(&file);
}

/* All objects to link; an errno, or 0. */
static int write_objects(Folder *folder, const ArtefactRequest *request, const ElfObject *data,
                         const char **paths, uint32_t *out_count) {
    uint32_t n = 0;
    const EmbeddedFile *runtime = &codegen_runtime_object_files[0];
    int error = write_piece(folder, "runtime.o", runtime->bytes, runtime->size, &paths[n++]);
    if (error == 0) error = write_data(folder, data, &paths[n++]);
    for (size_t i = 0; i < request->kernels->objects.count && error == 0; i++) {
        Str object = request->kernels->objects.data[i].bytes;
        const char *name = str_format(folder->arena, "k%zu.o", i).data;
        error = write_piece(folder, name, object.data, object.size, &paths[n++]);
    }
    *out_count = n;
    return error;
}

/* ---- the artefact ---------------------------------------------------------------------------- */

/* Copies what was linked into its place, all or nothing. */
static Status publish(const char *linked, ArtefactKind kind, Arena *arena, Diags *diags, Str path) {
    AtomicFile file;
    FileBytes bytes;
    GuardDefer defer;
    TRY(file_load(diags, (Loc){0}, str_from(linked), UINT64_MAX, 1 << 20, &bytes));
    guard_defer(&defer, file_release_defer, &bytes);
    Status status = atomic_file_begin(&file, arena, diags, (Loc){0}, path,
                                      kind == ARTEFACT_shared ? 0777 : 0666);
    if (status == STATUS_ok) {
        atomic_file_write(&file, bytes.data, bytes.size);
        status = atomic_file_commit(&file, diags, (Loc){0});
    }
    guard_undefer(&defer);
    file_release(bytes);
    return status;
}

static Status link_objects(Folder *folder, const ArtefactRequest *request, ArtefactKind kind,
                           const ElfObject *data, const char **out_linked,
                           const char **out_message) {
    Arena *arena = folder->arena;
    uint32_t count = (uint32_t)request->kernels->objects.count + 2;
    const char **paths = NEW_ARRAY(arena, const char *, count);
    int error = write_objects(folder, request, data, paths, &count);
    if (error != 0) {
        *out_message =
            str_format(arena, "could not write in %s: %s", folder->path, strerror(error)).data;
        return STATUS_environment;
    }
    *out_linked = str_format(arena, "%s/linked", folder->path).data;
    if (kind == ARTEFACT_object)
        return link_relocatable(arena, paths, count, folder->path, *out_linked, out_message);
    return link_shared(arena, paths, count, folder->path, *out_linked, "tcc_model_get_api",
                       out_message);
}

Status artefact_write(const ArtefactRequest *request, ArtefactKind kind, Arena *arena, Diags *diags,
                      Str path) {
    ElfObject data = {.arena = arena};
    Folder folder;
    const char *message = NULL, *linked = NULL;
    Status status = make_data(&data, request, arena, &message);
    if (status != STATUS_ok) {
        diag_error(diags, (Loc){0}, MSG_CANNOT_LINK, message == NULL ? "out of memory" : message);
        return status;
    }
    if (!make_folder(&folder, arena)) {
        diag_error(diags, (Loc){0}, MSG_CANNOT_WRITE, folder.path, strerror(errno));
        return STATUS_environment;
    }
    status = link_objects(&folder, request, kind, &data, &linked, &message);
    if (status != STATUS_ok)
        diag_error(diags, (Loc){0}, MSG_CANNOT_LINK, message);
    else
        status = publish(linked, kind, arena, diags, path);
    guard_undefer(&folder.defer);
    remove_folder(&folder);
    return status;
}
