/* Does a form take what was written after the opcode? Types, vectors and spaces are compared in
 * their order, modifiers as sets. */
#include "emulator/ptx/parser.h"

#include <string.h>

/* How far the comparison came: of several forms, the one that came farthest explains best. */
typedef enum MatchStep {
    STEP_types,
    STEP_shape,
    STEP_foreign, /* a modifier that the form does not know */
    STEP_spaces,
    STEP_vector,
    STEP_missing
} MatchStep;

static void say(Arena *arena, Str *out_why, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void say(Arena *arena, Str *out_why, const char *format, ...) {
    va_list args;
    Buf buf = {.arena = arena};
    if (!out_why) return;
    va_start(args, format);
    buf_vprint(&buf, format, args);
    va_end(args);
    *out_why = buf_str(&buf);
}

static int count_bits(const PtxModifiers *a, const PtxModifiers *b) {
    int count = 0;
    for (int i = 0; i < 4; i++) count += __builtin_popcountll(a->words[i] & b->words[i]);
    return count;
}

/* ---- types, shapes, vectors, spaces ------------------------------------------------------- */

static void put_types(Buf *buf, uint64_t types) {
    bool first = true;
    for (int t = 0; t < PTX_TYPE_count; t++) {
        if (!(types >> t & 1)) continue;
        buf_print(buf, "%s.%s", first ? "" : " ", ptx_type_name((PtxType)t));
        first = false;
    }
}

static void say_types(Arena *arena, Str *out_why, const FormItem *item, PtxType found) {
    Buf buf = {.arena = arena};
    if (!out_why) return;
    buf_print(&buf, "takes ");
    put_types(&buf, item->types);
    buf_print(&buf, ", not .%s", ptx_type_name(found));
    *out_why = buf_str(&buf);
}

/* The number of types that fit, from the left. */
static int match_types(Arena *arena, const Form *form, const Suffix *suffix, Str *out_why) {
    int at = 0;
    for (int i = 0; i < form->item_count; i++) {
        const FormItem *item = &form->items[i];
        if (item->kind != WORD_type) continue;
        if (at == suffix->type_count) break;
        if (!(item->types >> suffix->types[at] & 1)) {
            say_types(arena, out_why, item, (PtxType)suffix->types[at]);
            return at;
        }
        at++;
    }
    if (at == form->type_count && at == suffix->type_count) return PTX_TYPES;
    say(arena, out_why, "takes %d type%s, %d given", form->type_count,
        form->type_count == 1 ? "" : "s", suffix->type_count);
    return at;
}

static bool shape_fits(const FormItem *item, const uint8_t shape[3]) {
    for (int i = 0; i < item->shape_count; i++) {
        const uint8_t *want = item->shapes[i];
        if (item->rule == SHAPE_exact && memcmp(want, shape, 3) == 0) return true;
        int n = shape[1] ? shape[1] : 256;
        if (item->rule == SHAPE_exact || shape[0] != want[0] || shape[2] != want[2] || n % 8)
            continue;
        if (item->rule == SHAPE_any_n || n <= 24 || n % 16 == 0) return true;
    }
    return false;
}

static bool match_shape(Arena *arena, const Form *form, const Suffix *suffix, Str *out_why) {
    bool wanted = false;
    for (int i = 0; i < form->item_count; i++) {
        if (form->items[i].kind != WORD_shape) continue;
        wanted = true;
        if (suffix->has_shape && shape_fits(&form->items[i], suffix->shape)) return true;
    }
    if (!wanted && !suffix->has_shape) return true;
    say(arena, out_why, !suffix->has_shape ? "needs a shape" : "does not come in that shape");
    return false;
}

/* Vectors have at most 128 bits before sm_100. */
static bool is_narrow(const Form *form, const Suffix *suffix) {
    return form->sm >= 100 || ptx_type_bits((PtxType)suffix->types[0]) * suffix->vector <= 128;
}

static bool match_vector(Arena *arena, const Form *form, const Suffix *suffix, Str *out_why) {
    bool optional = true;
    for (int i = 0; i < form->item_count; i++) {
        const FormItem *item = &form->items[i];
        if (item->kind != WORD_vector) continue;
        if (suffix->vector > 1 && item->vectors & suffix->vector) {
            if (is_narrow(form, suffix)) return true;
            say(arena, out_why, "takes vectors of at most 128 bits");
            return false;
        }
        optional = item->optional;
    }
    if (suffix->vector == 1 && optional) return true;
    if (suffix->vector == 1)
        say(arena, out_why, "needs a vector size such as .v2");
    else
        say(arena, out_why, "does not take .v%d here", suffix->vector);
    return false;
}

/* Spaces stand in the form's order; a space that may be missing is passed over. */
static bool match_spaces(Arena *arena, const Form *form, const Suffix *suffix, Str *out_why) {
    int at = 0;
    for (int i = 0; i < form->item_count; i++) {
        const FormItem *item = &form->items[i];
        if (item->kind != WORD_space) continue;
        if (at < suffix->space_count &&
            ptx_has(&item->modifiers, (PtxModifier)suffix->spaces[at])) {
            at++;
        } else if (!item->optional) {
            say(arena, out_why, "needs a state space");
            return false;
        }
    }
    if (at == suffix->space_count) return true;
    say(arena, out_why, "does not take .%s here",
        ptx_modifier_text((PtxModifier)suffix->spaces[at]));
    return false;
}

/* ---- modifiers ---------------------------------------------------------------------------- */

static bool match_foreign(Arena *arena, const Form *form, const Suffix *suffix, Str *out_why) {
    PtxModifiers left = suffix->modifiers;
    for (int i = 0; i < form->item_count; i++)
        for (int w = 0; w < 4 && form->items[i].kind == WORD_modifier; w++)
            left.words[w] &= ~form->items[i].modifiers.words[w];
    for (int m = 0; m < PTX_MOD_count; m++) {
        if (!ptx_has(&left, (PtxModifier)m)) continue;
        say(arena, out_why, "does not take .%s here", ptx_modifier_text((PtxModifier)m));
        return false;
    }
    return true;
}

static void say_missing(Arena *arena, Str *out_why, const FormItem *item) {
    Buf buf = {.arena = arena};
    int shown = 0;
    if (!out_why) return;
    buf_print(&buf, "needs ");
    for (int m = 0; m < PTX_MOD_count; m++)
        if (ptx_has(&item->modifiers, (PtxModifier)m))
            buf_print(&buf, "%s.%s", shown++ ? " or " : "", ptx_modifier_text((PtxModifier)m));
    *out_why = buf_str(&buf);
}

static bool match_modifiers(Arena *arena, const Form *form, const Suffix *suffix, Str *out_why) {
    int before = 0;
    for (int i = 0; i < form->item_count; i++) {
        const FormItem *item = &form->items[i];
        if (item->kind != WORD_modifier) continue;
        int count = count_bits(&item->modifiers, &suffix->modifiers);
        bool needed = item->joined ? before > 0 : !item->optional;
        if (count > 1) {
            say(arena, out_why, "takes one modifier where several are written");
            return false;
        }
        if (count == 0 && needed) {
            say_missing(arena, out_why, item);
            return false;
        }
        if (count > 0 && item->joined && before == 0) {
            say_missing(arena, out_why, item - 1);
            return false;
        }
        before = count;
    }
    return true;
}

int form_match(Arena *arena, const Form *form, const Suffix *suffix, Str *out_why) {
    int types = match_types(arena, form, suffix, out_why);
    if (types < PTX_TYPES) return STEP_types + types;
    const int after_types = PTX_TYPES;
    if (!match_shape(arena, form, suffix, out_why)) return after_types + STEP_shape;
    if (!match_foreign(arena, form, suffix, out_why)) return after_types + STEP_foreign;
    if (!match_spaces(arena, form, suffix, out_why)) return after_types + STEP_spaces;
    if (!match_vector(arena, form, suffix, out_why)) return after_types + STEP_vector;
    if (!match_modifiers(arena, form, suffix, out_why)) return after_types + STEP_missing;
    return MATCH_complete;
}
