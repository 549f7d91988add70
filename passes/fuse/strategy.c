/* Strategies of a row: all are priced at the dims' tune values, the best that codegen has is taken,
 * and the numbers are kept.
 *
 *   resident  what the sweeps read again fits a cache: memory is read once
 *   sweep     each sweep reads memory again
 *   stream    one sweep by what the cascade derives, and one for results as large as the row
 *   cut       a kernel for each sweep, with what it leaves stored in between */
#include "passes/fuse/strategy.h"

#include "passes/fuse/cascade.h"
#include "passes/fuse/cost.h"
#include "passes/fuse/reduction.h"

typedef struct Row {
    const Fuser *f;
    double read, stored, flops; /* of the whole kernel */
    double live;                /* bytes that a worker's sweeps read again */
    bool has_rows;              /* results as large as the row */
} Row;

static double tuned(Amount a) { return a.at[1]; }

static NodeId first_reduction(const Fuser *f, const Group *group) {
    for (size_t i = 0; i < group->nodes.count; i++)
        if (reduction_is(f, group->nodes.data[i])) return group->nodes.data[i];
    return NODE_none;
}

/* Where vectors run across rows, as many rows are live as a vector has lanes. */
static double rows_at_once(const Fuser *f, NodeId reduction) {
    ReduceClass class = reduction_class(f, reduction);
    bool last = class.type->rank > 0 && (class.axes >> (class.type->rank - 1) & 1);
    return last ? 1 : (double)f->ctx->target->lanes;
}

static Row describe(const Fuser *f, const Group *group, NodeId reduction) {
    Work work = cost_of_group(f, group);
    ReduceClass class = reduction_class(f, reduction);
    double domain = tuned(amount_of_dim(f, type_elements(f->ctx->ir, class.type)));
    double rows = tuned(amount_elements(f, reduction)), together = rows_at_once(f, reduction);
    Row row = {.f = f, .stored = tuned(work.stored), .flops = tuned(work.flops)};
    for (uint32_t i = 0; i < work.sources.count; i++) {
        double bytes = tuned(amount_bytes(f, work.sources.items[i]));
        bool whole = tuned(amount_elements(f, work.sources.items[i])) < domain;
        row.read += bytes;
        row.live += whole || rows < 1 ? bytes : bytes / rows * together;
    }
    for (size_t i = 0; i < group->nodes.count; i++) {
        NodeId id = group->nodes.data[i];
        bool large = tuned(amount_elements(f, id)) == domain && domain != rows;
        row.has_rows |= large && group_stores(f, group, id);
    }
    return row;
}

/* Nanoseconds when memory is read `times` times. */
static double time_of(const Row *row, double times) {
    return cost_time_at(row->f, row->read * times + row->stored, row->flops);
}

/* Each further kernel reads the row and what the last one left. */
static double time_cut(const Row *row, uint32_t sweeps) {
    uint32_t kernels = sweeps + row->has_rows;
    double again = cost_time_at(row->f, row->read, row->flops / kernels);
    return time_of(row, 1) + (kernels - 1) * again;
}

/* Equal regions are analysed once. */
static const Cascade *find_cascade(Fuser *f, const Graph *region) {
    Verdict *verdict = group_judge(f, region, "row");
    if (!verdict->cascade) verdict->cascade = cascade_analyse(&f->axes, f->arena, verdict->region);
    return verdict->cascade;
}

static void note(Remark *remark, const char *name, double value) {
    remark->numbers[remark->number_count++] = (RemarkNumber){name, value};
}

static Remark price(const Row *row, const Cascade *cascade, bool fits) {
    Remark remark = {.rule = "fuse-strategy", .kind = REMARK_choice};
    bool streams = cascade->derived_sweeps < cascade->sweeps || cascade->sweeps == 1;
    remark.text = fits ? STR("resident: what sweeps read again stays in the cache")
                       : STR("sweep: a row does not stay in the cache");
    note(&remark, "live bytes", row->live);
    note(&remark, "sweeps", cascade->sweeps + row->has_rows);
    if (fits) note(&remark, "resident ns", time_of(row, 1));
    note(&remark, "sweep ns", time_of(row, cascade->sweeps + row->has_rows));
    if (streams) note(&remark, "stream ns", time_of(row, cascade->derived_sweeps + row->has_rows));
    note(&remark, "cut ns", time_cut(row, cascade->sweeps));
    return remark;
}

const char *fuse_choose_strategy(Fuser *f, const Group *group, const Graph *region, Str name) {
    NodeId reduction = first_reduction(f, group);
    if (reduction == NODE_none) return "";
    const Cascade *cascade = find_cascade(f, region);
    if (cascade == NULL) return "sweep";
    Row row = describe(f, group, reduction);
    bool fits = row.live <= (double)fuser_prices(f)->l2_bytes / 2;
    Remark remark = price(&row, cascade, fits);
    remark.where = name;
    remark.origin = graph_node(f->graph, group->newest)->origin;
    pass_remark(f->ctx, &remark);
    return fits ? "resident" : "sweep";
}
