/* Contexts: the primary one and own ones, which is current in which thread, limits. An error that
 * stays is the context's; every call that needs the context reports it. */
#include "emulator/driver/driver.h"

#include <stdlib.h>
#include <string.h>

/* ---- which one is current -------------------------------------------------------------------- */

/* One that is being destroyed waits for its work, while other threads run. */
static bool is_usable(const Context *context) {
    return object_is(context, OBJECT_context) && !context->ending;
}

static bool lives(Current current) {
    return is_usable(current.context) && current.context->object.id == current.id;
}

Context *context_current_any(void) {
    if (thread.depth == 0) return NULL;
    Current top = thread.stack[thread.depth - 1];
    return lives(top) ? top.context : NULL;
}

CUresult context_current(Context **out_context) {
    if (thread.depth == 0 || thread.stack[thread.depth - 1].context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    *out_context = context_current_any();
    return *out_context != NULL ? (*out_context)->error : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

void context_fail(Context *context, CUresult error) {
    if (context->error == CUDA_SUCCESS) context->error = error;
    pthread_cond_broadcast(&driver.changed);
}

static CUresult push(Context *context) {
    if (thread.depth == MAX_CURRENT) return CUDA_ERROR_OUT_OF_MEMORY;
    thread.stack[thread.depth++] = (Current){context, context != NULL ? context->object.id : 0};
    return CUDA_SUCCESS;
}

CUresult context_push(CUcontext context) {
    return is_usable(context) ? push(context) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult context_pop(CUcontext *context) {
    if (thread.depth == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (context != NULL) *context = context_current_any();
    thread.depth--;
    return CUDA_SUCCESS;
}

CUresult context_set(CUcontext context) {
    if (context != NULL && !is_usable(context)) return CUDA_ERROR_INVALID_CONTEXT;
    if (thread.depth > 0) thread.depth--;
    return context != NULL ? push(context) : CUDA_SUCCESS;
}

CUresult context_get(CUcontext *context) {
    if (context == NULL) return CUDA_ERROR_INVALID_VALUE;
    *context = context_current_any();
    return CUDA_SUCCESS;
}

/* ---- making and ending ----------------------------------------------------------------------- */

static Context *context_new(unsigned flags) {
    Context *context = object_new(OBJECT_context, sizeof *context, NULL);
    if (context == NULL) return NULL;
    context->object.context = context;
    context->flags = flags;
    context->limits[CU_LIMIT_STACK_SIZE] = 1024;
    context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
    context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
    context->limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
    context->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
    context->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
    context->legacy = stream_new(context, CU_STREAM_DEFAULT, LEAST_PRIORITY);
    if (context->legacy != NULL) return context;
    object_free(context);
    return NULL;
}

/* Frees all objects of a kind that belong to the context. */
#define FREE_ALL(context, kind, T, end)                                                            \
    for (T * one; (one = object_of((context), (kind))) != NULL;) end(one)

/* A context takes with it what was made in it; memory of pools alone belongs to the device. */
static void context_free(Context *context) {
    context->ending = true;
    context_finish(context);
    FREE_ALL(context, OBJECT_exec, GraphExec, exec_destroy);
    FREE_ALL(context, OBJECT_module, Module, module_unload);
    FREE_ALL(context, OBJECT_event, Event, event_destroy);
    while (context->streams != NULL) stream_free(context->streams);
    memory_end_context(context);
    object_free(context);
}

static bool flags_are_good(unsigned flags) {
    unsigned schedule = flags & CU_CTX_SCHED_MASK;
    return (flags & ~(unsigned)CU_CTX_FLAGS_MASK) == 0 &&
           (schedule == 0 || schedule == 1 || schedule == 2 || schedule == 4);
}

CUresult context_create(CUcontext *context, unsigned flags, CUdevice device) {
    if (context == NULL || !flags_are_good(flags)) return CUDA_ERROR_INVALID_VALUE;
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    Context *made = context_new(flags);
    if (made == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = push(made);
    if (result != CUDA_SUCCESS)
        context_free(made);
    else
        *context = made;
    return result;
}

/* The parameters would confine the context to part of the device. */
CUresult context_create_v4(CUcontext *context, void *parameters, unsigned flags, CUdevice device) {
    if (parameters != NULL) return CUDA_ERROR_NOT_SUPPORTED;
    return context_create(context, flags, device);
}

CUresult context_destroy(CUcontext context) {
    if (!is_usable(context) || context->primary) return CUDA_ERROR_INVALID_CONTEXT;
    if (thread.depth > 0 && thread.stack[thread.depth - 1].context == context) thread.depth--;
    context_free(context);
    return CUDA_SUCCESS;
}

/* ---- the primary context --------------------------------------------------------------------- */

CUresult primary_retain(CUcontext *context, CUdevice device) {
    if (context == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    if (driver.primary == NULL) {
        driver.primary = context_new(driver.primary_flags);
        if (driver.primary == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
        driver.primary->primary = true;
    }
    driver.primary_references++;
    *context = driver.primary;
    return CUDA_SUCCESS;
}

static void primary_free(void) {
    Context *primary = driver.primary;
    driver.primary = NULL;
    driver.primary_references = 0;
    if (primary != NULL) context_free(primary);
}

CUresult primary_release(CUdevice device) {
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    if (driver.primary_references == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (--driver.primary_references == 0) primary_free();
    return CUDA_SUCCESS;
}

CUresult primary_reset(CUdevice device) {
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    primary_free();
    return CUDA_SUCCESS;
}

CUresult primary_set_flags(CUdevice device, unsigned flags) {
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    if (!flags_are_good(flags)) return CUDA_ERROR_INVALID_VALUE;
    driver.primary_flags = flags;
    if (driver.primary != NULL) driver.primary->flags = flags;
    return CUDA_SUCCESS;
}

CUresult primary_state(CUdevice device, unsigned *flags, int *active) {
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    if (flags == NULL || active == NULL) return CUDA_ERROR_INVALID_VALUE;
    *flags = driver.primary_flags;
    *active = driver.primary != NULL;
    return CUDA_SUCCESS;
}

/* ---- what a context is asked ----------------------------------------------------------------- */

CUresult context_device(CUdevice *device) {
    if (device == NULL) return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult context_flags(unsigned *flags) {
    if (flags == NULL) return CUDA_ERROR_INVALID_VALUE;
    *flags = context_current_any()->flags;
    return CUDA_SUCCESS;
}

CUresult context_set_flags(unsigned flags) {
    if (!flags_are_good(flags)) return CUDA_ERROR_INVALID_VALUE;
    context_current_any()->flags = flags;
    return CUDA_SUCCESS;
}

/* The context that was named, or the current one. */
static CUresult named_or_current(CUcontext context, Context **out_context) {
    if (context == NULL) return context_current(out_context);
    if (!object_is(context, OBJECT_context)) return CUDA_ERROR_INVALID_CONTEXT;
    *out_context = context;
    return CUDA_SUCCESS;
}

CUresult context_id(CUcontext context, unsigned long long *id) {
    Context *named;
    CUresult result = named_or_current(context, &named);
    if (result != CUDA_SUCCESS) return result;
    if (id == NULL) return CUDA_ERROR_INVALID_VALUE;
    *id = named->object.id;
    return CUDA_SUCCESS;
}

CUresult context_version(CUcontext context, unsigned *version) {
    Context *named;
    CUresult result = named_or_current(context, &named);
    if (result != CUDA_SUCCESS) return result;
    if (version == NULL) return CUDA_ERROR_INVALID_VALUE;
    *version = 3020;
    return CUDA_SUCCESS;
}

CUresult context_synchronize(void) { return context_finish(context_current_any()); }

CUresult context_set_limit(CUlimit limit, size_t value) {
    if ((unsigned)limit >= LIMIT_COUNT) return CUDA_ERROR_INVALID_VALUE;
    if (limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH || limit == CU_LIMIT_PERSISTING_L2_CACHE_SIZE)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    context_current_any()->limits[limit] = value;
    return CUDA_SUCCESS;
}

CUresult context_limit(size_t *value, CUlimit limit) {
    if (value == NULL || (unsigned)limit >= LIMIT_COUNT) return CUDA_ERROR_INVALID_VALUE;
    *value = context_current_any()->limits[limit];
    return CUDA_SUCCESS;
}

CUresult context_cache(CUfunc_cache *cache) {
    if (cache == NULL) return CUDA_ERROR_INVALID_VALUE;
    *cache = context_current_any()->cache;
    return CUDA_SUCCESS;
}

CUresult context_set_cache(CUfunc_cache cache) {
    if ((unsigned)cache > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
    context_current_any()->cache = cache;
    return CUDA_SUCCESS;
}

CUresult context_priorities(int *least, int *greatest) {
    if (least != NULL) *least = LEAST_PRIORITY;
    if (greatest != NULL) *greatest = GREATEST_PRIORITY;
    return CUDA_SUCCESS;
}

/* No cache is modelled, so that none has to be reset. */
CUresult context_reset_cache(void) { return CUDA_SUCCESS; }
