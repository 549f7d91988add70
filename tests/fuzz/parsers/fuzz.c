// The program that libFuzzer drives. Which reader it is for stands in the environment: PARSER=tir.
#include "tests/fuzz/parsers/mutate.h"
#include "tests/fuzz/parsers/targets.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *count, char ***words);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

static const FuzzTarget *target;

int LLVMFuzzerInitialize(int *count, char ***words) {
    (void)count, (void)words;
    const char *name = getenv("PARSER");
    target = name ? fuzz_target_find(name) : NULL;
    if (target) return 0;
    fprintf(stderr, "PARSER names the reader: ");
    for (size_t i = 0; fuzz_target_at(i); i++) fprintf(stderr, "%s ", fuzz_target_at(i)->name);
    fprintf(stderr, "\n");
    exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    target->run(data, size);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed) {
    return mutate(target, data, size, room, seed);
}
