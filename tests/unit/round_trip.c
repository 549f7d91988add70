// Texts of every level read back: the graph after every pass and the program of every example,
// library function and model of the tests at every level of -O, and every tile program of their
// kernels, free and placed, for CPUs and GPUs. What was read, in another context, prints the same
// text and gives the same values to the last bit.
#include "codegen/kernel.h"
#include "codegen/skeleton/skeleton.h"
#include "codegen/tile/tile_tools.h"
#include "ir/program_tools.h"
#include "ir/text.h"
#include "passes/pass.h"
#include "tests/support/dsl_compile.h"
#include "tests/support/model_values.h"
#include "tests/unit/test.h"

#include "base/map.h"

enum { LEVELS = 4 };

static long graphs, evaluated, programs, tiles, interpreted;

// A model at one level, on its way through the passes.
typedef struct Road {
    Arena *arena;
    const char *path;
    const Graph *graph; // the last one
    PassContext ctx;
    const int64_t *symbols;
    const EvalValue *inputs;
    bool evaluable; // the entry checks hold for these sizes
    char where[160];
} Road;

// ---- graphs

static Str graph_text(Arena *arena, const Graph *graph) {
    Graph *models[] = {(Graph *)(uintptr_t)graph};
    Module module = {.ctx = graph->ctx, .arena = arena, .models = {models, 1, 1}};
    Buf buf = {.arena = arena};
    print_module(&buf, &module, &(PrintOptions){.origins = false});
    return buf_str(&buf);
}

// The large constants of a graph, for another context that reads its text.
typedef struct Blobs {
    Arena *arena;
    IrContext *to;
    Map map;
} Blobs;

static void keep_blob(void *user, const Blob *blob) {
    Blobs *blobs = user;
    uint8_t *digest = arena_alloc(blobs->arena, 32);
    ir_blob_sha256(blob, digest);
    map_set(&blobs->map, (Str){(const char *)digest, 32}, (void *)(uintptr_t)blob);
}

static const Blob *find_blob(void *user, const uint8_t digest[32]) {
    const Blobs *blobs = user;
    const Blob *blob = map_get(&blobs->map, (Str){(const char *)digest, 32});
    return blob ? ir_blob_adopt(blobs->to, blob->bytes, blob->size, NULL, NULL) : NULL;
}

// The symbols of `to` get the values of those with the same names.
static int64_t *same_symbols(Arena *arena, IrContext *to, IrContext *from, const int64_t *values) {
    uint32_t count = dim_symbol_count(to);
    int64_t *out = NEW_ARRAY(arena, int64_t, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const DimSymbol *known = dim_find_symbol(from, dim_symbol_at(to, i)->name);
        if (known && known->kind == SYMBOL_named) out[i] = values[known->id];
    }
    return out;
}

static bool evaluate(Arena *arena, const Graph *g, const EvalValue *inputs, const int64_t *symbols,
                     Tensor *out) {
    EvalValue *results = NEW_ARRAY(arena, EvalValue, g->outputs.count);
    EvalOptions options = {.symbols = symbols};
    EvalError error = {.failed = false};
    const char *message;
    if (!eval_graph(g, inputs, &options, arena, results, &error, &message)) return false;
    for (size_t i = 0; i < g->outputs.count; i++) out[i] = results[i].tensor;
    return true;
}

static void check_values(Road *road, Arena *arena, const Graph *again) {
    size_t count = road->graph->outputs.count;
    Tensor *want = NEW_ARRAY(arena, Tensor, count), *got = NEW_ARRAY(arena, Tensor, count);
    if (!road->evaluable) return;
    int64_t *symbols = same_symbols(arena, again->ctx, road->graph->ctx, road->symbols);
    bool good = CHECK(evaluate(arena, road->graph, road->inputs, road->symbols, want)) &&
                CHECK(evaluate(arena, again, road->inputs, symbols, got));
    for (size_t i = 0; i < count && good; i++)
        good = CHECK_INT(tensor_bytes(&got[i]), tensor_bytes(&want[i])) &&
               CHECK_MEM(got[i].data, want[i].data, tensor_bytes(&want[i]));
    if (!good) printf("    %s\n", road->where);
    evaluated++;
}

static void keep_message(void *user, const Diag *diag) {
    snprintf(user, 256, "%s", diag->rendered);
}

static void check_graph(Road *road) {
    Arena *arena = arena_new(NULL);
    IrContext *other = ir_context_new(arena);
    char message[256] = "";
    Str text = graph_text(arena, road->graph);
    Graph *models[] = {(Graph *)(uintptr_t)road->graph};
    Module module = {.ctx = road->graph->ctx, .arena = arena, .models = {models, 1, 1}};
    Blobs blobs = {.arena = arena, .to = other, .map = {.arena = arena}};
    module_visit_blobs(&module, keep_blob, &blobs);
    Diags *diags = diags_new(arena, keep_message, message, 1);
    uint32_t file = diags_add_file(diags, STR("dump.tir"), text);
    const Module *again = parse_module(other, arena, diags, file, find_blob, &blobs);
    graphs++;
    if (!CHECK(again && again->models.count == 1)) {
        printf("    %s: %s\n", road->where, message);
    } else {
        if (!CHECK_STR(graph_text(arena, again->models.data[0]).data, text.data))
            printf("    %s\n", road->where);
        check_values(road, arena, again->models.data[0]);
    }
    ir_context_free(other);
    arena_free(arena);
}

// ---- programs

static Str program_text(Arena *arena, const Program *program) {
    Buf buf = {.arena = arena};
    buf_program(&buf, program);
    return buf_str(&buf);
}

static void check_program_values(Road *road, Arena *arena, const Program *program,
                                 const Program *again) {
    size_t count = program->graph->outputs.count;
    Tensor *inputs = NEW_ARRAY(arena, Tensor, program->graph->inputs.count);
    Tensor *want = NEW_ARRAY(arena, Tensor, count), *got = NEW_ARRAY(arena, Tensor, count);
    const int64_t *symbols = same_symbols(arena, again->ctx, program->ctx, road->symbols);
    const char *message = "";
    for (size_t i = 0; i < program->graph->inputs.count; i++) inputs[i] = road->inputs[i].tensor;
    bool good = CHECK(program_eval(program, inputs, road->symbols, arena, want, &message)) &&
                CHECK(program_eval(again, inputs, symbols, arena, got, &message));
    for (size_t i = 0; i < count && good; i++)
        good = CHECK_INT(tensor_bytes(&got[i]), tensor_bytes(&want[i])) &&
               CHECK_MEM(got[i].data, want[i].data, tensor_bytes(&want[i]));
    if (!good) printf("    %s: %s\n", road->where, message);
    programs++;
}

static void check_program(Road *road, const Program *program) {
    Arena *arena = arena_new(NULL);
    IrContext *other = ir_context_new(arena);
    char message[256] = "";
    Str text = program_text(arena, program);
    Blobs blobs = {.arena = arena, .to = other, .map = {.arena = arena}};
    for (size_t i = 0; i < program->constants.count; i++)
        keep_blob(&blobs, program->constants.data[i].blob);
    Diags *diags = diags_new(arena, keep_message, message, 1);
    uint32_t file = diags_add_file(diags, STR("dump.program"), text);
    const Program *again = program_read(other, arena, diags, file, find_blob, &blobs);
    if (!CHECK(again != NULL))
        printf("    %s: %s\n%.*s", road->where, message, STR_ARG(text));
    else if (!CHECK_STR(program_text(arena, again).data, text.data))
        printf("    %s\n", road->where);
    else if (road->evaluable)
        check_program_values(road, arena, program, again);
    ir_context_free(other);
    arena_free(arena);
}

// ---- tile programs

static Str tile_text(Arena *arena, const TileProgram *tile) {
    Buf buf = {.arena = arena};
    tile_print(&buf, tile);
    return buf_str(&buf);
}

// What the kernel of a launch reads, and room for what it writes.
typedef struct Memory {
    uint32_t count, inputs;
    void **buffers, **copies; // outputs twice, for two runs
    size_t *bytes;
    double elements;
} Memory;

static bool interpret(Arena *arena, const TileProgram *tile, void **buffers,
                      const int64_t *symbols) {
    int64_t site;
    const char *message = NULL;
    uint32_t count = dim_symbol_count(tile->ctx);
    int64_t *room = NEW_ARRAY(arena, int64_t, count + 64);
    for (uint32_t i = 0; i < count; i++)
        if (dim_symbol_at(tile->ctx, i)->kind == SYMBOL_named) room[i] = symbols[i];
    bool good = CHECK(tile_interpret(tile, buffers, room, arena, &site, &message));
    if (!good) printf("    %s\n", message);
    return good;
}

static void check_tile_values(Road *road, Arena *arena, const Memory *memory,
                              const TileProgram *tile, const TileProgram *again) {
    const int64_t *symbols = same_symbols(arena, again->ctx, tile->ctx, road->symbols);
    for (uint32_t i = memory->inputs; i < memory->count; i++) {
        memset(memory->buffers[i], 0xA5, memory->bytes[i]);
        memset(memory->copies[i], 0xA5, memory->bytes[i]);
    }
    bool good = interpret(arena, tile, memory->buffers, road->symbols) &&
                interpret(arena, again, memory->copies, symbols);
    for (uint32_t i = memory->inputs; i < memory->count && good; i++)
        good = CHECK_MEM(memory->copies[i], memory->buffers[i], memory->bytes[i]);
    if (!good) printf("    %s\n", road->where);
    interpreted++;
}

static void check_tile(Road *road, const Memory *memory, const TileProgram *tile) {
    Arena *arena = arena_new(NULL);
    IrContext *other = ir_context_new(arena);
    char message[256] = "";
    Str text = tile_text(arena, tile);
    Diags *diags = diags_new(arena, keep_message, message, 1);
    uint32_t file = diags_add_file(diags, STR("dump.tile"), text);
    const TileProgram *again = tile_parse(other, arena, diags, file);
    tiles++;
    if (!CHECK(again != NULL))
        printf("    %s: %s\n%.*s", road->where, message, STR_ARG(text));
    else if (!CHECK_STR(tile_text(arena, again).data, text.data))
        printf("    %s\n", road->where);
    else if (memory && tile_count(tile, road->symbols).operations <= 3e5)
        check_tile_values(road, arena, memory, tile, again);
    ir_context_free(other);
    arena_free(arena);
}

// The program was fused for a CPU: not all of it can be built for a GPU.
static bool is_legal(const Road *road, const Kernel *kernel, const Target *target) {
    const CostModel *model = road->ctx.cost;
    Arena *arena = arena_new(NULL);
    const char *why;
    bool legal =
        target->kind == TARGET_cpu || model->legal(model->self, kernel->region, *kernel->skeleton,
                                                   *kernel->strategy, target, arena, &why);
    arena_free(arena);
    return legal;
}

static void check_kernel(Road *road, const Program *program, uint32_t kernel,
                         const Memory *memory) {
    static const TileState states[] = {TILE_free, TILE_placed};
    size_t length = strlen(road->where);
    for (uint32_t t = 0; target_at(t) != NULL; t++) {
        if (!is_legal(road, &program->kernels.data[kernel], target_at(t))) continue;
        for (int state = t > 0; state < 2; state++) {
            Arena *arena = arena_new(NULL);
            const char *why = "";
            snprintf(road->where + length, sizeof road->where - length, ", kernel %s for %s%s",
                     program->kernels.data[kernel].name->data, target_at(t)->name,
                     state ? "" : ", free");
            const TileProgram *tile =
                kernel_tile(program, kernel, target_at(t), states[state], false, arena, &why);
            if (CHECK(tile != NULL))
                check_tile(road, memory, tile);
            else
                printf("    %s: %s\n", road->where, why);
            arena_free(arena);
        }
    }
    road->where[length] = 0;
}

// Runs the launch by the evaluator; its outputs go to the program's buffers.
static bool run_launch(Road *road, Arena *arena, const Program *p, const Launch *launch,
                       Tensor *buffers, Memory *out) {
    const Graph *region = p->kernels.data[launch->kernel].region;
    uint32_t inputs = (uint32_t)region->inputs.count;
    EvalValue *args = NEW_ARRAY(arena, EvalValue, inputs);
    Tensor *results = NEW_ARRAY(arena, Tensor, region->outputs.count);
    for (uint32_t i = 0; i < inputs; i++) args[i].tensor = buffers[launch->buffers[i]];
    if (!CHECK(evaluate(arena, region, args, road->symbols, results))) return false;
    *out = (Memory){launch->buffer_count,
                    inputs,
                    NEW_ARRAY(arena, void *, launch->buffer_count),
                    NEW_ARRAY(arena, void *, launch->buffer_count),
                    NEW_ARRAY(arena, size_t, launch->buffer_count),
                    0};
    for (uint32_t i = 0; i < launch->buffer_count; i++) {
        Tensor *t = &buffers[launch->buffers[i]];
        if (i >= inputs) *t = results[i - inputs];
        out->bytes[i] = tensor_bytes(t);
        out->buffers[i] = out->copies[i] = t->data;
        if (i < inputs) continue;
        out->buffers[i] = arena_alloc(arena, out->bytes[i] + 64);
        out->copies[i] = arena_alloc(arena, out->bytes[i] + 64);
    }
    return true;
}

// Every kernel once, on what its first launch reads.
static void check_kernels(Road *road, const Program *p) {
    Arena *arena = arena_new(NULL);
    Tensor *buffers = NEW_ARRAY(arena, Tensor, p->buffers.count);
    bool *seen = NEW_ARRAY(arena, bool, p->kernels.count), good = road->evaluable;
    for (size_t i = 0; i < p->buffers.count; i++) {
        const Buffer *b = &p->buffers.data[i];
        if (b->kind == BUFFER_input) buffers[i] = road->inputs[b->index].tensor;
        if (b->kind != BUFFER_constant) continue;
        const Constant *c = &p->constants.data[b->index];
        buffers[i] = (Tensor){.dtype = c->type->dtype, .rank = c->type->rank};
        for (uint32_t a = 0; a < c->type->rank; a++)
            dim_is_const(c->type->dims[a], &buffers[i].dims[a]);
        buffers[i].data = (void *)(uintptr_t)c->blob->bytes;
    }
    for (size_t i = 0; i < p->launches.count; i++) {
        const Launch *launch = &p->launches.data[i];
        Memory memory;
        good = good && run_launch(road, arena, p, launch, buffers, &memory);
        if (!seen[launch->kernel]) check_kernel(road, p, launch->kernel, good ? &memory : NULL);
        seen[launch->kernel] = true;
    }
    arena_free(arena);
}

// ---- the road of one model

static bool run_pass(Road *road, PassId pass, PassResult *out) {
    road->ctx.options.passes = str_from(pass_info(pass)->name);
    bool good = passes_run(&road->ctx, road->arena, road->graph, out);
    if (!CHECK(good)) printf("    %s\n", road->where);
    return good;
}

static void run_level(Road *road, int level) {
    const char *message;
    Pipeline pipeline;
    PassResult result = {0};
    road->ctx.options.level = level;
    road->ctx.options.passes = (Str){0};
    if (!CHECK(pipeline_from_options(&road->ctx.options, FACT_unfused, road->arena, &pipeline,
                                     &message)))
        return;
    for (uint32_t i = 0; i < pipeline.count; i++) {
        snprintf(road->where, sizeof road->where, "%s: %.*s -O%d after %s", road->path,
                 STR_ARG(*road->graph->name), level, pass_info(pipeline.items[i])->name);
        if (!run_pass(road, pipeline.items[i], &result)) return;
        road->graph = result.graph;
        if (!result.program) {
            check_graph(road);
            continue;
        }
        check_program(road, result.program);
        check_kernels(road, result.program);
    }
    CHECK(result.program != NULL);
}

static void check_model(const char *path, DslRun *run, const Graph *model, int level) {
    Arena *arena = arena_new(NULL);
    CostModel cost = skeleton_cost_model(run->ctx);
    Road road = {.arena = arena, .path = path, .graph = model_fill_params(model, arena)};
    Tensor *values = NEW_ARRAY(arena, Tensor, model->outputs.count);
    road.symbols = model_symbols(run->ctx, arena, SIZE_odd);
    road.inputs = model_inputs(model, arena, road.symbols);
    road.evaluable = evaluate(arena, road.graph, road.inputs, road.symbols, values);
    road.ctx = (PassContext){.ir = run->ctx,
                             .diags = run->diags,
                             .target = target_find(STR("x86-64-v3")),
                             .cost = &cost,
                             .arena = arena,
                             .scratch = arena_new(NULL)};
    road.ctx.options.rewrite_limit = -1;
    run_level(&road, level);
    arena_free(road.ctx.scratch);
    arena_free(arena);
}

// Every model of the text at each level; in the short form large ones at the default level alone.
static void check_text(const char *path, Str text, bool large) {
    for (int level = 0; level < LEVELS; level++) {
        DslRun run;
        DslOptions options = {.allow_missing = true};
        if (large && level != 2 && !test_long()) continue;
        dsl_run(&run, path, text, &options);
        if (!CHECK(run.module != NULL)) return;
        for (size_t i = 0; i < run.module->models.count; i++)
            check_model(path, &run, run.module->models.data[i], level);
        dsl_run_free(&run);
    }
}

static void check_file(const char *path, bool large) {
    Str text = dsl_read_file(path);
    if (!CHECK(text.data != NULL)) return;
    check_text(path, text, large);
    free((void *)(uintptr_t)text.data);
}

static void test_digits(void) { check_file("examples/digits/digits.g", false); }

// With a table of fewer words.
static void test_encoder(void) {
    Str text = dsl_read_file("examples/encoder/encoder.g");
    if (!CHECK(text.data != NULL)) return;
    char *copy = (char *)(uintptr_t)text.data, *words;
    copy[text.size] = 0;
    if (CHECK((words = strstr(copy, "30522")) != NULL)) memcpy(words, "00101", 5);
    check_text("examples/encoder/encoder.g", text, true);
    free(copy);
}

static void test_library(void) {
    check_file("tests/models/library.g", false);
    check_file("tests/models/language.g", false);
    check_file("tests/models/ops.g", false);
    check_file("tests/models/dims.g", false);
}

static void test_fusion(void) {
    check_file("tests/models/fusion/rows.g", false);
    check_file("tests/models/fusion/epilogues.g", false);
    check_file("tests/models/fusion/products.g", false);
}

int main(void) {
    RUN(test_digits);
    RUN(test_encoder);
    RUN(test_library);
    RUN(test_fusion);
    printf("       %ld graphs, %ld evaluated; %ld programs evaluated\n", graphs, evaluated,
           programs);
    printf("       %ld tile programs, %ld interpreted\n", tiles, interpreted);
    CHECK(2 * evaluated > graphs && programs > 0 && 2 * interpreted > tiles);
    return test_done();
}
