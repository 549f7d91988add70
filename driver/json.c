/* The reader is a recursive descent over text that nobody vouches for. */
#include "driver/json.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64 };

typedef struct Reader {
    const char *at, *end;
    int depth;
    bool out_of_memory;
} Reader;

static void skip_blanks(Reader *r) {
    while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at) r->at++;
}

/* Whether the next character is `c`, which is then passed. */
static bool take(Reader *r, char c) {
    skip_blanks(r);
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static bool read_string(Reader *r, JsonText *out) {
    if (!take(r, '"')) return false;
    const char *start = r->at;
    while (r->at < r->end && *r->at != '"') {
        if ((unsigned char)*r->at < ' ') return false;
        r->at += *r->at == '\\' && r->end - r->at > 1 ? 2 : 1;
    }
    *out = (JsonText){start, (size_t)(r->at - start)};
    return take(r, '"');
}

static bool read_other(Reader *r, JsonText *out) {
    const char *start = r->at;
    while (r->at < r->end && *r->at && !strchr(" \t\r\n,]}:\"[{", *r->at)) r->at++;
    *out = (JsonText){start, (size_t)(r->at - start)};
    return out->size > 0;
}

static JsonValue *read_value(Reader *r);

/* The members up to `close`; `keyed`: each has a name before it. */
static bool read_members(Reader *r, JsonValue *parent, char close, bool keyed) {
    JsonValue **tail = &parent->first;
    if (take(r, close)) return true;
    do {
        JsonText key = {0};
        if (keyed && !(read_string(r, &key) && take(r, ':'))) return false;
        *tail = read_value(r);
        if (!*tail) return false;
        (*tail)->key = key;
        tail = &(*tail)->next;
    } while (take(r, ','));
    return take(r, close);
}

static bool read_into(Reader *r, JsonValue *value) {
    skip_blanks(r);
    if (r->at == r->end) return false;
    value->kind = *r->at == '{'   ? JSON_object
                  : *r->at == '[' ? JSON_array
                  : *r->at == '"' ? JSON_string
                                  : JSON_other;
    switch (value->kind) {
    case JSON_object: r->at++; return read_members(r, value, '}', true);
    case JSON_array: r->at++; return read_members(r, value, ']', false);
    case JSON_string: return read_string(r, &value->text);
    case JSON_other: return read_other(r, &value->text);
    }
    return false;
}

static JsonValue *read_value(Reader *r) {
    if (r->depth == MAX_DEPTH) return NULL;
    JsonValue *value = calloc(1, sizeof *value);
    if (!value) r->out_of_memory = true;
    if (!value) return NULL;
    r->depth++;
    bool good = read_into(r, value);
    r->depth--;
    if (good) return value;
    json_free(value);
    return NULL;
}

bool json_read(const char *text, size_t size, JsonValue **out_root) {
    Reader reader = {.at = text, .end = text + size};
    *out_root = read_value(&reader);
    skip_blanks(&reader);
    if (reader.at != reader.end) {
        json_free(*out_root);
        *out_root = NULL;
    }
    return !reader.out_of_memory;
}

void json_free(JsonValue *value) {
    while (value) {
        JsonValue *next = value->next;
        json_free(value->first);
        free(value);
        value = next;
    }
}

bool json_is(JsonText text, const char *word) {
    return strlen(word) == text.size && memcmp(text.data, word, text.size) == 0;
}

const JsonValue *json_get(const JsonValue *object, const char *key) {
    if (!object || object->kind != JSON_object) return NULL;
    for (const JsonValue *member = object->first; member; member = member->next)
        if (json_is(member->key, key)) return member;
    return NULL;
}

int64_t json_get_int(const JsonValue *object, const char *key, int64_t otherwise) {
    char digits[24], *end;
    const JsonValue *member = json_get(object, key);
    if (!member || member->kind != JSON_other || member->text.size >= sizeof digits)
        return otherwise;
    memcpy(digits, member->text.data, member->text.size);
    digits[member->text.size] = '\0';
    long long value = strtoll(digits, &end, 10);
    return *end == '\0' ? value : otherwise;
}
