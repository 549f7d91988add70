/* Running statements at compile time. */
#include "frontend/dsl/sema.h"

/* Results are spread over the targets: one each, or one expression with as many results. */
static ValueList spread(Sema *s, const Ast *ast) {
    Value *values = NEW_ARRAY(s->arena, Value, ast->more.count);
    ValueList list = {0, 1, values};
    for (const Ast *expr = ast->more.first; expr; expr = expr->next) {
        values[list.count++] = dsl_eval(s, expr);
    }
    return list.count == 1 && values[0].kind == VALUE_tuple ? values[0].list : list;
}

static void assign(Sema *s, const Ast *target, Value value) {
    if (target->kind == AST_name) {
        dsl_scope_set(s, target->text, value);
        Frame *frame = s->frame;
        if (frame->assigned.arena)
            map_set(&frame->assigned, target->text, (void *)(uintptr_t)target);
        return;
    }
    sema_error(s, target->loc, MSG_NOT_LOWERED, "assigning to a part of a tensor");
}

static void exec_assign(Sema *s, const Ast *ast) {
    ValueList values = spread(s, ast);
    bool failed = values.count == 1 && values.items[0].kind == VALUE_error;
    if (values.count != ast->list.count && !failed) {
        sema_error(s, ast->loc, MSG_TARGET_COUNT, values.count, ast->list.count);
        failed = true;
    }
    uint32_t i = 0;
    for (const Ast *target = ast->list.first; target; target = target->next) {
        assign(s, target, failed ? dsl_value_error() : values.items[i++]);
    }
}

static void exec_return(Sema *s, const Ast *ast) {
    Frame *frame = s->frame;
    if (frame->function->kind != AST_function) {
        sema_error(s, ast->loc, MSG_RETURN_IN_MODEL);
        return;
    }
    Value *items = NEW_ARRAY(s->arena, Value, ast->list.count);
    uint32_t count = 0;
    for (const Ast *at = ast->list.first; at; at = at->next) items[count++] = dsl_eval(s, at);
    frame->result = count == 1 ? items[0] : dsl_list_value(s, ast->loc, count, items);
    if (count > 1 && frame->result.kind == VALUE_list) frame->result.kind = VALUE_tuple;
    frame->returned = true;
}

static void exec_for(Sema *s, const Ast *ast) {
    int64_t first, limit;
    if (!dsl_eval_int(s, ast->a, "a bound of a loop", &first)) return;
    if (!dsl_eval_int(s, ast->b, "a bound of a loop", &limit)) return;
    if (limit > first && (uint64_t)limit - (uint64_t)first > DSL_MAX_TRIPS) {
        sema_error(s, ast->loc, MSG_TOO_MANY_TRIPS, DSL_MAX_TRIPS);
        return;
    }
    for (int64_t i = first; i < limit && !s->stopped && !s->frame->returned; i++) {
        dsl_scope_set(s, ast->text, dsl_value_int(i));
        dsl_exec_block(s, ast->c);
    }
}

/* Names that a block assigns become errors, so that what was refused is said once. */
static void poison(Sema *s, const Ast *block) {
    for (const Ast *at = block ? block->list.first : NULL; at; at = at->next) {
        if (at->kind != AST_assign) continue;
        for (const Ast *target = at->list.first; target; target = target->next) {
            if (target->kind == AST_name) dsl_scope_set(s, target->text, dsl_value_error());
        }
    }
}

static void exec_if(Sema *s, const Ast *ast) {
    for (; ast && ast->kind == AST_if; ast = ast->c) {
        int holds = dsl_eval_condition(s, ast->a);
        if (holds > 0) {
            dsl_exec_block(s, ast->b);
            return;
        }
        if (holds < 0) {
            poison(s, ast->b);
            poison(s, ast->c);
            return;
        }
    }
    if (ast) dsl_exec_block(s, ast);
}

static void refuse(Sema *s, const Ast *ast, const char *what) {
    sema_error(s, ast->loc, MSG_NOT_LOWERED, what);
    poison(s, ast->c);
}

/* ---- assert ---------------------------------------------------------------------------------- */

/* Dims are interned: the pair, in either order, is the key of what was asserted to be equal. */
static Str pair_key(const Dim *pair[2], const Dim *a, const Dim *b) {
    bool turn = (uintptr_t)a > (uintptr_t)b;
    pair[0] = turn ? b : a;
    pair[1] = turn ? a : b;
    return (Str){(const char *)pair, 2 * sizeof *pair};
}

bool dsl_is_asserted(const Sema *s, const Dim *a, const Dim *b) {
    const Dim *pair[2];
    return map_get(&s->asserted, pair_key(pair, a, b)) != NULL;
}

/* An undecided comparison of dims, checked when the model is entered. */
static void assert_relation(Sema *s, const Ast *ast, const Value *value) {
    const Dim *a = value->relation.a, *b = value->relation.b;
    AstOp op = value->relation.op;
    if (op == AST_ne) {
        sema_error(s, ast_start(ast), MSG_ASSERT_NE);
        return;
    }
    if (op == AST_gt || op == AST_ge) {
        const Dim *swap = a;
        a = b;
        b = swap;
    }
    if (op == AST_lt || op == AST_gt) a = dim_offset(s->ctx, a, 1);
    const Dim *pair[2];
    if (op == AST_eq) map_set(&s->asserted, pair_key(pair, a, b), s);
    graph_add_check(s->graph, op == AST_eq ? CHECK_equal : CHECK_at_most, a, b,
                    dsl_emit_origin(s, ast->loc));
}

static void report_failed(Sema *s, Loc loc, const Ast *text) {
    Str said;
    if (!text)
        sema_error(s, loc, MSG_ASSERT_FAILED);
    else if (dsl_eval_interpolated(s, text->loc, text->text, &said))
        sema_error(s, loc, MSG_ASSERT_TEXT, STR_ARG(said));
}

static void exec_assert(Sema *s, const Ast *ast, const Ast *text) {
    while (ast->kind == AST_binary && ast->op == AST_and) {
        exec_assert(s, ast->a, text);
        ast = ast->b;
    }
    Value value = dsl_eval(s, ast);
    Loc loc = ast_start(ast);
    switch (value.kind) {
    case VALUE_error: return;
    case VALUE_relation: assert_relation(s, ast, &value); return;
    case VALUE_bool:
        if (!value.flag) report_failed(s, loc, text);
        return;
    default: sema_error(s, loc, MSG_ASSERT_KIND, sema_value_text(s, &value));
    }
}

/* ---- the choice ------------------------------------------------------------------------------ */

static void exec(Sema *s, const Ast *ast) {
    switch (ast->kind) {
    case AST_assign: exec_assign(s, ast); break;
    case AST_param: dsl_exec_param(s, ast); break;
    case AST_return: exec_return(s, ast); break;
    case AST_for: exec_for(s, ast); break;
    case AST_if: exec_if(s, ast); break;
    case AST_assert: exec_assert(s, ast->a, ast->b); break;
    case AST_while: refuse(s, ast, "a 'while'"); break;
    case AST_scan: refuse(s, ast, "a 'scan'"); break;
    case AST_state:
        sema_error(s, ast->loc, MSG_NOT_LOWERED, "'state'");
        dsl_scope_set(s, ast->text, dsl_value_error());
        break;
    case AST_minimize: sema_error(s, ast->loc, MSG_MINIMIZE); break;
    default: break;
    }
}

void dsl_exec_block(Sema *s, const Ast *block) {
    if (s->depth >= DSL_MAX_DEPTH) {
        sema_limit(s, block->loc, MSG_TOO_DEEP_CALLS, DSL_MAX_DEPTH);
        return;
    }
    s->depth++;
    for (const Ast *at = block->list.first; at && !s->stopped && !s->frame->returned;
         at = at->next) {
        exec(s, at);
    }
    s->depth--;
}
