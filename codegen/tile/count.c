/* What a program does, counted by walking it.
 *
 * A loop whose body does not depend on the variable is walked once. Else its counts are a function
 * of the variable that is mostly constant or linear by pieces (tails, borders, triangles): a range
 * is summed from its ends where two points inside lie on the line between them, and cut in halves
 * where they do not. A budget of probes bounds the work on functions that are neither; what is left
 * of them is taken as linear. */
#include "codegen/tile/tile_tools.h"
#include "codegen/tile/walk.h"

#include "base/guard.h"
#include "base/scratch.h"

#include <math.h>

enum { MAX_PROBES = 20000, MAX_ELEMENTS = 1 << 16 };

typedef struct Counter {
    const TileProgram *program;
    int64_t *env;
    int probes;
} Counter;

/* A loop, or the axes of the grid from `axis` on. */
typedef struct Range {
    const TileInstr *loop; /* NULL: the grid */
    uint32_t axis;
    const DimSymbol *variable;
    int64_t from, step, trips;
} Range;

static TileCounts count_block(Counter *c, const TileBlock *block);
static TileCounts count_grid(Counter *c, uint32_t axis);

/* ---- sums over ranges ------------------------------------------------------------------------ */

static TileCounts weighted(TileCounts a, double wa, TileCounts b, double wb) {
    return (TileCounts){
        .loaded_bytes = wa * a.loaded_bytes + wb * b.loaded_bytes,
        .stored_bytes = wa * a.stored_bytes + wb * b.stored_bytes,
        .scratch_bytes = wa * a.scratch_bytes + wb * b.scratch_bytes,
        .operations = wa * a.operations + wb * b.operations,
        .simple_flops = wa * a.simple_flops + wb * b.simple_flops,
    };
}

static TileCounts add(TileCounts a, TileCounts b) { return weighted(a, 1, b, 1); }

static bool is_near(double a, double b) { return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)); }

static bool same_counts(TileCounts a, TileCounts b) {
    return is_near(a.loaded_bytes, b.loaded_bytes) && is_near(a.stored_bytes, b.stored_bytes) &&
           is_near(a.scratch_bytes, b.scratch_bytes) && is_near(a.operations, b.operations) &&
           is_near(a.simple_flops, b.simple_flops);
}

static TileCounts count_at(Counter *c, const Range *range, int64_t trip) {
    c->env[range->variable->id] = range->from + trip * range->step;
    c->probes++;
    return range->loop ? count_block(c, &range->loop->blocks[0]) : count_grid(c, range->axis + 1);
}

typedef struct Probe {
    int64_t trip;
    TileCounts counts;
} Probe;

static Probe probe(Counter *c, const Range *range, int64_t trip) {
    return (Probe){trip, count_at(c, range, trip)};
}

static bool on_line(Probe p, Probe a, Probe b) {
    double at = (double)(p.trip - a.trip) / (double)(b.trip - a.trip);
    return same_counts(p.counts, weighted(a.counts, 1 - at, b.counts, at));
}

/* Over the trips from a to b, both included. */
static TileCounts sum_between(Counter *c, const Range *range, Probe a, Probe b) {
    int64_t trips = b.trip - a.trip + 1;
    TileCounts line = weighted(a.counts, (double)trips / 2, b.counts, (double)trips / 2);
    if (trips == 1) return a.counts;
    if (trips == 2 || c->probes > MAX_PROBES) return line;
    Probe middle = probe(c, range, a.trip + (trips - 1) / 2);
    bool straight = on_line(middle, a, b);
    if (straight && trips > 3)
        straight = on_line(probe(c, range, a.trip + (trips - 1) / 4 + 1), a, b);
    if (straight) return line;
    TileCounts both = add(sum_between(c, range, a, middle), sum_between(c, range, middle, b));
    return weighted(both, 1, middle.counts, -1);
}

static TileCounts count_range(Counter *c, const Range *range, bool depends) {
    if (range->trips <= 0) return (TileCounts){0};
    Probe first = probe(c, range, 0);
    if (!depends) return weighted(first.counts, (double)range->trips, first.counts, 0);
    Probe last = range->trips > 1 ? probe(c, range, range->trips - 1) : first;
    return sum_between(c, range, first, last);
}

/* ---- what depends on a variable -------------------------------------------------------------- */

static bool mentions(const Dim *dim, const DimSymbol *variable) {
    return dim && dim_mentions(dim, variable);
}

static bool block_depends(const TileBlock *block, const DimSymbol *variable) {
    for (size_t i = 0; i < block->instrs.count; i++) {
        const TileInstr *instr = block->instrs.data[i];
        if (mentions(instr->from, variable) || mentions(instr->to, variable)) return true;
        if (instr->op == TILE_sort && mentions(instr->value, variable)) return true;
        for (uint32_t k = 0; k < instr->guard_count; k++) {
            const TileGuard *guard = &instr->guards[k];
            if (mentions(guard->lo, variable) || mentions(guard->value, variable) ||
                mentions(guard->hi, variable))
                return true;
        }
        for (uint32_t k = 0; k < instr->block_count; k++) {
            if (block_depends(&instr->blocks[k], variable)) return true;
        }
    }
    return false;
}

/* ---- instructions ---------------------------------------------------------------------------- */

static int64_t value_of(const Counter *c, const Dim *dim) {
    int64_t value = 0;
    return dim_evaluate(dim, c->env, &value) ? value : 0;
}

static double elements_of(const Counter *c, TileId id) {
    const TileType *type = tile_value_type(c->program, id);
    double count = 1;
    for (uint32_t i = 0; i < type->rank; i++) count *= (double)value_of(c, type->extents[i]);
    return count;
}

static bool guards_hold(const Counter *c, const TileInstr *instr) {
    for (uint32_t i = 0; i < instr->guard_count; i++) {
        int64_t value = value_of(c, instr->guards[i].value);
        if (value < value_of(c, instr->guards[i].lo) || value >= value_of(c, instr->guards[i].hi))
            return false;
    }
    return true;
}

static bool guards_mention(const TileInstr *instr, const DimSymbol *axis) {
    for (uint32_t i = 0; i < instr->guard_count; i++) {
        const TileGuard *guard = &instr->guards[i];
        if (dim_mentions(guard->lo, axis) || dim_mentions(guard->value, axis) ||
            dim_mentions(guard->hi, axis))
            return true;
    }
    return false;
}

/* Whether the access moves along an axis: along the others it touches one element, however many
 * take it. */
static bool access_moves(const Counter *c, const TileInstr *instr, const DimSymbol *axis) {
    for (uint32_t i = 0; i < c->program->views.data[instr->view].rank; i++) {
        bool indexed = instr->at && instr->at[i] != TILE_none;
        if (indexed && tile_value_type(c->program, instr->at[i])->rank > 0) return true;
        if (axis && dim_mentions(instr->subscripts[i], axis)) return true;
    }
    return false;
}

/* How many elements of the view an access touches: those inside its guards, each one looked at
 * where guards depend on the axis. */
static double touched(const Counter *c, const TileInstr *instr, const TileType *shape,
                      uint32_t axis) {
    if (axis == shape->rank) return guards_hold(c, instr) ? 1 : 0;
    const DimSymbol *symbol = tile_find_axis(c->program, shape, axis);
    int64_t extent = value_of(c, shape->extents[axis]);
    bool moves = access_moves(c, instr, symbol);
    if (extent <= 0) return 0;
    if (symbol) c->env[symbol->id] = 0;
    if (!moves) return touched(c, instr, shape, axis + 1);
    if (!symbol || !guards_mention(instr, symbol) || extent > MAX_ELEMENTS)
        return (double)extent * touched(c, instr, shape, axis + 1);
    double count = 0;
    for (int64_t i = 0; i < extent; i++) {
        c->env[symbol->id] = i;
        count += touched(c, instr, shape, axis + 1);
    }
    return count;
}

static TileCounts count_access(const Counter *c, const TileInstr *instr) {
    TileCounts counts = {0};
    const TileView *view = &c->program->views.data[instr->view];
    double count = touched(c, instr, tile_shape_of(c->program, instr), 0);
    double bytes = count * dtype_info(view->dtype)->bits / 8;
    if (instr->op == TILE_load &&
        tile_takes_words(tile_value_type(c->program, instr->result)->dtype, view->dtype))
        bytes *= 4;
    bool combines = instr->op == TILE_store && instr->scalar != OP_none;
    if (view->space == SPACE_scratch)
        counts.scratch_bytes = combines ? 2 * bytes : bytes;
    else if (instr->op == TILE_load)
        counts.loaded_bytes = bytes;
    else
        counts.stored_bytes = bytes;
    if (combines && view->space != SPACE_scratch) counts.loaded_bytes = bytes;
    if (combines) counts.operations = counts.simple_flops = count;
    return counts;
}

static TileCounts simple(double operations) {
    return (TileCounts){.operations = operations, .simple_flops = operations};
}

/* A merge sort reads and writes keys and indices once a level. */
static TileCounts count_sort(const Counter *c, const TileInstr *instr) {
    double count = (double)value_of(c, instr->value);
    double levels = count > 1 ? ceil(log2(count)) : 0;
    double bytes = dtype_info(c->program->views.data[instr->views[0]].dtype)->bits / 8.0 + 8;
    return (TileCounts){.scratch_bytes = 2 * count * levels * bytes,
                        .operations = count * levels,
                        .simple_flops = count * levels};
}

/* What an element takes in the time of simple operations: two thirds of what was measured of f32
 * in vectors, for processors that divide faster. */
static double flops_of(Op op) {
    switch (op) {
    case OP_div:
    case OP_floordiv: return 8;
    case OP_sqrt: return 13;
    case OP_exp:
    case OP_exp2:
    case OP_rsqrt: return 20;
    case OP_expm1: return 30;
    case OP_atan: return 35;
    case OP_tanh: return 46;
    case OP_log:
    case OP_log2:
    case OP_log1p: return 56;
    case OP_erf: return 65;
    case OP_erfc: return 90;
    case OP_sin:
    case OP_cos:
    case OP_tan: return 220;
    case OP_pow:
    case OP_rem:
    case OP_mod: return 240;
    default: return 1;
    }
}

static TileCounts count_instr(Counter *c, const TileInstr *instr) {
    TileCounts counts = {0};
    switch (instr->op) {
    case TILE_for: {
        Range range = {.loop = instr, .variable = instr->variable, .step = instr->step};
        range.from = value_of(c, instr->from);
        range.trips = (value_of(c, instr->to) - range.from + instr->step - 1) / instr->step;
        return count_range(c, &range, block_depends(&instr->blocks[0], instr->variable));
    }
    case TILE_if: return count_block(c, &instr->blocks[guards_hold(c, instr) ? 0 : 1]);
    case TILE_load:
    case TILE_store: return count_access(c, instr);
    case TILE_sort: return count_sort(c, instr);
    case TILE_map:
        if (instr->scalar == OP_cast) return counts;
        counts.operations = elements_of(c, instr->result);
        counts.simple_flops = counts.operations * flops_of(instr->scalar);
        return counts;
    case TILE_reduce:
    case TILE_scan: return simple(elements_of(c, instr->args[0]));
    case TILE_dot: return simple(2 * elements_of(c, instr->result));
    case TILE_dot4: return simple(2 * elements_of(c, instr->result)); /* in the time of one */
    case TILE_mma:
        return simple(2 * elements_of(c, instr->result) * (double)value_of(c, instr->value));
    case TILE_random: return simple(elements_of(c, instr->result));
    default: return counts;
    }
}

static TileCounts count_block(Counter *c, const TileBlock *block) {
    TileCounts counts = {0};
    for (size_t i = 0; i < block->instrs.count; i++)
        counts = add(counts, count_instr(c, block->instrs.data[i]));
    return counts;
}

static TileCounts count_grid(Counter *c, uint32_t axis) {
    const TileProgram *program = c->program;
    if (axis == program->work_rank) return count_block(c, &program->body);
    Range range = {.axis = axis, .variable = program->work[axis], .step = 1};
    range.trips = value_of(c, program->work_extents[axis]);
    return count_range(c, &range, block_depends(&program->body, range.variable));
}

TileCounts tile_count(const TileProgram *program, const int64_t *symbols) {
    Scratch scratch;
    Arena *arena = scratch_open(&scratch);
    Counter c = {.program = program, .env = tile_bind_symbols(program, symbols, arena)};
    TileCounts counts = count_grid(&c, 0);
    scratch_close(&scratch);
    return counts;
}
