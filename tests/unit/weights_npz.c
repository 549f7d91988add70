// .npz archives and folders: what loads, and what a hostile archive is refused with.
#include "tests/support/weights_files.h"
#include "tests/unit/test.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static WeightsFixture fixture;
static Arena *arena;

static Str array(const char *shape, Str data) {
    Str header =
        str_format(arena, "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }\n", shape);
    return make_npy(arena, 1, header, data);
}

static Str two_floats(void) { return array("(2,)", STR("\x00\x00\xa0\x7f\x00\x00\x00\x80")); }

static void check_refused(Str file, const char *id, const char *part) {
    Status status = weights_fixture_load(&fixture, "w.npz", file);
    bool good = CHECK_INT(status, STATUS_invalid) && CHECK_STR(fixture.id, id);
    good = good && CHECK(strstr(fixture.text, part) != NULL);
    if (!good) printf("    %s\n", fixture.text);
}

// One member, and where its records begin: local header, central directory, end record.
typedef struct OneMember {
    Str file;
    size_t central, end;
} OneMember;

static OneMember one_member(bool deflate) {
    ZipSpec spec = {STR("a.npy"), two_floats(), deflate, false};
    OneMember one = {.file = make_zip(arena, &spec, 1, false, STR(""))};
    one.end = one.file.size - 22;
    one.central = one.end - 46 - spec.name.size;
    return one;
}

static void check_pair(Str file) {
    CHECK_INT(weights_fixture_load(&fixture, "w.npz", file), STATUS_ok);
    if (fixture.errors) printf("    %s\n", fixture.text);
    const Weight *a = weights_find(fixture.table, STR("fc1.weight"));
    const Weight *b = weights_find(fixture.table, STR("dir/b"));
    CHECK_INT(weights_count(fixture.table), 2);
    if (!CHECK(a && b)) return;
    CHECK_INT((uintptr_t)a->bytes % 4, 0);
    CHECK_MEM(a->bytes, "\x00\x00\xa0\x7f\x00\x00\x00\x80", 8);
    CHECK(b->rank == 0 && b->size == 4);
    CHECK_MEM(b->bytes, "\x01\x02\x03\x04", 4);
}

static void test_stored_deflated_and_64_bit(void) {
    for (unsigned kind = 0; kind < 16; kind++) {
        ZipSpec members[] = {
            {STR("fc1.weight.npy"), two_floats(), kind & 1, kind & 2},
            {STR("dir/b.npy"), array("()", STR("\1\2\3\4")), kind & 4, false},
        };
        check_pair(make_zip(arena, members, 2, kind & 8, STR("")));
        check_pair(make_zip(arena, members, 2, kind & 8, STR("a comment")));
    }
}

static void test_large_and_empty_members(void) {
    size_t size = 3000000;
    char *data = arena_alloc(arena, size * 4);
    for (size_t i = 0; i < size * 4; i++) data[i] = (char)(i % 251);
    ZipSpec members[] = {
        {STR("big.npy"), array("(1000, 3000)", (Str){data, size * 4}), true, false},
        {STR("none.npy"), array("(0, 7)", STR("")), true, false}};
    CHECK_INT(weights_fixture_load(&fixture, "w.npz", make_zip(arena, members, 2, false, STR(""))),
              STATUS_ok);
    const Weight *big = weights_find(fixture.table, STR("big"));
    CHECK(big && big->size == size * 4);
    if (big) CHECK_MEM(big->bytes, data, size * 4);
    CHECK(weights_find(fixture.table, STR("none")) != NULL);
    CHECK_INT(weights_fixture_load(&fixture, "w.npz", make_zip(arena, members, 0, false, STR(""))),
              STATUS_ok);
    CHECK_INT(weights_count(fixture.table), 0);
}

static void test_ends_that_are_not_right(void) {
    OneMember one = one_member(false);
    for (size_t size = 0; size < 22; size++)
        check_refused((Str){one.file.data, size}, "zip-end", "cut off");
    for (size_t i = 0; i < 4; i++)
        check_refused(patched(arena, one.file, one.end + i, 'x', 1), "zip-end", "");
    for (unsigned comment = 1; comment < 65536; comment = comment * 3 + 1) {
        check_refused(patched(arena, one.file, one.end + 20, comment, 2), "zip-end", "");
    }
    check_refused(patched(arena, one.file, one.end + 4, 1, 2), "zip-disks", "several parts");
    check_refused(patched(arena, one.file, one.end + 6, 1, 2), "zip-disks", "several parts");
    check_refused(patched(arena, one.file, one.end + 8, 2, 2), "zip-disks", "several parts");
}

static void test_directories_that_do_not_fit(void) {
    static const uint64_t values[] = {0,  1,          45,         46,         50,
                                      52, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe};
    OneMember one = one_member(false);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        check_refused(patched(arena, one.file, one.end + 12, values[i], 4), "zip-directory",
                      "byte ");
        check_refused(patched(arena, one.file, one.end + 16, values[i], 4), "zip-directory",
                      "byte ");
    }
    check_refused(patched(arena, one.file, one.end + 8, 0xffffffff, 4), "zip-directory", "byte ");
    check_refused(patched(arena, one.file, one.end + 8, 0x00020002, 4), "zip-directory", "byte ");
    check_refused(patched(arena, one.file, one.end + 8, 0, 4), "zip-record",
                  "byte "); // an entry too many
    Buf shifted = {.arena = arena};
    buf_put(&shifted, STR("MZ-head"));
    buf_put(&shifted, one.file);
    check_refused(buf_str(&shifted), "zip-directory", "byte ");
}

static void test_64_bit_ends(void) {
    ZipSpec spec = {STR("a.npy"), two_floats(), false, false};
    Str file = make_zip(arena, &spec, 1, true, STR(""));
    size_t locator = file.size - 22 - 20, end64 = locator - 56;
    static const uint64_t values[] = {1,
                                      2,
                                      UINT32_MAX,
                                      UINT64_C(1) << 32,
                                      UINT64_C(1) << 63,
                                      UINT64_MAX,
                                      UINT64_MAX - 55,
                                      1000,
                                      0x7fffffff,
                                      UINT64_MAX - 21};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        check_refused(patched(arena, file, locator + 8, values[i], 8), "zip-record", "byte ");
        check_refused(patched(arena, file, end64 + 40, values[i], 8), "zip-directory", "byte ");
        check_refused(patched(arena, file, end64 + 48, values[i], 8), "zip-directory", "byte ");
        if (values[i] > 1)
            check_refused(patched(arena, file, end64 + 32, values[i], 8), "zip-directory", "byte ");
    }
    check_refused(patched(arena, file, end64, 0, 4), "zip-record", "byte ");
    check_refused(patched(arena, file, end64 + 4, 45, 8), "zip-record", "byte ");
    check_refused(patched(arena, file, end64 + 16, 1, 4), "zip-record", "byte ");
    check_refused(patched(arena, file, locator, 0, 4), "zip-directory", "byte ");
}

static void test_central_entries(void) {
    OneMember one = one_member(false);
    for (size_t i = 0; i < 4; i++)
        check_refused(patched(arena, one.file, one.central + i, 0, 1), "zip-record", "byte ");
    static const unsigned lengths[] = {0, 1, 4, 6, 255, 256, 32767, 32768, 65534, 65535};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (size_t field = 28; field <= 32; field += 2) {
            if (field > 28 && lengths[i] == 0) continue;
            check_refused(patched(arena, one.file, one.central + field, lengths[i], 2),
                          "zip-record", "byte ");
        }
    }
    static const unsigned methods[] = {1,  2,  3,  4,  5,  6,  7,  9,  10,  12,
                                       14, 19, 93, 95, 96, 97, 98, 99, 255, 65535};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        check_refused(patched(arena, one.file, one.central + 10, methods[i], 2), "zip-method",
                      "member \"a.npy\"");
    }
    static const unsigned flags[] = {1, 0x41, 0x40, 0x2000, 0x801, 0xffff};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        check_refused(patched(arena, one.file, one.central + 8, flags[i], 2), "zip-encrypted",
                      "member \"a.npy\"");
    }
}

static void test_sizes_of_members(void) {
    static const uint64_t values[] = {0,          1,          7,          65535,      65536,
                                      0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 1000000};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        OneMember stored = one_member(false), deflated = one_member(true);
        const char *id =
            values[i] == UINT32_MAX ? "zip-record" : "zip-size"; // no 64-bit field follows
        bool extra = values[i] == UINT32_MAX;
        Status status = weights_fixture_load(
            &fixture, "w.npz", patched(arena, stored.file, stored.central + 20, values[i], 4));
        CHECK_INT(status, STATUS_invalid);
        check_refused(patched(arena, stored.file, stored.central + 24, values[i], 4),
                      extra ? "zip-size" : id, "byte ");
        status = weights_fixture_load(
            &fixture, "w.npz", patched(arena, deflated.file, deflated.central + 24, values[i], 4));
        CHECK_INT(status, STATUS_invalid);
        status = weights_fixture_load(
            &fixture, "w.npz", patched(arena, deflated.file, deflated.central + 20, values[i], 4));
        CHECK_INT(status, STATUS_invalid);
    }
    OneMember stored = one_member(false);
    Str both = patched(arena, stored.file, stored.central + 20, 0xffff0000ffff0000, 8);
    check_refused(both, "zip-place", "member \"a.npy\"");
    OneMember deflated = one_member(true);
    check_refused(patched(arena, deflated.file, deflated.central + 24, 0xf0000000, 4), "zip-size",
                  "cannot come out of");
}

static void test_places_of_members(void) {
    static const uint64_t values[] = {1,          2,          30,         100,   0x7fffffff,
                                      0x80000000, 0xfffffffe, 0xffffffff, 65536, 128};
    OneMember one = one_member(false);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        Status status = weights_fixture_load(
            &fixture, "w.npz", patched(arena, one.file, one.central + 42, values[i], 4));
        CHECK_INT(status, STATUS_invalid);
        CHECK(strncmp(fixture.id, "zip-", 4) == 0);
    }
    for (size_t i = 0; i < 4; i++)
        check_refused(patched(arena, one.file, i, 0, 1), "zip-record", "byte 0: ");
    static const unsigned lengths[] = {1, 4, 6, 200, 65535};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        check_refused(patched(arena, one.file, 26, lengths[i], 2), "zip-record", "byte 0: ");
    }
    check_refused(patched(arena, one.file, 28, 65535, 2), "zip-record", "byte 0: ");
    check_refused(patched(arena, one.file, 28, 40, 2), "zip-place", "byte 0: ");
    check_refused(patched(arena, one.file, 30, 'b', 1), "zip-record", "byte 0: "); // another name
}

static void test_members_that_overlap(void) {
    ZipSpec members[] = {{STR("a.npy"), two_floats(), false, false},
                         {STR("a.npy"), two_floats(), false, false}};
    Str file = make_zip(arena, members, 2, false, STR(""));
    size_t second = file.size - 22 - 51;
    check_refused(patched(arena, file, second + 42, 0, 4), "zip-place", "overlaps");
    check_refused(file, "weight-twice", "tensor \"a\"");
}

static void test_contents(void) {
    for (int deflate = 0; deflate < 2; deflate++) {
        OneMember one = one_member(deflate);
        for (unsigned i = 0; i < 32; i++) {
            Str flipped =
                patched(arena, one.file, one.central + 16 + i / 8,
                        (unsigned char)one.file.data[one.central + 16 + i / 8] ^ 1U << i % 8, 1);
            check_refused(flipped, "zip-crc", "member \"a.npy\"");
        }
    }
    OneMember one = one_member(true);
    for (size_t at = 35; at < one.central; at++) {
        Status status = weights_fixture_load(
            &fixture, "w.npz",
            patched(arena, one.file, at, (unsigned char)one.file.data[at] ^ 0x55, 1));
        CHECK_INT(status, STATUS_invalid);
        CHECK(strcmp(fixture.id, "zip-crc") == 0 || strcmp(fixture.id, "zip-inflate") == 0);
    }
}

static void test_names(void) {
    static const char *const names[] = {"a",   "a.txt", "",      "a.npy/", "archive/data.pkl",
                                        "npy", "a.NPY", "a.npz", "..",     "a\n"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ZipSpec spec = {str_from(names[i]), two_floats(), false, false};
        check_refused(make_zip(arena, &spec, 1, false, STR("")), "zip-not-npy", "not an .npy file");
        CHECK(strchr(fixture.text, '\n') == strrchr(fixture.text, '\n'));
    }
    static const Str bad[] = {{"a\0b.npy", 7},
                              {"\xff.npy", 5},
                              {"\xc0\x80.npy", 6},
                              {"\xed\xa0\x80.npy", 7},
                              {"\0.npy", 5}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ZipSpec spec = {bad[i], two_floats(), false, false};
        check_refused(make_zip(arena, &spec, 1, false, STR("")), "weight-name", "must be UTF-8");
    }
    // Names are names and no paths.
    static const char *const fine[] = {"../../etc/x.npy", "/abs.npy", "C:\\x.npy",
                                       "//.npy",          ".npy",     "\x1b[31m.npy"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        ZipSpec spec = {str_from(fine[i]), two_floats(), false, false};
        CHECK_INT(
            weights_fixture_load(&fixture, "w.npz", make_zip(arena, &spec, 1, false, STR(""))),
            STATUS_ok);
    }
}

static void test_arrays_inside(void) {
    ZipSpec members[] = {{STR("bad.npy"), array("(3,)", STR("12345678")), true, false},
                         {STR("good.npy"), two_floats(), true, false},
                         {STR("worse.npy"), STR("hello"), false, false}};
    check_refused(make_zip(arena, members, 3, false, STR("")), "weight-size", "tensor \"bad\"");
    CHECK_INT(fixture.errors, 2);
}

static void check_flips_and_cuts(Str file) {
    for (size_t size = 0; size < file.size; size++) {
        CHECK_INT(weights_fixture_load(&fixture, "w.npz", (Str){file.data, size}), STATUS_invalid);
    }
    int wrong = 0;
    for (size_t bit = 0; bit < file.size * 8; bit++) {
        unsigned char byte = (unsigned char)file.data[bit / 8];
        Status status = weights_fixture_load(
            &fixture, "w.npz", patched(arena, file, bit / 8, byte ^ 1U << bit % 8, 1));
        wrong += (status == STATUS_ok) == (fixture.errors > 0);
        for (size_t i = 0; i < weights_count(fixture.table); i++)
            wrong += weights_at(fixture.table, i)->size != 8;
    }
    CHECK_INT(wrong, 0);
}

static void test_truncation_and_bit_flips(void) {
    ZipSpec spec = {STR("a.npy"), two_floats(), true, true};
    check_flips_and_cuts(one_member(false).file);
    check_flips_and_cuts(one_member(true).file);
    check_flips_and_cuts(make_zip(arena, &spec, 1, true, STR("")));
}

static void test_folders(void) {
    weights_fixture_put(&fixture, "b.weight.npy", two_floats());
    weights_fixture_put(
        &fixture, "a.safetensors",
        make_safetensors(arena,
                         STR("{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}"),
                         STR("z")));
    weights_fixture_put(&fixture, "config.json", STR("{}"));
    weights_fixture_put(&fixture, ".hidden.npy", STR("junk"));
    CHECK_INT(weights_fixture_load_path(&fixture, fixture.folder), STATUS_ok);
    CHECK_INT(weights_count(fixture.table), 2);
    CHECK_STR(weights_at(fixture.table, 0)->name.data, "x");
    CHECK_STR(weights_at(fixture.table, 1)->name.data, "b.weight");
    CHECK_INT(weights_load(fixture.table, fixture.diags, (Loc){0}, str_from(fixture.folder)),
              STATUS_invalid);
    CHECK_STR(fixture.id, "weight-twice");
    CHECK_INT(fixture.errors, 2);
    mkfifo(weights_fixture_path(&fixture, "c.npy"), 0600);
    CHECK_INT(weights_fixture_load_path(&fixture, fixture.folder), STATUS_invalid);
    CHECK_STR(fixture.id, "not-a-file");
    static const char *const names[] = {"b.weight.npy", "a.safetensors", "config.json",
                                        ".hidden.npy", "c.npy"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        weights_fixture_remove(&fixture, names[i]);
    CHECK_INT(weights_fixture_load_path(&fixture, fixture.folder), STATUS_invalid);
    CHECK_STR(fixture.id, "weights-empty-folder");
}

static void test_paths_that_are_no_files(void) {
    CHECK_INT(weights_fixture_load_path(&fixture, "/dev/zero"), STATUS_invalid);
    CHECK_STR(fixture.id, "not-a-file");
    CHECK_INT(weights_fixture_load_path(&fixture, "/proc/self/mem"), STATUS_invalid);
    CHECK_INT(weights_fixture_load_path(&fixture, "/nowhere/w.npz"), STATUS_environment);
    CHECK_STR(fixture.id, "cannot-read");
    CHECK_INT(weights_fixture_load_path(&fixture, ""), STATUS_invalid);
    CHECK_STR(fixture.id, "bad-path");
    mkfifo(weights_fixture_path(&fixture, "fifo.npz"), 0600);
    CHECK_INT(weights_fixture_load_path(&fixture, weights_fixture_path(&fixture, "fifo.npz")),
              STATUS_invalid);
    CHECK_STR(fixture.id, "not-a-file");
    weights_fixture_remove(&fixture, "fifo.npz");
    if (geteuid() == 0) {
        puts("skipped: an unreadable file, as root reads all");
        return;
    }
    weights_fixture_put(&fixture, "w.npz", one_member(false).file);
    chmod(weights_fixture_path(&fixture, "w.npz"), 0);
    CHECK_INT(weights_fixture_load_path(&fixture, weights_fixture_path(&fixture, "w.npz")),
              STATUS_environment);
    weights_fixture_remove(&fixture, "w.npz");
}

static void test_formats_by_content(void) {
    CHECK_INT(weights_fixture_load(&fixture, "w.bin", one_member(true).file), STATUS_ok);
    CHECK_INT(weights_fixture_load(&fixture, "w.bin", two_floats()), STATUS_ok);
    CHECK(weights_find(fixture.table, STR("w.bin")) != NULL);
    CHECK_INT(weights_fixture_load(&fixture, "w", make_safetensors(arena, STR("{}"), STR(""))),
              STATUS_ok);
    CHECK_INT(weights_fixture_load(&fixture, "w.txt", STR("hello")), STATUS_invalid);
    CHECK_STR(fixture.id, "weights-format");
    CHECK_INT(weights_fixture_load(&fixture, "w", STR("")), STATUS_invalid);
    CHECK_STR(fixture.id, "weights-format");
    CHECK_INT(weights_fixture_load(&fixture, "w.npz", two_floats()), STATUS_invalid);
    CHECK_STR(fixture.id, "zip-end");
}

static void test_unused_tensors(void) {
    ZipSpec members[8];
    for (size_t i = 0; i < 8; i++)
        members[i] = (ZipSpec){str_format(arena, "t%zu.npy", i), two_floats(), false, false};
    CHECK_INT(weights_fixture_load(&fixture, "w.npz", make_zip(arena, members, 8, false, STR(""))),
              STATUS_ok);
    weights_find(fixture.table, STR("t1"))->used = true;
    weights_warn_unused(fixture.table, fixture.diags, (Loc){0});
    CHECK_STR(
        fixture.warning,
        "warning: 7 of 8 tensors of the weights are not used: \"t0\", \"t2\", \"t3\", \"t4\", "
        "\"t5\", ... [weights-unused]\n");
    CHECK_INT(diags_warning_count(fixture.diags), 1);
    for (size_t i = 0; i < 8; i++) weights_at(fixture.table, i)->used = true;
    weights_warn_unused(fixture.table, fixture.diags, (Loc){0});
    CHECK_INT(diags_warning_count(fixture.diags), 1);
}

static void test_bytes_outlive_the_table(void) {
    CHECK_INT(weights_fixture_load(&fixture, "w.npz", one_member(true).file), STATUS_ok);
    const Weight *weight = weights_find(fixture.table, STR("a"));
    WeightStorage *storage = weight_storage_retain(weight->storage);
    const void *bytes = weight->bytes;
    CHECK_INT(weights_fixture_load(&fixture, "w.npz", one_member(false).file), STATUS_ok);
    CHECK_MEM(bytes, "\x00\x00\xa0\x7f\x00\x00\x00\x80", 8);
    weight_storage_release(storage);
}

int main(void) {
    arena = arena_new(NULL);
    weights_fixture_begin(&fixture);
    RUN(test_stored_deflated_and_64_bit);
    RUN(test_large_and_empty_members);
    RUN(test_ends_that_are_not_right);
    RUN(test_directories_that_do_not_fit);
    RUN(test_64_bit_ends);
    RUN(test_central_entries);
    RUN(test_sizes_of_members);
    RUN(test_places_of_members);
    RUN(test_members_that_overlap);
    RUN(test_contents);
    RUN(test_names);
    RUN(test_arrays_inside);
    RUN(test_truncation_and_bit_flips);
    RUN(test_folders);
    RUN(test_paths_that_are_no_files);
    RUN(test_formats_by_content);
    RUN(test_unused_tensors);
    RUN(test_bytes_outlive_the_table);
    weights_fixture_end(&fixture);
    arena_free(arena);
    return test_done();
}
