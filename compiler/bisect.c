/* Which step of a compilation is wrong: the whole is tried on all sets of inputs, then, on the set
 * that failed, one level after the other from the model down. */
#include "compiler/bisect.h"

#include <string.h>

bool bisect_failed(const Outcome *outcome) {
    return outcome->crashed || outcome->result.status != TCC_OK;
}

void bisect_found(Bisect *b, tcc_fault_part part, const Outcome *outcome) {
    const ProbeResult *r = &outcome->result;
    Arena *arena = b->s.arena;
    tcc_bisect_report *report = &b->report;
    report->part = part;
    report->kind = outcome->crashed            ? TCC_KIND_CRASH
                   : r->status == TCC_MISMATCH ? TCC_KIND_VALUES
                                               : TCC_KIND_ERROR;
    report->what = str_copy(arena, str_from(r->text)).data;
    if (r->rule[0]) report->rule = str_copy(arena, str_from(r->rule)).data;
    if (r->place[0]) report->place = str_copy(arena, str_from(r->place)).data;
    if (r->before[0]) report->before = str_copy(arena, str_from(r->before)).data;
    if (r->after[0]) report->after = str_copy(arena, str_from(r->after)).data;
    if (b->s.set != NULL) report->inputs = b->s.set->what.data;
}

/* The set that failed; before any was tried, the first that the evaluator takes. */
static bool choose_set(Bisect *b) {
    const char *why = "";
    for (uint32_t i = b->whole.result.set; i < b->s.set_count; i++) {
        b->s.set = &b->s.sets[i];
        if (subject_evaluate(&b->s, b->s.graph, b->s.set, true, b->s.arena, &b->s.want, &why))
            return true;
    }
    b->s.set = NULL;
    return false;
}

/* Passes are right when the kernels that they made are seen to be wrong on their own inputs; then
 * the graph is looked at all the same, for its fault comes first. */
static void find_step(Bisect *b) {
    if (b->whole.result.stage == STAGE_evaluator) {
        b->s.set = &b->s.sets[b->whole.result.set];
        bisect_found(b, TCC_PART_EVALUATOR, &b->whole);
        return;
    }
    if (choose_set(b) && (bisect_passes(b) || bisect_kernels(b))) return;
    bisect_found(b, b->whole.result.stage == STAGE_run ? TCC_PART_RUNTIME : TCC_PART_UNKNOWN,
                 &b->whole);
}

/* A large model takes its time; nothing is wrong when every step ends. */
static bool is_only_slow(const Bisect *b) {
    tcc_fault_part part = b->report.part;
    return b->whole.slow &&
           (part == TCC_PART_EVALUATOR || part == TCC_PART_RUNTIME || part == TCC_PART_UNKNOWN);
}

static tcc_status search(Bisect *b) {
    WholeProbe how = {0};
    Subject *s = &b->s;
    subject_probe(s, probe_whole, &how, &b->whole);
    const ProbeResult *r = &b->whole.result;
    b->report.sets = r->sets_done;
    if (bisect_failed(&b->whole) && r->status != TCC_INVALID) {
        subject_tell(s, "the whole, %s: %s", r->set < s->set_count ? s->sets[r->set].what.data : "",
                     r->text);
        find_step(b);
        return is_only_slow(b) ? compiler_fail(s->compiler, TCC_ENVIRONMENT,
                                               "the whole %s, and no step is wrong alone", r->text)
                               : TCC_MISMATCH;
    }
    if (r->status == TCC_INVALID) return compiler_fail(s->compiler, TCC_INVALID, "%s", r->text);
    if (r->sets_done == 0)
        return compiler_fail(s->compiler, TCC_INVALID, "the evaluator refuses all inputs: %s",
                             r->place);
    return TCC_OK;
}

/* ---- the calls ------------------------------------------------------------------------------- */

typedef struct BisectCall {
    Bisect bisect;
    tcc_bisect_callback *callback;
    void *user;
} BisectCall;

static void close_subject(void *subject) { subject_close(subject); }

/* A model that is not read without a crash is a finding, one that is refused is not. */
static tcc_status bisect_body(void *data) {
    BisectCall *call = data;
    Bisect *b = &call->bisect;
    GuardDefer defer;
    guard_defer(&defer, close_subject, &b->s);
    b->report = (tcc_bisect_report){.size = sizeof b->report, .rewrite = -1};
    tcc_status status = subject_open(&b->s);
    if (status == TCC_OK) status = search(b);
    if (status == TCC_INTERNAL && b->s.unit == NULL) {
        b->report.part = TCC_PART_READING;
        b->report.kind = TCC_KIND_CRASH;
        b->report.what = b->s.compiler->message;
        status = TCC_MISMATCH;
    }
    b->report.probes = b->s.probes;
    if ((status == TCC_OK || status == TCC_MISMATCH) && call->callback != NULL)
        call->callback(call->user, &b->report);
    guard_undefer(&defer);
    subject_close(&b->s);
    return status;
}

static tcc_status bisect(tcc_compiler *compiler, const Source *source,
                         const tcc_search_options *options, tcc_bisect_callback *callback,
                         void *user) {
    BisectCall call = {
        .bisect.s = {.compiler = compiler, .source = *source}, .callback = callback, .user = user};
    if (!subject_take_options(&call.bisect.s, options)) return TCC_INVALID;
    return compiler_enter(compiler, bisect_body, &call);
}

tcc_status tcc_bisect_file(tcc_compiler *compiler, const char *path,
                           const tcc_search_options *options, tcc_bisect_callback *callback,
                           void *user) {
    if (compiler == NULL) return TCC_INVALID;
    if (path == NULL) return compiler_refuse_null(compiler, "path");
    return bisect(compiler, &(Source){.path = str_from(path)}, options, callback, user);
}

tcc_status tcc_bisect_memory(tcc_compiler *compiler, const char *path, const void *text,
                             size_t size, const tcc_search_options *options,
                             tcc_bisect_callback *callback, void *user) {
    if (compiler == NULL) return TCC_INVALID;
    if (path == NULL) return compiler_refuse_null(compiler, "path");
    if (text == NULL && size > 0) return compiler_refuse_null(compiler, "text");
    Source source = {.path = str_from(path), .in_memory = true, .text = {text, size}};
    return bisect(compiler, &source, options, callback, user);
}
