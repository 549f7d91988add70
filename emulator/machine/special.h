/* Special registers: %tid, %laneid, %clock and the rest. */
#ifndef TCC_EMULATOR_MACHINE_SPECIAL_H
#define TCC_EMULATOR_MACHINE_SPECIAL_H

#include "emulator/machine/execute.h"

/* Fills the warp's block of the special registers that its program reads, for the CTA that begins;
 * `first`: no CTA had this memory before. */
void special_fill(Warp *warp, bool first);

#endif
