/* Options by name, as the command line has them. */
#include "compiler/session.h"

#include <inttypes.h>
#include <stdio.h>

static const tcc_option options[] = {
#define OPTION(name, argument, meaning) {sizeof(tcc_option), #name, argument, meaning},
#include "compiler/options.def"
#undef OPTION
};

const tcc_option *tcc_option_at(uint32_t index) {
    return index < sizeof options / sizeof *options ? &options[index] : NULL;
}

static tcc_status wrong(tcc_compiler *c, Str name, Str value, const char *expected) {
    const char *dashes = name.size == 1 ? "-" : "--";
    return compiler_fail(c, TCC_INVALID, "%s%.*s: \"%.*s\" is not %s", dashes, STR_ARG(name),
                         STR_ARG(value), expected);
}

static Str cut(Str *text, char separator) {
    size_t n = 0;
    while (n < text->size && text->data[n] != separator) n++;
    Str part = {text->data, n};
    size_t skip = n < text->size ? n + 1 : n;
    *text = (Str){text->data + skip, text->size - skip};
    return part;
}

/* "8" or "1..64:16" or "1..64". */
static bool parse_range(Str text, DimRange *out) {
    size_t dots = 0;
    while (dots + 1 < text.size && !(text.data[dots] == '.' && text.data[dots + 1] == '.')) dots++;
    if (dots + 1 >= text.size) {
        if (!str_to_int(text, &out->lo)) return false;
        out->hi = out->tune = out->lo;
        return out->lo >= 0;
    }
    Str low = {text.data, dots}, rest = {text.data + dots + 2, text.size - dots - 2};
    Str high = cut(&rest, ':');
    if (!str_to_int(low, &out->lo) || !str_to_int(high, &out->hi)) return false;
    out->tune = out->hi;
    if (rest.size > 0 && !str_to_int(rest, &out->tune)) return false;
    return out->lo >= 0 && out->lo <= out->tune && out->tune <= out->hi;
}

static tcc_status set_dim(tcc_compiler *c, Str value) {
    Str rest = value, name = cut(&rest, '=');
    DimRange dim = {.name = str_copy(c->arena, name)};
    if (name.size == 0 || !parse_range(rest, &dim))
        return wrong(c, STR("D"), value, "NAME=N or NAME=LO..HI:TUNE");
    for (size_t i = 0; i < c->options.dims.count; i++) {
        if (!str_equal(c->options.dims.data[i].name, name)) continue;
        c->options.dims.data[i] = dim;
        return TCC_OK;
    }
    vec_push(c->arena, &c->options.dims, dim);
    return TCC_OK;
}

static tcc_status set_schedule(tcc_compiler *c, Str value) {
    Schedule schedule;
    const char *why = NULL;
    Str rest = value, kernel = cut(&rest, ':');
    if (kernel.size == 0 || rest.size == 0)
        return wrong(c, STR("schedule"), value, "KERNEL:FIELD=N");
    if (!schedule_parse(c->arena, rest, &schedule, &why))
        return compiler_fail(c, TCC_INVALID, "--schedule: %s", why);
    ScheduleOverride override = {str_copy(c->arena, kernel), str_copy(c->arena, rest)};
    vec_push(c->arena, &c->options.schedules, override);
    return TCC_OK;
}

static tcc_status set_number(tcc_compiler *c, Str name, Str value, int64_t least, int64_t greatest,
                             int64_t *out) {
    int64_t number;
    char expected[80];
    if (str_to_int(value, &number) && number >= least && number <= greatest) {
        *out = number;
        return TCC_OK;
    }
    if (greatest == INT64_MAX)
        snprintf(expected, sizeof expected, "a whole number of at least %" PRId64, least);
    else
        snprintf(expected, sizeof expected, "a whole number from %" PRId64 " to %" PRId64, least,
                 greatest);
    return wrong(c, name, value, expected);
}

static tcc_status set_precision(tcc_compiler *c, Str value) {
    if (!str_equal(value, STR("none")) && !str_equal(value, STR("fused")))
        return wrong(c, STR("fexcess-precision"), value, "none or fused");
    c->options.round_everywhere = str_equal(value, STR("none"));
    return TCC_OK;
}

/* The options that are kept as they are written. */
static const struct {
    const char *name;
    size_t offset; /* of its Str in Options */
} text_options[] = {{"target", offsetof(Options, target)},
                    {"entry", offsetof(Options, entry)},
                    {"params", offsetof(Options, params)},
                    {"passes", offsetof(Options, passes)},
                    {"skip", offsetof(Options, skip)},
                    {"d", offsetof(Options, dump_letters)},
                    {"dump-after", offsetof(Options, dump_after)},
                    {"dump-dir", offsetof(Options, dump_dir)}};
enum { TEXT_OPTIONS = sizeof text_options / sizeof *text_options };

static Str *text_at(Options *o, size_t index) {
    return (Str *)(void *)((char *)o + text_options[index].offset);
}

static Str *text_option(Options *o, Str name) {
    for (size_t i = 0; i < TEXT_OPTIONS; i++)
        if (str_equal(str_from(text_options[i].name), name)) return text_at(o, i);
    return NULL;
}

tcc_status option_set(tcc_compiler *c, Str name, Str value) {
    Options *o = &c->options;
    int64_t number = 0;
    tcc_status status = TCC_OK;
    Str *text = text_option(o, name);
    if (text != NULL) {
        *text = str_copy(c->arena, value);
    } else if (str_equal(name, STR("O"))) {
        status = set_number(c, name, value, 0, 3, &number);
        if (status == TCC_OK) o->level = (int)number;
    } else if (str_equal(name, STR("threads"))) {
        status = set_number(c, name, value, 0, 1024, &number);
        if (status == TCC_OK) o->threads = (uint32_t)number;
    } else if (str_equal(name, STR("unit-cache"))) {
        status = set_number(c, name, value, 0, 1 << 20, &number);
        if (status == TCC_OK) o->cache_units = (uint32_t)number;
    } else if (str_equal(name, STR("pass-limit"))) {
        status = set_number(c, name, value, 0, INT64_MAX, &o->pass_limit);
    } else if (str_equal(name, STR("D"))) {
        status = set_dim(c, value);
    } else if (str_equal(name, STR("schedule"))) {
        status = set_schedule(c, value);
    } else if (str_equal(name, STR("fexcess-precision"))) {
        status = set_precision(c, value);
    } else if (str_equal(name, STR("fstrict-sums"))) {
        o->strict_sums = true;
    } else if (str_equal(name, STR("strip-info"))) {
        o->strip_info = true;
    } else {
        status = compiler_fail(c, TCC_INVALID, "there is no option \"%.*s\"", STR_ARG(name));
    }
    return status;
}

static void put_text(Buf *buf, const char *name, Str value) {
    if (value.size > 0) buf_print(buf, " --%s=%.*s", name, STR_ARG(value));
}

Str options_text(const Options *o, Arena *arena) {
    Buf buf = {.arena = arena};
    buf_print(&buf, "-O%d", o->level);
    for (size_t i = 0; i < o->dims.count; i++) {
        const DimRange *d = &o->dims.data[i];
        buf_print(&buf, " -D %.*s=%lld..%lld:%lld", STR_ARG(d->name), (long long)d->lo,
                  (long long)d->hi, (long long)d->tune);
    }
    put_text(&buf, "entry", o->entry);
    put_text(&buf, "params", o->params);
    put_text(&buf, "passes", o->passes);
    put_text(&buf, "skip", o->skip);
    if (o->pass_limit >= 0) buf_print(&buf, " --pass-limit=%lld", (long long)o->pass_limit);
    for (size_t i = 0; i < o->schedules.count; i++)
        buf_print(&buf, " --schedule=%.*s:%.*s", STR_ARG(o->schedules.data[i].kernel),
                  STR_ARG(o->schedules.data[i].text));
    if (o->strict_sums) buf_put(&buf, STR(" -fstrict-sums"));
    if (o->round_everywhere) buf_put(&buf, STR(" -fexcess-precision=none"));
    return buf_str(&buf);
}

static void copy_text(Arena *arena, Str *text) { *text = str_copy(arena, *text); }

Options options_copy(const Options *from, Arena *arena) {
    Options copy = *from;
    copy.dims.capacity = from->dims.count;
    copy.dims.data = arena_copy(arena, from->dims.data, from->dims.count * sizeof *copy.dims.data);
    for (size_t i = 0; i < copy.dims.count; i++) copy_text(arena, &copy.dims.data[i].name);
    size_t count = from->schedules.count;
    copy.schedules.capacity = count;
    copy.schedules.data =
        arena_copy(arena, from->schedules.data, count * sizeof *copy.schedules.data);
    for (size_t i = 0; i < count; i++) {
        copy_text(arena, &copy.schedules.data[i].kernel);
        copy_text(arena, &copy.schedules.data[i].text);
    }
    for (size_t i = 0; i < TEXT_OPTIONS; i++) copy_text(arena, text_at(&copy, i));
    return copy;
}

typedef struct SetCall {
    tcc_compiler *compiler;
    Str name, value;
} SetCall;

static tcc_status set_body(void *data) {
    SetCall *call = data;
    return option_set(call->compiler, call->name, call->value);
}

tcc_status tcc_set_option(tcc_compiler *compiler, const char *name, const char *value) {
    SetCall call = {compiler, str_from(name), str_from(value)};
    return compiler_enter(compiler, set_body, &call);
}
