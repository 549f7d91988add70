/* Convolutions of oneDNN. Compiled without ONEDNN_HEADER there are none. */
#ifndef TCC_TESTS_BENCH_ONEDNN_CONV_H
#define TCC_TESTS_BENCH_ONEDNN_CONV_H

#include <stdint.h>

/* A 2-D convolution of f32 with bias and relu behind it; square kernels, the same stride and
 * padding along both axes. */
typedef struct ConvShape {
    int64_t n, c, h, w, out, kernel, stride, pad, groups;
} ConvShape;

/* One way in which oneDNN makes it: an algorithm, and images channels-last or in the layout that it
 * likes best. What it reads has been laid out before. */
typedef struct OnednnConv OnednnConv;

enum { ONEDNN_WAYS = 4 };

const char *onednn_version(void); /* "" without it */
void onednn_set_threads(int threads);
/* NULL where way number `way` does not exist for the shape. */
OnednnConv *onednn_conv_new(const ConvShape *shape, int way);
const char *onednn_conv_name(const OnednnConv *conv); /* of what runs */
void onednn_conv_run(void *conv);                     /* a Contestant's run */
void onednn_conv_free(OnednnConv *conv);

#endif
