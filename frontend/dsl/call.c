/* Calls: of dtypes (casts), of functions written in the language, which are expanded where they
 * stand, and of built-ins. */
#include "frontend/dsl/call.h"
#include "frontend/dsl/builtin.h"
#include "frontend/dsl/hints.h"

static const Ast *argument_expr(const Ast *ast) { return ast->kind == AST_argument ? ast->a : ast; }

/* ---- binding arguments ----------------------------------------------------------------------- */

bool dsl_arguments_eval(Sema *s, const Ast *call, Arguments *out) {
    *out = (Arguments){.call = call, .items = NEW_ARRAY(s->arena, Argument, call->list.count)};
    bool good = true;
    for (const Ast *at = call->list.first; at; at = at->next) {
        Argument *item = &out->items[out->count++];
        Str name = at->kind == AST_argument ? at->text : (Str){0};
        *item =
            (Argument){.name = name, .ast = argument_expr(at), .loc = ast_start(argument_expr(at))};
        item->value = dsl_eval(s, item->ast);
        good &= item->value.kind != VALUE_error;
        if (!name.data && out->positional + 1 != out->count) {
            sema_error(s, item->loc, MSG_POSITIONAL_AFTER_NAMED);
            good = false;
        }
        out->positional += !name.data;
    }
    return good;
}

const Argument *dsl_arguments_find(Sema *s, Arguments *arguments, uint32_t position, Str name,
                                   bool *out_good) {
    Argument *found = position < arguments->positional ? &arguments->items[position] : NULL;
    for (uint32_t i = arguments->positional; i < arguments->count; i++) {
        Argument *item = &arguments->items[i];
        if (!str_equal(item->name, name)) continue;
        if (found) {
            sema_error(s, item->loc, MSG_ARGUMENT_TWICE, STR_ARG(name));
            *out_good = false;
        }
        item->taken = true;
        found = found ? found : item;
    }
    if (found) found->taken = true;
    return found;
}

bool dsl_arguments_all_taken(Sema *s, const Arguments *arguments, Str function, uint32_t most) {
    for (uint32_t i = 0; i < arguments->count; i++) {
        const Argument *item = &arguments->items[i];
        if (item->taken) continue;
        if (item->name.data) {
            if (sema_error(s, item->loc, MSG_UNKNOWN_ARGUMENT, STR_ARG(function),
                           STR_ARG(item->name)))
                hint_argument(s->diags, sema_user_loc(s, item->loc), item->name);
        } else
            sema_error(s, item->loc, MSG_TOO_MANY_ARGUMENTS, STR_ARG(function), most,
                       arguments->positional);
        return false;
    }
    return true;
}

/* ---- functions of the language --------------------------------------------------------------- */

static Loc call_loc(const Arguments *arguments) { return arguments->call->loc; }

/* What is wrong with the arguments is said in the frame of the caller, which gave them. */
static const Argument *given_argument(Sema *s, Arguments *arguments, const Ast *parameter,
                                      uint32_t position, bool *out_good) {
    Frame *own = s->frame;
    s->frame = own->caller;
    const Argument *given = dsl_arguments_find(s, arguments, position, parameter->text, out_good);
    if (*out_good && !given && !parameter->b) {
        *out_good = false;
        bool said = sema_error(s, call_loc(arguments), MSG_MISSING_ARGUMENT,
                               STR_ARG(own->function->text), STR_ARG(parameter->text));
        if (said && !own->library) diag_note(s->diags, parameter->loc, MSG_NOTE_DECLARED);
    }
    s->frame = own;
    return given;
}

/* The value as the type that the parameter is written with. */
static Value typed_argument(Sema *s, const Argument *given, const Ast *parameter, Value value) {
    const Type *type = dsl_eval_type(s, parameter->a);
    if (!type) return dsl_value_error();
    Frame *own = s->frame;
    if (given) s->frame = own->caller;
    Loc loc = given ? given->loc : parameter->loc;
    value =
        dsl_value_node(dsl_convert_to_type(s, loc, &value, type, parameter->loc, parameter->text));
    s->frame = own;
    return value;
}

/* A flag of a library function is told at the call: one argument too many is most often the
 * cause. */
static bool is_flag_refused(Sema *s, const Argument *given, const Ast *parameter) {
    Frame *own = s->frame;
    bool flag = own->library && parameter->b && parameter->b->kind == AST_bool;
    bool bad = flag && given && given->value.kind != VALUE_bool && given->value.kind != VALUE_none;
    if (!bad) return false;
    s->frame = own->caller;
    sema_error(s, given->loc, MSG_ARGUMENT_KIND, str_terminated(s->arena, parameter->text),
               STR_ARG(own->function->text), "true or false", sema_value_text(s, &given->value));
    s->frame = own;
    return true;
}

/* Binds one parameter in the new frame; its default may use the parameters before it. */
static bool bind_parameter(Sema *s, Arguments *arguments, const Ast *parameter, uint32_t position) {
    bool good = true;
    const Argument *given = given_argument(s, arguments, parameter, position, &good);
    if (!good || is_flag_refused(s, given, parameter)) return false;
    Value value = given ? given->value : dsl_eval(s, parameter->b);
    bool typed = parameter->a && value.kind != VALUE_error && value.kind != VALUE_none;
    if (typed) value = typed_argument(s, given, parameter, value);
    dsl_scope_set(s, parameter->text, value);
    return value.kind != VALUE_error;
}

static bool bind_parameters(Sema *s, Arguments *arguments, const Ast *function) {
    bool good = true;
    uint32_t position = 0;
    for (const Ast *at = function->list.first; at; at = at->next) {
        if (map_get(&s->frame->names, at->text)) {
            sema_error(s, at->loc, MSG_DUPLICATE_PARAMETER, STR_ARG(at->text));
            good = false;
        }
        good &= bind_parameter(s, arguments, at, position++);
    }
    Frame *own = s->frame;
    s->frame = own->caller;
    good &= dsl_arguments_all_taken(s, arguments, function->text, function->list.count);
    s->frame = own;
    return good;
}

/* What the results depend on when no parameter is declared: the function and its arguments. */
static Str memo_key(Sema *s, const Symbol *symbol, const Ast *function) {
    Buf buf = {.arena = s->arena};
    buf_bytes(&buf, &symbol, sizeof symbol);
    for (const Ast *at = function->list.first; at; at = at->next) {
        dsl_value_key(&buf, dsl_scope_find_local(s, at->text));
    }
    return buf_str(&buf);
}

static Value run_body(Sema *s, Symbol *symbol) {
    const Ast *function = symbol->ast;
    Frame *frame = s->frame;
    Str key = memo_key(s, symbol, function);
    const Value *known = map_get(&s->memo, key);
    if (known) return *known;
    size_t errors = diags_error_count(s->diags);
    dsl_exec_block(s, function->b);
    bool good = diags_error_count(s->diags) == errors && !s->stopped;
    if (!frame->returned && good) {
        frame->library = symbol->library;
        sema_error(s, function->loc, MSG_NO_RETURN, STR_ARG(function->text));
        return dsl_value_error();
    }
    if (!frame->returned) return dsl_value_error();
    if (frame->impure || !good) return frame->result;
    Value *result = NEW(s->arena, Value);
    *result = frame->result;
    map_set(&s->memo, key, result);
    return frame->result;
}

static bool scope_prefix(Sema *s, const Ast *call, Str *out_prefix) {
    Str scope;
    *out_prefix = s->frame->prefix;
    if (!call->b) return true;
    if (call->b->kind == AST_value)
        scope = call->b->value.given->text;
    else if (!dsl_eval_interpolated(s, call->b->loc, call->b->text, &scope))
        return false;
    if (!scope.size) {
        sema_error(s, call->b->loc, MSG_EMPTY_SCOPE);
        return false;
    }
    if (out_prefix->size) {
        scope = str_format(s->arena, "%.*s.%.*s", STR_ARG(*out_prefix), STR_ARG(scope));
    }
    *out_prefix = scope;
    return true;
}

static bool may_enter(Sema *s, const Ast *call, const Symbol *symbol) {
    if (symbol->active) {
        if (sema_error(s, call->loc, MSG_RECURSION, STR_ARG(symbol->ast->text))) {
            diag_note(s->diags, symbol->ast->loc, MSG_NOTE_DECLARED);
        }
        return false;
    }
    if (s->calls < DSL_MAX_CALLS) return true;
    sema_limit(s, call->loc, MSG_CALL_DEPTH, DSL_MAX_CALLS);
    return false;
}

/* Functions that torch's modules of the same kind take the number of inputs before the one of
 * outputs; `axis` of x is that number here. */
static const struct Layer {
    const char *name;
    int axis;
} layers[] = {{"linear", -1}, {"conv1d", 1}, {"conv2d", 1}, {"conv3d", 1}};

static const struct Layer *find_layer(Str name) {
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        if (str_equal(name, str_from(layers[i].name))) return &layers[i];
    return NULL;
}

/* Behind what was said of a layer whose second argument is the number of inputs that x has, with
 * another number behind it. */
static void hint_of_order(Sema *s, const Arguments *arguments, const struct Layer *layer) {
    const Argument *given = arguments->items;
    bool three = arguments->positional > 2 && given[0].value.kind == VALUE_tensor &&
                 given[1].value.kind == VALUE_int && given[2].value.kind == VALUE_int;
    if (!three) return;
    const Type *type = sema_type(s, given[0].value.node);
    int axis = layer->axis < 0 ? (int)type->rank - 1 : layer->axis;
    if (axis < 0 || axis >= (int)type->rank) return;
    if (dim_equals_int(type->dims[axis], given[1].value.integer))
        diag_note(s->diags, sema_user_loc(s, given[1].loc), MSG_NOTE_ORDER, layer->name);
}

static bool is_empty(const Type *type) {
    bool empty = false;
    for (uint32_t i = 2; i < type->rank; i++) empty |= dim_equals_int(type->dims[i], 0);
    return empty;
}

/* A kernel that does not fit is legal, and hardly ever meant. */
static void check_layer(Sema *s, const Arguments *arguments, const Symbol *symbol,
                        const Value *result, size_t errors) {
    const struct Layer *layer = symbol->library ? find_layer(symbol->ast->text) : NULL;
    if (!layer || s->frame->library || s->stopped) return;
    const Value *x = arguments->count ? &arguments->items[0].value : NULL;
    bool both = result->kind == VALUE_tensor && x && x->kind == VALUE_tensor;
    bool empty = both && is_empty(sema_type(s, result->node)) && !is_empty(sema_type(s, x->node));
    if (empty)
        diag_warning(s->diags, arguments->call->loc, MSG_EMPTY_RESULT,
                     sema_type_text(s, result->node));
    if (empty || diags_error_count(s->diags) > errors) hint_of_order(s, arguments, layer);
}

static bool is_call(const Ast *ast) {
    return ast->kind == AST_call || (ast->kind == AST_argument && is_call(ast->a));
}

/* A scope that names nothing: most often that of a call around the one that was meant. */
static void warn_of_scope(Sema *s, const Ast *call, const Frame *frame) {
    Loc loc = call->b->loc;
    Str key = str_format(s->arena, "scope %u:%u:%u", loc.file, loc.line, loc.column);
    if (frame->declares || s->frame->library || map_set(&s->reported, key, s)) return;
    diag_warning(s->diags, loc, MSG_SCOPE_UNUSED, STR_ARG(call->a->text));
    for (const Ast *at = call->list.first; at; at = at->next)
        if (is_call(at)) {
            diag_note(s->diags, ast_start(at), MSG_NOTE_SCOPE);
            return;
        }
}

static Value call_function(Sema *s, Symbol *symbol, Arguments *arguments) {
    const Ast *call = arguments->call, *function = symbol->ast;
    Frame frame = {.caller = s->frame, .function = function, .library = symbol->library};
    frame.names.arena = s->arena;
    if (!may_enter(s, call, symbol) || !scope_prefix(s, call, &frame.prefix))
        return dsl_value_error();
    frame.origin = dsl_emit_origin(s, call->loc);
    size_t errors = diags_error_count(s->diags);
    Value result = dsl_value_error();
    s->frame = &frame;
    s->calls++;
    symbol->active = true;
    if (bind_parameters(s, arguments, function)) result = run_body(s, symbol);
    symbol->active = false;
    s->calls--;
    s->frame = frame.caller;
    s->frame->impure |= frame.impure;
    s->frame->declares |= frame.declares;
    if (call->b && result.kind != VALUE_error) warn_of_scope(s, call, &frame);
    check_layer(s, arguments, symbol, &result, errors);
    return result;
}

/* ---- casts, and the choice ------------------------------------------------------------------- */

static Value call_dtype(Sema *s, const Ast *call, DType dtype, const Arguments *arguments) {
    if (arguments->count != 1 || !arguments->positional) {
        sema_error(s, call->loc, MSG_CAST_ARGUMENTS, dtype_name(dtype), arguments->count);
        return dsl_value_error();
    }
    return dsl_cast_value(s, &arguments->items[0], dtype);
}

/* A float becomes whole by truncation; a number and a truth value become each other. */
static bool converts(const Value *value, DType dtype) {
    bool changes = value->kind == VALUE_float ? !dtype_is_float(dtype)
                                              : (value->kind == VALUE_bool) != (dtype == DT_bool);
    return changes && (dsl_value_is_number(value) || value->kind == VALUE_bool);
}

Value dsl_cast_value(Sema *s, const Argument *argument, DType dtype) {
    DType first = dtype;
    if (converts(&argument->value, dtype))
        first = argument->value.kind == VALUE_float ? DT_f64 : DT_count;
    NodeId x = dsl_operand_tensor(s, argument->loc, &argument->value, first);
    return dsl_value_node(dsl_emit_cast(s, argument->loc, x, dtype));
}

static Value refuse_call(Sema *s, const Ast *callee) {
    if (callee->kind == AST_name) {
        sema_error(s, callee->loc, MSG_NOT_A_FUNCTION, STR_ARG(callee->text));
    } else if (callee->kind != AST_error) {
        bool said = sema_error(s, ast_start(callee), MSG_NOT_CALLABLE);
        if (said && callee->kind == AST_member) {
            Str object = callee->a->kind == AST_name ? callee->a->text : STR("");
            hint_method(s->diags, sema_user_loc(s, ast_start(callee)), object, callee->text);
        }
    }
    return dsl_value_error();
}

/* A scope without parameters to name would be silently without effect. */
static Value refuse_scope(Sema *s, const Ast *call) {
    sema_error(s, call->b->loc, MSG_SCOPE_UNUSED, STR_ARG(call->a->text));
    return dsl_value_error();
}

Value dsl_eval_call(Sema *s, const Ast *ast) {
    const Ast *callee = ast->a;
    Arguments arguments;
    bool good = dsl_arguments_eval(s, ast, &arguments);
    if (callee->kind == AST_dtype) {
        return good ? call_dtype(s, ast, callee->value.dtype, &arguments) : dsl_value_error();
    }
    if (callee->kind != AST_name || dsl_scope_find_local(s, callee->text))
        return refuse_call(s, callee);
    Symbol *symbol = dsl_scope_find_symbol(s, callee->text);
    const Builtin *builtin = symbol ? NULL : builtin_find(callee->text);
    if (symbol && symbol->ast->kind != AST_function) return refuse_call(s, callee);
    if (!symbol && !builtin) {
        dsl_scope_unknown(s, callee->loc, callee->text);
        return dsl_value_error();
    }
    if (!good) return dsl_value_error();
    if (symbol) return call_function(s, symbol, &arguments);
    return ast->b ? refuse_scope(s, ast) : builtin_call(s, builtin, &arguments);
}
