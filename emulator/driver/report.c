/* What the device tells beside the API: findings go to standard error, or to the file that
 * TCC_EMU_REPORT names; one that ends in ".json" gets an object a line instead of text. They are
 * also kept, for programs that ask (emu.h). */
#include "emulator/driver/driver.h"
#include "emulator/driver/emu.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 4096 };

typedef struct Kept {
    char *kernel, *file, *text;
    EmuFindingKind kind;
    uint32_t line, ptx_line, other_ptx_line;
    uint64_t address;
} Kept;

/* A part of the driver's state with its own lock: launches report while nobody has the other. */
static struct {
    pthread_mutex_t lock;
    FILE *file; /* NULL: none was opened yet */
    bool json;
    Kept kept[KEPT];
    uint64_t count;
    emu_counters counters;
} report = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *const names[] = {
#define FINDING(name, text, status) #name,
#include "emulator/check/findings.def"
#undef FINDING
};

/* ---- writing --------------------------------------------------------------------------------- */

static FILE *open_report(void) {
    if (report.file != NULL) return report.file;
    const char *path = getenv("TCC_EMU_REPORT");
    report.file = stderr;
    if (path == NULL || *path == 0) return report.file;
    FILE *file = fopen(path, "a");
    if (file == NULL) {
        fprintf(stderr, "tcc emulator: could not open %s, reports go here\n", path);
        return report.file;
    }
    report.json = str_ends_with(str_from(path), STR(".json"));
    report.file = file;
    return file;
}

static void put_quoted(FILE *file, const char *name, const char *text) {
    fprintf(file, "\"%s\":\"", name);
    for (; text != NULL && *text != 0; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(file, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            fprintf(file, "\\u%04x", (unsigned)*text);
        else
            fputc(*text, file);
    }
    fputc('"', file);
}

static void put_json(FILE *file, const Kept *k) {
    fputc('{', file);
    put_quoted(file, "kind", names[k->kind]);
    fputc(',', file);
    put_quoted(file, "kernel", k->kernel);
    fputc(',', file);
    put_quoted(file, "file", k->file);
    fprintf(file, ",\"line\":%u,\"ptx_line\":%u,\"other_ptx_line\":%u,\"address\":%llu,", k->line,
            k->ptx_line, k->other_ptx_line, (unsigned long long)k->address);
    put_quoted(file, "text", k->text);
    fputs("}\n", file);
}

void report_line(const char *format, ...) {
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&report.lock);
    FILE *file = open_report();
    if (!report.json) {
        fputs("tcc emulator: ", file);
        vfprintf(file, format, args);
        fputc('\n', file);
        fflush(file);
    }
    pthread_mutex_unlock(&report.lock);
    va_end(args);
}

/* ---- findings -------------------------------------------------------------------------------- */

static char *copy_text(Str text) {
    char *copy = malloc(text.size + 1);
    if (copy == NULL) return NULL;
    if (text.size > 0) memcpy(copy, text.data, text.size);
    copy[text.size] = 0;
    return copy;
}

static void kept_free(Kept *k) {
    free(k->kernel);
    free(k->file);
    free(k->text);
    *k = (Kept){0};
}

static void add_finding(void *user, const EmuFinding *f) {
    (void)user;
    Kept k = {.kernel = copy_text(f->kernel),
              .file = copy_text(f->place.file),
              .text = copy_text(f->message),
              .kind = f->kind,
              .line = f->place.line,
              .ptx_line = f->place.ptx_line,
              .other_ptx_line = f->other.ptx_line,
              .address = f->address};
    pthread_mutex_lock(&report.lock);
    FILE *file = open_report();
    if (report.json)
        put_json(file, &k);
    else
        fprintf(file, "%s\n", k.text != NULL ? k.text : names[f->kind]);
    fflush(file);
    if (report.count < KEPT)
        report.kept[report.count] = k;
    else
        kept_free(&k);
    report.count++;
    pthread_mutex_unlock(&report.lock);
}

const EmuReporter driver_reporter = {.finding = add_finding};

void report_launch(const EmuCounters *c) {
    pthread_mutex_lock(&report.lock);
    emu_counters *sum = &report.counters;
    sum->launches++;
    sum->instructions += c->instructions;
    sum->lane_instructions += c->lane_instructions;
    sum->integer += c->integer;
    sum->floats += c->floats;
    sum->special += c->special;
    sum->conversion += c->conversion;
    sum->memory += c->memory;
    sum->atomic += c->atomic;
    sum->barrier += c->barrier;
    sum->tensor += c->tensor;
    sum->asynchronous += c->asynchronous;
    sum->global_sectors += c->global_sectors;
    sum->global_useful_bytes += c->global_useful_bytes;
    sum->shared_wavefronts += c->shared_wavefronts;
    sum->shared_ideal_wavefronts += c->shared_ideal_wavefronts;
    sum->tensor_flops += c->tensor_flops;
    pthread_mutex_unlock(&report.lock);
}

/* ---- for programs that ask ------------------------------------------------------------------- */

uint64_t emuFindingCount(void) {
    pthread_mutex_lock(&report.lock);
    uint64_t count = report.count;
    pthread_mutex_unlock(&report.lock);
    return count;
}

int emuFindingGet(uint64_t index, emu_finding *out_finding) {
    if (out_finding == NULL || out_finding->size < sizeof *out_finding) return 1;
    pthread_mutex_lock(&report.lock);
    bool there = index < report.count && index < KEPT;
    if (there) {
        const Kept *k = &report.kept[index];
        *out_finding = (emu_finding){.size = sizeof *out_finding,
                                     .kind = names[k->kind],
                                     .kernel = k->kernel,
                                     .file = k->file,
                                     .text = k->text,
                                     .line = k->line,
                                     .ptx_line = k->ptx_line,
                                     .other_ptx_line = k->other_ptx_line,
                                     .address = k->address};
    }
    pthread_mutex_unlock(&report.lock);
    return there ? 0 : 1;
}

void emuGetCounters(emu_counters *out_counters) {
    if (out_counters == NULL) return;
    pthread_mutex_lock(&report.lock);
    emu_counters counters = report.counters;
    pthread_mutex_unlock(&report.lock);
    uint32_t size = out_counters->size;
    counters.size = size;
    memcpy(out_counters, &counters, size < sizeof counters ? size : sizeof counters);
}

void emuClear(void) {
    pthread_mutex_lock(&report.lock);
    for (uint64_t i = 0; i < report.count && i < KEPT; i++) kept_free(&report.kept[i]);
    report.count = 0;
    report.counters = (emu_counters){0};
    pthread_mutex_unlock(&report.lock);
}
