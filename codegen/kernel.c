#include "codegen/kernel.h"

#include "base/guard.h"
#include "codegen/skeleton/skeleton.h"
#include "codegen/tile/tile_tools.h"

#include <llvm-c/Core.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/* Fields that a schedule leaves 0 are the skeleton's choice. */
static Schedule complete_schedule(const SkeletonRequest *request, Schedule given) {
    Schedule chosen = skeleton_schedule(request);
#define SCHEDULE(field, skeletons, initial, least, greatest, meaning)                              \
    if (given.field == 0) given.field = chosen.field;
#include "ir/schedule.def"
#undef SCHEDULE
    return given;
}

TileProgram *kernel_tile(const Program *program, uint32_t index, const Target *target,
                         TileState state, bool round_everywhere, Arena *arena,
                         const char **out_why) {
    const Kernel *kernel = &program->kernels.data[index];
    const Skeleton *skeleton = skeleton_find(*kernel->skeleton);
    *out_why = "there is no skeleton of that name";
    if (skeleton == NULL) return NULL;
    SkeletonRequest request = {.ctx = program->ctx,
                               .arena = arena,
                               .region = kernel->region,
                               .name = *kernel->name,
                               .strategy = *kernel->strategy,
                               .target = target,
                               .state = state,
                               .round_everywhere = round_everywhere};
    Schedule given = target == program->target ? kernel->schedule : (Schedule){0};
    request.schedule = complete_schedule(&request, given);
    TileProgram *tile = skeleton->build(&request, out_why);
    if (tile == NULL) return NULL;
    *out_why = tile_verify(tile, arena);
    return *out_why == NULL ? tile : NULL;
}

const char *kernel_symbol(const Program *program, uint32_t index, uint32_t variant, Arena *arena) {
    return str_format(arena, "tcc_%.*s_v%u", STR_ARG(*program->kernels.data[index].name), variant)
        .data;
}

/* ---- which arguments may share memory -------------------------------------------------------- */

static bool ranges_meet(const Program *p, const Buffer *a, const Buffer *b) {
    if (a->kind != BUFFER_arena || b->kind != BUFFER_arena) return false;
    for (uint32_t i = 0; i < p->bucket_count; i++) {
        int64_t a0 = a->offset[i], b0 = b->offset[i];
        int64_t a1 = a0 + type_bytes(p->ctx, a->type)->hi,
                b1 = b0 + type_bytes(p->ctx, b->type)->hi;
        if (a0 < b1 && b0 < a1) return true;
    }
    return false;
}

/* In-place pairs: an output of some launch that lies where one of its inputs does. */
static bool *find_aliases(const Program *p, uint32_t kernel, Arena *arena, uint32_t *out_count) {
    const Graph *region = p->kernels.data[kernel].region;
    uint32_t inputs = (uint32_t)region->inputs.count;
    *out_count = inputs + (uint32_t)region->outputs.count;
    bool *aliases = NEW_ARRAY(arena, bool, *out_count);
    for (size_t l = 0; l < p->launches.count; l++) {
        const Launch *launch = &p->launches.data[l];
        if (launch->kernel != kernel) continue;
        for (uint32_t o = inputs; o < *out_count; o++)
            for (uint32_t i = 0; i < inputs; i++)
                if (ranges_meet(p, &p->buffers.data[launch->buffers[o]],
                                &p->buffers.data[launch->buffers[i]]))
                    aliases[o] = aliases[i] = true;
    }
    return aliases;
}

static LowerOptions lower_options(const Program *p, uint32_t kernel, const Target *target,
                                  const char *symbol, Arena *arena) {
    LowerOptions options = {.target = target,
                            .symbol = str_from(symbol),
                            .dims = p->dims.data,
                            .dim_count = (uint32_t)p->dims.count};
    options.may_alias = find_aliases(p, kernel, arena, &options.may_alias_count);
    return options;
}

/* ---- facts ----------------------------------------------------------------------------------- */

static KernelFacts find_facts(const TileProgram *tile, const Target *target) {
    IrContext *ctx = tile->ctx;
    KernelFacts facts = {.points = dim_const(ctx, 1), .scratch = lower_scratch(tile, target).bytes};
    for (uint32_t i = 0; i < tile->work_rank; i++)
        facts.points = dim_mul(ctx, facts.points, tile->work_extents[i]);
    facts.ns_per_point = skeleton_least_ns(tile, target);
    return facts;
}

/* ---- compiling on several threads ------------------------------------------------------------ */

/* One kernel for one target: its module is made under the lock, since that makes Dims in the shared
 * context, and turned into an object without it. */
typedef struct Job {
    const KernelRequest *request;
    CompiledKernels *results;
    uint32_t count;
    _Atomic uint32_t next;
    pthread_mutex_t lock; /* holders may use the IR context and the arena */
    Arena *arena;
    Status status;
    const char *message;
} Job;

static void fail(Job *job, Status status, const char *message) {
    if (job->status != STATUS_ok) return;
    job->status = status;
    job->message = str_copy(job->arena, str_from(message)).data;
}

/* With the lock held. */
static LLVMModuleRef lower_one(Job *job, uint32_t number, const Target *target,
                               LLVMContextRef context) {
    const Program *p = job->request->program;
    uint32_t kernels = (uint32_t)p->kernels.count, kernel = number % kernels;
    const char *why, *symbol = kernel_symbol(p, kernel, number / kernels, job->arena);
    TileProgram *tile = kernel_tile(p, kernel, target, TILE_placed, job->request->round_everywhere,
                                    job->arena, &why);
    if (tile == NULL) {
        const char *name = p->kernels.data[kernel].name->data;
        fail(job, STATUS_internal, str_format(job->arena, "kernel %s: %s", name, why).data);
        return NULL;
    }
    job->results->facts[number] = find_facts(tile, target);
    job->results->symbols[number] = symbol;
    LowerOptions options = lower_options(p, kernel, target, symbol, job->arena);
    return lower_program(context, tile, &options);
}

static void compile_one(Job *job, uint32_t number, Emitter *emitter, Arena *scratch) {
    const Target *target = job->request->targets[number / job->request->program->kernels.count];
    LLVMContextRef context = LLVMContextCreate();
    pthread_mutex_lock(&job->lock);
    Guard guard;
    guard_enter(&guard);
    LLVMModuleRef volatile module = NULL;
    if (setjmp(guard.jump) == 0)
        module = lower_one(job, number, target, context);
    else
        fail(job, guard.kind == GUARD_memory ? STATUS_memory : STATUS_internal, guard.message);
    guard_leave(&guard);
    pthread_mutex_unlock(&job->lock);
    if (module == NULL) {
        LLVMContextDispose(context);
        return;
    }
    Str object;
    const char *message = NULL;
    Status status = emit_module(emitter, module, EMIT_object, scratch, &object, &message);
    pthread_mutex_lock(&job->lock);
    if (status != STATUS_ok)
        fail(job, status, message);
    else
        job->results->objects[number] = str_copy(job->arena, object);
    pthread_mutex_unlock(&job->lock);
    if (status != STATUS_ok) return; /* the context's state is unknown */
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

/* Kernels are handed out variant by variant, so a thread rarely changes its target machine. */
static void work_through(Job *job, Arena *scratch) {
    const Target *target = NULL;
    Emitter *emitter = NULL;
    for (;;) {
        uint32_t number = atomic_fetch_add(&job->next, 1);
        if (number >= job->count) break;
        const Target *wanted = job->request->targets[number / job->request->program->kernels.count];
        if (wanted != target) {
            if (emitter != NULL) emitter_free(emitter);
            emitter = emitter_new(scratch, wanted, job->request->level);
            target = wanted;
        }
        compile_one(job, number, emitter, scratch);
    }
    if (emitter != NULL) emitter_free(emitter);
}

static void *run_thread(void *data) {
    Job *job = data;
    Guard guard;
    Arena *volatile scratch = NULL;
    guard_enter(&guard);
    if (setjmp(guard.jump) == 0) {
        scratch = arena_new(NULL);
        work_through(job, scratch);
    } else {
        pthread_mutex_lock(&job->lock);
        if (job->status == STATUS_ok) {
            job->status = guard.kind == GUARD_memory ? STATUS_memory : STATUS_internal;
            job->message = "compiling a kernel failed";
        }
        pthread_mutex_unlock(&job->lock);
    }
    guard_leave(&guard);
    arena_free(scratch);
    return NULL;
}

static uint32_t thread_count(const KernelRequest *request, uint32_t jobs) {
    cpu_set_t set;
    uint32_t threads = request->threads;
    if (threads == 0 && sched_getaffinity(0, sizeof set, &set) == 0)
        threads = (uint32_t)CPU_COUNT(&set);
    if (threads == 0) threads = 1;
    return threads < jobs ? threads : jobs;
}

enum { MAX_THREADS = 64 };

static void run_threads(Job *job) {
    pthread_t threads[MAX_THREADS];
    uint32_t wanted = thread_count(job->request, job->count), started = 0;
    if (wanted > MAX_THREADS) wanted = MAX_THREADS;
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, run_thread, job) == 0)
        started++;
    run_thread(job);
    for (uint32_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

Status kernels_compile(const KernelRequest *request, Arena *arena, CompiledKernels *out_kernels,
                       const char **out_message) {
    uint32_t count = (uint32_t)request->program->kernels.count * request->target_count;
    *out_kernels = (CompiledKernels){.facts = NEW_ARRAY(arena, KernelFacts, count),
                                     .objects = NEW_ARRAY(arena, Str, count),
                                     .symbols = NEW_ARRAY(arena, const char *, count)};
    Job job = {.request = request, .results = out_kernels, .count = count, .arena = arena};
    pthread_mutex_init(&job.lock, NULL);
    run_threads(&job);
    pthread_mutex_destroy(&job.lock);
    *out_message = job.message;
    return job.status;
}

Status kernel_emit(const Program *program, uint32_t index, const Target *target, EmitLevel level,
                   bool round_everywhere, EmitKind kind, const char *symbol, Arena *arena,
                   Str *out_bytes, const char **out_message) {
    TileProgram *tile =
        kernel_tile(program, index, target, TILE_placed, round_everywhere, arena, out_message);
    if (tile == NULL) return STATUS_internal;
    LowerOptions options = lower_options(program, index, target, symbol, arena);
    Emitter *emitter = emitter_new(arena, target, level);
    Status status = emit_program(emitter, tile, &options, kind, arena, out_bytes, out_message);
    emitter_free(emitter);
    return status;
}
