/* A hash map from byte strings to pointers, in an arena; insertion only, iterated in insertion
 * order so that everything that is printed from a map is deterministic. */
#ifndef TCC_BASE_MAP_H
#define TCC_BASE_MAP_H

#include "base/str.h"

typedef struct MapEntry {
    Str key;
    uint64_t hash;
    void *value;
} MapEntry;

typedef struct Map {
    Arena *arena;
    MapEntry *entries; /* in insertion order */
    size_t count, capacity;
    uint32_t *slots; /* entry index + 1; 0 is free */
    size_t slot_count;
} Map;

/* Zero-initialise a Map but for `arena`. */
void *map_get(const Map *map, Str key); /* NULL when absent */
/* Sets or replaces; the key's bytes are copied when it is new. Returns the old value or NULL. */
void *map_set(Map *map, Str key, void *value);

#endif
