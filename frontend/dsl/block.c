/* Blocks of cond, loop and scan. A region captures nothing: what a block uses from outside comes in
 * as inputs, which are gathered while it is open, in the order of their first use. When the last
 * block of an op is closed its blocks are built anew with the inputs that the op wants: those of
 * all its blocks together, which a loop and a scan carry from step to step as they are. */
#include "frontend/dsl/live_internal.h"

/* ---- reaching outside ------------------------------------------------------------------------ */

static Str node_key(const NodeId *node) { return (Str){(const char *)node, sizeof *node}; }

/* `outer`, a node of `graph`, as an input of the body. */
static NodeId capture(Sema *s, Body *body, const Graph *graph, NodeId outer) {
    uintptr_t known = (uintptr_t)map_get(&body->by_outer, node_key(&outer));
    if (known) return body->captures.data[known - 1].inner;
    Str name = str_format(s->arena, "v%zu", body->graph->inputs.count);
    const Node *node = graph_node(graph, outer);
    Capture made = {outer, graph_add_input(body->graph, name, node->type, node->origin)};
    vec_push(s->arena, &body->captures, made);
    map_set(&body->by_outer, node_key(&outer), (void *)(uintptr_t)body->captures.count);
    return made.inner;
}

static const Graph *graph_around(const LiveBlock *block, const Graph *model) {
    return block->outer ? block->outer->body.graph : model;
}

/* A node of the block with that number, which is `block` or around it, within `block`. */
static NodeId reach_from(Sema *s, LiveBlock *block, const Graph *model, uint32_t number,
                         NodeId node) {
    if (!block || block->number == number) return node;
    NodeId outer = reach_from(s, block->outer, model, number, node);
    return capture(s, &block->body, graph_around(block, model), outer);
}

static bool is_open(const LiveBlock *block, uint32_t number) {
    while (block && block->number != number) block = block->outer;
    return block || !number;
}

static Value reach_value(Live *live, const Value *value, uint32_t number) {
    Sema *s = &live->sema;
    Value here = *value;
    if (value->kind == VALUE_tensor)
        here.node = reach_from(s, s->block, live->graph, number, value->node);
    if (value->kind != VALUE_list && value->kind != VALUE_tuple) return here;
    Value *items = NEW_ARRAY(s->arena, Value, value->list.count);
    for (uint32_t i = 0; i < value->list.count; i++)
        items[i] = reach_value(live, &value->list.items[i], number);
    here.list.items = items;
    return here;
}

Value live_reach(Live *live, const LiveOperand *operand) {
    Sema *s = &live->sema;
    if (operand->block == live_block(live)) return operand->value;
    if (is_open(s->block, operand->block))
        return reach_value(live, &operand->value, operand->block);
    if (sema_error(s, s->host_call, MSG_HOST_CLOSED))
        diag_note(s->diags, operand->loc, MSG_NOTE_MADE);
    return dsl_value_error();
}

/* Only what is built call by call has blocks: its Sema is the first member of a Live. */
Graph *dsl_model_graph(Sema *s) { return s->block ? ((Live *)(void *)s)->graph : s->graph; }

NodeId dsl_block_reach(Sema *s, NodeId node) {
    if (!s->block || node == NODE_none) return node;
    return reach_from(s, s->block, dsl_model_graph(s), 0, node);
}

/* ---- opening --------------------------------------------------------------------------------- */

static void open_body(Live *live, LiveBlock *block) {
    Sema *s = &live->sema;
    block->body =
        (Body){.graph = graph_new(s->ctx, s->arena, STR("")), .by_outer = {.arena = s->arena}};
    vec_push(s->arena, &live->block_graphs, block->body.graph);
    block->number = (uint32_t)live->block_graphs.count;
    s->graph = block->body.graph;
    s->memo = (Map){.arena = s->arena};
    s->block = block;
}

static LiveBlock *new_block(Live *live, LiveKind kind, const LiveMark *before, uint32_t arg_count) {
    Sema *s = &live->sema;
    LiveBlock *block = NEW(s->arena, LiveBlock);
    block->outer = s->block;
    block->kind = kind;
    block->before = *before;
    block->origin = dsl_emit_origin(s, s->host_call);
    block->outer_memo = s->memo;
    block->args = NEW_ARRAY(s->arena, NodeId, arg_count);
    return block;
}

static bool add_args(Live *live, LiveBlock *block, const LiveOperand *operands, uint32_t count) {
    Sema *s = &live->sema;
    for (uint32_t i = 0; i < count; i++) {
        Value value = live_reach(live, &operands[i]);
        NodeId node = dsl_operand_tensor(s, operands[i].loc, &value, DT_count);
        if (node == NODE_none) return false;
        block->args[block->arg_count++] = node;
    }
    return true;
}

static Value add_given(Live *live, LiveBlock *block, const Type *type) {
    Body *body = &block->body;
    Str name = str_format(live->sema.arena, "v%u", body->given++);
    return dsl_value_node(graph_add_input(body->graph, name, type, block->origin));
}

/* The carried values within the block that is open. */
static void give_carried(Live *live, LiveBlock *block, Value *out_values) {
    const Graph *around = graph_around(block, live->graph);
    for (uint32_t i = 0; i < block->carried; i++)
        out_values[i] = add_given(live, block, graph_type(around, block->args[i]));
}

static bool check_condition(Sema *s, NodeId node, const char *op) {
    const Type *type = sema_type(s, node);
    if (type->dtype == DT_bool && type->rank == 0) return true;
    if (type->dtype != DT_bool)
        sema_error(s, s->host_call, MSG_DTYPE_CONDITION, op, sema_type_text(s, node));
    else
        sema_error(s, s->host_call, MSG_NOT_SCALAR, "the condition", op, sema_type_text(s, node));
    return false;
}

bool live_begin_cond(Live *live, const LiveOperand *condition) {
    LiveMark mark = live_begin(live);
    LiveBlock *block = new_block(live, LIVE_cond, &mark, 1);
    bool good =
        add_args(live, block, condition, 1) && check_condition(&live->sema, block->args[0], "cond");
    if (!live_end(live, &mark) || !good) return false;
    open_body(live, block);
    return true;
}

bool live_begin_loop(Live *live, const LiveOperand *carried, uint32_t count, int64_t limit,
                     Value *out_values) {
    Sema *s = &live->sema;
    LiveMark mark = live_begin(live);
    LiveBlock *block = new_block(live, LIVE_loop, &mark, count);
    block->carried = count;
    block->limit = limit;
    bool good = add_args(live, block, carried, count);
    if (good && limit < 0)
        sema_error(s, s->host_call, MSG_ATTR_LEAST, "limit", "loop", (long long)limit, 0);
    else if (good && !count)
        sema_error(s, s->host_call, MSG_NO_RESULTS, "loop");
    if (!live_end(live, &mark) || !good) return false;
    open_body(live, block);
    give_carried(live, block, out_values);
    return true;
}

static const Type *slice_type(Sema *s, NodeId sequence) {
    const Type *type = sema_type(s, sequence);
    if (type->rank) return type_tensor(s->ctx, type->dtype, type->rank - 1, type->dims + 1);
    sema_error(s, s->host_call, MSG_RANK_LEAST, "scan", 1u, sema_type_text(s, sequence));
    return NULL;
}

bool live_begin_scan(Live *live, const LiveOperand *carried, uint32_t carried_count,
                     const LiveOperand *sequences, uint32_t sequence_count, bool reverse,
                     Value *out_values) {
    Sema *s = &live->sema;
    LiveMark mark = live_begin(live);
    LiveBlock *block = new_block(live, LIVE_scan, &mark, carried_count + sequence_count);
    const Type **types = NEW_ARRAY(s->arena, const Type *, sequence_count);
    block->carried = carried_count;
    block->reverse = reverse;
    bool good = add_args(live, block, carried, carried_count) &&
                add_args(live, block, sequences, sequence_count);
    if (good && !sequence_count)
        sema_error(s, s->host_call, MSG_CARRIED, (long long)carried_count, carried_count);
    for (uint32_t i = 0; good && i < sequence_count; i++)
        types[i] = slice_type(s, block->args[carried_count + i]);
    if (!live_end(live, &mark) || !good) return false;
    open_body(live, block);
    give_carried(live, block, out_values);
    for (uint32_t i = 0; i < sequence_count; i++)
        out_values[carried_count + i] = add_given(live, block, types[i]);
    return true;
}

uint32_t live_carried(const Live *live) { return live->sema.block ? live->sema.block->carried : 0; }

/* ---- results --------------------------------------------------------------------------------- */

/* What numbers that are known at compile time become: the dtype of the value that the result goes
 * on as. */
static DType wanted_dtype(const LiveBlock *block, uint32_t i) {
    const Graph *graph = block->body.graph;
    if (block->kind == LIVE_cond) {
        const Graph *first = block->first.graph;
        if (!first || i >= first->outputs.count) return DT_count;
        return graph_type(first, first->outputs.data[i].node)->dtype;
    }
    bool goes_on = i < block->carried && (block->kind == LIVE_scan || block->second);
    return goes_on ? graph_type(graph, graph->inputs.data[i])->dtype : DT_count;
}

/* Leaves the results as outputs; none when one is wrong. */
static bool set_results(Live *live, LiveBlock *block, const LiveOperand *results, uint32_t count) {
    Sema *s = &live->sema;
    NodeId *nodes = NEW_ARRAY(s->arena, NodeId, count);
    for (uint32_t i = 0; i < count; i++) {
        Value value = live_reach(live, &results[i]);
        nodes[i] = dsl_operand_tensor(s, results[i].loc, &value, wanted_dtype(block, i));
        if (nodes[i] == NODE_none) return false;
    }
    for (uint32_t i = 0; i < count; i++) graph_add_output(s->graph, STR(""), nodes[i]);
    return true;
}

static bool has_first_results(Live *live, const LiveBlock *block, uint32_t count) {
    Sema *s = &live->sema;
    uint32_t want = block->kind == LIVE_loop ? 1 : count;
    if (block->kind == LIVE_scan || block->second)
        sema_error(s, s->host_call, MSG_HOST_NO_SECOND);
    else if (count != want)
        sema_error(s, s->host_call, MSG_REGION_OUTPUTS, "loop", (size_t)count, (size_t)want);
    else if (!count)
        sema_error(s, s->host_call, MSG_NO_RESULTS, "cond");
    else
        return true;
    return false;
}

/* NULL after a report. */
static LiveBlock *open_block(Sema *s) {
    if (!s->block) sema_error(s, s->host_call, MSG_HOST_NO_BLOCK);
    return s->block;
}

bool live_next_block(Live *live, const LiveOperand *results, uint32_t count, Value *out_values) {
    Sema *s = &live->sema;
    LiveMark mark = live_begin(live);
    LiveBlock *block = open_block(s);
    bool good =
        block && has_first_results(live, block, count) && set_results(live, block, results, count);
    if (good && block->kind == LIVE_loop &&
        !check_condition(s, s->graph->outputs.data[0].node, "loop"))
        s->graph->outputs.count = 0;
    if (!live_end(live, &mark) || !good) return false;
    block->first = block->body;
    block->second = true;
    open_body(live, block);
    give_carried(live, block, out_values);
    return true;
}

/* ---- closing --------------------------------------------------------------------------------- */

/* What all blocks of the op use from outside, each once, in order. */
typedef struct Outside {
    VEC(NodeId) nodes;
    Map known;
} Outside;

static void add_outside(Sema *s, Outside *outside, const Body *body) {
    for (size_t i = 0; i < body->captures.count; i++) {
        NodeId outer = body->captures.data[i].outer;
        if (map_set(&outside->known, node_key(&outer), s)) continue;
        vec_push(s->arena, &outside->nodes, outer);
    }
}

/* The body as a region whose inputs are the first `head` of those that it was opened with, all from
 * outside, and the rest; `pass_at` says behind which outputs those from outside go on, -1: they do
 * not. */
typedef struct Shape {
    uint32_t head;
    int64_t pass_at;
} Shape;

static const Graph *build_region(Live *live, const LiveBlock *block, const Body *body,
                                 const Outside *outside, Shape shape) {
    Sema *s = &live->sema;
    const Graph *from = body->graph, *around = graph_around(block, live->graph);
    Graph *to = graph_new(s->ctx, s->arena, STR(""));
    NodeId *map = NEW_ARRAY(s->arena, NodeId, from->nodes.count);
    NodeId *passed = NEW_ARRAY(s->arena, NodeId, outside->nodes.count);
    for (uint32_t i = 0; i < shape.head; i++)
        map[from->inputs.data[i]] = graph_copy_node(to, from, from->inputs.data[i], map);
    for (size_t i = 0; i < outside->nodes.count; i++) {
        NodeId outer = outside->nodes.data[i];
        uintptr_t at = (uintptr_t)map_get(&body->by_outer, node_key(&outer));
        Str name = str_format(s->arena, "v%zu", to->inputs.count);
        passed[i] = graph_add_input(to, name, graph_type(around, outer), block->origin);
        if (at) map[body->captures.data[at - 1].inner] = passed[i];
    }
    for (uint32_t i = shape.head; i < body->given; i++) {
        const Node *node = graph_node(from, from->inputs.data[i]);
        Str name = str_format(s->arena, "v%zu", to->inputs.count);
        map[from->inputs.data[i]] = graph_add_input(to, name, node->type, node->origin);
    }
    for (NodeId id = 0; id < from->nodes.count; id++)
        if (graph_node(from, id)->op != OP_input) map[id] = graph_copy_node(to, from, id, map);
    for (size_t i = 0; i <= from->outputs.count; i++) {
        for (size_t k = 0; (int64_t)i == shape.pass_at && k < outside->nodes.count; k++)
            graph_add_output(to, STR(""), passed[k]);
        if (i < from->outputs.count) graph_add_output(to, STR(""), map[from->outputs.data[i].node]);
    }
    return to;
}

/* The checks of a body are those of the model around. */
static void lift_checks(Graph *around, const Body *body) {
    if (body->graph) graph_copy_checks(around, body->graph);
}

static NodeId *join_args(Sema *s, const LiveBlock *block, const Outside *outside, uint32_t head) {
    size_t more = outside->nodes.count;
    NodeId *args = NEW_ARRAY(s->arena, NodeId, block->arg_count + more);
    for (uint32_t i = 0; i < block->arg_count; i++) args[i < head ? i : i + more] = block->args[i];
    for (size_t i = 0; i < more; i++) args[head + i] = outside->nodes.data[i];
    return args;
}

/* The op in the graph around, which is the one of `s` again. NODE_none after a report. */
static NodeId build_op(Live *live, LiveBlock *block) {
    static const Op ops[] = {[LIVE_cond] = OP_cond, [LIVE_loop] = OP_loop, [LIVE_scan] = OP_scan};
    Sema *s = &live->sema;
    Outside outside = {.known = {.arena = s->arena}};
    add_outside(s, &outside, &block->first);
    add_outside(s, &outside, &block->body);
    uint32_t more = (uint32_t)outside.nodes.count;
    uint32_t head = block->kind == LIVE_cond ? 1 : block->carried;
    uint32_t inner = block->kind == LIVE_cond ? 0 : block->carried;
    int64_t pass_at = block->kind == LIVE_cond ? -1 : (int64_t)block->carried;
    const Graph *regions[2];
    uint32_t count = 0;
    if (block->first.graph)
        regions[count++] = build_region(live, block, &block->first, &outside, (Shape){inner, -1});
    regions[count++] = build_region(live, block, &block->body, &outside, (Shape){inner, pass_at});
    lift_checks(s->graph, &block->first);
    lift_checks(s->graph, &block->body);
    Attr attrs[2] = {{.i = block->limit}, {0}};
    if (block->kind == LIVE_scan) {
        attrs[0].i = block->carried + more;
        attrs[1].i = block->reverse;
    }
    return graph_build(s->graph, s->diags, dsl_emit_origin(s, s->host_call), ops[block->kind],
                       join_args(s, block, &outside, head), block->arg_count + more, attrs, regions,
                       count);
}

/* The results that the host asked for: those from outside that only went through are left out. */
static Value give_results(Live *live, const LiveBlock *block, NodeId node, size_t wanted) {
    Sema *s = &live->sema;
    const Type *type = sema_type(s, node);
    if (!type->is_tuple) return dsl_value_node(node);
    uint32_t through = type->item_count - (uint32_t)wanted, count = 0;
    Value *items = NEW_ARRAY(s->arena, Value, wanted);
    for (uint32_t i = 0; i < type->item_count; i++) {
        bool only_through = i >= block->carried && i < block->carried + through;
        if (block->kind != LIVE_cond && only_through) continue;
        Attr index = {.i = i};
        items[count++] = dsl_value_node(dsl_emit(s, s->host_call, OP_item, &node, 1, &index));
    }
    if (count == 1) return items[0];
    return (Value){.kind = VALUE_tuple, .list = {count, 1, items}};
}

static bool may_end(Live *live, const LiveBlock *block, uint32_t count) {
    Sema *s = &live->sema;
    size_t want = block->kind == LIVE_loop ? block->carried
                  : block->first.graph     ? block->first.graph->outputs.count
                                           : count;
    static const char *const names[] = {"cond", "loop", "scan"};
    if (block->kind != LIVE_scan && !block->second)
        sema_error(s, s->host_call, MSG_HOST_NEXT, names[block->kind]);
    else if (count != want || (block->kind == LIVE_scan && count < block->carried))
        sema_error(s, s->host_call, MSG_REGION_OUTPUTS, names[block->kind], (size_t)count,
                   block->kind == LIVE_scan ? (size_t)block->carried : want);
    else if (!count)
        sema_error(s, s->host_call, MSG_NO_RESULTS, names[block->kind]);
    else
        return true;
    return false;
}

/* Makes the block around the innermost one again. */
static void leave(Live *live, const LiveBlock *block) {
    Sema *s = &live->sema;
    s->block = block->outer;
    s->graph = block->outer ? block->outer->body.graph : live->graph;
    s->memo = block->outer_memo;
}

/* A block that ends with results that are wrong is open still. */
Value live_end_block(Live *live, const LiveOperand *results, uint32_t count) {
    Sema *s = &live->sema;
    LiveMark mark = live_begin(live);
    LiveBlock *block = open_block(s);
    bool good = block && may_end(live, block, count) && set_results(live, block, results, count);
    if (!live_end(live, &mark) || !good) return dsl_value_error();
    leave(live, block);
    mark = live_begin(live);
    NodeId node = build_op(live, block);
    Value value = node == NODE_none ? dsl_value_error() : give_results(live, block, node, count);
    return live_end(live, &mark) ? value : dsl_value_error();
}

uint32_t live_depth(const Live *live) {
    uint32_t depth = 0;
    for (const LiveBlock *block = live->sema.block; block; block = block->outer) depth++;
    return depth;
}

bool live_abandon_block(Live *live) {
    LiveMark mark = live_begin(live);
    const LiveBlock *block = open_block(&live->sema);
    if (!live_end(live, &mark)) return false;
    leave(live, block);
    live_undo(live, &block->before);
    return true;
}
