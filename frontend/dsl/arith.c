/* Operators: at compile time where both sides are known, on tensors otherwise. */
#include "frontend/dsl/sema.h"

static Op op_of(AstOp op) {
    static const Op ops[] = {[AST_add] = OP_add,
                             [AST_sub] = OP_sub,
                             [AST_mul] = OP_mul,
                             [AST_div] = OP_div,
                             [AST_floordiv] = OP_floordiv,
                             [AST_mod] = OP_mod,
                             [AST_pow] = OP_pow,
                             [AST_eq] = OP_eq,
                             [AST_ne] = OP_ne,
                             [AST_lt] = OP_lt,
                             [AST_le] = OP_le,
                             [AST_gt] = OP_gt,
                             [AST_ge] = OP_ge,
                             [AST_and] = OP_and,
                             [AST_or] = OP_or,
                             [AST_not] = OP_not,
                             [AST_neg] = OP_neg};
    return ops[op];
}

/* A dim stays one as long as it meets numbers and dims alone. */
static bool is_static(const Value *value) {
    return value->kind != VALUE_tensor && value->kind != VALUE_relation;
}

static bool is_none(const Value *value) { return value->kind == VALUE_none; }

/* Comparing with None asks whether an optional argument was given: decided whatever the other is.
 */
static bool asks_for_none(AstOp op, const Value *a, const Value *b) {
    return (op == AST_eq || op == AST_ne) && (is_none(a) || is_none(b));
}

static bool meets_float(const Value *a, const Value *b) {
    return (a->kind == VALUE_dim && b->kind == VALUE_float) ||
           (b->kind == VALUE_dim && a->kind == VALUE_float);
}

static bool require_bools(Sema *s, const Ast *ast, const NodeId *nodes, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        DType dtype = sema_type(s, nodes[i])->dtype;
        if (dtype == DT_bool) continue;
        sema_error(s, ast->loc, MSG_NEEDS_BOOL, ast_op_name(ast->op), dtype_name(dtype));
        return false;
    }
    return true;
}

static bool is_logical(AstOp op) { return op == AST_and || op == AST_or || op == AST_not; }

Value dsl_arith_binary(Sema *s, const Ast *ast, const Value *a, const Value *b) {
    if (a->kind == VALUE_error || b->kind == VALUE_error) return dsl_value_error();
    Value values[2] = {*a, *b};
    Loc places[2] = {ast_start(ast->a), ast_start(ast->b)};
    if (ast->op == AST_matmul) return dsl_matmul(s, ast->loc, values, places, DT_count);
    bool decided = is_static(a) && is_static(b) && !is_logical(ast->op) && !meets_float(a, b);
    if (decided) return dsl_static_binary(s, ast, a, b);
    if (asks_for_none(ast->op, a, b)) return dsl_value_bool(ast->op == AST_ne);
    NodeId nodes[2];
    if (!dsl_operands_unify(s, ast->loc, values, places, 2, nodes)) return dsl_value_error();
    if (is_logical(ast->op) && !require_bools(s, ast, nodes, 2)) return dsl_value_error();
    return dsl_value_node(dsl_emit(s, ast->loc, op_of(ast->op), nodes, 2, NULL));
}

static Value negate_static(Sema *s, const Ast *ast, const Value *a) {
    if (a->kind == VALUE_float) return dsl_value_float(-a->number);
    if (a->kind == VALUE_dim) return dsl_value_dim(dim_scale(s->ctx, a->dim, -1));
    if (a->integer != INT64_MIN) return dsl_value_int(-a->integer);
    sema_error(s, ast->loc, MSG_INT_OVERFLOW);
    return dsl_value_error();
}

Value dsl_arith_unary(Sema *s, const Ast *ast, const Value *a) {
    if (a->kind == VALUE_error) return *a;
    if (ast->op == AST_neg && (dsl_value_is_number(a) || a->kind == VALUE_dim)) {
        return negate_static(s, ast, a);
    }
    if (ast->op == AST_not && a->kind == VALUE_bool) return dsl_value_bool(!a->flag);
    if (!dsl_value_is_runtime(a)) {
        sema_error(s, ast->loc, MSG_OPERATOR_UNARY, ast_op_name(ast->op), sema_value_text(s, a));
        return dsl_value_error();
    }
    NodeId node = dsl_operand_tensor(s, ast_start(ast->a), a, DT_count);
    if (node == NODE_none) return dsl_value_error();
    if (ast->op == AST_not && !require_bools(s, ast, &node, 1)) return dsl_value_error();
    return dsl_value_node(dsl_emit(s, ast->loc, op_of(ast->op), &node, 1, NULL));
}

/* select(c, a, b): the sides share a dtype, all three a shape. */
Value dsl_arith_choice(Sema *s, const Ast *ast, const Value *c, const Value *a, const Value *b) {
    Value sides[2] = {*a, *b};
    Loc places[3] = {ast_start(ast->b), ast_start(ast->a), ast_start(ast->c)};
    NodeId nodes[3] = {dsl_operand_tensor(s, places[0], c, DT_bool)};
    if (nodes[0] == NODE_none) return dsl_value_error();
    if (!dsl_operands_unify(s, ast->loc, sides, places + 1, 2, nodes + 1)) return dsl_value_error();
    if (!dsl_operands_broadcast(s, ast->loc, nodes, places, 3)) return dsl_value_error();
    return dsl_value_node(dsl_emit(s, ast->loc, OP_select, nodes, 3, NULL));
}
