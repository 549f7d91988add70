/* Convolution as products of matrices: for each image and group, w[O/groups, K] · columns[K,
 * positions], where K runs over channels and kernel places and the columns hold the elements under
 * the window. */
#include "ir/eval_rules.h"

enum { SPATIAL = 3, COLUMN_ELEMENTS = 1 << 20 };

typedef struct Conv {
    uint32_t rank; /* spatial */
    int64_t batch, channels, outputs, groups;
    int64_t size[SPATIAL], kernel[SPATIAL], result[SPATIAL];
    int64_t stride[SPATIAL], dilation[SPATIAL], lo[SPATIAL];
    int64_t pixels, places, positions; /* products of size, kernel, result */
} Conv;

static Conv read_conv(const Eval *ev, const EvalValue *out) {
    const Attr *attrs = ev->node->attrs;
    const Tensor *x = &ev->args[0].tensor, *w = &ev->args[1].tensor;
    Conv c = {.rank = x->rank - 2, .batch = x->dims[0], .outputs = w->dims[0]};
    c.groups = attrs[4].i;
    c.channels = w->dims[1];
    for (uint32_t i = 0; i < c.rank; i++) {
        c.size[i] = x->dims[i + 2];
        c.kernel[i] = w->dims[i + 2];
        c.result[i] = out->tensor.dims[i + 2];
        c.stride[i] = attrs[0].ints->items[i];
        c.dilation[i] = attrs[1].ints->items[i];
        c.lo[i] = attrs[2].ints->items[i];
    }
    c.pixels = eval_product(c.size, 0, c.rank);
    c.places = eval_product(c.kernel, 0, c.rank);
    c.positions = eval_product(c.result, 0, c.rank);
    return c;
}

/* The coordinates of `flat` in dims. */
static void unflatten(uint32_t rank, const int64_t *dims, int64_t flat, int64_t *out) {
    for (uint32_t i = rank; i-- > 0; flat /= dims[i]) out[i] = flat % dims[i];
}

/* The pixel under kernel place `k` at result position `o`; -1 for padding. */
static int64_t pixel(const Conv *c, const int64_t *o, const int64_t *k) {
    int64_t flat = 0;
    for (uint32_t i = 0; i < c->rank; i++) {
        int64_t at = o[i] * c->stride[i] + k[i] * c->dilation[i] - c->lo[i];
        if (at < 0 || at >= c->size[i]) return -1;
        flat = flat * c->size[i] + at;
    }
    return flat;
}

/* columns[K, n] for positions from `first` on, of the image whose channels begin at `image`. */
static void fill_columns(const Conv *c, const Side *x, int64_t image, int64_t first, int64_t n,
                         const Side *columns) {
    Side zero = {(double[]){0}, NULL, (int64_t[]){0}};
    for (int64_t k = 0; k < c->places; k++) {
        int64_t place[SPATIAL], at[SPATIAL];
        unflatten(c->rank, c->kernel, k, place);
        unflatten(c->rank, c->result, first, at);
        for (int64_t p = 0; p < n; p++) {
            int64_t from = pixel(c, at, place);
            for (int64_t channel = 0; channel < c->channels; channel++) {
                int64_t to = (channel * c->places + k) * n + p;
                bool inside = from >= 0;
                side_copy(columns, to, inside ? x : &zero,
                          inside ? image + channel * c->pixels + from : 0);
            }
            eval_next(c->rank, c->result, at);
        }
    }
}

/* One image and group, in chunks of `chunk` positions that bound the size of the columns. */
static void conv_group(const Conv *c, Matmul *mm, const Side *x, const Side *w, int64_t image,
                       int64_t group, int64_t chunk, const Side *columns, EvalValue *out) {
    int64_t first = (image * c->outputs + group * mm->m) * c->positions;
    int64_t pixels = (image * c->groups + group) * c->channels * c->pixels;
    Side rows = side_at(w, group * mm->m * mm->k);
    for (int64_t p = 0; p < c->positions; p += mm->n) {
        mm->n = c->positions - p < chunk ? c->positions - p : chunk;
        fill_columns(c, x, pixels, p, mm->n, columns);
        matmul(mm, &rows, columns, out, first + p, c->positions);
    }
}

/* Whether compiled code may take it by Winograd's algorithm (passes/winograd.c), which it does if
 * that pays besides. */
static bool may_transform(const Conv *c, DType operand) {
    bool is_3x3 = c->rank == 2 && c->groups == 1 && operand == DT_f32 && c->channels >= 16;
    for (uint32_t i = 0; i < c->rank && is_3x3; i++)
        is_3x3 = c->kernel[i] == 3 && c->stride[i] == 1 && c->dilation[i] == 1;
    return is_3x3;
}

bool eval_conv(Eval *ev, EvalValue *out) {
    const EvalValue *x = &ev->args[0], *w = &ev->args[1];
    Conv c = read_conv(ev, out);
    Side image = side_load(ev, x), kernel = side_load(ev, w);
    DType operand = x->tensor.dtype;
    Matmul mm = {.ev = ev, .operand = operand, .result = out->tensor.dtype};
    mm.is_float = dtype_is_float(operand);
    mm.m = c.outputs / c.groups;
    mm.k = c.channels * c.places;
    mm.transformed = may_transform(&c, operand) ? c.places : 0;
    int64_t chunk = COLUMN_ELEMENTS / (mm.k ? mm.k : 1);
    chunk = chunk < 1 ? 1 : chunk > c.positions ? c.positions : chunk;
    Side columns = side_new(ev->scratch, mm.is_float, image.b != NULL, mm.k * chunk);
    for (int64_t i = 0; i < c.batch * c.groups; i++) {
        int64_t n = i / c.groups, g = i % c.groups;
        conv_group(&c, &mm, &image, &kernel, n, g, chunk, &columns, out);
    }
    bool uncertain = !mm.is_float && out->bound && !(eval_is_exact(x) && eval_is_exact(w));
    if (uncertain) eval_all_uncertain(out);
    return true;
}
