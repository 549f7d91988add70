#include "frontend/weights/zip.h"

#include "base/messages.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* The fixed parts of the records, in bytes, and the largest expansion deflate can reach. */
enum {
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR64_BYTES = 20,
    CENTRAL_BYTES = 46,
    LOCAL_BYTES = 30,
    COMMENT_LIMIT = 65535,
    EXTRA_64 = 1,
    DEFLATE_RATIO = 1032
};
enum { FLAGS_ENCRYPTED = 1 << 0 | 1 << 6 | 1 << 13 };

typedef unsigned long long Place;

typedef struct Directory {
    uint64_t start, size, count;
} Directory;

#define ZIP_ERROR(file, ...) (diag_error((file)->diags, (file)->loc, __VA_ARGS__), STATUS_invalid)

static bool has_signature(const WeightFile *file, uint64_t at, const char *signature) {
    return memcmp(file->data + at, signature, 4) == 0;
}

static uint64_t field(const WeightFile *file, uint64_t at, unsigned bytes) {
    return load_little(file->data + at, bytes);
}

/* The end record is the last thing in the file but for a comment, whose length it must state. */
static Status find_end(WeightFile *file, uint64_t *out_end) {
    for (uint64_t comment = 0; comment <= COMMENT_LIMIT; comment++) {
        if (file->size < END_BYTES + comment) break;
        uint64_t at = file->size - END_BYTES - comment;
        if (!has_signature(file, at, "PK\5\6") || field(file, at + 20, 2) != comment) continue;
        *out_end = at;
        return STATUS_ok;
    }
    return ZIP_ERROR(file, MSG_ZIP_END, (unsigned long long)file->size);
}

/* With 64-bit sizes a second end record stands before the first, and a locator between them. */
static Status read_end64(WeightFile *file, uint64_t *end, Directory *directory) {
    uint64_t locator = *end - LOCATOR64_BYTES;
    if (*end < LOCATOR64_BYTES + END64_BYTES || !has_signature(file, locator, "PK\6\7")) {
        return STATUS_ok;
    }
    uint64_t at = field(file, locator + 8, 8);
    if (at != locator - END64_BYTES || !has_signature(file, at, "PK\6\6") ||
        field(file, at + 4, 8) != END64_BYTES - 12 || field(file, at + 16, 8) != 0) {
        return ZIP_ERROR(file, MSG_ZIP_RECORD, (Place)locator);
    }
    directory->count = field(file, at + 32, 8);
    directory->size = field(file, at + 40, 8);
    directory->start = field(file, at + 48, 8);
    *end = at;
    return STATUS_ok;
}

/* The directory must end where the end records begin and hold as many entries as fit it; nothing
 * may stand before the archive, as all places count from the file's begin. */
static Status find_directory(WeightFile *file, Directory *directory) {
    uint64_t end;
    TRY(find_end(file, &end));
    uint64_t record = end;
    if (field(file, end + 4, 4) != 0 || field(file, end + 8, 2) != field(file, end + 10, 2)) {
        return ZIP_ERROR(file, MSG_ZIP_DISKS, (Place)end);
    }
    directory->count = field(file, end + 10, 2);
    directory->size = field(file, end + 12, 4);
    directory->start = field(file, end + 16, 4);
    TRY(read_end64(file, &end, directory));
    if (directory->size > end || directory->start != end - directory->size ||
        directory->count > directory->size / CENTRAL_BYTES) {
        return ZIP_ERROR(file, MSG_ZIP_DIRECTORY, (Place)record);
    }
    return STATUS_ok;
}

static const char *label_of(const WeightFile *file, const ZipMember *member) {
    return weight_label(file->arena, member->name);
}

/* The 64-bit extra field holds, in this order, those of the three values that are all ones. */
static bool read_extra64(const WeightFile *file, uint64_t at, uint64_t end, ZipMember *member) {
    uint64_t *values[] = {&member->size, &member->packed_size, &member->local};
    for (; end - at >= 4; at += 4 + field(file, at + 2, 2)) {
        uint64_t size = field(file, at + 2, 2), read = 0;
        if (size > end - at - 4) return false;
        if (field(file, at, 2) != EXTRA_64) continue;
        for (size_t i = 0; i < 3; i++) {
            if (*values[i] != UINT32_MAX) continue;
            if (size - read < 8) return false;
            *values[i] = field(file, at + 4 + read, 8);
            read += 8;
        }
    }
    return at == end;
}

/* What the member claims, before its bytes are looked at. Stored bytes are as many as they claim,
 * and deflated ones cannot become more than the format's ratio allows. */
static Status check_member(WeightFile *file, uint64_t at, const ZipMember *member) {
    if (field(file, at + 8, 2) & FLAGS_ENCRYPTED) {
        return ZIP_ERROR(file, MSG_ZIP_ENCRYPTED, (Place)at, label_of(file, member));
    }
    if (member->method != ZIP_STORED && member->method != ZIP_DEFLATED) {
        return ZIP_ERROR(file, MSG_ZIP_METHOD, (Place)at, label_of(file, member), member->method);
    }
    bool possible = member->method == ZIP_STORED
                        ? member->size == member->packed_size
                        : member->size / DEFLATE_RATIO <= member->packed_size;
    if (possible) return STATUS_ok;
    return ZIP_ERROR(file, MSG_ZIP_SIZE, (Place)at, label_of(file, member), (Place)member->size,
                     (Place)member->packed_size);
}

/* One entry of the central directory at *at, which moves past it. */
static Status read_central(WeightFile *file, uint64_t *at, uint64_t end, ZipMember *member) {
    uint64_t start = *at;
    if (end - start < CENTRAL_BYTES || !has_signature(file, start, "PK\1\2")) {
        return ZIP_ERROR(file, MSG_ZIP_RECORD, (Place)start);
    }
    uint64_t name = field(file, start + 28, 2), extra = field(file, start + 30, 2);
    uint64_t whole = CENTRAL_BYTES + name + extra + field(file, start + 32, 2);
    if (whole > end - start) return ZIP_ERROR(file, MSG_ZIP_RECORD, (Place)start);
    member->method = (unsigned)field(file, start + 10, 2);
    member->crc = (uint32_t)field(file, start + 16, 4);
    member->packed_size = field(file, start + 20, 4);
    member->size = field(file, start + 24, 4);
    member->local = field(file, start + 42, 4);
    member->name = (Str){(const char *)file->data + start + CENTRAL_BYTES, (size_t)name};
    uint64_t extras = start + CENTRAL_BYTES + name;
    if (!read_extra64(file, extras, extras + extra, member)) {
        return ZIP_ERROR(file, MSG_ZIP_RECORD, (Place)extras);
    }
    *at = start + whole;
    return check_member(file, start, member);
}

/* The local header must be inside [from, end) and name the same member; its sizes do not count. */
static Status read_local(WeightFile *file, uint64_t from, uint64_t end, ZipMember *member) {
    uint64_t at = member->local;
    if (at < from || at > end) {
        return ZIP_ERROR(file, MSG_ZIP_PLACE, (Place)at, label_of(file, member));
    }
    if (end - at < LOCAL_BYTES || !has_signature(file, at, "PK\3\4")) {
        return ZIP_ERROR(file, MSG_ZIP_RECORD, (Place)at);
    }
    uint64_t name = field(file, at + 26, 2), extra = field(file, at + 28, 2);
    if (end - at - LOCAL_BYTES < name + extra || name != member->name.size ||
        memcmp(file->data + at + LOCAL_BYTES, member->name.data, (size_t)name) != 0) {
        return ZIP_ERROR(file, MSG_ZIP_RECORD, (Place)at);
    }
    member->data = at + LOCAL_BYTES + name + extra;
    if (member->packed_size <= end - member->data) return STATUS_ok;
    return ZIP_ERROR(file, MSG_ZIP_PLACE, (Place)at, label_of(file, member));
}

static int order_members(const void *a, const void *b) {
    const ZipMember *left = a, *right = b;
    return (left->local > right->local) - (left->local < right->local);
}

Status zip_list(WeightFile *file, ZipList *out_list) {
    Directory directory;
    TRY(find_directory(file, &directory));
    size_t count = (size_t)directory.count;
    ZipMember *members = NEW_ARRAY(file->arena, ZipMember, count);
    uint64_t at = directory.start, end = directory.start + directory.size, from = 0;
    for (size_t i = 0; i < count; i++) TRY(read_central(file, &at, end, &members[i]));
    if (at != end) return ZIP_ERROR(file, MSG_ZIP_RECORD, (Place)at);
    if (count) qsort(members, count, sizeof *members, order_members);
    for (size_t i = 0; i < count; i++) {
        TRY(read_local(file, from, directory.start, &members[i]));
        from = members[i].data + members[i].packed_size;
    }
    *out_list = (ZipList){members, count};
    return STATUS_ok;
}
