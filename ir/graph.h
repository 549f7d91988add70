/* The graph IR: immutable, append-only SSA of tensor ops.
 *
 * A node's operands have smaller ids than the node, so array order is topological, dump and
 * evaluation order. Nodes are hash-consed as they are added (op, attributes, operands, regions,
 * type): adding an equal node returns the old one and merges the source locations. Nothing is ever
 * changed or removed: a pass walks an old graph and builds a new one in a fresh arena.
 *
 * Regions are graphs of their own that capture nothing: their operands are their OP_input nodes, by
 * index, and their results are their outputs. Op results are single values; an op with several has
 * a tuple type and OP_item picks one.
 *
 * A graph belongs to one thread while it is built and may be read by many afterwards.
 */
#ifndef TCC_IR_GRAPH_H
#define TCC_IR_GRAPH_H

#include "base/vec.h"
#include "ir/context.h"
#include "ir/ops.h"

typedef uint32_t NodeId;
#define NODE_none UINT32_MAX

typedef struct Graph Graph;

/* An attribute's value, in the order of the op's row; compared bitwise (lists are interned). */
typedef union Attr {
    int64_t i;
    const IntList *ints;
    const Dim *dim;
    const DimList *dims;
    DType dtype;
    const Str *str;
    const Blob *blob; /* NULL for a parameter without a value */
    uint64_t bits;
} Attr;

/* Where a node comes from: the place in the source and, inside a function, the call that led there.
 * Origins must live as long as the context: graphs share them. */
typedef struct Origin {
    Loc loc;
    const struct Origin *caller; /* NULL at the top */
    const struct Origin *next;   /* further origins of a merged node */
    bool library;                /* the place is in the embedded library, not in the user's file */
} Origin;

typedef struct Node {
    Op op;
    uint32_t arg_count;
    const NodeId *args;
    const Attr *attrs; /* op_info(op)->attr_count values */
    uint32_t region_count;
    const Graph *const *regions;
    const Type *type;
    const Origin *origin; /* may be NULL */
} Node;

typedef struct Output {
    const Str *name; /* may be empty in regions */
    NodeId node;
} Output;

/* A relation between dims that could not be proved at compile time and is checked when the model is
 * entered: a == b, or a <= b. */
typedef enum CheckKind { CHECK_equal, CHECK_at_most } CheckKind;
typedef struct EntryCheck {
    CheckKind kind;
    const Dim *a, *b;
    const Origin *origin;
} EntryCheck;

/* Where a node is found again. */
typedef struct NodeSlot {
    uint32_t hash, number; /* node id + 1; 0: free */
} NodeSlot;

struct Graph {
    IrContext *ctx;
    Arena *arena;
    const Str *name;
    VEC(Node) nodes;
    VEC(NodeId) inputs; /* OP_input nodes by index */
    VEC(Output) outputs;
    VEC(EntryCheck) checks;
    NodeSlot *slots; /* hash-consing */
    size_t slot_count;
};

/* A module: the models of one file and what they share. */
typedef struct Module {
    IrContext *ctx;
    Arena *arena;
    VEC(Graph *) models;
} Module;

Graph *graph_new(IrContext *ctx, Arena *arena, Str name);

/* Adds a node whose type is already known (from infer.h, or copied from an equal node). `args`,
 * `attrs` and `regions` are copied. For OP_input the attribute `index` must be the next input's. */
NodeId graph_add(Graph *graph, Op op, const Type *type, const NodeId *args, uint32_t arg_count,
                 const Attr *attrs, const Graph *const *regions, uint32_t region_count,
                 const Origin *origin);
NodeId graph_add_input(Graph *graph, Str name, const Type *type, const Origin *origin);
void graph_add_output(Graph *graph, Str name, NodeId node);
/* One that stands already is not added again; it takes the origin if it has none. */
void graph_add_check(Graph *graph, CheckKind kind, const Dim *a, const Dim *b,
                     const Origin *origin);

static inline const Node *graph_node(const Graph *graph, NodeId id) {
    return &graph->nodes.data[id];
}
static inline const Type *graph_type(const Graph *graph, NodeId id) {
    return graph->nodes.data[id].type;
}

/* The value of the named attribute of a node; a bug if the op has none of that name. */
Attr node_attr(const Node *node, const char *name);

/* How many nodes and outputs use each node (an array of nodes.count in `arena`). */
uint32_t *graph_count_uses(const Graph *graph, Arena *arena);
/* Whether each node leads to an output (an array of nodes.count in `arena`). */
bool *graph_find_live(const Graph *graph, Arena *arena);

/* Copies a node of `from` into `to`, of the same context, with its operands renamed by `map`
 * (indexed by from's ids). Its regions are shared when they lie in to's arena, else copied. Entry
 * checks are copied by graph_copy_checks. */
NodeId graph_copy_node(Graph *to, const Graph *from, NodeId id, const NodeId *map);
/* All of `from`, dead nodes too, in another arena. */
Graph *graph_copy(Arena *arena, const Graph *from);
void graph_copy_checks(Graph *to, const Graph *from);

#endif
