/* Where the PTX came from: .file, .loc and the strings of .debug_str. Other sections are skipped.
 * Files and strings may be given after the functions that name them, so locations are completed
 * when the module ends. */
#include "emulator/ptx/parser.h"

#include <string.h>

static Str file_key(Parser *p, uint64_t number) {
    return (Str){arena_copy(p->scratch, &number, sizeof number), sizeof number};
}

/* .file 1 "name", time, size */
bool parse_file(Parser *p) {
    uint64_t number, ignored;
    if (!parse_count(p, UINT32_MAX, &number)) return false;
    if (p->token.kind != TOKEN_string) return parse_fail_expected(p, "a file name");
    Str *name = NEW(p->scratch, Str);
    *name = p->token.text;
    map_set(&p->files, file_key(p, number), name);
    parse_advance(p);
    while (parse_take_mark(p, ','))
        if (!parse_count(p, UINT64_MAX, &ignored)) return false;
    parse_take_mark(p, ';');
    return true;
}

static bool parse_place(Parser *p, PtxLocation *location) {
    uint64_t numbers[3];
    for (int i = 0; i < 3; i++)
        if (!parse_count(p, UINT32_MAX, &numbers[i])) return false;
    location->file_number = (uint32_t)numbers[0];
    location->line = (uint32_t)numbers[1];
    location->column = (uint32_t)numbers[2];
    return true;
}

static Str place_key(Parser *p, const PtxLocation *location, uint32_t origin) {
    uint32_t numbers[4] = {location->file_number, location->line, location->column, origin};
    return (Str){arena_copy(p->scratch, numbers, sizeof numbers), sizeof numbers};
}

/* The location of that place and origin, a new one when there is none yet. 0 0 0 is no place. */
static uint32_t intern_location(Parser *p, PtxLocation location, LocationNames names) {
    Body *body = p->body;
    Str key = place_key(p, &location, location.inlined_at);
    Str place = place_key(p, &location, 0);
    uintptr_t known = (uintptr_t)map_get(&body->location_index, key);
    if (known || !(location.file_number || location.line || location.column))
        return (uint32_t)known;
    uintptr_t index = body->locations.count;
    vec_push(p->scratch, &body->locations, location);
    vec_push(p->scratch, &body->location_names, names);
    map_set(&body->location_index, key, (void *)index);
    if (!map_get(&body->locations_by_place, place))
        map_set(&body->locations_by_place, place, (void *)index);
    return (uint32_t)index;
}

/* function_name $L__info_string0 {+ 10}, inlined_at 1 20 3 */
static bool parse_inlined(Parser *p, PtxLocation *location, LocationNames *names) {
    Token label;
    PtxLocation caller = {0};
    if (!parse_is_name(p, "function_name")) return parse_fail_expected(p, "function_name");
    parse_advance(p);
    if (!parse_name(p, &label)) return false;
    names->function_label = label.text;
    if (parse_take_mark(p, '+') && !parse_count(p, UINT32_MAX, &names->function_offset))
        return false;
    if (!parse_mark(p, ',')) return false;
    if (!parse_is_name(p, "inlined_at")) return parse_fail_expected(p, "inlined_at");
    parse_advance(p);
    if (!parse_place(p, &caller)) return false;
    if (!p->body) return true;
    uintptr_t known = (uintptr_t)map_get(&p->body->locations_by_place, place_key(p, &caller, 0));
    location->inlined_at = known ? (uint32_t)known : intern_location(p, caller, (LocationNames){0});
    return true;
}

bool parse_loc(Parser *p) {
    PtxLocation location = {0};
    LocationNames names = {0};
    if (!parse_place(p, &location)) return false;
    if (parse_take_mark(p, ',') && !parse_inlined(p, &location, &names)) return false;
    if (p->body) p->body->location = intern_location(p, location, names);
    return true;
}

/* ---- sections ----------------------------------------------------------------------------- */

/* The bytes of .debug_str behind a label; strings end at a zero, names may begin inside of one. */
static void keep_string(Parser *p, Str label, const Buf *bytes) {
    if (!label.size) return;
    Str *text = NEW(p->scratch, Str);
    *text = buf_str(bytes);
    map_set(&p->debug_strings, label, text);
}

/* name { contents }: numbers, labels and types, of which .debug_str alone is kept. */
bool parse_section(Parser *p) {
    bool strings = parse_is_word(p, "debug_str") || parse_is_name(p, "debug_str");
    Buf bytes = {.arena = p->arena};
    Str label = {0}, name = {0};
    if (p->token.kind != TOKEN_word && p->token.kind != TOKEN_name)
        return parse_fail_expected(p, "a section");
    parse_advance(p);
    if (!parse_mark(p, '{')) return false;
    for (; !parse_is_mark(p, '}'); parse_advance(p)) {
        if (p->token.kind == TOKEN_end) return parse_fail_expected(p, "'}'");
        if (p->token.kind == TOKEN_name) name = p->token.text;
        if (strings && parse_is_mark(p, ':')) {
            keep_string(p, label, &bytes);
            bytes = (Buf){.arena = p->arena};
            label = name;
        }
        if (strings && p->token.kind == TOKEN_integer) buf_char(&bytes, (char)p->token.bits);
    }
    keep_string(p, label, &bytes);
    parse_advance(p);
    return true;
}

/* ---- the end ------------------------------------------------------------------------------ */

void debug_finish_body(Parser *p) {
    Body *body = p->body;
    size_t count = body->locations.count;
    PtxLocation *locations = arena_copy(p->arena, body->locations.data, count * sizeof *locations);
    body->function->locations = locations;
    body->function->location_count = (uint32_t)count;
    vec_push(p->scratch, &p->pending_locations,
             (PendingLocations){locations, body->location_names.data, (uint32_t)count});
}

static Str function_name(Parser *p, const LocationNames *names) {
    const Str *text = map_get(&p->debug_strings, names->function_label);
    if (!text || names->function_offset >= text->size) return (Str){0};
    Str rest = {text->data + names->function_offset, text->size - names->function_offset};
    const char *end = memchr(rest.data, 0, rest.size);
    if (end) rest.size = (size_t)(end - rest.data);
    return rest;
}

void debug_finish_module(Parser *p) {
    for (size_t i = 0; i < p->pending_locations.count; i++) {
        const PendingLocations *pending = &p->pending_locations.data[i];
        for (uint32_t k = 1; k < pending->count; k++) {
            const Str *file = map_get(&p->files, file_key(p, pending->locations[k].file_number));
            if (file) pending->locations[k].file = *file;
            if (pending->names[k].function_label.size)
                pending->locations[k].function = function_name(p, &pending->names[k]);
        }
    }
}
