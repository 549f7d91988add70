/* The table of passes, and what a pass asks of its context. */
#include "passes/pass.h"

#include "ir/text.h"

static const PassInfo passes[PASS_count] = {
#define PASS(name, letter, from, to, needs, gives, breaks, meaning)                                \
    {#name, letter, from, to, needs, gives, breaks, meaning, pass_##name},
#define PROGRAM_PASS(name, letter, from, to, needs, gives, breaks, meaning)                        \
    {#name, letter, from, to, needs, gives, breaks, meaning, NULL},
#include "passes/passes.def"
};

const PassInfo *pass_info(PassId id) { return &passes[id]; }

bool pass_find(Str name, PassId *out_id) {
    for (PassId id = 0; id < PASS_count; id++) {
        if (!str_equal(name, str_from(passes[id].name))) continue;
        *out_id = id;
        return true;
    }
    return false;
}

/* ---- rewrites -------------------------------------------------------------------------------- */

enum { SHOWN_DEPTH = 3, SHOWN_NODES = 12 };

/* The node behind those that it is made from, each once. */
static void list_nodes(const Graph *graph, NodeId id, int depth, NodeId *list, uint32_t *count) {
    const Node *node = graph_node(graph, id);
    for (uint32_t i = 0; i < *count; i++)
        if (list[i] == id) return;
    for (uint32_t i = 0; depth > 1 && i < node->arg_count; i++)
        list_nodes(graph, node->args[i], depth - 1, list, count);
    if (*count < SHOWN_NODES) list[(*count)++] = id;
}

static Str show_node(const PassContext *ctx, const Graph *graph, NodeId id) {
    NodeId list[SHOWN_NODES];
    uint32_t count = 0;
    Buf buf = {.arena = ctx->arena};
    list_nodes(graph, id, SHOWN_DEPTH, list, &count);
    for (uint32_t i = 0; i < count; i++) {
        print_node(&buf, graph, list[i]);
        buf_char(&buf, '\n');
    }
    return buf_str(&buf);
}

bool pass_allows(PassContext *ctx, const char *rule, const Graph *graph, NodeId id) {
    int64_t limit = ctx->options.rewrite_limit;
    if (limit >= 0 && ctx->rewrites >= limit) return false;
    ctx->rewrites++;
    if (ctx->rewrites == limit) {
        ctx->last = (PassRewrite){.pass = ctx->pass,
                                  .rule = rule,
                                  .before = show_node(ctx, graph, id),
                                  .origin = graph_node(graph, id)->origin};
        if (ctx->hooks.rewrite) ctx->hooks.rewrite(ctx->hooks.user, &ctx->last);
    }
    return true;
}

void pass_became(PassContext *ctx, const Graph *graph, NodeId id) {
    if (ctx->rewrites != ctx->options.rewrite_limit) return;
    ctx->last.after = show_node(ctx, graph, id);
    if (ctx->hooks.rewrite) ctx->hooks.rewrite(ctx->hooks.user, &ctx->last);
}

void pass_remark(PassContext *ctx, const Remark *remark) {
    Remark kept = *remark;
    kept.pass = ctx->pass;
    kept.where = str_copy(ctx->arena, remark->where);
    kept.text = str_copy(ctx->arena, remark->text);
    vec_push(ctx->arena, &ctx->remarks, kept);
}

void buf_remark(Buf *buf, const Remark *remark) {
    static const char *const kinds[] = {"made", "missed", "chosen"};
    buf_print(buf, "%s: %s %s", remark->pass, remark->rule, kinds[remark->kind]);
    if (remark->where.size) buf_print(buf, " at %.*s", STR_ARG(remark->where));
    if (remark->text.size) buf_print(buf, ": %.*s", STR_ARG(remark->text));
    for (uint32_t i = 0; i < remark->number_count; i++) {
        buf_print(buf, "%s%s ", i ? ", " : " (", remark->numbers[i].name);
        buf_double(buf, remark->numbers[i].value);
    }
    if (remark->number_count) buf_char(buf, ')');
}

static const struct {
    PassFact fact;
    const char *name;
} fact_names[] = {{FACT_inlined, "inlined"}, {FACT_unfused, "unfused"}, {FACT_fused, "fused"}};

static Str facts_text(Arena *arena, uint32_t facts) {
    Buf buf = {.arena = arena};
    for (size_t i = 0; i < sizeof fact_names / sizeof *fact_names; i++) {
        if (!(facts & fact_names[i].fact)) continue;
        buf_print(&buf, "%s%s", buf.size ? "," : "", fact_names[i].name);
    }
    if (!buf.size) buf_char(&buf, '-');
    return buf_str(&buf);
}

void passes_print_list(Buf *buf) {
    buf_print(buf, "%-10s %-4s %-6s %-18s %-18s %s\n", "pass", "dump", "levels", "needs", "gives",
              "what it does");
    for (PassId id = 0; id < PASS_count; id++) {
        const PassInfo *info = &passes[id];
        const char *levels = info->from == info->to
                                 ? str_format(buf->arena, "-O%d", info->from).data
                                 : str_format(buf->arena, "-O%d-%d", info->from, info->to).data;
        buf_print(buf, "%-10s -d%c  %-6s %-18.*s %-18.*s %s\n", info->name, info->letter, levels,
                  STR_ARG(facts_text(buf->arena, info->needs)),
                  STR_ARG(facts_text(buf->arena, info->gives)), info->meaning);
    }
}

void passes_print_times(Buf *buf, const PassContext *ctx) {
    buf_print(buf, "%-10s %9s %8s %8s %10s %9s\n", "pass", "ms", "nodes", "after", "bytes",
              "rewrites");
    for (size_t i = 0; i < ctx->stats.count; i++) {
        const PassStat *stat = &ctx->stats.data[i];
        buf_print(buf, "%-10s %9.3f %8u %8u %10llu %9lld%s\n", stat->pass, stat->seconds * 1e3,
                  stat->nodes_before, stat->nodes_after, (unsigned long long)stat->bytes,
                  (long long)stat->rewrites, stat->changed ? "" : "  (unchanged)");
    }
}
