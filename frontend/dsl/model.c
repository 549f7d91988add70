/* One model: its inputs, its body, its outputs. */
#include "frontend/dsl/sema.h"

#include "base/guard.h"
#include "ir/verify.h"

/* ---- dims ------------------------------------------------------------------------------------ */

static bool binds(const Type *type, const DimSymbol *symbol) {
    for (uint32_t i = 0; type && i < type->rank; i++) {
        if (dim_as_symbol(type->dims[i]) == symbol) return true;
    }
    return false;
}

static bool mentions(const Type *type, const DimSymbol *symbol) {
    for (uint32_t i = 0; type && i < type->rank; i++) {
        if (dim_mentions(type->dims[i], symbol)) return true;
    }
    return false;
}

/* A dim gets its value from an axis of an input that is that dim alone; others stay unknown. */
static void find_free_dim(Sema *s, const Ast *model, const Type *const *types, const Ast *item) {
    const Symbol *declared = map_get(&s->user, item->text);
    if (!declared || declared->ast != item || declared->dim.kind != VALUE_dim) return;
    const DimSymbol *symbol = dim_as_symbol(declared->dim.dim);
    const Ast *mentioned = NULL;
    uint32_t i = 0;
    for (const Ast *input = model->list.first; input; input = input->next, i++) {
        if (binds(types[i], symbol)) return;
        if (!mentioned && mentions(types[i], symbol)) mentioned = input;
    }
    if (mentioned) sema_error(s, mentioned->loc, MSG_UNBOUND_DIM, STR_ARG(item->text));
    map_set(&s->free_dims, item->text, s);
}

static void find_free_dims(Sema *s, const Ast *model, const Type *const *types) {
    for (const Ast *item = s->file->items.first; item; item = item->next) {
        if (item->kind == AST_dim) find_free_dim(s, model, types, item);
    }
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static const Type *declared_type(Sema *s, const Ast *parameter) {
    if (!parameter->a) {
        sema_error(s, parameter->loc, MSG_MISSING_TYPE, STR_ARG(parameter->text));
        return NULL;
    }
    if (parameter->b) sema_error(s, ast_start(parameter->b), MSG_INPUT_DEFAULT);
    return dsl_eval_type(s, parameter->a);
}

static bool is_repeated(const Ast *list, const Ast *item) {
    for (const Ast *at = list; at && at != item; at = at->next) {
        if (str_equal(at->text, item->text)) return true;
    }
    return false;
}

static void add_inputs(Sema *s, const Ast *model) {
    const Type **types = NEW_ARRAY(s->arena, const Type *, model->list.count);
    uint32_t i = 0;
    for (const Ast *at = model->list.first; at; at = at->next) types[i++] = declared_type(s, at);
    find_free_dims(s, model, types);
    i = 0;
    for (const Ast *at = model->list.first; at; at = at->next, i++) {
        if (is_repeated(model->list.first, at)) {
            sema_error(s, at->loc, MSG_DUPLICATE_PARAMETER, STR_ARG(at->text));
            continue;
        }
        NodeId node =
            types[i] ? graph_add_input(s->graph, at->text, types[i], dsl_emit_origin(s, at->loc))
                     : NODE_none;
        dsl_scope_set(s, at->text, dsl_value_node(node));
    }
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* Where the output got its value: the last assignment to it. */
static Loc assigned_at(const Sema *s, const Ast *output) {
    const Ast *target = map_get(&s->frame->assigned, output->text);
    return target ? target->loc : output->loc;
}

static void add_output(Sema *s, const Ast *model, const Ast *output, const Type *type) {
    if (is_repeated(model->more.first, output)) {
        sema_error(s, output->loc, MSG_DUPLICATE_PARAMETER, STR_ARG(output->text));
        return;
    }
    const Value *value = dsl_scope_find_local(s, output->text);
    if (!value) {
        sema_error(s, output->loc, MSG_OUTPUT_UNASSIGNED, STR_ARG(output->text));
        return;
    }
    if ((output->a && !type) || value->kind == VALUE_error) return;
    Loc loc = assigned_at(s, output);
    NodeId node = type ? dsl_convert_to_type(s, loc, value, type, output->loc, output->text)
                       : dsl_operand_tensor(s, loc, value, DT_count);
    if (node != NODE_none) graph_add_output(s->graph, output->text, node);
}

static void add_outputs(Sema *s, const Ast *model, const Type *const *types) {
    uint32_t i = 0;
    for (const Ast *at = model->more.first; at; at = at->next) add_output(s, model, at, types[i++]);
    if (!model->more.first) sema_error(s, model->loc, MSG_NO_OUTPUTS, STR_ARG(model->text));
}

/* ---- checks ---------------------------------------------------------------------------------- */

static const DimSymbol *lone_symbol(const Dim *d) {
    bool lone = d->term_count == 1 && d->constant == 0 && d->terms[0].coefficient == 1 &&
                d->terms[0].atom_count == 1 && d->terms[0].atoms[0]->kind == ATOM_symbol;
    return lone ? d->terms[0].atoms[0]->symbol : NULL;
}

static Loc place_of_check(const EntryCheck *check) {
    const Origin *origin = check->origin;
    while (origin && origin->library) origin = origin->caller;
    return origin ? origin->loc : (Loc){0};
}

static void warn_of_names(const Sema *s, Loc loc, Str a, Str b) {
    diag_warning(s->diags, loc, MSG_DIMS_EQUAL, STR_ARG(a), STR_ARG(b));
    diag_note(s->diags, loc, MSG_NOTE_DIMS_EQUAL, STR_ARG(a), STR_ARG(b));
}

static void warn_of_size(const Sema *s, Loc loc, Str name, int64_t size) {
    diag_warning(s->diags, loc, MSG_DIM_FIXED, STR_ARG(name), (long long)size);
    diag_note(s->diags, loc, MSG_NOTE_DIM_FIXED, STR_ARG(name), (long long)size);
}

/* Two names that only a check at entry makes equal are most often one name too many, and a name
 * that such a check leaves one size is most often that of another axis. */
void dsl_model_warn(const Sema *s) {
    for (size_t i = 0; i < s->graph->checks.count; i++) {
        const EntryCheck *check = &s->graph->checks.data[i];
        const DimSymbol *a = lone_symbol(check->a), *b = lone_symbol(check->b);
        if (check->kind != CHECK_equal || dsl_is_asserted(s, check->a, check->b)) continue;
        int64_t size;
        Loc loc = place_of_check(check);
        if (a && b)
            warn_of_names(s, loc, a->name, b->name);
        else if (a && dim_is_const(check->b, &size))
            warn_of_size(s, loc, a->name, size);
        else if (b && dim_is_const(check->a, &size))
            warn_of_size(s, loc, b->name, size);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void begin_model(Sema *s, const Ast *model) {
    const Map empty = {.arena = s->arena};
    s->params = s->memo = s->reported = s->free_dims = s->asserted = empty;
    s->calls = s->depth = s->streams = 0;
    s->steps = 0;
    s->stopped = false;
    s->graph = graph_new(s->ctx, s->arena, model->text);
}

/* An output that is written without a type takes that of its value. */
static const Type *output_type(Sema *s, const Ast *output) {
    return output->a || output->b ? declared_type(s, output) : NULL;
}

/* The types of the outputs are read before the body can hide a name that they use. */
static void build(Sema *s, const Ast *model) {
    const Type **types = NEW_ARRAY(s->arena, const Type *, model->more.count);
    uint32_t i = 0;
    add_inputs(s, model);
    for (const Ast *at = model->more.first; at; at = at->next) types[i++] = output_type(s, at);
    dsl_exec_block(s, model->b);
    if (!s->stopped) add_outputs(s, model, types);
}

Graph *dsl_model_build(Sema *s, const Ast *model) {
    begin_model(s, model);
    Frame frame = {.function = model, .names.arena = s->arena, .assigned.arena = s->arena};
    s->frame = &frame;
    build(s, model);
    s->frame = NULL;
    if (diags_error_count(s->diags) != s->errors_before) return NULL;
    if (s->graph->outputs.count != model->more.count) bug("an output was lost without a word");
    const char *fault = graph_verify(s->graph, s->arena);
    if (fault) bug("the graph of a model is not well formed: %s", fault);
    dsl_model_warn(s);
    return s->graph;
}
