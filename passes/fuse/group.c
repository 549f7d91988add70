/* Groups: membership, what they store, their skeleton, their region, and what codegen says of it.
 */
#include "base/guard.h"
#include "base/scratch.h"
#include "passes/compare.h"
#include "passes/fuse/axes.h"
#include "passes/fuse/cost.h"
#include "passes/fuse/reduction.h"
#include "passes/kernel.h"

#include <stdlib.h>

enum { CONTEXTS_PER_NODE = 4 };

Group *group_add(Fuser *f, NodeId root) {
    Group *group = NEW(f->arena, Group);
    group->id = (uint32_t)f->groups.count;
    group->root = group->oldest = group->newest = root;
    vec_push(f->arena, &f->groups, group);
    group_join(f, group, root);
    return group;
}

static NodeId *find_place(const Group *group, NodeId id) {
    uint32_t at = (uint32_t)hash_word(0, id);
    for (;; at++) {
        NodeId *place = &group->table[at & (group->table_size - 1)];
        if (*place == id || *place == NODE_none) return place;
    }
}

static void fill_table(Fuser *f, Group *group, uint32_t size) {
    group->table = NEW_ARRAY(f->arena, NodeId, size);
    group->table_size = size;
    for (uint32_t i = 0; i < size; i++) group->table[i] = NODE_none;
    for (size_t i = 0; i < group->nodes.count; i++)
        *find_place(group, group->nodes.data[i]) = group->nodes.data[i];
}

void group_join(Fuser *f, Group *group, NodeId id) {
    vec_push(f->arena, &group->nodes, id);
    vec_push(f->arena, &group->evaluations, cost_steps(f, id));
    vec_push(f->arena, &group->prologue, false);
    vec_push(f->arena, &f->in[id], group);
    group->code += cost_code(f, id);
    if (id < group->oldest) group->oldest = id;
    if (id > group->newest) group->newest = id;
    if (2 * group->nodes.count > group->table_size)
        fill_table(f, group, group->table_size ? 2 * group->table_size : 16);
    *find_place(group, id) = id;
}

void group_drop_last(Fuser *f, Group *group) {
    NodeId id = group->nodes.data[--group->nodes.count];
    group->evaluations.count = group->prologue.count = group->nodes.count;
    f->in[id].count = 0;
    group->code -= cost_code(f, id);
    fill_table(f, group, group->table_size);
    group->newest = 0;
    for (size_t i = 0; i < group->nodes.count; i++)
        if (group->nodes.data[i] > group->newest) group->newest = group->nodes.data[i];
}

bool group_has(const Group *group, NodeId id) { return *find_place(group, id) == id; }

/* Whether some group that uses the node does not compute it for itself. */
static bool is_needed(const Fuser *f, NodeId id) {
    for (uint32_t u = f->user_start[id]; u < f->user_start[id + 1]; u++) {
        const GroupList *in = &f->in[f->users[u]];
        if (in->count == 0) return true;
        for (size_t i = 0; i < in->count; i++)
            if (!group_has(in->data[i], id)) return true;
    }
    return f->is_output[id];
}

bool group_stores(const Fuser *f, const Group *group, NodeId id) {
    if (graph_type(f->graph, id)->is_tuple || f->in[id].data[0] != group) return false;
    return is_needed(f, id);
}

/* ---- skeletons ------------------------------------------------------------------------------- */

static const char *merge_skeletons(const char *a, const char *b, Refusal *out_refusal) {
    bool plain = str_equal(str_from(b), STR("elementwise"));
    if (plain) return a;
    if (str_equal(str_from(a), STR("elementwise"))) return b;
    bool row_a = str_equal(str_from(a), STR("row")), row_b = str_equal(str_from(b), STR("row"));
    if (row_b && (row_a || str_equal(str_from(a), STR("contract")))) return a; /* bands.h */
    if (row_a && str_equal(str_from(b), STR("contract"))) return b;
    *out_refusal = refusal(REASON_two_walks);
    return NULL;
}

bool group_is_row(const Fuser *f, const Group *group) {
    for (size_t i = 0; i < group->nodes.count; i++)
        if (reduction_is(f, group->nodes.data[i])) return true;
    return false;
}

const char *group_skeleton(const Fuser *f, const Group *group, size_t count, Refusal *out_refusal) {
    const char *skeleton = "elementwise";
    if (group->chain && count >= group->core) return "attention";
    ReduceClass first = {0};
    for (size_t i = 0; i < count && skeleton; i++) {
        NodeId id = group->nodes.data[i];
        if (!fuser_is_heavy(f, id)) continue;
        const char *own = kernel_skeleton(fuser_class(f, id));
        if (own == NULL) {
            *out_refusal = refusal(REASON_control);
            return NULL;
        }
        skeleton = merge_skeletons(skeleton, own, out_refusal);
        if (!reduction_is(f, id)) continue;
        ReduceClass class = reduction_class(f, id);
        if (first.type != NULL && !reduction_same_class(&first, &class)) {
            *out_refusal = refusal(REASON_other_axes);
            return NULL;
        }
        first = class;
    }
    return skeleton;
}

/* ---- regions --------------------------------------------------------------------------------- */

static int compare_ids(const void *a, const void *b) {
    NodeId x = *(const NodeId *)a, y = *(const NodeId *)b;
    return x < y ? -1 : x > y;
}

/* Whether the node is used by a node of the group that is not among its first ones, which carry
 * the mark of the last search. */
static bool is_used_later(const Fuser *f, const Group *group, NodeId id) {
    for (uint32_t u = f->user_start[id]; u < f->user_start[id + 1]; u++)
        if (f->seen[f->users[u]] != f->search && group_has(group, f->users[u])) return true;
    return false;
}

Region group_region(Fuser *f, const Group *group, size_t count, Arena *arena, NodeId *out_stored) {
    NodeId *nodes = arena_copy(arena, group->nodes.data, count * sizeof *nodes);
    NodeId *stored = out_stored ? out_stored : NEW_ARRAY(arena, NodeId, count);
    uint32_t outputs = 0;
    qsort(nodes, count, sizeof *nodes, compare_ids);
    f->search++;
    for (size_t i = 0; i < count; i++) f->seen[nodes[i]] = f->search;
    for (size_t i = 0; i < count; i++) {
        bool tuple = graph_type(f->graph, nodes[i])->is_tuple;
        if (group_stores(f, group, nodes[i]) || (!tuple && is_used_later(f, group, nodes[i])))
            stored[outputs++] = nodes[i];
    }
    return region_cut(f->graph, f->is_constant, nodes, (uint32_t)count, stored, outputs, arena);
}

/* ---- cycles ---------------------------------------------------------------------------------- */

/* A kernel must not need its own results: the search goes from what the group reads back to it.
 * Only groups that hold something younger than its oldest node can depend on it. */
typedef struct CycleSearch {
    Fuser *f;
    const Group *group;
    VEC(NodeId) pending;
} CycleSearch;

static void look_at(CycleSearch *s, NodeId id) {
    Fuser *f = s->f;
    bool alone = f->in[id].count == 0;
    NodeId newest = alone ? id : f->in[id].data[0]->newest;
    uint32_t *seen = alone ? &f->seen[id] : &f->in[id].data[0]->seen;
    if (newest < s->group->oldest || *seen == f->search) return;
    *seen = f->search;
    if (alone) {
        vec_push(f->arena, &s->pending, id);
        return;
    }
    const Group *group = f->in[id].data[0];
    for (size_t i = 0; i < group->nodes.count; i++)
        vec_push(f->arena, &s->pending, group->nodes.data[i]);
}

bool group_has_cycle(Fuser *f, const Group *group) {
    CycleSearch s = {.f = f, .group = group};
    f->search++;
    for (size_t i = 0; i < group->nodes.count; i++) {
        const Node *node = graph_node(f->graph, group->nodes.data[i]);
        for (uint32_t k = 0; k < node->arg_count; k++)
            if (!group_has(group, node->args[k])) look_at(&s, node->args[k]);
    }
    while (s.pending.count > 0 && group->seen != f->search) {
        NodeId id = s.pending.data[--s.pending.count];
        const Node *node = graph_node(f->graph, id);
        for (uint32_t k = 0; k < node->arg_count; k++) look_at(&s, node->args[k]);
    }
    return group->seen == f->search;
}

/* ---- what codegen says ----------------------------------------------------------------------- */

static Verdict *find_verdict(const Fuser *f, Str key, const Graph *region, Str skeleton) {
    Verdict *v = map_get(&f->verdicts, key);
    while (v && !(str_equal(v->skeleton, skeleton) && graph_equal(v->region, region))) v = v->next;
    return v;
}

/* NULL when codegen can build the region. */
static const char *ask_codegen(Fuser *f, const Verdict *verdict, Arena *arena) {
    const CostModel *cost = f->ctx->cost;
    const Graph *region = verdict->region;
    const char *why = NULL;
    uint32_t most = CONTEXTS_PER_NODE * (uint32_t)region->nodes.count + 64;
    if (axes_count_contexts(&f->axes, arena, region, most) > most)
        return "values would be computed again and again at different indices";
    if (cost == NULL) return NULL;
    f->ctx->work.judged += region->nodes.count;
    bool legal =
        cost->legal(cost->self, region, verdict->skeleton, STR(""), f->ctx->target, arena, &why);
    return legal ? NULL : why;
}

/* What is built to find out is thrown away at once. */
static void ask(Fuser *f, Verdict *verdict) {
    Scratch scratch;
    Arena *arena = scratch_open(&scratch);
    const char *why = ask_codegen(f, verdict, arena);
    verdict->legal = why == NULL;
    if (why) verdict->why = str_terminated(f->arena, str_from(why));
    scratch_close(&scratch);
}

Verdict *group_judge(Fuser *f, const Graph *region, const char *skeleton) {
    uint64_t hash = graph_hash(region);
    Str key = {(const char *)&hash, sizeof hash}, name = str_from(skeleton);
    Verdict *verdict = find_verdict(f, key, region, name);
    if (verdict) return verdict;
    verdict = NEW(f->arena, Verdict);
    *verdict = (Verdict){.region = graph_copy(f->arena, region), .skeleton = name, .legal = true};
    verdict->next = map_get(&f->verdicts, key);
    map_set(&f->verdicts, key, verdict);
    ask(f, verdict);
    return verdict;
}

const char *group_fault(Fuser *f, const Group *group, size_t count, const char *skeleton) {
    Scratch scratch;
    Arena *arena = scratch_open(&scratch);
    Region region = group_region(f, group, count, arena, NULL);
    bool stores = region.graph->outputs.count > 0;
    const Verdict *verdict = stores ? group_judge(f, region.graph, skeleton) : NULL;
    scratch_close(&scratch);
    return verdict && !verdict->legal ? verdict->why : NULL;
}
