#include "codegen/artefact/link.h"
#include "base/file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MAX_ERROR = 2000 };

/* The libc of this process: on a machine without development files there is no libc.so to link
 * with. */
static const char *find_libc(void) {
    Dl_info info;
    void *symbol = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    if (symbol == NULL || dladdr(symbol, &info) == 0 || info.dli_fname == NULL) return "-lc";
    return info.dli_fname[0] == '/' ? info.dli_fname : "-lc";
}

static bool write_text(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    bool done = file_write_all(fd, text, strlen(text)) == 0;
    return close(fd) == 0 && done;
}

static const char *read_text(Arena *arena, const char *path) {
    char *text = arena_alloc(arena, MAX_ERROR + 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return "";
    ssize_t size = read(fd, text, MAX_ERROR);
    close(fd);
    while (size > 0 && text[size - 1] == '\n') size--;
    if (size >= 0) text[size] = 0;
    return text;
}

/* Runs the program with its output in `log`; its exit status, or -1 with errno when it cannot be
 * started. */
static int run(const char *const *arguments, const char *log) {
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    int error = posix_spawnp(&child, arguments[0], &actions, NULL,
                             (char *const *)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        errno = error;
        return -1;
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* ld with `flags` on the objects, then on `library` unless that is NULL. */
static const char **make_arguments(Arena *arena, const char *const *flags, size_t flag_count,
                                   const char *const *objects, uint32_t object_count,
                                   const char *library) {
    const char **arguments = NEW_ARRAY(arena, const char *, flag_count + object_count + 2);
    size_t count = 0;
    for (size_t i = 0; i < flag_count; i++) arguments[count++] = flags[i];
    for (uint32_t i = 0; i < object_count; i++) arguments[count++] = objects[i];
    arguments[count++] = library;
    return arguments;
}

static Status run_linker(Arena *arena, const char **arguments, const char *folder,
                         const char **out_message) {
    static const char *const linkers[] = {"ld", "ld.lld", "ld.lld-19"};
    const char *log = str_format(arena, "%s/ld.log", folder).data;
    for (size_t i = 0; i < sizeof linkers / sizeof *linkers; i++) {
        arguments[0] = linkers[i];
        int status = run(arguments, log);
        if (status == 0) return STATUS_ok;
        if (status < 0 && errno == ENOENT) continue;
        const char *said = status < 0 ? strerror(errno) : read_text(arena, log);
        *out_message = str_format(arena, "the linker %s failed: %s", linkers[i], said).data;
        return STATUS_environment;
    }
    *out_message = "there is no linker: neither ld nor ld.lld was found";
    return STATUS_environment;
}

Status link_shared(Arena *arena, const char *const *objects, uint32_t object_count,
                   const char *folder, const char *output, const char *exported,
                   const char **out_message) {
    const char *script = str_format(arena, "%s/exports", folder).data;
    Str text = str_format(arena, "{ global: %s; local: *; };\n", exported);
    if (!write_text(script, text.data)) {
        *out_message = str_format(arena, "could not write %s: %s", script, strerror(errno)).data;
        return STATUS_environment;
    }
    const char *flags[] = {"ld",
                           "-shared",
                           "-z",
                           "defs",
                           "-z",
                           "now",
                           "-z",
                           "relro",
                           "-z",
                           "noexecstack",
                           "--hash-style=gnu",
                           "--build-id=sha1",
                           "--version-script",
                           script,
                           "-o",
                           output};
    const char **arguments = make_arguments(arena, flags, sizeof flags / sizeof *flags, objects,
                                            object_count, find_libc());
    return run_linker(arena, arguments, folder, out_message);
}

Status link_relocatable(Arena *arena, const char *const *objects, uint32_t object_count,
                        const char *folder, const char *output, const char **out_message) {
    const char *flags[] = {"ld", "-r", "-o", output};
    const char **arguments =
        make_arguments(arena, flags, sizeof flags / sizeof *flags, objects, object_count, NULL);
    return run_linker(arena, arguments, folder, out_message);
}
