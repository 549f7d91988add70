/* Units as JSON: the metadata, the decisions of the passes, and the graph. */
#include "base/json.h"
#include "codegen/artefact/metadata.h"
#include "compiler/session.h"
#include "ir/infer.h"
#include "ir/text.h"

/* Of regions in regions that are shown, in levels of JSON. */
enum { MOST_DEPTH = JSON_DEPTH - 5 };

/* ---- metadata -------------------------------------------------------------------------------- */

Str core_metadata(const Core *core, Arena *arena) {
    MetadataRequest about = {.program = core->result.program,
                             .targets = core->targets,
                             .target_count = core->target_count,
                             .gpu = core->gpu,
                             .compiler = tcc_version(),
                             .options = options_text(&core->options, arena)};
    return metadata_write(&about, arena);
}

/* ---- decisions ------------------------------------------------------------------------------- */

static void put_place(Json *json, const Core *core, const Origin *origin) {
    Loc loc = origin_loc(origin);
    if (loc.file == 0) return;
    Buf place = {.arena = json->buf.arena};
    diags_put_place(&place, core->diags, loc);
    json_put_string(json, "place", buf_str(&place));
}

static void put_text(Json *json, const char *key, Str text) {
    if (text.size > 0) json_put_string(json, key, text);
}

static void put_decision(Json *json, const Core *core, const Remark *r) {
    static const char *const kinds[] = {
        [REMARK_applied] = "did", [REMARK_missed] = "missed", [REMARK_choice] = "chose"};
    json_begin_object(json, NULL);
    json_put_string(json, "pass", str_from(r->pass));
    json_put_string(json, "kind", str_from(kinds[r->kind]));
    json_put_string(json, "rule", str_from(r->rule));
    put_text(json, "where", r->where);
    put_place(json, core, r->origin);
    put_text(json, "text", r->text);
    put_text(json, "advice", r->advice);
    json_begin_object(json, "numbers");
    for (uint32_t i = 0; i < r->number_count; i++)
        json_put_number(json, r->numbers[i].name, r->numbers[i].value);
    json_end(json);
    json_end(json);
}

static void put_decisions(Json *json, const Core *core) {
    json_begin_list(json, "decisions");
    for (size_t i = 0; i < core->pass.remarks.count; i++)
        put_decision(json, core, &core->pass.remarks.data[i]);
    json_end(json);
}

static void put_kernels(Json *json, const Core *core) {
    const Program *p = core->result.program;
    json_begin_list(json, "kernels");
    for (size_t k = 0; p != NULL && k < p->kernels.count; k++) {
        const Kernel *kernel = &p->kernels.data[k];
        Buf schedule = {.arena = json->buf.arena};
        buf_schedule(&schedule, &kernel->schedule);
        json_begin_object(json, NULL);
        json_put_string(json, "name", *kernel->name);
        json_put_string(json, "skeleton", *kernel->skeleton);
        json_put_string(json, "strategy", *kernel->strategy);
        json_put_string(json, "schedule", buf_str(&schedule));
        json_end(json);
    }
    json_end(json);
}

/* How each kernel is launched on the GPU. */
static void put_gpu(Json *json, const Core *core, const GpuFacts *facts) {
    const Program *p = core->result.program;
    json_begin_object(json, "gpu");
    json_put_string(json, "target", str_from(core->gpu->name));
    json_begin_list(json, "kernels");
    for (size_t k = 0; k < p->kernels.count; k++) {
        json_begin_object(json, NULL);
        json_put_string(json, "name", *p->kernels.data[k].name);
        json_put_int(json, "threads", facts[k].shape.threads);
        json_put_int(json, "points_per_block", facts[k].shape.points_per_block);
        json_put_int(json, "shared_bytes", facts[k].shape.shared_bytes);
        json_end(json);
    }
    json_end(json);
    json_end(json);
}

void json_explain(Buf *buf, const Core *core, const GpuFacts *gpu) {
    Json json = {.buf = *buf};
    json_begin_object(&json, NULL);
    json_put_string(&json, "model", *core->source->name);
    put_kernels(&json, core);
    if (gpu != NULL) put_gpu(&json, core, gpu);
    put_decisions(&json, core);
    json_end(&json);
    buf_char(&json.buf, '\n');
    *buf = json.buf;
}

/* ---- the graph ------------------------------------------------------------------------------- */

static void put_type(Json *json, const Type *type) {
    Buf text = {.arena = json->buf.arena};
    buf_type(&text, type);
    json_put_string(json, "type", buf_str(&text));
}

static void put_nodes(Json *json, const Core *core, const Graph *graph);

/* `text` is the node's line of .tir, with its attributes. */
static void put_node(Json *json, const Core *core, const Graph *graph, NodeId id) {
    const Node *node = graph_node(graph, id);
    Buf text = {.arena = json->buf.arena};
    print_node(&text, graph, id);
    json_begin_object(json, NULL);
    json_put_int(json, "id", id);
    json_put_string(json, "op", str_from(op_info(node->op)->name));
    put_type(json, node->type);
    json_begin_list(json, "operands");
    for (uint32_t i = 0; i < node->arg_count; i++) json_put_int(json, NULL, node->args[i]);
    json_end(json);
    json_put_string(json, "text", buf_str(&text));
    put_place(json, core, node->origin);
    if (node->region_count > 0 && json->depth < MOST_DEPTH) {
        json_begin_list(json, "regions");
        for (uint32_t i = 0; i < node->region_count; i++) {
            json_begin_object(json, NULL);
            put_nodes(json, core, node->regions[i]);
            json_end(json);
        }
        json_end(json);
    }
    json_end(json);
}

static void put_nodes(Json *json, const Core *core, const Graph *graph) {
    json_begin_list(json, "nodes");
    for (NodeId id = 0; id < graph->nodes.count; id++) put_node(json, core, graph, id);
    json_end(json);
    json_begin_list(json, "outputs");
    for (size_t i = 0; i < graph->outputs.count; i++) {
        json_begin_object(json, NULL);
        json_put_string(json, "name", *graph->outputs.data[i].name);
        json_put_int(json, "node", graph->outputs.data[i].node);
        json_end(json);
    }
    json_end(json);
}

void json_graph(Buf *buf, const Core *core) {
    Json json = {.buf = *buf};
    json_begin_object(&json, NULL);
    json_put_string(&json, "model", *core->result.graph->name);
    put_nodes(&json, core, core->result.graph);
    json_end(&json);
    buf_char(&json.buf, '\n');
    *buf = json.buf;
}
