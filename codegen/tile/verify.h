/* What the files verify*.c share. The entry is tile_verify of tile_tools.h. */
#ifndef TCC_CODEGEN_TILE_VERIFY_H
#define TCC_CODEGEN_TILE_VERIFY_H

#include "codegen/tile/prove.h"
#include "codegen/tile/tile_tools.h"

typedef struct Verify {
    const TileProgram *program;
    Arena *arena;
    Prover prover;
    const TileInstr *instr;  /* the one being looked at; NULL outside the body */
    const char *fault;       /* the first one found */
    const TileInstr **maker; /* of each value that was defined so far; NULL for the others */
    bool *in_scope;          /* by value */
    VEC(TileId) scope;       /* the values in scope; cut back when a block ends */
    VEC(const DimSymbol *) variables; /* in scope */
    int64_t next_site;
    uint32_t never; /* how many enclosing loops and grids are known to be empty */
} Verify;

/* Notes what is wrong with the current instruction; false, so that rules can return it. */
bool verify_fail(Verify *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* verify_types.c: a tile type is sound in the program's state; an op has the operands and results
 * that it must. */
bool verify_type(Verify *v, const TileType *type);
bool verify_types(Verify *v, const TileInstr *instr);

/* verify_access.c: the Dims of an instruction are over symbols in scope; what it touches is inside
 * its views. */
bool verify_dim(Verify *v, const Dim *dim, const TileType *shape);
bool verify_access(Verify *v, const TileInstr *instr);

/* As tile_verify; *out_instr is where the fault is, NULL when it is not in the body. */
const char *tile_find_fault(const TileProgram *program, Arena *arena, const TileInstr **out_instr);

#endif
