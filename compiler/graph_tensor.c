/* The host's tensors: what is wrong with one, its copy, and the values of parameters. */
#include "base/messages.h"
#include "compiler/graph.h"
#include "ir/tensor.h"
#include "ir/text.h"
#include "runtime/copy.h"

#include <string.h>

/* ---- tensors --------------------------------------------------------------------------------- */

/* What is wrong with it as memory; NULL when nothing is. */
static const char *find_fault(const tcc_tensor *tensor, int64_t *out_count, int64_t *out_bytes) {
    if (tensor->size < sizeof *tensor) return "its size is not set";
    if (tensor->device != TCC_CPU) return "it is not on the CPU";
    if (tensor->dtype < 0 || tensor->dtype >= DT_count) return "there is no such dtype";
    if (tensor->rank > TYPE_MAX_RANK) return "it has too many axes";
    if (!tensor_count(tensor, out_count)) return "its dims are negative or too large";
    DType dtype = (DType)tensor->dtype;
    if (!dtype_bytes(dtype, *out_count, out_bytes)) return "it is too large";
    if (*out_count == 0) return NULL;
    if (tensor->data == NULL) return "it has no data";
    if (dtype_info(dtype)->bits < 8 && !tensor_is_dense(tensor))
        return "tensors of 4-bit elements must be dense";
    return tensor_has_sound_strides(tensor) ? NULL : "its strides reach beyond all memory";
}

static void copy_bytes(const tcc_tensor *tensor, int64_t count, size_t size, void *bytes) {
    unsigned bits = dtype_info((DType)tensor->dtype)->bits;
    unsigned char *last = (unsigned char *)bytes + size - 1;
    if (size == 0) return;
    if (tensor_is_dense(tensor))
        memcpy(bytes, tensor_begin(tensor), size);
    else
        tensor_gather(tensor, bits / 8, bytes);
    if (bits == 4 && count % 2 != 0) *last &= 0x0f;
}

static bool has_bad_bool(const tcc_tensor *tensor, const unsigned char *bytes, size_t size) {
    bool bad = false;
    for (size_t i = 0; tensor->dtype == TCC_BOOL && i < size; i++) bad |= bytes[i] > 1;
    return bad;
}

Weight *graph_take_tensor(tcc_graph *graph, Loc loc, Str name, const tcc_tensor *tensor) {
    int64_t count = 0, size = 0;
    void *bytes = NULL;
    const char *fault = find_fault(tensor, &count, &size);
    if (fault != NULL) {
        diag_error(graph->diags, loc, MSG_HOST_TENSOR, fault);
        return NULL;
    }
    Weight shape = {.dtype = (DType)tensor->dtype, .rank = tensor->rank, .size = (size_t)size};
    memcpy(shape.dims, tensor->dims, tensor->rank * sizeof *shape.dims);
    shape.file = loc.file;
    Weight *weight = weights_add(graph->weights, &shape, &bytes);
    copy_bytes(tensor, count, shape.size, bytes);
    if (has_bad_bool(tensor, bytes, shape.size)) {
        diag_error(graph->diags, loc, MSG_HOST_TENSOR, "a bool is neither 0 nor 1");
        return NULL;
    }
    if (name.data != NULL) weights_name(graph->weights, weight, name);
    return weight;
}

/* ---- weights --------------------------------------------------------------------------------- */

typedef struct WeightCall {
    tcc_graph *graph;
    Str name;
    const tcc_tensor *tensor;
} WeightCall;

static bool has_type(const Type *type, const tcc_tensor *tensor) {
    bool same = (int32_t)type->dtype == tensor->dtype && type->rank == tensor->rank;
    for (uint32_t i = 0; same && i < type->rank; i++)
        same = dim_equals_int(type->dims[i], tensor->dims[i]);
    return same;
}

/* Whether the parameter, if it is declared, can take the tensor. */
static bool fits_param(const WeightCall *call, Loc loc) {
    tcc_graph *graph = call->graph;
    const Type *type = live_param_type(graph->live, call->name);
    int64_t count, size;
    if (type == NULL || find_fault(call->tensor, &count, &size) != NULL) return true;
    if (has_type(type, call->tensor)) return true;
    Buf want = {.arena = graph->arena}, got = {.arena = graph->arena};
    buf_type(&want, type);
    buf_print(&got, "%s[", dtype_name((DType)call->tensor->dtype));
    for (uint32_t i = 0; i < call->tensor->rank; i++)
        buf_print(&got, "%s%lld", i > 0 ? ", " : "", (long long)call->tensor->dims[i]);
    buf_char(&got, ']');
    diag_error(graph->diags, loc, MSG_HOST_WEIGHT, STR_ARG(call->name), want.data, got.data);
    return false;
}

static tcc_status weight_body(void *data) {
    WeightCall *call = data;
    tcc_graph *graph = call->graph;
    Loc loc = graph_place(graph, call->name);
    if (call->tensor == NULL) {
        weights_forget(graph->weights, call->name);
        return TCC_OK;
    }
    if (weights_find(graph->weights, call->name) != NULL) {
        diag_error(graph->diags, loc, MSG_HOST_WEIGHT_TWICE, STR_ARG(call->name));
        return TCC_INVALID;
    }
    if (!fits_param(call, loc)) return TCC_INVALID;
    Weight *weight = graph_take_tensor(graph, loc, call->name, call->tensor);
    if (weight == NULL) return TCC_INVALID;
    weight->used = live_param_type(graph->live, call->name) != NULL;
    return TCC_OK;
}

tcc_status tcc_graph_weight(tcc_graph *graph, const char *name, const tcc_tensor *tensor) {
    WeightCall call = {graph, str_from(name), tensor};
    if (graph == NULL) return TCC_INVALID;
    if (name == NULL) return compiler_refuse_null(graph->compiler, "name");
    return graph_enter(graph, weight_body, &call);
}
