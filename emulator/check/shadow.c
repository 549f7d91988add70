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
    s->mores.count = 0;
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
    s->mores.count = 0;
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

/* ---- what few cells need --------------------------------------------------------------------- */

static const CellMore nothing;

static const CellMore *more_of(const Shadow *s, const Cell *cell) {
    return cell->more ? &s->mores.data[cell->more - 1] : &nothing;
}

static CellMore *more_make(Shadow *s, Cell *cell) {
    if (!cell->more) {
        vec_push(s->arena, &s->mores, nothing);
        cell->more = (uint32_t)s->mores.count;
    }
    return &s->mores.data[cell->more - 1];
}

/* The parts of a word that an access of [at, at + size) of it needs, none larger than there are:
 * each was accessed as the larger one was. */
static const CellMore *parts_of(Shadow *s, Cell *cell, uint32_t at, uint32_t size) {
    const CellMore *more = more_of(s, cell);
    uint32_t shift = (at | size) % 2 ? 0 : 1;
    if (more->parts && more->part_shift <= shift) return more;
    Cell *parts = NEW_ARRAY(s->arena, Cell, 4u >> shift);
    for (uint32_t i = 0; i < 4u >> shift; i++) {
        const Cell *larger = more_of(s, cell)->parts ? &more_of(s, cell)->parts[i / 2] : cell;
        Epoch strong = more_of(s, larger)->strong;
        parts[i] = (Cell){.write = larger->write, .read = larger->read};
        if (strong.time) more_make(s, &parts[i])->strong = strong;
    }
    more_make(s, cell)->parts = parts;
    more_make(s, cell)->part_shift = (uint8_t)shift;
    return more_of(s, cell);
}

static Epoch *readers_of(Shadow *s, Cell *cell) {
    CellMore *more = more_make(s, cell);
    if (more->shared) return more->readers;
    if (!more->readers) more->readers = NEW_ARRAY(s->arena, Epoch, s->warps);
    memset(more->readers, 0, sizeof(Epoch) * s->warps);
    more->readers[cell->read.warp] = cell->read;
    more->shared = true;
    return more->readers;
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
    bool same = cell->read.warp == a->self->warp;
    bool alone = cell->read.time == 0 || same ||
                 clocks_knows(a->clocks, a->self->warp, a->lane, &cell->read);
    if (more_of(s, cell)->shared || !alone) {
        note_read_of_warp(a, &readers_of(s, cell)[a->self->warp]);
        cell->read.time = a->self->time;
    } else if (cell->read.time && same)
        note_read_of_warp(a, &cell->read);
    else
        note(a, &cell->read);
}

static bool races_with_writes(const Shadow *s, const Access *a, const Cell *cell,
                              Epoch *out_earlier) {
    const Epoch *strong = &more_of(s, cell)->strong;
    bool weak = races(a, &cell->write), race = weak || races(a, strong);
    if (race) *out_earlier = weak ? cell->write : *strong;
    return race;
}

static bool read_cell(Shadow *s, const Access *a, Cell *cell, Epoch *out_earlier) {
    bool race = races_with_writes(s, a, cell, out_earlier);
    note_read(s, a, cell);
    return race;
}

static bool races_with_reads(const Shadow *s, const Access *a, const Cell *cell,
                             Epoch *out_earlier) {
    const Epoch *list = more_of(s, cell)->readers;
    if (!more_of(s, cell)->shared) {
        *out_earlier = cell->read;
        return races(a, &cell->read);
    }
    for (uint32_t warp = 0; warp < s->warps; warp++) {
        *out_earlier = list[warp];
        if (races(a, &list[warp])) return true;
    }
    return false;
}

static void note_write(Shadow *s, const Access *a, Cell *cell) {
    note(a, a->self->strong ? &more_make(s, cell)->strong : &cell->write);
    cell->read.time = 0;
}

/* After a write who read before matters no more: whoever comes later has the write to know, and
 * with it what the writer knew (so that a list of readers may stay as it is). But a strong write
 * does not replace one that is not: others may be in order with the strong one, which they need
 * not know, and race with the one before. */
static bool write_cell(Shadow *s, const Access *a, Cell *cell, Epoch *out_earlier,
                       ShadowAccess *out_kind) {
    bool race = races_with_writes(s, a, cell, out_earlier);
    *out_kind = SHADOW_write;
    if (!race && races_with_reads(s, a, cell, out_earlier)) {
        race = true;
        *out_kind = SHADOW_read;
    }
    note_write(s, a, cell);
    return race;
}

static bool access_cell(Shadow *s, const Access *a, ShadowAccess kind, Cell *cell,
                        Epoch *out_earlier, ShadowAccess *out_kind) {
    if (kind != SHADOW_read) return write_cell(s, a, cell, out_earlier, out_kind);
    *out_kind = SHADOW_write;
    return read_cell(s, a, cell, out_earlier);
}

/* ---- accesses of any size -------------------------------------------------------------------- */

static bool access_word(Shadow *s, const Access *a, ShadowAccess kind, uint32_t at, uint32_t size,
                        Epoch *out_earlier, ShadowAccess *out_kind) {
    Cell *cell = &s->cells[at / 4];
    bool race = false;
    if (size == 4 && !more_of(s, cell)->parts)
        return access_cell(s, a, kind, cell, out_earlier, out_kind);
    const CellMore *more = parts_of(s, cell, at % 4, size);
    Cell *parts = more->parts;
    uint32_t shift = more->part_shift;
    for (uint32_t i = at % 4 >> shift; i < (at % 4 + size) >> shift && !race; i++)
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

/* A read or write of a word whose earlier accesses all come before; false: it is not that simple.
 */
static bool quick_read(Cell *cell, CellMore *more, const Epoch *self, uint32_t lane,
                       uint32_t floor) {
    Epoch *epoch = more && more->shared ? &more->readers[self->warp] : &cell->read;
    uint32_t lanes = epoch->time == self->time ? epoch->lanes : 0;
    if (epoch->time > floor && !lanes) return false;
    *epoch = *self;
    epoch->lanes = lanes | 1u << lane;
    cell->read.time = self->time;
    return true;
}

static bool quick_write(Cell *cell, const Epoch *self, uint32_t lane, uint32_t floor) {
    if (cell->read.time > floor) return false;
    cell->write = *self;
    cell->write.lanes = 1u << lane;
    cell->read.time = 0;
    return true;
}

static bool quick_cell(Shadow *s, Cell *cell, ShadowAccess kind, const Epoch *self, uint32_t lane,
                       uint32_t floor) {
    CellMore *more = cell->more ? &s->mores.data[cell->more - 1] : NULL;
    if (cell->write.time > floor || (more && more->strong.time > floor)) return false;
    return kind == SHADOW_read ? quick_read(cell, more, self, lane, floor)
                               : quick_write(cell, self, lane, floor);
}

/* Bytes of one word: the word's cell, or those of its parts. */
static bool quick_word(Shadow *s, ShadowAccess kind, const Epoch *self, uint32_t lane,
                       uint32_t floor, uint32_t at, uint32_t bytes) {
    Cell *cell = &s->cells[at / 4];
    const CellMore *more = more_of(s, cell);
    if (cell->copy) return false;
    if (!more->parts) return bytes == 4 && quick_cell(s, cell, kind, self, lane, floor);
    if ((at | bytes) & ((1u << more->part_shift) - 1)) return false;
    uint32_t first = at % 4 >> more->part_shift, end = (at % 4 + bytes) >> more->part_shift;
    Cell *parts = more->parts;
    bool good = true;
    for (uint32_t i = first; i < end; i++)
        good &= quick_cell(s, &parts[i], kind, self, lane, floor);
    return good;
}

uint32_t shadow_access_quickly(Shadow *s, const Clocks *clocks, ShadowAccess kind,
                               const Epoch *self, const uint64_t *addresses, uint32_t size,
                               uint32_t *out_unwritten) {
    uint32_t left = 0, unwritten = 0, floor = clocks->floor[self->warp];
    for (uint32_t rest = self->lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest), first = (uint32_t)addresses[lane];
        uint32_t written = 0;
        bool good = true;
        for (uint32_t at = first, bytes; at < first + size; at += bytes) {
            bytes = 4 - at % 4 < first + size - at ? 4 - at % 4 : first + size - at;
            uint8_t bits = (uint8_t)(((1u << bytes) - 1) << at % 8);
            written |= s->written[at / 8] & bits;
            if (kind == SHADOW_write) s->written[at / 8] |= bits;
            good &= quick_word(s, kind, self, lane, floor, at, bytes);
        }
        if (!good) left |= 1u << lane;
        if (!written) unwritten |= 1u << lane;
    }
    *out_unwritten = kind == SHADOW_read ? unwritten : 0;
    return left;
}

uint32_t shadow_copy(const Shadow *s, uint32_t at, uint32_t size) {
    for (uint32_t word = at / 4; word <= (at + size - 1) / 4; word++)
        if (s->cells[word].copy) return s->cells[word].copy;
    return 0;
}

void shadow_set_copy(Shadow *s, uint32_t at, uint32_t size, uint32_t copy) {
    for (uint32_t word = at / 4; word <= (at + size - 1) / 4; word++) s->cells[word].copy = copy;
}
