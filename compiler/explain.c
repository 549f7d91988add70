/* The decisions of the passes for people. */
#include "compiler/session.h"
#include "ir/infer.h"

typedef struct ExplainCall {
    tcc_unit *unit;
    Str show;
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

static void put_number(Buf *buf, const RemarkNumber *number) {
    buf_print(buf, " %s=", number->name);
    buf_double(buf, number->value);
}

static void put_place(ExplainCall *call, const Origin *origin) {
    Loc loc = origin_loc(origin);
    if (loc.file == 0 || loc.line == 0) return;
    Str path = diags_file_path(call->unit->diags, loc.file);
    buf_print(&call->buf, "%.*s:%u:%u: ", STR_ARG(path), loc.line, loc.column);
}

static void put_remark(ExplainCall *call, const Remark *remark) {
    static const char *const kinds[] = {
        [REMARK_applied] = "did", [REMARK_missed] = "did not", [REMARK_choice] = "chose"};
    buf_put(&call->buf, STR("  "));
    put_place(call, remark->origin);
    buf_print(&call->buf, "%s %s", kinds[remark->kind], remark->rule);
    if (remark->where.size > 0) buf_print(&call->buf, " at %.*s", STR_ARG(remark->where));
    if (remark->text.size > 0) buf_print(&call->buf, ": %.*s", STR_ARG(remark->text));
    for (uint32_t i = 0; i < remark->number_count; i++) put_number(&call->buf, &remark->numbers[i]);
    buf_char(&call->buf, '\n');
}

/* Which part of the report a pass's remarks belong to. */
static const char *part_of(Str pass) {
    if (str_equal(pass, STR("fuse")) || str_equal(pass, STR("single"))) return "fusion";
    if (str_equal(pass, STR("memory"))) return "memory";
    if (str_equal(pass, STR("schedule"))) return "schedule";
    return "plan";
}

static void put_remarks(ExplainCall *call, const char *part) {
    const PassContext *pass = &call->unit->pass;
    for (size_t i = 0; i < pass->remarks.count; i++) {
        const Remark *remark = &pass->remarks.data[i];
        if (str_equal(str_from(part_of(str_from(remark->pass))), str_from(part)))
            put_remark(call, remark);
    }
}

/* The kernels: what is in each, and the bytes that it moves at the dims' tune values. */
static void put_kernels(ExplainCall *call) {
    const Program *p = call->unit->result.program;
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

static void put_memory(ExplainCall *call) {
    const Program *p = call->unit->result.program;
    for (uint32_t b = 0; b < p->bucket_count; b++) {
        buf_print(&call->buf, "  peak %lld bytes", (long long)p->buckets[b].arena_bytes);
        for (size_t d = 0; d < p->dims.count; d++)
            buf_print(&call->buf, "%s%.*s <= %lld", d == 0 ? " for " : ", ",
                      STR_ARG(p->dims.data[d]->name), (long long)p->buckets[b].hi[d]);
        buf_char(&call->buf, '\n');
    }
}

static const struct {
    const char *name;
    void (*put)(ExplainCall *call); /* before the pass's remarks; may be NULL */
} parts[] = {{"fusion", put_kernels}, {"plan", NULL}, {"memory", put_memory}, {"schedule", NULL}};

/* The first name of the list that is no part; empty when all are. */
static Str unknown_part(Str show) {
    for (size_t begin = 0; begin < show.size;) {
        size_t end = begin, i = 0;
        while (end < show.size && show.data[end] != ',') end++;
        Str name = {show.data + begin, end - begin};
        while (i < sizeof parts / sizeof *parts && !str_equal(name, str_from(parts[i].name))) i++;
        if (i == sizeof parts / sizeof *parts) return name;
        begin = end + 1;
    }
    return (Str){0};
}

static tcc_status explain_body(void *data) {
    ExplainCall *call = data;
    call->buf.arena = call->unit->arena;
    Str unknown = unknown_part(call->show);
    if (unknown.size > 0)
        return compiler_fail(call->unit->compiler, TCC_INVALID, "there is no \"%.*s\" to show",
                             STR_ARG(unknown));
    if (call->unit->result.program == NULL)
        return compiler_fail(call->unit->compiler, TCC_INVALID,
                             "the passes that were run make no program");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!wants(call->show, parts[i].name)) continue;
        buf_print(&call->buf, "%s:\n", parts[i].name);
        if (parts[i].put != NULL) parts[i].put(call);
        put_remarks(call, parts[i].name);
    }
    return TCC_OK;
}

tcc_status tcc_unit_explain(tcc_unit *unit, const char *show, const char **out_text,
                            size_t *out_size) {
    ExplainCall call = {.unit = unit, .show = str_from(show)};
    if (out_text != NULL) *out_text = "";
    if (out_size != NULL) *out_size = 0;
    if (out_text == NULL) return compiler_refuse_null(unit_compiler(unit), "out_text");
    if (out_size == NULL) return compiler_refuse_null(unit_compiler(unit), "out_size");
    tcc_status status = compiler_enter(unit_compiler(unit), explain_body, &call);
    if (status != TCC_OK || call.buf.data == NULL) return status;
    *out_text = call.buf.data;
    *out_size = call.buf.size;
    return status;
}
