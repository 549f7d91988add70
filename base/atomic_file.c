/* Writing files that appear whole or not at all (file.h). */
#include "base/file.h"
#include "base/messages.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static Status could_not_write(Diags *diags, Loc loc, const char *path, int error) {
    diag_error(diags, loc, MSG_CANNOT_WRITE, path, strerror(error));
    return STATUS_environment;
}

/* What the path names in the end, so that the rename replaces the target of a link and not the
 * link. */
static const char *resolve(Arena *arena, const char *path) {
    char resolved[PATH_MAX];
    return realpath(path, resolved) ? str_terminated(arena, str_from(resolved)) : path;
}

/* How much of the path is the folder, its last slash included. */
static int folder_size(const AtomicFile *file) {
    const char *slash = strrchr(file->path, '/');
    return slash ? (int)(slash + 1 - file->path) : 0;
}

/* The temporary's name: the file's own, hidden, with a number that no other writer uses. */
static const char *temporary_name(const AtomicFile *file, unsigned attempt) {
    int folder = folder_size(file);
    return str_format(file->arena, "%.*s.%.200s.%ld-%u.tmp", folder, file->path,
                      file->path + folder, (long)getpid(), attempt)
        .data;
}

enum { ATTEMPTS = 1000, LINK_SIZE = 32 };

static int open_named(AtomicFile *file, unsigned mode) {
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        const char *name = temporary_name(file, attempt);
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)mode);
        file->temporary = name;
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

static void put_link(const AtomicFile *file, char link[LINK_SIZE]) {
    snprintf(link, LINK_SIZE, "/proc/self/fd/%d", file->fd);
}

/* A file of that folder without a name, which is nowhere when the process ends before it has one;
 * -1 where the file system or the machine has no such. */
static int open_unnamed(AtomicFile *file, unsigned mode) {
    char link[LINK_SIZE];
    int size = folder_size(file);
    Str folder = size ? str_format(file->arena, "%.*s", size, file->path) : STR(".");
    file->fd = open(folder.data, O_TMPFILE | O_WRONLY | O_CLOEXEC, (mode_t)mode);
    if (file->fd < 0) return -1;
    put_link(file, link);
    file->is_unnamed = access(link, F_OK) == 0;
    if (!file->is_unnamed) close(file->fd);
    return file->is_unnamed ? file->fd : -1;
}

static int open_temporary(AtomicFile *file, unsigned mode) {
    int fd = open_unnamed(file, mode);
    return fd >= 0 ? fd : open_named(file, mode);
}

/* Gives the file its temporary name; 0 or an errno. */
static int give_name(AtomicFile *file) {
    char link[LINK_SIZE];
    put_link(file, link);
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        const char *name = temporary_name(file, attempt);
        if (linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
            file->temporary = name;
            return 0;
        }
        if (errno != EEXIST) return errno;
    }
    return EEXIST;
}

static void abandon(void *object) {
    AtomicFile *file = object;
    if (file->fd >= 0) close(file->fd);
    if (file->temporary) unlink(file->temporary);
    file->fd = -1;
    file->temporary = NULL;
}

static Status refuse_directory(Diags *diags, Loc loc, const char *path) {
    diag_error(diags, loc, MSG_NOT_A_FILE, path);
    return STATUS_invalid;
}

Status atomic_file_begin(AtomicFile *file, Arena *arena, Diags *diags, Loc loc, Str path,
                         unsigned mode) {
    *file = (AtomicFile){.fd = -1, .arena = arena};
    if (!path.size || memchr(path.data, '\0', path.size)) {
        diag_error(diags, loc, MSG_BAD_PATH, STR_ARG(path));
        return STATUS_invalid;
    }
    file->path = resolve(arena, str_terminated(arena, path));
    struct stat info;
    bool exists = stat(file->path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) return refuse_directory(diags, loc, file->path);
    if (exists && !S_ISREG(info.st_mode)) {
        file->fd = open(file->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    } else {
        file->fd = open_temporary(file, mode);
    }
    if (file->fd < 0) return could_not_write(diags, loc, file->path, errno);
    guard_defer(&file->defer, abandon, file);
    return STATUS_ok;
}

void atomic_file_write(AtomicFile *file, const void *bytes, size_t size) {
    if (!file->error) file->error = file_write_all(file->fd, bytes, size);
}

/* So that the new name outlives a loss of power. The file stands in its place whole by now, so that
 * a folder which cannot be synced is no failure of the write. */
static void sync_folder(const AtomicFile *file) {
    char folder[PATH_MAX]; /* nothing may be raised any more */
    int size = folder_size(file);
    if (size >= PATH_MAX) return;
    snprintf(folder, sizeof folder, "%.*s", size ? size : 1, size ? file->path : ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

/* Syncs, closes and renames; each step is taken only when all before it went well. */
static int finish(AtomicFile *file) {
    int error = file->error;
    bool is_device = !file->temporary && !file->is_unnamed;
    if (!error && !is_device && fsync(file->fd) != 0) error = errno;
    if (!error && file->is_unnamed) error = give_name(file);
    if (close(file->fd) != 0 && !error) error = errno;
    file->fd = -1;
    if (error || !file->temporary) return error;
    if (rename(file->temporary, file->path) != 0) return errno;
    file->temporary = NULL;
    sync_folder(file);
    return 0;
}

Status atomic_file_commit(AtomicFile *file, Diags *diags, Loc loc) {
    int error = finish(file);
    atomic_file_abandon(file);
    return error ? could_not_write(diags, loc, file->path, error) : STATUS_ok;
}

void atomic_file_abandon(AtomicFile *file) {
    guard_undefer(&file->defer);
    abandon(file);
}
