#include "driver/model_source.h"

#include "driver/report.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool is_artefact(const char *path) {
    char start[4] = {0};
    size_t size = strlen(path);
    if (size >= 3 && strcmp(path + size - 3, ".so") == 0) return true;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return false;
    bool elf = read(fd, start, sizeof start) == sizeof start && memcmp(start, "\177ELF", 4) == 0;
    close(fd);
    return elf;
}

bool is_artefact_given(const Options *options) {
    const char *path = options->operand;
    return path && strcmp(path, "-") != 0 && is_artefact(path);
}

Exit refuse_compiling(const Options *options) {
    const OptionUse *use = options_for_compiler(options);
    if (!use) return EXIT_fine;
    bool size = use->id == OPTION_size; /* which may also be one that a run takes */
    report_error("%s is compiled already: %s%s%s%s is for the model file that it came from",
                 options->operand, option_dashes(use->name), use->name, size ? " " : "",
                 size ? use->value : "");
    return EXIT_usage;
}

Exit artefact_text(Compilation *out_compilation, const Options *options, const char *kind,
                   const char **out_text, size_t *out_size) {
    *out_compilation = (Compilation){0};
    Exit result = refuse_compiling(options);
    if (result == EXIT_fine) result = compilation_open(out_compilation, options);
    if (result != EXIT_fine) return result;
    return compilation_result(
        out_compilation,
        tcc_artefact_read(out_compilation->compiler, options->operand, kind, out_text, out_size));
}

/* ---- model.so -------------------------------------------------------------------------------- */

/* A name without a slash would be looked for in the system's folders. The path in full, which the
 * caller frees. */
static void *load(const char *path) {
    size_t size = strlen(path);
    char *full = malloc(size + 3);
    if (!full) return NULL;
    sprintf(full, "%s%s", strchr(path, '/') ? "" : "./", path);
    void *library = dlopen(full, RTLD_NOW | RTLD_LOCAL);
    free(full);
    return library;
}

/* A file that was cut off loads, and ends the process when a page behind its end is touched. The
 * section headers are the last that it has. */
static bool is_cut_off(const char *path) {
    Elf64_Ehdr head;
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return false;
    bool elf = read(fd, &head, sizeof head) == sizeof head && fstat(fd, &info) == 0 &&
               memcmp(head.e_ident, ELFMAG, SELFMAG) == 0;
    close(fd);
    if (!elf) return false;
    uint64_t size = (uint64_t)info.st_size, headers = (uint64_t)head.e_shnum * head.e_shentsize;
    return head.e_shoff > size || headers > size - head.e_shoff;
}

static Exit load_artefact(ModelSource *s, const char *path) {
    tcc_model_get_api_function *get;
    if (is_cut_off(path)) {
        report_error("could not load the model: %s ends too early", path);
        return EXIT_wrong;
    }
    s->library = load(path);
    if (!s->library) {
        const char *why = dlerror();
        report_error("could not load the model: %s", why ? why : "out of memory");
        return EXIT_wrong;
    }
    void *symbol = dlsym(s->library, TCC_MODEL_GET_API);
    if (!symbol) {
        report_error("%s is no model: it has no function %s", path, TCC_MODEL_GET_API);
        return EXIT_wrong;
    }
    memcpy(&get, &symbol, sizeof get);
    s->api = get(TCC_MODEL_API_VERSION);
    if (s->api) return EXIT_fine;
    report_error("%s does not have version %d of the model interface", path, TCC_MODEL_API_VERSION);
    return EXIT_wrong;
}

static Exit open_artefact(ModelSource *s, const Options *options, const tcc_open_options *open) {
    char message[1024] = "";
    Exit result = load_artefact(s, options->operand);
    if (result != EXIT_fine) return result;
    tcc_status status = s->api->open(open, &s->model, message, sizeof message);
    if (status != TCC_OK) report_error("%s: %s", options->operand, message);
    return report_exit(status);
}

/* ---- model files ----------------------------------------------------------------------------- */

static Exit open_unit(ModelSource *s, const Options *options, const tcc_open_options *open) {
    Exit result = compilation_run(&s->compilation, options);
    if (result != EXIT_fine) return result;
    tcc_status status = tcc_unit_open(s->compilation.unit, open, &s->api, &s->model);
    result = compilation_options_result(&s->compilation, status);
    if (result == EXIT_fine) compilation_tell(&s->compilation, options);
    return result;
}

/* ---- both ------------------------------------------------------------------------------------ */

Exit model_source_open(ModelSource *out_source, const Options *options, int32_t threads) {
    *out_source = (ModelSource){0};
    tcc_open_options open = {
        .size = sizeof open, .threads = threads, .device = options_last(options, OPTION_device)};
    Exit result = compilation_open(&out_source->compilation, options);
    if (result != EXIT_fine) return result;
    if (!compilation_model(options)) return EXIT_usage;
    bool loaded = is_artefact_given(options);
    if (loaded) result = refuse_compiling(options);
    if (result != EXIT_fine) return result;
    result =
        loaded ? open_artefact(out_source, options, &open) : open_unit(out_source, options, &open);
    if (result != EXIT_fine) return result;
    tcc_status status = out_source->api->session_new(out_source->model, &out_source->session);
    return status == TCC_OK ? EXIT_fine : report_memory();
}

/* The library stays loaded: its threads may still be on their way out of its code. */
void model_source_close(ModelSource *source) {
    if (source->session) source->api->session_free(source->session);
    if (source->model) source->api->close(source->model);
    compilation_close(&source->compilation);
}

Exit model_source_result(const ModelSource *source, tcc_status status) {
    if (status != TCC_OK) report_error("%s", source->api->session_message(source->session));
    return report_exit(status);
}
