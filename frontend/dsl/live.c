/* Calls without a text: each becomes the small syntax tree that it would have in a file, over
 * values that are known, and is evaluated in the frame of the model, which stays open. */
#include "frontend/dsl/live_internal.h"

Live *live_new(IrContext *ctx, Arena *arena, Diags *diags, Str name, WeightTable *weights) {
    const Map empty = {.arena = arena};
    Live *live = NEW(arena, Live);
    live->options = (DslOptions){.weights = weights, .allow_missing = true};
    live->model = (Ast){.kind = AST_model, .text = str_copy(arena, name)};
    live->graph = graph_new(ctx, arena, name);
    live->frame = (Frame){.function = &live->model, .names = empty};
    live->sema = (Sema){.ctx = ctx,
                        .arena = arena,
                        .diags = diags,
                        .options = &live->options,
                        .file = &live->file,
                        .user = empty,
                        .library = empty,
                        .module_params = empty,
                        .graph = live->graph,
                        .frame = &live->frame,
                        .params = empty,
                        .memo = empty,
                        .reported = empty,
                        .free_dims = empty,
                        .asserted = empty};
    dsl_declare_library(&live->sema);
    return live;
}

void live_set_place(Live *live, Loc loc) { live->sema.host_call = loc; }

Loc live_place(const Live *live) { return live->sema.host_call; }

uint32_t live_block(const Live *live) { return live->sema.block ? live->sema.block->number : 0; }

const Graph *live_graph(const Live *live) { return live->graph; }

const Graph *live_graph_of(const Live *live, uint32_t block) {
    return block ? live->block_graphs.data[block - 1] : live->graph;
}

/* ---- one call -------------------------------------------------------------------------------- */

/* Limits on steps and depth are those of one call; that of the graph's size stays reached. */
LiveMark live_begin(Live *live) {
    Sema *s = &live->sema;
    s->reported = (Map){.arena = s->arena};
    s->steps = 0;
    s->stopped = s->graph->nodes.count > DSL_MAX_NODES;
    if (s->stopped) diag_error(s->diags, s->host_call, MSG_GRAPH_SIZE, DSL_MAX_NODES);
    return (LiveMark){.errors = diags_error_count(s->diags) - s->stopped,
                      .checks = s->graph->checks.count,
                      .model_checks = live->graph->checks.count,
                      .params = s->params.count,
                      .module_params = s->module_params.count};
}

/* The first entries of a map: entries are in the order in which they came. */
static void cut_map(Map *map, size_t count) {
    Map cut = {.arena = map->arena};
    if (map->count == count) return;
    for (size_t i = 0; i < count; i++) map_set(&cut, map->entries[i].key, map->entries[i].value);
    *map = cut;
}

/* Nodes that a failed call left are reached by nothing; what it declared and asked for is
 * undone. */
void live_undo(Live *live, const LiveMark *mark) {
    Sema *s = &live->sema;
    s->graph->checks.count = mark->checks;
    live->graph->checks.count = mark->model_checks;
    cut_map(&s->params, mark->params);
    cut_map(&s->module_params, mark->module_params);
}

bool live_end(Live *live, const LiveMark *mark) {
    if (diags_error_count(live->sema.diags) == mark->errors) return true;
    live_undo(live, mark);
    return false;
}

/* ---- syntax trees ---------------------------------------------------------------------------- */

static Ast *new_ast(Live *live, AstKind kind) {
    Ast *ast = NEW(live->sema.arena, Ast);
    *ast = (Ast){.kind = kind, .loc = live->sema.host_call, .height = 1};
    return ast;
}

static Ast *value_ast(Live *live, Value value, Loc loc) {
    Ast *ast = new_ast(live, AST_value);
    Value *given = NEW(live->sema.arena, Value);
    *given = value;
    ast->value.given = given;
    ast->loc = loc;
    return ast;
}

/* NULL after a report, and silently for what failed before. */
static Ast *operand_ast(Live *live, const LiveOperand *operand) {
    Value value = live_reach(live, operand);
    return value.kind == VALUE_error ? NULL : value_ast(live, value, operand->loc);
}

static void append(AstList *list, Ast *ast) {
    if (list->last)
        list->last->next = ast;
    else
        list->first = ast;
    list->last = ast;
    list->count++;
}

static Value evaluate(Live *live, const Ast *ast, const LiveMark *mark) {
    Value value = dsl_eval(&live->sema, ast);
    return live_end(live, mark) ? value : dsl_value_error();
}

/* ---- operators, calls ------------------------------------------------------------------------ */

Value live_unary(Live *live, AstOp op, const LiveOperand *a) {
    LiveMark mark = live_begin(live);
    Ast *ast = new_ast(live, AST_unary);
    ast->op = op;
    ast->a = operand_ast(live, a);
    return ast->a ? evaluate(live, ast, &mark) : dsl_value_error();
}

Value live_binary(Live *live, AstOp op, const LiveOperand *a, const LiveOperand *b) {
    LiveMark mark = live_begin(live);
    Ast *ast = new_ast(live, AST_binary);
    ast->op = op;
    ast->a = operand_ast(live, a);
    ast->b = operand_ast(live, b);
    return ast->a && ast->b ? evaluate(live, ast, &mark) : dsl_value_error();
}

static Ast *callee(Live *live, Str function) {
    DType dtype;
    bool cast = dtype_parse(function, &dtype);
    Ast *ast = new_ast(live, cast ? AST_dtype : AST_name);
    ast->text = str_copy(live->sema.arena, function);
    if (cast) ast->value.dtype = dtype;
    return ast;
}

static Ast *argument_ast(Live *live, const LiveArgument *argument) {
    Ast *value = operand_ast(live, &argument->operand);
    if (!value || !argument->name.data) return value;
    Ast *ast = new_ast(live, AST_argument);
    ast->text = str_copy(live->sema.arena, argument->name);
    ast->a = value;
    return ast;
}

Value live_call(Live *live, Str function, const LiveArgument *arguments, uint32_t count,
                Str scope) {
    LiveMark mark = live_begin(live);
    Ast *ast = new_ast(live, AST_call);
    ast->a = callee(live, function);
    for (uint32_t i = 0; i < count; i++) {
        Ast *argument = argument_ast(live, &arguments[i]);
        if (!argument) return dsl_value_error();
        append(&ast->list, argument);
    }
    Value name = dsl_value_string(str_copy(live->sema.arena, scope));
    if (scope.data) ast->b = value_ast(live, name, ast->loc);
    return evaluate(live, ast, &mark);
}

/* ---- members, subscripts, lists -------------------------------------------------------------- */

Value live_member(Live *live, const LiveOperand *of, Str name) {
    LiveMark mark = live_begin(live);
    Ast *ast = new_ast(live, AST_member);
    ast->text = str_copy(live->sema.arena, name);
    ast->a = operand_ast(live, of);
    return ast->a ? evaluate(live, ast, &mark) : dsl_value_error();
}

static bool slice_part(Live *live, const LiveOperand *operand, Ast **out_part) {
    *out_part = operand->value.kind == VALUE_none ? NULL : operand_ast(live, operand);
    return *out_part || operand->value.kind == VALUE_none;
}

static Ast *subscript_ast(Live *live, const LiveSubscript *subscript) {
    if (!subscript->is_slice) return operand_ast(live, &subscript->start);
    Ast *ast = new_ast(live, AST_slice);
    bool good = slice_part(live, &subscript->start, &ast->a) &&
                slice_part(live, &subscript->stop, &ast->b) &&
                slice_part(live, &subscript->step, &ast->c);
    return good ? ast : NULL;
}

Value live_index(Live *live, const LiveOperand *of, const LiveSubscript *subscripts,
                 uint32_t count) {
    LiveMark mark = live_begin(live);
    Ast *ast = new_ast(live, AST_index);
    ast->a = operand_ast(live, of);
    if (!ast->a) return dsl_value_error();
    for (uint32_t i = 0; i < count; i++) {
        Ast *subscript = subscript_ast(live, &subscripts[i]);
        if (!subscript) return dsl_value_error();
        append(&ast->list, subscript);
    }
    return evaluate(live, ast, &mark);
}

Value live_list(Live *live, const LiveOperand *items, uint32_t count) {
    LiveMark mark = live_begin(live);
    Ast *ast = new_ast(live, AST_list);
    for (uint32_t i = 0; i < count; i++) {
        Ast *item = operand_ast(live, &items[i]);
        if (!item) return dsl_value_error();
        append(&ast->list, item);
    }
    return evaluate(live, ast, &mark);
}

Value live_item(Live *live, const LiveOperand *of, uint32_t index) {
    Sema *s = &live->sema;
    LiveMark mark = live_begin(live);
    Value value = live_reach(live, of);
    if (value.kind == VALUE_error) return value;
    bool listed = value.kind == VALUE_list || value.kind == VALUE_tuple;
    if (listed && index < value.list.count) return value.list.items[index];
    if (!listed)
        sema_error(s, s->host_call, MSG_NO_ITEMS, sema_value_text(s, &value));
    else
        sema_error(s, s->host_call, MSG_INDEX_RANGE, (long long)index, (long long)value.list.count);
    live_end(live, &mark);
    return dsl_value_error();
}

/* ---- what a model is made of ----------------------------------------------------------------- */

static bool good_name(Sema *s, Str name) {
    bool good = name.size > 0 && str_is_utf8(name);
    for (size_t i = 0; i < name.size; i++) good &= (unsigned char)name.data[i] >= ' ';
    return good || (sema_error(s, s->host_call, MSG_HOST_NAME), false);
}

static bool good_range(Sema *s, Str name, int64_t lo, int64_t hi, int64_t tune) {
    enum { MOST = INT32_MAX };
    if (hi > MOST) return sema_error(s, s->host_call, MSG_DIM_LIMIT, STR_ARG(name), MOST), false;
    if (lo > hi || lo < 0) return sema_error(s, s->host_call, MSG_DIM_EMPTY, STR_ARG(name)), false;
    if (tune >= lo && tune <= hi) return true;
    sema_error(s, s->host_call, MSG_DIM_TUNE, (long long)tune, STR_ARG(name));
    return false;
}

/* Dims are read back from texts, so that their names are those of the language. */
static bool is_word(Str name) {
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9')) return false;
    }
    return name.size > 0;
}

Value live_dim(Live *live, Str name, int64_t lo, int64_t hi, int64_t tune) {
    Sema *s = &live->sema;
    LiveMark mark = live_begin(live);
    if (!is_word(name))
        sema_error(s, s->host_call, MSG_HOST_WORD, STR_ARG(name));
    else if (dim_find_symbol(s->ctx, name))
        sema_error(s, s->host_call, MSG_DUPLICATE_NAME, STR_ARG(name));
    else
        good_range(s, name, lo, hi, tune);
    if (!live_end(live, &mark)) return dsl_value_error();
    const DimSymbol *symbol = dim_new_symbol(s->ctx, SYMBOL_named, name, lo, hi, tune, NULL);
    return dsl_value_dim(dim_of_symbol(s->ctx, symbol));
}

/* NULL after a report. */
static const Type *read_type(Live *live, DType dtype, const LiveOperand *dims, uint32_t rank) {
    Ast *type = new_ast(live, AST_type);
    type->a = value_ast(live, dsl_value_dtype(dtype), type->loc);
    for (uint32_t i = 0; i < rank; i++) {
        Ast *dim = operand_ast(live, &dims[i]);
        if (!dim) return NULL;
        append(&type->list, dim);
    }
    return dsl_eval_type(&live->sema, type);
}

static bool has_input(const Graph *graph, Str name) {
    for (size_t i = 0; i < graph->inputs.count; i++) {
        const Node *node = graph_node(graph, graph->inputs.data[i]);
        if (str_equal(*node->attrs[1].str, name)) return true;
    }
    return false;
}

Value live_input(Live *live, Str name, DType dtype, const LiveOperand *dims, uint32_t rank) {
    Sema *s = &live->sema;
    LiveMark mark = live_begin(live);
    const Type *type = NULL;
    if (s->block)
        sema_error(s, s->host_call, MSG_HOST_BLOCK, "an input");
    else if (good_name(s, name) && has_input(s->graph, name))
        sema_error(s, s->host_call, MSG_DUPLICATE_PARAMETER, STR_ARG(name));
    else
        type = read_type(live, dtype, dims, rank);
    if (!live_end(live, &mark) || !type) return dsl_value_error();
    return dsl_value_node(graph_add_input(s->graph, name, type, dsl_emit_origin(s, s->host_call)));
}

/* Declared as by `param NAME: DTYPE[DIMS]`, under its full name. */
Value live_param(Live *live, Str name, DType dtype, const LiveOperand *dims, uint32_t rank) {
    Sema *s = &live->sema;
    LiveMark mark = live_begin(live);
    Ast *param = new_ast(live, AST_param);
    param->text = str_copy(s->arena, name);
    param->a = new_ast(live, AST_type);
    param->a->a = value_ast(live, dsl_value_dtype(dtype), param->loc);
    for (uint32_t i = 0; i < rank; i++) {
        Ast *dim = operand_ast(live, &dims[i]);
        if (!dim) return dsl_value_error();
        append(&param->a->list, dim);
    }
    if (!good_name(s, name)) return live_end(live, &mark), dsl_value_error();
    dsl_exec_param(s, param);
    const Value *made = dsl_scope_find_local(s, param->text);
    Value value = made ? *made : dsl_value_error();
    s->frame->names = (Map){.arena = s->arena};
    return live_end(live, &mark) ? value : dsl_value_error();
}

Value live_constant(Live *live, const Weight *weight) {
    Sema *s = &live->sema;
    const Dim *dims[TYPE_MAX_RANK];
    LiveMark mark = live_begin(live);
    for (uint32_t i = 0; i < weight->rank; i++) dims[i] = dim_const(s->ctx, weight->dims[i]);
    const Type *type = type_tensor(s->ctx, weight->dtype, weight->rank, dims);
    if (dim_is_overflow(type_bytes(s->ctx, type))) sema_error(s, s->host_call, MSG_TYPE_TOO_LARGE);
    if (!live_end(live, &mark)) return dsl_value_error();
    Attr value = {.blob = ir_blob_adopt(s->ctx, weight->bytes, weight->size, weight_storage_release,
                                        weight_storage_retain(weight->storage))};
    return dsl_value_node(graph_add(s->graph, OP_const, type, NULL, 0, &value, NULL, 0,
                                    dsl_emit_origin(s, s->host_call)));
}

static bool has_output(const Graph *graph, Str name) {
    for (size_t i = 0; i < graph->outputs.count; i++)
        if (str_equal(*graph->outputs.data[i].name, name)) return true;
    return false;
}

bool live_output(Live *live, Str name, const LiveOperand *operand) {
    Sema *s = &live->sema;
    LiveMark mark = live_begin(live);
    NodeId node = NODE_none;
    Value value = dsl_value_error();
    if (s->block)
        sema_error(s, s->host_call, MSG_HOST_BLOCK, "an output");
    else if (good_name(s, name) && has_output(s->graph, name))
        sema_error(s, s->host_call, MSG_DUPLICATE_PARAMETER, STR_ARG(name));
    else
        value = live_reach(live, operand);
    if (value.kind != VALUE_error) node = dsl_operand_tensor(s, s->host_call, &value, DT_count);
    if (!live_end(live, &mark) || node == NODE_none) return false;
    graph_add_output(s->graph, name, node);
    return true;
}

const Type *live_param_type(const Live *live, Str name) {
    return map_get(&live->sema.module_params, name);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Whether an input has an axis that is this dim alone. */
static bool is_bound(const Graph *graph, const DimSymbol *symbol) {
    for (size_t i = 0; i < graph->inputs.count; i++) {
        const Type *type = graph_type(graph, graph->inputs.data[i]);
        for (uint32_t k = 0; k < type->rank; k++)
            if (dim_as_symbol(type->dims[k]) == symbol) return true;
    }
    return false;
}

static bool type_mentions(const Type *type, const DimSymbol *symbol) {
    for (uint32_t i = 0; i < type->rank; i++)
        if (dim_mentions(type->dims[i], symbol)) return true;
    return false;
}

static bool node_mentions(const Node *node, const DimSymbol *symbol) {
    if (type_mentions(node->type, symbol)) return true;
    if (node->op == OP_dim && dim_mentions(node->attrs[0].dim, symbol)) return true;
    for (uint32_t i = 0; i < node->region_count; i++) {
        const Graph *region = node->regions[i];
        for (NodeId id = 0; id < region->nodes.count; id++)
            if (node_mentions(graph_node(region, id), symbol)) return true;
    }
    return false;
}

/* The dim must be known where a live node needs it: in its type, or as a value. */
static const Node *find_use(const Graph *graph, const bool *live, const DimSymbol *symbol) {
    for (NodeId id = 0; id < graph->nodes.count; id++) {
        const Node *node = graph_node(graph, id);
        bool used = live[id] || node->op == OP_input;
        if (used && node_mentions(node, symbol)) return node;
    }
    return NULL;
}

static void check_dims(Sema *s) {
    const bool *live = graph_find_live(s->graph, s->arena);
    for (uint32_t i = 0; i < dim_symbol_count(s->ctx); i++) {
        const DimSymbol *symbol = dim_symbol_at(s->ctx, i);
        if (symbol->kind != SYMBOL_named || is_bound(s->graph, symbol)) continue;
        const Node *use = find_use(s->graph, live, symbol);
        if (!use) continue;
        s->host_call = origin_loc(use->origin);
        sema_error(s, s->host_call, MSG_UNBOUND_DIM, STR_ARG(symbol->name));
    }
}

bool live_check(Live *live) {
    Sema *s = &live->sema;
    LiveMark mark = live_begin(live);
    if (s->block)
        sema_error(s, s->block->origin->loc, MSG_HOST_OPEN);
    else if (!s->graph->outputs.count)
        sema_error(s, s->host_call, MSG_NO_OUTPUTS, STR_ARG(*s->graph->name));
    else
        check_dims(s);
    if (!live_end(live, &mark)) return false;
    dsl_model_warn(s);
    return true;
}
