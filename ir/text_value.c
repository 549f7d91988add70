/* The values of constants as text. Floats are written as the hexadecimal form of the double that
 * they are, which is exact for every dtype; a NaN with its bits, so that nothing is lost. */
#include "base/messages.h"
#include "base/sha256.h"
#include "ir/tensor.h"
#include "ir/text_internal.h"

#include <math.h>
#include <string.h>

bool text_is_inline(const Type *type, const Blob *blob, int64_t *out_count) {
    int64_t bytes;
    if (type->is_tuple || !type_is_static(type, out_count) || *out_count > TEXT_MAX_ELEMENTS) {
        return false;
    }
    return dtype_bytes(type->dtype, *out_count, &bytes) && (size_t)bytes == blob->size;
}

/* The bits of element i in memory form, for dtypes of whole bytes (little endian). */
static uint64_t element_bits(const Blob *blob, DType dtype, int64_t i) {
    uint64_t bits = 0;
    size_t size = dtype_info(dtype)->bits / 8;
    memcpy(&bits, (const char *)blob->bytes + (size_t)i * size, size);
    return bits;
}

static void put_float(Buf *buf, DType dtype, uint64_t bits) {
    double value = number_from_bits(dtype, bits);
    if (isnan(value)) {
        buf_print(buf, "nan(0x%llx)", (unsigned long long)bits);
    } else if (isinf(value)) {
        buf_put(buf, value < 0 ? STR("-inf") : STR("inf"));
    } else {
        buf_print(buf, "%a", value);
    }
}

/* A bool is any byte in memory; one that is neither 0 nor 1 is written as its number. */
static void put_bool(Buf *buf, uint64_t bits) {
    if (bits > 1) {
        buf_print(buf, "%llu", (unsigned long long)bits);
    } else {
        buf_put(buf, bits ? STR("true") : STR("false"));
    }
}

static void put_element(Buf *buf, const Tensor *tensor, const Blob *blob, int64_t i) {
    DType dtype = tensor->dtype;
    if (dtype == DT_bool) {
        put_bool(buf, element_bits(blob, dtype, i));
    } else if (dtype_is_float(dtype)) {
        put_float(buf, dtype, element_bits(blob, dtype, i));
    } else if (dtype == DT_u64) {
        buf_print(buf, "%llu", (unsigned long long)element_bits(blob, dtype, i));
    } else {
        buf_print(buf, "%lld", (long long)tensor_get_int(tensor, i));
    }
}

void text_put_digest(Buf *buf, const Blob *blob) {
    uint8_t digest[32];
    char hex[65];
    ir_blob_sha256(blob, digest);
    sha256_hex(digest, hex);
    buf_put(buf, str_from(hex));
}

void text_put_value(Buf *buf, const Type *type, const Blob *blob) {
    int64_t count;
    if (!blob) {
        buf_put(buf, STR("none"));
        return;
    }
    if (!text_is_inline(type, blob, &count)) {
        buf_put(buf, STR("blob("));
        text_put_digest(buf, blob);
        buf_char(buf, ')');
        return;
    }
    Tensor tensor = {.dtype = type->dtype, .rank = 1, .dims = {count}};
    tensor.data = (void *)blob->bytes; /* only read */
    buf_char(buf, '[');
    for (int64_t i = 0; i < count; i++) {
        if (i) buf_put(buf, STR(", "));
        put_element(buf, &tensor, blob, i);
    }
    buf_char(buf, ']');
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The characters of a number or word up to a separator. */
static Str take_number(TextReader *in) {
    text_skip(in);
    Str word = {in->rest.data, 0};
    while (word.size < in->rest.size && !strchr(", ]()\t\n\r#", in->rest.data[word.size])) {
        word.size++;
    }
    in->rest.data += word.size;
    in->rest.size -= word.size;
    return word;
}

static bool hex_digit(char c, unsigned *out_digit) {
    static const char digits[] = "0123456789abcdef";
    const char *found = c ? strchr(digits, c) : NULL;
    if (found) *out_digit = (unsigned)(found - digits);
    return found != NULL;
}

/* "0x…" in parentheses: the bits of a NaN. */
static bool read_nan(TextReader *in, DType dtype, uint64_t *out_bits) {
    if (!text_expect(in, "(")) return false;
    Str word = take_number(in);
    unsigned digit = 0;
    *out_bits = 0;
    bool good = str_starts_with(word, STR("0x")) && word.size > 2 && word.size <= 18;
    for (size_t i = 2; good && i < word.size; i++) {
        good = hex_digit(word.data[i], &digit);
        *out_bits = *out_bits << 4 | digit;
    }
    uint32_t width = dtype_info(dtype)->bits;
    good = good && (width == 64 || *out_bits >> width == 0);
    if (!good || !isnan(number_from_bits(dtype, *out_bits)))
        return text_wrong(in, "the bits of a NaN");
    return text_expect(in, ")");
}

static bool read_float(TextReader *in, DType dtype, Str word, uint64_t *out_bits) {
    double value;
    if (str_equal(word, STR("nan")) && text_peek(in, "(")) return read_nan(in, dtype, out_bits);
    if (!str_to_double(word, &value)) return text_wrong(in, "a number");
    *out_bits = number_to_bits(dtype, value);
    return true;
}

static bool read_unsigned(Str word, uint64_t *out_value) {
    *out_value = 0;
    for (size_t i = 0; i < word.size; i++) {
        if (word.data[i] < '0' || word.data[i] > '9') return false;
        if (__builtin_mul_overflow(*out_value, (uint64_t)10, out_value)) return false;
        if (__builtin_add_overflow(*out_value, (uint64_t)(word.data[i] - '0'), out_value))
            return false;
    }
    return word.size > 0;
}

static bool read_integer(DType dtype, Str word, uint64_t *out_bits) {
    int64_t value;
    if (dtype == DT_u64) return read_unsigned(word, out_bits);
    if (!str_to_int(word, &value)) return false;
    *out_bits = (uint64_t)value;
    const DTypeInfo *info = dtype_info(dtype);
    return info->bits == 64 || ((double)value >= info->least && (double)value <= info->most);
}

static bool read_bool(Str word, uint64_t *out_bits) {
    bool is_true = str_equal(word, STR("true")), is_false = str_equal(word, STR("false"));
    if (!is_true && !is_false) return read_unsigned(word, out_bits) && *out_bits <= 255;
    *out_bits = is_true;
    return true;
}

static bool read_element(TextReader *in, Tensor *tensor, int64_t i) {
    DType dtype = tensor->dtype;
    uint64_t bits;
    TextReader start = *in;
    Str word = take_number(in);
    if (dtype_is_float(dtype)) {
        if (!read_float(in, dtype, word, &bits)) return false;
    } else if (!(dtype == DT_bool ? read_bool(word, &bits) : read_integer(dtype, word, &bits))) {
        return text_wrong(&start, "a number of the dtype");
    }
    size_t size = dtype_info(dtype)->bits / 8;
    if (size) {
        memcpy((char *)tensor->data + (size_t)i * size, &bits, size);
    } else {
        tensor_set_int(tensor, i, (int64_t)bits);
    }
    return true;
}

static bool read_elements(TextReader *in, const Type *type, const Blob **out_blob) {
    int64_t count, bytes;
    uint64_t data[TEXT_MAX_ELEMENTS] = {0};
    bool fits = !type->is_tuple && type_is_static(type, &count) && count <= TEXT_MAX_ELEMENTS;
    if (!fits || !dtype_bytes(type->dtype, count, &bytes)) {
        return text_wrong(in, "a blob, since the type has no small constant number of elements");
    }
    Tensor tensor = {.dtype = type->dtype, .rank = 1, .dims = {count}, .data = data};
    if (!text_expect(in, "[")) return false;
    for (int64_t i = 0; i < count; i++) {
        if ((i && !text_expect(in, ",")) || !read_element(in, &tensor, i)) return false;
    }
    *out_blob = ir_blob(in->ctx, data, (size_t)bytes);
    return text_expect(in, "]");
}

bool text_digest(TextReader *in, uint8_t digest[32]) {
    Str word = take_number(in);
    bool good = word.size == 64;
    for (size_t i = 0; good && i < 32; i++) {
        unsigned high = 0, low = 0;
        good = hex_digit(word.data[2 * i], &high) && hex_digit(word.data[2 * i + 1], &low);
        digest[i] = (uint8_t)(high << 4 | low);
    }
    return good || text_wrong(in, "64 hexadecimal digits");
}

bool text_value(TextReader *in, const Type *type, BlobLookup *lookup, void *user,
                const Blob **out_blob) {
    *out_blob = NULL;
    if (text_peek(in, "[")) return read_elements(in, type, out_blob);
    if (text_accept(in, "none")) return true;
    uint8_t digest[32];
    TextReader start = *in;
    if (!text_expect(in, "blob") || !text_expect(in, "(")) return false;
    if (!text_digest(in, digest) || !text_expect(in, ")")) return false;
    *out_blob = lookup ? lookup(user, digest) : NULL;
    if (*out_blob) return true;
    diag_error(in->diags, text_loc(&start), MSG_TIR_BLOB);
    return false;
}
