// The digits example through all passes at each level: the program, run by the evaluator, gives
// what PyTorch gave.
#include "base/file.h"
#include "frontend/dsl/dsl.h"
#include "frontend/weights/npy.h"
#include "frontend/weights/weights.h"
#include "ir/program_tools.h"
#include "tests/unit/passes_support.h"

static const char folder[] = "examples/digits/";

typedef struct Digits {
    Bench b;
    WeightTable *table;
    const Graph *graph;
    Tensor images, expected;
} Digits;

static Str path_of(Arena *arena, Str name) {
    return str_format(arena, "%s%.*s", folder, STR_ARG(name));
}

static bool read_array(Digits *d, Str name, Tensor *out) {
    return npy_read(d->b.arena, d->b.ctx.diags, (Loc){0}, path_of(d->b.arena, name), out) ==
           STATUS_ok;
}

static bool open_digits(Digits *d) {
    bench_open(&d->b);
    Str text, name = path_of(d->b.arena, STR("digits.g"));
    Diags *diags = d->b.ctx.diags;
    d->table = weights_new(d->b.arena);
    if (file_read(d->b.arena, diags, (Loc){0}, name, 1 << 20, &text) != STATUS_ok) return false;
    DslOptions options = {.weights = d->table};
    options.file = diags_add_file(diags, name, text);
    const Module *module = dsl_compile(d->b.ir, d->b.arena, diags, &options);
    if (!module || module->models.count != 1) return false;
    d->graph = module->models.data[0];
    return read_array(d, STR("test_images.npy"), &d->images) &&
           read_array(d, STR("expected.npy"), &d->expected);
}

static void close_digits(Digits *d) {
    weights_free(d->table);
    bench_close(&d->b);
}

static void check_level(int level) {
    Digits d;
    if (!CHECK(open_digits(&d))) {
        printf("    %s\n", d.b.last_error);
        return;
    }
    enum { COUNT = 5 };
    d.b.ctx.options.level = level;
    PassResult result = {.program = NULL};
    CHECK(passes_run(&d.b.ctx, d.b.arena, d.graph, &result));
    int64_t *symbols = NEW_ARRAY(d.b.arena, int64_t, dim_symbol_count(d.b.ir));
    symbols[dim_find_symbol(d.b.ir, STR("N"))->id] = COUNT;
    d.images.dims[0] = d.expected.dims[0] = COUNT; // the first five
    Tensor got;
    const char *message = "";
    bool good = program_eval(result.program, &d.images, symbols, d.b.arena, &got, &message);
    if (!CHECK(good)) printf("    %s\n", message);
    if (good) CHECK_INT(first_difference(&d.expected, &got, 2e-6), -1);
    close_digits(&d);
}

// Between kernels images are channels-last, as the convolutions write them.
static void test_images_are_stored_channels_last(void) {
    Digits d;
    if (!CHECK(open_digits(&d))) return;
    PassResult result = {.program = NULL};
    CHECK(passes_run(&d.b.ctx, d.b.arena, d.graph, &result));
    uint32_t images = 0;
    for (size_t i = 0; i < result.program->buffers.count; i++) {
        const Buffer *buffer = &result.program->buffers.data[i];
        if (buffer->kind != BUFFER_arena || buffer->type->rank != 4) continue;
        CHECK(dim_equals_int(buffer->type->dims[3], images ? 32 : 16));
        images++;
    }
    CHECK_INT(images, 2);
    close_digits(&d);
}

static void test_every_level_gives_the_probabilities(void) {
    for (int level = 0; level <= 3; level++) check_level(level);
}

int main(void) {
    RUN(test_images_are_stored_channels_last);
    RUN(test_every_level_gives_the_probabilities);
    return test_done();
}
