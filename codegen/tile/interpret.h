/* What the files interpret*.c share. The entry is tile_interpret of tile_tools.h. */
#ifndef TCC_CODEGEN_TILE_INTERPRET_H
#define TCC_CODEGEN_TILE_INTERPRET_H

#include "codegen/tile/cell.h"
#include "codegen/tile/tile.h"

/* The elements of a value, row-major; the memory is kept from one execution to the next. */
typedef struct Value {
    TileCell *cells;
    size_t count, capacity;
} Value;

/* Which grid points touched an element of a tensor that is written: points count from 1, 0 is none.
 */
typedef struct Touch {
    uint32_t writer, reader;
} Touch;

/* A view with its extents at this run's dims. */
typedef struct Memory {
    void *base;
    int64_t dims[TYPE_MAX_RANK], elements;
    uint64_t *written; /* scratch: the point that stored the element last */
    Touch *touches;    /* written tensors: shared by all views of the argument */
} Memory;

typedef struct Run {
    const TileProgram *program;
    Arena *arena;
    int64_t *env; /* by symbol id */
    Value *values;
    Memory *views;
    uint64_t point; /* the grid point being run, from 1 */
    int64_t site;   /* of the first index error, or -1 */
    const char *message;
    Value line, spare; /* room for one reduction or sort */
} Run;

/* Extents of a tile at this run's dims, and the symbols that count its elements. */
typedef struct Shape {
    uint32_t rank;
    int64_t extents[TILE_MAX_RANK], count;
    const DimSymbol *axes[TILE_MAX_RANK]; /* NULL: the program does not mention it */
} Shape;

/* Notes the first thing that went wrong; false. */
bool run_fail(Run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

bool run_dim(Run *run, const Dim *dim, int64_t *out_value);
bool run_shape(Run *run, const TileType *type, Shape *out_shape);
/* Binds the axes to element `n`. */
void run_at_element(Run *run, const Shape *shape, int64_t n);
/* Whether all guards hold there. */
bool run_guards(Run *run, const TileInstr *instr, bool *out_hold);

TileCell *value_resize(Run *run, Value *value, size_t count);
/* The cells of a result, as many as its type has elements; NULL after a failure. */
TileCell *run_result(Run *run, const TileInstr *instr, Shape *out_shape);
const TileCell *run_arg(const Run *run, const TileInstr *instr, uint32_t i);

/* interpret_memory.c */
bool run_views(Run *run, void *const *buffers);
bool run_load(Run *run, const TileInstr *instr);
bool run_store(Run *run, const TileInstr *instr);
bool run_sort(Run *run, const TileInstr *instr);
bool run_mma(Run *run, const TileInstr *instr);
bool run_mma_store(Run *run, const TileInstr *instr);

/* interpret_ops.c: the ops that compute. */
bool run_compute(Run *run, const TileInstr *instr);

#endif
