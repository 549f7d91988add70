// The text form: exact round trips, errors with their places, and hostile text.
#include "tests/unit/test.h"

#include "ir/build.h"
#include "ir/tensor.h"
#include "ir/text.h"
#include "ir/verify.h"

// Every kind of attribute, type and region; written exactly as it is printed.
static const char sample[] = "tir 1\n"
                             "dim N in 1..256 tune 32\n"
                             "dim M in 0..64 tune 8\n"
                             "bound K in 0..256 tune 4 limit N + 1\n"
                             "graph @sample {\n"
                             "  check N <= 4*M\n"
                             "  check N*M == 96\n"
                             "  %0 = input index=0 name=\"im\\\"age\\n\\x01\" : f32[N, 4]\n"
                             "  %1 = input index=1 name=\"flag\" : bool[]\n"
                             "  %2 = param name=\"w\" value=none : f32[4, M // 2 + 1]\n"
                             "  %3 = const value=[0x1p+0, -0x0p+0, inf, nan(0x7fc00001)] : f32[4]\n"
                             "  %4 = const value=[true, false] : bool[2]\n"
                             "  %5 = const value=[18446744073709551615] : u64[]\n"
                             "  %6 = const value=[-8, 7, 0] : i4[3]\n"
                             "  %7 = const value=[] : f16[0, 3]\n"
                             "  %8 = iota axis=1 : i32[N, 4]\n"
                             "  %9 = dim value=(N % 4 + 2) : i64[]\n"
                             "  %10 = broadcast %3 dims=[N, 4] axes=[1] : f32[N, 4]\n"
                             "  %11 = add %0, %10 : f32[N, 4]\n"
                             "  %12 = cast %11 to=bf16 user=1 : bf16[N, 4]\n"
                             "  %13 = reduce_sum %11 axes=[1] dtype=f64 : f64[N]\n"
                             "  %14 = sort %11 axis=1 descending=0 : (f32[N, 4], i64[N, 4])\n"
                             "  %15 = item %14 index=1 : i64[N, 4]\n"
                             "  %16 = slice %11 start=[0, 1] limit=[N, 4] step=[1, 2] : f32[N, 2]\n"
                             "  %17 = cond %1, %11 : f32[N, 4] @then {\n"
                             "    %0 = input index=0 name=\"\" : f32[N, 4]\n"
                             "    %1 = exp %0 : f32[N, 4]\n"
                             "    return %1\n"
                             "  } @\"or else\" {\n"
                             "    %0 = input index=0 name=\"\" : f32[N, 4]\n"
                             "    return %0\n"
                             "  }\n"
                             "  %18 = scan %13, %11 carried=1 reverse=0 : (f64[N], f32[N, 4]) {\n"
                             "    %0 = input index=0 name=\"\" : f64[N]\n"
                             "    %1 = input index=1 name=\"\" : f32[4]\n"
                             "    %2 = call %1 name=\"f\" scope=\"a.b\" : f32[4] {\n"
                             "      %0 = input index=0 name=\"\" : f32[4]\n"
                             "      %1 = neg %0 : f32[4]\n"
                             "      return y = %1\n"
                             "    }\n"
                             "    return %0, %2\n"
                             "  }\n"
                             "  return out = %17, \"a b\" = %12, %9\n"
                             "}\n"
                             "graph @second {\n"
                             "  %0 = input index=0 name=\"k\" : f32[K]\n"
                             "  return y = %0\n"
                             "}\n";

typedef struct Fixture {
    Arena *arena;
    IrContext *ctx;
    Buf log; // "line:column id" of each error
} Fixture;

static void collect(void *user, const Diag *diag) {
    Buf *log = user;
    if (diag->severity != DIAG_error) return;
    buf_print(log, "%s%u:%u %s", log->size ? ", " : "", diag->loc.line, diag->loc.column, diag->id);
}

static Fixture setup(void) {
    Arena *arena = arena_new(NULL);
    return (Fixture){arena, ir_context_new(arena), {.arena = arena}};
}

static void teardown(Fixture *f) {
    ir_context_free(f->ctx);
    arena_free(f->arena);
}

static Module *parse(Fixture *f, Str text, BlobLookup *lookup, void *user) {
    f->log.size = 0;
    Diags *diags = diags_new(f->arena, collect, &f->log, 0);
    uint32_t file = diags_add_file(diags, STR("test.tir"), text);
    return parse_module(f->ctx, f->arena, diags, file, lookup, user);
}

static const char *print(Fixture *f, const Module *module, bool origins) {
    Buf buf = {.arena = f->arena};
    print_module(&buf, module, &(PrintOptions){.origins = origins});
    return buf.data;
}

static void test_round_trip(void) {
    Fixture f = setup();
    Module *module = parse(&f, str_from(sample), NULL, NULL);
    if (!CHECK(module != NULL)) printf("    %s\n", f.log.data);
    if (!module) return;
    CHECK_STR(print(&f, module, false), sample);
    for (size_t i = 0; i < module->models.count; i++) {
        const char *fault = graph_verify(module->models.data[i], f.arena);
        if (!CHECK(!fault)) printf("    %s\n", fault);
    }
    Module *again = parse(&f, str_from(sample), NULL, NULL);
    CHECK_STR(print(&f, again, false), sample);
    // Places are printed on request, and passed over when read.
    const char *placed = print(&f, module, true);
    CHECK(strstr(placed, "%1 = exp %0 : f32[N, 4] @ 27:5\n") != NULL);
    again = parse(&f, str_from(placed), NULL, NULL);
    if (CHECK(again != NULL)) CHECK_STR(print(&f, again, false), sample);
    teardown(&f);
}

// Elements of every dtype, all bit patterns for 8 and 16 bits, come back bit by bit.
static void test_elements(void) {
    Fixture f = setup();
    for (unsigned d = 0; d < DT_count; d++) {
        DType dtype = (DType)d;
        for (uint32_t start = 0; start < 0x10000; start += 8) {
            if (dtype_info(dtype)->bits < 16 && start >= 0x100) break;
            uint64_t data[8] = {0};
            size_t size = dtype_info(dtype)->bits / 8;
            for (uint32_t i = 0; size && i < 8; i++) {
                uint64_t bits = start + i;
                if (size > 2) bits = bits * 0x9e3779b97f4a7c15U;
                memcpy((char *)data + i * size, &bits, size);
            }
            if (!size) data[0] = start * 0x01010101U;
            Module module = {.ctx = f.ctx, .arena = f.arena};
            Graph *g = graph_new(f.ctx, f.arena, STR("g"));
            const Type *type = type_tensor(f.ctx, dtype, 1, (const Dim *[]){dim_const(f.ctx, 8)});
            graph_add_output(g, STR(""), build_const(g, type, data, size ? 8 * size : 4));
            vec_push(f.arena, &module.models, g);
            const char *text = print(&f, &module, false);
            Module *back = parse(&f, str_from(text), NULL, NULL);
            bool same = back && graph_node(back->models.data[0], 0)->attrs[0].blob ==
                                    graph_node(g, 0)->attrs[0].blob;
            if (!same && !CHECK(same)) printf("    %s\n", text);
        }
    }
    CHECK(true);
    teardown(&f);
}

typedef struct Sidecar {
    const Blob *blobs[4];
    size_t count;
} Sidecar;

static void keep_blob(void *user, const Blob *blob) {
    Sidecar *sidecar = user;
    if (sidecar->count < 4) sidecar->blobs[sidecar->count++] = blob;
}

static const Blob *find_blob(void *user, const uint8_t digest[32]) {
    const Sidecar *sidecar = user;
    for (size_t i = 0; i < sidecar->count; i++) {
        uint8_t other[32];
        ir_blob_sha256(sidecar->blobs[i], other);
        if (!memcmp(digest, other, 32)) return sidecar->blobs[i];
    }
    return NULL;
}

static void test_blobs(void) {
    Fixture f = setup();
    Module module = {.ctx = f.ctx, .arena = f.arena};
    Graph *g = graph_new(f.ctx, f.arena, STR("g"));
    float data[65] = {1, 2, 3};
    for (int64_t count = 63; count <= 65; count++) {
        const Type *type = type_tensor(f.ctx, DT_f32, 1, (const Dim *[]){dim_const(f.ctx, count)});
        graph_add_output(g, STR(""), build_const(g, type, data, (size_t)count * 4));
    }
    vec_push(f.arena, &module.models, g);
    const char *text = print(&f, &module, false);
    Sidecar sidecar = {.count = 0};
    module_visit_blobs(&module, keep_blob, &sidecar);
    CHECK_INT(sidecar.count, 1);
    CHECK_INT(sidecar.blobs[0]->size, 65 * 4);
    Module *back = parse(&f, str_from(text), find_blob, &sidecar);
    if (CHECK(back != NULL)) CHECK_STR(print(&f, back, false), text);
    CHECK(!parse(&f, str_from(text), NULL, NULL));
    CHECK_STR(f.log.data, "5:20 tir-blob");
    teardown(&f);
}

// ---- errors
// ------------------------------------------------------------------------------------------

typedef struct Wrong {
    const char *line, *errors; // a line put into the graph at line 5, and the errors
} Wrong;

static const Wrong wrongs[] = {
    {"%2 = frob %0 : f32[N]", "5:6 tir-op"},
    {"%2 = exp %9 : f32[N]", "5:11 tir-unknown"},
    {"%1 = exp %0 : f32[N]", "5:2 tir-redefined"},
    {"%2 = exp %0 : f32[N, 1]", "5:1 tir-type"},
    {"%2 = exp %0, %0 : f32[N]", "5:1 operand-count"},
    {"%2 = exp %0 : f32[Q]", "5:15 tir-syntax"},
    {"%2 = cast %0 to=f31 user=0 : f32[N]", "5:17 tir-syntax"},
    {"%2 = reduce_sum %0 axes=[1] dtype=f32 : f32[]", "5:1 axis-range"},
    {"%2 = reduce_sum %0 dtype=f32 : f32[]", "5:20 tir-syntax"},
    {"%2 = input index=7 name=\"z\" : f32[N]", "5:1 tir-node"},
    {"%2 = const value=[1, 2] : f32[3]", "5:23 tir-syntax"},
    {"%2 = const value=none : f32[3]", "5:1 tir-node"},
    {"%2 = const value=[300] : u8[1]", "5:19 tir-syntax"},
    {"%2 = const value=[nan(0x1)] : f32[1]", "5:26 tir-syntax"},
    {"%2 = const value=[1.5, -1e-3] : f32[2]", ""},
    {"%2 = iota axis=1 : f32[N]", "5:1 tir-node"},
    {"%2 = exp %0 : f32[N] { return }", "5:1 tir-node"},
    {"%2 = call %0 name=\"f\" scope=\"\" : f32[N] { return %0 }", "5:51 tir-unknown"},
    {"%2 = random %1 stream=1 dims=[N*4611686018427387904] : u32[N]", "5:31 tir-overflow"},
    {"%2 = param name=\"p\" value=none : f32[3, -2]", "5:34 tir-negative"},
    {"%2 = param name=\"p\" value=none : f32[2147483647, 2147483647, 2147483647]",
     "5:34 tir-overflow"},
    {"%2 = param name=\"\\q\" value=none : f32[N]", "5:20 tir-syntax"},
    // A refused node is reported once; what uses it is passed over; the next fault is still found.
    {"%2 = exp %0 : f32[]\n%3 = neg %2 : f32[]\n%4 = neg %0 : f32[]", "5:1 tir-type, 7:1 tir-type"},
};

static void test_errors(void) {
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        Fixture f = setup();
        Str text = str_format(f.arena,
                              "tir 1\ndim N in 1..9 tune 2\ngraph @g {\n"
                              "%%0 = input index=0 name=\"x\" : f32[N] "
                              "%%1 = input index=1 name=\"k\" : u64[]\n%s\nreturn %%0\n}\n",
                              wrongs[i].line);
        Module *module = parse(&f, text, NULL, NULL);
        CHECK((module != NULL) == (wrongs[i].errors[0] == '\0'));
        if (!CHECK_STR(f.log.size ? f.log.data : "", wrongs[i].errors))
            printf("    %s\n", wrongs[i].line);
        teardown(&f);
    }
}

static void test_heads(void) {
    static const Wrong heads[] = {
        {"", "1:1 tir-version"},
        {"tir 2\ngraph {\nreturn\n}\n", "1:5 tir-version"},
        {"tir 1\n", "2:1 tir-syntax"},
        {"tir 1\ndim N in 5..3 tune 4\n", "2:5 tir-range"},
        {"tir 1\ndim N in 1..3 tune 4\n", "2:5 tir-range"},
        {"tir 1\ndim N in 1..3 tune 2\ndim N in 1..4 tune 2\n", "3:5 tir-dim"},
        {"tir 1\ndim N in 1.3 tune 2\n", "2:10 tir-syntax"},
        {"tir 1\ngraph {\n  return # nothing\n}\n", ""},
        {"tir 1\ngraph {\n  return\n} x", "4:3 tir-syntax"},
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        Fixture f = setup();
        Module *module = parse(&f, str_from(heads[i].line), NULL, NULL);
        CHECK((module != NULL) == (heads[i].errors[0] == '\0'));
        if (!CHECK_STR(f.log.size ? f.log.data : "", heads[i].errors))
            printf("    %s\n", heads[i].line);
        teardown(&f);
    }
}

// Nesting beyond the limit is an error, not the end of the stack.
static void test_nesting(void) {
    Fixture f = setup();
    Buf text = {.arena = f.arena};
    buf_put(&text, STR("tir 1\ngraph {\n"));
    for (int i = 0; i < 100000; i++)
        buf_put(&text, STR("%0 = call name=\"\" scope=\"\" : f32[] {"));
    CHECK(!parse(&f, buf_str(&text), NULL, NULL));
    CHECK(strstr(f.log.data, "tir-limit") != NULL);
    text.size = 0;
    buf_put(&text, STR("tir 1\ngraph {\n%0 = dim value=("));
    for (int i = 0; i < 100000; i++) buf_char(&text, '(');
    CHECK(!parse(&f, buf_str(&text), NULL, NULL));
    CHECK_STR(f.log.data, "3:17 tir-syntax");
    teardown(&f);
}

// ---- noise
// -----------------------------------------------------------------------------------------------

static uint64_t random_state = 7;

static size_t random_below(size_t limit) {
    random_state = random_state * 6364136223846793005U + 1442695040888963407U;
    return (size_t)((random_state >> 33) % limit);
}

// What still parses must verify and print to a text that reads back to itself.
static bool survives(Str text) {
    Fixture f = setup();
    bool good = true;
    Module *module = parse(&f, text, NULL, NULL);
    for (size_t i = 0; module && i < module->models.count; i++) {
        const char *fault = graph_verify(module->models.data[i], f.arena);
        good = good && !fault;
        if (fault) printf("    %s\n", fault);
    }
    if (module) {
        const char *first = print(&f, module, false);
        Module *again = parse(&f, str_from(first), NULL, NULL);
        good = good && again && !strcmp(print(&f, again, false), first);
    } else {
        good = f.log.size > 0;
    }
    teardown(&f);
    return good;
}

static void test_truncation(void) {
    for (size_t size = 0; size < sizeof sample; size++) {
        char *exact = malloc(size + 1); // of just this size, so that a sanitizer sees any overrun
        memcpy(exact, sample, size);
        CHECK(survives((Str){exact, size}));
        free(exact);
    }
}

// A byte replaced, removed or repeated, or a piece of the text copied to another place.
static size_t mutate(char *text, size_t size) {
    static const char marks[] = "%[]{}()=:,\"\\#@*/-.0123456789NMKfinx\n \x80\xff";
    size_t at = random_below(size);
    switch (random_below(4)) {
    case 0: text[at] = marks[random_below(sizeof marks)]; return size;
    case 1: memmove(text + at, text + at + 1, size - at - 1); return size - 1;
    case 2: memmove(text + at + 1, text + at, size - at); return size + 1;
    default: break;
    }
    size_t from = random_below(size), length = random_below(40);
    size_t most = from > at ? size - from : size - at;
    memmove(text + at, text + from, length < most ? length : most);
    return size;
}

static void test_mutation(void) {
    int rounds = test_long() ? 20000 : 3000;
    for (int round = 0; round < rounds; round++) {
        char text[sizeof sample + 8];
        memcpy(text, sample, sizeof sample);
        size_t size = sizeof sample - 1;
        for (size_t i = random_below(4) + 1; i > 0; i--) size = mutate(text, size);
        char *exact = malloc(size);
        memcpy(exact, text, size);
        if (!CHECK(survives((Str){exact, size}))) printf("%.*s\n", (int)size, exact);
        free(exact);
    }
}

int main(void) {
    RUN(test_round_trip);
    RUN(test_elements);
    RUN(test_blobs);
    RUN(test_errors);
    RUN(test_heads);
    RUN(test_nesting);
    RUN(test_truncation);
    RUN(test_mutation);
    return test_done();
}
