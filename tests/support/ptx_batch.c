#include "tests/support/ptx_batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENOUGH_KERNELS = 24, MOST_OUTPUT = 4000 };

const char *ptx_assembler(void) {
    static const char *const places[] = {"/usr/local/cuda/bin/ptxas", "/usr/bin/ptxas"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (access(places[i], X_OK) == 0) return places[i];
    return NULL;
}

// Texts of one module share the header of the first.
static Str without_header(Str ptx) {
    static const char last[] = ".address_size 64\n";
    const char *end = strstr(ptx.data, last);
    if (!end) return ptx;
    size_t skip = (size_t)(end - ptx.data) + sizeof last - 1;
    return (Str){ptx.data + skip, ptx.size - skip};
}

static const char *read_output(Arena *arena, FILE *pipe) {
    char *text = arena_alloc(arena, MOST_OUTPUT + 1);
    size_t size = fread(text, 1, MOST_OUTPUT, pipe);
    text[size] = 0;
    char drain[256];
    while (fread(drain, 1, sizeof drain, pipe) > 0) {
    }
    return text;
}

static const char *assemble(PtxBatch *batch, const char *path) {
    const char *command = str_format(batch->arena, "%s -arch=%s %s -o /dev/null 2>&1",
                                     ptx_assembler(), batch->target, path)
                              .data;
    FILE *pipe = popen(command, "r");
    if (!pipe) return "ptxas does not start";
    const char *said = read_output(batch->arena, pipe);
    return pclose(pipe) == 0 ? NULL : said;
}

const char *ptx_batch_end(PtxBatch *batch) {
    char path[] = "/tmp/tcc-ptx-XXXXXX";
    if (batch->kernels == 0) return NULL;
    int file = mkstemp(path);
    bool written =
        file >= 0 && write(file, batch->text.data, batch->text.size) == (ssize_t)batch->text.size;
    const char *fault = written ? assemble(batch, path) : "no temporary file could be written";
    if (fault)
        fault = str_format(batch->arena, "%s: %s\n%.*s", batch->target, fault,
                           STR_ARG(buf_str(&batch->text)))
                    .data;
    if (file >= 0) close(file);
    unlink(path);
    batch->assembled += batch->kernels;
    batch->kernels = 0;
    batch->text = (Buf){.arena = batch->arena};
    return fault;
}

const char *ptx_batch_add(PtxBatch *batch, Str ptx) {
    buf_put(&batch->text, batch->kernels > 0 ? without_header(ptx) : ptx);
    batch->kernels++;
    return batch->kernels >= ENOUGH_KERNELS ? ptx_batch_end(batch) : NULL;
}
