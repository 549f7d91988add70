/* The table of tensors and the storages that their bytes lie in. */
#include "base/map.h"
#include "base/messages.h"
#include "base/vec.h"
#include "frontend/weights/load.h"
#include "frontend/weights/source.h"

#include <stdatomic.h>
#include <string.h>

/* The storage itself and all converted bytes are in its own arena. */
struct WeightStorage {
    Arena *arena;
    FileBytes bytes;
    atomic_uint references;
};

struct WeightTable {
    Arena *arena;
    VEC(Weight *) weights;
    VEC(WeightStorage *) storages;
    VEC(WeightSource) sources;
    Map by_name;
};

enum { LABEL_BYTES = 100, UNUSED_NAMED = 5 };

WeightTable *weights_new(Arena *arena) {
    WeightTable *table = NEW(arena, WeightTable);
    table->arena = arena;
    table->by_name.arena = arena;
    return table;
}

void weights_free(WeightTable *table) {
    for (size_t i = 0; i < table->storages.count; i++) {
        weight_storage_release(table->storages.data[i]);
    }
    table->storages.count = 0;
}

Arena *weight_table_arena(const WeightTable *table) { return table->arena; }

/* The room in the table comes first: nothing may raise between making a storage and keeping it. */
WeightStorage *weight_table_add_storage(WeightTable *table) {
    vec_push(table->arena, &table->storages, NULL);
    table->storages.count--;
    Arena *arena = arena_new(NULL);
    WeightStorage *storage = NEW(arena, WeightStorage);
    storage->arena = arena;
    atomic_init(&storage->references, 1);
    table->storages.data[table->storages.count++] = storage;
    return storage;
}

FileBytes *weight_storage_bytes(WeightStorage *storage) { return &storage->bytes; }

WeightStorage *weight_storage_retain(WeightStorage *storage) {
    atomic_fetch_add_explicit(&storage->references, 1, memory_order_relaxed);
    return storage;
}

void weight_storage_release(void *object) {
    WeightStorage *storage = object;
    if (atomic_fetch_sub_explicit(&storage->references, 1, memory_order_acq_rel) != 1) return;
    file_release(storage->bytes);
    arena_free(storage->arena);
}

void *weight_storage_alloc(WeightStorage *storage, size_t size) {
    return arena_alloc(storage->arena, size);
}

void weight_table_add_source(WeightTable *table, Str path, const void *bytes, size_t size) {
    vec_push(table->arena, &table->sources, (WeightSource){path, bytes, size});
}

size_t weights_source_count(const WeightTable *table) { return table->sources.count; }

const WeightSource *weights_source_at(const WeightTable *table, size_t index) {
    return &table->sources.data[index];
}

void *weight_file_alloc(WeightFile *file, size_t size) {
    return weight_storage_alloc(file->storage, size);
}

void weight_table_enter(WeightTable *table, Weight *weight) {
    vec_push(table->arena, &table->weights, weight);
    map_set(&table->by_name, weight->name, weight);
}

Weight *weights_find(const WeightTable *table, Str name) { return map_get(&table->by_name, name); }

void weights_forget(WeightTable *table, Str name) {
    Weight *weight = weights_find(table, name);
    if (!weight) return;
    weight->used = true;
    map_set(&table->by_name, name, NULL);
}

size_t weights_count(const WeightTable *table) { return table->weights.count; }

Weight *weights_at(const WeightTable *table, size_t index) { return table->weights.data[index]; }

const char *weight_label(Arena *arena, Str name) {
    Buf buf = {.arena = arena};
    while (name.size && buf.size < LABEL_BYTES) {
        size_t taken = buf_escaped_char(&buf, name);
        name = (Str){name.data + taken, name.size - taken};
    }
    if (name.size) buf_put(&buf, STR("..."));
    return buf_str(&buf).data;
}

bool weight_shape_size(DType dtype, uint32_t rank, const int64_t *dims, uint64_t *out_size) {
    int64_t product = dtype_info(dtype)->bits / 8;
    bool empty = false;
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] < 0) return false;
        empty = empty || dims[i] == 0;
        if (dims[i] && __builtin_mul_overflow(product, dims[i], &product)) return false;
    }
    *out_size = empty ? 0 : (uint64_t)product;
    return true;
}

static bool check_name(WeightFile *file, const Weight *weight) {
    Str name = weight->name;
    bool good = name.size <= WEIGHT_MAX_NAME && str_is_utf8(name) &&
                !(name.size && memchr(name.data, '\0', name.size));
    if (!good) {
        diag_error(file->diags, file->loc, MSG_WEIGHT_NAME, (unsigned long long)weight->offset,
                   weight_label(file->arena, name), WEIGHT_MAX_NAME);
        return false;
    }
    const Weight *other = weights_find(file->table, name);
    if (!other) return true;
    diag_error(file->diags, file->loc, MSG_WEIGHT_TWICE, (unsigned long long)weight->offset,
               weight_label(file->arena, name),
               weight_label(file->arena, diags_file_path(file->diags, other->file)),
               (unsigned long long)other->offset);
    return false;
}

size_t weight_bad_bool(const unsigned char *bytes, size_t size) {
    size_t i = 0;
    while (i < size && bytes[i] <= 1) i++;
    return i;
}

static bool check_bools(WeightFile *file, const Weight *weight) {
    if (weight->dtype != DT_bool) return true;
    const unsigned char *bytes = weight->bytes;
    size_t bad = weight_bad_bool(bytes, weight->size);
    if (bad == weight->size) return true;
    diag_error(file->diags, file->loc, MSG_WEIGHT_BOOL, (unsigned long long)weight->offset,
               weight_label(file->arena, weight->name), bytes[bad], bad);
    return false;
}

Status weight_file_add(WeightFile *file, const Weight *weight) {
    if (!check_name(file, weight) || !check_bools(file, weight)) return STATUS_invalid;
    Weight *added = arena_copy(file->arena, weight, sizeof *weight);
    added->name = str_copy(file->arena, weight->name);
    added->storage = file->storage;
    added->file = file->loc.file;
    if ((uintptr_t)weight->bytes % (dtype_info(weight->dtype)->bits / 8)) {
        added->bytes = arena_copy(file->storage->arena, weight->bytes, weight->size);
    }
    weight_table_enter(file->table, added);
    return STATUS_ok;
}

size_t weights_put_unused(const WeightTable *table, Buf *names) {
    size_t unused = 0;
    for (size_t i = 0; i < table->weights.count; i++) {
        const Weight *weight = table->weights.data[i];
        if (weight->used || unused++ >= UNUSED_NAMED) continue;
        buf_print(names, "%s\"%s\"", names->size ? ", " : "",
                  weight_label(table->arena, weight->name));
    }
    if (unused > UNUSED_NAMED) buf_put(names, STR(", ..."));
    return unused;
}

void weights_warn_unused(const WeightTable *table, Diags *diags, Loc loc) {
    Buf names = {.arena = table->arena};
    size_t unused = weights_put_unused(table, &names);
    if (unused)
        diag_warning(diags, loc, MSG_WEIGHTS_UNUSED, unused, weights_count(table), names.data);
}
