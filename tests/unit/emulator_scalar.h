// One instruction on many values: each row of a table is an instruction as text, the kinds of its
// operands, and what it should give, by C code that shares nothing with the machine.
//
// Kinds, a letter an operand, the result first: h 16 bits, w 32, l 64, p a predicate (1 or 0),
// f and d a float's bits of 32 and 64 (for choosing values).
#ifndef TCC_TESTS_UNIT_EMULATOR_SCALAR_H
#define TCC_TESTS_UNIT_EMULATOR_SCALAR_H

#include "tests/unit/emulator_run.h"

typedef uint64_t Oracle(uint64_t a, uint64_t b, uint64_t c, uint64_t d);
// Whether `got` is allowed; for instructions with more than one right result.
typedef bool Judge(uint64_t got, uint64_t a, uint64_t b, uint64_t c);

typedef struct ScalarRow {
    const char *text, *kinds;
    Oracle *oracle;
    Judge *judge;
} ScalarRow;

enum { SCALAR_THREADS = 1024, SCALAR_SOURCES = 4 };

static inline uint64_t scalar_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// Edge values by kind; the rest is random, of varied magnitude.
static inline uint64_t scalar_value(char kind, uint64_t *state) {
    static const uint64_t integers[] = {0,
                                        1,
                                        2,
                                        31,
                                        32,
                                        33,
                                        63,
                                        64,
                                        255,
                                        256,
                                        0x7f,
                                        0x80,
                                        0x7fff,
                                        0x8000,
                                        0xffff,
                                        0x7fffffff,
                                        0x80000000,
                                        0xffffffff,
                                        0x100000000,
                                        INT64_MAX,
                                        UINT64_C(1) << 63,
                                        UINT64_MAX,
                                        UINT64_MAX - 1};
    static const uint32_t floats[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000,
                                      0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001, 1,
                                      0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x7f7fffff,
                                      0xff7fffff, 0x3f000000, 0x40490fdb, 0x34000000, 0x4b800000,
                                      0x3f7fffff, 0x3f800001};
    static const uint64_t doubles[] = {0,
                                       UINT64_C(1) << 63,
                                       0x3ff0000000000000,
                                       0xbff0000000000000,
                                       0x7ff0000000000000,
                                       0xfff0000000000000,
                                       0x7ff8000000000000,
                                       1,
                                       0x8000000000000001,
                                       0x000fffffffffffff,
                                       0x0010000000000000,
                                       0x7fefffffffffffff,
                                       0x3fe0000000000000,
                                       0x3fefffffffffffff,
                                       0x3ff0000000000001};
    static const uint16_t halves[] = {0,      0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00,
                                      0x7e00, 0xfe01, 1,      0x8001, 0x03ff, 0x0400,
                                      0x7bff, 0xfbff, 0x3bff, 0x3c01, 0x7f80, 0xff80,
                                      0x7fc0, 0x3f80, 0x0080, 0x007f, 0x7f7f};
    uint64_t random = scalar_random(state), pick = scalar_random(state);
    bool edge = pick % 3 == 0;
    pick >>= 8;
    switch (kind) {
    case 'f':
        if (edge) return floats[pick % (sizeof floats / sizeof *floats)];
        if (pick & 1) return (random & 0x80ffffff) | (uint64_t)(96 + (pick >> 1) % 64) << 23;
        return random & 0xffffffff;
    case 'd':
        if (edge) return doubles[pick % (sizeof doubles / sizeof *doubles)];
        if (pick & 1)
            return (random & 0x800fffffffffffff) | (uint64_t)(1000 + (pick >> 1) % 48) << 52;
        return random;
    case 'x': {
        uint64_t low = edge ? halves[pick % (sizeof halves / sizeof *halves)] : random & 0xffff;
        uint64_t high = pick & 64 ? halves[(pick >> 8) % (sizeof halves / sizeof *halves)]
                                  : random >> 16 & 0xffff;
        return low | high << 16;
    }
    case 'h': return edge ? halves[pick % (sizeof halves / sizeof *halves)] : random & 0xffff;
    case 'p': return random & 1;
    default:
        if (edge) return integers[pick % (sizeof integers / sizeof *integers)];
        return random >> (pick % 64);
    }
}

static inline uint64_t scalar_mask(char kind) {
    return kind == 'l' || kind == 'd' ? UINT64_MAX
           : kind == 'h'              ? 0xffff
           : kind == 'p'              ? 1
                                      : 0xffffffff;
}

static inline char scalar_register(char kind) {
    return kind == 'd' ? 'l' : kind == 'f' || kind == 'x' ? 'w' : kind;
}

// A kernel that loads a thread's sources, executes the instruction and stores its result.
static inline void scalar_kernel(Buf *buf, const ScalarRow *row, int number) {
    static const char *const narrow[] = {['h'] = "cvt.u16.u64 %h",
                                         ['w'] = "cvt.u32.u64 %w",
                                         ['l'] = "mov.b64 %l",
                                         ['p'] = "setp.ne.u64 %p"};
    buf_print(buf,
              ".visible .entry k%d(.param .u64 in, .param .u64 out)\n{\n"
              ".reg .pred %%p<8>; .reg .b16 %%h<8>; .reg .b32 %%w<8>; .reg .b64 %%l<8>;\n"
              ".reg .b64 %%x<8>; .reg .b32 %%t;\n"
              "ld.param.u64 %%x0, [in]; ld.param.u64 %%x1, [out];\n"
              "mov.u32 %%t, %%tid.x; mul.wide.u32 %%x2, %%t, 32; add.s64 %%x0, %%x0, %%x2;\n"
              "mul.wide.u32 %%x2, %%t, 8; add.s64 %%x1, %%x1, %%x2; mov.b64 %%x4, 0;\n",
              number);
    int sources = (int)strlen(row->kinds) - 1;
    for (int i = 0; i < sources; i++) {
        char kind = scalar_register(row->kinds[i + 1]);
        buf_print(buf, "ld.global.u64 %%x3, [%%x0+%d]; %s%d, %%x3%s;\n", 8 * i, narrow[(int)kind],
                  i + 1, kind == 'p' ? ", 0" : "");
    }
    char to = scalar_register(row->kinds[0]);
    if (strchr(row->text, '$')) { // operands written out: $ is the % of a register
        for (const char *c = row->text; *c; c++) buf_char(buf, *c == '$' ? '%' : *c);
        buf_print(buf, ";\n");
    } else {
        buf_print(buf, "%s %%%c0", row->text, to);
        for (int i = 0; i < sources; i++)
            buf_print(buf, ", %%%c%d", scalar_register(row->kinds[i + 1]), i + 1);
        buf_print(buf, ";\n");
    }
    if (to == 'p')
        buf_print(buf, "selp.b64 %%x4, 1, 0, %%p0;\n");
    else if (to == 'l')
        buf_print(buf, "mov.b64 %%x4, %%l0;\n");
    else
        buf_print(buf, "cvt.u64.%s %%x4, %%%c0;\n", to == 'h' ? "u16" : "u32", to);
    buf_print(buf, "st.global.u64 [%%x1], %%x4; ret;\n}\n");
}

static inline void scalar_check(const ScalarRow *row, const uint64_t *in, const uint64_t *out) {
    int wrong = 0;
    for (int t = 0; t < SCALAR_THREADS; t++) {
        const uint64_t *s = &in[SCALAR_SOURCES * t];
        uint64_t got = out[t], want = row->oracle ? row->oracle(s[0], s[1], s[2], s[3]) : 0;
        want &= scalar_mask(row->kinds[0]);
        bool good = row->oracle ? got == want : row->judge(got, s[0], s[1], s[2]);
        if (!good && wrong++ == 0)
            printf("    %s of %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 ": got %" PRIx64
                   ", want %" PRIx64 "\n",
                   row->text, s[0], s[1], s[2], s[3], got, want);
    }
    if (!test_check(wrong == 0, __FILE__, __LINE__, row->text))
        printf("    %d of %d lanes\n", wrong, SCALAR_THREADS);
}

// Loads all rows as one module, and runs each on the same number of threads.
static inline void scalar_run(const ScalarRow *rows, int count, const char *device,
                              const EmuOptions *options) {
    Rig rig;
    rig_open(&rig, device);
    rig.options = *options;
    Buf text = {.arena = rig.arena};
    for (int i = 0; i < count; i++) scalar_kernel(&text, &rows[i], i);
    if (!CHECK_INT(rig_load(&rig, text.data), EMU_OK)) printf("%s\n", rig.log);
    static uint64_t in[SCALAR_SOURCES * SCALAR_THREADS];
    for (int i = 0; i < count && rig.module; i++) {
        uint64_t state = 1234 + (uint64_t)i;
        for (int t = 0; t < SCALAR_THREADS; t++)
            for (int k = 0; k < SCALAR_SOURCES; k++) {
                char kind = (int)strlen(rows[i].kinds) > k + 1 ? rows[i].kinds[k + 1] : 'p';
                in[SCALAR_SOURCES * t + k] = scalar_value(kind, &state) & scalar_mask(kind);
            }
        uint64_t parameters[2] = {rig_copy(&rig, in, sizeof in),
                                  rig_memory(&rig, 8 * SCALAR_THREADS)};
        char name[16];
        snprintf(name, sizeof name, "k%d", i);
        if (!CHECK_INT(rig_run(&rig, name, 1, SCALAR_THREADS, 0, parameters, false), EMU_OK))
            printf("    %s: %s\n", rows[i].text, rig.log);
        scalar_check(&rows[i], in, (const uint64_t *)(const void *)rig_bytes(&rig, parameters[1]));
        emu_memory_release(emu_device_memory(rig.device), parameters[0]);
        emu_memory_release(emu_device_memory(rig.device), parameters[1]);
    }
    rig_close(&rig);
}

#endif
