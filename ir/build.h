/* Building graphs from C: one call a node, for passes and tests. A wrong application is a bug of
 * the caller (the user's input goes through graph_build). Operands of binary ops must already
 * agree. */
#ifndef TCC_IR_BUILD_H
#define TCC_IR_BUILD_H

#include "ir/graph.h"

NodeId build_unary(Graph *g, Op op, NodeId x);
NodeId build_binary(Graph *g, Op op, NodeId x, NodeId y); /* compare ops too */
NodeId build_select(Graph *g, NodeId c, NodeId x, NodeId y);
NodeId build_cast(Graph *g, NodeId x, DType to);
NodeId build_reduce(Graph *g, Op op, NodeId x, const int64_t *axes, uint32_t axis_count);
NodeId build_reshape(Graph *g, NodeId x, const Dim *const *dims, uint32_t rank);
/* x as a value of `type`, whose dims are equal to its own by the checks of the model at most: what
 * replaces a value has the type that it had. */
NodeId build_as(Graph *g, NodeId x, const Type *type);
NodeId build_permute(Graph *g, NodeId x, const int64_t *perm);
/* Operand axis i becomes result axis axes[i]. */
NodeId build_broadcast(Graph *g, NodeId x, const Dim *const *dims, uint32_t rank,
                       const int64_t *axes);
NodeId build_slice(Graph *g, NodeId x, const Dim *const *start, const Dim *const *limit,
                   const int64_t *step);
/* The elements from..to-1 along one axis. */
NodeId build_range(Graph *g, NodeId x, uint32_t axis, const Dim *from, const Dim *to);
/* x[step] of a sequence, without axis 0. */
NodeId build_step(Graph *g, NodeId x, int64_t step);
NodeId build_pad(Graph *g, NodeId x, NodeId value, const Dim *const *lo, const Dim *const *hi);
NodeId build_item(Graph *g, NodeId tuple, uint32_t index);
/* Scalars and filled tensors: the number is rounded to dtype; `like` gives the dims. */
NodeId build_scalar(Graph *g, DType dtype, double value);
NodeId build_scalar_int(Graph *g, DType dtype, int64_t value);
NodeId build_fill(Graph *g, const Type *like, double value);
NodeId build_const(Graph *g, const Type *type, const void *bytes, size_t size);
NodeId build_iota(Graph *g, const Type *type, uint32_t axis);
/* Any op by name of its row. */
NodeId build_op(Graph *g, Op op, const NodeId *args, uint32_t arg_count, const Attr *attrs);

#endif
