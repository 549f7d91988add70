/* The pattern behind a stable softmax and its kin: m = max x, d = x - m, s = sum of exp d.
 *
 * d is at most 0. If some x of a row is NaN, then so are its d, exp d and s, whatever m is; so
 * where every output is computed from s by ops that hand NaN on, m need not be NaN too. */
#include "codegen/skeleton/facts.h"

/* Whether `id` gives each element what a row has one of: its operand is `reduction`, or of that
 * type, and the axes that it adds are those which were reduced. */
static bool repeats(const Graph *g, NodeId id, NodeId reduction) {
    const Node *wide = graph_node(g, id), *node = graph_node(g, reduction);
    if (wide->op != OP_broadcast || graph_type(g, wide->args[0]) != node->type) return false;
    const IntList *kept = node_attr(wide, "axes").ints, *reduced = node_attr(node, "axes").ints;
    uint32_t k = 0, r = 0, rank = graph_type(g, node->args[0])->rank;
    for (uint32_t axis = 0; axis < rank; axis++) {
        if (r < reduced->count && reduced->items[r] == axis)
            r++;
        else if (k < kept->count && kept->items[k] == axis)
            k++;
        else
            return false;
    }
    return rank == wide->type->rank;
}

static bool repeats_maximum(const Graph *g, NodeId id, NodeId maximum) {
    return repeats(g, id, maximum) && graph_node(g, id)->args[0] == maximum;
}

/* The maximum m of x - m; NODE_none when `id` is no such difference. */
static NodeId subtracted_maximum(const Graph *g, NodeId id) {
    const Node *node = graph_node(g, id);
    if (node->op != OP_sub || !dtype_is_float(node->type->dtype)) return NODE_none;
    const Node *wide = graph_node(g, node->args[1]);
    if (wide->op != OP_broadcast) return NODE_none;
    const Node *maximum = graph_node(g, wide->args[0]);
    if (maximum->op != OP_reduce_max || maximum->args[0] != node->args[0]) return NODE_none;
    return repeats(g, node->args[1], wide->args[0]) ? wide->args[0] : NODE_none;
}

bool facts_nonpositive(const Graph *region, NodeId id) {
    return subtracted_maximum(region, id) != NODE_none;
}

/* ---- where a NaN goes ------------------------------------------------------------------------ */

typedef enum Poison {
    POISON_none,
    POISON_element, /* exp d: NaN at the NaN alone, if m is not */
    POISON_row,     /* the row's number is NaN */
    POISON_wide     /* all elements of the row are */
} Poison;

/* Elementwise ops whose result is NaN wherever an operand is. */
static bool hands_nan_on(const Node *node) {
    switch (node->op) {
    case OP_add:
    case OP_sub:
    case OP_mul:
    case OP_div:
    case OP_neg:
    case OP_sqrt:
    case OP_exp:
    case OP_log:
    case OP_cast: return dtype_is_float(node->type->dtype);
    default: return false;
    }
}

static bool same_axes(const Node *a, const Node *b) {
    const IntList *x = node_attr(a, "axes").ints, *y = node_attr(b, "axes").ints;
    bool same = x->count == y->count;
    for (uint32_t i = 0; same && i < x->count; i++) same = x->items[i] == y->items[i];
    return same;
}

static Poison poison_of(const Graph *g, NodeId id, NodeId maximum, const Poison *poison) {
    const Node *node = graph_node(g, id);
    if (node->op == OP_exp && subtracted_maximum(g, node->args[0]) == maximum)
        return POISON_element;
    if (node->arg_count == 0) return POISON_none;
    Poison first = poison[node->args[0]], most = POISON_none;
    if (node->op == OP_reduce_sum) {
        bool row = first == POISON_element && same_axes(node, graph_node(g, maximum));
        return row ? POISON_row : POISON_none;
    }
    if (node->op == OP_reshape) return first >= POISON_row ? first : POISON_none;
    if (node->op == OP_broadcast)
        return first == POISON_row && repeats(g, id, maximum) ? POISON_wide : POISON_none;
    for (uint32_t i = 0; hands_nan_on(node) && i < node->arg_count; i++)
        if (poison[node->args[i]] > most) most = poison[node->args[i]];
    return most >= POISON_row ? most : POISON_none;
}

/* Whether `user` may have `used`, which is m, m repeated or x - m, as an operand. */
static bool is_only_subtracted(const Graph *g, NodeId used, NodeId user, NodeId maximum) {
    if (used == maximum) return repeats_maximum(g, user, maximum);
    if (repeats_maximum(g, used, maximum)) return subtracted_maximum(g, user) == maximum;
    if (subtracted_maximum(g, used) == maximum) return graph_node(g, user)->op == OP_exp;
    return true;
}

static bool is_hidden(const Graph *g, NodeId id, NodeId maximum) {
    return id == maximum || repeats_maximum(g, id, maximum) || subtracted_maximum(g, id) == maximum;
}

bool facts_nan_returns(const Graph *region, NodeId maximum, Arena *arena) {
    const Graph *g = region;
    Poison *poison = NEW_ARRAY(arena, Poison, g->nodes.count);
    for (NodeId id = 0; id < g->nodes.count; id++) {
        const Node *node = graph_node(g, id);
        for (uint32_t i = 0; i < node->arg_count; i++)
            if (!is_only_subtracted(g, node->args[i], id, maximum)) return false;
        poison[id] = poison_of(g, id, maximum, poison);
    }
    for (size_t i = 0; i < g->outputs.count; i++) {
        NodeId id = g->outputs.data[i].node;
        if (is_hidden(g, id, maximum) || poison[id] < POISON_row) return false;
    }
    return true;
}
