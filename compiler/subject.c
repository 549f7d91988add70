#include "compiler/subject.h"

#include "compiler/compare.h"
#include "runtime/features.h"
#include "runtime/structs.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- probes ---------------------------------------------------------------------------------- */

typedef struct ProbeCall {
    const tcc_probe *probe;
    ProbeResult *result;
} ProbeCall;

static tcc_status probe_body(void *data) {
    ProbeCall *call = data;
    call->probe->body(call->probe->subject, call->probe->data, call->result);
    return TCC_OK;
}

/* What is wrong with the model is told when it is read for good, not by each probe. */
void tcc_probe_run(tcc_probe *probe, void *result) {
    if (probe == NULL || result == NULL) return;
    tcc_compiler *c = probe->subject->compiler;
    ProbeCall call = {probe, result};
    tcc_diagnostic_callback *on_diagnostic = c->on_diagnostic;
    tcc_text_callback *on_dump = c->on_dump;
    c->on_diagnostic = NULL;
    c->on_dump = NULL;
    tcc_status status = compiler_enter(c, probe_body, &call);
    c->on_diagnostic = on_diagnostic;
    c->on_dump = on_dump;
    if (status == TCC_OK) return;
    call.result->status = status;
    snprintf(call.result->text, sizeof call.result->text, "%s", c->message);
}

static void probe_apart(Subject *subject, tcc_probe *probe, Outcome *out_outcome) {
    const tcc_search_options *search = &subject->search;
    ProbeResult *result = &out_outcome->result;
    char why[256] = "";
    tcc_status status =
        search->apart(search->apart_user, probe, result, sizeof *result, why, sizeof why);
    result->text[sizeof result->text - 1] = 0;
    if (status == TCC_OK) return;
    result->status = TCC_INTERNAL;
    out_outcome->crashed = true;
    out_outcome->slow = status == TCC_ENVIRONMENT;
    snprintf(result->text, sizeof result->text, "%s", why);
}

/* A probe that had no memory says nothing of the model. */
void subject_probe(Subject *subject, ProbeBody *body, const void *data, Outcome *out_outcome) {
    tcc_probe probe = {subject, body, data};
    *out_outcome = (Outcome){0};
    subject->probes++;
    if (subject->search.apart == NULL)
        tcc_probe_run(&probe, &out_outcome->result);
    else
        probe_apart(subject, &probe, out_outcome);
    if (out_outcome->result.status == TCC_MEMORY) guard_raise(GUARD_memory, "out of memory");
}

void subject_tell(const Subject *subject, const char *format, ...) {
    char line[1200];
    va_list args;
    if (subject->search.on_progress == NULL) return;
    va_start(args, format);
    vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    size_t size = strlen(line);
    line[size++] = '\n';
    line[size] = 0;
    subject->search.on_progress(subject->search.progress_user, line, size);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A pipeline of nothing leaves the model as it was read. */
static tcc_status read_unit(const Subject *subject, tcc_unit **out_unit) {
    tcc_compiler *c = subject->compiler;
    const Source *source = &subject->source;
    Options options = c->options;
    c->options.passes = c->options.skip = STR("memory");
    c->options.dump_letters = c->options.dump_after = STR("");
    tcc_status status = source->in_memory
                            ? tcc_compile_memory(c, source->path.data, source->text.data,
                                                 source->text.size, out_unit)
                            : tcc_compile_file(c, source->path.data, out_unit);
    c->options = options;
    return status;
}

static void probe_reading(Subject *subject, const void *data, ProbeResult *result) {
    tcc_unit *unit = NULL;
    (void)data;
    result->stage = STAGE_reading;
    result->status = read_unit(subject, &unit);
    snprintf(result->text, sizeof result->text, "%s", tcc_message(subject->compiler));
    tcc_unit_free(unit);
}

/* What the steps need of the unit. */
static void take_unit(Subject *subject) {
    const tcc_unit *unit = subject->unit;
    uint32_t have = cpu_features();
    const Core *core = unit->core;
    subject->ctx = core->ctx;
    subject->diags = core->diags;
    subject->graph = core->source;
    subject->options = subject->compiler->options;
    subject->options.dump_letters = subject->options.dump_after = STR("");
    for (uint32_t i = 0; i < core->target_count; i++) {
        subject->tuned = core->targets[i];
        if ((core->targets[i]->features & ~have) == 0) subject->target = core->targets[i];
    }
}

bool subject_take_options(Subject *subject, const tcc_search_options *options) {
    size_t least = STRUCT_UPTO(tcc_search_options, progress_user);
    if (struct_take(&subject->search, sizeof subject->search, options, least)) return true;
    compiler_fail(subject->compiler, TCC_INVALID, "tcc_search_options.size is wrong");
    return false;
}

tcc_status subject_open(Subject *subject) {
    Outcome outcome;
    Options *options = &subject->compiler->options;
    subject->arena = arena_new(NULL);
    subject->cache_units = options->cache_units;
    options->cache_units = 0;
    subject_probe(subject, probe_reading, NULL, &outcome);
    if (outcome.result.status == TCC_INTERNAL)
        return compiler_fail(subject->compiler, TCC_INTERNAL, "%s", outcome.result.text);
    tcc_status status = read_unit(subject, &subject->unit);
    if (status != TCC_OK) return status;
    take_unit(subject);
    if (subject->target == NULL)
        return compiler_fail(subject->compiler, TCC_INVALID,
                             "no processor that is here is among the targets");
    return subject_make_sets(subject);
}

void subject_close(Subject *subject) {
    if (subject->arena != NULL) subject->compiler->options.cache_units = subject->cache_units;
    tcc_unit_free(subject->unit);
    arena_free(subject->arena);
}

/* ---- steps ----------------------------------------------------------------------------------- */

bool subject_evaluate(const Subject *subject, const Graph *graph, const InputSet *set, bool bounds,
                      Arena *arena, Reference *out, const char **out_why) {
    EvalValue *args = NEW_ARRAY(arena, EvalValue, graph->inputs.count + 1);
    EvalOptions options = {.bounds = bounds, .symbols = set->symbols};
    (void)subject;
    *out = (Reference){.outputs = NEW_ARRAY(arena, EvalValue, graph->outputs.count + 1)};
    for (size_t i = 0; i < graph->inputs.count; i++) args[i].tensor = set->inputs[i];
    return eval_graph(graph, args, &options, arena, out->outputs, &out->error, out_why);
}

/* Of values that are not tame, bounds may say nothing; then nothing is found. */
bool subject_compare(const Subject *subject, const InputSet *set, const Tensor *got,
                     const EvalValue *want, const Str *names, size_t count, ProbeResult *result) {
    CompareScope scope = compare_scope_of(subject->graph);
    for (size_t i = 0; i < count; i++) {
        tcc_check_result r = {0};
        compare_tensors(&got[i], &want[i], NULL, scope, &r);
        if (r.mismatches == 0 && (r.agrees || !set->tame)) continue;
        result->status = TCC_MISMATCH;
        if (r.mismatches > 0)
            snprintf(result->text, sizeof result->text,
                     "%.*s: element %llu is %.9g, expected %.9g +- %.3g (%llu of %llu differ)",
                     STR_ARG(names[i]), (unsigned long long)r.first_index, r.got, r.expected,
                     r.tolerance, (unsigned long long)r.mismatches, (unsigned long long)r.elements);
        else
            snprintf(result->text, sizeof result->text,
                     "%.*s: off by %.3g of its size (root mean square)", STR_ARG(names[i]), r.rms);
        return false;
    }
    return true;
}

static void keep_text(void *user, const Diag *diag) {
    PassRun *run = user;
    if (diag->severity == DIAG_error && run->refused == NULL)
        run->refused = str_copy(run->context.arena, str_from(diag->text)).data;
}

bool subject_run_passes(const Subject *subject, const PassOptions *options, PassHooks hooks,
                        Arena *arena, PassRun *out_run) {
    CostModel *cost = NEW(arena, CostModel);
    *cost = core_cost_model(subject->unit->core);
    *out_run = (PassRun){.context = {.ir = subject->ctx,
                                     .target = subject->tuned,
                                     .cost = cost,
                                     .options = *options,
                                     .hooks = hooks,
                                     .arena = arena}};
    out_run->context.diags = diags_new(arena, keep_text, out_run, 0);
    bool good = passes_run(&out_run->context, arena, subject->graph, &out_run->result);
    if (!good && out_run->refused == NULL) out_run->refused = "the passes refuse the model";
    return good;
}
