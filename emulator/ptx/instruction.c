/* An instruction: its guard, its opcode with everything behind dots, its operands. */
#include "emulator/ptx/parser.h"

#include <string.h>

enum { WORDS = 40, OPERANDS = 32 };

/* The words behind the dots, as they are written. */
typedef struct Words {
    Token items[WORDS];
    int count;
} Words;

/* @p or @!p */
static bool parse_guard(Parser *p, PtxInstruction *instruction) {
    if (!parse_take_mark(p, '@')) return true;
    instruction->guarded = true;
    instruction->guard_negated = parse_take_mark(p, '!');
    Token name;
    if (!parse_name(p, &name)) return false;
    const Symbol *symbol = symbol_find(p, name.text);
    if (!symbol || symbol->kind != SYMBOL_register || symbol->type != PTX_TYPE_pred)
        return parse_fail(p, &name, "'%.*s' is no predicate", STR_ARG(name.text));
    instruction->guard = symbol->index;
    return true;
}

static bool parse_words(Parser *p, Words *words) {
    words->count = 0;
    while (p->token.kind == TOKEN_word) {
        if (words->count == WORDS) return parse_fail(p, &p->token, "too many modifiers");
        words->items[words->count++] = p->token;
        parse_advance(p);
    }
    return true;
}

/* ---- which row ---------------------------------------------------------------------------- */

/* How many words the text ".async.bulk" takes, in its order from the first word on; -1: it does
 * not fit. */
static int words_taken(const char *text, const Words *words) {
    int count = 0;
    while (*text == '.') {
        size_t size = strcspn(++text, ".");
        if (count == words->count || !str_equal(words->items[count].text, (Str){text, size}))
            return -1;
        text += size;
        count++;
    }
    return count;
}

/* A loose row has one word, which may stand anywhere. */
static int loose_word(const char *text, const Words *words) {
    for (int i = 0; i < words->count; i++)
        if (str_equal(words->items[i].text, str_from(text + 1))) return i;
    return -1;
}

static void remove_word(Words *words, int index) {
    words->count--;
    for (int i = index; i < words->count; i++) words->items[i] = words->items[i + 1];
}

/* The row whose text takes most words, which are removed; -1: none. */
static int take_row(Parser *p, const Token *opcode, Words *words) {
    int row = -1, most = -1;
    for (const RowText *r = grammar_rows(&p->grammar, opcode->text); r; r = r->next) {
        if (ptx_row_flags(r->row) & PTX_IS_LOOSE) {
            int index = loose_word(r->rest, words);
            if (index < 0) continue;
            remove_word(words, index);
            return (int)r->row;
        }
        int taken = words_taken(r->rest, words);
        if (taken <= most) continue;
        most = taken;
        row = (int)r->row;
    }
    for (int i = 0; i < most; i++) remove_word(words, 0);
    return row;
}

/* ---- the suffix --------------------------------------------------------------------------- */

/* The .row and .col of the second matrix are modifiers of their own. */
static int modifier_of(const Suffix *suffix, int modifier) {
    bool layout = modifier == PTX_MOD_row || modifier == PTX_MOD_col;
    bool second =
        ptx_has(&suffix->modifiers, PTX_MOD_row) || ptx_has(&suffix->modifiers, PTX_MOD_col);
    if (!layout || !second) return modifier;
    return modifier == PTX_MOD_row ? PTX_MOD_row2 : PTX_MOD_col2;
}

static bool add_modifier(Parser *p, Suffix *suffix, const Token *token, int modifier) {
    int m = modifier_of(suffix, modifier);
    if (ptx_has(&suffix->modifiers, (PtxModifier)m))
        return parse_fail(p, token, ".%.*s is written twice", STR_ARG(token->text));
    suffix->modifiers.words[m / 64] |= (uint64_t)1 << (m % 64);
    return true;
}

static bool add_word(Parser *p, Suffix *suffix, const Token *token) {
    Word word = grammar_word(&p->grammar, token->text);
    switch (word.kind) {
    case WORD_type:
        if (suffix->type_count == PTX_TYPES) return parse_fail(p, token, "too many types");
        suffix->types[suffix->type_count++] = (uint8_t)word.value;
        return true;
    case WORD_space:
        if (suffix->space_count == 2) return parse_fail(p, token, "too many state spaces");
        suffix->spaces[suffix->space_count++] = (uint8_t)word.value;
        return true;
    case WORD_modifier: return add_modifier(p, suffix, token, word.value);
    case WORD_vector:
        if (suffix->vector > 1) return parse_fail(p, token, "two vector sizes");
        suffix->vector = (uint8_t)word.value;
        return true;
    case WORD_shape:
        if (suffix->has_shape) return parse_fail(p, token, "two shapes");
        suffix->has_shape = true;
        memcpy(suffix->shape, word.shape, sizeof word.shape);
        return true;
    case WORD_none: break;
    }
    return parse_fail(p, token, "unknown modifier '.%.*s'", STR_ARG(token->text));
}

static bool parse_suffix(Parser *p, Suffix *suffix, PtxInstruction *instruction) {
    Words words;
    *suffix = (Suffix){.opcode = p->token, .vector = 1};
    if (p->token.kind != TOKEN_name) return parse_fail_expected(p, "an instruction");
    parse_advance(p);
    if (!parse_words(p, &words)) return false;
    int row = take_row(p, &suffix->opcode, &words);
    if (row < 0)
        return parse_fail(p, &suffix->opcode, "unknown instruction '%.*s'",
                          STR_ARG(suffix->opcode.text));
    if (ptx_row_flags((PtxRow)row) & PTX_IS_UNSUPPORTED)
        return parse_fail(p, &suffix->opcode, "'%s' is not supported", ptx_row_text((PtxRow)row));
    instruction->row = (uint16_t)row;
    for (int i = 0; i < words.count; i++)
        if (!add_word(p, suffix, &words.items[i])) return false;
    return true;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static bool parse_operands(Parser *p, PtxInstruction *instruction, PtxOperand *operands,
                           Token *places) {
    int count = 0;
    if (parse_is_mark(p, ';')) return true;
    do {
        if (count == OPERANDS) return parse_fail(p, &p->token, "too many operands");
        places[count] = p->token;
        if (!parse_operand(p, &operands[count])) return false;
        count++;
    } while (parse_take_mark(p, ','));
    instruction->operand_count = (uint8_t)count;
    return true;
}

bool parse_instruction(Parser *p) {
    PtxInstruction instruction = {.line = p->token.line, .location = p->body->location};
    PtxOperand operands[OPERANDS];
    Token places[OPERANDS];
    Suffix suffix;
    if (!parse_guard(p, &instruction)) return false;
    instruction.line = p->token.line;
    if (!parse_suffix(p, &suffix, &instruction)) return false;
    if (instruction.row == PTX_call) return parse_call(p, &instruction, &suffix);
    if (!parse_operands(p, &instruction, operands, places)) return false;
    if (!parse_is_mark(p, ';')) return parse_fail_expected(p, "';'");
    if (instruction.row == PTX_ret && !body_store_results(p, &instruction)) return false;
    return check_instruction(p, &suffix, &instruction, operands, places) && parse_mark(p, ';');
}
