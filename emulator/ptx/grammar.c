/* Names to numbers, and the rows by their first word. What forms mean is read in form.c. */
#include "emulator/ptx/grammar.h"

#include "emulator/ptx/form.h"

#include <string.h>

static const struct {
    PtxRow row;
    const char *text;
} row_texts[] = {
#define INSTRUCTION(name, text, flags) {PTX_##name, text},
#define SPELLING(name, text) {PTX_##name, text},
#include "emulator/ptx/instructions.def"
};

static const struct {
    PtxModifier modifier;
    PtxSpace space;
} space_words[] = {
    {PTX_MOD_const, PTX_SPACE_const},          {PTX_MOD_global, PTX_SPACE_global},
    {PTX_MOD_local, PTX_SPACE_local},          {PTX_MOD_param, PTX_SPACE_param},
    {PTX_MOD_param_entry, PTX_SPACE_param},    {PTX_MOD_param_func, PTX_SPACE_param},
    {PTX_MOD_shared, PTX_SPACE_shared},        {PTX_MOD_shared_cta, PTX_SPACE_shared},
    {PTX_MOD_shared_cluster, PTX_SPACE_shared}};

bool ptx_modifier_is_space(PtxModifier modifier) {
    return modifier >= PTX_MOD_const && modifier <= PTX_MOD_shared_cluster;
}

PtxSpace ptx_modifier_space(PtxModifier modifier) {
    for (size_t i = 0; i < sizeof space_words / sizeof *space_words; i++)
        if (space_words[i].modifier == modifier) return space_words[i].space;
    return PTX_SPACE_generic;
}

static void add_word(Grammar *grammar, const char *text, WordKind kind, int value) {
    if (map_get(&grammar->words, str_from(text))) return; /* the second row and col */
    Word *word = NEW(grammar->arena, Word);
    *word = (Word){.kind = kind, .value = value};
    map_set(&grammar->words, str_from(text), word);
}

static void add_words(Grammar *grammar) {
    for (int t = PTX_TYPE_none + 1; t < PTX_TYPE_count; t++)
        add_word(grammar, ptx_type_name((PtxType)t), WORD_type, t);
    for (int m = 0; m < PTX_MOD_count; m++) {
        WordKind kind = ptx_modifier_is_space((PtxModifier)m) ? WORD_space : WORD_modifier;
        add_word(grammar, ptx_modifier_text((PtxModifier)m), kind, m);
    }
    add_word(grammar, "v2", WORD_vector, 2);
    add_word(grammar, "v4", WORD_vector, 4);
    add_word(grammar, "v8", WORD_vector, 8);
}

/* Index plus one as a pointer, so that none is NULL. */
static void add_specials(Grammar *grammar) {
    for (uintptr_t i = 0; i < PTX_SPECIAL_count; i++)
        map_set(&grammar->specials, str_from(ptx_special_name((PtxSpecial)i)), (void *)(i + 1));
}

static void add_rows(Grammar *grammar) {
    for (size_t i = 0; i < sizeof row_texts / sizeof *row_texts; i++) {
        const char *text = row_texts[i].text, *dot = strchr(text, '.');
        Str opcode = {text, dot ? (size_t)(dot - text) : strlen(text)};
        RowText *entry = NEW(grammar->arena, RowText);
        *entry =
            (RowText){row_texts[i].row, text + opcode.size, map_get(&grammar->opcodes, opcode)};
        map_set(&grammar->opcodes, opcode, entry);
    }
}

void grammar_open(Grammar *grammar, Arena *arena) {
    grammar->arena = arena;
    grammar->words.arena = grammar->specials.arena = grammar->opcodes.arena = arena;
    add_words(grammar);
    add_specials(grammar);
    add_rows(grammar);
}

static bool take_part(Str *text, char letter, uint8_t *out_value) {
    unsigned value = 0;
    size_t i = 1;
    if (text->size < 2 || text->data[0] != letter) return false;
    for (; i < text->size && text->data[i] >= '0' && text->data[i] <= '9'; i++) {
        value = value * 10 + (unsigned)(text->data[i] - '0');
        if (value > 256) return false;
    }
    *out_value = (uint8_t)value;
    *text = (Str){text->data + i, text->size - i};
    return i > 1;
}

/* m16n8k16, m8n8. */
static bool read_shape(Str text, uint8_t shape[3]) {
    return take_part(&text, 'm', &shape[0]) && take_part(&text, 'n', &shape[1]) &&
           (text.size == 0 || (take_part(&text, 'k', &shape[2]) && text.size == 0));
}

Word grammar_word(const Grammar *grammar, Str text) {
    const Word *known = map_get(&grammar->words, text);
    if (known) return *known;
    Word shape = {.kind = WORD_shape};
    return read_shape(text, shape.shape) ? shape : (Word){0};
}

const RowText *grammar_rows(const Grammar *grammar, Str opcode) {
    return map_get(&grammar->opcodes, opcode);
}

int grammar_special(const Grammar *grammar, Str name) {
    return (int)(uintptr_t)map_get(&grammar->specials, name) - 1;
}

const Form *const *grammar_forms(Grammar *grammar, PtxRow row) {
    if (!grammar->forms[row]) grammar->forms[row] = form_read_row(grammar, row);
    return grammar->forms[row];
}
