// The verifier of tile programs: what is refused, with its message; what must be proved.
#include "tile_support.h"

// Programs of one frame: the views that the lines below use, and a grid axis %r of R points.
static TileProgram *try_lines(TileTest *t, const char *state, const char *lines) {
    Buf buf = {.arena = t->arena};
    buf_print(&buf,
              "tile 1\n"
              "dim M in 0..100 tune 8\n"
              "dim N in 1..8192 tune 512\n"
              "dim R in 1..64 tune 8\n"
              "kernel @k(%%x: view<global f32 [R, N]>, %%y: view<global f32 [R, N]> out,\n"
              "          %%w: view<constant f32 [N]>, %%i: view<global i64 [N]>,\n"
              "          %%f: view<global f32 [64]>, %%g: view<global f32 [64]> out,\n"
              "          %%k: view<global u64 []>, %%m: view<global f32 [M]>,\n"
              "          %%q: view<global f32 [R, 8, 16]>, %%a: view<global f32 [16*R]>) %s {\n"
              "  %%s = alloc scratch f32 [64]\n"
              "  %%si = alloc scratch i64 [64]\n"
              "  %%t = alloc scratch f32 [64]\n"
              "  %%ti = alloc scratch i64 [32]\n"
              "  work %%r in [R] {\n%s\n  }\n}\n",
              state, lines);
    return tile_try(t, buf.data);
}

static void check_sound(const char *state, const char *lines) {
    TileTest t;
    tile_open(&t);
    TileProgram *program = try_lines(&t, state, lines);
    if (!program) printf("    %u:%u: %s\n%s\n", t.loc.line, t.loc.column, t.text, lines);
    CHECK(program != NULL);
    if (program) CHECK(tile_verify(program, t.arena) == NULL);
    if (program) tile_check_round_trip(&t, program);
    tile_close(&t);
}

static void check_unsound(const char *state, const char *lines, const char *message) {
    TileTest t;
    tile_open(&t);
    CHECK(try_lines(&t, state, lines) == NULL);
    CHECK_STR(t.id, "tile-unsound");
    Str want = str_format(t.arena, "this program is not sound: %s", message);
    CHECK_STR(t.text, want.data);
    if (strcmp(t.text, want.data) != 0) printf("%s\n", lines);
    tile_close(&t);
}

typedef struct Case {
    const char *lines, *message;
} Case;

#define V16 " : tile<f32 [16] lanes=16>\n"
#define I16 " : tile<i64 [16] lanes=16>\n"

static void test_bounds(void) {
    static const Case cases[] = {
        {"%0 = load %x[%r, $0]" V16, "load: %x: subscript 1, $0, is not proved less than N"},
        {"%0 = load %x[%r, $0 - 1] where $0 <= $0 < N" V16,
         "load: %x: subscript 1, $0 - 1, is not proved at least 0"},
        {"%0 = load %x[%r + 1, $0] where 0 <= $0 < N" V16,
         "load: %x: subscript 0, %r + 1, is not proved less than R"},
        {"%0 = load %x[%r, $0] where 0 <= $0 < N + 1" V16,
         "load: %x: subscript 1, $0, is not proved less than N"},
        {"%0 = load %x[%r, $0 + 1] where 0 <= $0 < N" V16,
         "load: %x: subscript 1, $0 + 1, is not proved less than N"},
        {"%0 = load %x[%r, 2*$0] where 0 <= $0 < N" V16,
         "load: %x: subscript 1, 2*$0, is not proved less than N"},
        {"for %c in 0..N step 16 { %0 = load %w[%c + $0]" V16 "}",
         "load: %w: subscript 0, %c + $0, is not proved less than N"},
        {"for %c in 1..N { %0 = load %w[%c - 2] : tile<f32 []> }",
         "load: %w: subscript 0, %c - 2, is not proved at least 0"},
        {"if 0 <= %r < 4 { %0 = load %f[16*%r + $0]" V16 "} else { %1 = load %f[16*%r + $0]" V16
         "}",
         "load: %f: subscript 0, 16*%r + $0, is not proved less than 64"},
        {"%0 = load %f[%r // 2 + 33] : tile<f32 []>",
         "load: %f: subscript 0, %r // 2 + 33, is not proved less than 64"},
        {"%0 = load %m[0] : tile<f32 []>", "load: %m: subscript 0, 0, is not proved less than M"},
        {"%0 = const 1" V16 "store %0, %g[$0 + 49]",
         "store: %g: subscript 0, $0 + 49, is not proved less than 64"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_unsound("placed", cases[i].lines, cases[i].message);
}

static void test_proofs(void) {
    static const char *const lines[] = {
        "%0 = load %x[%r, $0] where 0 <= $0 < N" V16,
        "%0 = load %x[%r, $0 + 3] where 3 <= $0 + 3 < N" V16,
        "%0 = load %x[%r, $0 + 3] where 0 <= $0 + 5 < N" V16,
        "for %c in 0..N step 16 { %0 = load %w[%c + $0] where 0 <= %c + $0 < N" V16 "}",
        "for %c in 0..N // 16 * 16 step 16 { %0 = load %w[%c + $0]" V16 "}\n"
        "for %d in N // 16 * 16..N { %1 = load %w[%d] : tile<f32 []> }",
        "for %c in 0..N // 16 { %0 = load %w[16*%c + $0]" V16 "}",
        "for %c in 0..64 step 16 { %0 = load %f[%c + $0]" V16 "}",
        "for %c in 0..60 step 16 { %0 = load %f[%c + $0]" V16 "}",
        "if 0 <= %r < 4 { %0 = load %f[16*%r + $0]" V16 "}",
        "if 4 <= %r < R { } else { %0 = load %f[16*%r + $0]" V16 "}",
        "if 0 <= %r < 4 { } else { for %c in 4..%r + 1 { %0 = load %x[%c, 0] : tile<f32 []> } }",
        "for %c in 0..min(4, R) { %0 = load %f[16*%c + $0]" V16 "}",
        "for %c in 0..N { for %d in 0..%c + 1 { %0 = load %w[%c - %d] : tile<f32 []> } }",
        "%0 = load %q[%r, $0 // 2, $0] : tile<f32 [16] lanes=16>",
        "for %c in 0..128*R { %0 = load %q[%c // 128, %c // 16 % 8, %c % 16] : tile<f32 []> }",
        "for %c in 0..128*R step 8 {\n"
        "  %0 = load %q[(%c + $0) // 128, (%c + $0) // 16 % 8, (%c + $0) % 16]\n"
        "    where 0 <= %c + $0 < 128*R : tile<f32 [8] lanes=8>\n"
        "}",
        "for %c in 0..N { %0 = load %x[%r, N - 1 - %c] : tile<f32 []> }",
        "for %c in 0..N {\n"
        "  %0 = load %w[2*%c - 3] where 0 <= 2*%c - 3 < N : tile<f32 []>\n"
        "  %1 = load %w[%c + 1] where 0 <= %c + 2 < N : tile<f32 []>\n"
        "}",
        "%0 = load %i[$0] where 0 <= $0 < N" I16 "%1 = check %0 bound=64 where 0 <= $0 < N\n"
        "%2 = load %f[%1]" V16,
        "%0 = load %i[$0] where 0 <= $0 < N" I16 "%1 = check %0 bound=M\n"
        "%2 = load %m[%1] where 0 <= 0 < M" V16,
        "%0 = load %i[0] : tile<i64 []>\n%1 = check %0 bound=40\n"
        "%2 = move %1 axes=[]" I16 "%3 = load %f[%2 + 24]" V16 "%4 = load %f[%1 + $0 + 8]" V16,
        "%0 = load %m[$0] where 0 <= $0 < M" V16,
        "%0 = load %k[] : tile<u64 []>",
        "%0 = const 0 : tile<f32 [4, 16] lanes=16>\nstore %0, %g[16*$0 + $1]",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) check_sound("placed", lines[i]);
    check_sound("free", "%0 = load %x[%r, $0] : tile<f32 [N]>\nstore %0, %y[%r, $0]");
    check_sound("free", "%0 = load %x[$0, $1] : tile<f32 [R, N]>\n%1 = scan add %0 axis=1");
}

static void test_indices(void) {
    static const Case cases[] = {
        {"%0 = load %i[$0] where 0 <= $0 < N" I16 "%1 = load %f[%0]" V16,
         "load: the index of axis 0 does not come from a check"},
        {"%0 = load %i[$0] where 0 <= $0 < N" I16 "%1 = check %0 bound=65\n%2 = load %f[%1]" V16,
         "load: %f: subscript 0, 64, is not proved less than 64"},
        {"%0 = load %i[$0] where 0 <= $0 < N" I16 "%1 = check %0 bound=64\n"
         "%2 = load %f[%1 + $0]" V16,
         "load: %f: subscript 0, $0 + 63, is not proved less than 64"},
        {"%0 = load %i[$0] where 0 <= $0 < N" I16 "%1 = check %0 bound=64\n"
         "%2 = load %f[%1 - 1]" V16,
         "load: %f: subscript 0, -1, is not proved at least 0"},
        {"%0 = load %i[$0] where 0 <= $0 < N" I16 "%1 = check %0 bound=M\n%2 = load %m[%1]" V16,
         "load: the index of axis 0 was checked against a bound that may be 0"},
        {"%0 = load %i[$0] where 0 <= $0 < N : tile<i64 [8] lanes=8>\n%1 = check %0 bound=64\n"
         "%2 = load %f[%1]" V16,
         "load: the index of axis 0 is no i64 tile of the same shape"},
        {"%0 = load %i[$0] where 0 <= $0 < N" I16 "%1 = check %0 bound=0 - 1",
         "check: its bound is negative"},
        {"%0 = const 1 : tile<i32 [16] lanes=16>\n%1 = check %0 bound=64",
         "check: operand 0 is i32 instead of i64"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_unsound("placed", cases[i].lines, cases[i].message);
}

static void test_types(void) {
    static const Case cases[] = {
        {"%0 = const 1 : tile<f32 [16] lanes=3>", "const: 3 lanes are no power of two up to 1024"},
        {"%0 = const 1 : tile<f32 [2048] lanes=2048>",
         "const: 2048 lanes are no power of two up to 1024"},
        {"%0 = const 1 : tile<f32 [16] lanes=0>", "const: 0 lanes are no power of two up to 1024"},
        {"%0 = const 1 : tile<f32 [12] lanes=8>", "const: 8 lanes do not divide the last extent"},
        {"%0 = const 1 : tile<f32 [] lanes=8>", "const: 8 lanes do not divide the last extent"},
        {"%0 = const 1 : tile<f32 [2000]>", "const: a tile takes 2000 registers, more than 1024"},
        {"%0 = const 1 : tile<f32 [N]>", "const: extent 0 of a placed tile is not a constant"},
        {"%0 = const 1 : tile<f32 [0]>", "const: extent 0 of a placed tile is not positive"},
        {"%0 = load %x[%r, 0] : tile<f64 []>", "load: a tile of f64 and a view of f32"},
        {"%0 = const 1 : tile<f64 []>\nstore %0, %g[0]", "store: a tile of f64 and a view of f32"},
        {"%0 = const 1 : tile<f32 []>\nstore %0, %f[0]", "store: to %f, which is not an output"},
        {"%0 = const 1 : tile<f32 []>\nstore %0, %w[0]", "store: to constant memory"},
        {"%0 = const 1 : tile<f32 []>\nstore %0, %g[0] combine=and",
         "store: cannot combine f32 so"},
        {"%0 = const 1 : tile<f32 []>\nstore %0, %g[0] combine=exp",
         "store: cannot combine f32 so"},
        {"%0 = index $0 : tile<i32 [4]>", "index: the result is i32 instead of i64"},
        {"%0 = test true : tile<u8 [4]>", "test: the result is u8 instead of bool"},
        {"%0 = const 1 : tile<f32 [4]>\n%1 = const 1 : tile<f64 [4]>\n%2 = add %0, %1",
         "add: operand 1 is f64 instead of f32"},
        {"%0 = const 1 : tile<f32 [4]>\n%1 = const 1 : tile<f32 [8]>\n%2 = add %0, %1",
         "add: operand 1 has another shape or layout"},
        {"%0 = const 1 : tile<f32 [8]>\n%1 = const 1 : tile<f32 [8] lanes=8>\n%2 = lt %0, %1",
         "lt: operand 1 has another shape or layout"},
        {"%0 = const 1 : tile<f32 [4]>\n%1 = and %0, %0", "and: does not take f32"},
        {"%0 = const 1 : tile<i32 [4]>\n%1 = exp %0", "exp: does not take i32"},
        {"%0 = const 1 : tile<i32 [4]>\n%1 = select %0, %0, %0",
         "select: operand 0 is i32 instead of bool"},
        {"%0 = const 1 : tile<bool [4]>\n%1 = const 1 : tile<f32 [4]>\n%2 = select %0, %0, %1",
         "select: operand 2 is f32 instead of bool"},
        {"%0 = const 1 : tile<f32 [4, 8]>\n%1 = move %0 axes=[0, 1] : tile<f32 [4]>",
         "move: the result has fewer axes"},
        {"%0 = const 1 : tile<f32 [4]>\n%1 = move %0 axes=[0] : tile<f64 [4]>",
         "move: the result has another dtype"},
        {"%0 = const 1 : tile<f32 [4]>\n%1 = move %0 axes=[1] : tile<f32 [4, 8]>",
         "move: extent 0 of the operand is not that of axis 1"},
        {"%0 = const 1 : tile<f32 [4, 4]>\n%1 = move %0 axes=[1, 0] : tile<f32 [4, 4]>",
         "move: axes do not increase within the result"},
        {"%0 = const 1 : tile<f32 [4]>\n%1 = move %0 axes=[2] : tile<f32 [4, 4]>",
         "move: axes do not increase within the result"},
        {"%0 = const 1 : tile<f32 [4] lanes=4>\n%1 = move %0 axes=[0] : tile<f32 [4, 8] lanes=8>",
         "move: the operand has 4 lanes"},
        {"%0 = const 1 : tile<f32 [8]>\n%1 = move %0 axes=[1] : tile<f32 [4, 8] lanes=8>",
         "move: the operand has 1 lanes"},
        {"%0 = const 1 : tile<f32 [4]>\n%1 = reduce sub %0 axis=0",
         "reduce: has no such op for f32"},
        {"%0 = const 1 : tile<f32 [4]>\n%1 = reduce xor %0 axis=0",
         "reduce: has no such op for f32"},
        {"%0 = const 1 : tile<f32 [8] lanes=8>\n%1 = scan add %0 axis=0",
         "scan: the operand has 8 lanes"},
        {"%0 = const 1 : tile<f32 [8]>\n%1 = scan div %0 axis=0", "scan: has no such op for f32"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_unsound("placed", cases[i].lines, cases[i].message);
    check_unsound("free", "%0 = const 1 : tile<f32 [16] lanes=16>",
                  "const: a free tile has a layout");
}

static void test_dot_sort_random(void) {
    static const Case cases[] = {
        {"%0 = const 1 : tile<f32 [4]>\n%1 = const 1 : tile<f32 [4, 4]>\n%2 = dot %0, %1, %0",
         "dot: operands are of ranks 1, 2, 1 instead of 2, 1, 1"},
        {"%0 = const 1 : tile<f32 [4]>\n%1 = const 1 : tile<f64 [4]>\n%2 = dot %0, %0, %1",
         "dot: operand 2 is f64 instead of f32"},
        {"%0 = const 1 : tile<bool [4]>\n%1 = dot %0, %0, %0", "dot: does not take bool"},
        {"%0 = const 1 : tile<f32 [4, 8]>\n%1 = const 1 : tile<f32 [4]>\n%2 = dot %0, %1, %1",
         "dot: extents of the operands do not agree"},
        {"%0 = const 1 : tile<f64 [4, 4]>\n%1 = const 1 : tile<f32 [4]>\n%2 = dot %0, %1, %1",
         "dot: operand 1 is f32 instead of f64"},
        {"%0 = const 1 : tile<bool [4, 4]>\n%1 = const 1 : tile<bool [4]>\n%2 = dot %0, %1, %1",
         "dot: does not take bool"},
        {"%0 = const 1 : tile<f32 [4, 4] lanes=4>\n%1 = const 1 : tile<f32 [4]>\n%2 = dot %0, %1, "
         "%1",
         "dot: lanes of the operands do not fit"},
        {"sort %s, %si, %f, %ti count=32", "sort: %f is not a row of scratch"},
        {"sort %si, %si, %ti, %ti count=32", "sort: its views are not distinct"},
        {"sort %s, %t, %s, %ti count=32", "sort: %t is not of i64"},
        {"sort %s, %si, %t, %ti count=33", "sort: its count is not proved to fit %ti"},
        {"sort %s, %si, %t, %ti count=0 - 1", "sort: its count is negative"},
        {"%0 = const 1 : tile<u64 [4]>\n%1 = random %0, %0 stream=0",
         "random: the key is not a scalar"},
        {"%0 = const 1 : tile<i64 []>\n%1 = random %0, %0 stream=0",
         "random: operand 0 is i64 instead of u64"},
        {"%0 = const 1 : tile<u64 []>\n%1 = const 1 : tile<u32 [4]>\n%2 = random %0, %1 stream=0",
         "random: operand 1 is u32 instead of i64"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_unsound("placed", cases[i].lines, cases[i].message);
    check_sound("placed", "sort %s, %si, %t, %ti count=%r // 2");
}

static void test_scopes(void) {
    static const Case cases[] = {
        {"for %c in 0..4 { }\n%0 = index %c : tile<i64 []>", "index: %c is not in scope"},
        {"for %c in 0..4 { %0 = const 1 : tile<f32 []> }\nstore %0, %g[0]",
         "store: operand 0 is not defined here"},
        {"if true { %0 = const 1 : tile<f32 []> } else { store %0, %g[0] }",
         "store: operand 0 is not defined here"},
        {"%0 = const 1 : tile<f32 []>\n%2 = for %c in 0..4 iter (%1 = %0) {\n"
         "%3 = const 1 : tile<f64 []>\nyield %3\n}",
         "for: yielded value 0 has another type than it must"},
        {"%0 = const 1 : tile<f32 []>\n%1 = const 1 : tile<i32 []>\n"
         "%2 = if 0 <= %r < 1 {\nyield %0\n} else {\nyield %1\n}",
         "if: yielded value 0 has another type than it must"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_unsound("placed", cases[i].lines, cases[i].message);
}

static void check_views(const char *arguments, const char *scratch, const char *message) {
    TileTest t;
    tile_open(&t);
    Str text =
        str_format(t.arena, "tile 1\nkernel @k(%s) free {\n%s\nwork {\n}\n}\n", arguments, scratch);
    CHECK(tile_try(&t, text.data) == NULL);
    Str want = str_format(t.arena, "this program is not sound: %s", message);
    CHECK_STR(t.text, want.data);
    tile_close(&t);
}

static void test_views(void) {
    check_views("%x: view<global f32 [4]> align=12", "",
                "view %x: an alignment of 12 is no power of two");
    check_views("%x: view<constant f32 [4]> out", "", "view %x: a constant is not written");
    check_views("%x: view<global f32 [4 - 5]>", "", "view %x: dim 0 is negative");
    check_views("", "%s = alloc scratch f64 [1000000, 1000000]",
                "scratch takes 8000000000000 bytes, more than 1073741824");
}

// ---- what only a builder can do wrong ----

typedef struct Built {
    TileTest t;
    TileBuilder b;
    TileType scalar;
    const Dim *zero;
} Built;

static Built begin_built(void) {
    Built built;
    tile_open(&built.t);
    TileProgram *program = tile_program_new(built.t.ctx, built.t.arena, STR("built"), TILE_placed);
    const Dim *eight = dim_const(built.t.ctx, 8);
    TileView view = {
        .name = STR("y"), .dtype = DT_f32, .rank = 1, .dims = {eight}, .written = true};
    tile_add_view(program, &view);
    built.b = tile_builder(program);
    built.scalar = tile_type(DT_f32, 0, NULL, 1);
    built.zero = dim_const(built.t.ctx, 0);
    return built;
}

static void end_built(Built *built, const char *message) {
    const char *fault = tile_verify(built->b.program, built->t.arena);
    if (message)
        CHECK_STR(fault, message);
    else
        CHECK(fault == NULL);
    tile_close(&built->t);
}

static TileInstr *last(Built *built) {
    TileBlock *block = built->b.block;
    return block->instrs.data[block->instrs.count - 1];
}

static void test_broken_loops(void) {
    Built x = begin_built();
    const Dim *four = dim_const(x.t.ctx, 4);
    TileInstr *loop = tile_begin_for(&x.b, "k", x.zero, four, 1, NULL, 0);
    tile_end_for(&x.b, loop, NULL);
    loop->step = 0;
    end_built(&x, "for: a step of 0 is not allowed");

    x = begin_built();
    loop = tile_begin_for(&x.b, "k", x.zero, dim_const(x.t.ctx, 4), 1, NULL, 0);
    tile_end_for(&x.b, loop, NULL);
    loop->to = dim_const(x.t.ctx, 9);
    end_built(&x, "for: its variable ends before the loop does");

    x = begin_built();
    loop = tile_begin_for(&x.b, "k", dim_const(x.t.ctx, 2), dim_const(x.t.ctx, 4), 1, NULL, 0);
    tile_end_for(&x.b, loop, NULL);
    loop->from = x.zero;
    end_built(&x, "for: its variable begins after the loop does");

    x = begin_built();
    loop = tile_begin_for(&x.b, "k", x.zero, dim_const(x.t.ctx, 4), 1, NULL, 0);
    tile_end_for(&x.b, loop, NULL);
    loop->unroll = 5000;
    end_built(&x, "for: cannot be unrolled 5000 times");

    x = begin_built();
    loop = tile_begin_for(&x.b, "k", x.zero, dim_const(x.t.ctx, 4), 1, NULL, 0);
    end_built(&x, "for: a block does not end with a yield");

    x = begin_built();
    loop = tile_begin_for(&x.b, "k", x.zero, dim_const(x.t.ctx, 4), 1, NULL, 0);
    tile_const(&x.b, x.scalar, 1);
    tile_end_for(&x.b, loop, NULL);
    TileBlock *body = &loop->blocks[0];
    body->instrs.data[0] = body->instrs.data[1];
    end_built(&x, "yield: stands before the end of a block");

    x = begin_built();
    TileId one = tile_const(&x.b, x.scalar, 1);
    loop = tile_begin_for(&x.b, "k", x.zero, dim_const(x.t.ctx, 4), 1, &one, 1);
    tile_end_for(&x.b, loop, &one);
    loop->result_count = 0;
    end_built(&x, "for: 0 results for 1 carried values");

    x = begin_built();
    one = tile_const(&x.b, x.scalar, 1);
    loop = tile_begin_for(&x.b, "k", x.zero, dim_const(x.t.ctx, 4), 1, &one, 1);
    tile_end_for(&x.b, loop, &one);
    loop->blocks[0].instrs.data[0]->arg_count = 0;
    end_built(&x, "for: a block yields 0 values instead of 1");

    x = begin_built();
    loop = tile_begin_for(&x.b, "k", x.zero, dim_const(x.t.ctx, 4), 1, NULL, 0);
    TileInstr *inner = tile_begin_for(&x.b, "k", x.zero, dim_const(x.t.ctx, 4), 1, NULL, 0);
    tile_end_for(&x.b, inner, NULL);
    tile_end_for(&x.b, loop, NULL);
    inner->variable = loop->variable;
    end_built(&x, "for: its variable is already in use");
}

static void test_broken_instrs(void) {
    Built x = begin_built();
    TileId one = tile_const(&x.b, x.scalar, 1);
    tile_const(&x.b, x.scalar, 1);
    last(&x)->result = one;
    end_built(&x, "const: value 0 is defined twice");

    x = begin_built();
    tile_const(&x.b, x.scalar, 1);
    last(&x)->op = TILE_op_count;
    end_built(&x, "unknown: is no op");

    x = begin_built();
    tile_const(&x.b, x.scalar, 1);
    last(&x)->result_count = 0;
    end_built(&x, "const: has 0 results instead of 1");

    x = begin_built();
    tile_const(&x.b, x.scalar, 1);
    last(&x)->result = 7;
    end_built(&x, "const: a result has no type");

    x = begin_built();
    one = tile_const(&x.b, x.scalar, 1);
    tile_map(&x.b, OP_add, (TileId[]){one, one}, 2);
    last(&x)->arg_count = 1;
    end_built(&x, "add: has 1 operands instead of 2");

    x = begin_built();
    one = tile_const(&x.b, x.scalar, 1);
    tile_map(&x.b, OP_neg, &one, 1);
    last(&x)->scalar = OP_gather;
    end_built(&x, "gather: is not elementwise");

    x = begin_built();
    one = tile_const(&x.b, x.scalar, 1);
    tile_store(&x.b, one, 0, &x.zero, NULL, NULL, 0, OP_none);
    last(&x)->view = 5;
    end_built(&x, "store: there is no such view");

    x = begin_built();
    one = tile_const(&x.b, x.scalar, 1);
    tile_store(&x.b, one, 0, &x.zero, (TileId[]){5}, NULL, 0, OP_none);
    end_built(&x, "store: the index of axis 0 is not defined here");

    x = begin_built();
    one = tile_const(&x.b, x.scalar, 1);
    const Dim *missing = NULL;
    tile_store(&x.b, one, 0, &missing, NULL, NULL, 0, OP_none);
    end_built(&x, "store: a dim is missing");

    x = begin_built();
    one = tile_const(&x.b, x.scalar, 1);
    const Dim *huge = dim_scale(x.t.ctx, dim_const(x.t.ctx, INT64_C(1) << 61), 4);
    tile_store(&x.b, one, 0, &huge, NULL, NULL, 0, OP_none);
    end_built(&x, "store: a dim overflows");
}

static void test_broken_programs(void) {
    Built x = begin_built();
    TileId index = tile_const_int(&x.b, tile_type(DT_i64, 0, NULL, 1), 3);
    tile_check(&x.b, index, dim_const(x.t.ctx, 4), NULL, 0);
    TileInstr *first = last(&x);
    tile_check(&x.b, index, dim_const(x.t.ctx, 4), NULL, 0);
    first->integer = 1;
    end_built(&x, "check: checks are not numbered in order");

    x = begin_built();
    x.b.program->site_count = 3;
    end_built(&x, "checks and sites do not agree");

    x = begin_built();
    tile_add_work(x.b.program, "i", dim_const(x.t.ctx, 4));
    x.b.program->work_extents[0] = dim_const(x.t.ctx, 5);
    end_built(&x, "work: axis 0 has a variable of another range");

    x = begin_built();
    TileGuard guard = {x.zero, x.zero, dim_const(x.t.ctx, 1)};
    TileInstr *branch = tile_begin_if(&x.b, &guard, 1);
    tile_else(&x.b, branch, NULL, 0);
    tile_end_if(&x.b, branch, NULL, 0);
    branch->block_count = 1;
    end_built(&x, "if: has not two blocks");

    x = begin_built();
    guard = (TileGuard){x.zero, x.zero, dim_const(x.t.ctx, 1)};
    const DimSymbol *row = tile_axis_symbol(x.b.program, 0, dim_const(x.t.ctx, 4));
    guard.value = dim_of_symbol(x.t.ctx, row);
    branch = tile_begin_if(&x.b, &guard, 1);
    tile_else(&x.b, branch, NULL, 0);
    tile_end_if(&x.b, branch, NULL, 0);
    end_built(&x, "if: $0 is not in scope");

    x = begin_built();
    end_built(&x, NULL);
}

int main(void) {
    RUN(test_bounds);
    RUN(test_proofs);
    RUN(test_indices);
    RUN(test_types);
    RUN(test_dot_sort_random);
    RUN(test_scopes);
    RUN(test_views);
    RUN(test_broken_loops);
    RUN(test_broken_instrs);
    RUN(test_broken_programs);
    return test_done();
}
