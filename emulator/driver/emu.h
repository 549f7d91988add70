/* What the software device has beyond the driver API: what its checks found, what launches did, and
 * failures on request. Programs that want it look these names up with dlsym; where a real driver is
 * loaded they are not there.
 *
 * All functions may be called by any thread and without cuInit. Compiles as C99 and as C++. */
#ifndef TCC_EMULATOR_DRIVER_EMU_H
#define TCC_EMULATOR_DRIVER_EMU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define EMU_API __attribute__((visibility("default")))
#else
#define EMU_API
#endif

/* A finding. `kind` is its name ("race"), `text` the whole report as it was written to standard
 * error or to the file TCC_EMU_REPORT. `line` is of the model's or program's source (.loc), 0 when
 * it is not known; `ptx_line` of the module's text. The strings live until emuClear. */
typedef struct emu_finding {
    uint32_t size; /* of this struct: sizeof(emu_finding), set by the caller */
    const char *kind, *kernel, *file, *text;
    uint32_t line, ptx_line, other_ptx_line;
    uint64_t address;
} emu_finding;

/* What the launches did since the last emuClear, in warp instructions unless said otherwise. */
typedef struct emu_counters {
    uint32_t size; /* of this struct */
    uint64_t launches, instructions, lane_instructions;
    uint64_t integer, floats, special, conversion, memory, atomic, barrier, tensor, asynchronous;
    uint64_t global_sectors, global_useful_bytes; /* 32-byte sectors of all requests */
    uint64_t shared_wavefronts, shared_ideal_wavefronts;
    uint64_t tensor_flops;
} emu_counters;

/* How many findings there were since the last emuClear (of which the first 4096 are kept), and one
 * of those: 0, or 1 when there is none of that number. */
EMU_API uint64_t emuFindingCount(void);
EMU_API int emuFindingGet(uint64_t index, emu_finding *out_finding);
EMU_API void emuGetCounters(emu_counters *out_counters);
/* Forgets the findings and begins to count anew. */
EMU_API void emuClear(void);

/* Which device there will be, as TCC_EMU_DEVICE says it, which this takes the place of: "sm_80",
 * "sm_89", "sm_90a". 0, or 1 when there is no such one, or another has been initialised. */
EMU_API int emuChooseDevice(const char *key);

/* "cuMemAlloc:2" makes the second call of that function from now fail, "cuMemAlloc:2:700" with that
 * error, "*:5" the fifth call of any; up to eight of these, separated by commas; NULL or "" none.
 * Returns 0, or 1 when the text is not so, and what was set before holds. */
EMU_API int emuFail(const char *failure);
/* How many calls of the driver's functions were made since failures were last set, and how many of
 * them were made to fail. */
EMU_API long emuCalls(void);
EMU_API long emuFailures(void);
/* Contexts, modules, streams, events, graphs and the like that there are. */
EMU_API uint64_t emuHandles(void);
/* Blocks and bytes of device memory that are in use, pinned ones included. */
EMU_API uint64_t emuMemoryBlocks(void);
EMU_API uint64_t emuMemoryBytes(void);

#ifdef __cplusplus
}
#endif

#endif
