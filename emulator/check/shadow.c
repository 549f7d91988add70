/* Races by epochs, after FastTrack (Flanagan and Freund, PLDI 2009): nearly always the last write
 * and the last read of a place say enough, since the ones before were known to those who came
 * after. Only a place that several warps read without knowing of each other needs a list.
 *
 * One instruction of a warp is one event: what its lanes do to one place at the same time is no
 * race (of several writes one stays, says the manual). Between two instructions the lanes of a warp
 * are as strangers to each other as those of two warps, until a .sync instruction. */
#include "emulator/check/shadow.h"

#include <string.h>

void shadow_reset(Shadow *s, uint32_t bytes, uint32_t warps) {
    s->bytes = bytes;
    s->warps = warps;
    s->part_count = s->list_count = 0;
    memset(s->cells, 0, sizeof *s->cells * ((bytes + 3) / 4));
    memset(s->written, 0, (bytes + 7) / 8);
}

void shadow_init(Shadow *s, Arena *arena, uint32_t bytes, uint32_t warps) {
    *s = (Shadow){.arena = arena, .bytes = bytes, .warps = warps};
    s->cells = NEW_ARRAY(arena, Cell, (bytes + 3) / 4);
    s->written = NEW_ARRAY(arena, uint8_t, (bytes + 7) / 8 + 1);
}

void shadow_forget_epochs(Shadow *s) {
    for (uint32_t i = 0; i < (s->bytes + 3) / 4; i++)
        s->cells[i] = (Cell){.copy = s->cells[i].copy};
    s->part_count = s->list_count = 0;
}

/* ---- bits of bytes --------------------------------------------------------------------------- */

bool shadow_written(const Shadow *s, uint32_t at, uint32_t size) {
    for (uint32_t i = at; i < at + size; i++)
        if (!(s->written[i / 8] >> i % 8 & 1)) return false;
    return true;
}

void shadow_set_written(Shadow *s, uint32_t at, uint32_t size) {
    if (at % 4 == 0 && size == 4) {
        s->written[at / 8] |= (uint8_t)(15u << at % 8);
        return;
    }
    for (uint32_t i = at; i < at + size; i++) s->written[i / 8] |= (uint8_t)(1u << i % 8);
}

/* ---- cells and lists that are made when needed ----------------------------------------------- */

static void *grow(Arena *arena, void *items, uint32_t count, uint32_t *capacity, size_t size) {
    if (count < *capacity) return items;
    uint32_t larger = *capacity ? 2 * *capacity : 64;
    void *grown = arena_alloc_array(arena, larger, size);
    if (count) memcpy(grown, items, count * size);
    *capacity = larger;
    return grown;
}

static Cell *parts_of(Shadow *s, Cell *cell) {
    if (!cell->parts) {
        Cell whole = *cell;
        s->part_cells =
            grow(s->arena, s->part_cells, s->part_count, &s->part_capacity, 4 * sizeof(Cell));
        for (int i = 0; i < 4; i++) {
            s->part_cells[4 * s->part_count + (uint32_t)i] = whole;
            s->part_cells[4 * s->part_count + (uint32_t)i].readers = 0;
        }
        cell->parts = ++s->part_count;
    }
    return &s->part_cells[4 * (cell->parts - 1)];
}

static Epoch *readers_of(Shadow *s, Cell *cell) {
    if (!cell->readers) {
        s->reader_lists = grow(s->arena, s->reader_lists, s->list_count, &s->list_capacity,
                               s->warps * sizeof(Epoch));
        memset(&s->reader_lists[s->list_count * s->warps], 0, s->warps * sizeof(Epoch));
        cell->readers = ++s->list_count;
        s->reader_lists[(cell->readers - 1) * s->warps + cell->read.warp] = cell->read;
    }
    return &s->reader_lists[(cell->readers - 1) * s->warps];
}

/* ---- one cell -------------------------------------------------------------------------------- */

typedef struct Access {
    const Clocks *clocks;
    uint32_t lane;
    const Epoch *self;
} Access;

static bool races(const Access *a, const Epoch *earlier) {
    if (earlier->time == 0 || earlier->time == a->self->time) return false;
    if (earlier->strong && a->self->strong) return false;
    return !clocks_knows(a->clocks, a->self->warp, a->lane, earlier);
}

/* What this lane adds to an epoch of the same instruction, or puts in its place. */
static void note(const Access *a, Epoch *epoch) {
    uint32_t lanes = epoch->time == a->self->time ? epoch->lanes : 0;
    *epoch = *a->self;
    epoch->lanes = lanes | 1u << a->lane;
}

/* The last read of a warp. Lanes that do not know of each other's reads share an epoch with the
 * time of the older one: too early for the others, so that a race may be missed but none made up.
 */
static void note_read_of_warp(const Access *a, Epoch *epoch) {
    bool known = clocks_knows(a->clocks, a->self->warp, a->lane, epoch);
    if (known || epoch->time == a->self->time)
        note(a, epoch);
    else
        epoch->lanes |= 1u << a->lane;
}

static void note_read(Shadow *s, const Access *a, Cell *cell) {
    bool alone = cell->read.time == 0 || cell->read.warp == a->self->warp ||
                 clocks_knows(a->clocks, a->self->warp, a->lane, &cell->read);
    if (cell->readers || !alone)
        note_read_of_warp(a, &readers_of(s, cell)[a->self->warp]);
    else if (cell->read.warp == a->self->warp)
        note_read_of_warp(a, &cell->read);
    else
        note(a, &cell->read);
}

static bool races_with_writes(const Access *a, const Cell *cell, Epoch *out_earlier) {
    bool weak = races(a, &cell->write), race = weak || races(a, &cell->strong);
    if (race) *out_earlier = weak ? cell->write : cell->strong;
    return race;
}

static bool read_cell(Shadow *s, const Access *a, Cell *cell, Epoch *out_earlier) {
    bool race = races_with_writes(a, cell, out_earlier);
    note_read(s, a, cell);
    return race;
}

static bool races_with_reads(const Shadow *s, const Access *a, const Cell *cell,
                             Epoch *out_earlier) {
    if (!cell->readers) {
        *out_earlier = cell->read;
        return races(a, &cell->read);
    }
    const Epoch *list = &s->reader_lists[(cell->readers - 1) * s->warps];
    for (uint32_t warp = 0; warp < s->warps; warp++) {
        *out_earlier = list[warp];
        if (races(a, &list[warp])) return true;
    }
    return false;
}

/* After a write who read before matters no more: whoever comes later has the write to know. But a
 * strong write does not replace one that is not: others may be in order with the strong one, which
 * they need not know, and race with the one before. */
static bool write_cell(Shadow *s, const Access *a, Cell *cell, Epoch *out_earlier,
                       ShadowAccess *out_kind) {
    bool race = races_with_writes(a, cell, out_earlier);
    *out_kind = SHADOW_write;
    if (!race && races_with_reads(s, a, cell, out_earlier)) {
        race = true;
        *out_kind = SHADOW_read;
    }
    note(a, a->self->strong ? &cell->strong : &cell->write);
    cell->read.time = 0;
    cell->readers = 0;
    return race;
}

static bool access_cell(Shadow *s, const Access *a, ShadowAccess kind, Cell *cell,
                        Epoch *out_earlier, ShadowAccess *out_kind) {
    if (kind == SHADOW_write) return write_cell(s, a, cell, out_earlier, out_kind);
    *out_kind = SHADOW_write;
    return read_cell(s, a, cell, out_earlier);
}

/* ---- accesses of any size -------------------------------------------------------------------- */

static bool access_word(Shadow *s, const Access *a, ShadowAccess kind, uint32_t at, uint32_t size,
                        Epoch *out_earlier, ShadowAccess *out_kind) {
    Cell *cell = &s->cells[at / 4];
    bool race = false;
    if (size == 4 && !cell->parts) return access_cell(s, a, kind, cell, out_earlier, out_kind);
    Cell *parts = parts_of(s, cell);
    for (uint32_t i = at % 4; i < at % 4 + size && !race; i++)
        race = access_cell(s, a, kind, &parts[i], out_earlier, out_kind);
    return race;
}

bool shadow_access(Shadow *s, const Clocks *clocks, ShadowAccess kind, uint32_t lane,
                   const Epoch *self, uint32_t at, uint32_t size, Epoch *out_earlier,
                   ShadowAccess *out_kind) {
    Access a = {clocks, lane, self};
    bool race = false;
    while (size > 0 && !race) {
        uint32_t here = 4 - at % 4 < size ? 4 - at % 4 : size;
        race = access_word(s, &a, kind, at, here, out_earlier, out_kind);
        at += here;
        size -= here;
    }
    return race;
}

uint32_t shadow_copy(const Shadow *s, uint32_t at, uint32_t size) {
    for (uint32_t word = at / 4; word <= (at + size - 1) / 4; word++)
        if (s->cells[word].copy) return s->cells[word].copy;
    return 0;
}

void shadow_set_copy(Shadow *s, uint32_t at, uint32_t size, uint32_t copy) {
    for (uint32_t word = at / 4; word <= (at + size - 1) / 4; word++) s->cells[word].copy = copy;
}
