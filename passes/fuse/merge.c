/* Merging: two groups that are joined by an edge, or read the same tensors, become one that has the
 * results of both. What absorbing could not do, because a result is also needed elsewhere, is found
 * here; every pair that stays apart keeps the reason.
 *
 * Pairs are taken by falling gain from a heap. A merge makes a new group, whose pairs are new;
 * pairs of groups that are gone are skipped. */
#include "passes/fuse/bands.h"
#include "passes/fuse/cost.h"
#include "passes/fuse/reduction.h"

#include <stdlib.h>

typedef struct Pair {
    Group *from, *to; /* from's result is read by `to`; of siblings the older is `from` */
    double gain;      /* nanoseconds at all settings together */
} Pair;

typedef struct Merger {
    Fuser *f;
    VEC(Pair) heap;
    Map seen; /* by the two ids */
} Merger;

/* ---- the heap -------------------------------------------------------------------------------- */

static bool comes_before(const Pair *a, const Pair *b) {
    if (a->gain != b->gain) return a->gain > b->gain;
    return a->from->id != b->from->id ? a->from->id < b->from->id : a->to->id < b->to->id;
}

static void swap(Pair *a, Pair *b) {
    Pair t = *a;
    *a = *b;
    *b = t;
}

static void heap_push(Merger *m, Pair pair) {
    vec_push(m->f->arena, &m->heap, pair);
    Pair *items = m->heap.data;
    for (size_t i = m->heap.count - 1; i > 0 && comes_before(&items[i], &items[(i - 1) / 2]);
         i = (i - 1) / 2)
        swap(&items[i], &items[(i - 1) / 2]);
}

static Pair heap_pop(Merger *m) {
    Pair top = m->heap.data[0], *items = m->heap.data;
    items[0] = items[--m->heap.count];
    for (size_t i = 0;;) {
        size_t best = i;
        for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < m->heap.count; k++)
            if (comes_before(&items[k], &items[best])) best = k;
        if (best == i) return top;
        swap(&items[i], &items[best]);
        i = best;
    }
}

/* ---- whether two groups can be one ----------------------------------------------------------- */

/* Elements of the group's walk, and of what reductions leave of it. */
static void find_walk(const Fuser *f, const Group *group, const Dim **out_walk,
                      const Dim **out_rest) {
    IrContext *ir = f->ctx->ir;
    const Type *type = NULL;
    for (size_t i = 0; i < group->nodes.count; i++) {
        NodeId id = group->nodes.data[i];
        if (fuser_is_heavy(f, id)) type = graph_type(f->graph, id);
        if (fuser_is_heavy(f, id) || (type == NULL && group_stores(f, group, id))) {
            const Type *own = graph_type(f->graph, id);
            if (own->is_tuple) own = own->items[0];
            *out_rest = *out_walk = type_elements(ir, own);
            if (!reduction_is(f, id)) continue;
            *out_walk = type_elements(ir, reduction_class(f, id).type);
        }
    }
}

static bool has_heavy(const Fuser *f, const Group *group) {
    for (size_t i = 0; i < group->nodes.count; i++)
        if (fuser_is_heavy(f, group->nodes.data[i])) return true;
    return false;
}

/* The results of a group of maps must be as large as the other's walk, or as what is left of it. */
static bool results_fit(const Fuser *f, const Group *maps, const Group *other) {
    const Dim *walk = NULL, *rest = NULL;
    find_walk(f, other, &walk, &rest);
    for (size_t i = 0; i < maps->nodes.count; i++) {
        NodeId id = maps->nodes.data[i];
        if (!group_stores(f, maps, id)) continue;
        const Dim *count = type_elements(f->ctx->ir, graph_type(f->graph, id));
        if (count != walk && count != rest) return false;
    }
    return true;
}

static bool shapes_agree(const Fuser *f, const Group *a, const Group *b) {
    if (!has_heavy(f, a)) return results_fit(f, a, b);
    return has_heavy(f, b) || results_fit(f, b, a);
}

/* Whether some group that uses the node computes it neither for itself nor in one of the two. */
static bool is_needed_outside(const Fuser *f, const Group *a, const Group *b, NodeId id) {
    if (f->is_output[id]) return true;
    for (uint32_t u = f->user_start[id]; u < f->user_start[id + 1]; u++) {
        const GroupList *in = &f->in[f->users[u]];
        if (in->count == 0) return true;
        for (size_t i = 0; i < in->count; i++) {
            const Group *user = in->data[i];
            if (user != a && user != b && !group_has(user, id)) return true;
        }
    }
    return false;
}

/* How many tensors a kernel of both stores. */
static uint32_t count_results(const Fuser *f, const Group *a, const Group *b) {
    uint32_t count = 0;
    for (int side = 0; side < 2; side++) {
        const Group *own = side ? b : a;
        for (size_t i = 0; i < own->nodes.count; i++) {
            NodeId id = own->nodes.data[i];
            if (graph_type(f->graph, id)->is_tuple || (side && group_has(a, id))) continue;
            count += is_needed_outside(f, a, b, id);
        }
    }
    return count;
}

/* Two that accumulate: rows, and rows behind a product. */
static bool may_walk_together(const Fuser *f, const Group *a, const Group *b,
                              Refusal *out_refusal) {
    bool rows = group_is_row(f, a) && group_is_row(f, b);
    bool products = band_product(f, a) != NODE_none || band_product(f, b) != NODE_none;
    return (rows && !products) || band_may_follow(f, a, b, out_refusal);
}

/* What can be said without making the merged group. */
static bool may_merge(const Fuser *f, const Group *a, const Group *b, Refusal *out_refusal) {
    if (a->nodes.count + b->nodes.count > FUSE_MAX_NODES || a->code + b->code > FUSE_MAX_CODE) {
        *out_refusal = refusal(REASON_size);
        return false;
    }
    if (a->chain || b->chain) {
        *out_refusal = refusal(REASON_two_walks);
        return false;
    }
    if (has_heavy(f, a) && has_heavy(f, b) && !may_walk_together(f, a, b, out_refusal))
        return false;
    if (!shapes_agree(f, a, b)) {
        *out_refusal = refusal(REASON_other_shape);
        return false;
    }
    return true;
}

/* ---- trying ---------------------------------------------------------------------------------- */

static int by_falling_id(const void *a, const void *b) {
    NodeId x = *(const NodeId *)a, y = *(const NodeId *)b;
    return x > y ? -1 : x < y;
}

/* The list of a node's groups before a merge. */
typedef struct SavedGroups {
    GroupList list;
    Group *first;
} SavedGroups;

/* Takes the node from the groups that hold it over into `merged`. A list of one is reused. */
static void move_node(Fuser *f, Group *merged, const Group *a, const Group *b, NodeId id,
                      SavedGroups *out_saved) {
    GroupList *in = &f->in[id], old = *in;
    *out_saved = (SavedGroups){old, old.data[0]};
    if (old.count == 1)
        in->count = 0;
    else
        *in = (GroupList){0};
    group_join(f, merged, id);
    for (size_t k = 0; old.count > 1 && k < old.count; k++)
        if (old.data[k] != a && old.data[k] != b) vec_push(f->arena, in, old.data[k]);
}

/* A merged group in the place of both; in[] of its nodes as it was goes to `saved`. */
static Group *make_merged(Fuser *f, Group *a, Group *b, SavedGroups **out_saved) {
    size_t most = a->nodes.count + b->nodes.count, count = 0;
    NodeId *nodes = NEW_ARRAY(f->arena, NodeId, most);
    for (size_t i = 0; i < a->nodes.count; i++) nodes[count++] = a->nodes.data[i];
    for (size_t i = 0; i < b->nodes.count; i++)
        if (!group_has(a, b->nodes.data[i])) nodes[count++] = b->nodes.data[i];
    qsort(nodes, count, sizeof *nodes, by_falling_id);
    SavedGroups *saved = NEW_ARRAY(f->arena, SavedGroups, count);
    Group *merged = NEW(f->arena, Group);
    *merged = (Group){.id = (uint32_t)f->groups.count, .root = b->root, .oldest = nodes[count - 1]};
    for (size_t i = 0; i < count; i++) move_node(f, merged, a, b, nodes[i], &saved[i]);
    vec_push(f->arena, &f->groups, merged);
    *out_saved = saved;
    return merged;
}

static void undo(Fuser *f, Group *merged, const SavedGroups *saved) {
    for (size_t i = 0; i < merged->nodes.count; i++) {
        f->in[merged->nodes.data[i]] = saved[i].list;
        saved[i].list.data[0] = saved[i].first;
    }
    f->groups.count--;
}

/* How often each node is computed now, readers first. What rows read of a product before them is
 * kept. */
static void count_evaluations(const Fuser *f, Group *group) {
    NodeId product = band_product(f, group);
    for (size_t i = 0; i < group->nodes.count; i++) {
        NodeId id = group->nodes.data[i];
        if (fuser_is_heavy(f, id)) continue;
        Amount used = cost_uses(f, id, group), own = amount_elements(f, id);
        for (int p = 0; group_stores(f, group, id) && p < FUSE_POINTS; p++)
            if (own.at[p] > used.at[p]) used.at[p] = own.at[p];
        for (int p = 0; product != NODE_none && id > product && p < FUSE_POINTS; p++)
            if (own.at[p] < used.at[p]) used.at[p] = own.at[p];
        group->evaluations.data[i] = used;
    }
}

static double total(Amount a) {
    double sum = 0;
    for (int p = 0; p < FUSE_POINTS; p++) sum += a.at[p];
    return sum;
}

static Amount time_of(const Fuser *f, const Group *group) {
    Work work = cost_of_group(f, group);
    return cost_work_time(f, &work);
}

/* Over all settings together; rows behind a product, which have fewer grid points than both apart,
 * at the usual one as well. */
static bool is_cheaper(const Fuser *f, const Group *merged, Amount before, Refusal *out_refusal) {
    Amount after = time_of(f, merged);
    bool usual = band_product(f, merged) == NODE_none || after.at[1] < before.at[1];
    if (usual && total(after) < total(before)) return true;
    *out_refusal = refusal(REASON_slower);
    refusal_note(out_refusal, "fused ns", after.at[1]);
    refusal_note(out_refusal, "apart ns", before.at[1]);
    return false;
}

static bool is_buildable(Fuser *f, const Group *merged, Refusal *out_refusal) {
    const char *skeleton = group_skeleton(f, merged, merged->nodes.count, out_refusal);
    if (skeleton == NULL) return false;
    const char *fault = group_fault(f, merged, merged->nodes.count, skeleton);
    if (fault) *out_refusal = refusal_saying(REASON_no_skeleton, fault);
    return fault == NULL;
}

/* The merged group; NULL with the reason, and all as it was. */
static Group *try_merge(Fuser *f, Group *a, Group *b, Refusal *out_refusal) {
    if (!may_merge(f, a, b, out_refusal)) return NULL;
    if (count_results(f, a, b) > FUSE_MAX_OUTPUTS) {
        *out_refusal = refusal(REASON_outputs);
        return NULL;
    }
    Amount before = time_of(f, a), more = time_of(f, b);
    for (int p = 0; p < FUSE_POINTS; p++) before.at[p] += more.at[p];
    SavedGroups *saved;
    Group *merged = make_merged(f, a, b, &saved);
    count_evaluations(f, merged);
    bool good = !group_has_cycle(f, merged);
    if (!good) *out_refusal = refusal(REASON_cycle);
    good =
        good && is_cheaper(f, merged, before, out_refusal) && is_buildable(f, merged, out_refusal);
    if (good) return merged;
    undo(f, merged, saved);
    return NULL;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static Str pair_key(const Group *a, const Group *b, uint32_t *words) {
    words[0] = a->id;
    words[1] = b->id;
    return (Str){(const char *)words, 2 * sizeof *words};
}

/* What is saved: the bytes of tensors between the two or read by both, and a launch. */
static double gain_of(const Fuser *f, const Group *a, const Group *b) {
    Work x = cost_of_group(f, a), y = cost_of_group(f, b);
    double bytes = 0;
    for (uint32_t i = 0; i < y.sources.count; i++) {
        NodeId id = y.sources.items[i];
        bool shared = group_has(a, id);
        for (uint32_t k = 0; k < x.sources.count; k++) shared |= x.sources.items[k] == id;
        if (shared) bytes += amount_bytes(f, id).at[1];
    }
    return cost_time_at(f, bytes, 0);
}

static void add_pair(Merger *m, Group *a, Group *b) {
    uint32_t words[2];
    if (a == b || a->gone || b->gone || map_get(&m->seen, pair_key(a, b, words))) return;
    map_set(&m->seen, pair_key(a, b, words), a);
    heap_push(m, (Pair){a, b, gain_of(m->f, a, b)});
}

static uint32_t count_users(const Fuser *f, NodeId id) {
    return f->user_start[id + 1] - f->user_start[id];
}

static void add_siblings(Merger *m, Group *group, NodeId reader) {
    const GroupList *in = &m->f->in[reader];
    for (size_t k = 0; k < in->count; k++) {
        if (group->id < in->data[k]->id)
            add_pair(m, group, in->data[k]);
        else
            add_pair(m, in->data[k], group);
    }
}

/* Of many readers of a tensor each is paired with those before and after it. */
static void add_neighbours(Merger *m, Group *group, NodeId reader, NodeId id) {
    const Fuser *f = m->f;
    uint32_t lo = f->user_start[id], end = f->user_start[id + 1], hi = end;
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (f->users[middle] < reader)
            lo = middle + 1;
        else
            hi = middle;
    }
    if (lo > f->user_start[id]) add_siblings(m, group, f->users[lo - 1]);
    while (lo < end && f->users[lo] == reader) lo++;
    if (lo < end) add_siblings(m, group, f->users[lo]);
}

/* The groups that read a leaf that node `reader` of the group reads. */
static void add_fellows(Merger *m, Group *group, NodeId reader, NodeId leaf) {
    const Fuser *f = m->f;
    if (count_users(f, leaf) > FUSE_MAX_GROUPS) {
        add_neighbours(m, group, reader, leaf);
        return;
    }
    for (uint32_t u = f->user_start[leaf]; u < f->user_start[leaf + 1]; u++)
        add_siblings(m, group, f->users[u]);
}

/* The groups that read what the group stores. */
static void add_readers(Merger *m, Group *group, NodeId id) {
    const Fuser *f = m->f;
    if (count_users(f, id) > FUSE_MAX_GROUPS) return;
    for (uint32_t u = f->user_start[id]; u < f->user_start[id + 1]; u++) {
        const GroupList *in = &f->in[f->users[u]];
        for (size_t k = 0; k < in->count; k++) add_pair(m, group, in->data[k]);
    }
}

static void add_pairs(Merger *m, Group *group) {
    const Fuser *f = m->f;
    for (size_t i = 0; i < group->nodes.count; i++) {
        NodeId id = group->nodes.data[i];
        const Node *node = graph_node(f->graph, id);
        if (group_stores(f, group, id)) add_readers(m, group, id);
        for (uint32_t k = 0; k < node->arg_count; k++) {
            NodeId arg = node->args[k];
            if (group_has(group, arg)) continue;
            if (f->in[arg].count > 0)
                add_pair(m, f->in[arg].data[0], group);
            else if (!f->is_constant[arg])
                add_fellows(m, group, id, arg);
        }
    }
}

void fuse_merge(Fuser *f) {
    Merger m = {.f = f};
    m.seen.arena = f->arena;
    size_t count = f->groups.count;
    for (size_t i = 0; i < count; i++) add_pairs(&m, f->groups.data[i]);
    while (m.heap.count > 0) {
        Pair pair = heap_pop(&m);
        if (pair.from->gone || pair.to->gone) continue;
        Refusal why = {0};
        Group *merged = try_merge(f, pair.from, pair.to, &why);
        if (merged == NULL) {
            fuse_keep_reason(f, pair.from, pair.to, &why);
            continue;
        }
        pair.from->gone = pair.to->gone = true;
        add_pairs(&m, merged);
    }
}
