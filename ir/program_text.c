#include "ir/program_tools.h"
#include "ir/text.h"

static const char *kind_name(BufferKind kind) {
    switch (kind) {
    case BUFFER_input: return "input";
    case BUFFER_output: return "output";
    case BUFFER_constant: return "constant";
    case BUFFER_arena: break;
    }
    return "arena";
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
        buf_print(buf, ", %zu bytes", constant->blob->size);
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
    if (kernel->strategy->size) buf_print(buf, " %.*s", STR_ARG(*kernel->strategy));
    Buf schedule = {.arena = buf->arena};
    buf_schedule(&schedule, &kernel->schedule);
    if (schedule.size) buf_print(buf, " with %.*s", STR_ARG(buf_str(&schedule)));
    buf_char(buf, '\n');
    print_graph(buf, kernel->region, &(PrintOptions){.origins = false});
}

static void print_launch(Buf *buf, const Program *program, size_t index) {
    const Launch *launch = &program->launches.data[index];
    const Kernel *kernel = &program->kernels.data[launch->kernel];
    uint32_t inputs = (uint32_t)kernel->region->inputs.count;
    buf_print(buf, "  %zu: %.*s(", index, STR_ARG(*kernel->name));
    for (uint32_t i = 0; i < launch->buffer_count; i++) {
        const char *separator = i == inputs ? ") -> (" : i ? ", " : "";
        buf_print(buf, "%sb%u", separator, launch->buffers[i]);
    }
    buf_put(buf, STR(")\n"));
}

void buf_program(Buf *buf, const Program *program) {
    buf_print(buf, "program %.*s {\n", STR_ARG(*program->graph->name));
    print_buckets(buf, program);
    print_constants(buf, program);
    for (size_t i = 0; i < program->buffers.count; i++) print_buffer(buf, program, i);
    for (size_t i = 0; i < program->kernels.count; i++) {
        print_kernel(buf, &program->kernels.data[i]);
    }
    for (size_t i = 0; i < program->launches.count; i++) print_launch(buf, program, i);
    buf_put(buf, STR("}\n"));
}
