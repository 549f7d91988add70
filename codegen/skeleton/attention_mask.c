/* Which keys a mask leaves: where the scores are chosen between themselves and -inf by comparing
 * numbers that follow from the index alone, the weight of all other keys is exp(-inf) = 0, so
 * blocks of them are left out. A causal mask gives an end, a sliding window a beginning as well. */
#include "codegen/skeleton/attention.h"
#include "codegen/skeleton/emit_internal.h"

#include "ir/tensor.h"

#include <math.h>

enum { MOST_STEPS = 64 };

typedef struct Masks {
    Attention *s;
    const DimSymbol *query, *key; /* stand for the two in index expressions */
    const Dim *first, *end;       /* the keys that are left so far, over the grid's variables */
    uint32_t steps;
} Masks;

/* ---- numbers that follow from the index ------------------------------------------------------ */

/* An index into operand 0 of a movement op; false where elements may come from elsewhere. */
static bool operand_index(Masks *m, const Node *node, const Dim *const *index,
                          const Dim **out_index) {
    bool moves = (op_info(node->op)->flags & FLAG_movement) != 0 && node->arg_count == 1;
    size_t mark = emit_guard_mark(&m->s->e);
    if (moves) emit_operand_index(&m->s->e, node, index, out_index);
    emit_pop_guards(&m->s->e, mark);
    return moves;
}

static bool constant_of(const Node *node, double *out_value) {
    int64_t count;
    if (node->op != OP_const || !type_is_static(node->type, &count) || count != 1) return false;
    Tensor t = {.dtype = node->type->dtype};
    t.data = (void *)(uintptr_t)node_attr(node, "value").blob->bytes;
    *out_value = tensor_get(&t, 0);
    return true;
}

/* The value of an integer node; NULL when it is not known. */
static const Dim *number_at(Masks *m, NodeId id, const Dim *const *index) {
    IrContext *ctx = m->s->e.ctx;
    const Node *node = graph_node(m->s->request->region, id);
    const Dim *inner[TYPE_MAX_RANK], *a, *b;
    double value;
    if (m->steps++ > MOST_STEPS || dtype_is_float(node->type->dtype)) return NULL;
    if (operand_index(m, node, index, inner)) return number_at(m, node->args[0], inner);
    switch (node->op) {
    case OP_iota: return index[node_attr(node, "axis").i];
    case OP_dim: return node_attr(node, "value").dim;
    case OP_const:
        if (!constant_of(node, &value) || fabs(value) > INT32_MAX / 2) return NULL;
        return dim_const(ctx, (int64_t)value);
    case OP_cast:
        return dtype_info(node->type->dtype)->bits >= 32 ? number_at(m, node->args[0], index)
                                                         : NULL;
    case OP_neg: a = number_at(m, node->args[0], index); return a ? dim_scale(ctx, a, -1) : NULL;
    case OP_add:
    case OP_sub:
        a = number_at(m, node->args[0], index);
        b = number_at(m, node->args[1], index);
        if (a == NULL || b == NULL) return NULL;
        return node->op == OP_add ? dim_add(ctx, a, b) : dim_sub(ctx, a, b);
    default: return NULL;
    }
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* The least or the greatest of a number over the queries of the block. */
static const Dim *extreme(Masks *m, const Dim *value, bool greatest) {
    IrContext *ctx = m->s->e.ctx;
    const Dim *coefficient, *rest;
    int64_t factor;
    if (!dim_split_affine(ctx, value, m->query, &coefficient, &rest) ||
        !dim_is_const(coefficient, &factor))
        return NULL;
    bool last = (factor > 0) == greatest;
    const Dim *query = dim_offset(ctx, m->s->first_query, last ? m->s->queries - 1 : 0);
    return dim_substitute(ctx, value, &m->query, &query, 1);
}

/* difference <= 0 holds for the keys that are left. */
static void require_at_most(Masks *m, const Dim *difference) {
    IrContext *ctx = m->s->e.ctx;
    const Dim *coefficient, *rest;
    if (!dim_split_affine(ctx, difference, m->key, &coefficient, &rest)) return;
    if (dim_equals_int(coefficient, 1)) { /* key <= -rest */
        const Dim *last = extreme(m, dim_scale(ctx, rest, -1), true);
        if (last) m->end = dim_min(ctx, m->end, dim_offset(ctx, last, 1));
    } else if (dim_equals_int(coefficient, -1)) { /* key >= rest */
        const Dim *first = extreme(m, rest, false);
        if (first) m->first = dim_max(ctx, m->first, first);
    }
}

/* a <= b, or with the absolute value of a number on the left, both ways. */
static void require_order(Masks *m, NodeId a, NodeId b, const Dim *const *index, int64_t apart) {
    IrContext *ctx = m->s->e.ctx;
    const Node *left = graph_node(m->s->request->region, a);
    bool absolute = left->op == OP_abs;
    const Dim *x = number_at(m, absolute ? left->args[0] : a, index), *y = number_at(m, b, index);
    if (x == NULL || y == NULL) return;
    require_at_most(m, dim_offset(ctx, dim_sub(ctx, x, y), apart));
    if (absolute)
        require_at_most(m, dim_offset(ctx, dim_sub(ctx, dim_scale(ctx, x, -1), y), apart));
}

/* Keys for which the condition does not hold (for `holds` false: does) are left out. */
static void require_condition(Masks *m, NodeId id, const Dim *const *index, bool holds) {
    const Node *node = graph_node(m->s->request->region, id);
    const Dim *inner[TYPE_MAX_RANK];
    if (m->steps++ > MOST_STEPS) return;
    if (operand_index(m, node, index, inner)) {
        require_condition(m, node->args[0], inner, holds);
        return;
    }
    NodeId a = node->arg_count > 0 ? node->args[0] : 0, b = node->arg_count > 1 ? node->args[1] : 0;
    switch (node->op) {
    case OP_not: require_condition(m, a, index, !holds); return;
    case OP_and:
    case OP_or:
        if ((node->op == OP_and) != holds) return;
        require_condition(m, a, index, holds);
        require_condition(m, b, index, holds);
        return;
    case OP_le:
    case OP_gt:
        if ((node->op == OP_le) == holds)
            require_order(m, a, b, index, 0);
        else
            require_order(m, b, a, index, 1);
        return;
    case OP_lt:
    case OP_ge:
        if ((node->op == OP_lt) == holds)
            require_order(m, a, b, index, 1);
        else
            require_order(m, b, a, index, 0);
        return;
    case OP_eq:
        if (!holds) return;
        require_order(m, a, b, index, 0);
        require_order(m, b, a, index, 0);
        return;
    default: return;
    }
}

/* ---- scores ---------------------------------------------------------------------------------- */

static bool is_minus_infinity(Masks *m, NodeId id) {
    const Node *node = graph_node(m->s->request->region, id);
    double value;
    while ((op_info(node->op)->flags & FLAG_movement) != 0 && node->arg_count == 1)
        node = graph_node(m->s->request->region, node->args[0]);
    return constant_of(node, &value) && value == -INFINITY;
}

/* Keys at which the value is -inf whatever the scores are, are left out. */
static void require_finite(Masks *m, NodeId id, const Dim *const *index) {
    const Node *node = graph_node(m->s->request->region, id);
    const Dim *inner[TYPE_MAX_RANK];
    if (m->steps++ > MOST_STEPS || !dtype_is_float(node->type->dtype)) return;
    if (operand_index(m, node, index, inner)) {
        require_finite(m, node->args[0], inner);
        return;
    }
    switch (node->op) {
    case OP_cast: require_finite(m, node->args[0], index); return;
    case OP_add:
        require_finite(m, node->args[0], index);
        require_finite(m, node->args[1], index);
        return;
    case OP_select:
        for (uint32_t i = 1; i < 3; i++) {
            if (!is_minus_infinity(m, node->args[i])) continue;
            require_condition(m, node->args[0], index, i == 2);
            require_finite(m, node->args[3 - i], index);
        }
        return;
    default: return;
    }
}

void attention_find_keys(Attention *s) {
    IrContext *ctx = s->e.ctx;
    const Dim *keys = s->domain.dims[s->key_axis], *queries = s->domain.dims[s->query_axis];
    Masks m = {.s = s, .first = dim_const(ctx, 0), .end = keys};
    const Dim *index[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < s->domain.rank; i++) index[i] = s->domain.index[i];
    m.query = dim_new_symbol(ctx, SYMBOL_index, STR("query"), 0, queries->hi, 0, NULL);
    m.key = dim_new_symbol(ctx, SYMBOL_index, STR("key"), 0, keys->hi, 0, NULL);
    index[s->query_axis] = dim_of_symbol(ctx, m.query);
    index[s->key_axis] = dim_of_symbol(ctx, m.key);
    if (s->maximum != NODE_none) require_finite(&m, s->kept, index);
    const Dim *block = dim_const(ctx, SUM_BLOCK);
    s->first_key = dim_scale(ctx, dim_floordiv(ctx, m.first, block), SUM_BLOCK);
    s->end_key = m.end;
}
