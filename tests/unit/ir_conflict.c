// Entry checks that contradict each other, against every assignment of small dims.
#include "tests/unit/test.h"

#include "ir/conflict.h"
#include "ir/context.h"

enum { DIMS = 3, GREATEST = 5, CHECKS = 4 };

typedef struct Fixture {
    Arena *arena;
    IrContext *ctx;
    Graph *graph;
    uint64_t state;
    const DimSymbol *symbols[DIMS];
} Fixture;

static Fixture setup(uint64_t seed) {
    static const char *const names[DIMS] = {"A", "B", "C"};
    Arena *arena = arena_new(NULL);
    Fixture f = {.arena = arena, .ctx = ir_context_new(arena), .state = seed};
    f.graph = graph_new(f.ctx, arena, STR("g"));
    for (int i = 0; i < DIMS; i++) {
        f.symbols[i] =
            dim_new_symbol(f.ctx, SYMBOL_named, str_from(names[i]), 0, GREATEST, 1, NULL);
    }
    return f;
}

static void teardown(Fixture f) {
    ir_context_free(f.ctx);
    arena_free(f.arena);
}

static const Dim *read_dim(Fixture *f, const char *text) {
    Str rest = str_from(text);
    const Dim *dim = dim_parse(f->ctx, &rest);
    CHECK(dim != NULL && rest.size == 0);
    return dim;
}

// "A == B + 1" or "A <= 3".
static void add_check(Fixture *f, const char *text) {
    char left[64];
    const char *at = strstr(text, "==");
    bool equal = at != NULL;
    if (!equal) at = strstr(text, "<=");
    snprintf(left, sizeof left, "%.*s", (int)(at - 1 - text), text);
    graph_add_check(f->graph, equal ? CHECK_equal : CHECK_at_most, read_dim(f, left),
                    read_dim(f, at + 3), NULL);
}

// Adds the checks, up to NULL; says which of them are named, as a set of bits.
static unsigned conflict_of(const char *const *checks) {
    Fixture f = setup(0);
    unsigned set = 0;
    uint32_t count;
    for (size_t i = 0; checks[i]; i++) add_check(&f, checks[i]);
    const EntryCheck *const *found = graph_find_conflict(f.graph, f.arena, &count);
    CHECK((found == NULL) == (count == 0));
    for (uint32_t i = 0; i < count; i++) set |= 1u << (found[i] - f.graph->checks.data);
    teardown(f);
    return set;
}

#define CONFLICT(...) conflict_of((const char *const[]){__VA_ARGS__, NULL})

static void test_named(void) {
    CHECK_INT(CONFLICT("A == 4", "A == 2"), 3);
    CHECK_INT(CONFLICT("B == 1", "A == 4", "B <= 3", "A == 2", "C == 0"), 10);
    CHECK_INT(CONFLICT("A == 4", "B == 2", "A == B"), 7);
    CHECK_INT(CONFLICT("A == 7"), 1); // beyond its range
    CHECK_INT(CONFLICT("6 <= A"), 1);
    CHECK_INT(CONFLICT("2*A == 2*B + 1"), 1);
    CHECK_INT(CONFLICT("A + B == 7", "A + B == 2"), 3);
    CHECK_INT(CONFLICT("A * B == 5", "A == 2"), 3);
    CHECK_INT(CONFLICT("A // 2 == 1", "A == 4"), 3);
    CHECK_INT(CONFLICT("A == B", "B + 1 <= A"), 3);
    CHECK_INT(CONFLICT("A == B", "A // 2 == 1", "B // 2 == 0"), 7);
    CHECK_INT(CONFLICT("min(A, B) == 3", "A == 2"), 3);
    CHECK_INT(CONFLICT("A == B + 2", "B == C + 2", "2 <= C"), 7);
}

static void test_consistent(void) {
    CHECK_INT(CONFLICT("A == 4", "B == 2", "A == 2*B"), 0);
    CHECK_INT(CONFLICT("A + B == 7", "A <= B"), 0);
    CHECK_INT(CONFLICT("A * B == 4", "A == B"), 0);
    CHECK_INT(CONFLICT("A == 0", "A * B == 0", "B == 5"), 0);
    CHECK_INT(CONFLICT("max(A, B) == 3", "A <= 2"), 0);
}

// ---- random checks ------------------------------------------------------------------------------

static int pick(Fixture *f, int below) {
    f->state = f->state * 6364136223846793005u + 1442695040888963407u;
    return (int)((f->state >> 33) % (uint64_t)below);
}

static const Dim *random_dim(Fixture *f, int depth) {
    if (depth == 0 || pick(f, 4) == 0) {
        if (pick(f, 3) == 0) return dim_const(f->ctx, pick(f, GREATEST + 3));
        return dim_of_symbol(f->ctx, f->symbols[pick(f, DIMS)]);
    }
    const Dim *a = random_dim(f, depth - 1), *b = random_dim(f, depth - 1);
    switch (pick(f, 8)) {
    case 0: return dim_sub(f->ctx, a, b);
    case 1: return dim_mul(f->ctx, a, b);
    case 2: return dim_floordiv(f->ctx, a, dim_const(f->ctx, 1 + pick(f, 3)));
    case 3: return dim_mod(f->ctx, a, dim_const(f->ctx, 1 + pick(f, 3)));
    case 4: return dim_min(f->ctx, a, b);
    case 5: return dim_max(f->ctx, a, b);
    default: return dim_add(f->ctx, a, b);
    }
}

static bool holds(const EntryCheck *check, const int64_t *values) {
    int64_t a, b;
    if (!dim_evaluate(check->a, values, &a) || !dim_evaluate(check->b, values, &b)) return false;
    return check->kind == CHECK_equal ? a == b : a <= b;
}

static bool all_hold(const EntryCheck *const *checks, size_t count, const int64_t *values) {
    for (size_t i = 0; i < count; i++) {
        if (!holds(checks[i], values)) return false;
    }
    return true;
}

static bool has_solution(const EntryCheck *const *checks, size_t count) {
    const int side = GREATEST + 1;
    for (int k = 0; k < side * side * side; k++) {
        int64_t values[DIMS] = {k % side, k / side % side, k / side / side};
        if (all_hold(checks, count, values)) return true;
    }
    return false;
}

// What is called a contradiction is one; most contradictions are seen.
static void test_random(void) {
    int contradictions = 0, seen = 0;
    for (uint64_t seed = 1; seed <= (test_long() ? 200000u : 4000u); seed++) {
        Fixture f = setup(seed);
        uint32_t count;
        for (int i = 1 + pick(&f, CHECKS); i > 0; i--) {
            const Dim *a = random_dim(&f, 2), *b = random_dim(&f, 1);
            graph_add_check(f.graph, pick(&f, 3) ? CHECK_equal : CHECK_at_most, a, b, NULL);
        }
        const EntryCheck *all[CHECKS];
        for (size_t i = 0; i < f.graph->checks.count; i++) all[i] = &f.graph->checks.data[i];
        bool solved = has_solution(all, f.graph->checks.count);
        const EntryCheck *const *found = graph_find_conflict(f.graph, f.arena, &count);
        contradictions += !solved;
        seen += found != NULL;
        if (found && !CHECK(!has_solution(found, count))) printf("    seed %d\n", (int)seed);
        teardown(f);
    }
    printf("%d of %d contradictions seen\n", seen, contradictions);
    CHECK(seen * 10 >= contradictions * 9);
}

int main(void) {
    RUN(test_named);
    RUN(test_consistent);
    RUN(test_random);
    return test_done();
}
