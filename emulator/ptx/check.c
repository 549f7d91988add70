/* Which form of its row an instruction has, and what it then is. */
#include "emulator/ptx/parser.h"

#include <string.h>

/* The failure that came farthest, for the report. */
typedef struct Failure {
    int rank;    /* -1: none */
    int operand; /* -1: the whole */
    Str why;
} Failure;

enum { RANK_operand_count = 1000, RANK_target = 2000, RANK_operand = 3000 };

static void note(Failure *failure, int rank, int operand, Str why) {
    if (rank > failure->rank) *failure = (Failure){rank, operand, why};
}

/* ---- least target and version ------------------------------------------------------------- */

static bool target_allows(const Parser *p, const Form *form) {
    const PtxModule *module = p->module;
    int least = form->sm % SM_EXACT;
    if (module->target < least || module->version < form->ptx) return false;
    return form->sm < SM_EXACT || ((module->target_exact || module->target_family) &&
                                   (module->target == least || least >= 100));
}

static const struct {
    uint8_t sm, ptx;
} modifier_limits[PTX_MOD_count] = {
#define MODIFIER(name, text, sm, ptx) [PTX_MOD_##name] = {sm, ptx},
#include "emulator/ptx/modifiers.def"
#undef MODIFIER
};

/* A word that the module's target or version does not have; -1: none. */
static int too_new(const Parser *p, const PtxInstruction *instruction) {
    for (int m = 0; m < PTX_MOD_count; m++)
        if (ptx_has(&instruction->modifiers, (PtxModifier)m) &&
            (p->module->target < modifier_limits[m].sm ||
             p->module->version < modifier_limits[m].ptx))
            return m;
    return -1;
}

static void note_target(Parser *p, const Form *form, Failure *failure) {
    const PtxModule *m = p->module;
    int least = form->sm % SM_EXACT;
    Str why =
        str_format(p->scratch, "needs sm_%d%s and .version %d.%d; the module has sm_%d and %d.%d",
                   least, form->sm >= SM_EXACT ? "a" : "", form->ptx / 10, form->ptx % 10,
                   m->target, m->version / 10, m->version % 10);
    note(failure, RANK_target, -1, why);
}

/* ---- operands ----------------------------------------------------------------------------- */

/* Which operands of the form are written: those that modifiers ask for, and of those that may be
 * missing as many as there are more operands than needed, from the left. */
static int operands_needed(const Form *form, const Suffix *suffix, int *out_most) {
    int least = 0, most = 0;
    for (int i = 0; i < form->operand_count; i++) {
        const FormOperand *o = &form->operands[i];
        if (i > 0 && form->operands[i - 1].paired) continue;
        if (o->needed_by >= 0 && !ptx_has(&suffix->modifiers, (PtxModifier)o->needed_by)) continue;
        most++;
        least += !o->optional;
    }
    *out_most = most;
    return least;
}

/* The two halves of p|q, or the first alone where the second may be missing. */
static bool fit_pair(Fitting *f, const FormOperand *form, PtxOperand *operand) {
    if (operand->kind != PTX_OPERAND_pair) {
        if (form->pair_optional) return operand_fits(f, form, operand, PTX_SPACE_generic);
        f->why = STR("must be a pair, as in d|p");
        return false;
    }
    return operand_fits(f, form, (PtxOperand *)&operand->parts[0], PTX_SPACE_generic) &&
           operand_fits(f, form + 1, (PtxOperand *)&operand->parts[1], PTX_SPACE_generic);
}

static PtxSpace space_of(const Suffix *suffix, int address) {
    return address < suffix->space_count ? ptx_modifier_space((PtxModifier)suffix->spaces[address])
                                         : PTX_SPACE_generic;
}

static bool fit_operands(Parser *p, const Form *form, const Suffix *suffix, PtxOperand *operands,
                         int count, Failure *failure) {
    Fitting fitting = {.p = p, .suffix = suffix};
    int most, least = operands_needed(form, suffix, &most), extra = count - least;
    if (count < least || count > most) {
        note(failure, RANK_operand_count, -1,
             str_format(p->scratch, "takes %d%s operand%s, %d given", least,
                        most > least ? " or more" : "", least == 1 ? "" : "s", count));
        return false;
    }
    int at = 0, addresses = 0;
    for (int i = 0; i < form->operand_count; i++) {
        const FormOperand *o = &form->operands[i];
        if (o->needed_by >= 0 && !ptx_has(&suffix->modifiers, (PtxModifier)o->needed_by)) continue;
        if (o->optional && extra-- <= 0) continue;
        bool address = o->shape == OPERAND_address || o->shape == OPERAND_tensor;
        PtxSpace space = address ? space_of(suffix, addresses++) : PTX_SPACE_generic;
        bool good = o->paired ? fit_pair(&fitting, o, &operands[at])
                              : operand_fits(&fitting, o, &operands[at], space);
        if (!good) {
            note(failure, RANK_operand + at, at, fitting.why);
            return false;
        }
        at++;
        i += o->paired;
    }
    return true;
}

/* ---- the instruction ---------------------------------------------------------------------- */

static void describe(PtxInstruction *instruction, const Suffix *suffix, int form) {
    instruction->form = (uint16_t)form;
    instruction->vector = suffix->vector;
    instruction->type_count = suffix->type_count;
    memcpy(instruction->types, suffix->types, sizeof instruction->types);
    memcpy(instruction->shape, suffix->shape, sizeof instruction->shape);
    instruction->modifiers = suffix->modifiers;
    for (int i = 0; i < suffix->space_count; i++) {
        int m = suffix->spaces[i];
        instruction->modifiers.words[m / 64] |= (uint64_t)1 << (m % 64);
    }
    instruction->space = (uint8_t)space_of(suffix, 0);
    instruction->source_space = (uint8_t)space_of(suffix, 1);
}

static bool add_instruction(Parser *p, const Suffix *suffix, PtxInstruction *instruction,
                            const PtxOperand *operands, const Token *places) {
    size_t count = instruction->operand_count;
    int m = too_new(p, instruction);
    if (m >= 0)
        return parse_fail(p, &suffix->opcode, "'.%s' needs sm_%d and .version %d.%d",
                          ptx_modifier_text((PtxModifier)m), modifier_limits[m].sm,
                          modifier_limits[m].ptx / 10, modifier_limits[m].ptx % 10);
    PtxOperand *kept = arena_copy(p->arena, operands, count * sizeof *kept);
    instruction->operands = kept;
    for (size_t i = 0; i < count; i++)
        if (kept[i].kind == PTX_OPERAND_label) label_use(p, &places[i], &kept[i].index);
    vec_push(p->scratch, &p->body->instructions, *instruction);
    return true;
}

static bool report(Parser *p, const Suffix *suffix, PtxRow row, const Failure *failure,
                   const Token *places) {
    const char *text = ptx_row_text(row);
    if (failure->operand < 0 || !places)
        return parse_fail(p, &suffix->opcode, "'%s' %.*s", text, STR_ARG(failure->why));
    return parse_fail(p, &places[failure->operand], "operand %d of '%s' %.*s", failure->operand + 1,
                      text, STR_ARG(failure->why));
}

bool check_instruction(Parser *p, const Suffix *suffix, PtxInstruction *instruction,
                       PtxOperand *operands, const Token *places) {
    const Form *const *forms = grammar_forms(&p->grammar, (PtxRow)instruction->row);
    const Form *best = NULL;
    Failure failure = {.rank = -1};
    for (int i = 0; forms[i]; i++) {
        int rank = form_match(p->scratch, forms[i], suffix, NULL);
        if (rank < MATCH_complete) {
            if (rank > failure.rank) best = forms[i];
            note(&failure, rank, -1, (Str){0});
        } else if (!target_allows(p, forms[i])) {
            note_target(p, forms[i], &failure);
        } else if (fit_operands(p, forms[i], suffix, operands, instruction->operand_count,
                                &failure)) {
            describe(instruction, suffix, i);
            return add_instruction(p, suffix, instruction, operands, places);
        }
    }
    if (failure.rank < MATCH_complete) form_match(p->scratch, best, suffix, &failure.why);
    return report(p, suffix, (PtxRow)instruction->row, &failure, places);
}
