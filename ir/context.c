/* The context's tables: open addressing with linear probing, at most half full. */
#include "ir/context.h"

#include "base/guard.h"
#include "base/sha256.h"
#include "ir/intern.h"

#include <string.h>

const void *intern_find(const InternTable *table, uint64_t hash, InternEqual *equal,
                        const void *key) {
    if (!table->slot_count) return NULL;
    size_t mask = table->slot_count - 1;
    for (size_t at = (size_t)hash & mask; table->slots[at].item; at = (at + 1) & mask) {
        const InternSlot *slot = &table->slots[at];
        if (slot->hash == hash && equal(slot->item, key)) return slot->item;
    }
    return NULL;
}

static void put(InternSlot *slots, size_t slot_count, InternSlot slot) {
    size_t mask = slot_count - 1, at = (size_t)slot.hash & mask;
    while (slots[at].item) at = (at + 1) & mask;
    slots[at] = slot;
}

void intern_add(InternTable *table, Arena *arena, uint64_t hash, const void *item) {
    if (2 * (table->count + 1) > table->slot_count) {
        size_t slot_count = table->slot_count ? table->slot_count * 2 : 32;
        InternSlot *slots = NEW_ARRAY(arena, InternSlot, slot_count);
        for (size_t i = 0; i < table->slot_count; i++) {
            if (table->slots[i].item) put(slots, slot_count, table->slots[i]);
        }
        table->slots = slots;
        table->slot_count = slot_count;
    }
    put(table->slots, table->slot_count, (InternSlot){hash, item});
    table->count++;
}

IrContext *ir_context_new(Arena *arena) {
    IrContext *ctx = NEW(arena, IrContext);
    ctx->arena = arena;
    ctx->named_symbols.arena = arena;
    return ctx;
}

void ir_context_free(IrContext *ctx) {
    for (size_t i = 0; i < ctx->blob_list.count; i++) {
        const Blob *blob = ctx->blob_list.data[i];
        if (blob->release) blob->release(blob->owner);
    }
    ctx->blob_list.count = 0;
}

Arena *ir_context_arena(IrContext *ctx) { return ctx->arena; }

/* A list to look up, whose items are of one size. */
typedef struct ListKey {
    const void *items;
    uint32_t count;
} ListKey;

static bool ints_equal(const void *item, const void *key) {
    const IntList *list = item;
    const ListKey *wanted = key;
    if (list->count != wanted->count) return false;
    return !list->count || !memcmp(list->items, wanted->items, list->count * sizeof(int64_t));
}

const IntList *ir_ints(IrContext *ctx, const int64_t *items, uint32_t count) {
    ListKey key = {items, count};
    size_t size = count * sizeof *items;
    uint64_t hash = hash_bytes(count, items, size);
    const IntList *found = intern_find(&ctx->ints, hash, ints_equal, &key);
    if (found) return found;
    IntList *list = arena_alloc(ctx->arena, sizeof *list + size);
    list->count = count;
    if (count) memcpy(list->items, items, size);
    intern_add(&ctx->ints, ctx->arena, hash, list);
    return list;
}

int ints_find(const IntList *list, int64_t value) {
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] == value) return (int)i;
    return -1;
}

bool ints_are(const IntList *list, int64_t value) {
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] != value) return false;
    return true;
}

static bool dims_equal(const void *item, const void *key) {
    const DimList *list = item;
    const ListKey *wanted = key;
    if (list->count != wanted->count) return false;
    return !list->count || !memcmp(list->items, wanted->items, list->count * sizeof(const Dim *));
}

/* Hashed by the dims' ids, not their addresses, so that runs are alike. */
const DimList *ir_dims(IrContext *ctx, const Dim *const *items, uint32_t count) {
    ListKey key = {items, count};
    size_t size = count * sizeof *items;
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++) hash = hash_word(hash, items[i]->id);
    const DimList *found = intern_find(&ctx->dim_lists, hash, dims_equal, &key);
    if (found) return found;
    DimList *list = arena_alloc(ctx->arena, sizeof *list + size);
    list->count = count;
    if (count) memcpy(list->items, items, size);
    intern_add(&ctx->dim_lists, ctx->arena, hash, list);
    return list;
}

static bool string_equal(const void *item, const void *key) {
    return str_equal(*(const Str *)item, *(const Str *)key);
}

const Str *ir_string(IrContext *ctx, Str text) {
    uint64_t hash = str_hash(text);
    const Str *found = intern_find(&ctx->strings, hash, string_equal, &text);
    if (found) return found;
    Str *string = NEW(ctx->arena, Str);
    *string = str_copy(ctx->arena, text);
    intern_add(&ctx->strings, ctx->arena, hash, string);
    return string;
}

static bool blob_equal(const void *item, const void *key) {
    const Blob *blob = item, *wanted = key;
    if (blob->size != wanted->size) return false;
    return !blob->size || !memcmp(blob->bytes, wanted->bytes, blob->size);
}

static const Blob *add_blob(IrContext *ctx, Blob contents) {
    Blob *blob = NEW(ctx->arena, Blob);
    *blob = contents;
    blob->id = (uint32_t)ctx->blob_list.count;
    vec_push(ctx->arena, &ctx->blob_list, blob);
    intern_add(&ctx->blobs, ctx->arena, blob->hash, blob);
    return blob;
}

const Blob *ir_blob(IrContext *ctx, const void *bytes, size_t size) {
    Blob key = {.bytes = bytes, .size = size, .hash = hash_bytes(0, bytes, size)};
    const Blob *found = intern_find(&ctx->blobs, key.hash, blob_equal, &key);
    if (found) return found;
    key.bytes = arena_copy(ctx->arena, bytes, size);
    return add_blob(ctx, key);
}

const Blob *ir_blob_adopt(IrContext *ctx, const void *bytes, size_t size, void (*release)(void *),
                          void *owner) {
    Blob key = {bytes, size, hash_bytes(0, bytes, size), release, owner, 0};
    const Blob *found = intern_find(&ctx->blobs, key.hash, blob_equal, &key);
    if (!found) return add_blob(ctx, key);
    if (release) release(owner);
    return found;
}

void ir_blob_sha256(const Blob *blob, uint8_t out_digest[32]) {
    sha256(blob->bytes, blob->size, out_digest);
}
