// The searches of bisect.h as a host uses them, in its own process, and how they judge by what
// `apart` says of each step.
#include <tcc/bisect.h>

#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

static const char model[] = "dim N in 1..9\n"
                            "model m(x: f32[N, 6], i: i64[2]) -> (y: f32[2, 6], z: f32[N]) {\n"
                            "    h = exp(x) * 2.0 + 0.0\n"
                            "    y = gather(h, i)\n"
                            "    z = sum(tanh(h), axis=1)\n"
                            "}\n";

// ---- what calls come to -------------------------------------------------------------------------

typedef struct Found {
    int calls;
    tcc_bisect_report report;
    char pass[32], what[256], inputs[64];
} Found;

static void keep(char *out, size_t size, const char *text) {
    snprintf(out, size, "%s", text ? text : "-");
}

static void take_report(void *user, const tcc_bisect_report *report) {
    Found *found = user;
    found->calls++;
    found->report = *report;
    keep(found->pass, sizeof found->pass, report->pass);
    keep(found->what, sizeof found->what, report->what);
    keep(found->inputs, sizeof found->inputs, report->inputs);
}

static tcc_status search(const char *text, const tcc_search_options *options, Found *found) {
    tcc_compiler *compiler;
    *found = (Found){0};
    if (!CHECK_INT(tcc_compiler_new(&compiler), TCC_OK)) return TCC_MEMORY;
    tcc_status status =
        tcc_bisect_memory(compiler, "m.g", text, strlen(text), options, take_report, found);
    tcc_compiler_free(compiler);
    return status;
}

static void count_lines(void *user, const char *text, size_t size) {
    *(int *)user += size > 0 && text[size - 1] == '\n';
}

static void test_agreement(void) {
    Found found;
    tcc_given_dim dim = {"N", 4};
    tcc_given_input input = {.name = "i", .filling = TCC_FILL_ONES};
    int lines = 0;
    tcc_search_options options = {.size = sizeof options,
                                  .inputs = &input,
                                  .input_count = 1,
                                  .dims = &dim,
                                  .dim_count = 1,
                                  .tries = 3,
                                  .seed = 5,
                                  .on_progress = count_lines,
                                  .progress_user = &lines};
    CHECK_INT(search(model, NULL, &found), TCC_OK);
    CHECK_INT(found.calls, 1);
    CHECK_INT(found.report.part, TCC_PART_NONE);
    CHECK_INT(found.report.sets, 8);
    CHECK_INT(search(model, &options, &found), TCC_OK);
    CHECK_INT(found.report.sets, 3);
    CHECK_INT(lines, 0); // nothing was to be looked for
}

static void test_refusals(void) {
    Found found;
    tcc_given_dim dim = {"N", 10};
    tcc_given_input input = {.name = "j"};
    tcc_search_options options = {.size = sizeof options, .dims = &dim, .dim_count = 1};
    CHECK_INT(search(model, &options, &found), TCC_INVALID);
    options = (tcc_search_options){.size = sizeof options, .inputs = &input, .input_count = 1};
    CHECK_INT(search(model, &options, &found), TCC_INVALID);
    options = (tcc_search_options){.size = 8};
    CHECK_INT(search(model, &options, &found), TCC_INVALID);
    CHECK_INT(search("model m(x: f32[3]) -> (y: f32[3]) { y = z }", NULL, &found), TCC_INVALID);
    CHECK_INT(found.calls, 0);
    CHECK_INT(tcc_bisect_file(NULL, "m.g", NULL, NULL, NULL), TCC_INVALID);
    tcc_probe_run(NULL, NULL);
}

// ---- steps that crash ---------------------------------------------------------------------------

// Says of some probes, by their numbers from 1, that they crashed.
typedef struct Crasher {
    uint32_t crashes, count; // the first: bits by number
    bool slow;
} Crasher;

static tcc_status crash_some(void *user, tcc_probe *probe, void *result, size_t size, char *why,
                             size_t why_size) {
    Crasher *crasher = user;
    void *room = calloc(1, size);
    if (!room) return TCC_MEMORY;
    tcc_probe_run(probe, room);
    memcpy(result, room, size);
    free(room);
    if ((crasher->crashes >> ++crasher->count & 1) == 0) return TCC_OK;
    snprintf(why, why_size, "crashes for a test");
    return crasher->slow ? TCC_ENVIRONMENT : TCC_INTERNAL;
}

static void search_crash(uint32_t crashes, Found *found) {
    Crasher crasher = {.crashes = crashes};
    tcc_search_options options = {
        .size = sizeof options, .tries = 2, .apart = crash_some, .apart_user = &crasher};
    CHECK_INT(search(model, &options, found), TCC_MISMATCH);
    CHECK_INT(found->calls, 1);
    CHECK_INT(found->report.kind, TCC_KIND_CRASH);
    CHECK(strstr(found->what, "crashes for a test") != NULL);
}

// Probe 1 reads the model, 2 is the whole, 3 and on are the passes.
static void test_crashes(void) {
    Found found;
    search_crash(1 << 1, &found);
    CHECK_INT(found.report.part, TCC_PART_READING);
    search_crash(1 << 2, &found);
    CHECK_INT(found.report.part, TCC_PART_RUNTIME); // the last stage, and all steps alone are right
    CHECK_STR(found.inputs, "special:1, N=9");
    search_crash(1 << 2 | 1 << 3, &found);
    CHECK_INT(found.report.part, TCC_PART_PASS);
    CHECK_STR(found.pass, "inline");
    CHECK_INT(found.report.rewrite, -1);
    search_crash(1 << 2 | 1 << 5, &found);
    CHECK_STR(found.pass, "fold");
}

// A pass that crashes with every number of rewrites but none: the first of them is named.
static void test_rewrite(void) {
    Found found;
    search_crash(UINT32_MAX & ~(1u << 1 | 1 << 3 | 1 << 4 | 1 << 6), &found);
    CHECK_INT(found.report.part, TCC_PART_PASS);
    CHECK_STR(found.pass, "fold");
    CHECK_INT(found.report.rewrite, 1);
    CHECK(found.report.probes >= 7);
}

// ---- reducing -----------------------------------------------------------------------------------

typedef struct Reduced {
    int calls;
    uint32_t nodes, inputs;
    char text[4096], source[4096];
} Reduced;

static void take_reduced(void *user, const tcc_reduced *reduced) {
    Reduced *r = user;
    r->calls++;
    r->nodes = reduced->nodes;
    r->inputs = reduced->input_count;
    keep(r->text, sizeof r->text, reduced->text);
    keep(r->source, sizeof r->source, reduced->source);
}

static tcc_status want_tanh(void *user, const tcc_reduced *candidate, int32_t *out_wanted) {
    (void)user;
    *out_wanted = strstr(candidate->text, "= tanh") != NULL;
    return TCC_OK;
}

static tcc_status want_first(void *user, const tcc_reduced *candidate, int32_t *out_wanted) {
    int *count = user;
    (void)candidate;
    *out_wanted = (*count)++ == 0;
    return TCC_OK;
}

static tcc_status fail(void *user, const tcc_reduced *candidate, int32_t *out_wanted) {
    (void)user;
    (void)candidate;
    (void)out_wanted;
    return TCC_ENVIRONMENT;
}

static tcc_status reduce(const char *text, tcc_wanted_callback *wanted, void *user,
                         Reduced *reduced) {
    tcc_compiler *compiler;
    *reduced = (Reduced){0};
    if (!CHECK_INT(tcc_compiler_new(&compiler), TCC_OK)) return TCC_MEMORY;
    tcc_status status = tcc_reduce_memory(compiler, "m.g", text, strlen(text), NULL, wanted, user,
                                          take_reduced, reduced);
    tcc_compiler_free(compiler);
    return status;
}

static void test_reduce(void) {
    Reduced reduced;
    CHECK_INT(reduce(model, NULL, NULL, &reduced), TCC_OK);
    CHECK_INT(reduced.calls, 0); // it does not fail
    CHECK_INT(reduce(model, want_tanh, NULL, &reduced), TCC_OK);
    CHECK_INT(reduced.calls, 1);
    CHECK_INT(reduced.nodes, 2);
    CHECK_INT(reduced.inputs, 1);
    CHECK_STR(reduced.source, "model m(x0: f32[1, 1]) -> (y: f32[1, 1]) {\n"
                              "    t1 = tanh(x0)\n"
                              "    y = t1\n"
                              "}\n");
    CHECK_INT(reduce(model, fail, NULL, &reduced), TCC_ENVIRONMENT);
    CHECK_INT(reduced.calls, 0);
}

// Every op of the language that the graphs here have, written back as text that is the same model.
static void test_source(void) {
    static const char *const models[] = {
        "dim N in 2..9\n"
        "model m(x: f32[N, 6]) -> (a: f32[N, 6], b: i64[N], c: f32[6], d: f32[N, 3]) {\n"
        "    a = select(x > 0.5, x, -x) ** 2.0\n"
        "    b = argmax(x, axis=1) + tensor(3)\n"
        "    c = max(x, axis=0) + cum_sum(x[0], axis=0, exclusive=true)\n"
        "    d = x[:, ::2] + reverse(x, 1)[:, 3:]\n"
        "}\n",
        "model m(x: f32[2, 3, 8, 8], w: f32[4, 3, 3, 3]) -> (y: f32[2, 4, 8, 8], z: f32[2, 3, 4, "
        "4]) {\n"
        "    y = conv(x, w, lo=[1, 1], hi=[1, 1])\n"
        "    z = window_max(x, [1, 1, 2, 2], strides=[1, 1, 2, 2])\n"
        "}\n",
        "model m(x: i32[7], i: i64[3]) -> (v: i32[7], k: i64[7], t: i32[7], p: i32[10], e: i32[7, "
        "7]) {\n"
        "    v, k = sort(x, descending=true)\n"
        "    t = scatter_add(x, i, tensor([1, 2, 3], dtype=i32))\n"
        "    p = concat([pad(x, [1], [1], 5), x[:1]])\n"
        "    e = einsum(\"a,b->ab\", x, shift_left(x, cast(iota([7]), to=i32)))\n"
        "}\n"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        Reduced reduced;
        int count = 0;
        CHECK_INT(reduce(models[i], want_first, &count, &reduced), TCC_OK);
        CHECK(strcmp(reduced.source, "-") != 0);
    }
}

int main(void) {
    RUN(test_agreement);
    RUN(test_refusals);
    RUN(test_crashes);
    RUN(test_rewrite);
    RUN(test_reduce);
    RUN(test_source);
    return test_done();
}
