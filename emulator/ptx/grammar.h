/* The table of instructions in a form that can be compared with an instruction: what the strings
 * of instructions.def mean. A grammar is made for one parse; the forms of a row are read when the
 * row is first used, so that a module pays for the instructions that it has. */
#ifndef TCC_EMULATOR_PTX_GRAMMAR_H
#define TCC_EMULATOR_PTX_GRAMMAR_H

#include "base/map.h"
#include "emulator/ptx/ptx.h"

/* What a word after a dot is. */
typedef enum WordKind {
    WORD_none,
    WORD_type,
    WORD_space, /* a state space; also a modifier */
    WORD_modifier,
    WORD_vector, /* v2, v4, v8 */
    WORD_shape
} WordKind;

typedef struct Word {
    WordKind kind;
    int value; /* PtxType, PtxModifier or the size of the vector */
    uint8_t shape[3];
} Word;

enum { FORM_ITEMS = 24, FORM_OPERANDS = 12, FORM_SHAPES = 4, FORMS_OF_ROW = 64 };

/* A shape of which the table says only which n are allowed. */
typedef enum ShapeRule { SHAPE_exact, SHAPE_any_n, SHAPE_integer_n } ShapeRule;

typedef struct FormItem {
    WordKind kind;
    bool optional;
    bool joined; /* there exactly when the item before is */
    uint64_t types;
    int vectors; /* sum of the sizes allowed */
    PtxModifiers modifiers;
    ShapeRule rule;
    int shape_count;
    uint8_t shapes[FORM_SHAPES][3];
} FormItem;

typedef enum OperandShape {
    OPERAND_value,
    OPERAND_address,
    OPERAND_tensor,
    OPERAND_label,
    OPERAND_targets,
    OPERAND_call
} OperandShape;

/* How many parts in braces. */
typedef enum OperandParts {
    PARTS_one,
    PARTS_vector,      /* as .v2, .v4 say */
    PARTS_fixed,       /* `count` */
    PARTS_half_n,      /* the shape's n / 2 */
    PARTS_quarter_n,   /* n / 4 */
    PARTS_dim_minus_2, /* dimensions of the tensor less 2 */
    PARTS_pack         /* such that their sizes add up to the type's */
} OperandParts;

typedef struct FormOperand {
    char name;
    OperandShape shape;
    OperandParts parts;
    uint8_t count;
    int written_type; /* index among the types written; -1: `type` */
    PtxType type;
    bool wide;     /* twice the size of the written type */
    bool wider;    /* a register wider than the type will do */
    bool constant; /* no register */
    bool no_constant;
    bool sink;
    bool left_out;   /* must be _ */
    bool source_any; /* also special registers, variables and functions */
    bool negatable;
    bool optional;
    bool paired;        /* with the operand after it: p|q */
    bool pair_optional; /* the pair's second half may be missing */
    int needed_by;      /* PtxModifier that must be there exactly with it; -1: none */
    Str allowed;        /* constants: "4|8|16", "0..15", "24..256/8"; empty: all */
} FormOperand;

typedef struct Form {
    const char *suffix, *operands_text;
    int sm, ptx;
    int item_count, operand_count, type_count;
    FormItem items[FORM_ITEMS];
    FormOperand operands[FORM_OPERANDS];
} Form;

/* In the sm column, of what runs only on the very architecture: 90 + SM_EXACT is sm_90a. */
enum { SM_EXACT = 1000 };

/* A row's text, split at the first dot, linked with the others of the same first word. */
typedef struct RowText {
    PtxRow row;
    const char *rest; /* ".async.bulk", "" */
    struct RowText *next;
} RowText;

typedef struct Grammar {
    Arena *arena;
    Map words, specials, opcodes;
    const Form *const *forms[PTX_row_count]; /* NULL at the end of a row's; NULL: not yet read */
} Grammar;

void grammar_open(Grammar *grammar, Arena *arena);

/* What the word (without its dot) is; WORD_none when it is nothing. */
Word grammar_word(const Grammar *grammar, Str text);

/* The texts of the rows that begin with an opcode, NULL: there are none. */
const RowText *grammar_rows(const Grammar *grammar, Str opcode);

/* The special register of that name (without the %); -1: none. */
int grammar_special(const Grammar *grammar, Str name);

/* The forms of a row, NULL at the end. */
const Form *const *grammar_forms(Grammar *grammar, PtxRow row);

bool ptx_modifier_is_space(PtxModifier modifier);
PtxSpace ptx_modifier_space(PtxModifier modifier);

#endif
