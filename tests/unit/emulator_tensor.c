// Every form of the tensor instructions, from text to result: matrices of ones, and an accumulator
// of twos, give k + 2 everywhere, of sparse ones k / 2 + 2. Which element is where is the subject
// of emulator_mma.c; here it is that each form is decoded and its registers are found.
#include "tests/unit/emulator_run.h"

typedef enum Number { N_f16, N_f32, N_s32, N_f64 } Number;

typedef struct FormRow {
    const char *text; // with what lies between "mma" and the operands
    Number result, accumulator;
    uint32_t one; // a register of A or B
    uint8_t d, a, b, c;
    uint16_t sum;
} FormRow;

#define F16 0x3c003c00
#define BF16 0x3f803f80
#define TF32 0x3f800000
#define E4M3 0x38383838
#define E5M2 0x3c3c3c3c
#define BYTES1 0x01010101
#define NIBBLES 0x11111111
#define BITS 0xffffffff
#define DENSE(shape, types) ".sync.aligned." shape ".row.col." types
#define SPARSE(shape, types) ".sp.sync.aligned." shape ".row.col." types
#define ORDERED(shape, types) ".sp::ordered_metadata.sync.aligned." shape ".row.col." types

static const FormRow forms[] = {
    {DENSE("m16n8k8", "f16.f16.f16.f16"), N_f16, N_f16, F16, 2, 2, 1, 2, 10},
    {DENSE("m16n8k8", "f32.f16.f16.f32"), N_f32, N_f32, F16, 4, 2, 1, 4, 10},
    {DENSE("m16n8k16", "f16.f16.f16.f16"), N_f16, N_f16, F16, 2, 4, 2, 2, 18},
    {DENSE("m16n8k16", "f32.f16.f16.f32"), N_f32, N_f32, F16, 4, 4, 2, 4, 18},
    {DENSE("m16n8k8", "f32.bf16.bf16.f32"), N_f32, N_f32, BF16, 4, 2, 1, 4, 10},
    {DENSE("m16n8k16", "f32.bf16.bf16.f32"), N_f32, N_f32, BF16, 4, 4, 2, 4, 18},
    {DENSE("m16n8k4", "f32.tf32.tf32.f32"), N_f32, N_f32, TF32, 4, 2, 1, 4, 6},
    {DENSE("m16n8k8", "f32.tf32.tf32.f32"), N_f32, N_f32, TF32, 4, 4, 2, 4, 10},
    {DENSE("m8n8k4", "f64.f64.f64.f64"), N_f64, N_f64, 0, 2, 1, 1, 2, 6},
    {DENSE("m16n8k4", "f64.f64.f64.f64"), N_f64, N_f64, 0, 4, 2, 1, 4, 6},
    {DENSE("m16n8k8", "f64.f64.f64.f64"), N_f64, N_f64, 0, 4, 4, 2, 4, 10},
    {DENSE("m16n8k16", "f64.f64.f64.f64"), N_f64, N_f64, 0, 4, 8, 4, 4, 18},
    {DENSE("m8n8k16", "s32.s8.s8.s32"), N_s32, N_s32, BYTES1, 2, 1, 1, 2, 18},
    {DENSE("m16n8k16", "satfinite.s32.u8.s8.s32"), N_s32, N_s32, BYTES1, 4, 2, 1, 4, 18},
    {DENSE("m16n8k32", "s32.s8.s8.s32"), N_s32, N_s32, BYTES1, 4, 4, 2, 4, 34},
    {DENSE("m16n8k32", "s32.u8.u8.s32"), N_s32, N_s32, BYTES1, 4, 4, 2, 4, 34},
    {DENSE("m8n8k32", "s32.s4.u4.s32"), N_s32, N_s32, NIBBLES, 2, 1, 1, 2, 34},
    {DENSE("m16n8k32", "s32.u4.u4.s32"), N_s32, N_s32, NIBBLES, 4, 2, 1, 4, 34},
    {DENSE("m16n8k64", "satfinite.s32.s4.s4.s32"), N_s32, N_s32, NIBBLES, 4, 4, 2, 4, 66},
    {DENSE("m8n8k128", "s32.b1.b1.s32.and.popc"), N_s32, N_s32, BITS, 2, 1, 1, 2, 130},
    {DENSE("m16n8k128", "s32.b1.b1.s32.xor.popc"), N_s32, N_s32, BITS, 4, 2, 1, 4, 2},
    {DENSE("m16n8k256", "s32.b1.b1.s32.and.popc"), N_s32, N_s32, BITS, 4, 4, 2, 4, 258},
    {DENSE("m16n8k32", "f32.e4m3.e4m3.f32"), N_f32, N_f32, E4M3, 4, 4, 2, 4, 34},
    {DENSE("m16n8k32", "f32.e5m2.e5m2.f32"), N_f32, N_f32, E5M2, 4, 4, 2, 4, 34},
    {DENSE("m16n8k16", "f32.e4m3.e4m3.f32"), N_f32, N_f32, E4M3, 4, 2, 1, 4, 18},
    {DENSE("m16n8k32", "f16.e4m3.e4m3.f16"), N_f16, N_f16, E4M3, 2, 4, 2, 2, 34},
    {DENSE("m16n8k16", "f16.e5m2.e5m2.f16"), N_f16, N_f16, E5M2, 2, 2, 1, 2, 18},
    {".sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", N_f32, N_f32, F16, 8, 2, 2, 8, 6},
    {".sync.aligned.m8n8k4.col.row.f32.f16.f16.f16", N_f32, N_f16, F16, 8, 2, 2, 4, 6},
    {".sync.aligned.m8n8k4.row.row.f16.f16.f16.f16", N_f16, N_f16, F16, 4, 2, 2, 4, 6},
    {SPARSE("m16n8k16", "f16.f16.f16.f16"), N_f16, N_f16, F16, 2, 2, 2, 2, 10},
    {SPARSE("m16n8k16", "f32.bf16.bf16.f32"), N_f32, N_f32, BF16, 4, 2, 2, 4, 10},
    {SPARSE("m16n8k32", "f32.f16.f16.f32"), N_f32, N_f32, F16, 4, 4, 4, 4, 18},
    {SPARSE("m16n8k8", "f32.tf32.tf32.f32"), N_f32, N_f32, TF32, 4, 2, 2, 4, 6},
    {ORDERED("m16n8k16", "f32.tf32.tf32.f32"), N_f32, N_f32, TF32, 4, 4, 4, 4, 10},
    {ORDERED("m16n8k32", "s32.s8.s8.s32"), N_s32, N_s32, BYTES1, 4, 2, 2, 4, 18},
    {ORDERED("m16n8k64", "s32.u8.u8.s32"), N_s32, N_s32, BYTES1, 4, 4, 4, 4, 34},
    {ORDERED("m16n8k64", "s32.s4.s4.s32"), N_s32, N_s32, NIBBLES, 4, 2, 2, 4, 34},
    {ORDERED("m16n8k128", "s32.u4.u4.s32"), N_s32, N_s32, NIBBLES, 4, 4, 4, 4, 66},
    {ORDERED("m16n8k64", "f32.e4m3.e4m3.f32"), N_f32, N_f32, E4M3, 4, 4, 4, 4, 34},
};

static const char *const prefixes[] = {"%r", "%f", "%r", "%d"};
static const char *const twos[] = {"0x40004000", "0f40000000", "2", "0d4000000000000000"};

// {%r7, %r7} or, with a step, {%r7, %r8}.
static void put_registers(Buf *out, const char *prefix, int first, int count, int step) {
    buf_print(out, "{");
    for (int i = 0; i < count; i++)
        buf_print(out, "%s%s%d", i ? ", " : "", prefix, first + i * step);
    buf_print(out, "}");
}

static void put_kernel(Buf *out, const FormRow *f) {
    bool wide = f->result == N_f64, sparse = strstr(f->text, ".sp") != NULL;
    const char *operand = wide ? "%d" : "%r", *d = prefixes[f->result],
               *c = prefixes[f->accumulator];
    buf_print(out, ".visible .entry k(.param .u64 out) {\n.reg .b32 %%r<40>; .reg .f32 %%f<40>;\n"
                   ".reg .f64 %%d<40>; .reg .b64 %%q<4>;\n");
    buf_print(out, "mov.b32 %%r1, 0x%x;\nmov.b32 %%r3, 0x44444444;\n", f->one);
    buf_print(out, "mov.f64 %%d1, 0d3ff0000000000000;\n");
    buf_print(out, "mov.%s %s2, %s;\n",
              wide                      ? "f64"
              : f->accumulator == N_f32 ? "f32"
                                        : "b32",
              c, twos[f->accumulator]);
    buf_print(out, "mma%s ", f->text);
    put_registers(out, d, 10, f->d, 1);
    buf_print(out, ", ");
    put_registers(out, operand, 1, f->a, 0);
    buf_print(out, ", ");
    put_registers(out, operand, 1, f->b, 0);
    buf_print(out, ", ");
    put_registers(out, c, 2, f->c, 0);
    buf_print(out, "%s;\n", sparse ? ", %r3, 0x0" : "");
    buf_print(out, "ld.param.u64 %%q0, [out];\nmov.u32 %%r4, %%tid.x;\n"
                   "mul.wide.u32 %%q1, %%r4, 64;\nadd.u64 %%q0, %%q0, %%q1;\n");
    for (int i = 0; i < f->d; i++)
        buf_print(out, "st.global.%s [%%q0+%d], %s%d;\n", wide ? "f64" : "b32", i * 8, d, 10 + i);
    buf_print(out, "ret;\n}\n");
}

static uint64_t wanted(Number number, int sum) {
    float single = (float)sum;
    double both = sum;
    uint64_t bits = 0;
    switch (number) {
    case N_s32: return (uint64_t)sum;
    case N_f32: memcpy(&bits, &single, 4); return bits;
    case N_f64: memcpy(&bits, &both, 8); return bits;
    case N_f16: break;
    }
    int exponent = 0;
    while (sum >> (exponent + 1)) exponent++;
    uint64_t half = (uint64_t)(exponent + 15) << 10 | (uint64_t)((sum << 10 >> exponent) & 0x3ff);
    return half << 16 | half;
}

static void check_form(const FormRow *f, bool exact) {
    Rig rig;
    rig_open(&rig, "sm_90a");
    rig.options.exact_tensor = exact;
    Buf text = {.arena = rig.arena};
    put_kernel(&text, f);
    uint64_t out = rig_memory(&rig, 32 * 64);
    if (!CHECK_INT(rig_load(&rig, text.data), EMU_OK))
        printf("    %s: %s\n", f->text, rig.log);
    else if (CHECK_INT(rig_run(&rig, "k", 1, 32, 0, &out, false), EMU_OK)) {
        long wrong = 0;
        for (int i = 0; i < 32 * f->d; i++) {
            uint64_t got = 0;
            memcpy(&got, rig_bytes(&rig, out) + i / f->d * 64 + i % f->d * 8,
                   f->result == N_f64 ? 8 : 4);
            wrong += got != wanted(f->result, f->sum);
        }
        if (!CHECK_INT(wrong + rig.findings, 0)) printf("    %s\n%s", f->text, rig.log);
    }
    rig_close(&rig);
}

static void test_every_form_of_mma(void) {
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        check_form(&forms[i], false);
        check_form(&forms[i], true);
    }
}

// ---- wmma ---------------------------------------------------------------------------------------

typedef struct Wmma {
    const char *shape, *type, *result;
    const char *mma; // types behind the shape
    uint8_t a, b, c;
    uint8_t sum, bytes; // k; bytes of an element of the result
    uint32_t one;
    const char *layout_a, *layout_b;
} Wmma;

static const Wmma wmmas[] = {
    {"m16n16k16", "f16", "f32", "f32.f32", 8, 8, 8, 16, 4, F16, "row", "row"},
    {"m8n32k16", "f16", "f32", "f32.f32", 8, 8, 8, 16, 4, F16, "col", "row"},
    {"m32n8k16", "f16", "f16", "f16.f16", 8, 8, 4, 16, 2, F16, "row", "col"},
    {"m16n16k16", "bf16", "f32", "f32.bf16.bf16.f32", 4, 4, 8, 16, 4, BF16, "col", "col"},
    {"m8n32k16", "bf16", "f32", "f32.bf16.bf16.f32", 2, 8, 8, 16, 4, BF16, "row", "col"},
    {"m32n8k16", "bf16", "f32", "f32.bf16.bf16.f32", 8, 2, 8, 16, 4, BF16, "row", "col"},
    {"m16n16k8", "tf32", "f32", "f32.tf32.tf32.f32", 4, 4, 8, 8, 4, TF32, "row", "col"},
    {"m16n16k16", "s8", "s32", "s32.s8.s8.s32", 2, 2, 8, 16, 4, BYTES1, "row", "col"},
    {"m8n32k16", "u8", "s32", "s32.u8.u8.s32", 1, 4, 8, 16, 4, BYTES1, "row", "col"},
    {"m32n8k16", "s8", "s32", "s32.s8.s8.s32", 4, 1, 8, 16, 4, BYTES1, "col", "row"},
    {"m8n8k32", "s4", "s32", "s32.s4.s4.s32", 1, 1, 2, 32, 4, NIBBLES, "row", "col"},
    {"m8n8k128", "b1", "s32", "s32.b1.b1.s32", 1, 1, 2, 128, 4, BITS, "row", "col"},
};

static void put_wmma(Buf *out, const Wmma *w) {
    bool single = strcmp(w->result, "f32") == 0, bits = strcmp(w->type, "b1") == 0;
    const char *acc = single ? "%f" : "%r";
    buf_print(out, ".visible .entry k(.param .u64 in, .param .u64 out) {\n.reg .b32 %%r<60>;\n"
                   ".reg .f32 %%f<40>; .reg .b64 %%q<4>;\nld.param.u64 %%q0, [in];\n"
                   "ld.param.u64 %%q1, [out];\nmov.f32 %%f0, 0f00000000;\nmov.b32 %%r0, 0;\n");
    const char *operands[] = {"a", "b"};
    for (int i = 0; i < 2; i++) {
        buf_print(out, "wmma.load.%s.sync.aligned.%s.%s.global.%s ", operands[i],
                  i ? w->layout_b : w->layout_a, w->shape, w->type);
        put_registers(out, "%r", 10 + 10 * i, i ? w->b : w->a, 1);
        buf_print(out, ", [%%q0];\n");
    }
    buf_print(out, "wmma.mma%s.sync.aligned.%s.%s.%s.%s ", bits ? ".xor.popc" : "", w->layout_a,
              w->layout_b, w->shape, w->mma);
    put_registers(out, acc, 30, w->c, 1);
    buf_print(out, ", ");
    put_registers(out, "%r", 10, w->a, 1);
    buf_print(out, ", ");
    put_registers(out, "%r", 20, w->b, 1);
    buf_print(out, ", ");
    put_registers(out, acc, 0, w->c, 0);
    buf_print(out, ";\nwmma.store.d.sync.aligned.row.%s.global.%s [%%q1], ", w->shape, w->result);
    put_registers(out, acc, 30, w->c, 1);
    buf_print(out, ";\nret;\n}\n");
}

static void check_wmma(const Wmma *w) {
    Rig rig;
    uint32_t ones[1024];
    int m = 0, n = 0;
    rig_open(&rig, "sm_80");
    for (int i = 0; i < 1024; i++) ones[i] = w->one;
    sscanf(w->shape, "m%dn%dk", &m, &n);
    Buf text = {.arena = rig.arena};
    put_wmma(&text, w);
    uint64_t parameters[] = {rig_copy(&rig, ones, sizeof ones), rig_memory(&rig, 4096)};
    bool xors = strcmp(w->type, "b1") == 0;
    uint64_t want = wanted(strcmp(w->result, "f32") == 0   ? N_f32
                           : strcmp(w->result, "f16") == 0 ? N_f16
                                                           : N_s32,
                           xors ? 0 : w->sum);
    if (!CHECK_INT(rig_load(&rig, text.data), EMU_OK))
        printf("    %s %s: %s\n", w->shape, w->type, rig.log);
    else if (CHECK_INT(rig_run(&rig, "k", 1, 32, 0, parameters, false), EMU_OK)) {
        long wrong = 0;
        for (int i = 0; i < m * n; i++)
            wrong += memcmp(rig_bytes(&rig, parameters[1]) + i * w->bytes, &want, w->bytes) != 0;
        if (!CHECK_INT(wrong + rig.findings, 0))
            printf("    %s %s\n%s", w->shape, w->type, rig.log);
    }
    rig_close(&rig);
}

static void test_forms_of_wmma(void) {
    for (size_t i = 0; i < sizeof wmmas / sizeof wmmas[0]; i++) check_wmma(&wmmas[i]);
}

// ---- ldmatrix and stmatrix ----------------------------------------------------------------------

// Rows of 16 bytes go out as they came in; transposed twice, too, in every count of matrices.
static void check_matrix(int count, const char *in, const char *out) {
    Rig rig;
    uint16_t want[8 * 8 * 4];
    rig_open(&rig, "sm_90a");
    for (int i = 0; i < 256; i++) want[i] = (uint16_t)(i * 17 + 3);
    Buf text = {.arena = rig.arena};
    buf_print(&text,
              ".visible .entry k(.param .u64 in, .param .u64 out) {\n.reg .b32 %%r<20>;\n"
              ".reg .b64 %%q<8>;\n.shared .align 16 .b8 from[512]; .shared .align 16 .b8 to[512];\n"
              "ld.param.u64 %%q0, [in];\nld.param.u64 %%q1, [out];\nmov.u32 %%r0, %%tid.x;\n"
              "mul.wide.u32 %%q2, %%r0, 16;\nadd.u64 %%q0, %%q0, %%q2;\nadd.u64 %%q1, %%q1, %%q2;\n"
              "shl.b32 %%r0, %%r0, 4;\nmov.u32 %%r1, from;\nadd.u32 %%r1, %%r1, %%r0;\n"
              "mov.u32 %%r2, to;\nadd.u32 %%r2, %%r2, %%r0;\n"
              "ld.global.v4.b32 {%%r4, %%r5, %%r6, %%r7}, [%%q0];\n"
              "st.shared.v4.b32 [%%r1], {%%r4, %%r5, %%r6, %%r7};\n"
              "st.shared.v4.b32 [%%r2], {%%r4, %%r5, %%r6, %%r7};\n"
              "ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 ",
              count, in);
    put_registers(&text, "%r", 10, count, 1);
    buf_print(&text, ", [%%r1];\nstmatrix.sync.aligned.m8n8.x%d%s.shared.b16 [%%r2], ", count, out);
    put_registers(&text, "%r", 10, count, 1);
    buf_print(&text, ";\nld.shared.v4.b32 {%%r4, %%r5, %%r6, %%r7}, [%%r2];\n"
                     "st.global.v4.b32 [%%q1], {%%r4, %%r5, %%r6, %%r7};\nret;\n}\n");
    uint64_t parameters[] = {rig_copy(&rig, want, sizeof want), rig_memory(&rig, 512)};
    if (!CHECK_INT(rig_load(&rig, text.data), EMU_OK))
        printf("    %s\n", rig.log);
    else if (CHECK_INT(rig_run(&rig, "k", 1, 32, 0, parameters, false), EMU_OK)) {
        const uint16_t *got = (const uint16_t *)(const void *)rig_bytes(&rig, parameters[1]);
        bool transposed = strcmp(in, out) != 0;
        long wrong = 0;
        for (int i = 0; i < 256; i++) {
            int row = i / 8 % 8, column = i % 8, matrix = i / 64;
            int from = transposed && matrix < count ? matrix * 64 + column * 8 + row : i;
            wrong += got[i] != want[from];
        }
        CHECK_INT(wrong, 0);
        if (!CHECK_INT(rig.findings, 0)) printf("%s", rig.log);
    }
    rig_close(&rig);
}

static void test_matrices_through_registers(void) {
    for (int count = 1; count <= 4; count *= 2) {
        check_matrix(count, "", "");
        check_matrix(count, ".trans", ".trans");
        check_matrix(count, ".trans", "");
        check_matrix(count, "", ".trans");
    }
}

int main(void) {
    RUN(test_every_form_of_mma);
    RUN(test_forms_of_wmma);
    RUN(test_matrices_through_registers);
    return test_done();
}
