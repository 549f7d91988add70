/* The form of an instruction: the first of its row's that has the same types and, once those that
 * it takes as options are set aside, the same modifiers. */
#include "emulator/machine/decode.h"

extern const FormTable emu_forms_integer, emu_forms_bits, emu_forms_compare, emu_forms_float,
    emu_forms_half, emu_forms_approx, emu_forms_cvt, emu_forms_move, emu_forms_load,
    emu_forms_store, emu_forms_atomic, emu_forms_shuffle, emu_forms_vote, emu_forms_barrier,
    emu_forms_fence, emu_forms_control, emu_forms_call, emu_forms_stack, emu_forms_mma,
    emu_forms_matrix, emu_forms_wmma, emu_forms_async, emu_forms_mbarrier;

const FormTable *const emu_form_tables[] = {
    &emu_forms_integer, &emu_forms_bits,    &emu_forms_compare,  &emu_forms_float,
    &emu_forms_half,    &emu_forms_approx,  &emu_forms_cvt,      &emu_forms_move,
    &emu_forms_load,    &emu_forms_store,   &emu_forms_atomic,   &emu_forms_shuffle,
    &emu_forms_vote,    &emu_forms_barrier, &emu_forms_fence,    &emu_forms_stack,
    &emu_forms_control, &emu_forms_call,    &emu_forms_mma,      &emu_forms_matrix,
    &emu_forms_wmma,    &emu_forms_async,   &emu_forms_mbarrier,
};
const uint32_t emu_form_table_count = sizeof emu_form_tables / sizeof *emu_form_tables;

const FormIndex *form_index_new(Arena *arena) {
    FormIndex *index = NEW(arena, FormIndex);
    uint32_t total = 0;
    for (uint32_t t = 0; t < emu_form_table_count; t++) {
        total += emu_form_tables[t]->count;
        for (uint32_t i = 0; i < emu_form_tables[t]->count; i++)
            index->first[emu_form_tables[t]->forms[i].row + 1]++;
    }
    index->forms = NEW_ARRAY(arena, const Form *, total);
    uint32_t *next = NEW_ARRAY(arena, uint32_t, PTX_row_count + 1);
    for (uint32_t row = 0; row < PTX_row_count; row++) {
        index->first[row + 1] += index->first[row];
        next[row] = index->first[row];
    }
    for (uint32_t t = 0; t < emu_form_table_count; t++)
        for (uint32_t i = 0; i < emu_form_tables[t]->count; i++) {
            const Form *form = &emu_form_tables[t]->forms[i];
            index->forms[next[form->row]++] = form;
        }
    return index;
}

/* Modifiers that forms take as options. */
static const struct {
    uint16_t modifier;
    uint8_t accept;
    uint16_t option;
} options[] = {
    {PTX_MOD_ftz, ACCEPT_ftz, OPTION_ftz},
    {PTX_MOD_sat, ACCEPT_sat, OPTION_sat},
    {PTX_MOD_rz, ACCEPT_rounding, 4},
    {PTX_MOD_rm, ACCEPT_rounding, 8},
    {PTX_MOD_rp, ACCEPT_rounding, 12},
    {PTX_MOD_NaN, ACCEPT_nan, OPTION_nan},
    {PTX_MOD_relu, ACCEPT_relu, OPTION_relu},
    {PTX_MOD_xorsign, ACCEPT_xorsign, OPTION_xorsign},
    {PTX_MOD_abs, ACCEPT_xorsign, OPTION_xorsign},
    {PTX_MOD_cc, ACCEPT_carry, OPTION_carry_out},
};

static void remove_modifier(PtxModifiers *set, uint32_t modifier) {
    set->words[modifier / 64] &= ~(UINT64_C(1) << modifier % 64);
}

static bool is_empty(const PtxModifiers *set) {
    return !(set->words[0] | set->words[1] | set->words[2] | set->words[3]);
}

/* Rounding to nearest is what is meant without a word; .sync and .aligned belong to the row. */
static PtxModifiers significant(const PtxInstruction *instruction) {
    PtxModifiers set = instruction->modifiers;
    remove_modifier(&set, PTX_MOD_rn);
    remove_modifier(&set, PTX_MOD_sync);
    remove_modifier(&set, PTX_MOD_aligned);
    return set;
}

static bool types_fit(const Form *form, const PtxInstruction *instruction) {
    if (form->types[0] == PTX_TYPE_count) return true;
    for (int i = 0; i < 3; i++) {
        int type = i < instruction->type_count ? instruction->types[i] : PTX_TYPE_none;
        if (form->types[i] != type) return false;
    }
    return instruction->type_count <= 3;
}

static bool modifiers_fit(const Form *form, PtxModifiers set, uint16_t *out_options) {
    *out_options = 0;
    if (form->accepts & ACCEPT_any) return true;
    for (int i = 0; i < 3 && form->modifiers[i]; i++) {
        if (!ptx_has(&set, (PtxModifier)(form->modifiers[i] - 1))) return false;
        remove_modifier(&set, form->modifiers[i] - 1u);
    }
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!(form->accepts & options[i].accept)) continue;
        if (!ptx_has(&set, (PtxModifier)options[i].modifier)) continue;
        *out_options |= options[i].option;
        remove_modifier(&set, options[i].modifier);
    }
    return is_empty(&set);
}

const Form *form_find(const FormIndex *index, const PtxInstruction *instruction,
                      uint16_t *out_options) {
    PtxModifiers set = significant(instruction);
    for (uint32_t i = index->first[instruction->row]; i < index->first[instruction->row + 1]; i++) {
        const Form *form = index->forms[i];
        if (types_fit(form, instruction) && modifiers_fit(form, set, out_options)) return form;
    }
    return NULL;
}
