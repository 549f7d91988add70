/* schedule: gives every kernel the schedule that the cost model chooses, with the user's overrides.
 */
#include "ir/schedule.h"
#include "base/messages.h"
#include "ir/infer.h"
#include "passes/kernel.h"
#include "passes/rewrite.h"

/* The overrides that name the kernel, each field replacing that of the text so far. Fields of a
 * text are read in order, so a later one wins when they are joined. */
static Str override(const PassContext *ctx, Str kernel, Str chosen) {
    Buf buf = {.arena = ctx->scratch};
    buf_put(&buf, chosen);
    for (uint32_t i = 0; i < ctx->options.schedule_count; i++) {
        const ScheduleOverride *item = &ctx->options.schedules[i];
        if (!str_equal(item->kernel, kernel) && !str_equal(item->kernel, STR("*"))) continue;
        if (buf.size && item->text.size) buf_char(&buf, ',');
        buf_put(&buf, item->text);
    }
    return buf_str(&buf);
}

/* Registers that a tile takes: its sums of so many bytes, a row of the panel and a broadcast. */
static int64_t registers_of(const Target *target, const Schedule *schedule, int64_t bytes) {
    int64_t wide = (schedule->nr * bytes + target->vector_bytes - 1) / target->vector_bytes;
    return (schedule->mr + 1) * wide + 1;
}

/* What is wrong with it on the target, or NULL: the rows of a register tile, and a block's queries,
 * are whole vectors, and the tile fits the registers. */
static const char *fault_on_target(const PassContext *ctx, const Schedule *schedule,
                                   int64_t sum_bytes) {
    const Target *target = ctx->target;
    if (!target) return NULL;
    int64_t lanes = target->lanes, registers = registers_of(target, schedule, sum_bytes);
    bool fits = target->kind != TARGET_cpu || schedule->mr == 0;
    const char *field = schedule->nr % lanes != 0        ? "nr"
                        : schedule->queries % lanes != 0 ? "queries"
                                                         : NULL;
    if (field == NULL && (fits || registers <= target->vector_registers)) return NULL;
    if (field == NULL)
        return str_format(ctx->scratch, "mr=%lld,nr=%lld takes %lld vector registers of %u",
                          (long long)schedule->mr, (long long)schedule->nr, (long long)registers,
                          target->vector_registers)
            .data;
    int64_t value = schedule->nr % lanes != 0 ? schedule->nr : schedule->queries;
    return str_format(ctx->scratch, "%s=%lld is no multiple of the %lld lanes", field,
                      (long long)value, (long long)lanes)
        .data;
}

/* The text in its canonical form; the empty one after a diagnostic. */
static Str canonical(const PassContext *ctx, const Node *kernel, Str text) {
    Schedule schedule;
    const char *message;
    bool good = schedule_parse(ctx->scratch, text, &schedule, &message);
    if (good) message = fault_on_target(ctx, &schedule, schedule_sum_bytes(kernel->regions[0]));
    if (!good || message) {
        diag_error(ctx->diags, (Loc){0}, MSG_SCHEDULE, STR_ARG(kernel_name(kernel)), message);
        return STR("");
    }
    Buf buf = {.arena = ctx->scratch};
    buf_schedule(&buf, &schedule);
    return buf_str(&buf);
}

static Str choose(const PassContext *ctx, const Node *kernel) {
    Str chosen = STR("");
    if (ctx->cost) {
        chosen = ctx->cost->schedule(ctx->cost->self, kernel->regions[0],
                                     *node_attr(kernel, "skeleton").str,
                                     *node_attr(kernel, "strategy").str, ctx->target, ctx->scratch);
    }
    Str name = kernel_name(kernel);
    return canonical(ctx, kernel, override(ctx, name, chosen));
}

/* A row is sorted in memory of the thread: keys and i64 positions, and a spare copy of both. */
static void check_sort(const PassContext *ctx, const Graph *region, const Node *sort,
                       const Node *kernel) {
    const Type *type = graph_type(region, sort->args[0]);
    const Dim *axis = type->dims[node_attr(sort, "axis").i];
    DType key = dtype_compute(type->dtype);
    int64_t bytes = 0;
    dtype_bytes(key, 1, &bytes);
    int64_t most = TARGET_SCRATCH_BYTES / (2 * (bytes + (int64_t)sizeof(int64_t)));
    if (axis->hi <= most) return;
    const Origin *origin = sort->origin ? sort->origin : kernel->origin;
    diag_error(ctx->diags, origin_loc(origin), MSG_SORT_SIZE, (long long)axis->hi, (long long)most,
               dtype_name(type->dtype));
    origin_notes(ctx->diags, origin);
}

static void check_sorts(const PassContext *ctx, const Node *kernel) {
    const Graph *region = kernel->regions[0];
    for (NodeId id = 0; id < region->nodes.count; id++) {
        const Node *node = graph_node(region, id);
        if (op_info(node->op)->class == CLASS_SORT) check_sort(ctx, region, node, kernel);
    }
}

static NodeId schedule_node(Rewrite *r, NodeId id) {
    const Node *node = graph_node(r->from, id);
    if (node->op != OP_kernel) return NODE_none;
    check_sorts(r->ctx, node);
    NodeId *args = NEW_ARRAY(r->ctx->scratch, NodeId, node->arg_count);
    for (uint32_t i = 0; i < node->arg_count; i++) args[i] = rewrite_arg(r, id, i);
    Str text = choose(r->ctx, node);
    if (text.size) {
        pass_remark(r->ctx, &(Remark){.rule = "schedule",
                                      .kind = REMARK_choice,
                                      .where = kernel_name(node),
                                      .origin = node->origin,
                                      .text = text});
    }
    return kernel_with_schedule(r->to, node, args, text);
}

/* A name that no kernel has is most likely a typing error. */
static void check_names(const PassContext *ctx, const Graph *graph) {
    for (uint32_t i = 0; i < ctx->options.schedule_count; i++) {
        Str name = ctx->options.schedules[i].kernel;
        bool found = str_equal(name, STR("*"));
        for (NodeId id = 0; id < graph->nodes.count && !found; id++) {
            const Node *node = graph_node(graph, id);
            found = node->op == OP_kernel && str_equal(kernel_name(node), name);
        }
        if (!found) diag_error(ctx->diags, (Loc){0}, MSG_SCHEDULE_KERNEL, STR_ARG(name));
    }
}

Graph *pass_schedule(PassContext *ctx, Arena *arena, const Graph *graph) {
    check_names(ctx, graph);
    return rewrite_graph(ctx, arena, graph, schedule_node, NULL);
}
