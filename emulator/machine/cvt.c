/* cvt: one handler for all pairs of types, by convert.h. The conversion is made when the program is
 * decoded; a record's immediate points to it. */
#include "emulator/machine/convert.h"
#include "emulator/machine/decode.h"
#include "emulator/machine/lanes.h"

#include <string.h>

/* Slot 2 and 3: bytes of a lane of the target and of the source. */
static const EmuConversion *conversion_of(const Record *record) {
    return (const EmuConversion *)(uintptr_t)record->immediate;
}

PLAIN_HANDLER(cvt) {
    uint64_t results[EMU_LANES];
    uint8_t *d = warp_slot(warp, record->slot[0]);
    int bytes = (int)record->slot[2];
    void *to = lanes == ~0u ? (void *)d : (void *)results;
    emu_convert_lanes(conversion_of(record), to, bytes, warp_slot(warp, record->slot[1]),
                      (int)record->slot[3]);
    if (lanes == ~0u) return STEP_next;
    for (int i = 0; i < EMU_LANES; i++)
        if (lanes >> i & 1) memcpy(d + bytes * i, (uint8_t *)results + bytes * i, (size_t)bytes);
    return STEP_next;
}

/* d, a, b: a above b. */
PLAIN_HANDLER(cvt_pair) {
    LaneU32 *d = warp_slot(warp, record->slot[0]);
    const LaneU32 *a = warp_slot(warp, record->slot[1]), *b = warp_slot(warp, record->slot[2]);
    for (int i = 0; i < EMU_LANES; i++)
        if (lanes >> i & 1) d[i] = (uint32_t)emu_convert_pair(conversion_of(record), a[i], b[i]);
    return STEP_next;
}

static EmuRounding rounding_of(const PtxModifiers *has) {
    if (ptx_has(has, PTX_MOD_rz) || ptx_has(has, PTX_MOD_rzi)) return EMU_ROUND_zero;
    if (ptx_has(has, PTX_MOD_rm) || ptx_has(has, PTX_MOD_rmi)) return EMU_ROUND_down;
    if (ptx_has(has, PTX_MOD_rp) || ptx_has(has, PTX_MOD_rpi)) return EMU_ROUND_up;
    if (ptx_has(has, PTX_MOD_rna)) return EMU_ROUND_nearest_away;
    return EMU_ROUND_nearest_even;
}

static const EmuConversion *new_conversion(Decoder *decoder, const PtxInstruction *instruction) {
    const PtxModifiers *has = &instruction->modifiers;
    EmuConversion *c = NEW(decoder->arena, EmuConversion);
    c->to = instruction->types[0];
    c->from = instruction->types[1];
    c->rounding = (uint8_t)rounding_of(has);
    c->integral = ptx_has(has, PTX_MOD_rni) || ptx_has(has, PTX_MOD_rzi) ||
                  ptx_has(has, PTX_MOD_rmi) || ptx_has(has, PTX_MOD_rpi);
    c->ftz = ptx_has(has, PTX_MOD_ftz);
    c->sat = ptx_has(has, PTX_MOD_sat);
    c->satfinite = ptx_has(has, PTX_MOD_satfinite);
    c->relu = ptx_has(has, PTX_MOD_relu);
    return c;
}

/* Registers may be wider than the types: the whole register is read and written. */
static int lane_bytes(const Decoder *decoder, const PtxOperand *operand, PtxType type) {
    bool named = operand->kind == PTX_OPERAND_register || operand->kind == PTX_OPERAND_special;
    Width width = named ? slots_width(decoder, operand) : decoder_width(type);
    return width == WIDTH_long ? 8 : 4;
}

static bool prepare_cvt(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    const PtxOperand *operands = instruction->operands;
    PtxType to = (PtxType)instruction->types[0], from = (PtxType)instruction->types[1];
    record->immediate = (uintptr_t)new_conversion(decoder, instruction);
    if (instruction->operand_count == 3) {
        record->slot[0] = decoder_target(decoder, &operands[0], WIDTH_word, to);
        record->slot[1] = decoder_source(decoder, &operands[1], WIDTH_word);
        record->slot[2] = decoder_source(decoder, &operands[2], WIDTH_word);
        record->run = cvt_pair;
        return !decoder->failed;
    }
    int to_bytes = lane_bytes(decoder, &operands[0], to);
    int from_bytes = lane_bytes(decoder, &operands[1], from);
    record->slot[0] =
        decoder_target(decoder, &operands[0], to_bytes == 8 ? WIDTH_long : WIDTH_word, to);
    record->slot[1] =
        decoder_source(decoder, &operands[1], from_bytes == 8 ? WIDTH_long : WIDTH_word);
    record->slot[2] = (uint32_t)to_bytes;
    record->slot[3] = (uint32_t)from_bytes;
    record->run = cvt;
    return !decoder->failed;
}

/* cvt.pack: slot 4 is the type. */
PLAIN_HANDLER(cvt_pack) {
    LaneU32 *d = warp_slot(warp, record->slot[0]);
    const LaneU32 *a = warp_slot(warp, record->slot[1]), *b = warp_slot(warp, record->slot[2]);
    const LaneU32 *c = warp_slot(warp, record->slot[3]);
    for (int i = 0; i < EMU_LANES; i++)
        if (lanes >> i & 1)
            d[i] = emu_convert_pack((PtxType)record->slot[4], (int32_t)a[i], (int32_t)b[i], c[i]);
    return STEP_next;
}

static bool prepare_cvt_pack(Decoder *decoder, const PtxInstruction *instruction, Record *record) {
    const PtxOperand *operands = instruction->operands;
    record->slot[0] = decoder_target(decoder, &operands[0], WIDTH_word, PTX_TYPE_b32);
    record->slot[1] = decoder_source(decoder, &operands[1], WIDTH_word);
    record->slot[2] = decoder_source(decoder, &operands[2], WIDTH_word);
    record->slot[3] = instruction->operand_count > 3
                          ? decoder_source(decoder, &operands[3], WIDTH_word)
                          : decoder_constant(decoder, WIDTH_word, 0);
    record->slot[4] = instruction->types[0];
    record->run = cvt_pack;
    return !decoder->failed;
}

static const Form emu_forms_cvt_forms[] = {
    {.row = PTX_cvt, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_cvt},
    {.row = PTX_cvt_pack, FORM_ANY_TYPE, .accepts = ACCEPT_any, .prepare = prepare_cvt_pack},
};
FORM_TABLE(emu_forms_cvt);
