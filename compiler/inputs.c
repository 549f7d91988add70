/* The sets of inputs that bisect and reduce try: what was given, and else several sizes and kinds
 * of numbers, the same for the same seed. */
#include "compiler/subject.h"
#include "frontend/weights/npy.h"

#include <math.h>
#include <string.h>

enum { TRIES = 8, MOST_ELEMENTS = 1 << 22, USUAL_MOST_SIZE = 64 };

/* ---- sizes ----------------------------------------------------------------------------------- */

/* What the n-th set takes where it can: first what the model is tuned for, then an end of the
 * range, and sizes that vectors and tiles do not divide. */
static int64_t wanted_size(const DimSymbol *symbol, uint32_t number) {
    static const int64_t sizes[] = {7, 13, 1, 33, 17, 2, 64, 5};
    int64_t size;
    if (number < 2) return symbol->tune;
    if (number == 2) return symbol->lo;
    if (number == 3)
        size = symbol->hi < USUAL_MOST_SIZE ? symbol->hi : USUAL_MOST_SIZE - 1;
    else
        size = sizes[(number + symbol->id) % (sizeof sizes / sizeof *sizes)];
    return size < symbol->lo ? symbol->lo : size > symbol->hi ? symbol->hi : size;
}

static const tcc_given_input *given_input(const Subject *s, Str name) {
    for (uint32_t i = 0; i < s->search.input_count; i++)
        if (str_equal(str_from(s->search.inputs[i].name), name)) return &s->search.inputs[i];
    return NULL;
}

static Str input_name(const Subject *s, size_t i) {
    return *node_attr(graph_node(s->graph, s->graph->inputs.data[i]), "name").str;
}

/* An axis of a given array that is a dim alone settles it, else what was said of the dim. */
static bool given_size(const Subject *s, const DimSymbol *symbol, int64_t *out_size) {
    for (size_t i = 0; i < s->graph->inputs.count; i++) {
        const tcc_given_input *given = given_input(s, input_name(s, i));
        const Type *type = graph_type(s->graph, s->graph->inputs.data[i]);
        for (uint32_t a = 0; given != NULL && given->value != NULL && a < type->rank; a++) {
            if (dim_as_symbol(type->dims[a]) != symbol || given->value->rank != type->rank)
                continue;
            *out_size = given->value->dims[a];
            return true;
        }
    }
    for (uint32_t i = 0; i < s->search.dim_count; i++) {
        if (!str_equal(str_from(s->search.dims[i].name), symbol->name)) continue;
        *out_size = s->search.dims[i].size;
        return true;
    }
    return false;
}

static void choose_sizes(const Subject *s, uint32_t number, InputSet *set, Buf *what) {
    uint32_t count = dim_symbol_count(s->ctx);
    set->symbols = NEW_ARRAY(s->arena, int64_t, count + 1);
    for (uint32_t id = 0; id < count; id++) {
        const DimSymbol *symbol = dim_symbol_at(s->ctx, id);
        if (symbol->kind != SYMBOL_named) continue;
        if (!given_size(s, symbol, &set->symbols[id]))
            set->symbols[id] = wanted_size(symbol, number);
        buf_print(what, ", %.*s=%lld", STR_ARG(symbol->name), (long long)set->symbols[id]);
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Splitmix64, as tcc_array_fill_random has it. */
static uint64_t next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double special_float(uint64_t bits) {
    static const double values[] = {
        0.0,      -0.0, 1.0,       -1.0,    0x1p-149,  -0x1p-149, 0x1p-126, 0x1p31, -0x1p31, 0x1p63,
        65504,    448,  3.4028e38, -3.4e38, 0x1p-1074, 0.5,       1.5,      2.5,    -2.5,    0x1p24,
        16777217, 1e-8, 88.8,      -104,    INFINITY,  -INFINITY, NAN,      NAN};
    return values[bits % (sizeof values / sizeof *values)];
}

static int64_t special_int(const DTypeInfo *info, uint64_t bits) {
    int64_t least = info->class == DTYPE_UNSIGNED ? 0 : INT64_MIN >> (64 - info->bits);
    int64_t most = info->class == DTYPE_UNSIGNED && info->bits == 64
                       ? -1
                       : (int64_t)(UINT64_MAX >> (64 - info->bits)) + least;
    int64_t values[] = {least, most, 0, 1, -1, least + 1, most - 1, 2};
    return values[bits % (sizeof values / sizeof *values)];
}

/* Kinds of numbers, one a set in turn. Indices of most models are whole numbers, so those stay
 * small at first. */
typedef enum Numbers {
    NUMBERS_plain,
    NUMBERS_special_floats,
    NUMBERS_special,
    NUMBERS_equal
} Numbers;

static void fill(Tensor *t, Numbers kind, uint64_t seed) {
    bool is_float = dtype_is_float(t->dtype);
    int64_t count = tensor_elements(t);
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = next(&seed);
        bool special = bits % 3 == 0 && kind != NUMBERS_plain && kind != NUMBERS_equal;
        double unit = (double)(bits >> 11) * 0x1p-52 - 1;
        if (is_float && special)
            tensor_set(t, i, special_float(bits >> 8));
        else if (is_float)
            tensor_set(t, i, kind == NUMBERS_equal ? (double)(int64_t)(unit * 3) : 2 * unit);
        else if (special && kind == NUMBERS_special)
            tensor_set_int(t, i, special_int(dtype_info(t->dtype), bits >> 8));
        else
            tensor_set_int(t, i, (int64_t)(bits >> 33) % (t->dtype == DT_bool ? 2 : 7));
    }
}

static void fill_as_given(Tensor *t, const tcc_given_input *given) {
    for (int64_t i = 0; given->filling == TCC_FILL_ONES && i < tensor_elements(t); i++)
        tensor_set_int(t, i, 1);
    if (given->filling == TCC_FILL_RANDOM) fill(t, NUMBERS_plain, given->seed);
}

/* ---- sets ------------------------------------------------------------------------------------ */

static tcc_status wrong_input(const Subject *s, Str name, const char *what) {
    return compiler_fail(s->compiler, TCC_INVALID, "input \"%.*s\" has a wrong %s", STR_ARG(name),
                         what);
}

static tcc_status copy_given(const Subject *s, Str name, const tcc_tensor *from, Tensor *to) {
    Tensor given = {.rank = from->rank};
    if (from->dtype < 0 || from->dtype >= DT_count) return wrong_input(s, name, "dtype");
    if (from->rank != to->rank) return wrong_input(s, name, "rank");
    for (uint32_t a = 0; a < to->rank; a++)
        if ((given.dims[a] = from->dims[a]) != to->dims[a]) return wrong_input(s, name, "size");
    given.dtype = (DType)from->dtype;
    given.data = (char *)from->data + from->byte_offset;
    if (!npy_reinterpret(s->arena, &given, to->dtype)) return wrong_input(s, name, "dtype");
    if (tensor_bytes(to) > 0) memcpy(to->data, given.data, tensor_bytes(to));
    return TCC_OK;
}

static bool shape_input(const Subject *s, size_t i, const InputSet *set, Tensor *t) {
    const Type *type = graph_type(s->graph, s->graph->inputs.data[i]);
    *t = (Tensor){.dtype = type->dtype, .rank = type->rank};
    for (uint32_t a = 0; a < type->rank; a++)
        if (!dim_evaluate(type->dims[a], set->symbols, &t->dims[a]) || t->dims[a] < 0) return false;
    return true;
}

/* Whether the sizes make sense, and are not too large for more than a first try. */
static bool shape_inputs(const Subject *s, uint32_t number, InputSet *set) {
    int64_t total = 0;
    set->inputs = NEW_ARRAY(s->arena, Tensor, s->graph->inputs.count + 1);
    for (size_t i = 0; i < s->graph->inputs.count; i++) {
        if (!shape_input(s, i, set, &set->inputs[i])) return false;
        total += tensor_elements(&set->inputs[i]);
    }
    return number == 0 || total <= MOST_ELEMENTS;
}

static tcc_status fill_input(const Subject *s, size_t i, Numbers kind, uint64_t seed, Tensor *t) {
    const tcc_given_input *given = given_input(s, input_name(s, i));
    t->data = arena_alloc(s->arena, tensor_bytes(t) + 64);
    if (given == NULL)
        fill(t, kind, seed * 1000 + i);
    else if (given->value == NULL)
        fill_as_given(t, given);
    else
        return copy_given(s, input_name(s, i), given->value, t);
    return TCC_OK;
}

static tcc_status make_set(const Subject *s, uint32_t number, InputSet *set, bool *out_fits) {
    static const Numbers kinds[] = {NUMBERS_plain, NUMBERS_special_floats, NUMBERS_plain,
                                    NUMBERS_special, NUMBERS_equal};
    Numbers kind = kinds[number % (sizeof kinds / sizeof *kinds)];
    uint64_t seed = s->search.seed + number;
    Buf what = {.arena = s->arena};
    set->tame = kind == NUMBERS_plain || kind == NUMBERS_equal;
    buf_print(&what, "%s:%llu", set->tame ? "random" : "special", (unsigned long long)seed);
    choose_sizes(s, number, set, &what);
    set->what = buf_str(&what);
    tcc_status status = TCC_OK;
    *out_fits = shape_inputs(s, number, set);
    for (size_t i = 0; i < s->graph->inputs.count && *out_fits && status == TCC_OK; i++)
        status = fill_input(s, i, kind, seed, &set->inputs[i]);
    return status;
}

static bool all_is_given(const Subject *s) {
    for (size_t i = 0; i < s->graph->inputs.count; i++)
        if (given_input(s, input_name(s, i)) == NULL) return false;
    return true;
}

static tcc_status check_given(const Subject *s) {
    for (uint32_t i = 0; i < s->search.input_count; i++) {
        Str name = str_from(s->search.inputs[i].name);
        size_t at = 0;
        while (at < s->graph->inputs.count && !str_equal(input_name(s, at), name)) at++;
        if (at < s->graph->inputs.count) continue;
        return compiler_fail(s->compiler, TCC_INVALID, "the model has no input \"%.*s\"",
                             STR_ARG(name));
    }
    for (uint32_t i = 0; i < s->search.dim_count; i++) {
        Str name = str_from(s->search.dims[i].name);
        const DimSymbol *symbol = dim_find_symbol(s->ctx, name);
        int64_t size = s->search.dims[i].size;
        if (symbol == NULL)
            return compiler_fail(s->compiler, TCC_INVALID,
                                 "the model has no dim \"%.*s\" whose size is open", STR_ARG(name));
        if (size < symbol->lo || size > symbol->hi)
            return compiler_fail(s->compiler, TCC_INVALID, "dim %.*s is %lld, not in %lld..%lld",
                                 STR_ARG(name), (long long)size, (long long)symbol->lo,
                                 (long long)symbol->hi);
    }
    return TCC_OK;
}

tcc_status subject_make_sets(Subject *s) {
    uint32_t tries = s->search.tries > 0 ? s->search.tries : TRIES;
    tcc_status status = check_given(s);
    if (s->graph->inputs.count == 0 || all_is_given(s)) tries = 1;
    s->sets = NEW_ARRAY(s->arena, InputSet, tries);
    for (uint32_t i = 0; i < tries && status == TCC_OK; i++) {
        bool fits;
        status = make_set(s, i, &s->sets[s->set_count], &fits);
        if (status == TCC_OK && fits) s->set_count++;
    }
    if (status == TCC_OK && s->set_count == 0)
        return compiler_fail(s->compiler, TCC_INVALID, "no sizes of the inputs fit the model");
    return status;
}
