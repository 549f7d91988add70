// The functions of graph.h with each of their pointers NULL, and with no value for a value.
#include "tests/api/null_rows.h"

#include <tcc/graph.h>

static tcc_value x, c, seven; // of the graph below

static tcc_status made(tcc_value value) { return value ? TCC_OK : TCC_INVALID; }

static tcc_status new_graph(Pointers p) {
    tcc_graph **out = p[2];
    tcc_status status = tcc_graph_new(p[0], p[1], out);
    if (out) tcc_graph_free(*out);
    return status;
}

static tcc_status dim(Pointers p) { return made(tcc_graph_dim(p[0], p[1], 1, 9, 4)); }
static tcc_status input(Pointers p) { return made(tcc_graph_input(p[0], p[1], TCC_F32, p[2], 1)); }
static tcc_status param(Pointers p) { return made(tcc_graph_param(p[0], p[1], TCC_F32, p[2], 1)); }
static tcc_status weight(Pointers p) { return tcc_graph_weight(p[0], p[1], p[2]); }
static tcc_status rename_value(Pointers p) { return tcc_graph_rename(p[0], x, p[1]); }
static tcc_status constant(Pointers p) { return made(tcc_graph_constant(p[0], p[1])); }
static tcc_status output(Pointers p) { return tcc_graph_output(p[0], p[1], x); }
static tcc_status integer(Pointers p) { return made(tcc_graph_int(p[0], 1)); }
static tcc_status real(Pointers p) { return made(tcc_graph_float(p[0], 1)); }
static tcc_status truth(Pointers p) { return made(tcc_graph_bool(p[0], 1)); }
static tcc_status string(Pointers p) { return made(tcc_graph_string(p[0], p[1])); }
static tcc_status dtype(Pointers p) { return made(tcc_graph_dtype(p[0], TCC_F16)); }
static tcc_status none(Pointers p) { return made(tcc_graph_none(p[0])); }
static tcc_status list(Pointers p) { return made(tcc_graph_list(p[0], p[1], 1)); }
static tcc_status ints(Pointers p) { return made(tcc_graph_ints(p[0], p[1], 1)); }
static tcc_status unary(Pointers p) { return made(tcc_graph_unary(p[0], p[1], x)); }
static tcc_status binary(Pointers p) { return made(tcc_graph_binary(p[0], p[1], x, x)); }
static tcc_status call(Pointers p) { return made(tcc_graph_call(p[0], p[1])); }
static tcc_status apply(Pointers p) { return made(tcc_graph_apply(p[0], p[1], p[2], 1)); }
static tcc_status member(Pointers p) { return made(tcc_graph_member(p[0], x, p[1])); }
static tcc_status index_of(Pointers p) { return made(tcc_graph_index(p[0], x, p[1], 1)); }
static tcc_status slice(Pointers p) { return made(tcc_graph_slice(p[0], seven, seven, seven)); }
static tcc_status info(Pointers p) { return tcc_graph_info(p[0], x, p[1]); }
static tcc_status text(Pointers p) { return tcc_graph_text(p[0], p[1], p[2]); }
static tcc_status begin_cond(Pointers p) { return tcc_graph_begin_cond(p[0], c); }
static tcc_status next(Pointers p) { return tcc_graph_else(p[0], p[1], 1); }
static tcc_status end(Pointers p) { return made(tcc_graph_end(p[0], p[1], 1)); }
static tcc_status begin_loop(Pointers p) { return tcc_graph_begin_loop(p[0], p[1], 1, 3, p[2]); }
static tcc_status go(Pointers p) { return tcc_graph_do(p[0], c, p[1]); }
static tcc_status begin_scan(Pointers p) {
    return tcc_graph_begin_scan(p[0], p[1], 1, p[2], 1, 0, p[3], p[4]);
}

static tcc_status compile(Pointers p) {
    tcc_unit **out = p[2];
    tcc_status status = tcc_compile_graph(p[0], p[1], out);
    if (out) tcc_unit_free(*out);
    return status;
}

static tcc_compiler *compiler;

static void test_pointers(void) {
    tcc_graph *g;
    tcc_unit *unit;
    tcc_value out, more;
    const char *out_text;
    size_t size;
    float data[2] = {1, 2};
    int64_t two[] = {2};
    char name[] = "n", other[] = "o", third[] = "p", minus[] = "-", exp[] = "exp",
         shape[] = "shape";
    tcc_tensor tensor = {
        .size = sizeof tensor, .dtype = TCC_F32, .rank = 1, .data = data, .dims = {2}};
    CHECK_INT(tcc_graph_new(compiler, "g", &g), TCC_OK);
    seven = tcc_graph_int(g, 2);
    x = tcc_graph_input(g, "x", TCC_F32, &seven, 1);
    c = tcc_graph_input(g, "c", TCC_BOOL, NULL, 0);
    tcc_value zero = tcc_graph_int(g, 0);
    tcc_call asked = {.size = sizeof asked, .function = exp, .args = &x, .arg_count = 1};
    tcc_value_info told = {.size = sizeof told};
    const Row rows[] = {
        {"tcc_graph_new", new_graph, {compiler, name, &out}, 0},
        {"tcc_graph_dim", dim, {g, name}, 0},
        {"tcc_graph_input", input, {g, name, &seven}, 0},
        {"tcc_graph_param", param, {g, other, two}, 0},
        {"tcc_graph_weight", weight, {g, other, &tensor}, 1 << 2},
        {"tcc_graph_rename", rename_value, {g, name}, 0},
        {"tcc_graph_constant", constant, {g, &tensor}, 0},
        {"tcc_graph_output", output, {g, third}, 0},
        {"tcc_graph_int", integer, {g}, 0},
        {"tcc_graph_float", real, {g}, 0},
        {"tcc_graph_bool", truth, {g}, 0},
        {"tcc_graph_string", string, {g, name}, 0},
        {"tcc_graph_dtype", dtype, {g}, 0},
        {"tcc_graph_none", none, {g}, 0},
        {"tcc_graph_list", list, {g, &x}, 0},
        {"tcc_graph_ints", ints, {g, two}, 0},
        {"tcc_graph_unary", unary, {g, minus}, 0},
        {"tcc_graph_binary", binary, {g, minus}, 0},
        {"tcc_graph_call", call, {g, &asked}, 0},
        {"tcc_graph_apply", apply, {g, exp, &x}, 0},
        {"tcc_graph_member", member, {g, shape}, 0},
        {"tcc_graph_index", index_of, {g, &zero}, 0},
        {"tcc_graph_slice", slice, {g}, 0},
        {"tcc_graph_info", info, {g, &told}, 0},
        {"tcc_graph_text", text, {g, &out_text, &size}, 0},
        {"tcc_compile_graph", compile, {compiler, g, &unit}, 0},
        {"tcc_graph_begin_cond", begin_cond, {g}, 0},
        {"tcc_graph_else", next, {g, &x}, 0},
        {"tcc_graph_end", end, {g, &x}, 0},
        {"tcc_graph_begin_loop", begin_loop, {g, &x, &out}, 0},
        {"tcc_graph_do", go, {g, &out}, 0},
        {"tcc_graph_begin_scan", begin_scan, {g, &x, &x, &out, &more}, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_row(&rows[i]);
    tcc_graph_free(g);
}

static void test_no_value(void) {
    tcc_graph *g;
    tcc_value nothing = TCC_NO_VALUE;
    CHECK_INT(tcc_graph_new(compiler, "g", &g), TCC_OK);
    tcc_graph_free(NULL);
    tcc_graph_label(NULL, "a");
    tcc_graph_label(g, NULL);
    tcc_graph_place(NULL, "a", 1);
    tcc_graph_place(g, NULL, 1);
    CHECK_INT(tcc_graph_depth(NULL), 0);
    CHECK_INT(tcc_graph_abandon(NULL), TCC_INVALID);
    CHECK_INT(tcc_graph_unary(g, "-", nothing), TCC_NO_VALUE);
    CHECK_INT(tcc_graph_apply(g, "exp", &nothing, 1), TCC_NO_VALUE);
    CHECK_INT(tcc_graph_index(g, nothing, NULL, 0), TCC_NO_VALUE);
    CHECK_INT(tcc_graph_item(g, nothing, 0), TCC_NO_VALUE);
    CHECK_INT(tcc_graph_output(g, "y", nothing), TCC_INVALID);
    CHECK_STR(tcc_message(compiler), "output \"y\" has no value");
    tcc_unit *unit;
    CHECK_INT(tcc_compile_graph(compiler, g, &unit), TCC_INVALID);
    CHECK_STR(tcc_message(compiler), "output \"y\" has no value");
    tcc_call call = {.size = 3, .function = "exp"};
    CHECK_INT(tcc_graph_call(g, &call), TCC_NO_VALUE);
    tcc_graph_free(g);
}

int main(void) {
    CHECK_INT(tcc_compiler_new(&compiler), TCC_OK);
    RUN(test_pointers);
    RUN(test_no_value);
    tcc_compiler_free(compiler);
    return test_done();
}
