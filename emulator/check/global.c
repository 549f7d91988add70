/* Races in global memory. Within a CTA its clocks tell what is in order. Between CTAs nothing is,
 * unless one released what it did (a fence or an access with release, of the device's scope) and
 * the other acquired later; who of the two's threads did so, and through which flag, is not looked
 * at. So races may be missed where CTAs talk to each other, and none is made up. */
#include "emulator/check/check.h"

#include <string.h>

enum { PAGE_SHIFT = 10, PAGE_BYTES = 1 << PAGE_SHIFT, WORD_SHIFT = 2, SITES = 1 << 20 };

/* Pages beyond these are not looked at. */
static const uint64_t MOST_BYTES = UINT64_C(1) << 30;

void global_init(GlobalShadow *g) {
    for (int i = 0; i < GLOBAL_LOCKS; i++) pthread_mutex_init(&g->locks[i], NULL);
    pthread_mutex_init(&g->order_lock, NULL);
    g->moment = 1;
}

void global_end(GlobalShadow *g) {
    for (int i = 0; i < GLOBAL_LOCKS; i++) pthread_mutex_destroy(&g->locks[i]);
    pthread_mutex_destroy(&g->order_lock);
}

/* ---- the order between CTAs ------------------------------------------------------------------ */

/* Under the observer's lock, and with room for one more. */
static uint32_t add_cta(GlobalShadow *g, GlobalCta **room, GlobalCta *cta) {
    pthread_mutex_lock(&g->order_lock);
    if (room) {
        for (uint32_t i = 0; i < g->cta_count; i++) room[i] = g->ctas[i];
        g->ctas = room;
    }
    g->ctas[g->cta_count] = cta;
    uint32_t number = ++g->cta_count;
    pthread_mutex_unlock(&g->order_lock);
    return number;
}

void global_begin(ObserverCta *cta) {
    CheckObserver *o = check_of(cta->observer);
    GlobalShadow *g = &o->global;
    GlobalCta **room = NULL;
    check_lock(o);
    GlobalCta *self = NEW(o->arena, GlobalCta);
    memcpy(self->index, cta->what.index, sizeof self->index);
    if (g->cta_count == g->cta_room) {
        g->cta_room = g->cta_room ? 2 * g->cta_room : 64;
        room = NEW_ARRAY(o->arena, GlobalCta *, g->cta_room);
    }
    cta->global = (GlobalView){.number = add_cta(g, room, self), .self = self};
    check_unlock(o);
}

static uint64_t moment_now(GlobalShadow *g, bool moves_on) {
    pthread_mutex_lock(&g->order_lock);
    uint64_t moment = g->moment;
    g->moment += moves_on;
    pthread_mutex_unlock(&g->order_lock);
    return moment;
}

/* An event is told before the access is done, so that what it acquires is known with the next. */
static void take_acquired(ObserverCta *cta) {
    if (!cta->global.acquires) return;
    cta->global.acquires = false;
    cta->global.acquired = moment_now(&check_of(cta->observer)->global, false);
}

/* What was released before, and nothing touched since, need not be released again. */
static void add_release(ObserverCta *cta) {
    CheckObserver *o = check_of(cta->observer);
    GlobalCta *self = cta->global.self;
    if (self->last && self->last->time > cta->global.last_time) return;
    check_lock(o);
    Release *release = NEW(o->arena, Release);
    check_unlock(o);
    *release = (Release){cta->clocks.now++, moment_now(&o->global, true), self->last};
    pthread_mutex_lock(&o->global.order_lock);
    self->last = release;
    pthread_mutex_unlock(&o->global.order_lock);
}

void global_order(ObserverCta *cta, ObserveOrder order, ObserveScope scope) {
    if (scope != OBSERVE_gpu && scope != OBSERVE_sys) return;
    take_acquired(cta);
    if (order_releases(order)) add_release(cta);
    if (order_acquires(order)) cta->global.acquires = true;
}

/* Whether the other CTA released what it did, and this one acquired it since. */
static bool was_told(const ObserverCta *cta, const Touch *touch) {
    GlobalShadow *g = &check_of(cta->observer)->global;
    bool told = false;
    if (cta->global.acquired == 0) return false;
    pthread_mutex_lock(&g->order_lock);
    const Release *release = g->ctas[touch->cta - 1]->last;
    for (; release && release->time > touch->time; release = release->before)
        told |= release->moment < cta->global.acquired;
    pthread_mutex_unlock(&g->order_lock);
    return told;
}

/* ---- pages ----------------------------------------------------------------------------------- */

static GlobalBlock *block_find(CheckObserver *o, uint64_t address) {
    GlobalBlock *block = o->global.blocks;
    EmuBlock found;
    while (block && address - block->address >= block->size) block = block->next;
    if (block || !emu_memory_find(o->setup.memory, address, 1, &found)) return block;
    block = NEW(o->arena, GlobalBlock);
    *block = (GlobalBlock){found.address, found.size, NULL, o->global.blocks};
    block->pages = NEW_ARRAY(o->arena, GlobalPage * _Atomic, (found.size >> PAGE_SHIFT) + 1);
    return o->global.blocks = block;
}

static GlobalBlock *block_of(ObserverCta *cta, uint64_t address) {
    GlobalView *view = &cta->global;
    for (int i = 0; i < 4; i++) {
        GlobalBlock *block = view->recent[i];
        if (block && address - block->address < block->size) return block;
    }
    CheckObserver *o = check_of(cta->observer);
    check_lock(o);
    GlobalBlock *block = block_find(o, address);
    check_unlock(o);
    return view->recent[view->next_recent++ % 4] = block;
}

static GlobalPage *page_of(CheckObserver *o, GlobalBlock *block, uint64_t index) {
    GlobalPage *page = atomic_load(&block->pages[index]);
    if (page) return page;
    check_lock(o);
    page = atomic_load(&block->pages[index]);
    if (!page && o->global.bytes < MOST_BYTES) {
        page = NEW(o->arena, GlobalPage);
        page->shift = WORD_SHIFT;
        atomic_store(&block->pages[index], page);
    }
    check_unlock(o);
    return page;
}

static pthread_mutex_t *lock_of(CheckObserver *o, uint64_t index) {
    return &o->global.locks[index % GLOBAL_LOCKS];
}

static Touch *touches_new(CheckObserver *o, uint32_t shift) {
    o->global.bytes += sizeof(Touch) * (PAGE_BYTES >> shift);
    return NEW_ARRAY(o->arena, Touch, PAGE_BYTES >> shift);
}

/* Smaller granules, of which each was touched as the larger one was. */
static Touch *touches_split(CheckObserver *o, const Touch *old, uint32_t from, uint32_t to) {
    Touch *touches = touches_new(o, to);
    for (uint32_t i = 0; i < (uint32_t)PAGE_BYTES >> to; i++) touches[i] = old[i >> (from - to)];
    return touches;
}

/* Gives the page granules of that size and touches of a kind. The memory is taken before the page
 * is locked: only the observer's lock is given back when there is none. */
static void page_extend(CheckObserver *o, GlobalPage *page, uint64_t index, TouchKind kind,
                        uint32_t shift) {
    Touch *touches[TOUCH_KINDS];
    check_lock(o); /* nobody else changes what a page has */
    uint32_t from = page->shift, to = shift < from ? shift : from;
    for (int k = 0; k < TOUCH_KINDS; k++) {
        touches[k] = page->touches[k];
        if (touches[k] && to < from) touches[k] = touches_split(o, touches[k], from, to);
        if (!touches[k] && k == (int)kind) touches[k] = touches_new(o, to);
    }
    pthread_mutex_lock(lock_of(o, index));
    page->shift = to;
    for (int k = 0; k < TOUCH_KINDS; k++) page->touches[k] = touches[k];
    pthread_mutex_unlock(lock_of(o, index));
    check_unlock(o);
}

/* ---- one granule ----------------------------------------------------------------------------- */

typedef struct Toucher {
    ObserverCta *cta;
    Touch self;
    uint32_t floor; /* up to here its warp knows all of its CTA */
    Touch earlier;  /* what it races with */
    TouchKind earlier_kind;
    bool races;
} Toucher;

static bool in_order(const Toucher *t, const Touch *e) {
    const Touch *self = &t->self;
    if (e->cta != self->cta)
        return (e->strong && self->strong && !e->narrow && !self->narrow) || was_told(t->cta, e);
    if (e->time == self->time || (e->strong && self->strong)) return true;
    Epoch epoch = {.time = e->time, .lanes = 1u << e->lane, .warp = (uint8_t)e->warp};
    return clocks_knows(&t->cta->clocks, self->warp, self->lane, &epoch);
}

static void compare_slowly(Toucher *t, const Touch *e, TouchKind kind) {
    if (t->races || in_order(t, e)) return;
    t->races = true;
    t->earlier = *e;
    t->earlier_kind = kind;
}

static inline void compare(Toucher *t, const GlobalPage *page, TouchKind kind, uint32_t at) {
    const Touch *e = page->touches[kind];
    if (!e || e[at].cta == 0 || (e[at].cta == t->self.cta && e[at].time <= t->floor)) return;
    compare_slowly(t, &e[at], kind);
}

/* Two readers are kept, of different CTAs if there were any: whoever writes is not one of them. */
static void note_read(Toucher *t, GlobalPage *page, uint32_t at) {
    Touch *last = &page->touches[TOUCH_read][at], *others = page->touches[TOUCH_other_read];
    bool same = last->cta == t->self.cta && last->warp == t->self.warp;
    if (last->cta && !same && others && (last->cta != t->self.cta || !others[at].cta))
        others[at] = *last;
    *last = t->self;
}

static void touch_granule(Toucher *t, GlobalPage *page, TouchKind kind, uint32_t at) {
    compare(t, page, TOUCH_write, at);
    compare(t, page, TOUCH_strong, at);
    if (kind == TOUCH_read) {
        note_read(t, page, at);
        return;
    }
    compare(t, page, TOUCH_read, at);
    compare(t, page, TOUCH_other_read, at);
    page->touches[kind][at] = t->self;
    for (int k = TOUCH_read; kind == TOUCH_write && k <= TOUCH_other_read; k++)
        if (page->touches[k]) page->touches[k][at].cta = 0;
}

/* Whether a second reader has to be kept of some granule. */
static bool lacks_others(const Toucher *t, const GlobalPage *page, uint32_t first, uint32_t end) {
    const Touch *last = page->touches[TOUCH_read];
    if (page->touches[TOUCH_other_read]) return false;
    for (uint32_t i = first; i < end; i++)
        if (last[i].cta && (last[i].cta != t->self.cta || last[i].warp != t->self.warp))
            return true;
    return false;
}

/* Where an instruction's lanes touch: mostly one page after the other, so one is kept locked. */
typedef struct Cursor {
    GlobalBlock *block;
    GlobalPage *page;
    uint64_t index; /* of the page */
    bool locked;
} Cursor;

static void cursor_unlock(CheckObserver *o, Cursor *c) {
    if (c->locked) pthread_mutex_unlock(lock_of(o, c->index));
    c->locked = false;
}

/* Locks the page of an address; false: it is not looked at. */
static bool cursor_move(ObserverCta *cta, Cursor *c, uint64_t address) {
    CheckObserver *o = check_of(cta->observer);
    bool same_block = c->block && address - c->block->address < c->block->size;
    if (same_block && c->locked && c->index == (address - c->block->address) >> PAGE_SHIFT)
        return true;
    cursor_unlock(o, c);
    if (!same_block) c->block = block_of(cta, address);
    if (!c->block) return false;
    c->index = (address - c->block->address) >> PAGE_SHIFT;
    c->page = page_of(o, c->block, c->index);
    c->locked = c->page != NULL;
    if (c->locked) pthread_mutex_lock(lock_of(o, c->index));
    return c->locked;
}

/* Bytes of the cursor's page; false: the page lacks granules of that size or touches of a kind. */
static bool touch_page(Toucher *t, GlobalPage *page, TouchKind kind, uint32_t at, uint32_t size,
                       TouchKind *out_kind, uint32_t *out_shift) {
    uint32_t parts = at | size;
    *out_kind = kind;
    *out_shift = parts % 4 == 0 ? 2 : parts % 2 == 0 ? 1 : 0;
    if (*out_shift < page->shift || !page->touches[kind]) return false;
    uint32_t first = at >> page->shift, end = (at + size) >> page->shift;
    *out_kind = TOUCH_other_read;
    if (kind == TOUCH_read && lacks_others(t, page, first, end)) return false;
    for (uint32_t i = first; i < end; i++) touch_granule(t, page, kind, i);
    return true;
}

static void touch_bytes(Toucher *t, Cursor *c, TouchKind kind, uint64_t address, uint32_t size) {
    CheckObserver *o = check_of(t->cta->observer);
    while (size > 0 && cursor_move(t->cta, c, address)) {
        TouchKind lacking;
        uint32_t shift, at = (uint32_t)((address - c->block->address) % PAGE_BYTES);
        uint32_t here = PAGE_BYTES - at < size ? PAGE_BYTES - at : size;
        if (!touch_page(t, c->page, kind, at, here, &lacking, &shift)) {
            cursor_unlock(o, c);
            page_extend(o, c->page, c->index, lacking, shift);
            continue;
        }
        address += here;
        size -= here;
    }
}

/* ---- accesses -------------------------------------------------------------------------------- */

static void report_race(const Toucher *t, const Place *place, bool writes, uint64_t address,
                        uint32_t size) {
    CheckObserver *o = check_of(t->cta->observer);
    bool both = writes && t->earlier_kind >= TOUCH_write;
    Epoch epoch = {
        .lanes = 1u << t->earlier.lane, .site = t->earlier.site, .warp = (uint8_t)t->earlier.warp};
    Finding f = {.kind = both ? EMU_FINDING_global_write_write : EMU_FINDING_global_read_write,
                 .place = *place,
                 .space = PTX_SPACE_global,
                 .address = address,
                 .size = size};
    if (t->earlier.site) f.other = sites_place(t->cta, &epoch);
    pthread_mutex_lock(&o->global.order_lock);
    f.other_cta = o->global.ctas[t->earlier.cta - 1]->index;
    pthread_mutex_unlock(&o->global.order_lock);
    report(t->cta->observer, t->cta, &f);
}

static Toucher toucher_of(ObserverCta *cta, const ObserveAccess *a) {
    uint32_t site = sites_number(cta, a->site.function, a->site.instruction);
    Toucher t = {.cta = cta, .floor = cta->clocks.floor[a->site.warp]};
    t.self.cta = cta->global.number;
    t.self.time = cta->global.last_time = clocks_tick(&cta->clocks, a->site.warp);
    t.self.site = site < SITES ? site & (SITES - 1) : 0;
    t.self.strong = a->order != OBSERVE_weak || a->kind == OBSERVE_atomic;
    t.self.narrow = a->scope != OBSERVE_gpu && a->scope != OBSERVE_sys;
    t.self.warp = a->site.warp & 31;
    return t;
}

void global_access(ObserverCta *cta, const ObserveAccess *a, const uint32_t *sizes) {
    if (cta->global.blind) return;
    take_acquired(cta);
    Toucher t = toucher_of(cta, a);
    bool writes = a->kind != OBSERVE_load;
    TouchKind kind = !writes ? TOUCH_read : t.self.strong ? TOUCH_strong : TOUCH_write;
    Cursor cursor = {.block = NULL};
    for (uint32_t rest = a->site.lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest), size = sizes ? sizes[lane] : a->size;
        t.self.lane = lane & 31;
        t.races = false;
        touch_bytes(&t, &cursor, kind, a->addresses[lane], size);
        if (!t.races) continue;
        Place place = place_of(&a->site, lane);
        cursor_unlock(check_of(cta->observer), &cursor);
        report_race(&t, &place, writes, a->addresses[lane], size);
    }
    cursor_unlock(check_of(cta->observer), &cursor);
}
