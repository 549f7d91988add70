/* Units as text, level by level, and the reference texts. */
#include "ir/text.h"
#include "codegen/tile/tile_tools.h"
#include "compiler/session.h"
#include "frontend/dsl/functions.h"
#include "ir/program_tools.h"
#include "ir/reference.h"

#include <string.h>

typedef struct TextCall {
    tcc_unit *unit;
    tcc_compiler *compiler;
    const char *kind;
    Buf buf;
} TextCall;

static bool rounds_everywhere(const tcc_unit *unit) {
    return unit->core->options.round_everywhere || unit->core->options.level == 0;
}

static const Target *main_target(const tcc_unit *unit) {
    return unit->core->target_count > 0 ? unit->core->targets[unit->core->target_count - 1]
                                        : unit->core->gpu;
}

static tcc_status need_program(TextCall *call) {
    if (call->unit->core->result.program != NULL) return TCC_OK;
    return compiler_fail(call->compiler, TCC_INVALID, "the passes that were run make no program");
}

static tcc_status put_graph(TextCall *call) {
    Module module = {.ctx = call->unit->core->ctx, .arena = call->unit->arena};
    vec_push(call->unit->arena, &module.models, (Graph *)(uintptr_t)call->unit->core->result.graph);
    print_module(&call->buf, &module, &(PrintOptions){0});
    print_blobs(&call->buf, &module);
    return TCC_OK;
}

static tcc_status put_program(TextCall *call) {
    tcc_status status = need_program(call);
    if (status == TCC_OK) buf_program(&call->buf, call->unit->core->result.program);
    return status;
}

static tcc_status put_tiles(TextCall *call, TileState state) {
    const char *why = NULL;
    tcc_status status = need_program(call);
    const Program *p = call->unit->core->result.program;
    for (uint32_t k = 0; status == TCC_OK && k < p->kernels.count; k++) {
        const TileProgram *tile =
            kernel_tile(p, k, main_target(call->unit), state, rounds_everywhere(call->unit),
                        call->unit->arena, &why);
        if (tile == NULL)
            return compiler_fail(call->compiler, TCC_INTERNAL, "kernel %.*s: %s",
                                 STR_ARG(*p->kernels.data[k].name), why);
        tile_print(&call->buf, tile);
    }
    return status;
}

static tcc_status put_tile(TextCall *call) { return put_tiles(call, TILE_placed); }
static tcc_status put_tile_free(TextCall *call) { return put_tiles(call, TILE_free); }

static tcc_status put_code(TextCall *call, const Target *target, EmitKind kind) {
    const char *why = NULL;
    tcc_status status = need_program(call);
    const Program *p = call->unit->core->result.program;
    EmitLevel level = call->unit->core->options.level == 0 ? EMIT_fast : EMIT_full;
    for (uint32_t k = 0; status == TCC_OK && k < p->kernels.count; k++) {
        Str text;
        Status emitted = kernel_emit(p, k, target, level, rounds_everywhere(call->unit), kind,
                                     p->kernels.data[k].name->data, call->unit->arena, &text, &why);
        if (emitted != STATUS_ok)
            return compiler_fail(call->compiler, compiler_status(emitted), "kernel %.*s: %s",
                                 STR_ARG(*p->kernels.data[k].name), why);
        buf_put(&call->buf, text);
    }
    return status;
}

static tcc_status put_llvm(TextCall *call) {
    return put_code(call, main_target(call->unit), EMIT_llvm);
}

/* Code for one kind of processor, where --target names one of those. */
static tcc_status put_machine_code(TextCall *call, const Target *target, const char *name,
                                   const char *example) {
    if (target != NULL) return put_code(call, target, EMIT_assembly);
    return compiler_fail(call->compiler, TCC_INVALID, "%s needs a target such as --target=%s", name,
                         example);
}

static tcc_status put_assembly(TextCall *call) {
    const tcc_unit *unit = call->unit;
    const Target *last =
        unit->core->target_count > 0 ? unit->core->targets[unit->core->target_count - 1] : NULL;
    return put_machine_code(call, last, "asm", "native");
}

/* The text that a model.so holds: all kernels in one module, whose files are numbered once. */
static tcc_status put_gpu_code(TextCall *call, const Target *gpu) {
    GpuImage image;
    const char *why = NULL;
    tcc_status status = need_program(call);
    if (status != TCC_OK) return status;
    KernelRequest request = {
        .program = call->unit->core->result.program,
        .level = call->unit->core->options.level == 0 ? EMIT_fast : EMIT_full,
        .round_everywhere = rounds_everywhere(call->unit),
    };
    Status emitted = kernels_compile_gpu(&request, gpu, call->unit->arena, &image, &why);
    if (emitted != STATUS_ok)
        return compiler_fail(call->compiler, compiler_status(emitted), "%s", why);
    buf_put(&call->buf, image.ptx);
    return TCC_OK;
}

static tcc_status put_ptx(TextCall *call) {
    const Target *gpu = call->unit->core->gpu;
    if (gpu != NULL) return put_gpu_code(call, gpu);
    return put_machine_code(call, NULL, "ptx", "sm_80");
}

static tcc_status put_times(TextCall *call) {
    passes_print_times(&call->buf, &call->unit->core->pass);
    return TCC_OK;
}

/* The fused graph for graphviz: kernels are boxes, tensors in memory are edges. */
static tcc_status put_dot(TextCall *call) {
    const Graph *g = call->unit->core->result.graph;
    buf_print(&call->buf, "digraph \"%.*s\" {\n", STR_ARG(*g->name));
    for (NodeId id = 0; id < g->nodes.count; id++) {
        const Node *node = graph_node(g, id);
        const char *op = op_info(node->op)->name;
        bool kernel = node->op == OP_kernel;
        Str label = kernel ? *node_attr(node, "name").str : str_from(op);
        buf_print(&call->buf, "  n%u [shape=%s, label=\"%.*s\\n", id, kernel ? "box" : "ellipse",
                  STR_ARG(label));
        buf_type(&call->buf, node->type);
        buf_put(&call->buf, STR("\"];\n"));
        for (uint32_t i = 0; i < node->arg_count; i++)
            buf_print(&call->buf, "  n%u -> n%u;\n", node->args[i], id);
    }
    for (size_t i = 0; i < g->outputs.count; i++)
        buf_print(&call->buf, "  o%zu [label=\"%.*s\"];\n  n%u -> o%zu;\n", i,
                  STR_ARG(*g->outputs.data[i].name), g->outputs.data[i].node, i);
    buf_put(&call->buf, STR("}\n"));
    return TCC_OK;
}

/* A C header with the model's interface: names, ranks and fixed dims as constants. */
static tcc_status put_header(TextCall *call) {
    const Graph *g = call->unit->core->source;
    Buf *b = &call->buf;
    buf_print(b, "/* The interface of model %.*s. */\n#pragma once\n#include <tcc/model.h>\n\n",
              STR_ARG(*g->name));
    for (size_t i = 0; i < g->inputs.count; i++) {
        const Node *node = graph_node(g, g->inputs.data[i]);
        buf_print(b, "enum { %.*s_input_%.*s = %zu }; /* ", STR_ARG(*g->name),
                  STR_ARG(*node_attr(node, "name").str), i);
        buf_type(b, node->type);
        buf_put(b, STR(" */\n"));
    }
    for (size_t i = 0; i < g->outputs.count; i++) {
        buf_print(b, "enum { %.*s_output_%.*s = %zu }; /* ", STR_ARG(*g->name),
                  STR_ARG(*g->outputs.data[i].name), i);
        buf_type(b, graph_type(g, g->outputs.data[i].node));
        buf_put(b, STR(" */\n"));
    }
    return TCC_OK;
}

static tcc_status put_graph_json(TextCall *call) {
    json_graph(&call->buf, call->unit->core);
    return TCC_OK;
}

static tcc_status put_explain_json(TextCall *call) {
    GpuFacts *gpu = NULL;
    tcc_status status = need_program(call);
    if (status == TCC_OK) status = unit_gpu_facts(call->unit, &gpu);
    if (status == TCC_OK) json_explain(&call->buf, call->unit->core, gpu);
    return status;
}

static tcc_status put_metadata(TextCall *call) {
    tcc_status status = need_program(call);
    if (status == TCC_OK) buf_put(&call->buf, core_metadata(call->unit->core, call->buf.arena));
    return status;
}

static const struct {
    const char *kind;
    tcc_status (*put)(TextCall *call);
} texts[] = {{"ir", put_graph},
             {"program", put_program},
             {"tile", put_tile},
             {"tile-free", put_tile_free},
             {"llvm", put_llvm},
             {"asm", put_assembly},
             {"ptx", put_ptx},
             {"dot", put_dot},
             {"header", put_header},
             {"times", put_times},
             {"ir-json", put_graph_json},
             {"explain-json", put_explain_json},
             {"metadata", put_metadata}};

static tcc_status text_body(void *data) {
    TextCall *call = data;
    call->buf.arena = call->unit->arena;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(texts[i].kind, call->kind) == 0) return texts[i].put(call);
    return compiler_fail(call->compiler, TCC_INVALID, "there is nothing called \"%s\" to show",
                         call->kind);
}

static tcc_status run_text(TextCall *call, tcc_status (*body)(void *data), const char **out_text,
                           size_t *out_size) {
    if (out_text != NULL) *out_text = NULL;
    if (out_size != NULL) *out_size = 0;
    if (out_text == NULL) return compiler_refuse_null(call->compiler, "out_text");
    if (out_size == NULL) return compiler_refuse_null(call->compiler, "out_size");
    if (call->kind == NULL) return compiler_refuse_null(call->compiler, "kind");
    tcc_status status = call->unit == NULL ? compiler_enter(call->compiler, body, call)
                                           : unit_enter(call->unit, body, call);
    bool good = status == TCC_OK;
    *out_text = !good ? NULL : call->buf.data == NULL ? "" : call->buf.data;
    *out_size = good ? call->buf.size : 0;
    return status;
}

tcc_status tcc_unit_text(tcc_unit *unit, const char *kind, const char **out_text,
                         size_t *out_size) {
    TextCall call = {.unit = unit, .compiler = unit_compiler(unit), .kind = kind};
    return run_text(&call, text_body, out_text, out_size);
}

/* ---- reference texts ------------------------------------------------------------------------- */

/* All lists are tables: a line of headings, and the name first. */
static void put_targets(Buf *buf) {
    static const char *const kinds[] = {[TARGET_cpu] = "CPU", [TARGET_gpu] = "GPU"};
    static const char *const meanings[] = {
        [TARGET_cpu] = "those that have this level", [TARGET_gpu] = "as PTX (--emit=ptx)"};
    buf_print(buf, "%-15s %-5s %s\n", "target", "kind", "what it is");
    buf_print(buf, "%-15s %-5s %s\n", "native", "CPU", "the best level that this machine has");
    buf_print(buf, "%-15s %-5s %s\n", "cpu", "CPU",
              "every level in one artefact, chosen when a model is opened");
    for (uint32_t i = 0; target_at(i) != NULL; i++)
        buf_print(buf, "%-15s %-5s %s\n", target_at(i)->name, kinds[target_at(i)->kind],
                  meanings[target_at(i)->kind]);
}

static void put_schedules(Buf *buf) {
    buf_print(buf, "%-10s %-12s %-24s %s\n", "field", "values", "skeletons", "what it does");
#define SCHEDULE(field, skeletons, initial, least, greatest, meaning)                              \
    buf_print(buf, "%-10s %lld..%-9lld %-24s %s\n", #field, (long long)(least),                    \
              (long long)(greatest), skeletons, meaning);
#include "ir/schedule.def"
#undef SCHEDULE
}

static const struct {
    const char *kind;
    void (*put)(Buf *buf);
} references[] = {{"ops", print_op_reference},
                  {"functions", dsl_print_functions},
                  {"passes", passes_print_list},
                  {"targets", put_targets},
                  {"schedules", put_schedules}};

static tcc_status reference_body(void *data) {
    TextCall *call = data;
    for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
        if (strcmp(references[i].kind, call->kind) != 0) continue;
        arena_free(call->compiler->reading);
        call->compiler->reading = NULL;
        call->buf.arena = call->compiler->reading = arena_new(NULL);
        references[i].put(&call->buf);
        return TCC_OK;
    }
    return compiler_fail(call->compiler, TCC_INVALID, "there is no reference \"%s\"", call->kind);
}

tcc_status tcc_reference(tcc_compiler *compiler, const char *kind, const char **out_text,
                         size_t *out_size) {
    TextCall call = {.compiler = compiler, .kind = kind};
    return run_text(&call, reference_body, out_text, out_size);
}
