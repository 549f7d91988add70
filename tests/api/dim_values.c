// Expressions of dims as compiled code works them out: random ones, given as text, against their
// values worked out here. Floor division goes down for negative numbers too.
#include "tests/support/host.h"

enum { OUTPUTS = 40, MODELS = 10, DEPTH = 3, MOST_NODES = 16, LARGEST = 60, TEXT_SIZE = 1 << 15 };

typedef enum Kind {
    KIND_n,
    KIND_m,
    KIND_number,
    ADD,
    SUBTRACT,
    MIN,
    MAX,
    MULTIPLY,
    DIVIDE,
    REST
} Kind;

static const struct {
    const char *before, *between;
} words[] = {[ADD] = {"(", " + "},   [SUBTRACT] = {"(", " - "}, [MIN] = {"min(", ", "},
             [MAX] = {"max(", ", "}, [MULTIPLY] = {"(", " * "}, [DIVIDE] = {"(", " // "},
             [REST] = {"(", " % "}};

typedef struct Node {
    Kind kind;
    int64_t number;
    uint32_t a, b;
} Node;

typedef struct Expression {
    Node nodes[MOST_NODES];
    uint32_t count, root;
} Expression;

static uint32_t pick(uint64_t *state, uint32_t below) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % below;
}

// Factors and divisors are numbers.
static uint32_t make(Expression *e, uint64_t *state, int depth) {
    bool is_leaf = depth <= 0 || (depth < DEPTH && pick(state, 5) == 0);
    Node node = {.kind = (Kind)(is_leaf ? pick(state, ADD) : ADD + pick(state, REST + 1 - ADD))};
    node.number = 1 + pick(state, 9);
    if (node.kind >= ADD) {
        node.a = make(e, state, depth - 1);
        node.b = make(e, state, node.kind >= MULTIPLY ? -1 : depth - 1);
    } else if (depth < 0) {
        node.kind = KIND_number;
    }
    e->nodes[e->count] = node;
    return e->count++;
}

static int64_t divide_down(int64_t a, int64_t b) {
    int64_t quotient = a / b;
    while (quotient * b > a) quotient--;
    return quotient;
}

static int64_t value_of(const Expression *e, uint32_t at, int64_t n, int64_t m) {
    const Node *node = &e->nodes[at];
    if (node->kind == KIND_n) return n;
    if (node->kind == KIND_m) return m;
    if (node->kind == KIND_number) return node->number;
    int64_t a = value_of(e, node->a, n, m), b = value_of(e, node->b, n, m);
    switch (node->kind) {
    case ADD: return a + b;
    case SUBTRACT: return a - b;
    case MIN: return a < b ? a : b;
    case MAX: return a > b ? a : b;
    case MULTIPLY: return a * b;
    case DIVIDE: return divide_down(a, b);
    default: return a - b * divide_down(a, b);
    }
}

static char *put(char *text, const char *more) { return stpcpy(text, more); }

static char *put_expression(char *text, const Expression *e, uint32_t at) {
    const Node *node = &e->nodes[at];
    if (node->kind == KIND_n) return put(text, "N");
    if (node->kind == KIND_m) return put(text, "M");
    if (node->kind == KIND_number) return text + sprintf(text, "%d", (int)node->number);
    text = put_expression(put(text, words[node->kind].before), e, node->a);
    text = put_expression(put(text, words[node->kind].between), e, node->b);
    return put(text, ")");
}

// A model whose outputs are the expressions.
static void put_model(char *text, const Expression *e) {
    text = put(text, "tir 1\ndim N in 1..60 tune 7\ndim M in 1..60 tune 9\ngraph @dims {\n"
                     "  %0 = input index=0 name=\"x\" : f32[N]\n"
                     "  %1 = input index=1 name=\"z\" : f32[M]\n");
    for (int i = 0; i < OUTPUTS; i++) {
        text += sprintf(text, "  %%%d = dim value=(", i + 2);
        text = put(put_expression(text, &e[i], e[i].root), ") : i64[]\n");
    }
    text = put(text, "  return ");
    for (int i = 0; i < OUTPUTS; i++)
        text += sprintf(text, "%sy%d = %%%d", i ? ", " : "", i, i + 2);
    put(text, "\n}\n");
}

static void check_at(Host *h, const Expression *e, int64_t n, int64_t m) {
    static float numbers[LARGEST];
    int64_t got[OUTPUTS] = {0};
    tcc_tensor inputs[] = {host_vector(numbers, TCC_F32, n), host_vector(numbers, TCC_F32, m)};
    tcc_tensor outputs[OUTPUTS];
    for (int i = 0; i < OUTPUTS; i++) {
        outputs[i] = host_vector(&got[i], TCC_I64, 1);
        outputs[i].rank = 0;
    }
    if (!CHECK_INT(h->api->run(h->session, inputs, 2, outputs, OUTPUTS), TCC_OK)) return;
    for (int i = 0; i < OUTPUTS; i++) {
        char text[1024];
        if (CHECK_INT(got[i], value_of(&e[i], e[i].root, n, m))) continue;
        put_expression(text, &e[i], e[i].root);
        printf("    %s for N = %d, M = %d\n", text, (int)n, (int)m);
    }
}

static void check_model(uint64_t seed, const char *level) {
    static const int64_t sizes[][2] = {{1, 1}, {1, 60}, {60, 1}, {7, 9}, {9, 7}, {30, 31}, {59, 2}};
    static char text[TEXT_SIZE];
    Expression e[OUTPUTS];
    Host h = {.compiler = NULL};
    for (int i = 0; i < OUTPUTS; i++) {
        e[i].count = 0;
        e[i].root = make(&e[i], &seed, DEPTH);
    }
    put_model(text, e);
    bool good = CHECK_INT(tcc_compiler_new(&h.compiler), TCC_OK) &&
                CHECK_INT(tcc_set_option(h.compiler, "O", level), TCC_OK);
    good =
        good && tcc_compile_memory(h.compiler, "dims.tir", text, strlen(text), &h.unit) == TCC_OK;
    if (!CHECK(good)) printf("    %s\n%s", tcc_message(h.compiler), text);
    if (good && host_start(&h, NULL))
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            check_at(&h, e, sizes[i][0], sizes[i][1]);
    host_close(&h);
}

static void test_random_expressions(void) {
    for (uint64_t seed = 1; seed <= MODELS; seed++) {
        check_model(seed, "0");
        check_model(seed, "2");
    }
}

int main(void) {
    RUN(test_random_expressions);
    return test_done();
}
