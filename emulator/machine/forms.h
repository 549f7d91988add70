/* Which handler executes what: every family of instructions (integer.c, float.c ...) has a table
 * of forms, and decode.c looks for the form that an instruction fits: the same row, types and
 * modifiers. An instruction without a form cannot be loaded.
 *
 * A form says by a word how operands become slots, a letter an operand:
 *     w  a 32-bit word (also 8- and 16-bit registers)   l  64 bits   q  128 bits   p  a predicate
 *     W L Q P  the same, written                        i  a constant, into record->immediate
 *     ?  the rest may be missing (slots stay 0: constant true, of predicates)
 * Slots are given in the order of the word. A pair p|q takes two letters, a sink gets a slot that
 * nobody reads. Operands of other shapes are for the form's `prepare`. */
#ifndef TCC_EMULATOR_MACHINE_FORMS_H
#define TCC_EMULATOR_MACHINE_FORMS_H

#include "emulator/machine/execute.h"

typedef struct Decoder Decoder;

/* Completes a record whose operands are not plain; may choose record->run. False: it called
 * decoder_fail. */
typedef bool Prepare(Decoder *decoder, const PtxInstruction *instruction, Record *record);

/* Modifiers that a form takes as record->options. */
enum {
    ACCEPT_ftz = 1,
    ACCEPT_sat = 2,
    ACCEPT_rounding = 4, /* rz, rm, rp */
    ACCEPT_nan = 8,
    ACCEPT_relu = 16,
    ACCEPT_xorsign = 32, /* .xorsign.abs */
    ACCEPT_carry = 64,   /* cc */
    ACCEPT_any = 128     /* all: prepare looks at them */
};

typedef struct Form {
    uint16_t row;
    uint8_t accepts;
    uint8_t types[3];     /* as written; none ends. Any: PTX_TYPE_count first */
    uint8_t modifiers[3]; /* PTX_MOD_x + 1; 0 ends */
    const char *operands; /* NULL: prepare does all */
    Handler *run;
    Prepare *prepare; /* may be NULL */
    uint64_t immediate;
} Form;

typedef struct FormTable {
    const Form *forms;
    uint32_t count;
} FormTable;

/* T(u32), T(s32, f16), M(lt, and): lists of a form. */
#define T(...) .types = {FORM_EACH(FORM_TYPE, __VA_ARGS__)}
#define M(...) .modifiers = {FORM_EACH(FORM_MOD, __VA_ARGS__)}
#define FORM_TYPE(name) PTX_TYPE_##name
#define FORM_MOD(name) PTX_MOD_##name + 1
#define FORM_EACH(f, ...) FORM_PICK(__VA_ARGS__, FORM_3, FORM_2, FORM_1, )(f, __VA_ARGS__)
#define FORM_PICK(a, b, c, name, ...) name
#define FORM_1(f, a) f(a)
#define FORM_2(f, a, b) f(a), f(b)
#define FORM_3(f, a, b, c) f(a), f(b), f(c)
#define FORM_ANY_TYPE .types = {PTX_TYPE_count}

/* The tables; emu_form_tables lists them. */
extern const FormTable *const emu_form_tables[];
extern const uint32_t emu_form_table_count;

/* For `prepare`. */

typedef enum Width { WIDTH_word, WIDTH_long, WIDTH_quad, WIDTH_predicate } Width;

/* The slot that holds a register, special register, constant or address of a variable, as `width`
 * wants it: narrower and wider registers are moved into a slot of their own first. */
uint32_t decoder_source(Decoder *decoder, const PtxOperand *operand, Width width);
/* The slot to write; a wider register is written after the record, extended from `type`. */
uint32_t decoder_target(Decoder *decoder, const PtxOperand *operand, Width width, PtxType type);
/* A slot of constant lanes. */
uint32_t decoder_constant(Decoder *decoder, Width width, uint64_t value);
/* `count` slots in the program's memory. */
uint32_t *decoder_list(Decoder *decoder, uint32_t count);
/* An address [base + offset] into slot[at], immediate and OPTION_address32. */
bool decoder_address(Decoder *decoder, const PtxOperand *operand, Record *record, uint32_t at);
/* Gives up on the module: the message gets line and text. Returns false. */
bool decoder_fail(Decoder *decoder, const char *format, ...) __attribute__((format(printf, 2, 3)));
const PtxInstruction *decoder_instruction(const Decoder *decoder);
Width decoder_width(PtxType type);

#endif
