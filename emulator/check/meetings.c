/* What puts threads in order, beside the meetings of a warp's lanes: barriers, mbarriers, and
 * strong accesses with fences. Each is a vector to which some add what they know, and from which
 * others learn it. */
#include "emulator/check/check.h"

#include <string.h>

/* Keys: kind above, number or address below. */
static const uint64_t KEY_BARRIER = UINT64_C(1) << 60, KEY_MBARRIER = UINT64_C(2) << 60,
                      KEY_ADDRESS = UINT64_C(3) << 60;
/* Addresses beyond these share one meeting: too much is then ordered, and races may be missed. */
enum { MEETINGS_MOST = 4096 };

static Meeting *find_slot(Meetings *m, uint64_t key) {
    uint32_t at = (uint32_t)hash_word(0, key) & (m->slots - 1);
    while (m->items[at].key && m->items[at].key != key) at = (at + 1) & (m->slots - 1);
    return &m->items[at];
}

static void enlarge(ObserverCta *cta) {
    Meetings old = cta->meetings;
    cta->meetings.slots = old.slots ? 2 * old.slots : 32;
    cta->meetings.items = NEW_ARRAY(cta->arena, Meeting, cta->meetings.slots);
    for (uint32_t i = 0; i < old.slots; i++)
        if (old.items[i].key) *find_slot(&cta->meetings, old.items[i].key) = old.items[i];
}

static Meeting *meeting_find(ObserverCta *cta, uint64_t key) {
    if (cta->meetings.slots == 0) return NULL;
    if (key >= KEY_ADDRESS && cta->meetings.count >= MEETINGS_MOST) key = KEY_ADDRESS;
    Meeting *meeting = find_slot(&cta->meetings, key);
    return meeting->key ? meeting : NULL;
}

static Meeting *meeting_make(ObserverCta *cta, uint64_t key) {
    if (2 * cta->meetings.count >= cta->meetings.slots) enlarge(cta);
    if (key >= KEY_ADDRESS && cta->meetings.count >= MEETINGS_MOST) key = KEY_ADDRESS;
    Meeting *meeting = find_slot(&cta->meetings, key);
    if (meeting->key) return meeting;
    cta->meetings.count++;
    *meeting = (Meeting){.key = key};
    meeting->gathering = clocks_vector(&cta->clocks);
    meeting->complete = clocks_vector(&cta->clocks);
    return meeting;
}

/* ---- barriers -------------------------------------------------------------------------------- */

/* The first who passes ends the phase (phase_of counts from 1); who arrived in it passes with its
 * vector, also when others have begun the next. */
void check_barrier(ObserverCta *cta, const ObserveSite *site, uint32_t barrier,
                   ObserveBarrier what) {
    Meeting *m = meeting_make(cta, KEY_BARRIER | barrier);
    uint32_t warp = site->warp;
    if (what == OBSERVE_arrive) {
        clocks_meet(&cta->clocks, warp, site->lanes);
        m->came_at[warp] = cta->clocks.now;
        clocks_release(&cta->clocks, warp, site->lanes, m->gathering);
        m->phase_of[warp] = m->phase + 1;
        return;
    }
    if (m->phase_of[warp] == m->phase + 1) {
        ClockVector ended = m->gathering;
        for (uint32_t i = 0; i < cta->clocks.warps; i++)
            if (m->phase_of[i] == m->phase + 1) clocks_renew(&cta->clocks, i, m->came_at[i], ended);
        m->gathering = m->complete;
        m->complete = ended;
        memset(m->gathering, 0, sizeof *m->gathering * cta->clocks.threads);
        m->phase++;
    }
    clocks_acquire(&cta->clocks, warp, site->lanes, m->complete);
}

/* ---- mbarriers ------------------------------------------------------------------------------- */

static bool mbarrier_lives(const ObserverCta *cta, uint32_t address) {
    return shadow_copy(&cta->shadow, address, 8) == SHADOW_MBARRIER;
}

static void mbarrier_mark(ObserverCta *cta, uint32_t address, bool lives) {
    cta->mbarriers += (uint32_t)lives - (uint32_t)mbarrier_lives(cta, address);
    shadow_set_copy(&cta->shadow, address, 8, lives ? SHADOW_MBARRIER : 0);
}

static void mbarrier_begin(ObserverCta *cta, const ObserveSite *site, Meeting *m) {
    m->begin = (Epoch){.time = clocks_tick(&cta->clocks, site->warp),
                       .lanes = site->lanes,
                       .site = sites_number(cta, site->function, site->instruction),
                       .warp = (uint8_t)site->warp};
}

/* Who uses an mbarrier must know that it was initialised. */
static void mbarrier_check_order(ObserverCta *cta, const ObserveSite *site, uint32_t address,
                                 const Meeting *m) {
    for (uint32_t rest = site->lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        if (clocks_knows(&cta->clocks, site->warp, lane, &m->begin)) continue;
        Finding f = {.kind = EMU_FINDING_mbarrier_order,
                     .place = place_of(site, lane),
                     .other = sites_place(cta, &m->begin),
                     .space = PTX_SPACE_shared,
                     .address = address,
                     .size = 8};
        report(cta->observer, cta, &f);
    }
}

/* The vector goes on growing from phase to phase: later phases come after earlier ones anyway. */
void check_mbarrier(ObserverCta *cta, const ObserveSite *site, uint32_t address,
                    ObserveMbarrier what) {
    Meeting *m = meeting_make(cta, KEY_MBARRIER | address);
    size_t bytes = sizeof *m->gathering * cta->clocks.threads;
    if (what != OBSERVE_mbarrier_init) mbarrier_check_order(cta, site, address, m);
    switch (what) {
    case OBSERVE_mbarrier_init:
        mbarrier_mark(cta, address, true);
        mbarrier_begin(cta, site, m);
        memset(m->gathering, 0, bytes);
        memset(m->complete, 0, bytes);
        break;
    case OBSERVE_mbarrier_inval: mbarrier_mark(cta, address, false); break;
    case OBSERVE_mbarrier_arrive:
        clocks_release(&cta->clocks, site->warp, site->lanes, m->gathering);
        break;
    case OBSERVE_mbarrier_complete: memcpy(m->complete, m->gathering, bytes); break;
    case OBSERVE_mbarrier_wait:
        clocks_acquire(&cta->clocks, site->warp, site->lanes, m->complete);
        break;
    }
}

/* ---- fences and strong accesses -------------------------------------------------------------- */

bool order_releases(ObserveOrder order) {
    return order == OBSERVE_release || order == OBSERVE_acq_rel || order == OBSERVE_sc;
}

bool order_acquires(ObserveOrder order) {
    return order == OBSERVE_acquire || order == OBSERVE_acq_rel || order == OBSERVE_sc;
}

/* A fence makes of the relaxed accesses before it acquires, and of those after it releases. */
void check_fence(ObserverCta *cta, const ObserveSite *site, ObserveOrder order, ObserveScope scope,
                 ObserveProxy proxy) {
    if (proxy != OBSERVE_generic) return;
    global_order(cta, order, scope);
    Fenced *f = &cta->fenced[site->warp];
    cta->publishes = true;
    if (f->lanes & site->lanes && order_acquires(order)) {
        clocks_acquire(&cta->clocks, site->warp, site->lanes & f->lanes, f->pending);
        f->lanes &= ~site->lanes;
    }
    if (!order_releases(order)) return;
    if (!f->released) f->released = clocks_vector(&cta->clocks);
    clocks_release(&cta->clocks, site->warp, site->lanes, f->released);
}

static void add(ObserverCta *cta, ClockVector into, const uint32_t *from) {
    for (uint32_t i = 0; i < cta->clocks.threads; i++)
        if (into[i] < from[i]) into[i] = from[i];
}

static void learn(ObserverCta *cta, const ObserveAccess *a, uint32_t lane, const Meeting *m) {
    uint32_t warp = a->site.warp;
    if (order_acquires(a->order)) {
        clocks_acquire(&cta->clocks, warp, 1u << lane, m->gathering);
        return;
    }
    Fenced *f = &cta->fenced[warp];
    if (!f->pending) f->pending = clocks_vector(&cta->clocks);
    f->lanes |= 1u << lane;
    add(cta, f->pending, m->gathering);
}

static void publish(ObserverCta *cta, const ObserveAccess *a, uint32_t lane, uint64_t key) {
    const Fenced *f = &cta->fenced[a->site.warp];
    if (order_releases(a->order))
        clocks_release(&cta->clocks, a->site.warp, 1u << lane, meeting_make(cta, key)->gathering);
    else if (f->released)
        add(cta, meeting_make(cta, key)->gathering, f->released);
}

void meetings_strong(ObserverCta *cta, const ObserveAccess *a) {
    cta->publishes |= order_acquires(a->order) || order_releases(a->order);
    if (!cta->publishes) return;
    for (uint32_t lane = 0; lane < CLOCK_LANES; lane++) {
        if (!(a->site.lanes >> lane & 1)) continue;
        uint64_t key = KEY_ADDRESS | (a->space == PTX_SPACE_shared ? UINT64_C(1) << 59 : 0) |
                       (a->addresses[lane] & ~UINT64_C(3));
        Meeting *m = a->kind == OBSERVE_store ? NULL : meeting_find(cta, key);
        if (m) learn(cta, a, lane, m);
        if (a->kind != OBSERVE_load) publish(cta, a, lane, key);
    }
}
