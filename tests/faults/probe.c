#include "tests/faults/probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 60, PATH_ROOM = 512 };

/* The main function of the command, renamed by the build. */
int driver_main(int argc, char **argv);

/* ---- folders --------------------------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk) {
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

static void remove_folder(const char *folder) {
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static bool write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    return file != NULL && fputs(text, file) >= 0 && fclose(file) == 0;
}

static bool link_inputs(const char *inputs) {
    DIR *dir = opendir(inputs);
    bool done = dir != NULL;
    for (struct dirent *entry; done && (entry = readdir(dir)) != NULL;) {
        char path[PATH_ROOM];
        snprintf(path, sizeof path, "%s/%s", inputs, entry->d_name);
        if (entry->d_name[0] != '.') done = symlink(path, entry->d_name) == 0;
    }
    if (dir != NULL) closedir(dir);
    return done;
}

/* A new folder, which becomes the working one, with what the command reads and would replace. */
static bool furnish(const Command *command, const char *inputs, char *folder) {
    strcpy(folder, "/tmp/tcc-faults-XXXXXX");
    if (mkdtemp(folder) == NULL || chdir(folder) != 0 || !link_inputs(inputs)) return false;
    for (int i = 0; i < PROBE_FILES && command->writes[i] != NULL; i++)
        if (!write_text(command->writes[i], "an older file")) return false;
    return mkdir("tmp", 0700) == 0 && setenv("TMPDIR", "tmp", 1) == 0;
}

/* ---- what is there --------------------------------------------------------------------------- */

static void read_text(const char *path, char *text) {
    FILE *file = fopen(path, "r");
    size_t size = file != NULL ? fread(text, 1, PROBE_TEXT - 1, file) : 0;
    text[size] = 0;
    if (file != NULL) fclose(file);
}

/* FNV-1a, 64 bits. */
static uint64_t hash_file(const char *path) {
    uint64_t hash = 0xcbf29ce484222325;
    FILE *file = fopen(path, "rb");
    for (int c; file != NULL && (c = getc(file)) != EOF;)
        hash = (hash ^ (unsigned)c) * 0x100000001b3;
    if (file != NULL) fclose(file);
    return hash;
}

static int is_written(const struct dirent *entry) {
    static const char *const ours[] = {".", "..", "stdout", "stderr"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcmp(entry->d_name, ours[i]) == 0) return 0;
    return entry->d_type != DT_LNK;
}

static void list_files(const char *folder, char *text, size_t *used) {
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_written, alphasort);
    for (int i = 0; i < count; i++) {
        char path[PATH_ROOM];
        bool inner = entries[i]->d_type == DT_DIR;
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        int size = snprintf(text + *used, PROBE_TEXT - *used, "%s %llx\n", path,
                            inner ? 0ULL : (unsigned long long)hash_file(path));
        if (size > 0 && *used + (size_t)size < PROBE_TEXT) *used += (size_t)size;
        if (inner) list_files(path, text, used);
        free(entries[i]);
    }
    free(entries);
}

static int count_descriptors(void) {
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir != NULL && readdir(dir) != NULL) count++;
    if (dir != NULL) closedir(dir);
    return count;
}

/* ---- the child ------------------------------------------------------------------------------- */

static int split(char *line, char **words) {
    int count = 0;
    for (char *word = strtok(line, " "); word != NULL && count < PROBE_WORDS;
         word = strtok(NULL, " "))
        words[count++] = word;
    words[count] = NULL;
    return count;
}

static bool redirect(int fd, const char *path) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    return file >= 0 && dup2(file, fd) == fd && close(file) == 0;
}

/* Runs the command; its exit status tells what it returned, `files` what it left open. */
static _Noreturn void run_child(const Command *command, Faults *faults, _Atomic int *files) {
    char line[PATH_ROOM], *words[PROBE_WORDS + 1];
    snprintf(line, sizeof line, "%s", command->line);
    if (!redirect(STDOUT_FILENO, "stdout") || !redirect(STDERR_FILENO, "stderr")) _exit(99);
    alarm(SECONDS);
    faults_use(faults);
    faults_take_jansson();
    int before = count_descriptors();
    int status = driver_main(split(line, words), words);
    *files = count_descriptors() - before;
    fflush(NULL);
    _exit(status);
}

static bool wait_for(pid_t child, int *out_status) {
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return false;
    *out_status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    return true;
}

/* ---- both ------------------------------------------------------------------------------------ */

static void look(Outcome *out) {
    size_t used = 0;
    out->left[0] = 0;
    list_files(".", out->left, &used);
    read_text("stdout", out->said);
    read_text("stderr", out->error);
}

bool probe_before(const Command *command, const char *inputs, Outcome *out_outcome) {
    char folder[32];
    *out_outcome = (Outcome){.status = 0};
    bool done = furnish(command, inputs, folder);
    if (done) look(out_outcome);
    remove_folder(folder);
    return done;
}

bool probe_run(const Command *command, const char *inputs, Faults *faults, Outcome *out_outcome) {
    char folder[32];
    _Atomic int *files =
        mmap(NULL, sizeof *files, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *out_outcome = (Outcome){.status = -1};
    memset(faults->calls, 0, sizeof faults->calls);
    faults->blocks = 0;
    faults->hit = NULL;
    if (files == MAP_FAILED || !furnish(command, inputs, folder)) return false;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) run_child(command, faults, files);
    bool done = child > 0 && wait_for(child, &out_outcome->status);
    for (int k = 0; k < FAULT_count; k++) out_outcome->calls[k] = faults->calls[k];
    out_outcome->blocks = faults->blocks;
    out_outcome->hit = faults->hit;
    out_outcome->files = *files;
    munmap(files, sizeof *files);
    if (done) look(out_outcome);
    remove_folder(folder);
    return done;
}
