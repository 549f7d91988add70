/* Which pass is wrong, and which of its rewrites.
 *
 * The graph after each pass is evaluated, so that no code is needed. Passes are tried one after the
 * other, not by halving: a later pass may put right by chance what an earlier one did wrong. Within
 * the pass, rewrites are halved: N of them right and M > N wrong stays true at every step, so the
 * last two that are next to each other are a right and a wrong one that differ by one rewrite, even
 * if there are several of those. */
#include "compiler/bisect.h"

#include <stdio.h>
#include <string.h>

/* ---- probes ---------------------------------------------------------------------------------- */

typedef struct RewriteNote {
    const Subject *subject;
    ProbeResult *result;
} RewriteNote;

static void put_place(char *out, size_t size, const Subject *s, const Origin *origin) {
    if (origin == NULL || origin->loc.file == 0) return;
    Loc loc = origin->loc;
    Str path = diags_file_path(s->diags, loc.file);
    snprintf(out, size, "%.*s:%u:%u", STR_ARG(path), loc.line, loc.column);
}

static void note_rewrite(void *user, const PassRewrite *rewrite) {
    const RewriteNote *note = user;
    ProbeResult *r = note->result;
    snprintf(r->rule, sizeof r->rule, "%s", rewrite->rule);
    snprintf(r->before, sizeof r->before, "%.*s", STR_ARG(rewrite->before));
    snprintf(r->after, sizeof r->after, "%.*s", STR_ARG(rewrite->after));
    put_place(r->place, sizeof r->place, note->subject, rewrite->origin);
}

static void compare_graph(Subject *s, const Graph *graph, Arena *arena, ProbeResult *result) {
    size_t count = s->graph->outputs.count;
    Reference got;
    const char *why = "";
    Tensor *tensors = NEW_ARRAY(arena, Tensor, count + 1);
    if (!subject_evaluate(s, graph, s->set, false, arena, &got, &why)) {
        result->status = TCC_MISMATCH;
        snprintf(result->text, sizeof result->text, "the evaluator on the graph: %s", why);
        return;
    }
    for (size_t i = 0; i < count; i++) tensors[i] = got.outputs[i].tensor;
    if (subject_same_error(got.error.failed, &s->want.error, result) && !got.error.failed)
        subject_compare(s, s->set, tensors, s->want.outputs, subject_output_names(s, arena), count,
                        result);
}

static void probe_graph(Subject *s, const void *data, ProbeResult *result) {
    PassOptions options = *(const PassOptions *)data;
    RewriteNote note = {s, result};
    Scratch scratch;
    PassRun run;
    Arena *arena = scratch_open(&scratch);
    result->stage = STAGE_passes;
    bool good = subject_run_passes(s, &options, (PassHooks){.rewrite = note_rewrite, .user = &note},
                                   arena, &run);
    result->rewrites = run.context.rewrites;
    if (good) {
        compare_graph(s, run.result.graph, arena, result);
    } else {
        result->status = TCC_INTERNAL;
        snprintf(result->text, sizeof result->text, "%s", run.refused);
    }
    scratch_close(&scratch);
}

/* ---- the memory plan ------------------------------------------------------------------------- */

/* What a launch left in a buffer, to see whether it is still there when another one reads it. */
typedef struct Kept {
    void *bytes;
    uint32_t writer;
} Kept;

static bool inputs_are_whole(const Walk *walk, uint32_t launch, const Kept *kept,
                             ProbeResult *result) {
    const Program *p = walk->program;
    const Launch *l = &p->launches.data[launch];
    for (uint32_t i = 0; i < walk_kernel(walk, launch)->region->inputs.count; i++) {
        const Kept *k = &kept[l->buffers[i]];
        const Tensor *t = &walk->buffers[l->buffers[i]].tensor;
        if (k->bytes == NULL || memcmp(k->bytes, t->data, tensor_bytes(t)) == 0) continue;
        result->status = TCC_MISMATCH;
        snprintf(result->text, sizeof result->text,
                 "what kernel %.*s wrote is overwritten before kernel %.*s reads it",
                 STR_ARG(*walk_kernel(walk, k->writer)->name),
                 STR_ARG(*walk_kernel(walk, launch)->name));
        return false;
    }
    return true;
}

static void keep_outputs(const Walk *walk, uint32_t launch, Kept *kept) {
    const Launch *l = &walk->program->launches.data[launch];
    uint32_t inputs = (uint32_t)walk_kernel(walk, launch)->region->inputs.count;
    for (uint32_t i = inputs; i < l->buffer_count; i++) {
        const Tensor *t = &walk->buffers[l->buffers[i]].tensor;
        kept[l->buffers[i]] = (Kept){arena_copy(walk->arena, t->data, tensor_bytes(t)), launch};
    }
}

static bool run_plan(const Walk *walk, ProbeResult *result) {
    Kept *kept = NEW_ARRAY(walk->arena, Kept, walk->program->buffers.count + 1);
    for (uint32_t n = 0; n < walk->program->launches.count; n++) {
        Scratch scratch;
        bool failed = false;
        const char *why = "";
        if (!inputs_are_whole(walk, n, kept, result)) return false;
        Arena *arena = scratch_open(&scratch);
        bool good = walk_run(walk, n, RUN_region, arena, &failed, &why);
        if (!good) {
            result->status = TCC_INTERNAL;
            snprintf(result->text, sizeof result->text, "%s", why);
        }
        scratch_close(&scratch);
        if (!good) return false;
        keep_outputs(walk, n, kept);
    }
    return true;
}

static void compare_plan(Subject *s, const Walk *walk, ProbeResult *result) {
    size_t count = s->graph->outputs.count;
    Tensor *got = NEW_ARRAY(walk->arena, Tensor, count + 1);
    if (s->want.error.failed) return;
    for (size_t i = 0; i < count; i++)
        got[i] = walk->buffers[walk->program->output_buffers[i]].tensor;
    subject_compare(s, s->set, got, s->want.outputs, subject_output_names(s, walk->arena), count,
                    result);
}

static void probe_plan(Subject *s, const void *data, ProbeResult *result) {
    const PassOptions *options = data;
    Scratch scratch;
    PassRun run;
    const char *why = "";
    Arena *arena = scratch_open(&scratch);
    result->stage = STAGE_planned;
    if (!subject_run_passes(s, options, (PassHooks){0}, arena, &run) ||
        run.result.program == NULL) {
        result->status = TCC_INTERNAL;
        snprintf(result->text, sizeof result->text, "%s", run.refused ? run.refused : "no program");
    } else {
        Walk walk = {.program = run.result.program,
                     .target = s->target,
                     .symbols = s->set->symbols,
                     .inputs = s->set->inputs,
                     .placement = PLACE_planned};
        if (!walk_begin(&walk, &why)) {
            result->status = TCC_INTERNAL;
            snprintf(result->text, sizeof result->text, "%s", why);
        } else if (run_plan(&walk, result)) {
            compare_plan(s, &walk, result);
        }
        walk_end(&walk);
    }
    scratch_close(&scratch);
}

/* ---- rewrites -------------------------------------------------------------------------------- */

static bool fails_with(Bisect *b, PassOptions options, int64_t limit, Outcome *outcome) {
    options.rewrite_limit = limit;
    subject_probe(&b->s, probe_graph, &options, outcome);
    subject_tell(&b->s, "  the first %lld rewrites: %s", (long long)limit,
                 bisect_failed(outcome) ? outcome->result.text : "right");
    return bisect_failed(outcome);
}

/* The least number that is known to be wrong: all rewrites that the pass makes, or, where it does
 * not come back to say how many these are, as many as it takes. */
static int64_t find_wrong(Bisect *b, const PassOptions *options, int64_t right, int64_t made) {
    Outcome outcome;
    if (made > right) return made;
    for (int64_t more = 1; more < (int64_t)1 << 40; more *= 2) {
        if (fails_with(b, *options, right + more, &outcome)) return right + more;
        if (outcome.result.rewrites < right + more) return right;
    }
    return right;
}

/* `right` rewrites were made by the passes before, which are right. */
static void find_rewrite(Bisect *b, const PassOptions *options, int64_t right, int64_t made) {
    Outcome outcome;
    int64_t given = b->s.options.pass_limit;
    if (made == right && !b->step.crashed && b->step.result.status != TCC_INTERNAL) return;
    if (fails_with(b, *options, right, &outcome)) return;
    int64_t wrong = find_wrong(b, options, right, made);
    if (given >= 0 && wrong > given) wrong = given;
    if (wrong == right) return;
    while (wrong - right > 1) {
        int64_t middle = right + (wrong - right) / 2;
        if (fails_with(b, *options, middle, &outcome))
            wrong = middle;
        else
            right = middle;
    }
    if (!fails_with(b, *options, wrong, &outcome)) return;
    b->step = outcome;
    bisect_found(b, TCC_PART_PASS, &b->step);
    b->report.rewrite = wrong;
}

/* ---- passes ---------------------------------------------------------------------------------- */

static Str list_passes(const Subject *s, const Pipeline *pipeline, uint32_t count) {
    Buf buf = {.arena = s->arena};
    for (uint32_t i = 0; i < count; i++)
        buf_print(&buf, "%s%s", i > 0 ? "," : "", pass_info(pipeline->items[i])->name);
    return buf_str(&buf);
}

static bool try_pass(Bisect *b, const Pipeline *pipeline, uint32_t at, int64_t *rewrites) {
    const PassInfo *info = pass_info(pipeline->items[at]);
    PassOptions options = pass_options(&b->s.options);
    options.passes = list_passes(&b->s, pipeline, at + 1);
    options.skip = STR("");
    subject_probe(&b->s, info->run != NULL ? probe_graph : probe_plan, &options, &b->step);
    subject_tell(&b->s, "after %s: %s", info->name,
                 bisect_failed(&b->step) ? b->step.result.text : "right");
    int64_t before = *rewrites;
    *rewrites = b->step.result.rewrites;
    if (!bisect_failed(&b->step)) return false;
    bisect_found(b, TCC_PART_PASS, &b->step);
    b->report.pass = info->name;
    if (info->run != NULL) find_rewrite(b, &options, before, *rewrites);
    return true;
}

bool bisect_passes(Bisect *b) {
    Pipeline pipeline;
    const char *why;
    int64_t rewrites = 0;
    PassOptions options = pass_options(&b->s.options);
    if (!pipeline_from_options(&options, graph_facts(b->s.graph), b->s.arena, &pipeline, &why))
        return false;
    for (uint32_t i = 0; i < pipeline.count; i++)
        if (try_pass(b, &pipeline, i, &rewrites)) return true;
    return false;
}
