/* tcc reduce: the smallest model that still shows a fault, in a folder with its inputs. */
#include "driver/json.h"
#include "driver/report.h"
#include "driver/search.h"
#include "driver/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_PATH = 4096 };

typedef struct Reduce {
    Search search;
    const Options *options;
    const char *folder;
    const char *command; /* of --if; NULL without it */
    bool found;
    Exit result; /* of writing, and of what was told already */
} Reduce;

/* ---- folders of a model ---------------------------------------------------------------------- */

static bool join(char *out, const char *folder, const char *name, const char *suffix) {
    return snprintf(out, MAX_PATH, "%s/%s%s", folder, name, suffix) < MAX_PATH;
}

static bool write_file(const char *folder, const char *name, const char *text, size_t size) {
    char path[MAX_PATH];
    FILE *file = join(path, folder, name, "") ? fopen(path, "w") : NULL;
    if (!file) return false;
    bool good = fwrite(text, 1, size, file) == size;
    return fclose(file) == 0 && good;
}

static bool write_inputs(Reduce *r, const char *folder, const tcc_reduced *reduced) {
    for (uint32_t i = 0; i < reduced->input_count; i++) {
        char path[MAX_PATH];
        if (!join(path, folder, reduced->input_names[i], ".npy")) return false;
        if (tcc_array_write(r->search.compilation.compiler, reduced->inputs[i], path) != TCC_OK)
            return false;
    }
    return true;
}

/* Options that decide what is compiled, as words for a shell. */
static void put_options(FILE *file, const Options *options) {
    for (size_t i = 0; i < options->count; i++) {
        const OptionUse *use = &options->uses[i];
        bool range = use->id == OPTION_size && strstr(use->value, "..");
        if ((use->id != OPTION_compiler && !range) || strcmp(use->name, "entry") == 0) continue;
        const char *sign = use->value && option_is_word(use->name) ? "=" : "";
        fprintf(file, " '%s%s%s%s'", option_dashes(use->name), use->name, sign,
                use->value ? use->value : "");
    }
}

/* What shows the fault, to be run in the folder. */
static bool write_command(const Reduce *r, const char *folder, const tcc_reduced *reduced) {
    char path[MAX_PATH];
    FILE *file = join(path, folder, "command", "") ? fopen(path, "w") : NULL;
    if (!file) return false;
    fprintf(file, "tcc bisect model.tir");
    put_options(file, r->options);
    for (uint32_t i = 0; i < reduced->input_count; i++)
        fprintf(file, " -i %s=%s.npy", reduced->input_names[i], reduced->input_names[i]);
    fprintf(file, "\n");
    return fclose(file) == 0;
}

static bool write_model(Reduce *r, const char *folder, const tcc_reduced *reduced) {
    return write_file(folder, "model.tir", reduced->text, reduced->text_size) &&
           write_inputs(r, folder, reduced);
}

/* Removes what write_model and the like wrote; the folder is ours. */
static void remove_model(const char *folder, const tcc_reduced *reduced) {
    static const char *const names[] = {"model.tir", "model.g", "command"};
    char path[MAX_PATH];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (join(path, folder, names[i], "")) unlink(path);
    for (uint32_t i = 0; i < reduced->input_count; i++)
        if (join(path, folder, reduced->input_names[i], ".npy")) unlink(path);
    rmdir(folder);
}

/* ---- --if ------------------------------------------------------------------------------------ */

static void give_back_environment(void) {
    const char *folder = temporary_user_folder();
    temporary_leave();
    if (folder)
        setenv("TMPDIR", folder, 1);
    else
        unsetenv("TMPDIR");
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
}

/* The status of the command, run by the shell in the folder; -1 when it could not be run. */
static int run_command(const Reduce *r, const char *folder) {
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        unsigned seconds = (unsigned)r->search.apart.seconds + 1;
        give_back_environment();
        if (chdir(folder) != 0 || !freopen("/dev/null", "w", stdout) ||
            !freopen("/dev/null", "w", stderr))
            _exit(127);
        alarm(10 * seconds);
        execl("/bin/sh", "sh", "-c", r->command, (char *)NULL);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    if (child < 0) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

static tcc_status ask_command(void *user, const tcc_reduced *candidate, int32_t *out_wanted) {
    Reduce *r = user;
    const char *base = getenv("TMPDIR");
    char folder[MAX_PATH];
    if (!join(folder, base && *base ? base : "/tmp", "tcc-reduce-XXXXXX", "") || !mkdtemp(folder)) {
        report_error("could not make a folder for candidates: %s", strerror(errno));
        r->result = EXIT_environment;
        return TCC_ENVIRONMENT;
    }
    bool written = write_model(r, folder, candidate);
    if (!written) {
        report_error("could not write to %s: %s", folder, strerror(errno));
        r->result = EXIT_environment;
    }
    *out_wanted = written && run_command(r, folder) == 0;
    remove_model(folder, candidate);
    return written ? TCC_OK : TCC_ENVIRONMENT;
}

/* ---- the result ------------------------------------------------------------------------------ */

static Exit cannot_write(const Reduce *r) {
    report_error("could not write %s: %s", r->folder, strerror(errno));
    return EXIT_wrong;
}

/* All files in a folder of another name, which then takes the name: the folder is there whole or
 * not at all. An empty folder of that name is replaced. */
static Exit write_folder(Reduce *r, const tcc_reduced *reduced) {
    char folder[MAX_PATH];
    if (snprintf(folder, MAX_PATH, "%s.XXXXXX", r->folder) >= MAX_PATH || !mkdtemp(folder))
        return cannot_write(r);
    temporary_watch(folder);
    bool good = chmod(folder, 0777 & ~umask(022)) == 0 && write_model(r, folder, reduced) &&
                write_command(r, folder, reduced);
    if (good && reduced->source)
        good = write_file(folder, "model.g", reduced->source, reduced->source_size);
    Exit result = good && rename(folder, r->folder) == 0 ? EXIT_fine : cannot_write(r);
    if (result != EXIT_fine) remove_model(folder, reduced);
    temporary_watch(NULL);
    return result;
}

static void print_result(const Reduce *r, const tcc_reduced *reduced) {
    printf("%s: %u node%s, %u input%s%s\n", r->folder, reduced->nodes,
           reduced->nodes == 1 ? "" : "s", reduced->input_count,
           reduced->input_count == 1 ? "" : "s", reduced->source ? ", as .g too" : "");
    if (reduced->what) printf("seen: %s\n", reduced->what);
}

static void print_json(const Reduce *r, const tcc_reduced *reduced) {
    printf("{\"folder\": ");
    json_print_string(r->folder);
    printf(", \"nodes\": %u, \"inputs\": %u, \"source\": %s, \"what\": ", reduced->nodes,
           reduced->input_count, reduced->source ? "true" : "false");
    if (reduced->what)
        json_print_string(reduced->what);
    else
        printf("null");
    printf("}\n");
}

static void take_result(void *user, const tcc_reduced *reduced) {
    Reduce *r = user;
    r->found = true;
    r->result = write_folder(r, reduced);
    if (r->result != EXIT_fine) return;
    if (options_has(r->options, OPTION_json))
        print_json(r, reduced);
    else
        print_result(r, reduced);
}

/* ---- the command ----------------------------------------------------------------------------- */

static Exit finish(Reduce *r, tcc_status status) {
    if (r->result != EXIT_fine) return r->result; /* which was told where it came about */
    Exit result = compilation_result(&r->search.compilation, status);
    if (result != EXIT_fine || r->found) return result;
    report_error("%s does not fail: there is nothing to reduce", r->options->operand);
    return EXIT_wrong;
}

static Exit reduce(Reduce *r) {
    Search *s = &r->search;
    Compilation *c = &s->compilation;
    tcc_wanted_callback *wanted = r->command ? ask_command : NULL;
    if (strcmp(r->options->operand, "-") != 0)
        return finish(r, tcc_reduce_file(c->compiler, r->options->operand, &s->options, wanted, r,
                                         take_result, r));
    Exit result = compilation_read_stdin(c);
    if (result != EXIT_fine) return result;
    return finish(r, tcc_reduce_memory(c->compiler, "stdin.g", c->text, c->text_size, &s->options,
                                       wanted, r, take_result, r));
}

static bool is_empty_folder(const char *path) {
    DIR *folder = opendir(path);
    const struct dirent *entry;
    bool empty = folder != NULL;
    while (empty && (entry = readdir(folder)) != NULL)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (folder) closedir(folder);
    return empty;
}

/* A folder with something in it is not ours to replace. */
static Exit check_folder(const Reduce *r) {
    struct stat info;
    if (stat(r->folder, &info) != 0 || is_empty_folder(r->folder)) return EXIT_fine;
    report_error("%s is there already: give -o another folder", r->folder);
    return EXIT_wrong;
}

Exit cmd_reduce(const Options *options) {
    Reduce r = {.options = options,
                .folder = options_last(options, OPTION_output),
                .command = options_last(options, OPTION_if)};
    if (!r.folder) r.folder = "reduced";
    Exit result = search_open(&r.search, options);
    if (result == EXIT_fine)
        result = options_seconds(options, OPTION_budget, 0, &r.search.options.seconds);
    if (result == EXIT_fine) result = check_folder(&r);
    temporary_begin();
    if (result == EXIT_fine) result = reduce(&r);
    search_close(&r.search);
    return result;
}
