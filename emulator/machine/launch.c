/* Launches: checks what is asked for, and lets host threads run the CTAs.
 *
 * A worker runs one CTA to its end before it takes the next, unless it must not: the CTAs of a
 * cooperative launch are all begun first, and one that has run for long may wait for a CTA that has
 * not begun, so that others get turns beside it, as many as the device would hold. */
#include "base/guard.h"
#include "emulator/machine/count.h"
#include "emulator/machine/cta.h"
#include "emulator/machine/device.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Warp instructions of a turn of a CTA, alone and with others that may wait for it, and after which
 * it no longer runs alone. */
enum { SLICE = 1 << 16, SHORT_SLICE = 1 << 12, ALONE = 1 << 20 };

static const EmuStatus finding_status[] = {
#define FINDING(name, text, status) status,
#include "emulator/check/findings.def"
#undef FINDING
};

/* Faults. */

static void stop(Launch *launch, EmuStatus status) {
    int ok = EMU_OK;
    atomic_compare_exchange_strong(&launch->status, &ok, (int)status);
}

Step warp_fault(Warp *warp, const Record *record, EmuFindingKind kind, uint32_t lanes,
                uint64_t address, uint32_t size, const char *text) {
    Launch *launch = warp->cta->launch;
    EmuStatus status = finding_status[kind];
    ObserveFault fault = {.kind = kind,
                          .site = warp_site(warp, record, lanes),
                          .lane = lanes ? (uint32_t)__builtin_ctz(lanes) : EMU_LANES,
                          .address = address,
                          .size = size,
                          .text = text};
    if (launch->observer)
        status = launch->observer->fault(launch->observer, warp->cta->observer, &fault);
    if (status == EMU_OK) return STEP_next;
    stop(launch, status);
    return STEP_fault;
}

Step warp_fatal(Warp *warp, const Record *record, EmuFindingKind kind, uint32_t lanes,
                uint64_t address, uint32_t size, const char *text) {
    Step step = warp_fault(warp, record, kind, lanes, address, size, text);
    EmuStatus status = finding_status[kind];
    if (step != STEP_fault) stop(warp->cta->launch, status == EMU_OK ? EMU_LAUNCH_FAILED : status);
    return STEP_fault;
}

/* Workers. */

typedef struct Resident {
    Cta **ctas;
    uint32_t count, capacity;
} Resident;

static bool is_stopped(Launch *launch) { return atomic_load(&launch->status) != EMU_OK; }

/* How many CTAs of the launch a multiprocessor holds. */
static uint32_t resident_ctas(const Launch *launch) {
    const uint32_t *block = launch->what->block;
    return device_resident(launch->device->model, block[0] * block[1] * block[2],
                           launch->shared_bytes, launch->program->registers);
}

/* How many CTAs a worker may have begun: one, until it has run for long. */
static uint32_t resident_limit(const Launch *launch, const Resident *resident, int workers) {
    bool old = false;
    for (uint32_t i = 0; i < resident->count; i++) old |= resident->ctas[i]->age >= ALONE;
    if (launch->what->cooperative) return UINT32_MAX;
    if (!old) return 1;
    uint64_t multiprocessors = (uint64_t)launch->device->model->multiprocessors;
    uint64_t all = resident_ctas(launch) * multiprocessors / (uint64_t)workers;
    return all < 1 ? 1 : all > UINT32_MAX ? UINT32_MAX : (uint32_t)all;
}

/* Takes the next CTA of the launch; false: there is none, or no memory for it. */
static bool begin_next(Worker *worker, Resident *resident, Cta **spare) {
    Launch *launch = worker->launch;
    uint64_t number = atomic_fetch_add(&launch->next_cta, 1);
    if (number >= launch->cta_count) return false;
    if (resident->count == resident->capacity) {
        uint32_t capacity = resident->capacity ? 2 * resident->capacity : 16;
        Cta **larger = realloc(resident->ctas, capacity * sizeof *larger);
        if (larger) resident->ctas = larger, resident->capacity = capacity;
    }
    Cta *cta = *spare ? *spare : cta_new(launch, worker);
    *spare = NULL;
    if (!cta || resident->count == resident->capacity) {
        cta_free(cta);
        stop(launch, EMU_OUT_OF_MEMORY);
        return false;
    }
    cta_begin(cta, number);
    resident->ctas[resident->count++] = cta;
    return true;
}

static void run_ctas(Worker *worker, int workers, Resident *resident) {
    Launch *launch = worker->launch;
    Cta *spare = NULL;
    uint32_t at = 0;
    bool more = true;
    while (!is_stopped(launch)) {
        while (more && resident->count < resident_limit(launch, resident, workers)) {
            more = begin_next(worker, resident, &spare);
            if (!launch->what->cooperative) break;
        }
        if (!resident->count) break;
        at = at + 1 < resident->count ? at + 1 : 0;
        Cta *cta = resident->ctas[at];
        uint64_t slice = resident->count > 1 ? SHORT_SLICE : SLICE;
        CtaState state = cta_run(cta, slice);
        cta->age += slice;
        if (state == CTA_running) continue;
        cta_end(cta);
        resident->ctas[at] = resident->ctas[--resident->count];
        if (spare)
            cta_free(cta);
        else
            spare = cta;
    }
    cta_free(spare);
}

typedef struct WorkerStart {
    Worker worker;
    GuardScope scope;
    pthread_t thread;
    int workers;
    bool started;
} WorkerStart;

static void *work(void *user) {
    WorkerStart *start = user;
    Resident resident = {0};
    Guard guard;
    guard_enter(&guard);
    guard.scope = start->scope;
    if (setjmp(guard.jump) == 0)
        run_ctas(&start->worker, start->workers, &resident);
    else
        stop(start->worker.launch, EMU_OUT_OF_MEMORY);
    guard_leave(&guard);
    for (uint32_t i = 0; i < resident.count; i++) {
        cta_end(resident.ctas[i]);
        cta_free(resident.ctas[i]);
    }
    free(resident.ctas);
    return NULL;
}

static int worker_count(const Launch *launch) {
    long cores = launch->options.workers ? launch->options.workers : sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t most = launch->cta_count < 256 ? launch->cta_count : 256;
    return cores < 1 ? 1 : (uint64_t)cores < most ? (int)cores : (int)most;
}

static void add_counters(EmuCounters *sum, const Worker *worker, const Program *program) {
    count_records(program, worker->counts, sum);
    sum->lane_instructions += worker->lane_steps;
    sum->global_sectors += worker->counters.global_sectors;
    sum->global_useful_bytes += worker->counters.global_useful_bytes;
    sum->shared_wavefronts += worker->counters.shared_wavefronts;
    sum->shared_ideal_wavefronts += worker->counters.shared_ideal_wavefronts;
    sum->tensor_flops += worker->counters.tensor_flops;
}

/* The last worker is this thread. */
static void run_workers(Launch *launch, WorkerStart *starts, int count, EmuCounters *counters) {
    bool deep = launch->observer && launch->observer->deep;
    for (int i = 0; i < count; i++) {
        WorkerStart *start = &starts[i];
        start->workers = count;
        start->scope = guard_scope();
        start->worker.launch = launch;
        start->worker.deep = deep ? launch->observer : NULL;
        start->worker.random = launch->options.seed * UINT64_C(0x2545f4914f6cdd1d) + (uint64_t)i;
        start->worker.counts = calloc(launch->program->record_count + 1, sizeof(uint64_t));
        if (!start->worker.counts) stop(launch, EMU_OUT_OF_MEMORY);
    }
    if (is_stopped(launch)) return;
    for (int i = 0; i < count - 1; i++)
        starts[i].started = pthread_create(&starts[i].thread, NULL, work, &starts[i]) == 0;
    work(&starts[count - 1]);
    for (int i = 0; i < count - 1; i++)
        if (starts[i].started) pthread_join(starts[i].thread, NULL);
    for (int i = 0; i < count; i++) add_counters(counters, &starts[i].worker, launch->program);
    if (!launch->reporter || !launch->reporter->executed) return;
    for (int i = 0; i < count; i++)
        count_tell(launch->program, starts[i].worker.counts, launch->reporter);
}

/* What is asked for. */

static uint64_t product(const uint32_t *dims) { return (uint64_t)dims[0] * dims[1] * dims[2]; }

static uint64_t asked(PtxDimensions d) {
    return (uint64_t)(d.x ? d.x : 1) * (d.y ? d.y : 1) * (d.z ? d.z : 1);
}

static bool same_dims(PtxDimensions d, const uint32_t *dims) {
    return !d.x || (dims[0] == d.x && dims[1] == (d.y ? d.y : 1) && dims[2] == (d.z ? d.z : 1));
}

static EmuStatus check_dims(const EmuLaunch *what, const EmuModel *model) {
    const uint32_t grid_most[3] = {INT32_MAX, 65535, 65535}, block_most[3] = {1024, 1024, 64};
    const PtxFunction *entry = what->function->program->entry;
    for (int i = 0; i < 3; i++) {
        if (!what->grid[i] || what->grid[i] > grid_most[i]) return EMU_INVALID_VALUE;
        if (!what->block[i] || what->block[i] > block_most[i]) return EMU_INVALID_VALUE;
    }
    if (!what->parameters && entry->parameter_bytes) return EMU_INVALID_VALUE;
    uint64_t threads = product(what->block);
    if (threads > (uint64_t)model->max_threads_per_block) return EMU_INVALID_VALUE;
    if (!same_dims(entry->required_threads, what->block)) return EMU_INVALID_VALUE;
    if (entry->max_threads.x && threads > asked(entry->max_threads)) return EMU_INVALID_VALUE;
    if (what->cluster[0] && product(what->cluster) != 1) return EMU_INVALID_CLUSTER;
    if (asked(entry->required_cluster) != 1) return EMU_INVALID_CLUSTER;
    return EMU_OK;
}

/* Whether the device has as much shared memory. */
static EmuStatus check_shared(Launch *launch) {
    const EmuLaunch *what = launch->what;
    const EmuModel *model = launch->device->model;
    const Program *program = launch->program;
    uint64_t most = (uint64_t)model->shared_per_block;
    uint64_t wanted = (uint64_t)program->shared_static + what->dynamic_shared;
    if (what->dynamic_shared_limit)
        most = program->shared_static + (uint64_t)what->dynamic_shared_limit;
    if (most > (uint64_t)model->shared_per_block_optin)
        most = (uint64_t)model->shared_per_block_optin;
    if (wanted > most) return EMU_OUT_OF_RESOURCES;
    launch->shared_bytes = (uint32_t)wanted;
    launch->shared_end =
        what->dynamic_shared ? program->shared_dynamic + what->dynamic_shared : program->shared_end;
    return EMU_OK;
}

static EmuStatus check_resident(const Launch *launch) {
    uint64_t multiprocessors = (uint64_t)launch->device->model->multiprocessors;
    bool fits = launch->cta_count <= resident_ctas(launch) * multiprocessors;
    return fits || !launch->what->cooperative ? EMU_OK : EMU_COOPERATIVE_TOO_LARGE;
}

static EmuStatus begin(Launch *launch) {
    const EmuLaunch *what = launch->what;
    launch->program = what->function->program;
    EmuStatus status = check_dims(what, launch->device->model);
    if (status == EMU_OK) status = check_shared(launch);
    if (status != EMU_OK) return status;
    launch->module = what->function->module;
    launch->parameters = what->parameters;
    launch->cta_count = product(what->grid);
    launch->warp_count = (uint32_t)((product(what->block) + EMU_LANES - 1) / EMU_LANES);
    launch->grid_id = atomic_fetch_add(&launch->device->next_grid, 1) + 1;
    return check_resident(launch);
}

static EmuStatus observe_launch(Launch *launch) {
    if (launch->options.checks == EMU_CHECKS_off) return EMU_OK;
    ObserverSetup setup = {.entry = launch->program->entry,
                           .memory = launch->device->memory,
                           .options = &launch->options,
                           .reporter = launch->reporter};
    memcpy(setup.grid, launch->what->grid, sizeof setup.grid);
    memcpy(setup.block, launch->what->block, sizeof setup.block);
    launch->observer = observer_new(&setup);
    return launch->observer ? EMU_OK : EMU_OUT_OF_MEMORY;
}

EmuStatus emu_launch(EmuDevice *device, const EmuLaunch *what, const EmuOptions *options,
                     const EmuReporter *reporter, EmuCounters *out_counters) {
    Launch launch = {.device = device, .what = what, .options = *options, .reporter = reporter};
    EmuCounters counters = {0};
    EmuStatus status = begin(&launch);
    if (status == EMU_OK) status = observe_launch(&launch);
    if (status == EMU_OK) {
        int count = worker_count(&launch);
        WorkerStart *starts = calloc((size_t)count, sizeof *starts);
        pthread_mutex_init(&launch.print_lock, NULL);
        if (starts)
            run_workers(&launch, starts, count, &counters);
        else
            stop(&launch, EMU_OUT_OF_MEMORY);
        for (int i = 0; starts && i < count; i++) free(starts[i].worker.counts);
        free(starts);
        pthread_mutex_destroy(&launch.print_lock);
        status = (EmuStatus)atomic_load(&launch.status);
    }
    if (launch.observer) counters.findings = observer_end(launch.observer);
    if (counters.findings && options->findings_fail && status == EMU_OK) status = EMU_LAUNCH_FAILED;
    if (out_counters) *out_counters = counters;
    return status;
}
