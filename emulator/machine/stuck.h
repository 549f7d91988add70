/* Reports of what cannot go on. */
#ifndef TCC_EMULATOR_MACHINE_STUCK_H
#define TCC_EMULATOR_MACHINE_STUCK_H

#include "emulator/machine/execute.h"

/* Every warp that has not ended waits for a barrier or polls: tells a deadlock. */
void cta_stuck(Cta *cta);

#endif
