// Files that are wrong on purpose, by kind: what the kinds share.
//
// A kind makes variants, each the bytes of a file of some format with a verdict. The judge hands
// each to the library as a host would, and holds it to the promise: an answer within a second of
// processor time; refused with a message that names a place, a line and column of a text or a byte
// of anything else; accepted with every tensor of the size of its type and, where the kind says so,
// with these very bytes; never an internal error.
#ifndef TCC_TESTS_HOSTILE_HOSTILE_H
#define TCC_TESTS_HOSTILE_HOSTILE_H

#include "tests/support/weights_files.h"

#include <tcc/tcc.h>

typedef enum Format {
    FORMAT_g,           // compiled as a model file
    FORMAT_tir,         // likewise
    FORMAT_safetensors, // loaded as weights
    FORMAT_npz,
    FORMAT_npy, // loaded as weights, and read as an array
    FORMAT_so,  // its metadata and graph are read
    FORMAT_count
} Format;

typedef enum Verdict {
    REFUSED,
    ACCEPTED,
    EITHER // damaged at random: it may mean something else now
} Verdict;

typedef struct Kit {
    Arena *arena; // emptied after each kind
    tcc_compiler *compiler;
    WeightsFixture weights;
    const char *kind;
    const char *keep; // a folder that a sample of the refused files is written to; NULL: none
    long variants, refused, accepted, failed; // of the kind
    long next_kept;
    double slowest;
    char said[8192]; // the diagnostics of the last call, rendered
    bool changing;   // another thread changes the files
    bool has_place;
    bool whole_file; // a message about the file as a whole: it has no models, it is a folder
} Kit;

// Counts and reports a promise that is broken otherwise; returns `good`.
bool expect(Kit *kit, bool good, const char *what);

// One variant. False when it breaks the promise, which is then reported and counted.
bool judge(Kit *kit, Format format, Verdict verdict, Str bytes);
// An accepted one whose first tensor has these bytes.
bool judge_bytes(Kit *kit, Format format, Str bytes, Str tensor);
// A path instead of bytes.
bool judge_path(Kit *kit, Format format, Verdict verdict, const char *path);
// An option of the compiler: its name and value.
bool judge_option(Kit *kit, Verdict verdict, const char *name, Str value);

// Small files of each format that are right, the least that has something of everything.
Str good_file(Kit *kit, Format format);
extern const char *const format_suffixes[FORMAT_count + 1];

// A file of a model whose output is the expression; inputs x: f32[2, 4, 6, 6], v: f32[5], i:
// i64[3], s: f32.
Str model_of(Kit *kit, const char *expression);
// A .tir file with these lines behind %0, an input f32[2, 3], and %1, one of i64[3]; `last` is its
// output.
Str graph_of(Kit *kit, const char *lines, const char *last);

Str text_of(Kit *kit, const char *format, ...) __attribute__((format(printf, 2, 3)));
// before, `count` times piece, after
Str repeated(Kit *kit, const char *before, const char *piece, size_t count, const char *after);
Str joined(Kit *kit, Str a, Str b);

// A safetensors file of one tensor "a".
Str one_tensor(Kit *kit, const char *dtype, const char *shape, const char *offsets, size_t data);
// An .npy file with this header.
Str one_array(Kit *kit, const char *descr, const char *order, const char *shape, size_t data);
Str archive_of(Kit *kit, Str member, bool deflate);

typedef struct Kind {
    const char *name, *meaning;
    void (*make)(Kit *kit);
} Kind;
extern const Kind damage_kinds[], size_kinds[], text_kinds[], meaning_kinds[], path_kinds[];

#endif
