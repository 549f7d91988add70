/* Reading files, and making folders. */
#include "base/file.h"

#include "base/messages.h"
#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A path with a zero byte inside names no file. */
static const char *path_text(Arena *arena, Diags *diags, Loc loc, Str path) {
    if (!path.size || memchr(path.data, '\0', path.size)) {
        diag_error(diags, loc, MSG_BAD_PATH, STR_ARG(path));
        return NULL;
    }
    return str_terminated(arena, path);
}

static Status could_not_read(Diags *diags, Loc loc, const char *path, int error) {
    diag_error(diags, loc, MSG_CANNOT_READ, path, strerror(error));
    return STATUS_environment;
}

/* Opens a regular file. O_NONBLOCK keeps a FIFO without a writer from blocking the open; it is
 * refused after fstat. */
static Status open_regular(Diags *diags, Loc loc, const char *path, uint64_t limit, int *out_fd,
                           size_t *out_size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return could_not_read(diags, loc, path, errno);
    struct stat info;
    Status status = STATUS_ok;
    if (fstat(fd, &info) != 0) {
        status = could_not_read(diags, loc, path, errno);
    } else if (!S_ISREG(info.st_mode)) {
        diag_error(diags, loc, MSG_NOT_A_FILE, path);
        status = STATUS_invalid;
    } else if ((uint64_t)info.st_size > limit || (uint64_t)info.st_size > SIZE_MAX / 2) {
        diag_error(diags, loc, MSG_TOO_LARGE, path, (unsigned long long)info.st_size,
                   (unsigned long long)limit);
        status = STATUS_invalid;
    }
    if (status != STATUS_ok) {
        close(fd);
        return status;
    }
    *out_fd = fd;
    *out_size = (size_t)info.st_size;
    return STATUS_ok;
}

/* Reads exactly `size` bytes: a file that got shorter since fstat is an error, a longer one is cut.
 */
static Status read_all(Diags *diags, Loc loc, const char *path, int fd, void *bytes, size_t size) {
    unsigned char *at = bytes;
    while (size) {
        ssize_t got = read(fd, at, size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return could_not_read(diags, loc, path, errno);
        if (got == 0) {
            diag_error(diags, loc, MSG_FILE_SHRANK, path);
            return STATUS_environment;
        }
        at += got;
        size -= (size_t)got;
    }
    return STATUS_ok;
}

/* A regular file while it is read: closed by close_read, or when a guard is raised before. */
typedef struct OpenFile {
    const char *name;
    int fd;
    size_t size;
    GuardDefer defer;
} OpenFile;

static void close_file(void *object) { close(((OpenFile *)object)->fd); }

static Status open_read(OpenFile *file, Arena *arena, Diags *diags, Loc loc, Str path,
                        uint64_t limit) {
    file->name = path_text(arena, diags, loc, path);
    if (!file->name) return STATUS_invalid;
    TRY(open_regular(diags, loc, file->name, limit, &file->fd, &file->size));
    guard_defer(&file->defer, close_file, file);
    return STATUS_ok;
}

static void close_read(OpenFile *file) {
    guard_undefer(&file->defer);
    close(file->fd);
}

Status file_read(Arena *arena, Diags *diags, Loc loc, Str path, uint64_t limit, Str *out_text) {
    OpenFile file;
    TRY(open_read(&file, arena, diags, loc, path, limit));
    char *text = arena_alloc(arena, file.size + 1);
    Status status = read_all(diags, loc, file.name, file.fd, text, file.size);
    close_read(&file);
    *out_text = (Str){text, file.size};
    return status;
}

static Status map_file(Diags *diags, Loc loc, const char *path, int fd, FileBytes *out_bytes) {
    void *pages = mmap(NULL, out_bytes->size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (pages == MAP_FAILED) return could_not_read(diags, loc, path, errno);
    out_bytes->data = pages;
    return STATUS_ok;
}

/* Leaves `out_bytes` with `arena` when it read, without when it mapped. */
static Status load(Arena *arena, Diags *diags, Loc loc, Str path, uint64_t limit, uint64_t map_from,
                   FileBytes *out_bytes) {
    OpenFile file;
    TRY(open_read(&file, arena, diags, loc, path, limit));
    FileBytes bytes = {.size = file.size};
    Status status;
    if (bytes.size && bytes.size >= map_from) {
        status = map_file(diags, loc, file.name, file.fd, &bytes);
    } else {
        unsigned char *data = arena_alloc(arena, bytes.size);
        status = read_all(diags, loc, file.name, file.fd, data, bytes.size);
        bytes.data = data;
        bytes.arena = arena;
    }
    close_read(&file);
    if (status == STATUS_ok) *out_bytes = bytes;
    return status;
}

static void free_arena(void *arena) { arena_free(arena); }

Status file_load(Diags *diags, Loc loc, Str path, uint64_t limit, uint64_t map_from,
                 FileBytes *out_bytes) {
    GuardDefer defer;
    Arena *arena = arena_new(NULL);
    *out_bytes = (FileBytes){0};
    guard_defer(&defer, free_arena, arena);
    Status status = load(arena, diags, loc, path, limit, map_from, out_bytes);
    guard_undefer(&defer);
    if (!out_bytes->arena) arena_free(arena);
    return status;
}

void file_release(FileBytes bytes) {
    if (bytes.arena) {
        arena_free(bytes.arena);
    } else if (bytes.data) {
        munmap((void *)(uintptr_t)bytes.data, bytes.size);
    }
}

void file_release_defer(void *bytes) { file_release(*(const FileBytes *)bytes); }

static Status hash_all(Diags *diags, Loc loc, const char *path, int fd, size_t size,
                       uint8_t out_digest[32]) {
    enum { PIECE = 32 << 10 };
    char piece[PIECE];
    Sha256 hash;
    sha256_begin(&hash);
    while (size > 0) {
        size_t part = size < PIECE ? size : PIECE;
        TRY(read_all(diags, loc, path, fd, piece, part));
        sha256_add(&hash, piece, part);
        size -= part;
    }
    sha256_end(&hash, out_digest);
    return STATUS_ok;
}

Status file_digest(Arena *arena, Diags *diags, Loc loc, Str path, uint64_t limit,
                   uint8_t out_digest[32]) {
    OpenFile file;
    TRY(open_read(&file, arena, diags, loc, path, limit));
    Status status = hash_all(diags, loc, file.name, file.fd, file.size, out_digest);
    close_read(&file);
    return status;
}

Str file_beside(Arena *arena, Str base, Str path) {
    if (str_starts_with(path, STR("/"))) return str_copy(arena, path);
    size_t folder = base.size;
    while (folder && base.data[folder - 1] != '/') folder--;
    Buf buf = {.arena = arena};
    buf_put(&buf, (Str){base.data, folder});
    buf_put(&buf, path);
    return buf_str(&buf);
}

/* Each prefix that ends before a slash, then the whole; one that is there already is no failure,
 * whatever it is: what is written into it says what is wrong. */
Status folder_make(Arena *arena, Diags *diags, Loc loc, Str path) {
    const char *text = path_text(arena, diags, loc, path);
    if (!text) return STATUS_invalid;
    char *name = strcpy(arena_alloc(arena, path.size + 1), text);
    for (size_t i = 1; i <= path.size; i++) {
        char end = name[i];
        if (end != '/' && end != '\0') continue;
        name[i] = '\0';
        bool made = mkdir(name, 0777) == 0 || errno == EEXIST;
        name[i] = end;
        if (made) continue;
        diag_error(diags, loc, MSG_CANNOT_WRITE, name, strerror(errno));
        return STATUS_environment;
    }
    return STATUS_ok;
}
