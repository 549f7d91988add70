#include "driver/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DEPTH = 4, TRIES = 100 };

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
enum { SIGNALS = sizeof signals / sizeof *signals };

/* What the handler reads. A path is written before its flag is set. */
static char folder[PATH_MAX], watched[PATH_MAX];
static volatile sig_atomic_t has_folder, has_watched;
static char user_folder[PATH_MAX];
static int had_user_folder;

/* ---- removing, by calls that a signal handler may make --------------------------------------- */

static void remove_in(int parent, const char *name, int depth);

static void remove_entries(int fd, int depth) {
    char entries[4096];
    for (;;) {
        ssize_t size = getdents64(fd, entries, sizeof entries);
        if (size <= 0) return;
        for (ssize_t at = 0; at < size;) {
            const struct dirent64 *entry = (const void *)(entries + at);
            const char *name = entry->d_name;
            at += entry->d_reclen;
            if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
            if (unlinkat(fd, name, 0) != 0 && depth < MAX_DEPTH) remove_in(fd, name, depth + 1);
        }
    }
}

/* A folder with all that is in it. Others may still write there: again, until it is gone. */
static void remove_in(int parent, const char *name, int depth) {
    for (int i = 0; i < TRIES; i++) {
        int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0) return;
        remove_entries(fd, depth);
        close(fd);
        if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return;
    }
}

static void remove_all(void) {
    if (has_folder) remove_in(AT_FDCWD, folder, 0);
    if (has_watched) remove_in(AT_FDCWD, watched, 0);
}

/* The signal is blocked until the handler returns, and then ends the process by its own number. */
static void end_by(int number) {
    int error = errno;
    remove_all();
    signal(number, SIG_DFL);
    raise(number);
    errno = error;
}

static void set_handlers(void) {
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction old, new = {.sa_handler = end_by};
        sigfillset(&new.sa_mask);
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(signals[i], &new, NULL);
    }
}

/* ---- the folder ------------------------------------------------------------------------------ */

void temporary_begin(void) {
    const char *base = getenv("TMPDIR");
    had_user_folder = base != NULL && strlen(base) < sizeof user_folder;
    if (had_user_folder) strcpy(user_folder, base);
    if (base == NULL || *base == 0) base = "/tmp";
    set_handlers();
    /* A signal may come between making it and saying so: the name is known only afterwards, so
     * signals wait. */
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    int size = snprintf(folder, sizeof folder, "%s/tcc-XXXXXX", base);
    has_folder = size > 0 && (size_t)size < sizeof folder && mkdtemp(folder) != NULL;
    sigprocmask(SIG_SETMASK, &old, NULL);
    if (has_folder) setenv("TMPDIR", folder, 1);
}

void temporary_end(void) {
    remove_all();
    has_folder = has_watched = 0;
}

const char *temporary_user_folder(void) { return had_user_folder ? user_folder : NULL; }

void temporary_watch(const char *path) {
    has_watched = 0;
    if (path == NULL || strlen(path) >= sizeof watched) return;
    strcpy(watched, path);
    has_watched = 1;
}

void temporary_leave(void) {
    has_folder = has_watched = 0;
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction old;
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == end_by)
            signal(signals[i], SIG_DFL);
    }
}
