/* .entry and .func: parameters, the directives about resources, and which declarations are of one
 * function. Parameters that are registers (.func (.reg .b32 r) f (.reg .b32 a)) are made .param
 * variables here; body.c loads and stores them. */
#include "emulator/ptx/parser.h"

#include <string.h>

typedef struct ParameterList {
    VEC(const PtxVariable *) items;
    VEC(Token) names;
} ParameterList;

enum { LIMIT_ENTRY_PARAMETERS = 32764 };

static uint64_t align_up(uint64_t at, uint64_t align) { return (at + align - 1) / align * align; }

/* A parameter `.reg .b32 a` is remembered as a variable in registers. */
static bool parse_one_parameter(Parser *p, PtxVariable **out_variable, Token *out_name) {
    bool in_register = parse_is_word(p, "reg");
    if (!in_register && !parse_is_word(p, "param")) return parse_fail_expected(p, ".param or .reg");
    parse_advance(p);
    if (!parse_parameter(p, out_variable, out_name)) return false;
    (*out_variable)->in_register = in_register;
    return true;
}

/* ( .param .b32 a, ... ) */
static bool parse_parameters(Parser *p, ParameterList *list) {
    PtxVariable *variable;
    Token name;
    uint64_t at = 0;
    if (!parse_mark(p, '(')) return false;
    while (!parse_is_mark(p, ')')) {
        if (!parse_one_parameter(p, &variable, &name)) return false;
        variable->index = (uint32_t)list->items.count;
        variable->offset = align_up(at, variable->align);
        at = variable->offset + variable->size;
        vec_push(p->scratch, &list->items, variable);
        vec_push(p->scratch, &list->names, name);
        if (!parse_take_mark(p, ',')) break;
    }
    return parse_mark(p, ')');
}

static void keep_parameters(Parser *p, PtxFunction *function, const ParameterList *list) {
    size_t size = list->items.count * sizeof *list->items.data;
    function->parameters = arena_copy(p->arena, list->items.data, size);
    function->parameter_count = (uint32_t)list->items.count;
    if (!list->items.count) return;
    const PtxVariable *last = list->items.data[list->items.count - 1];
    function->parameter_bytes = last->offset + last->size;
}

static void keep_results(Parser *p, PtxFunction *function, const ParameterList *list) {
    size_t size = list->items.count * sizeof *list->items.data;
    function->results = arena_copy(p->arena, list->items.data, size);
    function->result_count = (uint32_t)list->items.count;
}

/* ---- directives --------------------------------------------------------------------------- */

/* x {, y {, z}} */
static bool parse_dimensions(Parser *p, PtxDimensions *dimensions) {
    uint64_t values[3] = {1, 1, 1};
    for (int i = 0; i < 3; i++) {
        if (!parse_count(p, UINT32_MAX, &values[i])) return false;
        if (i == 2 || !parse_take_mark(p, ',')) break;
    }
    *dimensions = (PtxDimensions){(uint32_t)values[0], (uint32_t)values[1], (uint32_t)values[2]};
    return true;
}

static bool parse_number(Parser *p, uint32_t *out_value) {
    uint64_t value;
    if (!parse_count(p, UINT32_MAX, &value)) return false;
    *out_value = (uint32_t)value;
    return true;
}

typedef enum DirectiveKind {
    DIRECTIVE_flag,
    DIRECTIVE_number,
    DIRECTIVE_dimensions,
    DIRECTIVE_ignored,        /* a flag that says how to compile */
    DIRECTIVE_ignored_number, /* a number of the same kind */
    DIRECTIVE_pragma
} DirectiveKind;

static const struct {
    const char *word;
    DirectiveKind kind;
    size_t field;
} directives[] = {
    {"maxntid", DIRECTIVE_dimensions, offsetof(PtxFunction, max_threads)},
    {"reqntid", DIRECTIVE_dimensions, offsetof(PtxFunction, required_threads)},
    {"reqnctapercluster", DIRECTIVE_dimensions, offsetof(PtxFunction, required_cluster)},
    {"minnctapersm", DIRECTIVE_number, offsetof(PtxFunction, min_ctas)},
    {"maxnctapersm", DIRECTIVE_ignored_number, 0},
    {"maxnreg", DIRECTIVE_number, offsetof(PtxFunction, max_registers)},
    {"maxclusterrank", DIRECTIVE_number, offsetof(PtxFunction, max_cluster_rank)},
    {"noreturn", DIRECTIVE_flag, offsetof(PtxFunction, no_return)},
    {"explicitcluster", DIRECTIVE_ignored, 0},
    {"blocksareclusters", DIRECTIVE_flag, offsetof(PtxFunction, blocks_are_clusters)},
    {"abi_preserve", DIRECTIVE_ignored_number, 0},
    {"abi_preserve_control", DIRECTIVE_ignored_number, 0},
    {"pragma", DIRECTIVE_pragma, 0},
};

static bool apply_directive(Parser *p, PtxFunction *function, DirectiveKind kind, size_t field) {
    uint32_t ignored;
    char *place = (char *)function + field;
    switch (kind) {
    case DIRECTIVE_flag: *(bool *)place = true; return true;
    case DIRECTIVE_number: return parse_number(p, (uint32_t *)(void *)place);
    case DIRECTIVE_dimensions: return parse_dimensions(p, (PtxDimensions *)(void *)place);
    case DIRECTIVE_ignored: return true;
    case DIRECTIVE_ignored_number: return parse_number(p, &ignored);
    case DIRECTIVE_pragma: return parse_pragma(p);
    }
    return false;
}

static bool parse_directives(Parser *p, PtxFunction *function) {
    while (p->token.kind == TOKEN_word) {
        size_t i = 0, count = sizeof directives / sizeof *directives;
        while (i < count && !parse_is_word(p, directives[i].word)) i++;
        if (i == count)
            return parse_fail(p, &p->token, "unknown directive '.%.*s'", STR_ARG(p->token.text));
        parse_advance(p);
        if (!apply_directive(p, function, directives[i].kind, directives[i].field)) return false;
    }
    return true;
}

/* ---- functions ---------------------------------------------------------------------------- */

static bool same_variables(const PtxVariable *const *a, const PtxVariable *const *b,
                           uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (a[i]->size != b[i]->size || a[i]->align != b[i]->align) return false;
    return true;
}

static bool same_signature(const PtxFunction *a, const PtxFunction *b) {
    return a->is_entry == b->is_entry && a->parameter_count == b->parameter_count &&
           a->result_count == b->result_count &&
           same_variables(a->parameters, b->parameters, a->parameter_count) &&
           same_variables(a->results, b->results, a->result_count);
}

/* The function of that name, declared before or now. */
static PtxFunction *declare(Parser *p, const Token *name) {
    Symbol *symbol = symbol_find(p, name->text);
    if (symbol && symbol->kind == SYMBOL_function) return symbol->function;
    symbol = symbol_declare(p, name, SYMBOL_function);
    if (!symbol) return NULL;
    symbol->function = NEW(p->arena, PtxFunction);
    symbol->function->name = name->text;
    vec_push(p->scratch, &p->functions, symbol->function);
    return symbol->function;
}

/* Parameters are names of the function's scope; those in registers are registers there. */
static void name_parameters(Parser *p, const ParameterList *list) {
    for (size_t i = 0; i < list->items.count; i++) {
        PtxVariable *variable = (PtxVariable *)list->items.data[i];
        SymbolKind kind = variable->in_register ? SYMBOL_register : SYMBOL_variable;
        Symbol *symbol = symbol_declare(p, &list->names.data[i], kind);
        if (!symbol) continue;
        symbol->variable = variable;
        if (!variable->in_register) continue;
        variable->register_index = (uint32_t)p->body->registers.count;
        symbol_make_register(p, symbol, variable->type, 1);
    }
}

static void own_parameters(const PtxFunction *function, const ParameterList *list) {
    for (size_t i = 0; i < list->items.count; i++)
        ((PtxVariable *)list->items.data[i])->owner = function;
}

static bool parse_definition(Parser *p, PtxFunction *function, const ParameterList *results,
                             const ParameterList *parameters) {
    Scope scope;
    Body body = {.function = function,
                 .location_index = {.arena = p->scratch},
                 .locations_by_place = {.arena = p->scratch}};
    p->body = &body;
    scope_open(p, &scope);
    function->has_body = true;
    name_parameters(p, results);
    name_parameters(p, parameters);
    bool good = parse_body(p);
    scope_close(p, &scope);
    p->body = NULL;
    return good;
}

/* What the second declaration of a function may not change, and what it adds. */
static bool merge(Parser *p, const Token *name, PtxFunction *function, PtxFunction *next) {
    if (!function->line) {
        *function = *next;
        return true;
    }
    if (!same_signature(function, next))
        return parse_fail(p, name, "'%.*s' does not match its declaration in line %u",
                          STR_ARG(name->text), function->line);
    if (parse_is_mark(p, '{')) {
        if (function->has_body)
            return parse_fail(p, name, "'%.*s' is defined twice", STR_ARG(name->text));
        *function = *next;
    }
    return true;
}

/* Behind .entry or .func. */
bool parse_function(Parser *p, bool is_entry, int linkage) {
    ParameterList results = {0}, parameters = {0};
    Token name;
    if (!is_entry && parse_is_mark(p, '(') && !parse_parameters(p, &results)) return false;
    if (!parse_name(p, &name)) return false;
    if (parse_is_mark(p, '(') && !parse_parameters(p, &parameters)) return false;
    PtxFunction next = {.name = name.text,
                        .is_entry = is_entry,
                        .is_visible = linkage & LINKAGE_visible,
                        .is_extern = linkage & LINKAGE_extern,
                        .is_weak = linkage & LINKAGE_weak,
                        .line = name.line};
    keep_results(p, &next, &results);
    keep_parameters(p, &next, &parameters);
    if (is_entry && next.parameter_bytes > LIMIT_ENTRY_PARAMETERS)
        return parse_fail(p, &name, "more than %d bytes of parameters", LIMIT_ENTRY_PARAMETERS);
    if (!parse_directives(p, &next)) return false;
    PtxFunction *function = declare(p, &name);
    if (!function || !merge(p, &name, function, &next)) return false;
    own_parameters(function, &results);
    own_parameters(function, &parameters);
    if (parse_is_mark(p, '{')) return parse_definition(p, function, &results, &parameters);
    return parse_mark(p, ';');
}

/* label: .callprototype (results) _ (parameters); */
PtxFunction *parse_signature(Parser *p) {
    ParameterList results = {0}, parameters = {0};
    Token name = p->token;
    PtxFunction *function = NEW(p->arena, PtxFunction);
    bool good = (!parse_is_mark(p, '(') || parse_parameters(p, &results)) && parse_name(p, &name) &&
                (!parse_is_mark(p, '(') || parse_parameters(p, &parameters)) &&
                parse_directives(p, function) && parse_mark(p, ';');
    function->name = name.text;
    function->line = name.line;
    keep_results(p, function, &results);
    keep_parameters(p, function, &parameters);
    own_parameters(function, &results);
    own_parameters(function, &parameters);
    return good ? function : NULL;
}
