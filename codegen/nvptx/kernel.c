/* The entry function on NVPTX: warps, or whole blocks, take the points in turn. */
#include "codegen/nvptx/nvptx.h"

#include <stddef.h>

enum { CALL_PTX_KERNEL = 71, VECTOR_BYTES = 16 };

/* ---- index errors ---------------------------------------------------------------------------- */

static V field(Lowering *l, size_t offset) {
    return ll_gep(l, l->i8, l->error, ll_i64(l, (int64_t)offset));
}

static void store_field(Lowering *l, V value, size_t offset) {
    LLVMBuildStore(l->builder, value, field(l, offset));
}

/* Nobody reads the word before the kernel has ended, so the order of these stores does not matter;
 * but others try to claim it meanwhile, so the last one is atomic as theirs are. */
static void write_error(Lowering *l, V index, V bound, int64_t site) {
    store_field(l, ll_i32(l, site), offsetof(TccErrorWord, site));
    store_field(l, index, offsetof(TccErrorWord, index));
    store_field(l, bound, offsetof(TccErrorWord, bound));
    LLVMBuildAtomicRMW(l->builder, LLVMAtomicRMWBinOpXchg, field(l, offsetof(TccErrorWord, state)),
                       ll_i32(l, 2), LLVMAtomicOrderingMonotonic, 0);
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

/* Its parameters (runtime/abi_gpu.h), and what is shared out among the threads. */
typedef struct Entry {
    uint32_t buffers, dims; /* how many there are */
    uint32_t *slots;        /* of the dims */
    uint32_t threads;       /* of a block */
    V points;
} Entry;

/* Whether lanes read what others store to the argument: LLVM moves accesses of a noalias pointer
 * across the barriers between them, which it takes for calls that cannot know the pointer. */
static bool is_exchanged(Lowering *l, const TileBlock *block, uint32_t argument) {
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

static bool may_overlap(Lowering *l, uint32_t argument) {
    const LowerOptions *o = l->options;
    if (o->may_alias && argument < o->may_alias_count && o->may_alias[argument]) return true;
    return is_exchanged(l, &l->program->body, argument);
}

static V parameter(const Lowering *l, const Entry *entry, uint32_t behind) {
    return LLVMGetParam(l->function, entry->buffers + entry->dims + behind);
}

static void make_entry(Lowering *l, const Entry *entry) {
    uint32_t count = entry->buffers + entry->dims + ENTRY_count;
    LLVMTypeRef *types = NEW_ARRAY(l->arena, LLVMTypeRef, count);
    for (uint32_t i = 0; i < count; i++) types[i] = i < entry->buffers ? l->ptr : l->i64;
    types[count - ENTRY_count + ENTRY_error] = types[count - ENTRY_count + ENTRY_scratch] = l->ptr;
    l->function = ll_function(l, l->symbol, l->nothing, types, count, LLVMExternalLinkage);
    LLVMSetFunctionCallConv(l->function, CALL_PTX_KERNEL);
    for (uint32_t i = 0; i < entry->buffers; i++)
        if (!may_overlap(l, i)) ll_attribute(l, l->function, i + 1, "noalias", 0);
    annotate(l, "kernel", 1);
    annotate(l, "reqntidx", entry->threads);
    annotate(l, "reqntidy", 1);
    annotate(l, "reqntidz", 1);
}

static void bind_parameters(Lowering *l, Entry *entry) {
    for (uint32_t i = 0; i < entry->buffers; i++) l->buffers[i] = LLVMGetParam(l->function, i);
    for (uint32_t i = 0; i < entry->dims; i++)
        dims_bind(l, l->options->dims[entry->slots[i]],
                  LLVMGetParam(l->function, entry->buffers + i));
    l->error = parameter(l, entry, ENTRY_error);
    l->scratch = parameter(l, entry, ENTRY_scratch);
    entry->points = parameter(l, entry, ENTRY_points);
}

V nvptx_shared_memory(Lowering *l, const char *name, uint64_t bytes) {
    LLVMTypeRef type = LLVMArrayType2(l->i8, bytes);
    Str symbol = str_format(l->arena, "%s.%s", l->symbol, name);
    V shared = LLVMAddGlobalInAddressSpace(l->module, type, symbol.data, 3);
    LLVMSetLinkage(shared, LLVMInternalLinkage);
    LLVMSetInitializer(shared, LLVMGetUndef(type));
    LLVMSetAlignment(shared, LOWER_SCRATCH_ALIGN);
    return LLVMConstAddrSpaceCast(shared, l->ptr);
}

/* The scratch of this thread's point: a part of the block's shared memory, or of the buffer. */
static V point_scratch(Lowering *l, V in_block, V worker, uint32_t workers) {
    LowerScratch scratch = lower_scratch(l->program, l->options->target);
    int64_t bytes = 0;
    if (!scratch.shared)
        return ll_gep(l, l->i8, l->scratch, ll_mul(l, worker, dims_emit(l, scratch.bytes)));
    dim_is_const(scratch.bytes, &bytes);
    V shared = nvptx_shared_memory(l, "scratch", (uint64_t)bytes * workers);
    return ll_gep(l, l->i8, shared, ll_mul(l, in_block, ll_i64(l, bytes)));
}

static bool has_few_points(const TileProgram *program) {
    const Dim *points = dim_const(program->ctx, 1);
    for (uint32_t i = 0; i < program->work_rank; i++)
        points = dim_mul(program->ctx, points, program->work_extents[i]);
    return points->hi <= INT32_MAX;
}

/* A point's variables, the last one fastest. A 64-bit division takes several times as long as one
 * in 32 bits. */
static void bind_work(Lowering *l, V point) {
    LLVMTypeRef type = has_few_points(l->program) ? l->i32 : l->i64;
    point = ll_cast(l, point, type, false);
    for (uint32_t i = l->program->work_rank; i-- > 0;) {
        V extent = ll_cast(l, dims_emit(l, l->program->work_extents[i]), type, false);
        V at = i == 0 ? point : LLVMBuildURem(l->builder, point, extent, "");
        if (i > 0) point = LLVMBuildUDiv(l->builder, point, extent, "");
        dims_bind(l, l->program->work[i], ll_cast(l, at, l->i64, false));
    }
}

/* The points that a worker takes: first, first + stride, … */
typedef struct Turns {
    V first, stride, points;
} Turns;

static void emit_points(Lowering *l, const Turns *turns) {
    V first = turns->first, stride = turns->stride, points = turns->points;
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

/* ---- 16 bytes at a time ---------------------------------------------------------------------- */

/* Whether all buffers are aligned so. */
static V is_aligned(Lowering *l, uint32_t buffers) {
    V bits = ll_i64(l, 0);
    for (uint32_t i = 0; i < buffers; i++) {
        V address = LLVMBuildPtrToInt(l->builder, l->buffers[i], l->i64, "");
        bits = LLVMBuildOr(l->builder, bits, address, "");
    }
    return ll_compare(l, LLVMIntEQ, ll_and(l, bits, ll_i64(l, VECTOR_BYTES - 1)), ll_i64(l, 0));
}

static void emit_with(Lowering *l, LLVMBasicBlockRef block, uint32_t alignment,
                      const Turns *turns) {
    size_t mark = memo_open(&l->memo);
    l->alignment = alignment;
    ll_enter(l, block);
    emit_points(l, turns);
    memo_close(&l->memo, mark);
}

/* The code for aligned buffers, and where that is another one the code for any. */
static void emit_variants(Lowering *l, const Turns *turns, uint32_t buffers) {
    LLVMBasicBlockRef entry = ll_here(l), aligned = ll_block(l, "aligned");
    emit_with(l, aligned, VECTOR_BYTES, turns);
    LLVMBasicBlockRef any = l->used_alignment ? ll_block(l, "any") : NULL;
    ll_enter(l, entry);
    if (any)
        ll_branch(l, is_aligned(l, buffers), aligned, any);
    else
        ll_jump(l, aligned);
    if (any) emit_with(l, any, 0, turns);
}

/* The threads of a block are workers, each of as many threads as a point needs. */
void nvptx_kernel(Lowering *l) {
    Entry entry = {.buffers = lower_buffer_count(l->program),
                   .threads = nvptx_block_threads(l->program)};
    entry.dims = nvptx_dims(l->program, l->options, l->arena, &entry.slots);
    l->threads = nvptx_point_threads(l->program);
    uint32_t workers = entry.threads / l->threads;
    make_entry(l, &entry);
    ll_enter(l, ll_block(l, "entry"));
    nvptx_open_places(l);
    bind_parameters(l, &entry);
    V thread = special(l, "llvm.nvvm.read.ptx.sreg.tid.x"), in_block = ll_i64(l, 0);
    V block = ll_cast(l, special(l, "llvm.nvvm.read.ptx.sreg.ctaid.x"), l->i64, false);
    V blocks = ll_cast(l, special(l, "llvm.nvvm.read.ptx.sreg.nctaid.x"), l->i64, false);
    l->lane = thread;
    if (workers > 1) {
        l->lane = ll_and(l, thread, ll_i32(l, WARP_LANES - 1));
        in_block = ll_cast(l, LLVMBuildLShr(l->builder, thread, ll_i32(l, 5), ""), l->i64, false);
    }
    l->in_block = in_block;
    V worker = ll_add(l, ll_mul(l, block, ll_i64(l, workers)), in_block);
    if (l->threads > WARP_LANES) l->exchange = nvptx_shared_memory(l, "exchange", 8 * l->threads);
    l->scratch = point_scratch(l, in_block, worker, workers);
    lower_views(l);
    const Turns turns = {worker, ll_mul(l, blocks, ll_i64(l, workers)), entry.points};
    emit_variants(l, &turns, entry.buffers);
    nvptx_close_places(l);
}
