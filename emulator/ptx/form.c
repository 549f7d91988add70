/* The notation of FORM, which instructions.def explains. */
#include "emulator/ptx/form.h"

#include "base/guard.h"

#include <string.h>

typedef struct FormText {
    PtxRow row;
    const char *suffix, *operands;
    int sm, ptx;
} FormText;

/* An entry where a row begins, and one for each of its forms, of row PTX_row_count. */
static const FormText form_texts[] = {
#define INSTRUCTION(name, text, flags) {PTX_##name, NULL, NULL, 0, 0},
#define FORM(suffix, operands, sm, ptx) {PTX_row_count, suffix, operands, sm, ptx},
#include "emulator/ptx/instructions.def"
};

static const struct {
    const char *name, *members;
} sets[] = {
#define SET(name, members) {#name, members},
#include "emulator/ptx/sets.def"
#undef SET
};

static const char *set_members(Str name) {
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (str_equal(str_from(sets[i].name), name)) return sets[i].members;
    return NULL;
}

/* The part of *text before one of `ends`; *text then begins with that character or is empty. */
static Str take_until(const char **text, const char *ends) {
    size_t size = strcspn(*text, ends);
    Str part = {*text, size};
    *text += size;
    return part;
}

/* ---- the suffix --------------------------------------------------------------------------- */

/* The .row and .col that are written second have names of their own. */
static Word word_of(const Grammar *grammar, Str name) {
    if (str_equal(name, STR("row2"))) return (Word){.kind = WORD_modifier, .value = PTX_MOD_row2};
    if (str_equal(name, STR("col2"))) return (Word){.kind = WORD_modifier, .value = PTX_MOD_col2};
    return grammar_word(grammar, name);
}

static void add_shape(FormItem *item, const uint8_t shape[3]) {
    require(item->shape_count < FORM_SHAPES);
    memcpy(item->shapes[item->shape_count++], shape, 3);
}

/* m64nNk16, m64nIk32: for N each multiple of 8, for I those that integers have. */
static bool add_open_shape(const Grammar *grammar, FormItem *item, Str name) {
    char closed[16];
    const char *open = memchr(name.data, 'N', name.size);
    item->rule = SHAPE_any_n;
    if (!open) {
        open = memchr(name.data, 'I', name.size);
        item->rule = SHAPE_integer_n;
    }
    if (!open || name.size >= sizeof closed) return false;
    memcpy(closed, name.data, name.size);
    closed[open - name.data] = '8';
    Word word = grammar_word(grammar, (Str){closed, name.size});
    if (word.kind != WORD_shape) return false;
    item->kind = WORD_shape;
    add_shape(item, word.shape);
    return true;
}

static void add_word(FormItem *item, Word word) {
    require(item->kind == WORD_none || item->kind == word.kind);
    item->kind = word.kind;
    switch (word.kind) {
    case WORD_type: item->types |= (uint64_t)1 << word.value; break;
    case WORD_vector: item->vectors |= word.value; break;
    case WORD_shape: add_shape(item, word.shape); break;
    case WORD_space:
    case WORD_modifier:
        item->modifiers.words[word.value / 64] |= (uint64_t)1 << (word.value % 64);
        break;
    case WORD_none: bug("an unknown word in a form"); break;
    }
}

/* a|b|SET */
static void add_words(const Grammar *grammar, FormItem *item, const char *members, size_t size) {
    const char *end = members + size;
    while (members < end) {
        Str name = take_until(&members, "|.{} ");
        if (members > end) name.size -= (size_t)(members - end);
        const char *set = set_members(name);
        Word word = word_of(grammar, name);
        if (set)
            add_words(grammar, item, set, strlen(set));
        else if (word.kind == WORD_none && add_open_shape(grammar, item, name))
            ;
        else
            add_word(item, word);
        members++;
    }
}

static void read_suffix(const Grammar *grammar, Form *form) {
    bool braces = false, joined = false;
    for (const char *text = form->suffix; *text;) {
        if (*text == '{' || *text == '}') {
            braces = *text++ == '{';
            joined = false;
            continue;
        }
        require(*text == '.' && form->item_count < FORM_ITEMS);
        text++;
        Str words = take_until(&text, ".{}");
        FormItem *item = &form->items[form->item_count++];
        *item = (FormItem){.optional = braces, .joined = joined};
        add_words(grammar, item, words.data, words.size);
        form->type_count += item->kind == WORD_type;
        joined = braces;
    }
}

/* ---- the operands ------------------------------------------------------------------------- */

static void read_type(const Grammar *grammar, FormOperand *operand, Str name) {
    Word word = grammar_word(grammar, name);
    operand->written_type = -1;
    if (word.kind == WORD_type) {
        operand->type = (PtxType)word.value;
        return;
    }
    operand->wide = str_equal(name, STR("wide"));
    operand->written_type = operand->wide ? 0 : name.data[0] - '0';
    require(operand->written_type >= 0 && operand->written_type < PTX_TYPES);
}

static void read_parts(FormOperand *operand, Str name) {
    static const struct {
        const char *text;
        OperandParts parts;
    } words[] = {{"N/2", PARTS_half_n}, {"N/4", PARTS_quarter_n}, {"D-2", PARTS_dim_minus_2}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!str_equal(str_from(words[i].text), name)) continue;
        operand->parts = words[i].parts;
        return;
    }
    operand->parts = PARTS_fixed;
    operand->count = (uint8_t)(name.data[0] - '0');
}

/* What may follow the name of an operand. */
static void read_marks(const Grammar *grammar, FormOperand *operand, const char **text) {
    for (;;) {
        char mark = **text;
        if (!mark || !strchr(":#?*~^=_@%(", mark)) return;
        (*text)++;
        switch (mark) {
        case ':': read_type(grammar, operand, take_until(text, "#?*~^=_@%(|{},])")); break;
        case '#': read_parts(operand, take_until(text, ":?*~^=_@%(|{},])")); break;
        case '?': operand->needed_by = word_of(grammar, take_until(text, ",{}")).value; break;
        case '(':
            operand->allowed = take_until(text, ")");
            (*text)++;
            break;
        case '*': operand->parts = PARTS_vector; break;
        case '~': operand->wider = true; break;
        case '^': operand->constant = true; break;
        case '=': operand->no_constant = true; break;
        case '_': operand->sink = true; break;
        case '@': operand->source_any = true; break;
        default: operand->parts = PARTS_pack; break;
        }
    }
}

static void read_angle(FormOperand *operand, const char **text) {
    Str name = take_until(text, ">");
    operand->shape = str_equal(name, STR("<label"))     ? OPERAND_label
                     : str_equal(name, STR("<targets")) ? OPERAND_targets
                                                        : OPERAND_call;
    (*text)++;
}

static void read_operand(const Grammar *grammar, FormOperand *operand, const char **text) {
    if (**text == '<') {
        read_angle(operand, text);
        return;
    }
    if (**text == '!') {
        operand->negatable = true;
        (*text)++;
    }
    size_t brackets = strspn(*text, "[");
    operand->shape = brackets == 0   ? OPERAND_value
                     : brackets == 1 ? OPERAND_address
                                     : OPERAND_tensor;
    *text += brackets;
    operand->name = *(*text)++;
    operand->left_out = operand->name == '_';
    if (operand->name == 'p' || operand->name == 'q') read_type(grammar, operand, STR("pred"));
    read_marks(grammar, operand, text);
    *text += brackets;
}

/* "p_{|q_}, a, !b:pred{, c}": braces make what is in them optional. */
static void read_operands(const Grammar *grammar, Form *form) {
    bool braces = false;
    for (const char *text = form->operands_text; *text;) {
        if (*text == '{' || *text == '}') braces = *text == '{';
        bool pair = *text == '|';
        if (strchr("{}|, ", *text)) {
            text++;
            if (!pair) continue;
        }
        require(form->operand_count < FORM_OPERANDS);
        FormOperand *operand = &form->operands[form->operand_count++];
        *operand = (FormOperand){.needed_by = -1, .optional = braces && !pair};
        if (pair) {
            operand[-1].paired = true;
            operand[-1].pair_optional = braces;
        }
        read_operand(grammar, operand, &text);
    }
}

static const Form *read_form(const Grammar *grammar, const FormText *text) {
    Form *form = NEW(grammar->arena, Form);
    form->suffix = text->suffix;
    form->operands_text = text->operands;
    form->sm = text->sm;
    form->ptx = text->ptx;
    read_suffix(grammar, form);
    read_operands(grammar, form);
    return form;
}

const Form *const *form_read_row(const Grammar *grammar, PtxRow row) {
    enum { ALL = sizeof form_texts / sizeof *form_texts };
    const FormText *text = form_texts, *end = form_texts + ALL;
    while (text->row != row) text++;
    const FormText *first = ++text;
    while (text < end && text->row == PTX_row_count) text++;
    const Form **forms = NEW_ARRAY(grammar->arena, const Form *, (size_t)(text - first) + 1);
    for (size_t i = 0; first + i < text; i++) forms[i] = read_form(grammar, &first[i]);
    return forms;
}
