/* Finding built-ins, binding their arguments, and reading those as rules need them. */
#include "frontend/dsl/builtin.h"

#include <string.h>

static const Builtin rows[] = {
#define BUILTIN(name, parameters, rule, op, meaning)                                               \
    {{#name, sizeof #name - 1}, parameters, builtin_##rule, op, meaning},
#include "frontend/dsl/builtins.def"
#undef BUILTIN
};

size_t builtin_count(void) { return sizeof rows / sizeof *rows; }

const Builtin *builtin_at(size_t index) { return &rows[index]; }

const Builtin *builtin_find(Str name) {
    for (size_t i = 0; i < builtin_count(); i++) {
        if (str_equal(rows[i].name, name)) return &rows[i];
    }
    return NULL;
}

/* ---- binding --------------------------------------------------------------------------------- */

/* The next name of a row's parameters, and whether it is optional; false at the end. */
static bool next_parameter(const char **at, Str *out_name, bool *out_optional) {
    *at += strspn(*at, " ");
    size_t size = strcspn(*at, " ");
    if (!size) return false;
    *out_optional = (*at)[size - 1] == '?';
    *out_name = (Str){*at, size - *out_optional};
    *at += size;
    return true;
}

/* None stands for an argument that is not given, where one need not be. */
static bool bind(BuiltinCall *call, Arguments *arguments, uint32_t position, Str name,
                 bool optional) {
    bool good = true;
    const Argument *given = dsl_arguments_find(call->s, arguments, position, name, &good);
    if (!good) return false;
    if (given && optional && given->value.kind == VALUE_none) given = NULL;
    call->args[position] = given;
    if (given || optional) return true;
    sema_error(call->s, call->loc, MSG_MISSING_ARGUMENT, STR_ARG(call->row->name), STR_ARG(name));
    return false;
}

Value builtin_call(Sema *s, const Builtin *builtin, Arguments *arguments) {
    BuiltinCall call = {.s = s, .row = builtin, .loc = arguments->call->loc, .op = builtin->op};
    const char *at = builtin->parameters;
    uint32_t position = 0;
    Str name;
    bool optional, good = true;
    while (next_parameter(&at, &name, &optional)) {
        good &= bind(&call, arguments, position++, name, optional);
    }
    good &= dsl_arguments_all_taken(s, arguments, builtin->name, position);
    return good ? builtin->rule(&call) : dsl_value_error();
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The name of parameter `at`, for messages. */
static const char *name_of(const BuiltinCall *call, uint32_t at) {
    const char *text = call->row->parameters;
    Str name = {0};
    bool optional;
    for (uint32_t i = 0; i <= at; i++) next_parameter(&text, &name, &optional);
    return str_terminated(call->s->arena, name);
}

static bool refuse(const BuiltinCall *call, uint32_t at, const char *wanted) {
    const Argument *arg = call->args[at];
    sema_error(call->s, arg->loc, MSG_ARGUMENT_KIND, name_of(call, at), STR_ARG(call->row->name),
               wanted, sema_value_text(call->s, &arg->value));
    return false;
}

NodeId builtin_arg_tensor(const BuiltinCall *call, uint32_t at) {
    const Argument *arg = call->args[at];
    switch (arg->value.kind) {
    case VALUE_none:
    case VALUE_string:
    case VALUE_dtype:
    case VALUE_list:
    case VALUE_tuple: refuse(call, at, "a tensor"); return NODE_none;
    default: return dsl_operand_tensor(call->s, arg->loc, &arg->value, DT_count);
    }
}

bool builtin_arg_int(const BuiltinCall *call, uint32_t at, int64_t absent, int64_t *out) {
    const Argument *arg = call->args[at];
    *out = arg ? arg->value.integer : absent;
    return !arg || arg->value.kind == VALUE_int || refuse(call, at, "a whole number");
}

bool builtin_arg_flag(const BuiltinCall *call, uint32_t at, bool absent, int64_t *out) {
    const Argument *arg = call->args[at];
    bool given = arg && arg->value.kind == VALUE_bool;
    *out = given ? arg->value.flag : absent;
    return !arg || given || refuse(call, at, "true or false");
}

bool builtin_arg_dtype(const BuiltinCall *call, uint32_t at, DType absent, DType *out) {
    const Argument *arg = call->args[at];
    *out = arg ? arg->value.dtype : absent;
    return !arg || arg->value.kind == VALUE_dtype || refuse(call, at, "a dtype");
}

bool builtin_arg_string(const BuiltinCall *call, uint32_t at, Str *out) {
    *out = call->args[at]->value.text;
    return call->args[at]->value.kind == VALUE_string || refuse(call, at, "a string");
}

static bool to_axis(const BuiltinCall *call, uint32_t at, NodeId x, int64_t given, int64_t *out) {
    int64_t rank = sema_type(call->s, x)->rank;
    *out = given < 0 ? given + rank : given;
    if (given >= -rank && given < rank) return true;
    Loc loc = call->args[at] ? call->args[at]->loc : call->loc;
    sema_error(call->s, loc, MSG_AXIS_RANGE, (long long)given, sema_type_text(call->s, x));
    return false;
}

bool builtin_arg_axis(const BuiltinCall *call, uint32_t at, NodeId x, int64_t absent,
                      int64_t *out) {
    int64_t given;
    return x != NODE_none && builtin_arg_int(call, at, absent, &given) &&
           to_axis(call, at, x, given, out);
}

static bool listed_axes(const BuiltinCall *call, uint32_t at, NodeId x, int64_t *out_axes,
                        uint32_t *out_count) {
    const ValueList *list = &call->args[at]->value.list;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].kind != VALUE_int) return refuse(call, at, "a list of whole numbers");
        if (*out_count == TYPE_MAX_RANK) {
            sema_error(call->s, call->args[at]->loc, MSG_RANK, list->count, TYPE_MAX_RANK);
            return false;
        }
        if (!to_axis(call, at, x, list->items[i].integer, &out_axes[(*out_count)++])) return false;
    }
    return true;
}

bool builtin_arg_axes(const BuiltinCall *call, uint32_t at, NodeId x, int64_t *out_axes,
                      uint32_t *out_count) {
    *out_count = 0;
    if (x == NODE_none) return false;
    if (!call->args[at]) {
        *out_count = sema_type(call->s, x)->rank;
        for (uint32_t i = 0; i < *out_count; i++) out_axes[i] = i;
        return true;
    }
    const Value *value = &call->args[at]->value;
    if (value->kind == VALUE_list) return listed_axes(call, at, x, out_axes, out_count);
    if (value->kind != VALUE_int) return refuse(call, at, "an axis or a list of axes");
    *out_count = 1;
    return to_axis(call, at, x, value->integer, out_axes);
}

bool builtin_arg_ints(const BuiltinCall *call, uint32_t at, uint32_t count, int64_t absent,
                      int64_t *out) {
    const Argument *arg = call->args[at];
    bool listed = arg && arg->value.kind == VALUE_list;
    if (arg && !listed && arg->value.kind != VALUE_int) {
        return refuse(call, at, "a whole number or a list of them");
    }
    if (listed && arg->value.list.count != count) {
        sema_error(call->s, arg->loc, MSG_LIST_LENGTH, name_of(call, at), STR_ARG(call->row->name),
                   count, arg->value.list.count);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const Value *item = listed ? &arg->value.list.items[i] : arg ? &arg->value : NULL;
        if (item && item->kind != VALUE_int) return refuse(call, at, "a list of whole numbers");
        out[i] = item ? item->integer : absent;
    }
    return true;
}

bool builtin_arg_dims(const BuiltinCall *call, uint32_t at, const Dim **out_dims,
                      uint32_t *out_rank) {
    const Argument *arg = call->args[at];
    ValueList one = {1, 1, &arg->value};
    const ValueList *list = arg->value.kind == VALUE_list ? &arg->value.list : &one;
    *out_rank = list->count;
    if (list->count > TYPE_MAX_RANK) {
        sema_error(call->s, arg->loc, MSG_RANK, list->count, TYPE_MAX_RANK);
        return false;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        out_dims[i] = dsl_value_as_dim(call->s->ctx, &list->items[i]);
        if (!out_dims[i]) return refuse(call, at, "a list of dims");
    }
    return true;
}
