/* The parts of the x86 lane model. */
#ifndef TCC_CODEGEN_X86_X86_H
#define TCC_CODEGEN_X86_X86_H

#include "codegen/lower/lowering.h"

/* access.c: see LaneModel. */
V x86_load(Lowering *l, const Access *access, const Place *place, const Mask *mask, V pad);
void x86_store(Lowering *l, const Access *access, const Place *place, const Mask *mask, V value);
void x86_each_lane(Lowering *l, const Access *access, const Place *place, const Mask *mask, V value,
                   EmitLane *emit);
/* stream.c */
bool x86_stream(Lowering *l, const Access *access, const Place *place, V value);
void x86_prefetch(Lowering *l, const Access *access, const Place *place, int64_t ahead);
/* transpose.c */
void x86_transpose(Lowering *l, const V *vectors, uint32_t lanes, uint32_t rows, V *out_registers);
void x86_prefetch_line(Lowering *l, const Access *access, const Place *place);
/* kernel.c */
void x86_kernel(Lowering *l);
void x86_report(Lowering *l, V bad, V index, V bound, int64_t site, uint32_t lanes);

/* Memory of this function's own, for accesses that must not happen: 64-byte aligned, of
 * X86_SPARE_BYTES. */
enum { X86_SPARE_BYTES = 1024 };
V x86_spare(Lowering *l);

#endif
