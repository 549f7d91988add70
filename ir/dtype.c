#include "ir/dtype.h"

#include "base/guard.h"

static const DTypeInfo dtypes[DT_count] = {
#define DTYPE(name, class, bits, precision, most, least)                                           \
    [DT_##name] = {#name, DTYPE_##class, bits, precision, most, least},
#include "ir/dtype.def"
#undef DTYPE
};

const DTypeInfo *dtype_info(DType dtype) {
    require((unsigned)dtype < DT_count);
    return &dtypes[dtype];
}

const char *dtype_name(DType dtype) { return dtype_info(dtype)->name; }

bool dtype_is_float(DType dtype) { return dtype_info(dtype)->class == DTYPE_FLOAT; }

bool dtype_is_int(DType dtype) {
    return dtype_is_signed(dtype) || dtype_info(dtype)->class == DTYPE_UNSIGNED;
}

bool dtype_is_signed(DType dtype) { return dtype_info(dtype)->class == DTYPE_SIGNED; }

bool dtype_parse(Str name, DType *out_dtype) {
    for (unsigned i = 0; i < DT_count; i++) {
        if (!str_equal(name, str_from(dtypes[i].name))) continue;
        *out_dtype = (DType)i;
        return true;
    }
    return false;
}

bool dtype_bytes(DType dtype, int64_t count, int64_t *out_bytes) {
    int64_t bits;
    if (count < 0 || __builtin_mul_overflow(count, (int64_t)dtype_info(dtype)->bits, &bits)) {
        return false;
    }
    *out_bytes = bits / 8 + (bits % 8 != 0);
    return true;
}

DType dtype_compute(DType dtype) {
    return dtype_is_float(dtype) && dtype_info(dtype)->bits <= 16 ? DT_f32 : dtype;
}

DType dtype_accumulate(DType dtype) {
    const DTypeInfo *info = dtype_info(dtype);
    bool wide = info->bits == 64;
    switch (info->class) {
    case DTYPE_FLOAT: return wide ? DT_f64 : DT_f32;
    case DTYPE_SIGNED: return wide ? DT_i64 : DT_i32;
    case DTYPE_UNSIGNED: return wide ? DT_u64 : DT_u32;
    case DTYPE_BOOL: break;
    }
    return dtype;
}
