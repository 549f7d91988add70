#include "base/scratch.h"
#include "ir/program_tools.h"

#include <string.h>

uint32_t program_bucket(const Program *program, const int64_t *symbols) {
    uint32_t bucket = 0;
    for (; bucket < program->bucket_count; bucket++) {
        size_t i = 0;
        while (i < program->dims.count &&
               symbols[program->dims.data[i]->id] <= program->buckets[bucket].hi[i]) {
            i++;
        }
        if (i == program->dims.count) break;
    }
    return bucket;
}

typedef struct Machine {
    const Program *program;
    const int64_t *symbols;
    Arena *arena;
    Tensor *buffers;
    const char **out_message;
} Machine;

static bool bind_dims(const Machine *m, const Type *type, Tensor *out_tensor) {
    *out_tensor = (Tensor){.dtype = type->dtype, .rank = type->rank};
    for (uint32_t i = 0; i < type->rank; i++) {
        if (dim_evaluate(type->dims[i], m->symbols, &out_tensor->dims[i])) continue;
        *m->out_message = "a dim cannot be evaluated";
        return false;
    }
    return true;
}

static bool bind_buffers(Machine *m, const Tensor *inputs, uint32_t bucket) {
    const Program *program = m->program;
    size_t bytes = (size_t)program->buckets[bucket].arena_bytes;
    char *memory = arena_alloc(m->arena, bytes + BUFFER_ALIGNMENT);
    memset(memory, 0xff, bytes);
    m->buffers = NEW_ARRAY(m->arena, Tensor, program->buffers.count);
    for (size_t i = 0; i < program->buffers.count; i++) {
        const Buffer *buffer = &program->buffers.data[i];
        Tensor *tensor = &m->buffers[i];
        if (!bind_dims(m, buffer->type, tensor)) return false;
        switch (buffer->kind) {
        case BUFFER_input: tensor->data = inputs[buffer->index].data; break;
        case BUFFER_output: tensor->data = arena_alloc(m->arena, tensor_bytes(tensor)); break;
        case BUFFER_constant:
            tensor->data = (void *)program->constants.data[buffer->index].blob->bytes;
            break;
        case BUFFER_arena: tensor->data = memory + buffer->offset[bucket]; break;
        }
    }
    return true;
}

static bool run_launch(const Machine *m, const Launch *launch, Arena *scratch) {
    const Graph *region = m->program->kernels.data[launch->kernel].region;
    uint32_t inputs = (uint32_t)region->inputs.count, outputs = (uint32_t)region->outputs.count;
    EvalValue *values = NEW_ARRAY(scratch, EvalValue, inputs);
    EvalValue *results = NEW_ARRAY(scratch, EvalValue, outputs);
    for (uint32_t i = 0; i < inputs; i++) values[i].tensor = m->buffers[launch->buffers[i]];
    EvalOptions options = {.symbols = m->symbols};
    EvalError error = {.failed = false};
    const char *message;
    if (!eval_graph(region, values, &options, scratch, results, &error, &message)) {
        *m->out_message = str_format(m->arena, "%s", message).data;
        return false;
    }
    for (uint32_t i = 0; i < outputs; i++) {
        const Tensor *to = &m->buffers[launch->buffers[inputs + i]];
        size_t size = tensor_bytes(to);
        if (size) memcpy(to->data, results[i].tensor.data, size);
    }
    return true;
}

bool program_eval(const Program *program, const Tensor *inputs, const int64_t *symbols,
                  Arena *arena, Tensor *out_results, const char **out_message) {
    Machine m = {program, symbols, arena, NULL, out_message};
    uint32_t bucket = program_bucket(program, symbols);
    if (bucket == program->bucket_count) {
        *out_message = "the dims are out of range";
        return false;
    }
    if (!bind_buffers(&m, inputs, bucket)) return false;
    for (size_t i = 0; i < program->launches.count; i++) {
        Scratch scratch;
        bool good = run_launch(&m, &program->launches.data[i], scratch_open(&scratch));
        scratch_close(&scratch);
        if (!good) return false;
    }
    for (size_t i = 0; i < program->graph->outputs.count; i++) {
        out_results[i] = m.buffers[program->output_buffers[i]];
    }
    return true;
}
