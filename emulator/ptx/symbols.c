/* Names and what they mean. One map holds the meaning of each name here and now; a symbol
 * remembers the one that it hides, so that leaving a scope costs no more than what it declared. */
#include "emulator/ptx/parser.h"

#include <string.h>

void scope_open(Parser *p, Scope *scope) {
    *scope = (Scope){.outer = p->scope, .depth = p->scope ? p->scope->depth + 1 : 0};
    p->scope = scope;
}

static Symbol *meaning(const Parser *p, Str name) { return map_get(&p->symbols, name); }

/* The label that a name means in this scope alone. */
static const Symbol *label_of(const Parser *p, const Scope *scope, Str name) {
    const Symbol *symbol = meaning(p, name);
    return symbol && symbol->scope == scope && symbol->kind == SYMBOL_label ? symbol : NULL;
}

static void resolve_labels(Parser *p, Scope *scope) {
    bool last = scope->depth <= 1; /* 0 is the module, 1 a function */
    for (size_t i = 0; i < scope->uses.count; i++) {
        const LabelUse *use = &scope->uses.data[i];
        const Symbol *label = label_of(p, scope, use->token.text);
        if (label)
            *use->index = label->index;
        else if (!last)
            vec_push(p->scratch, &scope->outer->uses, *use);
        else
            parse_fail(p, &use->token, "label '%.*s' is not defined", STR_ARG(use->token.text));
    }
}

void scope_close(Parser *p, Scope *scope) {
    resolve_labels(p, scope);
    for (Symbol *symbol = scope->symbols; symbol; symbol = symbol->older)
        map_set(&p->symbols, symbol->name, symbol->hidden);
    p->scope = scope->outer;
}

Symbol *symbol_declare(Parser *p, const Token *name, SymbolKind kind) {
    Symbol *hidden = meaning(p, name->text);
    if (hidden && hidden->scope == p->scope) {
        parse_fail(p, name, "'%.*s' is declared twice", STR_ARG(name->text));
        return NULL;
    }
    Symbol *symbol = NEW(p->scratch, Symbol);
    *symbol = (Symbol){.kind = kind,
                       .name = name->text,
                       .scope = p->scope,
                       .hidden = hidden,
                       .older = p->scope->symbols};
    p->scope->symbols = symbol;
    map_set(&p->symbols, symbol->name, symbol);
    return symbol;
}

void symbol_make_register(Parser *p, Symbol *symbol, PtxType type, int vector) {
    symbol->kind = SYMBOL_register;
    symbol->type = type;
    symbol->index = (uint32_t)p->body->registers.count;
    symbol->count = (uint32_t)vector;
    for (int i = 0; i < vector; i++)
        vec_push(p->scratch, &p->body->registers, (PtxRegister){symbol->name, type});
}

/* Of %r12 the digits at its end: how many, and their value; a leading zero is no such number. */
static size_t number_at_end(Str name, uint64_t *out_value) {
    size_t start = name.size;
    uint64_t value = 0;
    while (start > 0 && name.data[start - 1] >= '0' && name.data[start - 1] <= '9') start--;
    size_t digits = name.size - start;
    if (digits == 0 || digits > 9 || (digits > 1 && name.data[start] == '0')) return 0;
    for (size_t i = start; i < name.size; i++) value = value * 10 + (uint64_t)(name.data[i] - '0');
    *out_value = value;
    return digits;
}

/* A register of a range, which belongs to the scope of the range. */
static Symbol *register_of_range(Parser *p, const Symbol *range, Str name) {
    Symbol *symbol = NEW(p->scratch, Symbol);
    *symbol = (Symbol){.name = name,
                       .scope = range->scope,
                       .hidden = meaning(p, name),
                       .older = range->scope->symbols};
    range->scope->symbols = symbol;
    symbol_make_register(p, symbol, range->type, range->vector);
    map_set(&p->symbols, name, symbol);
    return symbol;
}

/* The range that has a register of that name; NULL: none. */
static const Symbol *range_of(const Parser *p, Str name) {
    uint64_t number;
    size_t digits = number_at_end(name, &number);
    if (digits == 0) return NULL;
    const Symbol *range = meaning(p, (Str){name.data, name.size - digits});
    return range && range->kind == SYMBOL_range && number < range->count ? range : NULL;
}

Symbol *symbol_find(Parser *p, Str name) {
    Symbol *symbol = meaning(p, name);
    if (symbol && symbol->kind == SYMBOL_range) return NULL;
    /* A register that was made of an outer range is hidden by a range of the same name inside. */
    if (symbol && !(p->body && p->body->ranges_hide)) return symbol;
    const Symbol *range = range_of(p, name);
    if (!range || (symbol && symbol->scope->depth >= range->scope->depth)) return symbol;
    return register_of_range(p, range, name);
}

void label_use(Parser *p, const Token *name, uint32_t *index) {
    vec_push(p->scratch, &p->scope->uses, (LabelUse){*name, index});
}
