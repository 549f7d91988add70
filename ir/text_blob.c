/* The bytes of large constants behind the graphs, so that a text stands for itself:
 *
 *     blob 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
 *       "AAECAwQFBgcICQoL…"
 *       "…"
 *
 * in base64 (RFC 4648, section 4), lines of LINE_BYTES bytes. They are read before the graphs are,
 * and each must have its digest. */
#include "base/messages.h"
#include "ir/text_internal.h"

#include <string.h>

enum { LINE_BYTES = 72 };

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* ---- printing -------------------------------------------------------------------------------- */

static void put_base64(Buf *buf, const unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t group = (uint32_t)bytes[i] << 16;
        if (left > 1) group |= (uint32_t)bytes[i + 1] << 8;
        if (left > 2) group |= bytes[i + 2];
        buf_char(buf, digits[group >> 18]);
        buf_char(buf, digits[group >> 12 & 63]);
        buf_char(buf, left > 1 ? digits[group >> 6 & 63] : '=');
        buf_char(buf, left > 2 ? digits[group & 63] : '=');
    }
}

static void put_blob(void *user, const Blob *blob) {
    Buf *buf = user;
    const unsigned char *bytes = blob->bytes;
    buf_put(buf, STR("blob "));
    text_put_digest(buf, blob);
    buf_char(buf, '\n');
    for (size_t i = 0; i < blob->size; i += LINE_BYTES) {
        size_t size = blob->size - i < LINE_BYTES ? blob->size - i : LINE_BYTES;
        buf_put(buf, STR("  \""));
        put_base64(buf, bytes + i, size);
        buf_put(buf, STR("\"\n"));
    }
}

static void add_size(void *user, const Blob *blob) {
    uint64_t *bytes = user;
    *bytes += blob->size;
}

void print_blobs(Buf *buf, const Module *module) {
    uint64_t bytes = 0;
    module_visit_blobs(module, add_size, &bytes);
    if (bytes <= TEXT_MAX_BLOB_BYTES)
        module_visit_blobs(module, put_blob, buf);
    else
        buf_print(buf, "# constants of %llu bytes are left out: the text does not read back\n",
                  (unsigned long long)bytes);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The value of each digit; 64 for other characters. */
static void make_values(unsigned char values[256]) {
    memset(values, 64, 256);
    for (int i = 0; i < 64; i++) values[(unsigned char)digits[i]] = (unsigned char)i;
}

/* Whole groups of four digits, the last perhaps with "=" at its end. */
static bool take_base64(Buf *out, Str text, const unsigned char values[256]) {
    if (text.size % 4 != 0) return false;
    for (size_t i = 0; i < text.size; i += 4) {
        const unsigned char *four = (const unsigned char *)text.data + i;
        int pads = four[3] != '=' ? 0 : four[2] != '=' ? 1 : 2;
        uint32_t group = 0;
        if (pads > 0 && i + 4 != text.size) return false;
        for (int k = 0; k < 4 - pads; k++) {
            if (values[four[k]] == 64) return false;
            group |= (uint32_t)values[four[k]] << (18 - 6 * k);
        }
        char bytes[3] = {(char)(group >> 16), (char)(group >> 8), (char)group};
        buf_put(out, (Str){bytes, (size_t)(3 - pads)});
    }
    return true;
}

static bool read_blob(TextReader *in, Map *blobs, const unsigned char values[256]) {
    uint8_t named[32], digest[32];
    Buf bytes = {.arena = in->arena};
    if (!text_expect(in, "blob")) return false;
    TextReader start = *in;
    if (!text_digest(in, named)) return false;
    while (text_peek(in, "\"")) {
        TextReader line = *in;
        Str text;
        if (!text_string(in, &text)) return false;
        if (!take_base64(&bytes, text, values)) return text_wrong(&line, "base64");
    }
    const Blob *blob = ir_blob(in->ctx, bytes.data, bytes.size);
    ir_blob_sha256(blob, digest);
    map_set(blobs, (Str){(const char *)digest, sizeof digest}, (void *)(uintptr_t)blob);
    if (memcmp(named, digest, sizeof digest) == 0) return true;
    diag_error(in->diags, text_loc(&start), MSG_TIR_DIGEST);
    return false;
}

/* Where the first line that begins with "blob " begins: no line within a graph does. */
static size_t find_blobs(Str text) {
    Str mark = STR("\nblob ");
    const char *found = text.size ? memmem(text.data, text.size, mark.data, mark.size) : NULL;
    return found ? (size_t)(found - text.data) + 1 : text.size;
}

static uint32_t count_lines(const char *text, size_t size) {
    uint32_t lines = 0;
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n';
    return lines;
}

bool text_blobs(TextReader *in, Map *blobs) {
    unsigned char values[256];
    size_t at = find_blobs(in->rest);
    TextReader tail = *in;
    tail.line += count_lines(in->rest.data, at);
    tail.rest = (Str){in->rest.data + at, in->rest.size - at};
    tail.line_start = tail.rest.data;
    in->rest.size = at;
    make_values(values);
    while (!text_at_end(&tail))
        if (!read_blob(&tail, blobs, values)) return false;
    return true;
}
