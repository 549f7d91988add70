/* The smallest model that still fails: passes/reduce makes candidates, each of which is read as a
 * text, compiled and run as a whole in a probe of its own. */
#include "passes/reduce/reduce.h"
#include "compiler/source.h"
#include "compiler/subject.h"
#include "ir/text.h"

#include <ctype.h>
#include <string.h>

enum { USUAL_SECONDS = 300 };

typedef struct Reduction {
    Subject s;
    tcc_wanted_callback *wanted;
    void *wanted_user;
    Outcome first, last; /* of the given model; of the last candidate that fails likewise */
    tcc_status status;   /* of a callback that failed */
} Reduction;

/* ---- candidates as the host sees them -------------------------------------------------------- */

typedef struct Shown {
    tcc_reduced reduced;
    tcc_array **arrays;
    GuardDefer defer;
} Shown;

static void free_arrays(void *object) {
    const Shown *shown = object;
    for (uint32_t i = 0; i < shown->reduced.input_count; i++) tcc_array_free(shown->arrays[i]);
}

static Str case_text(Arena *arena, const GraphCase *c) {
    Module module = {.ctx = c->ctx, .arena = arena};
    Buf buf = {.arena = arena};
    vec_push(arena, &module.models, graph_copy(arena, c->graph));
    print_module(&buf, &module, &(PrintOptions){.origins = false});
    print_blobs(&buf, &module);
    return buf_str(&buf);
}

/* Ended by end_shown, or by a guard that is raised. */
static void begin_shown(const Reduction *r, Arena *arena, const GraphCase *c, Shown *shown) {
    uint32_t count = (uint32_t)c->graph->inputs.count;
    const char **names = NEW_ARRAY(arena, const char *, count + 1);
    Str text = case_text(arena, c);
    *shown = (Shown){.arrays = NEW_ARRAY(arena, tcc_array *, count + 1)};
    shown->reduced = (tcc_reduced){.size = sizeof shown->reduced,
                                   .text = text.data,
                                   .text_size = text.size,
                                   .nodes = (uint32_t)c->graph->nodes.count,
                                   .input_count = count,
                                   .input_names = names,
                                   .inputs = (const tcc_array *const *)shown->arrays,
                                   .probes = r->s.probes};
    guard_defer(&shown->defer, free_arrays, shown);
    for (uint32_t i = 0; i < count; i++) {
        const Tensor *t = &c->inputs[i];
        const Node *node = graph_node(c->graph, c->graph->inputs.data[i]);
        names[i] = str_terminated(arena, *node_attr(node, "name").str);
        if (tcc_array_new(r->s.compiler, (int32_t)t->dtype, t->rank, t->dims, &shown->arrays[i]))
            guard_raise(GUARD_memory, "out of memory");
        memcpy(tcc_array_tensor(shown->arrays[i])->data, t->data, tensor_bytes(t));
    }
}

static void end_shown(Shown *shown) {
    guard_undefer(&shown->defer);
    free_arrays(shown);
}

/* ---- whether a candidate fails likewise ------------------------------------------------------ */

typedef struct Candidate {
    Str path, text;
    uint32_t input_count;
    const char *const *names;
    const tcc_tensor *inputs;
} Candidate;

static void close_subject(void *subject) { subject_close(subject); }

/* The candidate is a model of its own, with one set of inputs, in this very process. */
static void probe_candidate(Subject *outer, const void *data, ProbeResult *result) {
    const Candidate *candidate = data;
    GuardDefer defer;
    Subject s = {.compiler = outer->compiler,
                 .source = {.path = candidate->path, .in_memory = true, .text = candidate->text}};
    tcc_given_input *given = NEW_ARRAY(outer->arena, tcc_given_input, candidate->input_count + 1);
    for (uint32_t i = 0; i < candidate->input_count; i++)
        given[i] = (tcc_given_input){.name = candidate->names[i], .value = &candidate->inputs[i]};
    s.search = (tcc_search_options){.size = sizeof s.search,
                                    .inputs = given,
                                    .input_count = candidate->input_count,
                                    .tries = 1};
    guard_defer(&defer, close_subject, &s);
    result->status = subject_open(&s);
    if (result->status == TCC_OK) probe_whole(&s, &(WholeProbe){0}, result);
    guard_undefer(&defer);
    subject_close(&s);
}

static Outcome try_text(Reduction *r, Arena *arena, const Shown *shown, Str path, Str text) {
    Outcome outcome;
    tcc_tensor *inputs = NEW_ARRAY(arena, tcc_tensor, shown->reduced.input_count + 1);
    for (uint32_t i = 0; i < shown->reduced.input_count; i++)
        inputs[i] = *tcc_array_tensor(shown->arrays[i]);
    Candidate candidate = {.path = path,
                           .text = text,
                           .input_count = shown->reduced.input_count,
                           .names = shown->reduced.input_names,
                           .inputs = inputs};
    subject_probe(&r->s, probe_candidate, &candidate, &outcome);
    return outcome;
}

static Outcome try_case(Reduction *r, Arena *arena, const GraphCase *c) {
    Shown shown;
    begin_shown(r, arena, c, &shown);
    Str text = {shown.reduced.text, shown.reduced.text_size};
    Outcome outcome = try_text(r, arena, &shown, STR("reduced.tir"), text);
    end_shown(&shown);
    return outcome;
}

/* Whether two messages have the same letters, but for names, numbers and what stands before the
 * last colon. */
static bool same_words(const char *a, const char *b) {
    const char *last_a = strrchr(a, ':'), *last_b = strrchr(b, ':');
    a = last_a != NULL ? last_a : a;
    b = last_b != NULL ? last_b : b;
    for (;; a++, b++) {
        while (*a != 0 && !isalpha((unsigned char)*a)) a++;
        while (*b != 0 && !isalpha((unsigned char)*b)) b++;
        if (*a == 0 || *a != *b) return *a == *b;
    }
}

/* Values may differ by any number; errors say the like. */
static bool fails_likewise(const Outcome *a, const Outcome *b) {
    if (b->result.status == TCC_OK || b->result.status == TCC_INVALID) return false;
    if (a->crashed != b->crashed || a->result.status != b->result.status) return false;
    if (a->result.stage != b->result.stage) return false;
    return a->result.status == TCC_MISMATCH || same_words(a->result.text, b->result.text);
}

static bool is_wanted(Reduction *r, Arena *arena, const GraphCase *c) {
    Shown shown;
    int32_t wanted = 0;
    begin_shown(r, arena, c, &shown);
    r->s.probes++;
    tcc_status status = r->wanted(r->wanted_user, &shown.reduced, &wanted);
    end_shown(&shown);
    if (status != TCC_OK) r->status = status;
    return wanted != 0 && r->status == TCC_OK;
}

static bool holds(void *user, const GraphCase *c) {
    Reduction *r = user;
    Scratch scratch;
    if (r->status != TCC_OK) return false;
    Arena *arena = scratch_open(&scratch);
    bool good;
    if (r->wanted != NULL) {
        good = is_wanted(r, arena, c);
    } else {
        Outcome outcome = try_case(r, arena, c);
        good = fails_likewise(&r->first, &outcome);
        if (good) r->last = outcome;
    }
    scratch_close(&scratch);
    if (good)
        subject_tell(&r->s, "%zu nodes, %zu inputs", c->graph->nodes.count, c->graph->inputs.count);
    return good;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Without calls, so that what stands in functions can go too. */
static void inline_calls(Reduction *r, GraphCase *c) {
    PassOptions options = pass_options(&r->s.options);
    PassRun run;
    options.passes = STR("inline");
    options.skip = STR("");
    if ((graph_facts(c->graph) & FACT_inlined) != 0) return;
    if (!subject_run_passes(&r->s, &options, (PassHooks){0}, r->s.arena, &run)) return;
    GraphCase inlined = *c;
    inlined.graph = run.result.graph;
    if (holds(r, &inlined)) *c = inlined;
}

/* The model in the language, where that fails likewise; what is wanted is not asked again, so then
 * it only has to work. */
static void add_source(Reduction *r, const GraphCase *c, Shown *shown) {
    Str source = source_of_graph(r->s.arena, c->graph);
    if (source.data == NULL) return;
    Outcome outcome = try_text(r, r->s.arena, shown, STR("reduced.g"), source);
    bool good = r->wanted != NULL ? !outcome.crashed && outcome.result.status == TCC_OK
                                  : fails_likewise(&r->first, &outcome);
    if (!good) return;
    shown->reduced.source = source.data;
    shown->reduced.source_size = source.size;
}

static tcc_status hand_over(Reduction *r, const GraphCase *c, tcc_reduced_callback *callback,
                            void *user) {
    Shown shown;
    begin_shown(r, r->s.arena, c, &shown);
    shown.reduced.what = r->wanted != NULL ? NULL : r->last.result.text;
    add_source(r, c, &shown);
    if (callback != NULL) callback(user, &shown.reduced);
    end_shown(&shown);
    return TCC_OK;
}

/* The set that fails; with `wanted`, which runs on its own account, the first. */
static tcc_status find_failure(Reduction *r, const InputSet **out_set) {
    *out_set = r->s.sets;
    if (r->wanted != NULL) return TCC_OK;
    subject_probe(&r->s, probe_whole, &(WholeProbe){0}, &r->first);
    const ProbeResult *result = &r->first.result;
    if (!r->first.crashed && result->status == TCC_OK) *out_set = NULL;
    if (!r->first.crashed && result->status == TCC_INVALID)
        return compiler_fail(r->s.compiler, TCC_INVALID, "%s", result->text);
    if (*out_set != NULL) *out_set = &r->s.sets[result->set];
    r->last = r->first;
    subject_tell(&r->s, "the model: %s", result->text);
    return TCC_OK;
}

static tcc_status search(Reduction *r, tcc_reduced_callback *callback, void *user) {
    const InputSet *set;
    tcc_status status = find_failure(r, &set);
    if (status != TCC_OK || set == NULL) return status;
    GraphCase c = {r->s.ctx, r->s.graph, set->inputs, set->symbols};
    if (!holds(r, &c))
        return r->status != TCC_OK
                   ? r->status
                   : compiler_fail(r->s.compiler, TCC_INVALID,
                                   "the model by itself does not show what is looked for");
    inline_calls(r, &c);
    double seconds = r->s.search.seconds > 0 ? r->s.search.seconds : USUAL_SECONDS;
    ReduceRequest request = {.holds = holds, .user = r, .seconds = seconds};
    GraphCase smallest = reduce_case(r->s.arena, &c, &request);
    return r->status != TCC_OK ? r->status : hand_over(r, &smallest, callback, user);
}

typedef struct ReduceCall {
    Reduction reduction;
    tcc_reduced_callback *callback;
    void *user;
} ReduceCall;

static tcc_status reduce_body(void *data) {
    ReduceCall *call = data;
    Reduction *r = &call->reduction;
    GuardDefer defer;
    guard_defer(&defer, close_subject, &r->s);
    tcc_status status = subject_open(&r->s);
    if (status == TCC_OK) status = search(r, call->callback, call->user);
    guard_undefer(&defer);
    subject_close(&r->s);
    return status;
}

static tcc_status reduce(tcc_compiler *compiler, const Source *source,
                         const tcc_search_options *options, tcc_wanted_callback *wanted,
                         void *wanted_user, tcc_reduced_callback *callback, void *user) {
    ReduceCall call = {.reduction = {.s = {.compiler = compiler, .source = *source},
                                     .wanted = wanted,
                                     .wanted_user = wanted_user},
                       .callback = callback,
                       .user = user};
    if (!subject_take_options(&call.reduction.s, options)) return TCC_INVALID;
    return compiler_enter(compiler, reduce_body, &call);
}

tcc_status tcc_reduce_file(tcc_compiler *compiler, const char *path,
                           const tcc_search_options *options, tcc_wanted_callback *wanted,
                           void *wanted_user, tcc_reduced_callback *callback, void *user) {
    if (compiler == NULL) return TCC_INVALID;
    if (path == NULL) return compiler_refuse_null(compiler, "path");
    Source source = {.path = str_from(path)};
    return reduce(compiler, &source, options, wanted, wanted_user, callback, user);
}

tcc_status tcc_reduce_memory(tcc_compiler *compiler, const char *path, const void *text,
                             size_t size, const tcc_search_options *options,
                             tcc_wanted_callback *wanted, void *wanted_user,
                             tcc_reduced_callback *callback, void *user) {
    if (compiler == NULL) return TCC_INVALID;
    if (path == NULL) return compiler_refuse_null(compiler, "path");
    if (text == NULL && size > 0) return compiler_refuse_null(compiler, "text");
    Source source = {.path = str_from(path), .in_memory = true, .text = {text, size}};
    return reduce(compiler, &source, options, wanted, wanted_user, callback, user);
}
