#include "tests/support/fuse_check.h"

#include "base/guard.h"
#include "codegen/skeleton/skeleton.h"
#include "ir/text.h"
#include "passes/kernel.h"
#include "tests/support/kernel_case.h"

#include <math.h>
#include <string.h>

typedef struct Checker {
    const FuseCheck *check;
    Arena *arena;
    PassContext ctx;
    CostModel cost;
} Checker;

static const char *describe(const Checker *c, const char *what, const Graph *graph) {
    Buf buf = {.arena = c->arena};
    buf_print(&buf, "%s\n", what);
    print_graph(&buf, graph, &(PrintOptions){.origins = false});
    return buf.data;
}

static const Graph *run(Checker *c, Str passes, const Graph *graph) {
    PassResult result = {.program = NULL};
    c->ctx.options.passes = passes;
    return passes_run(&c->ctx, c->arena, graph, &result) ? result.graph : NULL;
}

static EvalValue *evaluate(const Checker *c, const Graph *graph, const char **out_message) {
    EvalValue *results = NEW_ARRAY(c->arena, EvalValue, graph->outputs.count);
    EvalOptions options = {.symbols = c->check->symbols};
    EvalError error;
    bool good =
        eval_graph(graph, c->check->inputs, &options, c->arena, results, &error, out_message);
    return good ? results : NULL;
}

// What the passes before fuse made of the graph: within the bounds of a relaxed sum.
static const char *check_before(const Checker *c, const Graph *before) {
    const Graph *graph = c->check->graph;
    EvalValue *want = NEW_ARRAY(c->arena, EvalValue, graph->outputs.count);
    EvalOptions options = {.symbols = c->check->symbols, .bounds = true, .relax = 8};
    EvalError error;
    const char *message = "";
    if (!eval_graph(graph, c->check->inputs, &options, c->arena, want, &error, &message))
        return describe(c, message, graph);
    const EvalValue *got = evaluate(c, before, &message);
    if (!got) return describe(c, message, before);
    for (size_t i = 0; i < graph->outputs.count; i++) {
        for (int64_t k = 0; k < tensor_elements(&want[i].tensor); k++) {
            double x = tensor_get(&want[i].tensor, k), y = tensor_get(&got[i].tensor, k);
            double bound = want[i].bound ? want[i].bound[k] : 0;
            if (x == y || (isnan(x) && isnan(y)) || bound == INFINITY || fabs(x - y) <= bound)
                continue;
            return describe(c, "the passes before changed a value", before);
        }
    }
    return NULL;
}

static bool same(const Tensor *a, const Tensor *b) {
    if (a->dtype != b->dtype || a->rank != b->rank || tensor_elements(a) != tensor_elements(b))
        return false;
    for (int64_t i = 0; i < tensor_elements(a); i++) {
        double x = tensor_get(a, i), y = tensor_get(b, i);
        bool nan = dtype_is_float(a->dtype) && isnan(x) && isnan(y);
        bool equal = dtype_is_float(a->dtype) ? x == y && signbit(x) == signbit(y)
                                              : tensor_get_int(a, i) == tensor_get_int(b, i);
        if (!nan && !equal) return false;
    }
    return true;
}

static const char *check_values(const Checker *c, const Graph *before, const Graph *after) {
    const char *message = "";
    const EvalValue *want = evaluate(c, before, &message);
    if (!want) return describe(c, message, before);
    const EvalValue *got = evaluate(c, after, &message);
    if (!got) return describe(c, message, after);
    for (size_t i = 0; i < before->outputs.count; i++)
        if (!same(&want[i].tensor, &got[i].tensor)) {
            Buf buf = {.arena = c->arena};
            buf_print(&buf, "output %zu differs\n", i);
            print_graph(&buf, before, &(PrintOptions){.origins = false});
            print_graph(&buf, after, &(PrintOptions){.origins = false});
            return buf.data;
        }
    return NULL;
}

// One kernel on the values that its operands have.
static const char *run_kernel(const Checker *c, const Node *kernel, const EvalValue *operands) {
    const char *fault = NULL;
    Str skeleton = *node_attr(kernel, "skeleton").str;
    bool legal = c->cost.legal(c->cost.self, kernel->regions[0], skeleton, STR(""), c->ctx.target,
                               c->arena, &fault);
    if (!legal || c->check->kernels == FUSE_kernels_built) return legal ? NULL : fault;
    // What is run on all targets was judged for one: another may have no kernel for it.
    const Target *gpu = target_find(STR("sm_80"));
    if (!c->cost.legal(c->cost.self, kernel->regions[0], skeleton, STR(""), gpu, c->arena, &fault))
        return NULL;
    KernelCase test = {.ctx = c->check->ctx,
                       .region = kernel->regions[0],
                       .skeleton = skeleton,
                       .strategy = *node_attr(kernel, "strategy").str,
                       .symbols = c->check->symbols,
                       .inputs = operands,
                       .compile = c->check->kernels == FUSE_kernels_compiled};
    return kernel_case_run(&test, c->arena);
}

// A graph whose outputs are the operands of all kernels, so that their values are known.
static const Graph *with_operands(const Checker *c, const Graph *fused) {
    Graph *graph = graph_copy(c->arena, fused);
    graph->outputs.count = 0;
    for (NodeId id = 0; id < fused->nodes.count; id++) {
        const Node *node = graph_node(fused, id);
        for (uint32_t i = 0; node->op == OP_kernel && i < node->arg_count; i++)
            graph_add_output(graph, STR("operand"), node->args[i]);
    }
    return graph;
}

static const char *check_kernels(const Checker *c, const Graph *fused, FuseResult *out_result) {
    const char *message = "";
    const EvalValue *operands = evaluate(c, with_operands(c, fused), &message);
    if (!operands) return describe(c, message, fused);
    for (NodeId id = 0; id < fused->nodes.count; id++) {
        const Node *node = graph_node(fused, id);
        OpClass class = op_info(node->op)->class;
        if (class != CLASS_LEAF && class != CLASS_ITEM && class != CLASS_KERNEL)
            return describe(c, "an op was left outside of kernels", fused);
        if (class != CLASS_KERNEL) continue;
        out_result->kernels++;
        const char *fault = run_kernel(c, node, operands);
        if (fault) return describe(c, fault, node->regions[0]);
        operands += node->arg_count;
    }
    return NULL;
}

const char *fuse_check(const FuseCheck *check, Arena *arena, FuseResult *out_result) {
    Checker c = {.check = check, .arena = arena, .cost = skeleton_cost_model(check->ctx)};
    *out_result = (FuseResult){.fused = NULL};
    c.ctx = (PassContext){.ir = check->ctx, .arena = arena, .cost = &c.cost};
    c.ctx.diags = diags_new(arena, NULL, NULL, 0);
    c.ctx.target = target_find(STR("x86-64-v3"));
    c.ctx.options = (PassOptions){.level = 2, .rewrite_limit = -1, .round_trip = true};
    const Graph *before = check->passes.size ? run(&c, check->passes, check->graph) : check->graph;
    const Graph *after = before ? run(&c, STR("fuse"), before) : NULL;
    if (!after) return describe(&c, "a pass reported an error", check->graph);
    out_result->fused = after;
    for (size_t i = 0; i < c.ctx.remarks.count; i++)
        if (strcmp(c.ctx.remarks.data[i].pass, "fuse") == 0)
            vec_push(arena, &out_result->remarks, c.ctx.remarks.data[i]);
    const char *fault = check->regroups ? NULL : check_before(&c, before);
    if (!fault) fault = check_values(&c, before, after);
    return fault ? fault : check_kernels(&c, after, out_result);
}
