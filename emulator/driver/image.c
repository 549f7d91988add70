/* Images of modules: text, or NVIDIA's containers with text in them.
 *
 * A fat binary is a header and entries, each a header and a payload: PTX or machine code for one
 * architecture, plain or compressed (LZ4). Machine code is of no use here; the PTX for the
 * newest architecture that the device can be is taken. */
#include "emulator/driver/driver.h"

#include <string.h>

static const uint32_t FAT_MAGIC = 0xBA55ED50, WRAPPER_MAGIC = 0x466243B1;

enum { ENTRY_ptx = 1, FLAG_compressed = 0x2000 };

/* What hosts that were compiled by nvcc hand over: where the fat binary is. */
typedef struct Wrapper {
    uint32_t magic, version;
    const void *data;
    const void *name;
} Wrapper;

typedef struct FatHeader {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size; /* of all entries */
} FatHeader;

typedef struct FatEntry {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t size; /* of the payload, with padding */
    uint32_t compressed_size, options;
    uint16_t minor, major;
    uint32_t architecture; /* 80 */
    uint32_t name_offset, name_size;
    uint64_t flags, reserved;
    uint64_t plain_size; /* when it is compressed */
} FatEntry;

/* A length that goes on while its bytes are 255. */
static bool read_length(const uint8_t **at, const uint8_t *end, size_t *length) {
    if (*length != 15) return true;
    uint8_t byte;
    do {
        if (*at == end) return false;
        byte = *(*at)++;
        *length += byte;
    } while (byte == 255);
    return true;
}

/* An LZ4 block: literals, then a match of at least 4 bytes `distance` back, again and again; it
 * ends behind literals. */
static bool decompress(const uint8_t *at, size_t size, uint8_t *out, size_t out_size) {
    const uint8_t *end = at + size;
    size_t done = 0;
    while (at < end) {
        size_t literals = *at >> 4, match = *at & 15;
        at++;
        if (!read_length(&at, end, &literals)) return false;
        if (literals > (size_t)(end - at) || literals > out_size - done) return false;
        memcpy(out + done, at, literals);
        done += literals;
        at += literals;
        if (at == end) break;
        if (end - at < 2) return false;
        size_t distance = (size_t)at[0] | (size_t)at[1] << 8;
        at += 2;
        if (!read_length(&at, end, &match)) return false;
        match += 4;
        if (distance == 0 || distance > done || match > out_size - done) return false;
        for (; match > 0; match--, done++) out[done] = out[done - distance];
    }
    return done == out_size;
}

static Str entry_text(const FatEntry *entry, Arena *arena) {
    const uint8_t *payload = (const uint8_t *)entry + entry->header_size;
    if ((entry->flags & FLAG_compressed) == 0)
        return (Str){(const char *)payload, strnlen((const char *)payload, entry->size)};
    if (entry->plain_size > (uint64_t)1 << 30) return (Str){NULL, 0};
    uint8_t *text = arena_alloc(arena, (size_t)entry->plain_size + 1);
    if (!decompress(payload, entry->compressed_size, text, (size_t)entry->plain_size))
        return (Str){NULL, 0};
    return (Str){(const char *)text, strlen((const char *)text)};
}

static Str fat_ptx(const FatHeader *header, Arena *arena) {
    const EmuModel *model = driver_model();
    uint32_t device = (uint32_t)(model->major * 10 + model->minor);
    const char *at = (const char *)header + header->header_size, *end = at + header->size;
    const FatEntry *best = NULL;
    while (end - at >= (ptrdiff_t)sizeof(FatEntry)) {
        const FatEntry *entry = (const FatEntry *)(const void *)at;
        uint64_t left = (uint64_t)(end - at);
        if (entry->header_size < sizeof *entry || entry->header_size > left ||
            entry->size > left - entry->header_size)
            break;
        if (entry->kind == ENTRY_ptx && entry->architecture <= device &&
            (best == NULL || entry->architecture > best->architecture))
            best = entry;
        at += entry->header_size + entry->size;
    }
    return best != NULL ? entry_text(best, arena) : (Str){NULL, 0};
}

Str image_ptx(const void *image, Arena *arena, CUresult *out_error) {
    const Wrapper *wrapper = image;
    if (memcmp(image, &WRAPPER_MAGIC, 4) == 0) image = wrapper->data;
    *out_error = CUDA_ERROR_NO_BINARY_FOR_GPU;
    if (memcmp(image, &FAT_MAGIC, 4) == 0) return fat_ptx(image, arena);
    if (memcmp(image, "\177ELF", 4) == 0) return (Str){NULL, 0};
    const char *text = image;
    *out_error = CUDA_ERROR_INVALID_IMAGE;
    bool is_text = *text == '.' || *text == '/' || *text == ' ' || *text == '\n' || *text == '\r' ||
                   *text == '\t';
    return is_text ? str_from(text) : (Str){NULL, 0};
}
