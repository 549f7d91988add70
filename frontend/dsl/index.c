/* Subscripts: x[i], x[a:b:c], x[:, None], and elements and slices of lists. A bound counts from the
 * end when it is a negative number; everything must lie within the axis, by proof or by an entry
 * check. */
#include "frontend/dsl/sema.h"

/* ---- lists ----------------------------------------------------------------------------------- */

static bool list_index(Sema *s, const Ast *ast, int64_t count, int64_t *index) {
    if (!dsl_eval_int(s, ast, "an index", index)) return false;
    if (*index >= -count && *index < count) {
        if (*index < 0) *index += count;
        return true;
    }
    sema_error(s, ast_start(ast), MSG_INDEX_RANGE, (long long)*index, (long long)count);
    return false;
}

static bool list_bound(Sema *s, const Ast *ast, int64_t count, int64_t absent, int64_t *bound) {
    *bound = absent;
    if (!ast) return true;
    if (!dsl_eval_int(s, ast, "a bound", bound)) return false;
    int64_t written = *bound;
    if (written < 0) *bound += count;
    if (*bound >= 0 && *bound <= count) return true;
    sema_error(s, ast_start(ast), MSG_INDEX_RANGE, (long long)written, (long long)count);
    return false;
}

static Value list_slice(Sema *s, const Ast *ast, const ValueList *list) {
    int64_t start, limit;
    if (ast->c) {
        sema_error(s, ast_start(ast->c), MSG_LIST_STEP);
        return dsl_value_error();
    }
    if (!list_bound(s, ast->a, list->count, 0, &start)) return dsl_value_error();
    if (!list_bound(s, ast->b, list->count, list->count, &limit)) return dsl_value_error();
    if (limit < start) limit = start;
    ValueList part = {(uint32_t)(limit - start), list->depth, list->items + start};
    return (Value){.kind = VALUE_list, .list = part};
}

static Value index_list(Sema *s, const Ast *ast, const ValueList *list) {
    const Ast *sub = ast->list.first;
    if (ast->list.count != 1) {
        sema_error(s, ast->loc, MSG_LIST_SUBSCRIPTS, ast->list.count);
        return dsl_value_error();
    }
    if (sub->kind == AST_slice) return list_slice(s, sub, list);
    int64_t index;
    return list_index(s, sub, list->count, &index) ? list->items[index] : dsl_value_error();
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* What is gathered while the subscripts are read: the slice of each axis, the axes to reverse, and
 * the dims of the result. */
typedef struct Subscripts {
    NodeId x;
    const Type *type;
    uint32_t axis; /* of x, the next one */
    const Dim *start[TYPE_MAX_RANK], *limit[TYPE_MAX_RANK];
    int64_t step[TYPE_MAX_RANK], reversed[TYPE_MAX_RANK];
    uint32_t reversed_count;
    const Dim *dims[TYPE_MAX_RANK];
    uint32_t rank;
    bool sliced, reshaped;
} Subscripts;

static bool add_dim(Sema *s, Loc loc, Subscripts *subs, const Dim *dim) {
    if (subs->rank == TYPE_MAX_RANK) {
        sema_error(s, loc, MSG_RANK, TYPE_MAX_RANK + 1u, TYPE_MAX_RANK);
        return false;
    }
    subs->dims[subs->rank++] = dim;
    return true;
}

/* An int or a dim; negative numbers count from the end. */
static const Dim *bound_of(Sema *s, const Ast *ast, const Dim *extent) {
    Value value = dsl_eval(s, ast);
    const Dim *dim = dsl_value_as_dim(s->ctx, &value);
    if (dim) return dim->hi < 0 ? dim_add(s->ctx, dim, extent) : dim;
    if (value.kind == VALUE_tensor)
        sema_error(s, ast_start(ast), MSG_INDEX_TENSOR);
    else if (value.kind != VALUE_error) {
        sema_error(s, ast_start(ast), MSG_NEEDS_INT, "a subscript", sema_value_text(s, &value));
    }
    return NULL;
}

/* Requires 0 <= low, low <= high, high <= extent as far as constants tell; inference checks the
 * rest. */
static bool bounds_fit(Sema *s, Loc loc, const Dim *low, const Dim *high, const Subscripts *subs) {
    const Dim *extent = subs->type->dims[subs->axis];
    bool bad =
        low->hi < 0 || dim_sub(s->ctx, high, low)->hi < 0 || dim_sub(s->ctx, extent, high)->hi < 0;
    if (!bad) return true;
    sema_error(s, loc, MSG_SLICE_RANGE, sema_dim_text(s, low), sema_dim_text(s, high), subs->axis,
               sema_type_text(s, subs->x));
    return false;
}

static void take_range(Subscripts *subs, const Dim *start, const Dim *limit, int64_t step) {
    uint32_t axis = subs->axis++;
    bool whole = dim_equals_int(start, 0) && limit == subs->type->dims[axis] && step == 1;
    subs->start[axis] = start;
    subs->limit[axis] = limit;
    subs->step[axis] = step;
    subs->sliced |= !whole;
}

static bool take_index(Sema *s, const Ast *ast, Subscripts *subs) {
    const Dim *extent = subs->type->dims[subs->axis], *index = bound_of(s, ast, extent);
    if (!index) return false;
    const Dim *next = dim_offset(s->ctx, index, 1);
    if (index->hi < 0 || dim_sub(s->ctx, extent, next)->hi < 0) {
        const Dim *written = index->hi < 0 ? dim_sub(s->ctx, index, extent) : index;
        sema_error(s, ast_start(ast), MSG_INDEX_AXIS, sema_dim_text(s, written), subs->axis,
                   sema_type_text(s, subs->x));
        return false;
    }
    take_range(subs, index, next, 1);
    subs->reshaped = true;
    return true;
}

/* A step below zero runs from `start` (default: the last) down to above `limit`: the elements of
 * the forward slice that ends with `start`, reversed. */
static bool take_backward(Sema *s, const Ast *ast, Subscripts *subs, int64_t step) {
    const Dim *extent = subs->type->dims[subs->axis];
    const Dim *start = ast->a ? bound_of(s, ast->a, extent) : dim_offset(s->ctx, extent, -1);
    const Dim *limit = ast->b ? bound_of(s, ast->b, extent) : dim_const(s->ctx, -1);
    if (!start || !limit) return false;
    const Dim *after = dim_offset(s->ctx, start, 1), *low = dim_offset(s->ctx, limit, 1);
    if (!bounds_fit(s, ast->loc, low, after, subs)) return false;
    const Dim *count = dim_ceildiv(s->ctx, dim_sub(s->ctx, start, limit), dim_const(s->ctx, step));
    const Dim *reach = dim_scale(s->ctx, dim_offset(s->ctx, count, -1), step);
    if (dim_equals_int(count, 0))
        low = after;
    else
        low =
            step == 1 ? low : dim_max(s->ctx, dim_sub(s->ctx, start, reach), dim_const(s->ctx, 0));
    subs->reversed[subs->reversed_count++] = subs->axis;
    take_range(subs, low, after, step);
    return add_dim(s, ast->loc, subs, count);
}

static bool take_slice(Sema *s, const Ast *ast, Subscripts *subs) {
    const Dim *extent = subs->type->dims[subs->axis];
    int64_t step = 1;
    if (ast->c && !dsl_eval_int(s, ast->c, "a step", &step)) return false;
    if (step == 0) {
        sema_error(s, ast_start(ast->c), MSG_STEP, (long long)step);
        return false;
    }
    /* Beyond the axis one step is like another: it takes the first element alone. */
    int64_t most = extent->hi > 1 ? extent->hi : 1;
    if (step > most || step < -most) step = step > 0 ? most : -most;
    if (step < 0) return take_backward(s, ast, subs, -step);
    const Dim *start = ast->a ? bound_of(s, ast->a, extent) : dim_const(s->ctx, 0);
    const Dim *limit = ast->b ? bound_of(s, ast->b, extent) : extent;
    if (!start || !limit || !bounds_fit(s, ast->loc, start, limit, subs)) return false;
    const Dim *length = dim_sub(s->ctx, limit, start);
    take_range(subs, start, limit, step);
    return add_dim(s, ast->loc, subs, dim_ceildiv(s->ctx, length, dim_const(s->ctx, step)));
}

static bool is_new_axis(const Ast *sub) {
    return sub->kind == AST_none ||
           (sub->kind == AST_value && sub->value.given->kind == VALUE_none);
}

static bool take_subscript(Sema *s, const Ast *sub, Subscripts *subs) {
    if (is_new_axis(sub)) {
        subs->reshaped = true;
        return add_dim(s, sub->loc, subs, dim_const(s->ctx, 1));
    }
    if (subs->axis == subs->type->rank) {
        sema_error(s, ast_start(sub), MSG_TOO_MANY_SUBSCRIPTS, sema_type_text(s, subs->x));
        return false;
    }
    return sub->kind == AST_slice ? take_slice(s, sub, subs) : take_index(s, sub, subs);
}

static NodeId apply_subscripts(Sema *s, const Ast *ast, Subscripts *subs) {
    NodeId x = subs->x;
    uint32_t rank = subs->type->rank;
    if (subs->sliced) {
        Attr attrs[3] = {{.dims = ir_dims(s->ctx, subs->start, rank)},
                         {.dims = ir_dims(s->ctx, subs->limit, rank)},
                         {.ints = ir_ints(s->ctx, subs->step, rank)}};
        x = dsl_emit(s, ast->loc, OP_slice, &x, 1, attrs);
    }
    if (subs->reversed_count) {
        Attr attr = {.ints = ir_ints(s->ctx, subs->reversed, subs->reversed_count)};
        x = dsl_emit(s, ast->loc, OP_reverse, &x, 1, &attr);
    }
    return subs->reshaped ? dsl_emit_reshape(s, ast->loc, x, subs->dims, subs->rank) : x;
}

static Value index_tensor(Sema *s, const Ast *ast, NodeId x) {
    Subscripts subs = {.x = x, .type = sema_type(s, x)};
    for (const Ast *sub = ast->list.first; sub; sub = sub->next) {
        if (!take_subscript(s, sub, &subs)) return dsl_value_error();
    }
    while (subs.axis < subs.type->rank) {
        const Dim *extent = subs.type->dims[subs.axis];
        if (!add_dim(s, ast->loc, &subs, extent)) return dsl_value_error();
        take_range(&subs, dim_const(s->ctx, 0), extent, 1);
    }
    return dsl_value_node(apply_subscripts(s, ast, &subs));
}

Value dsl_index_value(Sema *s, const Ast *ast, const Value *of) {
    if (of->kind == VALUE_list) return index_list(s, ast, &of->list);
    if (of->kind == VALUE_tensor) return index_tensor(s, ast, of->node);
    sema_error(s, ast_start(ast->a), MSG_NOT_INDEXABLE, sema_value_text(s, of));
    return dsl_value_error();
}
