/* memory: makes the Program.
 *
 * Every value of the fused graph gets a buffer: inputs and outputs are the caller's, parameters and
 * constants lie in the artefact, the rest in the arena. Kernels become launches in graph order. An
 * output that is an input, a parameter, a constant or another output is copied by an elementwise
 * kernel. A buffer lives from the launch that writes it to the last that reads it; an elementwise
 * kernel may write over an operand that dies with it. plan.c then finds the offsets, once for each
 * bucket of dims. */
#include "passes/memory/memory.h"

#include "base/map.h"
#include "base/messages.h"
#include "ir/program_tools.h"
#include "passes/compare.h"
#include "passes/kernel.h"
#include "passes/memory/buckets.h"
#include "passes/memory/plan.h"
#include "passes/rewrite.h"

#define NO_BUFFER UINT32_MAX

typedef struct Maker {
    PassContext *ctx;
    const Graph *graph;
    Program *program;
    Arena *arena;            /* the program's */
    uint32_t **node_buffers; /* by node: the buffer of each of its results */
    Map names;               /* of kernels */
    VEC(uint64_t) hashes;    /* of the kernels' regions */
} Maker;

/* ---- buffers --------------------------------------------------------------------------------- */

static uint32_t add_buffer(Maker *m, BufferKind kind, uint32_t index, const Type *type) {
    Buffer buffer = {.kind = kind, .index = index, .type = type};
    vec_push(m->arena, &m->program->buffers, buffer);
    return (uint32_t)m->program->buffers.count - 1;
}

static void add_constant(Maker *m, NodeId id) {
    const Node *node = graph_node(m->graph, id);
    bool param = node->op == OP_param;
    Constant constant = {.blob = node_attr(node, "value").blob, .type = node->type};
    constant.name = param ? node_attr(node, "name").str : ir_string(m->program->ctx, STR(""));
    if (!constant.blob) {
        diag_error(m->ctx->diags, node->origin ? node->origin->loc : (Loc){0}, MSG_PARAM_VALUE,
                   STR_ARG(*constant.name));
        return;
    }
    vec_push(m->arena, &m->program->constants, constant);
    uint32_t index = (uint32_t)m->program->constants.count - 1;
    *m->node_buffers[id] = add_buffer(m, BUFFER_constant, index, node->type);
}

static uint32_t result_count(const Node *node) {
    return node->type->is_tuple ? node->type->item_count : 1;
}

static const Type *result_type(const Node *node, uint32_t item) {
    return node->type->is_tuple ? node->type->items[item] : node->type;
}

/* The first output that is result `item` of node `id`; NO_BUFFER when none is. */
static uint32_t find_output(const Graph *graph, NodeId id, uint32_t item) {
    for (size_t i = 0; i < graph->outputs.count; i++) {
        NodeId at = graph->outputs.data[i].node;
        const Node *node = graph_node(graph, at);
        uint32_t picked = 0;
        if (node->op == OP_item) {
            picked = (uint32_t)node->attrs[0].i;
            at = node->args[0];
        }
        if (at == id && picked == item) return (uint32_t)i;
    }
    return NO_BUFFER;
}

static void add_results(Maker *m, NodeId id) {
    const Node *node = graph_node(m->graph, id);
    for (uint32_t i = 0; i < result_count(node); i++) {
        uint32_t output = find_output(m->graph, id, i);
        bool own = output == NO_BUFFER;
        m->node_buffers[id][i] = add_buffer(m, own ? BUFFER_arena : BUFFER_output, own ? 0 : output,
                                            result_type(node, i));
    }
}

/* The buffer of a value, an item included. */
static uint32_t buffer_of(const Maker *m, NodeId id) {
    const Node *node = graph_node(m->graph, id);
    if (node->op != OP_item) return *m->node_buffers[id];
    return m->node_buffers[node->args[0]][node->attrs[0].i];
}

/* ---- kernels --------------------------------------------------------------------------------- */

static char identifier_char(char c) {
    bool good = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return good ? c : '_';
}

/* `wanted` as a C identifier that no other kernel has. */
static const Str *unique_name(Maker *m, Str wanted) {
    Buf buf = {.arena = m->ctx->scratch};
    if (!wanted.size || (wanted.data[0] >= '0' && wanted.data[0] <= '9')) buf_char(&buf, 'k');
    for (size_t i = 0; i < wanted.size; i++) buf_char(&buf, identifier_char(wanted.data[i]));
    Str name = buf_str(&buf);
    for (uint32_t i = 2; map_get(&m->names, name); i++) {
        name = str_format(m->ctx->scratch, "%.*s_%u", STR_ARG(buf_str(&buf)), i);
    }
    map_set(&m->names, name, m);
    return ir_string(m->program->ctx, name);
}

static bool same_schedule(const Schedule *a, const Schedule *b) {
    const int64_t *x = (const int64_t *)a, *y = (const int64_t *)b;
    size_t i = 0;
    while (i < sizeof *a / sizeof *x && x[i] == y[i]) i++;
    return i == sizeof *a / sizeof *x;
}

static bool same_kernel(const Kernel *a, const Kernel *b) {
    return a->skeleton == b->skeleton && a->strategy == b->strategy &&
           same_schedule(&a->schedule, &b->schedule) && graph_equal(a->region, b->region);
}

/* The kernel's index; an equal one is not added again. */
static uint32_t add_kernel(Maker *m, Kernel kernel, Str name) {
    uint64_t hash = graph_hash(kernel.region);
    for (uint32_t i = 0; i < m->hashes.count; i++) {
        if (m->hashes.data[i] == hash && same_kernel(&m->program->kernels.data[i], &kernel))
            return i;
    }
    kernel.name = unique_name(m, name);
    vec_push(m->ctx->scratch, &m->hashes, hash);
    vec_push(m->arena, &m->program->kernels, kernel);
    return (uint32_t)m->program->kernels.count - 1;
}

static void add_launch(Maker *m, uint32_t kernel, const uint32_t *buffers, uint32_t count,
                       const Origin *origin) {
    Launch launch = {.kernel = kernel, .buffer_count = count, .origin = origin};
    launch.buffers = arena_copy(m->arena, buffers, count * sizeof *buffers);
    vec_push(m->arena, &m->program->launches, launch);
}

static Kernel read_kernel(const Maker *m, const Node *node) {
    Kernel kernel = {.region = node->regions[0]};
    kernel.skeleton = node_attr(node, "skeleton").str;
    kernel.strategy = node_attr(node, "strategy").str;
    const char *message;
    if (!schedule_parse(m->ctx->scratch, *node_attr(node, "schedule").str, &kernel.schedule,
                        &message)) {
        diag_error(m->ctx->diags, (Loc){0}, MSG_SCHEDULE, STR_ARG(kernel_name(node)), message);
    }
    return kernel;
}

static void launch_kernel(Maker *m, NodeId id) {
    const Node *node = graph_node(m->graph, id);
    uint32_t results = result_count(node), count = node->arg_count + results;
    uint32_t *buffers = NEW_ARRAY(m->ctx->scratch, uint32_t, count);
    add_results(m, id);
    for (uint32_t i = 0; i < node->arg_count; i++) buffers[i] = buffer_of(m, node->args[i]);
    for (uint32_t i = 0; i < results; i++) buffers[node->arg_count + i] = m->node_buffers[id][i];
    add_launch(m, add_kernel(m, read_kernel(m, node), kernel_name(node)), buffers, count,
               node->origin);
}

/* ---- outputs that are copies ----------------------------------------------------------------- */

static Kernel copy_kernel(const Maker *m, const Type *type) {
    IrContext *ctx = m->program->ctx;
    Graph *region = graph_new(ctx, m->arena, STR(""));
    graph_add_output(region, STR(""), graph_add_input(region, STR(""), type, NULL));
    Kernel kernel = {.region = region};
    kernel.skeleton = ir_string(ctx, STR("elementwise"));
    kernel.strategy = ir_string(ctx, STR(""));
    const char *message;
    schedule_parse(m->ctx->scratch, STR(""), &kernel.schedule, &message);
    return kernel;
}

/* Output `index` gets the values of `from`, the buffer of something else. */
static uint32_t copy_output(Maker *m, uint32_t index, uint32_t from, const Origin *origin) {
    const Type *type = m->program->buffers.data[from].type;
    uint32_t buffers[] = {from, add_buffer(m, BUFFER_output, index, type)};
    add_launch(m, add_kernel(m, copy_kernel(m, type), STR("copy")), buffers, 2, origin);
    return buffers[1];
}

static void add_outputs(Maker *m) {
    const Graph *graph = m->graph;
    uint32_t *outputs = NEW_ARRAY(m->arena, uint32_t, graph->outputs.count);
    for (uint32_t i = 0; i < graph->outputs.count; i++) {
        NodeId id = graph->outputs.data[i].node;
        uint32_t own = buffer_of(m, id);
        const Buffer *buffer = &m->program->buffers.data[own];
        bool direct = buffer->kind == BUFFER_output && buffer->index == i;
        outputs[i] = direct ? own : copy_output(m, i, own, graph_node(graph, id)->origin);
    }
    m->program->output_buffers = outputs;
}

/* ---- the program without its plan ------------------------------------------------------------ */

static void add_node(Maker *m, NodeId id) {
    const Node *node = graph_node(m->graph, id);
    m->node_buffers[id] = NEW_ARRAY(m->ctx->scratch, uint32_t, result_count(node));
    switch (node->op) {
    case OP_input:
        *m->node_buffers[id] = add_buffer(m, BUFFER_input, (uint32_t)node->attrs[0].i, node->type);
        break;
    case OP_param:
    case OP_const: add_constant(m, id); break;
    case OP_kernel: launch_kernel(m, id); break;
    default: break; /* an item is found through its kernel; other leaves stand inside kernels */
    }
}

static void add_nodes(Maker *m) {
    const Graph *graph = m->graph;
    const bool *kept = graph_find_kept(graph, m->ctx->scratch);
    m->node_buffers = NEW_ARRAY(m->ctx->scratch, uint32_t *, graph->nodes.count);
    for (NodeId id = 0; id < graph->nodes.count; id++) {
        if (kept[id]) add_node(m, id);
    }
    uint32_t *inputs = NEW_ARRAY(m->arena, uint32_t, graph->inputs.count);
    for (size_t i = 0; i < graph->inputs.count; i++) {
        inputs[i] = *m->node_buffers[graph->inputs.data[i]];
    }
    m->program->input_buffers = inputs;
    if (!diags_error_count(m->ctx->diags)) add_outputs(m);
}

/* ---- lifetimes and in-place pairs ------------------------------------------------------------ */

static void find_lifetimes(Program *program) {
    for (size_t i = 0; i < program->buffers.count; i++) {
        program->buffers.data[i].first_launch = UINT32_MAX;
    }
    for (uint32_t at = 0; at < program->launches.count; at++) {
        const Launch *launch = &program->launches.data[at];
        for (uint32_t i = 0; i < launch->buffer_count; i++) {
            Buffer *buffer = &program->buffers.data[launch->buffers[i]];
            if (buffer->first_launch == UINT32_MAX) buffer->first_launch = at;
            buffer->last_launch = at;
        }
    }
}

/* The arena buffer that the launch may write its result over, or NO_BUFFER. */
static uint32_t find_victim(const Program *program, uint32_t at) {
    const Launch *launch = &program->launches.data[at];
    const Kernel *kernel = &program->kernels.data[launch->kernel];
    for (uint32_t i = 0; i < kernel->region->inputs.count; i++) {
        const Buffer *buffer = &program->buffers.data[launch->buffers[i]];
        if (buffer->kind != BUFFER_arena || buffer->last_launch != at) continue;
        bool twice = false;
        for (uint32_t k = 0; k < kernel->region->inputs.count; k++) {
            twice |= k != i && launch->buffers[k] == launch->buffers[i];
        }
        if (!twice && program_in_place(kernel, i)) return launch->buffers[i];
    }
    return NO_BUFFER;
}

/* By buffer: the first of the chain of buffers that follow one another in one place. */
static uint32_t *find_places(const Program *program, Arena *scratch) {
    uint32_t *place = NEW_ARRAY(scratch, uint32_t, program->buffers.count);
    for (uint32_t i = 0; i < program->buffers.count; i++) place[i] = i;
    for (uint32_t at = 0; at < program->launches.count; at++) {
        const Launch *launch = &program->launches.data[at];
        uint32_t result = launch->buffers[launch->buffer_count - 1];
        if (program->buffers.data[result].kind != BUFFER_arena) continue;
        uint32_t victim = find_victim(program, at);
        if (victim != NO_BUFFER) place[result] = place[victim];
    }
    return place;
}

/* ---- offsets --------------------------------------------------------------------------------- */

static int64_t aligned(int64_t bytes) {
    return (bytes + BUFFER_ALIGNMENT - 1) / BUFFER_ALIGNMENT * BUFFER_ALIGNMENT;
}

/* The blocks to place for one bucket; block_of maps buffers to them. Empty tensors take a line too,
 * so that every buffer has an address of its own. */
static uint32_t collect_blocks(const Maker *m, uint32_t bucket, const uint32_t *place,
                               PlanBlock *blocks, uint32_t *block_of) {
    const Program *program = m->program;
    uint32_t count = 0;
    for (uint32_t i = 0; i < program->buffers.count; i++) {
        const Buffer *buffer = &program->buffers.data[i];
        if (buffer->kind != BUFFER_arena) continue;
        int64_t bytes = program_bytes(program, buffer->type, bucket);
        if (place[i] == i) {
            block_of[i] = count;
            blocks[count++] = (PlanBlock){.first = buffer->first_launch, .bytes = BUFFER_ALIGNMENT};
        }
        PlanBlock *block = &blocks[block_of[i] = block_of[place[i]]];
        if (aligned(bytes) > block->bytes) block->bytes = aligned(bytes);
        if (buffer->last_launch > block->last) block->last = buffer->last_launch;
    }
    return count;
}

static void plan_bucket(const Maker *m, uint32_t bucket, const uint32_t *place) {
    Program *program = m->program;
    Arena *scratch = m->ctx->scratch;
    PlanBlock *blocks = NEW_ARRAY(scratch, PlanBlock, program->buffers.count);
    uint32_t *block_of = NEW_ARRAY(scratch, uint32_t, program->buffers.count);
    uint32_t count = collect_blocks(m, bucket, place, blocks, block_of);
    int64_t bound = plan_lower_bound(scratch, blocks, count);
    program->buckets[bucket].arena_bytes = plan_blocks(scratch, blocks, count);
    for (uint32_t i = 0; i < program->buffers.count; i++) {
        Buffer *buffer = &program->buffers.data[i];
        if (buffer->kind == BUFFER_arena) buffer->offset[bucket] = blocks[block_of[i]].offset;
    }
    Remark remark = {.rule = "plan", .kind = REMARK_choice, .number_count = 4};
    remark.numbers[0] = (RemarkNumber){"bucket", bucket};
    remark.numbers[1] = (RemarkNumber){"arena bytes", (double)program->buckets[bucket].arena_bytes};
    remark.numbers[2] = (RemarkNumber){"lower bound", (double)bound};
    remark.numbers[3] = (RemarkNumber){"places", count};
    pass_remark(m->ctx, &remark);
}

Program *memory_make_program(PassContext *ctx, Arena *arena, const Graph *graph) {
    Program *program = NEW(arena, Program);
    program->ctx = graph->ctx;
    program->arena = arena;
    program->graph = graph;
    program->target = ctx->target;
    program->places = ctx->diags;
    Maker m = {.ctx = ctx, .graph = graph, .program = program, .arena = arena};
    m.names.arena = ctx->scratch;
    size_t errors = diags_error_count(ctx->diags);
    add_nodes(&m);
    if (diags_error_count(ctx->diags) > errors) return NULL;
    memory_find_buckets(program, ctx->scratch);
    find_lifetimes(program);
    const uint32_t *place = find_places(program, ctx->scratch);
    for (uint32_t b = 0; b < program->bucket_count; b++) plan_bucket(&m, b, place);
    return program;
}
