#include "tests/threads/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct Reader {
    Arena *arena;
    Str rest;
    Str *why;
} Reader;

static bool fail(Reader *r, const char *expected) {
    *r->why = str_format(r->arena, "expected %s before \"%.*s\"", expected, STR_ARG(r->rest));
    return false;
}

static void skip(Reader *r, size_t count) {
    r->rest = (Str){r->rest.data + count, r->rest.size - count};
}

static void skip_blanks(Reader *r) {
    while (r->rest.size && r->rest.data[0] == ' ') skip(r, 1);
}

static bool accept(Reader *r, const char *text) {
    skip_blanks(r);
    if (!str_starts_with(r->rest, str_from(text))) return false;
    skip(r, strlen(text));
    return true;
}

// The bytes up to one of `ends`, a blank or the end of the text.
static Str take_word(Reader *r, const char *ends) {
    size_t n = 0;
    skip_blanks(r);
    while (n < r->rest.size && r->rest.data[n] != ' ' && !strchr(ends, r->rest.data[n])) n++;
    Str word = {r->rest.data, n};
    skip(r, n);
    return word;
}

// ---- values ---------------------------------------------------------------------------------

static bool find(Str text, const char *part, Str *before, Str *after) {
    size_t size = strlen(part);
    for (size_t i = 1; i + size <= text.size; i++) {
        if (memcmp(text.data + i, part, size) != 0) continue;
        *before = (Str){text.data, i};
        *after = (Str){text.data + i + size, text.size - i - size};
        return true;
    }
    return false;
}

static bool push_range(Reader *r, ThreadValue *value, Str first, Str rest) {
    int64_t from, to, step = 1;
    Str last = rest, by;
    if (find(rest, ":", &last, &by) && !str_to_int(by, &step)) return fail(r, "a step");
    if (!str_to_int(first, &from) || !str_to_int(last, &to) || step < 1)
        return fail(r, "a range of whole numbers");
    for (int64_t v = from; v <= to; v += step)
        vec_push(r->arena, &value->numbers, str_format(r->arena, "%lld", (long long)v));
    return true;
}

static bool read_item(Reader *r, ThreadValue *value) {
    Str word = take_word(r, ",]"), first, rest;
    int64_t count = 1;
    if (word.size == 0) return fail(r, "a number");
    if (find(word, "..", &first, &rest)) return push_range(r, value, first, rest);
    if (find(word, "*", &first, &rest)) {
        if (!str_to_int(rest, &count)) return fail(r, "a count");
        word = first;
    }
    while (count-- > 0) vec_push(r->arena, &value->numbers, word);
    return true;
}

static bool read_numbers(Reader *r, ThreadValue *value) {
    if (!accept(r, "[")) return read_item(r, value);
    if (accept(r, "]")) return true;
    do {
        if (!read_item(r, value)) return false;
    } while (accept(r, ","));
    return accept(r, "]") || fail(r, "']'");
}

static bool read_shape(Reader *r, ThreadValue *value) {
    value->has_shape = true;
    do {
        if (value->rank == TYPE_MAX_RANK) return fail(r, "fewer axes");
        if (!str_to_int(take_word(r, ",]"), &value->dims[value->rank++])) return fail(r, "a size");
    } while (accept(r, ","));
    return accept(r, "]") || fail(r, "']'");
}

static bool read_value(Reader *r, ThreadValue *value) {
    *value = (ThreadValue){.name = take_word(r, "=~[")};
    if (value->name.size == 0) return fail(r, "a name");
    if (accept(r, "[") && !read_shape(r, value)) return false;
    if (accept(r, "~")) {
        if (!str_to_double(take_word(r, "["), &value->tolerance)) return fail(r, "a tolerance");
    } else if (!accept(r, "=")) {
        return fail(r, "'=' or '~'");
    }
    return read_numbers(r, value);
}

// ---- cases ----------------------------------------------------------------------------------

static bool read_case(Reader *r, ThreadCase *c) {
    ThreadValue value;
    while (!accept(r, "->")) {
        if (!read_value(r, &value)) return false;
        vec_push(r->arena, &c->inputs, value);
    }
    if (accept(r, "index ")) {
        c->index_error = true;
        return str_to_int(take_word(r, ""), &c->index) || fail(r, "an index");
    }
    for (skip_blanks(r); r->rest.size; skip_blanks(r)) {
        if (!read_value(r, &value)) return false;
        vec_push(r->arena, &c->outputs, value);
    }
    return c->outputs.count > 0 || fail(r, "an output");
}

static Str take_line(Str *text) {
    const char *end = memchr(text->data, '\n', text->size);
    size_t size = end ? (size_t)(end - text->data) : text->size;
    Str line = {text->data, size};
    *text = (Str){text->data + size + (end != NULL), text->size - size - (end != NULL)};
    return line;
}

bool thread_read(Arena *arena, Str text, Thread *out, Str *out_why) {
    VEC(Buf) texts = {0};
    *out = (Thread){0};
    while (text.size) {
        Str line = take_line(&text);
        if (str_starts_with(line, STR("#ptx: "))) out->ptx = (Str){line.data + 6, line.size - 6};
        if (!str_starts_with(line, STR("#: "))) continue;
        if (line.size < 4 || line.data[3] != ' ' || texts.count == 0)
            vec_push(arena, &texts, (Buf){.arena = arena});
        buf_put(&texts.data[texts.count - 1], (Str){line.data + 2, line.size - 2});
    }
    for (size_t i = 0; i < texts.count; i++) {
        Reader r = {arena, buf_str(&texts.data[i]), out_why};
        ThreadCase c = {0};
        if (!read_case(&r, &c)) return false;
        vec_push(arena, &out->cases, c);
    }
    *out_why = STR("there is no case");
    return out->cases.count > 0;
}

const ThreadValue *thread_find(const ThreadValue *values, size_t count, Str name) {
    for (size_t i = 0; i < count; i++)
        if (str_equal(values[i].name, name)) return &values[i];
    return NULL;
}

// ---- tensors --------------------------------------------------------------------------------

static bool set_whole(Tensor *t, int64_t i, const char *text) {
    char *end;
    errno = 0;
    long long value = *text == '-' ? strtoll(text, &end, 10) : (long long)strtoull(text, &end, 10);
    bool truth = strcmp(text, "true") == 0;
    if (truth || strcmp(text, "false") == 0)
        value = truth;
    else if (*end != 0 || errno != 0)
        return false;
    tensor_set_int(t, i, value);
    return true;
}

static bool set_float(Tensor *t, int64_t i, const char *text) {
    char *end;
    double value = strtod(text, &end); // the programs here keep the C locale
    tensor_set(t, i, value);
    return *end == 0;
}

bool thread_fill(const ThreadValue *value, Tensor *out) {
    if (tensor_elements(out) != (int64_t)value->numbers.count) return false;
    bool whole = !dtype_is_float(out->dtype), good = true;
    for (size_t i = 0; i < value->numbers.count && good; i++) {
        char text[64];
        Str number = value->numbers.data[i];
        if (number.size >= sizeof text) return false;
        memcpy(text, number.data, number.size);
        text[number.size] = 0;
        good = whole ? set_whole(out, (int64_t)i, text) : set_float(out, (int64_t)i, text);
    }
    return good;
}
