// Files: what is read and refused, and that a write is whole or leaves no trace.
#include "base/file.h"
#include "tests/unit/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static Arena *arena;
static char folder[] = "/tmp/tcc-test-XXXXXX";
static const char *last_id;

static void keep_id(void *user, const Diag *diag) {
    (void)user;
    last_id = diag->id;
}

static Diags *fresh_diags(void) {
    last_id = "";
    return diags_new(arena, keep_id, NULL, 0);
}

static Str in_folder(const char *name) { return str_format(arena, "%s/%s", folder, name); }

static void put_file(const char *name, const char *text) {
    FILE *out = fopen(in_folder(name).data, "wb");
    fputs(text, out);
    fclose(out);
}

static Str get_file(const char *name) {
    Str text = {"(unread)", 8};
    file_read(arena, fresh_diags(), (Loc){0}, in_folder(name), 1 << 20, &text);
    return text;
}

static int files_in_folder(void) {
    DIR *open_folder = opendir(folder);
    int count = 0;
    while (readdir(open_folder)) count++;
    closedir(open_folder);
    return count - 2;
}

static void test_reading(void) {
    Str text;
    put_file("a", "hello");
    put_file("empty", "");
    CHECK_INT(file_read(arena, fresh_diags(), (Loc){0}, in_folder("a"), 5, &text), STATUS_ok);
    CHECK_STR(text.data, "hello");
    CHECK_INT(file_read(arena, fresh_diags(), (Loc){0}, in_folder("empty"), 5, &text), STATUS_ok);
    CHECK(text.size == 0 && text.data[0] == '\0');
}

static void check_refused(Str path, uint64_t limit, Status want, const char *id) {
    Str text;
    FileBytes bytes;
    CHECK_INT(file_read(arena, fresh_diags(), (Loc){0}, path, limit, &text), want);
    CHECK_STR(last_id, id);
    CHECK_INT(file_load(fresh_diags(), (Loc){0}, path, limit, 0, &bytes), want);
    CHECK_STR(last_id, id);
}

static void test_what_is_refused(void) {
    CHECK_INT(mkfifo(in_folder("fifo").data, 0600), 0);
    check_refused(in_folder("a"), 4, STATUS_invalid, "too-large");
    check_refused(in_folder("none"), 4, STATUS_environment, "cannot-read");
    check_refused(in_folder("a/b"), 4, STATUS_environment, "cannot-read");
    check_refused(str_from(folder), 1 << 20, STATUS_invalid, "not-a-file");
    check_refused(in_folder("fifo"), 1 << 20, STATUS_invalid, "not-a-file");
    check_refused(STR("/dev/zero"), 1 << 20, STATUS_invalid, "not-a-file");
    check_refused(STR(""), 4, STATUS_invalid, "bad-path");
    check_refused(STR("a\0b"), 4, STATUS_invalid, "bad-path");
    unlink(in_folder("fifo").data);
}

static void test_loading(void) {
    FileBytes read_in, mapped, empty;
    Diags *diags = fresh_diags();
    CHECK_INT(file_load(diags, (Loc){0}, in_folder("a"), 9, UINT64_MAX, &read_in), STATUS_ok);
    CHECK_INT(file_load(diags, (Loc){0}, in_folder("a"), 9, 0, &mapped), STATUS_ok);
    CHECK_INT(file_load(diags, (Loc){0}, in_folder("empty"), 9, 0, &empty), STATUS_ok);
    CHECK(read_in.size == 5 && mapped.size == 5 && empty.size == 0);
    CHECK_MEM(read_in.data, "hello", 5);
    CHECK_MEM(mapped.data, "hello", 5);
    file_release(read_in);
    file_release(mapped);
    file_release(empty);
    file_release((FileBytes){0});
}

static void test_paths_beside(void) {
    CHECK_STR(file_beside(arena, STR("a/b/m.g"), STR("w.npz")).data, "a/b/w.npz");
    CHECK_STR(file_beside(arena, STR("m.g"), STR("w.npz")).data, "w.npz");
    CHECK_STR(file_beside(arena, STR("/m.g"), STR("../w")).data, "/../w");
    CHECK_STR(file_beside(arena, STR("a/m.g"), STR("/w")).data, "/w");
}

// Whether files of the folder may be without a name.
static bool has_unnamed_files(void) {
    int fd = open(folder, O_TMPFILE | O_WRONLY, 0600);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

static void test_a_write_appears_at_the_commit(void) {
    AtomicFile file;
    put_file("out", "old");
    int before = files_in_folder();
    CHECK_INT(atomic_file_begin(&file, arena, fresh_diags(), (Loc){0}, in_folder("out"), 0666),
              STATUS_ok);
    atomic_file_write(&file, "new ", 4);
    atomic_file_write(&file, "text", 4);
    CHECK(str_equal(get_file("out"), STR("old")));
    CHECK_INT(files_in_folder(), before + !has_unnamed_files());
    CHECK_INT(atomic_file_commit(&file, fresh_diags(), (Loc){0}), STATUS_ok);
    CHECK(str_equal(get_file("out"), STR("new text")));
    CHECK_INT(files_in_folder(), before);
}

static void test_abandoned(void) {
    AtomicFile file;
    int before = files_in_folder();
    CHECK_INT(atomic_file_begin(&file, arena, fresh_diags(), (Loc){0}, in_folder("out"), 0666),
              STATUS_ok);
    atomic_file_write(&file, "xxx", 3);
    atomic_file_abandon(&file);
    CHECK(str_equal(get_file("out"), STR("new text")));
    CHECK_INT(files_in_folder(), before);
}

static void test_a_raise_removes_the_temporary(void) {
    AtomicFile file;
    Guard guard;
    int before = files_in_folder();
    guard_enter(&guard);
    if (setjmp(guard.jump) == 0) {
        atomic_file_begin(&file, arena, fresh_diags(), (Loc){0}, in_folder("out"), 0666);
        atomic_file_write(&file, "xxx", 3);
        guard_raise(GUARD_memory, "no more");
    }
    guard_leave(&guard);
    CHECK_INT(guard.kind, GUARD_memory);
    CHECK(str_equal(get_file("out"), STR("new text")));
    CHECK_INT(files_in_folder(), before);
}

// The limit on a file's size stands in for a full disk: write fails half-way with EFBIG.
static void test_a_disk_that_fills_up(void) {
    struct rlimit old, small;
    static char block[100000];
    AtomicFile file;
    int before = files_in_folder();
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 150000;
    setrlimit(RLIMIT_FSIZE, &small);
    CHECK_INT(atomic_file_begin(&file, arena, fresh_diags(), (Loc){0}, in_folder("out"), 0666),
              STATUS_ok);
    for (int i = 0; i < 3; i++) atomic_file_write(&file, block, sizeof block);
    CHECK_INT(atomic_file_commit(&file, fresh_diags(), (Loc){0}), STATUS_environment);
    CHECK_STR(last_id, "cannot-write");
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK(str_equal(get_file("out"), STR("new text")));
    CHECK_INT(files_in_folder(), before);
}

static void test_a_reader_that_went_away(void) {
    int ends[2];
    CHECK_INT(pipe(ends), 0);
    close(ends[0]);
    CHECK_INT(file_write_all(ends[1], "text", 4), EPIPE);
    close(ends[1]);
}

static void test_devices_are_written_directly(void) {
    AtomicFile file;
    struct stat info;
    CHECK_INT(atomic_file_begin(&file, arena, fresh_diags(), (Loc){0}, STR("/dev/full"), 0666),
              STATUS_ok);
    atomic_file_write(&file, "x", 1);
    CHECK_INT(atomic_file_commit(&file, fresh_diags(), (Loc){0}), STATUS_environment);
    CHECK_STR(last_id, "cannot-write");
    CHECK_INT(atomic_file_begin(&file, arena, fresh_diags(), (Loc){0}, STR("/dev/null"), 0666),
              STATUS_ok);
    atomic_file_write(&file, "x", 1);
    CHECK_INT(atomic_file_commit(&file, fresh_diags(), (Loc){0}), STATUS_ok);
    CHECK(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
}

static void test_links_stay_links(void) {
    AtomicFile file;
    struct stat info;
    CHECK_INT(symlink("out", in_folder("link").data), 0);
    CHECK_INT(atomic_file_begin(&file, arena, fresh_diags(), (Loc){0}, in_folder("link"), 0666),
              STATUS_ok);
    atomic_file_write(&file, "through", 7);
    CHECK_INT(atomic_file_commit(&file, fresh_diags(), (Loc){0}), STATUS_ok);
    CHECK(lstat(in_folder("link").data, &info) == 0 && S_ISLNK(info.st_mode));
    CHECK(str_equal(get_file("out"), STR("through")));
}

static void test_what_cannot_be_written(void) {
    AtomicFile file;
    CHECK_INT(atomic_file_begin(&file, arena, fresh_diags(), (Loc){0}, str_from(folder), 0666),
              STATUS_invalid);
    CHECK_STR(last_id, "not-a-file");
    CHECK_INT(atomic_file_begin(&file, arena, fresh_diags(), (Loc){0}, in_folder("no/out"), 0666),
              STATUS_environment);
    CHECK_STR(last_id, "cannot-write");
    CHECK_INT(atomic_file_begin(&file, arena, fresh_diags(), (Loc){0}, STR(""), 0666),
              STATUS_invalid);
    CHECK_STR(last_id, "bad-path");
    CHECK_INT(atomic_file_begin(&file, arena, fresh_diags(), (Loc){0}, STR("x\0y"), 0666),
              STATUS_invalid);
}

static void test_the_umask_is_followed(void) {
    AtomicFile file;
    struct stat info;
    mode_t old = umask(027);
    atomic_file_begin(&file, arena, fresh_diags(), (Loc){0}, in_folder("mode"), 0777);
    CHECK_INT(atomic_file_commit(&file, fresh_diags(), (Loc){0}), STATUS_ok);
    umask(old);
    CHECK(stat(in_folder("mode").data, &info) == 0);
    CHECK_INT(info.st_mode & 0777, 0750);
    CHECK_INT(info.st_size, 0);
}

static void clean_up(void) {
    static const char *const names[] = {"a", "empty", "out", "link", "mode"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(in_folder(names[i]).data);
    CHECK_INT(rmdir(folder), 0);
}

int main(void) {
    arena = arena_new(NULL);
    if (!mkdtemp(folder)) return 1;
    RUN(test_reading);
    RUN(test_what_is_refused);
    RUN(test_loading);
    RUN(test_paths_beside);
    RUN(test_a_write_appears_at_the_commit);
    RUN(test_abandoned);
    RUN(test_a_raise_removes_the_temporary);
    RUN(test_a_disk_that_fills_up);
    RUN(test_a_reader_that_went_away);
    RUN(test_devices_are_written_directly);
    RUN(test_links_stay_links);
    RUN(test_what_cannot_be_written);
    RUN(test_the_umask_is_followed);
    RUN(clean_up);
    arena_free(arena);
    return test_done();
}
