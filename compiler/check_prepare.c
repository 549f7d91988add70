/* The memory that a check runs in: the dims that the inputs have, and a tensor for each buffer. */
#include "compiler/check.h"
#include "runtime/copy.h"

#include <string.h>

enum { ALIGNMENT = 64 };

void check_make_buffer(Checker *c, uint32_t number) {
    const Type *type = check_program(c)->buffers.data[number].type;
    Tensor *t = &c->buffers[number];
    *t = (Tensor){.dtype = type->dtype, .rank = type->rank};
    for (uint32_t i = 0; i < type->rank; i++)
        if (!dim_evaluate(type->dims[i], c->symbols, &t->dims[i])) t->dims[i] = 0;
    c->homes[number] = arena_new(NULL);
    char *raw = arena_alloc(c->homes[number], tensor_bytes(t) + 2 * ALIGNMENT);
    t->data = raw + (ALIGNMENT - (uintptr_t)raw % ALIGNMENT);
    memset(t->data, 0xA5, tensor_bytes(t));
}

void check_free_buffer(Checker *c, uint32_t number) {
    arena_free(c->homes[number]);
    c->homes[number] = NULL;
}

tcc_status check_bind_dims(Checker *c) {
    const Graph *g = check_program(c)->graph;
    if (c->input_count != g->inputs.count)
        return compiler_fail(c->unit->compiler, TCC_INVALID,
                             "%u inputs were given, the model has %zu", c->input_count,
                             g->inputs.count);
    for (size_t i = 0; i < g->inputs.count; i++) {
        const Type *type = graph_type(g, g->inputs.data[i]);
        if (c->inputs[i].size != sizeof *c->inputs || c->inputs[i].device != TCC_CPU)
            return compiler_fail(c->unit->compiler, TCC_INVALID,
                                 "input %zu: tcc_tensor.size or device is wrong", i);
        if (c->inputs[i].rank != type->rank || c->inputs[i].dtype != (int32_t)type->dtype)
            return compiler_fail(c->unit->compiler, TCC_INVALID,
                                 "input %zu has a wrong dtype or rank", i);
        for (uint32_t a = 0; a < type->rank; a++) {
            const DimSymbol *symbol = dim_as_symbol(type->dims[a]);
            if (symbol == NULL) continue;
            int64_t size = c->inputs[i].dims[a];
            if (size < symbol->lo || size > symbol->hi)
                return compiler_fail(c->unit->compiler, TCC_INVALID,
                                     "input %zu: dim %.*s is %lld, not in %lld..%lld", i,
                                     STR_ARG(symbol->name), (long long)size, (long long)symbol->lo,
                                     (long long)symbol->hi);
            c->symbols[symbol->id] = size;
        }
    }
    for (size_t i = 0; i < check_program(c)->dims.count; i++)
        c->dims[i] = c->symbols[check_program(c)->dims.data[i]->id];
    return TCC_OK;
}

/* The caller's tensor as a dense one: its strides are taken as a run takes them. */
static tcc_status take_input(Checker *c, uint32_t index, Tensor *out) {
    const tcc_tensor *input = &c->inputs[index];
    uint32_t bits = dtype_info(out->dtype)->bits;
    for (uint32_t a = 0; a < input->rank; a++)
        if (input->dims[a] != out->dims[a])
            return compiler_fail(c->unit->compiler, TCC_INVALID,
                                 "input %u: axis %u has %lld elements, expected %lld", index, a,
                                 (long long)input->dims[a], (long long)out->dims[a]);
    if (tensor_elements(out) == 0) return TCC_OK;
    if (input->data == NULL)
        return compiler_fail(c->unit->compiler, TCC_INVALID, "input %u has no data", index);
    if (bits < 8 && !tensor_is_dense(input))
        return compiler_fail(c->unit->compiler, TCC_INVALID,
                             "input %u has 4-bit elements and must be dense", index);
    if (bits < 8)
        memcpy(out->data, tensor_begin(input), tensor_bytes(out));
    else
        tensor_gather(input, bits / 8, out->data);
    return TCC_OK;
}

tcc_status check_make_buffers(Checker *c) {
    const Program *p = check_program(c);
    c->buffers = NEW_ARRAY(c->arena, Tensor, p->buffers.count);
    c->homes = NEW_ARRAY(c->arena, Arena *, p->buffers.count);
    tcc_status status = TCC_OK;
    for (uint32_t i = 0; i < p->buffers.count && status == TCC_OK; i++) {
        const Buffer *b = &p->buffers.data[i];
        if (b->kind == BUFFER_arena) continue;
        check_make_buffer(c, i);
        if (b->kind == BUFFER_constant)
            memcpy(c->buffers[i].data, p->constants.data[b->index].blob->bytes,
                   tensor_bytes(&c->buffers[i]));
        if (b->kind == BUFFER_input) status = take_input(c, b->index, &c->buffers[i]);
    }
    return status;
}
