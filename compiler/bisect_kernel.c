/* Which kernel is wrong, at which level of its lowering, and for which fields of its schedule.
 *
 * Launches before the one in question are run by the evaluator, so that the kernel alone is at
 * stake. The levels are tried in their order: the first that is wrong was made wrongly from the one
 * before. */
#include "codegen/skeleton/skeleton.h"
#include "compiler/bisect.h"

#include <stdio.h>
#include <string.h>

/* The launch, in the way it is run. Launches before it are run by `chain`. */
typedef struct LaunchProbe {
    uint32_t launch;
    RunBy by, chain;
    Placement placement;
    const Schedule *schedule; /* instead of the kernel's; NULL: its own */
} LaunchProbe;

/* ---- probes ---------------------------------------------------------------------------------- */

static void fail(ProbeResult *result, const char *why) {
    result->status = TCC_INTERNAL;
    snprintf(result->text, sizeof result->text, "%s", why);
}

/* The kernel that the launch runs gets the schedule, in a program that is this probe's own. */
static void set_schedule(const Subject *s, Program *program, const LaunchProbe *how) {
    if (how->schedule == NULL) return;
    program->target = s->target;
    program->kernels.data[program->launches.data[how->launch].kernel].schedule = *how->schedule;
}

static void run_launch(Subject *s, const Walk *walk, const LaunchProbe *how, Arena *arena,
                       ProbeResult *result) {
    size_t count = walk_kernel(walk, how->launch)->region->outputs.count;
    EvalValue *want = NEW_ARRAY(arena, EvalValue, count + 1);
    EvalError error = {0};
    const char *why = "";
    bool failed = false;
    for (uint32_t n = 0; n < how->launch; n++)
        if (!walk_run(walk, n, how->chain, arena, &failed, &why)) return;
    result->stage = STAGE_kernels;
    if (!walk_want(walk, how->launch, arena, want, &error, &why)) return;
    if (!walk_run(walk, how->launch, how->by, arena, &failed, &why))
        fail(result, why);
    else if (subject_same_error(failed, &error, result))
        subject_compare_launch(s, s->set, walk, how->launch, want, arena, result);
}

static void walk_to_launch(Subject *s, Program *program, const LaunchProbe *how, Arena *arena,
                           ProbeResult *result) {
    WalkCode code;
    Walk walk = {.program = program,
                 .target = s->target,
                 .round_everywhere = s->options.round_everywhere || s->options.level == 0,
                 .symbols = s->set->symbols,
                 .inputs = s->set->inputs,
                 .placement = how->placement,
                 .code = &code};
    const char *why = "";
    if (!walk_code_begin(&code, program, &why)) {
        fail(result, why);
    } else {
        if (walk_begin(&walk, &why))
            run_launch(s, &walk, how, arena, result);
        else
            fail(result, why);
        walk_end(&walk);
    }
    walk_code_end(&code);
}

static void probe_launch(Subject *s, const void *data, ProbeResult *result) {
    const LaunchProbe *how = data;
    PassOptions options = pass_options(&s->options);
    Scratch scratch;
    PassRun run;
    Arena *arena = scratch_open(&scratch);
    result->stage = STAGE_passes;
    if (subject_run_passes(s, &options, (PassHooks){0}, arena, &run) && run.result.program) {
        set_schedule(s, run.result.program, how);
        walk_to_launch(s, run.result.program, how, arena, result);
    }
    scratch_close(&scratch);
}

/* ---- levels ---------------------------------------------------------------------------------- */

static const char *const level_names[RUN_count] = {"region", "tile program", "placed tile program",
                                                   "code that is not optimised", "machine code"};

/* The interpreter is slow: that it takes too long says nothing. */
static bool level_fails(Bisect *b, const LaunchProbe *how, Outcome *outcome) {
    subject_probe(&b->s, probe_launch, how, outcome);
    bool slow = outcome->slow && how->by < RUN_fast;
    subject_tell(&b->s, "  launch %u, %s: %s", how->launch, level_names[how->by],
                 bisect_failed(outcome) ? outcome->result.text : "right");
    return bisect_failed(outcome) && !slow;
}

static bool find_level(Bisect *b, LaunchProbe *how) {
    static const tcc_fault_part parts[RUN_count] = {[RUN_free] = TCC_PART_SKELETON,
                                                    [RUN_placed] = TCC_PART_SCHEDULE,
                                                    [RUN_fast] = TCC_PART_LOWERING,
                                                    [RUN_full] = TCC_PART_BACKEND};
    for (how->by = RUN_free; how->by < RUN_count; how->by++) {
        if (!level_fails(b, how, &b->step)) continue;
        bisect_found(b, parts[how->by], &b->step);
        return true;
    }
    return false;
}

/* ---- schedules ------------------------------------------------------------------------------- */

typedef struct Field {
    const char *name;
    size_t offset;
} Field;

static const Field fields[] = {
#define SCHEDULE(field, skeletons, initial, least, greatest, meaning)                              \
    {#field, offsetof(Schedule, field)},
#include "ir/schedule.def"
#undef SCHEDULE
};

static int64_t *field_of(Schedule *schedule, size_t index) {
    return (int64_t *)(void *)((char *)schedule + fields[index].offset);
}

/* Values that change what a field does: the least ones, or a vector of elements. */
static bool find_other_value(Bisect *b, LaunchProbe *how, const Schedule *chosen, size_t index,
                             int64_t *out_value) {
    const int64_t values[] = {1, b->s.target->lanes, 2};
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        Schedule other = *chosen;
        Outcome outcome;
        if (*field_of(&other, index) == values[k]) continue;
        *field_of(&other, index) = values[k];
        how->schedule = &other;
        bool fails = level_fails(b, how, &outcome);
        how->schedule = NULL;
        *out_value = values[k];
        if (!fails) return true;
    }
    return false;
}

/* The fields of the schedule that another value of makes it right. */
static void find_fields(Bisect *b, LaunchProbe *how, const Schedule *chosen) {
    Buf buf = {.arena = b->s.arena};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        int64_t value = *field_of(&(Schedule){0}, i);
        Schedule copy = *chosen;
        if (*field_of(&copy, i) == 0 || !find_other_value(b, how, chosen, i, &value)) continue;
        buf_print(&buf, "%s%s=%lld (right with %s=%lld)", buf.size ? ", " : "", fields[i].name,
                  (long long)*field_of(&copy, i), fields[i].name, (long long)value);
    }
    b->report.fields = buf.data == NULL ? "" : buf.data;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static Str list_ops(Arena *arena, const Graph *region) {
    Buf buf = {.arena = arena};
    enum { MOST = 12 };
    uint32_t count = 0;
    for (NodeId id = 0; id < region->nodes.count; id++) {
        const OpInfo *info = op_info(graph_node(region, id)->op);
        if (info->class == CLASS_LEAF) continue;
        if (count < MOST) buf_print(&buf, "%s%s", count ? ", " : "", info->name);
        count++;
    }
    if (count > MOST) buf_print(&buf, " and %u more", count - MOST);
    return buf_str(&buf);
}

/* The schedule with the skeleton's choice where the kernel leaves a field open. */
static Schedule complete(const Subject *s, const Kernel *kernel) {
    SkeletonRequest request = {.ctx = s->ctx,
                               .arena = s->arena,
                               .region = kernel->region,
                               .name = *kernel->name,
                               .strategy = *kernel->strategy,
                               .target = s->target,
                               .state = TILE_placed};
    Schedule schedule = s->target == s->tuned ? kernel->schedule : (Schedule){0};
    Schedule chosen = skeleton_schedule(&request);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (*field_of(&schedule, i) == 0) *field_of(&schedule, i) = *field_of(&chosen, i);
    return schedule;
}

static void describe(Bisect *b, const Kernel *kernel, const Schedule *schedule,
                     const Origin *origin) {
    Arena *arena = b->s.arena;
    Buf buf = {.arena = arena};
    buf_schedule(&buf, schedule);
    b->report.kernel = str_terminated(arena, *kernel->name);
    b->report.skeleton = str_terminated(arena, *kernel->skeleton);
    b->report.strategy = str_terminated(arena, *kernel->strategy);
    b->report.ops = list_ops(arena, kernel->region).data;
    b->report.schedule = buf.data == NULL ? "" : buf.data;
    if (origin != NULL && origin->loc.file != 0)
        b->report.place =
            str_format(arena, "%.*s:%u:%u", STR_ARG(diags_file_path(b->s.diags, origin->loc.file)),
                       origin->loc.line, origin->loc.column)
                .data;
}

static bool bisect_launch(Bisect *b, LaunchProbe *how) {
    PassOptions options = pass_options(&b->s.options);
    PassRun run;
    if (!find_level(b, how)) {
        how->chain = RUN_full;
        if (!find_level(b, how)) return false;
    }
    if (!subject_run_passes(&b->s, &options, (PassHooks){0}, b->s.arena, &run)) return true;
    const Launch *launch = &run.result.program->launches.data[how->launch];
    const Kernel *kernel = &run.result.program->kernels.data[launch->kernel];
    Schedule schedule = complete(&b->s, kernel);
    if (how->by > RUN_free) find_fields(b, how, &schedule);
    describe(b, kernel, &schedule, launch->origin);
    return true;
}

/* Over planned memory a kernel may be wrong that is right elsewhere: where the interpreter says so
 * too, it must not have been planned to write over what it reads. */
bool bisect_kernels(Bisect *b) {
    const ProbeResult *whole = &b->whole.result;
    LaunchProbe how = {.launch = whole->launch, .chain = RUN_region, .placement = whole->placement};
    if (whole->stage != STAGE_kernels && whole->stage != STAGE_planned) return false;
    if (!bisect_launch(b, &how)) return false;
    if (whole->stage == STAGE_planned && how.by < RUN_fast) {
        b->report.part = TCC_PART_PASS;
        b->report.pass = "memory";
    }
    return true;
}
