#include "ir/verify.h"

#include "base/guard.h"
#include "ir/infer.h"
#include "ir/text.h"

#include <string.h>

/* ---- leaves: their types are given, so their attributes are held against them ---------------- */

static const char *blob_fault(const Type *type, const Blob *blob) {
    int64_t count, bytes;
    if (!type_is_static(type, &count)) return "a value needs a type of constant dims";
    if (!dtype_bytes(type->dtype, count, &bytes)) return "the type needs too many bytes";
    return (size_t)bytes == blob->size ? NULL : "the value has not the bytes that the type needs";
}

const char *verify_leaf(Op op, const Type *type, const Attr *attrs) {
    if (op == OP_dim) return NULL;
    if (type->is_tuple) return "a leaf is a tensor";
    if (!op_accepts(op, type->dtype)) return "the op does not make values of that dtype";
    switch (op) {
    case OP_const:
        return attrs[0].blob ? blob_fault(type, attrs[0].blob) : "a constant needs a value";
    case OP_param: return attrs[1].blob ? blob_fault(type, attrs[1].blob) : NULL;
    case OP_iota:
        if (attrs[0].i >= 0 && attrs[0].i < (int64_t)type->rank) return NULL;
        return "axis is no axis of the type";
    default: return NULL;
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

typedef struct Verifier {
    Graph graph; /* a view of the graph, on which inference may note the checks that it needs */
    Arena *arena;
    bool *inputs_seen;
    Buf *reason; /* what inference says */
} Verifier;

static void note_reason(void *user, const Diag *diag) {
    Buf *reason = user;
    if (diag->severity == DIAG_error && !reason->size) buf_print(reason, "%s", diag->text);
}

static bool type_overflows(const Type *type) {
    for (uint32_t i = 0; i < type->rank; i++) {
        if (dim_is_overflow(type->dims[i])) return true;
    }
    for (uint32_t i = 0; i < type->item_count; i++) {
        if (type_overflows(type->items[i])) return true;
    }
    return false;
}

static bool attr_overflows(AttrKind kind, Attr attr) {
    if (kind == ATTR_dim) return dim_is_overflow(attr.dim);
    for (uint32_t i = 0; kind == ATTR_dims && i < attr.dims->count; i++) {
        if (dim_is_overflow(attr.dims->items[i])) return true;
    }
    return false;
}

/* Pointers that an attribute of its kind must have; only a parameter may have no blob. */
static bool attr_is_missing(Op op, AttrKind kind, Attr attr) {
    switch (kind) {
    case ATTR_int: return false;
    case ATTR_dtype: return (unsigned)attr.dtype >= DT_count;
    case ATTR_blob: return !attr.blob && op != OP_param;
    default: return attr.bits == 0;
    }
}

static const char *attrs_fault(const Node *node) {
    const OpInfo *info = op_info(node->op);
    for (uint32_t i = 0; i < info->attr_count; i++) {
        AttrKind kind = info->attrs[i].kind;
        if (attr_is_missing(node->op, kind, node->attrs[i])) return "an attribute is missing";
        if (attr_overflows(kind, node->attrs[i])) return "a dim of an attribute overflows";
    }
    return NULL;
}

static const char *input_fault(Verifier *v, NodeId id) {
    const Graph *graph = &v->graph;
    int64_t index = graph_node(graph, id)->attrs[0].i;
    if (index < 0 || index >= (int64_t)graph->inputs.count || v->inputs_seen[index] ||
        graph->inputs.data[index] != id) {
        return "its index is not that of an input";
    }
    v->inputs_seen[index] = true;
    return NULL;
}

static const char *inferred_fault(Verifier *v, const Node *node) {
    Buf text = {.arena = v->arena};
    *v->reason = (Buf){.arena = v->arena};
    Diags *diags = diags_new(v->arena, note_reason, v->reason, 1);
    const Type *type = infer_type(&v->graph, diags, NULL, node->op, node->args, node->arg_count,
                                  node->attrs, node->regions, node->region_count);
    if (!type) return v->reason->size ? v->reason->data : "inference refuses it";
    if (type == node->type) return NULL;
    buf_put(&text, STR("inference gives "));
    buf_type(&text, type);
    return text.data;
}

static const char *node_fault(Verifier *v, NodeId id) {
    const Node *node = graph_node(&v->graph, id);
    for (uint32_t i = 0; i < node->arg_count; i++) {
        if (node->args[i] >= id) return "an operand does not come before it";
    }
    if (type_overflows(node->type)) return "a dim of its type overflows";
    const char *fault = attrs_fault(node);
    if (fault) return fault;
    const OpInfo *info = op_info(node->op);
    if (node->region_count && !(info->flags & FLAG_regions)) return "the op takes no regions";
    if (node->op == OP_input) return input_fault(v, id);
    if (info->class == CLASS_LEAF && node->arg_count) return "a leaf takes no operands";
    bool given = info->class == CLASS_LEAF && node->op != OP_dim;
    return given ? verify_leaf(node->op, node->type, node->attrs) : inferred_fault(v, node);
}

static const char *describe(Verifier *v, NodeId id, const char *fault) {
    Buf text = {.arena = v->arena};
    buf_print(&text, "graph \"%.*s\": ", STR_ARG(*v->graph.name));
    print_node(&text, &v->graph, id);
    buf_print(&text, ": %s", fault);
    return text.data;
}

static const char *outline_fault(const Verifier *v) {
    const Graph *graph = &v->graph;
    for (size_t i = 0; i < graph->inputs.count; i++) {
        if (!v->inputs_seen[i]) return "an input has no node";
    }
    for (size_t i = 0; i < graph->outputs.count; i++) {
        if (graph->outputs.data[i].node >= graph->nodes.count) return "an output is no node";
    }
    for (size_t i = 0; i < graph->checks.count; i++) {
        const EntryCheck *check = &graph->checks.data[i];
        if (dim_is_overflow(check->a) || dim_is_overflow(check->b)) return "a check overflows";
    }
    return NULL;
}

const char *graph_verify(const Graph *graph, Arena *arena) {
    Buf reason = {.arena = arena};
    Verifier v = {.graph = *graph, .arena = arena, .reason = &reason};
    v.graph.arena = arena;
    v.graph.checks.capacity = v.graph.checks.count;
    v.inputs_seen = NEW_ARRAY(arena, bool, graph->inputs.count);
    for (NodeId id = 0; id < graph->nodes.count; id++) {
        const Node *node = graph_node(graph, id);
        const char *fault = node_fault(&v, id);
        if (fault) return describe(&v, id, fault);
        for (uint32_t i = 0; i < node->region_count; i++) {
            fault = graph_verify(node->regions[i], arena);
            if (fault) return fault;
        }
    }
    const char *fault = outline_fault(&v);
    if (!fault) return NULL;
    return str_format(arena, "graph \"%.*s\": %s", STR_ARG(*graph->name), fault).data;
}
