// Every rule of inference: result types, entry checks, and the exact messages, as a table.
// A row is an application: op, attributes "name=value; …", operand types "…; …", and what must come
// of it: a type, a type with checks "… if a = b, c <= d", or "! message [id]". The dims N and M
// are 1..256, K is 1..4, Z is 0..8, P is 5..9.
#include "ir/infer.h"
#include "tests/unit/test.h"

typedef struct Row {
    const char *op, *attrs, *operands, *want;
} Row;

static const Row elementwise[] = {
    {"neg", "", "f32[N, 3]", "f32[N, 3]"},
    {"neg", "", "bool[N]", "! neg does not take values of bool [dtype-refused]"},
    {"sqrt", "", "i32[2]", "! sqrt does not take values of i32 [dtype-refused]"},
    {"add", "", "f32[N, 3]; f32[N, 3]", "f32[N, 3]"},
    {"add", "", "f32[N, 3]; f32[N, 4]",
     "! shapes f32[N, 3] and f32[N, 4] do not agree [shape-mismatch]"},
    {"add", "", "f32[N, 3]; f32[3]", "! shapes f32[N, 3] and f32[3] do not agree [shape-mismatch]"},
    {"add", "", "f32[N]; f32[1]", "f32[1] if N = 1"},
    {"add", "", "f32[N]; f32[M]", "f32[N] if N = M"},
    {"add", "", "f32[N]; f32[7]", "f32[7] if N = 7"},
    {"add", "", "f32[K]; f32[P]", "! shapes f32[K] and f32[P] do not agree [shape-mismatch]"},
    {"add", "", "f32[N]; f32[N + 1]",
     "! shapes f32[N] and f32[N + 1] do not agree [shape-mismatch]"},
    {"add", "", "f32[2*N]; f32[2*M + 1]",
     "! shapes f32[2*N] and f32[2*M + 1] do not agree [shape-mismatch]"},
    {"add", "", "f32[2]; i64[2]", "! dtypes f32 and i64 do not agree [dtype-mismatch]"},
    {"add", "", "f32[2]", "! add takes 2 operands, not 1 [operand-count]"},
    {"lt", "", "f16[N]; f16[N]", "bool[N]"},
    {"select", "", "bool[N]; f32[N]; f32[N]", "f32[N]"},
    {"select", "", "bool[N]; i4[N]; i4[M]", "i4[N] if N = M"},
    {"select", "", "i32[N]; f32[N]; f32[N]",
     "! the condition of select is i32, not bool [dtype-condition]"},
    {"select", "", "bool[2]; f32[N]; f32[N]", "f32[2] if N = 2"},
    {"cast", "to=f16; user=1", "i64[N]", "f16[N]"},
    {"cast", "to=f16; user=2", "i64[N]", "! user of cast is 2, it must be 0 or 1 [attribute-flag]"},
    {"dim", "value=2*N + 1", "", "i64[]"},
};

static const Row reduce[] = {
    {"reduce_sum", "axes=0, 2; dtype=f32", "f32[2, N, 4]", "f32[N]"},
    {"reduce_sum", "axes=; dtype=f32", "f32[]", "f32[]"},
    {"reduce_sum", "axes=0; dtype=i32", "i8[4]", "i32[]"},
    {"reduce_sum", "axes=0; dtype=f32", "i8[4]",
     "! reduce_sum of i8 cannot give f32; cast the operand [dtype-result]"},
    {"reduce_sum", "axes=2; dtype=f32", "f32[N, 3]",
     "! axis 2 is out of range for f32[N, 3] [axis-range]"},
    {"reduce_sum", "axes=-1; dtype=f32", "f32[N, 3]",
     "! axis -1 is out of range for f32[N, 3] [axis-range]"},
    {"reduce_sum", "axes=1, 1; dtype=f32", "f32[N, 3]", "! axis 1 stands twice [axis-repeated]"},
    {"reduce_max", "axes=0; dtype=f64", "f32[N]",
     "! reduce_max of f32 cannot give f64; cast the operand [dtype-result]"},
    {"reduce_max", "axes=0; dtype=bool", "bool[N]", "bool[]"},
    {"reduce_sum", "axes=0; dtype=bool", "bool[N]",
     "! reduce_sum does not take values of bool [dtype-refused]"},
    {"argmax", "axis=1", "f32[N, 3]", "i64[N]"},
    {"argmax", "axis=-9223372036854775808", "f32[N]",
     "! axis -9223372036854775808 is out of range for f32[N] [axis-range]"},
    {"cum_sum", "axis=0; exclusive=1; reverse=0", "f16[N]", "f16[N]"},
    {"cum_sum", "axis=0; exclusive=0; reverse=3", "f16[N]",
     "! reverse of cum_sum is 3, it must be 0 or 1 [attribute-flag]"},
};

static const Row movement[] = {
    {"reshape", "dims=2*N, 6", "f32[N, 3, 4]", "f32[2*N, 6]"},
    {"reshape", "dims=N, 7", "f32[N, 3]",
     "! f32[N, 3] cannot be reshaped to [N, 7]: the numbers of elements differ [element-count]"},
    {"reshape", "dims=5", "f32[2, 3]",
     "! f32[2, 3] cannot be reshaped to [5]: the numbers of elements differ [element-count]"},
    {"reshape", "dims=-1", "f32[2]", "! -1 of reshape is negative [dim-negative]"},
    {"reshape", "dims=", "f32[1, 1]", "f32[]"},
    {"reshape", "dims=M", "f32[N, 4]", "f32[M] if 4*N = M"},
    {"reshape", "dims=1, 1, 1, 1, 1, 1, 1, 1, 1", "f32[]",
     "! the result would have 9 axes; the limit is 8 [rank-limit]"},
    {"reshape", "dims=4611686018427387903, 4611686018427387903", "f32[0]",
     "! the sizes of the result of reshape overflow [dim-overflow]"},
    {"permute", "perm=2, 0, 1", "f32[N, 3, 4]", "f32[4, N, 3]"},
    {"permute", "perm=0, 0", "f32[N, 3]",
     "! [0, 0] is not a permutation of the axes of f32[N, 3] [permutation]"},
    {"permute", "perm=1", "f32[N, 3]",
     "! [1] is not a permutation of the axes of f32[N, 3] [permutation]"},
    {"permute", "perm=0, 5", "f32[N, 3]",
     "! [0, 5] is not a permutation of the axes of f32[N, 3] [permutation]"},
    {"broadcast", "dims=N, 3; axes=1", "f32[1]", "f32[N, 3]"},
    {"broadcast", "dims=N, 3; axes=1", "f32[3]", "f32[N, 3]"},
    {"broadcast", "dims=N, 3; axes=0", "f32[M]", "f32[N, 3] if M = N"},
    {"broadcast", "dims=N, 3; axes=0, 1", "f32[N, 2]",
     "! dim 2 of f32[N, 2] does not broadcast to f32[N, 3] [broadcast]"},
    {"broadcast", "dims=N, 3; axes=1, 0", "f32[1, 1]",
     "! axes of broadcast must increase [axes-order]"},
    {"broadcast", "dims=N, 3; axes=0", "f32[1, 1]",
     "! axes of broadcast lists 1 numbers, not the 2 that f32[1, 1] needs [attribute-count]"},
    {"slice", "start=1, 0; limit=N, 3; step=1, 2", "f32[N, 4]", "f32[N - 1, 2]"},
    {"slice", "start=0; limit=5; step=1", "f32[N]", "f32[5] if 5 <= N"},
    {"slice", "start=0; limit=5; step=1", "f32[4]",
     "! slice 0:5 is out of bounds for axis 0 of f32[4] [slice-bounds]"},
    {"slice", "start=3; limit=2; step=1", "f32[4]",
     "! slice 3:2 is out of bounds for axis 0 of f32[4] [slice-bounds]"},
    {"slice", "start=-1; limit=2; step=1", "f32[4]",
     "! slice -1:2 is out of bounds for axis 0 of f32[4] [slice-bounds]"},
    {"slice", "start=0; limit=2; step=0", "f32[4]",
     "! step of slice is 0, it must be at least 1 [attribute-least]"},
    {"slice", "start=0; limit=2; step=1", "f32[4, 4]",
     "! start of slice lists 1 numbers, not the 2 that f32[4, 4] needs [attribute-count]"},
    {"pad", "lo=1, 0; hi=0, N", "f32[N, 3]; f32[]", "f32[N + 1, N + 3]"},
    {"pad", "lo=1; hi=0", "f32[N]; f16[]", "! dtypes f32 and f16 do not agree [dtype-mismatch]"},
    {"pad", "lo=1; hi=0", "f32[N]; f32[1]",
     "! the value of pad must be a scalar, not f32[1] [not-scalar]"},
    {"pad", "lo=-1; hi=0", "f32[N]; f32[]", "! -1 of pad is negative [dim-negative]"},
    {"reverse", "axes=0, 1", "u4[N, 3]", "u4[N, 3]"},
    {"concat", "axis=1", "f32[N, 3]; f32[N, M]; f32[N, 0]", "f32[N, M + 3]"},
    {"concat", "axis=0", "f32[N, 3]; f32[2, 4]",
     "! shapes f32[N, 3] and f32[2, 4] do not agree [shape-mismatch]"},
    {"concat", "axis=0", "f32[N]; f16[N]", "! dtypes f32 and f16 do not agree [dtype-mismatch]"},
    {"concat", "axis=0", "", "! concat needs at least 1 operands, not 0 [operands-missing]"},
    {"concat", "axis=0", "f32[]", "! axis 0 is out of range for f32[] [axis-range]"},
};

static const Row index_rows[] = {
    {"gather", "axis=0; batch=0", "f32[N, 3]; i64[2, M]", "f32[2, M, 3]"},
    {"gather", "axis=1; batch=1", "f32[N, 5, 3]; i32[N, M]", "f32[N, M, 3]"},
    {"gather", "axis=1; batch=1", "f32[N, 5]; i32[M, 2]", "f32[N, 2] if N = M"},
    {"gather", "axis=0; batch=0", "f32[N]; f32[2]",
     "! indices are i32 or i64, not f32 [dtype-index]"},
    {"gather", "axis=0; batch=1", "f32[N, 3]; i64[N]",
     "! 1 batch axes are not possible with axis 0 of f32[N, 3] and indices i64[N] [batch-axes]"},
    {"gather", "axis=1; batch=1", "f32[3, 5]; i64[4, 2]",
     "! 1 batch axes are not possible with axis 1 of f32[3, 5] and indices i64[4, 2] [batch-axes]"},
    {"gather", "axis=0; batch=0", "f32[1, 1, 1, 1, 1]; i64[1, 1, 1, 1, 1]",
     "! the result would have 9 axes; the limit is 8 [rank-limit]"},
    {"scatter_add", "axis=0; batch=0", "f32[N, 3]; i64[2]; f32[2, 3]", "f32[N, 3]"},
    {"scatter_add", "axis=0; batch=0", "f32[N, 3]; i64[2]; f32[2, 4]",
     "! shapes f32[2, 3] and f32[2, 4] do not agree [shape-mismatch]"},
    {"scatter_set", "axis=0; batch=0", "i4[N]; i64[2]; i8[2]",
     "! dtypes i4 and i8 do not agree [dtype-mismatch]"},
    {"sort", "axis=1; descending=0", "f32[N, 3]", "(f32[N, 3], i64[N, 3])"},
    {"topk", "axis=1; k=2; largest=1", "f32[N, 3]", "(f32[N, 2], i64[N, 2])"},
    {"topk", "axis=0; k=3; largest=1", "f32[N]", "(f32[3], i64[3]) if 3 <= N"},
    {"topk", "axis=0; k=4; largest=1", "f32[3]",
     "! topk of 4 elements is more than axis 0 of f32[3] has [topk-count]"},
    {"topk", "axis=0; k=-1; largest=1", "f32[3]",
     "! k of topk is -1, it must be at least 0 [attribute-least]"},
    {"random", "stream=3; dims=N, 2", "u64[]", "u32[N, 2]"},
    {"random", "stream=3; dims=N", "u64[2]",
     "! the key of random is a u64 scalar, not u64[2] [dtype-key]"},
    {"random", "stream=3; dims=N", "i64[]", "! random does not take values of i64 [dtype-refused]"},
};

static const Row contraction[] = {
    {"contract", "a=0, 1; b=1, 2; out=0, 2; dtype=f32", "f32[N, 4]; f32[4, M]", "f32[N, M]"},
    {"contract", "a=0, 1; b=1, 2; out=0, 2; dtype=f32", "f32[N, M]; f32[4, 2]",
     "f32[N, 2] if M = 4"},
    {"contract", "a=0, 1; b=1, 2; out=0, 2; dtype=f32", "f32[N, 3]; f32[4, M]",
     "! dims 3 and 4 of f32[N, 3] and f32[4, M] do not agree [dim-mismatch]"},
    {"contract", "a=0, 1; b=1, 2; out=0, 2; dtype=i32", "i8[2, 3]; i8[3, 4]", "i32[2, 4]"},
    {"contract", "a=0; b=0; out=; dtype=f32", "f16[N]; f16[N]", "f32[]"},
    {"contract", "a=0; b=0; out=; dtype=i32", "f16[N]; f16[N]",
     "! contract of f16 cannot give i32; cast the operand [dtype-result]"},
    {"contract", "a=0; b=0; out=; dtype=f32", "f16[N]; f32[N]",
     "! dtypes f16 and f32 do not agree [dtype-mismatch]"},
    {"contract", "a=0; b=1; out=0; dtype=f32", "f32[N]; f32[M]",
     "! label 1 is summed, but only in one operand [label-dangling]"},
    {"contract", "a=0; b=0; out=2; dtype=f32", "f32[N]; f32[N]",
     "! label 2 of the result is in no operand [label-unknown]"},
    {"contract", "a=0, 0; b=0; out=; dtype=f32", "f32[3, 3]; f32[3]",
     "! label 0 stands twice in a of contract [label-repeated]"},
    {"contract", "a=64; b=64; out=; dtype=f32", "f32[3]; f32[3]",
     "! label 64 is not between 0 and 63 [label-range]"},
    {"contract", "a=0; b=0; out=; dtype=f32", "f32[3, 3]; f32[3]",
     "! a of contract lists 1 numbers, not the 2 that f32[3, 3] needs [attribute-count]"},
    {"conv", "strides=2, 2; dilations=1, 1; lo=1, 1; hi=1, 1; groups=1; dtype=f32",
     "f32[N, 3, 32, 32]; f32[8, 3, 3, 3]", "f32[N, 8, 16, 16]"},
    {"conv", "strides=1; dilations=2; lo=0; hi=0; groups=2; dtype=f32",
     "f32[1, 4, 9]; f32[6, 2, 3]", "f32[1, 6, 5]"},
    {"conv", "strides=1; dilations=1; lo=0; hi=0; groups=2; dtype=f32",
     "f32[1, 4, 9]; f32[5, 2, 3]",
     "! 5 output channels of f32[5, 2, 3] are not divisible by 2 groups [conv-groups]"},
    {"conv", "strides=1; dilations=1; lo=0; hi=0; groups=1; dtype=f32",
     "f32[1, 4, 9]; f32[5, 3, 3]",
     "! 4 channels of f32[1, 4, 9] are not 1 groups of the 3 of f32[5, 3, 3] [conv-channels]"},
    {"conv", "strides=1; dilations=1; lo=0; hi=0; groups=0; dtype=f32",
     "f32[1, 4, 9]; f32[5, 4, 3]",
     "! groups of conv is 0, it must be at least 1 [attribute-least]"},
    {"conv", "strides=0; dilations=1; lo=0; hi=0; groups=1; dtype=f32",
     "f32[1, 4, 9]; f32[5, 4, 3]",
     "! strides of conv is 0, it must be at least 1 [attribute-least]"},
    {"conv", "strides=1; dilations=1; lo=-1; hi=0; groups=1; dtype=f32",
     "f32[1, 4, 9]; f32[5, 4, 3]", "! lo of conv is -1, it must be at least 0 [attribute-least]"},
    {"conv", "strides=1; dilations=1; lo=0; hi=0; groups=1; dtype=f32", "f32[4, 9]; f32[5, 4]",
     "! conv takes 1 to 3 spatial axes, f32[4, 9] has 0 [conv-rank]"},
    {"conv", "strides=1; dilations=1; lo=0; hi=0; groups=1; dtype=f32",
     "f32[1, 4, 9]; f32[5, 4, 0]",
     "! kernel size of conv is 0, it must be at least 1 [attribute-least]"},
    {"conv", "strides=1; dilations=1; lo=0; hi=0; groups=1; dtype=f32",
     "f32[1, 4, 2]; f32[5, 4, 7]", "f32[1, 5, 0]"},
    {"window_max", "window=1, 2; strides=1, 2; dilations=1, 1; lo=0, 0; hi=0, 0", "f32[N, 9]",
     "f32[N, 4]"},
    {"window_max", "window=1, 0; strides=1, 2; dilations=1, 1; lo=0, 0; hi=0, 0", "f32[N, 9]",
     "! window of window_max is 0, it must be at least 1 [attribute-least]"},
    {"window_sum", "window=3; strides=1; dilations=1; lo=1; hi=1", "i32[N]", "i32[N]"},
    {"window_sum", "window=3; strides=1; dilations=1; lo=0; hi=0", "i32[P]", "i32[P - 2]"},
};

// ---- reading a row --------------------------------------------------------------------------

typedef struct World {
    Arena *arena;
    IrContext *ctx;
    Graph *graph;
    Buf heard; // the first error
} World;

static void listen(void *user, const Diag *diag) {
    World *w = user;
    if (diag->severity == DIAG_error && w->heard.size == 0) {
        buf_print(&w->heard, "! %s [%s]", diag->text, diag->id);
    }
}

static World world_new(void) {
    World w = {.arena = arena_new(NULL)};
    w.ctx = ir_context_new(w.arena);
    w.graph = graph_new(w.ctx, w.arena, STR("test"));
    w.heard.arena = w.arena;
    const struct {
        const char *name;
        int64_t lo, hi;
    } dims[] = {{"N", 1, 256}, {"M", 1, 256}, {"K", 1, 4}, {"Z", 0, 8}, {"P", 5, 9}};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        dim_new_symbol(w.ctx, SYMBOL_named, str_from(dims[i].name), dims[i].lo, dims[i].hi,
                       dims[i].lo, NULL);
    }
    return w;
}

static void world_free(World *w) {
    ir_context_free(w->ctx);
    arena_free(w->arena);
}

static Str trim(Str s) {
    while (s.size && *s.data == ' ') s.data++, s.size--;
    return s;
}

static Str take(Str *text, char end) {
    size_t n = 0;
    while (n < text->size && text->data[n] != end) n++;
    Str part = {text->data, n};
    size_t skip = n < text->size ? n + 1 : n;
    *text = trim((Str){text->data + skip, text->size - skip});
    return trim(part);
}

static Attr read_attr(const World *w, AttrKind kind, Str text) {
    Attr attr = {0};
    int64_t ints[16];
    const Dim *dims[16];
    uint32_t count = 0;
    switch (kind) {
    case ATTR_int: CHECK(str_to_int(text, &attr.i)); break;
    case ATTR_dim: attr.dim = dim_parse(w->ctx, &text); break;
    case ATTR_dtype: CHECK(dtype_parse(text, &attr.dtype)); break;
    case ATTR_ints:
        while (text.size) CHECK(str_to_int(take(&text, ','), &ints[count++]));
        attr.ints = ir_ints(w->ctx, ints, count);
        break;
    default:
        while (text.size) {
            Str item = take(&text, ',');
            dims[count++] = dim_parse(w->ctx, &item);
        }
        attr.dims = ir_dims(w->ctx, dims, count);
    }
    return attr;
}

static void read_attrs(const World *w, const OpInfo *info, const char *text, Attr *out) {
    Str rest = str_from(text);
    for (uint32_t i = 0; i < info->attr_count; i++) {
        Str value = take(&rest, ';'), name = take(&value, '=');
        CHECK(str_equal(name, str_from(info->attrs[i].name)));
        out[i] = read_attr(w, info->attrs[i].kind, value);
    }
}

static uint32_t read_operands(const World *w, const char *text, NodeId *args) {
    uint32_t count = 0;
    for (Str rest = str_from(text); rest.size;) {
        Str one = take(&rest, ';');
        const Type *type = type_parse(w->ctx, &one);
        CHECK(type != NULL);
        args[count++] = graph_add_input(w->graph, STR("x"), type, NULL);
    }
    return count;
}

static const char *outcome(World *w, const Type *type) {
    if (!type) return buf_str(&w->heard).data;
    Buf text = {.arena = w->arena};
    buf_type(&text, type);
    for (size_t i = 0; i < w->graph->checks.count; i++) {
        const EntryCheck *check = &w->graph->checks.data[i];
        buf_put(&text, i ? STR(", ") : STR(" if "));
        buf_dim(&text, check->a);
        buf_put(&text, check->kind == CHECK_equal ? STR(" = ") : STR(" <= "));
        buf_dim(&text, check->b);
    }
    return buf_str(&text).data;
}

static void run_row(const Row *row) {
    World w = world_new();
    Op op = OP_none;
    Attr attrs[OP_MAX_ATTRS] = {0};
    NodeId args[8];
    CHECK(op_parse(str_from(row->op), &op));
    read_attrs(&w, op_info(op), row->attrs, attrs);
    uint32_t count = read_operands(&w, row->operands, args);
    Diags *diags = diags_new(w.arena, listen, &w, 0);
    const Type *type = infer_type(w.graph, diags, NULL, op, args, count, attrs, NULL, 0);
    if (!CHECK_STR(outcome(&w, type), row->want)) printf("    %s(%s)\n", row->op, row->operands);
    size_t checks = w.graph->checks.count;
    if (!type) CHECK_INT(checks, 0); // a refused op demands nothing
    const Type *quiet = infer_type(w.graph, NULL, NULL, op, args, count, attrs, NULL, 0);
    CHECK(quiet == type);
    world_free(&w);
}

#define RUN_ROWS(rows)                                                                             \
    for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++) run_row(&(rows)[i])

static void test_elementwise(void) { RUN_ROWS(elementwise); }
static void test_reduce(void) { RUN_ROWS(reduce); }
static void test_movement(void) { RUN_ROWS(movement); }
static void test_index(void) { RUN_ROWS(index_rows); }
static void test_contraction(void) { RUN_ROWS(contraction); }

// ---- what is shown to the user --------------------------------------------------------------

static void collect(void *user, const Diag *diag) { buf_put(user, str_from(diag->rendered)); }

// An error inside a library function shows the user's line first, then the operands' places, then
// where in the library, then the callers.
static void test_places(void) {
    World w = world_new();
    Buf heard = {.arena = w.arena};
    Diags *diags = diags_new(w.arena, collect, &heard, 0);
    uint32_t user = diags_add_file(diags, STR("model.g"), STR("a = f(x)\ny = norm(a)\n"));
    uint32_t library = diags_add_file(diags, STR("lib.g"), STR("return x + w\n"));
    Origin outer = {.loc = {user, 1, 5, 4}}, call = {.loc = {user, 2, 5, 7}, .caller = &outer};
    Origin inner = {.loc = {library, 1, 8, 5}, .caller = &call, .library = true};
    Origin first = {.loc = {user, 1, 7, 1}};
    Str text = STR("f32[N, 3]"), other = STR("f32[N, 4]");
    NodeId args[2] = {graph_add_input(w.graph, STR("x"), type_parse(w.ctx, &text), &first),
                      graph_add_input(w.graph, STR("w"), type_parse(w.ctx, &other), NULL)};
    CHECK(graph_build(w.graph, diags, &inner, OP_add, args, 2, NULL, NULL, 0) == NODE_none);
    CHECK_STR(buf_str(&heard).data,
              "model.g:2:5: error: shapes f32[N, 3] and f32[N, 4] do not agree [shape-mismatch]\n"
              "    2 | y = norm(a)\n"
              "      |     ^~~~~~~\n"
              "model.g:1:7: note: operand 1 is f32[N, 3]\n"
              "    1 | a = f(x)\n"
              "      |       ^\n"
              "lib.g:1:8: note: inside the library function, here\n"
              "    1 | return x + w\n"
              "      |        ^~~~~\n"
              "model.g:1:5: note: called from here\n"
              "    1 | a = f(x)\n"
              "      |     ^~~~\n");
    world_free(&w);
}

// Dims that a kernel writes cannot be compared at entry.
static void test_bound_dims(void) {
    World w = world_new();
    const DimSymbol *symbol = dim_new_symbol(w.ctx, SYMBOL_bound, STR("found"), 0, 9, 9, NULL);
    const Dim *dims[2] = {dim_of_symbol(w.ctx, symbol), dim_const(w.ctx, 4)};
    Diags *diags = diags_new(w.arena, listen, &w, 0);
    NodeId args[2];
    for (int i = 0; i < 2; i++) {
        args[i] = graph_add_input(w.graph, STR("x"), type_tensor(w.ctx, DT_f32, 1, &dims[i]), NULL);
    }
    CHECK(!infer_type(w.graph, diags, NULL, OP_add, args, 2, NULL, NULL, 0));
    Attr topk[3] = {{.i = 0}, {.i = 3}, {.i = 1}};
    CHECK(!infer_type(w.graph, diags, NULL, OP_topk, args, 1, topk, NULL, 0));
    CHECK_INT(diags_error_count(diags), 2); // one reason each
    CHECK_STR(buf_str(&w.heard).data,
              "! dims found and 4 are known only at run time and cannot be compared [dim-unknown]");
    world_free(&w);
}

int main(void) {
    RUN(test_elementwise);
    RUN(test_reduce);
    RUN(test_movement);
    RUN(test_index);
    RUN(test_contraction);
    RUN(test_places);
    RUN(test_bound_dims);
    return test_done();
}
