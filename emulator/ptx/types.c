/* Names, sizes and classes of types, from types.def. */
#include "emulator/ptx/ptx.h"

typedef struct TypeRow {
    const char *name;
    int bits;
    PtxTypeClass class;
} TypeRow;

static const TypeRow rows[PTX_TYPE_count] = {
    [PTX_TYPE_none] = {"none", 0, PTX_CLASS_none},
#define TYPE(name, bits, class) [PTX_TYPE_##name] = {#name, bits, PTX_CLASS_##class},
#include "emulator/ptx/types.def"
#undef TYPE
};

const char *ptx_type_name(PtxType type) { return rows[type].name; }

int ptx_type_bits(PtxType type) { return rows[type].bits; }

PtxTypeClass ptx_type_class(PtxType type) { return rows[type].class; }
