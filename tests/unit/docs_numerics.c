// docs/numerics.md: its table of errors is that of ops.def and math.def.
#include "ir/ops.h"
#include "tests/support/dsl_compile.h"
#include "tests/unit/test.h"

typedef struct Measured {
    Op op;
    double f32, f64;
} Measured;

static const Measured measured[] = {
#define MATH_BOUND(op, f32, f64) {OP_##op, f32, f64},
#include "codegen/lower/math.def"
#undef MATH_BOUND
};

static const Measured *find_measured(Op op) {
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
        if (measured[i].op == op) return &measured[i];
    return NULL;
}

// The rows as the page must have them, in the order of ops.def.
static Str make_rows(Arena *arena) {
    Buf buf = {.arena = arena};
    for (Op op = OP_none + 1; op < OP_count; op++) {
        const OpInfo *info = op_info(op);
        const Measured *m = find_measured(op);
        CHECK_INT(m != NULL, info->ulp > 0);
        if (m == NULL) continue;
        CHECK(m->f32 <= info->ulp && m->f64 <= info->ulp);
        buf_print(&buf, "| `%s` | %g | %g | %g |\n", info->name, info->ulp, m->f32, m->f64);
    }
    return buf_str(&buf);
}

static void test_table(void) {
    static const char head[] = "| op | allowed | f32 | f64 |\n|---|---|---|---|\n";
    Str page = dsl_read_file("docs/numerics.md");
    Arena *arena = arena_new(NULL);
    Str rows = make_rows(arena);
    const char *at = strstr(str_terminated(arena, page), head);
    if (CHECK(at != NULL)) {
        at += sizeof head - 1;
        bool same = strncmp(at, rows.data, rows.size) == 0 && at[rows.size] == '\n';
        if (!CHECK(same)) printf("    the rows should be\n%.*s", STR_ARG(rows));
    }
    arena_free(arena);
    free((void *)(uintptr_t)page.data);
}

int main(void) {
    RUN(test_table);
    return test_done();
}
