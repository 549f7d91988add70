/* Types as they are written, conversion to them, and parameters with their values. */
#include "frontend/dsl/sema.h"

#include "ir/tensor.h"

#include <string.h>

/* ---- types ----------------------------------------------------------------------------------- */

static bool eval_dtype(Sema *s, const Ast *ast, DType *out_dtype) {
    Value value = dsl_eval(s, ast);
    *out_dtype = value.dtype;
    if (value.kind == VALUE_dtype) return true;
    if (value.kind != VALUE_error) {
        sema_error(s, ast_start(ast), MSG_NEEDS_DTYPE, sema_value_text(s, &value));
    }
    return false;
}

static const Dim *eval_dim(Sema *s, const Ast *ast) {
    Value value = dsl_eval(s, ast);
    const Dim *dim = dsl_value_as_dim(s->ctx, &value);
    if (dim && dim->hi >= 0) return dim;
    if (dim)
        sema_error(s, ast_start(ast), MSG_NEGATIVE_DIM, sema_dim_text(s, dim));
    else if (value.kind != VALUE_error) {
        sema_error(s, ast_start(ast), MSG_NEEDS_DIM, sema_value_text(s, &value));
    }
    return NULL;
}

const Type *dsl_eval_type(Sema *s, const Ast *ast) {
    DType dtype;
    const Dim *dims[TYPE_MAX_RANK];
    uint32_t rank = 0;
    bool good = ast->kind == AST_type && eval_dtype(s, ast->a, &dtype);
    if (good && ast->list.count > TYPE_MAX_RANK) {
        sema_error(s, ast->loc, MSG_RANK, ast->list.count, TYPE_MAX_RANK);
        return NULL;
    }
    for (const Ast *at = good ? ast->list.first : NULL; at; at = at->next) {
        dims[rank] = eval_dim(s, at);
        good &= dims[rank++] != NULL;
    }
    if (!good) return NULL;
    const Type *type = type_tensor(s->ctx, dtype, rank, dims);
    if (!dim_is_overflow(type_bytes(s->ctx, type))) return type;
    sema_error(s, ast->loc, MSG_TYPE_TOO_LARGE);
    return NULL;
}

static void report_type(Sema *s, Loc loc, NodeId node, const Type *type, Loc type_loc, Str what) {
    Buf want = {.arena = s->arena};
    buf_type(&want, type);
    if (!sema_error(s, loc, MSG_DECLARED_TYPE, STR_ARG(what), want.data, sema_type_text(s, node)))
        return;
    diag_note(s->diags, type_loc, MSG_NOTE_DECLARED);
}

/* Whether the shapes may agree at run time. */
static bool may_have_shape(Sema *s, const Type *have, const Type *want) {
    if (have->rank != want->rank) return false;
    for (uint32_t i = 0; i < want->rank; i++) {
        Value equal = dsl_static_compare_dims(s, AST_eq, have->dims[i], want->dims[i]);
        if (equal.kind == VALUE_bool && !equal.flag) return false;
    }
    return true;
}

NodeId dsl_convert_to_type(Sema *s, Loc loc, const Value *value, const Type *type, Loc type_loc,
                           Str what) {
    NodeId node = dsl_operand_tensor(s, loc, value, type->dtype);
    if (node == NODE_none || sema_type(s, node) == type) return node;
    const Type *have = sema_type(s, node);
    if (have->is_tuple || have->dtype != type->dtype || !may_have_shape(s, have, type)) {
        report_type(s, loc, node, type, type_loc, what);
        return NODE_none;
    }
    return dsl_emit_broadcast(s, loc, node, type->dims, type->rank);
}

/* ---- values of parameters -------------------------------------------------------------------- */

typedef struct Param {
    NodeId node;
    Loc loc;
} Param;

static void put_dims(Buf *buf, uint32_t rank, const int64_t *dims) {
    buf_char(buf, '[');
    for (uint32_t i = 0; i < rank; i++) buf_print(buf, "%s%lld", i ? ", " : "", (long long)dims[i]);
    buf_char(buf, ']');
}

static bool weight_has_dims(const Weight *weight, const Type *type) {
    bool same = weight->rank == type->rank;
    for (uint32_t i = 0; same && i < type->rank; i++) {
        same = dim_equals_int(type->dims[i], weight->dims[i]);
    }
    return same;
}

static const Blob *weight_value(Sema *s, Loc loc, Weight *weight, const Type *type) {
    weight->used = true;
    bool same_dims = weight_has_dims(weight, type);
    if (!same_dims || weight->dtype != type->dtype) {
        Buf have = {.arena = s->arena}, want = {.arena = s->arena};
        buf_print(&have, "%s", dtype_name(weight->dtype));
        put_dims(&have, weight->rank, weight->dims);
        buf_type(&want, type);
        if (sema_error(s, loc, MSG_WEIGHT_TYPE, STR_ARG(weight->name), want.data, have.data)) {
            diag_note(s->diags, (Loc){weight->file, 0, 0, 1}, MSG_NOTE_WEIGHT,
                      STR_ARG(weight->name), (unsigned long long)weight->offset);
            if (same_dims)
                diag_note(s->diags, loc, MSG_NOTE_WEIGHT_CAST, dtype_name(weight->dtype),
                          dtype_name(type->dtype));
        }
        return NULL;
    }
    return ir_blob_adopt(s->ctx, weight->bytes, weight->size, weight_storage_release,
                         weight_storage_retain(weight->storage));
}

enum { MAX_INITIAL_ELEMENTS = 1 << 28 };

/* An initialiser is one number for all elements. */
static const Blob *initial_value(Sema *s, const Ast *init, const Type *type) {
    Value value = dsl_eval(s, init);
    int64_t count = 0;
    if (value.kind == VALUE_error) return NULL;
    if (!dsl_value_is_number(&value) && value.kind != VALUE_bool) {
        sema_error(s, ast_start(init), MSG_PARAM_INITIAL, sema_value_text(s, &value));
        return NULL;
    }
    type_is_static(type, &count);
    if (count > MAX_INITIAL_ELEMENTS) {
        sema_error(s, ast_start(init), MSG_PARAM_INITIAL_SIZE, MAX_INITIAL_ELEMENTS);
        return NULL;
    }
    NodeId one = dsl_emit_number(s, ast_start(init), type->dtype, &value);
    if (one == NODE_none) return NULL;
    Tensor from = {.dtype = type->dtype,
                   .data = (void *)graph_node(s->graph, one)->attrs[0].blob->bytes};
    Tensor to = {.dtype = type->dtype, .rank = 1, .dims = {count}};
    to.data = arena_alloc(s->arena, tensor_bytes(&to));
    for (int64_t i = 0; i < count; i++) {
        if (dtype_is_float(type->dtype))
            tensor_set(&to, i, tensor_get(&from, 0));
        else
            tensor_set_int(&to, i, tensor_get_int(&from, 0));
    }
    return ir_blob(s->ctx, to.data, tensor_bytes(&to));
}

/* The first that is missing is told with names that it may have there. */
static void report_missing(Sema *s, Loc loc, Str name) {
    Buf names = {.arena = s->arena};
    bool first = diags_error_count(s->diags) == s->errors_before;
    if (!sema_error(s, loc, MSG_MISSING_WEIGHT, STR_ARG(name)) || !first) return;
    if (weights_put_unused(s->options->weights, &names))
        diag_note(s->diags, sema_user_loc(s, loc), MSG_NOTE_WEIGHTS_LEFT, names.data);
}

/* The value from the weights, else from the initialiser, else none; false after a report. */
static bool find_value(Sema *s, const Ast *ast, Str name, const Type *type,
                       const Blob **out_value) {
    WeightTable *table = s->options->weights;
    Weight *weight = table ? weights_find(table, name) : NULL;
    *out_value = NULL;
    if (weight)
        *out_value = weight_value(s, ast->loc, weight, type);
    else if (ast->b)
        *out_value = initial_value(s, ast->b, type);
    else if (s->options->allow_missing)
        return true;
    else if (!s->weights_failed && table && weights_count(table) > 0)
        report_missing(s, ast->loc, name);
    else if (!s->weights_failed)
        sema_error(s, ast->loc, MSG_NO_WEIGHTS, STR_ARG(name));
    return *out_value != NULL;
}

/* ---- declarations ---------------------------------------------------------------------------- */

/* A parameter's type: dims are constants. */
static const Type *param_type(Sema *s, const Ast *ast) {
    const Type *type = dsl_eval_type(s, ast->a);
    if (!type || type_is_static(type, NULL)) return type;
    Buf buf = {.arena = s->arena};
    buf_type(&buf, type);
    sema_error(s, ast->a->loc, MSG_PARAM_DIMS, STR_ARG(ast->text), buf.data);
    return NULL;
}

static Str full_name(Sema *s, Str name) {
    Str prefix = s->frame->prefix;
    return prefix.size ? str_format(s->arena, "%.*s.%.*s", STR_ARG(prefix), STR_ARG(name)) : name;
}

/* The same name in another model of the file means the same parameter. */
static bool agrees_with_models(Sema *s, Loc loc, Str name, const Type *type) {
    const Type *before = map_get(&s->module_params, name);
    if (!before) map_set(&s->module_params, name, (void *)(uintptr_t)type);
    if (!before || before == type) return true;
    Buf have = {.arena = s->arena}, want = {.arena = s->arena};
    buf_type(&have, type);
    buf_type(&want, before);
    sema_error(s, loc, MSG_PARAM_DISAGREES, STR_ARG(name), have.data, want.data);
    return false;
}

static NodeId new_param(Sema *s, const Ast *ast, Str name, const Type *type) {
    if (!agrees_with_models(s, ast->loc, name, type)) return NODE_none;
    Attr attrs[2] = {{.str = ir_string(s->ctx, name)}};
    if (!find_value(s, ast, name, type, &attrs[1].blob)) return NODE_none;
    return graph_add(dsl_model_graph(s), OP_param, type, NULL, 0, attrs, NULL, 0,
                     dsl_emit_origin(s, ast->loc));
}

static NodeId declared_again(Sema *s, const Ast *ast, Str name, const Type *type,
                             const Param *old) {
    if (!ast->flag) {
        if (sema_error(s, ast->loc, MSG_DUPLICATE_PARAM, STR_ARG(name))) {
            diag_note(s->diags, old->loc, MSG_NOTE_DECLARED);
        }
        return NODE_none;
    }
    NodeId node = dsl_block_reach(s, old->node);
    if (node == NODE_none || sema_type(s, node) == type) return node;
    report_type(s, ast->loc, node, type, old->loc, name);
    return NODE_none;
}

static NodeId declare_param(Sema *s, const Ast *ast) {
    s->frame->impure = s->frame->declares = true;
    const Type *type = param_type(s, ast);
    if (!type) return NODE_none;
    Str name = full_name(s, ast->text);
    const Param *old = map_get(&s->params, name);
    if (old) return declared_again(s, ast, name, type, old);
    Param *param = NEW(s->arena, Param);
    *param = (Param){new_param(s, ast, name, type), sema_user_loc(s, ast->loc)};
    map_set(&s->params, name, param);
    return dsl_block_reach(s, param->node);
}

void dsl_exec_param(Sema *s, const Ast *ast) {
    dsl_scope_set(s, ast->text, dsl_value_node(declare_param(s, ast)));
}
