// Tile programs as text: what is printed, what is refused and where, and that noise does no harm.
#include "tile_support.h"

static const char softmax[] =
    "tile 1\n"
    "dim N in 1..8192 tune 512\n"
    "dim R in 1..64 tune 8\n"
    "kernel @softmax(%x: view<global f32 [R, N]>, %y: view<global f32 [R, N]> out) placed {\n"
    "  work %r in [R] {\n"
    "    %0 = const -inf : tile<f32 [16] lanes=16>\n"
    "    %4 = for %c in 0..N step 16 iter (%1 = %0) {\n"
    "      %2 = load %x[%r, %c + $0] where 0 <= %c + $0 < N pad=-inf : tile<f32 [16] lanes=16>\n"
    "      %3 = max %1, %2\n"
    "      yield %3\n"
    "    }\n"
    "    %5 = reduce max %4 axis=0\n"
    "    %6 = move %5 axes=[] : tile<f32 [16] lanes=16>\n"
    "    for %d in 0..N step 16 unroll 4 {\n"
    "      %7 = load %x[%r, %d + $0] where 0 <= %d + $0 < N : tile<f32 [16] lanes=16>\n"
    "      %8 = sub %7, %6\n"
    "      %9 = exp %8\n"
    "      store %9, %y[%r, %d + $0] where 0 <= %d + $0 < N streaming\n"
    "    }\n"
    "  }\n"
    "}\n";

// Every op and every optional part.
static const char everything[] =
    "tile 1\n"
    "dim A in 0..64 tune 7\n"
    "dim B in -3..9 tune 1\n"
    "dim C in 0..63 tune 0 bound below A\n"
    "kernel @every.thing(%x: view<global f32 [A, 64]> align=64, %w: view<constant bf16 [64]> "
    "arg=7, "
    "%o: view<global i64 [64, 8]> arg=3 align=32 out) placed {\n"
    "  %s = alloc scratch f64 [64] align=64\n"
    "  %si = alloc scratch i64 [64]\n"
    "  %t = alloc scratch f64 [2*A]\n"
    "  %ti = alloc scratch i64 [64]\n"
    "  work %i, %j in [A + B + 3, (A + 7) // 8] {\n"
    "    %0 = load %x[%i, $0] where 0 <= %i < A and 0 <= B + 4 < max(1, A) "
    "pad=0x1.999999999999ap-4 "
    ": tile<f32 [8] lanes=8>\n"
    "    %1 = load %w[%j] pad=nan ahead=4096 : tile<bf16 []>\n"
    "    prefetch %w[%j + 7*A]\n"
    "    %2 = cast f32 %1\n"
    "    %3 = move %2 axes=[] : tile<f32 [8] lanes=8>\n"
    "    %4 = mul %0, %3\n"
    "    %5 = lt %0, %4\n"
    "    %6 = select %5, %0, %4\n"
    "    %7 = const -9223372036854775808 : tile<i64 [8] lanes=8>\n"
    "    %8 = index 2*%i*%j + 3*(%i // 4) + min(9*%j, C) + $0 % 4 - 5 : tile<i64 [8] lanes=8>\n"
    "    %9 = test true : tile<bool [8] lanes=8>\n"
    "    %10 = select %9, %7, %8\n"
    "    %11 = check %10 bound=57 where 0 <= $0 < 5\n"
    "    store %8, %o[%11 + %j, 7 - $0] combine=max\n"
    "    store %8, %o[%11, $0] where 2 <= $0 < 6\n"
    "    %12 = reduce max %6 axis=0 ignores_nan\n"
    "    %13 = const 0x0p+0 : tile<f32 [4, 8] lanes=8>\n"
    "    %14 = move %12 axes=[] : tile<f32 [4]>\n"
    "    %20, %21 = for %k in %j..A + 8 step 3 iter (%15 = %13, %16 = %14) {\n"
    "      %17 = dot %15, %16, %6\n"
    "      %19 = if 0 <= %k < 3 and %j <= %k < 9 {\n"
    "        yield %16\n"
    "      } else {\n"
    "        %18 = scan mul %16 axis=0 exclusive reverse\n"
    "        yield %18\n"
    "      }\n"
    "      yield %17, %19\n"
    "    }\n"
    "    %22 = cast u64 %12\n"
    "    %23 = random %22, %8 stream=-12\n"
    "    if true {\n"
    "      sort %s, %si, %t, %ti count=A descending\n"
    "    }\n"
    "  }\n"
    "}\n";

static void check_prints(const char *text) {
    TileTest t;
    tile_open(&t);
    TileProgram *program = tile_read(&t, text);
    if (program) CHECK_STR(tile_text(&t, program), text);
    tile_close(&t);
}

static void test_round_trip(void) {
    check_prints(softmax);
    check_prints(everything);
    check_prints("tile 1\nkernel @nothing() free {\n  work {\n  }\n}\n");
}

// The builder's names and numbers: names that are taken get a number, values are numbered by the
// text.
static void test_built(void) {
    static const char want[] =
        "tile 1\n"
        "dim N in 0..100 tune 50\n"
        "kernel @copy_1(%x: view<global f32 [N]>, %x1: view<global f32 [N]> out) placed {\n"
        "  %x_y = alloc scratch f32 [8]\n"
        "  work {\n"
        "    for %x2 in 0..8*(N // 8) step 8 {\n"
        "      %0 = load %x[%x2 + $0] : tile<f32 [8] lanes=8>\n"
        "      store %0, %x1[%x2 + $0]\n"
        "    }\n"
        "    for %x3 in 8*(N // 8)..N {\n"
        "      %1 = load %x[%x3] : tile<f32 []>\n"
        "      store %1, %x1[%x3]\n"
        "    }\n"
        "  }\n"
        "}\n";
    TileTest t;
    tile_open(&t);
    const Dim *n =
        dim_of_symbol(t.ctx, dim_new_symbol(t.ctx, SYMBOL_named, STR("N"), 0, 100, 50, NULL));
    const Dim *eight = dim_const(t.ctx, 8),
              *whole = dim_scale(t.ctx, dim_floordiv(t.ctx, n, eight), 8);
    TileProgram *program = tile_program_new(t.ctx, t.arena, STR("copy 1"), TILE_placed);
    TileView view = {.name = STR("x"), .dtype = DT_f32, .rank = 1, .dims = {n}};
    uint32_t in = tile_add_view(program, &view);
    view.argument = 1;
    view.written = true;
    uint32_t out = tile_add_view(program, &view);
    tile_add_view(program, &(TileView){.name = STR("x.y"),
                                       .space = SPACE_scratch,
                                       .dtype = DT_f32,
                                       .rank = 1,
                                       .dims = {eight}});
    TileBuilder b = tile_builder(program);
    // made before the loop variable, and still printed behind it
    const Dim *lane = dim_of_symbol(t.ctx, tile_axis_symbol(program, 0, eight));
    TileInstr *loop = tile_begin_for(&b, "x", dim_const(t.ctx, 0), whole, 8, NULL, 0);
    const Dim *at = dim_add(t.ctx, lane, dim_of_symbol(t.ctx, loop->variable));
    TileId value = tile_load(&b, tile_type(DT_f32, 1, &eight, 8), in, &at, NULL, NULL, 0, 0);
    tile_store(&b, value, out, &at, NULL, NULL, 0, OP_none);
    CHECK_INT(tile_end_for(&b, loop, NULL), TILE_none);
    loop = tile_begin_for(&b, "x", whole, n, 1, NULL, 0);
    at = dim_of_symbol(t.ctx, loop->variable);
    value = tile_load(&b, tile_type(DT_f32, 0, NULL, 1), in, &at, NULL, NULL, 0, 0);
    tile_store(&b, value, out, &at, NULL, NULL, 0, OP_none);
    tile_end_for(&b, loop, NULL);
    CHECK(tile_verify(program, t.arena) == NULL);
    CHECK_STR(tile_text(&t, program), want);
    tile_check_round_trip(&t, program);
    tile_close(&t);
}

// The same axis of the same extent is one symbol, in all programs of a context.
static void test_axis_symbols(void) {
    TileTest t;
    tile_open(&t);
    const Dim *four = dim_const(t.ctx, 4), *five = dim_const(t.ctx, 5);
    TileProgram *a = tile_program_new(t.ctx, t.arena, STR("a"), TILE_free);
    TileProgram *b = tile_program_new(t.ctx, t.arena, STR("b"), TILE_free);
    const DimSymbol *symbol = tile_axis_symbol(a, 1, four);
    CHECK(tile_axis_symbol(a, 1, four) == symbol);
    CHECK(tile_axis_symbol(b, 1, four) == symbol);
    CHECK(tile_axis_symbol(b, 1, five) != symbol);
    CHECK(tile_axis_symbol(b, 0, four) != symbol);
    CHECK_INT(symbol->hi, 3);
    CHECK(symbol->limit == four);
    tile_close(&t);
}

static void test_registers(void) {
    TileTest t;
    tile_open(&t);
    const Dim *dims[3] = {dim_const(t.ctx, 6), dim_const(t.ctx, 2), dim_const(t.ctx, 16)};
    TileType type = tile_type(DT_f32, 3, dims, 8);
    CHECK_INT(tile_register_count(&type), 24);
    type = tile_type(DT_f32, 0, NULL, 1);
    CHECK_INT(tile_register_count(&type), 1);
    tile_close(&t);
}

// Pads and constants of integers: truncated, saturated, or set afterwards.
static void test_integer_numbers(void) {
    TileTest t;
    tile_open(&t);
    TileProgram *program = tile_program_new(t.ctx, t.arena, STR("k"), TILE_placed);
    TileBuilder b = tile_builder(program);
    static const struct {
        DType dtype;
        double number;
        int64_t integer;
    } cases[] = {{DT_i32, -2.75, -2}, {DT_i64, 1e300, INT64_MAX},  {DT_i64, -1e300, INT64_MIN},
                 {DT_i64, NAN, 0},    {DT_u64, 0x1p63, INT64_MIN}, {DT_u64, INFINITY, -1},
                 {DT_bool, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tile_const(&b, tile_type(cases[i].dtype, 0, NULL, 1), cases[i].number);
        CHECK_INT(b.block->instrs.data[i]->integer, cases[i].integer);
    }
    tile_close(&t);
}

static void check_refused(const char *text, const char *id, uint32_t line, uint32_t column,
                          const char *message) {
    TileTest t;
    tile_open(&t);
    CHECK(tile_try(&t, text) == NULL);
    CHECK_STR(t.id, id);
    CHECK_STR(t.text, message);
    CHECK_INT(t.loc.line, line);
    CHECK_INT(t.loc.column, column);
    CHECK_INT(diags_error_count(t.diags), 1);
    tile_close(&t);
}

static void check_line(const char *lines, const char *id, uint32_t line, uint32_t column,
                       const char *message) {
    char text[1000];
    snprintf(
        text, sizeof text,
        "tile 1\nkernel @k(%%x: view<global f32 [8]>, %%y: view<global f32 [8]> out) placed {\n"
        "work %%i in [8] {\n%s\n}\n}\n",
        lines);
    check_refused(text, id, line + 3, column, message);
}

static void test_headers(void) {
    check_refused("", "tile-syntax", 1, 1, "expected \"tile\", found the end");
    check_refused("tile 2\n", "tile-syntax", 1, 6, "expected a number from 1 to 1, found \"2\"");
    check_refused("tile 1\ndim N in 3..1 tune 1", "tile-syntax", 2, 13,
                  "expected a number from 3 to 4611686018427387904, found \"1\"");
    check_refused("tile 1\ndim N in 1..3 tune 1\ndim N in 1..4 tune 1", "tile-dim", 3, 5,
                  "dim N is known with another range");
    check_refused("tile 1\nkernel k() free {", "tile-syntax", 2, 8,
                  "expected the name of the kernel, found \"k\"");
    check_refused("tile 1\nkernel @k(%x: view<shared f32 []>) free {", "tile-syntax", 2, 20,
                  "expected \"global\", found \"shared\"");
    check_refused("tile 1\nkernel @k(%x: view<global f33 []>) free {", "tile-syntax", 2, 27,
                  "expected a dtype, found \"f33\"");
    check_refused("tile 1\nkernel @k(%x: view<global f32 [N]>) free {", "tile-unknown", 2, 32,
                  "N is not defined here");
    check_refused("tile 1\nkernel @k(%x: view<global f32 []>, %x: view<global f32 []>) free {",
                  "tile-redefined", 2, 36, "x is defined already");
    check_refused("tile 1\nkernel @k(%x: view<global f32 [1,1,1,1,1,1,1,1,1]>) free {",
                  "tile-limit", 2, 48, "more than 8 dims");
    check_refused("tile 1\nkernel @k() loose {", "tile-syntax", 2, 13,
                  "expected \"free\", found \"loose\"");
    check_refused("tile 1\nkernel @k() free {\nwork %a, %b in [4] {\n}\n}", "tile-count", 3, 1,
                  "1 extents instead of 2");
    check_refused("tile 1\nkernel @k() free {\nwork %a, %a in [4, 4] {\n}\n}", "tile-redefined", 3,
                  10, "a is defined already");
    check_refused("tile 1\nkernel @k() free {\nwork {\n}\n}\n}", "tile-syntax", 6, 1,
                  "expected the end, found \"}\"");
    check_refused("tile 1\nkernel @k() free {\n#", "tile-syntax", 3, 1,
                  "expected the name of a view, found \"#\"");
}

static void test_instructions(void) {
    check_line("%0 = fly %1", "tile-unknown", 1, 6, "fly is not defined here");
    check_line("%0 = gather %1", "tile-syntax", 1, 6,
               "expected an op of tile programs, found \"gather\"");
    check_line("%0 = exp %1", "tile-unknown", 1, 10, "1 is not defined here");
    check_line("%0 = load %z[0] : tile<f32 []>", "tile-unknown", 1, 11, "z is not defined here");
    check_line("%0 = load %i[0] : tile<f32 []>", "tile-unknown", 1, 11, "i is not defined here");
    check_line("%0 = load %x[] : tile<f32 []>", "tile-count", 1, 14, "0 subscripts instead of 1");
    check_line("%0 = load %x[0, 1] : tile<f32 []>", "tile-syntax", 1, 15,
               "expected no further subscript, found \",\"");
    check_line("%0 = load %x[$1] : tile<f32 [8]>", "tile-unknown", 1, 14, "1 is not defined here");
    check_line("%0 = load %x[0]", "tile-syntax", 2, 1, "expected \":\", found \"}\"");
    check_line("%0 = load %x[0] 3 : tile<f32 []>", "tile-syntax", 1, 17,
               "expected a type, found \"3\"");
    check_line("%0 = load %x[1 +] : tile<f32 []>", "tile-syntax", 1, 17,
               "expected an index expression, found \"]\"");
    check_line("%0 = load %x[4611686018427387904*2] : tile<f32 []>", "tile-overflow", 1, 14,
               "this expression may leave the range of 62 bits");
    check_line("%0 = load %x[1 // 0] : tile<f32 []>", "tile-overflow", 1, 14,
               "this expression may leave the range of 62 bits");
    check_line("%0 = load %x[99999999999999999999] : tile<f32 []>", "tile-syntax", 1, 14,
               "expected a number from 0 to 4611686018427387904, found \"99999999999999999999\"");
    check_line("%0 = const 1 : tile<f32 [1, 2, 3, 4]>", "tile-limit", 1, 35, "more than 3 dims");
    check_line("%0 = const one : tile<f32 []>", "tile-syntax", 1, 12,
               "expected a number, found \"one\"");
    check_line("%0 = const 1.5 : tile<i32 []>", "tile-syntax", 1, 12,
               "expected a number from -9223372036854775808 to 9223372036854775807, found \"1.5\"");
    check_line("%0 = const 1 : tile<f32 []>\n%0 = exp %0", "tile-redefined", 2, 1,
               "0 is defined already");
    check_line("%0 = const 1 : tile<f32 []>\n%1, %2 = exp %0", "tile-count", 3, 1,
               "2 results instead of 1");
    check_line("%0 = const 1 : tile<f32 []>\n%1 = add %0", "tile-count", 3, 1,
               "1 operands instead of 2");
    check_line("%0 = const 1 : tile<f32 []>\n%1 = reduce add %0 axis=0", "tile-syntax", 2, 20,
               "expected an operand with axes before this, found \"axis\"");
    check_line("%0 = const 1 : tile<f32 [4]>\n%1 = reduce add %0 axis=1", "tile-syntax", 2, 25,
               "expected a number from 0 to 0, found \"1\"");
    check_line("%0 = const 1 : tile<f32 [4]>\n%1 = move %0 axes=[] : tile<f32 []>", "tile-count", 2,
               20, "0 axes instead of 1");
    check_line("yield", "tile-syntax", 1, 1, "expected an instruction, found \"yield\"");
    check_line("for %i in 0..4 { }", "tile-redefined", 1, 5, "i is defined already");
    check_line("for %k in 0..4 step 0 { }", "tile-syntax", 1, 21,
               "expected a number from 1 to 1073741824, found \"0\"");
    check_line("for %k in 0..4 {", "tile-syntax", 4, 1, "expected \"}\", found the end");
    check_line("%0 = const 1 : tile<f32 []>\nif true { yield %0 } else { }", "tile-count", 3, 1,
               "0 values of the other block instead of 1");
    check_line("%0 = const 1 : tile<f32 []>\nfor %k in 0..4 { yield %0 }", "tile-count", 3, 1,
               "1 yielded values instead of 0");
    check_line("if 0 <= $0 < 4 { }", "tile-unknown", 1, 9, "0 is not defined here");
    check_line(
        "%0 = load %x[%i + 1] : tile<f32 []>", "tile-unsound", 1, 1,
        "this program is not sound: load: %x: subscript 0, %i + 1, is not proved less than 8");
}

// ---- limits and noise ----

static void check_limit(const char *begin, const char *repeated, int times, const char *end,
                        const char *message) {
    TileTest t;
    tile_open(&t);
    Buf buf = {.arena = t.arena};
    buf_put(&buf, STR("tile 1\nkernel @k() free {\nwork {\n"));
    buf_put(&buf, str_from(begin));
    for (int i = 0; i < times; i++) buf_print(&buf, "%s ", repeated);
    buf_put(&buf, str_from(end));
    CHECK(tile_try(&t, buf.data) == NULL);
    CHECK_STR(t.id, "tile-limit");
    CHECK_STR(t.text, message);
    tile_close(&t);
}

static void test_limits(void) {
    check_limit("", "if true {", 100000, "", "more than 32 nested blocks");
    check_limit("%0 = index ", "(", 100000, " : tile<i64 []>", "more than 64 nested expressions");
    check_limit("%0 = index ", "-", 100000, " : tile<i64 []>", "more than 64 nested expressions");
    check_limit("%0 = index ", "min(1,", 100000, " : tile<i64 []>",
                "more than 64 nested expressions");
    check_limit("", "if true { }", 200001, "", "more than 200000 instructions");
}

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

// Parses whatever it is; what is sound must print and read back.
static void try_noise(const char *text) {
    TileTest t;
    tile_open(&t);
    TileProgram *program = tile_try(&t, text);
    CHECK((program != NULL) == (t.id[0] == '\0'));
    if (program) tile_check_round_trip(&t, program);
    tile_close(&t);
}

static void test_noise(void) {
    static const char *const words[] = {"%0", "%i",   "$0", "(",     "]",   "{",    "}",      "..",
                                        "-",  "9",    "=",  ":",     "%",   "tile", "0x1p-3", "for",
                                        "if", "load", ",",  "where", "nan", "<",    "\x80",   "@k"};
    const char *const samples[] = {softmax, everything};
    uint32_t state = 1;
    int rounds = test_long() ? 40000 : 2000;
    char text[4000];
    for (int i = 0; i < rounds; i++) {
        const char *sample = samples[i % 2];
        size_t size = strlen(sample);
        memcpy(text, sample, size + 1);
        for (uint32_t k = next_random(&state) % 3 + 1; k > 0; k--) {
            size_t at = next_random(&state) % size;
            const char *word = words[next_random(&state) % (sizeof words / sizeof *words)];
            if (next_random(&state) % 2)
                text[at] = (char)(next_random(&state) % 95 + 32);
            else
                memcpy(text + at, word, at + strlen(word) < size ? strlen(word) : 1);
        }
        if (i % 16 == 0) text[next_random(&state) % size] = '\0';
        try_noise(text);
    }
    for (size_t cut = 0; cut < sizeof everything; cut += 7) {
        memcpy(text, everything, cut);
        text[cut] = '\0';
        try_noise(text);
    }
}

// Tokens of the language in any order.
static void test_word_noise(void) {
    static const char *const words[] = {
        "tile", "1",     "dim",   "N",      "in",   "0",     "..",     "tune", "kernel", "@k",
        "(",    ")",     "free",  "placed", "{",    "}",     "work",   "%i",   "[",      "]",
        "%0",   "=",     "load",  "const",  ":",    "<",     "f32",    ">",    "for",    "if",
        "true", "yield", "store", ",",      "sort", "check", "reduce", "add",  "axis",   "step"};
    const uint32_t word_count = sizeof words / sizeof *words;
    uint32_t state = 7;
    char text[1000];
    for (int i = 0; i < 500; i++) {
        size_t size = (size_t)snprintf(text, sizeof text, "tile 1 kernel @k() free { work {");
        for (int k = 0; k < 60; k++)
            size += (size_t)snprintf(text + size, sizeof text - size, " %s",
                                     words[next_random(&state) % word_count]);
        try_noise(text + (i % 3 == 0 ? 33 : 0));
    }
}

int main(void) {
    RUN(test_round_trip);
    RUN(test_built);
    RUN(test_axis_symbols);
    RUN(test_registers);
    RUN(test_integer_numbers);
    RUN(test_headers);
    RUN(test_instructions);
    RUN(test_limits);
    RUN(test_noise);
    RUN(test_word_noise);
    return test_done();
}
