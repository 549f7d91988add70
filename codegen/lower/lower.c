/* One lowering: its state, the views' addresses, scratch memory. */
#include "codegen/lower/lower.h"
#include "base/scratch.h"

#include "codegen/lower/lowering.h"

/* Of static shared memory a block has 48 KiB, some of which are for exchanges. */
enum { SHARED_SCRATCH_BYTES = 32 << 10, VERSION_BUDGET = 800 };

uint32_t lower_buffer_count(const TileProgram *program) {
    uint32_t count = 0;
    for (size_t i = 0; i < program->views.count; i++) {
        const TileView *view = &program->views.data[i];
        if (view->space != SPACE_scratch && view->argument >= count) count = view->argument + 1;
    }
    return count;
}

/* ---- scratch: its views one after the other, each aligned ------------------------------------ */

static const Dim *align_up(IrContext *ctx, const Dim *bytes) {
    return dim_scale(ctx, dim_ceildiv(ctx, bytes, dim_const(ctx, LOWER_SCRATCH_ALIGN)),
                     LOWER_SCRATCH_ALIGN);
}

static const Dim *view_bytes(IrContext *ctx, const TileView *view) {
    const Dim *elements = dim_const(ctx, 1);
    for (uint32_t i = 0; i < view->rank; i++) elements = dim_mul(ctx, elements, view->dims[i]);
    uint32_t bits = dtype_info(view->dtype)->bits;
    if (bits >= 8) return dim_scale(ctx, elements, bits / 8);
    return dim_ceildiv(ctx, elements, dim_const(ctx, 8 / bits));
}

/* The bytes of the scratch views before `end`. */
static const Dim *scratch_before(const TileProgram *program, size_t end) {
    IrContext *ctx = program->ctx;
    const Dim *bytes = dim_const(ctx, 0);
    for (size_t i = 0; i < end; i++) {
        const TileView *view = &program->views.data[i];
        if (view->space != SPACE_scratch) continue;
        bytes = dim_add(ctx, bytes, align_up(ctx, view_bytes(ctx, view)));
    }
    return bytes;
}

LowerScratch lower_scratch(const TileProgram *program, const Target *target) {
    LowerScratch scratch = {.bytes = scratch_before(program, program->views.count)};
    int64_t bytes = 0;
    if (target->kind == TARGET_gpu && dim_is_const(scratch.bytes, &bytes) && bytes > 0)
        scratch.shared = bytes <= SHARED_SCRATCH_BYTES / lower_points_of_block(program);
    return scratch;
}

void lower_views(Lowering *l) {
    for (size_t i = 0; i < l->program->views.count; i++) {
        const TileView *view = &l->program->views.data[i];
        if (view->space != SPACE_scratch) {
            l->views[i] = l->buffers[view->argument];
            continue;
        }
        V offset = dims_emit(l, scratch_before(l->program, i));
        l->views[i] = ll_gep(l, l->i8, l->scratch, offset);
    }
}

/* ---- the state ------------------------------------------------------------------------------- */

static void set_types(Lowering *l) {
    l->i1 = LLVMInt1TypeInContext(l->context);
    l->i8 = LLVMInt8TypeInContext(l->context);
    l->i16 = LLVMInt16TypeInContext(l->context);
    l->i32 = LLVMInt32TypeInContext(l->context);
    l->i64 = LLVMInt64TypeInContext(l->context);
    l->ptr = LLVMPointerTypeInContext(l->context, 0);
    l->nothing = LLVMVoidTypeInContext(l->context);
}

static void set_target(Lowering *l) {
    const Target *target = l->options->target;
    l->model = target->kind == TARGET_cpu ? &lane_model_x86 : &lane_model_nvptx;
    if (target->kind != TARGET_cpu) return;
    l->math_features = MATH_F16C;
    if (target->features & FEATURE_avx512) {
        l->math_features |= MATH_AVX512F;
        l->masks_bytes = l->gathers = true;
    }
}

static void set_environment(Lowering *l) {
    const TileProgram *program = l->program;
    l->views = NEW_ARRAY(l->arena, V, program->views.count);
    l->values = NEW_ARRAY(l->arena, Registers, program->values.count);
    l->buffers = NEW_ARRAY(l->arena, V, lower_buffer_count(program));
    l->memo.arena = l->arena;
    l->version_budget = VERSION_BUDGET;
    Str symbol = l->options->symbol.size > 0 ? l->options->symbol : program->name;
    l->symbol = str_terminated(l->arena, symbol);
}

/* What LLVM failed in stays. */
static void free_builder(void *builder) {
    if (!guard_is_backend(guard_raised())) LLVMDisposeBuilder(builder);
}

static void free_module(void *module) {
    if (!guard_is_backend(guard_raised())) LLVMDisposeModule(module);
}

void lower_into(LLVMModuleRef module, const TileProgram *program, const LowerOptions *options) {
    require(program->state == TILE_placed);
    Lowering l = {.program = program,
                  .options = options,
                  .context = LLVMGetModuleContext(module),
                  .module = module};
    GuardDefer defer;
    Scratch scratch;
    l.arena = scratch_open(&scratch);
    set_types(&l);
    set_target(&l);
    set_environment(&l);
    l.builder = LLVMCreateBuilderInContext(l.context);
    guard_defer(&defer, free_builder, l.builder);
    l.model->kernel(&l);
    guard_undefer(&defer);
    LLVMDisposeBuilder(l.builder);
    scratch_close(&scratch);
}

LLVMModuleRef lower_program(LLVMContextRef context, const TileProgram *program,
                            const LowerOptions *options) {
    GuardDefer defer;
    Str name = options->symbol.size > 0 ? options->symbol : program->name;
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("", context);
    LLVMSetModuleIdentifier(module, name.data, name.size);
    guard_defer(&defer, free_module, module);
    lower_into(module, program, options);
    guard_undefer(&defer);
    return module;
}
