/* The statements of a function: declarations, labels, blocks, instructions. */
#include "emulator/ptx/parser.h"

#include <string.h>

static bool parse_statement(Parser *p);

/* Up to the brace that closes the block; errors inside are reported, and the rest is parsed. */
static void parse_statements(Parser *p) {
    while (!parse_is_mark(p, '}') && p->token.kind != TOKEN_end)
        if (!parse_statement(p)) parse_recover(p);
}

static bool parse_block(Parser *p) {
    Scope scope;
    if (!parse_descend(p) || !parse_mark(p, '{')) return false;
    scope_open(p, &scope);
    parse_statements(p);
    scope_close(p, &scope);
    parse_rise(p);
    return parse_mark(p, '}');
}

/* ---- labels ------------------------------------------------------------------------------- */

static bool add_targets(Parser *p, const Token *label, PtxTargets targets) {
    Symbol *symbol = symbol_declare(p, label, SYMBOL_targets);
    if (!symbol) return false;
    symbol->index = (uint32_t)p->body->targets.count;
    vec_push(p->scratch, &p->body->targets, targets);
    return true;
}

/* A list of names up to the semicolon. */
static bool parse_name_list(Parser *p, Token **out_names, size_t *out_count) {
    VEC(Token) names = {0};
    do {
        Token name;
        if (!parse_name(p, &name)) return false;
        vec_push(p->scratch, &names, name);
    } while (parse_take_mark(p, ','));
    *out_names = names.data;
    *out_count = names.count;
    return parse_mark(p, ';');
}

static bool parse_branch_targets(Parser *p, const Token *label) {
    Token *names;
    size_t count;
    if (!parse_name_list(p, &names, &count)) return false;
    uint32_t *labels = NEW_ARRAY(p->arena, uint32_t, count);
    for (size_t i = 0; i < count; i++) label_use(p, &names[i], &labels[i]);
    return add_targets(
        p, label,
        (PtxTargets){.kind = PTX_TARGETS_branch, .count = (uint32_t)count, .labels = labels});
}

static bool parse_call_targets(Parser *p, const Token *label) {
    Token *names;
    size_t count;
    if (!parse_name_list(p, &names, &count)) return false;
    const PtxFunction **functions = NEW_ARRAY(p->arena, const PtxFunction *, count);
    for (size_t i = 0; i < count; i++) {
        const Symbol *symbol = symbol_find(p, names[i].text);
        if (!symbol || symbol->kind != SYMBOL_function)
            return parse_fail(p, &names[i], "'%.*s' is no function", STR_ARG(names[i].text));
        functions[i] = symbol->function;
    }
    return add_targets(
        p, label,
        (PtxTargets){.kind = PTX_TARGETS_call, .count = (uint32_t)count, .functions = functions});
}

static bool parse_prototype(Parser *p, const Token *label) {
    const PtxFunction *function = parse_signature(p);
    return function &&
           add_targets(
               p, label,
               (PtxTargets){.kind = PTX_TARGETS_prototype, .count = 1, .prototype = function});
}

/* What stands behind `name:`. */
static bool parse_labelled(Parser *p, const Token *label) {
    if (parse_take_word(p, "branchtargets")) return parse_branch_targets(p, label);
    if (parse_take_word(p, "calltargets")) return parse_call_targets(p, label);
    if (parse_take_word(p, "callprototype")) return parse_prototype(p, label);
    Symbol *symbol = symbol_declare(p, label, SYMBOL_label);
    if (!symbol) return true; /* reported, and there is nothing to give up */
    symbol->index = (uint32_t)p->body->instructions.count;
    p->body->last_label = symbol->index;
    return true;
}

/* Whether the name that comes next is a label. */
static bool is_label(const Parser *p) {
    Lexer ahead = p->lexer;
    Token next = lexer_next(&ahead);
    return next.kind == TOKEN_mark && next.mark == ':';
}

/* ---- declarations ------------------------------------------------------------------------- */

static bool parse_body_directive(Parser *p) {
    static const struct {
        const char *word;
        PtxSpace space;
    } spaces[] = {{"param", PTX_SPACE_param},
                  {"shared", PTX_SPACE_shared},
                  {"local", PTX_SPACE_local},
                  {"global", PTX_SPACE_global},
                  {"const", PTX_SPACE_const}};
    if (parse_take_word(p, "loc")) return parse_loc(p);
    if (parse_take_word(p, "reg")) return parse_registers(p);
    if (parse_take_word(p, "pragma")) return parse_pragma(p);
    if (parse_take_word(p, "file")) return parse_file(p);
    if (parse_take_word(p, "section")) return parse_section(p);
    int linkage = parse_take_word(p, "extern") ? LINKAGE_extern : 0;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (parse_take_word(p, spaces[i].word)) return parse_variables(p, spaces[i].space, linkage);
    return parse_fail(p, &p->token, "unknown directive '.%.*s'", STR_ARG(p->token.text));
}

static bool parse_statement(Parser *p) {
    if (parse_take_mark(p, ';')) return true;
    if (parse_is_mark(p, '{')) return parse_block(p);
    if (p->token.kind == TOKEN_word) return parse_body_directive(p);
    if (p->token.kind == TOKEN_name && is_label(p)) {
        Token label = p->token;
        parse_advance(p);
        parse_advance(p);
        return parse_labelled(p, &label);
    }
    if (p->token.kind == TOKEN_name || parse_is_mark(p, '@')) return parse_instruction(p);
    return parse_fail_expected(p, "a statement");
}

/* ---- parameters in registers -------------------------------------------------------------- */

static PtxType bits_type(const PtxVariable *variable) {
    switch (variable->size) {
    case 1: return PTX_TYPE_b8;
    case 2: return PTX_TYPE_b16;
    case 4: return PTX_TYPE_b32;
    case 16: return PTX_TYPE_b128;
    default: return PTX_TYPE_b64;
    }
}

bool body_move(Parser *p, const PtxInstruction *like, PtxRow row, const PtxVariable *variable,
               PtxOperand value) {
    PtxInstruction instruction = *like;
    PtxType type = bits_type(variable);
    Suffix suffix = {.opcode = p->token,
                     .type_count = 1,
                     .types = {(uint8_t)type},
                     .space_count = 1,
                     .spaces = {PTX_MOD_param},
                     .vector = 1};
    PtxOperand address = {
        .kind = PTX_OPERAND_address, .base = PTX_BASE_variable, .variable = variable};
    PtxOperand operands[2] = {row == PTX_ld ? value : address, row == PTX_ld ? address : value};
    instruction.row = (uint16_t)row;
    instruction.operand_count = 2;
    return check_instruction(p, &suffix, &instruction, operands, NULL);
}

static bool move_parameters(Parser *p, const PtxInstruction *like, PtxRow row,
                            const PtxVariable *const *variables, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!variables[i]->in_register) continue;
        PtxOperand value = {.kind = PTX_OPERAND_register, .index = variables[i]->register_index};
        if (!body_move(p, like, row, variables[i], value)) return false;
    }
    return true;
}

bool body_store_results(Parser *p, const PtxInstruction *like) {
    const PtxFunction *function = p->body->function;
    return move_parameters(p, like, PTX_st, function->results, function->result_count);
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* Whether control can reach the closing brace. */
static bool falls_off(const Body *body) {
    size_t count = body->instructions.count;
    if (count == 0 || body->last_label == count) return true;
    const PtxInstruction *last = &body->instructions.data[count - 1];
    static const PtxRow ends[] = {PTX_ret, PTX_exit, PTX_trap, PTX_bra, PTX_brx_idx};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (last->row == ends[i]) return last->guarded;
    return true;
}

static bool add_return(Parser *p) {
    PtxInstruction instruction = {
        .row = PTX_ret, .vector = 1, .line = p->token.line, .location = p->body->location};
    Suffix suffix = {.opcode = p->token, .vector = 1};
    return body_store_results(p, &instruction) &&
           check_instruction(p, &suffix, &instruction, NULL, NULL);
}

static void keep_body(Parser *p) {
    Body *body = p->body;
    PtxFunction *function = body->function;
#define KEEP(field, items)                                                                         \
    function->items =                                                                              \
        arena_copy(p->arena, body->items.data, body->items.count * sizeof *body->items.data);      \
    function->field = (uint32_t)body->items.count
    KEEP(instruction_count, instructions);
    KEEP(register_count, registers);
    KEEP(variable_count, variables);
    KEEP(target_count, targets);
#undef KEEP
    debug_finish_body(p);
}

bool parse_body(Parser *p) {
    Body *body = p->body;
    PtxInstruction first = {.vector = 1, .line = p->token.line};
    vec_push(p->scratch, &body->locations, (PtxLocation){0});
    vec_push(p->scratch, &body->location_names, (LocationNames){0});
    body->last_label = UINT32_MAX;
    if (!parse_mark(p, '{') || !parse_descend(p) ||
        !move_parameters(p, &first, PTX_ld, body->function->parameters,
                         body->function->parameter_count))
        return false;
    parse_statements(p);
    parse_rise(p);
    if (falls_off(body) && !add_return(p)) return false;
    keep_body(p);
    return parse_mark(p, '}');
}
