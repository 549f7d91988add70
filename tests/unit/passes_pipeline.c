// Pipelines: what may stand where, what facts graphs have, and what the runner does around passes.
#include "base/file.h"
#include "passes/compare.h"
#include "passes/fold/fold.h"
#include "tests/unit/passes_support.h"

#include <unistd.h>

static Pipeline pipeline_of(Bench *b, const char *names) {
    Pipeline pipeline;
    const char *message = NULL;
    PassOptions options = {.passes = str_from(names)};
    CHECK(pipeline_from_options(&options, FACT_unfused, b->arena, &pipeline, &message));
    return pipeline;
}

static void test_levels_are_legal(void) {
    Bench b;
    bench_open(&b);
    for (int level = 0; level <= 3; level++) {
        Pipeline pipeline;
        const char *message = NULL;
        CHECK(pipeline_from_options(&(PassOptions){.level = level}, FACT_unfused, b.arena,
                                    &pipeline, &message));
        CHECK_STR(pipeline_fault(&pipeline, FACT_unfused, b.arena) ? "fault" : "none", "none");
        CHECK_INT(pipeline.items[pipeline.count - 1], PASS_memory);
    }
    bench_close(&b);
}

static void check_fault(Bench *b, const char *names, uint32_t facts, const char *want) {
    Pipeline pipeline = pipeline_of(b, names);
    const char *fault = pipeline_fault(&pipeline, facts, b->arena);
    CHECK_STR(fault ? fault : "none", want);
}

static void test_broken_constraints_are_named(void) {
    Bench b;
    bench_open(&b);
    uint32_t plain = FACT_inlined | FACT_unfused;
    check_fault(&b, "fold,decompose", plain,
                "decompose must stand before fold: decompose leaves constants, identities and "
                "slices for fold to clean up");
    check_fault(&b, "decompose,fold", plain, "none");
    check_fault(&b, "fold", FACT_unfused, "fold is not possible here: calls must be inlined first");
    check_fault(&b, "fold", FACT_inlined,
                "fold is not possible here: it works on ops, not on kernels");
    check_fault(&b, "memory", plain,
                "memory is not possible here: ops must be fused into kernels first");
    check_fault(&b, "single,memory,schedule", plain,
                "schedule must stand before memory: a program's kernels carry their schedules");
    check_fault(&b, "single,memory,memory", plain,
                "memory makes the program, so nothing can follow it");
    check_fault(&b, "single,single", plain,
                "single is not possible here: it works on ops, not on kernels");
    bench_close(&b);
}

static void test_names_are_checked(void) {
    Bench b;
    bench_open(&b);
    Pipeline pipeline;
    const char *message = NULL;
    PassOptions options = {.passes = STR("inline,folt")};
    CHECK(!pipeline_from_options(&options, FACT_unfused, b.arena, &pipeline, &message));
    CHECK_STR(message, "no pass \"folt\"");
    options = (PassOptions){.level = 2, .skip = STR("fold,nothing")};
    CHECK(!pipeline_from_options(&options, FACT_unfused, b.arena, &pipeline, &message));
    CHECK_STR(message, "no pass \"nothing\"");
    options.skip = STR("fold");
    CHECK(pipeline_from_options(&options, FACT_unfused, b.arena, &pipeline, &message));
    for (uint32_t i = 0; i < pipeline.count; i++) CHECK(pipeline.items[i] != PASS_fold);
    Buf many = {.arena = b.arena};
    for (int i = 0; i < 40; i++) buf_put(&many, STR("fold,"));
    options = (PassOptions){.passes = buf_str(&many)};
    CHECK(!pipeline_from_options(&options, FACT_unfused, b.arena, &pipeline, &message));
    CHECK_STR(message, "too many passes at \"fold\"");
    bench_close(&b);
}

// A call of a function with two parameters, inside a call of another.
static Graph *calling_graph(Bench *b) {
    const Type *type = TYPE(b, DT_f32, 4);
    Graph *inner = bench_graph(b), *outer = bench_graph(b), *g = bench_graph(b);
    NodeId x = graph_add_input(inner, STR("x"), type, NULL);
    Attr named[] = {{.str = ir_string(b->ir, STR("w"))},
                    {.blob = ir_blob(b->ir, "0123456789abcdef", 16)}};
    NodeId w = graph_add(inner, OP_param, type, NULL, 0, named, NULL, 0, NULL);
    graph_add_output(inner, STR(""), build_binary(inner, OP_mul, x, w));
    graph_add_output(inner, STR(""), build_unary(inner, OP_neg, x));
    x = graph_add_input(outer, STR("x"), type, NULL);
    Attr call[] = {{.str = ir_string(b->ir, STR("f"))}, {.str = ir_string(b->ir, STR("layer1"))}};
    const Graph *regions[] = {inner};
    const Type *types[] = {type, type};
    NodeId pair =
        graph_add(outer, OP_call, type_tuple(b->ir, 2, types), &x, 1, call, regions, 1, NULL);
    graph_add_output(
        outer, STR(""),
        build_binary(outer, OP_add, build_item(outer, pair, 0), build_item(outer, pair, 1)));
    x = graph_add_input(g, STR("x"), type, NULL);
    const Graph *outers[] = {outer};
    NodeId y = x;
    for (int i = 0; i < 2; i++) {
        call[1].str = ir_string(b->ir, i ? STR("block2") : STR("block1"));
        y = graph_add(g, OP_call, type, &y, 1, call, outers, 1, NULL);
    }
    graph_add_output(g, STR("y"), y);
    return g;
}

static void test_facts(void) {
    Bench b;
    bench_open(&b);
    Graph *g = bench_graph(&b);
    NodeId x = graph_add_input(g, STR("x"), TYPE(&b, DT_f32, 4), NULL);
    CHECK_INT(graph_facts(g), FACT_inlined | FACT_unfused | FACT_fused);
    build_unary(g, OP_neg, x);
    CHECK_INT(graph_facts(g), FACT_inlined | FACT_unfused);
    CHECK_INT(graph_facts(calling_graph(&b)), FACT_unfused);
    bench_close(&b);
}

static void test_inline(void) {
    Bench b;
    bench_open(&b);
    Graph *g = calling_graph(&b);
    b.ctx.options.passes = STR("inline");
    PassResult result;
    CHECK(passes_run(&b.ctx, b.arena, g, &result));
    CHECK_INT(count_op(result.graph, OP_call), 0);
    CHECK_INT(count_op(result.graph, OP_param), 2);
    bool found[2] = {false, false};
    for (size_t i = 0; i < result.graph->nodes.count; i++) {
        const Node *node = &result.graph->nodes.data[i];
        if (node->op != OP_param) continue;
        found[0] |= str_equal(*node->attrs[0].str, STR("block1.layer1.w"));
        found[1] |= str_equal(*node->attrs[0].str, STR("block2.layer1.w"));
    }
    CHECK(found[0] && found[1]);
    uint64_t seed = 3;
    Tensor x = test_tensor(b.arena, TYPE(&b, DT_f32, 4), NULL, &seed);
    Tensor *before = test_eval(b.arena, g, &x, NULL);
    Tensor *after = test_eval(b.arena, result.graph, &x, NULL);
    CHECK_INT(first_difference(before, after, 0), -1);
    bench_close(&b);
}

static Graph *simple_graph(Bench *b) {
    Graph *g = bench_graph(b);
    NodeId x = graph_add_input(g, STR("x"), TYPE(b, DT_f32, 8), NULL);
    NodeId y = build_unary(g, OP_neg, build_unary(g, OP_neg, x));
    NodeId two = build_fill(g, graph_type(g, x), 2);
    y = build_unary(g, OP_exp, build_binary(g, OP_div, y, two));
    graph_add_output(g, STR("y"), y);
    return g;
}

typedef struct Dumps {
    Str text;
    int count;
} Dumps;

static void keep_dump(void *user, Str pass, Str text) {
    Dumps *dumps = user;
    dumps->count++;
    CHECK(pass.size > 0 && text.size > 0);
    dumps->text = text.size < 32 ? text : STR("");
}

static void test_runner_counts_dumps_and_limits(void) {
    Bench b;
    bench_open(&b);
    Graph *g = simple_graph(&b);
    Dumps dumps = {.count = 0};
    b.ctx.hooks = (PassHooks){.dump = keep_dump, .user = &dumps};
    b.ctx.options.dump_letters = STR("F");
    b.ctx.options.dump_after = STR("inline");
    b.ctx.options.passes = STR("inline,fold");
    PassResult all, none, one;
    CHECK(passes_run(&b.ctx, b.arena, g, &all));
    CHECK_INT(dumps.count, 2);
    CHECK_INT(count_op(all.graph, OP_neg), 0);
    CHECK_INT(count_op(all.graph, OP_div), 0);
    CHECK_INT(b.ctx.stats.count, 2);
    CHECK(!b.ctx.stats.data[0].changed && b.ctx.stats.data[1].changed);
    CHECK(b.ctx.stats.data[1].rewrites >= 2 && b.ctx.stats.data[1].seconds >= 0);
    b.ctx.options.rewrite_limit = 0;
    b.ctx.rewrites = 0;
    CHECK(passes_run(&b.ctx, b.arena, g, &none));
    CHECK(graph_equal(g, none.graph));
    b.ctx.options.rewrite_limit = 1;
    CHECK(passes_run(&b.ctx, b.arena, g, &one));
    CHECK_INT(count_op(one.graph, OP_neg) + 2 * count_op(one.graph, OP_div), 2);
    CHECK_INT(b.ctx.rewrites, 1);
    bench_close(&b);
}

static void test_dumps_go_to_files(void) {
    Bench b;
    bench_open(&b);
    char dir[] = "/tmp/tcc-dumps-XXXXXX";
    CHECK(mkdtemp(dir) != NULL);
    b.ctx.options.passes = STR("inline,fold,single,memory");
    b.ctx.options.dump_after = STR("all");
    b.ctx.options.dump_dir = str_from(dir);
    PassResult result;
    CHECK(passes_run(&b.ctx, b.arena, simple_graph(&b), &result));
    static const char *const names[] = {"00-inline", "01-fold", "02-single", "03-memory"};
    static const char *const begins[] = {"(unchanged)", "tir 1", "tir 1", "tir 1"};
    for (int i = 0; i < 4; i++) {
        Str path = str_format(b.arena, "%s/%s.tir", dir, names[i]), text;
        CHECK(file_read(b.arena, b.ctx.diags, (Loc){0}, path, 1 << 20, &text) == STATUS_ok);
        CHECK(str_starts_with(text, str_from(begins[i])));
        unlink(path.data);
    }
    CHECK(rmdir(dir) == 0);
    b.ctx.options.dump_dir = STR("/dev/null/at/all");
    CHECK(!passes_run(&b.ctx, b.arena, simple_graph(&b), &result));
    CHECK_STR(b.last_error, "cannot-write");
    bench_close(&b);
}

static void test_remark_text(void) {
    Bench b;
    bench_open(&b);
    b.ctx.pass = "fuse";
    Remark remark = {.rule = "output", .kind = REMARK_missed, .where = STR("exp_4")};
    remark.text = STR("it is a result");
    remark.number_count = 2;
    remark.numbers[0] = (RemarkNumber){"bytes", 1024};
    remark.numbers[1] = (RemarkNumber){"us", 1.5};
    pass_remark(&b.ctx, &remark);
    Buf buf = {.arena = b.arena};
    buf_remark(&buf, &b.ctx.remarks.data[0]);
    CHECK_STR(buf.data, "fuse: output missed at exp_4: it is a result (bytes 1024, us 1.5)");
    bench_close(&b);
}

static void test_wrong_pipelines_are_diagnosed(void) {
    Bench b;
    bench_open(&b);
    b.ctx.options.passes = STR("single,fold");
    PassResult result;
    CHECK(!passes_run(&b.ctx, b.arena, simple_graph(&b), &result));
    CHECK_STR(b.last_error, "pipeline");
    bench_close(&b);
}

static void test_list_shows_every_pass(void) {
    Bench b;
    bench_open(&b);
    Buf buf = {.arena = b.arena};
    passes_print_list(&buf);
    for (PassId id = 0; id < PASS_count; id++) CHECK(strstr(buf.data, pass_info(id)->name));
    char letters[128] = {0};
    for (PassId id = 0; id < PASS_count; id++) {
        CHECK_INT(letters[(int)pass_info(id)->letter]++, 0);
    }
    bench_close(&b);
}

// docs/passes.md shows what --list-passes prints, and every rule of fold.
static void test_the_page_is_up_to_date(void) {
    Bench b;
    bench_open(&b);
    Str page;
    CHECK(file_read(b.arena, b.ctx.diags, (Loc){0}, STR("docs/passes.md"), 1 << 20, &page) ==
          STATUS_ok);
    Buf buf = {.arena = b.arena};
    passes_print_list(&buf);
    CHECK(strstr(page.data, buf.data));
    for (uint32_t i = 0; fold_row(i); i++) {
        const FoldRow *row = fold_row(i);
        Str line = str_format(b.arena, "| `%s` | %s | %s |", row->name, row->algebra,
                              row->sum_class ? "sum" : "exact");
        if (!CHECK(strstr(page.data, line.data))) printf("    %s\n", line.data);
    }
    bench_close(&b);
}

int main(void) {
    RUN(test_the_page_is_up_to_date);
    RUN(test_levels_are_legal);
    RUN(test_broken_constraints_are_named);
    RUN(test_names_are_checked);
    RUN(test_facts);
    RUN(test_inline);
    RUN(test_runner_counts_dumps_and_limits);
    RUN(test_dumps_go_to_files);
    RUN(test_remark_text);
    RUN(test_wrong_pipelines_are_diagnosed);
    RUN(test_list_shows_every_pass);
    return test_done();
}
