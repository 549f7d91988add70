/* Running a warp: its fragments, frames and turns. */
#ifndef TCC_EMULATOR_MACHINE_WARP_H
#define TCC_EMULATOR_MACHINE_WARP_H

#include "emulator/machine/execute.h"

/* Makes the warp stand at the beginning of the entry with `lanes`. Its memory (bases, local, the
 * entry frame's registers) was given to it before. */
void warp_begin(Warp *warp, uint32_t lanes);

/* Frees what it still holds: frames of calls that a fault cut off. */
void warp_end(Warp *warp);

/* Runs until the warp blocks, ends, yields, or has executed `quantum` records. */
Step warp_run(Warp *warp, uint64_t quantum);

/* Lanes leave the running fragment and stand at `pc` of `frame`, waiting for nothing. */
void warp_put(Warp *warp, Frame *frame, uint32_t lanes, uint32_t pc);
/* The lanes wait at the record that runs now. */
Step warp_wait(Warp *warp, uint32_t lanes, Wait wait, uint32_t need, uint32_t key);
/* A barrier completed: fragments that wait for it may pass. */
void warp_release(Warp *warp, uint32_t barrier, Reduction reduction);
/* The lanes exit. */
Step warp_exit(Warp *warp, uint32_t lanes);

/* frames.c: an activation of a function for `lanes`, which go on there. */
Step warp_call(Warp *warp, const Record *record, uint32_t lanes, uint32_t function);
/* The lanes return to the caller. */
Step warp_return(Warp *warp, uint32_t lanes);
/* Lanes leave a frame and all that called it; empty frames are freed. */
void warp_leave_frames(Warp *warp, Frame *frame, uint32_t lanes);
void warp_enter_frame(Warp *warp, Frame *frame);
/* With full checks: fills the lanes' local memory from `from` to `to`. */
void warp_poison_local(const Warp *warp, uint32_t lanes, uint64_t from, uint64_t to);

/* No fragment can run and none waits for a barrier: says who waits for what. */
Step warp_stuck(Warp *warp);

#endif
