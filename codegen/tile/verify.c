/* The verifier: programs, blocks and scopes. */
#include "codegen/tile/verify.h"

#include "codegen/tile/walk.h"
#include "ir/target.h"

enum { MAX_STEP = 1 << 30, MAX_UNROLL = 1024 };

bool verify_fail(Verify *v, const char *format, ...) {
    if (v->fault) return false;
    Buf buf = {.arena = v->arena};
    if (v->instr) {
        bool maps = v->instr->op == TILE_map && v->instr->scalar < OP_count;
        buf_print(&buf,
                  "%s: ", maps ? op_info(v->instr->scalar)->name : tile_op_name(v->instr->op));
    }
    va_list args;
    va_start(args, format);
    buf_vprint(&buf, format, args);
    va_end(args);
    v->fault = buf_str(&buf).data;
    return false;
}

/* ---- scopes ---------------------------------------------------------------------------------- */

static bool define(Verify *v, const TileInstr *maker, TileId first, uint32_t count) {
    for (TileId id = first; id < first + (uint64_t)count; id++) {
        if (id >= v->program->values.count) return verify_fail(v, "a result has no type");
        if (v->maker[id]) return verify_fail(v, "value %u is defined twice", id);
        if (!verify_type(v, &v->program->values.data[id])) return false;
        v->maker[id] = maker;
        v->in_scope[id] = true;
        vec_push(v->arena, &v->scope, id);
    }
    return true;
}

static void leave_scope(Verify *v, size_t values, size_t variables, size_t facts) {
    while (v->scope.count > values) v->in_scope[v->scope.data[--v->scope.count]] = false;
    v->variables.count = variables;
    v->prover.facts.count = facts;
}

static bool operands_in_scope(Verify *v, const TileInstr *instr) {
    for (uint32_t i = 0; i < instr->arg_count; i++) {
        TileId id = instr->args[i];
        if (id >= v->program->values.count || !v->in_scope[id])
            return verify_fail(v, "operand %u is not defined here", i);
    }
    return true;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static bool verify_instr(Verify *v, const TileInstr *instr, uint32_t depth);

/* Everything but the yield, which the loop or branch looks at; the body has none. */
static bool verify_instrs(Verify *v, const TileBlock *block, bool yields, uint32_t depth) {
    if (depth > TILE_MAX_DEPTH) return verify_fail(v, "blocks nest too deep");
    size_t count = block->instrs.count;
    const TileInstr *outer = v->instr;
    if (yields && (count == 0 || block->instrs.data[count - 1]->op != TILE_yield))
        return verify_fail(v, "a block does not end with a yield");
    for (size_t i = 0; i < count; i++) {
        const TileInstr *instr = block->instrs.data[i];
        v->instr = instr;
        if (instr->op == TILE_yield && !(yields && i + 1 == count))
            return verify_fail(v, "stands before the end of a block");
        if (!verify_instr(v, instr, depth)) return false;
    }
    v->instr = outer;
    return true;
}

/* What the block yields are `count` values of the types of the values first, first + 1, … */
static bool yields_types(Verify *v, const TileBlock *block, TileId first, uint32_t count) {
    const TileInstr *yield = block->instrs.data[block->instrs.count - 1];
    if (yield->arg_count != count)
        return verify_fail(v, "a block yields %u values instead of %u", yield->arg_count, count);
    for (uint32_t i = 0; i < count; i++) {
        const TileType *want = &v->program->values.data[first + i];
        if (!tile_same_type(tile_value_type(v->program, yield->args[i]), want))
            return verify_fail(v, "yielded value %u has another type than it must", i);
    }
    return true;
}

static bool is_in_scope(const Verify *v, const DimSymbol *variable) {
    for (size_t i = 0; i < v->variables.count; i++) {
        if (v->variables.data[i] == variable) return true;
    }
    return false;
}

static bool loop_is_formed(Verify *v, const TileInstr *loop) {
    if (loop->block_count != 1 || !loop->variable) return verify_fail(v, "has no body or variable");
    if (is_in_scope(v, loop->variable)) return verify_fail(v, "its variable is already in use");
    if (loop->step < 1 || loop->step > MAX_STEP)
        return verify_fail(v, "a step of %lld is not allowed", (long long)loop->step);
    if (loop->unroll > MAX_UNROLL)
        return verify_fail(v, "cannot be unrolled %u times", loop->unroll);
    if (loop->result_count != loop->arg_count)
        return verify_fail(v, "%u results for %u carried values", loop->result_count,
                           loop->arg_count);
    return verify_dim(v, loop->from, NULL) && verify_dim(v, loop->to, NULL);
}

/* The range that the symbol claims must be the loop's: everything proved in the body rests on it.
 */
static bool loop_range_is_right(Verify *v, const TileInstr *loop) {
    IrContext *ctx = v->program->ctx;
    const DimSymbol *variable = loop->variable;
    if (variable->kind != SYMBOL_index) return verify_fail(v, "its variable is a dim of the model");
    const Dim *last = dim_offset(ctx, loop->to, -1);
    if (loop->step > 1) {
        const Dim *whole =
            dim_floordiv(ctx, dim_sub(ctx, last, loop->from), dim_const(ctx, loop->step));
        last = dim_add(ctx, loop->from, dim_scale(ctx, whole, loop->step));
    }
    const Dim *above = dim_offset(ctx, loop->from, -variable->lo);
    if (variable->lo > loop->from->lo && !prover_nonnegative(&v->prover, above))
        return verify_fail(v, "its variable begins after the loop does");
    if (loop->to->hi <= loop->from->lo) return true;
    const Dim *room = dim_sub(ctx, dim_const(ctx, variable->hi), last);
    bool fits = last->hi <= variable->hi || prover_nonnegative(&v->prover, room);
    if (fits && variable->limit) fits = prover_less(&v->prover, last, variable->limit);
    return fits || verify_fail(v, "its variable ends before the loop does");
}

static bool verify_loop(Verify *v, const TileInstr *loop, uint32_t depth) {
    if (!loop_is_formed(v, loop) || !loop_range_is_right(v, loop)) return false;
    IrContext *ctx = v->program->ctx;
    size_t values = v->scope.count, variables = v->variables.count, facts = v->prover.facts.count;
    vec_push(v->arena, &v->variables, loop->variable);
    prover_assume_range(&v->prover, loop->from, dim_of_symbol(ctx, loop->variable), loop->to);
    for (uint32_t i = 0; i < loop->arg_count; i++) {
        if (loop->carried + (uint64_t)i >= v->program->values.count ||
            !tile_same_type(tile_value_type(v->program, loop->args[i]),
                            tile_value_type(v->program, loop->carried + i)))
            return verify_fail(v, "carried value %u has another type than its initial value", i);
    }
    bool empty = loop->to->hi <= loop->from->lo;
    v->never += empty;
    if (!define(v, loop, loop->carried, loop->arg_count) ||
        !verify_instrs(v, &loop->blocks[0], true, depth + 1) ||
        !yields_types(v, &loop->blocks[0], loop->carried, loop->arg_count))
        return false;
    v->never -= empty;
    leave_scope(v, values, variables, facts);
    if (!define(v, loop, loop->result, loop->result_count)) return false;
    return yields_types(v, &loop->blocks[0], loop->result, loop->result_count);
}

/* In the else block the guard fails; where one of its sides always holds, the other one is false.
 */
static void assume_failed(Verify *v, const TileGuard *guard) {
    IrContext *ctx = v->program->ctx;
    const Dim *above = dim_sub(ctx, guard->value, guard->lo);
    const Dim *below = dim_offset(ctx, dim_sub(ctx, guard->hi, guard->value), -1);
    if (prover_nonnegative(&v->prover, above))
        prover_assume(&v->prover, dim_sub(ctx, guard->value, guard->hi));
    else if (prover_nonnegative(&v->prover, below))
        prover_assume(&v->prover, dim_offset(ctx, dim_sub(ctx, guard->lo, guard->value), -1));
}

static bool verify_branch(Verify *v, const TileInstr *branch, uint32_t depth) {
    if (branch->block_count != 2) return verify_fail(v, "has not two blocks");
    size_t values = v->scope.count, variables = v->variables.count, facts = v->prover.facts.count;
    for (uint32_t side = 0; side < 2; side++) {
        for (uint32_t i = 0; side == 0 && i < branch->guard_count; i++) {
            const TileGuard *guard = &branch->guards[i];
            prover_assume_range(&v->prover, guard->lo, guard->value, guard->hi);
        }
        if (side == 1 && branch->guard_count == 1) assume_failed(v, &branch->guards[0]);
        if (!verify_instrs(v, &branch->blocks[side], true, depth + 1)) return false;
        leave_scope(v, values, variables, facts);
    }
    if (!define(v, branch, branch->result, branch->result_count)) return false;
    return yields_types(v, &branch->blocks[0], branch->result, branch->result_count) &&
           yields_types(v, &branch->blocks[1], branch->result, branch->result_count);
}

static bool verify_instr(Verify *v, const TileInstr *instr, uint32_t depth) {
    if ((uint32_t)instr->op >= TILE_op_count) return verify_fail(v, "is no op");
    if (!operands_in_scope(v, instr)) return false;
    for (uint32_t i = 0; instr->op == TILE_if && i < instr->guard_count; i++) {
        const TileGuard *guard = &instr->guards[i];
        if (!verify_dim(v, guard->lo, NULL) || !verify_dim(v, guard->value, NULL) ||
            !verify_dim(v, guard->hi, NULL))
            return false;
    }
    if (instr->op == TILE_for) return verify_loop(v, instr, depth);
    if (instr->op == TILE_if) return verify_branch(v, instr, depth);
    if (instr->op == TILE_yield) return true;
    if (!define(v, instr, instr->result, instr->result_count)) return false;
    if (!verify_types(v, instr) || !verify_access(v, instr)) return false;
    if (instr->op == TILE_check && instr->integer != v->next_site++)
        return verify_fail(v, "checks are not numbered in order");
    return true;
}

/* ---- programs -------------------------------------------------------------------------------- */

static bool verify_view(Verify *v, const TileView *view, int64_t *scratch) {
    int64_t bytes = (dtype_info(view->dtype)->bits + 7) / 8;
    if (view->rank > TYPE_MAX_RANK)
        return verify_fail(v, "view %%%.*s: rank %u is too high", STR_ARG(view->name), view->rank);
    if (view->alignment == 0 || (view->alignment & (view->alignment - 1)) != 0)
        return verify_fail(v, "view %%%.*s: an alignment of %u is no power of two",
                           STR_ARG(view->name), view->alignment);
    if (view->space == SPACE_constant && view->written)
        return verify_fail(v, "view %%%.*s: a constant is not written", STR_ARG(view->name));
    for (uint32_t i = 0; i < view->rank; i++) {
        const Dim *dim = view->dims[i];
        if (!verify_dim(v, dim, NULL)) return false;
        if (dim->hi < 0)
            return verify_fail(v, "view %%%.*s: dim %u is negative", STR_ARG(view->name), i);
        if (view->space == SPACE_scratch && __builtin_mul_overflow(bytes, dim->hi, &bytes))
            bytes = INT64_MAX;
    }
    if (view->space == SPACE_scratch && __builtin_add_overflow(*scratch, bytes, scratch))
        *scratch = INT64_MAX;
    return true;
}

static bool verify_program(Verify *v) {
    const TileProgram *program = v->program;
    int64_t scratch = 0;
    for (size_t i = 0; i < program->views.count; i++) {
        if (!verify_view(v, &program->views.data[i], &scratch)) return false;
    }
    if (scratch > TARGET_SCRATCH_BYTES)
        return verify_fail(v, "scratch takes %lld bytes, more than %lld", (long long)scratch,
                           (long long)TARGET_SCRATCH_BYTES);
    for (uint32_t i = 0; i < program->work_rank; i++) {
        const DimSymbol *variable = program->work[i];
        const Dim *extent = program->work_extents[i];
        if (!verify_dim(v, extent, NULL)) return false;
        if (variable->kind != SYMBOL_index || variable->lo > 0 || variable->limit != extent ||
            variable->hi < extent->hi - 1)
            return verify_fail(v, "work: axis %u has a variable of another range", i);
        if (extent->hi <= 0) v->never++;
    }
    for (uint32_t i = 0; i < program->work_rank; i++)
        vec_push(v->arena, &v->variables, program->work[i]);
    if (!verify_instrs(v, &program->body, false, 1)) return false;
    v->instr = NULL;
    if (v->next_site != program->site_count) return verify_fail(v, "checks and sites do not agree");
    return true;
}

const char *tile_find_fault(const TileProgram *program, Arena *arena, const TileInstr **out_instr) {
    Verify v = {.program = program, .arena = arena};
    v.prover = (Prover){.ctx = program->ctx, .arena = arena};
    v.maker = NEW_ARRAY(arena, const TileInstr *, program->values.count);
    v.in_scope = NEW_ARRAY(arena, bool, program->values.count);
    *out_instr = NULL;
    if (verify_program(&v)) return NULL;
    *out_instr = v.instr;
    return v.fault;
}

const char *tile_verify(const TileProgram *program, Arena *arena) {
    const TileInstr *instr;
    return tile_find_fault(program, arena, &instr);
}
