/* Graphs and modules to text; docs/ir.md has the grammar. */
#include "base/map.h"
#include "ir/text_internal.h"

static void put_indent(Buf *buf, int depth) {
    for (int i = 0; i < depth; i++) buf_put(buf, STR("  "));
}

/* The verifier also prints nodes that are not as they must be. */
static bool is_missing(AttrKind kind, Attr attr) {
    if (kind == ATTR_dtype) return (unsigned)attr.dtype >= DT_count;
    return kind != ATTR_int && kind != ATTR_blob && attr.bits == 0;
}

static void put_attr(Buf *buf, AttrKind kind, Attr attr, const Type *type) {
    if (is_missing(kind, attr)) {
        buf_put(buf, STR("missing"));
        return;
    }
    switch (kind) {
    case ATTR_int: buf_print(buf, "%lld", (long long)attr.i); break;
    case ATTR_ints:
        buf_char(buf, '[');
        for (uint32_t i = 0; i < attr.ints->count; i++) {
            buf_print(buf, "%s%lld", i ? ", " : "", (long long)attr.ints->items[i]);
        }
        buf_char(buf, ']');
        break;
    case ATTR_dim:
        buf_char(buf, '(');
        buf_dim(buf, attr.dim);
        buf_char(buf, ')');
        break;
    case ATTR_dims:
        buf_char(buf, '[');
        for (uint32_t i = 0; i < attr.dims->count; i++) {
            if (i) buf_put(buf, STR(", "));
            buf_dim(buf, attr.dims->items[i]);
        }
        buf_char(buf, ']');
        break;
    case ATTR_dtype: buf_print(buf, "%s", dtype_name(attr.dtype)); break;
    case ATTR_str: buf_quoted(buf, *attr.str); break;
    case ATTR_blob: text_put_value(buf, type, attr.blob); break;
    }
}

static void put_origin(Buf *buf, const Origin *origin, const PrintOptions *options) {
    if (!options->origins || !origin) return;
    buf_print(buf, " @ %u:%u", origin->loc.line, origin->loc.column);
    if (options->files) buf_print(buf, " in %u", origin->loc.file);
}

void print_node(Buf *buf, const Graph *graph, NodeId id) {
    const Node *node = graph_node(graph, id);
    const OpInfo *info = op_info(node->op);
    buf_print(buf, "%%%u = %s", id, info->name);
    for (uint32_t i = 0; i < node->arg_count; i++) {
        buf_print(buf, "%s%%%u", i ? ", " : " ", node->args[i]);
    }
    for (uint32_t i = 0; i < info->attr_count; i++) {
        buf_print(buf, " %s=", info->attrs[i].name);
        put_attr(buf, info->attrs[i].kind, node->attrs[i], node->type);
    }
    buf_put(buf, STR(" : "));
    buf_type(buf, node->type);
}

static void put_check(Buf *buf, const EntryCheck *check, const PrintOptions *options) {
    buf_put(buf, STR("check "));
    buf_dim(buf, check->a);
    buf_put(buf, check->kind == CHECK_equal ? STR(" == ") : STR(" <= "));
    buf_dim(buf, check->b);
    put_origin(buf, check->origin, options);
    buf_char(buf, '\n');
}

/* A name stands bare when the reader takes it for one. */
static void put_name(Buf *buf, Str name) {
    if (text_is_name(name)) {
        buf_put(buf, name);
    } else {
        buf_quoted(buf, name);
    }
}

static void put_checks(Buf *buf, const Graph *graph, const PrintOptions *options, int depth) {
    for (size_t i = 0; i < graph->checks.count; i++) {
        put_indent(buf, depth);
        put_check(buf, &graph->checks.data[i], options);
    }
}

void text_put_checks(Buf *buf, const Graph *graph, const PrintOptions *options) {
    put_checks(buf, graph, options, 1);
}

static void put_outputs(Buf *buf, const Graph *graph) {
    buf_put(buf, STR("return"));
    for (size_t i = 0; i < graph->outputs.count; i++) {
        const Output *output = &graph->outputs.data[i];
        buf_put(buf, i ? STR(", ") : STR(" "));
        if (output->name->size) {
            put_name(buf, *output->name);
            buf_put(buf, STR(" = "));
        }
        buf_print(buf, "%%%u", output->node);
    }
    buf_char(buf, '\n');
}

/* "{ … }" with the body one level deeper than `depth`; names before the brace. */
static void put_body(Buf *buf, const Graph *graph, const PrintOptions *options, int depth) {
    if (graph->name->size) {
        buf_char(buf, '@');
        put_name(buf, *graph->name);
        buf_char(buf, ' ');
    }
    buf_put(buf, STR("{\n"));
    put_checks(buf, graph, options, depth + 1);
    for (NodeId id = 0; id < graph->nodes.count; id++) {
        const Node *node = graph_node(graph, id);
        put_indent(buf, depth + 1);
        print_node(buf, graph, id);
        put_origin(buf, node->origin, options);
        for (uint32_t i = 0; i < node->region_count; i++) {
            buf_char(buf, ' ');
            put_body(buf, node->regions[i], options, depth + 1);
        }
        buf_char(buf, '\n');
    }
    put_indent(buf, depth + 1);
    put_outputs(buf, graph);
    put_indent(buf, depth);
    buf_char(buf, '}');
}

void print_graph(Buf *buf, const Graph *graph, const PrintOptions *options) {
    buf_put(buf, STR("graph "));
    put_body(buf, graph, options, 0);
    buf_char(buf, '\n');
}

/* ---- what a module mentions ------------------------------------------------------------------ */

typedef struct Mentions {
    bool *symbols; /* by id */
    Map blobs;     /* by bytes of the pointer */
} Mentions;

static void mention_dim(Mentions *m, const Dim *dim) {
    for (uint32_t i = 0; i < dim->term_count; i++) {
        for (uint32_t k = 0; k < dim->terms[i].atom_count; k++) {
            const DimAtom *atom = dim->terms[i].atoms[k];
            if (atom->kind != ATOM_symbol) {
                mention_dim(m, atom->a);
                mention_dim(m, atom->b);
            } else if (!m->symbols[atom->symbol->id]) {
                m->symbols[atom->symbol->id] = true;
                if (atom->symbol->limit) mention_dim(m, atom->symbol->limit);
            }
        }
    }
}

static void mention_type(Mentions *m, const Type *type) {
    for (uint32_t i = 0; i < type->rank; i++) mention_dim(m, type->dims[i]);
    for (uint32_t i = 0; i < type->item_count; i++) mention_type(m, type->items[i]);
}

static void mention_attr(Mentions *m, AttrKind kind, Attr attr, const Type *type) {
    int64_t count;
    if (kind == ATTR_dim) mention_dim(m, attr.dim);
    for (uint32_t i = 0; kind == ATTR_dims && i < attr.dims->count; i++) {
        mention_dim(m, attr.dims->items[i]);
    }
    if (kind != ATTR_blob || !attr.blob || text_is_inline(type, attr.blob, &count)) return;
    map_set(&m->blobs, (Str){(const char *)&attr.blob, sizeof attr.blob}, (void *)attr.blob);
}

static void mention_graph(Mentions *m, const Graph *graph) {
    for (NodeId id = 0; id < graph->nodes.count; id++) {
        const Node *node = graph_node(graph, id);
        const OpInfo *info = op_info(node->op);
        mention_type(m, node->type);
        for (uint32_t i = 0; i < info->attr_count; i++) {
            mention_attr(m, info->attrs[i].kind, node->attrs[i], node->type);
        }
        for (uint32_t i = 0; i < node->region_count; i++) mention_graph(m, node->regions[i]);
    }
    for (size_t i = 0; i < graph->checks.count; i++) {
        mention_dim(m, graph->checks.data[i].a);
        mention_dim(m, graph->checks.data[i].b);
    }
}

static Mentions find_mentions(Arena *arena, const Module *module) {
    Mentions m = {.blobs = {.arena = arena}};
    m.symbols = NEW_ARRAY(arena, bool, dim_symbol_count(module->ctx));
    for (size_t i = 0; i < module->models.count; i++) mention_graph(&m, module->models.data[i]);
    return m;
}

static void put_symbol(Buf *buf, const DimSymbol *symbol) {
    buf_print(buf, "%s %.*s in %lld..%lld tune %lld",
              symbol->kind == SYMBOL_bound ? "bound" : "dim", STR_ARG(symbol->name),
              (long long)symbol->lo, (long long)symbol->hi, (long long)symbol->tune);
    if (symbol->limit) {
        buf_put(buf, STR(" limit "));
        buf_dim(buf, symbol->limit);
    }
    buf_char(buf, '\n');
}

void text_put_symbols(Buf *buf, const Module *module) {
    Mentions m = find_mentions(buf->arena, module);
    for (uint32_t i = 0; i < dim_symbol_count(module->ctx); i++) {
        if (m.symbols[i]) put_symbol(buf, dim_symbol_at(module->ctx, i));
    }
}

void print_module(Buf *buf, const Module *module, const PrintOptions *options) {
    buf_put(buf, STR("tir 1\n"));
    text_put_symbols(buf, module);
    for (size_t i = 0; i < module->models.count; i++) {
        print_graph(buf, module->models.data[i], options);
    }
}

void module_visit_blobs(const Module *module, void (*visit)(void *user, const Blob *blob),
                        void *user) {
    Mentions m = find_mentions(module->arena, module);
    for (size_t i = 0; i < m.blobs.count; i++) visit(user, m.blobs.entries[i].value);
}
