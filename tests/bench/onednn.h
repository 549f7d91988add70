/* The matrix product of oneDNN, by its C interface. The library is found at run time. */
#ifndef TCC_TESTS_BENCH_ONEDNN_H
#define TCC_TESTS_BENCH_ONEDNN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct OneDnn OneDnn;

/* The library at `path`, with a CPU engine; NULL when there is none of it. `out_version` has the
 * version's three numbers. */
OneDnn *onednn_open(const char *path, int out_version[3]);

typedef enum OneDnnType { ONEDNN_f32, ONEDNN_bf16, ONEDNN_i8 } OneDnnType;

/* c[m, n] = a[m, k] · b[k, n] of one type, c for i8 of i32. With `packed` the library may keep b in
 * an order of its own, into which it is brought before. */
typedef struct OneDnnMatmul OneDnnMatmul;
OneDnnMatmul *onednn_matmul(OneDnn *library, OneDnnType type, int64_t m, int64_t k, int64_t n,
                            bool packed, void *a, void *b, void *c);
void onednn_run(void *matmul); /* a Contestant's run */
void onednn_free(OneDnnMatmul *matmul);

#endif
