/* The op table: ops.def expanded once into constant data. */
#include "ir/ops.h"

#include "base/guard.h"

#define ANY OP_ANY_COUNT
#define NO_ATTRS                                                                                   \
    0, {                                                                                           \
        { NULL, ATTR_int }                                                                         \
    }
#define A(...)                                                                                     \
    sizeof((AttrInfo[]){__VA_ARGS__}) / sizeof(AttrInfo), { __VA_ARGS__ }
#define ATTR(name, kind)                                                                           \
    { #name, ATTR_##kind }

static const OpInfo ops[OP_count] = {
    [OP_none] = {"none", CLASS_LEAF, 0, NO_ATTRS, 0, OP_none, 0, 0, "", ""},
#define OP(name, class, operands, attrs, dtypes, scalar, flags, ulp, formula, meaning)             \
    [OP_##name] = {#name,       CLASS_##class, operands, attrs,   dtypes,                          \
                   OP_##scalar, flags,         ulp,      formula, meaning},
#include "ir/ops.def"
#undef OP
};

const OpInfo *op_info(Op op) {
    require((unsigned)op < OP_count);
    return &ops[op];
}

bool op_parse(Str name, Op *out_op) {
    for (unsigned i = OP_none + 1; i < OP_count; i++) {
        if (!str_equal(name, str_from(ops[i].name))) continue;
        *out_op = (Op)i;
        return true;
    }
    return false;
}

bool op_accepts(Op op, DType dtype) {
    require((unsigned)dtype < DT_count);
    return (op_info(op)->dtypes >> dtype & 1) != 0;
}

bool op_is_elementwise(Op op) {
    OpClass class = op_info(op)->class;
    return class >= CLASS_UNARY && class <= CLASS_CAST;
}
