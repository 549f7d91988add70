/* The parser's own state, shared by the parse_*.c files. Nothing of it outlives ptx_parse.
 *
 * Functions that parse return false after they have reported an error; the statement is then
 * given up, and the parser goes on behind its semicolon. After twenty errors the lexer says that
 * the text ends. */
#ifndef TCC_EMULATOR_PTX_PARSER_H
#define TCC_EMULATOR_PTX_PARSER_H

#include "base/scratch.h"
#include "base/vec.h"
#include "emulator/ptx/grammar.h"
#include "emulator/ptx/lexer.h"

enum {
    LIMIT_ERRORS = 20,
    LIMIT_NESTING = 64,         /* of { }, of expressions, of initialisers */
    LIMIT_OPERANDS = 4096,      /* of one instruction with all its parts */
    LIMIT_TEXT = 1 << 28,       /* bytes of a module's text */
    LIMIT_MEMORY_FACTOR = 256,  /* bytes of initial values for a byte of text ... */
    LIMIT_MEMORY_FREE = 1 << 20 /* ... beyond these */
};

typedef enum SymbolKind {
    SYMBOL_variable,
    SYMBOL_function,
    SYMBOL_register, /* `index` and the `count` - 1 after it */
    SYMBOL_range,    /* %r<count>: each becomes a register when it is first named */
    SYMBOL_label,
    SYMBOL_targets
} SymbolKind;

typedef struct Symbol {
    SymbolKind kind;
    Str name;
    PtxType type;
    int vector; /* of a range of vectors */
    uint32_t index, count;
    PtxVariable *variable;
    PtxFunction *function;
    struct Scope *scope;
    struct Symbol *hidden; /* what the name means outside of the scope */
    struct Symbol *older;  /* declared before in the scope */
} Symbol;

/* A label that was named before it was known. */
typedef struct LabelUse {
    Token token;
    uint32_t *index;
} LabelUse;

typedef struct Scope {
    struct Scope *outer;
    Symbol *symbols;
    VEC(LabelUse) uses;
    int depth;
} Scope;

/* The parts of a location that are known only at the end of the text: .file and .debug_str may
 * come last. */
typedef struct LocationNames {
    Str function_label;
    uint64_t function_offset;
} LocationNames;

/* A function while it is parsed. */
typedef struct Body {
    PtxFunction *function;
    VEC(PtxInstruction) instructions;
    VEC(PtxRegister) registers;
    VEC(const PtxVariable *) variables;
    VEC(PtxTargets) targets;
    VEC(PtxLocation) locations;
    VEC(LocationNames) location_names;
    Map locations_by_place; /* file, line and column to the first location there */
    Map location_index;     /* ... and inlined_at to the location */
    uint32_t location;
    uint32_t last_label; /* instruction of the label that was declared last */
    bool ranges_hide;    /* a range of registers has the name of one outside */
} Body;

/* .alias: a name without a body, and the function that it is another name of. */
typedef struct Alias {
    PtxFunction *alias, *function;
} Alias;

/* Names for the locations of a function, resolved at the end. */
typedef struct PendingLocations {
    PtxLocation *locations;
    const LocationNames *names;
    uint32_t count;
} PendingLocations;

typedef struct Parser {
    Arena *arena, *scratch;
    Str text;
    Lexer lexer;
    Token token; /* the next one */
    bool stopped;
    bool too_new; /* of .version */
    VEC(PtxError) errors;
    Grammar grammar;
    PtxModule *module;
    VEC(const PtxFunction *) functions;
    VEC(const PtxVariable *) variables;
    VEC(PendingLocations) pending_locations;
    VEC(Alias) aliases;
    Map symbols, files, debug_strings;
    Scope *scope;
    Body *body; /* NULL outside of functions */
    int nesting;
    uint64_t initial_bytes;
    int address_bits; /* 0: not said */
} Parser;

/* ---- errors and tokens (parser.c) --------------------------------------------------------- */

/* Reports at a token; returns false. */
bool parse_fail(Parser *p, const Token *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool parse_fail_expected(Parser *p, const char *what); /* "... expected, found 'x'" */

void parse_advance(Parser *p);
bool parse_is_mark(const Parser *p, int mark);
bool parse_is_word(const Parser *p, const char *text);
bool parse_is_name(const Parser *p, const char *text);
/* Takes the token when it is that; else false without an error. */
bool parse_take_mark(Parser *p, int mark);
bool parse_take_word(Parser *p, const char *text);
/* Takes it, or reports that it is expected. */
bool parse_mark(Parser *p, int mark);
bool parse_name(Parser *p, Token *out_name);
/* Behind the next semicolon, or before a brace that closes what the statement did not open. */
void parse_recover(Parser *p);
/* One level deeper in what nests; false beyond the limit. Undone by parse_rise. */
bool parse_descend(Parser *p);
void parse_rise(Parser *p);

/* ---- symbols (symbols.c) ------------------------------------------------------------------ */

void scope_open(Parser *p, Scope *scope);
/* Resolves labels; those of a function's outermost scope must be known. */
void scope_close(Parser *p, Scope *scope);
/* The symbol that the name means here; NULL when there is none. Makes registers of ranges. */
Symbol *symbol_find(Parser *p, Str name);
/* A new symbol of the innermost scope; NULL after an error when the scope has the name. */
Symbol *symbol_declare(Parser *p, const Token *name, SymbolKind kind);
/* A register (or `vector` of them) that a symbol names. */
void symbol_make_register(Parser *p, Symbol *symbol, PtxType type, int vector);
/* *index becomes the label's instruction when its scope, or one around it, ends. */
void label_use(Parser *p, const Token *name, uint32_t *index);

/* ---- constants (constant.c) --------------------------------------------------------------- */

typedef struct Constant {
    TokenKind kind; /* TOKEN_integer, TOKEN_f32 or TOKEN_f64 */
    bool is_unsigned;
    uint64_t bits;
} Constant;

bool parse_constant(Parser *p, Constant *out_value);
/* An integer of at most `most`. */
bool parse_count(Parser *p, uint64_t most, uint64_t *out_value);
/* The bits of a constant as a type; false when it is not of the type's kind. */
bool constant_bits(Constant value, PtxType type, uint64_t *out_bits);
double constant_double(Constant value);

/* What was written after the opcode, before a form is chosen. */
typedef struct Suffix {
    Token opcode;
    uint8_t type_count, space_count;
    uint8_t types[PTX_TYPES];
    uint8_t spaces[2]; /* PtxModifier */
    uint8_t vector;
    bool has_shape;
    uint8_t shape[3];
    PtxModifiers modifiers; /* without spaces */
} Suffix;

/* ---- statements --------------------------------------------------------------------------- */

bool parse_module_directive(Parser *p); /* module.c */
bool parse_pragma(Parser *p);
bool parse_function(Parser *p, bool is_entry, int linkage); /* function.c */
PtxFunction *parse_signature(Parser *p);                    /* of a .callprototype */
bool parse_body(Parser *p);                                 /* from { to } (body.c) */
bool parse_instruction(Parser *p);                          /* instruction.c */
bool parse_call(Parser *p, PtxInstruction *instruction, const Suffix *suffix); /* call.c */

/* Adds ld.param or st.param between a value and a variable, guarded and placed as `like` is. */
bool body_move(Parser *p, const PtxInstruction *like, PtxRow row, const PtxVariable *variable,
               PtxOperand value);
/* Stores the results that are in registers, before a ret. */
bool body_store_results(Parser *p, const PtxInstruction *like);

enum { LINKAGE_extern = 1, LINKAGE_visible = 2, LINKAGE_weak = 4, LINKAGE_common = 8 };

/* The declarations after .global, .shared, .reg ... up to the semicolon (variable.c). */
bool parse_variables(Parser *p, PtxSpace space, int linkage);
bool parse_registers(Parser *p);
/* One parameter: after .param, without a comma. */
bool parse_parameter(Parser *p, PtxVariable **out_variable, Token *out_name);
bool parse_initial(Parser *p, PtxVariable *variable, const uint64_t *dims, int rank,
                   bool open); /* initial.c */

/* .file, .loc, .section ... (debug.c) */
bool parse_file(Parser *p);
bool parse_loc(Parser *p);
bool parse_section(Parser *p);
void debug_finish_body(Parser *p);
void debug_finish_module(Parser *p);

/* ---- instructions ------------------------------------------------------------------------- */

/* Operands as they are written, without what a form says of them. Names that mean nothing (yet)
 * are labels of index UINT32_MAX (operand.c). */
bool parse_operand(Parser *p, PtxOperand *out_operand);
bool parse_list(Parser *p, PtxOperand *out_list); /* (a, b) */

/* Finds the form that the instruction has, makes its operands what the form says, and adds it to
 * the body; reports what does not fit. `places` has a token for each operand, for errors and
 * labels; NULL for instructions that the parser makes (check.c). */
bool check_instruction(Parser *p, const Suffix *suffix, PtxInstruction *instruction,
                       PtxOperand *operands, const Token *places);

/* How well a form fits a suffix: MATCH_complete, or less. Then *out_why, if not NULL, says what
 * does not fit (match.c). */
enum { MATCH_complete = 100 };
int form_match(Arena *arena, const Form *form, const Suffix *suffix, Str *out_why);

/* Whether an operand is what a form asks for; else *out_why says what is wrong. The operand is
 * changed: constants become of the type (fit.c). */
typedef struct Fitting {
    Parser *p;
    const Suffix *suffix;
    Str why;
} Fitting;
bool operand_fits(Fitting *fitting, const FormOperand *form, PtxOperand *operand, PtxSpace space);

#endif
