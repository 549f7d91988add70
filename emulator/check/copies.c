/* cp.async: from its issue until a wait the words it will write belong to it, and what it reads
 * must stay as it is. Its write counts twice in the order of things: when it is issued, since from
 * then on nobody may still be reading what was there, and when its thread has waited, since only
 * from then on others can be told. */
#include "emulator/check/check.h"

static Epoch epoch_of(ObserverCta *cta, const Place *place, uint32_t lanes) {
    return (Epoch){.time = clocks_tick(&cta->clocks, place->warp),
                   .lanes = lanes,
                   .site = sites_number(cta, place->function, place->instruction),
                   .warp = (uint8_t)place->warp};
}

static uint32_t free_slot(ObserverCta *cta) {
    for (uint32_t i = 0; i < cta->copies.count; i++)
        if (cta->copies.data[i].lanes == 0) return i;
    Copy fresh = {.lanes = 0};
    vec_push(cta->arena, &cta->copies, fresh);
    return (uint32_t)cta->copies.count - 1;
}

static void add_bounds(ObserverCta *cta, const Copy *copy) {
    if (cta->copies_under_way == 0 || copy->least < cta->copy_least) cta->copy_least = copy->least;
    if (cta->copies_under_way == 0 || copy->end > cta->copy_end) cta->copy_end = copy->end;
}

static void fill_copy(Copy *copy, const ObserveCopy *c) {
    *copy =
        (Copy){.place = place_of(&c->site, CLOCK_LANES), .lanes = c->site.lanes, .size = c->size};
    copy->least = UINT64_MAX;
    for (uint32_t rest = c->site.lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t from = c->from[lane], end = from + c->from_size[lane];
        copy->to[lane] = (uint32_t)c->to[lane];
        copy->from[lane] = from;
        copy->from_size[lane] = c->from_size[lane];
        if (end > from && from < copy->least) copy->least = from;
        if (end > from && end > copy->end) copy->end = end;
    }
}

uint32_t check_copy_begin(ObserverCta *cta, const ObserveCopy *c) {
    uint32_t number = free_slot(cta);
    Copy *copy = &cta->copies.data[number];
    fill_copy(copy, c);
    const ObserveAccess read = {
        .site = c->site, .kind = OBSERVE_load, .space = PTX_SPACE_global, .addresses = c->from};
    global_access(cta, &read, c->from_size);
    copy->unwritten = global_unwritten(cta, c->site.lanes, c->from, c->from_size, 0);
    Epoch self = epoch_of(cta, &copy->place, c->site.lanes);
    uint32_t unwritten, left = shadow_access_quickly(&cta->shadow, &cta->clocks, SHADOW_claim,
                                                     &self, c->to, c->size, &unwritten);
    for (uint32_t rest = left; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest), at = copy->to[lane];
        Place place = place_of(&c->site, lane);
        uint32_t owner = shadow_copy(&cta->shadow, at, c->size);
        if (owner) report_owned(cta, owner, &place, at, c->size);
        shared_touch(cta, SHADOW_claim, &self, lane, &place, at, c->size);
    }
    for (uint32_t rest = c->site.lanes; rest; rest &= rest - 1)
        shadow_set_copy(&cta->shadow, copy->to[__builtin_ctz(rest)], c->size, number + 1);
    add_bounds(cta, copy);
    cta->copies_under_way++;
    return number;
}

static void report_abandoned(ObserverCta *cta, const ObserveSite *site, const Copy *copy,
                             uint32_t lanes) {
    uint32_t lane = (uint32_t)__builtin_ctz(lanes);
    Finding f = {.kind = EMU_FINDING_copy_abandoned,
                 .place = place_of(site, lane),
                 .other = copy->place,
                 .space = PTX_SPACE_shared,
                 .address = copy->to[lane],
                 .size = copy->size};
    f.other.lane = lane;
    report(cta->observer, cta, &f);
}

static uint32_t lanes_that_read(const Copy *copy, uint32_t lanes) {
    uint32_t reading = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        if (copy->from_size[__builtin_ctz(rest)]) reading |= rest & -rest;
    return reading;
}

void check_copy_end(ObserverCta *cta, const ObserveSite *site, uint32_t number, uint32_t lanes,
                    bool awaited) {
    Copy *copy = &cta->copies.data[number];
    lanes &= copy->lanes;
    uint32_t reading = lanes_that_read(copy, lanes);
    if (!awaited && reading) report_abandoned(cta, site, copy, reading);
    Epoch self = epoch_of(cta, &copy->place, lanes);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest), at = copy->to[lane];
        Place place = copy->place;
        place.lane = lane;
        if (shadow_copy(&cta->shadow, at, copy->size) != number + 1) continue; /* overwritten */
        shadow_set_copy(&cta->shadow, at, copy->size, 0);
        shared_touch(cta, SHADOW_claim, &self, lane, &place, at, copy->size);
        if (!(copy->unwritten >> lane & 1)) shadow_set_written(&cta->shadow, at, copy->size);
    }
    copy->lanes &= ~lanes;
    if (copy->lanes == 0) cta->copies_under_way--;
}

static bool overlaps(const Copy *copy, uint64_t address, uint32_t size) {
    for (uint32_t rest = copy->lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (address < copy->from[lane] + copy->from_size[lane] && copy->from[lane] < address + size)
            return true;
    }
    return false;
}

static void check_lane(ObserverCta *cta, const ObserveAccess *a, uint32_t lane) {
    uint64_t address = a->addresses[lane];
    if (address >= cta->copy_end || address + a->size <= cta->copy_least) return;
    for (size_t i = 0; i < cta->copies.count; i++) {
        const Copy *copy = &cta->copies.data[i];
        if (address >= copy->end || address + a->size <= copy->least) continue;
        if (!overlaps(copy, address, a->size)) continue;
        Finding f = {.kind = EMU_FINDING_copy_source,
                     .place = place_of(&a->site, lane),
                     .other = copy->place,
                     .space = PTX_SPACE_global,
                     .address = address,
                     .size = a->size};
        report(cta->observer, cta, &f);
    }
}

void copies_check_source(ObserverCta *cta, const ObserveAccess *a) {
    for (uint32_t rest = a->site.lanes; rest; rest &= rest - 1)
        check_lane(cta, a, (uint32_t)__builtin_ctz(rest));
}
