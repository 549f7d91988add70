/* What accesses cost on the device: sectors of global memory and wavefronts of shared memory, by
 * the rules of its memory system, not by time. */
#ifndef TCC_EMULATOR_MACHINE_COUNT_H
#define TCC_EMULATOR_MACHINE_COUNT_H

#include "emulator/machine/execute.h"

void count_access(Warp *warp, const Record *record, uint32_t lanes, PtxSpace space, uint32_t size,
                  const uint64_t *addresses);

/* Adds up what follows from how often each record ran. */
void count_records(const Program *program, const uint64_t *counts, EmuCounters *counters);

/* Tells which instructions ran, and how often. */
void count_tell(const Program *program, const uint64_t *counts, const EmuReporter *reporter);

#endif
