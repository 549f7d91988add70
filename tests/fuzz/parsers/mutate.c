#include "tests/fuzz/parsers/mutate.h"

#include "ir/ops.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room); // libFuzzer's own, by bytes

// The bytes that are worked on, and a source of choices.
typedef struct Bytes {
    uint8_t *data;
    size_t size, room;
    uint64_t state;
    const FuzzTarget *target;
} Bytes;

static size_t choose(Bytes *b, size_t count) {
    b->state = b->state * 6364136223846793005u + 1442695040888963407u;
    return count ? (size_t)(b->state >> 33) % count : 0;
}

static void splice(Bytes *b, size_t at, size_t old, const void *bytes, size_t count) {
    if (b->size - old + count > b->room) return;
    memmove(b->data + at + count, b->data + at + old, b->size - at - old);
    if (count) memcpy(b->data + at, bytes, count);
    b->size = b->size - old + count;
}

// ---- words ----------------------------------------------------------------------------------

enum { MAX_WORDS = 4096, LONGEST = 256 };

typedef struct Word {
    size_t at, size;
} Word;

static bool is_name(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '%' || c == '$' || c == '.';
}

// Names and numbers, strings, and marks one by one; blanks belong to no word.
static size_t find_words(const Bytes *b, size_t from, size_t to, Word *words) {
    size_t count = 0;
    for (size_t at = from; at < to && count < MAX_WORDS;) {
        size_t end = at + 1;
        if (b->data[at] == ' ') {
            at++;
            continue;
        }
        if (is_name(b->data[at]))
            while (end < to && is_name(b->data[end])) end++;
        else if (b->data[at] == '"') {
            while (end < to && b->data[end] != '"' && b->data[end] != '\n') end++;
            end += end < to;
        }
        words[count++] = (Word){at, end - at};
        at = end;
    }
    return count;
}

static size_t count_words(const char *const *words) {
    size_t count = 0;
    while (words[count]) count++;
    return count;
}

static const char *const numbers[] = {
    "0",          "1",          "-1",         "2",
    "3",          "8",          "64",         "255",
    "65535",      "65536",      "2147483647", "2147483648",
    "4294967295", "4294967296", "1e999",      "4611686018427387904",
    "-0.0",       "0x1p-1074",  "nan",        "9223372036854775807",
    "inf",        "1.",         "1_000",      "-9223372036854775808",
    "0x",         "1e",         "0.5",        "18446744073709551616"};

// A word of the format, of the op table or a number that is often wrong.
static const char *choose_word(Bytes *b) {
    size_t kind = choose(b, 4);
    if (kind == 0) return numbers[choose(b, sizeof numbers / sizeof *numbers)];
    if (kind == 1 && b->target->form == FORM_text) {
        const OpInfo *info = op_info((Op)(1 + choose(b, OP_count - 1)));
        size_t attr = choose(b, info->attr_count + 1);
        return attr < info->attr_count ? info->attrs[attr].name : info->name;
    }
    if (kind == 2 && b->target->form == FORM_text) return dtype_name((DType)choose(b, DT_count));
    return b->target->words[choose(b, count_words(b->target->words))];
}

// One change to the words between two places; the text's end moves with it.
static void mutate_words(Bytes *b, size_t from, size_t to) {
    static Word words[MAX_WORDS];
    uint8_t copy[LONGEST];
    size_t count = find_words(b, from, to, words);
    Word w = count ? words[choose(b, count)] : (Word){from, 0};
    Word other = count ? words[choose(b, count)] : w;
    const char *word = choose_word(b);
    size_t run = w.size;
    switch (choose(b, 7)) {
    case 0: splice(b, w.at, w.size, word, strlen(word)); break;
    case 1: splice(b, w.at, 0, " ", 1), splice(b, w.at, 0, word, strlen(word)); break;
    case 2: splice(b, w.at, w.size, NULL, 0); break;
    case 3: // another word of the same text
        if (other.size > LONGEST) break;
        memcpy(copy, b->data + other.at, other.size);
        splice(b, w.at, w.size, copy, other.size);
        break;
    case 4: // some words twice
        run = choose(b, LONGEST - 1) + 1;
        if (run > to - w.at) run = to - w.at;
        memcpy(copy, b->data + w.at, run);
        splice(b, other.at, 0, copy, run);
        break;
    case 5: // some words less
        run = choose(b, 64) + 1;
        splice(b, w.at, run > to - w.at ? to - w.at : run, NULL, 0);
        break;
    default: // a line of its own, again
        while (w.at > from && b->data[w.at - 1] != '\n') w.at--;
        for (run = 0; run < LONGEST && w.at + run < to; run++)
            if ((copy[run] = b->data[w.at + run]) == '\n') break;
        if (run < LONGEST && w.at + run < to) splice(b, w.at, 0, copy, run + 1);
    }
}

// ---- instructions -----------------------------------------------------------------------------

// An instruction of the table at the beginning of a line.
static void insert_instruction(Bytes *b) {
    char text[LONGEST];
    size_t at = choose(b, b->size + 1);
    while (at > 0 && b->data[at - 1] != '\n') at--;
    splice(b, at, 0, text, draw_instruction(choose(b, SIZE_MAX), text, sizeof text));
}

static void mutate_ptx(Bytes *b) {
    if (choose(b, 4))
        mutate_words(b, 0, b->size);
    else
        insert_instruction(b);
}

// ---- lengths and checksums ------------------------------------------------------------------

static uint64_t load(const Bytes *b, size_t at, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)b->data[at + i] << (8 * i);
    return value;
}

static void store(Bytes *b, size_t at, unsigned bytes, uint64_t value) {
    for (unsigned i = 0; i < bytes; i++) b->data[at + i] = (uint8_t)(value >> (8 * i));
}

// The header's words, and its length anew.
static void mutate_safetensors(Bytes *b) {
    if (b->size < 8) return;
    uint64_t length = load(b, 0, 8);
    size_t end = length <= b->size - 8 ? 8 + (size_t)length : b->size, before = b->size;
    mutate_words(b, 8, end);
    store(b, 0, 8, end - 8 + b->size - before);
}

static void mutate_npy(Bytes *b) {
    if (b->size < 12) return;
    unsigned bytes = b->data[6] == 1 ? 2 : 4;
    size_t start = 8 + bytes, before = b->size;
    uint64_t length = load(b, 8, bytes);
    size_t end = length <= b->size - start ? start + (size_t)length : b->size;
    mutate_words(b, start, end);
    store(b, 8, bytes, end - start + b->size - before);
}

// The CRC-32 of a stored or deflated member's bytes; false when they are not there.
static bool member_crc(const Bytes *b, size_t at, size_t packed, unsigned method, uint32_t *out) {
    static uint8_t unpacked[1 << 16];
    if (method == 0) {
        *out = (uint32_t)crc32(0, b->data + at, (uInt)packed);
        return true;
    }
    z_stream stream = {.next_in = b->data + at,
                       .avail_in = (uInt)packed,
                       .next_out = unpacked,
                       .avail_out = sizeof unpacked};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
    int status = inflate(&stream, Z_FINISH);
    *out = (uint32_t)crc32(0, unpacked, (uInt)stream.total_out);
    inflateEnd(&stream);
    return status == Z_STREAM_END;
}

// The checksums of all members of the directory, in both places where each stands.
static void mend_checksums(Bytes *b) {
    for (size_t at = 0; at + 46 <= b->size; at++) {
        if (memcmp(b->data + at, "PK\1\2", 4) != 0) continue;
        uint64_t local = load(b, at + 42, 4), packed = load(b, at + 20, 4);
        uint32_t crc;
        if (local + 30 > b->size || memcmp(b->data + local, "PK\3\4", 4) != 0) continue;
        uint64_t data = local + 30 + load(b, local + 26, 2) + load(b, local + 28, 2);
        if (data > b->size || packed > b->size - data) continue;
        if (!member_crc(b, (size_t)data, (size_t)packed, (unsigned)load(b, at + 10, 2), &crc))
            continue;
        store(b, at + 16, 4, crc);
        store(b, (size_t)local + 14, 4, crc);
    }
}

static const uint64_t odd_numbers[] = {0,          1,          2,          7,          8,
                                       46,         0xffff,     0xfffe,     0x10000,    0x7fffffff,
                                       0x80000000, 0xffffffff, 0xfffffffe, UINT64_MAX, INT64_MAX};

static uint64_t odd_number(Bytes *b, size_t near) {
    size_t count = sizeof odd_numbers / sizeof *odd_numbers, i = choose(b, count + 3);
    return i < count ? odd_numbers[i] : near + choose(b, 5) - 2;
}

// A field of a record of the archive, or the words of a stored member's header.
static void mutate_zip(Bytes *b) {
    size_t begin = choose(b, b->size ? b->size : 1);
    for (size_t k = 0; k + 4 < b->size; k++) {
        size_t at = (begin + k) % (b->size - 4);
        bool record = memcmp(b->data + at, "PK", 2) == 0;
        if (record && choose(b, 2)) {
            size_t field = at + 4 + 2 * choose(b, 22);
            unsigned bytes = choose(b, 2) ? 2 : 4;
            if (field + bytes <= b->size) store(b, field, bytes, odd_number(b, b->size));
            return;
        }
        // Same-sized changes only: places of members stay right.
        if (memcmp(b->data + at, "{'de", 4) == 0) {
            size_t where = at + choose(b, 70);
            const char *word = choose_word(b);
            size_t size = strlen(word);
            if (where + size <= b->size) memcpy(b->data + where, word, size);
            return;
        }
    }
}

// A field of the ELF header or of a section header.
static void mutate_elf(Bytes *b) {
    Elf64_Ehdr h;
    if (b->size < sizeof h) return;
    memcpy(&h, b->data, sizeof h);
    bool inside = h.e_shnum > 0 && h.e_shoff <= b->size &&
                  (uint64_t)h.e_shnum * sizeof(Elf64_Shdr) <= b->size - h.e_shoff;
    bool header = !inside || choose(b, 4) == 0;
    size_t at = header ? 16 + 2 * choose(b, 24)
                       : (size_t)h.e_shoff + 4 * choose(b, h.e_shnum * sizeof(Elf64_Shdr) / 4);
    unsigned bytes = header ? 2 : choose(b, 2) ? 4 : 8;
    if (at + bytes <= b->size) store(b, at, bytes, odd_number(b, b->size));
}

// ---- one mutation ---------------------------------------------------------------------------

static void mutate_form(Bytes *b) {
    switch (b->target->form) {
    case FORM_text: mutate_words(b, 0, b->size); break;
    case FORM_ptx: mutate_ptx(b); break;
    case FORM_safetensors: mutate_safetensors(b); break;
    case FORM_npy: mutate_npy(b); break;
    case FORM_zip: mutate_zip(b); break;
    case FORM_elf: mutate_elf(b); break;
    }
}

size_t mutate(const FuzzTarget *target, uint8_t *data, size_t size, size_t room, unsigned seed) {
    Bytes b = {data, size, room, seed * 2654435761u + 1, target};
    for (size_t i = 0; i < 1 + choose(&b, 3); i++) {
        if (choose(&b, 4) == 0)
            b.size = LLVMFuzzerMutate(b.data, b.size, b.room);
        else
            mutate_form(&b);
    }
    if (target->form == FORM_zip && choose(&b, 4)) mend_checksums(&b);
    return b.size;
}
