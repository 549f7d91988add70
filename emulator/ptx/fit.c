/* Is an operand what a form asks for? Registers are compared by size and class as ptxas does:
 * bits fit all, signed fits unsigned, floats fit their own and bits. */
#include "emulator/ptx/parser.h"

#include <string.h>

static bool fail(Fitting *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(Fitting *f, const char *format, ...) {
    va_list args;
    Buf buf = {.arena = f->p->scratch};
    va_start(args, format);
    buf_vprint(&buf, format, args);
    va_end(args);
    f->why = buf_str(&buf);
    return false;
}

/* ---- types -------------------------------------------------------------------------------- */

/* What the form says the operand's type is; `wide` gives the type of twice the size. */
static PtxType type_of(const Fitting *f, const FormOperand *form) {
    if (form->written_type < 0) return form->type;
    PtxType type = form->written_type < f->suffix->type_count
                       ? (PtxType)f->suffix->types[form->written_type]
                       : PTX_TYPE_none;
    if (!form->wide) return type;
    switch (type) {
    case PTX_TYPE_u16: return PTX_TYPE_u32;
    case PTX_TYPE_s16: return PTX_TYPE_s32;
    case PTX_TYPE_u32: return PTX_TYPE_u64;
    default: return PTX_TYPE_s64;
    }
}

static bool is_integer(PtxTypeClass class) {
    return class == PTX_CLASS_unsigned || class == PTX_CLASS_signed;
}

/* Whether the classes go together, sizes aside. */
static bool classes_fit(PtxType declared, PtxType wanted) {
    PtxTypeClass a = ptx_type_class(declared), b = ptx_type_class(wanted);
    if (a == PTX_CLASS_pred || b == PTX_CLASS_pred) return a == b;
    if (a == PTX_CLASS_bits) return true;
    if (b == PTX_CLASS_bits) return true;
    if (is_integer(a)) return is_integer(b);
    return declared == wanted;
}

static bool register_fits(PtxType declared, PtxType wanted, bool wider) {
    int have = ptx_type_bits(declared), want = ptx_type_bits(wanted);
    if (wanted == PTX_TYPE_tf32) return ptx_type_class(declared) == PTX_CLASS_bits && have == 32;
    if (!classes_fit(declared, wanted)) return false;
    if (have == want) return true;
    return wider && have > want && ptx_type_class(declared) != PTX_CLASS_float &&
           ptx_type_class(wanted) != PTX_CLASS_float;
}

static PtxType register_type(const Fitting *f, uint32_t index) {
    return f->p->body->registers.data[index].type;
}

/* ---- values ------------------------------------------------------------------------------- */

static bool is_written(const FormOperand *form) {
    return form->name == 'd' || form->name == 'p' || form->name == 'q';
}

static bool fit_register(Fitting *f, const FormOperand *form, const PtxOperand *operand,
                         PtxType type) {
    PtxType declared = register_type(f, operand->index);
    if (form->constant) return fail(f, "must be a constant");
    if (type == PTX_TYPE_none || register_fits(declared, type, form->wider)) return true;
    return fail(f, "is a register of type .%s, .%s expected", ptx_type_name(declared),
                ptx_type_name(type));
}

/* A number at the start of *text, which is then behind it. */
static int64_t take_number(Str *text) {
    bool negative = text->size && text->data[0] == '-';
    int64_t value = 0;
    size_t i = negative;
    for (; i < text->size && text->data[i] >= '0' && text->data[i] <= '9'; i++)
        value = value * 10 + text->data[i] - '0';
    *text = (Str){text->data + i, text->size - i};
    return negative ? -value : value;
}

/* "4|8|16", "0..15", "24..256/8" */
static bool is_allowed(Str allowed, int64_t value) {
    int64_t first = take_number(&allowed);
    if (str_starts_with(allowed, STR(".."))) {
        allowed = (Str){allowed.data + 2, allowed.size - 2};
        int64_t last = take_number(&allowed), step = 1;
        if (allowed.size) {
            allowed = (Str){allowed.data + 1, allowed.size - 1};
            step = take_number(&allowed);
        }
        return value >= first && value <= last && (value - first) % step == 0;
    }
    while (value != first && allowed.size) {
        allowed = (Str){allowed.data + 1, allowed.size - 1};
        first = take_number(&allowed);
    }
    return value == first;
}

static bool fit_range(Fitting *f, const FormOperand *form, const PtxOperand *operand) {
    if (!form->allowed.size || is_allowed(form->allowed, (int64_t)operand->bits)) return true;
    return fail(f, "is %lld, allowed is %.*s", (long long)operand->bits, STR_ARG(form->allowed));
}

static bool fit_constant(Fitting *f, const FormOperand *form, PtxOperand *operand, PtxType type) {
    Constant value = {.bits = operand->bits,
                      .kind = operand->kind == PTX_OPERAND_integer ? TOKEN_integer
                              : operand->kind == PTX_OPERAND_f32   ? TOKEN_f32
                                                                   : TOKEN_f64};
    if (is_written(form)) return fail(f, "must be a register to write to");
    if (form->no_constant) return fail(f, "must be a register");
    if (type == PTX_TYPE_none && value.kind != TOKEN_integer) return fail(f, "must be an integer");
    if (type == PTX_TYPE_none) return fit_range(f, form, operand);
    if (!constant_bits(value, type, &operand->bits))
        return fail(f, "is no constant of type .%s", ptx_type_name(type));
    operand->kind = type == PTX_TYPE_f32   ? PTX_OPERAND_f32
                    : type == PTX_TYPE_f64 ? PTX_OPERAND_f64
                                           : PTX_OPERAND_integer;
    return fit_range(f, form, operand);
}

static bool fit_special(Fitting *f, const FormOperand *form, const PtxOperand *operand,
                        PtxType type) {
    PtxType have = ptx_special_type((PtxSpecial)operand->index);
    if (!form->source_any) return fail(f, "is a special register, which only mov and cvt read");
    bool narrow = ptx_type_bits(type) == 16 && ptx_type_bits(have) == 32;
    if (ptx_type_class(type) == PTX_CLASS_float) return fail(f, "is no float");
    return narrow || register_fits(have, type, form->wider) ||
           fail(f, "is a register of type .%s, .%s expected", ptx_type_name(have),
                ptx_type_name(type));
}

static bool fit_address_value(Fitting *f, const FormOperand *form, PtxType type) {
    if (!form->source_any) return fail(f, "is an address, a register expected");
    if (ptx_type_bits(type) < 32 || ptx_type_class(type) == PTX_CLASS_float)
        return fail(f, "is an address, which does not fit into .%s", ptx_type_name(type));
    return true;
}

static bool fit_value(Fitting *f, const FormOperand *form, PtxOperand *operand, PtxType type) {
    if (operand->negated && !form->negatable) return fail(f, "cannot be negated here");
    if (form->left_out)
        return operand->kind == PTX_OPERAND_sink || fail(f, "must be left out as _");
    switch ((PtxOperandKind)operand->kind) {
    case PTX_OPERAND_register: return fit_register(f, form, operand, type);
    case PTX_OPERAND_integer:
    case PTX_OPERAND_f32:
    case PTX_OPERAND_f64: return fit_constant(f, form, operand, type);
    case PTX_OPERAND_special: return fit_special(f, form, operand, type);
    case PTX_OPERAND_variable:
    case PTX_OPERAND_function: return fit_address_value(f, form, type);
    case PTX_OPERAND_sink: return form->sink || fail(f, "cannot be left out");
    case PTX_OPERAND_label: return fail(f, "is not declared");
    default: return fail(f, "must be a register%s", is_written(form) ? "" : " or a constant");
    }
}

/* ---- vectors ------------------------------------------------------------------------------ */

static int parts_wanted(const Fitting *f, const FormOperand *form) {
    int n = f->suffix->shape[1] ? f->suffix->shape[1] : 256;
    switch (form->parts) {
    case PARTS_one:
    case PARTS_pack: return 0;
    case PARTS_vector: return f->suffix->vector > 1 ? f->suffix->vector : 0;
    case PARTS_fixed: return form->count;
    case PARTS_half_n: return n / 2;
    case PARTS_quarter_n: return n / 4;
    case PARTS_dim_minus_2:
        for (int dim = 3; dim <= 5; dim++)
            if (ptx_has(&f->suffix->modifiers, (PtxModifier)(PTX_MOD_dim_1d + dim - 1)))
                return dim - 2;
        break;
    }
    return 0;
}

/* Bits of a part; of a constant or sink 0: what is left. */
static int part_bits(const Fitting *f, const PtxOperand *part) {
    return part->kind == PTX_OPERAND_register ? ptx_type_bits(register_type(f, part->index)) : 0;
}

/* {lo, hi} of mov.b64: parts of one size that add up. */
static bool fit_pack(Fitting *f, const FormOperand *form, PtxOperand *operand, PtxType type) {
    int each = operand->part_count ? ptx_type_bits(type) / (int)operand->part_count : 0;
    PtxType part_type = each == 8    ? PTX_TYPE_b8
                        : each == 16 ? PTX_TYPE_b16
                        : each == 32 ? PTX_TYPE_b32
                                     : PTX_TYPE_b64;
    if (operand->kind != PTX_OPERAND_vector || operand->part_count < 2 ||
        each * (int)operand->part_count != ptx_type_bits(type) || ptx_type_bits(part_type) != each)
        return fail(f, "must be registers in braces that together have %d bits",
                    ptx_type_bits(type));
    for (uint32_t i = 0; i < operand->part_count; i++) {
        PtxOperand *part = (PtxOperand *)&operand->parts[i];
        if (part->kind == PTX_OPERAND_sink && is_written(form)) continue;
        if (!fit_value(f, form, part, part_type)) return false;
    }
    return true;
}

static bool fit_parts(Fitting *f, const FormOperand *form, PtxOperand *operand, PtxType type,
                      int wanted) {
    if (operand->kind != PTX_OPERAND_vector) {
        if (wanted == 1) return fit_value(f, form, operand, type);
        return fail(f, "must be %d operands in braces", wanted);
    }
    if ((int)operand->part_count != wanted)
        return fail(f, "has %u parts, %d expected", operand->part_count, wanted);
    int first = part_bits(f, &operand->parts[0]);
    for (int i = 0; i < wanted; i++) {
        PtxOperand *part = (PtxOperand *)&operand->parts[i];
        int bits = part_bits(f, part);
        if (!fit_value(f, form, part, type)) return false;
        if (bits && first && bits != first) return fail(f, "has parts of different sizes");
        if (!first) first = bits;
    }
    return true;
}

static bool all_sinks(const PtxOperand *operand) {
    for (uint32_t i = 0; i < operand->part_count; i++)
        if (operand->parts[i].kind != PTX_OPERAND_sink) return false;
    return operand->kind == PTX_OPERAND_vector;
}

/* The sinks of a vector are allowed where its form has a `_`; a lone `_` only of what is atomic. */
static bool fit_any(Fitting *f, const FormOperand *form, PtxOperand *operand) {
    PtxType type = type_of(f, form);
    if (form->parts == PARTS_pack) return fit_pack(f, form, operand, type);
    int wanted = parts_wanted(f, form);
    if (wanted > 0) {
        if (operand->kind == PTX_OPERAND_vector && operand->part_count && all_sinks(operand))
            return fail(f, "has no part that is a register");
        return fit_parts(f, form, operand, type, wanted);
    }
    if (form->parts == PARTS_vector && operand->kind == PTX_OPERAND_sink)
        return fail(f, "cannot be left out");
    return fit_value(f, form, operand, type);
}

/* ---- addresses ---------------------------------------------------------------------------- */

static const char *space_name(PtxSpace space) {
    static const char *const names[] = {
        [PTX_SPACE_generic] = "generic", [PTX_SPACE_global] = "global",
        [PTX_SPACE_const] = "const",     [PTX_SPACE_shared] = "shared",
        [PTX_SPACE_local] = "local",     [PTX_SPACE_param] = "param"};
    return names[space];
}

static bool fit_base(Fitting *f, const PtxOperand *operand, PtxSpace space) {
    if (operand->base == PTX_BASE_register) {
        PtxType type = register_type(f, operand->index);
        PtxTypeClass class = ptx_type_class(type);
        int bits = ptx_type_bits(type);
        bool number = class == PTX_CLASS_bits || is_integer(class);
        if (number && (bits == 64 || bits == 32)) return true;
        return fail(f, "is based on a register of type .%s", ptx_type_name(type));
    }
    if (operand->base == PTX_BASE_none)
        return space == PTX_SPACE_local || fail(f, "is a number: only .local has such addresses");
    PtxSpace have = operand->variable->space;
    if (space == PTX_SPACE_generic || have == space) return true;
    return fail(f, "lies in .%s, not .%s", space_name(have), space_name(space));
}

static bool fit_address(Fitting *f, PtxOperand *operand, PtxSpace space) {
    if (operand->kind == PTX_OPERAND_variable) {
        operand->kind = PTX_OPERAND_address;
        operand->base = PTX_BASE_variable;
    }
    if (operand->kind != PTX_OPERAND_address) return fail(f, "must be an address in brackets");
    return fit_base(f, operand, space);
}

static int tensor_rank(const Suffix *suffix) {
    for (int dim = 1; dim <= 5; dim++)
        if (ptx_has(&suffix->modifiers, (PtxModifier)(PTX_MOD_dim_1d + dim - 1))) return dim;
    return 0;
}

static int coordinates_of(const Suffix *suffix) {
    bool rows = ptx_has(&suffix->modifiers, PTX_MOD_tile_gather4) ||
                ptx_has(&suffix->modifiers, PTX_MOD_tile_scatter4);
    return rows ? 5 : tensor_rank(suffix);
}

static bool fit_tensor(Fitting *f, PtxOperand *operand) {
    static const FormOperand coordinate = {
        .written_type = -1, .type = PTX_TYPE_s32, .needed_by = -1};
    int rank = coordinates_of(f->suffix);
    if (operand->kind != PTX_OPERAND_tensor)
        return fail(f, "must be a tensor map with coordinates, [map, {x, y}]");
    if ((int)operand->part_count != rank + 1)
        return fail(f, "has %u coordinates, %d expected", operand->part_count - 1, rank);
    for (int i = 1; i <= rank; i++)
        if (!fit_value(f, &coordinate, (PtxOperand *)&operand->parts[i], PTX_TYPE_s32))
            return false;
    return fit_base(f, &operand->parts[0], PTX_SPACE_generic);
}

bool operand_fits(Fitting *f, const FormOperand *form, PtxOperand *operand, PtxSpace space) {
    switch (form->shape) {
    case OPERAND_address: return fit_address(f, operand, space);
    case OPERAND_tensor: return fit_tensor(f, operand);
    case OPERAND_label: return operand->kind == PTX_OPERAND_label || fail(f, "must be a label");
    case OPERAND_targets:
        return operand->kind == PTX_OPERAND_targets ||
               fail(f, "must be the label of .branchtargets, declared before");
    case OPERAND_call: return true;
    case OPERAND_value: break;
    }
    return fit_any(f, form, operand);
}
