/* A CTA: its memory, and how its warps take turns. */
#ifndef TCC_EMULATOR_MACHINE_CTA_H
#define TCC_EMULATOR_MACHINE_CTA_H

#include "emulator/machine/execute.h"

typedef enum CtaState { CTA_running, CTA_finished, CTA_fault } CtaState;

/* Memory for a CTA of the launch, used by one after another. NULL: there is none. */
Cta *cta_new(Launch *launch, Worker *worker);
void cta_free(Cta *cta);

/* Begins the CTA of this number. */
void cta_begin(Cta *cta, uint64_t number);
/* Runs it for about `steps` warp instructions. */
CtaState cta_run(Cta *cta, uint64_t steps);
/* After cta_run is done with it, in whatever way. */
void cta_end(Cta *cta);

#endif
