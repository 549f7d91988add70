/* Arrays in files and arrays of numbers for tests. */
#include "base/scratch.h"
#include "compiler/session.h"
#include "frontend/weights/npy.h"
#include "ir/tensor.h"

#include <stdlib.h>
#include <string.h>

struct tcc_array {
    Arena *arena;
    Tensor tensor;
    tcc_tensor view;
};

static void free_array(void *array) { tcc_array_free(array); }

void tcc_array_free(tcc_array *array) {
    if (array == NULL) return;
    arena_free(array->arena);
    free(array);
}

static void make_view(tcc_array *array) {
    const Tensor *t = &array->tensor;
    array->view = (tcc_tensor){.size = sizeof array->view,
                               .device = TCC_CPU,
                               .dtype = (int32_t)t->dtype,
                               .rank = t->rank,
                               .data = t->data};
    memcpy(array->view.dims, t->dims, sizeof array->view.dims);
}

typedef struct ArrayCall {
    tcc_compiler *compiler;
    const char *path;
    tcc_array *array;
    const tcc_array *source;
    Tensor shape;
    bool read;
} ArrayCall;

static tcc_status new_body(void *data) {
    ArrayCall *call = data;
    GuardDefer defer;
    Status status = STATUS_ok;
    call->array = calloc(1, sizeof *call->array);
    if (call->array == NULL) guard_raise(GUARD_memory, "out of memory");
    guard_defer(&defer, free_array, call->array);
    Arena *arena = call->array->arena = arena_new(NULL);
    if (call->read) {
        Diags *diags = diags_new(arena, compiler_diagnose, call->compiler, 0);
        status = npy_read(arena, diags, (Loc){0}, str_from(call->path), &call->array->tensor);
    } else {
        call->array->tensor = call->shape;
        call->array->tensor.data = arena_alloc(arena, tensor_bytes(&call->shape));
    }
    make_view(call->array);
    guard_undefer(&defer);
    if (status != STATUS_ok) tcc_array_free(call->array);
    return compiler_status(status);
}

static tcc_status make(ArrayCall *call, tcc_array **out_array) {
    tcc_status status = compiler_enter(call->compiler, new_body, call);
    if (status == TCC_OK) *out_array = call->array;
    return status;
}

tcc_status tcc_array_read(tcc_compiler *compiler, const char *path, tcc_array **out_array) {
    ArrayCall call = {.compiler = compiler, .path = path, .read = true};
    if (out_array == NULL) return compiler_refuse_null(compiler, "out_array");
    *out_array = NULL;
    if (path == NULL) return compiler_refuse_null(compiler, "path");
    return make(&call, out_array);
}

tcc_status tcc_array_new(tcc_compiler *compiler, int32_t dtype, uint32_t rank, const int64_t *dims,
                         tcc_array **out_array) {
    ArrayCall call = {.compiler = compiler};
    int64_t count = 1, bytes;
    if (out_array == NULL) return compiler_refuse_null(compiler, "out_array");
    *out_array = NULL;
    if (compiler == NULL) return TCC_INVALID;
    if (dims == NULL && rank > 0) return compiler_refuse_null(compiler, "dims");
    if (dtype < 0 || dtype >= DT_count || rank > TYPE_MAX_RANK)
        return compiler_fail(compiler, TCC_INVALID, "an array of a wrong dtype or rank");
    call.shape = (Tensor){.dtype = (DType)dtype, .rank = rank};
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] < 0 || __builtin_mul_overflow(count, dims[i], &count))
            return compiler_fail(compiler, TCC_INVALID, "an array of a wrong size");
        call.shape.dims[i] = dims[i];
    }
    if (!dtype_bytes((DType)dtype, count, &bytes))
        return compiler_fail(compiler, TCC_INVALID, "an array of a wrong size");
    return make(&call, out_array);
}

/* Splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). */
static uint64_t next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void tcc_array_fill_random(tcc_array *array, uint64_t seed) {
    if (array == NULL) return;
    Tensor *t = &array->tensor;
    int64_t count = tensor_elements(t);
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = next(&seed);
        double unit = (double)(bits >> 11) * 0x1p-52 - 1;
        if (dtype_is_float(t->dtype))
            tensor_set(t, i, 2 * unit);
        else
            tensor_set_int(t, i, (int64_t)(bits >> 33) % (t->dtype == DT_bool ? 2 : 7));
    }
}

static tcc_status write_body(void *data) {
    ArrayCall *call = data;
    Scratch scratch;
    Arena *arena = scratch_open(&scratch);
    Diags *diags = diags_new(arena, compiler_diagnose, call->compiler, 0);
    Status status = npy_write(arena, diags, (Loc){0}, str_from(call->path), &call->source->tensor);
    scratch_close(&scratch);
    return compiler_status(status);
}

tcc_status tcc_array_write(tcc_compiler *compiler, const tcc_array *array, const char *path) {
    ArrayCall call = {.compiler = compiler, .path = path, .source = array};
    if (array == NULL) return compiler_refuse_null(compiler, "array");
    if (path == NULL) return compiler_refuse_null(compiler, "path");
    return compiler_enter(compiler, write_body, &call);
}

const tcc_tensor *tcc_array_tensor(const tcc_array *array) {
    return array == NULL ? NULL : &array->view;
}
