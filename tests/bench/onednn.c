#include "onednn.h"

#include "measure.h"

#include <dlfcn.h>
#include <stdlib.h>

/* Of the C interface, version 3: handles are pointers, dims are 12 numbers. */
typedef int64_t Dims[12];
typedef struct Argument {
    int32_t which;
    void *memory;
} Argument;
typedef struct Version {
    int major, minor, patch;
} Version;
enum {
    TYPE_bf16 = 2,
    TYPE_f32 = 3,
    TYPE_s32 = 4,
    TYPE_s8 = 5,
    /* dnnl_data_type_t */
    TAG_any = 1,
    TAG_ab = 3, /* dnnl_format_tag_t */
    ARG_src = 1,
    ARG_dst = 17,
    ARG_weights = 33,
    ARG_from = 1,
    ARG_to = 17,
    QUERY_weights = 131, /* dnnl_query_weights_md */
    ENGINE_cpu = 1
};

struct OneDnn {
    void *engine, *stream;
    int (*describe)(void **md, int rank, const int64_t *dims, int type, int tag);
    int (*new_matmul)(void **pd, void *engine, const void *a, const void *b, const void *bias,
                      const void *c, const void *attributes);
    int (*new_reorder)(void **pd, const void *from, void *from_engine, const void *to,
                       void *to_engine, const void *attributes);
    int (*new_primitive)(void **primitive, const void *pd);
    const void *(*query)(const void *pd, int what, int index);
    int (*new_memory)(void **memory, const void *md, void *engine, void *data);
    int (*execute)(const void *primitive, void *stream, int count, const Argument *arguments);
    int (*wait)(void *stream);
};

struct OneDnnMatmul {
    OneDnn *library;
    void *primitive;
    Argument arguments[3];
};

static void *find(void *handle, const char *name) {
    void *symbol = dlsym(handle, name);
    expect(symbol != NULL, "oneDNN has no %s", name);
    return symbol;
}

OneDnn *onednn_open(const char *path, int out_version[3]) {
    void *handle = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!handle) return NULL;
    const Version *(*version)(void);
    int (*new_engine)(void **engine, int kind, size_t index);
    int (*new_stream)(void **stream, void *engine, unsigned flags);
    *(void **)&version = find(handle, "dnnl_version");
    *(void **)&new_engine = find(handle, "dnnl_engine_create");
    *(void **)&new_stream = find(handle, "dnnl_stream_create");
    out_version[0] = version()->major, out_version[1] = version()->minor;
    out_version[2] = version()->patch;
    expect(version()->major == 3, "oneDNN %d has another interface", version()->major);
    OneDnn *d = calloc(1, sizeof *d);
    expect(d != NULL, "out of memory");
    *(void **)&d->describe = find(handle, "dnnl_memory_desc_create_with_tag");
    *(void **)&d->new_matmul = find(handle, "dnnl_matmul_primitive_desc_create");
    *(void **)&d->new_reorder = find(handle, "dnnl_reorder_primitive_desc_create");
    *(void **)&d->new_primitive = find(handle, "dnnl_primitive_create");
    *(void **)&d->query = find(handle, "dnnl_primitive_desc_query_md");
    *(void **)&d->new_memory = find(handle, "dnnl_memory_create");
    *(void **)&d->execute = find(handle, "dnnl_primitive_execute");
    *(void **)&d->wait = find(handle, "dnnl_stream_wait");
    bool good =
        new_engine(&d->engine, ENGINE_cpu, 0) == 0 && new_stream(&d->stream, d->engine, 1) == 0;
    expect(good, "oneDNN has no engine for this processor");
    return d;
}

static void *describe(OneDnn *d, int64_t rows, int64_t columns, int type, int tag) {
    Dims dims = {rows, columns};
    void *md = NULL;
    expect(d->describe(&md, 2, dims, type, tag) == 0, "oneDNN: no description");
    return md;
}

static void *memory(OneDnn *d, const void *md, void *data) {
    void *memory = NULL;
    expect(d->new_memory(&memory, md, d->engine, data) == 0, "oneDNN: no memory");
    return memory;
}

static void execute(OneDnn *d, void *primitive, int count, const Argument *arguments) {
    expect(d->execute(primitive, d->stream, count, arguments) == 0, "oneDNN: it did not run");
    d->wait(d->stream);
}

/* b in the order that the primitive wants. */
static void *reordered(OneDnn *d, const void *from, void *b, const void *to) {
    void *pd = NULL, *primitive = NULL, *own = memory(d, to, (void *)(intptr_t)-1);
    bool good = d->new_reorder(&pd, from, d->engine, to, d->engine, NULL) == 0 &&
                d->new_primitive(&primitive, pd) == 0;
    expect(good, "oneDNN: no reorder");
    execute(d, primitive, 2, (Argument[]){{ARG_from, memory(d, from, b)}, {ARG_to, own}});
    return own;
}

OneDnnMatmul *onednn_matmul(OneDnn *d, OneDnnType type, int64_t m, int64_t k, int64_t n,
                            bool packed, void *a, void *b, void *c) {
    static const int types[][3] = {{TYPE_f32, TYPE_f32, TYPE_f32},
                                   {TYPE_bf16, TYPE_bf16, TYPE_bf16},
                                   {TYPE_s8, TYPE_s8, TYPE_s32}};
    const int *t = types[type];
    void *pd = NULL, *amd = describe(d, m, k, t[0], TAG_ab), *cmd = describe(d, m, n, t[2], TAG_ab);
    void *plain = describe(d, k, n, t[1], TAG_ab);
    void *wanted = packed ? describe(d, k, n, t[1], TAG_any) : plain;
    OneDnnMatmul *x = calloc(1, sizeof *x);
    expect(x != NULL, "out of memory");
    x->library = d;
    bool good = d->new_matmul(&pd, d->engine, amd, wanted, NULL, cmd, NULL) == 0 &&
                d->new_primitive(&x->primitive, pd) == 0;
    expect(good, "oneDNN: no matmul");
    const void *md = d->query(pd, QUERY_weights, 0);
    x->arguments[0] = (Argument){ARG_src, memory(d, amd, a)};
    x->arguments[1] =
        (Argument){ARG_weights, packed ? reordered(d, plain, b, md) : memory(d, plain, b)};
    x->arguments[2] = (Argument){ARG_dst, memory(d, cmd, c)};
    return x;
}

void onednn_run(void *matmul) {
    OneDnnMatmul *x = matmul;
    execute(x->library, x->primitive, 3, x->arguments);
}

void onednn_free(OneDnnMatmul *matmul) { free(matmul); }
