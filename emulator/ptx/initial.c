/* Initial values of variables: nested lists of constants and addresses, written as bytes. */
#include "emulator/ptx/parser.h"

#include <string.h>

typedef struct Initial {
    PtxVariable *variable;
    const uint64_t *dims;
    int rank;
    bool open;        /* the first dimension is told by the values */
    uint64_t element; /* bytes of one value */
    uint64_t at, end; /* bytes: where the next value goes, and where values must end */
    VEC(uint8_t) bytes;
    VEC(PtxRelocation) relocations;
} Initial;

/* Memory for values is bounded by the size of the text that it comes from. */
static bool has_room(Parser *p, uint64_t size) {
    uint64_t most = (uint64_t)p->text.size * LIMIT_MEMORY_FACTOR + LIMIT_MEMORY_FREE;
    if (size <= most - p->initial_bytes) return true;
    return parse_fail(p, &p->token, "initial values of more than %llu bytes",
                      (unsigned long long)most);
}

static bool put_bits(Parser *p, Initial *initial, uint64_t bits) {
    if (!has_room(p, initial->at + initial->element)) return false;
    while (initial->bytes.count < initial->at) vec_push(p->scratch, &initial->bytes, 0);
    for (uint64_t i = 0; i < initial->element; i++)
        vec_push(p->scratch, &initial->bytes, (uint8_t)(i < 8 ? bits >> (8 * i) : 0));
    initial->at += initial->element;
    return true;
}

/* 0xFF00(name): which byte of the address. */
static bool read_mask(Parser *p, const Token *at, uint64_t mask, PtxRelocation *relocation) {
    for (unsigned i = 0; i < 8; i++) {
        if (mask != (uint64_t)0xFF << (8 * i)) continue;
        relocation->shift = (uint8_t)(8 * i);
        relocation->size = 1;
        return true;
    }
    return parse_fail(p, at, "a mask of one byte, such as 0xFF00, expected");
}

static bool parse_target_name(Parser *p, PtxRelocation *relocation) {
    Token name;
    if (!parse_name(p, &name)) return false;
    const Symbol *symbol = symbol_find(p, name.text);
    if (symbol && symbol->kind == SYMBOL_variable)
        relocation->variable = symbol->variable;
    else if (symbol && symbol->kind == SYMBOL_function)
        relocation->function = symbol->function;
    else
        return parse_fail(p, &name, "'%.*s' is no variable and no function", STR_ARG(name.text));
    return true;
}

/* name, name+4, name[1]; generic(name); then + offset. */
static bool parse_address(Parser *p, PtxRelocation *relocation) {
    Constant offset;
    if (parse_is_name(p, "generic")) {
        parse_advance(p);
        relocation->generic = true;
        if (!parse_mark(p, '(') || !parse_target_name(p, relocation) || !parse_mark(p, ')'))
            return false;
    } else if (!parse_target_name(p, relocation)) {
        return false;
    }
    bool minus = parse_is_mark(p, '-');
    if (!minus && !parse_is_mark(p, '+')) return true;
    parse_advance(p);
    if (!parse_constant(p, &offset)) return false;
    if (offset.kind != TOKEN_integer) return parse_fail(p, &p->token, "an integer offset expected");
    uint64_t by = minus ? 0 - offset.bits : offset.bits;
    relocation->addend = (int64_t)((uint64_t)relocation->addend + by);
    return true;
}

static bool put_address(Parser *p, Initial *initial, PtxRelocation relocation, const Token *at) {
    if (initial->element > 8 || ptx_type_class(initial->variable->type) == PTX_CLASS_float)
        return parse_fail(p, at, "a .%s cannot hold an address",
                          ptx_type_name(initial->variable->type));
    relocation.at = initial->at;
    if (!relocation.size) relocation.size = (uint8_t)initial->element;
    vec_push(p->arena, &initial->relocations, relocation);
    return put_bits(p, initial, 0);
}

/* 0xFF(name) is a number with an address in parentheses. */
static bool parse_masked(Parser *p, Initial *initial, const Token *at, uint64_t mask) {
    PtxRelocation relocation = {0};
    parse_advance(p);
    return read_mask(p, at, mask, &relocation) && parse_address(p, &relocation) &&
           parse_mark(p, ')') && put_address(p, initial, relocation, at);
}

static bool parse_scalar(Parser *p, Initial *initial) {
    Token at = p->token;
    Constant value;
    uint64_t bits;
    PtxRelocation relocation = {0};
    if (initial->at >= initial->end) return parse_fail(p, &at, "more values than elements");
    if (at.kind == TOKEN_name && !str_equal(at.text, STR("WARP_SZ")))
        return parse_address(p, &relocation) && put_address(p, initial, relocation, &at);
    if (!parse_constant(p, &value)) return false;
    if (parse_is_mark(p, '(') && value.kind == TOKEN_integer)
        return parse_masked(p, initial, &at, value.bits);
    if (ptx_type_class(initial->variable->type) == PTX_CLASS_float &&
        value.kind == TOKEN_integer) { /* = 0 of a float */
        double d = constant_double(value);
        value.kind = TOKEN_f64;
        memcpy(&value.bits, &d, sizeof d);
    }
    if (!constant_bits(value, initial->variable->type, &bits))
        return parse_fail(p, &at, "no value of type .%s", ptx_type_name(initial->variable->type));
    return put_bits(p, initial, bits);
}

/* Bytes of what one pair of braces at that depth holds. */
static uint64_t level_bytes(const Initial *initial, int depth) {
    uint64_t bytes = initial->element;
    if (initial->open && depth == 0) return UINT64_MAX;
    for (int i = depth; i < initial->rank; i++) bytes *= initial->dims[i];
    return bytes;
}

/* { a, b, { ... } }: a list fills its part from the start; what it leaves out is zero. */
static bool parse_values(Parser *p, Initial *initial, int depth) {
    uint64_t start = initial->at, outer = initial->end;
    if (!parse_mark(p, '{') || !parse_descend(p)) return false;
    uint64_t bytes = level_bytes(initial, depth);
    if (bytes < outer - start) initial->end = start + bytes;
    while (!parse_is_mark(p, '}')) {
        bool nested = parse_is_mark(p, '{');
        if (!(nested ? parse_values(p, initial, depth + 1) : parse_scalar(p, initial)))
            return false;
        if (!parse_take_mark(p, ',')) break;
    }
    if (depth > 0 && bytes <= outer - start) initial->at = initial->end;
    initial->end = outer;
    parse_rise(p);
    return parse_mark(p, '}');
}

bool parse_initial(Parser *p, PtxVariable *variable, const uint64_t *dims, int rank, bool open) {
    Initial initial = {.variable = variable,
                       .dims = dims,
                       .rank = rank,
                       .open = open,
                       .element = (uint64_t)ptx_type_bits(variable->type) / 8,
                       .end = open ? UINT64_MAX : variable->size};
    bool list = parse_is_mark(p, '{');
    if (!(list ? parse_values(p, &initial, 0) : parse_scalar(p, &initial))) return false;
    if (open) variable->size = initial.bytes.count;
    if (!has_room(p, variable->size)) return false;
    p->initial_bytes += variable->size;
    uint8_t *bytes = arena_alloc(p->arena, variable->size);
    if (initial.bytes.count) memcpy(bytes, initial.bytes.data, initial.bytes.count);
    variable->initial = bytes;
    variable->relocations = initial.relocations.data;
    variable->relocation_count = (uint32_t)initial.relocations.count;
    return true;
}
