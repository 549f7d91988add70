#include "codegen/artefact/image.h"

#include "base/guard.h"
#include "ir/infer.h"
#include "runtime/expr.h"
#include "runtime/image.h"

#include <string.h>

typedef struct Writer {
    const ImageRequest *request;
    Arena *arena;
    Buf bytes;
    VEC(int64_t) code;
    VEC(char) strings;
    uint32_t stack; /* of the expression being written */
    const char *error;
} Writer;

/* ---- expressions ----------------------------------------------------------------------------- */

static void put_word(Writer *w, int64_t word) { vec_push(w->arena, &w->code, word); }

static void push(Writer *w, TccExprOp op, int64_t value) {
    put_word(w, op);
    put_word(w, value);
    if (++w->stack > EXPR_MAX_STACK) w->error = "an expression over dims is too deep";
}

static void apply(Writer *w, TccExprOp op) {
    put_word(w, op);
    w->stack--;
}

static int64_t slot_of(const Writer *w, const DimSymbol *symbol) {
    const Program *p = w->request->program;
    for (size_t i = 0; i < p->dims.count; i++)
        if (p->dims.data[i] == symbol) return (int64_t)i;
    bug("dim %.*s has no slot", STR_ARG(symbol->name));
}

static void put_dim(Writer *w, const Dim *dim);

static void put_atom(Writer *w, const DimAtom *atom) {
    static const TccExprOp ops[] = {
        [ATOM_floordiv] = EXPR_floordiv, [ATOM_min] = EXPR_min, [ATOM_max] = EXPR_max};
    if (atom->kind == ATOM_symbol) {
        push(w, EXPR_dim, slot_of(w, atom->symbol));
        return;
    }
    put_dim(w, atom->a);
    put_dim(w, atom->b);
    apply(w, ops[atom->kind]);
}

static void put_term(Writer *w, const DimTerm *term) {
    for (uint32_t i = 0; i < term->atom_count; i++) {
        put_atom(w, term->atoms[i]);
        if (i > 0) apply(w, EXPR_mul);
    }
    if (term->coefficient == 1) return;
    push(w, EXPR_const, term->coefficient);
    apply(w, EXPR_mul);
}

static void put_dim(Writer *w, const Dim *dim) {
    if (w->error != NULL) return;
    for (uint32_t i = 0; i < dim->term_count; i++) {
        put_term(w, &dim->terms[i]);
        if (i > 0) apply(w, EXPR_add);
    }
    if (dim->term_count == 0 || dim->constant != 0) push(w, EXPR_const, dim->constant);
    if (dim->term_count > 0 && dim->constant != 0) apply(w, EXPR_add);
}

static TccExpr put_expr(Writer *w, const Dim *dim) {
    TccExpr expr = {.offset = (uint32_t)w->code.count};
    w->stack = 0;
    put_dim(w, dim);
    expr.count = (uint32_t)w->code.count - expr.offset;
    return expr;
}

/* ---- strings and tables ---------------------------------------------------------------------- */

/* The offset among the strings, plus 1; fixed up when their place is known. */
static uint32_t put_string(Writer *w, Str text) {
    uint32_t at = (uint32_t)w->strings.count + 1;
    for (size_t i = 0; i < text.size; i++) vec_push(w->arena, &w->strings, text.data[i]);
    vec_push(w->arena, &w->strings, 0);
    return at;
}

static void align(Writer *w) {
    while (w->bytes.size % 8 != 0) buf_char(&w->bytes, 0);
}

static TccTable put_table(Writer *w, const void *records, size_t count, size_t size) {
    align(w);
    TccTable table = {(uint32_t)w->bytes.size, (uint32_t)count};
    buf_bytes(&w->bytes, records, count * size);
    if (w->bytes.size > UINT32_MAX / 2) w->error = "the program is too large";
    return table;
}

/* "model.g:12:3", or nothing. */
static Str place_text(const Writer *w, const Origin *origin) {
    Buf place = {.arena = w->arena};
    if (w->request->diags != NULL) diags_put_place(&place, w->request->diags, origin_loc(origin));
    return buf_str(&place);
}

static uint32_t put_dim_name(Writer *w, const Dim *dim) {
    if (dim_is_const(dim, NULL)) return 0;
    Buf buf = {.arena = w->arena};
    buf_dim(&buf, dim);
    return put_string(w, buf_str(&buf));
}

static TccPort make_port(Writer *w, const Str *name, const Type *type) {
    TccPort port = {.name = put_string(w, *name),
                    .dtype = (int32_t)type->dtype,
                    .rank = type->rank,
                    .bits = dtype_info(type->dtype)->bits};
    for (uint32_t i = 0; i < type->rank; i++) {
        port.dims[i] = put_expr(w, type->dims[i]);
        port.dim_names[i] = put_dim_name(w, type->dims[i]);
        port.lo[i] = type->dims[i]->lo < 0 ? 0 : type->dims[i]->lo; /* entry checks see to it */
        port.hi[i] = type->dims[i]->hi;
    }
    return port;
}

/* ---- the tables ------------------------------------------------------------------------------ */

/* Everything that holds strings or expressions, made before anything is laid out. */
typedef struct Records {
    TccDim *dims;
    TccPort *inputs, *outputs;
    TccBuffer *buffers;
    TccConstant *constants;
    TccKernelInfo *kernels;
    TccLaunch *launches;
    uint32_t *launch_buffers;
    uint32_t launch_buffer_count;
    TccCheck *checks;
    TccVariant *variants;
    TccGpuKernel *gpu_kernels;
    uint32_t *gpu_dims;
    uint32_t gpu_kernel_count, gpu_dim_count;
    uint32_t name, gpu_target;
} Records;

/* Finds for each dim the first axis of an input that is this dim alone. */
static void bind_dims(Writer *w, TccDim *dims) {
    const Program *p = w->request->program;
    const Graph *g = p->graph;
    bool *bound = NEW_ARRAY(w->arena, bool, p->dims.count);
    for (uint32_t i = 0; i < g->inputs.count; i++) {
        const Type *type = graph_type(g, g->inputs.data[i]);
        for (uint32_t a = 0; a < type->rank; a++) {
            const DimSymbol *symbol = dim_as_symbol(type->dims[a]);
            int64_t slot = symbol == NULL ? -1 : slot_of(w, symbol);
            if (slot < 0 || bound[slot]) continue;
            bound[slot] = true;
            dims[slot].input = i;
            dims[slot].axis = a;
        }
    }
    for (size_t i = 0; i < p->dims.count && w->error == NULL; i++)
        if (!bound[i])
            w->error = str_format(w->arena, "no axis of an input is dim '%.*s' alone",
                                  STR_ARG(p->dims.data[i]->name))
                           .data;
}

static void make_interface(Writer *w, Records *r) {
    const Program *p = w->request->program;
    const Graph *g = p->graph;
    r->name = put_string(w, *g->name);
    r->dims = NEW_ARRAY(w->arena, TccDim, p->dims.count);
    for (size_t i = 0; i < p->dims.count; i++) {
        const DimSymbol *symbol = p->dims.data[i];
        r->dims[i] = (TccDim){.name = put_string(w, symbol->name),
                              .lo = symbol->lo,
                              .hi = symbol->hi,
                              .tune = symbol->tune};
    }
    bind_dims(w, r->dims);
    r->inputs = NEW_ARRAY(w->arena, TccPort, g->inputs.count);
    for (size_t i = 0; i < g->inputs.count; i++) {
        const Node *node = graph_node(g, g->inputs.data[i]);
        r->inputs[i] = make_port(w, node_attr(node, "name").str, node->type);
    }
    r->outputs = NEW_ARRAY(w->arena, TccPort, g->outputs.count);
    for (size_t i = 0; i < g->outputs.count; i++)
        r->outputs[i] =
            make_port(w, g->outputs.data[i].name, graph_type(g, g->outputs.data[i].node));
    r->variants = NEW_ARRAY(w->arena, TccVariant, w->request->target_count);
    for (uint32_t i = 0; i < w->request->target_count; i++) {
        const Target *target = w->request->targets[i];
        r->variants[i] = (TccVariant){put_string(w, str_from(target->name)), target->features};
    }
}

static void make_checks(Writer *w, Records *r) {
    const Graph *g = w->request->program->graph;
    r->checks = NEW_ARRAY(w->arena, TccCheck, g->checks.count);
    for (size_t i = 0; i < g->checks.count; i++) {
        const EntryCheck *check = &g->checks.data[i];
        Buf buf = {.arena = w->arena};
        Str place = place_text(w, check->origin);
        if (place.size > 0) buf_print(&buf, "%.*s: ", STR_ARG(place));
        buf_dim(&buf, check->a);
        buf_put(&buf, check->kind == CHECK_equal ? STR(" must equal ") : STR(" must be at most "));
        buf_dim(&buf, check->b);
        r->checks[i] = (TccCheck){.at_most = check->kind == CHECK_at_most,
                                  .message = put_string(w, buf_str(&buf)),
                                  .a = put_expr(w, check->a),
                                  .b = put_expr(w, check->b)};
    }
}

static void make_memory(Writer *w, Records *r) {
    static const TccBufferKind kinds[] = {[BUFFER_input] = TCC_BUFFER_input,
                                          [BUFFER_output] = TCC_BUFFER_output,
                                          [BUFFER_constant] = TCC_BUFFER_constant,
                                          [BUFFER_arena] = TCC_BUFFER_arena};
    const Program *p = w->request->program;
    r->buffers = NEW_ARRAY(w->arena, TccBuffer, p->buffers.count);
    for (size_t i = 0; i < p->buffers.count; i++) {
        const Buffer *b = &p->buffers.data[i];
        r->buffers[i] = (TccBuffer){.kind = kinds[b->kind],
                                    .index = b->index,
                                    .bytes = put_expr(w, type_bytes(p->ctx, b->type)),
                                    .bits = dtype_info(b->type->dtype)->bits};
        memcpy(r->buffers[i].offset, b->offset, sizeof b->offset);
    }
    uint64_t *offsets;
    image_place_constants(p, w->arena, &offsets);
    r->constants = NEW_ARRAY(w->arena, TccConstant, p->constants.count);
    for (size_t i = 0; i < p->constants.count; i++)
        r->constants[i] = (TccConstant){offsets[i], p->constants.data[i].blob->size};
}

/* Where a kernel was written: the first of its launches with a place. */
static const Origin *kernel_origin(const Program *p, uint32_t kernel) {
    for (size_t i = 0; i < p->launches.count; i++)
        if (p->launches.data[i].kernel == kernel && p->launches.data[i].origin != NULL)
            return p->launches.data[i].origin;
    return NULL;
}

static void make_kernels(Writer *w, Records *r) {
    const Program *p = w->request->program;
    uint32_t count = (uint32_t)p->kernels.count;
    r->kernels = NEW_ARRAY(w->arena, TccKernelInfo, count * w->request->target_count);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t name = put_string(w, *p->kernels.data[k].name);
        Str place = place_text(w, kernel_origin(p, k));
        uint32_t where = place.size > 0 ? put_string(w, place) : 0;
        for (uint32_t v = 0; v < w->request->target_count; v++) {
            const KernelFacts *facts = &w->request->facts[v * count + k];
            r->kernels[v * count + k] = (TccKernelInfo){.name = name,
                                                        .place = where,
                                                        .points = put_expr(w, facts->points),
                                                        .scratch = put_expr(w, facts->scratch),
                                                        .ns_per_point = facts->ns_per_point};
        }
    }
    VEC(uint32_t) list = {0};
    r->launches = NEW_ARRAY(w->arena, TccLaunch, p->launches.count);
    for (size_t i = 0; i < p->launches.count; i++) {
        const Launch *launch = &p->launches.data[i];
        r->launches[i] = (TccLaunch){.kernel = launch->kernel,
                                     .first_buffer = (uint32_t)list.count,
                                     .buffer_count = launch->buffer_count};
        for (uint32_t b = 0; b < launch->buffer_count; b++)
            vec_push(w->arena, &list, launch->buffers[b]);
    }
    r->launch_buffers = list.data;
    r->launch_buffer_count = (uint32_t)list.count;
}

static void make_gpu(Writer *w, Records *r) {
    const GpuImage *gpu = w->request->gpu;
    if (gpu == NULL) return;
    VEC(uint32_t) dims = {0};
    r->gpu_target = put_string(w, str_from(gpu->target->name));
    r->gpu_kernel_count = (uint32_t)w->request->program->kernels.count;
    r->gpu_kernels = NEW_ARRAY(w->arena, TccGpuKernel, r->gpu_kernel_count);
    for (uint32_t k = 0; k < r->gpu_kernel_count; k++) {
        const GpuFacts *facts = &gpu->facts[k];
        r->gpu_kernels[k] = (TccGpuKernel){.name = put_string(w, str_from(facts->symbol)),
                                           .shape = facts->shape,
                                           .first_dim = (uint32_t)dims.count,
                                           .points = put_expr(w, facts->points),
                                           .scratch = put_expr(w, facts->scratch)};
        for (uint32_t i = 0; i < facts->shape.dim_count; i++)
            vec_push(w->arena, &dims, facts->dims[i]);
    }
    r->gpu_dims = dims.data;
    r->gpu_dim_count = (uint32_t)dims.count;
}

/* String references are made absolute once the strings' place is known. */
static void fix(uint32_t *reference, uint32_t base) {
    if (*reference != 0) *reference += base - 1;
}

static void fix_ports(TccPort *ports, size_t count, uint32_t base) {
    for (size_t i = 0; i < count; i++) {
        fix(&ports[i].name, base);
        for (uint32_t a = 0; a < ports[i].rank; a++) fix(&ports[i].dim_names[a], base);
    }
}

static void fix_strings(const Writer *w, Records *r, uint32_t base) {
    const Program *p = w->request->program;
    fix(&r->name, base);
    fix(&r->gpu_target, base);
    for (uint32_t k = 0; k < r->gpu_kernel_count; k++) fix(&r->gpu_kernels[k].name, base);
    for (size_t i = 0; i < p->dims.count; i++) fix(&r->dims[i].name, base);
    fix_ports(r->inputs, p->graph->inputs.count, base);
    fix_ports(r->outputs, p->graph->outputs.count, base);
    for (size_t i = 0; i < p->graph->checks.count; i++) fix(&r->checks[i].message, base);
    for (uint32_t i = 0; i < w->request->target_count; i++) fix(&r->variants[i].name, base);
    for (size_t i = 0; i < p->kernels.count * w->request->target_count; i++) {
        fix(&r->kernels[i].name, base);
        fix(&r->kernels[i].place, base);
    }
}

static TccTable put_buckets(Writer *w) {
    const Program *p = w->request->program;
    TccBucket *buckets = NEW_ARRAY(w->arena, TccBucket, p->bucket_count);
    for (uint32_t i = 0; i < p->bucket_count; i++) {
        TccTable hi = put_table(w, p->buckets[i].hi, p->dims.count, sizeof(int64_t));
        buckets[i] =
            (TccBucket){.hi = hi.offset, .arena_bytes = (uint64_t)p->buckets[i].arena_bytes};
    }
    return put_table(w, buckets, p->bucket_count, sizeof *buckets);
}

Str image_write(const ImageRequest *request, Arena *arena, const char **out_message) {
    const Program *p = request->program;
    Writer w = {.request = request, .arena = arena, .bytes = {.arena = arena}};
    Records r = {0};
    make_interface(&w, &r);
    make_checks(&w, &r);
    make_memory(&w, &r);
    make_kernels(&w, &r);
    make_gpu(&w, &r);
    TccImage image = {.magic = TCC_IMAGE_MAGIC, .abi = TCC_ABI_VERSION};
    buf_bytes(&w.bytes, &image, sizeof image);
    image.strings = put_table(&w, w.strings.data, w.strings.count, 1);
    fix_strings(&w, &r, image.strings.offset);
    image.name = r.name;
    image.code = put_table(&w, w.code.data, w.code.count, sizeof(int64_t));
    image.dims = put_table(&w, r.dims, p->dims.count, sizeof *r.dims);
    image.inputs = put_table(&w, r.inputs, p->graph->inputs.count, sizeof *r.inputs);
    image.outputs = put_table(&w, r.outputs, p->graph->outputs.count, sizeof *r.outputs);
    image.buffers = put_table(&w, r.buffers, p->buffers.count, sizeof *r.buffers);
    image.constants = put_table(&w, r.constants, p->constants.count, sizeof *r.constants);
    image.kernels =
        put_table(&w, r.kernels, p->kernels.count * request->target_count, sizeof *r.kernels);
    image.launches = put_table(&w, r.launches, p->launches.count, sizeof *r.launches);
    image.launch_buffers = put_table(&w, r.launch_buffers, r.launch_buffer_count, sizeof(uint32_t));
    image.checks = put_table(&w, r.checks, p->graph->checks.count, sizeof *r.checks);
    image.variants = put_table(&w, r.variants, request->target_count, sizeof *r.variants);
    image.buckets = put_buckets(&w);
    image.gpu_target = r.gpu_target;
    image.gpu_kernels = put_table(&w, r.gpu_kernels, r.gpu_kernel_count, sizeof *r.gpu_kernels);
    image.gpu_dims = put_table(&w, r.gpu_dims, r.gpu_dim_count, sizeof *r.gpu_dims);
    if (request->gpu != NULL)
        image.ptx = put_table(&w, request->gpu->ptx.data, request->gpu->ptx.size + 1, 1);
    uint64_t *offsets;
    image.weight_bytes = image_place_constants(p, arena, &offsets);
    align(&w);
    image.size = (uint32_t)w.bytes.size;
    memcpy(w.bytes.data, &image, sizeof image);
    *out_message = w.error;
    return w.error == NULL ? buf_str(&w.bytes) : (Str){0};
}

uint64_t image_place_constants(const Program *program, Arena *arena, uint64_t **out_offsets) {
    uint64_t end = 0;
    uint64_t *offsets = NEW_ARRAY(arena, uint64_t, program->constants.count);
    for (size_t i = 0; i < program->constants.count; i++) {
        const Blob *blob = program->constants.data[i].blob;
        size_t same = 0;
        while (same < i && program->constants.data[same].blob != blob) same++;
        offsets[i] = same < i ? offsets[same] : end;
        if (same < i) continue;
        end += (blob->size + WEIGHT_ALIGNMENT - 1) / WEIGHT_ALIGNMENT * WEIGHT_ALIGNMENT;
    }
    *out_offsets = offsets;
    return end;
}
