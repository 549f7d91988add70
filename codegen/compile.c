/* Compiling all kernels of a program, on several threads.
 *
 * Kernels that follow each other are lowered into one LLVM module, a batch, until it is large
 * enough that setting up LLVM's passes, about 2 ms a module, no longer counts. What is in a batch
 * depends on the kernels alone, so objects are the same for any number of threads: batches begin
 * where the one before ended, and are begun under the lock. */
#include "base/guard.h"
#include "codegen/kernel_internal.h"
#include "codegen/lower/reserve.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

enum {
    BATCH_INSTRUCTIONS = 1000, /* of LLVM's IR, from which a batch takes no more kernels */
    MAX_THREADS = 64
};

typedef struct Job {
    const KernelRequest *request;
    CompiledKernels *results;
    KernelLaunches launches;
    uint32_t count, next; /* kernels of all variants; the first that no batch holds */
    pthread_mutex_t lock; /* holders may use the fields here, the IR context and the arena */
    Arena *arena;
    GuardScope scope; /* of the caller's guard */
    Status status;
    const char *message;
    char raised[sizeof((Guard *)0)->message]; /* the message of a guard, which has no arena */
} Job;

typedef struct Batch {
    uint32_t object, variant; /* the number of its object; of all its kernels */
    LLVMContextRef context;
    LLVMModuleRef module;
} Batch;

static void fail(Job *job, Status status, const char *message) {
    if (job->status != STATUS_ok) return;
    job->status = status;
    job->message = str_copy(job->arena, str_from(message)).data;
}

static uint32_t variant_of(const Job *job, uint32_t number) {
    return number / (uint32_t)job->request->program->kernels.count;
}

/* ---- lowering, under the lock ---------------------------------------------------------------- */

/* False after a failure. */
static bool lower_one(Job *job, uint32_t number, LLVMModuleRef module) {
    const Program *p = job->request->program;
    uint32_t variant = variant_of(job, number);
    uint32_t kernel = number - variant * (uint32_t)p->kernels.count;
    const Target *target = job->request->targets[variant];
    const char *why, *symbol = kernel_symbol(p, kernel, variant, job->arena);
    TileProgram *tile = kernel_tile(p, kernel, target, TILE_placed, job->request->round_everywhere,
                                    job->arena, &why);
    if (tile == NULL) {
        const char *name = p->kernels.data[kernel].name->data;
        fail(job, STATUS_internal, str_format(job->arena, "kernel %s: %s", name, why).data);
        return false;
    }
    job->results->facts[number] = kernel_facts(tile, target);
    job->results->symbols[number] = symbol;
    LowerOptions options =
        kernel_lower_options(p, &job->launches, kernel, target, symbol, job->arena);
    lower_into(module, tile, &options);
    return true;
}

static bool is_large(LLVMModuleRef module) {
    uint32_t count = 0;
    LLVMValueRef f = LLVMGetFirstFunction(module);
    for (; f && count < BATCH_INSTRUCTIONS; f = LLVMGetNextFunction(f)) {
        LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f);
        for (; block && count < BATCH_INSTRUCTIONS; block = LLVMGetNextBasicBlock(block)) {
            LLVMValueRef instr = LLVMGetFirstInstruction(block);
            for (; instr; instr = LLVMGetNextInstruction(instr)) count++;
        }
    }
    return count >= BATCH_INSTRUCTIONS;
}

static bool lower_batch(Job *job, LLVMModuleRef module) {
    uint32_t variant = variant_of(job, job->next);
    while (job->next < job->count && variant_of(job, job->next) == variant) {
        if (!lower_one(job, job->next++, module)) return false;
        if (is_large(module)) break;
    }
    return true;
}

/* What one thread works with; `batch.module` is NULL when it holds none. */
typedef struct Worker {
    Job *job;
    Arena *scratch;
    const Target *target; /* of the emitter */
    Emitter *emitter;
    Batch batch;
} Worker;

static void drop_batch(Batch *batch) {
    if (batch->module == NULL) return;
    LLVMDisposeModule(batch->module);
    LLVMContextDispose(batch->context);
    batch->module = NULL;
}

static void open_batch(Job *job, Batch *batch) {
    batch->object = (uint32_t)job->results->objects.count;
    batch->variant = variant_of(job, job->next);
    vec_push(job->arena, &job->results->objects,
             (KernelObject){.variant = batch->variant, .first = job->next});
    batch->context = LLVMContextCreate();
    batch->module = LLVMModuleCreateWithNameInContext("kernels", batch->context);
}

/* Lowers the next kernels. False when there are none left, or after a failure. */
static bool begin_batch(Worker *w) {
    Job *job = w->job;
    guard_poll();
    reserve_need();
    if (job->status != STATUS_ok || job->next >= job->count) return false;
    open_batch(job, &w->batch);
    bool good = lower_batch(job, w->batch.module);
    KernelObject *object = &job->results->objects.data[w->batch.object];
    object->count = job->next - object->first;
    return good;
}

/* ---- threads --------------------------------------------------------------------------------- */

static void choose_target(Worker *w) {
    const Target *wanted = w->job->request->targets[w->batch.variant];
    if (w->target == wanted) return;
    emitter_free(w->emitter);
    w->emitter = NULL;
    w->emitter = emitter_new(w->scratch, wanted, w->job->request->level);
    w->target = wanted;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Objects are made without the lock. After an error LLVM's context is in no known state, and stays.
 */
static void emit_batch(Worker *w) {
    Str object;
    Job *job = w->job;
    const char *message = NULL;
    double begin = seconds_now();
    Status status =
        emit_module(w->emitter, w->batch.module, EMIT_object, w->scratch, &object, &message);
    if (status != STATUS_ok) w->batch.module = NULL;
    pthread_mutex_lock(&job->lock);
    KernelObject *result = &job->results->objects.data[w->batch.object];
    result->seconds = seconds_now() - begin;
    if (status != STATUS_ok)
        fail(job, status, message);
    else
        result->bytes = str_copy(job->arena, object);
    pthread_mutex_unlock(&job->lock);
    drop_batch(&w->batch);
}

/* Batches come variant by variant, so a thread rarely changes its target machine. */
static void work_through(Worker *w) {
    w->scratch = arena_new(NULL);
    for (;;) {
        pthread_mutex_lock(&w->job->lock);
        bool some = begin_batch(w);
        pthread_mutex_unlock(&w->job->lock);
        if (!some) return;
        choose_target(w);
        emit_batch(w);
    }
}

/* The lock is refused where the guard was raised under it: it is held then. */
static void note_raise(Worker *w, const Guard *guard) {
    Job *job = w->job;
    if (guard_is_backend(guard->kind)) {
        w->batch.module = NULL;
        w->emitter = NULL;
    }
    pthread_mutex_lock(&job->lock);
    if (job->status == STATUS_ok) {
        bool memory = guard_is_memory(guard->kind);
        job->status = memory ? STATUS_memory : STATUS_internal;
        snprintf(job->raised, sizeof job->raised, "%s", memory ? "out of memory" : guard->message);
        job->message = job->raised;
    }
    pthread_mutex_unlock(&job->lock);
}

static void clean_up(Worker *w) {
    drop_batch(&w->batch);
    emitter_free(w->emitter);
}

/* Under a guard of this thread's own. */
static void do_guarded(Worker *w, void (*body)(Worker *w)) {
    Guard guard;
    guard_enter(&guard);
    guard.scope = w->job->scope;
    guard.scope.backend = true;
    if (setjmp(guard.jump) == 0)
        body(w);
    else
        note_raise(w, &guard);
    guard_leave(&guard);
}

static void *run_thread(void *data) {
    Worker worker = {.job = data};
    do_guarded(&worker, work_through);
    do_guarded(&worker, clean_up);
    arena_free(worker.scratch);
    return NULL;
}

static uint32_t thread_count(const KernelRequest *request, uint32_t jobs) {
    cpu_set_t set;
    uint32_t threads = request->threads;
    if (threads == 0 && sched_getaffinity(0, sizeof set, &set) == 0)
        threads = (uint32_t)CPU_COUNT(&set);
    if (threads == 0) threads = 1;
    if (threads > MAX_THREADS) threads = MAX_THREADS;
    return threads < jobs ? threads : jobs;
}

static void run_threads(Job *job) {
    pthread_t threads[MAX_THREADS];
    uint32_t wanted = thread_count(job->request, job->count), started = 0;
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, run_thread, job) == 0)
        started++;
    run_thread(job);
    for (uint32_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

/* A thread that locks it twice is told so, and does not wait for itself. */
static void init_lock(pthread_mutex_t *lock) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

Status kernels_compile(const KernelRequest *request, Arena *arena, CompiledKernels *out_kernels,
                       const char **out_message) {
    uint32_t count = (uint32_t)request->program->kernels.count * request->target_count;
    *out_kernels = (CompiledKernels){.facts = NEW_ARRAY(arena, KernelFacts, count),
                                     .symbols = NEW_ARRAY(arena, const char *, count)};
    Job job = {.request = request, .results = out_kernels, .count = count, .arena = arena};
    job.scope = guard_scope();
    job.launches = kernel_find_launches(request->program, arena);
    init_lock(&job.lock);
    run_threads(&job);
    pthread_mutex_destroy(&job.lock);
    guard_poll();
    if (job.message != NULL) *out_message = str_copy(arena, str_from(job.message)).data;
    return job.status;
}
