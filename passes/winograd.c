/* Convolutions by Winograd's algorithm F(2x2, 3x3): which they are, and their weights.
 *
 * Two neighbouring results of three taps g over four pixels d take four products, not six:
 *
 *     y = Aᵀ[(G g) ⊙ (Bᵀ d)]     G = 1 0 0     Bᵀ = 1 0 -1 0     Aᵀ = 1 1  1  0
 *                                    ½ ½ ½          0 1  1 0          0 1 -1 -1
 *                                    ½ -½ ½         0 -1 1 0
 *                                    0 0 1          0 1  0 -1
 *
 * and in two dimensions 2x2 results of 3x3 taps 16 products, not 36 (Lavin and Gray, "Fast
 * algorithms for convolutional neural networks", 2016, section 4.1; signs as there). Sums over the
 * channels are taken of the 16 products, before Aᵀ. G g Gᵀ is evaluated here, once:
 *
 *     w[O, C, 3, 3]  becomes  P[ceil(O / NR), 16 + 9, C, NR]
 *
 * where rows 0 to 15 are the transforms and the others w itself, which the graph goes on reading:
 * so what the convolution means stays visible, and no other code need know of the transforms. */
#include "ir/build.h"
#include "passes/pack.h"

#include <float.h>
#include <math.h>

enum { TAPS = 9, PRODUCTS = 16, ROWS = PRODUCTS + TAPS, LANES = 16 };

static bool is_dense_3x3(const Graph *g, const Node *node) {
    const Type *x = graph_type(g, node->args[0]), *w = graph_type(g, node->args[1]);
    bool f32 = x->dtype == DT_f32 && w->dtype == DT_f32 && node->type->dtype == DT_f32;
    return f32 && x->rank == 4 && dim_equals_int(w->dims[2], 3) && dim_equals_int(w->dims[3], 3) &&
           node_attr(node, "groups").i == 1 && ints_are(node_attr(node, "strides").ints, 1) &&
           ints_are(node_attr(node, "dilations").ints, 1);
}

/* Time in vector multiply-adds, of which two start a cycle: those of either way, and for its
 * transforms what was measured for a vector of channels of one 4x4 tile in or one 2x2 tile out,
 * memory included. Weights that no cache of a core would hold come from memory once, three bytes in
 * the time of a multiply-add, which decides where there are few pixels. */
static bool pays(const Graph *g, const Node *node) {
    enum { FEWEST = 16, IN = 160, OUT = 90, SLOT_BYTES = 3, CACHED = 1 << 14 };
    int64_t outputs, channels, height, width;
    const Type *w = graph_type(g, node->args[1]), *y = node->type;
    if (!dim_is_const(w->dims[0], &outputs) || !dim_is_const(w->dims[1], &channels) ||
        !dim_is_const(y->dims[2], &height) || !dim_is_const(y->dims[3], &width))
        return false;
    if (outputs < FEWEST || channels < FEWEST || height < 2 || width < 2) return false;
    double images = (double)dim_tune_value(y->dims[0]), in = (double)channels;
    double out = (double)((outputs + LANES - 1) / LANES);
    double pixels = images * (double)height * (double)width;
    double tiles = images * (double)((height + 1) / 2) * (double)((width + 1) / 2);
    double direct = pixels * TAPS * in * out;
    double mine = tiles * (PRODUCTS * in * out + IN * in / LANES + OUT * out);
    double a_weight = in * out * LANES * sizeof(float) / SLOT_BYTES;
    if (in * out * LANES <= CACHED) a_weight = 0;
    return 1.1 * (mine + PRODUCTS * a_weight) < direct + TAPS * a_weight;
}

/* Whether the transforms, sums of up to nine weights, are finite as well. */
static bool stays_finite(const Node *w) {
    const Blob *blob = node_attr(w, "value").blob;
    const float *values = blob->bytes;
    size_t i = 0, count = blob->size / sizeof *values;
    while (i < count && fabsf(values[i]) < FLT_MAX / TAPS) i++;
    return i == count;
}

bool winograd_is_chosen(const Graph *g, NodeId id, NodeId w, const Graph *weights) {
    const Node *node = graph_node(g, id);
    return is_dense_3x3(g, node) && pays(g, node) && stays_finite(graph_node(weights, w));
}

/* ---- weights --------------------------------------------------------------------------------- */

/* The transforms [16, C·O] of w[9, C·O]: its product with G ⊗ G, whose elements are powers of two,
 * so that each is rounded once. */
static NodeId transformed(Graph *g, NodeId w) {
    static const float rows[4][3] = {{1, 0, 0}, {.5F, .5F, .5F}, {.5F, -.5F, .5F}, {0, 0, 1}};
    float both[PRODUCTS][TAPS];
    for (int i = 0; i < PRODUCTS; i++)
        for (int k = 0; k < TAPS; k++) both[i][k] = rows[i / 4][k / 3] * rows[i % 4][k % 3];
    const Dim *dims[] = {dim_const(g->ctx, PRODUCTS), dim_const(g->ctx, TAPS)};
    NodeId matrix = build_const(g, type_tensor(g->ctx, DT_f32, 2, dims), both, sizeof both);
    Attr attrs[] = {{.ints = ir_ints(g->ctx, (int64_t[]){0, 1}, 2)},
                    {.ints = ir_ints(g->ctx, (int64_t[]){1, 2}, 2)},
                    {.ints = ir_ints(g->ctx, (int64_t[]){0, 2}, 2)},
                    {.dtype = DT_f32}};
    return build_op(g, OP_contract, (NodeId[]){matrix, w}, 2, attrs);
}

NodeId winograd_view(const Packing *p) {
    static const int64_t taps_first[] = {2, 3, 1, 0};
    Graph *g = p->g;
    int64_t outputs = 0, channels = 0, front[4];
    dim_is_const(graph_type(g, p->w)->dims[0], &outputs);
    dim_is_const(graph_type(g, p->w)->dims[1], &channels);
    int64_t panels = (outputs + p->columns - 1) / p->columns, padded = panels * p->columns;
    pack_moving(4, 2, 0, front);
    NodeId w;
    Graph *chain = pack_start(p, &w);
    NodeId x = pack_padded(chain, pack_permuted(chain, w, taps_first), padded - outputs);
    x = pack_reshaped(chain, x, (int64_t[]){TAPS, channels * padded}, 2);
    x = build_op(chain, OP_concat, (NodeId[]){transformed(chain, x), x}, 2, &(Attr){.i = 0});
    x = pack_reshaped(chain, x, (int64_t[]){ROWS, channels, panels, p->columns}, 4);
    NodeId packed = pack_evaluated(p, chain, pack_permuted(chain, x, front));
    if (packed == NODE_none) return NODE_none;
    NodeId y = pack_unpermuted(g, pack_cut(g, packed, 1, PRODUCTS, TAPS), front);
    y = pack_reshaped(g, y, (int64_t[]){3, 3, channels, padded}, 4);
    return pack_unpermuted(g, pack_cut(g, y, 3, 0, outputs), taps_first);
}
