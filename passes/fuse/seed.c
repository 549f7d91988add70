/* Seeds: the macro moves that come before all others.
 *
 * Each op that accumulates decides how its kernel walks, so a group is grown around it, forward:
 * in topological order a node joins when it needs something of the group, fits the walk, and needs
 * nothing that depends on the group through nodes outside (the marks `tainted`); so the group stays
 * convex. A contraction takes its epilogue so; a reduction takes the maps after it and the other
 * reductions of its class, even one that only meets it later (the mean of squares beside the mean),
 * which is then a further root and the growth begins again.
 *
 * The group is then cut back to its longest beginning that leaves few results: a contraction's
 * epilogue ends at one tensor, a row at a few. */
#include "passes/fuse/axes.h"
#include "passes/fuse/chain.h"
#include "passes/fuse/cost.h"
#include "passes/fuse/reduction.h"

#include <stdlib.h>

enum { MAX_ROOTS = 16, MAX_LOOK_BACK = 64, MAX_SIBLINGS = 16, SIBLING_DEPTH = 2 };

typedef enum Mark { MARK_none, MARK_in, MARK_tainted } Mark;

typedef struct Growth {
    Fuser *f;
    NodeId roots[MAX_ROOTS]; /* the first one gave the occasion */
    uint32_t root_count, most_roots;
    bool rows;
    ReduceClass class;
    const Dim *domain, *outer; /* elements of the walk, and of what is left of it by reductions */
    uint32_t *stamps;          /* by node: epoch · 4 + mark */
    uint32_t epoch;
    VEC(NodeId) nodes;
    uint32_t code;   /* of `nodes` */
    NodeId frontier; /* no node after it uses the group */
} Growth;

static Mark mark_of(const Growth *g, NodeId id) {
    return g->stamps[id] / 4 == g->epoch ? (Mark)(g->stamps[id] % 4) : MARK_none;
}

static void set_mark(Growth *g, NodeId id, Mark mark) {
    g->stamps[id] = g->epoch * 4 + (uint32_t)mark;
}

static bool is_free(const Growth *g, NodeId id) {
    return fuser_is_op(g->f, id) && g->f->in[id].count == 0;
}

static bool is_root(const Growth *g, NodeId id) {
    for (uint32_t i = 0; i < g->root_count; i++)
        if (g->roots[i] == id) return true;
    return false;
}

/* ---- what may join --------------------------------------------------------------------------- */

static bool is_same_reduction(const Growth *g, NodeId id) {
    if (!g->rows || !reduction_is(g->f, id)) return false;
    ReduceClass class = reduction_class(g->f, id);
    return reduction_same_class(&class, &g->class);
}

/* An epilogue keeps the elements; movement that repeats or picks some does not. */
static bool fits(const Growth *g, NodeId id) {
    IrContext *ir = g->f->ctx->ir;
    const Type *type = graph_type(g->f->graph, id);
    if (type->is_tuple) return false;
    const Dim *count = type_elements(ir, type);
    if (fuser_class(g->f, id) == CLASS_ITEM) return true;
    switch (fuser_class(g->f, id)) {
    case CLASS_SLICE:
    case CLASS_PAD:
    case CLASS_REVERSE:
    case CLASS_CONCAT: return false;
    case CLASS_GATHER:
        if (!g->rows || mark_of(g, graph_node(g->f->graph, id)->args[0]) != MARK_in) return false;
        break;
    default: break;
    }
    return fuser_is_pointwise(g->f, id) && (count == g->domain || count == g->outer);
}

/* A free reduction of the class behind `id` that does not depend on the group: it meets the group
 * here. */
static NodeId find_meeting(const Growth *g, NodeId id) {
    NodeId pending[MAX_LOOK_BACK];
    uint32_t count = 1, done = 0;
    pending[0] = id;
    while (done < count) {
        NodeId at = pending[done++];
        if (!is_free(g, at) || mark_of(g, at) != MARK_none) continue;
        if (is_same_reduction(g, at)) return at;
        if (!fuser_is_pointwise(g->f, at)) continue;
        const Node *node = graph_node(g->f->graph, at);
        for (uint32_t i = 0; i < node->arg_count && count < MAX_LOOK_BACK; i++)
            pending[count++] = node->args[i];
    }
    return NODE_none;
}

/* A free reduction of the class that reads, through maps, what node `id` reads. */
static NodeId find_beyond(const Growth *g, NodeId from, uint32_t depth) {
    const Fuser *f = g->f;
    uint32_t end = f->user_start[from + 1];
    if (end - f->user_start[from] > MAX_SIBLINGS) return NODE_none;
    for (uint32_t u = f->user_start[from]; u < end; u++) {
        NodeId user = f->users[u];
        if (!is_free(g, user) || mark_of(g, user) != MARK_none) continue;
        if (is_same_reduction(g, user)) return user;
        if (depth == 0 || !op_is_elementwise(graph_node(f->graph, user)->op)) continue;
        NodeId found = find_beyond(g, user, depth - 1);
        if (found != NODE_none) return found;
    }
    return NODE_none;
}

static NodeId find_sibling_of(const Growth *g, NodeId id, uint32_t depth) {
    const Node *node = graph_node(g->f->graph, id);
    for (uint32_t i = 0; i < node->arg_count; i++) {
        NodeId arg = node->args[i], found = find_beyond(g, arg, SIBLING_DEPTH);
        if (found != NODE_none) return found;
        bool through = depth > 0 && fuser_is_op(g->f, arg) &&
                       op_is_elementwise(graph_node(g->f->graph, arg)->op);
        if (through) found = find_sibling_of(g, arg, depth - 1);
        if (found != NODE_none) return found;
    }
    return NODE_none;
}

/* A reduction of the class that reads the same data as those of the group but never meets them. */
static NodeId find_sibling(const Growth *g) {
    for (size_t i = 0; g->rows && i < g->nodes.count; i++) {
        if (!reduction_is(g->f, g->nodes.data[i])) continue;
        NodeId found = find_sibling_of(g, g->nodes.data[i], SIBLING_DEPTH);
        if (found != NODE_none) return found;
    }
    return NODE_none;
}

/* ---- growing --------------------------------------------------------------------------------- */

static void take(Growth *g, NodeId id) {
    const Fuser *f = g->f;
    set_mark(g, id, MARK_in);
    vec_push(f->arena, &g->nodes, id);
    g->code += cost_code(f, id);
    uint32_t end = f->user_start[id + 1];
    if (end > f->user_start[id] && f->users[end - 1] > g->frontier) g->frontier = f->users[end - 1];
}

/* Takes or taints one node; a root that is found on the way is returned. */
static NodeId visit(Growth *g, NodeId id) {
    const Node *node = graph_node(g->f->graph, id);
    bool uses = is_root(g, id), tainted = false;
    for (uint32_t i = 0; i < node->arg_count; i++) {
        uses |= mark_of(g, node->args[i]) == MARK_in;
        tainted |= mark_of(g, node->args[i]) == MARK_tainted;
    }
    if (!uses && !tainted) return NODE_none;
    bool joins = !tainted && is_free(g, id) && g->nodes.count < FUSE_MAX_NODES / 2 &&
                 g->code < FUSE_MAX_CODE / 2 &&
                 (is_root(g, id) || is_same_reduction(g, id) || fits(g, id));
    if (!joins) {
        set_mark(g, id, MARK_tainted);
        return NODE_none;
    }
    for (uint32_t i = 0; g->rows && i < node->arg_count; i++) {
        NodeId meeting = find_meeting(g, node->args[i]);
        if (meeting != NODE_none) return meeting;
    }
    take(g, id);
    return NODE_none;
}

static NodeId least_root(const Growth *g) {
    NodeId least = g->roots[0];
    for (uint32_t i = 1; i < g->root_count; i++)
        if (g->roots[i] < least) least = g->roots[i];
    return least;
}

/* One growth from the roots so far; another root when one was found. */
static NodeId grow_once(Growth *g) {
    g->epoch++;
    g->nodes.count = 0;
    g->code = 0;
    g->frontier = 0;
    for (uint32_t i = 0; i < g->root_count; i++)
        if (g->roots[i] > g->frontier) g->frontier = g->roots[i];
    for (NodeId id = least_root(g); id <= g->frontier; id++) {
        if (!g->f->live[id]) continue;
        NodeId found = visit(g, id);
        if (found != NODE_none && g->root_count < g->most_roots && !is_root(g, found)) return found;
        if (found != NODE_none) take(g, id);
    }
    NodeId sibling = g->root_count < g->most_roots ? find_sibling(g) : NODE_none;
    return sibling == NODE_none || is_root(g, sibling) ? NODE_none : sibling;
}

/* A further root that the seed depends on by way of nodes outside cannot be one. */
static void grow(Growth *g, NodeId seed) {
    g->roots[0] = seed;
    g->root_count = 1;
    g->most_roots = MAX_ROOTS;
    for (;;) {
        NodeId found = grow_once(g);
        if (found == NODE_none && mark_of(g, seed) == MARK_in) return;
        if (found != NODE_none)
            g->roots[g->root_count++] = found;
        else
            g->root_count = g->most_roots = 1;
    }
}

/* ---- cutting back ---------------------------------------------------------------------------- */

/* How many of the first `count` nodes are needed outside of them. */
static uint32_t count_results(const Growth *g, size_t count) {
    const Fuser *f = g->f;
    uint32_t results = 0;
    for (size_t i = 0; i < count; i++) {
        NodeId id = g->nodes.data[i], last = g->nodes.data[count - 1];
        if (graph_type(f->graph, id)->is_tuple) continue;
        bool needed = f->is_output[id];
        for (uint32_t u = f->user_start[id]; !needed && u < f->user_start[id + 1]; u++)
            needed = mark_of(g, f->users[u]) != MARK_in || f->users[u] > last;
        results += needed;
    }
    return results;
}

/* A map at the end that only adds a result beside those that are stored anyway is left to its
 * readers; if none takes it, merging brings it back. */
static size_t without_extras(const Growth *g, size_t count) {
    while (count > 1 && op_is_elementwise(graph_node(g->f->graph, g->nodes.data[count - 1])->op) &&
           count_results(g, count - 1) < count_results(g, count))
        count--;
    return count;
}

/* Room for results: one tensor after a contraction and its like, a few after rows, the items of a
 * sort. */
static size_t longest_beginning(const Growth *g) {
    OpClass class = fuser_class(g->f, g->roots[0]);
    uint32_t room = g->rows ? FUSE_MAX_OUTPUTS : class == CLASS_SORT ? 2 : 1;
    size_t best = 1;
    for (size_t count = 1; count <= g->nodes.count; count++) {
        NodeId last = g->nodes.data[count - 1];
        if (last != g->roots[0] && fuser_find_ban(g->f, g->roots[0], last)) break;
        if (count_results(g, count) <= room) best = count;
    }
    return without_extras(g, best);
}

static bool is_rearranged(const Growth *g, NodeId id) {
    OpClass class = fuser_class(g->f, id);
    return class == CLASS_PERMUTE || class == CLASS_RESHAPE;
}

/* Permutes and reshapes at the end are left to the readers, whose index maps they become, unless a
 * reader would have to divide where this writer need not. So the layout that `plan` chose for what
 * is stored stays as it is. */
static size_t without_movement(const Growth *g, size_t count) {
    NodeId last = g->nodes.data[count - 1], base = last;
    if (g->f->is_output[last]) return count;
    while (is_rearranged(g, base) && mark_of(g, graph_node(g->f->graph, base)->args[0]) == MARK_in)
        base = graph_node(g->f->graph, base)->args[0];
    if (base == last || axes_prefer_moved(&g->f->axes, g->f->graph, base, last)) return count;
    while (count > 1 && g->nodes.data[count - 1] > base &&
           is_rearranged(g, g->nodes.data[count - 1]) && !g->f->is_output[g->nodes.data[count - 1]])
        count--;
    return count;
}

/* The items of a sort are computed with it. */
static size_t with_items(const Growth *g, size_t count) {
    while (count < g->nodes.count && fuser_class(g->f, g->nodes.data[count]) == CLASS_ITEM) count++;
    return count;
}

/* ---- the seeds ------------------------------------------------------------------------------- */

static void describe(Growth *g, NodeId seed) {
    IrContext *ir = g->f->ctx->ir;
    const Node *node = graph_node(g->f->graph, seed);
    g->rows = reduction_is(g->f, seed);
    const Type *type = node->type->is_tuple ? node->type->items[0] : node->type;
    g->domain = g->outer = type_elements(ir, type);
    if (!g->rows) return;
    g->class = reduction_class(g->f, seed);
    g->domain = type_elements(ir, g->class.type);
}

static void add_seed(Growth *g, NodeId seed) {
    Fuser *f = g->f;
    describe(g, seed);
    grow(g, seed);
    size_t count = with_items(g, without_movement(g, longest_beginning(g)));
    Group *group = group_add(f, g->nodes.data[0]);
    for (size_t i = 1; i < count; i++) group_join(f, group, g->nodes.data[i]);
    group->seeded = true;
    group->root = seed;
    while (group->nodes.count > 1 && group_has_cycle(f, group)) group_drop_last(f, group);
    group->seed_count = (uint32_t)group->nodes.count;
}

/* Chains first, for no pair of their parts is worth as much; then contractions and their like, for
 * an epilogue costs nothing; then rows. */
void fuse_seed(Fuser *f) {
    fuse_seed_chains(f);
    Growth g = {.f = f, .stamps = NEW_ARRAY(f->arena, uint32_t, f->graph->nodes.count)};
    for (int rows = 0; rows < 2; rows++) {
        for (NodeId id = 0; id < f->graph->nodes.count; id++) {
            bool is_seed = fuser_is_heavy(f, id) && reduction_is(f, id) == (rows == 1);
            if (is_seed && f->in[id].count == 0) add_seed(&g, id);
        }
    }
}
