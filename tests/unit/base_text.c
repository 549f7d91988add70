// Strings, numbers in every locale, hashes.
#include "base/json.h"
#include "base/map.h"
#include "base/sha256.h"
#include "base/str.h"
#include "tests/unit/test.h"

#include <locale.h>

static Arena *arena;

static const char *double_text(double value) {
    Buf buf = {.arena = arena};
    buf_double(&buf, value);
    return buf.data;
}

static void test_views(void) {
    CHECK(str_equal(str_from(NULL), STR("")));
    CHECK(str_equal(str_from("ab"), STR("ab")));
    CHECK(!str_equal(STR("ab"), STR("ac")));
    CHECK(str_compare(STR("ab"), STR("b")) < 0);
    CHECK(str_compare(STR("ab"), STR("a")) > 0);
    CHECK(str_compare(STR("\x80"), STR("a")) > 0);
    CHECK_INT(str_compare(STR(""), STR("")), 0);
    CHECK(str_starts_with(STR("abc"), STR("ab")) && !str_starts_with(STR("a"), STR("ab")));
    CHECK(str_ends_with(STR("abc"), STR("bc")) && !str_ends_with(STR("c"), STR("bc")));
    CHECK_STR(str_terminated(arena, (Str){"abcdef", 3}), "abc");
}

static void test_utf8(void) {
    static const char *const good[] = {"a",
                                       "\x7f",
                                       "\xc2\x80",
                                       "\xdf\xbf",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xef\xbf\xbf",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    // Stray and missing continuations, overlong forms, surrogates, beyond U+10FFFF.
    static const char *const bad[] = {
        "\x80",         "\xc2",        "\xc0\x80",         "\xc1\xbf",         "\xe0\x9f\xbf",
        "\xed\xa0\x80", "\xe1\x80",    "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xff",         "\xe1\x80\x41"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CHECK_INT(str_utf8_size(str_from(good[i])), strlen(good[i]));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_INT(str_utf8_size(str_from(bad[i])), 0);
        CHECK(!str_is_utf8(str_format(arena, "abc%s", bad[i])));
    }
    CHECK(str_is_utf8(STR("")) && str_is_utf8(STR("a\0\xe2\x82\xac")));
}

static void test_quoting(void) {
    Buf buf = {.arena = arena};
    buf_quoted(&buf, STR("a\"b\\c\n\t\r\x01\x7f\x1b[31m\xc2\x9b\xff\xe2\x82\xac\0z"));
    CHECK_STR(buf.data,
              "\"a\\\"b\\\\c\\n\\t\\r\\x01\\x7f\\x1b[31m\\xc2\\x9b\\xff\xe2\x82\xac\\x00z\"");
    buf.size = 0;
    buf_escaped(&buf, STR("\"\\\n"));
    CHECK_STR(buf.data, "\"\\\\n");
}

static void test_texts_grow(void) {
    Buf buf = {.arena = arena};
    CHECK(str_equal(buf_str(&buf), STR("")));
    for (int i = 0; i < 10000; i++) buf_print(&buf, "%d,", i % 10);
    CHECK_INT(buf.size, 20000);
    CHECK_INT(strlen(buf.data), 20000);
    Str wide = str_format(arena, "%1000d|", 5);
    CHECK(wide.size == 1001 && wide.data[999] == '5' && wide.data[1001] == '\0');
}

static void test_shortest_doubles(void) {
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.0, "0"},
        {-0.0, "-0"},
        {1.0, "1"},
        {0.1, "0.1"},
        {-2.5, "-2.5"},
        {1e22, "1e+22"},
        {1.0 / 3, "0.3333333333333333"},
        {5e-324, "5e-324"},
        {0x1p-1022, "2.2250738585072014e-308"},
        {0x1.fffffffffffffp1023, "1.7976931348623157e+308"},
        {123456789012345680.0, "1.2345678901234568e+17"},
        {0.1 + 0.2, "0.30000000000000004"},
        {(double)INFINITY, "inf"},
        {-(double)INFINITY, "-inf"},
        {(double)NAN, "nan"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_STR(double_text(cases[i].value), cases[i].text);
    }
}

static void test_doubles_round_trip(void) {
    uint64_t bits = 1;
    int wrong = 0;
    for (int i = 0; i < 20000; i++) {
        bits = hash_word(bits, (uint64_t)i);
        double value, back = 0;
        memcpy(&value, &bits, sizeof value);
        if (i % 4 == 0) value = ldexp(value, -1000);
        if (isnan(value)) continue;
        bool read = str_to_double(str_from(double_text(value)), &back);
        wrong += !read || memcmp(&value, &back, sizeof value) != 0;
    }
    CHECK_INT(wrong, 0);
}

static void test_reading_doubles(void) {
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0},
                {"-0.5", -0.5},
                {"1e3", 1000},
                {"0x1.8p1", 3},
                {"-inf", -(double)INFINITY},
                {"inf", (double)INFINITY},
                {"nan", (double)NAN},
                {"1e-400", 0},
                {".5", 0.5},
                {"5.", 5}};
    static const char *const bad[] = {"",    "-",     "+1",     " 1", "1 ",       "1,5",    "1_000",
                                      "1e",  "1e999", "-1e999", "0x", "infinity", "nan(1)", "NaN(",
                                      "--1", "1.2.3", "e5",     "1f", "-"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double value = 7;
        CHECK(str_to_double(str_from(good[i].text), &value));
        CHECK_NEAR(value, good[i].value, 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double value = 7;
        if (!CHECK(!str_to_double(str_from(bad[i]), &value))) puts(bad[i]);
        CHECK_NEAR(value, 7.0, 0);
    }
    double value;
    CHECK(!str_to_double(STR("1\0002"), &value));
}

static void test_a_million_digits(void) {
    Buf buf = {.arena = arena};
    buf_char(&buf, '0');
    buf_char(&buf, '.');
    for (int i = 0; i < 1000000; i++) buf_char(&buf, '3');
    double value = 0;
    CHECK(str_to_double(buf_str(&buf), &value));
    CHECK_NEAR(value, 1.0 / 3, 0);
    int64_t whole;
    CHECK(!str_to_int((Str){buf.data + 2, buf.size - 2}, &whole));
    buf_char(&buf, 'x');
    CHECK(!str_to_double(buf_str(&buf), &value));
}

static void test_reading_ints(void) {
    static const char *const bad[] = {"",
                                      "-",
                                      "+1",
                                      "1 ",
                                      " 1",
                                      "0x10",
                                      "1.0",
                                      "1_000",
                                      "--1",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "99999999999999999999"};
    int64_t value = 0;
    CHECK(str_to_int(STR("9223372036854775807"), &value) && value == INT64_MAX);
    CHECK(str_to_int(STR("-9223372036854775808"), &value) && value == INT64_MIN);
    CHECK(str_to_int(STR("0042"), &value) && value == 42);
    CHECK(str_to_int(STR("-0"), &value) && value == 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (!CHECK(!str_to_int(str_from(bad[i]), &value))) puts(bad[i]);
    }
}

// With a locale whose decimal point is a comma, where the machine has one.
static void test_another_locale(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8"};
    bool set = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !set; i++) {
        set = setlocale(LC_ALL, names[i]) != NULL;
    }
    if (!set) puts("skipped: no locale with a decimal comma; run in the default one");
    test_shortest_doubles();
    test_reading_doubles();
    CHECK_STR(str_format(arena, "%.2f", 1.5).data, "1.50");
    setlocale(LC_ALL, "C");
}

static void test_hashes_differ(void) {
    Map seen = {.arena = arena};
    char zeros[64] = {0};
    for (size_t size = 0; size <= sizeof zeros; size++) {
        uint64_t hash = hash_bytes(1, zeros, size);
        CHECK(map_set(&seen, (Str){(const char *)&hash, sizeof hash}, zeros) == NULL);
    }
    for (size_t bit = 0; bit < 8 * sizeof zeros; bit++) {
        zeros[bit / 8] ^= (char)(1 << bit % 8);
        uint64_t hash = hash_bytes(1, zeros, sizeof zeros);
        CHECK(map_set(&seen, (Str){(const char *)&hash, sizeof hash}, zeros) == NULL);
        zeros[bit / 8] ^= (char)(1 << bit % 8);
    }
    CHECK(hash_bytes(1, "a", 1) != hash_bytes(2, "a", 1));
}

static void check_sha256(const char *text, const char *want) {
    uint8_t digest[32];
    char hex[65];
    sha256(text, strlen(text), digest);
    sha256_hex(digest, hex);
    CHECK_STR(hex, want);
}

// The examples of NIST for FIPS 180-4, and a million times "a" in uneven pieces.
static void test_sha256(void) {
    check_sha256("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_sha256("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check_sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    static char block[1000];
    memset(block, 'a', sizeof block);
    Sha256 hash;
    sha256_begin(&hash);
    size_t left = 1000000;
    for (size_t size = 1; left; size = (size * 7 + 1) % sizeof block) {
        if (size > left) size = left;
        sha256_add(&hash, block, size);
        left -= size;
    }
    uint8_t digest[32];
    char hex[65];
    sha256_end(&hash, digest);
    sha256_hex(digest, hex);
    CHECK_STR(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Every length around the end of a block, in two pieces and in one; with and without the
// processor's instructions.
static void test_sha256_padding(void) {
    char text[200];
    memset(text, 'q', sizeof text);
    for (size_t size = 0; size < sizeof text; size++) {
        uint8_t whole[32], pieces[32];
        Sha256 hash;
        sha256(text, size, whole);
        sha256_begin(&hash);
        if (size % 2) hash.by_instructions = false;
        sha256_add(&hash, text, size / 3);
        sha256_add(&hash, text, size - size / 3);
        sha256_end(&hash, pieces);
        CHECK_MEM(pieces, whole, 32);
    }
}

static void test_json(void) {
    Json json = {.buf = {.arena = arena}};
    json_begin_object(&json, NULL);
    json_put_string(&json, "a\"b", STR("\\ \x01 \xc3\xa4 \xff!"));
    json_begin_list(&json, "list");
    json_put_int(&json, NULL, INT64_MIN);
    json_begin_object(&json, NULL);
    json_end(&json);
    json_end(&json);
    json_begin_list(&json, "none");
    json_end(&json);
    json_end(&json);
    CHECK_STR(buf_str(&json.buf).data,
              "{\n  \"a\\\"b\": \"\\\\ \\u0001 \xc3\xa4 \xef\xbf\xbd!\",\n"
              "  \"list\": [\n    -9223372036854775808,\n    {}\n  ],\n  \"none\": []\n}");
}

int main(void) {
    arena = arena_new(NULL);
    RUN(test_views);
    RUN(test_utf8);
    RUN(test_quoting);
    RUN(test_texts_grow);
    RUN(test_shortest_doubles);
    RUN(test_doubles_round_trip);
    RUN(test_reading_doubles);
    RUN(test_a_million_digits);
    RUN(test_reading_ints);
    RUN(test_another_locale);
    RUN(test_hashes_differ);
    RUN(test_sha256);
    RUN(test_sha256_padding);
    RUN(test_json);
    arena_free(arena);
    return test_done();
}
