// The readers on kept inputs, without libFuzzer:
//
//     parsers-replay NAME FILE...
#include "tests/fuzz/parsers/targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const double most_seconds = 5; // of one input, also in a build with sanitizers

static int replay(const FuzzTarget *target, const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) return perror(path), 1;
    long size = ftell(file);
    rewind(file);
    uint8_t *data = malloc((size_t)size + 1);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) return perror(path), 1;
    clock_t begin = clock();
    target->run(data, (size_t)size);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (seconds > most_seconds) printf("FAILED %s takes %.1f s\n", path, seconds);
    free(data);
    fclose(file);
    return seconds > most_seconds;
}

int main(int argc, char **argv) {
    const FuzzTarget *target = argc > 1 ? fuzz_target_find(argv[1]) : NULL;
    int failures = target == NULL;
    for (int i = 2; target && i < argc; i++) failures += replay(target, argv[i]);
    return failures > 0;
}
