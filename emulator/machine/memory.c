/* Memory of a device: one memfd, mapped twice. The device's addresses are a reserved range that
 * nobody can touch; the machine finds the byte at the same distance in the second mapping.
 *
 *     device  |..[ block ]..gap..[ block ]....|   PROT_NONE, but for pinned and managed blocks
 *     shadow  |..[ bytes ]......[ bytes ].....|   read and written by the machine
 *
 * Addresses are handed out next-fit, so that one that was freed comes back as late as possible, and
 * with a gap behind each block, so that running over an end leads nowhere. All blocks, live and
 * lately freed, are one array sorted by address. A new block pushes out the freed ones under it. */
#include "emulator/machine/memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    LEAST_ALIGN = 256,
    GAP = 256,
    PAGE = 4096,
    FREED_KEPT = 1024,
    POISON = 0xFF /* a NaN in every float type, -1 in every integer */
};

static const uint64_t RANGE_PER_CAPACITY = 4; /* addresses are cheaper than bytes */
static const uint64_t LEAST_RANGE = (uint64_t)64 << 20;
/* More than this is not filled: pages that nobody uses are to cost nothing. */
static const uint64_t POISON_MAX = (uint64_t)64 << 20;
/* A freed block this large gives its pages back; a smaller one is only poisoned. */
static const uint64_t PUNCH_MIN = (uint64_t)64 << 10;

typedef struct Record {
    EmuBlock block;
    uint64_t ended; /* when it was freed, in the order of allocations and frees */
    char *name;     /* block.name, ours */
} Record;

struct EmuMemory {
    pthread_rwlock_t lock;
    int file;
    uint64_t base, range, capacity;
    uint8_t *shadow;
    uint64_t cursor; /* where the next block is looked for */
    uint64_t clock;
    uint64_t used, live, freed; /* bytes of live ones, and how many of each */
    Record **records;           /* by address, none overlaps another */
    size_t count, room;
};

/* ---- the two mappings ------------------------------------------------------------------------ */

static uint64_t round_up(uint64_t value, uint64_t align) {
    return (value + align - 1) & ~(align - 1);
}

/* Addresses are a resource too: under a limit the device takes an eighth for each mapping. */
static uint64_t choose_range(uint64_t capacity) {
    uint64_t range = capacity * RANGE_PER_CAPACITY;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        range > limit.rlim_cur / 8)
        range = limit.rlim_cur / 8;
    return round_up(range < LEAST_RANGE ? LEAST_RANGE : range, PAGE);
}

static void *map_nothing(uint64_t range) {
    return mmap(NULL, range, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static bool map_both(EmuMemory *m, uint64_t range) {
    if (ftruncate(m->file, (off_t)range) != 0) return false;
    void *device = map_nothing(range);
    if (device == MAP_FAILED) return false;
    void *shadow =
        mmap(NULL, range, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, m->file, 0);
    if (shadow == MAP_FAILED) {
        munmap(device, range);
        return false;
    }
    madvise(shadow, range, MADV_DONTDUMP);
    m->base = (uint64_t)(uintptr_t)device;
    m->shadow = shadow;
    m->range = range;
    return true;
}

EmuMemory *emu_memory_new(uint64_t capacity) {
    EmuMemory *m = calloc(1, sizeof *m);
    if (m == NULL || capacity == 0 || capacity > UINT64_MAX / RANGE_PER_CAPACITY / 2) {
        free(m);
        return NULL;
    }
    m->file = memfd_create("device memory", MFD_CLOEXEC);
    uint64_t range = choose_range(capacity);
    while (m->file >= 0 && m->shadow == NULL && range >= LEAST_RANGE)
        if (!map_both(m, range)) range = round_up(range / 2, PAGE);
    if (m->shadow == NULL || pthread_rwlock_init(&m->lock, NULL) != 0) {
        emu_memory_free(m);
        return NULL;
    }
    m->capacity = capacity < m->range ? capacity : m->range;
    m->cursor = m->base + GAP;
    return m;
}

static void record_free(Record *record) {
    if (record == NULL) return;
    free(record->block.written);
    free(record->name);
    free(record);
}

void emu_memory_free(EmuMemory *m) {
    if (m == NULL) return;
    for (size_t i = 0; i < m->count; i++) record_free(m->records[i]);
    free(m->records);
    if (m->shadow != NULL) {
        munmap(m->shadow, m->range);
        munmap((void *)(uintptr_t)m->base, m->range);
        pthread_rwlock_destroy(&m->lock);
    }
    if (m->file >= 0) close(m->file);
    free(m);
}

/* Lets the host see the pages of a pinned or managed block, or takes them away again. */
static bool show_to_host(const EmuMemory *m, const EmuBlock *block, bool shown) {
    void *at = (void *)(uintptr_t)block->address;
    uint64_t size = round_up(block->size, PAGE);
    void *got = shown
                    ? mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
                           m->file, (off_t)(block->address - m->base))
                    : mmap(at, size, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    return got != MAP_FAILED;
}

static bool is_shared(EmuBlockKind kind) {
    return kind == EMU_BLOCK_host || kind == EMU_BLOCK_managed;
}

/* ---- the array of blocks --------------------------------------------------------------------- */

static uint64_t block_end(const EmuBlock *block) { return block->address + block->size; }

/* The first record that ends behind `address`. */
static size_t first_behind(const EmuMemory *m, uint64_t address) {
    size_t lo = 0, hi = m->count;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (block_end(&m->records[middle]->block) > address)
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

static void drop(EmuMemory *m, size_t i) {
    record_free(m->records[i]);
    m->count--;
    m->freed--;
    memmove(m->records + i, m->records + i + 1, (m->count - i) * sizeof *m->records);
}

/* Drops the freed blocks in the range; false when one of them lives. */
static bool clear_range(EmuMemory *m, uint64_t address, uint64_t end) {
    size_t i = first_behind(m, address);
    for (size_t j = i; j < m->count && m->records[j]->block.address < end; j++)
        if (m->records[j]->block.live) return false;
    while (i < m->count && m->records[i]->block.address < end) drop(m, i);
    return true;
}

static void drop_oldest(EmuMemory *m) {
    size_t oldest = m->count;
    for (size_t i = 0; i < m->count; i++) {
        if (m->records[i]->block.live) continue;
        if (oldest == m->count || m->records[i]->ended < m->records[oldest]->ended) oldest = i;
    }
    if (oldest < m->count) drop(m, oldest);
}

static bool make_room(EmuMemory *m) {
    if (m->count < m->room) return true;
    size_t room = m->room == 0 ? 64 : m->room * 2;
    Record **records = realloc(m->records, room * sizeof(Record *));
    if (records == NULL) return false;
    m->records = records;
    m->room = room;
    return true;
}

/* Puts the record where it belongs; its range is clear and there is room. */
static void insert(EmuMemory *m, Record *record) {
    size_t i = first_behind(m, record->block.address);
    memmove(m->records + i + 1, m->records + i, (m->count - i) * sizeof *m->records);
    m->records[i] = record;
    m->count++;
    m->live++;
    record->block.live = true;
    record->block.serial = ++m->clock;
}

/* ---- allocation ------------------------------------------------------------------------------ */

/* The first place from `start` on that is free for `size` bytes and a gap; 0 when there is none. */
static uint64_t fit_from(const EmuMemory *m, uint64_t start, uint64_t size, uint64_t align) {
    uint64_t end = m->base + m->range, at = emu_place_barely(start, align);
    for (size_t i = first_behind(m, start > GAP ? start - GAP : 0); i < m->count; i++) {
        const EmuBlock *block = &m->records[i]->block;
        if (!block->live || block->address < m->base || block->address >= end) continue;
        if (at < block->address && block->address - at >= size + GAP) break;
        at = emu_place_barely(block_end(block) + GAP, align);
    }
    return at < end && end - at >= size + GAP ? at : 0;
}

static uint64_t fit(const EmuMemory *m, uint64_t size, uint64_t align) {
    uint64_t at = fit_from(m, m->cursor, size, align);
    return at != 0 ? at : fit_from(m, m->base + GAP, size, align);
}

static Record *record_new(uint64_t size, EmuBlockKind kind, const char *name) {
    Record *record = calloc(1, sizeof *record);
    if (record == NULL) return NULL;
    record->block.size = size;
    record->block.kind = kind;
    bool ok = true;
    if (name != NULL) {
        record->name = strdup(name);
        record->block.name = record->name;
        ok = record->name != NULL;
    }
    if (ok && kind == EMU_BLOCK_device) { /* large ones take no pages until they are marked */
        record->block.written = calloc(1, (size_t)(size / 8 + 1));
        ok = record->block.written != NULL;
    }
    if (ok) return record;
    record_free(record);
    return NULL;
}

static void poison(const EmuBlock *block) {
    uint64_t size = block->size < POISON_MAX ? block->size : POISON_MAX;
    memset(block->bytes, block->kind == EMU_BLOCK_module ? 0 : POISON, size);
}

/* Under the lock. `size` is what the caller asked for, `align` includes what the kind needs. */
static uint64_t place(EmuMemory *m, Record *record, uint64_t align) {
    EmuBlock *block = &record->block;
    uint64_t whole = is_shared(block->kind) ? round_up(block->size, PAGE) : block->size;
    if (whole > m->capacity - m->used || !make_room(m)) return 0;
    block->address = fit(m, whole, align);
    if (block->address == 0) return 0;
    block->bytes = m->shadow + (block->address - m->base);
    if (is_shared(block->kind) && !show_to_host(m, block, true)) return 0;
    if (!clear_range(m, block->address, block->address + whole)) return 0;
    m->cursor = block->address + whole + GAP;
    m->used += block->size;
    poison(block);
    insert(m, record);
    return block->address;
}

uint64_t emu_memory_allocate(EmuMemory *m, uint64_t size, uint64_t align, EmuBlockKind kind,
                             const char *name) {
    if (size == 0 || size > m->capacity || (align & (align - 1)) != 0) return 0;
    if (align < LEAST_ALIGN && kind != EMU_BLOCK_module) align = LEAST_ALIGN;
    if (align == 0) align = 1;
    if (is_shared(kind) && align < PAGE) align = PAGE;
    if (align > m->range) return 0;
    Record *record = record_new(size, kind, name);
    if (record == NULL) return 0;
    pthread_rwlock_wrlock(&m->lock);
    uint64_t address = place(m, record, align);
    pthread_rwlock_unlock(&m->lock);
    if (address == 0) record_free(record);
    return address;
}

bool emu_memory_register(EmuMemory *m, void *host, uint64_t size) {
    uint64_t address = (uint64_t)(uintptr_t)host;
    if (host == NULL || size == 0 || size > UINT64_MAX - address) return false;
    Record *record = record_new(size, EMU_BLOCK_host, NULL);
    if (record == NULL) return false;
    record->block.address = address;
    record->block.bytes = host;
    pthread_rwlock_wrlock(&m->lock);
    bool clear = make_room(m) && clear_range(m, address, address + size);
    if (clear) insert(m, record);
    pthread_rwlock_unlock(&m->lock);
    if (!clear) record_free(record);
    return clear;
}

/* ---- the end of a block ---------------------------------------------------------------------- */

static bool is_ours(const EmuMemory *m, const EmuBlock *block) {
    return block->address - m->base < m->range;
}

/* What is read after the end is neither the old bytes nor zeros, except in large blocks. */
static void give_back(EmuMemory *m, const EmuBlock *block) {
    if (is_shared(block->kind)) show_to_host(m, block, false);
    uint64_t offset = block->address - m->base;
    if (block->size < PUNCH_MIN || fallocate(m->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                             (off_t)offset, (off_t)block->size) != 0)
        memset(block->bytes, POISON, block->size < POISON_MAX ? block->size : POISON_MAX);
    m->used -= block->size;
}

static bool end_block(EmuMemory *m, uint64_t address) {
    size_t i = first_behind(m, address);
    if (i == m->count) return false;
    Record *record = m->records[i];
    if (!record->block.live || record->block.address != address) return false;
    if (is_ours(m, &record->block)) give_back(m, &record->block);
    free(record->block.written);
    record->block.written = NULL;
    record->block.live = false;
    record->ended = ++m->clock;
    m->live--;
    if (++m->freed > FREED_KEPT) drop_oldest(m);
    return true;
}

bool emu_memory_release(EmuMemory *m, uint64_t address) {
    pthread_rwlock_wrlock(&m->lock);
    bool ended = end_block(m, address);
    pthread_rwlock_unlock(&m->lock);
    return ended;
}

/* ---- questions ------------------------------------------------------------------------------- */

/* The lock is only read through a const memory: it is no part of what the memory is. */
static pthread_rwlock_t *lock_of(const EmuMemory *m) { return &((EmuMemory *)(uintptr_t)m)->lock; }

bool emu_memory_find(const EmuMemory *m, uint64_t address, uint64_t size, EmuBlock *out_block) {
    pthread_rwlock_rdlock(lock_of(m));
    size_t i = first_behind(m, address);
    const EmuBlock *block = i < m->count ? &m->records[i]->block : NULL;
    bool found = block != NULL && block->address <= address && block_end(block) - address >= size;
    if (found) *out_block = *block;
    pthread_rwlock_unlock(lock_of(m));
    return found;
}

bool emu_memory_nearest(const EmuMemory *m, uint64_t address, EmuBlock *out_block) {
    pthread_rwlock_rdlock(lock_of(m));
    size_t i = first_behind(m, address);
    bool inside = i < m->count && m->records[i]->block.address <= address;
    bool found = inside || i > 0;
    if (found) *out_block = m->records[inside ? i : i - 1]->block;
    pthread_rwlock_unlock(lock_of(m));
    return found;
}

bool emu_memory_set_read_only(EmuMemory *m, uint64_t address, bool read_only) {
    pthread_rwlock_wrlock(&m->lock);
    size_t i = first_behind(m, address);
    bool found =
        i < m->count && m->records[i]->block.live && m->records[i]->block.address == address;
    if (found) m->records[i]->block.read_only = read_only;
    pthread_rwlock_unlock(&m->lock);
    return found;
}

void emu_block_mark_written(const EmuBlock *block, uint64_t address, uint64_t size) {
    if (block->written == NULL || size == 0) return;
    uint64_t first = address - block->address, last = first + size - 1;
    uint8_t *map = block->written;
    uint8_t head = (uint8_t)(0xFF << (first % 8)), tail = (uint8_t)(0xFF >> (7 - last % 8));
    if (first / 8 == last / 8) {
        __atomic_fetch_or(&map[first / 8], (uint8_t)(head & tail), __ATOMIC_RELAXED);
        return;
    }
    __atomic_fetch_or(&map[first / 8], head, __ATOMIC_RELAXED);
    memset(map + first / 8 + 1, 0xFF, last / 8 - first / 8 - 1);
    __atomic_fetch_or(&map[last / 8], tail, __ATOMIC_RELAXED);
}

static bool bit_of(const uint8_t *map, uint64_t i) { return (map[i / 8] >> i % 8 & 1) != 0; }

static void set_bit(uint8_t *map, uint64_t i, bool on) {
    uint8_t bit = (uint8_t)(1 << i % 8);
    if (on)
        __atomic_fetch_or(&map[i / 8], bit, __ATOMIC_RELAXED);
    else
        __atomic_fetch_and(&map[i / 8], (uint8_t)~bit, __ATOMIC_RELAXED);
}

void emu_block_copy_written(const EmuBlock *to, uint64_t to_address, const EmuBlock *from,
                            uint64_t from_address, uint64_t size) {
    if (to->written == NULL || from->written == NULL) {
        emu_block_mark_written(to, to_address, size);
        return;
    }
    uint64_t t = to_address - to->address, f = from_address - from->address, i = 0;
    while (i < size && (t + i) % 8 != 0)
        set_bit(to->written, t + i, bit_of(from->written, f + i)), i++;
    if ((f + i) % 8 == 0 && size - i >= 8) {
        memmove(to->written + (t + i) / 8, from->written + (f + i) / 8, (size - i) / 8);
        i += (size - i) / 8 * 8;
    }
    for (; i < size; i++) set_bit(to->written, t + i, bit_of(from->written, f + i));
}

bool emu_memory_owns(const EmuMemory *m, uint64_t address) {
    return address >= m->base && address - m->base < m->range;
}

uint64_t emu_memory_capacity(const EmuMemory *m) { return m->capacity; }

uint64_t emu_memory_used(const EmuMemory *m) {
    pthread_rwlock_rdlock(lock_of(m));
    uint64_t used = m->used;
    pthread_rwlock_unlock(lock_of(m));
    return used;
}

uint64_t emu_memory_blocks(const EmuMemory *m) {
    pthread_rwlock_rdlock(lock_of(m));
    uint64_t live = m->live;
    pthread_rwlock_unlock(lock_of(m));
    return live;
}
