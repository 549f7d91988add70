/* safetensors: 8 bytes of header length, a JSON header, the tensors' bytes back to back.
 *
 *     {"__metadata__": {"k": "v"}, "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0,
 * 24]}}
 *
 * The checks are those of the reference reader (safetensors/src/tensor.rs, validate): sorted by
 * offset the tensors begin at 0, leave no hole, do not overlap and end with the file. Beyond it,
 * duplicate and unknown keys are refused, and depth and number of values are bounded before the
 * JSON is parsed. */
#include "base/guard.h"
#include "base/messages.h"
#include "base/vec.h"
#include "frontend/weights/source.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8, HEADER_LIMIT = 100000000, DEPTH_LIMIT = 16, VALUE_LIMIT = 1 << 22 };
enum { ERROR_LIMIT = 20 }; /* of one file, as each searches the header for its place */

typedef struct Entry {
    Weight weight;
    uint64_t begin, end;
} Entry;

typedef struct Reader {
    WeightFile *file;
    Str header;
    uint64_t data_start, data_size;
    VEC(Entry) entries;
    unsigned errors;
} Reader;

static const struct {
    const char *name;
    DType dtype;
} dtype_names[] = {
    {"BOOL", DT_bool}, {"I8", DT_i8},          {"U8", DT_u8},          {"I16", DT_i16},
    {"U16", DT_u16},   {"I32", DT_i32},        {"U32", DT_u32},        {"I64", DT_i64},
    {"U64", DT_u64},   {"F8_E4M3", DT_f8e4m3}, {"F8_E5M2", DT_f8e5m2}, {"F16", DT_f16},
    {"BF16", DT_bf16}, {"F32", DT_f32},        {"F64", DT_f64},
};

typedef unsigned long long Place;

/* Where the tensor is named in the header: the first "name" in quotes, or the header's begin when
 * the name is written with escapes. */
static Place place_of(const Reader *reader, Str name) {
    Buf quoted = {.arena = reader->file->arena};
    buf_char(&quoted, '"');
    buf_put(&quoted, name);
    buf_char(&quoted, '"');
    const char *at = memmem(reader->header.data, reader->header.size, quoted.data, quoted.size);
    return LENGTH_BYTES + (at ? (Place)(at - reader->header.data) : 0);
}

/* An error about one tensor: its place and its name are the message's first two arguments. */
#define ENTRY_ERROR(reader, ...)                                                                   \
    ((reader)->errors++, diag_error((reader)->file->diags, (reader)->file->loc, __VA_ARGS__))
#define NAMED(reader, name) place_of((reader), (name)), weight_label((reader)->file->arena, (name))

static Status find_header(Reader *reader) {
    WeightFile *file = reader->file;
    if (file->size < LENGTH_BYTES) {
        diag_error(file->diags, file->loc, MSG_SAFETENSORS_SHORT, (Place)file->size);
        return STATUS_invalid;
    }
    uint64_t length = load_little(file->data, LENGTH_BYTES);
    if (length > HEADER_LIMIT || length > file->size - LENGTH_BYTES) {
        diag_error(file->diags, file->loc, MSG_SAFETENSORS_LENGTH, (Place)length,
                   (Place)(file->size - LENGTH_BYTES), HEADER_LIMIT);
        return STATUS_invalid;
    }
    reader->header = (Str){(const char *)file->data + LENGTH_BYTES, (size_t)length};
    reader->data_start = LENGTH_BYTES + length;
    reader->data_size = file->size - reader->data_start;
    return STATUS_ok;
}

/* A pass over the header that bounds what the parser will allocate and how deep it will recurse. */
static Status bound_header(Reader *reader) {
    WeightFile *file = reader->file;
    size_t depth = 0, values = 0, at = 0;
    bool quoted = false;
    for (; at < reader->header.size && depth <= DEPTH_LIMIT && values <= VALUE_LIMIT; at++) {
        char c = reader->header.data[at];
        if (quoted && c == '\\') at++;
        if (c == '"') quoted = !quoted;
        if (quoted) continue;
        values += c == ',' || c == ':' || c == '[' || c == '{';
        depth += c == '[' || c == '{';
        depth -= depth && (c == ']' || c == '}');
    }
    if (depth <= DEPTH_LIMIT && values <= VALUE_LIMIT) return STATUS_ok;
    diag_error(file->diags, file->loc, MSG_SAFETENSORS_BOUNDS, (Place)(LENGTH_BYTES + at),
               DEPTH_LIMIT, VALUE_LIMIT);
    return STATUS_invalid;
}

/* NULL with an error, whose text is empty where there was no memory to begin with. */
static json_t *parse(Str header, json_error_t *error) {
    return json_loadb(header.data, header.size, JSON_REJECT_DUPLICATES, error);
}

/* jansson calls some of its shortages of memory errors of syntax; only those of syntax come out the
 * same a second time. */
static json_t *parse_or_raise(Str header, json_error_t *error) {
    json_error_t again;
    json_t *root = parse(header, error);
    if (root) return root;
    json_decref(parse(header, &again));
    bool same = again.position == error->position && strcmp(again.text, error->text) == 0;
    bool memory = !*error->text || json_error_code(error) == json_error_out_of_memory;
    if (memory || !same)
        guard_raise(GUARD_memory, "out of memory for the header of a weights file");
    return NULL;
}

static Status parse_header(Reader *reader, json_t **out_root) {
    WeightFile *file = reader->file;
    json_error_t error;
    TRY(find_header(reader));
    TRY(bound_header(reader));
    *out_root = parse_or_raise(reader->header, &error);
    if (json_is_object(*out_root)) return STATUS_ok;
    Place place = LENGTH_BYTES + (*out_root || error.position < 0 ? 0 : (Place)error.position);
    const char *why = *out_root ? "it is not an object" : error.text;
    diag_error(file->diags, file->loc, MSG_SAFETENSORS_JSON, place, why);
    json_decref(*out_root);
    return STATUS_invalid;
}

static void read_metadata(Reader *reader, json_t *metadata) {
    const char *key;
    json_t *value;
    bool good = json_is_object(metadata);
    json_object_foreach(metadata, key, value) good = good && json_is_string(value);
    if (!good) ENTRY_ERROR(reader, MSG_SAFETENSORS_METADATA, place_of(reader, STR("__metadata__")));
}

static bool read_dtype(Reader *reader, Weight *weight, const json_t *dtype) {
    const char *text = json_string_value(dtype);
    for (size_t i = 0; i < sizeof dtype_names / sizeof *dtype_names; i++) {
        if (strcmp(text, dtype_names[i].name) != 0) continue;
        weight->dtype = dtype_names[i].dtype;
        return true;
    }
    ENTRY_ERROR(reader, MSG_WEIGHT_DTYPE, NAMED(reader, weight->name),
                weight_label(reader->file->arena, str_from(text)));
    return false;
}

static bool read_shape(Reader *reader, Weight *weight, const json_t *shape) {
    size_t rank = json_array_size(shape);
    if (rank > WEIGHT_MAX_RANK) {
        ENTRY_ERROR(reader, MSG_WEIGHT_RANK, NAMED(reader, weight->name), rank, WEIGHT_MAX_RANK);
        return false;
    }
    weight->rank = (uint32_t)rank;
    for (size_t i = 0; i < rank; i++) {
        const json_t *dim = json_array_get(shape, i);
        weight->dims[i] = json_is_integer(dim) ? json_integer_value(dim) : -1;
        if (weight->dims[i] >= 0) continue;
        ENTRY_ERROR(reader, MSG_WEIGHT_DIM, NAMED(reader, weight->name), i);
        return false;
    }
    return true;
}

/* Subtraction only: begin <= end and end <= size bound everything without a sum that could wrap. */
static bool read_offsets(Reader *reader, Entry *entry, const json_t *offsets) {
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    bool integers = json_array_size(offsets) == 2 && json_is_integer(begin) && json_is_integer(end);
    json_int_t from = integers ? json_integer_value(begin) : -1;
    json_int_t to = integers ? json_integer_value(end) : -1;
    if (from < 0 || to < from || (uint64_t)to > reader->data_size) {
        ENTRY_ERROR(reader, MSG_SAFETENSORS_OFFSETS, NAMED(reader, entry->weight.name),
                    (Place)reader->data_size);
        return false;
    }
    entry->begin = (uint64_t)from;
    entry->end = (uint64_t)to;
    return true;
}

static bool check_size(Reader *reader, Entry *entry) {
    Weight *weight = &entry->weight;
    uint64_t size;
    if (!weight_shape_size(weight->dtype, weight->rank, weight->dims, &size)) {
        ENTRY_ERROR(reader, MSG_WEIGHT_OVERFLOW, NAMED(reader, weight->name));
        return false;
    }
    if (size != entry->end - entry->begin) {
        ENTRY_ERROR(reader, MSG_WEIGHT_SIZE, NAMED(reader, weight->name), (Place)size,
                    (Place)(entry->end - entry->begin));
        return false;
    }
    weight->offset = reader->data_start + entry->begin;
    weight->bytes = reader->file->data + weight->offset;
    weight->size = (size_t)size;
    return true;
}

static void read_entry(Reader *reader, Str name, json_t *value) {
    Entry entry = {.weight = {.name = name}};
    const json_t *dtype = json_object_get(value, "dtype");
    const json_t *shape = json_object_get(value, "shape");
    const json_t *offsets = json_object_get(value, "data_offsets");
    if (json_object_size(value) != 3 || !json_is_string(dtype) || !json_is_array(shape) ||
        !json_is_array(offsets)) {
        ENTRY_ERROR(reader, MSG_SAFETENSORS_ENTRY, NAMED(reader, name));
        return;
    }
    bool good = read_dtype(reader, &entry.weight, dtype) &&
                read_shape(reader, &entry.weight, shape) && read_offsets(reader, &entry, offsets) &&
                check_size(reader, &entry);
    if (good) vec_push(reader->file->arena, &reader->entries, entry);
}

/* An empty tensor stands before the one that begins where it does. */
static int order_entries(const void *a, const void *b) {
    const Entry *left = a, *right = b;
    if (left->begin != right->begin) return left->begin < right->begin ? -1 : 1;
    if (left->end != right->end) return left->end < right->end ? -1 : 1;
    return str_compare(left->weight.name, right->weight.name);
}

static void check_order(Reader *reader) {
    uint64_t expected = 0;
    if (reader->entries.count) {
        qsort(reader->entries.data, reader->entries.count, sizeof(Entry), order_entries);
    }
    for (size_t i = 0; i < reader->entries.count; i++) {
        const Entry *entry = &reader->entries.data[i];
        if (entry->begin != expected) {
            ENTRY_ERROR(reader, MSG_SAFETENSORS_ORDER, (Place)entry->weight.offset,
                        weight_label(reader->file->arena, entry->weight.name), (Place)entry->begin,
                        (Place)expected);
            return;
        }
        expected = entry->end;
    }
    if (expected == reader->data_size) return;
    ENTRY_ERROR(reader, MSG_SAFETENSORS_TRAILING, (Place)(reader->data_start + expected),
                (Place)(reader->data_size - expected));
}

static void free_json(void *root) { json_decref(root); }

/* Tensors enter the table only when the whole file is right. */
static void read_entries(Reader *reader, json_t *root) {
    const char *key;
    json_t *value;
    json_object_foreach(root, key, value) {
        if (reader->errors == ERROR_LIMIT) break;
        if (strcmp(key, "__metadata__") == 0) {
            read_metadata(reader, value);
        } else {
            read_entry(reader, str_from(key), value);
        }
    }
    if (!reader->errors) check_order(reader);
    for (size_t i = 0; i < reader->entries.count && !reader->errors; i++) {
        const Entry *entry = &reader->entries.data[i];
        reader->errors += weight_file_add(reader->file, &entry->weight) != STATUS_ok;
    }
}

Status weights_read_safetensors(WeightFile *file) {
    Reader reader = {.file = file};
    json_t *root;
    TRY(parse_header(&reader, &root));
    GuardDefer defer;
    guard_defer(&defer, free_json, root);
    read_entries(&reader, root);
    guard_undefer(&defer);
    json_decref(root);
    return reader.errors ? STATUS_invalid : STATUS_ok;
}
