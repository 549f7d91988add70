#include "tests/support/model_values.h"

#include "tests/support/op_cases.h"

enum { ROOM = 4096, INDEX_LIMIT = 100 };

static const Blob *random_blob(IrContext *ctx, Arena *arena, const Type *type, uint64_t seed) {
    Tensor t = {.dtype = type->dtype, .rank = type->rank};
    for (uint32_t i = 0; i < type->rank; i++) dim_is_const(type->dims[i], &t.dims[i]);
    t.data = arena_alloc(arena, tensor_bytes(&t));
    for (int64_t i = 0; i < tensor_elements(&t); i++) {
        seed = hash_word(seed, (uint64_t)i);
        tensor_set(&t, i, 0.5 + (double)(seed >> 40) * 0x1p-24);
    }
    return ir_blob(ctx, t.data, tensor_bytes(&t));
}

Graph *model_fill_params(const Graph *from, Arena *arena) {
    Graph *to = graph_new(from->ctx, arena, *from->name);
    NodeId *map = NEW_ARRAY(arena, NodeId, from->nodes.count);
    for (NodeId id = 0; id < from->nodes.count; id++) {
        const Node *node = graph_node(from, id);
        if (node->op != OP_param || node_attr(node, "value").blob) {
            map[id] = graph_copy_node(to, from, id, map);
            continue;
        }
        Attr attrs[] = {node_attr(node, "name"),
                        {.blob = random_blob(from->ctx, arena, node->type, id)}};
        map[id] = graph_add(to, OP_param, node->type, NULL, 0, attrs, NULL, 0, NULL);
    }
    for (size_t i = 0; i < from->outputs.count; i++)
        graph_add_output(to, *from->outputs.data[i].name, map[from->outputs.data[i].node]);
    graph_copy_checks(to, from);
    return to;
}

int64_t *model_symbols(IrContext *ctx, Arena *arena, ModelSize size) {
    uint32_t count = dim_symbol_count(ctx);
    int64_t *values = NEW_ARRAY(arena, int64_t, count + ROOM);
    for (uint32_t i = 0; i < count; i++) {
        const DimSymbol *s = dim_symbol_at(ctx, i);
        int64_t wanted = size == SIZE_least ? s->lo : size == SIZE_one ? 1 : 7;
        values[i] = wanted < s->lo ? s->lo : wanted > s->hi ? s->hi : wanted;
    }
    return values;
}

EvalValue *model_inputs(const Graph *graph, Arena *arena, const int64_t *symbols) {
    EvalValue *inputs = NEW_ARRAY(arena, EvalValue, graph->inputs.count);
    for (size_t i = 0; i < graph->inputs.count; i++) {
        const Type *type = graph_type(graph, graph->inputs.data[i]);
        bool index = !dtype_is_float(type->dtype) && type->dtype != DT_bool;
        op_case_tensor(arena, type, symbols, 17 * i + 1, index ? INDEX_LIMIT : 0,
                       &inputs[i].tensor);
    }
    return inputs;
}
