/* Built-ins that sum products or slide windows. */
#include "frontend/dsl/builtin.h"

/* ---- einsum ---------------------------------------------------------------------------------- */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

enum { MAX_LETTERS = 32 };

/* Reads letters into labels in order of their first use in `seen`; advances *text behind them. */
static const IntList *read_labels(IrContext *ctx, Str *text, char *seen, uint32_t *seen_count) {
    int64_t labels[MAX_LETTERS];
    uint32_t count = 0;
    while (text->size && is_letter(*text->data) && count < MAX_LETTERS) {
        uint32_t label = 0;
        while (label < *seen_count && seen[label] != *text->data) label++;
        if (label == *seen_count) {
            if (label == MAX_LETTERS) break;
            seen[(*seen_count)++] = *text->data;
        }
        labels[count++] = label;
        *text = (Str){text->data + 1, text->size - 1};
    }
    return ir_ints(ctx, labels, count);
}

static bool read_mark(Str *text, Str mark) {
    if (!str_starts_with(*text, mark)) return false;
    *text = (Str){text->data + mark.size, text->size - mark.size};
    return true;
}

static bool parse_labels(IrContext *ctx, Str text, Attr attrs[3]) {
    char seen[MAX_LETTERS];
    uint32_t count = 0;
    attrs[0].ints = read_labels(ctx, &text, seen, &count);
    if (!read_mark(&text, STR(","))) return false;
    attrs[1].ints = read_labels(ctx, &text, seen, &count);
    if (!read_mark(&text, STR("->"))) return false;
    attrs[2].ints = read_labels(ctx, &text, seen, &count);
    return text.size == 0;
}

DType dsl_sum_of_products_dtype(DType dtype) {
    bool narrow = dtype == DT_i8 || dtype == DT_u8 || dtype == DT_i4 || dtype == DT_u4;
    return narrow ? DT_i32 : dtype;
}

static bool same_dtypes(const BuiltinCall *call, NodeId a, NodeId b) {
    DType x = sema_type(call->s, a)->dtype, y = sema_type(call->s, b)->dtype;
    if (x == y) return true;
    sema_error(call->s, call->loc, MSG_DTYPES_DISAGREE, dtype_name(x), dtype_name(y));
    return false;
}

Value builtin_matmul(const BuiltinCall *call) {
    Value values[2] = {call->args[0]->value, call->args[1]->value};
    Loc places[2] = {call->args[0]->loc, call->args[1]->loc};
    DType sum;
    if (!builtin_arg_dtype(call, 2, DT_count, &sum)) return dsl_value_error();
    return dsl_matmul(call->s, call->loc, values, places, sum);
}

Value builtin_einsum(const BuiltinCall *call) {
    Sema *s = call->s;
    NodeId args[2] = {builtin_arg_tensor(call, 1), builtin_arg_tensor(call, 2)};
    Attr attrs[4];
    Str labels;
    if (args[0] == NODE_none || args[1] == NODE_none) return dsl_value_error();
    if (!same_dtypes(call, args[0], args[1]) || !builtin_arg_string(call, 0, &labels))
        return dsl_value_error();
    if (!parse_labels(s->ctx, labels, attrs)) {
        sema_error(s, call->args[0]->loc, MSG_EINSUM);
        return dsl_value_error();
    }
    DType dtype = dsl_sum_of_products_dtype(sema_type(s, args[0])->dtype);
    if (!builtin_arg_dtype(call, 3, dtype, &attrs[3].dtype)) return dsl_value_error();
    return dsl_value_node(dsl_emit(s, call->loc, OP_contract, args, 2, attrs));
}

/* ---- convolution ----------------------------------------------------------------------------- */

static bool ints_attr(const BuiltinCall *call, uint32_t at, uint32_t count, int64_t absent,
                      Attr *out) {
    int64_t items[TYPE_MAX_RANK];
    if (!builtin_arg_ints(call, at, count, absent, items)) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (items[i] > INT32_MAX || items[i] < -INT32_MAX) {
            sema_error(call->s, call->args[at]->loc, MSG_TOO_LARGE_NUMBER, (long long)items[i]);
            return false;
        }
    }
    out->ints = ir_ints(call->s->ctx, items, count);
    return true;
}

Value builtin_conv(const BuiltinCall *call) {
    Sema *s = call->s;
    NodeId args[2] = {builtin_arg_tensor(call, 0), builtin_arg_tensor(call, 1)};
    if (args[0] == NODE_none || args[1] == NODE_none) return dsl_value_error();
    if (!same_dtypes(call, args[0], args[1])) return dsl_value_error();
    const Type *type = sema_type(s, args[0]);
    uint32_t spatial = type->rank > 2 ? type->rank - 2 : 0;
    DType dtype = dsl_sum_of_products_dtype(type->dtype);
    Attr attrs[6];
    bool good =
        ints_attr(call, 2, spatial, 1, &attrs[0]) && ints_attr(call, 5, spatial, 1, &attrs[1]) &&
        ints_attr(call, 3, spatial, 0, &attrs[2]) && ints_attr(call, 4, spatial, 0, &attrs[3]) &&
        builtin_arg_int(call, 6, 1, &attrs[4].i) &&
        builtin_arg_dtype(call, 7, dtype, &attrs[5].dtype);
    return good ? dsl_value_node(dsl_emit(s, call->loc, OP_conv, args, 2, attrs))
                : dsl_value_error();
}

/* window, strides, dilations, lo, hi: one number an axis. */
Value builtin_window(const BuiltinCall *call) {
    NodeId x = builtin_arg_tensor(call, 0);
    if (x == NODE_none) return dsl_value_error();
    uint32_t rank = sema_type(call->s, x)->rank;
    Attr attrs[5];
    bool good = ints_attr(call, 1, rank, 1, &attrs[0]) && ints_attr(call, 2, rank, 1, &attrs[1]) &&
                ints_attr(call, 5, rank, 1, &attrs[2]) && ints_attr(call, 3, rank, 0, &attrs[3]) &&
                ints_attr(call, 4, rank, 0, &attrs[4]);
    return good ? dsl_value_node(dsl_emit(call->s, call->loc, call->op, &x, 1, attrs))
                : dsl_value_error();
}
