/* The parts of the NVPTX lane model. */
#ifndef TCC_CODEGEN_NVPTX_NVPTX_H
#define TCC_CODEGEN_NVPTX_NVPTX_H

#include "codegen/lower/lowering.h"

/* A block of several warps, each with a point of its own, has BLOCK_THREADS threads. */
enum { WARP_LANES = 32, BLOCK_THREADS = 128 };

/* launch.c: the threads that run one point, and those of a block. */
uint32_t nvptx_point_threads(const TileProgram *program);
uint32_t nvptx_block_threads(const TileProgram *program);
/* The slots of the dims that the program mentions, rising; returns how many there are. */
uint32_t nvptx_dims(const TileProgram *program, const LowerOptions *options, Arena *arena,
                    uint32_t **out_slots);

/* access.c: see LaneModel. */
V nvptx_load(Lowering *l, const Access *access, const Place *place, const Mask *mask, V pad);
void nvptx_store(Lowering *l, const Access *access, const Place *place, const Mask *mask, V value);
void nvptx_each_lane(Lowering *l, const Access *access, const Place *place, const Mask *mask,
                     V value, EmitLane *emit);
/* lanes.c: the value of the lane whose number differs in the bits of `change`, a power of two. */
V nvptx_exchange(Lowering *l, V value, uint32_t change);
void nvptx_order_lanes(Lowering *l);
/* places.c: from when l->function exists until it is complete. */
void nvptx_open_places(Lowering *l);
void nvptx_note_place(Lowering *l, const TileInstr *instr);
void nvptx_close_places(Lowering *l);
/* mma.c */
void nvptx_mma(Lowering *l, const TileInstr *instr);
/* sort.c */
void nvptx_sort(Lowering *l, const TileInstr *instr);
/* kernel.c */
void nvptx_kernel(Lowering *l);
/* A block's own shared memory, as a generic address; at most 48 KiB in all. */
V nvptx_shared_memory(Lowering *l, const char *name, uint64_t bytes);
void nvptx_report(Lowering *l, V bad, V index, V bound, int64_t site, uint32_t lanes);

#endif
