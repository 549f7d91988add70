#include "passes/reduce/reduce.h"

#include "base/guard.h"
#include "passes/reduce/edit.h"

#include <time.h>

/* Graphs of more nodes are not looked through for the first that alone shows it. */
enum { FEW_NODES = 64 };

typedef struct Reducer {
    const ReduceRequest *request;
    GraphCase c;
    Arena *home; /* of `c`, once it is another than the given one */
    Arena *next; /* of the one that is tried */
    double end;
} Reducer;

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void release(void *object) {
    Reducer *r = object;
    arena_free(r->home);
    arena_free(r->next);
}

/* Takes the change if it still holds then. */
static bool attempt(Reducer *r, const Edit *edit) {
    GraphCase smaller;
    if (r->request->seconds > 0 && seconds_now() > r->end) return false;
    r->next = arena_new(NULL);
    bool good =
        edit_case(r->next, &r->c, edit, &smaller) && r->request->holds(r->request->user, &smaller);
    arena_free(good ? r->home : r->next);
    if (good) {
        r->home = r->next;
        r->c = smaller;
    }
    r->next = NULL;
    return good;
}

/* ---- outputs --------------------------------------------------------------------------------- */

static bool can_be_root(const Graph *g, NodeId id) {
    const Node *node = graph_node(g, id);
    bool alone = g->outputs.count == 1 && id == g->outputs.data[0].node;
    return !alone && !node->type->is_tuple && op_info(node->op)->class != CLASS_LEAF;
}

/* By halves to an early node that alone shows it; which, where several do, does not matter. */
static bool halve_root(Reducer *r) {
    const Graph *g = r->c.graph;
    NodeId from = 0, to = (NodeId)g->nodes.count;
    while (from < to) {
        NodeId id = from + (to - from) / 2;
        while (id < to && !can_be_root(g, id)) id++;
        if (id < to && attempt(r, &(Edit){.kind = EDIT_root, .node = id})) return true;
        from += (to - from) / 2 + 1;
    }
    return false;
}

/* The first node that alone shows it. */
static bool find_root(Reducer *r) {
    const Graph *g = r->c.graph;
    for (NodeId id = 0; g->nodes.count <= FEW_NODES && id < g->nodes.count; id++)
        if (can_be_root(g, id) && attempt(r, &(Edit){.kind = EDIT_root, .node = id})) return true;
    return false;
}

static bool drop_output(Reducer *r) {
    uint32_t count = (uint32_t)r->c.graph->outputs.count;
    for (uint32_t i = count; count > 1 && i-- > 0;)
        if (attempt(r, &(Edit){.kind = EDIT_drop, .output = i})) return true;
    return false;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* From the end on, so that as much as can be goes at once. */
static bool drop_node(Reducer *r) {
    const Graph *g = r->c.graph;
    for (NodeId id = (NodeId)g->nodes.count; id-- > 0;) {
        const Node *node = graph_node(g, id);
        bool fixed = g->outputs.count == 1 && id == g->outputs.data[0].node;
        if (node->type->is_tuple || node->op == OP_input) continue;
        if (!fixed && node->op != OP_dim && attempt(r, &(Edit){.kind = EDIT_cut, .node = id}))
            return true;
        for (uint32_t i = 0; i < node->arg_count; i++)
            if (graph_type(g, node->args[i]) == node->type &&
                attempt(r, &(Edit){.kind = EDIT_skip, .node = id, .operand = i}))
                return true;
    }
    return false;
}

/* ---- dims ------------------------------------------------------------------------------------ */

static bool fix_dim(Reducer *r) {
    const Graph *g = r->c.graph;
    for (size_t i = 0; i < g->inputs.count; i++) {
        const Type *type = graph_type(g, g->inputs.data[i]);
        for (uint32_t a = 0; a < type->rank; a++) {
            const DimSymbol *symbol = dim_as_symbol(type->dims[a]);
            if (symbol && attempt(r, &(Edit){.kind = EDIT_fix, .symbol = symbol})) return true;
        }
    }
    return false;
}

static bool resize_dim(Reducer *r, const Dim *dim) {
    int64_t size;
    if (!dim_is_const(dim, &size) || size < 2) return false;
    int64_t smaller[] = {1, 2, size / 2, size - 1};
    for (int k = 0; k < 4; k++)
        if (smaller[k] < size &&
            attempt(r, &(Edit){.kind = EDIT_resize, .from = size, .to = smaller[k]}))
            return true;
    return false;
}

/* Sizes of what the graph is given. */
static bool resize(Reducer *r) {
    const Graph *g = r->c.graph;
    for (NodeId id = 0; id < g->nodes.count; id++) {
        const Node *node = graph_node(g, id);
        bool given = node->op == OP_input || node->op == OP_param || node->op == OP_const;
        for (uint32_t a = 0; given && a < node->type->rank; a++)
            if (resize_dim(r, node->type->dims[a])) return true;
    }
    return false;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static bool is_all(const Tensor *t, int64_t begin, int64_t count, int64_t value) {
    for (int64_t i = begin; i < begin + count; i++)
        if (tensor_get_int(t, i) != value || tensor_get(t, i) != (double)value) return false;
    return true;
}

/* All elements from `begin` on, else each half of them by itself, while there are enough to halve.
 */
static bool clear_part(Reducer *r, NodeId node, size_t input, int64_t begin, int64_t count) {
    enum { FEW = 4 };
    bool changed = false;
    for (int64_t value = 0; value < 2; value++) {
        const Tensor *t = &r->c.inputs[input];
        if (is_all(t, begin, count, 0) || is_all(t, begin, count, value)) return changed;
        Edit edit = {.kind = EDIT_clear, .node = node, .to = value, .begin = begin, .count = count};
        if (attempt(r, &edit)) return true;
    }
    if (count <= FEW) return false;
    changed |= clear_part(r, node, input, begin, count / 2);
    changed |= clear_part(r, node, input, begin + count / 2, count - count / 2);
    return changed;
}

/* Inputs keep their ids when only their numbers change. */
static bool clear(Reducer *r) {
    bool changed = false;
    for (size_t i = 0; i < r->c.graph->inputs.count; i++) {
        int64_t count = tensor_elements(&r->c.inputs[i]);
        if (count > 0) changed |= clear_part(r, r->c.graph->inputs.data[i], i, 0, count);
    }
    return changed;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static GraphCase copy_case(Arena *arena, const GraphCase *c) {
    Tensor *inputs = NEW_ARRAY(arena, Tensor, c->graph->inputs.count + 1);
    for (size_t i = 0; i < c->graph->inputs.count; i++) {
        inputs[i] = c->inputs[i];
        inputs[i].data = arena_copy(arena, inputs[i].data, tensor_bytes(&inputs[i]));
    }
    return (GraphCase){c->ctx, graph_copy(arena, c->graph), inputs, c->symbols};
}

static void reduce(Reducer *r) {
    bool smaller;
    do {
        smaller = false;
        while (halve_root(r)) smaller = true;
        while (find_root(r)) smaller = true;
        while (drop_output(r)) smaller = true;
        while (drop_node(r)) smaller = true;
        while (fix_dim(r)) smaller = true;
        while (resize(r)) smaller = true;
    } while (smaller || clear(r));
}

GraphCase reduce_case(Arena *arena, const GraphCase *c, const ReduceRequest *request) {
    Reducer r = {.request = request, .c = *c, .end = seconds_now() + request->seconds};
    GuardDefer defer;
    guard_defer(&defer, release, &r);
    reduce(&r);
    GraphCase result = r.home == NULL ? *c : copy_case(arena, &r.c);
    guard_undefer(&defer);
    release(&r);
    return result;
}
