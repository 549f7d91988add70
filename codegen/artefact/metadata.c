#include "codegen/artefact/metadata.h"

#include "base/json.h"
#include "runtime/abi.h"

/* A number, or the expression as text. */
static void put_dim(Json *json, const Dim *dim, Arena *arena) {
    int64_t value;
    if (dim_is_const(dim, &value)) {
        json_put_int(json, NULL, value);
        return;
    }
    Buf buf = {.arena = arena};
    buf_dim(&buf, dim);
    json_put_string(json, NULL, buf_str(&buf));
}

static void put_port(Json *json, const Str *name, const Type *type, Arena *arena) {
    json_begin_object(json, NULL);
    json_put_string(json, "name", *name);
    json_put_string(json, "dtype", str_from(dtype_name(type->dtype)));
    json_begin_list(json, "shape");
    for (uint32_t i = 0; i < type->rank; i++) put_dim(json, type->dims[i], arena);
    json_end(json);
    json_end(json);
}

static void put_interface(Json *json, const Graph *g, Arena *arena) {
    json_begin_list(json, "inputs");
    for (size_t i = 0; i < g->inputs.count; i++) {
        const Node *node = graph_node(g, g->inputs.data[i]);
        put_port(json, node_attr(node, "name").str, node->type, arena);
    }
    json_end(json);
    json_begin_list(json, "outputs");
    for (size_t i = 0; i < g->outputs.count; i++)
        put_port(json, g->outputs.data[i].name, graph_type(g, g->outputs.data[i].node), arena);
    json_end(json);
}

static void put_dims(Json *json, const Program *p) {
    json_begin_list(json, "dims");
    for (size_t i = 0; i < p->dims.count; i++) {
        const DimSymbol *symbol = p->dims.data[i];
        json_begin_object(json, NULL);
        json_put_string(json, "name", symbol->name);
        json_put_int(json, "lo", symbol->lo);
        json_put_int(json, "hi", symbol->hi);
        json_put_int(json, "tune", symbol->tune);
        json_end(json);
    }
    json_end(json);
}

static void put_kernels(Json *json, const Program *p, Arena *arena) {
    json_begin_list(json, "kernels");
    for (size_t i = 0; i < p->kernels.count; i++) {
        const Kernel *kernel = &p->kernels.data[i];
        Buf schedule = {.arena = arena};
        buf_schedule(&schedule, &kernel->schedule);
        json_begin_object(json, NULL);
        json_put_string(json, "name", *kernel->name);
        json_put_string(json, "skeleton", *kernel->skeleton);
        json_put_string(json, "schedule", buf_str(&schedule));
        json_end(json);
    }
    json_end(json);
}

static void put_memory(Json *json, const Program *p, Arena *arena) {
    json_begin_list(json, "memory");
    for (uint32_t b = 0; b < p->bucket_count; b++) {
        json_begin_object(json, NULL);
        json_begin_object(json, "up_to");
        for (size_t d = 0; d < p->dims.count; d++)
            json_put_int(json, str_terminated(arena, p->dims.data[d]->name), p->buckets[b].hi[d]);
        json_end(json);
        json_put_int(json, "arena_bytes", p->buckets[b].arena_bytes);
        json_end(json);
    }
    json_end(json);
}

static void put_targets(Json *json, const MetadataRequest *request) {
    json_begin_list(json, "targets");
    for (uint32_t i = 0; i < request->target_count; i++)
        json_put_string(json, NULL, str_from(request->targets[i]->name));
    if (request->gpu != NULL) json_put_string(json, NULL, str_from(request->gpu->name));
    json_end(json);
}

Str metadata_write(const MetadataRequest *request, Arena *arena) {
    const Program *program = request->program;
    Json json = {.buf = {.arena = arena}};
    json_begin_object(&json, NULL);
    json_put_string(&json, "format", STR("tcc model"));
    json_put_string(&json, "compiler", str_from(request->compiler));
    json_put_string(&json, "options", request->options);
    json_put_int(&json, "abi", TCC_ABI_VERSION);
    json_put_string(&json, "model", *program->graph->name);
    put_targets(&json, request);
    put_interface(&json, program->graph, arena);
    put_dims(&json, program);
    put_kernels(&json, program, arena);
    json_put_int(&json, "launches", (int64_t)program->launches.count);
    put_memory(&json, program, arena);
    json_end(&json);
    return str_copy(arena, buf_str(&json.buf));
}
