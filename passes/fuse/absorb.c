/* Absorbing: each node that no seed holds joins all groups that use it, or begins a group.
 *
 * Users have larger ids, so when nodes are taken in falling order every user's groups are known.
 * Movement is an index map and always joins; other maps join when the price is right
 * (cost_prefers_absorbed). A node with users in several groups is computed in each of them. */
#include "passes/fuse/cost.h"
#include "passes/fuse/reduction.h"

/* The groups that use the node. */
static GroupList find_user_groups(Fuser *f, NodeId id) {
    GroupList users = {0};
    f->search++;
    for (uint32_t u = f->user_start[id]; u < f->user_start[id + 1]; u++) {
        const GroupList *in = &f->in[f->users[u]];
        for (size_t i = 0; i < in->count; i++) {
            if (in->data[i]->seen == f->search) continue;
            in->data[i]->seen = f->search;
            vec_push(f->arena, &users, in->data[i]);
        }
    }
    return users;
}

static bool is_tile_walk(const Fuser *f, NodeId id) {
    OpClass class = fuser_class(f, id);
    return class == CLASS_CONTRACT || class == CLASS_CONV || class == CLASS_WINDOW;
}

/* Whether the group reads the node on the way into a contraction, convolution or window. */
static bool is_prologue(const Fuser *f, const Group *group, NodeId id) {
    for (size_t i = 0; i < group->nodes.count; i++) {
        NodeId user = group->nodes.data[i];
        const Node *node = graph_node(f->graph, user);
        bool reads = false;
        for (uint32_t k = 0; k < node->arg_count; k++) reads |= node->args[k] == id;
        if (reads && (group->prologue.data[i] || is_tile_walk(f, user))) return true;
    }
    return false;
}

static bool may_join(const Fuser *f, const Group *group, NodeId id, Refusal *out_refusal) {
    const Ban *ban = fuser_find_ban(f, group->root, id);
    if (ban) {
        *out_refusal = refusal_saying(REASON_no_skeleton, ban->why);
        return false;
    }
    if (group->nodes.count >= FUSE_MAX_NODES || group->code + cost_code(f, id) > FUSE_MAX_CODE) {
        *out_refusal = refusal(REASON_size);
        return false;
    }
    if (fuser_class(f, id) == CLASS_GATHER && is_prologue(f, group, id)) {
        *out_refusal = refusal(REASON_gather_in_loop);
        return false;
    }
    return true;
}

static bool is_free_movement(const Fuser *f, NodeId id) {
    OpClass class = fuser_class(f, id);
    bool moves = (op_info(graph_node(f->graph, id)->op)->flags & FLAG_movement) != 0;
    return moves && class != CLASS_PAD && class != CLASS_CONCAT;
}

static bool joins_users(const Fuser *f, NodeId id, const GroupList *users, Refusal *out_refusal) {
    if (!fuser_is_pointwise(f, id) || users->count == 0) return false;
    if (f->is_output[id]) {
        *out_refusal = refusal(REASON_output);
        return false;
    }
    for (size_t i = 0; i < users->count; i++)
        if (!may_join(f, users->data[i], id, out_refusal)) return false;
    if (is_free_movement(f, id)) return true;
    if (users->count > FUSE_MAX_GROUPS) {
        *out_refusal = refusal(REASON_many_users);
        return false;
    }
    return cost_prefers_absorbed(f, id, users->data, users->count, out_refusal);
}

static void join(Fuser *f, Group *group, NodeId id) {
    Amount evaluations = cost_uses(f, id, group);
    bool prologue = is_prologue(f, group, id);
    group_join(f, group, id);
    group->evaluations.data[group->nodes.count - 1] = evaluations;
    group->prologue.data[group->nodes.count - 1] = prologue;
}

void fuse_absorb(Fuser *f) {
    for (NodeId id = (NodeId)f->graph->nodes.count; id-- > 0;) {
        if (!fuser_is_op(f, id) || f->in[id].count > 0) continue;
        GroupList users = find_user_groups(f, id);
        Refusal why = {0};
        bool joined = joins_users(f, id, &users, &why);
        for (size_t i = 0; joined && i < users.count; i++) join(f, users.data[i], id);
        if (!joined) group_add(f, id);
    }
}
