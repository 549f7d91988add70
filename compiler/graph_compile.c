/* What was built: the host's tensors, what is told of values, and the way to the compiler. */
#include "base/messages.h"
#include "compiler/graph.h"
#include "ir/import.h"
#include "ir/infer.h"
#include "ir/tensor.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "runtime/copy.h"

#include <string.h>

/* ---- tensors --------------------------------------------------------------------------------- */

/* What is wrong with it as memory; NULL when nothing is. */
static const char *find_fault(const tcc_tensor *tensor, int64_t *out_count, int64_t *out_bytes) {
    if (tensor->size < sizeof *tensor) return "its size is not set";
    if (tensor->device != TCC_CPU) return "it is not on the CPU";
    if (tensor->dtype < 0 || tensor->dtype >= DT_count) return "there is no such dtype";
    if (tensor->rank > TYPE_MAX_RANK) return "it has too many axes";
    if (!tensor_count(tensor, out_count)) return "its dims are negative or too large";
    DType dtype = (DType)tensor->dtype;
    if (!dtype_bytes(dtype, *out_count, out_bytes)) return "it is too large";
    if (*out_count == 0) return NULL;
    if (tensor->data == NULL) return "it has no data";
    if (dtype_info(dtype)->bits < 8 && !tensor_is_dense(tensor))
        return "tensors of 4-bit elements must be dense";
    return tensor_has_sound_strides(tensor) ? NULL : "its strides reach beyond all memory";
}

static void copy_bytes(const tcc_tensor *tensor, int64_t count, size_t size, void *bytes) {
    unsigned bits = dtype_info((DType)tensor->dtype)->bits;
    unsigned char *last = (unsigned char *)bytes + size - 1;
    if (size == 0) return;
    if (tensor_is_dense(tensor))
        memcpy(bytes, tensor_begin(tensor), size);
    else
        tensor_gather(tensor, bits / 8, bytes);
    if (bits == 4 && count % 2 != 0) *last &= 0x0f;
}

static bool has_bad_bool(const tcc_tensor *tensor, const unsigned char *bytes, size_t size) {
    bool bad = false;
    for (size_t i = 0; tensor->dtype == TCC_BOOL && i < size; i++) bad |= bytes[i] > 1;
    return bad;
}

Weight *graph_take_tensor(tcc_graph *graph, Loc loc, Str name, const tcc_tensor *tensor) {
    int64_t count = 0, size = 0;
    void *bytes = NULL;
    const char *fault = find_fault(tensor, &count, &size);
    if (fault != NULL) {
        diag_error(graph->diags, loc, MSG_HOST_TENSOR, fault);
        return NULL;
    }
    Weight shape = {.dtype = (DType)tensor->dtype, .rank = tensor->rank, .size = (size_t)size};
    memcpy(shape.dims, tensor->dims, tensor->rank * sizeof *shape.dims);
    shape.file = loc.file;
    Weight *weight = weights_add(graph->weights, &shape, &bytes);
    copy_bytes(tensor, count, shape.size, bytes);
    if (has_bad_bool(tensor, bytes, shape.size)) {
        diag_error(graph->diags, loc, MSG_HOST_TENSOR, "a bool is neither 0 nor 1");
        return NULL;
    }
    if (name.data != NULL) weights_name(graph->weights, weight, name);
    return weight;
}

/* ---- weights --------------------------------------------------------------------------------- */

typedef struct WeightCall {
    tcc_graph *graph;
    Str name;
    const tcc_tensor *tensor;
} WeightCall;

static bool has_type(const Type *type, const tcc_tensor *tensor) {
    bool same = (int32_t)type->dtype == tensor->dtype && type->rank == tensor->rank;
    for (uint32_t i = 0; same && i < type->rank; i++)
        same = dim_equals_int(type->dims[i], tensor->dims[i]);
    return same;
}

/* Whether the parameter, if it is declared, can take the tensor. */
static bool fits_param(const WeightCall *call, Loc loc) {
    tcc_graph *graph = call->graph;
    const Type *type = live_param_type(graph->live, call->name);
    int64_t count, size;
    if (type == NULL || find_fault(call->tensor, &count, &size) != NULL) return true;
    if (has_type(type, call->tensor)) return true;
    Buf want = {.arena = graph->arena}, got = {.arena = graph->arena};
    buf_type(&want, type);
    buf_print(&got, "%s[", dtype_name((DType)call->tensor->dtype));
    for (uint32_t i = 0; i < call->tensor->rank; i++)
        buf_print(&got, "%s%lld", i > 0 ? ", " : "", (long long)call->tensor->dims[i]);
    buf_char(&got, ']');
    diag_error(graph->diags, loc, MSG_HOST_WEIGHT, STR_ARG(call->name), want.data, got.data);
    return false;
}

static tcc_status weight_body(void *data) {
    WeightCall *call = data;
    tcc_graph *graph = call->graph;
    Loc loc = graph_place(graph, call->name);
    if (weights_find(graph->weights, call->name) != NULL) {
        diag_error(graph->diags, loc, MSG_HOST_WEIGHT_TWICE, STR_ARG(call->name));
        return TCC_INVALID;
    }
    if (!fits_param(call, loc)) return TCC_INVALID;
    Weight *weight = graph_take_tensor(graph, loc, call->name, call->tensor);
    if (weight == NULL) return TCC_INVALID;
    weight->used = live_param_type(graph->live, call->name) != NULL;
    return TCC_OK;
}

tcc_status tcc_graph_weight(tcc_graph *graph, const char *name, const tcc_tensor *tensor) {
    WeightCall call = {graph, str_from(name), tensor};
    if (graph == NULL) return TCC_INVALID;
    if (name == NULL) return compiler_refuse_null(graph->compiler, "name");
    if (tensor == NULL) return compiler_refuse_null(graph->compiler, "tensor");
    return graph_enter(graph, weight_body, &call);
}

/* ---- what is told of a value ----------------------------------------------------------------- */

static void put_value(Buf *buf, const Graph *graph, const Value *value);

static void put_items(Buf *buf, const Graph *graph, const Value *value) {
    bool list = value->kind == VALUE_list;
    buf_char(buf, list ? '[' : '(');
    for (uint32_t i = 0; i < value->list.count; i++) {
        if (i > 0) buf_put(buf, STR(", "));
        put_value(buf, graph, &value->list.items[i]);
    }
    buf_char(buf, list ? ']' : ')');
}

/* As the language writes it; a tensor by its type. */
static void put_value(Buf *buf, const Graph *graph, const Value *value) {
    switch (value->kind) {
    case VALUE_none: buf_put(buf, STR("None")); break;
    case VALUE_bool: buf_put(buf, value->flag ? STR("true") : STR("false")); break;
    case VALUE_int: buf_print(buf, "%lld", (long long)value->integer); break;
    case VALUE_float: buf_double(buf, value->number); break;
    case VALUE_string: buf_quoted(buf, value->text); break;
    case VALUE_dtype: buf_print(buf, "%s", dtype_name(value->dtype)); break;
    case VALUE_dim: buf_dim(buf, value->dim); break;
    case VALUE_relation:
        buf_dim(buf, value->relation.a);
        buf_print(buf, " %s ", ast_op_name(value->relation.op));
        buf_dim(buf, value->relation.b);
        break;
    case VALUE_list:
    case VALUE_tuple: put_items(buf, graph, value); break;
    case VALUE_tensor: buf_type(buf, graph_type(graph, value->node)); break;
    case VALUE_error: break;
    }
}

static const char *slice_text(Buf *buf, const Graph *graph, const LiveSubscript *slice) {
    const Value *parts[] = {&slice->start.value, &slice->stop.value, &slice->step.value};
    for (int i = 0; i < 3; i++) {
        if (i > 0) buf_char(buf, ':');
        if (parts[i]->kind != VALUE_none) put_value(buf, graph, parts[i]);
    }
    return buf->data;
}

typedef struct InfoCall {
    tcc_graph *graph;
    tcc_value value;
    tcc_value_info info;
} InfoCall;

static void describe_tensor(tcc_value_info *info, const Type *type) {
    info->dtype = (int32_t)type->dtype;
    info->rank = type->rank;
    for (uint32_t i = 0; i < type->rank; i++)
        if (!dim_is_const(type->dims[i], &info->dims[i])) info->dims[i] = -1;
}

static tcc_status info_body(void *data) {
    InfoCall *call = data;
    tcc_graph *graph = call->graph;
    const GraphValue *value = graph_value(graph, call->value);
    if (value == NULL)
        return compiler_fail(graph->compiler, TCC_INVALID, "a value is none of this graph");
    const Graph *nodes = live_graph_of(graph->live, value->operand.block);
    const Value *worth = &value->operand.value;
    Buf text = {.arena = graph->arena};
    Str label = str_copy(graph->arena, value->label);
    call->info = (tcc_value_info){.label = label.data, .dtype = -1};
    if (value->slice != NULL)
        slice_text(&text, nodes, value->slice);
    else
        put_value(&text, nodes, worth);
    call->info.text = text.data;
    if (worth->kind == VALUE_dtype) call->info.dtype = (int32_t)worth->dtype;
    if (worth->kind == VALUE_list || worth->kind == VALUE_tuple)
        call->info.rank = worth->list.count;
    if (worth->kind == VALUE_tensor) describe_tensor(&call->info, graph_type(nodes, worth->node));
    return TCC_OK;
}

tcc_status tcc_graph_info(tcc_graph *graph, tcc_value value, tcc_value_info *info) {
    InfoCall call = {.graph = graph, .value = value};
    if (graph == NULL) return TCC_INVALID;
    if (info == NULL) return compiler_refuse_null(graph->compiler, "info");
    if (info->size < sizeof *info)
        return compiler_fail(graph->compiler, TCC_INVALID, "info->size is too small");
    if (value == TCC_NO_VALUE) return TCC_INVALID;
    tcc_status status = graph_enter(graph, info_body, &call);
    call.info.size = info->size;
    if (status == TCC_OK) memcpy(info, &call.info, sizeof *info);
    return status;
}

/* ---- the model ------------------------------------------------------------------------------- */

typedef struct Bringing {
    const tcc_graph *graph;
    Diags *diags; /* of the compilation */
    bool may_lack;
} Bringing;

/* A parameter may have got its value after it was declared, or get it by an option. */
static const Blob *param_value(const Bringing *b, IrContext *ctx, const Node *node) {
    Str name = *node_attr(node, "name").str;
    const Weight *weight = weights_find(b->graph->weights, name);
    if (weight == NULL && !b->may_lack)
        diag_error(b->diags, origin_loc(node->origin), MSG_HOST_PARAM, STR_ARG(name));
    if (weight == NULL) return NULL;
    return ir_blob_adopt(ctx, weight->bytes, weight->size, weight_storage_release,
                         weight_storage_retain(weight->storage));
}

/* The host's tensors are shared with the graph. */
static const Blob *bring_value(void *user, IrContext *ctx, const Node *node) {
    const Blob *blob = node_attr(node, "value").blob;
    if (blob == NULL) return param_value(user, ctx, node);
    if (blob->release != weight_storage_release) return ir_blob(ctx, blob->bytes, blob->size);
    return ir_blob_adopt(ctx, blob->bytes, blob->size, blob->release,
                         weight_storage_retain(blob->owner));
}

static void bring_files(const tcc_graph *graph, Diags *diags) {
    for (uint32_t i = 1; i <= diags_file_count(graph->diags); i++) {
        Str path = diags_file_path(graph->diags, i), text = diags_file_text(graph->diags, i);
        Str label = diags_file_label(graph->diags, i);
        if (text.size > 0)
            diags_add_file(diags, path, text);
        else
            diags_add_label(diags, path, label);
    }
}

Graph *graph_bring(const tcc_graph *graph, IrContext *ctx, Arena *arena, Diags *diags,
                   const Options *options) {
    size_t count = options == NULL ? 0 : options->dims.count;
    ImportDim *dims = NEW_ARRAY(arena, ImportDim, count);
    for (size_t i = 0; i < count; i++) {
        const DimOption *d = &options->dims.data[i];
        dims[i] = (ImportDim){d->name, d->lo, d->hi, d->tune};
    }
    bring_files(graph, diags);
    Bringing bringing = {graph, diags, options == NULL || options->params.size > 0};
    ImportOptions how = {dims, count, bring_value, &bringing};
    Graph *model = graph_import(ctx, arena, diags, live_graph(graph->live), &how);
    if (diags_error_count(diags) > 0) return NULL;
    const char *fault = model == NULL ? NULL : graph_verify(model, arena);
    if (fault != NULL) bug("a graph that was built is not well formed: %s", fault);
    return model;
}

bool graph_is_whole(tcc_graph *graph) {
    live_set_place(graph->live, graph_place(graph, (Str){0}));
    if (!live_check(graph->live)) return false;
    weights_warn_unused(graph->weights, graph->diags, graph_place(graph, (Str){0}));
    return true;
}

/* ---- the text -------------------------------------------------------------------------------- */

typedef struct GraphText {
    tcc_graph *graph;
    Str text;
} GraphText;

static void free_context(void *ctx) { ir_context_free(ctx); }

static tcc_status text_body(void *data) {
    GraphText *call = data;
    tcc_graph *graph = call->graph;
    GuardDefer defer;
    arena_free(graph->text);
    graph->text = NULL;
    Arena *arena = graph->text = arena_new(NULL);
    IrContext *ctx = ir_context_new(arena);
    guard_defer(&defer, free_context, ctx);
    Diags *diags = diags_new(arena, NULL, NULL, 0);
    Module module = {.ctx = ctx, .arena = arena};
    Graph *model = graph_bring(graph, ctx, arena, diags, NULL);
    Buf buf = {.arena = arena};
    vec_push(arena, &module.models, model);
    print_module(&buf, &module, &(PrintOptions){0});
    print_blobs(&buf, &module);
    call->text = buf_str(&buf);
    guard_undefer(&defer);
    ir_context_free(ctx);
    return TCC_OK;
}

tcc_status tcc_graph_text(tcc_graph *graph, const char **out_text, size_t *out_size) {
    GraphText call = {.graph = graph};
    if (out_text != NULL) *out_text = NULL;
    if (out_size != NULL) *out_size = 0;
    if (graph == NULL) return TCC_INVALID;
    if (out_text == NULL) return compiler_refuse_null(graph->compiler, "out_text");
    if (out_size == NULL) return compiler_refuse_null(graph->compiler, "out_size");
    tcc_status status = graph_enter(graph, text_body, &call);
    if (status != TCC_OK) return status;
    *out_text = call.text.data;
    *out_size = call.text.size;
    return TCC_OK;
}
