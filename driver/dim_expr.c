/* Recursive descent by the grammar of dims (docs/ir.md): sums of products of factors. */
#include "driver/dim_expr.h"

#include "driver/sizes.h"

#include <string.h>

enum { MAX_DEPTH = 64 };

typedef struct Reader {
    const char *at;
    const Sizes *sizes;
    int depth;
} Reader;

Size *sizes_find(const Sizes *sizes, const char *name, size_t name_size) {
    for (size_t i = 0; i < sizes->count; i++) {
        Size *size = &sizes->items[i];
        if (size->name_size == name_size && memcmp(size->name, name, name_size) == 0) return size;
    }
    return NULL;
}

/* Whether the text goes on with `word`, which is then passed. */
static bool take(Reader *r, const char *word) {
    r->at += strspn(r->at, " ");
    size_t size = strlen(word);
    if (strncmp(r->at, word, size) != 0) return false;
    r->at += size;
    return true;
}

static bool read_sum(Reader *r, int64_t *out);

static bool read_int(Reader *r, int64_t *out) {
    for (*out = 0; *r->at >= '0' && *r->at <= '9'; r->at++) {
        if (__builtin_mul_overflow(*out, 10, out)) return false;
        if (__builtin_add_overflow(*out, *r->at - '0', out)) return false;
    }
    return true;
}

static bool read_name(Reader *r, int64_t *out) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.0123456789";
    size_t size = strspn(r->at, letters);
    const Size *found = sizes_find(r->sizes, r->at, size);
    r->at += size;
    if (!found || !found->known) return false;
    *out = found->value;
    return true;
}

/* What follows "min(" or "max(". */
static bool read_pair(Reader *r, bool least, int64_t *out) {
    int64_t a, b;
    if (!read_sum(r, &a) || !take(r, ",") || !read_sum(r, &b) || !take(r, ")")) return false;
    *out = (a < b) == least ? a : b;
    return true;
}

static bool read_factor(Reader *r, int64_t *out) {
    if (take(r, "(")) return read_sum(r, out) && take(r, ")");
    if (take(r, "min(")) return read_pair(r, true, out);
    if (take(r, "max(")) return read_pair(r, false, out);
    return *r->at >= '0' && *r->at <= '9' ? read_int(r, out) : read_name(r, out);
}

/* Floor and modulo round down, as dims do; divisors are positive. */
static bool divide(int64_t a, int64_t b, bool remainder, int64_t *out) {
    if (b <= 0) return false;
    int64_t left = a % b < 0 ? a % b + b : a % b;
    *out = remainder ? left : (a - left) / b;
    return true;
}

static bool read_product(Reader *r, int64_t *out) {
    if (!read_factor(r, out)) return false;
    for (;;) {
        int64_t b;
        if (take(r, "//")) {
            if (!read_factor(r, &b) || !divide(*out, b, false, out)) return false;
        } else if (take(r, "%")) {
            if (!read_factor(r, &b) || !divide(*out, b, true, out)) return false;
        } else if (take(r, "*")) {
            if (!read_factor(r, &b) || __builtin_mul_overflow(*out, b, out)) return false;
        } else {
            return true;
        }
    }
}

static bool read_terms(Reader *r, int64_t *out) {
    int64_t b;
    bool negative = take(r, "-");
    if (!read_product(r, out)) return false;
    if (negative && __builtin_sub_overflow((int64_t)0, *out, out)) return false;
    for (;;) {
        if (take(r, "+")) {
            if (!read_product(r, &b) || __builtin_add_overflow(*out, b, out)) return false;
        } else if (take(r, "-")) {
            if (!read_product(r, &b) || __builtin_sub_overflow(*out, b, out)) return false;
        } else {
            return true;
        }
    }
}

static bool read_sum(Reader *r, int64_t *out) {
    if (r->depth == MAX_DEPTH) return false;
    r->depth++;
    bool good = read_terms(r, out);
    r->depth--;
    return good;
}

bool dim_expr_evaluate(const char *text, const Sizes *sizes, int64_t *out_value) {
    Reader reader = {.at = text, .sizes = sizes};
    return read_sum(&reader, out_value) && *(reader.at + strspn(reader.at, " ")) == '\0';
}
