/* The op table of ops.def as C: the enum and a description of each op. */
#ifndef TCC_IR_OPS_H
#define TCC_IR_OPS_H

#include "ir/dtype.h"

typedef enum Op {
    OP_none,
#define OP(name, class, operands, attrs, dtypes, scalar, flags, ulp, formula, meaning) OP_##name,
#include "ir/ops.def"
#undef OP
    OP_count
} Op;

/* How an op is inferred, evaluated and lowered. */
typedef enum OpClass {
    CLASS_LEAF,
    CLASS_UNARY,
    CLASS_BINARY,
    CLASS_COMPARE,
    CLASS_SELECT,
    CLASS_CAST,
    CLASS_REDUCE,
    CLASS_ARGREDUCE,
    CLASS_CUMULATIVE,
    CLASS_RESHAPE,
    CLASS_PERMUTE,
    CLASS_BROADCAST,
    CLASS_SLICE,
    CLASS_PAD,
    CLASS_REVERSE,
    CLASS_CONCAT,
    CLASS_GATHER,
    CLASS_SCATTER,
    CLASS_CONTRACT,
    CLASS_CONV,
    CLASS_WINDOW,
    CLASS_SORT,
    CLASS_RANDOM,
    CLASS_COND,
    CLASS_LOOP,
    CLASS_SCAN,
    CLASS_ITEM,
    CLASS_CALL,
    CLASS_KERNEL
} OpClass;

typedef enum OpFlags {
    FLAG_commutative = 1,
    FLAG_discontinuous = 2, /* small changes of an operand may change the result much */
    FLAG_movement = 4,      /* an index map: no arithmetic */
    FLAG_fallible = 8,      /* may report an error at run time (an index) */
    FLAG_regions = 16,
    FLAG_packed =
        32 /* made by pack: models have none, and it means what the op of its class does */
} OpFlags;

typedef enum AttrKind {
    ATTR_int,
    ATTR_ints,
    ATTR_dim,
    ATTR_dims,
    ATTR_dtype,
    ATTR_str,
    ATTR_blob
} AttrKind;

/* The sets of operand dtypes that rows name. 4-bit integers are stored, moved, compared by nothing
 * and computed with nowhere: arithmetic on them begins with a cast. */
#define DTYPE_BIT(dtype) (1U << (dtype))
#define DTYPES_signed (DTYPE_BIT(DT_i8) | DTYPE_BIT(DT_i16) | DTYPE_BIT(DT_i32) | DTYPE_BIT(DT_i64))
#define DTYPES_unsigned                                                                            \
    (DTYPE_BIT(DT_u8) | DTYPE_BIT(DT_u16) | DTYPE_BIT(DT_u32) | DTYPE_BIT(DT_u64))
#define DTYPES_ints (DTYPES_signed | DTYPES_unsigned)
#define DTYPES_floats                                                                              \
    (DTYPE_BIT(DT_f8e4m3) | DTYPE_BIT(DT_f8e5m2) | DTYPE_BIT(DT_f16) | DTYPE_BIT(DT_bf16) |        \
     DTYPE_BIT(DT_f32) | DTYPE_BIT(DT_f64))
#define DTYPES_bits (DTYPE_BIT(DT_bool) | DTYPES_ints)
#define DTYPES_numbers (DTYPES_ints | DTYPES_floats)
#define DTYPES_all (DTYPE_BIT(DT_bool) | DTYPES_numbers)
#define DTYPES_i64 DTYPE_BIT(DT_i64)
#define DTYPES_f32 DTYPE_BIT(DT_f32)
#define DTYPES_u64 DTYPE_BIT(DT_u64)
#define ANY_DTYPE ((1U << DT_count) - 1)

typedef struct AttrInfo {
    const char *name;
    AttrKind kind;
} AttrInfo;

enum { OP_MAX_ATTRS = 6, OP_ANY_COUNT = -1 };

typedef struct OpInfo {
    const char *name;
    OpClass class;
    int operand_count; /* OP_ANY_COUNT: any number */
    uint32_t attr_count;
    AttrInfo attrs[OP_MAX_ATTRS];
    uint32_t
        dtypes; /* bit DT_x is set when operands (the result, for leaves) of dtype x are legal */
    Op scalar;
    uint32_t flags;
    double ulp;
    const char *formula, *meaning;
} OpInfo;

const OpInfo *op_info(Op op);
bool op_parse(Str name, Op *out_op);
bool op_accepts(Op op, DType dtype);
bool op_is_elementwise(Op op); /* unary, binary, compare, select, cast */

#endif
