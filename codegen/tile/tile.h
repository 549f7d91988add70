/* Tile programs: what one kernel does, as structured loops over small tiles.
 *
 * One op set in two verified states. A *free* program says what is computed: tiles are whole rows
 * with symbolic extents, and no value has a layout. A *placed* program says how: extents are
 * constants, every value has a layout, loops and scratch are explicit; it is what the lowerings
 * translate one to one.
 *
 * Index arithmetic is not in the op set: subscripts, loop bounds and guards are Dims (ir/dim.h)
 * over the model's dims, the loop variables and the *tile axes* $0, $1, … that count the elements
 * of the tile being made. So  load %x[%r, %c + $0] : tile<f32 [16]>  reads sixteen neighbours, [%r,
 * %c]  one value for all sixteen,  [%c + $0, %r]  a column, and  [(%i + $0) // 8, (%i + $0) % 8]
 * whatever that is.
 *
 * An access outside its guards does not touch memory: loads give the pad value, stores do nothing.
 * Elements are taken in row-major order, so of two stores to one place the later one wins.
 *
 * A reduction along an axis of n elements, n a power of two, folds halves: element i takes in
 * element i + n/2, for all i < n/2, until one is left. Any other n is taken in order from element
 * 0. Over nothing it gives the unit of the op (add 0, mul 1, max -inf or the least value, min the
 * reverse).
 *
 * A layout is how many elements, along the last tile axis, sit in one vector register (x86) or
 * across the threads of a warp (NVPTX): `lanes`. The others are separate registers. lanes 1 keeps
 * every element in a scalar register. Arithmetic is that of the core ops (ir/ops.def) under the
 * numeric contract, in the dtype of the tile; 16- and 8-bit float tiles are storage formats: cast
 * to f32 to compute.
 *
 * A program, its values and Dims live in one arena and one IrContext; build it on one thread.
 */
#ifndef TCC_CODEGEN_TILE_TILE_H
#define TCC_CODEGEN_TILE_TILE_H

#include "base/map.h"
#include "base/vec.h"
#include "ir/context.h"
#include "ir/ops.h"

enum { TILE_MAX_RANK = 3, TILE_MOST_AHEAD = 1 << 20 };

typedef uint32_t TileId; /* an SSA value of a program */
#define TILE_none UINT32_MAX

typedef enum TileState { TILE_free, TILE_placed } TileState;

typedef enum TileSpace {
    SPACE_global,   /* a tensor argument */
    SPACE_constant, /* a read-only argument that never changes between calls (weights) */
    SPACE_scratch   /* private to the executing thread (x86) or warp (NVPTX), undefined at start */
} TileSpace;

typedef struct TileView {
    Str name;
    TileSpace space;
    DType dtype;
    uint32_t rank;
    const Dim *dims[TYPE_MAX_RANK]; /* dense, row-major */
    uint32_t argument;              /* index into the kernel's buffers; unused for scratch */
    uint32_t alignment;             /* bytes that the base address is a multiple of */
    bool written;                   /* an output: the kernel stores to it */
} TileView;

typedef enum TileOp {
    /* structure */
    TILE_for,   /* a counted loop with carried values */
    TILE_if,    /* one of two blocks, by guards that are uniform over the tile */
    TILE_yield, /* ends a block, with the values it hands on */
    /* memory */
    TILE_load,
    TILE_store,
    TILE_prefetch, /* asks for the line with an element, which need not be in the view */
    /* compute */
    TILE_const, /* every element the same number */
    TILE_index, /* a Dim over $axes as an i64 tile */
    TILE_test,  /* guards over $axes as a bool tile */
    TILE_map,   /* a core elementwise op (unary, binary, compare, select, cast) */
    /* Broadcast along new axes: result axis axes[i] (increasing) is operand axis i, others repeat.
     * An operand whose last axis is not the result's last is of lanes 1 when placed. */
    TILE_move,
    /* Drops one tile axis by add, mul, min, max, and, or, xor. Along the last axis the result has
     * lanes 1, else the operand's. */
    TILE_reduce,
    TILE_scan, /* running reduction along a tile axis, in order (free state, or lanes 1) */
    /* acc[i, j] + a[i] · b[j] of one dtype, one fused multiply-add an element (integers wrap);
     * placed: a has lanes 1, b those of acc. With a and b of acc's shape and layout: element by
     * element, in any rank. */
    TILE_dot,
    /* The same of words of four bytes: acc[i, j] + a[i]₀·b[j]₀ + … + a[i]₃·b[j]₃, all of i32, the
     * bytes of a unsigned, those of b signed, the lowest first; wraps. */
    TILE_dot4,
    /* acc + a·bᵀ for scratch views a [M, ≥K] and b [N, ≥K] of f16, bf16, i8 or u8, over their
     * first K columns: acc is a tile [n, lanes] of f32 or i32, n · lanes = M · N, with the sums in
     * an order of the target's own. Only a splat, elementwise ops with other such tiles of the same
     * M and N, and mma_store know what they are. Products are exact, their sum in any order. NVPTX.
     */
    TILE_mma,
    TILE_mma_store, /* the sums of such a tile to a scratch view [M, N] */
    /* Sorts the first `count` keys of a scratch row, and moves the i64 indices beside them (which
     * the program has stored before, rising) the same way: stable, NaN greatest, -0 equals 0. The
     * spare rows are undefined after; they are the rows themselves where all lanes of NVPTX sort
     * in place, which those of 4-bit keys cannot. */
    TILE_sort,
    /* Philox4x32-10 of a u64 scalar key: the u32 word (n mod 4) of the block with counter (n div 4,
     * stream), n the element of an i64 or u64 counter tile. */
    TILE_random,
    /* An i64 index tile made safe for a dimension of `bound`: a negative index has bound added;
     * what is then out of range is reported and clamped to [0, bound - 1]. Elements outside the
     * guards give 0 and are not reported. A bound of 0 gives 0 and reports every index: accesses
     * through it need the guard 0 <= 0 < bound unless bound is known to be positive. */
    TILE_check,
    TILE_op_count
} TileOp;

/* A tile's type: dtype, extents (constants in placed programs) and layout. */
typedef struct TileType {
    DType dtype;
    uint32_t rank; /* 0: a scalar */
    const Dim *extents[TILE_MAX_RANK];
    uint32_t lanes; /* 0 in free programs; else 1 or a power of two that divides the last extent */
} TileType;

/* lo <= value < hi, for every element that takes part. */
typedef struct TileGuard {
    const Dim *value, *lo, *hi;
} TileGuard;

typedef struct TileInstr TileInstr;
typedef struct TileBlock {
    VEC(TileInstr *) instrs; /* the last of a loop's or if's block is a yield */
    struct TileBlock *outer; /* the block that the loop or if stands in; NULL for the body */
} TileBlock;

struct TileInstr {
    TileOp op;
    const struct Origin *origin; /* where in the model it comes from; may be NULL */
    Op scalar;                   /* map, reduce, scan, store (combine: OP_none replaces) */
    uint32_t result_count;
    TileId result; /* the first of result_count consecutive ids */
    uint32_t arg_count;
    const TileId *args;
    /* load, store: the view; subscripts, one a view axis. Where at[i] is not TILE_none, the i64
     * tile's element is added to subscript i; it has the shape of the tile, or rank 0: one for all
     * elements. It comes from a check (through moves at most) whose bound, added to the subscript,
     * stays in the view. */
    uint32_t view;
    const Dim *const *subscripts;
    const TileId *at;     /* NULL when there is none */
    uint32_t guard_count; /* load, store, test, check, if: all must hold */
    const TileGuard *guards;
    TileBlock *blocks; /* for: body; if: then, else */
    uint32_t block_count;
    /* for: variable in from..to (exclusive) by step; carried values: args are the initial ones,
     * `carried` their ids in the body, results the final ones */
    const DimSymbol *variable;
    const Dim *from, *to;
    int64_t step;
    uint32_t unroll; /* for: how many iterations to lay out in a row; 0 or 1: none */
    TileId carried;
    const Dim *value; /* index: the expression; check: the bound; sort: the count; mma: K */
    double number;    /* const of float dtypes; load: the pad value */
    int64_t integer; /* const and pad of integer and bool dtypes; random: stream; check: the site */
    uint32_t axis;   /* reduce, scan */
    uint32_t axes[TILE_MAX_RANK]; /* move */
    /* sort: keys, indices, scratch keys, scratch indices; mma: a, b; mma_store: the view */
    uint32_t views[4];
    bool descending, exclusive, reverse; /* sort, scan */
    bool ignores_nan;                    /* reduce max: NaN and the sign of a zero do not matter */
    bool nonpositive; /* map exp: the operand is at most 0, up to rounding, or NaN */
    bool streaming;   /* store: bypass the caches where that is possible */
    int64_t ahead;    /* load: how many bytes beyond it the caches are asked for as well, at most
                    * TILE_MOST_AHEAD; 0: none */
};

/* A tile axis in use: the symbol $axis of tiles with this extent. */
typedef struct TileAxis {
    uint32_t axis;
    const Dim *extent;
    const DimSymbol *symbol;
} TileAxis;

typedef struct TileProgram {
    IrContext *ctx;
    Arena *arena;
    Str name;
    TileState state;
    VEC(TileView) views;
    VEC(TileType) values;
    /* The grid: the body runs once for each point, in any order and concurrently. Points are
     * numbered row-major, the last variable fastest. */
    uint32_t work_rank;
    const DimSymbol *work[TYPE_MAX_RANK];
    const Dim *work_extents[TYPE_MAX_RANK];
    TileBlock body;
    uint32_t site_count; /* checks are numbered from 0, in the order of the text */
    VEC(TileAxis) axes;
    Map names; /* of views and variables; unique, so that the text can be read back */
} TileProgram;

/* ---- building -------------------------------------------------------------------------------- */

/* Where instructions go. Make one by tile_builder and nest with tile_begin_…/tile_end_…. */
typedef struct TileBuilder {
    TileProgram *program;
    TileBlock *block;            /* the current one */
    const struct Origin *origin; /* of what is built; may be NULL */
} TileBuilder;

TileProgram *tile_program_new(IrContext *ctx, Arena *arena, Str name, TileState state);
/* Copies it. A name that is taken gets a number behind it; an alignment of 0 becomes the element's.
 */
uint32_t tile_add_view(TileProgram *program, const TileView *view);
/* Adds a grid axis of `extent` points and returns its variable (range 0..extent-1, limit extent).
 * Names are given without the % that the text shows; one that is taken gets a number behind it. */
const DimSymbol *tile_add_work(TileProgram *program, const char *name, const Dim *extent);
TileBuilder tile_builder(TileProgram *program);

/* Building checks nothing but what would crash it; tile_verify (tile_tools.h) says what is wrong.
 */

/* The symbol $axis of tiles whose extent along it is `extent`: range and limit follow from it.
 * Equal arguments give the same symbol within one context. */
const DimSymbol *tile_axis_symbol(TileProgram *program, uint32_t axis, const Dim *extent);

TileType tile_type(DType dtype, uint32_t rank, const Dim *const *extents, uint32_t lanes);
const TileType *tile_value_type(const TileProgram *program, TileId value);
/* Registers that hold a value of a placed type: elements / lanes. */
uint32_t tile_register_count(const TileType *type);

/* A tile of i32 takes words from a view of 8-bit integers: four neighbours along its last axis, of
 * which the subscripts name the first, whose number is a multiple of 4. */
static inline bool tile_takes_words(DType tile, DType view) {
    return tile == DT_i32 && (view == DT_i8 || view == DT_u8);
}

/* The pad of an integer dtype is `pad` truncated and saturated to 64 bits; what a double cannot say
 * is set in the instruction, which is the last of the current block. */
TileId tile_load(TileBuilder *b, TileType type, uint32_t view, const Dim *const *subscripts,
                 const TileId *at, const TileGuard *guards, uint32_t guard_count, double pad);
TileInstr *tile_store(TileBuilder *b, TileId value, uint32_t view, const Dim *const *subscripts,
                      const TileId *at, const TileGuard *guards, uint32_t guard_count, Op combine);
/* Asks the second cache for the memory of a view's element. The subscripts have no tile axes and
 * may be anything: it never faults and changes nothing else. */
void tile_prefetch(TileBuilder *b, uint32_t view, const Dim *const *subscripts);
TileId tile_const(TileBuilder *b, TileType type, double number);
TileId tile_const_int(TileBuilder *b, TileType type, int64_t integer);
TileId tile_index(TileBuilder *b, TileType type, const Dim *value);
TileId tile_test(TileBuilder *b, TileType type, const TileGuard *guards, uint32_t guard_count);
/* `op` applied to operands of one shape; the result dtype follows from the op (compare: bool). */
TileId tile_map(TileBuilder *b, Op op, const TileId *args, uint32_t arg_count);
TileId tile_cast(TileBuilder *b, TileId value, DType to);
TileId tile_move(TileBuilder *b, TileType type, TileId value, const uint32_t *axes);
TileId tile_reduce(TileBuilder *b, Op op, TileId value, uint32_t axis);
TileId tile_scan(TileBuilder *b, Op op, TileId value, uint32_t axis, bool exclusive, bool reverse);
TileId tile_dot(TileBuilder *b, TileId acc, TileId a, TileId c);
TileId tile_dot4(TileBuilder *b, TileId acc, TileId a, TileId c);
TileId tile_mma(TileBuilder *b, TileId acc, uint32_t a_view, uint32_t b_view, const Dim *k);
void tile_mma_store(TileBuilder *b, TileId acc, uint32_t view);
void tile_sort(TileBuilder *b, uint32_t keys, uint32_t indices, uint32_t spare_keys,
               uint32_t spare_indices, const Dim *count, bool descending);
TileId tile_random(TileBuilder *b, TileId key, TileId counter, int64_t stream);
TileId tile_check(TileBuilder *b, TileId index, const Dim *bound, const TileGuard *guards,
                  uint32_t guard_count);

/* Loops: begin gives the loop; its variable and the carried ids are read from it; end takes what
 * the body yields and returns the first result (TILE_none without carried values). */
TileInstr *tile_begin_for(TileBuilder *b, const char *name, const Dim *from, const Dim *to,
                          int64_t step, const TileId *initial, uint32_t count);
TileId tile_end_for(TileBuilder *b, TileInstr *loop, const TileId *yields);
/* Branches: begin_if opens the then block; tile_else closes it with its yields and opens the other;
 * end_if closes that. Both yield as many values, of equal types. */
TileInstr *tile_begin_if(TileBuilder *b, const TileGuard *guards, uint32_t guard_count);
void tile_else(TileBuilder *b, TileInstr *branch, const TileId *yields, uint32_t count);
TileId tile_end_if(TileBuilder *b, TileInstr *branch, const TileId *yields, uint32_t count);

#endif
