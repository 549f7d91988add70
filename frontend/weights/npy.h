/* The .npy format of NumPy (NEP 1, versions 1.0 to 3.0): one array a file.
 *
 * Read are bool, the integers of 8 to 64 bits, f16, f32 and f64 in either byte order, and arrays in
 * Fortran order; all arrive as dense row-major little-endian bytes. Objects (pickled code) and
 * structured dtypes are refused.
 *
 * NumPy has no names for the other dtypes of tcc, so a file holds in their stead: uint16 with the
 * bits of bf16, uint8 with the bits of f8e4m3 and f8e5m2, int8 or uint8 with the values of i4 and
 * u4. Who knows the dtype that is wanted turns such an array back with npy_reinterpret.
 */
#ifndef TCC_FRONTEND_WEIGHTS_NPY_H
#define TCC_FRONTEND_WEIGHTS_NPY_H

#include "base/diag.h"
#include "base/status.h"
#include "ir/tensor.h"

/* Reads a file into `arena`. STATUS_invalid or STATUS_environment after an error; what cannot be
 * read is reported at `loc`, what is wrong inside the file at the file. */
Status npy_read(Arena *arena, Diags *diags, Loc loc, Str path, Tensor *out_tensor);

/* Makes `tensor` one of dtype `wanted` if the convention above allows it (or it is one already);
 * false, with the tensor unchanged, when not, or when a value does not fit 4 bits. */
bool npy_reinterpret(Arena *arena, Tensor *tensor, DType wanted);

/* The bytes of an .npy file (version 1.0) appended to `buf`. */
void npy_encode(Buf *buf, const Tensor *tensor);

/* Writes that file; an older one stays as it was on failure (AtomicFile). */
Status npy_write(Arena *arena, Diags *diags, Loc loc, Str path, const Tensor *tensor);

#endif
