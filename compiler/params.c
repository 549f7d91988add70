/* Values for parameters that have none: --params=FILE or --params=random[:SEED]. */
#include "base/messages.h"
#include "compiler/session.h"
#include "frontend/weights/weights.h"
#include "ir/tensor.h"

#include <math.h>

typedef struct Filler {
    tcc_unit *unit;
    WeightTable *table; /* NULL: random */
    uint64_t seed;
} Filler;

static uint64_t mix(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Uniform numbers whose spread keeps layers from growing or dying: ±sqrt(3 / inputs of a row). */
static const Blob *random_value(Filler *f, const Type *type, Str name) {
    Tensor tensor = {.dtype = type->dtype, .rank = type->rank};
    for (uint32_t i = 0; i < type->rank; i++) dim_is_const(type->dims[i], &tensor.dims[i]);
    tensor.data = arena_alloc(f->unit->core->arena, tensor_bytes(&tensor));
    int64_t count = tensor_elements(&tensor);
    int64_t fan = type->rank > 1 && tensor.dims[0] > 0 ? count / tensor.dims[0] : 1;
    double reach = type->rank > 1 ? sqrt(3.0 / (double)(fan > 0 ? fan : 1)) : 1;
    uint64_t state = f->seed ^ str_hash(name);
    enum { CHUNK = 1024 };
    double numbers[CHUNK];
    bool is_float = dtype_is_float(type->dtype);
    uint64_t limit = type->dtype == DT_bool ? 2 : 8;
    for (int64_t begin = 0; begin < count; begin += CHUNK) {
        int64_t size = count - begin < CHUNK ? count - begin : CHUNK;
        for (int64_t i = 0; i < size; i++) {
            uint64_t bits = mix(&state);
            double unit = (double)(bits >> 11) * 0x1p-52 - 1;
            numbers[i] = is_float ? unit * reach : (double)(bits % limit);
        }
        tensor_store(&tensor, begin, size, numbers);
    }
    return ir_blob(f->unit->core->ctx, tensor.data, tensor_bytes(&tensor));
}

static bool same_shape(const Weight *weight, const Type *type) {
    bool same = weight->dtype == type->dtype && weight->rank == type->rank;
    for (uint32_t i = 0; same && i < type->rank; i++)
        same = dim_equals_int(type->dims[i], weight->dims[i]);
    return same;
}

static const Blob *file_value(Filler *f, const Type *type, Str name, const Origin *origin) {
    Loc loc = origin == NULL ? (Loc){0} : origin->loc;
    Weight *weight = weights_find(f->table, name);
    if (weight == NULL) {
        diag_error(f->unit->core->diags, loc, MSG_PARAM_MISSING, STR_ARG(name));
        return NULL;
    }
    weight->used = true;
    if (!same_shape(weight, type)) {
        Buf want = {.arena = f->unit->core->arena}, got = {.arena = f->unit->core->arena};
        buf_type(&want, type);
        buf_print(&got, "%s[", dtype_name(weight->dtype));
        for (uint32_t i = 0; i < weight->rank; i++)
            buf_print(&got, i == 0 ? "%lld" : ", %lld", (long long)weight->dims[i]);
        buf_char(&got, ']');
        diag_error(f->unit->core->diags, loc, MSG_PARAM_SHAPE, STR_ARG(name), got.data, want.data);
        return NULL;
    }
    return ir_blob_adopt(f->unit->core->ctx, weight->bytes, weight->size, weight_storage_release,
                         weight_storage_retain(weight->storage));
}

static NodeId copy_node(Filler *f, Graph *to, const Graph *from, NodeId id, const NodeId *map) {
    const Node *node = graph_node(from, id);
    if (node->op != OP_param || node_attr(node, "value").blob != NULL)
        return graph_copy_node(to, from, id, map);
    Str name = *node_attr(node, "name").str;
    const Blob *value = f->table == NULL ? random_value(f, node->type, name)
                                         : file_value(f, node->type, name, node->origin);
    Attr attrs[] = {node->attrs[0], {.blob = value}};
    return graph_add(to, OP_param, node->type, NULL, 0, attrs, NULL, 0, node->origin);
}

static Graph *fill(Filler *f, const Graph *from) {
    Graph *to = graph_new(f->unit->core->ctx, f->unit->core->arena, *from->name);
    NodeId *map = NEW_ARRAY(f->unit->core->arena, NodeId, from->nodes.count);
    for (NodeId id = 0; id < from->nodes.count; id++) map[id] = copy_node(f, to, from, id, map);
    for (size_t i = 0; i < from->outputs.count; i++)
        graph_add_output(to, *from->outputs.data[i].name, map[from->outputs.data[i].node]);
    graph_copy_checks(to, from);
    return diags_error_count(f->unit->core->diags) == 0 ? to : NULL;
}

static bool is_missing(const Graph *graph) {
    for (NodeId id = 0; id < graph->nodes.count; id++) {
        const Node *node = graph_node(graph, id);
        if (node->op == OP_param && node_attr(node, "value").blob == NULL) return true;
    }
    return false;
}

static void free_table(void *table) { weights_free(table); }

Graph *unit_fill_params(tcc_unit *unit, const Graph *graph) {
    Str how = unit->core->options.params;
    Filler f = {.unit = unit};
    if (!is_missing(graph)) return (Graph *)(uintptr_t)graph;
    if (str_starts_with(how, STR("random"))) {
        int64_t seed = 0;
        Str number = {how.data + 6, how.size - 6};
        bool given = number.size > 1 && number.data[0] == ':' &&
                     str_to_int((Str){number.data + 1, number.size - 1}, &seed);
        if (number.size == 0 || given) {
            f.seed = (uint64_t)seed;
            return fill(&f, graph);
        }
    }
    f.table = weights_new(unit->core->arena);
    GuardDefer defer;
    guard_defer(&defer, free_table, f.table);
    Graph *filled = NULL;
    if (weights_load(f.table, unit->core->diags, (Loc){0}, how) == STATUS_ok)
        filled = fill(&f, graph);
    if (filled != NULL) core_note_inputs(unit->core, f.table);
    guard_undefer(&defer);
    weights_free(f.table);
    return filled;
}
