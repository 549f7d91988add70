// Weight files made in memory, right or wrong on purpose, and what loading them says.
#ifndef TCC_TESTS_SUPPORT_WEIGHTS_FILES_H
#define TCC_TESTS_SUPPORT_WEIGHTS_FILES_H

#include "base/str.h"
#include "frontend/weights/weights.h"

// A temporary folder, an arena and the last diagnostics; `begin` once, `end` once.
typedef struct WeightsFixture {
    Arena *arena; // emptied by each load
    char folder[64];
    WeightTable *table; // of the last load
    Diags *diags;
    int errors;
    char id[64];     // of the first error
    char text[4096]; // of it, as rendered
    char warning[4096];
} WeightsFixture;

void weights_fixture_begin(WeightsFixture *fixture);
void weights_fixture_end(WeightsFixture *fixture);

// The path of a name in the folder, valid until the next call.
const char *weights_fixture_path(const WeightsFixture *fixture, const char *name);
void weights_fixture_put(const WeightsFixture *fixture, const char *name, Str bytes);
void weights_fixture_remove(const WeightsFixture *fixture, const char *name);

// Loads a path into a new table.
Status weights_fixture_load_path(WeightsFixture *fixture, const char *path);
// Writes the bytes to a file of that name, loads it and removes it again.
Status weights_fixture_load(WeightsFixture *fixture, const char *name, Str bytes);

// The files. A header's length and a CRC are computed; everything else is as given.
Str make_safetensors(Arena *arena, Str header, Str data);
Str make_npy(Arena *arena, unsigned major, Str header, Str data);

typedef struct ZipSpec {
    Str name, data;
    bool deflate;
    bool sizes64; // the central directory's sizes stand in the 64-bit extra field
} ZipSpec;

Str make_zip(Arena *arena, const ZipSpec *members, size_t count, bool end64, Str comment);

void put_little(Buf *buf, uint64_t value, unsigned bytes);
// A copy with `size` bytes at `at` replaced by those of `value`.
Str patched(Arena *arena, Str bytes, size_t at, uint64_t value, unsigned size);

#endif
