#include "tests/support/weights_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static void note_diag(void *user, const Diag *diag) {
    WeightsFixture *fixture = user;
    if (diag->severity == DIAG_warning) {
        snprintf(fixture->warning, sizeof fixture->warning, "%s", diag->rendered);
    }
    if (diag->severity != DIAG_error || fixture->errors++) return;
    snprintf(fixture->id, sizeof fixture->id, "%s", diag->id);
    snprintf(fixture->text, sizeof fixture->text, "%s", diag->rendered);
}

static void clear(WeightsFixture *fixture) {
    if (fixture->table) weights_free(fixture->table);
    arena_free(fixture->arena);
    fixture->table = NULL;
    fixture->arena = NULL;
}

void weights_fixture_begin(WeightsFixture *fixture) {
    memset(fixture, 0, sizeof *fixture);
    strcpy(fixture->folder, "/tmp/tcc-test-XXXXXX");
    if (!mkdtemp(fixture->folder)) perror("mkdtemp");
}

void weights_fixture_end(WeightsFixture *fixture) {
    clear(fixture);
    if (rmdir(fixture->folder) != 0) perror(fixture->folder);
}

const char *weights_fixture_path(const WeightsFixture *fixture, const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", fixture->folder, name);
    return path;
}

void weights_fixture_put(const WeightsFixture *fixture, const char *name, Str bytes) {
    FILE *out = fopen(weights_fixture_path(fixture, name), "wb");
    if (!out || fwrite(bytes.data, 1, bytes.size, out) != bytes.size || fclose(out) != 0) {
        perror(name);
    }
}

void weights_fixture_remove(const WeightsFixture *fixture, const char *name) {
    unlink(weights_fixture_path(fixture, name));
}

Status weights_fixture_load_path(WeightsFixture *fixture, const char *path) {
    clear(fixture);
    fixture->arena = arena_new(NULL);
    fixture->errors = 0;
    fixture->id[0] = fixture->text[0] = fixture->warning[0] = '\0';
    fixture->diags = diags_new(fixture->arena, note_diag, fixture, 0);
    fixture->table = weights_new(fixture->arena);
    return weights_load(fixture->table, fixture->diags, (Loc){0}, str_from(path));
}

Status weights_fixture_load(WeightsFixture *fixture, const char *name, Str bytes) {
    weights_fixture_put(fixture, name, bytes);
    Status status = weights_fixture_load_path(fixture, weights_fixture_path(fixture, name));
    weights_fixture_remove(fixture, name);
    return status;
}

void put_little(Buf *buf, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) buf_char(buf, (char)(value >> (8 * i) & 0xff));
}

Str patched(Arena *arena, Str bytes, size_t at, uint64_t value, unsigned size) {
    Str copy = str_copy(arena, bytes);
    char *writable = arena_copy(arena, copy.data, copy.size);
    for (unsigned i = 0; i < size; i++) writable[at + i] = (char)(value >> (8 * i) & 0xff);
    return (Str){writable, bytes.size};
}

Str make_safetensors(Arena *arena, Str header, Str data) {
    Buf buf = {.arena = arena};
    put_little(&buf, header.size, 8);
    buf_put(&buf, header);
    buf_put(&buf, data);
    return buf_str(&buf);
}

Str make_npy(Arena *arena, unsigned major, Str header, Str data) {
    Buf buf = {.arena = arena};
    buf_put(&buf, STR("\x93NUMPY"));
    put_little(&buf, major, 2);
    put_little(&buf, header.size, major == 1 ? 2 : 4);
    buf_put(&buf, header);
    buf_put(&buf, data);
    return buf_str(&buf);
}

static Str deflated(Arena *arena, Str data) {
    z_stream stream = {0};
    size_t room = data.size + data.size / 100 + 100;
    unsigned char *out = arena_alloc(arena, room);
    deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    stream.next_in = (Bytef *)(uintptr_t)data.data;
    stream.avail_in = (uInt)data.size;
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    deflate(&stream, Z_FINISH);
    deflateEnd(&stream);
    return (Str){(const char *)out, stream.total_out};
}

static void put_local(Buf *buf, const ZipSpec *member, uint64_t crc, Str packed) {
    buf_put(buf, STR("PK\3\4"));
    put_little(buf, 20, 2);
    put_little(buf, 0, 2);
    put_little(buf, member->deflate ? 8 : 0, 2);
    put_little(buf, 0, 4);
    put_little(buf, crc, 4);
    put_little(buf, packed.size, 4);
    put_little(buf, member->data.size, 4);
    put_little(buf, member->name.size, 2);
    put_little(buf, 0, 2);
    buf_put(buf, member->name);
    buf_put(buf, packed);
}

static void put_central(Buf *buf, const ZipSpec *member, uint64_t crc, uint64_t packed,
                        uint64_t local) {
    buf_put(buf, STR("PK\1\2"));
    put_little(buf, 20, 2);
    put_little(buf, 20, 2);
    put_little(buf, 0, 2);
    put_little(buf, member->deflate ? 8 : 0, 2);
    put_little(buf, 0, 4);
    put_little(buf, crc, 4);
    put_little(buf, member->sizes64 ? UINT32_MAX : packed, 4);
    put_little(buf, member->sizes64 ? UINT32_MAX : member->data.size, 4);
    put_little(buf, member->name.size, 2);
    put_little(buf, member->sizes64 ? 28 : 0, 2);
    put_little(buf, 0, 8);
    put_little(buf, 0, 2);
    put_little(buf, member->sizes64 ? UINT32_MAX : local, 4);
    buf_put(buf, member->name);
    if (!member->sizes64) return;
    put_little(buf, 1, 2);
    put_little(buf, 24, 2);
    put_little(buf, member->data.size, 8);
    put_little(buf, packed, 8);
    put_little(buf, local, 8);
}

static void put_end64(Buf *buf, size_t count, size_t start, size_t size) {
    size_t at = buf->size;
    buf_put(buf, STR("PK\6\6"));
    put_little(buf, 44, 8);
    put_little(buf, 45, 2);
    put_little(buf, 45, 2);
    put_little(buf, 0, 8);
    put_little(buf, count, 8);
    put_little(buf, count, 8);
    put_little(buf, size, 8);
    put_little(buf, start, 8);
    buf_put(buf, STR("PK\6\7"));
    put_little(buf, 0, 4);
    put_little(buf, at, 8);
    put_little(buf, 1, 4);
}

Str make_zip(Arena *arena, const ZipSpec *members, size_t count, bool end64, Str comment) {
    Buf buf = {.arena = arena}, central = {.arena = arena};
    for (size_t i = 0; i < count; i++) {
        Str data = members[i].data;
        uint64_t crc = crc32(0, (const Bytef *)data.data, (uInt)data.size);
        Str packed = members[i].deflate ? deflated(arena, data) : data;
        put_central(&central, &members[i], crc, packed.size, buf.size);
        put_local(&buf, &members[i], crc, packed);
    }
    size_t start = buf.size;
    buf_put(&buf, buf_str(&central));
    if (end64) put_end64(&buf, count, start, central.size);
    buf_put(&buf, STR("PK\5\6"));
    put_little(&buf, 0, 4);
    put_little(&buf, end64 ? UINT16_MAX : count, 2);
    put_little(&buf, end64 ? UINT16_MAX : count, 2);
    put_little(&buf, end64 ? UINT32_MAX : central.size, 4);
    put_little(&buf, end64 ? UINT32_MAX : start, 4);
    put_little(&buf, comment.size, 2);
    buf_put(&buf, comment);
    return buf_str(&buf);
}
