/* x.T, x.shape and x.dtype. */
#include "frontend/dsl/sema.h"

static Value transpose(Sema *s, const Ast *ast, NodeId x) {
    uint32_t rank = sema_type(s, x)->rank;
    int64_t perm[TYPE_MAX_RANK];
    if (rank < 2) {
        sema_error(s, ast->loc, MSG_RANK_LEAST, ".T", 2u, sema_type_text(s, x));
        return dsl_value_error();
    }
    for (uint32_t i = 0; i < rank; i++) perm[i] = i;
    perm[rank - 2] = rank - 1;
    perm[rank - 1] = rank - 2;
    return dsl_value_node(dsl_emit_permute(s, ast->loc, x, perm));
}

static Value shape(Sema *s, NodeId x) {
    const Type *type = sema_type(s, x);
    Value *items = NEW_ARRAY(s->arena, Value, type->rank);
    for (uint32_t i = 0; i < type->rank; i++) items[i] = dsl_value_dim(type->dims[i]);
    return (Value){.kind = VALUE_list, .list = {type->rank, 1, items}};
}

Value dsl_member_value(Sema *s, const Ast *ast, const Value *of) {
    NodeId x = dsl_operand_tensor_only(s, ast_start(ast->a), of, "a member");
    if (x == NODE_none) return dsl_value_error();
    if (str_equal(ast->text, STR("T"))) return transpose(s, ast, x);
    if (str_equal(ast->text, STR("shape"))) return shape(s, x);
    if (str_equal(ast->text, STR("dtype"))) return dsl_value_dtype(sema_type(s, x)->dtype);
    sema_error(s, ast->loc, MSG_UNKNOWN_MEMBER, STR_ARG(ast->text));
    return dsl_value_error();
}
