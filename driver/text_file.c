/* Writing a text file that appears whole or not at all. */
#include "driver/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns 0 or an errno. */
static int write_all(int fd, const char *text, size_t size) {
    while (size > 0) {
        ssize_t done = write(fd, text, size);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return errno;
        text += done;
        size -= (size_t)done;
    }
    return 0;
}

/* A device or FIFO is written as it is. */
static int write_device(const char *path, const char *text, size_t size) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return errno;
    int error = write_all(fd, text, size);
    if (close(fd) != 0 && error == 0) error = errno;
    return error;
}

/* Returns 0 or an errno, without the temporary file. */
static int write_and_rename(const char *temporary, const char *path, const char *text,
                            size_t size) {
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return errno;
    int error = write_all(fd, text, size);
    if (error == 0 && fsync(fd) != 0) error = errno;
    if (close(fd) != 0 && error == 0) error = errno;
    if (error == 0 && rename(temporary, path) != 0) error = errno;
    if (error != 0) unlink(temporary);
    return error;
}

/* Signals wait until the temporary file is gone. */
static int write_temporary(const char *temporary, const char *path, const char *text, size_t size) {
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    int error = write_and_rename(temporary, path, text, size);
    sigprocmask(SIG_SETMASK, &old, NULL);
    return error;
}

/* The temporary file is a hidden one beside the file that `path` names in the end, links resolved.
 */
static int write_file(const char *path, const char *text, size_t size) {
    char resolved[PATH_MAX], temporary[PATH_MAX + 64];
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) return write_device(path, text, size);
    if (realpath(path, resolved)) path = resolved;
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash + 1 - path) : 0;
    int length = snprintf(temporary, sizeof temporary, "%.*s.%.200s.%ld.tmp", folder, path,
                          path + folder, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof temporary) return ENAMETOOLONG;
    return write_temporary(temporary, path, text, size);
}

Exit report_text(const char *path, const char *text, size_t size) {
    if (!path || strcmp(path, "-") == 0) {
        fwrite(text, 1, size, stdout);
        return EXIT_fine;
    }
    int error = write_file(path, text, size);
    if (error == 0) return EXIT_fine;
    report_error("could not write %s: %s [cannot-write]", path, strerror(error));
    return EXIT_wrong;
}
