#include "base/map.h"
#include "base/scratch.h"
#include "ir/program_tools.h"

#include <string.h>

/* ---- sizes ----------------------------------------------------------------------------------- */

static bool monotone(const Dim *dim);

/* Whether the atom is never negative and does not fall when named dims rise. */
static bool monotone_atom(const DimAtom *atom) {
    if (atom->lo < 0) return false;
    switch (atom->kind) {
    case ATOM_symbol: return atom->symbol->kind == SYMBOL_named;
    case ATOM_floordiv: return dim_is_const(atom->b, NULL) && monotone(atom->a);
    case ATOM_min:
    case ATOM_max: break;
    }
    return monotone(atom->a) && monotone(atom->b);
}

static bool monotone(const Dim *dim) {
    for (uint32_t i = 0; i < dim->term_count; i++) {
        const DimTerm *term = &dim->terms[i];
        if (term->coefficient < 0) return false;
        for (uint32_t k = 0; k < term->atom_count; k++) {
            if (!monotone_atom(term->atoms[k])) return false;
        }
    }
    return true;
}

/* The values of all symbols at the upper corner of a bucket. */
static int64_t *corner(const Program *program, uint32_t bucket, Arena *arena) {
    int64_t *values = NEW_ARRAY(arena, int64_t, dim_symbol_count(program->ctx));
    for (size_t i = 0; i < program->dims.count; i++) {
        values[program->dims.data[i]->id] = program->buckets[bucket].hi[i];
    }
    return values;
}

/* A size that falls somewhere when dims rise is bounded by its interval. */
static int64_t bytes_at(const Program *program, const Type *type, const int64_t *values) {
    const Dim *bytes = type_bytes(program->ctx, type);
    int64_t value;
    return monotone(bytes) && dim_evaluate(bytes, values, &value) ? value : bytes->hi;
}

int64_t program_bytes(const Program *program, const Type *type, uint32_t bucket) {
    Scratch scratch;
    Arena *arena = scratch_open(&scratch);
    int64_t bytes = bytes_at(program, type, corner(program, bucket, arena));
    scratch_close(&scratch);
    return bytes;
}

/* ---- in place -------------------------------------------------------------------------------- */

static bool same_dims(const Type *a, const Type *b) {
    return a->rank == b->rank && !memcmp(a->dims, b->dims, a->rank * sizeof *a->dims);
}

static bool same_layout(const Type *a, const Type *b) {
    uint32_t bits = dtype_info(a->dtype)->bits;
    return bits >= 8 && bits == dtype_info(b->dtype)->bits && same_dims(a, b);
}

/* Whether only elementwise ops stand between the input and what uses it, so that it is read at the
 * index that is written. */
static bool reads_at_own_index(const Graph *region, NodeId input, bool *touches) {
    touches[input] = true;
    for (NodeId id = input + 1; id < region->nodes.count; id++) {
        const Node *node = graph_node(region, id);
        for (uint32_t k = 0; k < node->arg_count; k++) touches[id] |= touches[node->args[k]];
        if (touches[id] && !op_is_elementwise(node->op)) return false;
    }
    return true;
}

bool program_in_place(const Kernel *kernel, uint32_t input) {
    const Graph *region = kernel->region;
    if (!str_equal(*kernel->skeleton, STR("elementwise"))) return false;
    if (region->outputs.count != 1) return false;
    NodeId in = region->inputs.data[input];
    const Type *out = graph_type(region, region->outputs.data[0].node);
    if (!same_layout(graph_type(region, in), out)) return false;
    Scratch scratch;
    Arena *arena = scratch_open(&scratch);
    bool good = reads_at_own_index(region, in, NEW_ARRAY(arena, bool, region->nodes.count));
    scratch_close(&scratch);
    return good;
}

static bool same_place(const Program *program, const Buffer *a, const Buffer *b) {
    if (a == b) return true;
    if (a->kind != BUFFER_arena || b->kind != BUFFER_arena) return false;
    for (uint32_t i = 0; i < program->bucket_count; i++) {
        if (a->offset[i] == b->offset[i]) return true;
    }
    return false;
}

static void mark_aliases(const Program *program, const Launch *launch, bool *flags) {
    for (uint32_t i = 0; i < launch->buffer_count; i++) {
        const Buffer *a = &program->buffers.data[launch->buffers[i]];
        for (uint32_t k = 0; k < i; k++) {
            const Buffer *b = &program->buffers.data[launch->buffers[k]];
            if (same_place(program, a, b)) flags[i] = flags[k] = true;
        }
    }
}

void program_find_aliases(const Program *program, uint32_t kernel, bool *out_flags) {
    const Graph *region = program->kernels.data[kernel].region;
    memset(out_flags, 0, region->inputs.count + region->outputs.count);
    for (size_t i = 0; i < program->launches.count; i++) {
        const Launch *launch = &program->launches.data[i];
        if (launch->kernel == kernel) mark_aliases(program, launch, out_flags);
    }
}

/* ---- the verifier ---------------------------------------------------------------------------- */

typedef struct Verify {
    const Program *program;
    Arena *arena;
    const char *fault;
} Verify;

#define FAULT(v, ...) ((v)->fault = str_format((v)->arena, __VA_ARGS__).data, false)

static bool verify_names(Verify *v) {
    Map names = {.arena = v->arena};
    for (size_t i = 0; i < v->program->kernels.count; i++) {
        const Kernel *kernel = &v->program->kernels.data[i];
        Str name = *kernel->name;
        bool good = name.size && !(name.data[0] >= '0' && name.data[0] <= '9');
        for (size_t k = 0; k < name.size; k++) {
            char c = name.data[k];
            good = good && (c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                            (c >= 'A' && c <= 'Z'));
        }
        if (!good) return FAULT(v, "kernel %zu: \"%.*s\" is no C identifier", i, STR_ARG(name));
        if (map_set(&names, name, (void *)kernel)) {
            return FAULT(v, "two kernels have the name \"%.*s\"", STR_ARG(name));
        }
    }
    return true;
}

static const Type *slot_type(const Graph *region, uint32_t slot) {
    uint32_t inputs = (uint32_t)region->inputs.count;
    if (slot < inputs) return graph_type(region, region->inputs.data[slot]);
    return graph_type(region, region->outputs.data[slot - inputs].node);
}

static bool verify_read(Verify *v, size_t at, const Buffer *buffer, uint32_t index, bool written) {
    bool made = buffer->kind == BUFFER_input || buffer->kind == BUFFER_constant;
    if (!made && !written) return FAULT(v, "launch %zu reads b%u before it is written", at, index);
    bool ends = buffer->kind == BUFFER_arena && buffer->last_launch < at;
    return ends ? FAULT(v, "launch %zu reads b%u after its last launch", at, index) : true;
}

static bool verify_write(Verify *v, size_t at, const Buffer *buffer, uint32_t index, bool written) {
    if (written) return FAULT(v, "launch %zu writes b%u a second time", at, index);
    if (buffer->kind == BUFFER_input || buffer->kind == BUFFER_constant) {
        return FAULT(v, "launch %zu writes b%u, which is not its own", at, index);
    }
    bool wrong = buffer->kind == BUFFER_arena && buffer->first_launch != at;
    return wrong ? FAULT(v, "b%u does not begin with launch %zu", index, at) : true;
}

static bool verify_launch(Verify *v, size_t at, bool *written) {
    const Program *program = v->program;
    const Launch *launch = &program->launches.data[at];
    if (launch->kernel >= program->kernels.count) return FAULT(v, "launch %zu: no kernel", at);
    const Graph *region = program->kernels.data[launch->kernel].region;
    size_t inputs = region->inputs.count;
    if (launch->buffer_count != inputs + region->outputs.count) {
        return FAULT(v, "launch %zu has %u buffers", at, launch->buffer_count);
    }
    for (uint32_t i = 0; i < launch->buffer_count; i++) {
        uint32_t index = launch->buffers[i];
        if (index >= program->buffers.count) return FAULT(v, "launch %zu: no buffer", at);
        const Buffer *buffer = &program->buffers.data[index];
        if (buffer->type != slot_type(region, i)) {
            return FAULT(v, "launch %zu: b%u has not the type of operand %u", at, index, i);
        }
        bool good = i < inputs ? verify_read(v, at, buffer, index, written[index])
                               : verify_write(v, at, buffer, index, written[index]);
        if (!good) return false;
        written[index] |= i >= inputs;
    }
    return true;
}

static bool verify_outputs(Verify *v, const bool *written) {
    const Program *program = v->program;
    for (size_t i = 0; i < program->graph->outputs.count; i++) {
        uint32_t index = program->output_buffers[i];
        if (!written[index]) return FAULT(v, "output %zu is never written", i);
        const Buffer *buffer = &program->buffers.data[index];
        if (buffer->kind != BUFFER_output || buffer->index != i) {
            return FAULT(v, "b%u is not output %zu", index, i);
        }
    }
    return true;
}

/* ---- the plan of the arena ------------------------------------------------------------------- */

/* Whether b is the result that the last launch of a writes over it. */
static bool replaces(const Program *program, uint32_t a, uint32_t b) {
    const Buffer *old = &program->buffers.data[a], *new = &program->buffers.data[b];
    if (old->last_launch != new->first_launch) return false;
    const Launch *launch = &program->launches.data[old->last_launch];
    const Kernel *kernel = &program->kernels.data[launch->kernel];
    uint32_t inputs = (uint32_t)kernel->region->inputs.count;
    bool found = false;
    for (uint32_t i = 0; i < inputs; i++) {
        if (launch->buffers[i] != a) continue;
        if (!program_in_place(kernel, i)) return false;
        found = true;
    }
    return found && launch->buffers[inputs] == b;
}

static bool live_together(const Buffer *a, const Buffer *b) {
    return a->first_launch <= b->last_launch && b->first_launch <= a->last_launch;
}

static bool verify_pair(Verify *v, uint32_t bucket, const int64_t *bytes, uint32_t a, uint32_t b) {
    const Buffer *x = &v->program->buffers.data[a], *y = &v->program->buffers.data[b];
    if (y->kind != BUFFER_arena || !live_together(x, y)) return true;
    int64_t at = x->offset[bucket], other = y->offset[bucket];
    if (at >= other + bytes[b] || other >= at + bytes[a]) return true;
    bool replaced = replaces(v->program, a, b) || replaces(v->program, b, a);
    if (at == other && replaced) return true;
    return FAULT(v, "b%u and b%u overlap in bucket %u", a, b, bucket);
}

static bool verify_bucket(Verify *v, uint32_t bucket) {
    const Program *program = v->program;
    uint32_t count = (uint32_t)program->buffers.count;
    const int64_t *values = corner(program, bucket, v->arena);
    int64_t *bytes = NEW_ARRAY(v->arena, int64_t, count);
    for (uint32_t i = 0; i < count; i++) {
        const Buffer *buffer = &program->buffers.data[i];
        if (buffer->kind == BUFFER_arena) bytes[i] = bytes_at(program, buffer->type, values);
    }
    for (uint32_t i = 0; i < count; i++) {
        const Buffer *buffer = &program->buffers.data[i];
        if (buffer->kind != BUFFER_arena) continue;
        int64_t at = buffer->offset[bucket];
        if (at < 0 || at % BUFFER_ALIGNMENT) return FAULT(v, "b%u is not aligned", i);
        if (bytes[i] > program->buckets[bucket].arena_bytes - at) {
            return FAULT(v, "b%u ends outside the arena of bucket %u", i, bucket);
        }
        for (uint32_t k = i + 1; k < count; k++) {
            if (!verify_pair(v, bucket, bytes, i, k)) return false;
        }
    }
    return true;
}

/* Buckets grow, and the last one holds the whole range of every dim. */
static bool verify_ranges(Verify *v) {
    const Program *program = v->program;
    if (!program->bucket_count) return FAULT(v, "there is no bucket");
    for (size_t i = 0; i < program->dims.count; i++) {
        for (uint32_t b = 1; b < program->bucket_count; b++) {
            if (program->buckets[b].hi[i] >= program->buckets[b - 1].hi[i]) continue;
            return FAULT(v, "bucket %u is smaller than the one before it", b);
        }
        if (program->buckets[program->bucket_count - 1].hi[i] < program->dims.data[i]->hi) {
            return FAULT(v, "no bucket holds the greatest %.*s",
                         STR_ARG(program->dims.data[i]->name));
        }
    }
    return true;
}

const char *program_verify(const Program *program, Arena *arena) {
    Verify v = {.program = program, .arena = arena};
    bool *written = NEW_ARRAY(arena, bool, program->buffers.count);
    bool good = verify_names(&v) && verify_ranges(&v);
    for (size_t i = 0; good && i < program->launches.count; i++) {
        good = verify_launch(&v, i, written);
    }
    good = good && verify_outputs(&v, written);
    for (uint32_t b = 0; good && b < program->bucket_count; b++) good = verify_bucket(&v, b);
    return v.fault;
}
