/* The walk that most passes are: over the live nodes of a graph in order, each copied or replaced
 * by a rule, regions of control ops likewise. */
#ifndef TCC_PASSES_REWRITE_H
#define TCC_PASSES_REWRITE_H

#include "passes/pass.h"

typedef struct Rewrite Rewrite;

/* The node of r->to that takes the place of node `id` of r->from, whose operands have been
 * rewritten (rewrite_arg); NODE_none to copy it. New nodes that have no origin get that of `id`. */
typedef NodeId RewriteRule(Rewrite *r, NodeId id);

struct Rewrite {
    PassContext *ctx;
    const Graph *from;
    Graph *to;
    NodeId *map;      /* by from's ids; NODE_none where nothing lives */
    NodeId **results; /* by from's ids: set by a rule that replaces an op with several results */
    const uint32_t *uses; /* of from's nodes, by live nodes and outputs */
    RewriteRule *rule;
    void *user;
    void *state; /* the rule's own, for one graph; NULL at its begin */
};

/* The rewritten graph, in `arena`, with what is dead left out; inputs always stay. */
Graph *rewrite_graph(PassContext *ctx, Arena *arena, const Graph *from, RewriteRule *rule,
                     void *user);

static inline NodeId rewrite_arg(const Rewrite *r, NodeId id, uint32_t index) {
    return r->map[graph_node(r->from, id)->args[index]];
}

/* Copies node `id`, its regions rewritten. */
NodeId rewrite_copy(Rewrite *r, NodeId id);

/* Adds the nodes of `region`, rewritten by the same rule, to r->to, with `args` in place of its
 * inputs; writes what its outputs have become. */
void rewrite_splice(const Rewrite *r, const Graph *region, const NodeId *args, NodeId *out_outputs);

/* A copy in `arena` of what of `from` leads to outputs, and of all inputs. */
Graph *graph_copy_live(Arena *arena, const Graph *from);

/* Whether each node is an input or leads to an output, and how many of such nodes and outputs use
 * it. */
bool *graph_find_kept(const Graph *graph, Arena *arena);
uint32_t *graph_count_kept_uses(const Graph *graph, Arena *arena);

#endif
