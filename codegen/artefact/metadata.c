#include "codegen/artefact/metadata.h"

#include "base/guard.h"
#include "runtime/abi.h"

#include <jansson.h>
#include <stdlib.h>

static json_t *checked(json_t *value) {
    if (value == NULL) guard_raise(GUARD_memory, "out of memory");
    return value;
}

static json_t *text(Str s) { return checked(json_stringn(s.data == NULL ? "" : s.data, s.size)); }

static void set(json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, checked(value)) != 0)
        guard_raise(GUARD_memory, "out of memory");
}

static void add(json_t *array, json_t *value) {
    if (json_array_append_new(array, checked(value)) != 0)
        guard_raise(GUARD_memory, "out of memory");
}

/* A number, or the expression as text. */
static json_t *dim_json(const Dim *dim, Arena *arena) {
    int64_t value;
    if (dim_is_const(dim, &value)) return json_integer(value);
    Buf buf = {.arena = arena};
    buf_dim(&buf, dim);
    return text(buf_str(&buf));
}

static json_t *port_json(const Str *name, const Type *type, Arena *arena) {
    json_t *port = checked(json_object()), *shape = checked(json_array());
    set(port, "name", text(*name));
    set(port, "dtype", json_string(dtype_name(type->dtype)));
    for (uint32_t i = 0; i < type->rank; i++) add(shape, dim_json(type->dims[i], arena));
    set(port, "shape", shape);
    return port;
}

static json_t *interface_json(const Program *p, bool outputs, Arena *arena) {
    const Graph *g = p->graph;
    json_t *list = checked(json_array());
    for (size_t i = 0; !outputs && i < g->inputs.count; i++) {
        const Node *node = graph_node(g, g->inputs.data[i]);
        add(list, port_json(node_attr(node, "name").str, node->type, arena));
    }
    for (size_t i = 0; outputs && i < g->outputs.count; i++)
        add(list,
            port_json(g->outputs.data[i].name, graph_type(g, g->outputs.data[i].node), arena));
    return list;
}

static json_t *dims_json(const Program *p) {
    json_t *list = checked(json_array());
    for (size_t i = 0; i < p->dims.count; i++) {
        const DimSymbol *symbol = p->dims.data[i];
        json_t *dim = checked(json_object());
        set(dim, "name", text(symbol->name));
        set(dim, "lo", json_integer(symbol->lo));
        set(dim, "hi", json_integer(symbol->hi));
        set(dim, "tune", json_integer(symbol->tune));
        add(list, dim);
    }
    return list;
}

static json_t *kernels_json(const Program *p, Arena *arena) {
    json_t *list = checked(json_array());
    for (size_t i = 0; i < p->kernels.count; i++) {
        const Kernel *kernel = &p->kernels.data[i];
        json_t *entry = checked(json_object());
        Buf schedule = {.arena = arena};
        buf_schedule(&schedule, &kernel->schedule);
        set(entry, "name", text(*kernel->name));
        set(entry, "skeleton", text(*kernel->skeleton));
        set(entry, "schedule", text(buf_str(&schedule)));
        add(list, entry);
    }
    return list;
}

static json_t *memory_json(const Program *p) {
    json_t *list = checked(json_array());
    for (uint32_t b = 0; b < p->bucket_count; b++) {
        json_t *bucket = checked(json_object()), *hi = checked(json_object());
        for (size_t d = 0; d < p->dims.count; d++)
            set(hi, str_format(p->arena, "%.*s", STR_ARG(p->dims.data[d]->name)).data,
                json_integer(p->buckets[b].hi[d]));
        set(bucket, "up_to", hi);
        set(bucket, "arena_bytes", json_integer(p->buckets[b].arena_bytes));
        add(list, bucket);
    }
    return list;
}

Str metadata_write(const MetadataRequest *request, Arena *arena) {
    const Program *program = request->program;
    json_t *root = checked(json_object()), *names = checked(json_array());
    for (uint32_t i = 0; i < request->target_count; i++)
        add(names, json_string(request->targets[i]->name));
    set(root, "format", json_string("tcc model"));
    set(root, "compiler", json_string(request->compiler));
    set(root, "options", text(request->options));
    set(root, "abi", json_integer(TCC_ABI_VERSION));
    set(root, "model", text(*program->graph->name));
    set(root, "targets", names);
    set(root, "inputs", interface_json(program, false, arena));
    set(root, "outputs", interface_json(program, true, arena));
    set(root, "dims", dims_json(program));
    set(root, "kernels", kernels_json(program, arena));
    set(root, "launches", json_integer((json_int_t)program->launches.count));
    set(root, "memory", memory_json(program));
    char *dumped = json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    if (dumped == NULL) guard_raise(GUARD_memory, "out of memory");
    Str copy = str_copy(arena, str_from(dumped));
    free(dumped);
    return copy;
}
