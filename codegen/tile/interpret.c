/* The interpreter of tile programs: the grid, blocks, and what all ops need. It is naive on
 * purpose: one element at a time, every Dim evaluated where it stands. */
#include "codegen/tile/interpret.h"

#include "codegen/tile/tile_tools.h"
#include "codegen/tile/walk.h"

#include <string.h>

#define MAX_ELEMENTS ((int64_t)1 << 28)

bool run_fail(Run *run, const char *format, ...) {
    if (run->message) return false;
    Buf buf = {.arena = run->arena};
    va_list args;
    va_start(args, format);
    buf_vprint(&buf, format, args);
    va_end(args);
    run->message = buf_str(&buf).data;
    return false;
}

bool run_dim(Run *run, const Dim *dim, int64_t *out_value) {
    return dim_evaluate(dim, run->env, out_value) || run_fail(run, "a dim overflows");
}

/* ---- shapes and values ----------------------------------------------------------------------- */

bool run_shape(Run *run, const TileType *type, Shape *out_shape) {
    *out_shape = (Shape){.rank = type->rank, .count = 1};
    for (uint32_t i = 0; i < type->rank; i++) {
        int64_t *extent = &out_shape->extents[i];
        if (!run_dim(run, type->extents[i], extent)) return false;
        if (*extent < 0 || __builtin_mul_overflow(out_shape->count, *extent, &out_shape->count) ||
            out_shape->count > MAX_ELEMENTS)
            return run_fail(run, "a tile of too many elements");
        out_shape->axes[i] = tile_find_axis(run->program, type, i);
    }
    return true;
}

void run_at_element(Run *run, const Shape *shape, int64_t n) {
    for (uint32_t i = shape->rank; i-- > 0;) {
        if (shape->axes[i]) run->env[shape->axes[i]->id] = n % shape->extents[i];
        n /= shape->extents[i];
    }
}

bool run_guards(Run *run, const TileInstr *instr, bool *out_hold) {
    *out_hold = true;
    for (uint32_t i = 0; i < instr->guard_count; i++) {
        int64_t lo, value, hi;
        if (!run_dim(run, instr->guards[i].lo, &lo) ||
            !run_dim(run, instr->guards[i].value, &value) ||
            !run_dim(run, instr->guards[i].hi, &hi))
            return false;
        *out_hold &= lo <= value && value < hi;
    }
    return true;
}

TileCell *value_resize(Run *run, Value *value, size_t count) {
    if (count > value->capacity || !value->cells) {
        value->cells = NEW_ARRAY(run->arena, TileCell, count);
        value->capacity = count;
    }
    value->count = count;
    return value->cells;
}

TileCell *run_result(Run *run, const TileInstr *instr, Shape *out_shape) {
    if (!run_shape(run, tile_value_type(run->program, instr->result), out_shape)) return NULL;
    return value_resize(run, &run->values[instr->result], (size_t)out_shape->count);
}

const TileCell *run_arg(const Run *run, const TileInstr *instr, uint32_t i) {
    return run->values[instr->args[i]].cells;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static bool run_block(Run *run, const TileBlock *block);

static void copy_values(Run *run, TileId to, const TileId *from, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const Value *source = &run->values[from[i]];
        TileCell *cells = value_resize(run, &run->values[to + i], source->count);
        memcpy(cells, source->cells, source->count * sizeof *cells);
    }
}

/* The last instruction of the block hands its operands to the values to, to + 1, … */
static void take_yields(Run *run, const TileBlock *block, TileId to) {
    const TileInstr *yield = block->instrs.data[block->instrs.count - 1];
    copy_values(run, to, yield->args, yield->arg_count);
}

/* Yields go through the results, since a body may yield its carried values in another order. */
static bool run_for(Run *run, const TileInstr *loop) {
    int64_t from, to;
    if (!run_dim(run, loop->from, &from) || !run_dim(run, loop->to, &to)) return false;
    copy_values(run, loop->result, loop->args, loop->arg_count);
    for (int64_t i = from; i < to; i += loop->step) {
        for (uint32_t k = 0; k < loop->arg_count; k++)
            copy_values(run, loop->carried + k, (TileId[]){loop->result + k}, 1);
        run->env[loop->variable->id] = i;
        if (!run_block(run, &loop->blocks[0])) return false;
        take_yields(run, &loop->blocks[0], loop->result);
    }
    return true;
}

static bool run_if(Run *run, const TileInstr *branch) {
    bool holds;
    if (!run_guards(run, branch, &holds)) return false;
    const TileBlock *block = &branch->blocks[holds ? 0 : 1];
    if (!run_block(run, block)) return false;
    take_yields(run, block, branch->result);
    return true;
}

static bool run_instr(Run *run, const TileInstr *instr) {
    switch (instr->op) {
    case TILE_for: return run_for(run, instr);
    case TILE_if: return run_if(run, instr);
    case TILE_yield:
    case TILE_prefetch: return true;
    case TILE_load: return run_load(run, instr);
    case TILE_store: return run_store(run, instr);
    case TILE_sort: return run_sort(run, instr);
    case TILE_mma: return run_mma(run, instr);
    case TILE_mma_store: return run_mma_store(run, instr);
    default: return run_compute(run, instr);
    }
}

static bool run_block(Run *run, const TileBlock *block) {
    for (size_t i = 0; i < block->instrs.count; i++) {
        if (!run_instr(run, block->instrs.data[i])) return false;
    }
    return true;
}

/* ---- the grid -------------------------------------------------------------------------------- */

static bool run_grid(Run *run) {
    const TileProgram *program = run->program;
    int64_t extents[TYPE_MAX_RANK], points = 1;
    for (uint32_t i = 0; i < program->work_rank; i++) {
        if (!run_dim(run, program->work_extents[i], &extents[i])) return false;
        if (extents[i] < 0 || __builtin_mul_overflow(points, extents[i], &points))
            return run_fail(run, "a grid of too many points");
    }
    for (int64_t point = 0; point < points; point++) {
        int64_t rest = point;
        for (uint32_t i = program->work_rank; i-- > 0; rest /= extents[i])
            run->env[program->work[i]->id] = rest % extents[i];
        run->point = (uint64_t)point + 1;
        if (!run_block(run, &program->body)) return false;
    }
    return true;
}

bool tile_interpret(const TileProgram *program, void *const *buffers, const int64_t *symbols,
                    Arena *arena, int64_t *out_site, const char **out_message) {
    Run run = {.program = program, .arena = arena, .site = -1};
    run.env = tile_bind_symbols(program, symbols, arena);
    run.values = NEW_ARRAY(arena, Value, program->values.count);
    bool good = run_views(&run, buffers) && run_grid(&run);
    *out_site = run.site;
    *out_message = run.message;
    return good;
}
