// Public functions with each of their pointers NULL: TCC_INVALID or nothing, and never a crash. A
// row holds good arguments; those of `may` may be NULL.
#ifndef TCC_TESTS_API_NULL_ROWS_H
#define TCC_TESTS_API_NULL_ROWS_H

#include "tests/unit/test.h"

#include <tcc/tcc.h>

enum { MAX_POINTERS = 6 };

// The pointers of one call.
typedef void *const *Pointers;

typedef struct Row {
    const char *name;
    tcc_status (*call)(Pointers);
    void *pointers[MAX_POINTERS]; // up to the first NULL
    unsigned may;                 // bit i: pointer i may be NULL
} Row;

static inline unsigned count_pointers(const Row *row) {
    unsigned count = 0;
    while (count < MAX_POINTERS && row->pointers[count]) count++;
    return count;
}

static inline void check_row(const Row *row) {
    unsigned count = count_pointers(row);
    if (!CHECK_INT(row->call(row->pointers), TCC_OK)) printf("    %s\n", row->name);
    for (unsigned i = 0; i < count; i++) {
        void *pointers[MAX_POINTERS];
        memcpy(pointers, row->pointers, sizeof pointers);
        pointers[i] = NULL;
        tcc_status want = row->may >> i & 1 ? TCC_OK : TCC_INVALID;
        if (!CHECK_INT(row->call(pointers), want)) printf("    %s, pointer %u\n", row->name, i);
    }
    void *const none[MAX_POINTERS] = {NULL};
    if (!CHECK_INT(row->call(none), TCC_INVALID)) printf("    %s, all\n", row->name);
}

#endif
