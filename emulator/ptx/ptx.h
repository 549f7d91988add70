/* A PTX module in memory: what the parser makes of a text, and what the machine decodes.
 *
 * Everything is resolved: registers are numbers, labels are indices of instructions, names of
 * variables and functions are pointers. Everything is checked against the instruction table
 * (instructions.def), so that what comes after the parser may rely on it: each instruction has a
 * row, and its modifiers, types and operands are what the row allows. What the table does not know
 * is an error with line and text, never skipped.
 *
 * A module and all it points to live in one arena and are immutable once parsed; any number of
 * threads may read them. */
#ifndef TCC_EMULATOR_PTX_PTX_H
#define TCC_EMULATOR_PTX_PTX_H

#include "base/arena.h"
#include "base/str.h"

/* Types: PTX_TYPE_b32 ... in the order of types.def. */
typedef enum PtxType {
    PTX_TYPE_none,
#define TYPE(name, bits, class) PTX_TYPE_##name,
#include "emulator/ptx/types.def"
#undef TYPE
    PTX_TYPE_count
} PtxType;

typedef enum PtxTypeClass {
    PTX_CLASS_none,
    PTX_CLASS_bits,
    PTX_CLASS_unsigned,
    PTX_CLASS_signed,
    PTX_CLASS_float,
    PTX_CLASS_packed, /* two or four floats in a word */
    PTX_CLASS_pred
} PtxTypeClass;

const char *ptx_type_name(PtxType type);
int ptx_type_bits(PtxType type); /* of one register or element; pred has 1 */
PtxTypeClass ptx_type_class(PtxType type);

/* Modifiers: PTX_MOD_rn ... in the order of modifiers.def; what follows a dot and is no type. */
typedef enum PtxModifier {
#define MODIFIER(name, text, sm, ptx) PTX_MOD_##name,
#include "emulator/ptx/modifiers.def"
#undef MODIFIER
    PTX_MOD_count
} PtxModifier;

typedef struct PtxModifiers {
    uint64_t words[4];
} PtxModifiers;

const char *ptx_modifier_text(PtxModifier modifier); /* without the dot */

static inline bool ptx_has(const PtxModifiers *set, PtxModifier modifier) {
    return set->words[modifier / 64] >> (modifier % 64) & 1;
}

/* Rows: PTX_add ... in the order of instructions.def, which documents its columns. A row is an
 * opcode with its sub-operation; operations that may stand in any place (the .add of atom, the
 * .ballot of vote, the .lt of setp) are modifiers. */
typedef enum PtxRow {
#define INSTRUCTION(name, ...) PTX_##name,
#include "emulator/ptx/instructions.def"
#undef INSTRUCTION
    PTX_row_count
} PtxRow;

typedef enum PtxRowFlags {
    PTX_IS_MEMORY = 1,
    PTX_IS_ATOMIC = 2,
    PTX_IS_ASYNC = 4,    /* goes on after the instruction */
    PTX_IS_SYNC = 8,     /* waits for others, or orders what they see */
    PTX_IS_UNIFORM = 16, /* all lanes of the warp execute it together */
    PTX_IS_TENSOR = 32,
    PTX_IS_CONTROL = 64,
    PTX_IS_UNSUPPORTED = 128, /* never in a module: an error when it is parsed */
    PTX_IS_LOOSE = 256        /* the sub-operation may stand among the modifiers */
} PtxRowFlags;

const char *ptx_row_text(PtxRow row); /* "cp.async.commit_group" */
int ptx_row_flags(PtxRow row);        /* PTX_IS_... */

/* State spaces of variables; generic is what an address without a space names. */
typedef enum PtxSpace {
    PTX_SPACE_generic,
    PTX_SPACE_global,
    PTX_SPACE_const,
    PTX_SPACE_shared,
    PTX_SPACE_local,
    PTX_SPACE_param
} PtxSpace;

typedef enum PtxSpecial { /* read-only registers, in the order of specials.def */
#define SPECIAL(name, type, components) PTX_SPECIAL_##name,
#include "emulator/ptx/specials.def"
#undef SPECIAL
                          PTX_SPECIAL_count
} PtxSpecial;

const char *ptx_special_name(PtxSpecial special); /* without the % */
PtxType ptx_special_type(PtxSpecial special);
int ptx_special_components(PtxSpecial special); /* 4: .x .y .z .w; else 1 */

typedef struct PtxVariable PtxVariable;
typedef struct PtxFunction PtxFunction;

typedef enum PtxOperandKind {
    PTX_OPERAND_register,
    PTX_OPERAND_special,  /* %tid.x, %laneid ... */
    PTX_OPERAND_integer,  /* an immediate; also bits of what a mov of a float gets as 0x... */
    PTX_OPERAND_f32,      /* 0f...: `bits` */
    PTX_OPERAND_f64,      /* 0d... and decimals: `bits` */
    PTX_OPERAND_variable, /* the address of a variable, plus `offset` */
    PTX_OPERAND_function, /* a function's name: of call, or its address in mov */
    PTX_OPERAND_label,
    PTX_OPERAND_address, /* [base + offset] */
    PTX_OPERAND_vector,  /* {a, b, ...} */
    PTX_OPERAND_tensor,  /* [map, {c0, c1, ...}] : parts are the map's address, then coordinates */
    PTX_OPERAND_pair,    /* p|q */
    PTX_OPERAND_list,    /* (a, b): arguments or results of call */
    PTX_OPERAND_targets, /* a .branchtargets, .calltargets or .callprototype by its label */
    PTX_OPERAND_sink     /* _ */
} PtxOperandKind;

/* What the base of an address is. */
typedef enum PtxBase { PTX_BASE_none, PTX_BASE_register, PTX_BASE_variable } PtxBase;

typedef struct PtxOperand {
    uint8_t kind;        /* PtxOperandKind */
    uint8_t base;        /* PtxBase, of an address */
    uint8_t component;   /* 0..3 of a special register with components; else 0 */
    bool negated;        /* !p */
    uint32_t index;      /* register, special, label (an instruction) or table of targets */
    uint32_t part_count; /* of vector, tensor, pair and list */
    union {
        int64_t offset; /* of address and variable */
        uint64_t bits;  /* of integer, f32 and f64 */
    };
    const PtxVariable *variable; /* of variable, and of an address on one */
    const PtxFunction *function;
    const struct PtxOperand *parts;
} PtxOperand;

enum { PTX_TYPES = 6 };

typedef struct PtxInstruction {
    uint16_t row;   /* PtxRow */
    uint8_t vector; /* 1, 2, 4 or 8: of .v2, .v4, .v8 */
    uint8_t space;  /* PtxSpace of memory instructions; of cvta the one named */
    bool guarded, guard_negated;
    uint8_t type_count;
    uint8_t types[PTX_TYPES]; /* PtxType, in the order written */
    uint8_t operand_count;
    uint8_t shape[3];     /* m, n and k of .m16n8k16 and its like; 256 is 0 */
    uint8_t source_space; /* PtxSpace named second, of copies: cp.async.shared.global */
    uint16_t form;        /* which FORM of its row, from 0 */
    uint32_t guard;       /* register */
    uint32_t line;        /* of the PTX text, from 1 */
    uint32_t location;    /* of PtxFunction.locations; 0 is none */
    PtxModifiers modifiers;
    /* Destinations first, as written. Of call always: a list of results, the function or register,
     * a list of arguments, and for a register the targets; results and arguments are variables. */
    const PtxOperand *operands;
} PtxInstruction;

/* A line of the program that the PTX was compiled from, by .loc. */
typedef struct PtxLocation {
    Str file;
    uint32_t file_number; /* of .file */
    uint32_t line, column;
    uint32_t inlined_at; /* location of the call it was inlined at; 0 is none */
    Str function;        /* of inlined code; else empty */
} PtxLocation;

typedef enum PtxInitialKind {
    PTX_INITIAL_bytes,
    PTX_INITIAL_variable,
    PTX_INITIAL_function
} PtxInitialKind;

/* An address in an initialiser, written over `size` bytes at `at`. */
typedef struct PtxRelocation {
    uint64_t at;
    uint8_t size;                /* 1, 2, 4 or 8 */
    uint8_t shift;               /* bits to shift the address right, of 0xFF00(name) */
    bool generic;                /* generic(name) */
    const PtxVariable *variable; /* one of the two */
    const PtxFunction *function;
    int64_t addend;
} PtxRelocation;

struct PtxVariable {
    Str name; /* as declared; of a variable in a function, unique only there */
    PtxSpace space;
    PtxType type;
    uint64_t size, align; /* bytes; size 0: an array of unknown size (dynamic shared memory) */
    bool is_extern, is_visible, is_managed;
    uint32_t index;           /* among the variables of its owner (module or function) */
    const PtxFunction *owner; /* NULL: the module's */
    uint64_t offset;          /* of .param: its place in the function's parameters */
    bool in_register;         /* of a parameter declared as .reg: loads and stores are added */
    uint32_t register_index;
    const uint8_t *initial; /* `size` bytes, NULL: zeros */
    const PtxRelocation *relocations;
    uint32_t relocation_count;
    uint32_t line;
};

typedef struct PtxRegister {
    Str name;
    PtxType type; /* of .reg .v4 .f32 v, four registers in a row */
} PtxRegister;

typedef enum PtxTargetsKind {
    PTX_TARGETS_branch,
    PTX_TARGETS_call,
    PTX_TARGETS_prototype
} PtxTargetsKind;

typedef struct PtxTargets {
    PtxTargetsKind kind;
    uint32_t count;
    const uint32_t *labels;              /* of branch: instructions */
    const PtxFunction *const *functions; /* of call */
    const PtxFunction *prototype;        /* a function without a body, of prototype */
} PtxTargets;

typedef struct PtxDimensions {
    uint32_t x, y, z; /* zeros: not given */
} PtxDimensions;

struct PtxFunction {
    Str name;
    bool is_entry, is_visible, is_extern, is_weak, no_return;
    bool has_body;
    PtxDimensions max_threads, required_threads; /* .maxntid, .reqntid */
    PtxDimensions required_cluster;
    bool blocks_are_clusters;
    uint32_t min_ctas, max_registers, max_cluster_rank; /* 0: not given */
    const PtxVariable *const *parameters;
    uint32_t parameter_count;
    uint64_t parameter_bytes;          /* of an entry: the buffer that cuLaunchKernel copies */
    const PtxVariable *const *results; /* of a .func */
    uint32_t result_count;
    const PtxRegister *registers;
    uint32_t register_count;
    const PtxVariable *const *variables; /* .shared, .local, .const, .global, .param in the body */
    uint32_t variable_count;
    const PtxInstruction *instructions;
    uint32_t instruction_count;
    const PtxTargets *targets;
    uint32_t target_count;
    const PtxLocation *locations; /* [0] stands for none */
    uint32_t location_count;
    uint32_t line;
};

typedef struct PtxModule {
    int version;        /* 90 for .version 9.0 */
    int target;         /* 90 for sm_90a */
    bool target_exact;  /* the target ends in a: it runs on that device alone */
    bool target_family; /* it ends in f */
    const PtxFunction *const *functions;
    uint32_t function_count;
    const PtxVariable *const *variables; /* of the module */
    uint32_t variable_count;
} PtxModule;

/* An error of the text: `line` from 1, `column` from 1, what is wrong, and the line itself. */
typedef struct PtxError {
    uint32_t line, column;
    Str message, text;
} PtxError;

typedef enum PtxStatus {
    PTX_OK,
    PTX_INVALID,            /* errors[0] says why: the driver's INVALID_PTX */
    PTX_UNSUPPORTED_VERSION /* .version is newer than 9.0 */
} PtxStatus;

typedef struct PtxErrors {
    const PtxError *items; /* at most 20, in the order of the text */
    uint32_t count;
} PtxErrors;

/* Parses `size` bytes (a terminating NUL is allowed and ends the text). On PTX_OK *out_module is
 * set. Everything is allocated from `arena`; strings are copies. Raises GUARD_memory. */
PtxStatus ptx_parse(Arena *arena, Str text, const PtxModule **out_module, PtxErrors *out_errors);

/* The module as text again, in the canonical form (modifiers in one order, registers renamed),
 * which parses back to an equal module. */
Str ptx_print(Arena *arena, const PtxModule *module);

/* "fma.rn.f32 %f1, %f2, %f3, %f4;" of one instruction, for reports. */
Str ptx_instruction_text(Arena *arena, const PtxFunction *function, uint32_t instruction);

#endif
