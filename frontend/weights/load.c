/* From a path to a reader: files by their suffix, or else by how they begin; folders file by file.
 */
#include "frontend/weights/load.h"

#include "base/messages.h"
#include "base/sha256.h"
#include "base/vec.h"
#include "frontend/weights/source.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* Files are copied into memory, so that nothing another process does to them afterwards matters,
 * until a copy might not fit: larger ones are mapped. */
static const uint64_t map_from = UINT64_C(1) << 30;
static const uint64_t file_limit = UINT64_C(1) << 46;

typedef struct Format {
    const char *suffix;
    const char *magic; /* NULL: none that tells it from others */
    Status (*read)(WeightFile *file);
} Format;

static const Format formats[] = {
    {".safetensors", NULL, weights_read_safetensors},
    {".npz", "PK", weights_read_npz},
    {".npy", "\x93NUMPY", weights_read_npy},
};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

static const Format *format_by_suffix(Str path) {
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (str_ends_with(path, str_from(formats[i].suffix))) return &formats[i];
    }
    return NULL;
}

static const Format *format_by_content(FileBytes bytes) {
    Str content = {(const char *)bytes.data, bytes.size};
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        const char *magic = formats[i].magic;
        if (magic && str_starts_with(content, str_from(magic))) return &formats[i];
    }
    bool header = content.size > 8 && content.data[8] == '{';
    return header ? &formats[0] : NULL;
}

static Str stem_of(Str path, const Format *format) {
    Str suffix = str_from(format->suffix);
    if (str_ends_with(path, suffix)) path.size -= suffix.size;
    size_t start = path.size;
    while (start && path.data[start - 1] != '/') start--;
    return (Str){path.data + start, path.size - start};
}

static Status load_file(WeightTable *table, Diags *diags, Loc loc, Str path) {
    WeightStorage *storage = weight_table_add_storage(table);
    FileBytes *bytes = weight_storage_bytes(storage);
    TRY(file_load(diags, loc, path, file_limit, map_from, bytes));
    weight_table_add_source(table, path, bytes->data, bytes->size);
    const Format *format = format_by_suffix(path);
    if (!format) format = format_by_content(*bytes);
    if (!format) {
        diag_error(diags, loc, MSG_WEIGHTS_FORMAT, STR_ARG(path));
        return STATUS_invalid;
    }
    WeightFile file = {.table = table, .arena = weight_table_arena(table), .diags = diags};
    file.loc = (Loc){.file = diags_add_file(diags, path, STR(""))};
    file.stem = stem_of(path, format);
    file.storage = storage;
    file.data = bytes->data;
    file.size = bytes->size;
    Status status = format->read(&file);
    if (status != STATUS_ok && loc.file) diag_note(diags, loc, MSG_WEIGHTS_NAMED_HERE);
    return status;
}

typedef VEC(Str) Names;

static int order_names(const void *a, const void *b) {
    return str_compare(*(const Str *)a, *(const Str *)b);
}

/* The names of the weight files in a folder, sorted; hidden ones do not count. */
static void list_folder(Arena *arena, DIR *folder, Names *names) {
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        Str name = str_from(entry->d_name);
        if (name.data[0] == '.' || !format_by_suffix(name)) continue;
        vec_push(arena, names, str_copy(arena, name));
    }
    if (names->count) qsort(names->data, names->count, sizeof *names->data, order_names);
}

/* The names as one text, each with a zero behind it. */
static Str join_names(Arena *arena, const Names *names) {
    Buf buf = {.arena = arena};
    for (size_t i = 0; i < names->count; i++) {
        buf_put(&buf, names->data[i]);
        buf_char(&buf, 0);
    }
    return buf_str(&buf);
}

static void close_folder(void *folder) { closedir(folder); }

/* Closes the folder. */
static Names take_names(Arena *arena, DIR *folder) {
    Names names = {0};
    GuardDefer defer;
    guard_defer(&defer, close_folder, folder);
    list_folder(arena, folder, &names);
    guard_undefer(&defer);
    closedir(folder);
    return names;
}

static Status load_folder(WeightTable *table, Diags *diags, Loc loc, Str path, DIR *folder) {
    Arena *arena = weight_table_arena(table);
    Names names = take_names(arena, folder);
    Str listed = join_names(arena, &names);
    weight_table_add_source(table, path, listed.data, listed.size);
    if (!names.count) {
        diag_error(diags, loc, MSG_WEIGHTS_EMPTY_FOLDER, STR_ARG(path));
        return STATUS_invalid;
    }
    Status status = STATUS_ok;
    const char *slash = str_ends_with(path, STR("/")) ? "" : "/";
    for (size_t i = 0; i < names.count; i++) {
        Str file = str_format(arena, "%.*s%s%.*s", STR_ARG(path), slash, STR_ARG(names.data[i]));
        Status one = load_file(table, diags, loc, file);
        if (status == STATUS_ok) status = one;
    }
    return status;
}

static DIR *open_folder(Arena *arena, Str path) {
    bool plain = path.size && !memchr(path.data, '\0', path.size);
    return plain ? opendir(str_terminated(arena, path)) : NULL;
}

Status weights_load(WeightTable *table, Diags *diags, Loc loc, Str path) {
    DIR *folder = open_folder(weight_table_arena(table), path);
    if (folder) return load_folder(table, diags, loc, path, folder);
    return load_file(table, diags, loc, path);
}

Status weights_digest(Arena *arena, Diags *diags, Str path, uint8_t out_digest[32]) {
    DIR *folder = open_folder(arena, path);
    if (folder) {
        Names names = take_names(arena, folder);
        Str listed = join_names(arena, &names);
        sha256(listed.data, listed.size, out_digest);
        return STATUS_ok;
    }
    return file_digest(arena, diags, (Loc){0}, path, file_limit, out_digest);
}
