// safetensors: what loads, bit by bit, and what is refused with which message.
#include "tests/support/weights_files.h"
#include "tests/unit/test.h"

#include <locale.h>
#include <sys/stat.h>

static WeightsFixture fixture;
static Arena *arena;

static const unsigned char bytes64[64] = {0x00, 0x00, 0xa0, 0x7f, 0x00, 0x00, 0x00, 0x80,
                                          0x01, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff};

static Str data_of(size_t size) { return (Str){arena_copy(arena, bytes64, size), size}; }

static Str file_of(const char *header, size_t size) {
    return make_safetensors(arena, str_from(header), data_of(size));
}

// Refused with that id and a text that holds `part`, and nothing in the table.
static void check_refused(Str file, const char *id, const char *part) {
    Status status = weights_fixture_load(&fixture, "w.safetensors", file);
    bool good = CHECK_INT(status, STATUS_invalid) && CHECK_STR(fixture.id, id);
    good = good && CHECK(strstr(fixture.text, part) != NULL);
    good = good && CHECK_INT(weights_count(fixture.table), 0);
    if (!good) printf("    %s\n", fixture.text);
}

#define ENTRY(name, dtype, shape, offsets)                                                         \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define ONE(dtype, shape, offsets) "{" ENTRY("a", dtype, shape, offsets) "}"

static void test_values_come_through_bit_by_bit(void) {
    Str file = file_of(
        "{\"__metadata__\":{\"format\":\"pt\"}," ENTRY(
            "fc1.weight", "F32", "[2,2]",
            "[0,16]") "," ENTRY("empty", "F64", "[3,0]", "[16,16]") "," ENTRY("scalar", "I64", "[]",
                                                                              "[16,24]") "}   ",
        24);
    CHECK_INT(weights_fixture_load(&fixture, "w.safetensors", file), STATUS_ok);
    CHECK_INT(weights_count(fixture.table), 3);
    const Weight *weight = weights_find(fixture.table, STR("fc1.weight"));
    if (!CHECK(weight != NULL)) return;
    CHECK(weight->dtype == DT_f32 && weight->rank == 2 && weight->dims[0] == 2 &&
          weight->dims[1] == 2);
    CHECK_MEM(weight->bytes, bytes64, 16); // a signalling NaN, -0, a denormal, another NaN
    CHECK_INT(weight->offset, file.size - 24);
    const Weight *empty = weights_find(fixture.table, STR("empty"));
    CHECK(empty && empty->size == 0 && empty->dims[1] == 0 && empty->bytes);
    const Weight *scalar = weights_find(fixture.table, STR("scalar"));
    CHECK(scalar && scalar->rank == 0 && scalar->size == 8);
    CHECK(weights_find(fixture.table, STR("fc1")) == NULL);
}

static void test_every_dtype(void) {
    static const struct {
        const char *name;
        DType dtype;
        unsigned size;
    } rows[] = {{"BOOL", DT_bool, 1}, {"I8", DT_i8, 1},          {"U8", DT_u8, 1},
                {"I16", DT_i16, 2},   {"U16", DT_u16, 2},        {"I32", DT_i32, 4},
                {"U32", DT_u32, 4},   {"I64", DT_i64, 8},        {"U64", DT_u64, 8},
                {"F16", DT_f16, 2},   {"BF16", DT_bf16, 2},      {"F32", DT_f32, 4},
                {"F64", DT_f64, 8},   {"F8_E4M3", DT_f8e4m3, 1}, {"F8_E5M2", DT_f8e5m2, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned size = 2 * rows[i].size;
        Str header =
            str_format(arena, "{\"t\":{\"dtype\":\"%s\",\"shape\":[2],\"data_offsets\":[0,%u]}}",
                       rows[i].name, size);
        Str data = rows[i].dtype == DT_bool ? STR("\1\0") : data_of(size);
        Str file = make_safetensors(arena, header, data);
        CHECK_INT(weights_fixture_load(&fixture, "w.safetensors", file), STATUS_ok);
        const Weight *weight = weights_find(fixture.table, STR("t"));
        CHECK(weight && weight->dtype == rows[i].dtype && weight->size == size);
        if (weight) CHECK_MEM(weight->bytes, data.data, size);
    }
}

static void test_unaligned_tensors_are_aligned(void) {
    Str file = file_of(
        "{" ENTRY("a", "U8", "[3]", "[0,3]") "," ENTRY("b", "F64", "[2]", "[3,19]") "}", 19);
    CHECK_INT(weights_fixture_load(&fixture, "w.safetensors", file), STATUS_ok);
    const Weight *weight = weights_find(fixture.table, STR("b"));
    if (!CHECK(weight != NULL)) return;
    CHECK_INT((uintptr_t)weight->bytes % 8, 0);
    CHECK_MEM(weight->bytes, bytes64 + 3, 16);
}

static void test_order_in_the_header_does_not_matter(void) {
    Str file =
        file_of("{" ENTRY("b", "U8", "[4]", "[4,8]") "," ENTRY("a", "U8", "[4]", "[0,4]") "}", 8);
    CHECK_INT(weights_fixture_load(&fixture, "w.safetensors", file), STATUS_ok);
    CHECK_STR(weights_at(fixture.table, 0)->name.data, "a");
    CHECK_STR(weights_at(fixture.table, 1)->name.data, "b");
}

static void test_lengths_of_the_header(void) {
    static const uint64_t lengths[] = {0x7fffffff,        0x80000000,        100000001,
                                       UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX,
                                       UINT64_MAX - 7,    UINT64_MAX - 8};
    Str file = file_of(ONE("F32", "[1]", "[0,4]"), 4);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        check_refused(patched(arena, file, 0, lengths[i], 8), "safetensors-length", "byte 0: ");
    }
    check_refused(patched(arena, file, 0, file.size - 7, 8), "safetensors-length", "byte 0: ");
    check_refused(patched(arena, file, 0, 0, 8), "safetensors-json", "byte 8: ");
    check_refused(patched(arena, file, 0, 1, 8), "safetensors-json", "byte ");
    for (size_t size = 0; size < 8; size++) {
        check_refused((Str){file.data, size}, "safetensors-short", "too few");
    }
}

static void test_json_that_is_not_right(void) {
    static const char *const headers[] = {
        "",
        " ",
        "[]",
        "null",
        "1",
        "\"x\"",
        "{",
        "}",
        "{}x",
        "{} {}",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "{\"a\":1,}",
        "{'a':{}}",
        "{\"a\":01}",
        "{\"\\u0000\":{}}",
        "{\"\\ud800\":{}}",
        "{\"\xff\":{}}",
        "{\"\xc0\x80\":{}}",
        "{\"a\":{}} //",
        "\xef\xbb\xbf{}",
        "{\"a\n\":{}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[99999999999999999999],\"data_offsets\":[0,1]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[NaN],\"data_offsets\":[0,1]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[1e999],\"data_offsets\":[0,1]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[0x1],\"data_offsets\":[0,1]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[1_0],\"data_offsets\":[0,1]}}",
        "{" ENTRY("a", "U8", "[1]", "[0,1]") "," ENTRY("a", "U8", "[1]", "[1,2]") "}",
        "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        check_refused(file_of(headers[i], 2), "safetensors-json", "w.safetensors: error: byte ");
    }
    check_refused(make_safetensors(arena, STR("{}\0"), STR("")), "safetensors-json", "byte ");
}

static void test_shapes_of_entries(void) {
    static const char *const headers[] = {
        "{\"a\":1}",
        "{\"a\":null}",
        "{\"a\":[]}",
        "{\"a\":\"x\"}",
        "{\"a\":{}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}",
        "{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}",
        "{\"a\":{\"shape\":[1],\"data_offsets\":[0,1]}}",
        "{\"a\":{\"dtype\":8,\"shape\":[1],\"data_offsets\":[0,1]}}",
        "{\"a\":{\"dtype\":[\"U8\"],\"shape\":[1],\"data_offsets\":[0,1]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":1,\"data_offsets\":[0,1]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":{},\"data_offsets\":[0,1]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":{}}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":0}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"x\":1}}",
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        check_refused(file_of(headers[i], 1), "safetensors-entry", "byte 9: tensor \"a\": ");
    }
}

static void test_dtypes_that_are_not_supported(void) {
    static const char *const dtypes[] = {"",       "f32",         "F31",     "F4",     "F8_E8M0",
                                         "C64",    "float32",     "<f4",     "O",      "F32 ",
                                         "U",      "I4",          "BF8",     "STRING", "F128",
                                         "F32\\n", "\\u001b[31m", "BOOLEAN", "int8",   "F6_E2M3"};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        Str header = str_format(
            arena, "{\"a\":{\"dtype\":\"%s\",\"shape\":[1],\"data_offsets\":[0,4]}}", dtypes[i]);
        check_refused(make_safetensors(arena, header, data_of(4)), "weight-dtype",
                      "tensor \"a\": dtype \"");
        CHECK(strchr(fixture.text, '\x1b') == NULL);
    }
}

static void test_dimensions(void) {
    static const char *const bad[] = {"[-1]",   "[1,-1]",  "[-9223372036854775808]",
                                      "[1.0]",  "[1e0]",   "[\"1\"]",
                                      "[null]", "[[1]]",   "[{}]",
                                      "[true]", "[4,0.5]", "[-4]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Str header = str_format(
            arena, "{\"a\":{\"dtype\":\"U8\",\"shape\":%s,\"data_offsets\":[0,1]}}", bad[i]);
        check_refused(make_safetensors(arena, header, data_of(1)), "weight-dim",
                      "tensor \"a\": dimension");
    }
    check_refused(file_of(ONE("U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]"), 1), "weight-rank",
                  "9 dimensions");
    CHECK_INT(weights_fixture_load(&fixture, "w.safetensors",
                                   file_of(ONE("U8", "[1,1,1,1,1,1,1,1]", "[0,1]"), 1)),
              STATUS_ok);
    Buf many = {.arena = arena};
    buf_put(&many, STR("{\"a\":{\"dtype\":\"U8\",\"shape\":["));
    for (int i = 0; i < 1000000; i++) buf_put(&many, STR("1,"));
    buf_put(&many, STR("1],\"data_offsets\":[0,1]}}"));
    check_refused(make_safetensors(arena, buf_str(&many), data_of(1)), "weight-rank",
                  "1000001 dimensions");
}

static void test_products_that_wrap(void) {
    static const char *const shapes[] = {
        "[4294967296,4294967296]",   "[9223372036854775807,2]",
        "[9223372036854775807]",     "[2305843009213693952]",
        "[4611686018427387904]",     "[3037000500,3037000500]",
        "[65536,65536,65536,65536]", "[0,9223372036854775807,9223372036854775807]",
        "[9223372036854775807,0,2]", "[4294967296,0,4294967296]",
        "[2,9223372036854775807]",   "[1048576,1048576,1048576,1048576]",
        "[4611686018427387905,4]",   "[6148914691236517206,3]",
        "[3,6148914691236517205,1]", "[2147483648,4294967296]",
        "[8589934592,8589934592]",   "[1,1,1,1,1,1,1,9223372036854775807]",
        "[5,3689348814741910323]",   "[641,14385149937203451]",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        Str header = str_format(
            arena, "{\"a\":{\"dtype\":\"F64\",\"shape\":%s,\"data_offsets\":[0,8]}}", shapes[i]);
        check_refused(make_safetensors(arena, header, data_of(8)), "weight-overflow",
                      "tensor \"a\": ");
    }
}

static void test_sizes(void) {
    static const char *const shapes[] = {
        "[0]",   "[1]",     "[2]",     "[3]",       "[5]",          "[4,4]",        "[4,0]",
        "[16]",  "[]",      "[1,3]",   "[1000000]", "[2147483647]", "[4294967296]", "[5,1]",
        "[2,1]", "[1,1,1]", "[2,2,2]", "[1,5]",     "[8]",          "[6]"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        Str header = str_format(
            arena, "{\"a\":{\"dtype\":\"F32\",\"shape\":%s,\"data_offsets\":[0,16]}}", shapes[i]);
        check_refused(make_safetensors(arena, header, data_of(16)), "weight-size",
                      "but there are 16");
    }
    check_refused(file_of(ONE("F32", "[1]", "[0,3]"), 3), "weight-size",
                  "needs 4 bytes, but there are 3");
    check_refused(file_of(ONE("F32", "[1]", "[0,5]"), 5), "weight-size",
                  "needs 4 bytes, but there are 5");
}

static void test_offsets(void) {
    static const char *const offsets[] = {"[0,9]",
                                          "[4,0]",
                                          "[-1,3]",
                                          "[0,-1]",
                                          "[8,12]",
                                          "[9,9]",
                                          "[]",
                                          "[0]",
                                          "[0,1,2]",
                                          "[0.0,4.0]",
                                          "[\"0\",\"4\"]",
                                          "[null,null]",
                                          "[[0],[4]]",
                                          "[9223372036854775807,9223372036854775807]",
                                          "[0,9223372036854775807]",
                                          "[-9223372036854775808,0]",
                                          "[9223372036854775804,0]",
                                          "[0,4294967300]",
                                          "[4294967296,4294967300]",
                                          "[-4,0]",
                                          "[true,false]",
                                          "[1e0,4]"};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        Str header = str_format(
            arena, "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":%s}}", offsets[i]);
        check_refused(make_safetensors(arena, header, data_of(8)), "safetensors-offsets",
                      "within 8 bytes");
    }
}

static void test_overlaps_and_holes(void) {
#define TWO(a, b) "{" ENTRY("a", "U8", "[4]", a) "," ENTRY("b", "U8", "[4]", b) "}"
    static const char *const headers[] = {
        TWO("[0,4]", "[0,4]"),  TWO("[0,4]", "[1,5]"),   TWO("[0,4]", "[2,6]"),
        TWO("[0,4]", "[3,7]"),  TWO("[0,4]", "[5,9]"),   TWO("[0,4]", "[6,10]"),
        TWO("[0,4]", "[7,11]"), TWO("[0,4]", "[8,12]"),  TWO("[4,8]", "[4,8]"),
        TWO("[4,8]", "[8,12]"), TWO("[1,5]", "[5,9]"),   TWO("[5,9]", "[0,4]"),
        TWO("[3,7]", "[0,4]"),  TWO("[8,12]", "[8,12]"), TWO("[2,6]", "[6,10]"),
        TWO("[0,4]", "[9,13]"), TWO("[12,16]", "[0,4]"), TWO("[7,11]", "[11,15]"),
        TWO("[1,5]", "[1,5]"),  TWO("[0,4]", "[12,16]"),
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        check_refused(file_of(headers[i], 16), "safetensors-order", "the data begins at offset");
    }
    check_refused(file_of(TWO("[0,4]", "[4,8]"), 9), "safetensors-trailing", ": 1 bytes follow");
    check_refused(file_of("{}", 1), "safetensors-trailing", "byte 10: 1 bytes follow");
    CHECK_INT(weights_fixture_load(&fixture, "w.safetensors", file_of("{}", 0)), STATUS_ok);
    CHECK_INT(weights_fixture_load(&fixture, "w.safetensors", file_of(TWO("[0,4]", "[4,8]"), 8)),
              STATUS_ok);
}

static void test_nesting_and_counts(void) {
    static const char *const opens[] = {"[", "{\"a\":"};
    for (size_t depth = 10; depth <= 1000000; depth *= 10) {
        for (size_t kind = 0; kind < 2; kind++) {
            Buf header = {.arena = arena};
            buf_put(&header, STR("{\"x\":"));
            for (size_t i = 0; i < depth; i++) buf_put(&header, str_from(opens[kind]));
            Str file = make_safetensors(arena, buf_str(&header), STR(""));
            check_refused(file, depth > 15 ? "safetensors-bounds" : "safetensors-json", "byte ");
        }
    }
    Buf values = {.arena = arena};
    buf_put(&values, STR("{\"x\":["));
    for (size_t i = 0; i < 5000000; i++) buf_put(&values, STR("0,"));
    buf_put(&values, STR("0]}"));
    check_refused(make_safetensors(arena, buf_str(&values), STR("")), "safetensors-bounds",
                  "more than");
    check_refused(file_of("{\"[[[[[[[[[[[[[[[[[[[[\\\"[[\":1}", 0), "safetensors-entry",
                  "not an object");
}

static void test_metadata(void) {
    static const char *const bad[] = {"1",
                                      "[]",
                                      "null",
                                      "\"x\"",
                                      "{\"a\":1}",
                                      "{\"a\":{}}",
                                      "{\"a\":null}",
                                      "{\"a\":[]}",
                                      "{\"a\":\"b\",\"c\":true}",
                                      "true"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        check_refused(
            make_safetensors(arena, str_format(arena, "{\"__metadata__\":%s}", bad[i]), STR("")),
            "safetensors-metadata", "byte 9: ");
    }
}

static void test_bools(void) {
    check_refused(make_safetensors(arena, STR(ONE("BOOL", "[3]", "[0,3]")), STR("\1\0\2")),
                  "weight-bool", "a bool is 2 at element 2");
    check_refused(make_safetensors(arena, STR(ONE("BOOL", "[1]", "[0,1]")), STR("\xff")),
                  "weight-bool", "255");
}

// Names that would break a terminal or a line, as errors show them.
static void test_names_in_messages(void) {
    static const struct {
        const char *name, *shown;
    } rows[] = {{"a\\nb", "tensor \"a\\nb\""},
                {"\\u001b[31mred", "tensor \"\\x1b[31mred\""},
                {"\\t", "\"\\t\""},
                {"\\u0007", "\"\\x07\""},
                {"\\u009b1m", "\"\\xc2\\x9b1m\""},
                {"caf\\u00e9", "\"caf\xc3\xa9\""},
                {"%s%n%d", "\"%s%n%d\""},
                {"../../x", "\"../../x\""},
                {"", "tensor \"\""},
                {"\\u007f", "\"\\x7f\""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Str header =
            str_format(arena, "{\"%s\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}",
                       rows[i].name);
        check_refused(make_safetensors(arena, header, data_of(4)), "weight-size", rows[i].shown);
    }
    Buf header = {.arena = arena};
    buf_put(&header, STR("{\""));
    for (int i = 0; i < 1000000; i++) buf_char(&header, 'n');
    buf_put(&header, STR("\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}"));
    check_refused(make_safetensors(arena, buf_str(&header), data_of(1)), "weight-name",
                  "nnn...\": ");
}

static void test_several_errors_in_one_file(void) {
    Str file = file_of("{" ENTRY("a", "X", "[1]", "[0,1]") "," ENTRY(
                           "b", "U8", "[-1]", "[0,1]") "," ENTRY("c", "U8", "[9]", "[0,1]") "}",
                       3);
    check_refused(file, "weight-dtype", "tensor \"a\"");
    CHECK_INT(fixture.errors, 3);
    Buf header = {.arena = arena};
    for (int i = 0; i < 1000; i++) buf_print(&header, "%s\"t%d\":0", i ? "," : "{", i);
    buf_char(&header, '}');
    check_refused(make_safetensors(arena, buf_str(&header), STR("")), "safetensors-entry",
                  "\"t0\"");
    CHECK_INT(fixture.errors, 20);
}

static const char small_header[] =
    "{" ENTRY("a", "F32", "[2]", "[0,8]") "," ENTRY("b", "BOOL", "[2]", "[8,10]") "}";

static Str small_file(void) {
    return make_safetensors(arena, STR(small_header), STR("\0\0\xa0\x7f\0\0\0\x80\1\0"));
}

static void test_truncation_at_every_byte(void) {
    Str file = small_file();
    CHECK_INT(weights_fixture_load(&fixture, "w.safetensors", file), STATUS_ok);
    for (size_t size = 0; size < file.size; size++) {
        CHECK_INT(weights_fixture_load(&fixture, "w.safetensors", (Str){file.data, size}),
                  STATUS_invalid);
        CHECK_INT(weights_count(fixture.table), 0);
    }
    Buf buf = {.arena = arena};
    buf_put(&buf, file);
    for (int i = 0; i < 20; i++) {
        buf_char(&buf, (char)i);
        check_refused(buf_str(&buf), "safetensors-trailing", "follow the last tensor");
    }
}

// Each flip is an error with a place or loads tensors whose sizes are right.
static void test_every_bit_flip(void) {
    Str file = small_file();
    int loaded = 0, refused = 0, wrong = 0;
    for (size_t bit = 0; bit < file.size * 8; bit++) {
        unsigned char byte = (unsigned char)file.data[bit / 8];
        Str flipped = patched(arena, file, bit / 8, byte ^ 1U << bit % 8, 1);
        Status status = weights_fixture_load(&fixture, "w.safetensors", flipped);
        if (status != STATUS_ok) {
            refused++;
            wrong += fixture.errors == 0 || !strstr(fixture.text, "w.safetensors: error: byte ");
            continue;
        }
        loaded++;
        for (size_t i = 0; i < weights_count(fixture.table); i++) {
            const Weight *weight = weights_at(fixture.table, i);
            uint64_t size = dtype_info(weight->dtype)->bits / 8;
            for (uint32_t d = 0; d < weight->rank; d++) size *= (uint64_t)weight->dims[d];
            wrong += size != weight->size;
        }
    }
    CHECK_INT(wrong, 0);
    CHECK(loaded >= 64 && refused > 500); // the floats' own bits load
}

static void test_noise(void) {
    uint64_t seed = 7;
    for (int i = 0; i < 200; i++) {
        char noise[96];
        for (size_t k = 0; k < sizeof noise; k += 8) {
            seed = hash_word(seed, k + 1);
            memcpy(noise + k, &seed, 8);
        }
        if (i % 2) memset(noise + 1, 0, 7);
        CHECK_INT(weights_fixture_load(&fixture, "w.safetensors", (Str){noise, sizeof noise}),
                  STATUS_invalid);
    }
    static char zeros[4096];
    CHECK_INT(weights_fixture_load(&fixture, "w.safetensors", (Str){zeros, sizeof zeros}),
              STATUS_invalid);
}

static void test_another_locale(void) {
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        puts("skipped: no de_DE.UTF-8; run in the default locale");
    test_values_come_through_bit_by_bit();
    check_refused(file_of(ONE("F32", "[1.5]", "[0,4]"), 4), "weight-dim", "dimension 0");
    check_refused(file_of(ONE("F32", "[1,5]", "[0,4]"), 4), "weight-size", "needs 20 bytes");
    setlocale(LC_ALL, "C");
}

int main(void) {
    arena = arena_new(NULL);
    weights_fixture_begin(&fixture);
    RUN(test_values_come_through_bit_by_bit);
    RUN(test_every_dtype);
    RUN(test_unaligned_tensors_are_aligned);
    RUN(test_order_in_the_header_does_not_matter);
    RUN(test_lengths_of_the_header);
    RUN(test_json_that_is_not_right);
    RUN(test_shapes_of_entries);
    RUN(test_dtypes_that_are_not_supported);
    RUN(test_dimensions);
    RUN(test_products_that_wrap);
    RUN(test_sizes);
    RUN(test_offsets);
    RUN(test_overlaps_and_holes);
    RUN(test_nesting_and_counts);
    RUN(test_metadata);
    RUN(test_bools);
    RUN(test_names_in_messages);
    RUN(test_several_errors_in_one_file);
    RUN(test_truncation_at_every_byte);
    RUN(test_every_bit_flip);
    RUN(test_noise);
    RUN(test_another_locale);
    weights_fixture_end(&fixture);
    arena_free(arena);
    return test_done();
}
