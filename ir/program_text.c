/* Programs as text: what there is of one, in the order in which program_read.c needs it. */
#include "ir/program_tools.h"
#include "ir/text_internal.h"

static const PrintOptions without_origins = {.origins = false};

static const char *kind_name(BufferKind kind) {
    switch (kind) {
    case BUFFER_input: return "input";
    case BUFFER_output: return "output";
    case BUFFER_constant: return "constant";
    case BUFFER_arena: break;
    }
    return "arena";
}

static void print_interface(Buf *buf, const Program *program) {
    const Graph *g = program->graph;
    for (size_t i = 0; i < g->inputs.count; i++) {
        const Node *node = graph_node(g, g->inputs.data[i]);
        buf_put(buf, STR("  input "));
        buf_quoted(buf, *node_attr(node, "name").str);
        buf_put(buf, STR(": "));
        buf_type(buf, node->type);
        buf_char(buf, '\n');
    }
    for (size_t i = 0; i < g->outputs.count; i++) {
        buf_put(buf, STR("  output "));
        buf_quoted(buf, *g->outputs.data[i].name);
        buf_char(buf, '\n');
    }
    text_put_checks(buf, g, &without_origins);
}

static void print_buckets(Buf *buf, const Program *program) {
    for (uint32_t b = 0; b < program->bucket_count; b++) {
        buf_print(buf, "  bucket %u:", b);
        for (size_t i = 0; i < program->dims.count; i++) {
            buf_print(buf, " %.*s <= %lld,", STR_ARG(program->dims.data[i]->name),
                      (long long)program->buckets[b].hi[i]);
        }
        buf_print(buf, " arena of %lld bytes\n", (long long)program->buckets[b].arena_bytes);
    }
}

static void print_constants(Buf *buf, const Program *program) {
    for (size_t i = 0; i < program->constants.count; i++) {
        const Constant *constant = &program->constants.data[i];
        buf_print(buf, "  constant c%zu: ", i);
        buf_type(buf, constant->type);
        buf_put(buf, STR(" = "));
        text_put_value(buf, constant->type, constant->blob);
        if (constant->name->size) buf_char(buf, ' ');
        if (constant->name->size) buf_quoted(buf, *constant->name);
        buf_char(buf, '\n');
    }
}

static void print_buffer(Buf *buf, const Program *program, size_t index) {
    const Buffer *buffer = &program->buffers.data[index];
    buf_print(buf, "  b%zu: ", index);
    buf_type(buf, buffer->type);
    buf_print(buf, " %s", kind_name(buffer->kind));
    if (buffer->kind != BUFFER_arena) {
        buf_print(buf, " %u\n", buffer->index);
        return;
    }
    buf_print(buf, ", launches %u to %u, at", buffer->first_launch, buffer->last_launch);
    for (uint32_t b = 0; b < program->bucket_count; b++) {
        buf_print(buf, "%s%lld", b ? ", " : " ", (long long)buffer->offset[b]);
    }
    buf_char(buf, '\n');
}

static void print_kernel(Buf *buf, const Kernel *kernel) {
    buf_print(buf, "  kernel %.*s: %.*s", STR_ARG(*kernel->name), STR_ARG(*kernel->skeleton));
    if (kernel->strategy->size) {
        buf_put(buf, STR(" by "));
        buf_quoted(buf, *kernel->strategy);
    }
    Buf schedule = {.arena = buf->arena};
    buf_schedule(&schedule, &kernel->schedule);
    if (schedule.size) {
        buf_put(buf, STR(" with "));
        buf_quoted(buf, buf_str(&schedule));
    }
    buf_char(buf, '\n');
    print_graph(buf, kernel->region, &without_origins);
}

static void print_launch(Buf *buf, const Program *program, size_t index) {
    const Launch *launch = &program->launches.data[index];
    const Kernel *kernel = &program->kernels.data[launch->kernel];
    uint32_t inputs = (uint32_t)kernel->region->inputs.count;
    buf_print(buf, "  launch %zu: %.*s(", index, STR_ARG(*kernel->name));
    for (uint32_t i = 0; i < launch->buffer_count; i++) {
        if (i == inputs) buf_put(buf, STR(") -> ("));
        buf_print(buf, "%sb%u", i > 0 && i != inputs ? ", " : "", launch->buffers[i]);
    }
    buf_put(buf, STR(")\n"));
}

void buf_program(Buf *buf, const Program *program) {
    Graph *models[] = {(Graph *)(uintptr_t)program->graph};
    Module module = {.ctx = program->ctx, .arena = buf->arena, .models = {models, 1, 1}};
    buf_put(buf, STR("tir 1\n"));
    text_put_symbols(buf, &module);
    buf_put(buf, STR("program "));
    buf_quoted(buf, *program->graph->name);
    buf_put(buf, STR(" for "));
    buf_quoted(buf, str_from(program->target ? program->target->name : ""));
    buf_put(buf, STR(" {\n"));
    print_interface(buf, program);
    print_buckets(buf, program);
    print_constants(buf, program);
    for (size_t i = 0; i < program->buffers.count; i++) print_buffer(buf, program, i);
    for (size_t i = 0; i < program->kernels.count; i++) {
        print_kernel(buf, &program->kernels.data[i]);
    }
    for (size_t i = 0; i < program->launches.count; i++) print_launch(buf, program, i);
    buf_put(buf, STR("}\n"));
}
