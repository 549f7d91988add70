/* Launches: one kernel over its grid, on as many threads as the work is worth. */
#include "runtime/messages.h"
#include "runtime/session_internal.h"

#include <time.h>

/* Below this much work no thread is woken; threads that are awake share less. A piece that a thread
 * takes holds this much at least. Most shares are several pieces, so that a thread whose core does
 * something else besides is helped by the others. */
static const double MIN_PARALLEL_NS = 50000, MIN_AWAKE_NS = 4000, MIN_PIECE_NS = 10000;
enum { PIECES_A_SHARE = 4 };
/* Runs with less time between them than this follow closely. */
static const uint64_t CLOSE_NS = 20000;

/* ---- kernels --------------------------------------------------------------------------------- */

/* One launch, divided among threads. */
typedef struct Work {
    tcc_session *session;
    TccKernel *kernel;
    void *const *buffers;
    TccErrorWord error;
    int64_t points, piece;
    int32_t parts;
} Work;

/* The share of each thread is [its next, its end): pieces are taken from it by whoever has none
 * left of its own. */
static void lay_out_shares(Work *work, double ns_per_point) {
    int64_t share = work->points / work->parts, more = work->points % work->parts, begin = 0;
    for (int32_t i = 0; i < work->parts; i++) {
        SessionShare *s = &work->session->shares[i];
        atomic_store_explicit(&s->next, begin, memory_order_relaxed);
        begin += share + (i < more);
        s->end = begin;
    }
    double least = MIN_PIECE_NS / ns_per_point;
    work->piece = (share + PIECES_A_SHARE) / PIECES_A_SHARE;
    if ((double)work->piece < least)
        work->piece = least < (double)share ? (int64_t)least : share + 1;
}

static void run_share(Work *work, SessionShare *share, const TccKernelArgs *args) {
    for (;;) {
        int64_t begin = atomic_fetch_add_explicit(&share->next, work->piece, memory_order_relaxed);
        if (begin >= share->end) return;
        int64_t left = share->end - begin;
        work->kernel(args, begin, begin + (left < work->piece ? left : work->piece));
    }
}

static void run_part(void *data, int32_t i) {
    Work *work = data;
    tcc_session *s = work->session;
    TccKernelArgs args = {.buffers = work->buffers,
                          .dims = s->dims,
                          .scratch = s->scratch.data + (size_t)i * s->scratch_stride,
                          .error = &work->error};
    if (work->parts == 1) work->kernel(&args, 0, work->points);
    for (int32_t k = 0; k < work->parts && work->parts > 1; k++)
        run_share(work, &s->shares[(i + k) % work->parts], &args);
}

/* As many threads as the work is worth, never more than points. The last point may hold next to
 * nothing. Threads that are awake are there for less work than it takes to wake one. */
static int32_t choose_parts(const tcc_model *model, int64_t points, double ns_per_point) {
    double ns = (double)(points - 1) * ns_per_point, least = MIN_PARALLEL_NS;
    int32_t threads = model->threads;
    if (ns < MIN_AWAKE_NS || points < 2 || threads < 2) return 1;
    if (ns < MIN_PARALLEL_NS) {
        least = MIN_AWAKE_NS;
        threads = model->pool == NULL ? 1 : 1 + pool_awake(model->pool);
    }
    double worth = ns / (least / 2);
    int32_t parts = worth < threads ? (int32_t)worth : threads;
    return points < parts ? (int32_t)points : parts;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

double session_shared_ns(const tcc_session *s) {
    const TccImage *image = s->model->artefact.image;
    const TccLaunch *launches = image_at(image, image->launches);
    double sum = 0;
    for (uint32_t i = 0; i < image->launches.count; i++) {
        double ns =
            (double)(s->points[i] - 1) * session_kernel(s, launches[i].kernel)->ns_per_point;
        if (ns >= MIN_AWAKE_NS) sum += ns;
    }
    return sum;
}

/* Threads are woken for a run as a whole, so that they are there for its first kernel that they can
 * share; and for runs that are not worth it alone, when they follow each other closely. */
void session_begin_launches(tcc_session *s) {
    Pool *pool = s->model->pool;
    if (pool == NULL || s->model->threads < 2 || s->shared_ns < MIN_AWAKE_NS) return;
    if (now_ns() - s->last_end > CLOSE_NS) s->close_ns = 0;
    s->close_ns += s->shared_ns;
    if (s->close_ns >= MIN_PARALLEL_NS && pool_awake(pool) < s->model->threads - 1)
        pool_rouse(pool);
}

void session_end_launches(tcc_session *s) {
    if (s->shared_ns >= MIN_AWAKE_NS) s->last_end = now_ns();
}

static uint32_t divide(Work *work) {
    tcc_model *model = work->session->model;
    if (work->parts == 1) {
        run_part(work, 0);
        return 1;
    }
    if (model->parallel_for != NULL) {
        model->parallel_for(model->parallel_user, work->parts, run_part, work);
        return (uint32_t)work->parts;
    }
    return (uint32_t)pool_run(model->pool, work->parts, run_part, work);
}

tcc_status session_say_index(tcc_session *s, const TccKernelInfo *kernel,
                             const TccErrorWord *error) {
    const TccImage *image = s->model->artefact.image;
    const char *place = kernel->place != 0 ? image_string(image, kernel->place) : "";
    return session_fail(s, TCC_INDEX, RUN_INDEX, place, *place != 0 ? ": " : "",
                        (long long)error->index, (long long)-error->bound,
                        (long long)(error->bound - 1), image_string(image, kernel->name));
}

tcc_status session_launch(tcc_session *s, uint32_t number) {
    const TccImage *image = s->model->artefact.image;
    const TccLaunch *launch = (const TccLaunch *)image_at(image, image->launches) + number;
    const TccKernelInfo *kernel = session_kernel(s, launch->kernel);
    if (s->points[number] <= 0) return TCC_OK;
    uint32_t first = s->model->variant * image_kernel_count(image);
    Work work = {.session = s,
                 .kernel = s->model->artefact.kernels[first + launch->kernel],
                 .buffers = s->arguments + launch->first_buffer,
                 .points = s->points[number]};
    work.parts = choose_parts(s->model, work.points, kernel->ns_per_point);
    if (work.parts > 1) lay_out_shares(&work, kernel->ns_per_point);
    uint64_t begin = s->profile != NULL ? now_ns() : 0;
    uint32_t threads = divide(&work);
    if (s->profile != NULL)
        s->profile(s->profile_user, image_string(image, kernel->name), now_ns() - begin, threads);
    return work.error.state == 0 ? TCC_OK : session_say_index(s, kernel, &work.error);
}
