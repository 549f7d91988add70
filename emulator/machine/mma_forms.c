/* mma, mma.sp and wmma.mma as instructions. The slots of a record are one list: the registers of d,
 * a, b and c, then the metadata; what the instruction says is an Mma beside them. */
#include "emulator/machine/convert.h"
#include "emulator/machine/lanes.h"
#include "emulator/machine/matrix.h"

#include <string.h>

uint32_t matrix_sources(Decoder *decoder, const PtxOperand *operand, PtxType type, uint32_t *list) {
    Width width = decoder_width(type);
    if (operand->kind != PTX_OPERAND_vector) {
        list[0] = decoder_source(decoder, operand, width);
        return 1;
    }
    for (uint32_t i = 0; i < operand->part_count && i < MMA_REGISTERS; i++)
        list[i] = decoder_source(decoder, &operand->parts[i], width);
    return operand->part_count;
}

uint32_t matrix_targets(Decoder *decoder, const PtxOperand *operand, PtxType type, uint32_t *list) {
    Width width = decoder_width(type);
    PtxType word = width == WIDTH_long ? PTX_TYPE_b64 : PTX_TYPE_b32;
    if (operand->kind != PTX_OPERAND_vector) {
        list[0] = decoder_target(decoder, operand, width, word);
        return 1;
    }
    for (uint32_t i = 0; i < operand->part_count && i < MMA_REGISTERS; i++)
        list[i] = decoder_target(decoder, &operand->parts[i], width, word);
    return operand->part_count;
}

int matrix_k(const PtxInstruction *instruction) {
    return instruction->shape[2] ? instruction->shape[2] : 256;
}

void *matrix_facts(Decoder *decoder, size_t size) {
    return decoder_list(decoder, (uint32_t)(size + 3) / 4);
}

bool matrix_gather(Warp *warp, const Record *record, uint32_t *lanes, Step *out_step) {
    return warp_gather(warp, record, lanes, WAIT_lanes, ~0u, out_step);
}

void matrix_meet(Warp *warp, const Record *record) {
    Observer *deep = warp->worker->deep;
    if (!deep) return;
    ObserveSite site = warp_site(warp, record, ~0u);
    deep->warp_sync(warp->cta->observer, &site);
}

/* ---- running --------------------------------------------------------------------------------- */

enum {
    LIST_D = 0,
    LIST_A = MMA_REGISTERS,
    LIST_B = 2 * MMA_REGISTERS,
    LIST_C = 3 * MMA_REGISTERS,
    LIST_METADATA = 4 * MMA_REGISTERS,
    LIST_COUNT
};

static void find_registers(const Warp *warp, const Record *record, const Mma *mma,
                           MmaRegisters *out) {
    const uint32_t *list = record->list;
    for (int i = 0; i < mma_registers(&mma->layout_d); i++)
        out->d[i] = warp_slot(warp, list[LIST_D + i]);
    for (int i = 0; i < mma_registers(&mma->layout_a); i++)
        out->a[i] = warp_slot(warp, list[LIST_A + i]);
    for (int i = 0; i < mma_registers(&mma->layout_b); i++)
        out->b[i] = warp_slot(warp, list[LIST_B + i]);
    for (int i = 0; i < mma_registers(&mma->layout_c); i++)
        out->c[i] = warp_slot(warp, list[LIST_C + i]);
    if (mma->sparse) out->metadata = warp_slot(warp, list[LIST_METADATA]);
}

static uint64_t flops_of(const Mma *mma) {
    bool floats = ptx_type_class((PtxType)mma->d) == PTX_CLASS_float;
    uint64_t products = (uint64_t)mma->m * mma->n * mma->k;
    return floats ? 2 * products / (mma->sparse ? 2 : 1) : 0;
}

PLAIN_HANDLER(multiply) {
    Step step;
    MmaRegisters registers;
    if (!matrix_gather(warp, record, &lanes, &step)) return step;
    Mma mma;
    memcpy(&mma, (const void *)(uintptr_t)record->immediate, sizeof mma);
    mma.sum.exact = warp->cta->launch->options.exact_tensor;
    find_registers(warp, record, &mma, &registers);
    warp->worker->counters.tensor_flops += flops_of(&mma);
    uint32_t bad = mma_run(&mma, &registers);
    if (bad == ~0u) return STEP_next;
    return warp_fault(warp, record, EMU_FINDING_sparse_metadata, 1u << bad, 0, 0, NULL);
}

/* ---- decoding -------------------------------------------------------------------------------- */

/* The types of d, a, b and c; wmma of f16 names d and c alone. */
static void take_types(const PtxInstruction *instruction, Mma *mma) {
    const uint8_t *types = instruction->types;
    bool two = instruction->type_count == 2;
    mma->d = types[0];
    mma->a = two ? (uint8_t)PTX_TYPE_f16 : types[1];
    mma->b = two ? (uint8_t)PTX_TYPE_f16 : types[2];
    mma->c = two ? types[1] : types[3];
}

static uint8_t rounding_of(const PtxModifiers *has) {
    return ptx_has(has, PTX_MOD_rz)   ? EMU_ROUND_zero
           : ptx_has(has, PTX_MOD_rm) ? EMU_ROUND_down
           : ptx_has(has, PTX_MOD_rp) ? EMU_ROUND_up
                                      : EMU_ROUND_nearest_even;
}

static void take_modifiers(const PtxInstruction *instruction, Mma *mma) {
    const PtxModifiers *has = &instruction->modifiers;
    mma->m = instruction->shape[0];
    mma->n = instruction->shape[1];
    mma->k = (uint16_t)matrix_k(instruction);
    mma->saturate = ptx_has(has, PTX_MOD_satfinite);
    mma->bit_xor = ptx_has(has, PTX_MOD_xor);
    mma->column_a = ptx_has(has, PTX_MOD_col);
    mma->row_b = ptx_has(has, PTX_MOD_row2);
    mma->rounding = rounding_of(has);
}

static void take_registers(Decoder *decoder, const PtxInstruction *instruction, const Mma *mma,
                           Record *record, int counts[4]) {
    const PtxOperand *operands = instruction->operands;
    uint32_t *list = decoder_list(decoder, LIST_COUNT);
    PtxType wide = mma->d == PTX_TYPE_f64 ? PTX_TYPE_b64 : PTX_TYPE_b32;
    counts[0] = (int)matrix_sources(decoder, &operands[1], wide, list + LIST_A);
    counts[1] = (int)matrix_sources(decoder, &operands[2], wide, list + LIST_B);
    counts[2] = (int)matrix_sources(decoder, &operands[3], wide, list + LIST_C);
    if (mma->sparse) list[LIST_METADATA] = decoder_source(decoder, &operands[4], WIDTH_word);
    counts[3] = (int)matrix_targets(decoder, &operands[0], wide, list + LIST_D);
    record->list = list;
}

/* Saturation of floats in wmma is to their finite range, which sums of finite ones seldom leave;
 * the manual has dropped it. */
static bool prepare(Decoder *decoder, const PtxInstruction *instruction, Record *record,
                    bool sparse, bool opaque) {
    int counts[4];
    Mma *mma = matrix_facts(decoder, sizeof *mma);
    const EmuModel *model = decoder->input->model;
    memset(mma, 0, sizeof *mma);
    take_types(instruction, mma);
    take_modifiers(instruction, mma);
    mma->sparse = sparse;
    mma->ordered = instruction->row == PTX_mma_sp_ordered_metadata;
    mma->sum = mma_sum_of(model->major, model->minor, (PtxType)mma->a);
    if (sparse) mma->selector = (uint8_t)instruction->operands[5].bits;
    take_registers(decoder, instruction, mma, record, counts);
    record->immediate = (uintptr_t)mma;
    record->run = multiply;
    decoder->effect = EFFECT_operand;
    bool good = opaque ? mma_prepare_wmma(mma, counts) : mma_prepare(mma);
    if (!good) return decoder_fail(decoder, "no matrix product has this shape");
    if (sparse && (instruction->operands[5].bits > 3 || !mma_selector_valid(mma)))
        return decoder_fail(decoder, "this shape has no metadata selector %u",
                            (unsigned)instruction->operands[5].bits);
    return !decoder->failed;
}

static bool prepare_dense(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    return prepare(decoder, instruction, record, false, false);
}

static bool prepare_sparse(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    return prepare(decoder, instruction, record, true, false);
}

static bool prepare_wmma(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    return prepare(decoder, instruction, record, false, true);
}

static const Form emu_forms_mma_forms[] = {
    {.row = PTX_mma, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_dense},
    {.row = PTX_mma_sp, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_sparse},
    {.row = PTX_mma_sp_ordered_metadata,
     FORM_ANY_TYPE,
     .accepts = ACCEPT_any,
     .prepare = prepare_sparse},
    {.row = PTX_wmma_mma, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_wmma},
};
FORM_TABLE(emu_forms_mma);
