// From graphs to programs: one kernel an op, buffers in planned places, and the program run over
// them.
#include "ir/program_tools.h"
#include "passes/memory/plan.h"
#include "tests/unit/passes_support.h"

static Program *compile(Bench *b, const Graph *g, const char *passes) {
    b->ctx.options.passes = str_from(passes);
    PassResult result = {.program = NULL};
    CHECK(passes_run(&b->ctx, b->arena, g, &result));
    return result.program;
}

// Runs graph and program on random inputs and compares all outputs, to the last bit.
static void check_program(Bench *b, const Graph *g, const Program *program,
                          const int64_t *symbols) {
    uint64_t seed = 11;
    Tensor *inputs = NEW_ARRAY(b->arena, Tensor, g->inputs.count);
    for (size_t i = 0; i < g->inputs.count; i++) {
        inputs[i] = test_tensor(b->arena, graph_type(g, g->inputs.data[i]), symbols, &seed);
    }
    Tensor *want = test_eval(b->arena, g, inputs, symbols);
    Tensor *got = NEW_ARRAY(b->arena, Tensor, g->outputs.count);
    const char *message = "";
    if (!CHECK(program_eval(program, inputs, symbols, b->arena, got, &message))) {
        printf("    %s\n", message);
        return;
    }
    for (size_t i = 0; i < g->outputs.count; i++) {
        CHECK_INT(first_difference(&want[i], &got[i], 0), -1);
    }
}

static const char road[] = "inline,decompose,single,schedule,memory";

static void test_chain_runs_in_place(void) {
    Bench b;
    bench_open(&b);
    Graph *g = bench_graph(&b);
    NodeId x = graph_add_input(g, STR("x"), TYPE(&b, DT_f32, 100), NULL), y = x;
    for (int i = 0; i < 6; i++) y = build_unary(g, i % 2 ? OP_exp : OP_neg, y);
    graph_add_output(g, STR("y"), y);
    Program *program = compile(&b, g, road);
    CHECK_INT(program->launches.count, 6);
    CHECK_INT(program->kernels.count, 2);
    CHECK_INT(program->buckets[0].arena_bytes, 448);
    bool flags[2] = {false, false};
    program_find_aliases(program, 1, flags);
    CHECK(flags[0] && flags[1]);
    check_program(&b, g, program, NULL);
    bench_close(&b);
}

static void test_outputs_that_are_not_results(void) {
    Bench b;
    bench_open(&b);
    Graph *g = bench_graph(&b);
    NodeId x = graph_add_input(g, STR("x"), TYPE(&b, DT_f32, 3), NULL);
    float numbers[] = {1, 2, 3};
    NodeId c = build_const(g, graph_type(g, x), numbers, sizeof numbers);
    NodeId y = build_binary(g, OP_add, x, c);
    graph_add_output(g, STR("a"), y);
    graph_add_output(g, STR("b"), y);
    graph_add_output(g, STR("c"), x);
    graph_add_output(g, STR("d"), c);
    graph_add_output(g, STR("e"), build_scalar(g, DT_i32, 7));
    graph_add_output(g, STR("f"), build_iota(g, TYPE(&b, DT_i64, 4), 0));
    Program *program = compile(&b, g, road);
    CHECK_INT(program->launches.count, 6);
    CHECK_INT(program->constants.count, 1);
    check_program(&b, g, program, NULL);
    bench_close(&b);
}

static void test_several_results(void) {
    Bench b;
    bench_open(&b);
    Graph *g = bench_graph(&b);
    NodeId x = graph_add_input(g, STR("x"), TYPE(&b, DT_f32, 4, 6), NULL);
    Attr attrs[] = {{.i = 1}, {.i = 1}};
    NodeId sorted = build_op(g, OP_sort, &x, 1, attrs);
    NodeId values = build_item(g, sorted, 0);
    graph_add_output(g, STR("v"), build_unary(g, OP_neg, values));
    graph_add_output(g, STR("i"), build_item(g, sorted, 1));
    Program *program = compile(&b, g, road);
    check_program(&b, g, program, NULL);
    bench_close(&b);
}

// A diamond whose left arm must survive the right one.
static Graph *diamond(Bench *b, const Type *type) {
    Graph *g = bench_graph(b);
    NodeId x = graph_add_input(g, STR("x"), type, NULL);
    NodeId left = build_unary(g, OP_exp, x), right = build_unary(g, OP_neg, x);
    for (int i = 0; i < 4; i++) right = build_unary(g, i % 2 ? OP_neg : OP_abs, right);
    int64_t perm[] = {1, 0};
    NodeId turned = build_permute(g, right, perm);
    graph_add_output(g, STR("y"), build_binary(g, OP_sub, left, build_permute(g, turned, perm)));
    graph_add_output(g, STR("z"), turned);
    return g;
}

static void test_buckets_follow_dims(void) {
    Bench b;
    bench_open(&b);
    const DimSymbol *n = dim_new_symbol(b.ir, SYMBOL_named, STR("N"), 1, 256, 32, NULL);
    const Dim *dims[] = {dim_of_symbol(b.ir, n), dim_const(b.ir, 5)};
    Graph *g = diamond(&b, type_tensor(b.ir, DT_f32, 2, dims));
    Program *program = compile(&b, g, road);
    CHECK_INT(program->bucket_count, 4);
    int64_t ends[] = {4, 16, 64, 256};
    for (int i = 0; i < 4; i++) CHECK_INT(program->buckets[i].hi[0], ends[i]);
    for (int i = 1; i < 4; i++) {
        CHECK(program->buckets[i].arena_bytes > program->buckets[i - 1].arena_bytes);
    }
    int64_t symbols[] = {1};
    CHECK_INT(n->id, 0);
    for (int64_t size = 1; size <= 256; size += 51) {
        symbols[0] = size;
        check_program(&b, g, program, symbols);
    }
    symbols[0] = 257;
    CHECK_INT(program_bucket(program, symbols), 4);
    bench_close(&b);
}

static void test_param_without_value_is_an_error(void) {
    Bench b;
    bench_open(&b);
    Graph *g = bench_graph(&b);
    Attr attrs[] = {{.str = ir_string(b.ir, STR("w"))}, {.blob = NULL}};
    NodeId w = graph_add(g, OP_param, TYPE(&b, DT_f32, 3), NULL, 0, attrs, NULL, 0, NULL);
    graph_add_output(g, STR("y"), build_unary(g, OP_neg, w));
    b.ctx.options.passes = STR("single,memory");
    PassResult result;
    CHECK(!passes_run(&b.ctx, b.arena, g, &result));
    CHECK_STR(b.last_error, "parameter-value");
    bench_close(&b);
}

static void test_schedule_overrides(void) {
    Bench b;
    bench_open(&b);
    Graph *g = bench_graph(&b);
    NodeId x = graph_add_input(g, STR("x"), TYPE(&b, DT_f32, 3), NULL);
    graph_add_output(g, STR("y"), build_unary(g, OP_neg, x));
    ScheduleOverride overrides[] = {{STR("*"), STR("unroll=4")}, {STR("neg_1"), STR("unroll=2")}};
    b.ctx.options.schedules = overrides;
    b.ctx.options.schedule_count = 2;
    Program *program = compile(&b, g, road);
    CHECK_INT(program->kernels.data[0].schedule.unroll, 2);
    overrides[1].kernel = STR("nothing");
    PassResult result;
    CHECK(!passes_run(&b.ctx, b.arena, g, &result));
    CHECK_STR(b.last_error, "schedule-kernel");
    overrides[1] = (ScheduleOverride){STR("*"), STR("unroll=99")};
    CHECK(!passes_run(&b.ctx, b.arena, g, &result));
    CHECK_STR(b.last_error, "schedule");
    overrides[1] = (ScheduleOverride){STR("*"), STR("nr=24")};
    b.ctx.target = target_find(STR("x86-64-v3"));
    CHECK(!passes_run(&b.ctx, b.arena, g, &result));
    CHECK_STR(b.last_error, "schedule");
    overrides[1] = (ScheduleOverride){STR("*"), STR("mr=7,nr=16")}; // 17 of 16 registers
    CHECK(!passes_run(&b.ctx, b.arena, g, &result));
    CHECK_STR(b.last_error, "schedule");
    bench_close(&b);
}

// What the verifier is for: each damage to a good program is found.
static void test_verifier_finds_faults(void) {
    Bench b;
    bench_open(&b);
    Program *p = compile(&b, diamond(&b, TYPE(&b, DT_f32, 30, 4)), road);
    CHECK_STR(program_verify(p, b.arena) ? "fault" : "none", "none");
    uint32_t arena[2], count = 0;
    for (uint32_t i = 0; i < p->buffers.count; i++) {
        if (p->buffers.data[i].kind == BUFFER_arena && count < 2) arena[count++] = i;
    }
    CHECK_INT(count, 2);
    Buffer *first = &p->buffers.data[arena[0]], *second = &p->buffers.data[arena[1]];
    int64_t offset = second->offset[0];
    second->offset[0] = first->offset[0];
    CHECK(program_verify(p, b.arena) != NULL);
    second->offset[0] = offset + 4;
    CHECK(program_verify(p, b.arena) != NULL);
    second->offset[0] = p->buckets[0].arena_bytes;
    CHECK(program_verify(p, b.arena) != NULL);
    second->offset[0] = offset;
    uint32_t *buffers = (uint32_t *)p->launches.data[1].buffers, old = buffers[1];
    buffers[1] = arena[0];
    CHECK(program_verify(p, b.arena) != NULL);
    buffers[1] = old;
    const Type *type = first->type;
    first->type = TYPE(&b, DT_f32, 4, 30);
    CHECK(program_verify(p, b.arena) != NULL);
    first->type = type;
    const Str *name = p->kernels.data[0].name;
    p->kernels.data[0].name = p->kernels.data[1].name;
    CHECK(program_verify(p, b.arena) != NULL);
    p->kernels.data[0].name = ir_string(b.ir, STR("no-identifier"));
    CHECK(program_verify(p, b.arena) != NULL);
    p->kernels.data[0].name = name;
    CHECK_STR(program_verify(p, b.arena) ? "fault" : "none", "none");
    bench_close(&b);
}

// Random blocks: no two overlap in time and place, and the arena is no smaller than the bound.
static void test_plans_of_random_blocks(void) {
    Arena *arena = arena_new(NULL);
    uint64_t seed = 9;
    double waste = 0;
    for (int round = 0; round < 60; round++) {
        uint32_t count = 1 + (uint32_t)(test_random(&seed) % 40);
        PlanBlock *blocks = NEW_ARRAY(arena, PlanBlock, count);
        for (uint32_t i = 0; i < count; i++) {
            blocks[i].first = (uint32_t)(test_random(&seed) % 30);
            blocks[i].last = blocks[i].first + (uint32_t)(test_random(&seed) % 8);
            blocks[i].bytes = 64 * (1 + (int64_t)(test_random(&seed) % 50));
        }
        int64_t bytes = plan_blocks(arena, blocks, count);
        int64_t bound = plan_lower_bound(arena, blocks, count);
        CHECK(bytes >= bound);
        waste += (double)bytes / (double)bound - 1;
        for (uint32_t i = 0; i < count; i++) {
            CHECK(blocks[i].offset >= 0 && blocks[i].offset + blocks[i].bytes <= bytes);
            for (uint32_t k = 0; k < i; k++) {
                bool together =
                    blocks[i].first <= blocks[k].last && blocks[k].first <= blocks[i].last;
                bool apart = blocks[i].offset + blocks[i].bytes <= blocks[k].offset ||
                             blocks[k].offset + blocks[k].bytes <= blocks[i].offset;
                CHECK(!together || apart);
            }
        }
    }
    CHECK(waste / 60 < 0.05);
    arena_free(arena);
}

static Program *read_text(Bench *b, Str text) {
    uint32_t file = diags_add_file(b->ctx.diags, STR("test.program"), text);
    return program_read(b->ir, b->arena, b->ctx.diags, file, NULL, NULL);
}

static void test_text(void) {
    Bench b;
    bench_open(&b);
    Program *p = compile(&b, diamond(&b, TYPE(&b, DT_f32, 30, 4)), road);
    Buf buf = {.arena = b.arena}, again = {.arena = b.arena};
    buf_program(&buf, p);
    CHECK(strstr(buf.data, "program \"test\" for \"x86-64-v3\" {"));
    CHECK(strstr(buf.data, "arena, launches "));
    CHECK(strstr(buf.data, "kernel exp_"));
    Program *read = read_text(&b, buf_str(&buf));
    if (CHECK(read != NULL)) {
        buf_program(&again, read);
        CHECK_STR(again.data, buf.data);
    }
    bench_close(&b);
}

// Without one of its lines, or cut behind it, a text is refused or means a sound program.
static void test_damaged_text(void) {
    Bench b;
    bench_open(&b);
    Program *p = compile(&b, diamond(&b, TYPE(&b, DT_f32, 30, 4)), road);
    Buf buf = {.arena = b.arena};
    buf_program(&buf, p);
    uint32_t lines = 0, refused = 0;
    for (const char *line = buf.data; *line; lines++) {
        const char *next = strchr(line, '\n') + 1;
        Buf without = {.arena = b.arena};
        buf_put(&without, (Str){buf.data, (size_t)(line - buf.data)});
        CHECK(read_text(&b, buf_str(&without)) == NULL);
        buf_put(&without, str_from(next));
        refused += read_text(&b, buf_str(&without)) == NULL;
        line = next;
    }
    CHECK_INT(refused, lines);
    bench_close(&b);
}

int main(void) {
    RUN(test_chain_runs_in_place);
    RUN(test_outputs_that_are_not_results);
    RUN(test_several_results);
    RUN(test_buckets_follow_dims);
    RUN(test_param_without_value_is_an_error);
    RUN(test_schedule_overrides);
    RUN(test_verifier_finds_faults);
    RUN(test_plans_of_random_blocks);
    RUN(test_text);
    RUN(test_damaged_text);
    return test_done();
}
