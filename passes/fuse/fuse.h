/* What the files of the fuser share: the graph with its users, groups, and what is known of their
 * costs. README.md tells the algorithm.
 *
 * A group is a set of nodes that become one kernel. A node may be in several groups (then each
 * computes it for itself); its home is the first of them, and stores it when a node outside of the
 * groups that hold it needs it. */
#ifndef TCC_PASSES_FUSE_FUSE_H
#define TCC_PASSES_FUSE_FUSE_H

#include "base/map.h"
#include "passes/fuse/region.h"
#include "passes/pass.h"

enum {
    FUSE_MAX_NODES = 256, /* of a group */
    FUSE_MAX_CODE = 1024, /* of a group, in simple vector instructions (cost_code) */
    FUSE_MAX_OUTPUTS = 4, /* of a group around reductions */
    FUSE_MAX_GROUPS = 8,  /* that a node may be duplicated into */
    FUSE_DEAR_FLOPS = 16, /* an element: more than that is not computed twice */
    FUSE_POINTS = 3       /* settings of the dims that costs are taken at: lo, tune, hi */
};

/* Bytes, operations, … at each of the settings. */
typedef struct Amount {
    double at[FUSE_POINTS];
} Amount;

typedef struct Group {
    uint32_t id;
    uint32_t seen; /* the last search that came by */
    bool gone;     /* another group took its place */
    bool seeded;   /* grown around an op that accumulates: its nodes are fixed */
    bool chain;    /* two contractions and the row between them (chain.h) */
    uint32_t core; /* of a chain: so many of its first nodes stand together */
    NodeId root;   /* what it was begun with */
    NodeId oldest, newest;
    uint32_t code;       /* of its nodes */
    uint32_t seed_count; /* how many nodes it was grown to; those after them were absorbed */
    VEC(NodeId) nodes;   /* in the order in which they joined */
    NodeId *table;       /* the same by hash, NODE_none where free */
    uint32_t table_size; /* a power of 2, at least twice as many */
    VEC(Amount) evaluations;
    VEC(bool) prologue; /* whether a contraction, convolution or window reads it */
} Group;

typedef VEC(Group *) GroupList;

/* What was found out about a region. */
typedef struct Verdict {
    const Graph *region; /* lies with the verdict */
    Str skeleton;
    bool legal;
    const char *why;               /* when it is not */
    const struct Cascade *cascade; /* of a row, once it was asked for (strategy.c) */
    struct Verdict *next;
} Verdict;

typedef enum ReasonId {
#define REASON(id, rule, text, advice) REASON_##id,
#include "passes/fuse/reasons.def"
#undef REASON
    REASON_count
} ReasonId;

/* Why one group cannot, or need not, be one with another. */
typedef struct Refusal {
    ReasonId reason;
    const char *text; /* instead of the reason's own; NULL: that */
    uint32_t number_count;
    RemarkNumber numbers[REMARK_MAX_NUMBERS];
} Refusal;

/* What turned out not to work: a node, or (NODE_none) any node, in the group around `root`. */
typedef struct Ban {
    NodeId root, node;
    const char *why;
} Ban;

/* What became of a chain. */
typedef struct ChainNote {
    NodeId scores, values;
    const char *why; /* NULL: it is one kernel */
    Refusal price;
} ChainNote;

/* What access maps (axes.h) are made in. */
typedef struct Axes {
    IrContext *ctx;
} Axes;

typedef struct Fuser {
    PassContext *ctx;
    const Graph *graph;
    Arena *arena;
    bool *live, *is_output;
    bool *is_constant; /* movement of what regions hold themselves: it stands in every region that
                          uses it, and belongs to no group */
    uint32_t
        *user_start; /* users of node n are users[user_start[n]] … users[user_start[n + 1] - 1] */
    NodeId *users;
    GroupList *in; /* by node: the groups that hold it; the first is its home */
    GroupList groups;
    int64_t *settings[FUSE_POINTS]; /* values of the dims by symbol */
    Axes axes;
    Map verdicts;              /* by hash: lists */
    VEC(Ban) bans, chain_bans; /* of a chain, the root is the contraction of its values */
    VEC(ChainNote) chain_notes;
    uint32_t search, *seen; /* the number of the last search; by node, the last that came by */
    Map reasons;            /* refusals by the ids of two groups */
} Fuser;

/* ---- graph.c --------------------------------------------------------------------------------- */

const Ban *fuser_find_ban(const Fuser *f, NodeId root, NodeId id); /* NULL: none */
void fuser_init(Fuser *f, PassContext *ctx, const Graph *graph);
/* Whether the node belongs to groups (is not a leaf, not dead, not constant). */
bool fuser_is_op(const Fuser *f, NodeId id);
OpClass fuser_class(const Fuser *f, NodeId id);
/* An op that computes each element by itself, or moves it. */
bool fuser_is_pointwise(const Fuser *f, NodeId id);
/* An op that accumulates, and so decides how its kernel walks. */
bool fuser_is_heavy(const Fuser *f, NodeId id);
/* The target whose figures kernels are priced by: one for all levels of x86-64, so that groups, and
 * with them what is rounded between kernels, are the same at each. */
const Target *fuser_prices(const Fuser *f);

/* ---- group.c --------------------------------------------------------------------------------- */

Group *group_add(Fuser *f, NodeId root);
void group_join(Fuser *f, Group *group, NodeId id);
/* Takes the last node back, which is in no other group. */
void group_drop_last(Fuser *f, Group *group);
bool group_has(const Group *group, NodeId id);
/* Whether the group must store its node. */
bool group_stores(const Fuser *f, const Group *group, NodeId id);
/* Whether it is built around reductions. */
bool group_is_row(const Fuser *f, const Group *group);
/* The name of the skeleton for the group's first `count` nodes; NULL with the rule that they break.
 */
const char *group_skeleton(const Fuser *f, const Group *group, size_t count, Refusal *out_refusal);
/* The first `count` nodes of the group as a region; its outputs are what they must store, and are
 * written to out_stored (room for `count`; may be NULL). All lies in `arena`. */
Region group_region(Fuser *f, const Group *group, size_t count, Arena *arena, NodeId *out_stored);
/* Whether codegen can build the region (remembered by region). */
Verdict *group_judge(Fuser *f, const Graph *region, const char *skeleton);
/* Why codegen cannot build the group's first `count` nodes; NULL when it can, or none is stored. */
const char *group_fault(Fuser *f, const Group *group, size_t count, const char *skeleton);
/* Whether a kernel made of `group` would need results of itself. */
bool group_has_cycle(Fuser *f, const Group *group);

/* ---- search ---------------------------------------------------------------------------------- */

/* seed.c: groups around the ops that accumulate. */
void fuse_seed(Fuser *f);
/* absorb.c: each other node joins the groups that use it, or begins one. */
void fuse_absorb(Fuser *f);
/* merge.c: groups with several results; the reasons for all that stays apart. */
void fuse_merge(Fuser *f);

/* ---- reasons.c ------------------------------------------------------------------------------- */

Refusal refusal(ReasonId reason);
/* With words of its own. */
Refusal refusal_saying(ReasonId reason, const char *text);
void refusal_note(Refusal *refused, const char *name, double value);
void fuse_keep_reason(Fuser *f, const Group *from, const Group *to, const Refusal *why);
/* The name that the group's kernel gets; a C identifier, unique in the graph. */
Str fuse_kernel_name(const Fuser *f, const Group *group);
/* A remark for each edge between kernels. */
void fuse_remark_edges(Fuser *f);

#endif
