/* Instructions as text: modifiers come in the order of their form. */
#include "emulator/ptx/print.h"

#include "base/scratch.h"

#include <inttypes.h>
#include <string.h>

static void print_operand(Printer *printer, const PtxOperand *operand);

/* ---- names -------------------------------------------------------------------------------- */

/* A register of a vector is v.x: its place among those of the same name. */
static void print_register(Printer *printer, uint32_t index) {
    const PtxRegister *all = printer->function->registers;
    if (printer->mark) {
        buf_print(&printer->buf, "%sr%u", printer->mark, index);
        return;
    }
    uint32_t first = index;
    Str name = all[index].name;
    while (first > 0 && index - first < 3 && all[first - 1].name.data == name.data) first--;
    bool vector = first < index || (index + 1 < printer->function->register_count &&
                                    all[index + 1].name.data == name.data);
    buf_put(&printer->buf, name);
    if (vector) buf_print(&printer->buf, ".%c", "xyzw"[index - first]);
}

static bool is_one_of(const PtxVariable *variable, const PtxVariable *const *list, uint32_t count) {
    return variable->index < count && list[variable->index] == variable;
}

void print_variable_name(Printer *printer, const PtxVariable *variable) {
    const PtxFunction *f = printer->function;
    if (!printer->mark || !variable->owner || !f) {
        buf_put(&printer->buf, variable->name);
        return;
    }
    char letter = is_one_of(variable, f->parameters, f->parameter_count) ? 'p'
                  : is_one_of(variable, f->results, f->result_count)     ? 'q'
                                                                         : 'v';
    buf_print(&printer->buf, "%s%c%u", printer->mark, letter, variable->index);
}

/* Labels keep no names: reports say which line is meant. */
static void print_label(Printer *printer, uint32_t index) {
    const PtxFunction *f = printer->function;
    if (printer->mark)
        buf_print(&printer->buf, "%sL%u", printer->mark, index);
    else
        buf_print(&printer->buf, "<line %u>",
                  index < f->instruction_count ? f->instructions[index].line : f->line);
}

/* ---- operands ----------------------------------------------------------------------------- */

static void print_parts(Printer *printer, const PtxOperand *parts, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (i) buf_put(&printer->buf, STR(", "));
        print_operand(printer, &parts[i]);
    }
}

static void print_between(Printer *printer, const char *open, const PtxOperand *operand,
                          const char *close) {
    buf_put(&printer->buf, str_from(open));
    print_parts(printer, operand->parts, operand->part_count);
    buf_put(&printer->buf, str_from(close));
}

static void print_offset(Printer *printer, int64_t offset) {
    if (offset) buf_print(&printer->buf, "+%" PRId64, offset);
}

/* base+offset, without brackets. */
static void print_place(Printer *printer, const PtxOperand *operand) {
    if (operand->base == PTX_BASE_none) {
        buf_print(&printer->buf, "%" PRId64, operand->offset);
        return;
    }
    if (operand->base == PTX_BASE_register)
        print_register(printer, operand->index);
    else
        print_variable_name(printer, operand->variable);
    print_offset(printer, operand->offset);
}

static void print_special(Printer *printer, const PtxOperand *operand) {
    PtxSpecial special = (PtxSpecial)operand->index;
    buf_print(&printer->buf, "%%%s", ptx_special_name(special));
    if (ptx_special_components(special) > 1)
        buf_print(&printer->buf, ".%c", "xyzw"[operand->component]);
}

static void print_tensor(Printer *printer, const PtxOperand *operand) {
    buf_char(&printer->buf, '[');
    print_place(printer, &operand->parts[0]);
    buf_put(&printer->buf, STR(", {"));
    print_parts(printer, operand->parts + 1, operand->part_count - 1);
    buf_put(&printer->buf, STR("}]"));
}

static void print_operand(Printer *printer, const PtxOperand *operand) {
    Buf *buf = &printer->buf;
    if (operand->negated) buf_char(buf, '!');
    switch ((PtxOperandKind)operand->kind) {
    case PTX_OPERAND_register: print_register(printer, operand->index); break;
    case PTX_OPERAND_special: print_special(printer, operand); break;
    case PTX_OPERAND_integer: buf_print(buf, "%" PRId64, (int64_t)operand->bits); break;
    case PTX_OPERAND_f32: buf_print(buf, "0f%08" PRIX32, (uint32_t)operand->bits); break;
    case PTX_OPERAND_f64: buf_print(buf, "0d%016" PRIX64, operand->bits); break;
    case PTX_OPERAND_variable:
        print_variable_name(printer, operand->variable);
        print_offset(printer, operand->offset);
        break;
    case PTX_OPERAND_function: buf_put(buf, operand->function->name); break;
    case PTX_OPERAND_label: print_label(printer, operand->index); break;
    case PTX_OPERAND_address:
        buf_char(buf, '[');
        print_place(printer, operand);
        buf_char(buf, ']');
        break;
    case PTX_OPERAND_vector: print_between(printer, "{", operand, "}"); break;
    case PTX_OPERAND_tensor: print_tensor(printer, operand); break;
    case PTX_OPERAND_pair:
        print_operand(printer, &operand->parts[0]);
        buf_char(buf, '|');
        print_operand(printer, &operand->parts[1]);
        break;
    case PTX_OPERAND_list: print_between(printer, "(", operand, ")"); break;
    case PTX_OPERAND_targets:
        buf_print(buf, "%st%u", printer->mark ? printer->mark : "", operand->index);
        break;
    case PTX_OPERAND_sink: buf_char(buf, '_'); break;
    }
}

/* ---- instructions ------------------------------------------------------------------------- */

static void print_modifier(Printer *printer, const FormItem *item,
                           const PtxInstruction *instruction) {
    for (int m = 0; m < PTX_MOD_count; m++)
        if (ptx_has(&item->modifiers, (PtxModifier)m) &&
            ptx_has(&instruction->modifiers, (PtxModifier)m))
            buf_print(&printer->buf, ".%s", ptx_modifier_text((PtxModifier)m));
}

static void print_shape(Printer *printer, const uint8_t shape[3], bool has_k) {
    int n = shape[1] ? shape[1] : 256, k = shape[2] ? shape[2] : 256;
    buf_print(&printer->buf, ".m%dn%d", shape[0], n);
    if (has_k) buf_print(&printer->buf, "k%d", k);
}

static bool shape_has_k(const PtxInstruction *instruction) {
    int flags = ptx_row_flags((PtxRow)instruction->row);
    return flags & PTX_IS_TENSOR;
}

static void print_suffix(Printer *printer, const PtxInstruction *instruction) {
    const Form *form =
        grammar_forms(&printer->grammar, (PtxRow)instruction->row)[instruction->form];
    int type = 0;
    for (int i = 0; i < form->item_count; i++) {
        const FormItem *item = &form->items[i];
        switch (item->kind) {
        case WORD_type:
            buf_print(&printer->buf, ".%s", ptx_type_name((PtxType)instruction->types[type++]));
            break;
        case WORD_space:
        case WORD_modifier: print_modifier(printer, item, instruction); break;
        case WORD_vector:
            if (instruction->vector > 1) buf_print(&printer->buf, ".v%d", instruction->vector);
            break;
        case WORD_shape: print_shape(printer, instruction->shape, shape_has_k(instruction)); break;
        case WORD_none: break;
        }
    }
}

/* call (results), function, (arguments), targets: what is empty is left out. */
static void print_call(Printer *printer, const PtxInstruction *call) {
    const PtxOperand *o = call->operands;
    buf_char(&printer->buf, ' ');
    if (o[0].part_count) {
        print_operand(printer, &o[0]);
        buf_put(&printer->buf, STR(", "));
    }
    print_operand(printer, &o[1]);
    if (o[2].part_count) {
        buf_put(&printer->buf, STR(", "));
        print_operand(printer, &o[2]);
    }
    if (call->operand_count < 4) return;
    buf_put(&printer->buf, STR(", "));
    print_operand(printer, &o[3]);
}

void print_instruction(Printer *printer, const PtxInstruction *instruction) {
    Buf *buf = &printer->buf;
    if (instruction->guarded) {
        buf_put(buf, instruction->guard_negated ? STR("@!") : STR("@"));
        print_register(printer, instruction->guard);
        buf_char(buf, ' ');
    }
    buf_print(buf, "%s", ptx_row_text((PtxRow)instruction->row));
    print_suffix(printer, instruction);
    if (instruction->row == PTX_call) {
        print_call(printer, instruction);
    } else if (instruction->operand_count) {
        buf_char(buf, ' ');
        print_parts(printer, instruction->operands, instruction->operand_count);
    }
    buf_char(buf, ';');
}

Str ptx_instruction_text(Arena *arena, const PtxFunction *function, uint32_t instruction) {
    Scratch scratch;
    Printer printer = {.buf = {.arena = arena}, .function = function};
    grammar_open(&printer.grammar, scratch_open(&scratch));
    print_instruction(&printer, &function->instructions[instruction]);
    scratch_close(&scratch);
    return buf_str(&printer.buf);
}
