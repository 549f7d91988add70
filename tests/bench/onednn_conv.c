#include "onednn_conv.h"

#include <stddef.h>

#ifdef ONEDNN_HEADER /* the name that the compiler finds it by */

#include "measure.h"

#include ONEDNN_HEADER

#include <stdio.h>
#include <stdlib.h>

enum { IMAGE, WEIGHTS, BIAS, RESULT, SCRATCHPAD, MEMORIES };

struct OnednnConv {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_desc_t plan;
    dnnl_primitive_t primitive;
    dnnl_memory_t memories[MEMORIES];
    void *data[MEMORIES];
    dnnl_exec_arg_t args[MEMORIES];
    char name[64];
};

const char *onednn_version(void) {
    static char text[32];
    const dnnl_version_t *v = dnnl_version();
    snprintf(text, sizeof text, "%d.%d.%d", v->major, v->minor, v->patch);
    return text;
}

void omp_set_num_threads(int threads); /* of OpenMP, which this oneDNN uses */

void onednn_set_threads(int threads) { omp_set_num_threads(threads); }

static void check(dnnl_status_t status, const char *what) {
    expect(status == dnnl_success, "oneDNN could not %s: status %d", what, (int)status);
}

static dnnl_memory_desc_t describe(int rank, const dnnl_dim_t *dims, dnnl_format_tag_t tag) {
    dnnl_memory_desc_t desc;
    dnnl_dims_t all = {0}; /* of which the first `rank` count */
    for (int i = 0; i < rank; i++) all[i] = dims[i];
    check(dnnl_memory_desc_create_with_tag(&desc, rank, all, dnnl_f32, tag), "describe memory");
    return desc;
}

static dnnl_status_t plan(OnednnConv *conv, const ConvShape *s, dnnl_alg_kind_t algorithm,
                          dnnl_format_tag_t layout) {
    int64_t oh = (s->h + 2 * s->pad - s->kernel) / s->stride + 1;
    int64_t ow = (s->w + 2 * s->pad - s->kernel) / s->stride + 1, g = s->groups;
    dnnl_memory_desc_t x = describe(4, (dnnl_dim_t[]){s->n, s->c, s->h, s->w}, layout);
    dnnl_memory_desc_t y = describe(4, (dnnl_dim_t[]){s->n, s->out, oh, ow}, layout);
    dnnl_memory_desc_t bias = describe(1, (dnnl_dim_t[]){s->out}, dnnl_a);
    dnnl_dim_t w_dims[5] = {g, s->out / g, s->c / g, s->kernel, s->kernel};
    dnnl_memory_desc_t w = g > 1 ? describe(5, w_dims, dnnl_format_tag_any)
                                 : describe(4, w_dims + 1, dnnl_format_tag_any);
    dnnl_dims_t strides = {s->stride, s->stride}, pads = {s->pad, s->pad}, dilations = {0};
    dnnl_primitive_attr_t attr;
    dnnl_post_ops_t post;
    check(dnnl_primitive_attr_create(&attr), "make attributes");
    check(dnnl_post_ops_create(&post), "make post-ops");
    check(dnnl_post_ops_append_eltwise(post, dnnl_eltwise_relu, 0, 0), "append relu");
    check(dnnl_primitive_attr_set_post_ops(attr, post), "set post-ops");
    check(dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user), "set mode");
    dnnl_status_t status = dnnl_convolution_forward_primitive_desc_create(
        &conv->plan, conv->engine, dnnl_forward_inference, algorithm, x, w, bias, y, strides,
        dilations, pads, pads, attr);
    dnnl_post_ops_destroy(post);
    dnnl_primitive_attr_destroy(attr);
    dnnl_memory_desc_destroy(x);
    dnnl_memory_desc_destroy(y);
    dnnl_memory_desc_destroy(w);
    dnnl_memory_desc_destroy(bias);
    return status;
}

static void fill(float *values, size_t count) {
    uint32_t state = 1;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        values[i] = (float)(state >> 8) / (1 << 24) - 0.5f;
    }
}

static void add_memory(OnednnConv *conv, int which, dnnl_query_t query, int argument) {
    const_dnnl_memory_desc_t desc = dnnl_primitive_desc_query_md(conv->plan, query, 0);
    size_t bytes = (dnnl_memory_desc_get_size(desc) + 4095) / 4096 * 4096;
    conv->data[which] = aligned_alloc(4096, bytes > 0 ? bytes : 4096);
    expect(conv->data[which] != NULL, "out of memory");
    fill(conv->data[which], bytes / sizeof(float));
    check(dnnl_memory_create(&conv->memories[which], desc, conv->engine, conv->data[which]),
          "make memory");
    conv->args[which] = (dnnl_exec_arg_t){argument, conv->memories[which]};
}

OnednnConv *onednn_conv_new(const ConvShape *shape, int way) {
    OnednnConv *conv = calloc(1, sizeof *conv);
    expect(conv != NULL, "out of memory");
    check(dnnl_engine_create(&conv->engine, dnnl_cpu, 0), "make an engine");
    check(dnnl_stream_create(&conv->stream, conv->engine, dnnl_stream_default_flags),
          "make a stream");
    bool winograd = way >= 2, last = way % 2 == 0;
    dnnl_alg_kind_t algorithm = winograd ? dnnl_convolution_winograd : dnnl_convolution_direct;
    dnnl_format_tag_t layout = last ? dnnl_nhwc : dnnl_format_tag_any;
    if (plan(conv, shape, algorithm, layout) != dnnl_success) {
        onednn_conv_free(conv);
        return NULL;
    }
    const char *implementation = "";
    dnnl_primitive_desc_query(conv->plan, dnnl_query_impl_info_str, 0, (void *)&implementation);
    snprintf(conv->name, sizeof conv->name, "%s, %s", implementation, last ? "nhwc" : "any");
    check(dnnl_primitive_create(&conv->primitive, conv->plan), "make a primitive");
    add_memory(conv, IMAGE, dnnl_query_src_md, DNNL_ARG_SRC);
    add_memory(conv, WEIGHTS, dnnl_query_weights_md, DNNL_ARG_WEIGHTS);
    add_memory(conv, RESULT, dnnl_query_dst_md, DNNL_ARG_DST);
    add_memory(conv, SCRATCHPAD, dnnl_query_scratchpad_md, DNNL_ARG_SCRATCHPAD);
    const_dnnl_memory_desc_t bias =
        dnnl_primitive_desc_query_md(conv->plan, dnnl_query_weights_md, 1);
    conv->data[BIAS] = aligned_alloc(4096, (dnnl_memory_desc_get_size(bias) + 4095) / 4096 * 4096);
    expect(conv->data[BIAS] != NULL, "out of memory");
    fill(conv->data[BIAS], (size_t)shape->out);
    check(dnnl_memory_create(&conv->memories[BIAS], bias, conv->engine, conv->data[BIAS]),
          "make memory");
    conv->args[BIAS] = (dnnl_exec_arg_t){DNNL_ARG_BIAS, conv->memories[BIAS]};
    return conv;
}

const char *onednn_conv_name(const OnednnConv *conv) { return conv->name; }

void onednn_conv_run(void *user) {
    OnednnConv *conv = user;
    check(dnnl_primitive_execute(conv->primitive, conv->stream, MEMORIES, conv->args), "run");
    check(dnnl_stream_wait(conv->stream), "finish");
}

void onednn_conv_free(OnednnConv *conv) {
    if (conv == NULL) return;
    for (int i = 0; i < MEMORIES; i++) {
        if (conv->memories[i]) dnnl_memory_destroy(conv->memories[i]);
        free(conv->data[i]);
    }
    if (conv->primitive) dnnl_primitive_destroy(conv->primitive);
    if (conv->plan) dnnl_primitive_desc_destroy(conv->plan);
    dnnl_stream_destroy(conv->stream);
    dnnl_engine_destroy(conv->engine);
    free(conv);
}

#else

const char *onednn_version(void) { return ""; }
void onednn_set_threads(int threads) { (void)threads; }
OnednnConv *onednn_conv_new(const ConvShape *shape, int way) {
    (void)shape, (void)way;
    return NULL;
}
const char *onednn_conv_name(const OnednnConv *conv) {
    (void)conv;
    return "";
}
void onednn_conv_run(void *conv) { (void)conv; }
void onednn_conv_free(OnednnConv *conv) { (void)conv; }

#endif
