/* Writing to descriptors (file.h). A full file and a pipe without a reader are errors to be told;
 * the signals that come with them would end the process of the host. */
#include "base/file.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* The signals of this thread that a write may raise and that do not wait already. */
static sigset_t find_quiet(void) {
    static const int signals[] = {SIGPIPE, SIGXFSZ};
    sigset_t quiet, waiting;
    sigemptyset(&quiet);
    sigpending(&waiting);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (!sigismember(&waiting, signals[i])) sigaddset(&quiet, signals[i]);
    return quiet;
}

static int write_bytes(int fd, const char *at, size_t size) {
    while (size > 0) {
        ssize_t wrote = write(fd, at, size);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return wrote < 0 ? errno : EIO;
        at += wrote;
        size -= (size_t)wrote;
    }
    return 0;
}

int file_write_all(int fd, const void *bytes, size_t size) {
    sigset_t quiet = find_quiet(), before;
    pthread_sigmask(SIG_BLOCK, &quiet, &before);
    int error = write_bytes(fd, bytes, size);
    if (error == EPIPE || error == EFBIG)
        while (sigtimedwait(&quiet, NULL, &(struct timespec){0}) > 0) continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
