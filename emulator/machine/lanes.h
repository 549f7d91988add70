/* How handlers of arithmetic are written: the value of one lane as an expression of x, y and z (and
 * w), from which a macro makes the loop over 32 lanes. Lanes that do not take part are computed as
 * well and then not stored, so that the loop has no branch and becomes vector instructions; an
 * expression must therefore be defined for any value (no division by zero, no shift by 32). */
#ifndef TCC_EMULATOR_MACHINE_LANES_H
#define TCC_EMULATOR_MACHINE_LANES_H

#include "emulator/machine/execute.h"
#include "emulator/machine/forms.h"
#include "emulator/machine/vector.h"

/* Register files are read as words of one type and as words of another. */
typedef uint32_t LaneU32 __attribute__((may_alias));
typedef uint64_t LaneU64 __attribute__((may_alias));
typedef float LaneF32 __attribute__((may_alias));
typedef double LaneF64 __attribute__((may_alias));

/* By type of PTX: what a lane of the register is, what the expression works on, and the unsigned
 * type through which a result is stored. */
#define STORED_u16 LaneU32
#define STORED_s16 LaneU32
#define STORED_u32 LaneU32
#define STORED_s32 LaneU32
#define STORED_u64 LaneU64
#define STORED_s64 LaneU64
#define STORED_f32 LaneF32
#define STORED_f64 LaneF64
#define VALUE_u16 uint16_t
#define VALUE_s16 int16_t
#define VALUE_u32 uint32_t
#define VALUE_s32 int32_t
#define VALUE_u64 uint64_t
#define VALUE_s64 int64_t
#define VALUE_f32 float
#define VALUE_f64 double
#define BITS_u16 uint16_t
#define BITS_s16 uint16_t
#define BITS_u32 uint32_t
#define BITS_s32 uint32_t
#define BITS_u64 uint64_t
#define BITS_s64 uint64_t
#define BITS_f32 float
#define BITS_f64 double

#define LANE_LOOP _Pragma("GCC ivdep") for (int i = 0; i < EMU_LANES; i++)

#define HANDLER(name)                                                                              \
    EMU_VECTOR static Step name(Warp *restrict warp, const Record *restrict record, uint32_t lanes)
/* The same for handlers with nothing to vectorise. */
#define PLAIN_HANDLER(name)                                                                        \
    static Step name(Warp *restrict warp, const Record *restrict record, uint32_t lanes)

#define TARGET(type) STORED_##type *d = warp_slot(warp, record->slot[0])
#define SOURCE(name, type, at) const STORED_##type *name = warp_slot(warp, record->slot[at])
#define GET(value, type, from) VALUE_##type value = (VALUE_##type)from[i]
/* What every lane stores when all take part, and when some do. */
#define PUT_ALL(type, expression) d[i] = (BITS_##type)(expression)
#define PUT(type, expression)                                                                      \
    STORED_##type result = (BITS_##type)(expression);                                              \
    d[i] = lanes >> i & 1 ? result : d[i]

/* Stores the expression of what `__VA_ARGS__` gets in each lane; a full warp needs no mask. */
#define EACH_LANE(D, expression, ...)                                                              \
    if (lanes == ~0u) LANE_LOOP {                                                                  \
            __VA_ARGS__ PUT_ALL(D, expression);                                                    \
        }                                                                                          \
    else                                                                                           \
        LANE_LOOP { __VA_ARGS__ PUT(D, expression); }

/* Handlers of one, two, three and four sources: types of the result and of each source. */
#define UNARY(name, D, A, expression)                                                              \
    HANDLER(name) {                                                                                \
        TARGET(D);                                                                                 \
        SOURCE(a, A, 1);                                                                           \
        EACH_LANE(D, expression, GET(x, A, a);)                                                    \
        return STEP_next;                                                                          \
    }
#define BINARY(name, D, A, B, expression)                                                          \
    HANDLER(name) {                                                                                \
        TARGET(D);                                                                                 \
        SOURCE(a, A, 1);                                                                           \
        SOURCE(b, B, 2);                                                                           \
        EACH_LANE(D, expression, GET(x, A, a); GET(y, B, b);)                                      \
        return STEP_next;                                                                          \
    }
#define TERNARY(name, D, A, B, C, expression)                                                      \
    HANDLER(name) {                                                                                \
        TARGET(D);                                                                                 \
        SOURCE(a, A, 1);                                                                           \
        SOURCE(b, B, 2);                                                                           \
        SOURCE(c, C, 3);                                                                           \
        EACH_LANE(D, expression, GET(x, A, a); GET(y, B, b); GET(z, C, c);)                        \
        return STEP_next;                                                                          \
    }
#define QUATERNARY(name, D, A, B, C, E, expression)                                                \
    HANDLER(name) {                                                                                \
        TARGET(D);                                                                                 \
        SOURCE(a, A, 1);                                                                           \
        SOURCE(b, B, 2);                                                                           \
        SOURCE(c, C, 3);                                                                           \
        SOURCE(e, E, 4);                                                                           \
        EACH_LANE(D, expression, GET(x, A, a); GET(y, B, b); GET(z, C, c); GET(w, E, e);)          \
        return STEP_next;                                                                          \
    }

/* A row of a table of forms. */
#define FORM(row_name, word, handler, ...)                                                         \
    { .row = PTX_##row_name, .operands = word, .run = handler, __VA_ARGS__ }

#define FORM_TABLE(name)                                                                           \
    const FormTable name = {name##_forms, sizeof name##_forms / sizeof *name##_forms}

#endif
