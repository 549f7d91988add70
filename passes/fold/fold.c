/* fold: simplifies by the rules of rules.def. Nodes are simplified as they are added, operands
 * first, so that one walk does nearly all; walks are repeated until one changes nothing. */
#include "passes/fold/fold.h"

#include "ir/build.h"
#include "passes/compare.h"

static const FoldRow rows[] = {
#define RULE(name, op, algebra) {#name, op, CLASS_LEAF, false, fold_##name, algebra},
#define CLASS_RULE(name, class, algebra) {#name, OP_none, class, false, fold_##name, algebra},
#define ANY_RULE(name, algebra) {#name, OP_none, CLASS_LEAF, false, fold_##name, algebra},
#define SUM_RULE(name, op, algebra) {#name, op, CLASS_LEAF, true, fold_##name, algebra},
#include "passes/fold/rules.def"
};

enum { ROW_COUNT = sizeof rows / sizeof *rows, MAX_STEPS = 64, MAX_WALKS = 8 };

const FoldRow *fold_row(uint32_t index) { return index < ROW_COUNT ? &rows[index] : NULL; }

static bool applies(const Fold *f, const FoldRow *row, Op op) {
    OpClass class = op_info(op)->class;
    if (row->sum_class && f->ctx->options.strict_sums) return false;
    if (row->op) return row->op == op;
    return row->class == CLASS_LEAF ? class != CLASS_LEAF : class == row->class;
}

/* One step: the first rule that answers. */
static NodeId step(Fold *f, NodeId id) {
    Op op = fold_node(f, id)->op;
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        if (!applies(f, &rows[i], op)) continue;
        f->ctx->work.rules++;
        NodeId result = rows[i].rule(f, id);
        if (result == NODE_none || result == id || !pass_allows(f->ctx, rows[i].name, f->g, id))
            continue;
        pass_became(f->ctx, f->g, result);
        return result;
    }
    return id;
}

/* A rule may give a value whose dims only the model's checks make equal to those it had: of a + b
 * and b + a the first has a's. */
NodeId fold_simplify(Fold *f, NodeId id) {
    const Type *type = fold_node(f, id)->type;
    for (uint32_t i = 0; i < MAX_STEPS; i++) {
        NodeId next = step(f, id);
        if (next == id) break;
        id = next;
    }
    return build_as(f->g, id, type);
}

NodeId fold_unary(Fold *f, Op op, NodeId x) { return fold_simplify(f, build_unary(f->g, op, x)); }

NodeId fold_binary(Fold *f, Op op, NodeId x, NodeId y) {
    return fold_simplify(f, build_binary(f->g, op, x, y));
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* A node that stands for several old ones, or for one that is used several times, is shared. */
static void note_uses(Fold *f, NodeId id, uint32_t uses) {
    while (f->shared.count < f->g->nodes.count) vec_push(f->ctx->scratch, &f->shared, 2);
    bool seen = f->shared.data[id] != 2;
    f->shared.data[id] = seen || uses != 1;
}

typedef struct FoldPass {
    const Graph *model;
} FoldPass;

static NodeId fold_rule(Rewrite *r, NodeId id) {
    const FoldPass *pass = r->user;
    if (!r->state) {
        Fold *fresh = NEW(r->ctx->scratch, Fold);
        *fresh = (Fold){.ctx = r->ctx, .g = r->to, .top = r->from == pass->model};
        r->state = fresh;
    }
    Fold *f = r->state;
    NodeId result = fold_simplify(f, rewrite_copy(r, id));
    note_uses(f, result, r->uses[id]);
    return result;
}

Graph *pass_fold(PassContext *ctx, Arena *arena, const Graph *graph) {
    const Graph *current = graph;
    for (int i = 0; i < MAX_WALKS; i++) {
        FoldPass pass = {.model = current};
        const Graph *next = rewrite_graph(ctx, ctx->scratch, current, fold_rule, &pass);
        bool same = graph_equal(current, next);
        current = next;
        if (same || diags_error_count(ctx->diags)) break;
    }
    return graph_copy_live(arena, current);
}
