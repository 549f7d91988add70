/* The whole compilation in one probe, and all ways of running what came out: what must agree before
 * bisect says that all is well. */
#include "compiler/subject.h"
#include "compiler/walk.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct Whole {
    Subject *s;
    ProbeResult *result;
    Arena *arena; /* of the compilation */
    PassRun passes;
    const Program *program;
    WalkCode code;
    const InputSet *set;
    Reference want;
    tcc_unit *unit; /* for the runtime; NULL until the first run */
} Whole;

static void say(Whole *w, const char *where, const char *what) {
    char text[sizeof w->result->text];
    snprintf(text, sizeof text, "%s: %s", where, what);
    memcpy(w->result->text, text, sizeof text);
}

static bool break_off(Whole *w, const char *where, const char *why) {
    w->result->status = TCC_INTERNAL;
    say(w, where, why);
    return false;
}

/* A call of the library failed. Memory may lack however right the model is. */
static bool break_off_call(Whole *w, tcc_status status, const char *where, const char *why) {
    break_off(w, where, why);
    if (status == TCC_MEMORY) w->result->status = TCC_MEMORY;
    return false;
}

/* ---- kernels --------------------------------------------------------------------------------- */

Str *subject_output_names(const Subject *s, Arena *arena) {
    Str *names = NEW_ARRAY(arena, Str, s->graph->outputs.count + 1);
    for (size_t i = 0; i < s->graph->outputs.count; i++)
        names[i] = str_format(arena, "output %.*s", STR_ARG(*s->graph->outputs.data[i].name));
    return names;
}

bool subject_compare_launch(const Subject *s, const InputSet *set, const Walk *walk,
                            uint32_t launch, const EvalValue *want, Arena *arena,
                            ProbeResult *result) {
    const Kernel *kernel = walk_kernel(walk, launch);
    size_t count = kernel->region->outputs.count;
    Str *names = NEW_ARRAY(arena, Str, count + 1);
    Tensor *got = NEW_ARRAY(arena, Tensor, count + 1);
    for (uint32_t o = 0; o < count; o++) {
        names[o] = str_format(arena, "output %u of kernel %.*s", o, STR_ARG(*kernel->name));
        got[o] = *walk_output(walk, launch, o);
    }
    return subject_compare(s, set, got, want, names, count, result);
}

bool subject_same_error(bool failed, const EvalError *want, ProbeResult *result) {
    if (failed == want->failed) return true;
    result->status = TCC_MISMATCH;
    snprintf(result->text, sizeof result->text, "%s reports an index out of range",
             failed ? "only the compiled code" : "only the evaluator");
    return false;
}

static bool run_launch(Whole *w, const Walk *walk, uint32_t launch, Arena *arena) {
    const Kernel *kernel = walk_kernel(walk, launch);
    EvalValue *want = NEW_ARRAY(arena, EvalValue, kernel->region->outputs.count + 1);
    EvalError error = {0};
    const char *why = "";
    bool failed = false;
    w->result->launch = launch;
    if (!walk_want(walk, launch, arena, want, &error, &why))
        return break_off(w, "the evaluator on a kernel", why);
    if (!walk_run(walk, launch, RUN_full, arena, &failed, &why))
        return break_off(w, kernel->name->data, why);
    return subject_same_error(failed, &error, w->result) &&
           subject_compare_launch(w->s, w->set, walk, launch, want, arena, w->result);
}

static bool compare_outputs(Whole *w, const Walk *walk, Arena *arena) {
    size_t count = w->s->graph->outputs.count;
    Tensor *got = NEW_ARRAY(arena, Tensor, count + 1);
    if (w->want.error.failed) return true;
    for (size_t i = 0; i < count; i++) got[i] = walk->buffers[w->program->output_buffers[i]].tensor;
    return subject_compare(w->s, w->set, got, w->want.outputs, subject_output_names(w->s, arena),
                           count, w->result);
}

static bool walk_all(Whole *w, const Walk *walk) {
    bool good = true;
    Scratch scratch;
    for (uint32_t n = 0; good && n < w->program->launches.count; n++) {
        Arena *arena = scratch_open(&scratch);
        good = run_launch(w, walk, n, arena);
        scratch_close(&scratch);
    }
    if (!good) return false;
    w->result->stage = walk->placement == PLACE_planned ? STAGE_planned : STAGE_outputs;
    Arena *arena = scratch_open(&scratch);
    good = compare_outputs(w, walk, arena);
    scratch_close(&scratch);
    return good;
}

static bool run_placed(Whole *w, Placement placement) {
    const char *why = "";
    Walk walk = {.program = w->program,
                 .target = w->s->target,
                 .round_everywhere = w->s->options.round_everywhere || w->s->options.level == 0,
                 .symbols = w->set->symbols,
                 .inputs = w->set->inputs,
                 .placement = placement,
                 .code = &w->code};
    w->result->stage = placement == PLACE_planned ? STAGE_planned : STAGE_kernels;
    w->result->placement = placement;
    bool good = walk_begin(&walk, &why);
    if (!good) break_off(w, "memory", why);
    good = good && walk_all(w, &walk);
    walk_end(&walk);
    return good;
}

/* ---- the runtime ----------------------------------------------------------------------------- */

/* In what way the runtime is used. */
static const struct RunWay {
    const char *name;
    int32_t threads;
    bool overlapping; /* each output begins inside of an input's memory */
} ways[] = {{"with one thread", 1, false},
            {"with 7 threads", 7, false},
            {"with outputs over inputs", 1, true}};

static tcc_tensor view_of(const Tensor *t, void *data) {
    tcc_tensor view = {.size = sizeof view,
                       .device = TCC_CPU,
                       .dtype = (int32_t)t->dtype,
                       .rank = t->rank,
                       .data = data};
    memcpy(view.dims, t->dims, sizeof view.dims);
    return view;
}

typedef struct RunTensors {
    tcc_tensor *inputs, *outputs;
    Tensor *got; /* the outputs */
} RunTensors;

/* Input i lies in the middle of three times its room, so that an output may begin before it or in
 * it. */
static RunTensors make_tensors(const Whole *w, const struct RunWay *way, Arena *arena) {
    size_t ins = w->s->graph->inputs.count, outs = w->s->graph->outputs.count;
    RunTensors t = {NEW_ARRAY(arena, tcc_tensor, ins + 1), NEW_ARRAY(arena, tcc_tensor, outs + 1),
                    NEW_ARRAY(arena, Tensor, outs + 1)};
    size_t most = 64;
    for (size_t o = 0; o < outs; o++) {
        size_t bytes = tensor_bytes(&w->want.outputs[o].tensor);
        if (bytes > most) most = bytes;
    }
    for (size_t i = 0; i < ins; i++) {
        const Tensor *from = &w->set->inputs[i];
        size_t bytes = tensor_bytes(from);
        char *room = arena_alloc(arena, bytes + 2 * most + 128);
        memcpy(room + (most + 63) / 64 * 64, from->data, bytes);
        t.inputs[i] = view_of(from, room + (most + 63) / 64 * 64);
    }
    for (size_t o = 0; o < outs; o++) {
        t.got[o] = w->want.outputs[o].tensor;
        size_t bytes = tensor_bytes(&t.got[o]);
        t.got[o].data = arena_alloc(arena, bytes + 64);
        memset(t.got[o].data, 0xA5, bytes);
        /* One output each over an input, by half of its size before and behind in turn. */
        if (way->overlapping && o < ins && bytes > 0) {
            size_t shift = (bytes / 2 + 63) / 64 * 64;
            char *data = t.inputs[o].data;
            t.got[o].data = o % 2 == 0
                                ? data + (shift < tensor_bytes(&w->set->inputs[o]) ? shift : 0)
                                : data - (shift < most ? shift : 0);
        }
        t.outputs[o] = view_of(&t.got[o], t.got[o].data);
    }
    return t;
}

typedef struct Opened {
    const tcc_model_api *api;
    tcc_model *model;
    tcc_session *session;
} Opened;

static void close_model(void *data) {
    Opened *o = data;
    if (o->session != NULL) o->api->session_free(o->session);
    if (o->model != NULL) o->api->close(o->model);
}

static bool run_opened(Whole *w, const struct RunWay *way, Opened *o, Arena *arena) {
    size_t ins = w->s->graph->inputs.count, outs = w->s->graph->outputs.count;
    tcc_open_options options = {.size = sizeof options, .threads = way->threads};
    tcc_status status = tcc_unit_open(w->unit, &options, &o->api, &o->model);
    if (status != TCC_OK)
        return break_off_call(w, status, "opening the model", tcc_message(w->s->compiler));
    status = o->api->session_new(o->model, &o->session);
    if (status != TCC_OK) return break_off_call(w, status, "opening the model", "out of memory");
    RunTensors t = make_tensors(w, way, arena);
    status = o->api->run(o->session, t.inputs, (uint32_t)ins, t.outputs, (uint32_t)outs);
    if (status == TCC_INDEX || w->want.error.failed)
        return subject_same_error(status == TCC_INDEX, &w->want.error, w->result);
    if (status != TCC_OK)
        return break_off_call(w, status, way->name, o->api->session_message(o->session));
    if (subject_compare(w->s, w->set, t.got, w->want.outputs, subject_output_names(w->s, arena),
                        outs, w->result))
        return true;
    say(w, way->name, str_copy(arena, str_from(w->result->text)).data);
    return false;
}

static bool run_way(Whole *w, const struct RunWay *way) {
    Opened opened = {0};
    GuardDefer defer;
    Scratch scratch;
    Arena *arena = scratch_open(&scratch);
    guard_defer(&defer, close_model, &opened);
    bool good = run_opened(w, way, &opened, arena);
    guard_undefer(&defer);
    close_model(&opened);
    scratch_close(&scratch);
    return good;
}

static bool compile_unit(Whole *w) {
    const Source *source = &w->s->source;
    if (w->unit != NULL) return true;
    tcc_status status = source->in_memory
                            ? tcc_compile_memory(w->s->compiler, source->path.data,
                                                 source->text.data, source->text.size, &w->unit)
                            : tcc_compile_file(w->s->compiler, source->path.data, &w->unit);
    return status == TCC_OK ||
           break_off_call(w, status, "compiling it as a whole", tcc_message(w->s->compiler));
}

static bool run_by_runtime(Whole *w) {
    w->result->stage = STAGE_run;
    if (!compile_unit(w)) return false;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (!run_way(w, &ways[i])) return false;
    return true;
}

/* ---- sets ------------------------------------------------------------------------------------ */

/* What the evaluator refuses (an entry check that does not hold, a loop that does not end) is no
 * input for the model. */
static bool run_set(Whole *w, Arena *arena) {
    const char *why = "";
    w->result->stage = STAGE_evaluator;
    if (!subject_evaluate(w->s, w->s->graph, w->set, true, arena, &w->want, &why)) {
        w->result->sets_refused++;
        snprintf(w->result->place, sizeof w->result->place, "%s", why);
        return true;
    }
    w->result->sets_done++;
    return run_placed(w, PLACE_apart) && run_placed(w, PLACE_front) && run_placed(w, PLACE_back) &&
           run_placed(w, PLACE_planned) && run_by_runtime(w);
}

/* Large models are tried on fewer sets. */
enum { SECONDS = 15 };

static void run_sets(Whole *w, const InputSet *only) {
    clock_t begin = clock();
    for (uint32_t i = 0; i < w->s->set_count && w->result->status == TCC_OK; i++) {
        if (w->result->sets_done > 0 && (clock() - begin) / CLOCKS_PER_SEC >= SECONDS) break;
        if (only != NULL && only != &w->s->sets[i]) continue;
        Scratch scratch;
        Arena *arena = scratch_open(&scratch);
        w->result->set = i;
        w->set = &w->s->sets[i];
        run_set(w, arena);
        scratch_close(&scratch);
    }
}

static void free_unit(void *whole) { tcc_unit_free(((Whole *)whole)->unit); }

static void compile_and_run(Whole *w, const InputSet *only) {
    const char *why = "";
    PassOptions options = pass_options(&w->s->options);
    w->result->stage = STAGE_passes;
    if (!subject_run_passes(w->s, &options, (PassHooks){0}, w->arena, &w->passes)) {
        w->result->status = TCC_INVALID;
        snprintf(w->result->text, sizeof w->result->text, "%s", w->passes.refused);
        return;
    }
    w->program = w->passes.result.program;
    if (w->program == NULL) {
        w->result->status = TCC_INVALID;
        snprintf(w->result->text, sizeof w->result->text, "the passes make no program");
    } else if (walk_code_begin(&w->code, w->program, &why)) {
        run_sets(w, only);
        walk_code_end(&w->code);
    }
}

void probe_whole(Subject *s, const void *data, ProbeResult *result) {
    const WholeProbe *how = data;
    GuardDefer unit;
    Scratch scratch;
    Whole w = {.s = s, .result = result};
    w.arena = scratch_open(&scratch);
    guard_defer(&unit, free_unit, &w);
    compile_and_run(&w, how->only);
    guard_undefer(&unit);
    free_unit(&w);
    scratch_close(&scratch);
}
