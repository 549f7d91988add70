/* Evaluating expressions. Each one takes a step and a level of depth, which are limited, so that no
 * file can exhaust time or stack. */
#include "frontend/dsl/sema.h"

/* Of lists and strings that are put together at compile time, so that no loop makes them explode.
 */
enum { LIST_MAX_COUNT = 1000000, LIST_MAX_DEPTH = 64, STRING_MAX_SIZE = 4096 };

Value dsl_list_value(Sema *s, Loc loc, uint32_t count, const Value *items) {
    uint32_t depth = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool nested = items[i].kind == VALUE_list || items[i].kind == VALUE_tuple;
        if (nested && items[i].list.depth > depth) depth = items[i].list.depth;
    }
    if (depth < LIST_MAX_DEPTH && count <= LIST_MAX_COUNT) {
        return (Value){.kind = VALUE_list, .list = {count, depth + 1, items}};
    }
    sema_error(s, loc, MSG_LIST_SIZE, LIST_MAX_COUNT, LIST_MAX_DEPTH);
    return dsl_value_error();
}

static Value eval_list(Sema *s, const Ast *ast) {
    Value *items = NEW_ARRAY(s->arena, Value, ast->list.count);
    uint32_t count = 0;
    bool good = true;
    for (const Ast *at = ast->list.first; at; at = at->next) {
        items[count] = dsl_eval(s, at);
        good &= items[count++].kind != VALUE_error;
    }
    return good ? dsl_list_value(s, ast->loc, count, items) : dsl_value_error();
}

static Value eval_string(Sema *s, const Ast *ast) {
    Str text;
    return dsl_eval_interpolated(s, ast->loc, ast->text, &text) ? dsl_value_string(text)
                                                                : dsl_value_error();
}

/* `and` and `or` look at their second side only if the first, known at compile time, leaves it
 * open. */
static Value eval_logical(Sema *s, const Ast *ast) {
    Value a = dsl_eval(s, ast->a);
    if (a.kind == VALUE_error) return a;
    if (a.kind == VALUE_bool) {
        if (a.flag == (ast->op == AST_or)) return a;
        Value b = dsl_eval(s, ast->b);
        bool good = b.kind == VALUE_error || b.kind == VALUE_bool || dsl_value_is_runtime(&b);
        if (good && b.kind != VALUE_tensor) return b;
        if (good && sema_type(s, b.node)->dtype == DT_bool) return b;
        return dsl_arith_binary(s, ast, &a, &b);
    }
    Value b = dsl_eval(s, ast->b);
    return dsl_arith_binary(s, ast, &a, &b);
}

static Value eval_binary(Sema *s, const Ast *ast) {
    if (ast->op == AST_and || ast->op == AST_or) return eval_logical(s, ast);
    Value a = dsl_eval(s, ast->a), b = dsl_eval(s, ast->b);
    return dsl_arith_binary(s, ast, &a, &b);
}

static Value eval_unary(Sema *s, const Ast *ast) {
    Value a = dsl_eval(s, ast->a);
    return dsl_arith_unary(s, ast, &a);
}

/* Only the side that a static condition takes is looked at. */
static Value eval_choice(Sema *s, const Ast *ast) {
    Value c = dsl_eval(s, ast->b);
    if (c.kind == VALUE_error) return c;
    if (c.kind == VALUE_bool) return dsl_eval(s, c.flag ? ast->a : ast->c);
    Value a = dsl_eval(s, ast->a), b = dsl_eval(s, ast->c);
    if (a.kind == VALUE_error || b.kind == VALUE_error) return dsl_value_error();
    return dsl_arith_choice(s, ast, &c, &a, &b);
}

static Value eval_kind(Sema *s, const Ast *ast) {
    Value of;
    switch (ast->kind) {
    case AST_name: return dsl_scope_lookup(s, ast);
    case AST_int: return dsl_value_int(ast->value.integer);
    case AST_float: return dsl_value_float(ast->value.number);
    case AST_string: return eval_string(s, ast);
    case AST_none: return dsl_value_none();
    case AST_bool: return dsl_value_bool(ast->flag);
    case AST_dtype: return dsl_value_dtype(ast->value.dtype);
    case AST_value: return *ast->value.given;
    case AST_list: return eval_list(s, ast);
    case AST_unary: return eval_unary(s, ast);
    case AST_binary: return eval_binary(s, ast);
    case AST_choice: return eval_choice(s, ast);
    case AST_call: return dsl_eval_call(s, ast);
    case AST_member: of = dsl_eval(s, ast->a); break;
    case AST_index: of = dsl_eval(s, ast->a); break;
    default: return dsl_value_error();
    }
    if (of.kind == VALUE_error) return of;
    return ast->kind == AST_member ? dsl_member_value(s, ast, &of) : dsl_index_value(s, ast, &of);
}

Value dsl_eval(Sema *s, const Ast *ast) {
    if (s->stopped) return dsl_value_error();
    if (++s->steps > DSL_MAX_STEPS)
        return sema_limit(s, ast->loc, MSG_TOO_MANY_STEPS, DSL_MAX_STEPS);
    if (s->depth >= DSL_MAX_DEPTH)
        return sema_limit(s, ast->loc, MSG_TOO_DEEP_CALLS, DSL_MAX_DEPTH);
    s->depth++;
    Value value = eval_kind(s, ast);
    s->depth--;
    return value;
}

bool dsl_eval_int(Sema *s, const Ast *ast, const char *what, int64_t *out_value) {
    Value value = dsl_eval(s, ast);
    if (value.kind == VALUE_error) return false;
    *out_value = value.integer;
    if (value.kind == VALUE_int) return true;
    sema_error(s, ast_start(ast), MSG_NEEDS_INT, what, sema_value_text(s, &value));
    return false;
}

int dsl_eval_condition(Sema *s, const Ast *ast) {
    Value value = dsl_eval(s, ast);
    switch (value.kind) {
    case VALUE_error: return -1;
    case VALUE_bool: return value.flag;
    case VALUE_relation:
    case VALUE_tensor: sema_error(s, ast_start(ast), MSG_RUNTIME_CONDITION); return -1;
    default: sema_error(s, ast_start(ast), MSG_CONDITION, sema_value_text(s, &value)); return -1;
    }
}

/* ---- strings --------------------------------------------------------------------------------- */

static bool put_interpolated(Sema *s, Loc loc, Buf *buf, Str name) {
    Ast ast = {.kind = AST_name, .loc = loc, .text = name};
    Value value = dsl_scope_lookup(s, &ast);
    switch (value.kind) {
    case VALUE_error: return false;
    case VALUE_int: buf_print(buf, "%lld", (long long)value.integer); return true;
    case VALUE_string: buf_put(buf, value.text); return true;
    default:
        sema_error(s, loc, MSG_INTERPOLATION, STR_ARG(name), sema_value_text(s, &value));
        return false;
    }
}

static size_t find_char(Str text, size_t from, char c) {
    while (from < text.size && text.data[from] != c) from++;
    return from;
}

/* The place of byte `at` of a string whose opening quote is at `loc`. */
static Loc inside(Loc loc, size_t at, size_t width) {
    return (Loc){loc.file, loc.line, loc.column + 1 + (uint32_t)at, (uint32_t)width};
}

bool dsl_eval_interpolated(Sema *s, Loc loc, Str text, Str *out_text) {
    Buf buf = {.arena = s->arena};
    buf_put(&buf, STR(""));
    for (size_t at = 0; at < text.size;) {
        size_t open = find_char(text, at, '{');
        buf_put(&buf, (Str){text.data + at, open - at});
        if (open == text.size) break;
        size_t close = find_char(text, open, '}');
        if (close == text.size) {
            sema_error(s, inside(loc, open, 1), MSG_INTERPOLATION_OPEN);
            return false;
        }
        Str name = {text.data + open + 1, close - open - 1};
        if (!put_interpolated(s, inside(loc, open + 1, name.size), &buf, name)) return false;
        at = close + 1;
        if (buf.size > STRING_MAX_SIZE) {
            sema_error(s, loc, MSG_STRING_SIZE, STRING_MAX_SIZE);
            return false;
        }
    }
    *out_text = buf_str(&buf);
    return true;
}
