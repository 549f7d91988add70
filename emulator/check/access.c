/* A memory instruction: is what it reads written, and in order with who touched it before? */
#include "emulator/check/check.h"

#include <string.h>

/* ---- global memory --------------------------------------------------------------------------- */

static const EmuBlock *block_of(ObserverCta *cta, uint64_t address) {
    for (int i = 0; i < 4; i++) {
        const EmuBlock *b = &cta->blocks[i];
        if (address - b->address < b->size) return b;
    }
    EmuBlock *fresh = &cta->blocks[cta->block_next++ % 4];
    const EmuMemory *memory = check_of(cta->observer)->setup.memory;
    if (!emu_memory_find(memory, address, 1, fresh)) *fresh = (EmuBlock){0};
    return fresh->size ? fresh : NULL;
}

/* CTAs on other threads may mark bytes of the same word as written. */
static uint8_t byte_of(const uint8_t *bits, uint64_t at) {
    return __atomic_load_n(&bits[at / 8], __ATOMIC_RELAXED);
}

static bool any_bit(const uint8_t *bits, uint64_t at, uint64_t size) {
    for (uint64_t i = at; i < at + size; i++)
        if (byte_of(bits, i) >> i % 8 & 1) return true;
    return false;
}

static bool any_written(const EmuBlock *block, uint64_t address, uint64_t size) {
    if (!block || !block->written) return true;
    uint64_t at = address - block->address;
    if (at % 8 == 0 && byte_of(block->written, at)) return true;
    return any_bit(block->written, at, size);
}

uint32_t global_unwritten(ObserverCta *cta, uint32_t lanes, const uint64_t *addresses,
                          const uint32_t *sizes, uint32_t size) {
    uint32_t unwritten = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t bytes = sizes ? sizes[lane] : size;
        if (!bytes) continue;
        const EmuBlock *block = block_of(cta, addresses[lane]);
        if (!any_written(block, addresses[lane], bytes)) unwritten |= 1u << lane;
    }
    return unwritten;
}

/* Neighbouring lanes that write neighbouring bytes are marked together. */
static void mark_global(ObserverCta *cta, const ObserveAccess *a) {
    uint64_t first = 0, end = 0;
    for (uint32_t rest = a->site.lanes; rest; rest &= rest - 1) {
        uint64_t address = a->addresses[__builtin_ctz(rest)];
        if (address != end) {
            const EmuBlock *block = end ? block_of(cta, first) : NULL;
            if (block && block->written) emu_block_mark_written(block, first, end - first);
            first = address;
        }
        end = address + a->size;
    }
    const EmuBlock *block = end ? block_of(cta, first) : NULL;
    if (block && block->written) emu_block_mark_written(block, first, end - first);
}

static uint32_t access_global(ObserverCta *cta, const ObserveAccess *a) {
    uint32_t unwritten = 0;
    if (a->kind != OBSERVE_store)
        unwritten = global_unwritten(cta, a->site.lanes, a->addresses, NULL, a->size);
    if (a->kind == OBSERVE_load) return unwritten;
    mark_global(cta, a);
    if (cta->copies_under_way) copies_check_source(cta, a);
    return unwritten;
}

/* ---- local memory ---------------------------------------------------------------------------- */

static uint8_t *local_bits(ObserverCta *cta, uint32_t thread, uint64_t end) {
    if (end > cta->local_bytes[thread]) {
        uint32_t bytes = cta->local_bytes[thread] ? 2 * cta->local_bytes[thread] : 256;
        while (bytes < end) bytes *= 2;
        uint8_t *larger = NEW_ARRAY(cta->arena, uint8_t, bytes / 8);
        if (cta->local_bytes[thread])
            memcpy(larger, cta->local_written[thread], cta->local_bytes[thread] / 8);
        cta->local_written[thread] = larger;
        cta->local_bytes[thread] = bytes;
    }
    return cta->local_written[thread];
}

static uint32_t access_local(ObserverCta *cta, const ObserveAccess *a) {
    uint32_t unwritten = 0;
    for (uint32_t rest = a->site.lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        uint64_t at = a->addresses[lane];
        uint8_t *bits = local_bits(cta, a->site.warp * CLOCK_LANES + lane, at + a->size);
        if (a->kind == OBSERVE_load) {
            if (!any_bit(bits, at, a->size)) unwritten |= 1u << lane;
        } else {
            for (uint64_t i = at; i < at + a->size; i++) bits[i / 8] |= (uint8_t)(1u << i % 8);
        }
    }
    return unwritten;
}

/* ---- shared memory --------------------------------------------------------------------------- */

static void report_race(ObserverCta *cta, ShadowAccess kind, ShadowAccess earlier_kind,
                        const Epoch *earlier, const Place *place, uint32_t at, uint32_t size) {
    bool both_write = kind != SHADOW_read && earlier_kind == SHADOW_write;
    Finding f = {.kind = both_write ? EMU_FINDING_race_write_write : EMU_FINDING_race_read_write,
                 .place = *place,
                 .other = sites_place(cta, earlier),
                 .space = PTX_SPACE_shared,
                 .address = at,
                 .size = size};
    report(cta->observer, cta, &f);
}

void report_owned(ObserverCta *cta, uint32_t owner, const Place *place, uint32_t at,
                  uint32_t size) {
    Finding f = {.kind = EMU_FINDING_mbarrier_access,
                 .place = *place,
                 .space = PTX_SPACE_shared,
                 .address = at,
                 .size = size};
    if (owner == SHADOW_NOBODY) {
        f.kind = EMU_FINDING_between_variables;
    } else if (owner != SHADOW_MBARRIER) {
        f.kind = EMU_FINDING_copy_destination;
        f.other = cta->copies.data[owner - 1].place;
    }
    report(cta->observer, cta, &f);
}

void shared_touch(ObserverCta *cta, ShadowAccess kind, const Epoch *self, uint32_t lane,
                  const Place *place, uint32_t at, uint32_t size) {
    Epoch earlier;
    ShadowAccess earlier_kind;
    if (shadow_access(&cta->shadow, &cta->clocks, kind, lane, self, at, size, &earlier,
                      &earlier_kind))
        report_race(cta, kind, earlier_kind, &earlier, place, at, size);
}

static uint32_t access_shared(ObserverCta *cta, const ObserveAccess *a) {
    ShadowAccess kind = a->kind == OBSERVE_load ? SHADOW_read : SHADOW_write;
    bool owned = cta->copies_under_way || cta->mbarriers || cta->gaps;
    uint32_t unwritten = 0;
    Epoch self = {.time = clocks_tick(&cta->clocks, a->site.warp),
                  .lanes = a->site.lanes,
                  .site = sites_number(cta, a->site.function, a->site.instruction),
                  .warp = (uint8_t)a->site.warp,
                  .strong = a->order != OBSERVE_weak || a->kind == OBSERVE_atomic};
    uint32_t left = a->site.lanes;
    if (!self.strong)
        left = shadow_access_quickly(&cta->shadow, &cta->clocks, kind, &self, a->addresses, a->size,
                                     &unwritten);
    for (uint32_t rest = left; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest), at = (uint32_t)a->addresses[lane];
        Place place = place_of(&a->site, lane);
        uint32_t owner = owned ? shadow_copy(&cta->shadow, at, a->size) : 0;
        if (owner) report_owned(cta, owner, &place, at, a->size);
        if (a->kind != OBSERVE_store && !any_bit(cta->shadow.written, at, a->size))
            unwritten |= 1u << lane;
        if (a->kind != OBSERVE_load) shadow_set_written(&cta->shadow, at, a->size);
        if (!owner) shared_touch(cta, kind, &self, lane, &place, at, a->size);
    }
    return unwritten;
}

/* ---- atomics --------------------------------------------------------------------------------- */

/* What an atomic operation leaves follows from what was there, unless it only exchanges. */
static void check_changed(ObserverCta *cta, const ObserveAccess *a, uint32_t unwritten) {
    const PtxInstruction *instruction = &a->site.function->instructions[a->site.instruction];
    if (unwritten == 0 || ptx_has(&instruction->modifiers, PTX_MOD_exch)) return;
    uint32_t lane = (uint32_t)__builtin_ctz(unwritten);
    Finding f = {.kind = EMU_FINDING_uninitialised_atomic,
                 .place = place_of(&a->site, lane),
                 .space = a->space,
                 .address = a->addresses[lane],
                 .size = a->size};
    report(cta->observer, cta, &f);
}

/* ---- the event ------------------------------------------------------------------------------- */

static bool is_read_as_constant(const ObserveAccess *a) {
    return ptx_has(&a->site.function->instructions[a->site.instruction].modifiers, PTX_MOD_nc);
}

static uint32_t access_by_space(ObserverCta *cta, const ObserveAccess *a) {
    switch (a->space) {
    case PTX_SPACE_shared: return access_shared(cta, a);
    case PTX_SPACE_local: return access_local(cta, a);
    case PTX_SPACE_global:
        if (check_of(cta->observer)->uses_read_only)
            read_only_access(cta, a, is_read_as_constant(a));
        if (!is_read_as_constant(a)) global_access(cta, a, NULL);
        global_order(cta, a->order, a->scope);
        return access_global(cta, a);
    default: return 0;
    }
}

uint32_t check_access(ObserverCta *cta, const ObserveAccess *a) {
    if (a->order != OBSERVE_weak || a->kind == OBSERVE_atomic) meetings_strong(cta, a);
    uint32_t unwritten = access_by_space(cta, a);
    if (a->kind == OBSERVE_atomic) check_changed(cta, a, unwritten);
    return unwritten;
}
