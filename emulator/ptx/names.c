/* Texts of what the tables list: modifiers, rows and special registers. */
#include "emulator/ptx/ptx.h"

static const char *const modifier_texts[PTX_MOD_count] = {
#define MODIFIER(name, text, sm, ptx) [PTX_MOD_##name] = text,
#include "emulator/ptx/modifiers.def"
#undef MODIFIER
};

typedef struct RowFacts {
    const char *text;
    int flags;
} RowFacts;

static const RowFacts row_facts[PTX_row_count] = {
#define INSTRUCTION(name, text, flags) [PTX_##name] = {text, flags},
#include "emulator/ptx/instructions.def"
};

typedef struct SpecialFacts {
    const char *name;
    PtxType type;
    int components;
} SpecialFacts;

static const SpecialFacts special_facts[PTX_SPECIAL_count] = {
#define SPECIAL(name, type, components) [PTX_SPECIAL_##name] = {#name, PTX_TYPE_##type, components},
#include "emulator/ptx/specials.def"
#undef SPECIAL
};

const char *ptx_modifier_text(PtxModifier modifier) { return modifier_texts[modifier]; }

const char *ptx_row_text(PtxRow row) { return row_facts[row].text; }

int ptx_row_flags(PtxRow row) { return row_facts[row].flags; }

const char *ptx_special_name(PtxSpecial special) { return special_facts[special].name; }

PtxType ptx_special_type(PtxSpecial special) { return special_facts[special].type; }

int ptx_special_components(PtxSpecial special) { return special_facts[special].components; }
