/* The kernel function on x86: unpacks TccKernelArgs and calls an internal function whose buffer
 * parameters can be told not to overlap; that one loops over the points. */
#include "codegen/x86/x86.h"

#include "runtime/abi.h"

#include <stddef.h>
#include <stdio.h>

/* ---- index errors ---------------------------------------------------------------------------- */

static V field(Lowering *l, size_t offset) {
    return ll_gep(l, l->i8, l->error, ll_i64(l, (int64_t)offset));
}

/* The number of the first lane set in `bad`. */
static V first_lane(Lowering *l, V bad, uint32_t lanes) {
    LLVMTypeRef type = LLVMIntTypeInContext(l->context, lanes);
    V args[2] = {LLVMBuildBitCast(l->builder, bad, type, ""), ll_true(l)};
    return ll_intrinsic(l, "llvm.cttz", &type, 1, args, 2);
}

static void write_error(Lowering *l, V index, V bound, int64_t site) {
    LLVMBuildStore(l->builder, ll_i32(l, site), field(l, offsetof(TccErrorWord, site)));
    LLVMBuildStore(l->builder, index, field(l, offsetof(TccErrorWord, index)));
    LLVMBuildStore(l->builder, bound, field(l, offsetof(TccErrorWord, bound)));
    V state = LLVMBuildStore(l->builder, ll_i32(l, 2), field(l, offsetof(TccErrorWord, state)));
    LLVMSetAlignment(state, 4);
    LLVMSetOrdering(state, LLVMAtomicOrderingRelease);
}

/* Whoever turns state 0 into 1 writes the error. */
void x86_report(Lowering *l, V bad, V index, V bound, int64_t site, uint32_t lanes) {
    LLVMBasicBlockRef fail = ll_block(l, "fail"), write = ll_block(l, "write");
    LLVMBasicBlockRef behind = ll_block(l, "checked");
    V any = bad;
    if (lanes > 1) {
        any = LLVMBuildBitCast(l->builder, bad, LLVMIntTypeInContext(l->context, lanes), "");
        any = ll_compare(l, LLVMIntNE, any, LLVMConstNull(LLVMTypeOf(any)));
    }
    ll_branch(l, any, fail, behind);
    ll_enter(l, fail);
    if (lanes > 1)
        index = LLVMBuildExtractElement(l->builder, index, first_lane(l, bad, lanes), "");
    V claim = LLVMBuildAtomicCmpXchg(l->builder, field(l, offsetof(TccErrorWord, state)),
                                     ll_i32(l, 0), ll_i32(l, 1), LLVMAtomicOrderingMonotonic,
                                     LLVMAtomicOrderingMonotonic, 0);
    ll_branch(l, LLVMBuildExtractValue(l->builder, claim, 1, ""), write, behind);
    ll_enter(l, write);
    write_error(l, index, bound, site);
    ll_jump(l, behind);
    ll_enter(l, behind);
}

/* ---- points ---------------------------------------------------------------------------------- */

typedef struct Points {
    V extents[TYPE_MAX_RANK], at[TYPE_MAX_RANK], next[TYPE_MAX_RANK];
} Points;

/* The variables' values at `point`, which is a legal one. */
static void decompose(Lowering *l, const Points *points, V point, V *out_at) {
    for (uint32_t i = l->program->work_rank; i-- > 0;) {
        out_at[i] = i == 0 ? point : LLVMBuildURem(l->builder, point, points->extents[i], "");
        if (i > 0) point = LLVMBuildUDiv(l->builder, point, points->extents[i], "");
    }
}

/* The last variable goes up by one; one that reaches its extent goes to 0 and carries. */
static void advance(Lowering *l, Points *points) {
    V carry = ll_i64(l, 1);
    for (uint32_t i = l->program->work_rank; i-- > 0;) {
        V up = ll_add(l, points->at[i], carry);
        if (i == 0) {
            points->next[i] = up;
            return;
        }
        V full = ll_compare(l, LLVMIntEQ, up, points->extents[i]);
        points->next[i] = ll_select(l, full, ll_i64(l, 0), up);
        carry = ll_cast(l, full, l->i64, false);
    }
}

static void emit_points(Lowering *l, V begin, V end) {
    uint32_t rank = l->program->work_rank;
    LLVMBasicBlockRef start = ll_block(l, "start"), body = ll_block(l, "point");
    LLVMBasicBlockRef done = ll_block(l, "end");
    Points points = {0};
    V first[TYPE_MAX_RANK];
    ll_branch(l, ll_compare(l, LLVMIntSLT, begin, end), start, done);
    ll_enter(l, start);
    for (uint32_t i = 0; i < rank; i++)
        points.extents[i] = dims_emit(l, l->program->work_extents[i]);
    decompose(l, &points, begin, first);
    ll_jump(l, body);
    LLVMBasicBlockRef before = ll_here(l);
    ll_enter(l, body);
    V point = ll_phi(l, l->i64);
    for (uint32_t i = 0; i < rank; i++) {
        points.at[i] = ll_phi(l, l->i64);
        dims_bind(l, l->program->work[i], points.at[i]);
    }
    lower_point(l);
    advance(l, &points);
    V next = ll_add(l, point, ll_i64(l, 1));
    LLVMBasicBlockRef latch = ll_here(l);
    ll_branch(l, ll_compare(l, LLVMIntSLT, next, end), body, done);
    ll_incoming(point, begin, before);
    ll_incoming(point, next, latch);
    for (uint32_t i = 0; i < rank; i++) {
        ll_incoming(points.at[i], first[i], before);
        ll_incoming(points.at[i], points.next[i], latch);
    }
    ll_enter(l, done);
}

/* ---- the functions --------------------------------------------------------------------------- */

/* Parameters of the inner function behind its buffers. */
enum { INNER_dims, INNER_scratch, INNER_error, INNER_begin, INNER_end, INNER_count };

static bool may_overlap(const Lowering *l, uint32_t argument) {
    const LowerOptions *o = l->options;
    return o->may_alias && argument < o->may_alias_count && o->may_alias[argument];
}

static LLVMValueRef inner_function(Lowering *l, uint32_t buffers) {
    uint32_t count = buffers + INNER_count;
    LLVMTypeRef *types = NEW_ARRAY(l->arena, LLVMTypeRef, count);
    for (uint32_t i = 0; i < count; i++) types[i] = i < buffers + INNER_begin ? l->ptr : l->i64;
    Str name = str_format(l->arena, "%s.points", l->symbol);
    LLVMValueRef inner = ll_function(l, name.data, l->nothing, types, count, LLVMInternalLinkage);
    for (uint32_t i = 0; i < buffers + INNER_begin; i++)
        if (i >= buffers || !may_overlap(l, i)) ll_attribute(l, inner, i + 1, "noalias", 0);
    ll_attribute(l, inner, buffers + INNER_scratch + 1, "align", LOWER_SCRATCH_ALIGN);
    ll_attribute(l, inner, (uint32_t)LLVMAttributeFunctionIndex, "noinline", 0);
    /* Registers that wait on the stack lie in one cache line each. */
    ll_attribute(l, inner, (uint32_t)LLVMAttributeFunctionIndex, "alignstack",
                 l->options->target->vector_bytes);
    return inner;
}

static V load_field(Lowering *l, LLVMTypeRef type, V base, int64_t offset) {
    V load = LLVMBuildLoad2(l->builder, type, ll_gep(l, l->i8, base, ll_i64(l, offset)), "");
    LLVMSetAlignment(load, 8);
    return load;
}

static V load_dim(Lowering *l, const DimSymbol *symbol) {
    uint32_t slot = 0;
    while (slot < l->options->dim_count && l->options->dims[slot] != symbol) slot++;
    require(slot < l->options->dim_count);
    V value = load_field(l, l->i64, l->dims, 8 * (int64_t)slot);
    LLVMMetadataRef ends[2] = {LLVMValueAsMetadata(ll_i64(l, symbol->lo)),
                               LLVMValueAsMetadata(ll_i64(l, symbol->hi + 1))};
    V node = LLVMMetadataAsValue(l->context, LLVMMDNodeInContext2(l->context, ends, 2));
    LLVMSetMetadata(value, LLVMGetMDKindIDInContext(l->context, "range", 5), node);
    return value;
}

V x86_load_dim(Lowering *l, const DimSymbol *symbol) {
    LLVMBasicBlockRef here = ll_here(l);
    ll_enter_entry(l);
    V value = load_dim(l, symbol);
    ll_enter(l, here);
    return value;
}

static void emit_inner(Lowering *l, LLVMValueRef inner, uint32_t buffers) {
    l->function = inner;
    ll_enter(l, ll_block(l, "entry"));
    for (uint32_t i = 0; i < buffers; i++) l->buffers[i] = LLVMGetParam(inner, i);
    l->scratch = LLVMGetParam(inner, buffers + INNER_scratch);
    l->error = LLVMGetParam(inner, buffers + INNER_error);
    l->dims = LLVMGetParam(inner, buffers + INNER_dims);
    lower_views(l);
    emit_points(l, LLVMGetParam(inner, buffers + INNER_begin),
                LLVMGetParam(inner, buffers + INNER_end));
    if (l->streams) ll_intrinsic(l, "llvm.x86.sse.sfence", NULL, 0, NULL, 0);
    LLVMBuildRetVoid(l->builder);
}

/* name(args, begin, end) */
static void emit_outer(Lowering *l, LLVMValueRef inner, uint32_t buffers) {
    LLVMTypeRef types[3] = {l->ptr, l->i64, l->i64};
    l->function = ll_function(l, l->symbol, l->nothing, types, 3, LLVMExternalLinkage);
    ll_enter(l, ll_block(l, "entry"));
    V args = LLVMGetParam(l->function, 0);
    V *values = NEW_ARRAY(l->arena, V, buffers + INNER_count);
    V list = load_field(l, l->ptr, args, offsetof(TccKernelArgs, buffers));
    for (uint32_t i = 0; i < buffers; i++) values[i] = load_field(l, l->ptr, list, 8 * (int64_t)i);
    V *rest = values + buffers;
    rest[INNER_dims] = load_field(l, l->ptr, args, offsetof(TccKernelArgs, dims));
    rest[INNER_scratch] = load_field(l, l->ptr, args, offsetof(TccKernelArgs, scratch));
    rest[INNER_error] = load_field(l, l->ptr, args, offsetof(TccKernelArgs, error));
    rest[INNER_begin] = LLVMGetParam(l->function, 1);
    rest[INNER_end] = LLVMGetParam(l->function, 2);
    LLVMBuildCall2(l->builder, LLVMGlobalGetValueType(inner), inner, values, buffers + INNER_count,
                   "");
    LLVMBuildRetVoid(l->builder);
}

void x86_kernel(Lowering *l) {
    uint32_t buffers = lower_buffer_count(l->program);
    LLVMValueRef inner = inner_function(l, buffers);
    emit_inner(l, inner, buffers);
    emit_outer(l, inner, buffers);
}
