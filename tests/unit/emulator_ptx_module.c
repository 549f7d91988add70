// What a parsed module says of its text: layouts, registers, labels, values, places.
#include "tests/unit/emulator_ptx.h"

static const PtxFunction *find(const PtxModule *module, const char *name) {
    for (uint32_t i = 0; module && i < module->function_count; i++)
        if (str_equal(module->functions[i]->name, str_from(name))) return module->functions[i];
    CHECK(false);
    return NULL;
}

static const PtxVariable *find_variable(const PtxModule *module, const char *name) {
    for (uint32_t i = 0; module && i < module->variable_count; i++)
        if (str_equal(module->variables[i]->name, str_from(name))) return module->variables[i];
    CHECK(false);
    return NULL;
}

static const PtxModule *module_of(Arena *arena, const char *body) {
    Str text = str_format(arena, ".version 9.0\n.target sm_90a\n.address_size 64\n%s", body);
    return ptx_good(arena, "text", text);
}

static void test_header(void) {
    Arena *arena = arena_new(NULL);
    const PtxModule *module = module_of(arena, ".entry k() { ret; }");
    CHECK_INT(module->version, 90);
    CHECK_INT(module->target, 90);
    CHECK(module->target_exact && !module->target_family);
    arena_free(arena);
}

// cuLaunchKernel lays parameters out by these: each at its own or its declared alignment.
static void test_parameters(void) {
    Arena *arena = arena_new(NULL);
    const PtxFunction *f =
        find(module_of(arena, ".entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20],\n"
                              ".param .u16 d, .param .u64 .ptr .shared .align 8 e)\n"
                              ".reqntid 128, 2 .maxnreg 40 .reqnctapercluster 2 { ret; }"),
             "k");
    static const uint64_t offsets[] = {0, 8, 16, 36, 40};
    CHECK_INT(f->parameter_count, 5);
    for (int i = 0; i < 5; i++) CHECK_INT(f->parameters[i]->offset, offsets[i]);
    CHECK_INT(f->parameter_bytes, 48);
    CHECK_INT(f->required_threads.x, 128);
    CHECK_INT(f->required_threads.y, 2);
    CHECK_INT(f->required_threads.z, 1);
    CHECK_INT(f->max_registers, 40);
    CHECK_INT(f->required_cluster.x, 2);
    arena_free(arena);
}

// Registers of a range exist from their first use on; labels are instructions.
static void test_registers_and_labels(void) {
    Arena *arena = arena_new(NULL);
    const PtxFunction *f = find(ptx_good(arena, "text",
                                         ptx_around(arena, "start: add.s32 %r90, %r7, %r90;\n"
                                                           "@!%p3 bra end; bra start; end:\n")),
                                "k");
    CHECK_INT(f->register_count, 3);
    CHECK(str_equal(f->registers[0].name, STR("%r90")));
    CHECK(str_equal(f->registers[1].name, STR("%r7")));
    CHECK_INT(f->registers[2].type, PTX_TYPE_pred);
    CHECK_INT(f->instructions[0].operands[2].index, 0);
    CHECK(f->instructions[1].guarded && f->instructions[1].guard_negated);
    CHECK_INT(f->instructions[1].guard, 2);
    CHECK_INT(f->instructions[1].operands[0].index, 3);
    CHECK_INT(f->instructions[2].operands[0].index, 0);
    CHECK_INT(f->instructions[3].row, PTX_ret);
    arena_free(arena);
}

static void test_instruction(void) {
    Arena *arena = arena_new(NULL);
    const PtxFunction *f = find(
        ptx_good(arena, "text",
                 ptx_around(arena,
                            "ld.global.gpu.acquire.v2.b32 {%r1,_},[%rd1+8];\n"
                            "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
                            "{%r1,%r2,%r3,%r4},{%r1,%r2,%r3,%r4},{%r5,%r6},{%r1,%r2,%r3,%r4};\n"
                            "cp.async.ca.shared.global [%r1],[%rd1],8;\n"
                            "add.s32 %r1, %r2, -1; add.f32 %f1, %f2, 1.5; mov.u32 %r1, %tid.y;")),
        "k");
    const PtxInstruction *i = f->instructions;
    CHECK_INT(i[0].vector, 2);
    CHECK_INT(i[0].space, PTX_SPACE_global);
    CHECK_INT(i[0].types[0], PTX_TYPE_b32);
    CHECK(ptx_has(&i[0].modifiers, PTX_MOD_acquire) && ptx_has(&i[0].modifiers, PTX_MOD_gpu));
    CHECK_INT(i[0].operands[0].parts[1].kind, PTX_OPERAND_sink);
    CHECK_INT(i[0].operands[1].offset, 8);
    CHECK_INT(i[1].shape[0], 16);
    CHECK_INT(i[1].shape[2], 0); // 256
    CHECK(ptx_has(&i[1].modifiers, PTX_MOD_row) && ptx_has(&i[1].modifiers, PTX_MOD_col2));
    CHECK_INT(i[2].space, PTX_SPACE_shared);
    CHECK_INT(i[2].source_space, PTX_SPACE_global);
    CHECK_INT((int64_t)i[3].operands[2].bits, -1);
    CHECK_INT(i[4].operands[2].kind, PTX_OPERAND_f32);
    CHECK_INT(i[4].operands[2].bits, 0x3FC00000);
    CHECK_INT(i[5].operands[1].component, 1);
    CHECK_STR(str_terminated(arena, ptx_instruction_text(arena, f, 0)),
              "ld.acquire.gpu.global.v2.b32 {%r1, _}, [%rd1+8];");
    CHECK_STR(str_terminated(arena, ptx_instruction_text(arena, f, 5)), "mov.u32 %r1, %tid.y;");
    arena_free(arena);
}

static void test_values(void) {
    Arena *arena = arena_new(NULL);
    const PtxModule *module =
        module_of(arena, ".global .b8 a[5] = {1, 0xFF};\n"
                         ".global .u16 b[2][3] = {{1, 2}, {3}};\n"
                         ".global .u64 c[] = {a, generic(b)+4, 7};\n"
                         ".global .b8 d[2] = {0xFF(a), 0xFF00(a)};\n"
                         ".extern .shared .align 16 .b8 dynamic[];\n.entry k() { ret; }");
    const PtxVariable *a = find_variable(module, "a"), *b = find_variable(module, "b"),
                      *c = find_variable(module, "c"), *d = find_variable(module, "d");
    static const uint8_t a_bytes[5] = {1, 255};
    static const uint16_t b_words[6] = {1, 2, 0, 3};
    CHECK_MEM(a->initial, a_bytes, sizeof a_bytes);
    CHECK_MEM(b->initial, b_words, sizeof b_words);
    CHECK_INT(c->size, 24);
    CHECK_INT(c->relocation_count, 2);
    CHECK(c->relocations[1].variable == b && c->relocations[1].generic);
    CHECK_INT(c->relocations[1].addend, 4);
    CHECK_INT(c->relocations[1].at, 8);
    CHECK_INT(d->relocations[1].shift, 8);
    CHECK_INT(d->relocations[1].size, 1);
    CHECK_INT(find_variable(module, "dynamic")->size, 0);
    CHECK_INT(find_variable(module, "dynamic")->align, 16);
    arena_free(arena);
}

// Parameters that are registers are loaded and stored by instructions that were not written.
static void test_register_parameters(void) {
    Arena *arena = arena_new(NULL);
    const PtxModule *module =
        module_of(arena, ".func (.reg .b32 r) f (.reg .b32 a) { add.s32 r, a, 1; ret; }\n"
                         ".entry k() { .reg .b32 x; call (x), f, (5); ret; }");
    static const PtxRow f_rows[] = {PTX_ld, PTX_add, PTX_st, PTX_ret};
    static const PtxRow k_rows[] = {PTX_st, PTX_call, PTX_ld, PTX_ret};
    const PtxFunction *f = find(module, "f"), *k = find(module, "k");
    CHECK_INT(f->instruction_count, 4);
    CHECK_INT(k->instruction_count, 4);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(f->instructions[i].row, f_rows[i]);
        CHECK_INT(k->instructions[i].row, k_rows[i]);
    }
    CHECK_INT(k->variable_count, 2);
    arena_free(arena);
}

static void test_places(void) {
    Arena *arena = arena_new(NULL);
    const PtxFunction *f =
        find(ptx_good(arena, "debug", ptx_file(arena, "tests/emulator/ptx/accept/debug.ptx")), "k");
    const PtxLocation *inner = &f->locations[f->instructions[2].location];
    const PtxLocation *middle = &f->locations[inner->inlined_at];
    CHECK(str_equal(inner->file, STR("/src/b.cuh")) && str_equal(inner->function, STR("g")));
    CHECK_INT(inner->line, 30);
    CHECK_INT(middle->line, 20);
    CHECK(str_equal(middle->function, STR("f_1")) && str_equal(middle->file, STR("/src/a.cu")));
    CHECK_INT(f->locations[middle->inlined_at].line, 10);
    CHECK_INT(f->locations[f->instructions[0].location].inlined_at, 0);
    arena_free(arena);
}

int main(void) {
    RUN(test_header);
    RUN(test_parameters);
    RUN(test_registers_and_labels);
    RUN(test_instruction);
    RUN(test_values);
    RUN(test_register_parameters);
    RUN(test_places);
    return test_done();
}
