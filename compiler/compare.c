#include "compiler/compare.h"

#include <math.h>

/* More elements than this that cannot be compared make the comparison worthless. */
static const double MAX_LEFT_OUT = 0.01;

/* Derived bounds are worst cases, and through many layers they grow until they say nothing. A whole
 * model is then compared by its root mean square error, relative to the values'. */
static const double MAX_RMS_ERROR = 1e-3, MAX_RMS_ERROR_NARROW = 5e-2;

/* One element of two tensors of a dtype. */
typedef struct Pair {
    bool same;
    double got, want, bound;
} Pair;

/* Equal numbers, or two NaNs. Where nothing was rounded, zeros have the sign of the contract. */
static bool is_same(double a, double b, double bound) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return a == b && (a != 0 || bound > 0 || signbit(a) == signbit(b));
}

static Pair pair_at(const Tensor *got, const EvalValue *want, int64_t i) {
    Pair p = {.got = tensor_get(got, i),
              .want = tensor_get(&want->tensor, i),
              .bound = want->bound == NULL ? 0 : want->bound[i]};
    p.same = dtype_is_float(got->dtype)
                 ? is_same(p.got, p.want, p.bound)
                 : tensor_get_int(got, i) == tensor_get_int(&want->tensor, i);
    return p;
}

/* The error as a share of the tolerance: 0 for the very value, and +inf where none is allowed. */
static double error_ratio(const Pair *p) {
    if (p->same) return 0;
    if (!isfinite(p->got) || !isfinite(p->want) || p->bound <= 0) return (double)INFINITY;
    return fabs(p->got - p->want) / p->bound;
}

static bool has_narrow_floats(const Graph *g) {
    for (NodeId id = 0; id < g->nodes.count; id++) {
        const Node *node = graph_node(g, id);
        DType dtype = node->type->dtype;
        if (dtype_is_float(dtype) && dtype_compute(dtype) != dtype) return true;
        for (uint32_t r = 0; r < node->region_count; r++)
            if (has_narrow_floats(node->regions[r])) return true;
    }
    return false;
}

CompareScope compare_scope_of(const Graph *model) {
    return has_narrow_floats(model) ? COMPARE_narrow_model : COMPARE_model;
}

static bool agrees_by_rms(DType dtype, CompareScope scope, double rms) {
    if (!dtype_is_float(dtype) || scope == COMPARE_kernel) return false;
    return rms <= (scope == COMPARE_narrow_model ? MAX_RMS_ERROR_NARROW : MAX_RMS_ERROR);
}

static bool is_open(const Pair *p) { return isinf(p->bound) && !p->same; }

bool compare_is_open(const Tensor *got, const EvalValue *want) {
    for (int64_t i = 0; want->bound != NULL && i < tensor_elements(got); i++) {
        Pair p = pair_at(got, want, i);
        if (is_open(&p)) return true;
    }
    return false;
}

/* Another right answer, where the first one says nothing. */
static bool agrees(const Tensor *got, const EvalValue *kept, int64_t i) {
    if (kept == NULL) return false;
    Pair p = pair_at(got, kept, i);
    return !isinf(p.bound) && error_ratio(&p) <= 1;
}

static double relative_rms(const Tensor *got, const EvalValue *want, const EvalValue *kept) {
    double error = 0, size = 0;
    for (int64_t i = 0; i < tensor_elements(got); i++) {
        Pair p = pair_at(got, want, i);
        if (is_open(&p) && agrees(got, kept, i)) p = pair_at(got, kept, i);
        double a = p.got, b = p.want;
        if (isfinite(b)) size += b * b;
        if (a != b && !(isnan(a) && isnan(b))) error += (a - b) * (a - b);
    }
    return error == 0 ? 0 : size == 0 ? (double)INFINITY : sqrt(error / size);
}

void compare_tensors(const Tensor *got, const EvalValue *want, const EvalValue *kept,
                     CompareScope scope, tcc_check_result *result) {
    tcc_check_result r = {.size = sizeof r,
                          .kernel = result->kernel,
                          .output = result->output,
                          .elements = (uint64_t)tensor_elements(got)};
    for (uint64_t i = 0; i < r.elements; i++) {
        Pair p = pair_at(got, want, (int64_t)i);
        if (is_open(&p)) {
            r.compared += agrees(got, kept, (int64_t)i);
            continue;
        }
        double ratio = error_ratio(&p);
        r.compared++;
        if (ratio > r.worst) r.worst = ratio;
        if (ratio <= 1 || r.mismatches++ > 0) continue;
        r.first_index = i;
        r.got = p.got;
        r.expected = p.want;
        r.tolerance = p.bound;
    }
    uint64_t left_out = r.elements - r.compared;
    bool worthless = (double)left_out > MAX_LEFT_OUT * (double)r.elements + 1;
    r.rms = relative_rms(got, want, kept);
    if (worthless) worthless = !agrees_by_rms(got->dtype, scope, r.rms);
    r.agrees = r.mismatches == 0 && !worthless;
    *result = r;
}
