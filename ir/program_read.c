/* Reading the text of a program. The graph that it was made from is built again from the launches:
 * a leaf for each input and constant, a kernel node for each launch. */
#include "base/messages.h"
#include "ir/infer.h"
#include "ir/program_tools.h"
#include "ir/text_internal.h"

enum { MAX_ITEMS = 1 << 20, MAX_SLOTS = 256 };

typedef struct Reader {
    TextReader in;
    BlobLookup *lookup;
    void *user;
    Program *program;
    Graph *graph;
    NodeId *nodes; /* by buffer: what is in it; NODE_none before that */
    VEC(const Str *) outputs;
} Reader;

static bool wrong(const TextReader *at, const char *what) {
    TextReader in = *at;
    return text_wrong(&in, what);
}

static bool read_count(Reader *r, uint64_t limit, uint32_t *out_value) {
    TextReader start = r->in;
    int64_t value;
    if (!text_int(&r->in, &value)) return false;
    *out_value = (uint32_t)value;
    return (value >= 0 && (uint64_t)value < limit) || wrong(&start, "a number in its range");
}

/* A letter and a number: "b12". */
static bool read_numbered(Reader *r, char letter, uint64_t limit, uint32_t *out_index) {
    TextReader start = r->in;
    Str name;
    int64_t value;
    if (!text_name(&r->in, &name)) return false;
    bool good = name.data[0] == letter && str_to_int((Str){name.data + 1, name.size - 1}, &value) &&
                value >= 0 && (uint64_t)value < limit;
    if (good) *out_index = (uint32_t)value;
    return good || wrong(&start, "something that is there");
}

/* The next of a numbered list. */
static bool read_next(Reader *r, char letter, size_t count) {
    TextReader start = r->in;
    uint32_t index;
    if (count >= MAX_ITEMS) return wrong(&start, "fewer lines");
    if (!read_numbered(r, letter, count + 1, &index)) return false;
    return index == count || wrong(&start, "the next number");
}

/* ---- interface, dims, constants -------------------------------------------------------------- */

static bool read_interface(Reader *r) {
    const Type *type;
    Str name;
    while (text_accept(&r->in, "input")) {
        if (!text_string(&r->in, &name) || !text_expect(&r->in, ":") || !text_type(&r->in, &type))
            return false;
        graph_add_input(r->graph, str_copy(r->in.arena, name), type, NULL);
    }
    while (text_accept(&r->in, "output")) {
        if (!text_string(&r->in, &name)) return false;
        vec_push(r->in.arena, &r->outputs, ir_string(r->in.ctx, name));
    }
    return text_checks(&r->in, r->graph);
}

/* The first bucket names the dims by slot. */
static bool read_bucket_dim(Reader *r, uint32_t slot, int64_t *out_hi) {
    TextReader start = r->in;
    Str name;
    if (!text_name(&r->in, &name)) return false;
    const DimSymbol *symbol = dim_find_symbol(r->in.ctx, name);
    if (!symbol) return wrong(&start, "a dim");
    if (r->program->bucket_count == 0) vec_push(r->in.arena, &r->program->dims, symbol);
    if (slot >= r->program->dims.count || r->program->dims.data[slot] != symbol)
        return wrong(&start, "the dims in their order");
    return text_expect(&r->in, "<=") && text_int(&r->in, out_hi) && text_expect(&r->in, ",");
}

static bool read_bucket(Reader *r) {
    Program *p = r->program;
    uint32_t number, slot = 0;
    int64_t *hi = NEW_ARRAY(r->in.arena, int64_t, MAX_SLOTS);
    if (!read_count(r, PROGRAM_MAX_BUCKETS, &number) || !text_expect(&r->in, ":")) return false;
    while (!text_accept(&r->in, "arena")) {
        if (slot == MAX_SLOTS) return text_wrong(&r->in, "fewer dims");
        if (!read_bucket_dim(r, slot, &hi[slot])) return false;
        slot++;
    }
    if (number != p->bucket_count || slot != p->dims.count)
        return text_wrong(&r->in, "buckets in their order");
    Bucket *bucket = &p->buckets[p->bucket_count++];
    bucket->hi = hi;
    return text_expect(&r->in, "of") && text_int(&r->in, &bucket->arena_bytes) &&
           text_expect(&r->in, "bytes");
}

static bool read_constant(Reader *r) {
    Constant c = {.name = ir_string(r->in.ctx, STR(""))};
    Str name;
    if (!read_next(r, 'c', r->program->constants.count) || !text_expect(&r->in, ":") ||
        !text_type(&r->in, &c.type) || !text_expect(&r->in, "=") ||
        !text_value(&r->in, c.type, r->lookup, r->user, &c.blob))
        return false;
    if (text_peek(&r->in, "\"")) {
        if (!text_string(&r->in, &name)) return false;
        c.name = ir_string(r->in.ctx, name);
    }
    vec_push(r->in.arena, &r->program->constants, c);
    return true;
}

/* ---- buffers --------------------------------------------------------------------------------- */

static bool read_place(Reader *r, Buffer *buffer) {
    if (!text_expect(&r->in, ",") || !text_expect(&r->in, "launches") ||
        !read_count(r, MAX_ITEMS, &buffer->first_launch) || !text_expect(&r->in, "to") ||
        !read_count(r, MAX_ITEMS, &buffer->last_launch) || !text_expect(&r->in, ",") ||
        !text_expect(&r->in, "at"))
        return false;
    for (uint32_t b = 0; b < r->program->bucket_count; b++) {
        if (b > 0 && !text_expect(&r->in, ",")) return false;
        if (!text_int(&r->in, &buffer->offset[b])) return false;
    }
    return true;
}

static bool read_kind(Reader *r, Buffer *buffer) {
    const Program *p = r->program;
    buffer->kind = BUFFER_arena;
    if (text_accept(&r->in, "arena")) return read_place(r, buffer);
    buffer->kind = BUFFER_input;
    if (text_accept(&r->in, "input")) return read_count(r, r->graph->inputs.count, &buffer->index);
    buffer->kind = BUFFER_output;
    if (text_accept(&r->in, "output")) return read_count(r, r->outputs.count, &buffer->index);
    buffer->kind = BUFFER_constant;
    return text_expect(&r->in, "constant") && read_count(r, p->constants.count, &buffer->index);
}

static bool read_buffer(Reader *r) {
    Buffer buffer = {.kind = BUFFER_arena};
    if (!read_next(r, 'b', r->program->buffers.count) || !text_expect(&r->in, ":") ||
        !text_type(&r->in, &buffer.type) || !read_kind(r, &buffer))
        return false;
    vec_push(r->in.arena, &r->program->buffers, buffer);
    return true;
}

static NodeId constant_node(Reader *r, const Constant *c) {
    Attr param[] = {{.str = c->name}, {.blob = c->blob}};
    Attr value[] = {{.blob = c->blob}};
    bool named = c->name->size > 0;
    return graph_add(r->graph, named ? OP_param : OP_const, c->type, NULL, 0, named ? param : value,
                     NULL, 0, NULL);
}

/* What is there before the first launch; the numbers of the caller's buffers. */
static void fill_buffers(Reader *r) {
    Program *p = r->program;
    uint32_t *inputs = NEW_ARRAY(r->in.arena, uint32_t, r->graph->inputs.count);
    uint32_t *outputs = NEW_ARRAY(r->in.arena, uint32_t, r->outputs.count);
    r->nodes = NEW_ARRAY(r->in.arena, NodeId, p->buffers.count);
    for (uint32_t i = 0; i < p->buffers.count; i++) {
        const Buffer *b = &p->buffers.data[i];
        r->nodes[i] = NODE_none;
        if (b->kind == BUFFER_output) outputs[b->index] = i;
        if (b->kind == BUFFER_constant)
            r->nodes[i] = constant_node(r, &p->constants.data[b->index]);
        if (b->kind != BUFFER_input) continue;
        inputs[b->index] = i;
        r->nodes[i] = r->graph->inputs.data[b->index];
    }
    p->input_buffers = inputs;
    p->output_buffers = outputs;
}

/* ---- kernels and launches -------------------------------------------------------------------- */

static bool read_schedule(Reader *r, Schedule *out) {
    TextReader start = r->in;
    Str text = STR("");
    const char *message;
    if (text_accept(&r->in, "with") && !text_string(&r->in, &text)) return false;
    return schedule_parse(r->in.arena, text, out, &message) || wrong(&start, "a schedule");
}

static bool read_kernel(Reader *r) {
    Str name, skeleton, strategy = STR("");
    Kernel kernel;
    if (!text_name(&r->in, &name) || !text_expect(&r->in, ":") || !text_name(&r->in, &skeleton))
        return false;
    if (text_accept(&r->in, "by") && !text_string(&r->in, &strategy)) return false;
    if (!read_schedule(r, &kernel.schedule) ||
        !text_region(&r->in, r->lookup, r->user, r->graph, &kernel.region))
        return false;
    kernel.name = ir_string(r->in.ctx, name);
    kernel.skeleton = ir_string(r->in.ctx, skeleton);
    kernel.strategy = ir_string(r->in.ctx, strategy);
    vec_push(r->in.arena, &r->program->kernels, kernel);
    return true;
}

static const Kernel *find_kernel(const Reader *r, Str name, uint32_t *out_index) {
    for (uint32_t i = 0; i < r->program->kernels.count; i++) {
        *out_index = i;
        if (str_equal(*r->program->kernels.data[i].name, name)) return &r->program->kernels.data[i];
    }
    return NULL;
}

/* "(b0, b1)" into the list from `at` on. */
static bool read_buffers(Reader *r, uint32_t *list, size_t count) {
    if (!text_expect(&r->in, "(")) return false;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && !text_expect(&r->in, ",")) return false;
        if (!read_numbered(r, 'b', r->program->buffers.count, &list[i])) return false;
    }
    return text_expect(&r->in, ")");
}

/* The launch as a kernel node of the graph; its results are in its buffers from now on. */
static bool add_node(Reader *r, const Launch *launch, const TextReader *start) {
    const Kernel *kernel = &r->program->kernels.data[launch->kernel];
    uint32_t inputs = (uint32_t)kernel->region->inputs.count;
    uint32_t outputs = launch->buffer_count - inputs;
    NodeId *args = NEW_ARRAY(r->in.arena, NodeId, inputs);
    Buf schedule = {.arena = r->in.arena};
    buf_schedule(&schedule, &kernel->schedule);
    Attr attrs[] = {{.str = kernel->name},
                    {.str = kernel->skeleton},
                    {.str = kernel->strategy},
                    {.str = ir_string(r->in.ctx, buf_str(&schedule))}};
    for (uint32_t i = 0; i < inputs; i++) {
        args[i] = r->nodes[launch->buffers[i]];
        if (args[i] == NODE_none) return wrong(start, "a launch of what is there");
    }
    const Type *type =
        infer_type(r->graph, r->in.diags, NULL, OP_kernel, args, inputs, attrs, &kernel->region, 1);
    if (!type) return false;
    NodeId node =
        graph_add(r->graph, OP_kernel, type, args, inputs, attrs, &kernel->region, 1, NULL);
    for (uint32_t i = 0; i < outputs; i++) {
        Attr item[] = {{.i = i}};
        r->nodes[launch->buffers[inputs + i]] =
            !type->is_tuple
                ? node
                : graph_add(r->graph, OP_item, type->items[i], &node, 1, item, NULL, 0, NULL);
    }
    return true;
}

static bool read_launch(Reader *r) {
    TextReader start = r->in;
    Launch launch = {.kernel = 0};
    Str name;
    uint32_t number;
    if (!read_count(r, r->program->launches.count + 1, &number) || !text_expect(&r->in, ":") ||
        !text_name(&r->in, &name))
        return false;
    const Kernel *kernel = find_kernel(r, name, &launch.kernel);
    if (!kernel) return wrong(&start, "a launch of a kernel");
    size_t inputs = kernel->region->inputs.count, outputs = kernel->region->outputs.count;
    uint32_t *list = NEW_ARRAY(r->in.arena, uint32_t, inputs + outputs);
    if (!read_buffers(r, list, inputs) || !text_expect(&r->in, "->") ||
        !read_buffers(r, list + inputs, outputs))
        return false;
    launch.buffers = list;
    launch.buffer_count = (uint32_t)(inputs + outputs);
    vec_push(r->in.arena, &r->program->launches, launch);
    return add_node(r, &launch, &start);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool read_header(Reader *r) {
    TextReader start;
    Str name, target;
    if (!text_accept(&r->in, "tir") || !text_accept(&r->in, "1")) {
        diag_error(r->in.diags, text_loc(&r->in), MSG_TIR_VERSION);
        return false;
    }
    if (!text_symbols(&r->in, (DimRanges){0}) || !text_expect(&r->in, "program") ||
        !text_string(&r->in, &name) || !text_expect(&r->in, "for"))
        return false;
    start = r->in;
    if (!text_string(&r->in, &target)) return false;
    r->graph = graph_new(r->in.ctx, r->in.arena, name);
    r->program->graph = r->graph;
    r->program->target = target.size ? target_find(target) : NULL;
    if (target.size && !r->program->target) return wrong(&start, "a target");
    return text_expect(&r->in, "{");
}

/* Outputs that no launch writes are the verifier's to find. */
static bool finish(Reader *r) {
    for (size_t i = 0; i < r->outputs.count; i++) {
        NodeId node =
            r->program->buffers.count > 0 ? r->nodes[r->program->output_buffers[i]] : NODE_none;
        if (node == NODE_none) return text_wrong(&r->in, "launches that write all outputs");
        graph_add_output(r->graph, *r->outputs.data[i], node);
    }
    const char *fault = program_verify(r->program, r->in.arena);
    if (fault) diag_error(r->in.diags, text_loc(&r->in), MSG_TIR_NODE, fault);
    return !fault && (text_at_end(&r->in) || text_wrong(&r->in, "the end of the text"));
}

static bool read_program(Reader *r) {
    if (!read_header(r) || !read_interface(r)) return false;
    while (text_accept(&r->in, "bucket"))
        if (!read_bucket(r)) return false;
    while (text_accept(&r->in, "constant"))
        if (!read_constant(r)) return false;
    while (!text_peek(&r->in, "kernel") && !text_peek(&r->in, "}"))
        if (!read_buffer(r)) return false;
    fill_buffers(r);
    while (text_accept(&r->in, "kernel"))
        if (!read_kernel(r)) return false;
    while (text_accept(&r->in, "launch"))
        if (!read_launch(r)) return false;
    return text_expect(&r->in, "}") && finish(r);
}

Program *program_read(IrContext *ctx, Arena *arena, Diags *diags, uint32_t file, BlobLookup *lookup,
                      void *user) {
    Reader r = {.lookup = lookup, .user = user, .program = NEW(arena, Program)};
    size_t errors = diags_error_count(diags);
    r.in = (TextReader){.ctx = ctx, .arena = arena, .diags = diags, .file = file, .line = 1};
    r.in.rest = diags_file_text(diags, file);
    r.in.line_start = r.in.rest.data;
    r.program->ctx = ctx;
    r.program->arena = arena;
    bool good = read_program(&r);
    return good && diags_error_count(diags) == errors ? r.program : NULL;
}
