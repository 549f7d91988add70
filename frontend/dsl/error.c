/* Errors of the builder: where they are said, and that each place says one. */
#include "frontend/dsl/sema.h"

static const Frame *user_frame(const Sema *s) {
    const Frame *frame = s->frame;
    while (frame && frame->library) frame = frame->caller;
    return frame;
}

Loc sema_user_loc(const Sema *s, Loc loc) {
    if (!s->frame || !s->frame->library) return loc;
    const Origin *origin = s->frame->origin;
    while (origin && origin->library) origin = origin->caller;
    return origin ? origin->loc : loc;
}

bool sema_may_report(Sema *s, Loc loc) {
    if (s->stopped) return false;
    Loc user = sema_user_loc(s, loc);
    Str key = str_format(s->arena, "%u:%u:%u", user.file, user.line, user.column);
    return map_set(&s->reported, key, s) == NULL;
}

static void note_callers(const Sema *s, Loc loc) {
    if (s->frame && s->frame->library) {
        const Ast *function = s->frame->function;
        diag_note(s->diags, loc, MSG_INSIDE_LIBRARY, STR_ARG(function->text));
    }
    const Frame *user = user_frame(s);
    const Origin *at = user ? user->origin : NULL;
    enum { MOST = 8 };
    for (int i = 0; at && i < MOST; at = at->caller, i++) {
        diag_note(s->diags, at->loc, MSG_NOTE_CALLER);
    }
}

static bool report(Sema *s, Loc loc, const char *id, const char *format, va_list args) {
    if (!sema_may_report(s, loc)) return false;
    Buf text = {.arena = s->arena};
    buf_vprint(&text, format, args);
    diag_error(s->diags, s->host_call.file ? s->host_call : sema_user_loc(s, loc), id, "%s",
               buf_str(&text).data);
    note_callers(s, loc);
    return true;
}

bool sema_error(Sema *s, Loc loc, const char *id, const char *format, ...) {
    va_list args;
    va_start(args, format);
    bool said = report(s, loc, id, format, args);
    va_end(args);
    return said;
}

Value sema_limit(Sema *s, Loc loc, const char *id, const char *format, ...) {
    va_list args;
    va_start(args, format);
    report(s, loc, id, format, args);
    va_end(args);
    s->stopped = true;
    return dsl_value_error();
}

const char *sema_type_text(Sema *s, NodeId node) {
    Buf buf = {.arena = s->arena};
    buf_type(&buf, sema_type(s, node));
    return buf.data;
}

const char *sema_dim_text(Sema *s, const Dim *dim) {
    Buf buf = {.arena = s->arena};
    buf_dim(&buf, dim);
    return buf.data;
}

const char *sema_value_text(Sema *s, const Value *value) {
    return dsl_value_text(s->arena, s->graph, value);
}
