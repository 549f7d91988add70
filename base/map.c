/* Open addressing with linear probing over indices into the entries, at most half full. */
#include "base/map.h"

#include "base/guard.h"

#include <string.h>

enum { MAP_FIRST_CAPACITY = 8 };

/* The slot of `key`, or the free slot where it would go. */
static size_t find_slot(const Map *map, Str key, uint64_t hash) {
    size_t mask = map->slot_count - 1;
    for (size_t slot = (size_t)hash & mask;; slot = (slot + 1) & mask) {
        if (!map->slots[slot]) return slot;
        const MapEntry *entry = &map->entries[map->slots[slot] - 1];
        if (entry->hash == hash && str_equal(entry->key, key)) return slot;
    }
}

static void grow(Map *map) {
    size_t capacity = map->capacity ? map->capacity * 2 : MAP_FIRST_CAPACITY;
    if (capacity > UINT32_MAX / 4) guard_raise(GUARD_memory, "a map of %zu entries", map->count);
    MapEntry *entries = NEW_ARRAY(map->arena, MapEntry, capacity);
    if (map->count) memcpy(entries, map->entries, map->count * sizeof *entries);
    map->entries = entries;
    map->capacity = capacity;
    map->slot_count = capacity * 2;
    map->slots = NEW_ARRAY(map->arena, uint32_t, map->slot_count);
    for (size_t i = 0; i < map->count; i++) {
        map->slots[find_slot(map, entries[i].key, entries[i].hash)] = (uint32_t)i + 1;
    }
}

void *map_get(const Map *map, Str key) {
    if (!map->count) return NULL;
    uint32_t index = map->slots[find_slot(map, key, str_hash(key))];
    return index ? map->entries[index - 1].value : NULL;
}

void *map_set(Map *map, Str key, void *value) {
    if (map->count == map->capacity) grow(map);
    uint64_t hash = str_hash(key);
    size_t slot = find_slot(map, key, hash);
    if (map->slots[slot]) {
        MapEntry *entry = &map->entries[map->slots[slot] - 1];
        void *old = entry->value;
        entry->value = value;
        return old;
    }
    map->entries[map->count] = (MapEntry){str_copy(map->arena, key), hash, value};
    map->slots[slot] = (uint32_t)++map->count;
    return NULL;
}
