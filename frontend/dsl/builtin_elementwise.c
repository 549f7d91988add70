/* Built-ins that work element by element. */
#include "frontend/dsl/builtin.h"

#include <math.h>

/* ---- at compile time ------------------------------------------------------------------------- */

/* The functions that a number known at compile time goes through without becoming a tensor. */
static double (*static_function(Op op))(double) {
    switch (op) {
    case OP_abs: return fabs;
    case OP_floor: return floor;
    case OP_ceil: return ceil;
    case OP_trunc: return trunc;
    case OP_round: return nearbyint;
    case OP_sqrt: return sqrt;
    case OP_exp: return exp;
    case OP_exp2: return exp2;
    case OP_expm1: return expm1;
    case OP_log: return log;
    case OP_log2: return log2;
    case OP_log1p: return log1p;
    case OP_sin: return sin;
    case OP_cos: return cos;
    case OP_tan: return tan;
    case OP_atan: return atan;
    case OP_tanh: return tanh;
    case OP_erf: return erf;
    case OP_erfc: return erfc;
    default: return NULL;
    }
}

static bool static_unary(const BuiltinCall *call, Value *out) {
    const Value *x = &call->args[0]->value;
    double (*function)(double) = static_function(call->op);
    if (!dsl_value_is_number(x) || !function) return false;
    if (x->kind == VALUE_int && call->op == OP_abs) {
        if (x->integer == INT64_MIN) return false;
        *out = dsl_value_int(x->integer < 0 ? -x->integer : x->integer);
        return true;
    }
    *out = dsl_value_float(function(x->kind == VALUE_int ? (double)x->integer : x->number));
    return true;
}

Value builtin_unary(const BuiltinCall *call) {
    Value result;
    if (static_unary(call, &result)) return result;
    NodeId x = builtin_arg_tensor(call, 0);
    return dsl_value_node(dsl_emit(call->s, call->loc, call->op, &x, 1, NULL));
}

/* ---- on tensors ------------------------------------------------------------------------------ */

static Value apply(const BuiltinCall *call, uint32_t count) {
    Value values[3];
    Loc places[3];
    NodeId nodes[3];
    for (uint32_t i = 0; i < count; i++) {
        values[i] = call->args[i]->value;
        places[i] = call->args[i]->loc;
    }
    if (!dsl_operands_unify(call->s, call->loc, values, places, count, nodes))
        return dsl_value_error();
    return dsl_value_node(dsl_emit(call->s, call->loc, call->op, nodes, count, NULL));
}

Value builtin_binary(const BuiltinCall *call) { return apply(call, 2); }

/* Of numbers and dims known at compile time, the result is one too. */
Value builtin_extremum(const BuiltinCall *call) {
    const Value *x = &call->args[0]->value, *y = &call->args[1]->value;
    bool greater = call->op == OP_max;
    const Dim *a = dsl_value_as_dim(call->s->ctx, x), *b = dsl_value_as_dim(call->s->ctx, y);
    if (a && b)
        return dsl_value_dim(greater ? dim_max(call->s->ctx, a, b) : dim_min(call->s->ctx, a, b));
    if (!dsl_value_is_number(x) || !dsl_value_is_number(y)) return apply(call, 2);
    double p = x->kind == VALUE_int ? (double)x->integer : x->number;
    double q = y->kind == VALUE_int ? (double)y->integer : y->number;
    if (isnan(p) || isnan(q)) return dsl_value_float((double)NAN);
    return (p > q) == greater ? *x : *y;
}

Value builtin_select(const BuiltinCall *call) {
    Sema *s = call->s;
    Value sides[2] = {call->args[1]->value, call->args[2]->value};
    Loc places[3] = {call->args[0]->loc, call->args[1]->loc, call->args[2]->loc};
    NodeId nodes[3] = {dsl_operand_tensor(s, places[0], &call->args[0]->value, DT_bool)};
    if (nodes[0] == NODE_none) return dsl_value_error();
    if (!dsl_operands_unify(s, call->loc, sides, places + 1, 2, nodes + 1))
        return dsl_value_error();
    if (!dsl_operands_broadcast(s, call->loc, nodes, places, 3)) return dsl_value_error();
    return dsl_value_node(dsl_emit(s, call->loc, OP_select, nodes, 3, NULL));
}

Value builtin_cast(const BuiltinCall *call) {
    DType to;
    return builtin_arg_dtype(call, 1, DT_f32, &to) ? dsl_cast_value(call->s, call->args[0], to)
                                                   : dsl_value_error();
}

Value builtin_wide(const BuiltinCall *call) {
    DType dtype;
    return builtin_arg_dtype(call, 0, DT_f32, &dtype) ? dsl_value_dtype(dtype_compute(dtype))
                                                      : dsl_value_error();
}
