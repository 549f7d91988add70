/* The cache of compiled units: cores by key, the least recently used ones forgotten first.
 *
 * It is an object of the host's, or of one compiler, because the library has no state of its own:
 * two parts of a program that do not know of each other share nothing. Each entry has one maker;
 * who asks for the same key meanwhile waits for it, so that threads that start with the same model
 * compile it once. */
#include "compiler/session.h"
#include "runtime/structs.h"

#include <string.h>
#include <time.h>

enum { BUCKETS = 256, LOOK_MS = 20 };

static const uint64_t usual_bytes = UINT64_C(256) << 20;
static const uint32_t usual_units = 64;

typedef struct Entry {
    CacheKey key;
    Core *core;          /* NULL while it is being made */
    struct Entry *chain; /* of its bucket */
    struct Entry *newer, *older;
} Entry;

struct tcc_cache {
    ArenaSource memory;
    atomic_int holds;
    uint32_t most_units;
    uint64_t most_bytes;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t made;
    Entry *buckets[BUCKETS];
    Entry *newest, *oldest;
    uint32_t units;
    tcc_cache_info counts;
};

/* ---- entries, under the lock ----------------------------------------------------------------- */

static Entry **find(tcc_cache *cache, const CacheKey *key) {
    Entry **at = &cache->buckets[key->bytes[0]];
    while (*at != NULL && memcmp(&(*at)->key, key, sizeof *key) != 0) at = &(*at)->chain;
    return at;
}

static void unlink_entry(tcc_cache *cache, Entry *entry) {
    *(entry->newer == NULL ? &cache->newest : &entry->newer->older) = entry->older;
    *(entry->older == NULL ? &cache->oldest : &entry->older->newer) = entry->newer;
}

static void link_newest(tcc_cache *cache, Entry *entry) {
    entry->newer = NULL;
    entry->older = cache->newest;
    *(cache->newest == NULL ? &cache->oldest : &cache->newest->newer) = entry;
    cache->newest = entry;
}

/* Returns the core, which the caller releases once the lock is open: that may take long. */
static Core *remove_entry(tcc_cache *cache, Entry *entry) {
    Core *core = entry->core;
    *find(cache, &entry->key) = entry->chain;
    unlink_entry(cache, entry);
    cache->units -= core != NULL;
    source_release(&cache->memory, entry, sizeof *entry);
    return core;
}

static uint64_t bytes_of(const tcc_cache *cache) {
    uint64_t bytes = 0;
    for (const Entry *e = cache->newest; e != NULL; e = e->older)
        if (e->core != NULL) bytes += atomic_load(&e->core->bytes);
    return bytes;
}

/* The oldest entry, when there is more than may be; those in the making stay. */
static Core *remove_surplus(tcc_cache *cache) {
    if (cache->units <= cache->most_units && bytes_of(cache) <= cache->most_bytes) return NULL;
    Entry *entry = cache->oldest;
    while (entry != NULL && entry->core == NULL) entry = entry->newer;
    if (entry == NULL) return NULL;
    cache->counts.evicted++;
    return remove_entry(cache, entry);
}

/* What others make now; cores grow when their kernels are compiled, so this is looked at again and
 * again. Opens the lock. */
static void trim_and_unlock(tcc_cache *cache) {
    for (;;) {
        Core *core = remove_surplus(cache);
        if (core == NULL) break;
        pthread_mutex_unlock(&cache->lock);
        core_release(core);
        pthread_mutex_lock(&cache->lock);
    }
    pthread_mutex_unlock(&cache->lock);
}

/* ---- taking and putting ---------------------------------------------------------------------- */

/* Until something was made, or for a while, after which the caller looks whether it is stopped. */
static void wait_a_while(tcc_cache *cache) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&cache->made, &cache->lock, &until);
    pthread_mutex_unlock(&cache->lock);
    guard_poll();
    pthread_mutex_lock(&cache->lock);
}

static bool begin_making(tcc_cache *cache, const CacheKey *key) {
    Entry *entry = source_new(&cache->memory, sizeof *entry);
    if (entry == NULL) return false;
    entry->key = *key;
    *find(cache, key) = entry;
    link_newest(cache, entry);
    cache->counts.misses++;
    return true;
}

Core *cache_take(tcc_cache *cache, const CacheKey *key) {
    pthread_mutex_lock(&cache->lock);
    Entry *entry;
    while ((entry = *find(cache, key)) != NULL && entry->core == NULL) wait_a_while(cache);
    Core *core = entry == NULL ? NULL : entry->core;
    bool good = true;
    if (core == NULL) {
        good = begin_making(cache, key);
    } else {
        core_hold(core);
        cache->counts.hits++;
        unlink_entry(cache, entry);
        link_newest(cache, entry);
    }
    pthread_mutex_unlock(&cache->lock);
    if (!good) guard_raise(GUARD_memory, "out of memory");
    return core;
}

void cache_put(tcc_cache *cache, const CacheKey *key, Core *core) {
    core_hold(core);
    pthread_mutex_lock(&cache->lock);
    Entry *entry = *find(cache, key);
    require(entry != NULL && entry->core == NULL);
    entry->core = core;
    cache->units++;
    pthread_cond_broadcast(&cache->made);
    trim_and_unlock(cache);
}

void cache_abandon(tcc_cache *cache, const CacheKey *key) {
    pthread_mutex_lock(&cache->lock);
    Entry *entry = *find(cache, key);
    if (entry != NULL && entry->core == NULL) remove_entry(cache, entry);
    pthread_cond_broadcast(&cache->made);
    pthread_mutex_unlock(&cache->lock);
}

void cache_drop(tcc_cache *cache, const CacheKey *key, const Core *core) {
    Core *removed = NULL;
    pthread_mutex_lock(&cache->lock);
    Entry *entry = *find(cache, key);
    if (entry != NULL && entry->core == core) removed = remove_entry(cache, entry);
    cache->counts.hits--;
    pthread_mutex_unlock(&cache->lock);
    core_release(removed);
}

uint64_t cache_most_bytes(const tcc_cache *cache) { return cache->most_bytes; }
ArenaSource cache_memory(const tcc_cache *cache) { return cache->memory; }

/* ---- the handle ------------------------------------------------------------------------------ */

void cache_hold(tcc_cache *cache) { atomic_fetch_add(&cache->holds, 1); }

tcc_cache *cache_new(const ArenaSource *memory, uint32_t units, uint64_t bytes) {
    tcc_cache *cache = source_new(memory, sizeof *cache);
    if (cache == NULL) return NULL;
    cache->memory = *memory;
    cache->most_units = units > 0 ? units : usual_units;
    cache->most_bytes = bytes > 0 ? bytes : usual_bytes;
    atomic_init(&cache->holds, 1);
    pthread_mutex_init(&cache->lock, NULL);
    pthread_cond_init(&cache->made, NULL);
    return cache;
}

/* Dumps are made by compiling, so whoever wants some compiles. */
tcc_cache *compiler_cache(tcc_compiler *compiler) {
    const Options *o = &compiler->options;
    bool dumps = o->dump_letters.size > 0 || o->dump_after.size > 0 || o->dump_dir.size > 0;
    if (o->cache_units == 0 || dumps) return NULL;
    if (compiler->shared_cache) return compiler->cache;
    if (compiler->cache == NULL) compiler->cache = cache_new(&compiler->memory, o->cache_units, 0);
    if (compiler->cache == NULL) guard_raise(GUARD_memory, "out of memory");
    compiler->cache->most_units = o->cache_units;
    return compiler->cache;
}

void tcc_cache_clear(tcc_cache *cache) {
    if (cache == NULL) return;
    pthread_mutex_lock(&cache->lock);
    uint32_t most = cache->most_units;
    uint64_t evicted = cache->counts.evicted;
    cache->most_units = 0;
    trim_and_unlock(cache);
    pthread_mutex_lock(&cache->lock);
    cache->most_units = most;
    cache->counts.evicted = evicted;
    pthread_mutex_unlock(&cache->lock);
}

void tcc_cache_free(tcc_cache *cache) {
    if (cache == NULL || atomic_fetch_sub(&cache->holds, 1) != 1) return;
    ArenaSource memory = cache->memory;
    tcc_cache_clear(cache);
    pthread_cond_destroy(&cache->made);
    pthread_mutex_destroy(&cache->lock);
    source_release(&memory, cache, sizeof *cache);
}

tcc_status tcc_cache_new(const tcc_cache_options *options, tcc_cache **out_cache) {
    tcc_cache_options o = {0};
    ArenaSource memory;
    if (out_cache == NULL) return TCC_INVALID;
    *out_cache = NULL;
    if (!struct_take(&o, sizeof o, options, STRUCT_UPTO(tcc_cache_options, allocator)) ||
        !memory_of(o.allocator, &memory))
        return TCC_INVALID;
    *out_cache = cache_new(&memory, o.units, o.bytes);
    return *out_cache == NULL ? TCC_MEMORY : TCC_OK;
}

tcc_status tcc_cache_get_info(tcc_cache *cache, tcc_cache_info *out_info) {
    if (cache == NULL || out_info == NULL) return TCC_INVALID;
    pthread_mutex_lock(&cache->lock);
    tcc_cache_info info = cache->counts;
    info.units = cache->units;
    info.bytes = bytes_of(cache);
    pthread_mutex_unlock(&cache->lock);
    size_t least = STRUCT_UPTO(tcc_cache_info, evicted);
    return struct_give(out_info, &info, sizeof info, least) ? TCC_OK : TCC_INVALID;
}
