/* From what was found to words: which instruction of which line, in which variable. */
#include "emulator/check/check.h"

static const char *const kind_names[] = {
#define FINDING(name, text, status) #name,
#include "emulator/check/findings.def"
#undef FINDING
};

static const char *const kind_texts[] = {
#define FINDING(name, text, status) text,
#include "emulator/check/findings.def"
#undef FINDING
};

/* ---- instructions by number ------------------------------------------------------------------ */

/* The numbers are the launch's, so that CTAs can name each other's instructions. */
static SiteRange range_of(CheckObserver *o, const PtxFunction *function) {
    Sites *s = &o->sites;
    for (size_t i = 0; i < s->count; i++)
        if (s->data[i].function == function) return s->data[i];
    const SiteRange *last = s->count ? &s->data[s->count - 1] : NULL;
    SiteRange fresh = {function, last ? last->first + last->function->instruction_count : 1};
    vec_push(o->arena, s, fresh);
    return fresh;
}

uint32_t sites_number(ObserverCta *cta, const PtxFunction *function, uint32_t instruction) {
    Sites *s = &cta->sites;
    CheckObserver *o = check_of(cta->observer);
    for (size_t i = s->count; i > 0; i--)
        if (s->data[i - 1].function == function) return s->data[i - 1].first + instruction;
    check_lock(o);
    SiteRange range = range_of(o, function);
    check_unlock(o);
    vec_push(cta->arena, s, range);
    return range.first + instruction;
}

Place sites_place(const ObserverCta *cta, const Epoch *epoch) {
    CheckObserver *o = check_of(cta->observer);
    const Sites *s = &o->sites;
    Place place = {0};
    check_lock(o);
    for (size_t i = s->count; i > 0 && !place.function; i--)
        if (s->data[i - 1].first <= epoch->site)
            place = (Place){s->data[i - 1].function, epoch->site - s->data[i - 1].first,
                            epoch->warp, (uint32_t)__builtin_ctz(epoch->lanes | 1u << 31)};
    check_unlock(o);
    return place;
}

Place place_of(const ObserveSite *site, uint32_t lane) {
    return (Place){site->function, site->instruction, site->warp, lane};
}

/* ---- words ----------------------------------------------------------------------------------- */

static EmuPlace place_words(Arena *arena, const uint32_t *cta, const Place *p) {
    EmuPlace words = {.warp = p->warp, .lane = p->lane};
    if (!p->function) return words;
    const PtxInstruction *instruction = &p->function->instructions[p->instruction];
    const PtxLocation *location = &p->function->locations[instruction->location];
    words.ptx_line = instruction->line;
    words.instruction = ptx_instruction_text(arena, p->function, p->instruction);
    if (instruction->location) {
        words.file = location->file;
        words.line = location->line;
        words.column = location->column;
    }
    for (int i = 0; cta && i < 3; i++) words.cta[i] = cta[i];
    return words;
}

/* By the variable that holds the place, or else that ends before it. */
static void name_shared(Buf *out, const ObserverCta *cta, uint64_t at) {
    const ObserveVariable *nearest = NULL;
    for (uint32_t i = 0; i < cta->what.variable_count; i++) {
        const ObserveVariable *v = &cta->what.variables[i];
        if (at >= v->offset && (!nearest || v->offset > nearest->offset)) nearest = v;
    }
    if (!nearest) {
        buf_print(out, "shared memory+%llu", (unsigned long long)at);
        return;
    }
    uint64_t offset = at - nearest->offset;
    buf_print(out, "%.*s+%llu", STR_ARG(nearest->variable->name), (unsigned long long)offset);
    if (nearest->size && offset >= nearest->size)
        buf_print(out, ", behind its %u bytes", nearest->size);
}

static void name_global(Buf *out, const EmuMemory *memory, uint64_t at) {
    EmuBlock block;
    if (!emu_memory_nearest(memory, at, &block)) {
        buf_print(out, "address 0x%llx, in no allocation", (unsigned long long)at);
        return;
    }
    const char *freed = block.live ? "" : "freed ";
    if (block.name)
        buf_print(out, "%s%s+%llu", freed, block.name, (unsigned long long)(at - block.address));
    else
        buf_print(out, "%sallocation of %llu bytes+%llu", freed, (unsigned long long)block.size,
                  (unsigned long long)(at - block.address));
}

/* "tile+128"; empty where no memory is meant. */
static Str variable_words(Arena *arena, const CheckObserver *o, const ObserverCta *cta,
                          const Finding *f) {
    Buf out = {.arena = arena};
    if (f->size == 0) return (Str){"", 0};
    switch (f->space) {
    case PTX_SPACE_shared:
        if (cta) name_shared(&out, cta, f->address);
        break;
    case PTX_SPACE_local:
        buf_print(&out, "local memory+%llu", (unsigned long long)f->address);
        break;
    case PTX_SPACE_param: buf_print(&out, "parameters+%llu", (unsigned long long)f->address); break;
    default: name_global(&out, o->setup.memory, f->address); break;
    }
    return buf_str(&out);
}

static void print_place(Buf *out, const char *lead, const EmuPlace *p) {
    Str text = p->instruction;
    if (!p->ptx_line) return;
    if (text.size > 0 && text.data[text.size - 1] == ';') text.size--;
    buf_print(out, "\n  %s line %u: %.*s", lead, p->ptx_line, STR_ARG(text));
    if (p->file.size) buf_print(out, " (%.*s:%u)", STR_ARG(p->file), p->line);
    buf_print(out, ", block %u,%u,%u warp %u", p->cta[0], p->cta[1], p->cta[2], p->warp);
    if (p->lane < CLOCK_LANES) buf_print(out, " lane %u", p->lane);
}

static Str message_words(Arena *arena, const EmuFinding *e, const char *text) {
    Buf out = {.arena = arena};
    buf_print(&out, "%s: %s", kind_names[e->kind], kind_texts[e->kind]);
    buf_print(&out, ", in kernel %.*s", STR_ARG(e->kernel));
    if (text) buf_print(&out, ": %s", text);
    print_place(&out, "at", &e->place);
    print_place(&out, "and", &e->other);
    if (e->variable.size) buf_print(&out, "\n  %u bytes at %.*s", e->size, STR_ARG(e->variable));
    return buf_str(&out);
}

/* ---- findings -------------------------------------------------------------------------------- */

/* The same for both orders of a pair. */
static uint64_t hash_of(const Finding *f) {
    uint64_t a = hash_word(hash_word(0, (uintptr_t)f->place.function), f->place.instruction);
    uint64_t b = hash_word(hash_word(0, (uintptr_t)f->other.function), f->other.instruction);
    return hash_word(a + b, (uint64_t)f->kind + 1);
}

/* Under the lock. */
static bool is_new(CheckObserver *o, uint64_t hash) {
    for (size_t i = 0; i < o->known.count; i++)
        if (o->known.data[i] == hash) return false;
    vec_push(o->arena, &o->known, hash);
    return true;
}

static void tell(CheckObserver *o, const ObserverCta *cta, const Finding *f) {
    const EmuReporter *reporter = o->setup.reporter;
    if (!reporter || !reporter->finding) return;
    Arena *arena = arena_new(NULL);
    EmuFinding e = {.kind = f->kind, .kernel = o->setup.entry->name, .size = f->size};
    e.address = f->address;
    const uint32_t *index = cta ? cta->what.index : NULL;
    e.place = place_words(arena, index, &f->place);
    e.other = place_words(arena, f->other_cta ? f->other_cta : index, &f->other);
    e.variable = variable_words(arena, o, cta, f);
    e.message = message_words(arena, &e, f->text);
    reporter->finding(reporter->user, &e);
    arena_free(arena);
}

void report(Observer *observer, const ObserverCta *cta, const Finding *finding) {
    CheckObserver *o = check_of(observer);
    check_lock(o);
    if (is_new(o, hash_of(finding))) {
        o->findings++;
        tell(o, cta, finding);
    }
    check_unlock(o);
}
