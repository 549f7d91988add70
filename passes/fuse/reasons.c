/* Reasons: why ops stand in different kernels, as data for `tcc explain`. */
#include "passes/fuse/cost.h"

static const struct {
    const char *rule, *text, *advice;
} reasons[] = {
#define REASON(id, rule, text, advice) {rule, text, advice},
#include "passes/fuse/reasons.def"
#undef REASON
};

Refusal refusal(ReasonId reason) { return (Refusal){.reason = reason}; }

Refusal refusal_saying(ReasonId reason, const char *text) {
    return (Refusal){.reason = reason, .text = text};
}

void refusal_note(Refusal *refused, const char *name, double value) {
    if (refused->number_count < REMARK_MAX_NUMBERS)
        refused->numbers[refused->number_count++] = (RemarkNumber){name, value};
}

/* ---- kept reasons ---------------------------------------------------------------------------- */

static Str edge_key(const Group *from, const Group *to, uint32_t *words) {
    words[0] = from->id;
    words[1] = to->id;
    return (Str){(const char *)words, 2 * sizeof *words};
}

void fuse_keep_reason(Fuser *f, const Group *from, const Group *to, const Refusal *why) {
    uint32_t words[2];
    map_set(&f->reasons, edge_key(from, to, words), arena_copy(f->arena, why, sizeof *why));
}

/* ---- remarks --------------------------------------------------------------------------------- */

Str fuse_kernel_name(const Fuser *f, const Group *group) {
    Refusal ignored;
    const char *skeleton = group_skeleton(f, group, group->nodes.count, &ignored);
    return str_format(f->arena, "%s_%s_%u", skeleton ? skeleton : "none",
                      op_info(graph_node(f->graph, group->newest)->op)->name, group->newest);
}

/* The op that decides how the group's kernel walks its data; NULL when none does. */
static const char *walk_of(const Fuser *f, const Group *group) {
    for (size_t i = group->nodes.count; i-- > 0;) {
        NodeId id = group->nodes.data[i];
        if (fuser_is_heavy(f, id)) return op_info(graph_node(f->graph, id)->op)->name;
    }
    return NULL;
}

/* A reason's own words, with the two ops where they are what it is about. */
static Str reason_text(const Fuser *f, const Refusal *why, const Group *from, const Group *to) {
    const char *first = walk_of(f, from), *second = walk_of(f, to);
    if (why->text) return str_from(why->text);
    if (why->reason != REASON_two_walks) return str_from(reasons[why->reason].text);
    return str_format(f->arena, "%s and %s %s", first ? first : "both", second ? second : "sides",
                      reasons[why->reason].text);
}

static void remark_edge(Fuser *f, const Group *from, const Group *to, NodeId value, NodeId user) {
    uint32_t words[2];
    const Refusal *why = map_get(&f->reasons, edge_key(from, to, words));
    Refusal plain = refusal(REASON_many_users);
    if (why == NULL) why = &plain;
    Remark remark = {.rule = reasons[why->reason].rule, .kind = REMARK_missed, .number_count = 1};
    remark.numbers[0] = (RemarkNumber){"bytes", amount_bytes(f, value).at[1]};
    for (uint32_t i = 0; i < why->number_count && remark.number_count < REMARK_MAX_NUMBERS; i++)
        remark.numbers[remark.number_count++] = why->numbers[i];
    remark.where = str_format(f->arena, "%.*s -> %.*s", STR_ARG(fuse_kernel_name(f, from)),
                              STR_ARG(fuse_kernel_name(f, to)));
    remark.text = reason_text(f, why, from, to);
    remark.advice = str_from(reasons[why->reason].advice);
    remark.origin = graph_node(f->graph, user)->origin;
    pass_remark(f->ctx, &remark);
}

/* One remark for each two kernels with a tensor between them. */
void fuse_remark_edges(Fuser *f) {
    Map done = {.arena = f->arena};
    for (size_t i = 0; i < f->groups.count; i++) {
        Group *to = f->groups.data[i];
        for (size_t n = 0; !to->gone && n < to->nodes.count; n++) {
            const Node *node = graph_node(f->graph, to->nodes.data[n]);
            for (uint32_t k = 0; k < node->arg_count; k++) {
                const GroupList *in = &f->in[node->args[k]];
                uint32_t words[2];
                if (in->count == 0 || group_has(to, node->args[k])) continue;
                if (map_set(&done, edge_key(in->data[0], to, words), to)) continue;
                remark_edge(f, in->data[0], to, node->args[k], to->nodes.data[n]);
            }
        }
    }
}
