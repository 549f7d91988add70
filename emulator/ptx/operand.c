/* Operands as they are written: names are resolved here, types are not yet known. */
#include "emulator/ptx/parser.h"

#include <string.h>

static void from_constant(Constant value, PtxOperand *out) {
    out->kind = value.kind == TOKEN_integer ? PTX_OPERAND_integer
                : value.kind == TOKEN_f32   ? PTX_OPERAND_f32
                                            : PTX_OPERAND_f64;
    out->bits = value.bits;
}

static bool parse_offset(Parser *p, int64_t *offset) {
    Constant value;
    Token at = p->token;
    if (!parse_constant(p, &value)) return false;
    if (value.kind != TOKEN_integer) return parse_fail(p, &at, "an integer offset expected");
    *offset = (int64_t)((uint64_t)*offset + value.bits);
    return true;
}

/* .x .y .z .w, or .r .g .b .a: 0 to 3; -1: something else. */
static int component_of(Str text) {
    static const char letters[] = "xyzwrgba";
    const char *found = text.size == 1 ? strchr(letters, text.data[0]) : NULL;
    return found && *found ? (int)((found - letters) % 4) : -1;
}

/* ---- registers ---------------------------------------------------------------------------- */

/* All registers of a vector, as if written in braces. */
static void whole_vector(Parser *p, const Symbol *symbol, PtxOperand *out) {
    PtxOperand *parts = NEW_ARRAY(p->arena, PtxOperand, symbol->count);
    for (uint32_t i = 0; i < symbol->count; i++)
        parts[i] = (PtxOperand){.kind = PTX_OPERAND_register, .index = symbol->index + i};
    *out = (PtxOperand){.kind = PTX_OPERAND_vector, .part_count = symbol->count, .parts = parts};
}

static bool name_register(Parser *p, const Symbol *symbol, PtxOperand *out) {
    *out = (PtxOperand){.kind = PTX_OPERAND_register, .index = symbol->index};
    if (p->token.kind == TOKEN_word) {
        int component = component_of(p->token.text);
        if (component < 0 || component >= (int)symbol->count || symbol->count == 1)
            return parse_fail(p, &p->token, "'%.*s' has no part '.%.*s'", STR_ARG(symbol->name),
                              STR_ARG(p->token.text));
        out->index += (uint32_t)component;
        parse_advance(p);
    } else if (symbol->count > 1) {
        whole_vector(p, symbol, out);
    }
    return true;
}

static bool name_special(Parser *p, const Token *name, int special, PtxOperand *out) {
    *out = (PtxOperand){.kind = PTX_OPERAND_special, .index = (uint32_t)special};
    int components = ptx_special_components((PtxSpecial)special);
    if (components == 1) return true;
    if (p->token.kind != TOKEN_word) { /* all of %tid: mov.v4 */
        PtxOperand *parts = NEW_ARRAY(p->arena, PtxOperand, 4);
        for (uint8_t i = 0; i < 4; i++) {
            parts[i] = *out;
            parts[i].component = i;
        }
        *out = (PtxOperand){.kind = PTX_OPERAND_vector, .part_count = 4, .parts = parts};
        return true;
    }
    int component = component_of(p->token.text);
    if (component < 0)
        return parse_fail(p, &p->token, "'%.*s' has no part '.%.*s'", STR_ARG(name->text),
                          STR_ARG(p->token.text));
    out->component = (uint8_t)component;
    parse_advance(p);
    return true;
}

/* ---- variables ---------------------------------------------------------------------------- */

/* name[3]: bytes of three elements. */
static bool parse_subscript(Parser *p, const PtxVariable *variable, int64_t *offset) {
    int64_t index = 0;
    parse_advance(p);
    if (!parse_offset(p, &index)) return false;
    int64_t bytes = ptx_type_bits(variable->type) / 8;
    *offset = (int64_t)((uint64_t)*offset + (uint64_t)index * (uint64_t)bytes);
    return parse_mark(p, ']');
}

/* + offset behind a variable or a base; a - must follow the + (as ptxas has it). */
static bool parse_plus(Parser *p, int64_t *offset) {
    return !parse_take_mark(p, '+') || parse_offset(p, offset);
}

static bool name_variable(Parser *p, const Symbol *symbol, PtxOperand *out) {
    *out = (PtxOperand){.kind = PTX_OPERAND_variable, .variable = symbol->variable};
    if (parse_is_mark(p, '[') && !parse_subscript(p, symbol->variable, &out->offset)) return false;
    return parse_plus(p, &out->offset);
}

static bool name_symbol(Parser *p, const Token *name, const Symbol *symbol, PtxOperand *out) {
    *out = (PtxOperand){.kind = PTX_OPERAND_label, .index = UINT32_MAX};
    if (!symbol) return true;
    switch (symbol->kind) {
    case SYMBOL_register: return name_register(p, symbol, out);
    case SYMBOL_variable: return name_variable(p, symbol, out);
    case SYMBOL_function:
        *out = (PtxOperand){.kind = PTX_OPERAND_function, .function = symbol->function};
        return true;
    case SYMBOL_targets:
        *out = (PtxOperand){.kind = PTX_OPERAND_targets, .index = symbol->index};
        return true;
    case SYMBOL_label: return true;
    case SYMBOL_range: break;
    }
    return parse_fail(p, name, "'%.*s' is a range of registers", STR_ARG(name->text));
}

static bool parse_named(Parser *p, PtxOperand *out) {
    Token name = p->token;
    Str special = {name.text.data + 1, name.text.size - 1};
    const Symbol *symbol = symbol_find(p, name.text);
    int index = symbol || name.text.data[0] != '%' ? -1 : grammar_special(&p->grammar, special);
    parse_advance(p);
    if (index >= 0) return name_special(p, &name, index, out);
    if (!symbol && str_equal(name.text, STR("_"))) {
        *out = (PtxOperand){.kind = PTX_OPERAND_sink};
        return true;
    }
    return name_symbol(p, &name, symbol, out);
}

/* ---- what has parts ----------------------------------------------------------------------- */

/* Operands up to `close`, which is taken. */
static bool parse_parts(Parser *p, int close, PtxOperand *out) {
    VEC(PtxOperand) parts = {0};
    if (!parse_descend(p)) return false;
    while (!parse_is_mark(p, close)) {
        PtxOperand part;
        if (parts.count == LIMIT_OPERANDS)
            return parse_fail(p, &p->token, "more than %d operands", LIMIT_OPERANDS);
        if (!parse_operand(p, &part)) return false;
        vec_push(p->scratch, &parts, part);
        if (!parse_take_mark(p, ',')) break;
    }
    parse_rise(p);
    out->parts = arena_copy(p->arena, parts.data, parts.count * sizeof *parts.data);
    out->part_count = (uint32_t)parts.count;
    return parse_mark(p, close);
}

static bool parse_vector(Parser *p, PtxOperand *out) {
    *out = (PtxOperand){.kind = PTX_OPERAND_vector};
    parse_advance(p);
    return parse_parts(p, '}', out);
}

bool parse_list(Parser *p, PtxOperand *out) {
    *out = (PtxOperand){.kind = PTX_OPERAND_list};
    return parse_mark(p, '(') && parse_parts(p, ')', out);
}

/* The base of an address: a register, a variable, or nothing before a number. */
static bool parse_base(Parser *p, PtxOperand *out) {
    Token at = p->token;
    PtxOperand base;
    *out = (PtxOperand){.kind = PTX_OPERAND_address};
    if (at.kind != TOKEN_name || str_equal(at.text, STR("WARP_SZ")))
        return parse_offset(p, &out->offset);
    if (!parse_named(p, &base)) return false;
    if (base.kind == PTX_OPERAND_register) {
        out->base = PTX_BASE_register;
        out->index = base.index;
        return parse_plus(p, &out->offset);
    }
    if (base.kind == PTX_OPERAND_label)
        return parse_fail(p, &at, "'%.*s' is not declared", STR_ARG(at.text));
    if (base.kind != PTX_OPERAND_variable)
        return parse_fail(p, &at, "'%.*s' cannot be an address", STR_ARG(at.text));
    out->base = PTX_BASE_variable;
    out->variable = base.variable;
    out->offset = base.offset;
    return true;
}

/* [map, {x, y}]: the map's address, then the coordinates. */
static bool parse_tensor(Parser *p, PtxOperand map, PtxOperand *out) {
    PtxOperand coordinates;
    parse_advance(p);
    if (!parse_is_mark(p, '{')) return parse_fail_expected(p, "'{'");
    if (!parse_vector(p, &coordinates)) return false;
    PtxOperand *parts = NEW_ARRAY(p->arena, PtxOperand, coordinates.part_count + 1);
    parts[0] = map;
    memcpy(parts + 1, coordinates.parts, coordinates.part_count * sizeof *parts);
    *out = (PtxOperand){
        .kind = PTX_OPERAND_tensor, .part_count = coordinates.part_count + 1, .parts = parts};
    return true;
}

static bool parse_address(Parser *p, PtxOperand *out) {
    parse_advance(p);
    if (!parse_base(p, out)) return false;
    if (parse_is_mark(p, ',') && !parse_tensor(p, *out, out)) return false;
    if (!parse_mark(p, ']')) return false;
    parse_take_word(p, "unified");
    return true;
}

/* p|q */
static bool parse_pair(Parser *p, PtxOperand first, PtxOperand *out) {
    PtxOperand *parts = NEW_ARRAY(p->arena, PtxOperand, 2);
    parse_advance(p);
    parts[0] = first;
    if (p->token.kind != TOKEN_name) return parse_fail_expected(p, "a predicate");
    if (!parse_named(p, &parts[1])) return false;
    *out = (PtxOperand){.kind = PTX_OPERAND_pair, .part_count = 2, .parts = parts};
    return true;
}

/* Whether `!` stands before a predicate, not in a constant expression. */
static bool negates_name(const Parser *p) {
    Lexer ahead = p->lexer;
    Token next = lexer_next(&ahead);
    return next.kind == TOKEN_name && !str_equal(next.text, STR("WARP_SZ"));
}

bool parse_operand(Parser *p, PtxOperand *out) {
    Constant value;
    if (parse_is_mark(p, '[')) return parse_address(p, out);
    if (parse_is_mark(p, '{')) return parse_vector(p, out);
    if (parse_is_mark(p, '!') && negates_name(p)) {
        parse_advance(p);
        if (!parse_named(p, out)) return false;
        out->negated = true;
        return true;
    }
    if (p->token.kind == TOKEN_name && !str_equal(p->token.text, STR("WARP_SZ"))) {
        if (!parse_named(p, out)) return false;
        return !parse_is_mark(p, '|') || parse_pair(p, *out, out);
    }
    *out = (PtxOperand){0};
    if (!parse_constant(p, &value)) return false;
    from_constant(value, out);
    return true;
}
