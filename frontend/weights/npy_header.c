/* The header of an .npy file is a Python dictionary as text,
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * padded with blanks. The three keys come in any order, each once; nothing else is Python here. */
#include "base/messages.h"
#include "frontend/weights/npy_array.h"
#include "frontend/weights/source.h"

#include <string.h>

enum { MAGIC_BYTES = 6, VERSION_BYTES = 2, HEADER_LIMIT = 10000 };

typedef unsigned long long Place;

typedef struct Cursor {
    const NpyInput *input;
    uint64_t at, end; /* in the input */
    NpyHeader *header;
} Cursor;

static Place place_of(const NpyInput *input, uint64_t at) {
    return input->packed ? input->place : input->place + at;
}

/* The place and the tensor are the first two arguments of every message. */
#define NPY_ERROR(input, ...)                                                                      \
    (diag_error((input)->diags, (input)->loc, __VA_ARGS__), STATUS_invalid)
#define WHERE(input, at) place_of((input), (at)), (input)->label

static Status expected(const Cursor *cursor, const char *what) {
    return NPY_ERROR(cursor->input, MSG_NPY_HEADER, WHERE(cursor->input, cursor->at), what);
}

static void skip_blanks(Cursor *cursor) {
    const unsigned char *data = cursor->input->data;
    while (cursor->at < cursor->end && (data[cursor->at] == ' ' || data[cursor->at] == '\n')) {
        cursor->at++;
    }
}

/* Takes the text if it comes next, after blanks. */
static bool accept(Cursor *cursor, const char *text) {
    skip_blanks(cursor);
    size_t size = strlen(text);
    bool next = cursor->end - cursor->at >= size &&
                memcmp(cursor->input->data + cursor->at, text, size) == 0;
    if (next) cursor->at += size;
    return next;
}

/* A string in either quotes; none that we know needs an escape. */
static Status read_string(Cursor *cursor, Str *out_text) {
    const char *quote = accept(cursor, "'") ? "'" : accept(cursor, "\"") ? "\"" : NULL;
    if (!quote) return expected(cursor, "a string");
    const char *start = (const char *)cursor->input->data + cursor->at;
    const char *end = memchr(start, quote[0], (size_t)(cursor->end - cursor->at));
    if (!end) return expected(cursor, "the end of the string");
    *out_text = (Str){start, (size_t)(end - start)};
    cursor->at += out_text->size + 1;
    return STATUS_ok;
}

static const struct {
    const char *kind;
    DType dtype;
} kinds[] = {
    {"b1", DT_bool}, {"i1", DT_i8},  {"u1", DT_u8},  {"i2", DT_i16}, {"u2", DT_u16}, {"i4", DT_i32},
    {"u4", DT_u32},  {"i8", DT_i64}, {"u8", DT_u64}, {"f2", DT_f16}, {"f4", DT_f32}, {"f8", DT_f64},
};

/* '<' little-endian, '>' big-endian, '=' of the machine that wrote it (little, as none other is
 * left),
 * '|' for single bytes. */
static bool parse_descr(Str descr, NpyHeader *header) {
    char order = descr.size == 3 ? descr.data[0] : '\0';
    if (order != '<' && order != '>' && order != '=' && order != '|') return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (memcmp(descr.data + 1, kinds[i].kind, 2) != 0) continue;
        header->dtype = kinds[i].dtype;
        header->swapped = order == '>' && descr.data[2] != '1';
        return order != '|' || descr.data[2] == '1';
    }
    return false;
}

static Status read_descr(Cursor *cursor) {
    const NpyInput *input = cursor->input;
    skip_blanks(cursor);
    uint64_t at = cursor->at;
    if (at < cursor->end && input->data[at] == '[') {
        return NPY_ERROR(input, MSG_NPY_STRUCTURED, WHERE(input, at));
    }
    Str descr;
    TRY(read_string(cursor, &descr));
    if (parse_descr(descr, cursor->header)) return STATUS_ok;
    const char *label = weight_label(input->scratch, descr);
    if (descr.size && descr.data[descr.size - 1] == 'O') {
        return NPY_ERROR(input, MSG_NPY_OBJECT, WHERE(input, at), label);
    }
    return NPY_ERROR(input, MSG_WEIGHT_DTYPE, WHERE(input, at), label);
}

static Status read_order(Cursor *cursor) {
    cursor->header->fortran = accept(cursor, "True");
    if (cursor->header->fortran || accept(cursor, "False")) return STATUS_ok;
    return expected(cursor, "True or False");
}

static Status read_dim(Cursor *cursor, int64_t *out_dim) {
    skip_blanks(cursor);
    uint64_t start = cursor->at;
    const unsigned char *data = cursor->input->data;
    while (cursor->at < cursor->end && data[cursor->at] >= '0' && data[cursor->at] <= '9') {
        cursor->at++;
    }
    Str digits = {(const char *)data + start, (size_t)(cursor->at - start)};
    bool padded = digits.size > 1 && digits.data[0] == '0'; // to Python it is no number
    if (!padded && str_to_int(digits, out_dim)) return STATUS_ok;
    cursor->at = start;
    return expected(cursor, "a dimension of at least 0 that fits 63 bits");
}

/* (), (3,) or (3, 4) and so on. */
static Status read_shape(Cursor *cursor) {
    NpyHeader *header = cursor->header;
    if (!accept(cursor, "(")) return expected(cursor, "the shape's parenthesis");
    bool comma = true;
    while (!accept(cursor, ")")) {
        if (!comma) return expected(cursor, "a comma or the end of the shape");
        if (header->rank == NPY_MAX_RANK) {
            return NPY_ERROR(cursor->input, MSG_WEIGHT_RANK, WHERE(cursor->input, cursor->at),
                             (size_t)NPY_MAX_RANK + 1, NPY_MAX_RANK);
        }
        TRY(read_dim(cursor, &header->dims[header->rank++]));
        comma = accept(cursor, ",");
    }
    if (header->rank == 1 && !comma) return expected(cursor, "a comma after the only dimension");
    return STATUS_ok;
}

static const struct {
    const char *key;
    Status (*read)(Cursor *cursor);
} keys[] = {{"descr", read_descr}, {"fortran_order", read_order}, {"shape", read_shape}};
enum { KEY_COUNT = sizeof keys / sizeof *keys };

static Status read_key(Cursor *cursor, unsigned *seen) {
    skip_blanks(cursor);
    uint64_t start = cursor->at;
    Str key;
    TRY(read_string(cursor, &key));
    if (!accept(cursor, ":")) return expected(cursor, "a colon");
    for (unsigned i = 0; i < KEY_COUNT; i++) {
        if (!str_equal(key, str_from(keys[i].key)) || *seen & 1U << i) continue;
        *seen |= 1U << i;
        return keys[i].read(cursor);
    }
    cursor->at = start;
    return expected(cursor, "descr, fortran_order and shape, each once");
}

static Status read_dictionary(Cursor *cursor) {
    unsigned seen = 0;
    bool comma = true;
    if (!accept(cursor, "{")) return expected(cursor, "a dictionary");
    while (!accept(cursor, "}")) {
        if (!comma) return expected(cursor, "a comma or the end of the dictionary");
        TRY(read_key(cursor, &seen));
        comma = accept(cursor, ",");
    }
    if (seen != (1U << KEY_COUNT) - 1) {
        return expected(cursor, "descr, fortran_order and shape, each once");
    }
    skip_blanks(cursor);
    return cursor->at == cursor->end ? STATUS_ok : expected(cursor, "nothing but blanks");
}

/* Magic, version and the length of the header: 2 bytes in version 1, 4 in 2 and 3. The length is
 * bounded before a byte of the header is looked at. */
static Status read_prefix(const NpyInput *input, uint64_t *out_start, uint64_t *out_end) {
    static const char magic[] = "\x93NUMPY";
    if (input->size < MAGIC_BYTES + VERSION_BYTES || memcmp(input->data, magic, MAGIC_BYTES) != 0) {
        return NPY_ERROR(input, MSG_NPY_MAGIC, WHERE(input, 0));
    }
    unsigned major = input->data[MAGIC_BYTES], minor = input->data[MAGIC_BYTES + 1];
    if (major < 1 || major > 3 || minor != 0) {
        return NPY_ERROR(input, MSG_NPY_VERSION, WHERE(input, 6), major, minor);
    }
    unsigned width = major == 1 ? 2 : 4;
    uint64_t start = MAGIC_BYTES + VERSION_BYTES + width;
    uint64_t length = start <= input->size ? load_little(input->data + 8, width) : UINT64_MAX;
    if (length > HEADER_LIMIT || length > input->size - start) {
        return NPY_ERROR(input, MSG_NPY_LENGTH, WHERE(input, 8), HEADER_LIMIT);
    }
    *out_start = start;
    *out_end = start + length;
    return STATUS_ok;
}

Status npy_decode(const NpyInput *input, NpyHeader *out_header) {
    NpyHeader header = {0};
    Cursor cursor = {.input = input, .header = &header};
    TRY(read_prefix(input, &cursor.at, &cursor.end));
    uint64_t start = cursor.at;
    TRY(read_dictionary(&cursor));
    if (!weight_shape_size(header.dtype, header.rank, header.dims, &header.data_size)) {
        return NPY_ERROR(input, MSG_WEIGHT_OVERFLOW, WHERE(input, start));
    }
    header.data_start = cursor.end;
    if (header.data_size != input->size - header.data_start) {
        return NPY_ERROR(input, MSG_WEIGHT_SIZE, WHERE(input, cursor.end), (Place)header.data_size,
                         (Place)(input->size - header.data_start));
    }
    *out_header = header;
    return STATUS_ok;
}
