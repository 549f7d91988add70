/* Products of matrices in shared memory by mma.sync.
 *
 * The warps of a block stand in a grid of two rows over the M × N sums, each with a part of its
 * own, made of pieces of 16 rows and 8 columns. Of a piece lane t has the sums (t/4, 2·(t mod 4)),
 * the next one, and the same 8 rows further down. Both operands have K along their rows, so the
 * parts of a row that an instruction takes, 32 bytes of it, are the same for f16 and for i8:
 * ldmatrix hands out 16 bytes of 8 rows a matrix.
 *
 *     registers of a: bytes 0..15 of rows 0..7, of rows 8..15, bytes 16..31 of both
 *     registers of b: bytes 0..15 and 16..31 of rows 0..7
 */
#include "codegen/nvptx/nvptx.h"

enum { ROWS = 16, COLUMNS = 8, STEP_BYTES = 32, PIECE_SUMS = 4, WARP_ROWS = 2 };

typedef struct Kind {
    DType dtype;
    const char *name;
    bool halves; /* operands are <2 x half> */
} Kind;

static const Kind kinds[] = {
    {DT_f16, "llvm.nvvm.mma.m16n8k16.row.col.f32.f32", true},
    {DT_bf16, "llvm.nvvm.mma.m16n8k16.row.col.bf16", false},
    {DT_i8, "llvm.nvvm.mma.m16n8k32.row.col.s8", false},
    {DT_u8, "llvm.nvvm.mma.m16n8k32.row.col.u8", false},
};

/* How the sums are dealt out. */
typedef struct Deal {
    uint32_t pieces_m, pieces_n; /* of a warp */
    V row, column;               /* i32: where the warp's part begins */
} Deal;

static int64_t dim_number(const Dim *dim) {
    int64_t number = 0;
    require(dim_is_const(dim, &number));
    return number;
}

static Deal deal_out(Lowering *l, int64_t m, int64_t n) {
    uint32_t warps = l->threads / WARP_LANES, warp_columns = warps / WARP_ROWS;
    require(warps >= WARP_ROWS && m % (ROWS * WARP_ROWS) == 0);
    require(n % (2 * COLUMNS * (int64_t)warp_columns) == 0);
    Deal deal = {.pieces_m = (uint32_t)(m / (ROWS * WARP_ROWS)),
                 .pieces_n = (uint32_t)(n / (COLUMNS * (int64_t)warp_columns))};
    V warp = LLVMBuildLShr(l->builder, l->lane, ll_i32(l, 5), "");
    V across = ll_and(l, warp, ll_i32(l, (int64_t)warp_columns - 1));
    V down = LLVMBuildUDiv(l->builder, warp, ll_i32(l, warp_columns), "");
    deal.row = ll_mul(l, down, ll_i32(l, ROWS * deal.pieces_m));
    deal.column = ll_mul(l, across, ll_i32(l, COLUMNS * deal.pieces_n));
    return deal;
}

static V lane_in_warp(Lowering *l) { return ll_and(l, l->lane, ll_i32(l, WARP_LANES - 1)); }

static V bits(Lowering *l, V value, int64_t shift, int64_t mask) {
    return ll_and(l, LLVMBuildLShr(l->builder, value, ll_i32(l, shift), ""), ll_i32(l, mask));
}

/* ---- operands -------------------------------------------------------------------------------- */

/* Four registers: of 8 rows each, `first`.. and 8 further down or at the bytes behind. */
static V load_matrices(Lowering *l, uint32_t view_index, V row, V byte) {
    const TileView *view = &l->program->views.data[view_index];
    int64_t pitch = dim_number(view->dims[1]) * (dtype_info(view->dtype)->bits / 8);
    require(pitch % 16 == 0);
    V offset = ll_add(l, ll_mul(l, row, ll_i32(l, pitch)), byte);
    V generic = ll_gep(l, l->i8, l->views[view_index], ll_cast(l, offset, l->i64, false));
    LLVMTypeRef shared = LLVMPointerTypeInContext(l->context, 3);
    V address = LLVMBuildAddrSpaceCast(l->builder, generic, shared, "");
    return ll_intrinsic(l, "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16", &shared, 1, &address, 1);
}

/* Lanes 0 to 7 name the rows of the first matrix, 8 to 15 those of the second, and so on: 8 rows
 * down in every other one, 16 bytes on in the last two. */
static V load_a(Lowering *l, const TileInstr *instr, V row, int64_t byte) {
    V lane = lane_in_warp(l);
    V at = ll_add(l, row, bits(l, lane, 0, 15));
    V behind = ll_add(l, ll_mul(l, bits(l, lane, 4, 1), ll_i32(l, 16)), ll_i32(l, byte));
    return load_matrices(l, instr->views[0], at, behind);
}

/* Two pieces side by side: 16 bytes on in every other matrix, 8 rows down in the last two. */
static V load_b(Lowering *l, const TileInstr *instr, V row, int64_t byte) {
    V lane = lane_in_warp(l);
    V down = ll_add(l, bits(l, lane, 0, 7), ll_mul(l, bits(l, lane, 4, 1), ll_i32(l, 8)));
    V behind = ll_add(l, ll_mul(l, bits(l, lane, 3, 1), ll_i32(l, 16)), ll_i32(l, byte));
    return load_matrices(l, instr->views[1], ll_add(l, row, down), behind);
}

/* ---- a step of 32 bytes ---------------------------------------------------------------------- */

static V part(Lowering *l, V pack, uint32_t index) {
    return LLVMBuildExtractValue(l->builder, pack, index, "");
}

static V operand(Lowering *l, const Kind *kind, V pack, uint32_t index) {
    V word = part(l, pack, index);
    LLVMTypeRef halves = LLVMVectorType(LLVMHalfTypeInContext(l->context), 2);
    return kind->halves ? LLVMBuildBitCast(l->builder, word, halves, "") : word;
}

static void multiply(Lowering *l, const Kind *kind, V a, V b, uint32_t which, V *sums) {
    V args[10];
    for (uint32_t i = 0; i < 4; i++) args[i] = operand(l, kind, a, i);
    for (uint32_t i = 0; i < 2; i++) args[4 + i] = operand(l, kind, b, 2 * which + i);
    for (uint32_t i = 0; i < PIECE_SUMS; i++) args[6 + i] = sums[i];
    V result = ll_intrinsic(l, kind->name, NULL, 0, args, 10);
    for (uint32_t i = 0; i < PIECE_SUMS; i++) sums[i] = part(l, result, i);
}

static void add_step(Lowering *l, const TileInstr *instr, const Kind *kind, const Deal *deal,
                     int64_t byte, V *sums) {
    V *b = NEW_ARRAY(l->arena, V, deal->pieces_n / 2);
    for (uint32_t j = 0; j < deal->pieces_n / 2; j++)
        b[j] = load_b(l, instr, ll_add(l, deal->column, ll_i32(l, 2 * COLUMNS * j)), byte);
    for (uint32_t i = 0; i < deal->pieces_m; i++) {
        V a = load_a(l, instr, ll_add(l, deal->row, ll_i32(l, ROWS * i)), byte);
        for (uint32_t j = 0; j < deal->pieces_n; j++)
            multiply(l, kind, a, b[j / 2], j % 2, sums + (i * deal->pieces_n + j) * PIECE_SUMS);
    }
}

static void add_product(Lowering *l, const TileInstr *instr) {
    const TileView *a = &l->program->views.data[instr->views[0]];
    const TileView *b = &l->program->views.data[instr->views[1]];
    const Kind *kind = kinds;
    while (kind->dtype != a->dtype) kind++;
    Deal deal = deal_out(l, dim_number(a->dims[0]), dim_number(b->dims[0]));
    int64_t bytes = dim_number(instr->value) * (dtype_info(a->dtype)->bits / 8);
    require(bytes % STEP_BYTES == 0);
    const TileType *type = tile_value_type(l->program, instr->result);
    Registers registers = values_new(l, type);
    const Registers *before = values_of(l, instr->args[0]);
    for (uint32_t i = 0; i < tile_register_count(type); i++) registers.items[i] = before->items[i];
    for (int64_t byte = 0; byte < bytes; byte += STEP_BYTES)
        add_step(l, instr, kind, &deal, byte, registers.items);
    l->values[instr->result] = registers;
}

/* ---- the sums -------------------------------------------------------------------------------- */

static void store_sums(Lowering *l, const TileInstr *instr) {
    const TileView *view = &l->program->views.data[instr->views[0]];
    int64_t columns = dim_number(view->dims[1]);
    Deal deal = deal_out(l, dim_number(view->dims[0]), columns);
    const V *sums = values_of(l, instr->args[0])->items;
    V lane = lane_in_warp(l);
    V row = ll_add(l, deal.row, bits(l, lane, 2, 7));
    V column = ll_add(l, deal.column, ll_mul(l, bits(l, lane, 0, 3), ll_i32(l, 2)));
    V first = ll_add(l, ll_mul(l, row, ll_i32(l, columns)), column);
    nvptx_order_lanes(l);
    for (uint32_t n = 0; n < deal.pieces_m * deal.pieces_n * PIECE_SUMS; n++) {
        uint32_t piece = n / PIECE_SUMS, sum = n % PIECE_SUMS;
        int64_t down = piece / deal.pieces_n * ROWS + sum / 2 * 8;
        int64_t across = piece % deal.pieces_n * COLUMNS + sum % 2;
        V at = ll_add(l, first, ll_i32(l, down * columns + across));
        V address = ll_gep(l, LLVMTypeOf(sums[n]), l->views[instr->views[0]],
                           ll_cast(l, at, l->i64, false));
        LLVMBuildStore(l->builder, sums[n], address);
    }
    nvptx_order_lanes(l);
}

void nvptx_mma(Lowering *l, const TileInstr *instr) {
    if (instr->op == TILE_mma)
        add_product(l, instr);
    else
        store_sums(l, instr);
}
