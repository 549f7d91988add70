// Tile programs in tests: read from text, run on arrays.
#ifndef TCC_TESTS_UNIT_TILE_SUPPORT_H
#define TCC_TESTS_UNIT_TILE_SUPPORT_H

#include "test.h"

#include "base/arena.h"
#include "codegen/tile/tile_tools.h"

// What a test needs to read and run programs; tile_open and tile_close.
typedef struct TileTest {
    Arena *arena;
    IrContext *ctx;
    Diags *diags;
    char id[32]; // of the last diagnostic
    char text[512];
    Loc loc;
} TileTest;

static inline void tile_test_sink(void *user, const Diag *diag) {
    TileTest *t = user;
    snprintf(t->id, sizeof t->id, "%s", diag->id);
    snprintf(t->text, sizeof t->text, "%s", diag->text);
    t->loc = diag->loc;
}

static inline void tile_open(TileTest *t) {
    memset(t, 0, sizeof *t);
    t->arena = arena_new(NULL);
    t->ctx = ir_context_new(t->arena);
    t->diags = diags_new(t->arena, tile_test_sink, t, 0);
}

static inline void tile_close(TileTest *t) {
    ir_context_free(t->ctx);
    arena_free(t->arena);
}

// The program, or NULL with id, text and loc of the diagnostic in `t`.
static inline TileProgram *tile_try(TileTest *t, const char *text) {
    t->id[0] = t->text[0] = '\0';
    uint32_t file = diags_add_file(t->diags, STR("test"), str_from(text));
    return tile_parse(t->ctx, t->arena, t->diags, file);
}

static inline const char *tile_text(TileTest *t, const TileProgram *program) {
    Buf buf = {.arena = t->arena};
    tile_print(&buf, program);
    return buf.data;
}

// What is printed reads back, in another context, and prints the same.
static inline void tile_check_round_trip(TileTest *t, const TileProgram *program) {
    TileTest other;
    tile_open(&other);
    const char *text = tile_text(t, program);
    TileProgram *again = tile_try(&other, text);
    CHECK_STR(other.text, "");
    if (CHECK(again != NULL)) CHECK_STR(tile_text(&other, again), text);
    tile_close(&other);
}

// A program that must be sound.
static inline TileProgram *tile_read(TileTest *t, const char *text) {
    TileProgram *program = tile_try(t, text);
    if (!program) printf("    %u:%u: %s [%s]\n", t->loc.line, t->loc.column, t->text, t->id);
    if (CHECK(program != NULL)) tile_check_round_trip(t, program);
    return program;
}

// Values of the model's dims: {"N", 100}, …, {NULL}.
typedef struct TileDim {
    const char *name;
    int64_t value;
} TileDim;

static inline int64_t *tile_symbols(TileTest *t, const TileDim *dims) {
    int64_t *symbols = NEW_ARRAY(t->arena, int64_t, dim_symbol_count(t->ctx));
    for (; dims && dims->name; dims++) {
        const DimSymbol *symbol = dim_find_symbol(t->ctx, str_from(dims->name));
        if (symbol) symbols[symbol->id] = dims->value;
    }
    return symbols;
}

typedef struct TileRun {
    bool good;
    int64_t site;
    const char *message;
} TileRun;

static inline TileRun tile_run(TileTest *t, const TileProgram *program, void *const *buffers,
                               const TileDim *dims) {
    TileRun run = {0};
    run.good =
        tile_interpret(program, buffers, tile_symbols(t, dims), t->arena, &run.site, &run.message);
    return run;
}

#endif
