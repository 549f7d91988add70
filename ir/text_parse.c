/* Reading .tir text: recursive descent along the grammar of docs/ir.md. An error of syntax ends the
 * reading. What is wrong with a node alone is reported, and nodes that use it are left out in
 * silence, so that several faults are found in one run. */
#include "base/guard.h"
#include "base/map.h"
#include "base/messages.h"
#include "ir/infer.h"
#include "ir/text_internal.h"
#include "ir/verify.h"

enum { MAX_LIST = 65536, MAX_OPERANDS = 65536, MAX_REGIONS = 16, MAX_CHECKS = 4096 };

typedef struct Parser {
    TextReader in;
    BlobLookup *lookup;
    void *user;
    Graph *root; /* the model being read: checks found inside regions belong to it */
    DimRanges ranges;
    uint32_t node_count;
    int depth;
} Parser;

/* One graph being read. Names map to the node id + 2, or to 1 for a node that was refused. */
typedef struct Scope {
    Parser *p;
    Graph *graph;
    Map names;
} Scope;

/* A node as read, before it is checked. */
typedef struct Draft {
    Op op;
    const OpInfo *info;
    const Origin *origin;
    VEC(NodeId) args;
    Attr attrs[OP_MAX_ATTRS];
    TextReader values[OP_MAX_ATTRS]; /* where blobs stand: they are read once the type is known */
    const Type *type;
    const Graph *regions[MAX_REGIONS];
    uint32_t region_count;
    bool refused; /* an operand is of a refused node */
} Draft;

static bool over_limit(Parser *p, int limit, const char *what) {
    diag_error(p->in.diags, text_loc(&p->in), MSG_TIR_LIMIT, limit, what);
    return false;
}

/* "@ line:column", which print writes on request, says nothing to the reader. */
static bool skip_origin(Parser *p) {
    int64_t number;
    if (!text_accept(&p->in, "@")) return true;
    return text_int(&p->in, &number) && text_expect(&p->in, ":") && text_int(&p->in, &number);
}

/* ---- operands and attributes ----------------------------------------------------------------- */

/* "%name": the id of a node, or NODE_none for one that was refused. */
static bool read_operand(Scope *s, NodeId *out_id) {
    TextReader *in = &s->p->in;
    Str name;
    if (!text_expect(in, "%")) return false;
    Loc loc = text_loc(in);
    if (!text_name(in, &name)) return false;
    uintptr_t known = (uintptr_t)map_get(&s->names, name);
    *out_id = known >= 2 ? (NodeId)(known - 2) : NODE_none;
    if (known) return true;
    diag_error(in->diags, loc, MSG_TIR_UNKNOWN, STR_ARG(name));
    return false;
}

static bool read_operands(Scope *s, Draft *draft) {
    TextReader *in = &s->p->in;
    if (!text_peek(in, "%")) return true;
    do {
        NodeId id;
        if (draft->args.count == MAX_OPERANDS) return over_limit(s->p, MAX_OPERANDS, "operands");
        if (!read_operand(s, &id)) return false;
        draft->refused |= id == NODE_none;
        vec_push(in->arena, &draft->args, id);
    } while (text_accept(in, ","));
    return true;
}

static bool read_ints(Parser *p, const IntList **out_list) {
    VEC(int64_t) items = {0};
    if (!text_expect(&p->in, "[")) return false;
    while (!text_accept(&p->in, "]")) {
        int64_t item;
        if (items.count == MAX_LIST) return over_limit(p, MAX_LIST, "numbers");
        if ((items.count && !text_expect(&p->in, ",")) || !text_int(&p->in, &item)) return false;
        vec_push(p->in.arena, &items, item);
    }
    *out_list = ir_ints(p->in.ctx, items.data, (uint32_t)items.count);
    return true;
}

static bool read_dims(Parser *p, const DimList **out_list) {
    VEC(const Dim *) items = {0};
    if (!text_expect(&p->in, "[")) return false;
    while (!text_accept(&p->in, "]")) {
        const Dim *item;
        if (items.count == MAX_LIST) return over_limit(p, MAX_LIST, "dims");
        if ((items.count && !text_expect(&p->in, ",")) || !text_dim(&p->in, &item)) return false;
        vec_push(p->in.arena, &items, item);
    }
    *out_list = ir_dims(p->in.ctx, items.data, (uint32_t)items.count);
    return true;
}

static bool read_dtype(Parser *p, DType *out_dtype) {
    Str name;
    TextReader start = p->in;
    if (!text_name(&p->in, &name)) return false;
    return dtype_parse(name, out_dtype) || text_wrong(&start, "a dtype");
}

/* Passes over "none", "[…]" or "blob(…)". */
static bool skip_value(TextReader *in) {
    if (text_accept(in, "none")) return true;
    bool list = text_peek(in, "[");
    if (!list && !text_accept(in, "blob")) return text_wrong(in, "a value");
    char end = list ? ']' : ')';
    while (!text_at_end(in) && in->rest.data[0] != end) {
        in->rest.data++;
        in->rest.size--;
    }
    return text_expect(in, list ? "]" : ")");
}

static bool read_attr(Parser *p, Draft *draft, uint32_t i) {
    Attr *attr = &draft->attrs[i];
    Str text;
    switch (draft->info->attrs[i].kind) {
    case ATTR_int: return text_int(&p->in, &attr->i);
    case ATTR_ints: return read_ints(p, &attr->ints);
    case ATTR_dim:
        return text_expect(&p->in, "(") && text_dim(&p->in, &attr->dim) && text_expect(&p->in, ")");
    case ATTR_dims: return read_dims(p, &attr->dims);
    case ATTR_dtype: return read_dtype(p, &attr->dtype);
    case ATTR_str:
        if (!text_string(&p->in, &text)) return false;
        attr->str = ir_string(p->in.ctx, text);
        return true;
    case ATTR_blob:
        text_skip(&p->in);
        draft->values[i] = p->in;
        return skip_value(&p->in);
    }
    return false;
}

static bool read_attrs(Parser *p, Draft *draft) {
    for (uint32_t i = 0; i < draft->info->attr_count; i++) {
        if (!text_expect(&p->in, draft->info->attrs[i].name) || !text_expect(&p->in, "="))
            return false;
        if (!read_attr(p, draft, i)) return false;
    }
    return true;
}

static bool read_values(Parser *p, Draft *draft) {
    for (uint32_t i = 0; i < draft->info->attr_count; i++) {
        if (draft->info->attrs[i].kind != ATTR_blob) continue;
        if (!text_value(&draft->values[i], draft->type, p->lookup, p->user,
                        &draft->attrs[i].blob)) {
            return false;
        }
    }
    return true;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static const char *type_text(Arena *arena, const Type *type) {
    Buf text = {.arena = arena};
    buf_type(&text, type);
    return text.data;
}

static bool check_leaf(const Scope *s, const Draft *draft, Loc loc) {
    const char *fault = verify_leaf(draft->op, draft->type, draft->attrs);
    if (draft->args.count) fault = "a leaf takes no operands";
    if (draft->op == OP_input && draft->attrs[0].i != (int64_t)s->graph->inputs.count) {
        fault = "inputs are numbered from 0 in their order";
    }
    if (fault) diag_error(s->p->in.diags, loc, MSG_TIR_NODE, fault);
    return !fault;
}

/* Relations of dims that inference asks for inside a region are checked where the model is entered.
 */
static void lift_checks(const Scope *s, size_t known) {
    Graph *graph = s->graph;
    if (graph == s->p->root) return;
    for (size_t i = known; i < graph->checks.count; i++) {
        const EntryCheck *check = &graph->checks.data[i];
        graph_add_check(s->p->root, check->kind, check->a, check->b, check->origin);
    }
    graph->checks.count = known;
}

static bool check_inferred(const Scope *s, const Draft *draft, Loc loc) {
    size_t known = s->graph->checks.count;
    const Type *type =
        infer_type(s->graph, s->p->in.diags, draft->origin, draft->op, draft->args.data,
                   (uint32_t)draft->args.count, draft->attrs, draft->regions, draft->region_count);
    lift_checks(s, known);
    if (!type || type == draft->type) return type != NULL;
    Arena *arena = s->p->in.arena;
    diag_error(s->p->in.diags, loc, MSG_TIR_TYPE, type_text(arena, type),
               type_text(arena, draft->type));
    return false;
}

static bool check_draft(const Scope *s, const Draft *draft) {
    Loc loc = draft->origin->loc;
    if (draft->refused) return false;
    if (draft->region_count && !(draft->info->flags & FLAG_regions)) {
        diag_error(s->p->in.diags, loc, MSG_TIR_NODE, "the op takes no regions");
        return false;
    }
    if (draft->info->class == CLASS_LEAF && draft->op != OP_dim) return check_leaf(s, draft, loc);
    return check_inferred(s, draft, loc);
}

static NodeId add_draft(const Scope *s, const Draft *draft) {
    if (draft->op == OP_input) {
        return graph_add_input(s->graph, *draft->attrs[1].str, draft->type, draft->origin);
    }
    return graph_add(s->graph, draft->op, draft->type, draft->args.data,
                     (uint32_t)draft->args.count, draft->attrs, draft->regions, draft->region_count,
                     draft->origin);
}

static bool read_body(Parser *p, Graph *graph);

static bool read_region(Parser *p, const Graph **out_region) {
    Str name = STR("");
    if (text_accept(&p->in, "@") && !text_name_or_string(&p->in, &name)) return false;
    Graph *region = graph_new(p->in.ctx, p->in.arena, name);
    *out_region = region;
    return read_body(p, region);
}

/* "@" begins a region's name, or an origin, which has a number. */
static bool at_region(Parser *p) {
    TextReader ahead = p->in;
    if (text_peek(&ahead, "{")) return true;
    Str name;
    if (!text_accept(&ahead, "@")) return false;
    if (text_peek(&ahead, "\"")) return true;
    return text_name(&ahead, &name) && !text_peek(&ahead, ":");
}

static bool read_regions(Parser *p, Draft *draft) {
    while (at_region(p)) {
        if (draft->region_count == MAX_REGIONS)
            return over_limit(p, MAX_REGIONS, "regions of a node");
        if (!read_region(p, &draft->regions[draft->region_count++])) return false;
    }
    return true;
}

static bool read_op(Parser *p, Draft *draft) {
    Str name;
    Loc loc = text_loc(&p->in);
    if (!text_name(&p->in, &name)) return false;
    if (!op_parse(name, &draft->op)) {
        diag_error(p->in.diags, loc, MSG_TIR_OP, STR_ARG(name));
        return false;
    }
    draft->info = op_info(draft->op);
    return true;
}

static const Origin *origin_here(Parser *p) {
    Origin *origin = NEW(ir_context_arena(p->in.ctx), Origin);
    origin->loc = text_loc(&p->in);
    return origin;
}

/* The name of a new node: "%7". */
static bool read_new_name(Scope *s, Str *out_name) {
    TextReader *in = &s->p->in;
    if (!text_expect(in, "%")) return false;
    Loc loc = text_loc(in);
    if (!text_name(in, out_name)) return false;
    if (!map_get(&s->names, *out_name)) return true;
    diag_error(in->diags, loc, MSG_TIR_REDEFINED, STR_ARG(*out_name));
    return false;
}

static bool read_node(Scope *s) {
    Parser *p = s->p;
    Draft *draft = NEW(p->in.arena, Draft);
    Str name;
    draft->origin = origin_here(p);
    bool good = read_new_name(s, &name) && text_expect(&p->in, "=") && read_op(p, draft) &&
                read_operands(s, draft) && read_attrs(p, draft) && text_expect(&p->in, ":") &&
                text_type(&p->in, &draft->type) && read_values(p, draft) &&
                (at_region(p) || skip_origin(p)) && read_regions(p, draft);
    if (!good) return false;
    if (p->node_count++ == TEXT_MAX_NODES) return over_limit(p, TEXT_MAX_NODES, "nodes");
    uintptr_t value = check_draft(s, draft) ? (uintptr_t)add_draft(s, draft) + 2 : 1;
    map_set(&s->names, name, (void *)value);
    return true;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static bool read_check(Scope *s) {
    TextReader *in = &s->p->in;
    const Dim *a, *b;
    const Origin *origin = origin_here(s->p);
    if (s->graph->checks.count == MAX_CHECKS) return over_limit(s->p, MAX_CHECKS, "checks");
    if (!text_expect(in, "check") || !text_dim(in, &a)) return false;
    bool equal = text_accept(in, "==");
    if (!equal && !text_expect(in, "<=")) return false;
    if (!text_dim(in, &b) || !skip_origin(s->p)) return false;
    graph_add_check(s->graph, equal ? CHECK_equal : CHECK_at_most, a, b, origin);
    return true;
}

static bool read_output(Scope *s) {
    TextReader *in = &s->p->in;
    Str name = STR("");
    NodeId id;
    if (!text_peek(in, "%") && (!text_name_or_string(in, &name) || !text_expect(in, "=")))
        return false;
    if (!read_operand(s, &id)) return false;
    if (id != NODE_none) graph_add_output(s->graph, name, id);
    return true;
}

static bool read_outputs(Scope *s) {
    TextReader *in = &s->p->in;
    if (!text_expect(in, "return")) return false;
    for (bool more = !text_peek(in, "}"); more; more = text_accept(in, ",")) {
        if (s->graph->outputs.count == MAX_OPERANDS)
            return over_limit(s->p, MAX_OPERANDS, "outputs");
        if (!read_output(s)) return false;
    }
    return true;
}

static bool read_checks(Scope *s) {
    while (text_peek(&s->p->in, "check")) {
        if (!read_check(s)) return false;
    }
    return true;
}

static bool read_statements(Scope *s) {
    TextReader *in = &s->p->in;
    if (!read_checks(s)) return false;
    while (text_peek(in, "%")) {
        if (!read_node(s)) return false;
    }
    return read_outputs(s);
}

static bool read_body(Parser *p, Graph *graph) {
    Scope scope = {.p = p, .graph = graph, .names = {.arena = p->in.arena}};
    if (p->depth == TEXT_MAX_NESTING) return over_limit(p, TEXT_MAX_NESTING, "levels of nesting");
    p->depth++;
    bool good = text_expect(&p->in, "{") && read_statements(&scope) && text_expect(&p->in, "}");
    p->depth--;
    return good;
}

static bool read_model(Parser *p, Module *module) {
    Str name = STR("");
    if (!text_expect(&p->in, "graph")) return false;
    if (text_accept(&p->in, "@") && !text_name_or_string(&p->in, &name)) return false;
    p->root = graph_new(p->in.ctx, p->in.arena, name);
    vec_push(p->in.arena, &module->models, p->root);
    return read_body(p, p->root);
}

/* ---- modules --------------------------------------------------------------------------------- */

static bool read_module(Parser *p, Module *module) {
    if (!text_accept(&p->in, "tir") || !text_accept(&p->in, "1")) {
        diag_error(p->in.diags, text_loc(&p->in), MSG_TIR_VERSION);
        return false;
    }
    if (!text_symbols(&p->in, p->ranges)) return false;
    do {
        if (!read_model(p, module)) return false;
    } while (!text_at_end(&p->in));
    return true;
}

/* The blobs of the text itself, and whoever knows others. */
typedef struct Blobs {
    Map map;
    BlobLookup *lookup;
    void *user;
} Blobs;

static const Blob *find_blob(void *user, const uint8_t digest[32]) {
    const Blobs *blobs = user;
    const Blob *blob = map_get(&blobs->map, (Str){(const char *)digest, 32});
    return blob || !blobs->lookup ? blob : blobs->lookup(blobs->user, digest);
}

static Module *parse(IrContext *ctx, Arena *arena, Diags *diags, uint32_t file, Blobs blobs,
                     DimRanges ranges) {
    Parser p = {.lookup = find_blob, .user = &blobs, .ranges = ranges};
    size_t errors = diags_error_count(diags);
    p.in = (TextReader){.ctx = ctx, .arena = arena, .diags = diags, .file = file, .line = 1};
    p.in.rest = diags_file_text(diags, file);
    p.in.line_start = p.in.rest.data;
    Module *module = NEW(arena, Module);
    module->ctx = ctx;
    module->arena = arena;
    bool good = text_blobs(&p.in, &blobs.map) && read_module(&p, module);
    return good && diags_error_count(diags) == errors ? module : NULL;
}

Module *parse_module(IrContext *ctx, Arena *arena, Diags *diags, uint32_t file, BlobLookup *lookup,
                     void *user) {
    Blobs blobs = {.map = {.arena = arena}, .lookup = lookup, .user = user};
    return parse(ctx, arena, diags, file, blobs, (DimRanges){0});
}

Module *parse_module_narrowed(IrContext *ctx, Arena *arena, Diags *diags, uint32_t file,
                              DimRanges ranges) {
    return parse(ctx, arena, diags, file, (Blobs){.map = {.arena = arena}}, ranges);
}

/* ---- parts, for texts that hold graphs ------------------------------------------------------- */

bool text_region(TextReader *in, BlobLookup *lookup, void *user, Graph *root,
                 const Graph **out_region) {
    Parser p = {.in = *in, .lookup = lookup, .user = user, .root = root};
    bool good = text_expect(&p.in, "graph") && read_region(&p, out_region);
    *in = p.in;
    return good;
}

bool text_checks(TextReader *in, Graph *graph) {
    Parser p = {.in = *in, .root = graph};
    Scope scope = {.p = &p, .graph = graph};
    bool good = read_checks(&scope);
    *in = p.in;
    return good;
}
