/* Launches: one kernel over its grid, on as many threads as the work is worth. */
#include "runtime/messages.h"
#include "runtime/session_internal.h"

#include <time.h>

/* Below this much work no thread is woken; threads that are awake share less. A piece that a thread
 * takes holds this much at least. Most shares are several pieces, so that a thread whose core does
 * something else besides is helped by the others. */
static const double MIN_PARALLEL_NS = 50000, MIN_AWAKE_NS = 4000, MIN_PIECE_NS = 10000;
/* The same of pieces of weights that the last launch read too, and how many bytes of them count. */
static const double MIN_AGAIN_NS = 4000;
enum { PIECES_A_SHARE = 16, MIN_WEIGHTS = 1 << 18 };
/* Runs with less time between them than this follow closely. */
static const uint64_t CLOSE_NS = 20000;

/* ---- kernels --------------------------------------------------------------------------------- */

/* One launch, divided among threads: all that they need of the session is here, in two cache lines,
 * for each line is 0.1 us of a worker's begin. */
typedef struct Work {
    _Alignas(MEMORY_LINE) TccKernel *kernel;
    void *const *buffers;
    const int64_t *dims;
    char *scratch;
    size_t scratch_stride;
    SessionShare *shares;
    int64_t points, piece; /* no piece: all at once, on one thread */
    int32_t parts;
    bool backward;
    TccErrorWord error;
} Work;

/* Weights of some size that the launch reads, NULL when it reads none. */
static const void *weights_of(const tcc_session *s, const TccLaunch *launch) {
    const TccImage *image = s->model->artefact.image;
    const uint32_t *used = (const uint32_t *)image_at(image, image->launch_buffers);
    const TccBuffer *buffers = image_at(image, image->buffers);
    for (uint32_t i = 0; i < launch->buffer_count; i++) {
        uint32_t id = used[launch->first_buffer + i];
        if (buffers[id].kind == TCC_BUFFER_constant && s->buffer_bytes[id] >= MIN_WEIGHTS)
            return s->buffers[id];
    }
    return NULL;
}

/* Pieces of a thread's share are taken by whoever has none left of its own. A launch that reads the
 * weights of the last one, as the steps of a recurrent network do, goes through them the other way:
 * those that were read last are still in the thread's cache, even where all are too many for it. */
static void lay_out_shares(tcc_session *s, Work *work, const TccLaunch *launch,
                           double ns_per_point) {
    const void *weights = weights_of(s, launch);
    bool again = weights != NULL && weights == s->weights;
    work->backward = s->backward = again && !s->backward;
    s->weights = weights;
    int64_t share = work->points / work->parts, more = work->points % work->parts, begin = 0;
    for (int32_t i = 0; i < work->parts; i++) {
        s->shares[i].begin = begin;
        s->shares[i].end = begin += share + (i < more);
        atomic_store_explicit(&s->shares[i].taken, 0, memory_order_relaxed);
    }
    double least = (again ? MIN_AGAIN_NS : MIN_PIECE_NS) / ns_per_point;
    work->piece = (share + PIECES_A_SHARE) / PIECES_A_SHARE;
    if ((double)work->piece < least)
        work->piece = least < (double)share ? (int64_t)least : share + 1;
    if (work->parts == 1 && !again) work->piece = 0;
}

static void run_share(Work *work, SessionShare *share, const TccKernelArgs *args) {
    int64_t count = share->end - share->begin;
    for (;;) {
        int64_t at = atomic_fetch_add_explicit(&share->taken, work->piece, memory_order_relaxed);
        if (at >= count) return;
        int64_t size = count - at < work->piece ? count - at : work->piece;
        int64_t begin = work->backward ? share->end - at - size : share->begin + at;
        work->kernel(args, begin, begin + size);
    }
}

static void run_part(void *data, int32_t i) {
    Work *work = data;
    TccKernelArgs args = {.buffers = work->buffers,
                          .dims = work->dims,
                          .scratch = work->scratch + (size_t)i * work->scratch_stride,
                          .error = &work->error};
    if (work->piece == 0) work->kernel(&args, 0, work->points);
    for (int32_t k = 0; k < work->parts && work->piece > 0; k++)
        run_share(work, &work->shares[(i + k) % work->parts], &args);
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

static uint32_t divide(const tcc_model *model, Work *work) {
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
    Work work = {.kernel = s->model->artefact.kernels[first + launch->kernel],
                 .buffers = s->arguments + launch->first_buffer,
                 .dims = s->dims,
                 .scratch = s->scratch.data,
                 .scratch_stride = s->scratch_stride,
                 .shares = s->shares,
                 .points = s->points[number]};
    work.parts = choose_parts(s->model, work.points, kernel->ns_per_point);
    if (work.parts > 1 || (double)work.points * kernel->ns_per_point >= MIN_AWAKE_NS)
        lay_out_shares(s, &work, launch, kernel->ns_per_point);
    uint64_t begin = s->profile != NULL ? now_ns() : 0;
    uint32_t threads = divide(s->model, &work);
    if (s->profile != NULL)
        s->profile(s->profile_user, image_string(image, kernel->name), now_ns() - begin, threads);
    return work.error.state == 0 ? TCC_OK : session_say_index(s, kernel, &work.error);
}
