// setp, set, selp and slct: every relation of every type, and how a predicate joins in.
#include "tests/unit/emulator_scalar.h"

typedef enum Class { SIGNED, UNSIGNED, BITS, FLOAT } Class;

typedef struct Type {
    const char *name;
    char kind;
    int width;
    Class class;
} Type;

static const Type types[] = {
    {"u16", 'h', 16, UNSIGNED}, {"s16", 'h', 16, SIGNED}, {"b16", 'h', 16, BITS},
    {"u32", 'w', 32, UNSIGNED}, {"s32", 'w', 32, SIGNED}, {"b32", 'w', 32, BITS},
    {"u64", 'l', 64, UNSIGNED}, {"s64", 'l', 64, SIGNED}, {"b64", 'l', 64, BITS},
    {"f32", 'f', 32, FLOAT},    {"f64", 'd', 64, FLOAT},  {"ftz.f32", 'f', 33, FLOAT},
    {"f16", 'h', 16, FLOAT},    {"bf16", 'h', 17, FLOAT}, {"ftz.f16", 'h', 18, FLOAT},
};

// A float as a number: significand and exponent are put together anew, for every format.
static double number(uint64_t bits, int exponent_bits, int fraction_bits, bool flush) {
    int bias = (1 << (exponent_bits - 1)) - 1;
    int64_t exponent = (int64_t)(bits >> fraction_bits & ((UINT64_C(1) << exponent_bits) - 1));
    uint64_t fraction = bits & ((UINT64_C(1) << fraction_bits) - 1);
    double sign = bits >> (exponent_bits + fraction_bits) & 1 ? -1 : 1;
    if (exponent == 2 * bias + 1) return fraction ? NAN : sign * INFINITY;
    if (exponent == 0 && flush) return sign * 0;
    double significand = (double)fraction + (exponent ? ldexp(1, fraction_bits) : 0);
    return sign * ldexp(significand, (int)(exponent ? exponent : 1) - bias - fraction_bits);
}

static double float_value(uint64_t bits, int width) {
    switch (width) {
    case 16: return number(bits, 5, 10, false);
    case 17: return number(bits, 8, 7, false);
    case 18: return number(bits, 5, 10, true);
    case 32: return number(bits, 8, 23, false);
    case 33: return number(bits, 8, 23, true);
    default: return number(bits, 11, 52, false);
    }
}

// -1, 0, 1, or 2 for what has no order.
static int order(const Type *type, uint64_t a, uint64_t b) {
    if (type->class == FLOAT) {
        double x = float_value(a, type->width), y = float_value(b, type->width);
        return isnan(x) || isnan(y) ? 2 : x < y ? -1 : x > y;
    }
    int up = 64 - type->width;
    if (type->class != SIGNED) return a << up < b << up ? -1 : a << up > b << up;
    int64_t x = (int64_t)(a << up), y = (int64_t)(b << up);
    return x < y ? -1 : x > y;
}

typedef struct Relation {
    const char *name;
    int holds; // a bit for less, equal, greater, unordered
    const char *classes;
} Relation;
enum { LT = 1, EQ = 2, GT = 4, UN = 8 };
static const Relation relations[] = {
    {"eq", EQ, "SUBF"},
    {"ne", LT | GT, "SUBF"},
    {"lt", LT, "SUF"},
    {"le", LT | EQ, "SUF"},
    {"gt", GT, "SUF"},
    {"ge", GT | EQ, "SUF"},
    {"lo", LT, "U"},
    {"ls", LT | EQ, "U"},
    {"hi", GT, "U"},
    {"hs", GT | EQ, "U"},
    {"equ", EQ | UN, "F"},
    {"neu", LT | GT | UN, "F"},
    {"ltu", LT | UN, "F"},
    {"leu", LT | EQ | UN, "F"},
    {"gtu", GT | UN, "F"},
    {"geu", GT | EQ | UN, "F"},
    {"num", LT | EQ | GT, "F"},
    {"nan", UN, "F"},
};

static bool holds(const Type *type, const Relation *relation, uint64_t a, uint64_t b) {
    static const int bits[] = {LT, EQ, GT, UN};
    return relation->holds & bits[order(type, a, b) + 1];
}

// The row under test: an oracle has no room for it.
static const Type *the_type;
static const Relation *the_relation;

static uint64_t plain(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    (void)c, (void)d;
    return holds(the_type, the_relation, a, b);
}
static uint64_t opposite_or(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    (void)d;
    return !holds(the_type, the_relation, a, b) || c;
}
static uint64_t either(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    (void)d;
    return holds(the_type, the_relation, a, b) || c;
}
static uint64_t xor_not(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    (void)d;
    return holds(the_type, the_relation, a, b) ^ !c;
}
static uint64_t all_ones(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    (void)c, (void)d;
    return holds(the_type, the_relation, a, b) ? UINT64_MAX : 0;
}
static uint64_t one_and(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    (void)d;
    return holds(the_type, the_relation, a, b) && c ? 0x3f800000 : 0;
}

static void compare_one(const Type *type, const Relation *relation) {

    char texts[5][128], kinds[5][8];
    char k = type->kind, r = scalar_register(k);
    bool ftz = strncmp(type->name, "ftz.", 4) == 0;
    const char *name = ftz ? type->name + 4 : type->name, *flush = ftz ? ".ftz" : "";
    snprintf(texts[0], 128, "setp.%s%s.%s", relation->name, flush, name);
    bool half = type->class == FLOAT && k == 'h'; // these have no second result, nor a set to f32
    snprintf(texts[1], 128, "setp.%s.or%s.%s %s$p0, $%c1, $%c2, $p3", relation->name, flush, name,
             half ? "" : "$p4|", r, r);
    snprintf(texts[2], 128, "setp.%s.xor%s.%s $p0, $%c1, $%c2, !$p3", relation->name, flush, name,
             r, r);
    snprintf(texts[3], 128, "set.%s%s.u32.%s", relation->name, flush, name);
    snprintf(texts[4], 128, "set.%s.and%s.f32.%s $w0, $%c1, $%c2, $p3", relation->name, flush, name,
             r, r);
    snprintf(kinds[0], 8, "p%c%c", k, k);
    snprintf(kinds[1], 8, "p%c%cp", k, k);
    snprintf(kinds[3], 8, "w%c%c", k, k);
    snprintf(kinds[4], 8, "w%c%cp", k, k);
    const ScalarRow rows[] = {{texts[0], kinds[0], plain, NULL},
                              {texts[1], kinds[1], half ? either : opposite_or, NULL},
                              {texts[2], kinds[1], xor_not, NULL},
                              {texts[3], kinds[3], all_ones, NULL},
                              {texts[4], kinds[4], one_and, NULL}};
    the_type = type, the_relation = relation;
    EmuOptions options = {.workers = 1};
    scalar_run(rows, half ? 4 : 5, "sm_90a", &options);
}

static void test_relations(void) {
    static const char letters[] = {[SIGNED] = 'S', [UNSIGNED] = 'U', [BITS] = 'B', [FLOAT] = 'F'};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t r = 0; r < sizeof relations / sizeof *relations; r++)
            if (strchr(relations[r].classes, letters[types[t].class]))
                compare_one(&types[t], &relations[r]);
}

#define SIMPLE(name, expression)                                                                   \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {                         \
        (void)a, (void)b, (void)c, (void)d;                                                        \
        return (expression);                                                                       \
    }
SIMPLE(select_p, c ? a : b)
SIMPLE(select_s32, c >> 31 ? b : a)
SIMPLE(select_f32, number(c, 8, 23, false) >= 0 ? a : b)
SIMPLE(select_ftz, number(c, 8, 23, true) >= 0 ? a : b)
#define HALF_LESS(shift, brain)                                                                    \
    (brain                                                                                         \
         ? number(a >> shift & 0xffff, 8, 7, false) < number(b >> shift & 0xffff, 8, 7, false)     \
         : number(a >> shift & 0xffff, 5, 10, false) < number(b >> shift & 0xffff, 5, 10, false))
SIMPLE(pair_low, HALF_LESS(0, false))
SIMPLE(pair_high, HALF_LESS(16, true))
SIMPLE(pair_set, (HALF_LESS(0, false) ? 0x3c00u : 0) | (HALF_LESS(16, false) ? 0x3c000000u : 0))
SIMPLE(pair_bits, (HALF_LESS(0, true) ? 0xffffu : 0) | (HALF_LESS(16, true) ? 0xffff0000u : 0))

static const ScalarRow choices[] = {
    {"selp.b16", "hhhp", select_p, NULL},
    {"selp.b32", "wwwp", select_p, NULL},
    {"selp.u32", "wwwp", select_p, NULL},
    {"selp.s64", "lllp", select_p, NULL},
    {"selp.f32", "wffp", select_p, NULL},
    {"selp.f64", "lddp", select_p, NULL},
    {"slct.b16.s32", "hhhw", select_s32, NULL},
    {"slct.u32.s32", "wwww", select_s32, NULL},
    {"slct.b64.s32", "lllw", select_s32, NULL},
    {"slct.f32.f32", "wfff", select_f32, NULL},
    {"slct.f64.f32", "lddf", select_f32, NULL},
    {"slct.ftz.s32.f32", "wwwf", select_ftz, NULL},
    {"slct.ftz.u64.f32", "lllf", select_ftz, NULL},
    {"selp.u16", "hhhp", select_p, NULL},
    {"selp.s16", "hhhp", select_p, NULL},
    {"selp.s32", "wwwp", select_p, NULL},
    {"selp.b64", "lllp", select_p, NULL},
    {"selp.u64", "lllp", select_p, NULL},
    {"slct.u16.s32", "hhhw", select_s32, NULL},
    {"slct.s16.s32", "hhhw", select_s32, NULL},
    {"slct.b32.s32", "wwww", select_s32, NULL},
    {"slct.s32.s32", "wwww", select_s32, NULL},
    {"slct.u64.s32", "lllw", select_s32, NULL},
    {"slct.s64.s32", "lllw", select_s32, NULL},
    {"slct.f32.s32", "wffw", select_s32, NULL},
    {"slct.f64.s32", "lddw", select_s32, NULL},
    {"slct.b16.f32", "hhhf", select_f32, NULL},
    {"slct.u32.f32", "wwwf", select_f32, NULL},
    {"slct.b64.f32", "lllf", select_f32, NULL},
    {"slct.s64.f32", "lllf", select_f32, NULL},
    {"setp.lt.f16x2 $p0|$p1, $w1, $w2", "pxx", pair_low, NULL},
    {"setp.lt.bf16x2 $p1|$p0, $w1, $w2", "pxx", pair_high, NULL},
    {"set.lt.f16x2.f16x2", "wxx", pair_set, NULL},
    {"set.lt.u32.bf16x2", "wxx", pair_bits, NULL},
};

static void test_choices(void) {
    EmuOptions options = {.workers = 1};
    scalar_run(choices, sizeof choices / sizeof *choices, "sm_90a", &options);
}

int main(void) {
    RUN(test_relations);
    RUN(test_choices);
    return test_done();
}
