#include "base/str.h"

#include "base/guard.h"

#include <string.h>

Str str_from(const char *text) { return text ? (Str){text, strlen(text)} : (Str){"", 0}; }

bool str_equal(Str a, Str b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

int str_compare(Str a, Str b) {
    size_t shared = a.size < b.size ? a.size : b.size;
    int order = shared ? memcmp(a.data, b.data, shared) : 0;
    if (order != 0) return order;
    return (a.size > b.size) - (a.size < b.size);
}

bool str_starts_with(Str s, Str prefix) {
    return s.size >= prefix.size && str_equal((Str){s.data, prefix.size}, prefix);
}

bool str_ends_with(Str s, Str suffix) {
    if (s.size < suffix.size) return false;
    return str_equal((Str){s.data + (s.size - suffix.size), suffix.size}, suffix);
}

Str str_copy(Arena *arena, Str s) {
    char *copy = arena_alloc(arena, s.size + 1);
    if (s.size) memcpy(copy, s.data, s.size);
    return (Str){copy, s.size};
}

const char *str_terminated(Arena *arena, Str s) { return str_copy(arena, s).data; }

Str str_format(Arena *arena, const char *format, ...) {
    Buf buf = {.arena = arena};
    va_list args;
    va_start(args, format);
    buf_vprint(&buf, format, args);
    va_end(args);
    return buf_str(&buf);
}

/* The multiply-and-fold mix of wyhash: both halves of a 64 x 64 bit product. */
uint64_t hash_word(uint64_t seed, uint64_t word) {
    __extension__ typedef unsigned __int128 Wide;
    Wide product = (Wide)(seed ^ 0xa0761d6478bd642fU) * (word ^ 0xe7037ed1a0b428dbU);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The size enters first, so that texts that differ in trailing zero bytes differ in hash. */
uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    uint64_t hash = hash_word(seed, size);
    for (; size >= 8; size -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = hash_word(hash, word);
    }
    uint64_t tail = 0;
    if (size) memcpy(&tail, at, size);
    return hash_word(hash, tail);
}

uint64_t str_hash(Str s) { return hash_bytes(0, s.data, s.size); }

/* By the table of well-formed sequences in the Unicode standard (3.9, table 3-7): the second byte's
 * range excludes overlong forms, surrogates and what lies beyond U+10FFFF. */
size_t str_utf8_size(Str s) {
    if (!s.size) return 0;
    const unsigned char *at = (const unsigned char *)s.data;
    unsigned char first = at[0], low = 0x80, high = 0xbf;
    if (first < 0x80) return 1;
    size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || s.size < size) return 0;
    if (first == 0xe0) low = 0xa0;
    if (first == 0xed) high = 0x9f;
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;
    if (at[1] < low || at[1] > high) return 0;
    for (size_t i = 2; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80) return 0;
    }
    return size;
}

bool str_is_utf8(Str s) {
    for (size_t at = 0; at < s.size;) {
        size_t size = str_utf8_size((Str){s.data + at, s.size - at});
        if (!size) return false;
        at += size;
    }
    return true;
}
