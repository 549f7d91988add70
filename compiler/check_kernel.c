/* Each kernel on the inputs that the compiled model gave it. On a GPU it runs twice, from memory
 * that is aligned and from such that is not, since it has code for both. */
#include "compiler/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

static int64_t evaluate(const Checker *c, const Dim *dim) {
    int64_t value = 0;
    return dim_evaluate(dim, c->symbols, &value) ? value : 0;
}

/* On the CPU. */
static tcc_status run_here(Checker *c, const Launch *launch, TccErrorWord *out_error) {
    const TccArtefact *artefact = &c->unit->core->artefact;
    const Program *p = check_program(c);
    uint32_t variant = 0;
    while (artefact->kernels[variant * p->kernels.count + launch->kernel] == NULL) variant++;
    size_t at = variant * p->kernels.count + launch->kernel;
    const KernelFacts *facts = &c->unit->core->kernels.facts[at];
    void **pointers = NEW_ARRAY(c->arena, void *, launch->buffer_count);
    for (uint32_t i = 0; i < launch->buffer_count; i++)
        pointers[i] = c->buffers[launch->buffers[i]].data;
    size_t scratch = (size_t)evaluate(c, facts->scratch) + ALIGNMENT;
    void *memory = aligned_alloc(ALIGNMENT, (scratch + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (memory == NULL) return compiler_fail(c->unit->compiler, TCC_MEMORY, "out of memory");
    TccKernelArgs args = {
        .buffers = pointers, .dims = c->dims, .scratch = memory, .error = out_error};
    artefact->kernels[at](&args, 0, evaluate(c, facts->points));
    free(memory);
    return TCC_OK;
}

static DeviceBuffer *device_buffers(const Checker *c, const Launch *launch) {
    uint32_t inputs = (uint32_t)check_program(c)->kernels.data[launch->kernel].region->inputs.count;
    DeviceBuffer *buffers = NEW_ARRAY(c->arena, DeviceBuffer, launch->buffer_count);
    for (uint32_t i = 0; i < launch->buffer_count; i++) {
        const Tensor *t = &c->buffers[launch->buffers[i]];
        uint32_t bits = dtype_info(t->dtype)->bits;
        buffers[i] = (DeviceBuffer){.data = t->data,
                                    .bytes = tensor_bytes(t),
                                    .element = bits < 8 ? 1 : bits / 8,
                                    .output = i >= inputs,
                                    .packed = bits < 8};
    }
    return buffers;
}

/* Once more from memory aligned for the dtypes alone, into memory of its own: the same bits. */
static tcc_status run_misaligned(Checker *c, const Launch *launch, DeviceLaunch what, char *text,
                                 size_t size) {
    DeviceBuffer *others = arena_copy(c->arena, what.buffers, what.buffer_count * sizeof *others);
    TccErrorWord error;
    for (uint32_t i = 0; i < what.buffer_count; i++)
        if (others[i].output) others[i].data = arena_alloc(c->arena, others[i].bytes + 1);
    what.misaligned = true;
    const DeviceBuffer *first = what.buffers;
    what.buffers = others;
    tcc_status status = check_device_launch(c->device, &what, c->arena, &error, text, size);
    for (uint32_t i = 0; i < what.buffer_count && status == TCC_OK && what.points > 0; i++) {
        if (!first[i].output || memcmp(first[i].data, others[i].data, first[i].bytes) == 0)
            continue;
        status = TCC_MISMATCH;
        Str name = *check_program(c)->kernels.data[launch->kernel].name;
        snprintf(text, size, "kernel %.*s gives other bits when its buffers are not aligned",
                 STR_ARG(name));
    }
    return status;
}

static tcc_status run_there(Checker *c, const Launch *launch, TccErrorWord *out_error) {
    const GpuFacts *facts = &c->unit->core->gpu_image.facts[launch->kernel];
    DeviceLaunch what = {.kernel = launch->kernel,
                         .buffers = device_buffers(c, launch),
                         .buffer_count = launch->buffer_count,
                         .dims = c->dims,
                         .points = evaluate(c, facts->points),
                         .scratch = evaluate(c, facts->scratch)};
    char text[512] = "";
    tcc_status status =
        check_device_launch(c->device, &what, c->arena, out_error, text, sizeof text);
    if (status == TCC_OK) status = run_misaligned(c, launch, what, text, sizeof text);
    return status == TCC_OK ? status : compiler_fail(c->unit->compiler, status, "%s", text);
}

static tcc_status run_kernel(Checker *c, const Launch *launch, const char *expected_error) {
    TccErrorWord error = {0};
    tcc_status status =
        c->device != NULL ? run_there(c, launch, &error) : run_here(c, launch, &error);
    if (status != TCC_OK) return status;
    bool failed = error.state != 0;
    Buf compiled = {.arena = c->arena};
    check_put_index(&compiled, error.index, error.bound);
    c->failed |= failed;
    return check_same_report(c, "kernel", *check_program(c)->kernels.data[launch->kernel].name,
                             failed, compiled.data, expected_error);
}

tcc_status check_launch(Checker *c, const Launch *launch) {
    const Kernel *kernel = &check_program(c)->kernels.data[launch->kernel];
    const Graph *region = kernel->region;
    uint32_t inputs = (uint32_t)region->inputs.count;
    EvalValue *args = NEW_ARRAY(c->arena, EvalValue, inputs);
    EvalValue *want = NEW_ARRAY(c->arena, EvalValue, region->outputs.count);
    EvalOptions options = {.bounds = true, .symbols = c->symbols};
    EvalError error = {0};
    const char *message = NULL;
    for (uint32_t i = 0; i < inputs; i++) args[i].tensor = c->buffers[launch->buffers[i]];
    if (!eval_graph(region, args, &options, c->arena, want, &error, &message))
        return compiler_fail(c->unit->compiler, TCC_INVALID, "the evaluator: %s", message);
    const char *found = check_index_text(c, region, &error);
    tcc_status status = run_kernel(c, launch, found);
    if (status != TCC_OK) return status;
    const Tensor **got = NEW_ARRAY(c->arena, const Tensor *, region->outputs.count);
    for (uint32_t o = 0; o < region->outputs.count; o++)
        got[o] = &c->buffers[launch->buffers[inputs + o]];
    const EvalValue *kept = check_evaluate_kept(c, region, args, got, want);
    for (uint32_t o = 0; o < region->outputs.count; o++) {
        const char *name = str_format(c->arena, "%u", o).data;
        Expected e = {COMPARE_kernel, *kernel->name, name, got[o], &want[o], kept, found};
        if (kept != NULL) e.kept = &kept[o];
        check_compare(c, &e);
    }
    return TCC_OK;
}
