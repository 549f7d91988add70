/* call: (results), function, (arguments), targets.
 *
 * Kept in one shape: a list of results, the function or the register that holds its address, a
 * list of arguments, and for a register the targets or the prototype. Results and arguments are
 * .param variables; where a register or a constant is written, a variable is made, with a store
 * before the call or a load after it. */
#include "emulator/ptx/parser.h"

#include <string.h>

typedef struct Call {
    PtxOperand results, callee, arguments, targets;
    bool has_targets;
    Token name, at;
} Call;

static bool parse_parts_of_call(Parser *p, Call *call) {
    call->results = call->arguments = (PtxOperand){.kind = PTX_OPERAND_list};
    if (parse_is_mark(p, '(') && (!parse_list(p, &call->results) || !parse_mark(p, ',')))
        return false;
    call->name = p->token;
    if (p->token.kind != TOKEN_name) return parse_fail_expected(p, "a function");
    if (!parse_operand(p, &call->callee)) return false;
    if (!parse_take_mark(p, ',')) return true;
    if (parse_is_mark(p, '(')) {
        if (!parse_list(p, &call->arguments)) return false;
        if (!parse_take_mark(p, ',')) return true;
    }
    call->has_targets = true;
    call->at = p->token;
    return parse_operand(p, &call->targets);
}

/* ---- the function that is called ---------------------------------------------------------- */

/* Whose parameters the call must have: the function, the prototype, the first of the targets. */
static bool find_signature(Parser *p, const Call *call, const PtxFunction **out_signature) {
    if (call->callee.kind == PTX_OPERAND_function) {
        *out_signature = call->callee.function;
        return true;
    }
    if (call->callee.kind == PTX_OPERAND_label)
        return parse_fail(p, &call->name, "'%.*s' is not declared", STR_ARG(call->name.text));
    if (call->callee.kind != PTX_OPERAND_register)
        return parse_fail(p, &call->name, "'%.*s' is no function", STR_ARG(call->name.text));
    if (!call->has_targets)
        return parse_fail(p, &call->name, "a call through a register needs targets or a prototype");
    const PtxTargets *targets = call->targets.kind == PTX_OPERAND_targets
                                    ? &p->body->targets.data[call->targets.index]
                                    : NULL;
    if (!targets || targets->kind == PTX_TARGETS_branch)
        return parse_fail(p, &call->at, "must be the label of .calltargets or .callprototype");
    *out_signature = targets->kind == PTX_TARGETS_call ? targets->functions[0] : targets->prototype;
    return true;
}

/* ---- results and arguments ---------------------------------------------------------------- */

static const PtxVariable *add_variable(Parser *p, const PtxVariable *like) {
    PtxVariable *variable = NEW(p->arena, PtxVariable);
    *variable = *like;
    variable->name = str_format(p->arena, "_call_%zu", p->body->variables.count);
    variable->owner = p->body->function;
    variable->index = (uint32_t)p->body->variables.count;
    variable->in_register = false;
    vec_push(p->scratch, &p->body->variables, variable);
    return variable;
}

/* A name of a .param variable, without brackets or offset. */
static bool is_parameter(const PtxOperand *operand) {
    return operand->kind == PTX_OPERAND_variable && operand->offset == 0 &&
           operand->variable->space == PTX_SPACE_param;
}

static bool is_value(const PtxOperand *operand) {
    return operand->kind == PTX_OPERAND_register || operand->kind == PTX_OPERAND_integer ||
           operand->kind == PTX_OPERAND_f32 || operand->kind == PTX_OPERAND_f64;
}

/* Makes an operand of the list a variable; *out_value is the value that goes there or comes from
 * there, of kind sink when there is none. */
static bool make_parameter(Parser *p, const Call *call, const PtxVariable *like, PtxOperand *part,
                           PtxOperand *out_value) {
    *out_value = (PtxOperand){.kind = PTX_OPERAND_sink};
    if (is_value(part)) {
        *out_value = *part;
        *part = (PtxOperand){.kind = PTX_OPERAND_variable, .variable = add_variable(p, like)};
        return true;
    }
    if (part->kind == PTX_OPERAND_sink) {
        *part = (PtxOperand){.kind = PTX_OPERAND_variable, .variable = add_variable(p, like)};
        return true;
    }
    if (!is_parameter(part))
        return parse_fail(p, &call->name, "arguments and results are .param variables");
    if (part->variable->size < like->size)
        return parse_fail(p, &call->name, "'%.*s' has %llu bytes, %llu are passed",
                          STR_ARG(part->variable->name), (unsigned long long)part->variable->size,
                          (unsigned long long)like->size);
    return true;
}

/* Each of the list in turn; what is stored (of arguments) or loaded (of results) is moved now. */
static bool pass(Parser *p, const Call *call, const PtxInstruction *instruction, PtxRow row,
                 PtxOperand *list, const PtxVariable *const *like, uint32_t count,
                 PtxOperand **out_values) {
    if (list->part_count != count)
        return parse_fail(p, &call->name, "'%.*s' has %u %s, %u given", STR_ARG(call->name.text),
                          count, row == PTX_st ? "parameters" : "results", list->part_count);
    PtxOperand *parts = (PtxOperand *)list->parts;
    *out_values = NEW_ARRAY(p->scratch, PtxOperand, count);
    for (uint32_t i = 0; i < count; i++) {
        PtxOperand *value = &(*out_values)[i];
        if (!make_parameter(p, call, like[i], &parts[i], value)) return false;
        if (value->kind == PTX_OPERAND_sink || row != PTX_st) continue;
        if (!body_move(p, instruction, PTX_st, parts[i].variable, *value)) return false;
    }
    return true;
}

static bool load_results(Parser *p, const PtxInstruction *instruction, const PtxOperand *list,
                         const PtxOperand *values) {
    for (uint32_t i = 0; i < list->part_count; i++) {
        if (values[i].kind == PTX_OPERAND_sink) continue;
        if (!body_move(p, instruction, PTX_ld, list->parts[i].variable, values[i])) return false;
    }
    return true;
}

static void add_call(Parser *p, PtxInstruction *instruction, const Suffix *suffix,
                     const Call *call) {
    PtxOperand operands[4] = {call->results, call->callee, call->arguments, call->targets};
    instruction->operand_count = call->has_targets ? 4 : 3;
    instruction->operands =
        arena_copy(p->arena, operands, instruction->operand_count * sizeof *operands);
    instruction->vector = 1;
    instruction->modifiers = suffix->modifiers;
    vec_push(p->scratch, &p->body->instructions, *instruction);
}

bool parse_call(Parser *p, PtxInstruction *instruction, const Suffix *suffix) {
    Call call = {0};
    const PtxFunction *signature = NULL;
    PtxOperand *stored, *loaded;
    Str why;
    const Form *form = grammar_forms(&p->grammar, PTX_call)[0];
    if (form_match(p->scratch, form, suffix, &why) < MATCH_complete)
        return parse_fail(p, &suffix->opcode, "'call' %.*s", STR_ARG(why));
    if (!parse_parts_of_call(p, &call) || !find_signature(p, &call, &signature)) return false;
    if (!parse_is_mark(p, ';')) return parse_fail_expected(p, "';'");
    if (!pass(p, &call, instruction, PTX_st, &call.arguments, signature->parameters,
              signature->parameter_count, &stored) ||
        !pass(p, &call, instruction, PTX_ld, &call.results, signature->results,
              signature->result_count, &loaded))
        return false;
    add_call(p, instruction, suffix, &call);
    return load_results(p, instruction, &call.results, loaded) && parse_mark(p, ';');
}
