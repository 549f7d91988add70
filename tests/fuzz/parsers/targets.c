#include "tests/fuzz/parsers/targets.h"

#include "base/guard.h"
#include "codegen/artefact/read.h"
#include "codegen/tile/tile_tools.h"
#include "frontend/dsl/dsl.h"
#include "frontend/weights/load.h"
#include "frontend/weights/source.h"
#include "ir/program_tools.h"
#include "ir/schedule.h"
#include "ir/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One input on its way: an arena and a context of its own, and what was said.
typedef struct Input {
    Arena *arena;
    IrContext *ctx;
    Diags *diags;
    uint32_t file;
    Str text;
    size_t errors;
} Input;

static _Noreturn void broken(const char *what, const char *detail) {
    fprintf(stderr, "broken promise: %s: %s\n", what, detail);
    abort();
}

// A place in a text exists; an error about bytes names one of them.
static void judge(void *user, const Diag *diag) {
    Input *in = user;
    if (diag->severity != DIAG_error) return;
    in->errors++;
    if (diag->loc.file == in->file && diag->loc.line > 0) {
        size_t lines = 1;
        for (size_t i = 0; i < in->text.size; i++) lines += in->text.data[i] == '\n';
        if (diag->loc.line > lines || diag->loc.column == 0) broken("a place", diag->rendered);
    }
    if (!str_is_utf8(str_from(diag->rendered))) broken("a message that is not UTF-8", diag->id);
}

typedef void Reader(Input *in);

// Runs the reader in a guard: only memory may run out.
static void run(const uint8_t *data, size_t size, const char *path, Reader *reader) {
    Guard guard;
    Input in = {.arena = arena_new(NULL)};
    // Memory of exactly that size, so that a read past its end is seen.
    char *copy = malloc(size ? size : 1);
    if (size) memcpy(copy, data, size);
    in.text = (Str){copy, size};
    guard_enter(&guard);
    if (setjmp(guard.jump) == 0) {
        in.ctx = ir_context_new(in.arena);
        in.diags = diags_new(in.arena, judge, &in, 20);
        in.file = diags_add_file(in.diags, str_from(path), in.text);
        reader(&in);
    } else if (guard.kind != GUARD_memory) {
        broken("a guard was raised", guard.message);
    }
    guard_leave(&guard);
    if (in.ctx) ir_context_free(in.ctx);
    arena_free(in.arena);
    free(copy);
}

static void check_verdict(const Input *in, bool accepted) {
    if (accepted && in->errors > 0) broken("accepted", "in spite of errors");
    if (!accepted && in->errors == 0) broken("refused", "without a word");
}

// What was printed is read in another context and prints the same.
static void check_again(Input *in, Str text, Str (*print_again)(Input *again)) {
    Input again = {.arena = in->arena, .ctx = ir_context_new(in->arena), .text = text};
    again.diags = diags_new(in->arena, judge, &again, 20);
    again.file = diags_add_file(again.diags, STR("again"), text);
    Str second = print_again(&again);
    if (!str_equal(text, second)) {
        fprintf(stderr, "%.*s\n---- reads back as\n%.*s\n", STR_ARG(text), STR_ARG(second));
        broken("a text", "does not read back");
    }
    ir_context_free(again.ctx);
}

// ---- texts ----------------------------------------------------------------------------------

static Str print_graphs(Arena *arena, const Module *module) {
    Buf buf = {.arena = arena};
    print_module(&buf, module, &(PrintOptions){.origins = false});
    print_blobs(&buf, module);
    return buf_str(&buf);
}

static Str graphs_again(Input *in) {
    Module *module = parse_module(in->ctx, in->arena, in->diags, in->file, NULL, NULL);
    return module ? print_graphs(in->arena, module) : (Str){0};
}

static void read_language(Input *in) {
    DslOptions options = {.file = in->file, .allow_missing = true};
    Module *module = dsl_compile(in->ctx, in->arena, in->diags, &options);
    check_verdict(in, module != NULL);
    if (module && module->models.count > 0)
        check_again(in, print_graphs(in->arena, module), graphs_again);
}

static void read_graphs(Input *in) {
    Module *module = parse_module(in->ctx, in->arena, in->diags, in->file, NULL, NULL);
    check_verdict(in, module != NULL);
    if (module) check_again(in, print_graphs(in->arena, module), graphs_again);
}

static Str program_again(Input *in) {
    Buf buf = {.arena = in->arena};
    Program *program = program_read(in->ctx, in->arena, in->diags, in->file, NULL, NULL);
    if (program) buf_program(&buf, program);
    return buf_str(&buf);
}

static void read_program(Input *in) {
    Buf buf = {.arena = in->arena};
    Program *program = program_read(in->ctx, in->arena, in->diags, in->file, NULL, NULL);
    check_verdict(in, program != NULL);
    if (!program) return;
    buf_program(&buf, program);
    check_again(in, buf_str(&buf), program_again);
}

static Str tile_again(Input *in) {
    Buf buf = {.arena = in->arena};
    TileProgram *program = tile_parse(in->ctx, in->arena, in->diags, in->file);
    if (program) tile_print(&buf, program);
    return buf_str(&buf);
}

static void read_tile(Input *in) {
    Buf buf = {.arena = in->arena};
    TileProgram *program = tile_parse(in->ctx, in->arena, in->diags, in->file);
    check_verdict(in, program != NULL);
    if (!program) return;
    const char *fault = tile_verify(program, in->arena);
    if (fault) broken("a tile program was accepted", fault);
    tile_print(&buf, program);
    check_again(in, buf_str(&buf), tile_again);
}

static void read_schedule(Input *in) {
    Schedule schedule, again;
    const char *why = NULL;
    Buf buf = {.arena = in->arena};
    if (!schedule_parse(in->arena, in->text, &schedule, &why)) {
        if (!why || !*why) broken("a schedule was refused", "without a word");
        return;
    }
    buf_schedule(&buf, &schedule);
    if (!schedule_parse(in->arena, buf_str(&buf), &again, &why) ||
        memcmp(&schedule, &again, sizeof schedule) != 0)
        broken("a schedule", "does not read back");
}

// ---- weights --------------------------------------------------------------------------------

// Every tensor has as many bytes as its type needs, and all of them can be read.
static void check_tensors(const WeightTable *table) {
    for (size_t i = 0; i < weights_count(table); i++) {
        const Weight *w = weights_at(table, i);
        Tensor t = {.dtype = w->dtype, .rank = w->rank, .data = (void *)(uintptr_t)w->bytes};
        memcpy(t.dims, w->dims, sizeof t.dims);
        if (tensor_bytes(&t) != w->size) broken("a tensor", "is not of the size of its type");
        uint64_t hash = hash_bytes(0, w->bytes, w->size);
        if (weights_find(table, w->name) != w || hash == 1) broken("a tensor", "is not found");
    }
}

static void read_weights(Input *in, Str stem, Status (*read)(WeightFile *file)) {
    GuardDefer defer;
    WeightTable *table = weights_new(in->arena);
    guard_defer(&defer, (void (*)(void *))weights_free, table);
    WeightFile file = {.table = table,
                       .arena = in->arena,
                       .diags = in->diags,
                       .loc = {.file = in->file},
                       .stem = stem,
                       .storage = weight_table_add_storage(table),
                       .data = (const unsigned char *)in->text.data,
                       .size = in->text.size};
    Status status = read(&file);
    check_verdict(in, status == STATUS_ok);
    check_tensors(table);
    guard_undefer(&defer);
    weights_free(table);
}

static void read_safetensors(Input *in) { read_weights(in, STR("w"), weights_read_safetensors); }
static void read_npz(Input *in) { read_weights(in, STR("w"), weights_read_npz); }
static void read_npy(Input *in) { read_weights(in, STR("w"), weights_read_npy); }

// ---- artefacts ------------------------------------------------------------------------------

static void read_artefact(Input *in) {
    Str text;
    Status status =
        artefact_read(in->arena, in->diags, in->file, in->text, ARTEFACT_metadata, &text);
    check_verdict(in, status == STATUS_ok);
    in->errors = 0;
    in->diags = diags_new(in->arena, judge, in, 20);
    in->file = diags_add_file(in->diags, STR("model.so"), in->text);
    status = artefact_read(in->arena, in->diags, in->file, in->text, ARTEFACT_graph, &text);
    check_verdict(in, status == STATUS_ok);
}

// ---- the table ------------------------------------------------------------------------------

#define TARGET(name, path)                                                                         \
    static void run_##name(const uint8_t *data, size_t size) { run(data, size, path, read_##name); }
TARGET(language, "fuzz.g")
TARGET(graphs, "fuzz.tir")
TARGET(program, "fuzz.program")
TARGET(tile, "fuzz.tile")
TARGET(schedule, "schedule")
TARGET(safetensors, "w.safetensors")
TARGET(npz, "w.npz")
TARGET(npy, "w.npy")
TARGET(artefact, "model.so")

static const char *const numbers[] = {"0",
                                      "1",
                                      "-1",
                                      "2",
                                      "7",
                                      "8",
                                      "9",
                                      "63",
                                      "64",
                                      "65",
                                      "255",
                                      "256",
                                      "32767",
                                      "65535",
                                      "65536",
                                      "2147483647",
                                      "2147483648",
                                      "4294967295",
                                      "4294967296",
                                      "4611686018427387903",
                                      "4611686018427387904",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "18446744073709551615",
                                      "99999999999999999999",
                                      "-9223372036854775808",
                                      "0x1p-1074",
                                      "0x1p+1024",
                                      "1e999",
                                      "nan",
                                      "inf",
                                      "-inf",
                                      "0.5",
                                      "1_000",
                                      "1.",
                                      NULL};
static const char *const language[] = {"weights",
                                       "dim",
                                       "in",
                                       "..",
                                       "tune",
                                       "fn",
                                       "model",
                                       "train",
                                       "param",
                                       "shared",
                                       "state",
                                       "return",
                                       "for",
                                       "as",
                                       "if",
                                       "else",
                                       "while",
                                       "scan",
                                       "assert",
                                       "None",
                                       "true",
                                       "false",
                                       "..<",
                                       "->",
                                       "==",
                                       "!=",
                                       "<=",
                                       ">=",
                                       "**",
                                       "//",
                                       "@",
                                       ".T",
                                       ".shape",
                                       ".dtype",
                                       "[:, None]",
                                       "[::-1]",
                                       "axis=",
                                       "keep=true",
                                       "dtype=",
                                       "softmax",
                                       "sum",
                                       "relu",
                                       "linear",
                                       "conv2d",
                                       "max_pool2d",
                                       "layer_norm",
                                       "concat",
                                       "reshape",
                                       "permute",
                                       "gather",
                                       "topk",
                                       "sort",
                                       "tensor",
                                       "zeros",
                                       "arange",
                                       "list_of",
                                       "len",
                                       "cast",
                                       "broadcast_to",
                                       "attention",
                                       "(",
                                       ")",
                                       "[",
                                       "]",
                                       "{",
                                       "}",
                                       "\"a.{i}\"",
                                       "\n",
                                       ";",
                                       ":",
                                       ",",
                                       "=",
                                       NULL};
static const char *const graph_words[] = {"tir",
                                          "graph",
                                          "@m",
                                          "dim",
                                          "bound",
                                          "in",
                                          "..",
                                          "tune",
                                          "limit",
                                          "check",
                                          "return",
                                          "blob(",
                                          "nan(0x7fc00000)",
                                          "none",
                                          "true",
                                          "min(",
                                          "max(",
                                          "//",
                                          "%",
                                          "==",
                                          "<=",
                                          "%0",
                                          "%1",
                                          "%2",
                                          "%3",
                                          "[",
                                          "]",
                                          "(",
                                          ")",
                                          "{",
                                          "}",
                                          ":",
                                          "=",
                                          ",",
                                          "\"x\"",
                                          "\n",
                                          "program",
                                          "for",
                                          "input",
                                          "output",
                                          "bucket",
                                          "arena",
                                          "of",
                                          "bytes",
                                          "constant",
                                          "c0",
                                          "buffer",
                                          "b0",
                                          "b1",
                                          "b2",
                                          "launches",
                                          "to",
                                          "at",
                                          "kernel",
                                          "by",
                                          "with",
                                          "launch",
                                          "->",
                                          NULL};
static const char *const tile_words[] = {
    "tile",  "1",       "dim",    "in",       "..",    "tune",  "bound",  "below", "kernel",
    "@k",    "view",    "global", "constant", "arg",   "align", "out",    "free",  "placed",
    "alloc", "scratch", "work",   "yield",    "for",   "step",  "unroll", "iter",  "if",
    "else",  "true",    "and",    "where",    "load",  "store", "const",  "index", "test",
    "move",  "reduce",  "dot",    "pad",      "lanes", "min(",  "max(",   "$0",    "$1",
    "$2",    "%i",      "%k",     "%0",       "%1",    "%2",    "//",     "%",     "..",
    "<=",    "<",       ">",      "[",        "]",     "(",     ")",      "{",     "}",
    ":",     "=",       ",",      "\n",       NULL};
static const char *const schedule_words[] = {
#define SCHEDULE(field, skeletons, initial, least, greatest, meaning) #field "=",
#include "ir/schedule.def"
#undef SCHEDULE
    ",", "=", NULL};
static const char *const tensor_words[] = {"{",
                                           "}",
                                           "[",
                                           "]",
                                           ":",
                                           ",",
                                           "\"",
                                           "\"dtype\"",
                                           "\"shape\"",
                                           "\"data_offsets\"",
                                           "\"__metadata__\"",
                                           "\"F32\"",
                                           "\"BF16\"",
                                           "\"I64\"",
                                           "\"BOOL\"",
                                           "\"F8_E4M3\"",
                                           "null",
                                           "true",
                                           "1e2",
                                           "\"\\u0000\"",
                                           "\"\\ud800\"",
                                           " ",
                                           NULL};
static const char *const npy_words[] = {"'descr'",
                                        "'fortran_order'",
                                        "'shape'",
                                        "True",
                                        "False",
                                        "'<f4'",
                                        "'>f8'",
                                        "'|O'",
                                        "'|b1'",
                                        "'<i8'",
                                        "'|u1'",
                                        "'<f2'",
                                        "(",
                                        ")",
                                        ",",
                                        "{",
                                        "}",
                                        ":",
                                        "\n",
                                        " ",
                                        "[('a', '<f4')]",
                                        NULL};

static const FuzzTarget targets[] = {
    {"g", FORM_text, run_language, language},
    {"tir", FORM_text, run_graphs, graph_words},
    {"program", FORM_text, run_program, graph_words},
    {"tile", FORM_text, run_tile, tile_words},
    {"schedule", FORM_text, run_schedule, schedule_words},
    {"safetensors", FORM_safetensors, run_safetensors, tensor_words},
    {"npz", FORM_zip, run_npz, npy_words},
    {"npy", FORM_npy, run_npy, npy_words},
    {"so", FORM_elf, run_artefact, numbers},
    {"ptx", FORM_ptx, fuzz_ptx, fuzz_ptx_words},
};

const FuzzTarget *fuzz_target_at(size_t index) {
    return index < sizeof targets / sizeof *targets ? &targets[index] : NULL;
}

const FuzzTarget *fuzz_target_find(const char *name) {
    for (size_t i = 0; fuzz_target_at(i); i++)
        if (strcmp(targets[i].name, name) == 0) return &targets[i];
    return NULL;
}
