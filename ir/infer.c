/* Inference: what all rules share, and the choice of the rule by the op's class. */
#include "ir/infer_rules.h"

#include "base/guard.h"

static InferRule *const rules[] = {
    [CLASS_UNARY] = infer_unary,
    [CLASS_BINARY] = infer_binary,
    [CLASS_COMPARE] = infer_compare,
    [CLASS_SELECT] = infer_select,
    [CLASS_CAST] = infer_cast,
    [CLASS_REDUCE] = infer_reduce,
    [CLASS_ARGREDUCE] = infer_argreduce,
    [CLASS_CUMULATIVE] = infer_cumulative,
    [CLASS_RESHAPE] = infer_reshape,
    [CLASS_PERMUTE] = infer_permute,
    [CLASS_BROADCAST] = infer_broadcast,
    [CLASS_SLICE] = infer_slice,
    [CLASS_PAD] = infer_pad,
    [CLASS_REVERSE] = infer_reverse,
    [CLASS_CONCAT] = infer_concat,
    [CLASS_GATHER] = infer_gather,
    [CLASS_SCATTER] = infer_scatter,
    [CLASS_CONTRACT] = infer_contract,
    [CLASS_CONV] = infer_conv,
    [CLASS_WINDOW] = infer_window,
    [CLASS_SORT] = infer_sort,
    [CLASS_RANDOM] = infer_random,
    [CLASS_COND] = infer_cond,
    [CLASS_LOOP] = infer_loop,
    [CLASS_SCAN] = infer_scan,
    [CLASS_ITEM] = infer_item,
    [CLASS_CALL] = infer_call,
    [CLASS_KERNEL] = infer_call,
};

/* ---- reporting ------------------------------------------------------------------------------- */

static const Origin *user_origin(const Origin *origin) {
    const Origin *at = origin;
    while (at && at->library) at = at->caller;
    return at ? at : origin;
}

Loc origin_loc(const Origin *origin) { return origin ? user_origin(origin)->loc : (Loc){0}; }

void origin_notes(Diags *diags, const Origin *origin) {
    if (!origin) return;
    const Origin *user = user_origin(origin);
    if (user != origin) diag_note(diags, origin->loc, MSG_NOTE_LIBRARY);
    for (const Origin *at = user->caller; at; at = at->caller) {
        if (!at->library) diag_note(diags, at->loc, MSG_NOTE_CALLER);
    }
}

static bool same_loc(Loc a, Loc b) {
    return a.file == b.file && a.line == b.line && a.column == b.column;
}

/* Where the operands come from, when that is another place than the error's own. */
static void note_operands(const Infer *in) {
    for (uint32_t i = 0; i < in->arg_count && in->arg_count <= 3; i++) {
        const Origin *origin = graph_node(in->graph, in->args[i])->origin;
        if (!origin || same_loc(origin_loc(origin), origin_loc(in->origin))) continue;
        diag_note(in->diags, origin_loc(origin), MSG_NOTE_OPERAND, i + 1,
                  infer_type_text(in, in->types[i]));
    }
}

bool infer_fail(const Infer *in, const char *id, const char *format, ...) {
    if (*in->failed || !in->diags) return false;
    *in->failed = true;
    Buf text = {.arena = in->graph->arena};
    va_list args;
    va_start(args, format);
    buf_vprint(&text, format, args);
    va_end(args);
    diag_error(in->diags, origin_loc(in->origin), id, "%s", buf_str(&text).data);
    note_operands(in);
    origin_notes(in->diags, in->origin);
    return false;
}

const char *infer_type_text(const Infer *in, const Type *type) {
    Buf text = {.arena = in->graph->arena};
    buf_type(&text, type);
    return buf_str(&text).data;
}

const char *infer_dim_text(const Infer *in, const Dim *dim) {
    Buf text = {.arena = in->graph->arena};
    buf_dim(&text, dim);
    return buf_str(&text).data;
}

const char *infer_dims_text(const Infer *in, const DimList *dims) {
    Buf text = {.arena = in->graph->arena};
    buf_put(&text, STR(""));
    for (uint32_t i = 0; i < dims->count; i++) {
        if (i) buf_put(&text, STR(", "));
        buf_dim(&text, dims->items[i]);
    }
    return text.data ? text.data : "";
}

const char *infer_ints_text(const Infer *in, const IntList *ints) {
    Buf text = {.arena = in->graph->arena};
    buf_char(&text, '[');
    for (uint32_t i = 0; i < ints->count; i++) {
        buf_print(&text, "%s%lld", i ? ", " : "", (long long)ints->items[i]);
    }
    buf_char(&text, ']');
    return buf_str(&text).data;
}

/* ---- dims ------------------------------------------------------------------------------------ */

/* Whether the value of `dim` is known when the model is entered: it depends on named dims alone. */
static bool known_at_entry(const Dim *dim) {
    for (uint32_t t = 0; t < dim->term_count; t++) {
        for (uint32_t i = 0; i < dim->terms[t].atom_count; i++) {
            const DimAtom *atom = dim->terms[t].atoms[i];
            bool known = atom->kind == ATOM_symbol
                             ? atom->symbol->kind == SYMBOL_named
                             : known_at_entry(atom->a) && known_at_entry(atom->b);
            if (!known) return false;
        }
    }
    return true;
}

bool infer_may_equal(const Infer *in, const Dim *a, const Dim *b) {
    if (a == b) return true;
    if (a->lo > b->hi || a->hi < b->lo) return false;
    const Dim *difference = dim_sub(in->ctx, a, b);
    if (dim_is_overflow(difference)) return true;
    if (difference->lo > 0 || difference->hi < 0) return false;
    int64_t constant = difference->constant;
    const Dim *varying = dim_offset(in->ctx, difference, -constant);
    return dim_is_overflow(varying) || varying->divisor == 0 || constant % varying->divisor == 0;
}

static bool add_check(const Infer *in, CheckKind kind, const Dim *a, const Dim *b) {
    if (dim_is_overflow(a) || dim_is_overflow(b))
        return infer_fail(in, MSG_DIM_OVERFLOW, in->info->name);
    if (!known_at_entry(a) || !known_at_entry(b)) {
        return infer_fail(in, MSG_DIM_UNKNOWN, infer_dim_text(in, a), infer_dim_text(in, b));
    }
    graph_add_check(in->graph, kind, a, b, in->origin);
    return true;
}

const Dim *infer_same_dim(const Infer *in, const Dim *a, const Dim *b) {
    if (a == b) return a;
    if (!add_check(in, CHECK_equal, a, b)) return NULL;
    return dim_is_const(b, NULL) ? b : a;
}

const Type *infer_same_shape(const Infer *in, const Type *a, const Type *b) {
    bool agree = a->rank == b->rank;
    for (uint32_t i = 0; agree && i < a->rank; i++) {
        agree = infer_may_equal(in, a->dims[i], b->dims[i]);
    }
    if (!agree) {
        return REJECT(in, MSG_SHAPES_DISAGREE, infer_type_text(in, a), infer_type_text(in, b));
    }
    const Dim *dims[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < a->rank; i++) {
        dims[i] = infer_same_dim(in, a->dims[i], b->dims[i]);
        if (!dims[i]) return NULL;
    }
    return type_tensor(in->ctx, a->dtype, a->rank, dims);
}

bool infer_at_most(const Infer *in, const Dim *a, const Dim *b) {
    if (a->hi <= b->lo && !dim_is_overflow(a) && !dim_is_overflow(b)) return true;
    if (a->lo > b->hi || dim_proves_lt(in->ctx, b, a)) return false;
    return dim_proves_le(in->ctx, a, b) || add_check(in, CHECK_at_most, a, b);
}

const Type *infer_tensor(const Infer *in, DType dtype, uint32_t rank, const Dim *const *dims) {
    if (rank > TYPE_MAX_RANK) return REJECT(in, MSG_RANK, rank, TYPE_MAX_RANK);
    const Dim *zero = dim_const(in->ctx, 0);
    for (uint32_t i = 0; i < rank; i++) {
        if (dim_is_overflow(dims[i])) return REJECT(in, MSG_DIM_OVERFLOW, in->info->name);
        if (!infer_at_most(in, zero, dims[i])) {
            return REJECT(in, MSG_DIM_NEGATIVE, infer_dim_text(in, dims[i]), in->info->name);
        }
    }
    const Type *type = type_tensor(in->ctx, dtype, rank, dims);
    if (dim_is_overflow(type_bytes(in->ctx, type))) {
        return REJECT(in, MSG_DIM_OVERFLOW, in->info->name);
    }
    return type;
}

/* ---- attributes ------------------------------------------------------------------------------ */

bool infer_axis(const Infer *in, int64_t axis, const Type *type) {
    if (axis >= 0 && axis < (int64_t)type->rank) return true;
    return infer_fail(in, MSG_AXIS_RANGE, (long long)axis, infer_type_text(in, type));
}

bool infer_axes(const Infer *in, const IntList *axes, const Type *type, uint32_t *out_mask) {
    *out_mask = 0;
    for (uint32_t i = 0; i < axes->count; i++) {
        if (!infer_axis(in, axes->items[i], type)) return false;
        uint32_t bit = 1u << axes->items[i];
        if (*out_mask & bit) return infer_fail(in, MSG_AXIS_REPEATED, (long long)axes->items[i]);
        *out_mask |= bit;
    }
    return true;
}

bool infer_flag(const Infer *in, uint32_t attr) {
    int64_t value = in->attrs[attr].i;
    if (value == 0 || value == 1) return true;
    return infer_fail(in, MSG_ATTR_FLAG, in->info->attrs[attr].name, in->info->name,
                      (long long)value);
}

bool infer_numbers(const Infer *in, uint32_t attr, uint32_t count, int least, const Type *of) {
    const IntList *list = in->attrs[attr].ints;
    const char *name = in->info->attrs[attr].name;
    if (list->count != count) {
        return infer_fail(in, MSG_ATTR_COUNT, name, in->info->name, list->count, count,
                          infer_type_text(in, of));
    }
    for (uint32_t i = 0; i < count; i++) {
        if (list->items[i] >= least) continue;
        return infer_fail(in, MSG_ATTR_LEAST, name, in->info->name, (long long)list->items[i],
                          least);
    }
    return true;
}

bool infer_result_dtype(const Infer *in, DType operand, DType result) {
    bool floats = dtype_is_float(operand) && dtype_is_float(result);
    if (floats || (dtype_is_int(operand) && dtype_is_int(result))) return true;
    return infer_fail(in, MSG_DTYPE_RESULT, in->info->name, dtype_name(operand),
                      dtype_name(result));
}

/* ---- the entry ------------------------------------------------------------------------------- */

/* How many of the first operands have the dtypes of the op's row: indices, conditions and padding
 * values have their own rules. */
static uint32_t checked_operands(const Infer *in) {
    switch (in->info->class) {
    case CLASS_SELECT: return 0;
    case CLASS_GATHER:
    case CLASS_SCATTER: return 1;
    default: return in->arg_count;
    }
}

static bool check_operands(const Infer *in) {
    const OpInfo *info = in->info;
    if (info->operand_count != OP_ANY_COUNT && (uint32_t)info->operand_count != in->arg_count) {
        return infer_fail(in, MSG_OPERAND_COUNT, info->name, info->operand_count, in->arg_count);
    }
    for (uint32_t i = 0; i < in->arg_count && info->class != CLASS_ITEM; i++) {
        if (!in->types[i]->is_tuple) continue;
        return infer_fail(in, MSG_NOT_TENSOR, i + 1, info->name, infer_type_text(in, in->types[i]));
    }
    for (uint32_t i = 0; i < checked_operands(in) && info->class != CLASS_ITEM; i++) {
        if (op_accepts(in->op, in->types[i]->dtype)) continue;
        return infer_fail(in, MSG_DTYPE_REFUSED, info->name, dtype_name(in->types[i]->dtype));
    }
    return true;
}

static const Type *apply_rule(const Infer *in) {
    if (in->op == OP_dim) return infer_dim(in);
    InferRule *rule = in->info->class == CLASS_LEAF ? NULL : rules[in->info->class];
    if (!rule) bug("the type of %s is given, not inferred", in->info->name);
    return check_operands(in) ? rule(in) : NULL;
}

const Type *infer_type(Graph *graph, Diags *diags, const Origin *origin, Op op, const NodeId *args,
                       uint32_t arg_count, const Attr *attrs, const Graph *const *regions,
                       uint32_t region_count) {
    const Type *few[4], **types = few;
    bool failed = false;
    if (arg_count > 4) types = NEW_ARRAY(graph->arena, const Type *, arg_count);
    for (uint32_t i = 0; i < arg_count; i++) types[i] = graph_type(graph, args[i]);
    Infer in = {.graph = graph, .ctx = graph->ctx, .diags = diags, .origin = origin, .op = op};
    in.failed = &failed;
    in.info = op_info(op);
    in.args = args;
    in.types = types;
    in.arg_count = arg_count;
    in.attrs = attrs;
    in.regions = regions;
    in.region_count = region_count;
    size_t checks = graph->checks.count;
    const Type *type = apply_rule(&in);
    if (!type) graph->checks.count = checks; /* a refused op demands nothing of its dims */
    return type;
}

NodeId graph_build(Graph *graph, Diags *diags, const Origin *origin, Op op, const NodeId *args,
                   uint32_t arg_count, const Attr *attrs, const Graph *const *regions,
                   uint32_t region_count) {
    const Type *type =
        infer_type(graph, diags, origin, op, args, arg_count, attrs, regions, region_count);
    if (!type) return NODE_none;
    return graph_add(graph, op, type, args, arg_count, attrs, regions, region_count, origin);
}
