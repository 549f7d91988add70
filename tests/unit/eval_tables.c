// The evaluator against tests/tables: every op on every dtype that its row allows, with results
// that numpy and mpmath computed from the contract. One line is one application:
//
//     name|op|attribute=value …|operand operand …|result result …|flags
//
// where a tensor is dtype[dims]:hex bytes of its memory form. Flags: ~ allows one unit in the last
// place (transcendental functions of f64), !index,bound expects an index error. Results agree bit
// for bit otherwise; any NaN equals any other.
#include "ir/eval.h"
#include "ir/infer.h"
#include "tests/unit/test.h"

typedef struct Case {
    Arena *arena;
    IrContext *ctx;
    const char *line; // for messages
    Str fields[6];
} Case;

static bool fail(const Case *c, const char *why) {
    printf("    in \"%.120s\": %s\n", c->line, why);
    return CHECK(!"a row of the table");
}

// ---- reading --------------------------------------------------------------------------------

// The part of *text up to `end`, which is taken off with it.
static Str take(Str *text, char end) {
    size_t n = 0;
    while (n < text->size && text->data[n] != end) n++;
    Str part = {text->data, n};
    size_t skip = n < text->size ? n + 1 : n;
    *text = (Str){text->data + skip, text->size - skip};
    return part;
}

static int64_t to_int(Str text) {
    int64_t value = 0;
    CHECK(str_to_int(text, &value));
    return value;
}

static uint32_t read_ints(Str list, int64_t *out) {
    uint32_t count = 0;
    while (list.size) out[count++] = to_int(take(&list, ','));
    return count;
}

static unsigned nibble(char c) { return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10; }

// dtype[dims]:hex
static Tensor read_tensor(const Case *c, Str text) {
    Tensor t = {0};
    CHECK(dtype_parse(take(&text, '['), &t.dtype));
    t.rank = read_ints(take(&text, ']'), t.dims);
    take(&text, ':');
    CHECK_INT(text.size, 2 * tensor_bytes(&t));
    unsigned char *bytes = arena_alloc(c->arena, text.size / 2);
    for (size_t i = 0; i < text.size / 2; i++) {
        bytes[i] = (unsigned char)(nibble(text.data[2 * i]) << 4 | nibble(text.data[2 * i + 1]));
    }
    t.data = bytes;
    return t;
}

static const Type *type_of(const Case *c, const Tensor *t) {
    const Dim *dims[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < t->rank; i++) dims[i] = dim_const(c->ctx, t->dims[i]);
    return type_tensor(c->ctx, t->dtype, t->rank, dims);
}

static Attr read_attr(const Case *c, AttrKind kind, Str text) {
    int64_t ints[64];
    const Dim *dims[64];
    Attr attr = {0};
    switch (kind) {
    case ATTR_int: attr.i = to_int(text); break;
    case ATTR_dim: attr.dim = dim_const(c->ctx, to_int(text)); break;
    case ATTR_dtype: CHECK(dtype_parse(text, &attr.dtype)); break;
    case ATTR_str: attr.str = ir_string(c->ctx, text); break;
    case ATTR_ints: attr.ints = ir_ints(c->ctx, ints, read_ints(text, ints)); break;
    case ATTR_dims: {
        uint32_t count = read_ints(text, ints);
        for (uint32_t i = 0; i < count; i++) dims[i] = dim_const(c->ctx, ints[i]);
        attr.dims = ir_dims(c->ctx, dims, count);
        break;
    }
    case ATTR_blob: {
        Tensor t = read_tensor(c, text);
        attr.blob = ir_blob(c->ctx, t.data, tensor_bytes(&t));
    }
    }
    return attr;
}

static void read_attrs(const Case *c, const OpInfo *info, Str text, Attr *out) {
    while (text.size) {
        Str value = take(&text, ' '), name = take(&value, '=');
        for (uint32_t i = 0; i < info->attr_count; i++) {
            if (!str_equal(name, str_from(info->attrs[i].name))) continue;
            out[i] = read_attr(c, info->attrs[i].kind, value);
        }
    }
}

// ---- comparing ------------------------------------------------------------------------------

// A float's bits as integers in the order of the numbers.
static int64_t rank_of(double value) {
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static bool same_element(const Tensor *got, const Tensor *want, int64_t i, bool loose) {
    if (!dtype_is_float(got->dtype)) return tensor_get_int(got, i) == tensor_get_int(want, i);
    double a = tensor_get(got, i), b = tensor_get(want, i);
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    int64_t distance = rank_of(a) - rank_of(b);
    return distance == 0 || (loose && distance >= -1 && distance <= 1);
}

static bool same_tensor(const Case *c, const EvalValue *got, const Tensor *want, bool loose) {
    const Tensor *t = &got->tensor;
    bool shape = t->dtype == want->dtype && t->rank == want->rank &&
                 !memcmp(t->dims, want->dims, t->rank * sizeof *t->dims);
    if (!shape) return fail(c, "another type");
    for (int64_t i = 0; i < tensor_elements(t); i++) {
        if (!(got->bound[i] >= 0)) return fail(c, "a bound that is no number");
        if (same_element(t, want, i, loose)) continue;
        printf("    element %lld: got %a, want %a\n", (long long)i, tensor_get(t, i),
               tensor_get(want, i));
        return fail(c, "another value");
    }
    return CHECK(true);
}

// ---- running --------------------------------------------------------------------------------

enum { MOST_VALUES = 8 };

// The dtypes that each op was run on: of the operand that its row speaks of, or of a leaf's result.
static uint32_t covered[OP_count];

static void cover(Op op, const EvalValue *inputs, uint32_t count, const Tensor *result) {
    const Tensor *of = count == 0 ? result : &inputs[op == OP_select ? 1 : 0].tensor;
    covered[op] |= UINT32_C(1) << of->dtype;
}

// Every op that works on tensors alone, on every dtype of its row.
static void test_coverage(void) {
    for (int op = OP_none + 1; op < OP_count; op++) {
        const OpInfo *info = op_info((Op)op);
        bool elsewhere = op == OP_input || op == OP_param || op == OP_item;
        if (elsewhere || info->flags & (FLAG_regions | FLAG_packed)) continue;
        if (!CHECK_INT(covered[op], info->dtypes)) printf("    %s\n", info->name);
    }
}

static void show(void *user, const Diag *diag) { (void)user, printf("%s", diag->rendered); }

static NodeId add_node(const Case *c, Graph *g, Op op, const NodeId *args, uint32_t count,
                       const Attr *attrs, const Type *leaf) {
    Diags *diags = diags_new(c->arena, show, NULL, 0);
    if (op_info(op)->class == CLASS_LEAF && op != OP_dim) {
        return graph_add(g, op, leaf, NULL, 0, attrs, NULL, 0, NULL);
    }
    return graph_build(g, diags, NULL, op, args, count, attrs, NULL, 0);
}

static void add_outputs(Graph *g, NodeId node) {
    const Type *type = graph_type(g, node);
    for (uint32_t i = 0; type->is_tuple && i < type->item_count; i++) {
        Attr index = {.i = i};
        NodeId item = graph_build(g, NULL, NULL, OP_item, &node, 1, &index, NULL, 0);
        graph_add_output(g, STR(""), item);
    }
    if (!type->is_tuple) graph_add_output(g, STR(""), node);
}

static bool check_error(const Case *c, const EvalError *error) {
    Str flags = c->fields[5];
    if (!str_starts_with(flags, STR("!"))) return !error->failed || fail(c, "an index error");
    take(&flags, '!');
    int64_t index = to_int(take(&flags, ',')), bound = to_int(flags);
    bool same = error->failed && error->index == index && error->bound == bound;
    return same || fail(c, "no such index error");
}

static bool run_case(const Case *c) {
    Op op;
    Graph *g = graph_new(c->ctx, c->arena, STR("table"));
    EvalValue inputs[MOST_VALUES] = {0}, got[MOST_VALUES] = {0};
    NodeId args[MOST_VALUES];
    Attr attrs[OP_MAX_ATTRS] = {0};
    Tensor want[MOST_VALUES];
    uint32_t arg_count = 0, result_count = 0;
    if (!op_parse(c->fields[1], &op)) return fail(c, "no such op");
    read_attrs(c, op_info(op), c->fields[2], attrs);
    for (Str rest = c->fields[3]; rest.size; arg_count++) {
        inputs[arg_count].tensor = read_tensor(c, take(&rest, ' '));
        const Type *type = type_of(c, &inputs[arg_count].tensor);
        args[arg_count] = graph_add_input(g, STR("x"), type, NULL);
    }
    for (Str rest = c->fields[4]; rest.size;) {
        want[result_count++] = read_tensor(c, take(&rest, ' '));
    }
    NodeId node = add_node(c, g, op, args, arg_count, attrs, type_of(c, &want[0]));
    if (node == NODE_none) return fail(c, "refused");
    add_outputs(g, node);
    if (g->outputs.count != result_count) return fail(c, "another number of results");
    cover(op, inputs, arg_count, &want[0]);
    EvalOptions options = {.bounds = true};
    EvalError error;
    const char *message;
    if (!eval_graph(g, inputs, &options, c->arena, got, &error, &message)) return fail(c, message);
    bool loose = str_equal(c->fields[5], STR("~")), good = check_error(c, &error);
    for (uint32_t i = 0; i < result_count; i++) {
        good = same_tensor(c, &got[i], &want[i], loose) && good;
    }
    return good;
}

static void run_line(const char *line) {
    Arena *arena = arena_new(NULL);
    Case c = {.arena = arena, .ctx = ir_context_new(arena), .line = line};
    Str rest = str_from(line);
    for (int i = 0; i < 6; i++) c.fields[i] = take(&rest, '|');
    run_case(&c);
    ir_context_free(c.ctx);
    arena_free(arena);
}

static void run_file(const char *path) {
    FILE *file = fopen(path, "r");
    if (!CHECK(file != NULL)) return;
    char *line = NULL;
    size_t room = 0;
    long lines = 0, failures = test_counts.failures;
    for (ssize_t size; (size = getline(&line, &room, file)) > 0; lines++) {
        line[size - 1] = 0;
        run_line(line);
    }
    CHECK(lines > 0);
    const char *verdict = test_counts.failures == failures ? "ok    " : "FAILED";
    printf("%s %s: %ld rows\n", verdict, path, lines);
    free(line);
    fclose(file);
}

int main(void) {
    static const char *const names[] = {"unary",  "binary",   "compare", "cast",
                                        "reduce", "movement", "index",   "contract",
                                        "window", "sort",     "random",  "known"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64];
        snprintf(path, sizeof path, "tests/tables/%s.txt", names[i]);
        run_file(path);
    }
    RUN(test_coverage);
    return test_done();
}
