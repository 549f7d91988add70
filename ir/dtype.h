/* Element types: the table of dtype.def as an enum and its properties. */
#ifndef TCC_IR_DTYPE_H
#define TCC_IR_DTYPE_H

#include "base/str.h"

typedef enum DType {
#define DTYPE(name, class, bits, precision, most, least) DT_##name,
#include "ir/dtype.def"
#undef DTYPE
    DT_count
} DType;

typedef enum DTypeClass { DTYPE_BOOL, DTYPE_SIGNED, DTYPE_UNSIGNED, DTYPE_FLOAT } DTypeClass;

typedef struct DTypeInfo {
    const char *name;
    DTypeClass class;
    uint32_t bits; /* in memory; 4-bit values are packed, low nibble first, along the last axis */
    uint32_t precision; /* of floats, hidden bit included */
    double most, least; /* floats: largest finite, least normal; integers: the range */
} DTypeInfo;

const DTypeInfo *dtype_info(DType dtype);
const char *dtype_name(DType dtype);
bool dtype_is_float(DType dtype);
bool dtype_is_int(DType dtype); /* signed or unsigned, not bool */
bool dtype_is_signed(DType dtype);
bool dtype_parse(Str name, DType *out_dtype);

/* Bytes that `count` elements take in memory; false on overflow or a negative count. */
bool dtype_bytes(DType dtype, int64_t count, int64_t *out_bytes);

/* The dtype in which values of `dtype` are computed: f32 for the 8- and 16-bit floats, else itself.
 */
DType dtype_compute(DType dtype);

/* The dtype in which sums of `dtype` accumulate by the numeric contract: f32 for floats up to 32
 * bits, f64 for f64, i64 for i64, i32 for the narrower signed ones, u32/u64 likewise. */
DType dtype_accumulate(DType dtype);

#endif
