/* The emitter: writes the value of any node of a region, at any index, as tile instructions.
 *
 * An index is one Dim per axis of the node, over grid and loop variables and the tile axes.
 * Movement ops cost nothing: they rewrite the index (reshape by division, pad by a guard, concat by
 * a choice) and go on with their operand, so that a load is reached whose subscripts are the
 * composed access map. Elementwise ops emit their operands at the same index. Ops that accumulate
 * (reduce, contract, …) are computed by the skeleton first and *provided* to the emitter.
 *
 * Values are in compute form (dtype_compute of the node's dtype); a 16-bit or 8-bit float is
 * rounded where the numeric contract pins it: user casts, operands of discontinuous ops, values
 * that are also stored.
 */
#ifndef TCC_CODEGEN_SKELETON_EMIT_H
#define TCC_CODEGEN_SKELETON_EMIT_H

#include "codegen/tile/prove.h"
#include "codegen/tile/tile.h"
#include "ir/graph.h"

/* The shape of the tiles being made: all values have it until it is changed. */
typedef struct TileShape {
    uint32_t rank;
    const Dim *extents[TILE_MAX_RANK];
    uint32_t lanes;
} TileShape;

/* A node whose value the skeleton has computed. It holds for indices whose i-th component is
 * exactly index[i]; a NULL component is free, and the free ones, linearised by the node's dims,
 * subscript `view`. */
typedef struct Provision {
    NodeId node;
    const Dim *index[TYPE_MAX_RANK];
    TileId value; /* of the current or of a smaller rank (broadcast from the right), or TILE_none */
    uint32_t view;  /* when value is TILE_none: scratch that holds the node's row */
    const Dim *row; /* which of the rows that `view` holds it is; NULL: it holds one */
    bool leading;   /* a value of a smaller rank has the first axes, not the last */
} Provision;

typedef struct MemoEntry {
    NodeId node;
    const Dim *index[TYPE_MAX_RANK];
    uint64_t context; /* hash of shape and guards */
    TileId value;
} MemoEntry;

/* A gathered index: a symbol in index expressions that stands for a tile of values. */
typedef struct DynamicIndex {
    const DimSymbol *symbol;
    TileId value;
} DynamicIndex;

typedef struct ValueEmitter {
    IrContext *ctx;
    Arena *arena;
    const Graph *region;
    TileProgram *program;
    TileBuilder b;
    TileShape shape;
    uint32_t output_view; /* view of output 0; inputs are views 0…, outputs follow */
    bool *rounded;        /* by node: its value is pinned to its dtype */
    VEC(TileGuard) guards;
    Prover prover; /* with what loops and branches around the current block say */
    VEC(Provision) provisions;
    VEC(MemoEntry) memo;
    VEC(DynamicIndex) dynamics;
    uint32_t slow_accesses; /* loads and stores that are not one vector access a register */
    /* Above 1: tiles are [neighbours, lanes], and an access is fast where element ($0, $1) is the
     * ($1 · neighbours + $0)-th. */
    int64_t neighbours;
    bool branches; /* what all elements of a tile share may be chosen by branches */
    int64_t ahead; /* what loads of large inputs ask the caches for, in bytes beyond them */
    /* NULL, or: no value is computed, but the memory of the first input on the way to it is asked
     * for, so many elements beyond the one at the index; values are TILE_none. */
    const Dim *ask;
    bool words; /* values are words of four bytes, from inputs of 8 bits by movement alone */
    const DimSymbol *near_symbol; /* a loop variable whose steps should be neighbours in memory */
    uint32_t near_accesses;       /* slow ones for which they are */
    const char *error; /* the first reason why the region cannot be emitted so; NULL so far */
} ValueEmitter;

/* Starts a program for `region`: declares its inputs as views 0…, its outputs after them. */
void emit_init(ValueEmitter *e, IrContext *ctx, Arena *arena, const Graph *region, TileState state,
               Str name, bool round_everywhere);

/* Records why the region cannot be emitted; the first reason is kept. Returns TILE_none. */
TileId emit_fail(ValueEmitter *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The $axis of the current shape as a Dim. */
const Dim *emit_axis(ValueEmitter *e, uint32_t axis);
TileType emit_type(const ValueEmitter *e, DType dtype);
void emit_set_shape(ValueEmitter *e, TileShape shape);

/* The value of `node` at `index`, in the current shape; TILE_none once e->error is set. */
TileId emit_value(ValueEmitter *e, NodeId node, const Dim *const *index);

/* What a sum, a contraction or a convolution accumulates in: f64 when its operands are, whatever it
 * gives. */
DType emit_sum_dtype(const ValueEmitter *e, NodeId node);

/* `value`, computed by a skeleton for `node`, in compute form of its dtype, rounded to it where
 * that is pinned. */
TileId emit_pin(ValueEmitter *e, NodeId node, TileId value);

/* Stores output number `output` at `index` under the current guards. */
void emit_store(ValueEmitter *e, uint32_t output, TileId value, const Dim *const *index,
                bool streaming);

/* A constant of the current shape. */
TileId emit_number(ValueEmitter *e, DType dtype, double number);
/* The neutral element of add, mul, max or min in compute form of dtype. */
TileId emit_identity(ValueEmitter *e, DType dtype, Op op);

/* The instruction emitted last. */
static inline TileInstr *emit_last(const ValueEmitter *e) {
    return e->b.block->instrs.data[e->b.block->instrs.count - 1];
}

/* Guards hold for all that is emitted until they are popped; one that is proved is not pushed. */
void emit_push_guard(ValueEmitter *e, const Dim *value, const Dim *lo, const Dim *hi);
size_t emit_guard_mark(const ValueEmitter *e);
void emit_pop_guards(ValueEmitter *e, size_t mark);
/* Whether the current guards hold, as a bool tile; TILE_none when there are none since `mark`. */
TileId emit_test(ValueEmitter *e, size_t mark);

/* Values remembered since a mark are forgotten when the block they were emitted in ends. */
size_t emit_scope(const ValueEmitter *e);
void emit_end_scope(ValueEmitter *e, size_t mark);

/* Provisions are dropped with emit_unprovide(mark) likewise. */
void emit_provide(ValueEmitter *e, const Provision *provision);

/* Loops of a skeleton: tile_begin_for and tile_end_for with the scope of remembered values. */
typedef struct EmitLoop {
    TileInstr *loop;
    size_t scope, facts;
    const Dim *variable;
} EmitLoop;
EmitLoop emit_begin_for(ValueEmitter *e, const char *name, const Dim *from, const Dim *to,
                        const TileId *initial, uint32_t count);
TileId emit_end_for(ValueEmitter *e, EmitLoop loop, const TileId *yields);

/* How many iterations of a loop, whose body is complete, to lay out where `wanted` is right for a
 * few simple instructions. A polynomial has work enough in one vector for all units of a core, and
 * constants enough to fill its registers: copies of it side by side only spill. */
uint32_t emit_unroll(const EmitLoop *loop, int64_t wanted);

/* Branches likewise. The guards are known to hold in the first block. */
typedef struct EmitBranch {
    TileInstr *branch;
    size_t scope, facts;
} EmitBranch;
EmitBranch emit_begin_if(ValueEmitter *e, const TileGuard *guards, uint32_t guard_count);
void emit_else(ValueEmitter *e, EmitBranch branch, const TileId *yields, uint32_t count);
TileId emit_end_if(ValueEmitter *e, EmitBranch branch, const TileId *yields, uint32_t count);

/* Index arithmetic: row-major position of `index` in `dims`, and back. Where a dim may be 0, the
 * way back divides by at least 1 and pushes the guard that the index is inside, which holds for
 * every element that there is; callers pop it with theirs. */
const Dim *emit_linear(IrContext *ctx, uint32_t rank, const Dim *const *dims,
                       const Dim *const *index);
void emit_delinear(ValueEmitter *e, uint32_t rank, const Dim *const *dims, const Dim *position,
                   const Dim **out_index);

#endif
