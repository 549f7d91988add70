/* The graph is copied node by node; dims go by their text, which is exact, once each. */
#include "ir/import.h"

#include "base/guard.h"
#include "base/map.h"
#include "base/messages.h"
#include "ir/infer.h"

typedef struct Import {
    IrContext *ctx;
    Arena *arena;
    Diags *diags;
    const ImportOptions *options;
    Map dims;    /* by the old dim's address */
    Map origins; /* by the old origin's address */
} Import;

static Str key_of(const void *const *pointer) {
    return (Str){(const char *)pointer, sizeof *pointer};
}

/* ---- dims, types ----------------------------------------------------------------------------- */

static const Dim *import_dim(Import *in, const Dim *dim) {
    const void *address = dim;
    const Dim *known = map_get(&in->dims, key_of(&address));
    if (known) return known;
    Buf buf = {.arena = in->arena};
    buf_dim(&buf, dim);
    Str text = buf_str(&buf);
    const Dim *made = dim_parse(in->ctx, &text);
    if (!made) bug("dim %s does not read back", buf.data);
    map_set(&in->dims, key_of(&address), (void *)(uintptr_t)made);
    return made;
}

static bool import_symbol(Import *in, const DimSymbol *symbol) {
    const DimRange *narrow = dim_ranges_find(&in->options->ranges, symbol->name);
    int64_t lo = symbol->lo, hi = symbol->hi, tune = symbol->tune;
    if (narrow && symbol->kind == SYMBOL_named) {
        bool within = dim_range_is_within(narrow, lo, hi);
        lo = narrow->lo;
        hi = narrow->hi;
        tune = narrow->tune;
        if (!within) {
            diag_error(in->diags, (Loc){0}, MSG_DIM_OVERRIDE, (long long)lo, (long long)hi,
                       STR_ARG(symbol->name));
            return false;
        }
    }
    const Dim *limit = symbol->limit ? import_dim(in, symbol->limit) : NULL;
    dim_new_symbol(in->ctx, symbol->kind, symbol->name, lo, hi, tune, limit);
    return true;
}

/* Old and new symbols are in the same order, which the canonical form of dims depends on. */
static bool import_symbols(Import *in, const IrContext *from) {
    bool good = true;
    for (uint32_t i = 0; i < dim_symbol_count(from); i++)
        good = good && import_symbol(in, dim_symbol_at(from, i));
    for (size_t i = 0; good && i < in->options->ranges.count; i++) {
        Str name = in->options->ranges.items[i].name;
        if (dim_find_symbol(in->ctx, name)) continue;
        diag_error(in->diags, (Loc){0}, MSG_UNKNOWN_DIM, STR_ARG(name));
        good = false;
    }
    return good;
}

static const Type *import_type(Import *in, const Type *type) {
    if (type->is_tuple) {
        const Type **items = NEW_ARRAY(in->arena, const Type *, type->item_count);
        for (uint32_t i = 0; i < type->item_count; i++) items[i] = import_type(in, type->items[i]);
        return type_tuple(in->ctx, type->item_count, items);
    }
    const Dim *dims[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < type->rank; i++) dims[i] = import_dim(in, type->dims[i]);
    return type_tensor(in->ctx, type->dtype, type->rank, dims);
}

/* ---- places ---------------------------------------------------------------------------------- */

static const Origin *import_caller(Import *in, const Origin *origin) {
    const void *address = origin;
    if (!origin) return NULL;
    const Origin *known = map_get(&in->origins, key_of(&address));
    if (known) return known;
    Origin *made = NEW(ir_context_arena(in->ctx), Origin);
    *made = (Origin){.loc = origin->loc, .library = origin->library};
    made->caller = import_caller(in, origin->caller);
    map_set(&in->origins, key_of(&address), made);
    return made;
}

static const Origin *import_origin(Import *in, const Origin *origin) {
    Origin *first = NULL, **link = &first;
    for (; origin; origin = origin->next) {
        Origin *made = NEW(ir_context_arena(in->ctx), Origin);
        *made = (Origin){.loc = origin->loc, .library = origin->library};
        made->caller = import_caller(in, origin->caller);
        *link = made;
        link = (Origin **)(uintptr_t)&made->next;
    }
    return first;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static const DimList *import_dims(Import *in, const DimList *list) {
    const Dim **dims = NEW_ARRAY(in->arena, const Dim *, list->count);
    for (uint32_t i = 0; i < list->count; i++) dims[i] = import_dim(in, list->items[i]);
    return ir_dims(in->ctx, dims, list->count);
}

static const Blob *import_blob(Import *in, const Node *node, const Blob *blob) {
    if (in->options->value) return in->options->value(in->options->user, in->ctx, node);
    return blob ? ir_blob(in->ctx, blob->bytes, blob->size) : NULL;
}

static Attr import_attr(Import *in, const Node *node, AttrKind kind, Attr attr) {
    switch (kind) {
    case ATTR_int:
    case ATTR_dtype: return attr;
    case ATTR_ints: return (Attr){.ints = ir_ints(in->ctx, attr.ints->items, attr.ints->count)};
    case ATTR_dim: return (Attr){.dim = import_dim(in, attr.dim)};
    case ATTR_dims: return (Attr){.dims = import_dims(in, attr.dims)};
    case ATTR_str: return (Attr){.str = ir_string(in->ctx, *attr.str)};
    case ATTR_blob: return (Attr){.blob = import_blob(in, node, attr.blob)};
    }
    bug("an attribute of an unknown kind");
}

static Graph *import_body(Import *in, const Graph *from);

static NodeId import_node(Import *in, Graph *to, const Node *node, const NodeId *map) {
    const OpInfo *info = op_info(node->op);
    const Origin *origin = import_origin(in, node->origin);
    const Type *type = import_type(in, node->type);
    if (node->op == OP_input) return graph_add_input(to, *node->attrs[1].str, type, origin);
    Attr attrs[OP_MAX_ATTRS];
    for (uint32_t i = 0; i < info->attr_count; i++)
        attrs[i] = import_attr(in, node, info->attrs[i].kind, node->attrs[i]);
    NodeId *args = NEW_ARRAY(in->arena, NodeId, node->arg_count);
    for (uint32_t i = 0; i < node->arg_count; i++) args[i] = map[node->args[i]];
    const Graph **regions = NEW_ARRAY(in->arena, const Graph *, node->region_count);
    for (uint32_t i = 0; i < node->region_count; i++)
        regions[i] = import_body(in, node->regions[i]);
    return graph_add(to, node->op, type, args, node->arg_count, attrs, regions, node->region_count,
                     origin);
}

static Graph *import_body(Import *in, const Graph *from) {
    Graph *to = graph_new(in->ctx, in->arena, *from->name);
    const bool *live = graph_find_live(from, in->arena);
    NodeId *map = NEW_ARRAY(in->arena, NodeId, from->nodes.count);
    for (NodeId id = 0; id < from->nodes.count; id++) {
        const Node *node = graph_node(from, id);
        if (live[id] || node->op == OP_input) map[id] = import_node(in, to, node, map);
    }
    for (size_t i = 0; i < from->outputs.count; i++)
        graph_add_output(to, *from->outputs.data[i].name, map[from->outputs.data[i].node]);
    return to;
}

static bool holds(Import *in, CheckKind kind, const Dim *a, const Dim *b) {
    return a == b || (kind == CHECK_at_most && dim_proves_le(in->ctx, a, b));
}

static bool import_check(Import *in, Graph *to, const EntryCheck *check) {
    const Dim *a = import_dim(in, check->a), *b = import_dim(in, check->b);
    const Dim *rest = dim_sub(in->ctx, b, a);
    const Origin *origin = import_origin(in, check->origin);
    if (holds(in, check->kind, a, b)) return true;
    bool never = rest->hi < 0 || (check->kind == CHECK_equal && rest->lo > 0);
    if (never && !dim_is_overflow(rest)) {
        Buf left = {.arena = in->arena}, right = {.arena = in->arena};
        buf_dim(&left, a);
        buf_dim(&right, b);
        diag_error(in->diags, origin_loc(origin), MSG_DIMS_NEVER, left.data, right.data);
        return false;
    }
    graph_add_check(to, check->kind, a, b, origin);
    return true;
}

Graph *graph_import(IrContext *ctx, Arena *arena, Diags *diags, const Graph *from,
                    const ImportOptions *options) {
    Import in = {.ctx = ctx, .arena = arena, .diags = diags, .options = options};
    in.dims.arena = in.origins.arena = arena;
    if (!import_symbols(&in, from->ctx)) return NULL;
    Graph *to = import_body(&in, from);
    bool good = true;
    for (size_t i = 0; i < from->checks.count; i++)
        good &= import_check(&in, to, &from->checks.data[i]);
    return good ? to : NULL;
}
