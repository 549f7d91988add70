/* ld.global.nc may read through a cache that nobody keeps up to date: what a launch reads so it
 * must not write. Of every block that is read so or written, a bit a word says that it was. */
#include "emulator/check/check.h"

static ReadOnly *record_make(CheckObserver *o, const EmuBlock *block) {
    size_t words = block->size / 4 / 32 + 1;
    ReadOnly *r = NEW(o->arena, ReadOnly);
    *r = (ReadOnly){.address = block->address, .size = block->size, .next = o->read_only};
    r->read = NEW_ARRAY(o->arena, uint32_t, words);
    r->written = NEW_ARRAY(o->arena, uint32_t, words);
    o->read_only = r;
    return r;
}

static ReadOnly *record_of(CheckObserver *o, uint64_t address) {
    for (ReadOnly *r = o->read_only; r; r = r->next)
        if (address - r->address < r->size) return r;
    EmuBlock block;
    if (!emu_memory_find(o->setup.memory, address, 1, &block)) return NULL;
    return record_make(o, &block);
}

/* Sets the bit of every word; whether the other set has one of them. */
static bool mark(uint32_t *mine, const uint32_t *others, uint64_t at, uint64_t size) {
    bool both = false;
    for (uint64_t word = at / 4; word <= (at + size - 1) / 4; word++) {
        mine[word / 32] |= 1u << word % 32;
        both |= others[word / 32] >> word % 32 & 1;
    }
    return both;
}

/* One lane, under the lock; whether it found a word that is read as constant and written. */
static bool touch(CheckObserver *o, const ObserveAccess *a, uint32_t lane, bool read_as_constant,
                  Place *out_other) {
    ReadOnly *r = record_of(o, a->addresses[lane]);
    if (!r) return false;
    uint64_t at = a->addresses[lane] - r->address;
    Place *first = read_as_constant ? &r->read_at : &r->written_at;
    if (!first->function) *first = place_of(&a->site, lane);
    *out_other = read_as_constant ? r->written_at : r->read_at;
    return read_as_constant ? mark(r->read, r->written, at, a->size)
                            : mark(r->written, r->read, at, a->size);
}

void read_only_access(ObserverCta *cta, const ObserveAccess *a, bool read_as_constant) {
    CheckObserver *o = check_of(cta->observer);
    Finding f = {.kind = EMU_FINDING_read_only_race, .space = PTX_SPACE_global, .size = a->size};
    if (a->kind == OBSERVE_load && !read_as_constant) return;
    check_lock(o);
    for (uint32_t rest = a->site.lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        Place other = {0};
        if (!touch(o, a, lane, read_as_constant, &other)) continue;
        f.place = place_of(&a->site, lane);
        f.other = other;
        f.address = a->addresses[lane];
    }
    check_unlock(o);
    if (f.place.function) report(cta->observer, cta, &f);
}
