#include "base/json.h"
#include "base/guard.h"

#include <inttypes.h>
#include <math.h>

static void put_line(Buf *buf, uint32_t depth) {
    buf_char(buf, '\n');
    for (uint32_t i = 0; i < 2 * depth; i++) buf_char(buf, ' ');
}

static void put_text(Buf *buf, Str text) {
    buf_char(buf, '"');
    for (size_t at = 0; at < text.size;) {
        Str rest = {text.data + at, text.size - at};
        size_t size = str_utf8_size(rest);
        unsigned char c = (unsigned char)*rest.data;
        if (size == 0)
            buf_put(buf, STR("\xef\xbf\xbd"));
        else if (c == '"' || c == '\\')
            buf_print(buf, "\\%c", c);
        else if (c < ' ')
            buf_print(buf, "\\u%04x", c);
        else
            buf_bytes(buf, rest.data, size);
        at += size == 0 ? 1 : size;
    }
    buf_char(buf, '"');
}

/* What stands before a value: a comma behind the one before, a new line, and the key. */
static void put_key(Json *json, const char *key) {
    if (json->depth > 0) {
        if (json->filled[json->depth]) buf_char(&json->buf, ',');
        put_line(&json->buf, json->depth);
    }
    json->filled[json->depth] = true;
    if (key == NULL) return;
    put_text(&json->buf, str_from(key));
    buf_put(&json->buf, STR(": "));
}

static void begin(Json *json, const char *key, char opener, char closer) {
    require(json->depth < JSON_DEPTH);
    put_key(json, key);
    buf_char(&json->buf, opener);
    json->closers[json->depth++] = closer;
    json->filled[json->depth] = false;
}

void json_begin_object(Json *json, const char *key) { begin(json, key, '{', '}'); }

void json_begin_list(Json *json, const char *key) { begin(json, key, '[', ']'); }

void json_end(Json *json) {
    require(json->depth > 0);
    bool filled = json->filled[json->depth--];
    if (filled) put_line(&json->buf, json->depth);
    buf_char(&json->buf, json->closers[json->depth]);
}

void json_put_string(Json *json, const char *key, Str text) {
    put_key(json, key);
    put_text(&json->buf, text);
}

void json_put_int(Json *json, const char *key, int64_t value) {
    put_key(json, key);
    buf_print(&json->buf, "%" PRId64, value);
}

void json_put_number(Json *json, const char *key, double value) {
    put_key(json, key);
    if (isfinite(value))
        buf_print(&json->buf, "%.17g", value);
    else
        buf_put(&json->buf, STR("null"));
}
