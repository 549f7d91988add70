#include "ir/reference.h"

#include "ir/ops.h"

/* Sections in the order of the table; a class without a title goes on with the section before. */
static const char *const titles[] = {
    [CLASS_LEAF] = "Leaves",
    [CLASS_UNARY] = "Unary",
    [CLASS_BINARY] = "Binary: operands of one type",
    [CLASS_COMPARE] = "Compare: operands of one type, result bool",
    [CLASS_SELECT] = "Select and cast",
    [CLASS_REDUCE] = "Reductions",
    [CLASS_CUMULATIVE] = "Cumulative along one axis",
    [CLASS_RESHAPE] = "Movement: index maps, exact",
    [CLASS_GATHER] = "Gather and scatter: indices i32 or i64 in [-n, n)",
    [CLASS_CONTRACT] = "Contraction, convolution, windows",
    [CLASS_SORT] = "Sort and random numbers",
    [CLASS_COND] = "Control: regions capture nothing",
    [CLASS_ITEM] = "Structure",
    [CLASS_KERNEL] = NULL,
};

typedef struct DTypeSet {
    uint32_t bits;
    const char *name;
} DTypeSet;

static const DTypeSet sets[] = {
    {ANY_DTYPE, "any"},        {DTYPES_all, "all"},   {DTYPES_numbers, "numbers"},
    {DTYPES_floats, "floats"}, {DTYPES_ints, "ints"}, {DTYPES_bits, "bits"},
};

static void put_members(Buf *buf, uint32_t bits) {
    const char *separator = "";
    for (unsigned i = 0; i < DT_count; i++) {
        if (!(bits >> i & 1)) continue;
        buf_print(buf, "%s%s", separator, dtype_name((DType)i));
        separator = ", ";
    }
}

static void put_set(Buf *buf, uint32_t bits) {
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (sets[i].bits != bits) continue;
        buf_print(buf, "%s", sets[i].name);
        return;
    }
    put_members(buf, bits);
}

static void put_intro(Buf *buf) {
    buf_put(buf, STR("# Ops\n\nPrinted from `ir/ops.def`. Sets of dtypes:\n\n"));
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        buf_print(buf, "* %s: ", sets[i].name);
        put_members(buf, sets[i].bits);
        buf_char(buf, '\n');
    }
    buf_put(buf, STR("\nUlp is the largest error of one application in units in the last place of "
                     "the result, for f32\nand f64; where none is given the op is exact, correctly "
                     "rounded, or a sum with a derived bound.\n"));
}

static const char *kind_name(AttrKind kind) {
    switch (kind) {
    case ATTR_int: return "int";
    case ATTR_ints: return "ints";
    case ATTR_dim: return "dim";
    case ATTR_dims: return "dims";
    case ATTR_dtype: return "dtype";
    case ATTR_str: return "string";
    case ATTR_blob: break;
    }
    return "value";
}

/* "conv(2 operands; strides: ints, …)" */
static void put_signature(Buf *buf, const OpInfo *info) {
    buf_print(buf, "%s(", info->name);
    if (info->operand_count == OP_ANY_COUNT) {
        buf_put(buf, STR("any operands"));
    } else {
        buf_print(buf, "%d operand%s", info->operand_count, info->operand_count == 1 ? "" : "s");
    }
    for (uint32_t i = 0; i < info->attr_count; i++) {
        buf_print(buf, "%s%s: %s", i ? ", " : "; ", info->attrs[i].name,
                  kind_name(info->attrs[i].kind));
    }
    buf_char(buf, ')');
}

static void put_flags(Buf *buf, uint32_t flags) {
    static const char *const names[] = {"commutative", "discontinuous", "movement",
                                        "fallible",    "regions",       "packed"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (flags >> i & 1) buf_print(buf, "; %s", names[i]);
    }
}

static void put_op(Buf *buf, const OpInfo *info) {
    buf_put(buf, STR("\n* `"));
    put_signature(buf, info);
    buf_put(buf, STR("`"));
    if (info->formula[0]) buf_print(buf, " = `%s`", info->formula);
    buf_print(buf, "\n  %s.\n  dtypes: ", info->meaning);
    put_set(buf, info->dtypes);
    if (info->scalar != OP_none) buf_print(buf, "; by %s", op_info(info->scalar)->name);
    put_flags(buf, info->flags);
    if (info->ulp > 0) buf_print(buf, "; %g ulp", info->ulp);
    buf_char(buf, '\n');
}

void print_op_reference(Buf *buf) {
    const char *title = NULL;
    put_intro(buf);
    for (unsigned i = OP_none + 1; i < OP_count; i++) {
        const OpInfo *info = op_info((Op)i);
        const char *own = titles[info->class];
        if (own && own != title) buf_print(buf, "\n## %s\n", own);
        if (own) title = own;
        put_op(buf, info);
    }
}
