/* Inference of the ops with regions, and of item. A region's inputs must have the types of the
 * values it is given; the entry checks inside a region are checks of the graph around it. */
#include "ir/infer_rules.h"

static bool check_region_count(const Infer *in, uint32_t count) {
    if (in->region_count == count) return true;
    return infer_fail(in, MSG_REGION_COUNT, in->info->name, in->region_count, count);
}

/* Requires `got` to be the type `want`: message `input` or `output` k of a block otherwise. */
static bool check_value(const Infer *in, bool input, uint32_t k, const Type *got,
                        const Type *want) {
    bool agree =
        !got->is_tuple && !want->is_tuple && got->dtype == want->dtype && got->rank == want->rank;
    for (uint32_t i = 0; agree && i < want->rank; i++) {
        agree = infer_may_equal(in, got->dims[i], want->dims[i]);
    }
    const char *name = in->info->name;
    if (!agree && input) {
        return infer_fail(in, MSG_REGION_INPUT, k, name, infer_type_text(in, got),
                          infer_type_text(in, want));
    }
    if (!agree) {
        return infer_fail(in, MSG_REGION_OUTPUT, k, name, infer_type_text(in, got),
                          infer_type_text(in, want));
    }
    return infer_same_shape(in, want, got) != NULL;
}

/* The region takes values of exactly these types. Lifts its entry checks. */
static bool check_inputs(const Infer *in, const Graph *region, const Type *const *types,
                         uint32_t count) {
    if (region->inputs.count != count) {
        return infer_fail(in, MSG_REGION_INPUTS, in->info->name, region->inputs.count, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        const Type *input = graph_type(region, region->inputs.data[i]);
        if (!check_value(in, true, i + 1, input, types[i])) return false;
    }
    for (size_t i = 0; i < region->checks.count; i++) {
        const EntryCheck *check = &region->checks.data[i];
        graph_add_check(in->graph, check->kind, check->a, check->b, check->origin);
    }
    return true;
}

static const Type *output_type(const Graph *region, size_t i) {
    return graph_type(region, region->outputs.data[i].node);
}

static bool check_output_count(const Infer *in, const Graph *region, size_t count) {
    if (region->outputs.count == count) return true;
    return infer_fail(in, MSG_REGION_OUTPUTS, in->info->name, region->outputs.count, count);
}

/* Outputs 0 to count - 1 of the region have these types. */
static bool check_outputs(const Infer *in, const Graph *region, const Type *const *types,
                          uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!check_value(in, false, i + 1, output_type(region, i), types[i])) return false;
    }
    return true;
}

/* One result is itself, several are a tuple. */
static const Type *results(const Infer *in, const Type *const *types, uint32_t count) {
    if (count == 0) return REJECT(in, MSG_NO_RESULTS, in->info->name);
    return count == 1 ? types[0] : type_tuple(in->ctx, count, types);
}

static const Type **output_types(const Infer *in, const Graph *region) {
    const Type **types = NEW_ARRAY(in->graph->arena, const Type *, region->outputs.count);
    for (size_t i = 0; i < region->outputs.count; i++) types[i] = output_type(region, i);
    return types;
}

/* All regions take the operands from `first` on and give what the first region gives. */
static const Type *same_regions(const Infer *in, uint32_t first) {
    const Type **types = output_types(in, in->regions[0]);
    uint32_t count = (uint32_t)in->regions[0]->outputs.count;
    for (uint32_t r = 0; r < in->region_count; r++) {
        const Graph *region = in->regions[r];
        if (!check_inputs(in, region, in->types + first, in->arg_count - first)) return NULL;
        if (!check_output_count(in, region, count)) return NULL;
        if (!check_outputs(in, region, types, count)) return NULL;
    }
    return results(in, types, count);
}

static bool check_condition(const Infer *in, const Type *type) {
    if (type->is_tuple || type->dtype != DT_bool) {
        return infer_fail(in, MSG_DTYPE_CONDITION, in->info->name, infer_type_text(in, type));
    }
    if (type->rank == 0) return true;
    return infer_fail(in, MSG_NOT_SCALAR, "the condition", in->info->name,
                      infer_type_text(in, type));
}

const Type *infer_cond(const Infer *in) {
    if (in->arg_count == 0) return REJECT(in, MSG_OPERANDS_MISSING, in->info->name, 1u, 0u);
    if (!check_condition(in, in->types[0]) || !check_region_count(in, 2)) return NULL;
    return same_regions(in, 1);
}

const Type *infer_loop(const Infer *in) {
    int64_t limit = in->attrs[0].i;
    if (!check_region_count(in, 2)) return NULL;
    if (limit < 0) {
        return REJECT(in, MSG_ATTR_LEAST, "limit", in->info->name, (long long)limit, 0);
    }
    const Graph *condition = in->regions[0], *body = in->regions[1];
    bool good = check_inputs(in, condition, in->types, in->arg_count) &&
                check_output_count(in, condition, 1) &&
                check_condition(in, output_type(condition, 0)) &&
                check_inputs(in, body, in->types, in->arg_count) &&
                check_output_count(in, body, in->arg_count) &&
                check_outputs(in, body, in->types, in->arg_count);
    return good ? results(in, in->types, in->arg_count) : NULL;
}

/* ---- scan ------------------------------------------------------------------------------------ */

/* The types that the body sees: carried values as they are, sequences without axis 0, whose common
 * dim is *out_steps. NULL after a failure. */
static const Type **scan_inputs(const Infer *in, uint32_t carried, const Dim **out_steps) {
    const Type **types = NEW_ARRAY(in->graph->arena, const Type *, in->arg_count);
    *out_steps = NULL;
    for (uint32_t i = 0; i < in->arg_count; i++) {
        const Type *type = types[i] = in->types[i];
        if (i < carried) continue;
        if (type->rank == 0) {
            return REJECT(in, MSG_RANK_LEAST, in->info->name, 1u, infer_type_text(in, type));
        }
        const Dim *steps = *out_steps ? *out_steps : type->dims[0];
        if (!infer_may_equal(in, steps, type->dims[0])) {
            return REJECT(in, MSG_SHAPES_DISAGREE, infer_type_text(in, in->types[carried]),
                          infer_type_text(in, type));
        }
        *out_steps = infer_same_dim(in, steps, type->dims[0]);
        if (!*out_steps) return NULL;
        types[i] = type_tensor(in->ctx, type->dtype, type->rank - 1, type->dims + 1);
    }
    return types;
}

static const Type *stacked(const Infer *in, const Type *type, const Dim *steps) {
    const Dim *dims[TYPE_MAX_RANK + 1] = {steps};
    for (uint32_t i = 0; i < type->rank; i++) dims[i + 1] = type->dims[i];
    return infer_tensor(in, type->dtype, type->rank + 1, dims);
}

const Type *infer_scan(const Infer *in) {
    int64_t carried = in->attrs[0].i;
    if (!check_region_count(in, 1) || !infer_flag(in, 1)) return NULL;
    if (carried < 0 || carried >= (int64_t)in->arg_count) {
        return REJECT(in, MSG_CARRIED, (long long)carried, in->arg_count);
    }
    const Dim *steps;
    const Type **types = scan_inputs(in, (uint32_t)carried, &steps);
    const Graph *body = in->regions[0];
    if (!types || !check_inputs(in, body, types, in->arg_count)) return NULL;
    if (body->outputs.count < (size_t)carried) {
        return REJECT(in, MSG_REGION_OUTPUTS, in->info->name, body->outputs.count, (size_t)carried);
    }
    if (!check_outputs(in, body, types, (uint32_t)carried)) return NULL;
    const Type **outs = output_types(in, body);
    for (size_t i = 0; i < body->outputs.count; i++) {
        outs[i] = i < (size_t)carried ? types[i] : stacked(in, outs[i], steps);
        if (!outs[i]) return NULL;
    }
    return results(in, outs, (uint32_t)body->outputs.count);
}

/* ---- structure ------------------------------------------------------------------------------- */

/* call has one region; a kernel may have alternatives that do the same. */
const Type *infer_call(const Infer *in) {
    bool several = in->op == OP_kernel && in->region_count >= 1;
    if (!several && !check_region_count(in, 1)) return NULL;
    return same_regions(in, 0);
}

const Type *infer_item(const Infer *in) {
    const Type *tuple = in->types[0];
    int64_t index = in->attrs[0].i;
    if (!tuple->is_tuple) return REJECT(in, MSG_NOT_TUPLE, infer_type_text(in, tuple));
    if (index < 0 || index >= (int64_t)tuple->item_count) {
        return REJECT(in, MSG_NO_ITEM, (long long)index, infer_type_text(in, tuple));
    }
    return tuple->items[index];
}
