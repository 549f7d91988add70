// Runs tile programs, given as text, by the interpreter and as compiled code, and compares.
//
// A text has places ~L, ~T and so on, for lane counts, dtypes and numbers. Buffers lie between
// pages that must not be touched: once so that the last byte is followed by one, once so that the
// first is preceded by one.
#ifndef TCC_TESTS_UNIT_LOWER_RUN_H
#define TCC_TESTS_UNIT_LOWER_RUN_H

#include "test.h"

#include "base/guard.h"
#include "codegen/lower/emit.h"
#include "codegen/lower/jit.h"
#include "codegen/tile/tile_tools.h"
#include "ir/tensor.h"

#include <sys/mman.h>
#include <unistd.h>

enum { RUN_MAX = 16 };

typedef struct RunPlace {
    char letter; // of ~L
    const char *text;
} RunPlace;

typedef struct RunDim {
    const char *name;
    int64_t value;
} RunDim;

typedef struct RunCase {
    const char *text;
    RunPlace places[RUN_MAX];     // ended by letter 0
    RunDim dims[RUN_MAX];         // ended by name NULL; the first one may take several values:
    int64_t sweep_to, sweep_step; // from its value up to sweep_to; 0: that one only
    int64_t index_limit;     // integer views named %i… hold numbers in [-limit, limit); 0: any
    double ulps;             // allowed for float results; 0: the same bits, or both NaN
    bool gpu_only, cpu_only; // which targets the text is for
    bool index_error;        // a check fails
} RunCase;

typedef struct RunBuffer {
    const TileView *view;
    Tensor tensor; // dtype and dims; data is the interpreter's copy
    size_t bytes;
    void *initial; // before the run
    char *map;     // with a page before and behind
    size_t map_bytes, room;
    char *data;
} RunBuffer;

typedef struct Run {
    const RunCase *spec;
    Arena *arena;
    IrContext *ctx;
    TileProgram *program;
    int64_t *symbols;
    const DimSymbol *dims[RUN_MAX];
    int64_t dim_values[RUN_MAX];
    uint32_t dim_count;
    Jit *jit[2]; // by EmitLevel
    TccKernel *kernels[2];
    RunBuffer buffers[RUN_MAX];
    uint32_t buffer_count;
    int64_t points;
} Run;

static inline void run_print_diag(void *user, const Diag *diag) {
    (void)user;
    printf("%s", diag->rendered);
}

static inline Str run_expand(Arena *arena, const RunCase *spec) {
    Buf buf = {.arena = arena};
    for (const char *at = spec->text; *at; at++) {
        if (*at != '~') {
            buf_char(&buf, *at);
            continue;
        }
        at++;
        for (const RunPlace *place = spec->places; place->letter; place++)
            if (place->letter == *at) buf_put(&buf, str_from(place->text));
    }
    return buf_str(&buf);
}

// ---- data ----

static inline uint64_t run_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) ^ (*state << 31);
}

// Mostly small numbers, so that sums and products stay finite; now and then a special one.
static inline double run_number(uint64_t *state) {
    static const double special[] = {0,         -0.0, 1,        -1,    INFINITY,
                                     -INFINITY, NAN,  0x1p-149, 65504, 448};
    uint64_t bits = run_random(state);
    if (bits % 37 == 0) return special[bits / 37 % 10];
    return (double)((int64_t)(bits >> 8 & 0xffff) - 0x8000) / 0x2000;
}

static inline void run_fill(Run *run, RunBuffer *buffer, uint32_t index) {
    uint64_t state = 12345 + index * 977;
    Tensor all = buffer->tensor;
    all.data = buffer->initial;
    int64_t limit = run->spec->index_limit;
    bool is_index = limit > 0 && buffer->view->name.data[0] == 'i';
    if (buffer->view->name.data[0] == '%')
        is_index = limit > 0 && buffer->view->name.data[1] == 'i';
    for (int64_t i = 0; i < tensor_elements(&all); i++) {
        int64_t integer = (int64_t)run_random(&state);
        if (is_index) integer = (int64_t)((uint64_t)integer % (uint64_t)(2 * limit)) - limit;
        if (dtype_is_float(all.dtype))
            tensor_set(&all, i, run_number(&state));
        else
            tensor_set_int(&all, i, all.dtype == DT_bool ? integer & 1 : integer);
    }
}

static inline char *run_map(size_t bytes, size_t *out_map_bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;
    if (room == 0) room = page;
    *out_map_bytes = room + 2 * page;
    char *map = mmap(NULL, *out_map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(map + page, room, PROT_READ | PROT_WRITE)) exit(3);
    return map;
}

static inline void run_add_buffer(Run *run, const TileView *view) {
    RunBuffer *buffer = &run->buffers[view->argument];
    if (view->argument >= run->buffer_count) run->buffer_count = view->argument + 1;
    if (buffer->view) return;
    buffer->view = view;
    buffer->tensor = (Tensor){.dtype = view->dtype, .rank = view->rank};
    for (uint32_t i = 0; i < view->rank; i++)
        CHECK(dim_evaluate(view->dims[i], run->symbols, &buffer->tensor.dims[i]));
    buffer->bytes = tensor_bytes(&buffer->tensor);
    buffer->initial = arena_alloc(run->arena, buffer->bytes);
    buffer->tensor.data = arena_alloc(run->arena, buffer->bytes);
    buffer->map = run_map(buffer->bytes, &buffer->map_bytes);
    run_fill(run, buffer, view->argument);
    memcpy(buffer->tensor.data, buffer->initial, buffer->bytes);
}

// The data ends (or begins) where its memory does.
static inline void run_reset(Run *run, bool at_end) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (uint32_t i = 0; i < run->buffer_count; i++) {
        RunBuffer *buffer = &run->buffers[i];
        if (!buffer->map) continue;
        char *end = buffer->map + buffer->map_bytes - page;
        size_t align = buffer->view->alignment;
        size_t bytes = (buffer->bytes + align - 1) / align * align;
        buffer->data = at_end ? end - bytes : buffer->map + page;
        memcpy(buffer->data, buffer->initial, buffer->bytes);
    }
}

// ---- comparing ----

static inline bool run_close(double got, double want, DType dtype, double ulps) {
    if (got == want || (isnan(got) && isnan(want))) return true;
    double size = ldexp(fabs(want), 1 - (int)dtype_info(dtype)->precision);
    return fabs(got - want) <= ulps * fmax(size, dtype_info(dtype)->least * 0x1p-20);
}

static inline bool run_same(const Tensor *got, const Tensor *want, int64_t i, double ulps) {
    if (!dtype_is_float(got->dtype)) return tensor_get_int(got, i) == tensor_get_int(want, i);
    double a = tensor_get(got, i), b = tensor_get(want, i);
    if (ulps > 0) return run_close(a, b, got->dtype, ulps);
    return (a == b && signbit(a) == signbit(b)) || (isnan(a) && isnan(b));
}

static inline void run_compare(Run *run, const char *how) {
    for (uint32_t b = 0; b < run->buffer_count; b++) {
        RunBuffer *buffer = &run->buffers[b];
        if (!buffer->map) continue;
        Tensor got = buffer->tensor;
        got.data = buffer->data;
        int64_t count = tensor_elements(&got), i = 0;
        while (i < count && run_same(&got, &buffer->tensor, i, run->spec->ulps)) i++;
        if (CHECK(i == count)) continue;
        printf("    %.*s, %s: element %" PRId64 " of %.*s: got %.17g, want %.17g\n",
               STR_ARG(run->program->name), how, i, STR_ARG(buffer->view->name),
               tensor_get(&got, i), tensor_get(&buffer->tensor, i));
        printf("%.*s", STR_ARG(run_expand(run->arena, run->spec)));
        for (uint32_t d = 0; d < run->dim_count; d++)
            printf("    %.*s = %" PRId64 "\n", STR_ARG(run->dims[d]->name), run->dim_values[d]);
    }
}

// ---- set-up ----

static inline bool run_parse(Run *run) {
    Diags *diags = diags_new(run->arena, run_print_diag, NULL, 0);
    Str text = run_expand(run->arena, run->spec);
    uint32_t file = diags_add_file(diags, STR("test"), text);
    run->program = tile_parse(run->ctx, run->arena, diags, file);
    if (!CHECK(run->program != NULL)) {
        printf("%.*s", STR_ARG(text));
        return false;
    }
    const char *fault = tile_verify(run->program, run->arena);
    if (fault) printf("%s\n", fault);
    return CHECK(fault == NULL);
}

static inline void run_find_dims(Run *run) {
    run->symbols = NEW_ARRAY(run->arena, int64_t, dim_symbol_count(run->ctx) + 1);
    for (const RunDim *dim = run->spec->dims; dim->name; dim++) {
        const DimSymbol *symbol = dim_find_symbol(run->ctx, str_from(dim->name));
        if (!CHECK(symbol != NULL)) continue;
        run->symbols[symbol->id] = dim->value;
        run->dims[run->dim_count] = symbol;
        run->dim_values[run->dim_count++] = dim->value;
    }
}

static inline void run_bind(Run *run) {
    for (uint32_t i = 0; i < run->dim_count; i++)
        run->symbols[run->dims[i]->id] = run->dim_values[i];
    run->points = 1;
    for (uint32_t i = 0; i < run->program->work_rank; i++) {
        int64_t extent = 0;
        CHECK(dim_evaluate(run->program->work_extents[i], run->symbols, &extent));
        run->points *= extent;
    }
    for (size_t i = 0; i < run->program->views.count; i++)
        if (run->program->views.data[i].space != SPACE_scratch)
            run_add_buffer(run, &run->program->views.data[i]);
}

static inline void run_unbind(Run *run) {
    for (uint32_t i = 0; i < run->buffer_count; i++)
        if (run->buffers[i].map) munmap(run->buffers[i].map, run->buffers[i].map_bytes);
    memset(run->buffers, 0, sizeof run->buffers);
    run->buffer_count = 0;
}

static inline bool run_begin(Run *run, const RunCase *spec) {
    *run = (Run){.spec = spec, .arena = arena_new(NULL)};
    run->ctx = ir_context_new(run->arena);
    if (!run_parse(run)) return false;
    run_find_dims(run);
    return true;
}

static inline void run_end(Run *run) {
    for (int i = 0; i < 2; i++) jit_free(run->jit[i]);
    ir_context_free(run->ctx);
    arena_free(run->arena);
}

static inline void run_interpret(Run *run) {
    void *buffers[RUN_MAX] = {0};
    for (uint32_t i = 0; i < run->buffer_count; i++) buffers[i] = run->buffers[i].tensor.data;
    int64_t site = -1;
    const char *message = NULL;
    bool good = tile_interpret(run->program, buffers, run->symbols, run->arena, &site, &message);
    if (!CHECK(good)) printf("    %s\n", message ? message : "");
    CHECK_INT(site >= 0, run->spec->index_error);
}

// ---- compiled ----

static inline LowerOptions run_options(const Run *run, const Target *target) {
    return (LowerOptions){.target = target, .dims = run->dims, .dim_count = run->dim_count};
}

static inline bool run_emit(Run *run, const char *target_name, EmitLevel level, EmitKind kind,
                            Str *out) {
    const Target *target = target_find(str_from(target_name));
    LowerOptions options = run_options(run, target);
    Emitter *emitter = emitter_new(run->arena, target, level);
    const char *message = NULL;
    Status status = emit_program(emitter, run->program, &options, kind, run->arena, out, &message);
    emitter_free(emitter);
    if (!CHECK_INT(status, STATUS_ok)) printf("    %s\n", message ? message : "");
    return status == STATUS_ok;
}

// All points in two or three calls, the first ones last.
static inline void run_call(Run *run, TccKernel *kernel, void *scratch) {
    void *buffers[RUN_MAX] = {0};
    TccErrorWord error = {0};
    for (uint32_t i = 0; i < run->buffer_count; i++) buffers[i] = run->buffers[i].data;
    const TccKernelArgs args = {buffers, run->dim_values, scratch, &error};
    int64_t cut = run->points / 3;
    kernel(&args, cut, run->points);
    kernel(&args, 0, cut);
    CHECK_INT(error.state, run->spec->index_error ? 2 : 0);
    if (!run->spec->index_error) return;
    CHECK(error.site >= 0 && (uint32_t)error.site < run->program->site_count);
    CHECK(error.index < -error.bound || error.index >= error.bound);
}

static inline void run_compile(Run *run, EmitLevel level) {
    Str object;
    const char *message = NULL;
    if (!run_emit(run, "x86-64-v3", level, EMIT_object, &object)) return;
    Jit *jit = run->jit[level] = jit_new(run->arena, &message);
    if (!CHECK(jit != NULL) || !CHECK_INT(jit_add(jit, object, &message), STATUS_ok)) return;
    run->kernels[level] = jit_find(jit, run->program->name.data, &message);
    if (!CHECK(run->kernels[level] != NULL)) printf("    %s\n", message);
}

static inline void run_compiled(Run *run, EmitLevel level) {
    TccKernel *kernel = run->kernels[level];
    int64_t scratch_bytes = 0;
    LowerScratch scratch = lower_scratch(run->program, target_find(STR("x86-64-v3")));
    CHECK(dim_evaluate(scratch.bytes, run->symbols, &scratch_bytes));
    size_t map_bytes = 0, page = (size_t)sysconf(_SC_PAGESIZE);
    char *map = run_map((size_t)scratch_bytes, &map_bytes);
    for (int at_end = 0; kernel && at_end < 2; at_end++) {
        run_reset(run, at_end);
        char *end = map + map_bytes - page;
        run_call(run, kernel, at_end ? end - scratch_bytes : map + page);
        run_compare(run, level == EMIT_fast ? "fast" : "full");
    }
    munmap(map, map_bytes);
}

static inline const char *run_ptxas(void) {
    static const char *const places[] = {"/usr/local/cuda/bin/ptxas", "/usr/bin/ptxas"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (access(places[i], X_OK) == 0) return places[i];
    return NULL;
}

static inline void run_assemble(Run *run, const char *target) {
    Str ptx;
    char path[] = "/tmp/tcc-lower-XXXXXX", command[256];
    if (!run_emit(run, target, EMIT_full, EMIT_assembly, &ptx)) return;
    const char *ptxas = run_ptxas();
    if (!ptxas) return;
    int fd = mkstemp(path);
    if (!CHECK(fd >= 0) || !CHECK(write(fd, ptx.data, ptx.size) == (ssize_t)ptx.size)) return;
    snprintf(command, sizeof command, "%s -arch=%s %s -o /dev/null", ptxas, target, path);
    if (!CHECK_INT(system(command), 0)) printf("%.*s\n", STR_ARG(ptx));
    close(fd);
    unlink(path);
}

// The interpreter and compiled code at both levels, for one set of dims.
static inline void run_once(Run *run) {
    run_bind(run);
    run_interpret(run);
    run_compiled(run, EMIT_full);
    run_compiled(run, EMIT_fast);
    run_unbind(run);
}

// Compiles for x86, runs and compares for all dims; assembles for AVX-512 and both GPU targets.
static inline void run_case(const RunCase *spec) {
    Run run;
    Str object;
    bool sound = run_begin(&run, spec);
    if (sound && !spec->gpu_only) {
        run_compile(&run, EMIT_full);
        run_compile(&run, EMIT_fast);
        run_once(&run);
        while (spec->sweep_to > 0 && run.dim_values[0] + spec->sweep_step <= spec->sweep_to) {
            run.dim_values[0] += spec->sweep_step;
            run_once(&run);
        }
    }
    if (sound && !spec->cpu_only) {
        run_emit(&run, "x86-64-v4", EMIT_full, EMIT_object, &object);
        run_assemble(&run, "sm_80");
        run_assemble(&run, "sm_90a");
    }
    run_end(&run);
}

#endif
