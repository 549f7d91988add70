// M1 to M5: files that are empty, cut off, too long, of another kind, or damaged in one bit.
#include "tests/hostile/hostile.h"

#include <stdlib.h>
#include <string.h>

static bool is_text(Format format) { return format == FORMAT_g || format == FORMAT_tir; }

// What has no statement in it is refused as a whole, what has is refused at its place.
static void make_tiny(Kit *kit) {
    static const char *const starts[] = {"",
                                         "tir 1\n",
                                         "\x93NUMPY\1",
                                         "PK\3\4\0\0\0",
                                         "\177ELF\2\1\1",
                                         "{{{{{{{",
                                         "aaaaaaa",
                                         "\xff\xff\xff\xff\xff\xff\xff"};
    for (int format = 0; format < FORMAT_count; format++)
        for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
            for (size_t size = i == 0 ? 0 : 1; size <= strlen(starts[i]); size++)
                judge(kit, (Format)format, REFUSED, (Str){starts[i], size});
    for (int format = 0; format < FORMAT_count; format++)
        for (size_t size = 1; size < 8; size++)
            judge(kit, (Format)format, REFUSED, (Str){"\0\0\0\0\0\0\0", size});
}

// Memory of exactly that size, so that a sanitizer sees a read past its end.
static void judge_cut(Kit *kit, Format format, Verdict verdict, Str whole, size_t size) {
    char *part = malloc(size ? size : 1);
    memcpy(part, whole.data, size);
    judge(kit, format, verdict, (Str){part, size});
    free(part);
}

static void make_truncated(Kit *kit) {
    for (int format = 0; format < FORMAT_count; format++) {
        Str whole = good_file(kit, (Format)format);
        judge(kit, (Format)format, ACCEPTED, whole);
        // Without its last line end a text is whole.
        size_t least = is_text((Format)format) ? whole.size - 1 : whole.size;
        for (size_t size = 0; size < least; size++)
            judge_cut(kit, (Format)format, REFUSED, whole, size);
    }
    Str packed = archive_of(kit, one_array(kit, "'<f4'", "False", "(9, 9)", 324), true);
    for (size_t size = 0; size < packed.size; size++)
        judge_cut(kit, FORMAT_npz, REFUSED, packed, size);
}

static void make_trailing(Kit *kit) {
    static const char *const tails[] = {
        "\0", "a", "}", ")", "\"", "PK", "%", "\xff", "\0\0\0\0\0\0\0\0", "\x93NUMPY"};
    static const size_t sizes[] = {1, 1, 1, 1, 1, 2, 1, 1, 8, 6};
    for (int format = 0; format < FORMAT_count; format++) {
        Str whole = good_file(kit, (Format)format);
        // What follows the sections of a library belongs to nobody.
        Verdict verdict = format == FORMAT_so ? ACCEPTED : REFUSED;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            judge(kit, (Format)format, verdict, joined(kit, whole, (Str){tails[i], sizes[i]}));
        Str twice = joined(kit, whole, whole);
        // Two archives in a row are the second one with something before it.
        judge(kit, (Format)format,
              format == FORMAT_so    ? ACCEPTED
              : format == FORMAT_npz ? EITHER
                                     : REFUSED,
              twice);
    }
}

static void patch_all(Kit *kit, Format format, Verdict verdict, size_t at, unsigned bytes,
                      const uint64_t *values, size_t count) {
    Str whole = good_file(kit, format);
    for (size_t i = 0; i < count; i++)
        judge(kit, format, verdict, patched(kit->arena, whole, at, values[i], bytes));
}

static void make_signed(Kit *kit) {
    static const uint64_t versions[] = {0, 4, 5, 127, 255};
    static const uint64_t classes[] = {0, 1, 3, 255};
    static const char *const heads[] = {"tir 0",   "tir 2",     "tir -1",
                                        "tir 1.0", "tir 01",    "tir1",
                                        "Tir 1",   "tir",       "ti 1",
                                        "tir x",   "tir \"1\"", "tir 18446744073709551617",
                                        "tile 1",  "program",   "\xef\xbb\xbftir 1x",
                                        "tir 1 1"};
    for (size_t at = 0; at < 6; at++)
        for (uint64_t byte = 0; byte < 256; byte += 51)
            if ((unsigned char)"\x93NUMPY"[at] != byte)
                judge(kit, FORMAT_npy, REFUSED,
                      patched(kit->arena, good_file(kit, FORMAT_npy), at, byte, 1));
    patch_all(kit, FORMAT_npy, REFUSED, 6, 1, versions, 5);
    for (size_t at = 0; at < 4; at++) {
        judge(kit, FORMAT_so, REFUSED, patched(kit->arena, good_file(kit, FORMAT_so), at, 'x', 1));
        judge(kit, FORMAT_npz, REFUSED,
              patched(kit->arena, good_file(kit, FORMAT_npz), at, 'x', 1));
    }
    patch_all(kit, FORMAT_so, REFUSED, 4, 1, classes, 4);
    patch_all(kit, FORMAT_so, REFUSED, 5, 1, (uint64_t[]){0, 2, 255}, 3);
    patch_all(kit, FORMAT_so, REFUSED, 58, 2, (uint64_t[]){0, 32, 40, 63, 65, 65535}, 6);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        Str rest = good_file(kit, FORMAT_tir);
        judge(kit, FORMAT_tir, REFUSED,
              joined(kit, str_from(heads[i]), (Str){rest.data + 5, rest.size - 5}));
    }
    for (int a = 0; a < FORMAT_count; a++) // each format under the name of each other
        for (int b = 0; b < FORMAT_count; b++)
            if (a != b) judge(kit, (Format)b, REFUSED, good_file(kit, (Format)a));
}

// Any bit: refused with a place, or read as something that is whole.
static void make_flipped(Kit *kit) {
    for (int format = 0; format < FORMAT_count; format++) {
        Str whole = good_file(kit, (Format)format);
        for (size_t bit = 0; bit < 8 * whole.size; bit++) {
            unsigned char byte = (unsigned char)whole.data[bit / 8];
            judge(kit, (Format)format, EITHER,
                  patched(kit->arena, whole, bit / 8, byte ^ 1U << bit % 8, 1));
        }
    }
}

const Kind damage_kinds[] = {{"M1", "empty files, and files of 1 to 7 bytes", make_tiny},
                             {"M2", "cut off at every byte", make_truncated},
                             {"M3", "bytes behind the end", make_trailing},
                             {"M4", "another magic, version, byte order or format", make_signed},
                             {"M5", "every single bit flipped", make_flipped},
                             {NULL, NULL, NULL}};
