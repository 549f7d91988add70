/* Files: reading whole regular files without trust in them, and writing files that appear whole or
 * not at all. Failures are reported as diagnostics with the path in their text, at `loc` (the place
 * in the input that named the file, or a zero Loc). */
#ifndef TCC_BASE_FILE_H
#define TCC_BASE_FILE_H

#include "base/diag.h"
#include "base/guard.h"
#include "base/status.h"

/* Bytes of a file outside the caller's arenas; never written. */
typedef struct FileBytes {
    const unsigned char *data;
    size_t size;
    Arena *arena; /* what the bytes were read into; NULL when they are mapped */
} FileBytes;

/* Reads a regular file into `arena`; the text is also zero-terminated. Directories, FIFOs and
 * devices are refused without waiting on them, and so is what has more than `limit` bytes.
 * STATUS_environment when it could not be read, STATUS_invalid when it is too large or no file. */
Status file_read(Arena *arena, Diags *diags, Loc loc, Str path, uint64_t limit, Str *out_text);

/* Like file_read, into memory of their own that file_release gives back. A file of at least
 * `map_from` bytes is mapped instead of read; a mapped file must not shrink while it is used, which
 * is why only files too large to copy should be. */
Status file_load(Diags *diags, Loc loc, Str path, uint64_t limit, uint64_t map_from,
                 FileBytes *out_bytes);
void file_release(FileBytes bytes);
void file_release_defer(void *bytes); /* the same for guard_defer; of FileBytes */

/* The SHA-256 of what file_load would give, read piece by piece: a file that shrinks meanwhile is
 * an error and no fault. */
Status file_digest(Arena *arena, Diags *diags, Loc loc, Str path, uint64_t limit,
                   uint8_t out_digest[32]);

/* `path` as seen from the folder of the file `base` (its own path): absolute paths stay. */
Str file_beside(Arena *arena, Str base, Str path);

/* Makes a folder and those above it that are not there. STATUS_environment with a diagnostic. */
Status folder_make(Arena *arena, Diags *diags, Loc loc, Str path);

/* Writes all of it; 0 or the errno. Raises no SIGPIPE and no SIGXFSZ, whatever the host does with
 * them. */
int file_write_all(int fd, const void *bytes, size_t size);

/* A file being written: the bytes go to a temporary file in the same folder, without a name where
 * the file system allows that, so that even a process that is killed leaves nothing there. It takes
 * the name only in atomic_file_commit, after all of it is on the disk. On any failure, guards
 * raised in between included, the temporary is removed and an older file of that name is as it was.
 * An
 * existing device or FIFO (-o /dev/null) is written directly; a symbolic link keeps pointing to
 * what is replaced. */
typedef struct AtomicFile {
    int fd;
    int error; /* errno of the first failure, reported by the commit */
    Arena *arena;
    const char *path;      /* links resolved */
    const char *temporary; /* NULL when written directly, or as long as it has no name */
    bool is_unnamed;
    GuardDefer defer;
} AtomicFile;

/* `mode` is subject to the umask: 0666, or 0777 for what is run or loaded. `arena` must outlive the
 * file, and the AtomicFile must stay where it is until commit or abandon. */
Status atomic_file_begin(AtomicFile *file, Arena *arena, Diags *diags, Loc loc, Str path,
                         unsigned mode);
/* A failure is kept for the commit, so callers need not check each write. */
void atomic_file_write(AtomicFile *file, const void *bytes, size_t size);
/* STATUS_environment (and a diagnostic) when anything failed since the begin. Ends the file. */
Status atomic_file_commit(AtomicFile *file, Diags *diags, Loc loc);
/* Ends the file without a trace. */
void atomic_file_abandon(AtomicFile *file);

#endif
