/* Arithmetic on what is known at compile time: whole numbers (exact, overflow is an error), floats
 * in double, truth values, strings, dtypes, None, and dims as expressions. */
#include "frontend/dsl/sema.h"

#include <math.h>

/* ---- whole numbers --------------------------------------------------------------------------- */

static int64_t floor_div(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* a^b for b >= 0; false on overflow. */
static bool int_power(int64_t a, int64_t b, int64_t *out) {
    int64_t result = 1;
    while (b) {
        if ((b & 1) && __builtin_mul_overflow(result, a, &result)) return false;
        b >>= 1;
        if (b && __builtin_mul_overflow(a, a, &a)) return false;
    }
    *out = result;
    return true;
}

/* False on overflow; the divisor is not 0, an exponent not negative. */
static bool int_operation(AstOp op, int64_t a, int64_t b, int64_t *out) {
    switch (op) {
    case AST_add: return !__builtin_add_overflow(a, b, out);
    case AST_sub: return !__builtin_sub_overflow(a, b, out);
    case AST_mul: return !__builtin_mul_overflow(a, b, out);
    case AST_pow: return int_power(a, b, out);
    default: break;
    }
    if (a == INT64_MIN && b == -1) return false;
    int64_t floored = floor_div(a, b);
    *out = op == AST_div ? a / b : op == AST_floordiv ? floored : a - floored * b;
    return true;
}

static bool divides(AstOp op) { return op == AST_div || op == AST_floordiv || op == AST_mod; }

/* 1 / 3 is 0: most often a float was meant. Told once a place, however often a loop comes by. */
static void warn_of_rest(Sema *s, Loc loc, int64_t a, int64_t b) {
    Loc user = sema_user_loc(s, loc);
    Str key = str_format(s->arena, "/%u:%u:%u", user.file, user.line, user.column);
    if (map_set(&s->reported, key, s)) return;
    diag_warning(s->diags, user, MSG_TRUNCATED, (long long)a, (long long)b, (long long)(a / b));
    diag_note(s->diags, user, MSG_NOTE_TRUNCATED, (long long)a, (long long)b);
}

static Value int_binary(Sema *s, const Ast *ast, int64_t a, int64_t b) {
    int64_t result;
    if (divides(ast->op) && b == 0) {
        sema_error(s, ast->loc, MSG_DIVISION_BY_ZERO);
        return dsl_value_error();
    }
    if (ast->op == AST_pow && b < 0) {
        sema_error(s, ast->loc, MSG_NEGATIVE_EXPONENT);
        return dsl_value_error();
    }
    if (!int_operation(ast->op, a, b, &result)) {
        sema_error(s, ast->loc, MSG_INT_OVERFLOW);
        return dsl_value_error();
    }
    if (ast->op == AST_div && b != -1 && a % b != 0) warn_of_rest(s, ast->loc, a, b);
    return dsl_value_int(result);
}

/* ---- floats ---------------------------------------------------------------------------------- */

static double as_double(const Value *value) {
    return value->kind == VALUE_int ? (double)value->integer : value->number;
}

static double float_mod(double a, double b) {
    double rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static double float_operation(AstOp op, double a, double b) {
    switch (op) {
    case AST_add: return a + b;
    case AST_sub: return a - b;
    case AST_mul: return a * b;
    case AST_div: return a / b;
    case AST_floordiv: return floor(a / b);
    case AST_mod: return float_mod(a, b);
    default: return pow(a, b);
    }
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static bool is_order(AstOp op) {
    return op == AST_lt || op == AST_le || op == AST_gt || op == AST_ge;
}

/* By the sign of a - b; unordered (NaN) is `different` and in no order. */
static bool holds(AstOp op, int sign) {
    switch (op) {
    case AST_eq: return sign == 0;
    case AST_ne: return sign != 0;
    case AST_lt: return sign < 0;
    case AST_le: return sign <= 0;
    case AST_gt: return sign > 0;
    default: return sign >= 0;
    }
}

static Value compare_numbers(AstOp op, const Value *a, const Value *b) {
    if (a->kind == VALUE_int && b->kind == VALUE_int) {
        return dsl_value_bool(holds(op, (a->integer > b->integer) - (a->integer < b->integer)));
    }
    double x = as_double(a), y = as_double(b);
    if (isnan(x) || isnan(y)) return dsl_value_bool(op == AST_ne);
    return dsl_value_bool(holds(op, (x > y) - (x < y)));
}

/* Equality of what has no order: strings, dtypes, truth values and None, each with its own kind;
 * None differs from all the rest. */
static bool equal_values(const Value *a, const Value *b) {
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case VALUE_string: return str_equal(a->text, b->text);
    case VALUE_dtype: return a->dtype == b->dtype;
    case VALUE_bool: return a->flag == b->flag;
    default: return true;
    }
}

Value dsl_static_compare_dims(Sema *s, AstOp op, const Dim *a, const Dim *b) {
    const Dim *difference = dim_sub(s->ctx, a, b);
    int64_t constant;
    if (!dim_is_overflow(difference)) {
        if (dim_is_const(difference, &constant)) {
            return dsl_value_bool(holds(op, (constant > 0) - (constant < 0)));
        }
        if (difference->lo > 0) return dsl_value_bool(holds(op, 1));
        if (difference->hi < 0) return dsl_value_bool(holds(op, -1));
        bool at_least = difference->lo == 0, at_most = difference->hi == 0;
        if (at_least && (op == AST_ge || op == AST_lt)) return dsl_value_bool(op == AST_ge);
        if (at_most && (op == AST_le || op == AST_gt)) return dsl_value_bool(op == AST_le);
    }
    return (Value){.kind = VALUE_relation, .relation = {op, a, b}};
}

/* ---- dims ------------------------------------------------------------------------------------ */

static Value dim_binary(Sema *s, const Ast *ast, const Dim *a, const Dim *b) {
    const Dim *result = NULL;
    switch (ast->op) {
    case AST_add: result = dim_add(s->ctx, a, b); break;
    case AST_sub: result = dim_sub(s->ctx, a, b); break;
    case AST_mul: result = dim_mul(s->ctx, a, b); break;
    case AST_div:
    case AST_floordiv:
        if (b->lo <= 0 || (ast->op == AST_div && a->lo < 0)) break;
        result = dim_floordiv(s->ctx, a, b);
        break;
    case AST_mod: result = b->lo > 0 ? dim_mod(s->ctx, a, b) : NULL; break;
    default: break;
    }
    if (result && !dim_is_overflow(result)) return dsl_value_dim(result);
    if (result)
        sema_error(s, ast->loc, MSG_DIM_TOO_LARGE);
    else
        sema_error(s, ast->loc, MSG_DIM_OPERATION, ast_op_name(ast->op));
    return dsl_value_error();
}

/* ---- the choice ------------------------------------------------------------------------------ */

static Value concat_lists(Sema *s, Loc loc, const ValueList *a, const ValueList *b) {
    Value *items = NEW_ARRAY(s->arena, Value, a->count + b->count);
    for (uint32_t i = 0; i < a->count; i++) items[i] = a->items[i];
    for (uint32_t i = 0; i < b->count; i++) items[a->count + i] = b->items[i];
    return dsl_list_value(s, loc, a->count + b->count, items);
}

static bool is_comparison(AstOp op) { return op == AST_eq || op == AST_ne || is_order(op); }

static bool has_dims(const Value *a, const Value *b) {
    return (a->kind == VALUE_dim || a->kind == VALUE_int) &&
           (b->kind == VALUE_dim || b->kind == VALUE_int);
}

Value dsl_static_binary(Sema *s, const Ast *ast, const Value *a, const Value *b) {
    AstOp op = ast->op;
    bool numbers = dsl_value_is_number(a) && dsl_value_is_number(b);
    if (is_comparison(op)) {
        if (numbers) return compare_numbers(op, a, b);
        if (has_dims(a, b)) {
            return dsl_static_compare_dims(s, op, dsl_value_as_dim(s->ctx, a),
                                           dsl_value_as_dim(s->ctx, b));
        }
        bool alike = a->kind == b->kind || a->kind == VALUE_none || b->kind == VALUE_none;
        bool listed = a->kind == VALUE_list && b->kind == VALUE_list;
        if (alike && !listed && !is_order(op))
            return dsl_value_bool(equal_values(a, b) == (op == AST_eq));
    } else if (op != AST_matmul) {
        if (a->kind == VALUE_int && b->kind == VALUE_int)
            return int_binary(s, ast, a->integer, b->integer);
        if (numbers) return dsl_value_float(float_operation(op, as_double(a), as_double(b)));
        if (has_dims(a, b)) {
            return dim_binary(s, ast, dsl_value_as_dim(s->ctx, a), dsl_value_as_dim(s->ctx, b));
        }
        bool lists = a->kind == VALUE_list && b->kind == VALUE_list;
        if (lists && op == AST_add) return concat_lists(s, ast->loc, &a->list, &b->list);
    }
    sema_error(s, ast->loc, MSG_OPERATOR, ast_op_name(op), sema_value_text(s, a),
               sema_value_text(s, b));
    return dsl_value_error();
}
