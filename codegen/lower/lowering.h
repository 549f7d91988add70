/* What the files of the lowering share: the state of one lowering, and who emits what.
 *
 * Everything is emitted at the builder's position, which moves on: an emitter may open blocks, and
 * leaves the builder in a block that its start dominates.
 */
#ifndef TCC_CODEGEN_LOWER_LOWERING_H
#define TCC_CODEGEN_LOWER_LOWERING_H

#include "base/guard.h"
#include "codegen/lower/lower.h"
#include "codegen/lower/math.h"
#include "codegen/lower/memo.h"

typedef struct Lowering Lowering;
typedef LLVMValueRef V;

/* The registers of a tile value, in *value form*: bool lanes are i1, those of 8- and 16-bit floats
 * are their bits, others as in math.h's register form. */
typedef struct Registers {
    V *items;
    V *splats; /* by register: the scalar that all its lanes are known to be, or NULL */
} Registers;

/* The i64 value of a symbol. */
typedef struct BoundSymbol {
    const DimSymbol *symbol;
    V value;
} BoundSymbol;

/* Which lanes of a register take part: those for which all parts hold. */
typedef struct Mask {
    V uniform;      /* i1 of the whole register; NULL: holds */
    V lanes;        /* i1 by lane; NULL: all */
    V first, end;   /* i64, when not NULL: `lanes` is first <= lane < end, within 0..lanes */
    bool scattered; /* `lanes` is no interval */
} Mask;

typedef enum PlaceKind {
    PLACE_same,       /* all lanes are one element */
    PLACE_contiguous, /* lane l is element base + l */
    PLACE_spread, /* lane l is the element base + l·stride, for a constant or uniform stride not 0
                   */
    PLACE_scattered /* anything; two lanes may be one element */
} PlaceKind;

/* Where the lanes of one register lie in a view, in elements from its base. */
typedef struct Place {
    PlaceKind kind;
    uint32_t lanes;
    V base;         /* i64: the element of lane 0; not for scattered ones */
    int64_t offset; /* to be added to it */
    V stride;       /* i64; spread */
    V offsets;      /* i64 by lane: scattered, and on NVPTX always, this thread's */
    uint32_t align; /* bytes that the address of lane 0 is a multiple of */
    uint32_t step;  /* bytes that its distance from the view's base is a multiple of */
    bool even;      /* 4-bit views: the element of lane 0 is known to be even */
} Place;

/* What is accessed there. */
typedef struct Access {
    const TileInstr *instr;
    const TileView *view;
    const TileType *type; /* of the tile that is loaded or stored */
    V base;               /* of the view */
    LLVMTypeRef storage;  /* of one element in memory; i8 for 4-bit dtypes */
    uint32_t alignment;   /* of the view's base, where it is known to be more than the view says */
} Access;

typedef void EmitLane(Lowering *l, const Access *access, const Place *place, const Mask *mask,
                      V value);

/* What a register is: an LLVM vector, or one scalar in each thread of a warp. Lane counts are those
 * of layouts; the model says how many of them one LLVM value holds. */
typedef struct LaneModel {
    /* The length of the LLVM vector of a register; 0: a scalar. */
    uint32_t (*width)(uint32_t lanes);
    /* The lane's number, i32 by lane. */
    V (*lane_index)(Lowering *l, uint32_t lanes);
    /* One lane as a scalar that is the same for all. */
    V (*extract)(Lowering *l, V value, uint32_t lanes, uint32_t lane);
    /* The lower and the upper half of the first `count` lanes, as registers of count/2 lanes. */
    void (*halves)(Lowering *l, V value, uint32_t count, V *out_low, V *out_high);
    /* One register from or to memory, in storage form; what the mask excludes is not touched.
     * Stores are to different elements, but for one lane of a scalar. */
    V (*load)(Lowering *l, const Access *access, const Place *place, const Mask *mask, V pad);
    void (*store)(Lowering *l, const Access *access, const Place *place, const Mask *mask, V value);
    /* Calls `emit` so that the lanes' effects come one after the other, in order: with a scalar of
     * each lane, or with the register under a mask of one lane. */
    void (*each_lane)(Lowering *l, const Access *access, const Place *place, const Mask *mask,
                      V value, EmitLane *emit);
    /* NULL, or: a contiguous register, in storage form, to memory by a store that bypasses the
     * caches; false: there is none for it. */
    bool (*stream)(Lowering *l, const Access *access, const Place *place, V value);
    /* NULL, or: lane-wise columns as rows. Register i of the results, for all `rows`, takes element
     * i of each of its `lanes` vectors of `rows` elements. */
    void (*transpose)(Lowering *l, const V *vectors, uint32_t lanes, uint32_t rows,
                      V *out_registers);
    /* Asks the caches for the memory so many bytes beyond a contiguous register, and the second one
     * for the line with a place; NULL: there is nothing to ask. */
    void (*prefetch)(Lowering *l, const Access *access, const Place *place, int64_t ahead);
    void (*prefetch_line)(Lowering *l, const Access *access, const Place *place);
    /* Before and after a store whose memory other lanes read. */
    void (*order_lanes)(Lowering *l);
    /* Notes the first index error: `bad` by lane, `index` i64 by lane. */
    void (*report)(Lowering *l, V bad, V index, V bound, int64_t site, uint32_t lanes);
    /* Runs one thing on one lane only, between order_lanes. */
    void (*one_lane)(Lowering *l, void (*emit)(Lowering *l, void *user), void *user);
    /* The function around lower_point. */
    void (*kernel)(Lowering *l);
    /* Says that what is emitted now comes from the instruction; NULL: nobody wants to know. */
    void (*note_place)(Lowering *l, const TileInstr *instr);
    /* Products of matrices and the stores of their sums; NULL: the target has none. */
    void (*mma)(Lowering *l, const TileInstr *instr);
    /* Sorts the rows of a sort instruction; NULL: one lane does, by lower_sort. */
    void (*sort)(Lowering *l, const TileInstr *instr);
    bool versions; /* whether code without guards beside the guarded one pays */
    bool threads;  /* lanes are threads: places need `offsets` */
} LaneModel;

extern const LaneModel lane_model_x86, lane_model_nvptx;

struct Lowering {
    const TileProgram *program;
    const LowerOptions *options;
    const LaneModel *model;
    Arena *arena; /* for the time of the lowering */
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMValueRef function;
    LLVMTypeRef i1, i8, i16, i32, i64, ptr, nothing;
    const char *symbol; /* the kernel's name */
    uint32_t math_features;
    bool masks_bytes, gathers;
    /* the kernel's surroundings, set by model->kernel before lower_point */
    V *buffers; /* by argument */
    V scratch, error;
    V lane;           /* NVPTX: the thread's number among those of its point, i32 */
    uint32_t threads; /* NVPTX: of a point: a warp's or a block's */
    V exchange;       /* NVPTX: shared memory for 64 bits of each thread of a block */
    V in_block;       /* NVPTX: the number of this thread's point among the block's, i64 */
    V turning;        /* NVPTX: shared memory in which a warp turns round tiles; NULL: not yet */
    uint32_t
        alignment; /* NVPTX: what the addresses of all buffers are multiples of; 0: not known */
    bool used_alignment;   /* code was emitted that is right for such addresses alone */
    struct Places *places; /* NVPTX: for .loc; NULL: none */
    /* the environment */
    BoundSymbol *bound;                /* by hash: what symbols are; a free place has none */
    uint32_t bound_count, bound_size;  /* a power of 2, at least twice as many */
    V dims;                            /* x86: where the dims lie that are not bound yet */
    const DimSymbol *lane_symbols[11]; /* by log2 of the lane count */
    V *views;                          /* base addresses */
    Registers *values;                 /* by TileId */
    Memo memo;                         /* Dims emitted in the current scope */
    VEC(TileGuard) assumed;            /* guards known to hold in the current scope */
    uint32_t general;       /* how many versions deep in guarded code beside a plain one */
    int64_t version_budget; /* registers that may still be computed twice */
    V spare;                /* x86: a place for accesses that must not happen */
    bool streams;           /* a streaming store was emitted */
};

/* ---- llvm_tools.c: short forms of the builder ---- */
V ll_i64(const Lowering *l, int64_t value);
V ll_i32(const Lowering *l, int64_t value);
V ll_true(const Lowering *l);
V ll_const(LLVMTypeRef type, int64_t value); /* integers; a vector type gives a splat */
V ll_add(Lowering *l, V a, V b);
V ll_sub(Lowering *l, V a, V b);
V ll_mul(Lowering *l, V a, V b);
V ll_compare(Lowering *l, LLVMIntPredicate predicate, V a, V b);
V ll_and(Lowering *l, V a, V b); /* either may be NULL: the other one */
V ll_select(Lowering *l, V condition, V a, V b);
V ll_min(Lowering *l, V a, V b); /* signed */
V ll_max(Lowering *l, V a, V b);
V ll_cast(Lowering *l, V value, LLVMTypeRef lane_type, bool is_signed); /* integers, by width */
V ll_splat(Lowering *l, V scalar, uint32_t width); /* width 0: the scalar itself */
V ll_extract(Lowering *l, V vector, uint32_t lane);
V ll_gep(Lowering *l, LLVMTypeRef element, V base, V index);
LLVMTypeRef ll_lanes(LLVMTypeRef element,
                     uint32_t width); /* the vector type; width 0: the element */
V ll_intrinsic(Lowering *l, const char *name, LLVMTypeRef *overload, uint32_t overload_count,
               V *args, uint32_t arg_count);
V ll_alloca(Lowering *l, LLVMTypeRef type, uint32_t count, uint32_t align); /* in the entry block */
void ll_attribute(Lowering *l, LLVMValueRef function, uint32_t index, const char *name,
                  uint64_t value);
void ll_text_attribute(Lowering *l, LLVMValueRef function, const char *name, const char *value);
LLVMValueRef ll_function(Lowering *l, const char *name, LLVMTypeRef result, LLVMTypeRef *params,
                         uint32_t count, LLVMLinkage linkage);

/* Blocks: ll_block makes one, ll_enter goes there, ll_here says where the builder is. */
LLVMBasicBlockRef ll_block(Lowering *l, const char *name);
LLVMBasicBlockRef ll_here(Lowering *l);
void ll_enter(Lowering *l, LLVMBasicBlockRef block);
void ll_enter_entry(Lowering *l); /* before all that the function does */
V ll_phi(Lowering *l, LLVMTypeRef type);
void ll_incoming(V phi, V value, LLVMBasicBlockRef block);
void ll_jump(Lowering *l, LLVMBasicBlockRef to);
void ll_branch(Lowering *l, V condition, LLVMBasicBlockRef yes, LLVMBasicBlockRef no);

/* ---- dims.c ---- */
/* The i64 scalar. Every symbol of it is bound. */
V dims_emit(Lowering *l, const Dim *dim);
/* By lane of a register of `lanes` lanes whose lane symbol may occur; i32 lanes where `narrow`. */
V dims_emit_lanes(Lowering *l, const Dim *dim, uint32_t lanes, bool narrow);
/* Whether every part of `dim` fits i32, so that it may be emitted narrow. */
bool dims_fits_narrow(const Dim *dim);
const DimSymbol *dims_lane_symbol(Lowering *l, uint32_t lanes);
void dims_bind(Lowering *l, const DimSymbol *symbol, V value);
/* x86_kernel: loads a dim in the entry block, with what is known of its range. */
V x86_load_dim(Lowering *l, const DimSymbol *symbol);
/* `dim` for the elements of register `index` of a tile: its axes become numbers, and the last one
 * the lane symbol plus a number. */
const Dim *dims_of_register(Lowering *l, const TileType *type, uint32_t index, const Dim *dim);

/* ---- guards.c ---- */
/* The guards of an instruction at one register of a tile of `type`. */
Mask guards_mask(Lowering *l, const TileInstr *instr, const TileType *type, uint32_t index);
/* All parts of a mask as one i1 by lane; NULL when it excludes nothing. */
V guards_lanes(Lowering *l, const Mask *mask, uint32_t lanes);
/* Guards without tile axes as one i1; NULL when they are known to hold. */
V guards_uniform(Lowering *l, const TileInstr *instr);

/* ---- versions.c: code without guards beside the guarded one ---- */
typedef struct GuardSet {
    VEC(TileGuard) items;
    VEC(const TileType *) types; /* of the tiles they guard */
} GuardSet;
/* Guards over tile axes within `block` that can be decided before it is entered: not with the
 * variable of a loop inside, and not with `without` unless that is NULL. */
GuardSet versions_collect(Lowering *l, const TileBlock *block, const DimSymbol *without);
/* Guards over tile axes within the body of `loop` whose lower bounds hold and whose values rise
 * with its variable: in all iterations up to some they hold. */
GuardSet versions_collect_rising(Lowering *l, const TileInstr *loop);
/* The i1 that all guards of the set hold for all elements of their tiles, with `variable` (may be
 * NULL) advanced by `ahead` where that makes it harder. */
V versions_condition(Lowering *l, const GuardSet *set, const DimSymbol *variable, int64_t ahead);
/* Whether a guard is assumed in this scope; whether all guards of an access are known to hold. */
bool versions_assumed(const Lowering *l, const TileGuard *guard);
bool versions_hold(Lowering *l, const TileInstr *instr, const TileType *type);
size_t versions_assume(Lowering *l, const GuardSet *set); /* returns what versions_forget takes */
void versions_forget(Lowering *l, size_t mark);
/* Takes the cost of emitting `block` once more from the budget; false when that is spent. */
bool versions_afford(Lowering *l, const TileBlock *block);

/* nvptx/launch.c: how many points the threads of a block run at the same time. */
int64_t lower_points_of_block(const TileProgram *program);

/* Before what an instruction is lowered to. */
static inline void lower_note_place(Lowering *l, const TileInstr *instr) {
    if (l->model->note_place) l->model->note_place(l, instr);
}

/* ---- control.c ---- */
void lower_views(
    Lowering *l); /* lower.c: base addresses, once buffers, scratch and dims are bound */
void lower_point(Lowering *l); /* the body, work variables being bound */
void lower_block(Lowering *l, const TileBlock *block);

/* ---- runs.c: instructions that compute register by register ---- */
typedef void EmitWhole(Lowering *l, const TileInstr *instr);
typedef void EmitRegister(Lowering *l, const TileInstr *instr, uint32_t index);
/* How many of the instructions, from the first on, can be emitted one register at a time, all of
 * them for the first register, then all for the second; 0 when the first one cannot. */
size_t runs_length(Lowering *l, TileInstr *const *instrs, size_t count);
void runs_emit(Lowering *l, TileInstr *const *instrs, size_t count);

/* ---- access.c ---- */
EmitRegister lower_load, lower_store;
/* A tile whose columns lie in memory as rows: whether a load is one, and the whole of it. */
bool access_is_transposed(Lowering *l, const TileInstr *load);
void lower_transposed(Lowering *l, const TileInstr *load);
/* Before and after a store of which other lanes read: what it stores must be ordered. */
bool access_needs_order(Lowering *l, const TileInstr *store);
/* Whether the memory of two views may overlap. */
bool access_may_overlap(const Lowering *l, uint32_t view, uint32_t other);
/* The address of element base + offset; of a 4-bit one, its byte's. */
V access_address(Lowering *l, const Access *access, V base, int64_t offset);
/* Sets the alignment of a load, and marks it where no store of the kernel can change what it reads.
 */
void access_mark_load(Lowering *l, const Access *access, V load, uint32_t align);

/* ---- nibble.c: 4-bit values in memory and as bytes ---- */
bool nibble_is(DType dtype);
/* The value of element `element` in its byte, lane by lane. */
V nibble_take(Lowering *l, DType dtype, V byte, V element);
/* The low or high values of bytes, and bytes of both. */
V nibble_low(Lowering *l, DType dtype, V bytes);
V nibble_high(Lowering *l, DType dtype, V bytes);
V nibble_join(Lowering *l, V low, V high);
/* Replaces one nibble of a byte: `alone` by reading and writing it, while nobody else does so; else
 * by atomic operations, for a byte whose other nibble may be another thread's. */
typedef enum NibbleOwner { NIBBLE_alone, NIBBLE_shared } NibbleOwner;
void nibble_store(Lowering *l, V byte_address, V element, V value, NibbleOwner owner);

/* ---- values.c: forms and registers of tile values ---- */
MathContext values_math(const Lowering *l, uint32_t lanes);
LLVMTypeRef values_type(const Lowering *l, DType dtype, uint32_t lanes); /* of a register */
V values_to_register_form(Lowering *l, DType dtype, V value, uint32_t lanes);
V values_from_register_form(Lowering *l, DType dtype, V value, uint32_t lanes);
V values_to_storage(Lowering *l, DType dtype, V value);
V values_from_storage(Lowering *l, DType dtype, V value);
V values_number(Lowering *l, DType dtype, double number, int64_t integer, uint32_t lanes);
V values_binary(Lowering *l, Op op, DType dtype, V a, V b, uint32_t lanes);
V values_unit(Lowering *l, Op op, DType dtype,
              uint32_t lanes); /* of add, mul, min, max, and, or, xor */
Registers values_new(Lowering *l, const TileType *type);
const Registers *values_of(const Lowering *l, TileId id);
uint32_t values_lanes(const TileType *type);

/* The scalar in all lanes of a register of `id`. */
void values_set_splat(Lowering *l, TileId id, uint32_t index, V scalar);

/* ---- sort.c: what every way to sort needs; keys are in storage form ---- */
V sort_load_key(Lowering *l, DType dtype, V row, V at);
void sort_store_key(Lowering *l, DType dtype, V row, V at, V key);
/* NaN is greatest; -0 equals 0, as it compares. */
V sort_is_less(Lowering *l, DType dtype, V a, V b);

/* ---- control.c, compute.c, check.c, reduce.c, random.c, sort.c ---- */
EmitRegister lower_const, lower_index, lower_test, lower_map, lower_move, lower_check;
EmitWhole lower_for, lower_if, lower_reduce, lower_scan, lower_dot, lower_random, lower_sort;
EmitWhole lower_mma; /* mma and mma_store */
EmitWhole lower_prefetch, lower_dot4;

#endif
