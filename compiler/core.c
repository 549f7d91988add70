/* Cores, which hold what was compiled, and units, the handles that hosts have of them. */
#include "compiler/session.h"

/* ---- cores ----------------------------------------------------------------------------------- */

static void destroy(void *data) {
    Core *core = data;
    ArenaSource memory = core->memory;
    jit_free(core->jit);
    source_release(&memory, core->weights, core->weights_size);
    if (core->ctx != NULL) ir_context_free(core->ctx);
    arena_free(core->pass.scratch);
    arena_free(core->arena);
    pthread_mutex_destroy(&core->lock);
    source_release(&memory, core, sizeof *core);
}

Core *core_new(const tcc_compiler *compiler) {
    GuardDefer defer;
    Core *core = source_new(&compiler->work, sizeof *core);
    if (core == NULL) guard_raise(GUARD_memory, "out of memory");
    core->memory = compiler->work;
    atomic_init(&core->holds, 1);
    pthread_mutex_init(&core->lock, NULL);
    guard_defer(&defer, destroy, core);
    core->arena = arena_new(NULL);
    core->options = options_copy(&compiler->options, core->arena);
    core->ctx = ir_context_new(core->arena);
    guard_undefer(&defer);
    return core;
}

/* Constants lie there twice once there is an artefact, which most cores get. */
void core_measure(Core *core) {
    size_t bytes = sizeof *core + arena_used(core->arena);
    const Program *p = core->result.program;
    for (size_t i = 0; p != NULL && i < p->constants.count; i++)
        bytes += 2 * p->constants.data[i].blob->size;
    atomic_store(&core->bytes, bytes);
}

void core_hold(Core *core) { atomic_fetch_add(&core->holds, 1); }

/* The last hold may be a model's, which is closed outside of any call on the library; what LLVM
 * calls fatal while it frees code must not end the host then. */
void core_release(Core *core) {
    Guard guard;
    if (core == NULL || atomic_fetch_sub(&core->holds, 1) != 1) return;
    guard_enter(&guard);
    if (setjmp(guard.jump) == 0) destroy(core);
    guard_leave(&guard);
}

void core_diagnose(void *user, const Diag *diag) {
    Core *core = user;
    if (core->teller == NULL) return;
    vec_push(core->arena, &core->reports, *diag);
    compiler_diagnose(core->teller, diag);
}

/* ---- units ----------------------------------------------------------------------------------- */

static void release_core(void *core) { core_release(core); }

tcc_unit *unit_new(tcc_compiler *compiler, Core *core) {
    GuardDefer defer;
    guard_defer(&defer, release_core, core);
    tcc_unit *unit = source_new(&compiler->memory, sizeof *unit);
    if (unit == NULL) guard_raise(GUARD_memory, "out of memory");
    guard_undefer(&defer);
    unit->memory = compiler->memory;
    unit->compiler = compiler;
    unit->core = core;
    compiler->holds++;
    return unit;
}

void tcc_unit_free(tcc_unit *unit) {
    if (unit == NULL) return;
    ArenaSource memory = unit->memory;
    core_release(unit->core);
    arena_free(unit->arena);
    compiler_release(unit->compiler);
    source_release(&memory, unit, sizeof *unit);
}

tcc_compiler *unit_compiler(const tcc_unit *unit) { return unit == NULL ? NULL : unit->compiler; }

typedef struct UnitCall {
    tcc_unit *unit;
    tcc_status (*body)(void *data);
    void *data;
} UnitCall;

static void unlock(void *lock) { pthread_mutex_unlock(lock); }

static tcc_status locked_body(void *data) {
    UnitCall *call = data;
    pthread_mutex_t *lock = &call->unit->core->lock;
    GuardDefer defer;
    if (call->unit->arena == NULL) call->unit->arena = arena_new(&call->unit->memory);
    pthread_mutex_lock(lock);
    guard_defer(&defer, unlock, lock);
    tcc_status status = call->body(call->data);
    guard_undefer(&defer);
    pthread_mutex_unlock(lock);
    return status;
}

tcc_status unit_enter(tcc_unit *unit, tcc_status (*body)(void *data), void *data) {
    UnitCall call = {unit, body, data};
    return compiler_enter(unit_compiler(unit), locked_body, &call);
}
