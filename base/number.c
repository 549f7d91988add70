/* Numbers as text (str.h), the same in every locale: glibc's newlocale gives its static "C" locale
 * without allocating, and uselocale switches the calling thread only. */
#include "base/guard.h"
#include "base/scratch.h"
#include "base/str.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static locale_t c_locale(void) {
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!locale) guard_raise(GUARD_memory, "out of memory for a locale");
    return locale;
}

/* vsnprintf in the "C" locale; a format the C library cannot print is a bug of ours. */
static size_t print_c(char *out, size_t size, const char *format, va_list args) {
    locale_t locale = c_locale(), old = uselocale(locale);
    int length = vsnprintf(out, size, format, args);
    uselocale(old);
    freelocale(locale);
    if (length < 0) bug("the format \"%s\" could not be printed", format);
    return (size_t)length;
}

void buf_vprint(Buf *buf, const char *format, va_list args) {
    char small[256];
    va_list again;
    va_copy(again, args);
    size_t size = print_c(small, sizeof small, format, args);
    if (size < sizeof small) {
        buf_bytes(buf, small, size);
    } else {
        char *large = arena_alloc(buf->arena, size + 1);
        print_c(large, size + 1, format, again);
        buf_bytes(buf, large, size);
    }
    va_end(again);
}

/* A decimal of up to 15 digits survives the way to a normal double and back, so 15 digits find
 * every text that short; denormals hold fewer digits and start at 1. 17 digits always suffice. */
void buf_double(Buf *buf, double value) {
    if (!isfinite(value)) {
        buf_put(buf, isnan(value) ? STR("nan") : value < 0 ? STR("-inf") : STR("inf"));
        return;
    }
    size_t start = buf->size;
    for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        buf->size = start;
        buf_print(buf, "%.*g", digits, value);
        double back;
        if (str_to_double((Str){buf->data + start, buf->size - start}, &back) && back == value) {
            return;
        }
    }
}

bool str_to_int(Str s, int64_t *out_value) {
    bool negative = s.size && s.data[0] == '-';
    size_t at = negative ? 1 : 0;
    if (at == s.size) return false;
    int64_t value = 0;
    for (; at < s.size; at++) {
        if (s.data[at] < '0' || s.data[at] > '9') return false;
        int64_t digit = negative ? '0' - s.data[at] : s.data[at] - '0';
        if (__builtin_mul_overflow(value, 10, &value)) return false;
        if (__builtin_add_overflow(value, digit, &value)) return false;
    }
    *out_value = value;
    return true;
}

/* Terminated text to a double. strtod also takes "nan(...)" and "infinity", which are no numbers
 * here; a value that overflows comes back as infinity without having been written so. */
static bool parse_double(const char *text, size_t size, double *out_value) {
    const char *digits = text + (text[0] == '-');
    bool word = strcmp(digits, "inf") == 0 || strcmp(digits, "nan") == 0;
    bool number = (digits[0] >= '0' && digits[0] <= '9') || digits[0] == '.';
    if (!word && !number) return false;
    locale_t locale = c_locale();
    char *end;
    double value = strtod_l(text, &end, locale);
    freelocale(locale);
    if (end != text + size || (isinf(value) && !word)) return false;
    *out_value = value;
    return true;
}

bool str_to_double(Str s, double *out_value) {
    char small[128];
    if (s.size < sizeof small) {
        if (s.size) memcpy(small, s.data, s.size);
        small[s.size] = '\0';
        return parse_double(small, s.size, out_value);
    }
    Scratch scratch;
    Arena *arena = scratch_open(&scratch);
    bool good = parse_double(str_terminated(arena, s), s.size, out_value);
    scratch_close(&scratch);
    return good;
}
