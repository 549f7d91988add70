/* Launches: one kernel over its grid, on as many threads as the work is worth. */
#include "runtime/messages.h"
#include "runtime/session_internal.h"

#include <time.h>

/* Below this much work no thread is woken. */
static const double MIN_PARALLEL_NS = 50000;

/* ---- kernels --------------------------------------------------------------------------------- */

/* One launch, divided among threads. */
typedef struct Work {
    tcc_session *session;
    TccKernel *kernel;
    void *const *buffers;
    TccErrorWord error;
    int64_t points;
    int32_t parts;
} Work;

static void run_part(void *data, int32_t i) {
    Work *work = data;
    tcc_session *s = work->session;
    TccKernelArgs args = {.buffers = work->buffers,
                          .dims = s->dims,
                          .scratch = s->scratch.data + (size_t)i * s->scratch_stride,
                          .error = &work->error};
    int64_t share = work->points / work->parts, more = work->points % work->parts;
    int64_t begin = i * share + (i < more ? i : more);
    work->kernel(&args, begin, begin + share + (i < more));
}

/* As many threads as the work is worth, never more than points. The last point may hold next to
 * nothing. */
static int32_t choose_parts(const tcc_model *model, int64_t points, double ns_per_point) {
    double ns = (double)(points - 1) * ns_per_point;
    if (ns < MIN_PARALLEL_NS || points < 2 || model->threads < 2) return 1;
    double worth = ns / (MIN_PARALLEL_NS / 2);
    int32_t parts = worth < model->threads ? (int32_t)worth : model->threads;
    return points < parts ? (int32_t)points : parts;
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

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
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
    uint64_t begin = s->profile != NULL ? now_ns() : 0;
    uint32_t threads = divide(&work);
    if (s->profile != NULL)
        s->profile(s->profile_user, image_string(image, kernel->name), now_ns() - begin, threads);
    return work.error.state == 0 ? TCC_OK : session_say_index(s, kernel, &work.error);
}
