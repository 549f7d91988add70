// Every kind of hostile input that applies to the formats tcc reads, with 20 variants of each or
// more:
//
//     hostile-run [--keep=FOLDER] [KIND...]
//
// --keep writes a sample of the refused files to a folder, for tests/hostile/run to give to the
// command.
#include "tests/hostile/hostile.h"
#include "tests/unit/test.h"

#include <dirent.h>
#include <unistd.h>

enum { LEAST_VARIANTS = 20 };

static const Kind *const tables[] = {damage_kinds, size_kinds, text_kinds, meaning_kinds,
                                     path_kinds};

static long files_in(const char *path) {
    long count = -2; // . and ..
    DIR *folder = opendir(path);
    while (folder && readdir(folder)) count++;
    if (folder) closedir(folder);
    return count;
}

static void run_kind(const Kind *kind, const char *keep) {
    Kit kit = {.kind = kind->name, .keep = keep, .arena = arena_new(NULL)};
    weights_fixture_begin(&kit.weights);
    if (CHECK(tcc_compiler_new(&kit.compiler) == TCC_OK)) {
        tcc_set_option(kit.compiler, "passes", "inline"); // the readers are tested, not the code
        kind->make(&kit);
        tcc_compiler_free(kit.compiler);
    }
    expect(&kit, files_in(kit.weights.folder) == 0, "nothing was written");
    weights_fixture_end(&kit.weights);
    arena_free(kit.arena);
    expect(&kit, kit.variants >= LEAST_VARIANTS, "20 variants");
    CHECK_INT(kit.failed, 0);
    printf("%s %-4s %-58s %6ld variants, %6ld refused, %5ld accepted, slowest %.3f s\n",
           kit.failed ? "FAILED" : "ok    ", kind->name, kind->meaning, kit.variants, kit.refused,
           kit.accepted, kit.slowest);
    fflush(stdout);
}

static bool wanted(const char *name, int count, char **words) {
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], name) == 0) return true;
    return count == 0;
}

int main(int argc, char **argv) {
    const char *keep = NULL;
    if (argc > 1 && strncmp(argv[1], "--keep=", 7) == 0) {
        keep = argv[1] + 7;
        argc--, argv++;
    }
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const Kind *kind = tables[t]; kind->name; kind++)
            if (wanted(kind->name, argc - 1, argv + 1)) run_kind(kind, keep);
    return test_done();
}
