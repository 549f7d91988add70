/* .npz: a zip archive with an .npy file for each array. */
#include "base/messages.h"
#include "frontend/weights/zip.h"

#include <limits.h>
#include <string.h>
#define ZLIB_CONST /* input pointers are const */
#include <zlib.h>

typedef unsigned long long Place;

#define MEMBER_ERROR(file, ...)                                                                    \
    (diag_error((file)->diags, (file)->loc, __VA_ARGS__), STATUS_invalid)
#define WHERE(file, member) (Place)(member)->data, weight_label((file)->arena, (member)->name)

/* zlib counts in unsigned int, so larger memory goes in and out in pieces. */
static unsigned piece(uint64_t size) { return size > UINT_MAX / 2 ? UINT_MAX / 2 : (unsigned)size; }

/* Inflates the whole of one raw deflate stream; true when it ends exactly with both sizes. */
static bool inflate_exactly(z_stream *stream, const unsigned char *from, uint64_t packed,
                            unsigned char *to, uint64_t size) {
    const unsigned char *from_end = from + packed, *to_end = to + size;
    int result = Z_OK;
    stream->next_in = from;
    stream->next_out = to;
    while (result == Z_OK) {
        stream->avail_in = piece((uint64_t)(from_end - stream->next_in));
        stream->avail_out = piece((uint64_t)(to_end - stream->next_out));
        result = inflate(stream, Z_NO_FLUSH);
    }
    return result == Z_STREAM_END && stream->next_in == from_end && stream->next_out == to_end;
}

static Status inflate_member(WeightFile *file, const ZipMember *member, unsigned char *to) {
    z_stream stream = {0};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
        guard_raise(GUARD_memory, "out of memory for inflating a member of an archive");
    }
    bool good =
        inflate_exactly(&stream, file->data + member->data, member->packed_size, to, member->size);
    inflateEnd(&stream);
    if (good) return STATUS_ok;
    return MEMBER_ERROR(file, MSG_ZIP_INFLATE, WHERE(file, member), (Place)member->size);
}

Status zip_extract(WeightFile *file, const ZipMember *member, const unsigned char **out_bytes) {
    const unsigned char *bytes = file->data + member->data;
    if (member->method == ZIP_DEFLATED) {
        unsigned char *inflated = weight_file_alloc(file, (size_t)member->size);
        TRY(inflate_member(file, member, inflated));
        bytes = inflated;
    }
    uLong crc = crc32_z(0, bytes, (size_t)member->size);
    if (crc != member->crc) return MEMBER_ERROR(file, MSG_ZIP_CRC, WHERE(file, member));
    *out_bytes = bytes;
    return STATUS_ok;
}

/* One array: the member's name without .npy is the tensor's. */
static Status read_member(WeightFile *file, const ZipMember *member) {
    Str suffix = STR(".npy"), name = member->name;
    if (!str_ends_with(name, suffix)) {
        return MEMBER_ERROR(file, MSG_ZIP_NOT_NPY, WHERE(file, member));
    }
    name.size -= suffix.size;
    NpyInput input = {.diags = file->diags, .loc = file->loc, .scratch = file->arena};
    NpyHeader header;
    TRY(zip_extract(file, member, &input.data));
    input.label = weight_label(file->arena, name);
    input.size = member->size;
    input.place = member->data;
    input.packed = member->method == ZIP_DEFLATED;
    TRY(npy_decode(&input, &header));
    return weight_file_add_npy(file, name, &input, &header);
}

Status weights_read_npz(WeightFile *file) {
    ZipList list;
    TRY(zip_list(file, &list));
    Status status = STATUS_ok;
    for (size_t i = 0; i < list.count; i++) {
        if (read_member(file, &list.members[i]) != STATUS_ok) status = STATUS_invalid;
    }
    return status;
}
