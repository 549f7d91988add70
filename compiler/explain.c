/* The decisions of the passes for people. */
#include "compiler/session.h"
#include "ir/infer.h"

/* The parts of the report, in order. */
typedef enum Part { PART_fusion, PART_plan, PART_memory, PART_schedule, PART_gpu, PART_count } Part;

static const char *const part_names[] = {[PART_fusion] = "fusion",
                                         [PART_plan] = "plan",
                                         [PART_memory] = "memory",
                                         [PART_schedule] = "schedule",
                                         [PART_gpu] = "gpu"};

/* Which part a pass's remarks belong to. */
static Part part_of(const char *pass) {
    Str name = str_from(pass);
    if (str_equal(name, STR("fuse")) || str_equal(name, STR("single"))) return PART_fusion;
    if (str_equal(name, STR("memory"))) return PART_memory;
    if (str_equal(name, STR("schedule"))) return PART_schedule;
    return PART_plan;
}

typedef struct ExplainCall {
    tcc_unit *unit;
    Str show;
    const GpuFacts *gpu; /* by kernel; NULL: it is compiled for none */
    Buf buf;
} ExplainCall;

static bool wants(Str show, const char *name) {
    if (show.size == 0) return true;
    Str wanted = str_from(name);
    for (size_t begin = 0; begin <= show.size;) {
        size_t end = begin;
        while (end < show.size && show.data[end] != ',') end++;
        if (str_equal((Str){show.data + begin, end - begin}, wanted)) return true;
        begin = end + 1;
    }
    return false;
}

/* " (bytes 1280, fused ns 210.2)" */
static void put_numbers(Buf *buf, const Remark *remark) {
    for (uint32_t i = 0; i < remark->number_count; i++) {
        const RemarkNumber *number = &remark->numbers[i];
        bool whole = number->value == (double)(int64_t)number->value;
        buf_print(buf, "%s%s %.*f", i == 0 ? " (" : ", ", number->name, whole ? 0 : 1,
                  number->value);
    }
    if (remark->number_count > 0) buf_char(buf, ')');
}

static void put_place(ExplainCall *call, const Origin *origin) {
    Loc loc = origin_loc(origin);
    if (loc.file == 0) return;
    diags_put_place(&call->buf, call->unit->core->diags, loc);
    buf_put(&call->buf, STR(": "));
}

static void put_remark(ExplainCall *call, const Remark *remark) {
    Buf *buf = &call->buf;
    buf_put(buf, STR("  "));
    put_place(call, remark->origin);
    if (remark->kind == REMARK_missed) {
        const char *what = part_of(remark->pass) == PART_fusion ? "not fused" : "not done";
        buf_print(buf, "%.*s: %s [%s]", STR_ARG(remark->where), what, remark->rule);
    } else {
        buf_print(buf, "%s %s", remark->kind == REMARK_choice ? "chose" : "did", remark->rule);
        if (remark->where.size > 0) buf_print(buf, " at %.*s", STR_ARG(remark->where));
    }
    if (remark->text.size > 0) buf_print(buf, ": %.*s", STR_ARG(remark->text));
    put_numbers(buf, remark);
    buf_char(buf, '\n');
}

static bool is_first_of_rule(const PassContext *pass, size_t index) {
    Str rule = str_from(pass->remarks.data[index].rule);
    for (size_t i = 0; i < index; i++)
        if (str_equal(str_from(pass->remarks.data[i].rule), rule)) return false;
    return true;
}

/* What would change a decision, once for each rule. */
static void put_advice(ExplainCall *call, Part part) {
    const PassContext *pass = &call->unit->core->pass;
    bool begun = false;
    for (size_t i = 0; i < pass->remarks.count; i++) {
        const Remark *remark = &pass->remarks.data[i];
        if (part_of(remark->pass) != part || remark->advice.size == 0 || !is_first_of_rule(pass, i))
            continue;
        if (!begun) buf_put(&call->buf, STR("what would change it:\n"));
        begun = true;
        buf_print(&call->buf, "  [%s] %.*s\n", remark->rule, STR_ARG(remark->advice));
    }
}

static void put_remarks(ExplainCall *call, Part part) {
    const PassContext *pass = &call->unit->core->pass;
    for (size_t i = 0; i < pass->remarks.count; i++)
        if (part_of(pass->remarks.data[i].pass) == part) put_remark(call, &pass->remarks.data[i]);
    put_advice(call, part);
}

/* The kernels: what is in each, and the bytes that it moves at the dims' tune values. */
static void put_kernels(ExplainCall *call) {
    const Program *p = call->unit->core->result.program;
    size_t kernels = p->kernels.count, launches = p->launches.count;
    buf_print(&call->buf, "%zu kernel%s, %zu launch%s\n", kernels, kernels == 1 ? "" : "s",
              launches, launches == 1 ? "" : "es");
    for (size_t k = 0; k < p->kernels.count; k++) {
        const Kernel *kernel = &p->kernels.data[k];
        const Graph *region = kernel->region;
        double bytes = 0;
        for (size_t i = 0; i < region->inputs.count; i++)
            bytes += (double)dim_tune_value(
                type_bytes(p->ctx, graph_type(region, region->inputs.data[i])));
        for (size_t i = 0; i < region->outputs.count; i++)
            bytes += (double)dim_tune_value(
                type_bytes(p->ctx, graph_type(region, region->outputs.data[i].node)));
        buf_print(&call->buf, "  %.*s: %.*s of", STR_ARG(*kernel->name),
                  STR_ARG(*kernel->skeleton));
        for (NodeId id = 0; id < region->nodes.count; id++) {
            const OpInfo *info = op_info(graph_node(region, id)->op);
            if (info->class != CLASS_LEAF && (info->flags & FLAG_movement) == 0)
                buf_print(&call->buf, " %s", info->name);
        }
        buf_print(&call->buf, "; %.0f bytes\n", bytes);
    }
}

/* The memory pass's one remark a bucket has what the plan's own figure leaves out. */
static const Remark *find_plan(const ExplainCall *call, uint32_t bucket) {
    const PassContext *pass = &call->unit->core->pass;
    for (size_t i = 0; i < pass->remarks.count; i++) {
        const Remark *remark = &pass->remarks.data[i];
        if (part_of(remark->pass) == PART_memory && remark->numbers[0].value == bucket)
            return remark;
    }
    return NULL;
}

static void put_memory(ExplainCall *call) {
    const Program *p = call->unit->core->result.program;
    for (uint32_t b = 0; b < p->bucket_count; b++) {
        buf_print(&call->buf, "  peak %lld bytes", (long long)p->buckets[b].arena_bytes);
        for (size_t d = 0; d < p->dims.count; d++)
            buf_print(&call->buf, "%s%.*s <= %lld", d == 0 ? " for " : ", ",
                      STR_ARG(p->dims.data[d]->name), (long long)p->buckets[b].hi[d]);
        const Remark *plan = find_plan(call, b);
        if (plan != NULL && plan->numbers[3].value > 0)
            buf_print(&call->buf, " (%.0f places, any plan takes at least %.0f bytes)",
                      plan->numbers[3].value, plan->numbers[2].value);
        buf_char(&call->buf, '\n');
    }
}

/* How kernels are launched there. */
static void put_gpu(ExplainCall *call) {
    const Program *p = call->unit->core->result.program;
    if (call->gpu == NULL) {
        buf_put(&call->buf, STR("  it is compiled for no GPU (--target=native,sm_80)\n"));
        return;
    }
    for (size_t k = 0; k < p->kernels.count; k++) {
        const TccGpuLaunch *shape = &call->gpu[k].shape;
        buf_print(&call->buf, "  %s %.*s: blocks of %u threads take %u points, %u shared bytes\n",
                  call->unit->core->gpu->name, STR_ARG(*p->kernels.data[k].name), shape->threads,
                  shape->points_per_block, shape->shared_bytes);
    }
}

/* The first name of the list that is no part; empty when all are. */
static Str unknown_part(Str show) {
    for (size_t begin = 0; begin < show.size;) {
        size_t end = begin, i = 0;
        while (end < show.size && show.data[end] != ',') end++;
        Str name = {show.data + begin, end - begin};
        while (i < PART_count && !str_equal(name, str_from(part_names[i]))) i++;
        if (i == PART_count) return name;
        begin = end + 1;
    }
    return (Str){0};
}

static void put_part(ExplainCall *call, Part part) {
    buf_print(&call->buf, "%s:\n", part_names[part]);
    if (part == PART_fusion) put_kernels(call);
    if (part == PART_memory)
        put_memory(call);
    else if (part == PART_gpu)
        put_gpu(call);
    else
        put_remarks(call, part);
}

/* Nobody who compiles for no GPU wants to read of one. */
static bool shows(const ExplainCall *call, Part part) {
    bool asked = call->show.size > 0;
    if (part == PART_gpu && !asked) return call->gpu != NULL;
    return wants(call->show, part_names[part]);
}

Str unit_explanation(tcc_unit *unit) {
    ExplainCall call = {.unit = unit, .buf = {.arena = unit->arena}};
    if (unit->core->gpu != NULL) call.gpu = unit->core->gpu_image.facts;
    for (int part = 0; part < PART_count; part++)
        if (shows(&call, (Part)part)) put_part(&call, (Part)part);
    return buf_str(&call.buf);
}

static tcc_status explain_body(void *data) {
    ExplainCall *call = data;
    call->buf.arena = call->unit->arena;
    Str unknown = unknown_part(call->show);
    if (unknown.size > 0)
        return compiler_fail(call->unit->compiler, TCC_INVALID, "there is no \"%.*s\" to show",
                             STR_ARG(unknown));
    if (call->unit->core->result.program == NULL)
        return compiler_fail(call->unit->compiler, TCC_INVALID,
                             "the passes that were run make no program");
    GpuFacts *gpu = NULL;
    tcc_status status = unit_gpu_facts(call->unit, &gpu);
    if (status != TCC_OK) return status;
    call->gpu = gpu;
    for (int part = 0; part < PART_count; part++)
        if (shows(call, (Part)part)) put_part(call, (Part)part);
    return TCC_OK;
}

tcc_status tcc_unit_explain(tcc_unit *unit, const char *show, const char **out_text,
                            size_t *out_size) {
    ExplainCall call = {.unit = unit, .show = str_from(show)};
    if (out_text != NULL) *out_text = "";
    if (out_size != NULL) *out_size = 0;
    if (out_text == NULL) return compiler_refuse_null(unit_compiler(unit), "out_text");
    if (out_size == NULL) return compiler_refuse_null(unit_compiler(unit), "out_size");
    tcc_status status = unit_enter(unit, explain_body, &call);
    if (status != TCC_OK || call.buf.data == NULL) return status;
    *out_text = call.buf.data;
    *out_size = call.buf.size;
    return status;
}
