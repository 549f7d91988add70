/* Graphs that are built call by call: the handle, its values, and the edge of each call. */
#include "compiler/graph.h"

#include "base/messages.h"

#include <stdio.h>
#include <string.h>

/* ---- diagnostics ----------------------------------------------------------------------------- */

/* The message of a failing call has the place and the label; the callback gets the diagnostic. */
static void graph_diagnose(void *user, const Diag *diag) {
    const tcc_graph *graph = user;
    tcc_compiler *compiler = graph->compiler;
    if (diag->severity == DIAG_error && compiler->message[0] == 0) {
        char line[16] = "";
        if (diag->loc.line > 0) snprintf(line, sizeof line, ":%u", diag->loc.line);
        compiler_fail(compiler, TCC_INVALID, "%s%s: %s%s%s%s", diag->path, line, diag->text,
                      diag->label ? " (value \"" : "", diag->label ? diag->label : "",
                      diag->label ? "\")" : "");
    }
    compiler_diagnose(compiler, diag);
}

static uint32_t file_of(tcc_graph *graph, Str path, Str label) {
    Str key = str_format(graph->arena, "%.*s%c%.*s", STR_ARG(path), 0, STR_ARG(label));
    uintptr_t file = (uintptr_t)map_get(&graph->files, key);
    if (file == 0) {
        file = diags_add_label(graph->diags, path, label);
        map_set(&graph->files, key, (void *)file);
    }
    return (uint32_t)file;
}

Loc graph_place(tcc_graph *graph, Str label) {
    Str path = graph->file.size > 0 ? graph->file : graph->name;
    return (Loc){file_of(graph, path, label), graph->file.size > 0 ? graph->line : 0, 0, 1};
}

/* ---- the edge -------------------------------------------------------------------------------- */

/* A call that succeeds leaves the message of the last one that failed: what is made of its value
 * fails silently. One that memory ran out in leaves a graph that is not whole. */
tcc_status graph_enter(tcc_graph *graph, tcc_status (*body)(void *data), void *data) {
    char before[MESSAGE_SIZE];
    tcc_compiler *compiler = graph->compiler;
    if (graph->spoilt)
        return compiler_fail(compiler, TCC_INVALID, "the graph is lost: a call ran out of memory");
    memcpy(before, compiler->message, strlen(compiler->message) + 1);
    tcc_status status = compiler_enter(compiler, body, data);
    if (status == TCC_OK && compiler->message[0] == 0)
        memcpy(compiler->message, before, strlen(before) + 1);
    graph->spoilt |= status == TCC_MEMORY || status == TCC_INTERNAL;
    return status;
}

const GraphValue *graph_value(const tcc_graph *graph, tcc_value value) {
    uint32_t index = (uint32_t)value;
    if (value >> 32 != graph->tag || index == 0 || index > graph->values.count) return NULL;
    return &graph->values.data[index - 1];
}

static tcc_value add_value(tcc_graph *graph, const GraphValue *value) {
    vec_push(graph->arena, &graph->values, *value);
    return (tcc_value)graph->tag << 32 | graph->values.count;
}

/* ---- making values --------------------------------------------------------------------------- */

/* The label that was set, or what the value is called without one. */
static Str take_label(GraphCall *call, bool *out_numbered) {
    tcc_graph *graph = call->graph;
    Str label = graph->label;
    *out_numbered = false;
    if (call->what == NULL) return (Str){0};
    graph->label = (Str){0};
    if (label.size > 0) return label;
    *out_numbered = !call->is_named;
    if (call->is_named) return str_copy(graph->arena, str_from(call->what));
    return str_format(graph->arena, "%s#%zu", call->what, graph->values.count + 1);
}

/* A slice may stand among subscripts only, which look it up themselves. */
static bool find_operands(GraphCall *call, Loc loc) {
    tcc_graph *graph = call->graph;
    call->operands = NEW_ARRAY(graph->arena, LiveOperand, call->value_count);
    for (uint32_t i = 0; i < call->value_count; i++) {
        const GraphValue *value = graph_value(graph, call->values[i]);
        if (value == NULL) {
            diag_error(graph->diags, loc, MSG_HOST_VALUE);
            return false;
        }
        if (value->slice != NULL && !call->takes_slices) {
            diag_error(graph->diags, loc, MSG_HOST_SLICE);
            return false;
        }
        call->operands[i] = value->operand;
    }
    return true;
}

static void give_inner(GraphCall *call, Loc loc, Str label) {
    tcc_graph *graph = call->graph;
    for (uint32_t i = 0; i < call->inner_count; i++) {
        GraphValue inner = {.operand = {call->inner[i], loc, live_block(graph->live)},
                            .label = label};
        call->out_inner[i] = add_value(graph, &inner);
    }
}

typedef struct Making {
    GraphCall *call;
    tcc_value made;
} Making;

static tcc_status make_body(void *data) {
    Making *making = data;
    GraphCall *call = making->call;
    tcc_graph *graph = call->graph;
    bool numbered;
    Str label = take_label(call, &numbered);
    Loc loc = graph_place(graph, label);
    live_set_place(graph->live, loc);
    if (!find_operands(call, loc)) return TCC_INVALID;
    Value value = call->make(call);
    if (value.kind == VALUE_error) return TCC_INVALID;
    give_inner(call, loc, label);
    if (call->makes_nothing) return TCC_OK;
    GraphValue made = {.operand = {value, loc, live_block(graph->live)},
                       .label = label,
                       .is_numbered = numbered,
                       .slice = call->slice};
    making->made = add_value(graph, &made);
    return TCC_OK;
}

static bool is_lacking(const GraphCall *call) {
    for (uint32_t i = 0; i < call->value_count; i++)
        if (call->values[i] == TCC_NO_VALUE) return true;
    return false;
}

static tcc_status run_call(GraphCall *call, tcc_value *out_value) {
    Making making = {.call = call};
    if (call->graph == NULL) return TCC_INVALID;
    if (is_lacking(call)) {
        if (call->what != NULL) call->graph->label = (Str){0};
        return TCC_INVALID;
    }
    tcc_status status = graph_enter(call->graph, make_body, &making);
    *out_value = status == TCC_OK ? making.made : TCC_NO_VALUE;
    return status;
}

tcc_value graph_make(GraphCall *call) {
    tcc_value made = TCC_NO_VALUE;
    run_call(call, &made);
    return made;
}

tcc_status graph_do(GraphCall *call) {
    tcc_value made;
    return run_call(call, &made);
}

tcc_value graph_refuse_value(tcc_graph *graph, const char *name) {
    if (graph != NULL) compiler_refuse_null(graph->compiler, name);
    return TCC_NO_VALUE;
}

tcc_status graph_refuse(tcc_graph *graph, const char *name) {
    graph_refuse_value(graph, name);
    return TCC_INVALID;
}

/* ---- the handle ------------------------------------------------------------------------------ */

static void free_graph(void *data) { tcc_graph_free(data); }

void tcc_graph_free(tcc_graph *graph) {
    if (graph == NULL) return;
    Arena *arena = graph->arena;
    compiler_release(graph->compiler);
    if (graph->ctx != NULL) ir_context_free(graph->ctx);
    if (graph->weights != NULL) weights_free(graph->weights);
    arena_free(graph->text);
    arena_free(arena);
}

typedef struct NewCall {
    tcc_compiler *compiler;
    Str name;
    tcc_graph *graph;
} NewCall;

/* The values of two graphs are told apart by a number that each has of its own: the place in memory
 * is no other's while it lives, and the count differs where one follows another. */
static uint32_t make_tag(const tcc_graph *graph) {
    uint64_t hash = hash_word((uintptr_t)graph, graph->compiler->graphs++);
    return (uint32_t)(hash >> 32) | 1;
}

static tcc_status new_body(void *data) {
    NewCall *call = data;
    GuardDefer defer;
    Arena *arena = arena_new(NULL);
    tcc_graph *graph = NEW(arena, tcc_graph);
    *graph = (tcc_graph){.compiler = call->compiler, .arena = arena, .files = {.arena = arena}};
    call->compiler->holds++;
    guard_defer(&defer, free_graph, graph);
    graph->name = str_copy(arena, call->name);
    graph->ctx = ir_context_new(arena);
    graph->diags = diags_new(arena, graph_diagnose, graph, 0);
    graph->weights = weights_new(arena);
    graph->live = live_new(graph->ctx, arena, graph->diags, graph->name, graph->weights);
    graph->tag = make_tag(graph);
    guard_undefer(&defer);
    call->graph = graph;
    return TCC_OK;
}

static bool is_name(Str name) {
    bool good = name.size > 0 && str_is_utf8(name);
    for (size_t i = 0; i < name.size; i++) good &= (unsigned char)name.data[i] >= ' ';
    return good;
}

tcc_status tcc_graph_new(tcc_compiler *compiler, const char *name, tcc_graph **out_graph) {
    NewCall call = {.compiler = compiler, .name = str_from(name)};
    if (out_graph == NULL) return compiler_refuse_null(compiler, "out_graph");
    *out_graph = NULL;
    if (compiler == NULL || name == NULL) return compiler_refuse_null(compiler, "name");
    if (!is_name(call.name))
        return compiler_fail(compiler, TCC_INVALID, "\"%s\" is no name of a graph", name);
    tcc_status status = compiler_enter(compiler, new_body, &call);
    *out_graph = call.graph;
    return status;
}

/* ---- labels and places ----------------------------------------------------------------------- */

typedef struct TextCall {
    tcc_graph *graph;
    const char *text;
    Str *out;
} TextCall;

static tcc_status keep_text(void *data) {
    TextCall *call = data;
    *call->out = call->text == NULL ? (Str){0} : str_copy(call->graph->arena, str_from(call->text));
    return TCC_OK;
}

void tcc_graph_label(tcc_graph *graph, const char *label) {
    TextCall call = {graph, label, graph == NULL ? NULL : &graph->label};
    if (graph != NULL) graph_enter(graph, keep_text, &call);
}

/* The file is most often the one that it was. */
void tcc_graph_place(tcc_graph *graph, const char *file, uint32_t line) {
    if (graph == NULL) return;
    TextCall call = {graph, file, &graph->file};
    graph->line = line;
    if (file == NULL || !str_equal(graph->file, str_from(file)))
        graph_enter(graph, keep_text, &call);
}

typedef struct Renaming {
    tcc_graph *graph;
    tcc_value value;
    Str label;
} Renaming;

/* A numbered label stands at no other value's places, which are renamed with it: the messages of a
 * compiled model come from there. */
static tcc_status rename_body(void *data) {
    Renaming *call = data;
    tcc_graph *graph = call->graph;
    GraphValue *value = (GraphValue *)(uintptr_t)graph_value(graph, call->value);
    if (value == NULL)
        return compiler_fail(graph->compiler, TCC_INVALID, "a value is none of this graph");
    Loc *loc = &value->operand.loc;
    value->label = str_copy(graph->arena, call->label);
    if (value->is_numbered)
        diags_set_label(graph->diags, loc->file, value->label);
    else if (loc->file != 0)
        loc->file = file_of(graph, diags_file_path(graph->diags, loc->file), value->label);
    value->is_numbered = false;
    return TCC_OK;
}

tcc_status tcc_graph_rename(tcc_graph *graph, tcc_value value, const char *label) {
    Renaming call = {graph, value, str_from(label)};
    if (graph == NULL || value == TCC_NO_VALUE) return TCC_INVALID;
    if (label == NULL) return graph_refuse(graph, "label");
    return graph_enter(graph, rename_body, &call);
}
