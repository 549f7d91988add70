// Ops on integers and bools, compiled and run here: all pairs of 4 and 8 bits, samples around the
// edges of the others.
#include "tests/unit/lower_math.h"
#include "tests/unit/lower_math_values.h"

// Big holds every operand and every result but powers and products, which wrap in UnsignedBig.
__extension__ typedef __int128 Big;
__extension__ typedef unsigned __int128 UnsignedBig;

static const Op ops[] = {OP_neg, OP_abs,      OP_sign, OP_not, OP_add,   OP_sub, OP_mul,
                         OP_div, OP_floordiv, OP_rem,  OP_mod, OP_pow,   OP_min, OP_max,
                         OP_and, OP_or,       OP_xor,  OP_shl, OP_shr,   OP_eq,  OP_ne,
                         OP_lt,  OP_le,       OP_gt,   OP_ge,  OP_select};
enum { OPS = sizeof ops / sizeof *ops };

static Big divide_down(Big x, Big y) {
    Big quotient = x / y;
    return x % y != 0 && (x % y < 0) != (y < 0) ? quotient - 1 : quotient;
}

static Big power(Big x, Big y) {
    if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
    uint64_t result = 1, square = (uint64_t)x;
    for (uint64_t n = (uint64_t)y; n; n >>= 1, square *= square)
        if (n & 1) result *= square;
    return (Big)result;
}

static Big shift(Op op, DType dtype, Big x, Big y) {
    bool inside = y >= 0 && y < dtype_info(dtype)->bits;
    if (op == OP_shl) return inside ? (Big)((UnsignedBig)x << (unsigned)y) : 0;
    return inside ? x >> (unsigned)y : x < 0 ? -1 : 0;
}

static Big arithmetic(Op op, DType dtype, Big x, Big y) {
    switch (op) {
    case OP_neg: return -x;
    case OP_abs: return x < 0 ? -x : x;
    case OP_sign: return (x > 0) - (x < 0);
    case OP_not: return dtype == DT_bool ? !x : ~x;
    case OP_add: return x + y;
    case OP_sub: return x - y;
    case OP_mul: return (Big)((UnsignedBig)x * (UnsignedBig)y);
    case OP_div: return y ? x / y : 0;
    case OP_rem: return y ? x % y : 0;
    case OP_floordiv: return y ? divide_down(x, y) : 0;
    case OP_mod: return y ? x - y * divide_down(x, y) : 0;
    case OP_pow: return power(x, y);
    case OP_shl:
    case OP_shr: return shift(op, dtype, x, y);
    default: return x != 0 ? y : x; // select
    }
}

static Big expected(Op op, DType dtype, Big x, Big y) {
    switch (op) {
    case OP_min: return x < y ? x : y;
    case OP_max: return x < y ? y : x;
    case OP_and: return x & y;
    case OP_or: return x | y;
    case OP_xor: return x ^ y;
    case OP_eq: return x == y;
    case OP_ne: return x != y;
    case OP_lt: return x < y;
    case OP_le: return x <= y;
    case OP_gt: return x > y;
    case OP_ge: return x >= y;
    default: return arithmetic(op, dtype, x, y);
    }
}

static Big load_big(DType dtype, const void *array, int i) {
    uint64_t bits = load_bits(dtype, array, i);
    return dtype == DT_u64 ? (Big)bits : (Big)wrap_bits(dtype, bits);
}

// Storage form: 4-bit values are extended to their byte.
static void store_wrapped(DType dtype, void *array, int i, uint64_t bits) {
    store_bits(dtype, array, i, (uint64_t)wrap_bits(dtype, bits));
}

// Random bits of a random length, or near a power of two, or small.
static uint64_t draw(uint64_t *state) {
    uint64_t random = bench_random(state), more = bench_random(state);
    uint64_t value = random >> (more & 63);
    if (more >> 6 & 1) value = ((uint64_t)1 << (more >> 7 & 63)) + (random & 3) - 2;
    return more >> 13 & 1 ? ~value : value;
}

enum { COUNT = 65536 };

static void fill(DType dtype, uint64_t *state, void *a, void *b) {
    bool all = dtype_info(dtype)->bits <= 8;
    for (int i = 0; i < COUNT; i++) {
        uint64_t y = draw(state);
        if (i % 3 == 0) y &= 7;
        store_wrapped(dtype, a, i, all ? (uint64_t)i >> 8 : draw(state));
        store_wrapped(dtype, b, i, all ? (uint64_t)i & 255 : y);
    }
}

static void check_op(Op op, DType dtype, DType to, const void *a, const void *b, const void *out) {
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        Big x = load_big(dtype, a, i), y = load_big(dtype, b, i);
        uint64_t want = (uint64_t)wrap_bits(to, (uint64_t)expected(op, dtype, x, y)),
                 got = load_bits(to, out, i);
        unsigned spare = 64 - 8 * storage_bytes(to);
        if (got << spare == want << spare) continue;
        if (wrong++ < 3)
            printf("    %s of %s: %lld, %lld gives %llx, want %llx\n", op_info(op)->name,
                   dtype_name(dtype), (long long)x, (long long)y, (unsigned long long)got,
                   (unsigned long long)want);
    }
    CHECK_INT(wrong, 0);
}

static DType result_of(Op op, DType dtype) {
    return op_info(op)->class == CLASS_COMPARE ? DT_bool : dtype;
}

static void check_dtype(DType dtype) {
    static uint64_t a[COUNT], b[COUNT], out[COUNT];
    uint64_t state = 11;
    Bench bench = bench_open();
    for (int i = 0; i < OPS; i++)
        for (unsigned lanes = 0; lanes <= 8 && op_accepts(ops[i], dtype); lanes += 8)
            bench_add(&bench, (KernelSpec){ops[i], dtype, result_of(ops[i], dtype), lanes, 0});
    bench_compile(&bench);
    fill(dtype, &state, a, b);
    for (int i = 0, kernel = 0; i < OPS; i++) {
        for (int form = 0; form < 2 && op_accepts(ops[i], dtype); form++) {
            bench_kernel(&bench, kernel++)(a, b, out, COUNT);
            check_op(ops[i], dtype, result_of(ops[i], dtype), a, b, out);
        }
    }
    bench_close(&bench);
}

static void test_bool(void) { check_dtype(DT_bool); }

static void test_4_bits(void) {
    check_dtype(DT_i4);
    check_dtype(DT_u4);
}

static void test_8_bits(void) {
    check_dtype(DT_i8);
    check_dtype(DT_u8);
}

static void test_16_bits(void) {
    check_dtype(DT_i16);
    check_dtype(DT_u16);
}

static void test_32_bits(void) {
    check_dtype(DT_i32);
    check_dtype(DT_u32);
}

static void test_64_bits(void) {
    check_dtype(DT_i64);
    check_dtype(DT_u64);
}

int main(void) {
    RUN(test_bool);
    RUN(test_4_bits);
    RUN(test_8_bits);
    RUN(test_16_bits);
    RUN(test_32_bits);
    RUN(test_64_bits);
    return test_done();
}
