/* Growing texts (str.h). */
#include "base/guard.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

/* Room for `more` bytes and the final zero. */
static void reserve(Buf *buf, size_t more) {
    size_t wanted;
    if (__builtin_add_overflow(buf->size, more, &wanted) ||
        __builtin_add_overflow(wanted, (size_t)1, &wanted)) {
        guard_raise(GUARD_memory, "a text of more than %zu bytes", buf->size);
    }
    if (wanted <= buf->capacity) return;
    size_t capacity = buf->capacity > wanted / 2 ? buf->capacity * 2 : wanted;
    if (capacity < 32) capacity = 32;
    char *data = arena_alloc(buf->arena, capacity);
    if (buf->size) memcpy(data, buf->data, buf->size);
    buf->data = data;
    buf->capacity = capacity;
}

void buf_bytes(Buf *buf, const void *bytes, size_t size) {
    reserve(buf, size);
    if (size) memcpy(buf->data + buf->size, bytes, size);
    buf->size += size;
    buf->data[buf->size] = '\0';
}

void buf_put(Buf *buf, Str s) { buf_bytes(buf, s.data, s.size); }

void buf_char(Buf *buf, char c) { buf_bytes(buf, &c, 1); }

void buf_print(Buf *buf, const char *format, ...) {
    va_list args;
    va_start(args, format);
    buf_vprint(buf, format, args);
    va_end(args);
}

Str buf_str(const Buf *buf) { return buf->data ? (Str){buf->data, buf->size} : (Str){"", 0}; }

/* C0 and C1 controls and DEL act on terminals. A C1 control in UTF-8 is C2 80 to C2 9F. */
static bool is_control(const unsigned char *at, size_t size) {
    if (size == 1) return at[0] < 0x20 || at[0] == 0x7f;
    return size == 2 && at[0] == 0xc2 && at[1] < 0xa0;
}

static void put_escape(Buf *buf, unsigned char byte) {
    static const char hex[] = "0123456789abcdef";
    const char *named = byte == '\n' ? "\\n" : byte == '\t' ? "\\t" : byte == '\r' ? "\\r" : NULL;
    const char numbered[] = {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    if (named) {
        buf_bytes(buf, named, 2);
    } else {
        buf_bytes(buf, numbered, sizeof numbered);
    }
}

size_t buf_escaped_char(Buf *buf, Str s) {
    size_t size = str_utf8_size(s);
    const unsigned char *at = (const unsigned char *)s.data;
    if (size && !is_control(at, size)) {
        buf_bytes(buf, s.data, size);
        return size;
    }
    if (!size) size = 1;
    for (size_t i = 0; i < size; i++) put_escape(buf, at[i]);
    return size;
}

void buf_escaped(Buf *buf, Str s) {
    for (size_t at = 0; at < s.size;) {
        at += buf_escaped_char(buf, (Str){s.data + at, s.size - at});
    }
}

void buf_quoted(Buf *buf, Str s) {
    buf_char(buf, '"');
    for (size_t at = 0; at < s.size;) {
        if (s.data[at] == '"' || s.data[at] == '\\') buf_char(buf, '\\');
        at += buf_escaped_char(buf, (Str){s.data + at, s.size - at});
    }
    buf_char(buf, '"');
}
