// Whatever stands between two convolutions gives the same numbers when plan keeps the images
// channels-last: every op that plan lets take part, along many axes each, of images with one to
// three spatial axes. Elements are small integers, so results are exact and no axis can be taken
// for another unseen.
#include "tests/unit/passes_support.h"

enum { CHANNELS = 16 };

typedef struct Layouts {
    Bench b;
    Graph *g;
    uint32_t rank;
} Layouts;

static const Dim *number(Layouts *s, int64_t value) { return dim_const(s->b.ir, value); }

static int64_t extent(const Layouts *s, NodeId x, uint32_t axis) {
    int64_t value = 0;
    dim_is_const(graph_type(s->g, x)->dims[axis], &value);
    return value;
}

static const IntList *ints(Layouts *s, const int64_t *items, uint32_t count) {
    return ir_ints(s->b.ir, items, count);
}

// Weights of `inputs` channels: a parameter's values are known, so they are packed as a model's.
static NodeId weights(Layouts *s, int64_t inputs) {
    int64_t dims[TYPE_MAX_RANK] = {CHANNELS, inputs, 3, 3, 3}, count = 1;
    for (uint32_t i = 0; i < s->rank; i++) count *= dims[i];
    float *values = NEW_ARRAY(s->b.arena, float, (size_t)count);
    for (int64_t i = 0; i < count; i++) values[i] = (float)(i * 5 % 7 - 3);
    return build_const(s->g, bench_type(&s->b, DT_f32, s->rank, dims), values,
                       (size_t)count * sizeof *values);
}

static NodeId convolution(Layouts *s, NodeId x) {
    static const int64_t ones[] = {1, 1, 1};
    const IntList *list = ints(s, ones, s->rank - 2);
    NodeId args[] = {x, weights(s, extent(s, x, 1))};
    Attr attrs[] = {{.ints = list}, {.ints = list}, {.ints = list},
                    {.ints = list}, {.i = 1},       {.dtype = DT_f32}};
    return build_op(s->g, OP_conv, args, 2, attrs);
}

// ---- what stands between ------------------------------------------------------------------------

static NodeId reversed(Layouts *s, NodeId x, uint32_t which) {
    int64_t axes[TYPE_MAX_RANK];
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->rank; i++)
        if (which >> i & 1) axes[count++] = i;
    return build_op(s->g, OP_reverse, &x, 1, (Attr[]){{.ints = ints(s, axes, count)}});
}

// Start, end and step of each axis are digits of `which`.
static NodeId sliced(Layouts *s, NodeId x, uint32_t which) {
    const Dim *start[TYPE_MAX_RANK], *limit[TYPE_MAX_RANK];
    int64_t step[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < s->rank; i++, which = which / 3 + 5) {
        int64_t size = extent(s, x, i), from = which % 3 < size ? which % 3 : 0;
        start[i] = number(s, from);
        limit[i] = number(s, size - (which % 4 == 1 && from + 1 < size));
        step[i] = 1 + which % 2;
    }
    return build_slice(s->g, x, start, limit, step);
}

static NodeId padded(Layouts *s, NodeId x, uint32_t which) {
    const Dim *lo[TYPE_MAX_RANK], *hi[TYPE_MAX_RANK];
    NodeId value = build_scalar(s->g, DT_f32, which % 2 ? -1 : 2);
    for (uint32_t i = 0; i < s->rank; i++, which = which / 2 + 3) {
        lo[i] = number(s, which % 3);
        hi[i] = number(s, which % 2);
    }
    return build_pad(s->g, x, value, lo, hi);
}

static NodeId joined(Layouts *s, NodeId x, uint32_t which) {
    NodeId parts[] = {x, reversed(s, x, which)};
    return build_op(s->g, OP_concat, parts, 2, (Attr[]){{.i = which % s->rank}});
}

// A window of its own size, step and borders along every axis.
static NodeId windowed(Layouts *s, NodeId x, uint32_t which) {
    static const Op ops[] = {OP_window_max, OP_window_min, OP_window_sum};
    int64_t window[TYPE_MAX_RANK], stride[TYPE_MAX_RANK], dilation[TYPE_MAX_RANK];
    int64_t lo[TYPE_MAX_RANK], hi[TYPE_MAX_RANK];
    Op op = ops[which % 3];
    for (uint32_t i = 0; i < s->rank; i++, which = which / 2 + 7) {
        window[i] = 1 + which % 3 % extent(s, x, i);
        stride[i] = 1 + which % 2;
        dilation[i] = 1;
        lo[i] = window[i] > 1 ? which % 2 : 0;
        hi[i] = window[i] > 1 ? which / 2 % 2 : 0;
    }
    Attr attrs[] = {{.ints = ints(s, window, s->rank)},
                    {.ints = ints(s, stride, s->rank)},
                    {.ints = ints(s, dilation, s->rank)},
                    {.ints = ints(s, lo, s->rank)},
                    {.ints = ints(s, hi, s->rank)}};
    return build_op(s->g, op, &x, 1, attrs);
}

// Numbers that vary along one axis alone, such as a bias for each channel, added to the image.
static NodeId added(Layouts *s, NodeId x, uint32_t which) {
    float values[64];
    int64_t axis = which % s->rank, size = extent(s, x, (uint32_t)axis);
    for (int64_t i = 0; i < size; i++) values[i] = (float)(i * 3 % 8);
    const Type *type = bench_type(&s->b, DT_f32, 1, &size);
    NodeId row = build_const(s->g, type, values, (size_t)size * sizeof *values);
    const Type *image = graph_type(s->g, x);
    NodeId args[] = {x, build_broadcast(s->g, row, image->dims, image->rank, &axis)};
    return build_op(s->g, which < s->rank ? OP_add : OP_min, args, 2, NULL);
}

// A product over channels alone: what a convolution of one point is.
static NodeId mixed(Layouts *s, NodeId x, uint32_t which) {
    int64_t dims[] = {8 + which * 8, extent(s, x, 1)}, count = dims[0] * dims[1];
    int64_t a[] = {0, 1, 2, 3, 4}, b[] = {9, 1}, out[] = {0, 9, 2, 3, 4};
    float *values = NEW_ARRAY(s->b.arena, float, (size_t)count);
    for (int64_t i = 0; i < count; i++) values[i] = (float)(i % 5 - 2);
    NodeId args[] = {x, build_const(s->g, bench_type(&s->b, DT_f32, 2, dims), values,
                                    (size_t)count * sizeof *values)};
    Attr attrs[] = {{.ints = ints(s, a, s->rank)},
                    {.ints = ints(s, b, 2)},
                    {.ints = ints(s, out, s->rank)},
                    {.dtype = DT_f32}};
    return build_op(s->g, OP_contract, args, 2, attrs);
}

static const struct {
    const char *name;
    NodeId (*build)(Layouts *s, NodeId x, uint32_t which);
    uint32_t count;
} rows[] = {{"reverse", reversed, 32}, {"slice", sliced, 24},    {"pad", padded, 24},
            {"concat", joined, 20},    {"window", windowed, 32}, {"broadcast", added, 10},
            {"contract", mixed, 2}};
enum { ROWS = sizeof rows / sizeof *rows };

// ---- the comparison -----------------------------------------------------------------------------

// What leaves the images along every set of spatial axes.
static NodeId reduced(Layouts *s, NodeId x, uint32_t which) {
    int64_t axes[TYPE_MAX_RANK];
    uint32_t count = 0;
    for (uint32_t i = 2; i < s->rank; i++)
        if (which >> (i - 2) & 1) axes[count++] = i;
    Attr attrs[] = {{.ints = ints(s, axes, count)}, {.dtype = DT_f32}};
    return build_op(s->g, OP_reduce_max, &x, 1, attrs);
}

static bool keeps_channels_last(const Bench *b) {
    for (size_t i = 0; i < b->ctx.remarks.count; i++)
        if (str_equal(b->ctx.remarks.data[i].text, STR("channels-last"))) return true;
    return false;
}

// Whether plan chose the other layout.
static bool check_case(uint32_t row, uint32_t rank, uint32_t which) {
    static const int64_t images[] = {2, 3, 7, 6, 5};
    Layouts s = {.rank = rank};
    bench_open(&s.b);
    s.g = bench_graph(&s.b);
    NodeId x = graph_add_input(s.g, STR("x"), bench_type(&s.b, DT_f32, rank, images), NULL);
    NodeId between = rows[row].build(&s, convolution(&s, x), which);
    NodeId last = convolution(&s, between);
    graph_add_output(s.g, STR("y"), last);
    graph_add_output(s.g, STR("r"), reduced(&s, last, which));
    s.b.ctx.options.passes = STR("plan");
    PassResult result = {.graph = s.g};
    bool chosen = false;
    if (CHECK(passes_run(&s.b.ctx, s.b.arena, s.g, &result))) {
        uint64_t seed = 1;
        Tensor in = test_tensor(s.b.arena, graph_type(s.g, x), NULL, &seed);
        for (int64_t i = 0; i < tensor_elements(&in); i++)
            tensor_set(&in, i, (double)(i * 7 % 11 - 5));
        const Tensor *want = test_eval(s.b.arena, s.g, &in, NULL);
        const Tensor *got = test_eval(s.b.arena, result.graph, &in, NULL);
        for (int i = 0; i < 2; i++)
            if (!CHECK_INT(first_difference(&want[i], &got[i], 0), -1))
                printf("    %s %u between convolutions of rank %u\n", rows[row].name, which, rank);
        chosen = keeps_channels_last(&s.b);
    }
    bench_close(&s.b);
    return chosen;
}

static void check_rank(uint32_t rank) {
    uint32_t cases = 0, chosen = 0;
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t k = 0; k < rows[row].count >> (rank == 5); k++, cases++)
            chosen += check_case(row, rank, k);
    if (!CHECK(chosen * 2 > cases)) printf("    %u of %u channels-last\n", chosen, cases);
}

static void test_one_spatial_axis(void) { check_rank(3); }
static void test_two_spatial_axes(void) { check_rank(4); }
static void test_three_spatial_axes(void) { check_rank(5); }

int main(void) {
    RUN(test_one_spatial_axis);
    RUN(test_two_spatial_axes);
    RUN(test_three_spatial_axes);
    return test_done();
}
