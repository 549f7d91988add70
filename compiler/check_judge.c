/* What the evaluator says of a kernel or model, and how compiled results are compared with it. */
#include "compiler/check.h"
#include "ir/excess.h"
#include "ir/infer.h"

void check_compare(Checker *c, const Expected *e) {
    tcc_check_result r = {.kernel = str_terminated(c->arena, e->kernel), .output = e->output};
    compare_tensors(e->got, e->want, e->kept, e->scope, &r);
    r.error = e->error;
    if (!r.agrees) c->mismatch = true;
    if (c->callback != NULL) c->callback(c->user, &r);
}

void check_put_index(Buf *buf, int64_t index, int64_t bound) {
    buf_print(buf, "index %lld is not in %lld..%lld", (long long)index, (long long)-bound,
              (long long)(bound - 1));
}

const char *check_index_text(const Checker *c, const Graph *graph, const EvalError *error) {
    Buf buf = {.arena = c->arena};
    if (!error->failed) return NULL;
    Loc loc = origin_loc(graph_node(graph, error->node)->origin);
    diags_put_place(&buf, c->unit->core->diags, loc);
    if (buf.size > 0) buf_put(&buf, STR(": "));
    check_put_index(&buf, error->index, error->bound);
    return buf.data;
}

tcc_status check_same_report(Checker *c, const char *what, Str name, bool failed,
                             const char *compiled, const char *expected) {
    if (failed == (expected != NULL)) return TCC_OK;
    c->mismatch = true;
    return compiler_fail(c->unit->compiler, TCC_MISMATCH,
                         "%s %.*s: only %s reports an index out of range: %s", what, STR_ARG(name),
                         failed ? "the compiled code" : "the evaluator",
                         failed ? compiled : expected);
}

EvalValue *check_evaluate_kept(const Checker *c, const Graph *graph, const EvalValue *args,
                               const Tensor *const *got, const EvalValue *want) {
    const Options *o = &c->unit->core->options;
    size_t count = graph->outputs.count;
    bool open = false;
    for (size_t i = 0; i < count; i++) open = open || compare_is_open(got[i], &want[i]);
    if (!open || o->round_everywhere || o->level == 0) return NULL;
    bool whole = graph == check_program(c)->graph;
    const Graph *kept = whole ? excess_kernels(graph, c->arena) : excess_region(graph, c->arena);
    EvalValue *results = NEW_ARRAY(c->arena, EvalValue, count);
    EvalOptions options = {.bounds = true, .symbols = c->symbols};
    EvalError error = {0};
    const char *message = NULL;
    bool good = eval_graph(kept, args, &options, c->arena, results, &error, &message);
    return good ? results : NULL;
}
