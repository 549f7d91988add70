// M6, M7 and M24: what stands at a path is no file, changes while it is read, or is somewhere else.
#include "tests/hostile/hostile.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A path in the folder of the kit, in the arena.
static const char *at(Kit *kit, const char *name) {
    return str_copy(kit->arena, str_from(weights_fixture_path(&kit->weights, name))).data;
}

static void make_no_files(Kit *kit) {
    static const char *const devices[] = {"/dev/zero",
                                          "/dev/null",
                                          "/dev/full",
                                          "/proc/self/mem",
                                          "/proc/self/fd",
                                          "/nowhere",
                                          "/nowhere/",
                                          "/",
                                          "",
                                          "."};
    for (int format = 0; format < FORMAT_count; format++) {
        const char *suffix = format_suffixes[format];
        const char *folder = at(kit, text_of(kit, "folder%s", suffix).data),
                   *fifo = at(kit, text_of(kit, "fifo%s", suffix).data);
        const char *dangling = at(kit, text_of(kit, "dangling%s", suffix).data),
                   *loop = at(kit, text_of(kit, "loop%s", suffix).data);
        const char *device = at(kit, text_of(kit, "device%s", suffix).data);
        expect(kit,
               mkdir(folder, 0700) == 0 && mkfifo(fifo, 0600) == 0 &&
                   symlink("/nowhere/file", dangling) == 0 && symlink(loop, loop) == 0 &&
                   symlink("/dev/zero", device) == 0,
               "the folder");
        const char *const paths[] = {folder, fifo, dangling, loop, device};
        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
            judge_path(kit, (Format)format, REFUSED, paths[i]);
            expect(kit, remove(paths[i]) == 0, "the folder");
        }
        for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
            judge_path(kit, (Format)format, REFUSED, devices[i]);
    }
}

typedef struct Changer {
    const char *path;
    off_t size;
    atomic_bool stop;
} Changer;

static void *change_sizes(void *data) {
    Changer *c = data;
    for (off_t k = 0; !atomic_load(&c->stop); k++) {
        int cut = truncate(c->path, k % c->size), grown = truncate(c->path, c->size);
        (void)cut, (void)grown;
    }
    return NULL;
}

// Another thread cuts the file off and lets it grow again: it is read as something whole or
// refused.
static void make_shrinking(Kit *kit) {
    kit->changing = true;
    for (int format = 0; format < FORMAT_count; format++) {
        const char *path = at(kit, text_of(kit, "shrinks%s", format_suffixes[format]).data);
        Str whole = good_file(kit, (Format)format);
        pthread_t thread;
        Changer changer = {.path = path, .size = (off_t)whole.size};
        weights_fixture_put(&kit->weights, path + strlen(kit->weights.folder) + 1, whole);
        if (!expect(kit, pthread_create(&thread, NULL, change_sizes, &changer) == 0, "a thread"))
            return;
        for (int i = 0; i < 20; i++) judge_path(kit, (Format)format, EITHER, path);
        atomic_store(&changer.stop, true);
        pthread_join(thread, NULL);
        expect(kit, unlink(path) == 0, "the folder");
    }
}

static void judge_weights(Kit *kit, Verdict verdict, const char *path) {
    judge(
        kit, FORMAT_g, verdict,
        text_of(
            kit,
            "weights \"%s\"\nmodel m(x: f32[2]) -> (y) {\n    param a: f32[2]\n    y = x + a\n}\n",
            path));
}

// A model names its weights by any path; what stands there is read only if it is a file of weights.
static void make_places(Kit *kit) {
    static const char *const wrong[] = {"../x.safetensors",
                                        "a/../../x.npz",
                                        "/etc/passwd",
                                        "/etc/shadow",
                                        "C:\\\\x.npy",
                                        "//",
                                        "",
                                        "/",
                                        ".",
                                        "..",
                                        "/dev/zero",
                                        "/proc/self/mem",
                                        "/proc/self/environ",
                                        "/dev/stdin",
                                        "x.onnx",
                                        "x",
                                        "~/x.npz",
                                        "$HOME/x.npz",
                                        "file:///etc/passwd",
                                        "http://localhost/x.npz",
                                        "*.npz",
                                        "x.safetensors/y.npy",
                                        "| cat /etc/passwd",
                                        "{x}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) judge_weights(kit, REFUSED, wrong[i]);
    judge_weights(kit, REFUSED, repeated(kit, "", "a/", 5000, "x.npz").data);
    judge_weights(kit, REFUSED, repeated(kit, "", "n", 255, "x.npz").data);
    Str good = one_tensor(kit, "\"F32\"", "[2]", "[0,8]", 8);
    const char *file = at(kit, "w.safetensors"), *soft = at(kit, "soft.safetensors"),
               *hard = at(kit, "hard.safetensors");
    const char *folder = at(kit, "f"), *inside = at(kit, "f/w.safetensors"), *alias = at(kit, "g");
    weights_fixture_put(&kit->weights, "w.safetensors", good);
    expect(kit,
           symlink(file, soft) == 0 && link(file, hard) == 0 && mkdir(folder, 0700) == 0 &&
               symlink(folder, alias) == 0,
           "the folder");
    weights_fixture_put(&kit->weights, "f/w.safetensors", good);
    const char *const right[] = {file,
                                 soft,
                                 hard,
                                 inside,
                                 at(kit, "g/w.safetensors"),
                                 at(kit, "f/../w.safetensors"),
                                 at(kit, "./w.safetensors"),
                                 at(kit, "//w.safetensors"),
                                 folder};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        judge_weights(kit, ACCEPTED, right[i]);
    // The same tensor from two files, or from one file twice.
    judge_weights(kit, REFUSED, text_of(kit, "%s\"\nweights \"%s", file, hard).data);
    judge_weights(kit, REFUSED, text_of(kit, "%s\"\nweights \"%s", file, file).data);
    const char *const made[] = {inside, file, soft, hard, alias};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        expect(kit, unlink(made[i]) == 0, "the folder");
    expect(kit, rmdir(folder) == 0, "the folder");
}

const Kind path_kinds[] = {{"M6", "folders, FIFOs, devices, links to nowhere", make_no_files},
                           {"M7", "files that shrink while they are read", make_shrinking},
                           {"M24", "paths to elsewhere, links, the same file twice", make_places},
                           {NULL, NULL, NULL}};
