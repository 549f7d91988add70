/* Declarations: variables of all spaces, parameters, registers. */
#include "emulator/ptx/parser.h"

#include <string.h>

enum { DIMENSIONS = 8 };

/* What stands before the names: .align 8 .v2 .f32, in any order. */
typedef struct Declared {
    PtxType type;
    int vector;
    uint64_t align;
    bool is_managed;
} Declared;

/* What stands behind a name: [4][5]; `open`: the first is []. */
typedef struct Extent {
    uint64_t dims[DIMENSIONS + 1];
    int rank;
    bool open;
} Extent;

/* .attribute(.managed, .unified(1, 2)) */
static bool parse_attributes(Parser *p, Declared *declared) {
    if (!parse_mark(p, '(')) return false;
    do {
        uint64_t ignored;
        if (parse_take_word(p, "managed")) {
            declared->is_managed = true;
        } else if (parse_take_word(p, "unified")) {
            if (!parse_mark(p, '(') || !parse_count(p, UINT64_MAX, &ignored) ||
                !parse_mark(p, ',') || !parse_count(p, UINT64_MAX, &ignored) || !parse_mark(p, ')'))
                return false;
        } else {
            return parse_fail_expected(p, "an attribute");
        }
    } while (parse_take_mark(p, ','));
    return parse_mark(p, ')');
}

static bool parse_align(Parser *p, uint64_t *out_align) {
    Token at = p->token;
    if (!parse_count(p, 1 << 20, out_align)) return false;
    if (*out_align && !(*out_align & (*out_align - 1))) return true;
    return parse_fail(p, &at, "an alignment must be a power of two");
}

static bool is_declarable(PtxType type) {
    PtxTypeClass class = ptx_type_class(type);
    int bits = ptx_type_bits(type);
    if (class == PTX_CLASS_float) return type == PTX_TYPE_f32 || bits == 64 || type == PTX_TYPE_f16;
    if (class == PTX_CLASS_packed) return type == PTX_TYPE_f16x2;
    return bits >= 8 || class == PTX_CLASS_pred;
}

/* One of the words before the names; false without an error when it is none. */
static bool parse_declaring_word(Parser *p, Declared *declared, bool *out_good) {
    Word word = p->token.kind == TOKEN_word ? grammar_word(&p->grammar, p->token.text) : (Word){0};
    *out_good = true;
    if (parse_take_word(p, "align")) {
        *out_good = parse_align(p, &declared->align);
    } else if (parse_take_word(p, "attribute")) {
        *out_good = parse_attributes(p, declared);
    } else if (word.kind == WORD_vector && word.value <= 4) {
        declared->vector = word.value;
        parse_advance(p);
    } else if (word.kind == WORD_type && declared->type == PTX_TYPE_none) {
        declared->type = (PtxType)word.value;
        if (!is_declarable(declared->type))
            *out_good = parse_fail(p, &p->token, "nothing can be declared as .%s",
                                   ptx_type_name(declared->type));
        parse_advance(p);
    } else {
        return false;
    }
    return true;
}

/* .ptr .global .align 16 of a parameter: a promise about what it points to. */
static bool parse_pointer(Parser *p) {
    uint64_t align;
    Word word = {0};
    if (p->token.kind == TOKEN_word) word = grammar_word(&p->grammar, p->token.text);
    if (word.kind == WORD_space) parse_advance(p);
    return !parse_take_word(p, "align") || parse_align(p, &align);
}

static bool parse_declared(Parser *p, Declared *declared, bool is_parameter) {
    bool good = true;
    *declared = (Declared){.vector = 1};
    for (;;) {
        if (is_parameter && declared->type && parse_take_word(p, "ptr"))
            good = parse_pointer(p);
        else if (!parse_declaring_word(p, declared, &good))
            break;
        if (!good) return false;
    }
    if (p->token.kind == TOKEN_word)
        return parse_fail(p, &p->token, "'.%.*s' does not belong here", STR_ARG(p->token.text));
    if (declared->type) return true;
    return parse_fail_expected(p, "a type");
}

static bool parse_extent(Parser *p, Extent *extent) {
    *extent = (Extent){0};
    while (parse_take_mark(p, '[')) {
        if (extent->rank == DIMENSIONS)
            return parse_fail(p, &p->token, "more than %d dimensions", DIMENSIONS);
        if (parse_is_mark(p, ']') && extent->rank == 0)
            extent->open = true;
        else if (!parse_count(p, (uint64_t)1 << 40, &extent->dims[extent->rank]))
            return false;
        extent->rank++;
        if (!parse_mark(p, ']')) return false;
    }
    return true;
}

/* Bytes; of an open array those of its elements, so 0 with the first dimension unknown. */
static bool extent_bytes(const Extent *extent, uint64_t element, uint64_t *out_bytes) {
    *out_bytes = element;
    for (int i = 0; i < extent->rank; i++)
        if (__builtin_mul_overflow(*out_bytes, extent->dims[i], out_bytes)) return false;
    return *out_bytes <= (uint64_t)1 << 40;
}

static uint64_t element_bytes(const Declared *declared) {
    return (uint64_t)ptx_type_bits(declared->type) / 8 * (uint64_t)declared->vector;
}

/* A variable of that name and extent, not yet placed in a list. */
static PtxVariable *make_variable(Parser *p, const Token *name, PtxSpace space,
                                  const Declared *declared, const Extent *extent) {
    uint64_t bytes, element = element_bytes(declared);
    if (declared->type == PTX_TYPE_pred) {
        parse_fail(p, name, "a predicate can only be a register");
        return NULL;
    }
    if (!extent_bytes(extent, element, &bytes)) {
        parse_fail(p, name, "'%.*s' is too large", STR_ARG(name->text));
        return NULL;
    }
    PtxVariable *variable = NEW(p->arena, PtxVariable);
    *variable = (PtxVariable){.name = name->text,
                              .space = space,
                              .type = declared->type,
                              .size = extent->open ? 0 : bytes,
                              .align = declared->align ? declared->align : element,
                              .is_managed = declared->is_managed,
                              .owner = p->body ? p->body->function : NULL,
                              .line = name->line};
    return variable;
}

static void place_variable(Parser *p, PtxVariable *variable) {
    if (p->body) {
        variable->index = (uint32_t)p->body->variables.count;
        vec_push(p->scratch, &p->body->variables, variable);
    } else {
        variable->index = (uint32_t)p->variables.count;
        vec_push(p->scratch, &p->variables, variable);
    }
}

/* A name that a declaration before it with .extern may have. */
static Symbol *declare_variable(Parser *p, const Token *name, PtxVariable *variable, int linkage) {
    Symbol *known = symbol_find(p, name->text);
    if (known && known->scope == p->scope && known->kind == SYMBOL_variable &&
        (known->variable->is_extern || (linkage & LINKAGE_extern)) &&
        known->variable->space == variable->space) {
        if (known->variable->is_extern && !(linkage & LINKAGE_extern)) {
            variable->index = known->variable->index;
            *known->variable = *variable;
        }
        return known;
    }
    Symbol *symbol = symbol_declare(p, name, SYMBOL_variable);
    if (!symbol) return NULL;
    symbol->variable = variable;
    place_variable(p, variable);
    return symbol;
}

static bool can_have_value(PtxSpace space, int linkage) {
    return (space == PTX_SPACE_global || space == PTX_SPACE_const) && !(linkage & LINKAGE_extern);
}

/* What follows `=`; the elements of a vector are one more dimension. */
static bool parse_value(Parser *p, PtxVariable *variable, Extent extent, int vector, int linkage) {
    if (!parse_is_mark(p, '='))
        return !extent.open || (linkage & LINKAGE_extern) ||
               parse_fail(p, &p->token, "the size of '%.*s' is not given", STR_ARG(variable->name));
    if (!can_have_value(variable->space, linkage))
        return parse_fail(p, &p->token, "only .global and .const variables have initial values");
    parse_advance(p);
    if (vector > 1) extent.dims[extent.rank++] = (uint64_t)vector;
    return parse_initial(p, variable, extent.dims, extent.rank, extent.open);
}

bool parse_variables(Parser *p, PtxSpace space, int linkage) {
    Declared declared;
    Token name;
    Extent extent;
    if (!parse_declared(p, &declared, false)) return false;
    do {
        if (!parse_name(p, &name) || !parse_extent(p, &extent)) return false;
        PtxVariable *variable = make_variable(p, &name, space, &declared, &extent);
        if (!variable) return false;
        variable->is_extern = linkage & LINKAGE_extern;
        variable->is_visible = linkage & (LINKAGE_visible | LINKAGE_weak | LINKAGE_common);
        Symbol *symbol = declare_variable(p, &name, variable, linkage);
        if (!symbol || !parse_value(p, symbol->variable, extent, declared.vector, linkage))
            return false;
    } while (parse_take_mark(p, ','));
    return parse_mark(p, ';');
}

bool parse_parameter(Parser *p, PtxVariable **out_variable, Token *out_name) {
    Declared declared;
    Extent extent;
    if (!parse_declared(p, &declared, true) || !parse_name(p, out_name) ||
        !parse_extent(p, &extent))
        return false;
    *out_variable = make_variable(p, out_name, PTX_SPACE_param, &declared, &extent);
    return *out_variable != NULL;
}

/* ---- registers ---------------------------------------------------------------------------- */

static bool parse_register(Parser *p, const Declared *declared) {
    Token name;
    if (!parse_name(p, &name)) return false;
    if (!parse_take_mark(p, '<')) {
        Symbol *symbol = symbol_declare(p, &name, SYMBOL_register);
        if (symbol) symbol_make_register(p, symbol, declared->type, declared->vector);
        return symbol != NULL;
    }
    uint64_t count;
    if (p->token.kind != TOKEN_integer) return parse_fail_expected(p, "a number of registers");
    count = p->token.bits < UINT32_MAX ? p->token.bits : UINT32_MAX;
    parse_advance(p);
    if (!parse_mark(p, '>')) return false;
    Symbol *symbol = symbol_declare(p, &name, SYMBOL_range);
    if (!symbol) return false;
    p->body->ranges_hide |= symbol->hidden != NULL;
    symbol->type = declared->type;
    symbol->vector = declared->vector;
    symbol->count = (uint32_t)count;
    return true;
}

bool parse_registers(Parser *p) {
    Declared declared;
    if (!parse_declared(p, &declared, false)) return false;
    do {
        if (!parse_register(p, &declared)) return false;
    } while (parse_take_mark(p, ','));
    return parse_mark(p, ';');
}
