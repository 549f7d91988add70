#include "tests/fuzz/shrink.h"

#include "tests/fuzz/edit.h"

#include <ctype.h>
#include <string.h>

typedef struct Shrinker {
    FuzzJudge *judge;
    Arena *arena;
    FuzzCase c;
    uint32_t way;
    const char *why;
} Shrinker;

// Whether two faults are of one kind: the same words, whatever the numbers and names in them.
static bool same_kind(const char *a, const char *b) {
    if (!b) return false;
    const char *last_a = strrchr(a, ':'), *last_b = strrchr(b, ':');
    if (strncmp(a, b, 7) != 0 && strstr(a, "wrong") == NULL) return false;
    if (strncmp(a, "refused", 7) != 0) return strncmp(b, "refused", 7) != 0;
    for (a = last_a ? last_a : a, b = last_b ? last_b : b; *a && *b; a++, b++) {
        while (*a && !isalpha((unsigned char)*a)) a++;
        while (*b && !isalpha((unsigned char)*b)) b++;
        if (*a != *b) return false;
    }
    return *a == *b;
}

static bool attempt(Shrinker *s, const Edit *edit) {
    FuzzCase smaller;
    if (!fuzz_edit(s->arena, &s->c, edit, &smaller)) return false;
    const char *why = fuzz_judge_apart(s->judge, s->arena, &smaller, s->way);
    if (!same_kind(s->why, why)) return false;
    s->c = smaller;
    return true;
}

static bool is_leaf(const Node *node) { return op_info(node->op)->class == CLASS_LEAF; }

// The first node that alone is wrong.
static bool find_root(Shrinker *s) {
    const Graph *g = s->c.graph;
    bool alone = g->outputs.count == 1;
    for (NodeId id = 0; id < g->nodes.count; id++) {
        if (graph_type(g, id)->is_tuple || is_leaf(graph_node(g, id))) continue;
        if (alone && id == g->outputs.data[0].node) continue;
        if (attempt(s, &(Edit){.kind = EDIT_root, .node = id})) return true;
    }
    return false;
}

// From the end on, so that as much as can be goes at once.
static bool drop_node(Shrinker *s) {
    const Graph *g = s->c.graph;
    for (NodeId id = (NodeId)g->nodes.count; id-- > 0;) {
        const Node *node = graph_node(g, id);
        bool fixed = g->outputs.count == 1 && id == g->outputs.data[0].node;
        if (node->type->is_tuple || node->op == OP_input) continue;
        if (!fixed && node->op != OP_dim && attempt(s, &(Edit){.kind = EDIT_cut, .node = id}))
            return true;
        for (uint32_t i = 0; i < node->arg_count; i++)
            if (graph_type(g, node->args[i]) == node->type &&
                attempt(s, &(Edit){.kind = EDIT_skip, .node = id, .operand = i}))
                return true;
    }
    return false;
}

static bool fix_dim(Shrinker *s) {
    const Graph *g = s->c.graph;
    for (size_t i = 0; i < g->inputs.count; i++) {
        const Type *type = graph_type(g, g->inputs.data[i]);
        for (uint32_t a = 0; a < type->rank; a++) {
            const DimSymbol *symbol = dim_as_symbol(type->dims[a]);
            if (symbol && attempt(s, &(Edit){.kind = EDIT_fix, .symbol = symbol})) return true;
        }
    }
    return false;
}

static bool resize(Shrinker *s) {
    const Graph *g = s->c.graph;
    for (size_t i = 0; i < g->inputs.count; i++) {
        const Type *type = graph_type(g, g->inputs.data[i]);
        for (uint32_t a = 0; a < type->rank; a++) {
            int64_t size;
            if (!dim_is_const(type->dims[a], &size) || size < 2) continue;
            int64_t smaller[] = {1, 2, size / 2, size - 1};
            for (int k = 0; k < 4; k++)
                if (smaller[k] < size &&
                    attempt(s, &(Edit){.kind = EDIT_resize, .from = size, .to = smaller[k]}))
                    return true;
        }
    }
    return false;
}

static bool is_all(const Tensor *t, int64_t value) {
    for (int64_t i = 0; i < tensor_elements(t); i++)
        if (tensor_get_int(t, i) != value || tensor_get(t, i) != (double)value) return false;
    return true;
}

static bool clear(Shrinker *s) {
    const Graph *g = s->c.graph;
    for (size_t i = 0; i < g->inputs.count; i++) {
        for (int64_t value = 0; value < 2 && !is_all(&s->c.inputs[i], 0); value++) {
            Edit edit = {.kind = EDIT_clear, .node = g->inputs.data[i], .to = value};
            if (!is_all(&s->c.inputs[i], value) && attempt(s, &edit)) return true;
        }
    }
    return false;
}

FuzzCase fuzz_shrink(FuzzJudge *judge, Arena *arena, const FuzzCase *c, uint32_t way,
                     const char *why) {
    Shrinker s = {.judge = judge, .arena = arena, .c = *c, .way = way, .why = why};
    bool smaller;
    find_root(&s);
    do {
        smaller = find_root(&s);
        while (drop_node(&s)) smaller = true;
        while (fix_dim(&s)) smaller = true;
        while (resize(&s)) smaller = true;
        while (clear(&s)) smaller = true;
    } while (smaller);
    return s.c;
}
