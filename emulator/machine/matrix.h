/* What the forms of tensor and matrix instructions share. */
#ifndef TCC_EMULATOR_MACHINE_MATRIX_H
#define TCC_EMULATOR_MACHINE_MATRIX_H

#include "emulator/machine/access.h"
#include "emulator/machine/decode.h"
#include "emulator/machine/mma.h"

/* The registers of an operand, {a, b} or a alone, as slots from `list` on; returns how many. */
uint32_t matrix_sources(Decoder *decoder, const PtxOperand *operand, PtxType type, uint32_t *list);
uint32_t matrix_targets(Decoder *decoder, const PtxOperand *operand, PtxType type, uint32_t *list);

/* k of a shape; 256 is kept as 0. */
int matrix_k(const PtxInstruction *instruction);

/* Memory of the program for what a record's handler needs to know, which has no pointers in it. */
void *matrix_facts(Decoder *decoder, size_t size);

/* Whether all lanes of the warp are here, as .aligned demands; else the handler returns *out_step.
 */
bool matrix_gather(Warp *warp, const Record *record, uint32_t *lanes, Step *out_step);
/* The lanes' accesses to memory are ordered before and after: each has what all have read. */
void matrix_meet(Warp *warp, const Record *record);

#endif
