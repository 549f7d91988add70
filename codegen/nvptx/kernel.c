/* The entry function on NVPTX: warps take the points in turn. */
#include "codegen/nvptx/nvptx.h"

#include "runtime/abi.h"

#include <stddef.h>

enum { CALL_PTX_KERNEL = 71, BLOCK_WARPS = LOWER_BLOCK_THREADS / WARP_LANES };

/* ---- index errors ---------------------------------------------------------------------------- */

static V field(Lowering *l, size_t offset) {
    return ll_gep(l, l->i8, l->error, ll_i64(l, (int64_t)offset));
}

static void store_field(Lowering *l, V value, size_t offset) {
    LLVMBuildStore(l->builder, value, field(l, offset));
}

/* Nobody reads the word before the kernel has ended, so the order of these stores does not matter.
 */
static void write_error(Lowering *l, V index, V bound, int64_t site) {
    store_field(l, ll_i32(l, site), offsetof(TccErrorWord, site));
    store_field(l, index, offsetof(TccErrorWord, index));
    store_field(l, bound, offsetof(TccErrorWord, bound));
    store_field(l, ll_i32(l, 2), offsetof(TccErrorWord, state));
}

void nvptx_report(Lowering *l, V bad, V index, V bound, int64_t site, uint32_t lanes) {
    (void)lanes;
    LLVMBasicBlockRef fail = ll_block(l, "fail"), write = ll_block(l, "write");
    LLVMBasicBlockRef behind = ll_block(l, "checked");
    ll_branch(l, bad, fail, behind);
    ll_enter(l, fail);
    V claim = LLVMBuildAtomicCmpXchg(l->builder, field(l, offsetof(TccErrorWord, state)),
                                     ll_i32(l, 0), ll_i32(l, 1), LLVMAtomicOrderingMonotonic,
                                     LLVMAtomicOrderingMonotonic, 0);
    ll_branch(l, LLVMBuildExtractValue(l->builder, claim, 1, ""), write, behind);
    ll_enter(l, write);
    write_error(l, index, bound, site);
    ll_jump(l, behind);
    ll_enter(l, behind);
}

/* ---- the entry ------------------------------------------------------------------------------- */

static V special(Lowering *l, const char *name) { return ll_intrinsic(l, name, NULL, 0, NULL, 0); }

static void annotate(Lowering *l, const char *key, int64_t value) {
    LLVMMetadataRef parts[3] = {LLVMValueAsMetadata(l->function),
                                LLVMMDStringInContext2(l->context, key, __builtin_strlen(key)),
                                LLVMValueAsMetadata(ll_i32(l, value))};
    V node = LLVMMetadataAsValue(l->context, LLVMMDNodeInContext2(l->context, parts, 3));
    LLVMAddNamedMetadataOperand(l->module, "nvvm.annotations", node);
}

/* Parameters behind the buffers and dims. */
enum { ENTRY_error, ENTRY_scratch, ENTRY_points, ENTRY_count };

/* Whether lanes read what others store to the argument: LLVM moves accesses of a noalias pointer
 * across the barriers between them, which it takes for calls that cannot know the pointer. */
static bool is_exchanged(const Lowering *l, const TileBlock *block, uint32_t argument) {
    for (size_t i = 0; i < block->instrs.count; i++) {
        const TileInstr *instr = block->instrs.data[i];
        for (uint32_t j = 0; j < instr->block_count; j++)
            if (is_exchanged(l, &instr->blocks[j], argument)) return true;
        if (instr->op != TILE_store || !access_needs_order(l, instr)) continue;
        const TileView *view = &l->program->views.data[instr->view];
        if (view->space != SPACE_scratch && view->argument == argument) return true;
    }
    return false;
}

static bool may_overlap(const Lowering *l, uint32_t argument) {
    const LowerOptions *o = l->options;
    if (o->may_alias && argument < o->may_alias_count && o->may_alias[argument]) return true;
    return is_exchanged(l, &l->program->body, argument);
}

static void make_entry(Lowering *l, uint32_t buffers, uint32_t dims) {
    uint32_t count = buffers + dims + ENTRY_count;
    LLVMTypeRef *types = NEW_ARRAY(l->arena, LLVMTypeRef, count);
    for (uint32_t i = 0; i < count; i++) types[i] = i < buffers ? l->ptr : l->i64;
    types[buffers + dims + ENTRY_error] = types[buffers + dims + ENTRY_scratch] = l->ptr;
    l->function = ll_function(l, l->symbol, l->nothing, types, count, LLVMExternalLinkage);
    LLVMSetFunctionCallConv(l->function, CALL_PTX_KERNEL);
    for (uint32_t i = 0; i < buffers; i++)
        if (!may_overlap(l, i)) ll_attribute(l, l->function, i + 1, "noalias", 0);
    annotate(l, "kernel", 1);
    annotate(l, "reqntidx", LOWER_BLOCK_THREADS);
    annotate(l, "reqntidy", 1);
    annotate(l, "reqntidz", 1);
}

static void bind_parameters(Lowering *l, uint32_t buffers, uint32_t dims) {
    for (uint32_t i = 0; i < buffers; i++) l->buffers[i] = LLVMGetParam(l->function, i);
    for (uint32_t i = 0; i < dims; i++)
        dims_bind(l, l->options->dims[i], LLVMGetParam(l->function, buffers + i));
    l->error = LLVMGetParam(l->function, buffers + dims + ENTRY_error);
    l->scratch = LLVMGetParam(l->function, buffers + dims + ENTRY_scratch);
}

/* This warp's scratch: a part of the block's shared memory, or of the buffer. */
static V warp_scratch(Lowering *l, V warp_in_block, V warp) {
    LowerScratch scratch = lower_scratch(l->program, l->options->target);
    int64_t bytes = 0;
    if (!scratch.shared)
        return ll_gep(l, l->i8, l->scratch, ll_mul(l, warp, dims_emit(l, scratch.bytes)));
    dim_is_const(scratch.bytes, &bytes);
    LLVMTypeRef type = LLVMArrayType2(l->i8, (uint64_t)bytes * BLOCK_WARPS);
    V shared = LLVMAddGlobalInAddressSpace(l->module, type, "scratch", 3);
    LLVMSetLinkage(shared, LLVMInternalLinkage);
    LLVMSetInitializer(shared, LLVMGetUndef(type));
    LLVMSetAlignment(shared, LOWER_SCRATCH_ALIGN);
    V generic = LLVMBuildAddrSpaceCast(l->builder, shared, l->ptr, "");
    return ll_gep(l, l->i8, generic, ll_mul(l, warp_in_block, ll_i64(l, bytes)));
}

/* A point's variables, the last one fastest. */
static void bind_work(Lowering *l, V point) {
    for (uint32_t i = l->program->work_rank; i-- > 0;) {
        V extent = dims_emit(l, l->program->work_extents[i]);
        V at = i == 0 ? point : LLVMBuildURem(l->builder, point, extent, "");
        if (i > 0) point = LLVMBuildUDiv(l->builder, point, extent, "");
        dims_bind(l, l->program->work[i], at);
    }
}

static void emit_points(Lowering *l, V first, V stride, V points) {
    LLVMBasicBlockRef before = ll_here(l), body = ll_block(l, "point"), done = ll_block(l, "end");
    ll_branch(l, ll_compare(l, LLVMIntSLT, first, points), body, done);
    ll_enter(l, body);
    V point = ll_phi(l, l->i64);
    size_t mark = memo_open(&l->memo);
    bind_work(l, point);
    lower_point(l);
    memo_close(&l->memo, mark);
    V next = ll_add(l, point, stride);
    ll_incoming(point, first, before);
    ll_incoming(point, next, ll_here(l));
    ll_branch(l, ll_compare(l, LLVMIntSLT, next, points), body, done);
    ll_enter(l, done);
    LLVMBuildRetVoid(l->builder);
}

void nvptx_kernel(Lowering *l) {
    uint32_t buffers = lower_buffer_count(l->program), dims = l->options->dim_count;
    make_entry(l, buffers, dims);
    ll_enter(l, ll_block(l, "entry"));
    bind_parameters(l, buffers, dims);
    V thread = special(l, "llvm.nvvm.read.ptx.sreg.tid.x");
    V block = special(l, "llvm.nvvm.read.ptx.sreg.ctaid.x");
    V blocks = special(l, "llvm.nvvm.read.ptx.sreg.nctaid.x");
    l->lane = ll_and(l, thread, ll_i32(l, WARP_LANES - 1));
    V in_block = ll_cast(l, LLVMBuildLShr(l->builder, thread, ll_i32(l, 5), ""), l->i64, false);
    V warps = ll_i64(l, BLOCK_WARPS);
    V warp = ll_add(l, ll_mul(l, ll_cast(l, block, l->i64, false), warps), in_block);
    l->scratch = warp_scratch(l, in_block, warp);
    lower_views(l);
    V stride = ll_mul(l, ll_cast(l, blocks, l->i64, false), warps);
    emit_points(l, warp, stride, LLVMGetParam(l->function, buffers + dims + ENTRY_points));
}
