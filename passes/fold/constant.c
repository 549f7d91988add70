/* Constants: their values, and folding nodes of constants.
 *
 * iota and broadcasts of constants are known too, but are left as they are: kernels make their
 * elements on the fly. A node of known operands is evaluated while its result is small (64 Ki
 * elements) or no larger than what it is made of, so that weights are transformed at compile time
 * and nothing is inflated. */
#include "base/messages.h"
#include "ir/build.h"
#include "ir/infer.h"
#include "passes/fold/fold.h"

#include <math.h>
#include <string.h>

enum { MAX_ELEMENTS = 64 << 10 };
static const int64_t max_products = (int64_t)1
                                    << 28; /* multiplications of one folded contraction */

bool fold_is_constant(const Fold *f, NodeId id) {
    const Node *node = fold_node(f, id);
    switch (node->op) {
    case OP_const: return true;
    case OP_param: return node_attr(node, "value").blob != NULL;
    case OP_iota: return true;
    case OP_broadcast: return fold_is_constant(f, node->args[0]);
    default: return false;
    }
}

static void static_dims(const Type *type, Tensor *out) {
    *out = (Tensor){.dtype = type->dtype, .rank = type->rank};
    for (uint32_t i = 0; i < type->rank; i++) dim_is_const(type->dims[i], &out->dims[i]);
}

/* The value of a node from those of its operands. */
static bool evaluate(const Fold *f, NodeId id, const EvalValue *args, Tensor *out,
                     EvalError *out_error) {
    EvalValue result;
    const char *message;
    *out_error = (EvalError){.failed = false};
    if (!eval_node(f->g, id, args, &(EvalOptions){.bounds = false}, f->ctx->scratch, &result,
                   out_error, &message)) {
        return false;
    }
    *out = result.tensor;
    return true;
}

bool fold_value(const Fold *f, NodeId id, int64_t limit, Tensor *out_value) {
    const Node *node = fold_node(f, id);
    int64_t count;
    if (!fold_is_constant(f, id) || !type_is_static(node->type, &count) || count > limit) {
        return false;
    }
    if (node->op == OP_const || node->op == OP_param) {
        static_dims(node->type, out_value);
        out_value->data = (void *)node_attr(node, "value").blob->bytes;
        return true;
    }
    EvalValue arg = {.bound = NULL};
    EvalError error;
    if (node->arg_count && !fold_value(f, node->args[0], limit, &arg.tensor)) return false;
    return evaluate(f, id, &arg, out_value, &error);
}

/* ---- one number everywhere ------------------------------------------------------------------- */

/* Whether all elements have the same bits; packed ones are not looked at. */
static bool is_uniform(const Tensor *value) {
    size_t size = dtype_info(value->dtype)->bits / 8;
    int64_t count = tensor_elements(value);
    if (!size || count < 1) return false;
    size_t rest = (size_t)(count - 1) * size;
    return !memcmp(value->data, (const char *)value->data + size, rest);
}

static NodeId scalar_of(Fold *f, const Tensor *value) {
    const Type *type = type_scalar(f->g->ctx, value->dtype);
    return build_const(f->g, type, value->data, dtype_info(value->dtype)->bits / 8);
}

static NodeId splat(Fold *f, const Type *type, NodeId scalar) {
    if (!type->rank) return scalar;
    return build_broadcast(f->g, scalar, type->dims, type->rank, NULL);
}

NodeId fold_constant(Fold *f, const Type *type, const Tensor *value) {
    if (type->rank && is_uniform(value)) return splat(f, type, scalar_of(f, value));
    return build_const(f->g, type, value->data, tensor_bytes(value));
}

bool fold_splat(const Fold *f, NodeId id, Tensor *out_scalar) {
    const Node *node = fold_node(f, id);
    while (node->op == OP_broadcast) node = fold_node(f, node->args[0]);
    int64_t count;
    bool scalar = node->op == OP_const && type_is_static(node->type, &count) && count == 1;
    if (!scalar) return false;
    static_dims(node->type, out_scalar);
    out_scalar->data = (void *)node_attr(node, "value").blob->bytes;
    return true;
}

bool fold_is_number(const Fold *f, NodeId id, double number) {
    Tensor scalar;
    if (!fold_splat(f, id, &scalar)) return false;
    double value = tensor_get(&scalar, 0);
    return value == number && !signbit(value) == !signbit(number);
}

/* [c, c, …] = broadcast(c): kernels then need not load it. */
NodeId fold_const_splat(Fold *f, NodeId id) {
    const Type *type = fold_node(f, id)->type;
    Tensor value;
    if (!type->rank || !fold_value(f, id, INT64_MAX, &value) || !is_uniform(&value)) {
        return NODE_none;
    }
    return splat(f, type, scalar_of(f, &value));
}

/* The same for parameters, of one element too. */
NodeId fold_param_splat(Fold *f, NodeId id) {
    Tensor value;
    if (!fold_value(f, id, INT64_MAX, &value) || !is_uniform(&value)) return NODE_none;
    return splat(f, fold_node(f, id)->type, scalar_of(f, &value));
}

/* ---- nodes of constants ---------------------------------------------------------------------- */

/* Elements of the tensors in memory that the operands are made of. */
static int64_t stored_elements(const Fold *f, const Node *node) {
    int64_t total = 0, count;
    for (uint32_t i = 0; i < node->arg_count; i++) {
        const Node *arg = fold_node(f, node->args[i]);
        while (arg->op == OP_broadcast) arg = fold_node(f, arg->args[0]);
        bool stored = arg->op == OP_const || arg->op == OP_param;
        if (stored && type_is_static(arg->type, &count)) total += count;
    }
    return total;
}

/* Multiplications of a contraction or convolution: elements of the result times those summed. */
static bool is_too_long(const Fold *f, const Node *node, int64_t result_count) {
    OpClass class = op_info(node->op)->class;
    if (class != CLASS_CONTRACT && class != CLASS_CONV) return false;
    int64_t count, steps;
    if (!type_is_static(graph_type(f->g, node->args[1]), &count)) return true;
    return __builtin_mul_overflow(result_count, count, &steps) || steps > max_products;
}

/* Whether the node is to be evaluated; *out_most is what each operand may have of elements. */
static bool is_foldable(const Fold *f, NodeId id, int64_t *out_most) {
    const Node *node = fold_node(f, id);
    if (node->type->is_tuple || node->region_count || !node->arg_count) return false;
    if (node->op == OP_broadcast || node->op == OP_item) return false;
    for (uint32_t i = 0; i < node->arg_count; i++) {
        if (!fold_is_constant(f, node->args[i])) return false;
    }
    int64_t count, stored = stored_elements(f, node);
    *out_most = stored > MAX_ELEMENTS ? stored : MAX_ELEMENTS;
    return type_is_static(node->type, &count) && count <= *out_most && !is_too_long(f, node, count);
}

/* A constant index that is out of range is the user's error, where it is sure to be used. */
static NodeId report_index(Fold *f, NodeId id, const EvalError *error) {
    const Node *node = fold_node(f, id);
    if (f->top) {
        diag_error(f->ctx->diags, origin_loc(node->origin), MSG_CONST_INDEX,
                   (long long)error->index, (long long)error->bound);
        origin_notes(f->ctx->diags, node->origin);
    }
    return NODE_none;
}

static NodeId same_bytes(Fold *f, NodeId id, NodeId x) {
    Attr attrs[] = {node_attr(fold_node(f, x), "value")};
    return graph_add(f->g, OP_const, fold_node(f, id)->type, NULL, 0, attrs, NULL, 0, NULL);
}

NodeId fold_evaluate(Fold *f, NodeId id) {
    int64_t most;
    if (!is_foldable(f, id, &most)) return NODE_none;
    const Node *node = fold_node(f, id);
    bool stored = fold_is(f, node->args[0], OP_const) || fold_is(f, node->args[0], OP_param);
    if (node->op == OP_reshape && stored) return same_bytes(f, id, node->args[0]);
    EvalValue *args = NEW_ARRAY(f->ctx->scratch, EvalValue, node->arg_count);
    for (uint32_t i = 0; i < node->arg_count; i++) {
        if (!fold_value(f, node->args[i], most, &args[i].tensor)) return NODE_none;
    }
    Tensor value;
    EvalError error;
    if (!evaluate(f, id, args, &value, &error)) return NODE_none;
    if (error.failed) return report_index(f, id, &error);
    return fold_constant(f, node->type, &value);
}
