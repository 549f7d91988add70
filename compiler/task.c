/* Compilations in the background.
 *
 * A task compiles on a thread of its own with a compiler of its own, which has the options of the
 * host's; nothing but the cache is shared, so that the host's goes on with other work. What there
 * is to tell is kept, and told to the host's callbacks by tcc_task_wait, which then gives the unit
 * to the host's compiler. */
#include "compiler/graph.h"
#include "compiler/session.h"
#include "runtime/features.h"
#include "runtime/structs.h"

#include <signal.h>

enum { STACK_BYTES = 8 << 20 };

/* One call of a callback. */
typedef struct Event {
    enum { EVENT_diagnostic, EVENT_dump, EVENT_log } kind;
    tcc_diagnostic diagnostic;
    tcc_log_record log;
    Str text;
} Event;

struct tcc_task {
    ArenaSource memory;
    tcc_compiler *compiler; /* the host's, held */
    tcc_compiler *own;
    Arena *arena; /* of what follows; the thread's while it runs */
    Str path, text;
    bool in_memory;
    tcc_graph *graph;
    VEC(Event) events;
    pthread_t thread;
    bool joined, taken;
    atomic_bool stop, done;
    tcc_unit *unit;
    tcc_status status;
};

/* ---- keeping what is told -------------------------------------------------------------------- */

static const char *keep(Arena *arena, const char *text) {
    return text == NULL ? NULL : str_terminated(arena, str_from(text));
}

static void keep_diagnostic(void *user, const tcc_diagnostic *diagnostic) {
    tcc_task *task = user;
    Event event = {.kind = EVENT_diagnostic, .diagnostic = *diagnostic};
    tcc_diagnostic *d = &event.diagnostic;
    d->id = keep(task->arena, d->id);
    d->path = keep(task->arena, d->path);
    d->text = keep(task->arena, d->text);
    d->rendered = keep(task->arena, d->rendered);
    d->label = keep(task->arena, d->label);
    vec_push(task->arena, &task->events, event);
}

static void keep_dump(void *user, const char *text, size_t size) {
    tcc_task *task = user;
    Event event = {.kind = EVENT_dump, .text = str_copy(task->arena, (Str){text, size})};
    vec_push(task->arena, &task->events, event);
}

static void keep_log(void *user, const tcc_log_record *record) {
    tcc_task *task = user;
    Event event = {.kind = EVENT_log, .log = *record};
    event.log.event = keep(task->arena, record->event);
    event.log.subject = keep(task->arena, record->subject);
    event.log.text = keep(task->arena, record->text);
    vec_push(task->arena, &task->events, event);
}

static void tell(const tcc_compiler *compiler, const Event *event) {
    if (event->kind == EVENT_diagnostic && compiler->on_diagnostic != NULL)
        compiler->on_diagnostic(compiler->diagnostic_user, &event->diagnostic);
    if (event->kind == EVENT_dump && compiler->on_dump != NULL)
        compiler->on_dump(compiler->dump_user, event->text.data, event->text.size);
    if (event->kind == EVENT_log && compiler->on_log != NULL)
        compiler->on_log(compiler->log_user, &event->log);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* All that opening would do, where this processor can run what was compiled. */
static tcc_status prepare_body(void *data) {
    tcc_unit *unit = data;
    uint32_t have = cpu_features();
    bool usable = false;
    for (uint32_t v = 0; v < unit->core->target_count; v++)
        usable = usable || (unit->core->targets[v]->features & ~have) == 0;
    if (unit->core->result.program == NULL || unit->core->target_count == 0) return TCC_OK;
    return usable ? unit_make_artefact(unit) : unit_compile_kernels(unit);
}

static tcc_status compile(tcc_task *task) {
    if (task->graph != NULL) return compile_whole_graph(task->own, task->graph, &task->unit);
    if (!task->in_memory) return tcc_compile_file(task->own, task->path.data, &task->unit);
    return tcc_compile_memory(task->own, task->path.data, task->text.data, task->text.size,
                              &task->unit);
}

/* The guard carries the wish to stop to the ones of the calls; nothing is raised through it. */
static void *work(void *data) {
    tcc_task *task = data;
    Guard guard;
    guard_enter(&guard);
    guard.scope.stop = &task->stop;
    task->status = compile(task);
    if (task->status == TCC_OK) task->status = unit_enter(task->unit, prepare_body, task->unit);
    if (task->status != TCC_OK) {
        tcc_unit_free(task->unit);
        task->unit = NULL;
    }
    guard_leave(&guard);
    atomic_store(&task->done, true);
    return NULL;
}

/* The thread takes no signals: those are for the host's. */
static bool start(tcc_task *task) {
    sigset_t all, before;
    pthread_attr_t attributes;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&task->thread, &attributes, work, task) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

static void join(tcc_task *task) {
    if (!task->joined) pthread_join(task->thread, NULL);
    task->joined = true;
}

/* ---- the handle ------------------------------------------------------------------------------ */

/* Also what is only half made. */
static void destroy(void *data) {
    tcc_task *task = data;
    ArenaSource memory = task->memory;
    tcc_unit_free(task->unit);
    compiler_release(task->own);
    arena_free(task->arena);
    compiler_release(task->compiler);
    source_release(&memory, task, sizeof *task);
}

void tcc_task_free(tcc_task *task) {
    if (task == NULL) return;
    tcc_task_cancel(task);
    join(task);
    destroy(task);
}

typedef struct StartCall {
    tcc_compiler *compiler;
    tcc_source source;
    tcc_task *task;
} StartCall;

static void take_source(tcc_task *task, const tcc_source *source) {
    task->graph = source->graph;
    task->path = str_copy(task->arena, str_from(source->path));
    task->in_memory = source->text != NULL;
    if (task->in_memory) task->text = str_copy(task->arena, (Str){source->text, source->text_size});
}

static tcc_status start_body(void *data) {
    StartCall *call = data;
    GuardDefer defer;
    tcc_task *task = source_new(&call->compiler->memory, sizeof *task);
    if (task == NULL) guard_raise(GUARD_memory, "out of memory");
    guard_defer(&defer, destroy, task);
    task->memory = call->compiler->memory;
    task->compiler = call->compiler;
    call->compiler->holds++;
    task->arena = arena_new(&task->memory);
    task->own = compiler_clone(call->compiler);
    take_source(task, &call->source);
    tcc_on_diagnostic(task->own, keep_diagnostic, task);
    tcc_on_dump(task->own, keep_dump, task);
    tcc_on_log(task->own, call->compiler->log_level, keep_log, task);
    bool started = start(task);
    guard_undefer(&defer);
    if (!started) {
        destroy(task);
        return compiler_fail(call->compiler, TCC_ENVIRONMENT, "could not start a thread");
    }
    call->task = task;
    return TCC_OK;
}

tcc_status tcc_compile_start(tcc_compiler *compiler, const tcc_source *source,
                             tcc_task **out_task) {
    StartCall call = {.compiler = compiler};
    tcc_source *s = &call.source;
    if (out_task == NULL) return compiler_refuse_null(compiler, "out_task");
    *out_task = NULL;
    if (source == NULL || compiler == NULL) return compiler_refuse_null(compiler, "source");
    if (!struct_take(s, sizeof *s, source, STRUCT_UPTO(tcc_source, graph)))
        return compiler_fail(compiler, TCC_INVALID, "tcc_source.size is wrong");
    if (s->path == NULL && s->graph == NULL) return compiler_refuse_null(compiler, "path");
    if (s->graph != NULL) {
        tcc_status whole = check_whole_graph(compiler, s->graph);
        if (whole != TCC_OK) return whole;
    }
    tcc_status status = compiler_enter(compiler, start_body, &call);
    if (status == TCC_OK) *out_task = call.task;
    return status;
}

int tcc_task_poll(const tcc_task *task) { return task == NULL || atomic_load(&task->done); }

void tcc_task_cancel(tcc_task *task) {
    if (task != NULL) atomic_store(&task->stop, true);
}

/* The unit becomes one of the host's compiler. */
static tcc_unit *hand_over(tcc_task *task) {
    tcc_unit *unit = task->unit;
    task->unit = NULL;
    if (unit == NULL) return NULL;
    task->compiler->holds++;
    unit->compiler = task->compiler;
    compiler_release(task->own);
    return unit;
}

tcc_status tcc_task_wait(tcc_task *task, tcc_unit **out_unit) {
    if (out_unit != NULL) *out_unit = NULL;
    if (task == NULL) return TCC_INVALID;
    if (out_unit == NULL) return compiler_refuse_null(task->compiler, "out_unit");
    if (task->taken)
        return compiler_fail(task->compiler, TCC_INVALID, "the task was waited for already");
    join(task);
    task->taken = true;
    task->compiler->message[0] = 0;
    for (size_t i = 0; i < task->events.count; i++) tell(task->compiler, &task->events.data[i]);
    if (task->status != TCC_OK)
        return compiler_fail(task->compiler, task->status, "%s", task->own->message);
    *out_unit = hand_over(task);
    return TCC_OK;
}
