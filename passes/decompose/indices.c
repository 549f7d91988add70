/* Constant indices of gather and scatter are checked where the size of the axis is known: an index
 * that is out of range would be the same error in every run. */
#include "base/messages.h"
#include "ir/infer.h"
#include "ir/tensor.h"
#include "passes/decompose/decompose.h"

/* The first index that is not in [-bound, bound); false when there is none. */
static bool find_bad(const Tensor *indices, int64_t bound, int64_t *out_index) {
    int64_t count = tensor_elements(indices);
    for (int64_t i = 0; i < count; i++) {
        *out_index = tensor_get_int(indices, i);
        if (*out_index < -bound || *out_index >= bound) return true;
    }
    return false;
}

void decompose_check_indices(PassContext *ctx, const Graph *graph, NodeId id) {
    const Node *node = graph_node(graph, id), *indices = graph_node(graph, node->args[1]);
    const Type *type = graph_type(graph, node->args[0]);
    int64_t bound, index;
    if (indices->op != OP_const) return;
    if (!dim_is_const(type->dims[node_attr(node, "axis").i], &bound)) return;
    Tensor values = {.dtype = indices->type->dtype, .rank = indices->type->rank};
    for (uint32_t i = 0; i < values.rank; i++) {
        if (!dim_is_const(indices->type->dims[i], &values.dims[i])) return;
    }
    values.data = (void *)node_attr(indices, "value").blob->bytes;
    if (!find_bad(&values, bound, &index)) return;
    diag_error(ctx->diags, origin_loc(node->origin), MSG_CONST_INDEX, (long long)index,
               (long long)bound);
    origin_notes(ctx->diags, node->origin);
}
