// Dims against naive evaluation: random expressions, identities, and the index maps that fused
// kernels are made of.
#include "tests/unit/test.h"

#include "base/guard.h"
#include "ir/context.h"

typedef struct Fixture {
    Arena *arena;
    IrContext *ctx;
} Fixture;

static Fixture setup(void) {
    Arena *arena = arena_new(NULL);
    return (Fixture){arena, ir_context_new(arena)};
}

static void teardown(Fixture f) {
    ir_context_free(f.ctx);
    arena_free(f.arena);
}

static const Dim *symbol(Fixture f, DimSymbolKind kind, const char *name, int64_t lo, int64_t hi,
                         const Dim *limit) {
    return dim_of_symbol(f.ctx, dim_new_symbol(f.ctx, kind, str_from(name), lo, hi, lo, limit));
}

static const Dim *named(Fixture f, const char *name, int64_t lo, int64_t hi) {
    return symbol(f, SYMBOL_named, name, lo, hi, NULL);
}

// A loop variable that runs from 0 to below `limit`.
static const Dim *loop(Fixture f, const char *name, const Dim *limit) {
    return symbol(f, SYMBOL_index, name, 0, limit->hi - 1, limit);
}

static const DimSymbol *resolve(void *user, Str name) {
    const IrContext *ctx = user;
    for (uint32_t i = 0; i < dim_symbol_count(ctx); i++) {
        if (str_equal(dim_symbol_at(ctx, i)->name, name)) return dim_symbol_at(ctx, i);
    }
    return NULL;
}

static const Dim *read_dim(Fixture f, const char *text) {
    Str rest = str_from(text);
    const Dim *dim = dim_parse_names(f.ctx, &rest, resolve, f.ctx);
    return dim && rest.size == 0 ? dim : NULL;
}

static const char *text_of(Fixture f, const Dim *dim) {
    Buf buf = {.arena = f.arena};
    buf_dim(&buf, dim);
    return buf.data;
}

// `text` reads as a Dim that prints as `want`, and that reads back to the same.
static void check_text(Fixture f, const char *text, const char *want) {
    const Dim *dim = read_dim(f, text);
    if (!CHECK(dim != NULL)) return;
    CHECK_STR(text_of(f, dim), want);
    CHECK(read_dim(f, want) == dim);
}

static void test_text(void) {
    Fixture f = setup();
    named(f, "N", 1, 100);
    named(f, "M", 1, 100);
    named(f, "enc.T", 0, 100);
    check_text(f, "1 + N*2", "2*N + 1");
    check_text(f, "M*N - N*M", "0");
    check_text(f, "-N - 3", "-N - 3");
    check_text(f, "(N + 1)*(N - 1)", "N*N - 1");
    check_text(f, "(N + 3) // 4", "(N + 3) // 4");
    check_text(f, "4*(N//4)", "4*(N // 4)");
    check_text(f, "N % 4", "N % 4");
    check_text(f, "3*(N % 4) + M", "3*(N % 4) + M");
    check_text(f, "M*(N % 4)", "M*(N % 4)");
    check_text(f, "(N + M) % 8 // 2", "((N + M) // 2) % 4");
    check_text(f, "min(N, min(8, M))", "min(min(N, M), 8)");
    check_text(f, "max(enc.T - 1, 0) + 1", "max(enc.T, 1)");
    check_text(f, "8 - (N + 2*M)//3*2", "-2*((N + 2*M) // 3) + 8");
    check_text(f, "N // M", "N // M");
    check_text(f, "N % M", "N % M");
    static const char *const bad[] = {
        "", "+", "N +", "Q", "(N", "min(N)", "min N, M)", "N N", "4611686018427387905*9", "N//"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const Dim *dim = read_dim(f, bad[i]);
        CHECK(!dim || dim_is_overflow(dim));
    }
    Str rest = STR("N + 1]");
    CHECK(dim_parse(f.ctx, &rest) != NULL && str_equal(rest, STR("]")));
    char deep[300];
    memset(deep, '(', 150);
    deep[150] = '1';
    memset(deep + 151, ')', 149);
    deep[299] = '\0';
    CHECK(!read_dim(f, deep));
    teardown(f);
}

// Both texts are the same Dim.
static void check_same(Fixture f, const char *a, const char *b) {
    const Dim *x = read_dim(f, a), *y = read_dim(f, b);
    if (!CHECK(x && y && x == y)) {
        printf("    %s  is  %s\n    %s  is  %s\n", a, text_of(f, x), b, text_of(f, y));
    }
}

static void test_identities(void) {
    Fixture f = setup();
    const Dim *n = named(f, "N", 1, 100), *m = named(f, "M", 1, 100);
    symbol(f, SYMBOL_index, "x", -1000, 1000, NULL);
    symbol(f, SYMBOL_index, "c", -10, 10, NULL);
    symbol(f, SYMBOL_index, "t", 0, 31, NULL);
    loop(f, "i", n);
    loop(f, "j", m);
    loop(f, "k", dim_add(f.ctx, dim_scale(f.ctx, n, 2), m));
    check_same(f, "4*(x//4) + x%4", "x");
    check_same(f, "c*4*(x//4) + c*(x%4)", "c*x");
    check_same(f, "c*N*(x//N) + c*(x%N)", "c*x");
    check_same(f, "(x//3)//5", "x//15");
    check_same(f, "(x//N)//M", "x//(N*M)");
    check_same(f, "(x % 12) % 4", "x % 4");
    check_same(f, "(x % (4*N)) % N", "x % N");
    check_same(f, "(x % 12)//4", "(x//4) % 3");
    check_same(f, "x % 4 + 4*(x//4 % 3)", "x % 12");
    check_same(f, "(8*x + 5)//4", "2*x + 1");
    check_same(f, "(8*x + 6)//12", "(4*x + 3)//6");
    check_same(f, "(4*x + t//8)//16", "x//4");
    check_same(f, "(31 - t)//8", "3 - t//8");
    check_same(f, "t//32", "0");
    check_same(f, "(t + 32*x)%32", "t");
    check_same(f, "(N*x + i)//N", "x");
    check_same(f, "(N*x + i)%N", "i");
    check_same(f, "(N*x - i - 1)//N", "x - 1");
    check_same(f, "(N*M*x + N*j + i)//(N*M)", "x");
    check_same(f, "(N*M*x + N*j + i)//N % M", "j");
    check_same(f, "((2*N + M)*x + k)//(2*N + M)", "x");
    check_same(f, "((2*N + M)*x + k)%(2*N + M)", "k");
    check_same(f, "(2*i + t//16)//(2*N)", "0");
    check_same(f, "(N*x + i)//(4*N)", "x//4");
    check_same(f, "-((-x)//4)", "(x + 3)//4");
    check_same(f, "min(i, N - 1)", "i");
    check_same(f, "max(N, 1)", "N");
    check_same(f, "min(x, max(x, 3))", "x");
    check_same(f, "min(min(x, c), min(c, t))", "min(min(t, x), c)");
    check_same(f, "x % 1", "0");
    check_same(f, "(x - x%8)//8", "x//8");
    CHECK(dim_mod(f.ctx, dim_const(f.ctx, -7), dim_const(f.ctx, 3)) == dim_const(f.ctx, 2));
    CHECK(dim_mod(f.ctx, dim_const(f.ctx, 7), dim_const(f.ctx, -3)) == dim_const(f.ctx, -2));
    CHECK(dim_floordiv(f.ctx, dim_const(f.ctx, 7), dim_const(f.ctx, -2)) == dim_const(f.ctx, -4));
    CHECK(dim_ceildiv(f.ctx, dim_const(f.ctx, 7), dim_const(f.ctx, 2)) == dim_const(f.ctx, 4));
    teardown(f);
}

static void test_proofs(void) {
    Fixture f = setup();
    const Dim *n = named(f, "N", 1, 1000000), *m = named(f, "M", 0, 1000000);
    const Dim *i = loop(f, "i", n), *j = loop(f, "j", m);
    const Dim *blocks = dim_ceildiv(f.ctx, n, dim_const(f.ctx, 64)), *b = loop(f, "b", blocks);
    CHECK(dim_proves_lt(f.ctx, i, n) && !dim_proves_lt(f.ctx, n, i));
    CHECK(dim_proves_le(f.ctx, dim_mul(f.ctx, i, m), dim_mul(f.ctx, n, m)));
    const Dim *flat = dim_add(f.ctx, dim_mul(f.ctx, i, m), j);
    CHECK(dim_proves_lt(f.ctx, flat, dim_mul(f.ctx, n, m)));
    CHECK(!dim_proves_lt(f.ctx, dim_offset(f.ctx, flat, 1), dim_mul(f.ctx, n, m)));
    CHECK(dim_proves_lt(f.ctx, dim_scale(f.ctx, b, 64), n));
    CHECK(!dim_proves_lt(f.ctx, dim_offset(f.ctx, dim_scale(f.ctx, b, 64), 1), n));
    CHECK(dim_proves_lt(f.ctx, read_dim(f, "min(64*b + 63, N - 1)"), n));
    CHECK(dim_proves_le(f.ctx, read_dim(f, "max(i, j)"), read_dim(f, "N + M")));
    CHECK(dim_proves_divisible(read_dim(f, "8*N + 4*(M//3) + 12"), 4));
    CHECK(!dim_proves_divisible(read_dim(f, "8*N + 4*(M//3) + 10"), 4));
    CHECK(dim_proves_divisible(dim_const(f.ctx, 0), 7));
    teardown(f);
}

static void test_overflow(void) {
    Fixture f = setup();
    const Dim *big = named(f, "B", 0, INT64_C(1) << 40), *n = named(f, "N", 0, 10);
    const Dim *over = dim_mul(f.ctx, big, big);
    CHECK(dim_is_overflow(over) && !dim_is_const(over, NULL) && !dim_equals_int(over, 0));
    CHECK(dim_add(f.ctx, over, n) == over && dim_floordiv(f.ctx, n, over) == over);
    CHECK(dim_min(f.ctx, over, n) == over && dim_mod(f.ctx, over, n) == over);
    CHECK(dim_floordiv(f.ctx, n, n) == over && dim_mod(f.ctx, n, dim_const(f.ctx, 0)) == over);
    CHECK(dim_is_overflow(dim_const(f.ctx, INT64_MAX)) &&
          dim_is_overflow(dim_const(f.ctx, INT64_MIN)));
    int64_t value;
    CHECK(!dim_evaluate(over, (int64_t[]){1, 1}, &value));
    CHECK_STR(text_of(f, over), "overflow");
    // A remainder stays in range although its two halves alone would not.
    const Dim *part = dim_scale(f.ctx, dim_mod(f.ctx, big, dim_const(f.ctx, 8)), INT64_C(1) << 30);
    CHECK(!dim_is_overflow(part));
    CHECK_INT(part->hi, INT64_C(7) << 30);
    const Dim *deep = n;
    for (int i = 0; i < 100; i++) {
        deep = dim_floordiv(f.ctx, dim_offset(f.ctx, dim_scale(f.ctx, deep, 3), 1),
                            dim_const(f.ctx, 2));
    }
    CHECK(dim_is_overflow(deep));
    teardown(f);
}

static void test_one_symbol(void) {
    Fixture f = setup();
    const Dim *n = named(f, "N", 1, 100);
    symbol(f, SYMBOL_index, "i", 0, 99, n);
    symbol(f, SYMBOL_index, "j", 0, 99, n);
    const DimSymbol *i = resolve(f.ctx, STR("i"));
    const Dim *coefficient, *rest;
    CHECK(dim_split_affine(f.ctx, read_dim(f, "(N + 1)*i + j // 4 + 3"), i, &coefficient, &rest));
    CHECK(coefficient == read_dim(f, "N + 1") && rest == read_dim(f, "j // 4 + 3"));
    CHECK(dim_split_affine(f.ctx, n, i, &coefficient, &rest));
    CHECK(dim_equals_int(coefficient, 0) && rest == n);
    static const char *const bent[] = {"i*i", "i % 4", "i + (i + j) // 2", "i*(i // 2)",
                                       "min(i, j)"};
    for (size_t k = 0; k < sizeof bent / sizeof *bent; k++) {
        CHECK(!dim_split_affine(f.ctx, read_dim(f, bent[k]), i, &coefficient, &rest));
        CHECK(dim_mentions(read_dim(f, bent[k]), i));
    }
    CHECK(!dim_mentions(read_dim(f, "N*j % 7"), i));
    int64_t value;
    CHECK(dim_evaluate(read_dim(f, "N*i - j // 4"), (int64_t[]){10, 7, 9}, &value) && value == 68);
    CHECK(!dim_evaluate(read_dim(f, "i // j"), (int64_t[]){10, 7, 0}, &value));
    dim_new_symbol(f.ctx, SYMBOL_named, STR("T"), 1, 4096, 512, NULL);
    CHECK_INT(dim_tune_value(read_dim(f, "2*T + i + (T + 1) // 2")), 1280);
    teardown(f);
}

// A dim that may be 0 divides nothing, but in index expressions, where 0 means that there is no
// index.
static void test_zero_divisors(void) {
    Fixture f = setup();
    const Dim *z = named(f, "Z", 0, 64), *i = loop(f, "i", z), *x = named(f, "X", 0, 1000);
    const Dim *flat = dim_add(f.ctx, dim_mul(f.ctx, x, z), i);
    CHECK(dim_is_overflow(dim_floordiv(f.ctx, flat, z)) &&
          dim_is_overflow(dim_mod(f.ctx, flat, z)));
    CHECK(dim_index_floordiv(f.ctx, flat, z) == x && dim_index_mod(f.ctx, flat, z) == i);
    const Dim *quotient = dim_index_floordiv(f.ctx, x, z);
    CHECK(!dim_is_overflow(quotient) && quotient->lo == 0 && quotient->hi == 1000);
    int64_t value;
    CHECK(!dim_evaluate(quotient, (int64_t[]){0, 0, 5}, &value));
    const DimSymbol *symbols[] = {resolve(f.ctx, STR("X"))};
    const Dim *values[] = {flat};
    CHECK(dim_substitute(f.ctx, quotient, symbols, values, 1) == x);
    CHECK(dim_is_overflow(dim_index_floordiv(f.ctx, x, dim_const(f.ctx, 0))));
    teardown(f);
}

// ---- random expressions
// --------------------------------------------------------------------------

typedef struct Tree {
    char op; // + - * / % < (min) > (max), s (symbol), c (constant)
    int64_t value;
    const struct Tree *a, *b;
} Tree;

static uint64_t random_state = 1;

static int64_t random_int(int64_t lo, int64_t hi) {
    random_state = random_state * 6364136223846793005U + 1442695040888963407U;
    return lo + (int64_t)((random_state >> 33) % (uint64_t)(hi - lo + 1));
}

static const Tree *random_tree(Fixture f, int depth) {
    Tree *tree = NEW(f.arena, Tree);
    if (depth == 0 || random_int(0, 5) == 0) {
        tree->op = random_int(0, 2) ? 's' : 'c';
        tree->value = tree->op == 's' ? random_int(0, (int64_t)dim_symbol_count(f.ctx) - 1)
                                      : random_int(-12, 12);
        return tree;
    }
    static const char ops[] = "+++--**////%%%%<>";
    tree->op = ops[random_int(0, (int64_t)sizeof ops - 2)];
    tree->a = random_tree(f, depth - 1);
    tree->b = random_tree(f, depth - 1);
    if ((tree->op == '/' || tree->op == '%') && random_int(0, 3)) {
        static const int64_t divisors[] = {2, 3, 4, 6, 8, 12, 16, -4};
        Tree *by = NEW(f.arena, Tree);
        *by = (Tree){.op = 'c', .value = divisors[random_int(0, 7)]};
        tree->b = by;
    }
    return tree;
}

static const Dim *dim_of_tree(Fixture f, const Tree *tree) {
    if (tree->op == 'c') return dim_const(f.ctx, tree->value);
    if (tree->op == 's') return dim_of_symbol(f.ctx, dim_symbol_at(f.ctx, (uint32_t)tree->value));
    const Dim *a = dim_of_tree(f, tree->a), *b = dim_of_tree(f, tree->b);
    switch (tree->op) {
    case '+': return dim_add(f.ctx, a, b);
    case '-': return dim_sub(f.ctx, a, b);
    case '*': return dim_mul(f.ctx, a, b);
    case '/': return dim_floordiv(f.ctx, a, b);
    case '%': return dim_mod(f.ctx, a, b);
    case '<': return dim_min(f.ctx, a, b);
    default: return dim_max(f.ctx, a, b);
    }
}

static int64_t naive_floordiv(int64_t a, int64_t b) {
    int64_t quotient = a / b;
    return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static int64_t value_of_tree(const Tree *tree, const int64_t *values) {
    if (tree->op == 'c') return tree->value;
    if (tree->op == 's') return values[tree->value];
    int64_t a = value_of_tree(tree->a, values), b = value_of_tree(tree->b, values);
    switch (tree->op) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    case '/': return naive_floordiv(a, b);
    case '%': return a - b * naive_floordiv(a, b);
    case '<': return a < b ? a : b;
    default: return a > b ? a : b;
    }
}

// Random values within ranges and limits; false when a limit leaves none.
static bool random_values(const IrContext *ctx, int64_t *values) {
    for (uint32_t i = 0; i < dim_symbol_count(ctx); i++) {
        const DimSymbol *s = dim_symbol_at(ctx, i);
        int64_t hi = s->hi, limit;
        if (s->limit && dim_evaluate(s->limit, values, &limit) && limit - 1 < hi) hi = limit - 1;
        if (hi < s->lo) return false;
        values[i] = random_int(s->lo, hi);
    }
    return true;
}

static void make_symbols(Fixture f) {
    const Dim *n = named(f, "N", 1, 9), *m = named(f, "M", 2, 6);
    named(f, "K", 0, 7);
    symbol(f, SYMBOL_index, "x", -40, 40, NULL);
    symbol(f, SYMBOL_index, "t", 0, 31, NULL);
    symbol(f, SYMBOL_index, "u", 0, 3, NULL);
    loop(f, "i", n);
    loop(f, "j", m);
    loop(f, "k", dim_mul(f.ctx, n, m));
}

static bool check_values(Fixture f, const Tree *tree, const Dim *dim) {
    int64_t values[32], got;
    for (int round = 0; round < 12; round++) {
        if (!random_values(f.ctx, values)) continue;
        int64_t want = value_of_tree(tree, values);
        if (!CHECK(dim_evaluate(dim, values, &got))) return false;
        if (!CHECK_INT(got, want)) return false;
        if (!CHECK(dim->lo <= got && got <= dim->hi)) return false;
        if (!CHECK(dim->divisor ? got % dim->divisor == 0 : got == 0)) return false;
    }
    return true;
}

// The identity must give the same pointer; constants for all symbols must give the value.
static bool check_substitution(Fixture f, const Dim *dim) {
    const DimSymbol *symbols[32];
    const Dim *same[32], *constants[32];
    int64_t values[32], want;
    uint32_t count = dim_symbol_count(f.ctx);
    bool good = random_values(f.ctx, values);
    for (uint32_t i = 0; i < count; i++) {
        symbols[i] = dim_symbol_at(f.ctx, i);
        same[i] = dim_of_symbol(f.ctx, symbols[i]);
        constants[i] = dim_const(f.ctx, good ? values[i] : symbols[i]->lo);
    }
    if (!CHECK(dim_substitute(f.ctx, dim, symbols, same, count) == dim)) return false;
    if (!good || !dim_evaluate(dim, values, &want)) return true;
    return CHECK(dim_equals_int(dim_substitute(f.ctx, dim, symbols, constants, count), want));
}

static void print_tree(const Tree *tree) {
    if (tree->op == 'c' || tree->op == 's') {
        printf("%c%lld", tree->op, (long long)tree->value);
        return;
    }
    printf("(");
    print_tree(tree->a);
    printf(" %c ", tree->op);
    print_tree(tree->b);
    printf(")");
}

static void test_random(void) {
    int rounds = test_long() ? 200000 : 6000, overflows = 0, faults = 0;
    Fixture f = setup();
    make_symbols(f);
    for (int i = 0; i < rounds && faults < 5; i++) {
        const Tree *tree = random_tree(f, (int)random_int(1, 5));
        const Dim *dim = dim_of_tree(f, tree);
        overflows += dim_is_overflow(dim);
        if (dim_is_overflow(dim)) continue;
        const char *text = text_of(f, dim);
        bool good = check_values(f, tree, dim) && CHECK(read_dim(f, text) == dim) &&
                    check_substitution(f, dim);
        if (good) continue;
        faults++;
        print_tree(tree);
        printf("\n    %s\n", text);
        const Dim *again = read_dim(f, text);
        if (again) printf("    %s\n", text_of(f, again));
    }
    CHECK(overflows < rounds / 2);
    teardown(f);
}

// ---- index maps through movement ops
// ---------------------------------------------------------------

enum { MAX_AXES = 8 };

typedef struct Shape {
    int rank;
    const Dim *dims[MAX_AXES];
} Shape;

typedef struct Index {
    const Dim *at[MAX_AXES];
} Index;

static const Dim *linearise(Fixture f, const Shape *shape, const Index *index) {
    const Dim *flat = dim_const(f.ctx, 0);
    for (int i = 0; i < shape->rank; i++) {
        flat = dim_add(f.ctx, dim_mul(f.ctx, flat, shape->dims[i]), index->at[i]);
    }
    return flat;
}

static Index delinearise(Fixture f, const Shape *shape, const Dim *flat) {
    Index index = {{NULL}};
    for (int i = shape->rank; i-- > 0;) {
        index.at[i] = i ? dim_index_mod(f.ctx, flat, shape->dims[i]) : flat;
        flat = dim_index_floordiv(f.ctx, flat, shape->dims[i]);
    }
    return index;
}

// One loop an axis: the index that the maps start from.
static Index loops(Fixture f, const Shape *shape) {
    Index index = {{NULL}};
    for (int i = 0; i < shape->rank; i++) {
        char name[2] = {(char)('a' + i), '\0'};
        index.at[i] = loop(f, name, shape->dims[i]);
    }
    return index;
}

static bool same_index(Fixture f, const Shape *shape, const Index *got, const Index *want) {
    for (int i = 0; i < shape->rank; i++) {
        bool one = dim_equals_int(shape->dims[i], 1);
        const Dim *expected = one ? dim_const(f.ctx, 0) : want->at[i];
        if (CHECK(got->at[i] == expected)) continue;
        printf("    axis %d: got %s, want %s\n", i, text_of(f, got->at[i]), text_of(f, expected));
        return false;
    }
    return true;
}

static const Dim *random_dim(Fixture f) {
    static const char *const dims[] = {"1",  "2", "3", "4", "6",     "8",
                                       "12", "N", "M", "Z", "N + 1", "2*M"};
    return read_dim(f, dims[random_int(0, 11)]);
}

static Shape random_shape(Fixture f) {
    Shape shape = {.rank = (int)random_int(1, 5)};
    for (int i = 0; i < shape.rank; i++) shape.dims[i] = random_dim(f);
    return shape;
}

// A step of a chain: a reshape that merges axis k with the next, or splits it; or a permutation.
typedef struct Step {
    Shape before, after;
    int perm[MAX_AXES]; // result axis i is operand axis perm[i]; only when permutes
    bool permutes;
} Step;

static Step random_permute(const Shape *before) {
    Step step = {.before = *before, .after = *before, .permutes = true};
    for (int i = 0; i < before->rank; i++) step.perm[i] = i;
    for (int i = before->rank; i-- > 1;) {
        int k = (int)random_int(0, i), old = step.perm[i];
        step.perm[i] = step.perm[k];
        step.perm[k] = old;
    }
    for (int i = 0; i < before->rank; i++) step.after.dims[i] = before->dims[step.perm[i]];
    return step;
}

static Step random_merge(Fixture f, const Shape *before) {
    Step step = {.before = *before, .after = *before};
    if (before->rank < 2) return step;
    int k = (int)random_int(0, before->rank - 2);
    step.after.dims[k] = dim_mul(f.ctx, before->dims[k], before->dims[k + 1]);
    step.after.rank--;
    for (int i = k + 1; i < step.after.rank; i++) step.after.dims[i] = before->dims[i + 1];
    return step;
}

static Step random_split(Fixture f, const Shape *before) {
    Step step = {.before = *before, .after = *before};
    int k = (int)random_int(0, before->rank - 1), by = (int)random_int(2, 6);
    if (before->rank == MAX_AXES || !dim_proves_divisible(before->dims[k], by)) return step;
    for (int i = before->rank; i > k; i--) step.after.dims[i] = before->dims[i - 1];
    step.after.dims[k] = dim_floordiv(f.ctx, before->dims[k], dim_const(f.ctx, by));
    step.after.dims[k + 1] = dim_const(f.ctx, by);
    step.after.rank++;
    return step;
}

static Step random_step(Fixture f, const Shape *before) {
    int kind = (int)random_int(0, 2);
    if (kind == 0) return random_permute(before);
    return kind == 1 ? random_merge(f, before) : random_split(f, before);
}

// The index into the operand of a step from one into its result, and the other way round.
static Index step_back(Fixture f, const Step *step, const Index *index) {
    Index result = {{NULL}};
    if (!step->permutes) return delinearise(f, &step->before, linearise(f, &step->after, index));
    for (int i = 0; i < step->before.rank; i++) result.at[step->perm[i]] = index->at[i];
    return result;
}

static Index step_forth(Fixture f, const Step *step, const Index *index) {
    Index result = {{NULL}};
    if (!step->permutes) return delinearise(f, &step->after, linearise(f, &step->before, index));
    for (int i = 0; i < step->before.rank; i++) result.at[i] = index->at[step->perm[i]];
    return result;
}

static void print_step(Fixture f, const Step *step) {
    printf("    %s:", step->permutes ? "permute" : "reshape");
    for (int i = 0; i < step->before.rank; i++) printf(" [%s]", text_of(f, step->before.dims[i]));
    printf(" ->");
    for (int i = 0; i < step->after.rank; i++) printf(" [%s]", text_of(f, step->after.dims[i]));
    printf("\n");
}

static Fixture setup_chain(void) {
    Fixture f = setup();
    named(f, "N", 1, 512);
    named(f, "M", 1, 64);
    named(f, "Z", 0, 64);
    return f;
}

// Walking a chain of movement ops back and forth again must give the loop variables themselves.
static void test_chains(void) {
    int rounds = test_long() ? 20000 : 600, faults = 0;
    for (int round = 0; round < rounds && faults < 5; round++) {
        Fixture f = setup_chain();
        Step steps[6];
        int count = (int)random_int(1, 6);
        Shape shape = random_shape(f);
        for (int i = 0; i < count; i++) {
            steps[i] = random_step(f, i ? &steps[i - 1].after : &shape);
        }
        const Shape *last = &steps[count - 1].after;
        Index start = loops(f, last), index = start;
        for (int i = count; i-- > 0;) index = step_back(f, &steps[i], &index);
        for (int i = 0; i < count; i++) index = step_forth(f, &steps[i], &index);
        bool good = same_index(f, last, &index, &start);
        for (int i = 0; i < count && !good; i++) print_step(f, &steps[i]);
        faults += !good;
        teardown(f);
    }
}

// A reshape to another factorisation and back: every index is found again.
static void test_reshapes(void) {
    Fixture f = setup_chain();
    static const char *const pairs[][2] = {
        {"8 12", "4 24"}, {"6 10", "4 15"},  {"2 3 4 5", "8 15"},  {"N 4", "2*N 2"},
        {"N M", "M N"},   {"N 12", "4 N 3"}, {"N 6 M", "2*N 3*M"}, {"7 11 13", "13 77"},
        {"Z 8", "4 2*Z"}, {"16 N", "4 N 4"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        Shape shapes[2] = {{0}};
        for (int side = 0; side < 2; side++) {
            char text[32], *rest = text;
            snprintf(text, sizeof text, "%s", pairs[i][side]);
            for (char *word; (word = strtok_r(rest, " ", &rest));) {
                shapes[side].dims[shapes[side].rank++] = read_dim(f, word);
            }
        }
        Index start = loops(f, &shapes[0]);
        Index middle = delinearise(f, &shapes[1], linearise(f, &shapes[0], &start));
        Index end = delinearise(f, &shapes[0], linearise(f, &shapes[1], &middle));
        if (!same_index(f, &shapes[0], &end, &start)) printf("    pair %zu\n", i);
    }
    teardown(f);
}

int main(void) {
    RUN(test_text);
    RUN(test_identities);
    RUN(test_proofs);
    RUN(test_overflow);
    RUN(test_one_symbol);
    RUN(test_zero_divisors);
    RUN(test_random);
    RUN(test_chains);
    RUN(test_reshapes);
    return test_done();
}
