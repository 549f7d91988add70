/* Constant expressions: C's operators on 64-bit integers, some of them on doubles. */
#include "emulator/ptx/parser.h"

#include <string.h>

static bool parse_level(Parser *p, int level, Constant *out_value);

static bool is_float(Constant value) { return value.kind != TOKEN_integer; }

double constant_double(Constant value) {
    double d;
    float f;
    uint32_t bits = (uint32_t)value.bits;
    if (value.kind == TOKEN_integer)
        return value.is_unsigned ? (double)value.bits : (double)(int64_t)value.bits;
    memcpy(&d, &value.bits, sizeof d);
    memcpy(&f, &bits, sizeof f);
    return value.kind == TOKEN_f32 ? (double)f : d;
}

static Constant of_double(double d) {
    Constant value = {.kind = TOKEN_f64};
    memcpy(&value.bits, &d, sizeof d);
    return value;
}

static Constant of_bool(bool truth) { return (Constant){.kind = TOKEN_integer, .bits = truth}; }

static bool is_true(Constant value) {
    return is_float(value) ? constant_double(value) != 0 : value.bits != 0;
}

/* (.s64) and (.u64) before an operand. */
static bool parse_cast(Parser *p, Constant *out_value) {
    bool is_unsigned = parse_is_word(p, "u64");
    if (!is_unsigned && !parse_is_word(p, "s64")) return parse_fail_expected(p, "an expression");
    parse_advance(p);
    if (!parse_mark(p, ')') || !parse_level(p, 0, out_value)) return false;
    if (is_float(*out_value))
        return parse_fail(p, &p->token, "a float cannot be cast in a constant expression");
    out_value->is_unsigned = is_unsigned;
    return true;
}

static bool parse_in_parentheses(Parser *p, Constant *out_value) {
    parse_advance(p);
    if (p->token.kind == TOKEN_word) return parse_cast(p, out_value);
    return parse_constant(p, out_value) && parse_mark(p, ')');
}

static bool apply_unary(Parser *p, const Token *at, Constant *value) {
    if (at->mark == '!') {
        *value = of_bool(!is_true(*value));
    } else if (is_float(*value)) {
        if (at->mark == '~') return parse_fail(p, at, "'~' of a float");
        if (at->mark == '-') *value = of_double(-constant_double(*value));
    } else if (at->mark != '+') {
        value->bits = at->mark == '-' ? 0 - value->bits : ~value->bits;
    }
    return true;
}

static bool parse_unary(Parser *p, Constant *out_value) {
    Token at = p->token;
    parse_advance(p);
    if (p->token.kind == TOKEN_f32 || (p->token.kind == TOKEN_f64 && p->token.text.size > 2 &&
                                       (p->token.text.data[1] | 0x20) == 'd'))
        return parse_fail(p, &at, "an operator before a float that is given by its bits");
    return parse_level(p, 0, out_value) && apply_unary(p, &at, out_value);
}

static bool parse_primary(Parser *p, Constant *out_value) {
    const Token t = p->token;
    switch (t.kind) {
    case TOKEN_integer:
    case TOKEN_f32:
    case TOKEN_f64:
        *out_value = (Constant){.kind = t.kind, .is_unsigned = t.is_unsigned, .bits = t.bits};
        parse_advance(p);
        return true;
    case TOKEN_name:
        if (!str_equal(t.text, STR("WARP_SZ"))) return parse_fail_expected(p, "a constant");
        *out_value = (Constant){.kind = TOKEN_integer, .bits = 32};
        parse_advance(p);
        return true;
    case TOKEN_mark:
        if (t.mark == '(') return parse_in_parentheses(p, out_value);
        if (strchr("-+!~", t.mark < 256 ? t.mark : '.')) return parse_unary(p, out_value);
        break;
    default: break;
    }
    return parse_fail_expected(p, "a constant");
}

/* Operators, those that bind tighter first. */
static const struct {
    int mark, level;
} operators[] = {{'*', 1},
                 {'/', 1},
                 {'%', 1},
                 {'+', 2},
                 {'-', 2},
                 {MARK_shift_left, 3},
                 {MARK_shift_right, 3},
                 {'<', 4},
                 {'>', 4},
                 {MARK_less_equal, 4},
                 {MARK_greater_equal, 4},
                 {MARK_equal, 5},
                 {MARK_not_equal, 5},
                 {'&', 6},
                 {'^', 7},
                 {'|', 8},
                 {MARK_and, 9},
                 {MARK_or, 10}};
enum { LEVEL_LAST = 10 };

static bool is_operator(const Parser *p, int level) {
    if (p->token.kind != TOKEN_mark) return false;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].mark == p->token.mark) return operators[i].level == level;
    return false;
}

static bool apply_floats(Parser *p, const Token *at, Constant *a, Constant b) {
    double x = constant_double(*a), y = constant_double(b);
    switch (at->mark) {
    case '+': *a = of_double(x + y); return true;
    case '-': *a = of_double(x - y); return true;
    case '*': *a = of_double(x * y); return true;
    case '/': *a = of_double(x / y); return true;
    case '<': *a = of_bool(x < y); return true;
    case '>': *a = of_bool(x > y); return true;
    case MARK_less_equal: *a = of_bool(x <= y); return true;
    case MARK_greater_equal: *a = of_bool(x >= y); return true;
    case MARK_equal: *a = of_bool(x == y); return true;
    case MARK_not_equal: *a = of_bool(x != y); return true;
    case MARK_and: *a = of_bool(x != 0 && y != 0); return true;
    case MARK_or: *a = of_bool(x != 0 || y != 0); return true;
    default: return parse_fail(p, at, "'%.*s' of floats", STR_ARG(at->text));
    }
}

static uint64_t divide(uint64_t a, uint64_t b, bool is_unsigned, bool remainder) {
    if (is_unsigned) return remainder ? a % b : a / b;
    if (b == UINT64_MAX) return remainder ? 0 : 0 - a;
    int64_t x = (int64_t)a, y = (int64_t)b;
    return (uint64_t)(remainder ? x % y : x / y);
}

static uint64_t shift_right(Constant a, unsigned by) {
    if (a.is_unsigned || !(a.bits >> 63)) return a.bits >> by;
    return ~(~a.bits >> by);
}

static int compare(Constant a, Constant b, bool is_unsigned) {
    if (is_unsigned) return (a.bits > b.bits) - (a.bits < b.bits);
    int64_t x = (int64_t)a.bits, y = (int64_t)b.bits;
    return (x > y) - (x < y);
}

static bool apply_integers(Parser *p, const Token *at, Constant *a, Constant b) {
    bool is_unsigned = a->is_unsigned || b.is_unsigned;
    int order = compare(*a, b, is_unsigned);
    if ((at->mark == '/' || at->mark == '%') && b.bits == 0)
        return parse_fail(p, at, "division by zero in a constant expression");
    switch (at->mark) {
    case '*': a->bits *= b.bits; break;
    case '/':
    case '%': a->bits = divide(a->bits, b.bits, is_unsigned, at->mark == '%'); break;
    case '+': a->bits += b.bits; break;
    case '-': a->bits -= b.bits; break;
    case MARK_shift_left: a->bits <<= b.bits & 63; return true;
    case MARK_shift_right: a->bits = shift_right(*a, b.bits & 63); return true;
    case '&': a->bits &= b.bits; break;
    case '^': a->bits ^= b.bits; break;
    case '|': a->bits |= b.bits; break;
    case '<': *a = of_bool(order < 0); return true;
    case '>': *a = of_bool(order > 0); return true;
    case MARK_less_equal: *a = of_bool(order <= 0); return true;
    case MARK_greater_equal: *a = of_bool(order >= 0); return true;
    case MARK_equal: *a = of_bool(order == 0); return true;
    case MARK_not_equal: *a = of_bool(order != 0); return true;
    case MARK_and: *a = of_bool(a->bits && b.bits); return true;
    default: *a = of_bool(a->bits || b.bits); return true;
    }
    a->is_unsigned = is_unsigned;
    return true;
}

/* Level 0 are operands, each level above has the operators of the table. */
static bool parse_level(Parser *p, int level, Constant *out_value) {
    if (level == 0) {
        if (!parse_descend(p)) return false;
        bool good = parse_primary(p, out_value);
        parse_rise(p);
        return good;
    }
    if (!parse_level(p, level - 1, out_value)) return false;
    while (is_operator(p, level)) {
        Token at = p->token;
        Constant right;
        parse_advance(p);
        if (!parse_level(p, level - 1, &right)) return false;
        bool floats = is_float(*out_value) || is_float(right);
        if (!(floats ? apply_floats : apply_integers)(p, &at, out_value, right)) return false;
    }
    return true;
}

bool parse_constant(Parser *p, Constant *out_value) {
    Constant yes, no;
    if (!parse_descend(p)) return false;
    bool good = parse_level(p, LEVEL_LAST, out_value);
    if (good && parse_take_mark(p, '?')) {
        good = parse_constant(p, &yes) && parse_mark(p, ':') && parse_constant(p, &no);
        if (good) *out_value = is_true(*out_value) ? yes : no;
    }
    parse_rise(p);
    return good;
}

bool parse_count(Parser *p, uint64_t most, uint64_t *out_value) {
    Constant value;
    Token at = p->token;
    if (!parse_constant(p, &value)) return false;
    bool negative = !value.is_unsigned && value.bits >> 63;
    if (is_float(value) || negative || value.bits > most)
        return parse_fail(p, &at, "a number from 0 to %llu expected", (unsigned long long)most);
    *out_value = value.bits;
    return true;
}

static uint64_t float_bits(double value) {
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

bool constant_bits(Constant value, PtxType type, uint64_t *out_bits) {
    int bits = ptx_type_bits(type);
    PtxTypeClass class = ptx_type_class(type);
    if (class == PTX_CLASS_float && bits == 64) {
        *out_bits = of_double(constant_double(value)).bits;
        return is_float(value);
    }
    if (class == PTX_CLASS_float && bits == 32) {
        *out_bits = value.kind == TOKEN_f32 ? value.bits : float_bits(constant_double(value));
        return is_float(value);
    }
    if (class == PTX_CLASS_float || class == PTX_CLASS_packed) return false;
    if (is_float(value)) { /* the bits of a float in a register of bits of its size */
        *out_bits = value.bits;
        return class == PTX_CLASS_bits && bits == (value.kind == TOKEN_f32 ? 32 : 64);
    }
    *out_bits = value.bits;
    if (bits >= 64) return true;
    uint64_t mask = ((uint64_t)1 << bits) - 1, sign = (uint64_t)1 << (bits - 1);
    *out_bits &= mask;
    if (class == PTX_CLASS_signed && *out_bits & sign) *out_bits |= ~mask;
    if (class == PTX_CLASS_pred) *out_bits = value.bits != 0;
    return true;
}
