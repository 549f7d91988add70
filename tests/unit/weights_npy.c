// .npy: every dtype, both byte orders, both array orders, what is refused, and writing.
#include "frontend/weights/npy.h"
#include "tests/support/weights_files.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

static WeightsFixture fixture;
static Arena *arena;

static const char bytes64[64] = "\x00\x00\xa0\x7f\x00\x00\x00\x80\x01\x00\x00\x00\xff\xff\xff\xff"
                                "abcdefghijklmnopqrstuvwxyz0123456789";

static Str header_of(const char *descr, const char *fortran, const char *shape) {
    return str_format(arena, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr,
                      fortran, shape);
}

static Str data_of(size_t size) { return (Str){bytes64, size}; }

static void check_refused(Str file, const char *id, const char *part) {
    Status status = weights_fixture_load(&fixture, "w.npy", file);
    bool good = CHECK_INT(status, STATUS_invalid) && CHECK_STR(fixture.id, id);
    good = good && CHECK(strstr(fixture.text, part) != NULL);
    good = good && CHECK_INT(weights_count(fixture.table), 0);
    if (!good) printf("    %s\n", fixture.text);
}

static const Weight *load_one(Str file) {
    CHECK_INT(weights_fixture_load(&fixture, "w.npy", file), STATUS_ok);
    if (fixture.errors) printf("    %s\n", fixture.text);
    CHECK_INT(weights_count(fixture.table), 1);
    return weights_find(fixture.table, STR("w"));
}

static const struct {
    const char *kind;
    DType dtype;
    size_t size;
} kinds[] = {{"i1", DT_i8, 1},  {"u1", DT_u8, 1},  {"i2", DT_i16, 2}, {"u2", DT_u16, 2},
             {"i4", DT_i32, 4}, {"u4", DT_u32, 4}, {"i8", DT_i64, 8}, {"u8", DT_u64, 8},
             {"f2", DT_f16, 2}, {"f4", DT_f32, 4}, {"f8", DT_f64, 8}};

static void test_every_dtype_and_byte_order(void) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (const char *order = "<=>|"; *order; order++) {
            size_t size = kinds[i].size;
            if (*order == '|' && size > 1) continue;
            Str descr = str_format(arena, "%c%s", *order, kinds[i].kind);
            Str file =
                make_npy(arena, 1, header_of(descr.data, "False", "(4,)"), data_of(4 * size));
            const Weight *weight = load_one(file);
            if (!CHECK(weight && weight->dtype == kinds[i].dtype && weight->size == 4 * size))
                continue;
            CHECK_INT((uintptr_t)weight->bytes % size, 0);
            const char *got = weight->bytes;
            for (size_t k = 0; k < 4 * size; k++) {
                size_t from = *order == '>' ? k / size * size + size - 1 - k % size : k;
                CHECK_INT(got[k], bytes64[from]);
            }
        }
    }
}

static void test_bools(void) {
    const Weight *weight =
        load_one(make_npy(arena, 1, header_of("|b1", "False", "(2,)"), STR("\0\1")));
    CHECK(weight && weight->dtype == DT_bool);
    check_refused(make_npy(arena, 1, header_of("|b1", "False", "(2,)"), STR("\0\2")), "weight-bool",
                  "tensor \"w\": a bool is 2 at element 1");
}

static void test_versions_and_shapes(void) {
    for (unsigned version = 1; version <= 3; version++) {
        const Weight *weight =
            load_one(make_npy(arena, version, header_of("<i2", "False", "(2, 3,)"), data_of(12)));
        if (!CHECK(weight != NULL)) continue;
        CHECK(weight->rank == 2 && weight->dims[0] == 2 && weight->dims[1] == 3);
        CHECK_MEM(weight->bytes, bytes64, 12);
    }
    const Weight *scalar = load_one(make_npy(arena, 1, header_of("<f8", "True", "()"), data_of(8)));
    CHECK(scalar && scalar->rank == 0 && scalar->size == 8);
    const Weight *empty =
        load_one(make_npy(arena, 1, header_of("<f8", "True", "(3, 0, 2)"), STR("")));
    CHECK(empty && empty->rank == 3 && empty->size == 0);
    const Weight *eight =
        load_one(make_npy(arena, 1, header_of("|u1", "False", "(1,1,1,1,1,1,1,2)"), data_of(2)));
    CHECK(eight && eight->rank == 8 && eight->dims[7] == 2);
}

static void test_fortran_order(void) {
    // a[i][j][k] = 100 i + 10 j + k of shape (2, 3, 4), first index fastest, big-endian.
    Buf data = {.arena = arena};
    for (int k = 0; k < 4; k++) {
        for (int j = 0; j < 3; j++) {
            for (int i = 0; i < 2; i++)
                buf_bytes(&data, (char[]){0, (char)(100 * i + 10 * j + k)}, 2);
        }
    }
    const Weight *weight =
        load_one(make_npy(arena, 1, header_of(">u2", "True", "(2, 3, 4)"), buf_str(&data)));
    if (!CHECK(weight != NULL)) return;
    for (int n = 0; n < 24; n++) {
        uint16_t value;
        memcpy(&value, (const char *)weight->bytes + 2 * n, 2);
        CHECK_INT(value, 100 * (n / 12) + 10 * (n / 4 % 3) + n % 4);
    }
}

static void test_headers_in_other_spellings(void) {
    static const char *const headers[] = {
        "{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(2,)}",
        "{'shape':(2,),'fortran_order':False,'descr':'<f4'}",
        "  { 'shape' : ( 2 , ) , 'descr' : '<f4' , 'fortran_order' : False , }   \n\n",
        "{'fortran_order': True, 'shape': (2,), 'descr': '<f4', }",
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        const Weight *weight = load_one(make_npy(arena, 1, str_from(headers[i]), data_of(8)));
        CHECK(weight && weight->dims[0] == 2);
    }
}

static void test_headers_that_are_not_right(void) {
    static const char *const headers[] = {
        "",
        " ",
        "{}",
        "[]",
        "()",
        "{",
        "}",
        "None",
        "{'descr'}",
        "{'descr': '<f4'}",
        "{1: 2}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': false, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [2]}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (+2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2.0,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2_0,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (0x2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'shape': (2,)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}{}",
        "{'descr': <f4, 'fortran_order': False, 'shape': (2,)}",
        "{'descr: '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': \"<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': (2,)}",
        "{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{",
        "((((((((((((((((((((((((((((((((((((((((((((((((((((((((",
        "\t{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        check_refused(make_npy(arena, 1, str_from(headers[i]), data_of(8)), "npy-header",
                      "w.npy: error: byte ");
        CHECK(strstr(fixture.text, "tensor \"w\": the header should have ") != NULL);
    }
    check_refused(make_npy(arena, 1,
                           STR("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}\0"),
                           data_of(8)),
                  "npy-header", "nothing but blanks");
}

static void test_dtypes_that_are_refused(void) {
    static const char *const descrs[] = {
        "",     "f4",  "<f",  "<f3", "<f16",        "<c8",     "<c16", "|f4",
        "|i2",  "<V2", "|V1", "<U5", "|S3",         "<M8[ns]", "<m8",  "float32",
        "<b1 ", "?",   "!f4", "<F4", "<f4\x1b[31m", "i",       "<g8",  "|b2"};
    for (size_t i = 0; i < sizeof descrs / sizeof *descrs; i++) {
        check_refused(make_npy(arena, 1, header_of(descrs[i], "False", "(2,)"), data_of(8)),
                      "weight-dtype", "byte 20: tensor \"w\": dtype \"");
        CHECK(strchr(fixture.text, '\x1b') == NULL);
    }
    check_refused(make_npy(arena, 1, header_of("|O", "False", "(2,)"), data_of(8)), "npy-object",
                  "code");
    check_refused(make_npy(arena, 1, header_of("O", "False", "(2,)"), data_of(8)), "npy-object",
                  "pickled");
    static const char *const structured[] = {
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
        "{'shape': (2,), 'fortran_order': False, 'descr': [('a', '<f4'), ('b', '|O')]}",
        "{'descr': []}", "{'descr':[", "{'descr': [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["};
    for (size_t i = 0; i < sizeof structured / sizeof *structured; i++) {
        check_refused(make_npy(arena, 1, str_from(structured[i]), data_of(8)), "npy-structured",
                      "tensor \"w\": ");
    }
}

static void test_magic_and_versions(void) {
    Str file = make_npy(arena, 1, header_of("<f4", "False", "(2,)"), data_of(8));
    for (size_t i = 0; i < 6; i++) {
        check_refused(patched(arena, file, i, 'x', 1), "npy-magic", "byte 0: tensor \"w\": ");
    }
    static const unsigned versions[] = {0,     4,      5,      9,     10,     127,    128,
                                        255,   0x101,  0x102,  0x103, 0x201,  0xff01, 0xffff,
                                        0x100, 0x7f01, 0x8001, 0x301, 0x1001, 0xfe};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        check_refused(patched(arena, file, 6, versions[i], 2), "npy-version",
                      "byte 6: tensor \"w\": version ");
    }
    for (size_t size = 0; size < 8; size++)
        check_refused((Str){file.data, size}, "npy-magic", "byte 0: ");
}

static void test_lengths_of_the_header(void) {
    static const uint32_t lengths[] = {10001,      65535,      0x10000, 0x7fffffff, 0x80000000,
                                       0xffffffff, 0xfffffff4, 500,     9999,       10000};
    Str one = make_npy(arena, 1, header_of("<f4", "False", "(2,)"), data_of(8));
    Str two = make_npy(arena, 2, header_of("<f4", "False", "(2,)"), data_of(8));
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        check_refused(patched(arena, two, 8, lengths[i], 4), "npy-length",
                      "byte 8: tensor \"w\": ");
        if (lengths[i] <= 65535)
            check_refused(patched(arena, one, 8, lengths[i], 2), "npy-length", "byte 8: ");
    }
    // A header that is too long although all of it is there.
    Buf header = {.arena = arena};
    buf_put(&header, header_of("<f4", "False", "(2,)"));
    while (header.size <= 10000) buf_char(&header, ' ');
    check_refused(make_npy(arena, 1, buf_str(&header), data_of(8)), "npy-length",
                  "longer than 10000");
    header.size = 10000;
    CHECK(load_one(make_npy(arena, 1, buf_str(&header), data_of(8))) != NULL);
    check_refused(patched(arena, one, 8, 0, 2), "npy-header", "a dictionary");
}

static void test_sizes(void) {
    static const char *const overflowing[] = {"(9223372036854775807,)",
                                              "(4294967296, 4294967296)",
                                              "(0, 9223372036854775807, 2)",
                                              "(2305843009213693952,)",
                                              "(9223372036854775807, 0, 9223372036854775807)",
                                              "(65536, 65536, 65536, 65536)",
                                              "(4611686018427387904, 1)",
                                              "(3037000500, 3037000500)",
                                              "(2, 4611686018427387904)",
                                              "(1, 1, 1, 1, 1, 1, 1, 9223372036854775807)"};
    static const char *const wrong[] = {
        "()",     "(0,)",           "(1,)",      "(3,)",          "(2, 2)",
        "(2, 0)", "(65536, 65536)", "(1, 1)",    "(2147483647,)", "(1000000000000,)",
        "(4, 1)", "(1, 3)",         "(2, 1, 2)", "(8,)",          "(5,)"};
    for (size_t i = 0; i < sizeof overflowing / sizeof *overflowing; i++) {
        check_refused(make_npy(arena, 1, header_of("<f4", "False", overflowing[i]), data_of(8)),
                      "weight-overflow", "tensor \"w\"");
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        check_refused(make_npy(arena, 1, header_of("<f4", "True", wrong[i]), data_of(8)),
                      "weight-size", "but there are 8");
    }
    check_refused(make_npy(arena, 1, header_of("<f4", "False", "(2,)"), data_of(7)), "weight-size",
                  "are 7");
    check_refused(make_npy(arena, 1, header_of("<f4", "False", "(2,)"), data_of(9)), "weight-size",
                  "are 9");
    check_refused(make_npy(arena, 1, header_of("<f4", "False", "(1,1,1,1,1,1,1,1,2)"), data_of(8)),
                  "weight-rank", "9 dimensions");
}

static void test_truncation_and_bit_flips(void) {
    Str file = make_npy(arena, 1, header_of("<f4", "False", "(2, 1)"), data_of(8));
    for (size_t size = 0; size < file.size; size++) {
        CHECK_INT(weights_fixture_load(&fixture, "w.npy", (Str){file.data, size}), STATUS_invalid);
    }
    int loaded = 0, wrong = 0;
    for (size_t bit = 0; bit < file.size * 8; bit++) {
        unsigned char byte = (unsigned char)file.data[bit / 8];
        Status status = weights_fixture_load(
            &fixture, "w.npy", patched(arena, file, bit / 8, byte ^ 1U << bit % 8, 1));
        wrong += (status == STATUS_ok) == (fixture.errors > 0);
        if (status != STATUS_ok) continue;
        const Weight *weight = weights_at(fixture.table, 0);
        wrong += weight->size != 8;
        loaded++;
    }
    CHECK_INT(wrong, 0);
    CHECK(loaded >= 64);
}

// Tensors of every dtype written and read back.
static void test_writing(void) {
    const char *path = str_copy(arena, str_from(weights_fixture_path(&fixture, "out.npy"))).data;
    for (int dtype = 0; dtype < DT_count; dtype++) {
        Tensor tensor = {.dtype = (DType)dtype, .rank = 2, .dims = {2, 4}}, back = {0};
        tensor.data = arena_copy(arena, bytes64, 64);
        if (dtype == DT_bool) memset(tensor.data, 1, 64);
        Diags *diags = diags_new(arena, NULL, NULL, 0);
        CHECK_INT(npy_write(arena, diags, (Loc){0}, str_from(path), &tensor), STATUS_ok);
        CHECK_INT(npy_read(arena, diags, (Loc){0}, str_from(path), &back), STATUS_ok);
        CHECK(npy_reinterpret(arena, &back, (DType)dtype));
        CHECK(back.dtype == (DType)dtype && back.rank == 2 && back.dims[0] == 2 &&
              back.dims[1] == 4);
        CHECK_INT(tensor_bytes(&back), tensor_bytes(&tensor));
        if (back.data) CHECK_MEM(back.data, tensor.data, tensor_bytes(&tensor));
    }
    unlink(path);
}

static void test_the_written_header(void) {
    static const struct {
        uint32_t rank;
        int64_t dims[2];
        const char *shape;
    } rows[] = {{0, {0}, "'shape': (), }"},
                {1, {3}, "'shape': (3,), }"},
                {2, {2, 0}, "'shape': (2, 0), }"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Tensor tensor = {
            .dtype = DT_f32, .rank = rows[i].rank, .data = arena_copy(arena, bytes64, 64)};
        memcpy(tensor.dims, rows[i].dims, sizeof rows[i].dims);
        Buf buf = {.arena = arena};
        npy_encode(&buf, &tensor);
        CHECK(strstr(buf.data + 10, rows[i].shape) != NULL);
        CHECK(strstr(buf.data + 10, "{'descr': '<f4', 'fortran_order': False") == buf.data + 10);
        size_t header =
            (size_t)(unsigned char)buf.data[8] + 256 * (size_t)(unsigned char)buf.data[9] + 10;
        CHECK(header % 64 == 0 && buf.data[header - 1] == '\n');
        CHECK_INT(buf.size, header + tensor_bytes(&tensor));
    }
}

static void test_what_is_no_other_dtype(void) {
    Tensor tensor = {
        .dtype = DT_i8, .rank = 1, .dims = {2}, .data = arena_copy(arena, "\x08\x01", 2)};
    CHECK(!npy_reinterpret(arena, &tensor, DT_i4)); // 8 is no i4
    CHECK(!npy_reinterpret(arena, &tensor, DT_u8) && !npy_reinterpret(arena, &tensor, DT_f32));
    CHECK(!npy_reinterpret(arena, &tensor, DT_f8e4m3) && tensor.dtype == DT_i8);
    tensor.dtype = DT_u16;
    CHECK(npy_reinterpret(arena, &tensor, DT_bf16) && tensor.dtype == DT_bf16);
}

static void test_reading_one_array(void) {
    Diags *diags = diags_new(arena, NULL, NULL, 0);
    Tensor tensor;
    weights_fixture_put(&fixture, "a.npy",
                        make_npy(arena, 1, header_of(">i4", "True", "(2, 2)"),
                                 STR("\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4")));
    Str path = str_from(weights_fixture_path(&fixture, "a.npy"));
    CHECK_INT(npy_read(arena, diags, (Loc){0}, path, &tensor), STATUS_ok);
    CHECK_MEM(tensor.data, ((int32_t[]){1, 3, 2, 4}), 16);
    weights_fixture_put(&fixture, "a.npy",
                        make_npy(arena, 1, header_of("|b1", "False", "(1,)"), STR("\3")));
    CHECK_INT(npy_read(arena, diags, (Loc){0}, path, &tensor), STATUS_invalid);
    weights_fixture_remove(&fixture, "a.npy");
    CHECK_INT(npy_read(arena, diags, (Loc){0}, path, &tensor), STATUS_environment);
}

static void test_a_write_that_fails_keeps_the_old_file(void) {
    Tensor tensor = {
        .dtype = DT_f32, .rank = 1, .dims = {2}, .data = arena_copy(arena, bytes64, 8)};
    Diags *diags = diags_new(arena, NULL, NULL, 0);
    CHECK_INT(npy_write(arena, diags, (Loc){0}, STR("/dev/full"), &tensor), STATUS_environment);
    CHECK_INT(npy_write(arena, diags, (Loc){0}, str_from(fixture.folder), &tensor), STATUS_invalid);
    CHECK_INT(diags_error_count(diags), 2);
}

int main(void) {
    arena = arena_new(NULL);
    weights_fixture_begin(&fixture);
    RUN(test_every_dtype_and_byte_order);
    RUN(test_bools);
    RUN(test_versions_and_shapes);
    RUN(test_fortran_order);
    RUN(test_headers_in_other_spellings);
    RUN(test_headers_that_are_not_right);
    RUN(test_dtypes_that_are_refused);
    RUN(test_magic_and_versions);
    RUN(test_lengths_of_the_header);
    RUN(test_sizes);
    RUN(test_truncation_and_bit_flips);
    RUN(test_writing);
    RUN(test_the_written_header);
    RUN(test_what_is_no_other_dtype);
    RUN(test_reading_one_array);
    RUN(test_a_write_that_fails_keeps_the_old_file);
    weights_fixture_end(&fixture);
    arena_free(arena);
    return test_done();
}
