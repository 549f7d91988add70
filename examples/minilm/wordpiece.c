/* The method is that of Google's BERT, tokenization.py: clean, split, then greedy longest match.
 * All steps are done letter by letter: what a letter becomes depends on no other. */
#include "wordpiece.h"

#include "unicode_tables.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_LETTERS = 100, /* of a word */
    MAX_BYTES = 4 * MAX_LETTERS,
    MAX_FILE = 1 << 26,
    REPLACEMENT = 0xFFFD /* stands for bytes that are no letter */
};

/* ---- the vocabulary -------------------------------------------------------------------------- */

typedef struct Token {
    const char *text; /* NULL in a slot that is free */
    size_t size;
    int64_t id;
} Token;

struct Vocabulary {
    char *text;   /* of the file */
    Token *slots; /* by hash, open addressing; a power of two of them, at most half used */
    size_t mask;
    size_t longest; /* bytes of a token */
    int64_t unknown, begin, end;
};

/* FNV-1a, by Fowler, Noll and Vo. */
static size_t hash_of(const char *text, size_t size) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++) hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    return (size_t)(hash ^ hash >> 32);
}

/* The slot of the token, or the free one where it belongs. */
static Token *slot_of(const Vocabulary *v, const char *text, size_t size) {
    size_t at = hash_of(text, size) & v->mask;
    while (v->slots[at].text &&
           (v->slots[at].size != size || memcmp(v->slots[at].text, text, size) != 0))
        at = (at + 1) & v->mask;
    return &v->slots[at];
}

/* The id of a token, -1 when there is none. */
static int64_t find(const Vocabulary *v, const char *text, size_t size) {
    if (size > v->longest) return -1;
    const Token *slot = slot_of(v, text, size);
    return slot->text ? slot->id : -1;
}

static const char *read_text(const char *path, char **out_text, size_t *out_size) {
    FILE *file = fopen(path, "rb");
    if (!file) return "cannot be read";
    char *text = malloc(MAX_FILE);
    size_t size = text ? fread(text, 1, MAX_FILE, file) : 0;
    bool bad = ferror(file) != 0;
    fclose(file);
    *out_text = text;
    *out_size = size;
    if (!text) return "does not fit in memory";
    return bad ? "cannot be read" : size == MAX_FILE ? "is too large" : NULL;
}

static size_t count_lines(const char *text, size_t size) {
    size_t lines = 1;
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n';
    return lines;
}

/* Of two equal lines the first counts. */
static void add_lines(Vocabulary *v, size_t size) {
    int64_t id = 0;
    for (size_t begin = 0; begin < size; id++) {
        const char *line = v->text + begin, *stop = memchr(line, '\n', size - begin);
        size_t length = stop ? (size_t)(stop - line) : size - begin;
        begin += length + 1;
        if (length > 0 && line[length - 1] == '\r') length--;
        Token *slot = slot_of(v, line, length);
        if (length == 0 || slot->text) continue;
        *slot = (Token){line, length, id};
        if (length > v->longest) v->longest = length;
    }
}

static const char *fill(Vocabulary *v, const char *path) {
    size_t size, slots = 16;
    const char *wrong = read_text(path, &v->text, &size);
    if (wrong) return wrong;
    while (slots < 2 * count_lines(v->text, size)) slots *= 2;
    v->slots = calloc(slots, sizeof *v->slots);
    v->mask = slots - 1;
    if (!v->slots) return "does not fit in memory";
    add_lines(v, size);
    v->unknown = find(v, "[UNK]", 5);
    v->begin = find(v, "[CLS]", 5);
    v->end = find(v, "[SEP]", 5);
    bool whole = v->unknown >= 0 && v->begin >= 0 && v->end >= 0;
    return whole ? NULL : "is no vocabulary: it lacks [UNK], [CLS] or [SEP]";
}

const char *vocabulary_read(const char *path, Vocabulary **out_vocabulary) {
    Vocabulary *v = calloc(1, sizeof *v);
    const char *wrong = v ? fill(v, path) : "does not fit in memory";
    if (wrong) {
        vocabulary_free(v);
        v = NULL;
    }
    *out_vocabulary = v;
    return wrong;
}

void vocabulary_free(Vocabulary *v) {
    if (!v) return;
    free(v->text);
    free(v->slots);
    free(v);
}

/* ---- letters --------------------------------------------------------------------------------- */

/* The letter at text[*at], which is advanced; REPLACEMENT for a byte that begins none. */
static uint32_t next_letter(const char *text, size_t size, size_t *at) {
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)text + *at;
    uint32_t first = bytes[0];
    size_t more = first < 0x80 ? 0 : first < 0xC0 ? 4 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    *at += 1;
    if (more == 0) return first;
    if (more == 4 || first > 0xF7 || size - *at < more) return REPLACEMENT;
    uint32_t letter = first & (0x3Fu >> more);
    for (size_t i = 1; i <= more; i++) {
        if ((bytes[i] & 0xC0) != 0x80) return REPLACEMENT;
        letter = letter << 6 | (bytes[i] & 0x3F);
    }
    bool surrogate = letter >= 0xD800 && letter < 0xE000;
    if (letter < least[more] || letter > 0x10FFFF || surrogate) return REPLACEMENT;
    *at += more;
    return letter;
}

static size_t put_letter(uint32_t letter, char *out) {
    if (letter < 0x80) {
        out[0] = (char)letter;
        return 1;
    }
    size_t more = letter < 0x800 ? 1 : letter < 0x10000 ? 2 : 3;
    out[0] = (char)(0xFF00u >> (more + 1) | letter >> (6 * more));
    for (size_t i = 1; i <= more; i++) out[i] = (char)(0x80 | (letter >> (6 * (more - i)) & 0x3F));
    return more + 1;
}

static bool within(uint32_t letter, const Range *ranges, size_t count) {
    size_t low = 0;
    while (low < count) {
        size_t middle = (low + count) / 2;
        if (letter > ranges[middle].last)
            low = middle + 1;
        else if (letter < ranges[middle].first)
            count = middle;
        else
            return true;
    }
    return false;
}

#define WITHIN(letter, ranges) within(letter, ranges, sizeof(ranges) / sizeof *(ranges))

static bool is_space(uint32_t c) {
    return c == ' ' || (c >= 9 && c <= 13) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

/* Ideographs of Chinese are words of their own. */
static bool is_ideograph(uint32_t c) {
    static const Range blocks[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                                   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
                                   {0x2B820, 0x2CEAF}, {0x2F800, 0x2FA1F}};
    return c >= 0x3400 && WITHIN(c, blocks);
}

/* A syllable of Hangul in its two or three letters, by the arithmetic of The Unicode Standard,
 * section 3.12. */
static size_t split_syllable(uint32_t syllable, uint32_t out[3]) {
    uint32_t place = syllable - 0xAC00, last = place % 28;
    out[0] = 0x1100 + place / (21 * 28);
    out[1] = 0x1161 + place / 28 % 21;
    out[2] = 0x11A7 + last;
    return last ? 3 : 2;
}

/* What is left of a letter without case and accents: no letter, one, or up to three. */
static size_t plain_letters_of(uint32_t letter, uint32_t out[3]) {
    if (letter == REPLACEMENT || WITHIN(letter, dropped)) return 0;
    if (letter >= 0xAC00 && letter <= 0xD7A3) return split_syllable(letter, out);
    for (size_t i = 0; i < sizeof plain_pairs / sizeof *plain_pairs; i++) {
        if (plain_pairs[i].letter != letter) continue;
        out[0] = plain_pairs[i].first;
        out[1] = plain_pairs[i].second;
        return 2;
    }
    out[0] = letter;
    size_t low = 0, count = sizeof plain_letters / sizeof *plain_letters;
    while (low < count) { /* the first run that does not end before the letter */
        size_t middle = (low + count) / 2;
        if (letter > plain_letters[middle].last)
            low = middle + 1;
        else
            count = middle;
    }
    const Run *run = &plain_letters[low];
    bool changes = low < sizeof plain_letters / sizeof *plain_letters && letter >= run->first &&
                   (letter - run->first) % run->step == 0;
    if (changes) out[0] = (uint32_t)((int32_t)letter + run->difference);
    return 1;
}

/* ---- words ----------------------------------------------------------------------------------- */

typedef struct Writer {
    const Vocabulary *vocabulary;
    int64_t *ids, count, capacity;
    /* The word so far: its letters in UTF-8, and where each begins. */
    char word[MAX_BYTES];
    size_t starts[MAX_LETTERS + 1], letters;
    bool too_long;
} Writer;

/* The last place is [SEP]'s. */
static void put(Writer *w, int64_t id) {
    if (w->count < w->capacity - 1) w->ids[w->count++] = id;
}

/* The id of the longest piece that begins at letter `begin`, and the letter behind it; -1 when no
 * piece does. */
static int64_t longest_piece(const Writer *w, size_t begin, size_t *out_end) {
    char piece[2 + MAX_BYTES] = "##";
    size_t mark = begin > 0 ? 2 : 0, from = w->starts[begin];
    memcpy(piece + mark, w->word + from, w->starts[w->letters] - from);
    for (size_t end = w->letters; end > begin; end--) {
        int64_t id = find(w->vocabulary, piece, mark + w->starts[end] - from);
        *out_end = end;
        if (id >= 0) return id;
    }
    return -1;
}

static void end_word(Writer *w) {
    int64_t pieces[MAX_LETTERS];
    size_t count = 0, at = 0;
    bool known = !w->too_long;
    while (known && at < w->letters) {
        pieces[count] = longest_piece(w, at, &at);
        known = pieces[count++] >= 0;
    }
    if (!known) put(w, w->vocabulary->unknown);
    for (size_t i = 0; i < count && known; i++) put(w, pieces[i]);
    w->letters = 0;
    w->too_long = false;
}

static void add_letter(Writer *w, uint32_t letter) {
    if (w->letters == MAX_LETTERS) {
        w->too_long = true;
        return;
    }
    w->starts[w->letters + 1] =
        w->starts[w->letters] + put_letter(letter, w->word + w->starts[w->letters]);
    w->letters++;
}

static void read_letter(Writer *w, uint32_t letter) {
    uint32_t plain[3];
    if (is_space(letter) && !WITHIN(letter, dropped)) {
        end_word(w);
        return;
    }
    size_t count = plain_letters_of(letter, plain);
    for (size_t i = 0; i < count; i++) {
        bool alone = is_ideograph(letter) || WITHIN(plain[i], punctuation);
        if (alone) end_word(w);
        add_letter(w, plain[i]);
        if (alone) end_word(w);
    }
}

int64_t wordpiece_ids(const Vocabulary *vocabulary, const char *text, size_t size, int64_t *ids,
                      int64_t capacity) {
    Writer w = {.vocabulary = vocabulary, .ids = ids, .capacity = capacity};
    put(&w, vocabulary->begin);
    for (size_t at = 0; at < size && w.count < capacity - 1;)
        read_letter(&w, next_letter(text, size, &at));
    end_word(&w);
    ids[w.count++] = vocabulary->end;
    return w.count;
}
