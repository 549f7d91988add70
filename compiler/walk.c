#include "compiler/walk.h"

#include "codegen/tile/tile_tools.h"
#include "ir/program_tools.h"

#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64, PAGE = 4096, POISON = 0xA5 };

const Kernel *walk_kernel(const Walk *walk, uint32_t launch) {
    return &walk->program->kernels.data[walk->program->launches.data[launch].kernel];
}

static uint32_t input_count(const Walk *walk, uint32_t launch) {
    return (uint32_t)walk_kernel(walk, launch)->region->inputs.count;
}

static WalkBuffer *buffer_of(const Walk *walk, uint32_t launch, uint32_t argument) {
    return &walk->buffers[walk->program->launches.data[launch].buffers[argument]];
}

const Tensor *walk_output(const Walk *walk, uint32_t launch, uint32_t index) {
    return &buffer_of(walk, launch, input_count(walk, launch) + index)->tensor;
}

/* ---- buffers --------------------------------------------------------------------------------- */

static void free_pages(void *data) {
    Walk *walk = data;
    for (size_t i = 0; walk->buffers != NULL && i < walk->program->buffers.count; i++)
        if (walk->buffers[i].pages != NULL)
            munmap(walk->buffers[i].pages, walk->buffers[i].page_bytes);
    arena_free(walk->arena);
}

static size_t to_pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

/* Memory between two pages that end the process when they are touched. */
static void *place_between_pages(WalkBuffer *buffer, size_t bytes, Placement placement) {
    size_t inner = to_pages(bytes == 0 ? 1 : bytes), bits = dtype_info(buffer->tensor.dtype)->bits;
    size_t element = bits < 8 ? 1 : bits / 8;
    buffer->page_bytes = inner + 2 * PAGE;
    char *pages =
        mmap(NULL, buffer->page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) guard_raise(GUARD_memory, "out of memory");
    buffer->pages = pages;
    mprotect(pages, PAGE, PROT_NONE);
    mprotect(pages + PAGE + inner, PAGE, PROT_NONE);
    memset(pages + PAGE, POISON, inner);
    size_t back = inner - (bytes + element - 1) / element * element;
    return pages + PAGE + (placement == PLACE_front ? 0 : back);
}

static void *place_apart(const Walk *walk, size_t bytes) {
    char *raw = arena_alloc(walk->arena, bytes + 2 * ALIGNMENT);
    char *data = raw + (ALIGNMENT - (uintptr_t)raw % ALIGNMENT);
    memset(data, POISON, bytes);
    return data;
}

static bool make_buffer(Walk *walk, uint32_t number, char *planned, uint32_t bucket,
                        const char **out_why) {
    const Program *p = walk->program;
    const Buffer *b = &p->buffers.data[number];
    WalkBuffer *w = &walk->buffers[number];
    Tensor *t = &w->tensor;
    *t = (Tensor){.dtype = b->type->dtype, .rank = b->type->rank};
    for (uint32_t i = 0; i < t->rank; i++) {
        if (dim_evaluate(b->type->dims[i], walk->symbols, &t->dims[i]) && t->dims[i] >= 0) continue;
        *out_why = "a dim has no value";
        return false;
    }
    size_t bytes = tensor_bytes(t);
    if (b->kind == BUFFER_arena && walk->placement == PLACE_planned) {
        t->data = planned + b->offset[bucket];
        if ((int64_t)bytes <= p->buckets[bucket].arena_bytes - b->offset[bucket]) return true;
        *out_why = "a buffer reaches beyond the planned memory";
        return false;
    }
    bool pages = walk->placement == PLACE_front || walk->placement == PLACE_back;
    t->data = pages ? place_between_pages(w, bytes, walk->placement) : place_apart(walk, bytes);
    if (b->kind == BUFFER_constant) memcpy(t->data, p->constants.data[b->index].blob->bytes, bytes);
    if (b->kind == BUFFER_input) memcpy(t->data, walk->inputs[b->index].data, bytes);
    return true;
}

static bool make_buffers(Walk *walk, const char **out_why) {
    const Program *p = walk->program;
    uint32_t bucket = program_bucket(p, walk->symbols);
    *out_why = "no plan serves these dims";
    if (bucket == p->bucket_count) return false;
    char *planned = place_apart(walk, (size_t)p->buckets[bucket].arena_bytes);
    walk->buffers = NEW_ARRAY(walk->arena, WalkBuffer, p->buffers.count + 1);
    walk->dims = NEW_ARRAY(walk->arena, int64_t, p->dims.count + 1);
    for (size_t i = 0; i < p->dims.count; i++) walk->dims[i] = walk->symbols[p->dims.data[i]->id];
    for (uint32_t i = 0; i < p->buffers.count; i++)
        if (!make_buffer(walk, i, planned, bucket, out_why)) return false;
    return true;
}

bool walk_begin(Walk *walk, const char **out_why) {
    walk->arena = arena_new(NULL);
    guard_defer(&walk->defer, free_pages, walk);
    return make_buffers(walk, out_why);
}

void walk_end(Walk *walk) {
    guard_undefer(&walk->defer);
    free_pages(walk);
}

static void free_code(void *code) {
    jit_free(((WalkCode *)code)->jit);
    arena_free(((WalkCode *)code)->arena);
}

bool walk_code_begin(WalkCode *code, const Program *program, const char **out_why) {
    *code = (WalkCode){.arena = arena_new(NULL)};
    guard_defer(&code->defer, free_code, code);
    code->kernels = NEW_ARRAY(code->arena, TccKernel *, 2 * program->kernels.count + 1);
    code->jit = jit_new(code->arena, out_why);
    return code->jit != NULL;
}

void walk_code_end(WalkCode *code) {
    guard_undefer(&code->defer);
    free_code(code);
}

/* ---- by the evaluator ------------------------------------------------------------------------ */

bool walk_want(const Walk *walk, uint32_t launch, Arena *arena, EvalValue *out_want,
               EvalError *out_error, const char **out_why) {
    uint32_t count = input_count(walk, launch);
    EvalValue *args = NEW_ARRAY(arena, EvalValue, count + 1);
    EvalOptions options = {.bounds = true, .symbols = walk->symbols};
    for (uint32_t i = 0; i < count; i++) args[i].tensor = buffer_of(walk, launch, i)->tensor;
    return eval_graph(walk_kernel(walk, launch)->region, args, &options, arena, out_want, out_error,
                      out_why);
}

void walk_put(const Walk *walk, uint32_t launch, const EvalValue *values) {
    for (uint32_t o = 0; o < walk_kernel(walk, launch)->region->outputs.count; o++) {
        const Tensor *to = walk_output(walk, launch, o);
        memcpy(to->data, values[o].tensor.data, tensor_bytes(to));
    }
}

static bool run_region(const Walk *walk, uint32_t launch, Arena *arena, bool *out_failed,
                       const char **out_why) {
    size_t count = walk_kernel(walk, launch)->region->outputs.count;
    EvalValue *values = NEW_ARRAY(arena, EvalValue, count + 1);
    EvalError error = {0};
    if (!walk_want(walk, launch, arena, values, &error, out_why)) return false;
    walk_put(walk, launch, values);
    *out_failed = error.failed;
    return true;
}

/* ---- by the interpreter and by the processor ------------------------------------------------- */

static void **pointers_of(const Walk *walk, uint32_t launch, Arena *arena) {
    uint32_t count = walk->program->launches.data[launch].buffer_count;
    void **pointers = NEW_ARRAY(arena, void *, count + 1);
    for (uint32_t i = 0; i < count; i++) pointers[i] = buffer_of(walk, launch, i)->tensor.data;
    return pointers;
}

static int64_t evaluate(const Walk *walk, const Dim *dim) {
    int64_t value = 0;
    return dim_evaluate(dim, walk->symbols, &value) ? value : 0;
}

static TccKernel *compile(const Walk *walk, uint32_t kernel, EmitLevel level, Arena *arena,
                          const char **out_why) {
    WalkCode *code = walk->code;
    TccKernel **slot = &code->kernels[2 * kernel + (level == EMIT_full)];
    if (*slot != NULL) return *slot;
    const char *symbol = str_format(code->arena, "kernel_%u_%d", kernel, (int)level).data;
    Str object;
    Status status = kernel_emit(walk->program, kernel, walk->target, level, walk->round_everywhere,
                                EMIT_object, symbol, arena, &object, out_why);
    if (status == STATUS_ok) status = jit_add(code->jit, object, out_why);
    return status == STATUS_ok ? *slot = jit_find(code->jit, symbol, out_why) : NULL;
}

static bool run_code(const Walk *walk, uint32_t launch, const TileProgram *tile, EmitLevel level,
                     Arena *arena, bool *out_failed, const char **out_why) {
    uint32_t kernel = walk->program->launches.data[launch].kernel;
    TccKernel *code = compile(walk, kernel, level, arena, out_why);
    if (code == NULL) return false;
    int64_t points = 1, bytes = evaluate(walk, lower_scratch(tile, walk->target).bytes);
    for (uint32_t i = 0; i < tile->work_rank; i++) points *= evaluate(walk, tile->work_extents[i]);
    char *raw = arena_alloc(arena, (size_t)bytes + 2 * ALIGNMENT);
    TccErrorWord error = {0};
    TccKernelArgs args = {.buffers = pointers_of(walk, launch, arena),
                          .dims = walk->dims,
                          .scratch = raw + (ALIGNMENT - (uintptr_t)raw % ALIGNMENT),
                          .error = &error};
    code(&args, 0, points);
    *out_failed = error.state != 0;
    return true;
}

bool walk_run(const Walk *walk, uint32_t launch, RunBy by, Arena *arena, bool *out_failed,
              const char **out_why) {
    if (by == RUN_region) return run_region(walk, launch, arena, out_failed, out_why);
    uint32_t kernel = walk->program->launches.data[launch].kernel;
    TileState state = by == RUN_free ? TILE_free : TILE_placed;
    TileProgram *tile = kernel_tile(walk->program, kernel, walk->target, state,
                                    walk->round_everywhere, arena, out_why);
    int64_t site = -1;
    if (tile == NULL) return false;
    if (by >= RUN_fast)
        return run_code(walk, launch, tile, by == RUN_fast ? EMIT_fast : EMIT_full, arena,
                        out_failed, out_why);
    if (!tile_interpret(tile, pointers_of(walk, launch, arena), walk->symbols, arena, &site,
                        out_why))
        return false;
    *out_failed = site >= 0;
    return true;
}
