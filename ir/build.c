#include "ir/build.h"

#include "base/guard.h"
#include "ir/infer.h"
#include "ir/tensor.h"

static _Noreturn void refuse(const Graph *g, Op op, const NodeId *args, uint32_t arg_count) {
    Buf types = {.arena = g->arena};
    for (uint32_t i = 0; i < arg_count; i++) {
        if (i) buf_put(&types, STR(", "));
        buf_type(&types, graph_type(g, args[i]));
    }
    bug("%s cannot be applied to (%s)", op_info(op)->name, types.data ? types.data : "");
}

NodeId build_op(Graph *g, Op op, const NodeId *args, uint32_t arg_count, const Attr *attrs) {
    NodeId id = graph_build(g, NULL, NULL, op, args, arg_count, attrs, NULL, 0);
    if (id == NODE_none) refuse(g, op, args, arg_count);
    return id;
}

NodeId build_unary(Graph *g, Op op, NodeId x) { return build_op(g, op, &x, 1, NULL); }

NodeId build_binary(Graph *g, Op op, NodeId x, NodeId y) {
    return build_op(g, op, (NodeId[]){x, y}, 2, NULL);
}

NodeId build_select(Graph *g, NodeId c, NodeId x, NodeId y) {
    return build_op(g, OP_select, (NodeId[]){c, x, y}, 3, NULL);
}

NodeId build_cast(Graph *g, NodeId x, DType to) {
    return build_op(g, OP_cast, &x, 1, (Attr[]){{.dtype = to}, {.i = 0}});
}

NodeId build_reduce(Graph *g, Op op, NodeId x, const int64_t *axes, uint32_t axis_count) {
    Attr attrs[] = {{.ints = ir_ints(g->ctx, axes, axis_count)},
                    {.dtype = graph_type(g, x)->dtype}};
    return build_op(g, op, &x, 1, attrs);
}

NodeId build_reshape(Graph *g, NodeId x, const Dim *const *dims, uint32_t rank) {
    return build_op(g, OP_reshape, &x, 1, (Attr[]){{.dims = ir_dims(g->ctx, dims, rank)}});
}

NodeId build_as(Graph *g, NodeId x, const Type *type) {
    const Type *own = graph_type(g, x);
    if (own == type) return x;
    require(own->dtype == type->dtype && own->rank == type->rank);
    return build_reshape(g, x, type->dims, type->rank);
}

NodeId build_permute(Graph *g, NodeId x, const int64_t *perm) {
    Attr attrs[] = {{.ints = ir_ints(g->ctx, perm, graph_type(g, x)->rank)}};
    return build_op(g, OP_permute, &x, 1, attrs);
}

NodeId build_broadcast(Graph *g, NodeId x, const Dim *const *dims, uint32_t rank,
                       const int64_t *axes) {
    Attr attrs[] = {{.dims = ir_dims(g->ctx, dims, rank)},
                    {.ints = ir_ints(g->ctx, axes, graph_type(g, x)->rank)}};
    return build_op(g, OP_broadcast, &x, 1, attrs);
}

NodeId build_slice(Graph *g, NodeId x, const Dim *const *start, const Dim *const *limit,
                   const int64_t *step) {
    uint32_t rank = graph_type(g, x)->rank;
    Attr attrs[] = {{.dims = ir_dims(g->ctx, start, rank)},
                    {.dims = ir_dims(g->ctx, limit, rank)},
                    {.ints = ir_ints(g->ctx, step, rank)}};
    return build_op(g, OP_slice, &x, 1, attrs);
}

NodeId build_range(Graph *g, NodeId x, uint32_t axis, const Dim *from, const Dim *to) {
    const Type *type = graph_type(g, x);
    const Dim *start[TYPE_MAX_RANK], *limit[TYPE_MAX_RANK];
    int64_t steps[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < type->rank; i++) {
        start[i] = i == axis ? from : dim_const(g->ctx, 0);
        limit[i] = i == axis ? to : type->dims[i];
        steps[i] = 1;
    }
    return build_slice(g, x, start, limit, steps);
}

NodeId build_step(Graph *g, NodeId x, int64_t step) {
    const Type *type = graph_type(g, x);
    NodeId slice = build_range(g, x, 0, dim_const(g->ctx, step), dim_const(g->ctx, step + 1));
    return build_reshape(g, slice, type->dims + 1, type->rank - 1);
}

NodeId build_pad(Graph *g, NodeId x, NodeId value, const Dim *const *lo, const Dim *const *hi) {
    uint32_t rank = graph_type(g, x)->rank;
    Attr attrs[] = {{.dims = ir_dims(g->ctx, lo, rank)}, {.dims = ir_dims(g->ctx, hi, rank)}};
    return build_op(g, OP_pad, (NodeId[]){x, value}, 2, attrs);
}

NodeId build_item(Graph *g, NodeId tuple, uint32_t index) {
    return build_op(g, OP_item, &tuple, 1, (Attr[]){{.i = index}});
}

NodeId build_const(Graph *g, const Type *type, const void *bytes, size_t size) {
    int64_t count, wanted;
    require(!type->is_tuple && type_is_static(type, &count));
    require(dtype_bytes(type->dtype, count, &wanted) && (size_t)wanted == size);
    Attr value = {.blob = ir_blob(g->ctx, bytes, size)};
    return graph_add(g, OP_const, type, NULL, 0, &value, NULL, 0, NULL);
}

/* A number of at most 8 bytes in memory form. */
static NodeId build_number(Graph *g, const Tensor *number) {
    return build_const(g, type_scalar(g->ctx, number->dtype), number->data, tensor_bytes(number));
}

NodeId build_scalar(Graph *g, DType dtype, double value) {
    uint64_t bits = 0;
    Tensor number = {.dtype = dtype, .data = &bits};
    tensor_set(&number, 0, value);
    return build_number(g, &number);
}

NodeId build_scalar_int(Graph *g, DType dtype, int64_t value) {
    uint64_t bits = 0;
    Tensor number = {.dtype = dtype, .data = &bits};
    tensor_set_int(&number, 0, value);
    return build_number(g, &number);
}

NodeId build_fill(Graph *g, const Type *like, double value) {
    NodeId number = build_scalar(g, like->dtype, value);
    return like->rank ? build_broadcast(g, number, like->dims, like->rank, NULL) : number;
}

NodeId build_iota(Graph *g, const Type *type, uint32_t axis) {
    require(!type->is_tuple && axis < type->rank && op_accepts(OP_iota, type->dtype));
    return graph_add(g, OP_iota, type, NULL, 0, (Attr[]){{.i = axis}}, NULL, 0, NULL);
}
