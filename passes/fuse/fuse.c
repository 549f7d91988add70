/* fuse: groups ops into kernels. README.md tells the algorithm. */
#include "passes/fuse/fuse.h"

#include "base/messages.h"
#include "passes/fuse/chain.h"
#include "passes/fuse/strategy.h"
#include "passes/kernel.h"
#include "passes/rewrite.h"

/* ---- finding groups that codegen can build --------------------------------------------------- */

/* The group's first `count` nodes alone. */
static bool beginning_is_legal(Fuser *f, const Group *group, size_t count, const char **out_why) {
    Refusal refused = {0};
    const char *skeleton = group_skeleton(f, group, count, &refused);
    *out_why = refused.text;
    if (skeleton == NULL) return false;
    *out_why = group_fault(f, group, count, skeleton);
    return *out_why == NULL;
}

/* Whether there is more in it than one op with its items. */
static bool is_fused(const Fuser *f, const Group *group) {
    uint32_t count = 0;
    for (size_t i = 0; i < group->nodes.count; i++)
        count += fuser_class(f, group->nodes.data[i]) != CLASS_ITEM;
    return !group->gone && count > 1;
}

/* Bans the first node with which the group cannot be built. A group of one op is left as it is: its
 * error is its own, and its items cannot leave it. */
static bool check_group(Fuser *f, const Group *group) {
    const char *why, *last_why;
    size_t lo = 1, hi = group->nodes.count;
    if (!is_fused(f, group) || beginning_is_legal(f, group, hi, &why)) return true;
    last_why = why;
    if (group->chain) lo = group->core;
    if (!beginning_is_legal(f, group, lo, &why)) {
        if (group->chain)
            vec_push(f->arena, &f->chain_bans, (Ban){group->root, NODE_none, why});
        else
            vec_push(f->arena, &f->bans, (Ban){group->root, NODE_none, why});
        return false;
    }
    while (hi - lo > 1) {
        size_t middle = lo + (hi - lo) / 2;
        if (beginning_is_legal(f, group, middle, &why)) {
            lo = middle;
        } else {
            hi = middle;
            last_why = why;
        }
    }
    vec_push(f->arena, &f->bans, (Ban){group->root, group->nodes.data[hi - 1], last_why});
    return false;
}

static void reset(Fuser *f) {
    f->groups.count = 0;
    for (size_t i = 0; i < f->graph->nodes.count; i++) f->in[i].count = 0;
}

/* Groups under the bans so far; repeated until codegen can build all of them. */
static void search(Fuser *f) {
    for (bool good = false; !good;) {
        reset(f);
        fuse_seed(f);
        fuse_absorb(f);
        good = true;
        size_t count = f->groups.count;
        for (size_t i = 0; i < count; i++) good &= check_group(f, f->groups.data[i]);
    }
}

/* ---- bisection ------------------------------------------------------------------------------- */

static void leave(Fuser *f, const Group *group, NodeId id) {
    GroupList *in = &f->in[id];
    size_t kept = 0;
    for (size_t i = 0; i < in->count; i++)
        if (in->data[i] != group) in->data[kept++] = in->data[i];
    in->count = kept;
}

/* A group for each node that is in no other one; the items of a sort stay with it. */
static void split(Fuser *f, Group *group) {
    group->gone = true;
    for (size_t i = 0; i < group->nodes.count; i++) leave(f, group, group->nodes.data[i]);
    for (size_t i = 0; i < group->nodes.count; i++) {
        NodeId id = group->nodes.data[i];
        if (f->in[id].count > 0 || fuser_class(f, id) == CLASS_ITEM) continue;
        Group *single = group_add(f, id);
        for (uint32_t u = f->user_start[id]; u < f->user_start[id + 1]; u++)
            if (fuser_class(f, f->users[u]) == CLASS_ITEM) group_join(f, single, f->users[u]);
    }
}

/* Kernels beyond the limit of --pass-limit are not fused, so that bisection finds a wrong one. */
static void limit(Fuser *f) {
    size_t count = f->groups.count;
    for (size_t i = 0; i < count; i++) {
        Group *group = f->groups.data[i];
        NodeId first = group->nodes.data[0];
        if (is_fused(f, group) && !pass_allows(f->ctx, "kernel", f->graph, first)) split(f, group);
    }
}

/* ---- the new graph --------------------------------------------------------------------------- */

typedef struct Writer {
    Fuser *f;
    Graph *to;
    NodeId *map;   /* by old id: the value in `to` */
    bool *written; /* by group */
} Writer;

static NodeId kernel_result(Writer *w, NodeId kernel, const Graph *region, uint32_t index) {
    const Type *type = graph_type(w->to, kernel);
    if (region->outputs.count == 1) return kernel;
    Attr attrs[] = {{.i = index}};
    return graph_add(w->to, OP_item, type->items[index], &kernel, 1, attrs, NULL, 0,
                     graph_node(w->to, kernel)->origin);
}

/* The texts of a kernel node. */
typedef struct Label {
    Str name;
    const char *skeleton, *strategy;
    const Origin *origin;
} Label;

/* The kernel whose outputs are the old nodes `stored`; none, and no values of these, where it reads
 * what an error left without a kernel. */
static void write_kernel(Writer *w, const Region *region, const NodeId *stored,
                         const Label *label) {
    const Graph *graph = graph_copy(w->to->arena, region->graph);
    NodeId *args = NEW_ARRAY(w->f->arena, NodeId, graph->inputs.count);
    for (size_t i = 0; i < graph->inputs.count; i++) {
        args[i] = w->map[region->args[i]];
        if (args[i] == NODE_none) return;
    }
    NodeId kernel = kernel_add(w->to, graph, args, label->name, str_from(label->skeleton),
                               str_from(label->strategy), label->origin);
    for (uint32_t i = 0; i < graph->outputs.count; i++)
        w->map[stored[i]] = kernel_result(w, kernel, graph, i);
}

static void report(Writer *w, const Node *node) {
    if (node->op == OP_item) node = graph_node(w->f->graph, node->args[0]);
    diag_error(w->f->ctx->diags, node->origin ? node->origin->loc : (Loc){0}, MSG_NO_KERNEL,
               op_info(node->op)->name);
}

static void write_group(Writer *w, const Group *group) {
    Fuser *f = w->f;
    Refusal refused = {0};
    const Node *root = graph_node(f->graph, group->newest);
    size_t count = group->nodes.count;
    const char *skeleton = group_skeleton(f, group, count, &refused);
    NodeId *stored = NEW_ARRAY(f->arena, NodeId, count);
    Region region = group_region(f, group, count, f->arena, stored);
    if (region.graph->outputs.count == 0) return;
    if (skeleton == NULL) {
        report(w, root);
        return;
    }
    bool is_row = str_equal(str_from(skeleton), STR("row"));
    Label label = {fuse_kernel_name(f, group), skeleton, "", root->origin};
    label.strategy = group->chain ? fuse_chain_strategy(f, group, label.name)
                     : is_row     ? fuse_choose_strategy(f, group, region.graph, label.name)
                                  : "";
    write_kernel(w, &region, stored, &label);
}

/* Groups after those that they read, depth first without recursion. */
typedef struct Visit {
    const Group *group;
    size_t node;
    uint32_t arg;
} Visit;

static const Group *next_needed(const Writer *w, Visit *v) {
    for (; v->node < v->group->nodes.count; v->node++, v->arg = 0) {
        const Node *node = graph_node(w->f->graph, v->group->nodes.data[v->node]);
        while (v->arg < node->arg_count) {
            const GroupList *in = &w->f->in[node->args[v->arg++]];
            if (in->count == 0 || w->written[in->data[0]->id]) continue;
            if (!group_has(v->group, node->args[v->arg - 1])) return in->data[0];
        }
    }
    return NULL;
}

static void write_needed(Writer *w, const Group *last) {
    VEC(Visit) path = {0};
    Arena *arena = w->f->arena;
    vec_push(arena, &path, (Visit){.group = last});
    w->written[last->id] = true;
    while (path.count > 0) {
        const Group *needed = next_needed(w, &path.data[path.count - 1]);
        if (needed == NULL) {
            write_group(w, path.data[--path.count].group);
        } else {
            w->written[needed->id] = true;
            vec_push(arena, &path, (Visit){.group = needed});
        }
    }
}

/* Inputs in their order, then what is read of the other leaves. */
static void write_leaves(Writer *w) {
    const Graph *from = w->f->graph;
    for (NodeId id = 0; id < from->nodes.count; id++) w->map[id] = NODE_none;
    for (size_t i = 0; i < from->inputs.count; i++)
        w->map[from->inputs.data[i]] = graph_copy_node(w->to, from, from->inputs.data[i], NULL);
    for (NodeId id = 0; id < from->nodes.count; id++) {
        bool leaf = w->f->live[id] && op_info(graph_node(from, id)->op)->class == CLASS_LEAF;
        bool memory = leaf && !kernel_holds_leaf(from, id);
        if (memory && w->map[id] == NODE_none) w->map[id] = graph_copy_node(w->to, from, id, NULL);
    }
}

/* A leaf that is a result of the model is copied by a kernel. */
static NodeId write_copy(Writer *w, NodeId leaf) {
    Arena *arena = w->f->arena;
    Region region = region_cut(w->f->graph, NULL, NULL, 0, &leaf, 1, arena);
    NodeId before = w->map[leaf];
    Label label = {str_format(arena, "copy_%u", leaf), "elementwise", "",
                   graph_node(w->f->graph, leaf)->origin};
    write_kernel(w, &region, &leaf, &label);
    NodeId copy = w->map[leaf];
    w->map[leaf] = before;
    return copy;
}

static void write_outputs(Writer *w) {
    const Graph *from = w->f->graph;
    for (size_t i = 0; i < from->outputs.count; i++) {
        NodeId id = from->outputs.data[i].node;
        if (fuser_is_op(w->f, id) && w->map[id] == NODE_none) return; /* after an error */
        NodeId to = fuser_is_op(w->f, id) ? w->map[id] : write_copy(w, id);
        graph_add_output(w->to, *from->outputs.data[i].name, to);
    }
    graph_copy_checks(w->to, from);
}

Graph *pass_fuse(PassContext *ctx, Arena *arena, const Graph *graph) {
    Fuser f;
    fuser_init(&f, ctx, graph);
    search(&f);
    fuse_merge(&f);
    limit(&f);
    fuse_remark_chains(&f);
    fuse_remark_edges(&f);
    Writer w = {.f = &f, .to = graph_new(graph->ctx, arena, *graph->name)};
    w.map = NEW_ARRAY(f.arena, NodeId, graph->nodes.count);
    w.written = NEW_ARRAY(f.arena, bool, f.groups.count);
    write_leaves(&w);
    for (size_t i = 0; i < f.groups.count; i++)
        if (!w.written[i] && !f.groups.data[i]->gone) write_needed(&w, f.groups.data[i]);
    write_outputs(&w);
    return w.to;
}
