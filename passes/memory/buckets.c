#include "passes/memory/buckets.h"

#include <math.h>
#include <string.h>

/* ---- which dims occur ------------------------------------------------------------------------ */

static void mark_dim(const Dim *dim, bool *used);

static void mark_atom(const DimAtom *atom, bool *used) {
    if (atom->kind == ATOM_symbol) {
        used[atom->symbol->id] = true;
        return;
    }
    mark_dim(atom->a, used);
    mark_dim(atom->b, used);
}

static void mark_dim(const Dim *dim, bool *used) {
    for (uint32_t i = 0; i < dim->term_count; i++) {
        const DimTerm *term = &dim->terms[i];
        for (uint32_t k = 0; k < term->atom_count; k++) mark_atom(term->atoms[k], used);
    }
}

static void mark_type(const Type *type, bool *used) {
    for (uint32_t i = 0; i < type->item_count; i++) mark_type(type->items[i], used);
    for (uint32_t i = 0; i < type->rank; i++) mark_dim(type->dims[i], used);
}

static void mark_attrs(const Node *node, bool *used) {
    const OpInfo *info = op_info(node->op);
    for (uint32_t i = 0; i < info->attr_count; i++) {
        if (info->attrs[i].kind == ATTR_dim) mark_dim(node->attrs[i].dim, used);
        if (info->attrs[i].kind != ATTR_dims) continue;
        const DimList *dims = node->attrs[i].dims;
        for (uint32_t k = 0; k < dims->count; k++) mark_dim(dims->items[k], used);
    }
}

static void mark_graph(const Graph *graph, bool *used) {
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const Node *node = &graph->nodes.data[i];
        mark_type(node->type, used);
        mark_attrs(node, used);
        for (uint32_t r = 0; r < node->region_count; r++) mark_graph(node->regions[r], used);
    }
    for (size_t i = 0; i < graph->checks.count; i++) {
        mark_dim(graph->checks.data[i].a, used);
        mark_dim(graph->checks.data[i].b, used);
    }
}

static void find_dims(Program *program, Arena *scratch) {
    uint32_t count = dim_symbol_count(program->ctx);
    bool *used = NEW_ARRAY(scratch, bool, count);
    mark_graph(program->graph, used);
    for (uint32_t i = 0; i < count; i++) {
        const DimSymbol *symbol = dim_symbol_at(program->ctx, i);
        if (used[i] && symbol->kind == SYMBOL_named) {
            vec_push(program->arena, &program->dims, symbol);
        }
    }
}

/* ---- buckets --------------------------------------------------------------------------------- */

/* The upper end of part `part` of the symbol's range in PROGRAM_MAX_BUCKETS geometric parts. */
static int64_t part_end(const DimSymbol *symbol, uint32_t part) {
    if (part + 1 == PROGRAM_MAX_BUCKETS) return symbol->hi;
    double lo = symbol->lo > 1 ? (double)symbol->lo : 1, hi = (double)symbol->hi;
    if (hi <= lo) return symbol->hi;
    double end = lo * pow(hi / lo, (part + 1.0) / PROGRAM_MAX_BUCKETS);
    return end < hi ? (int64_t)ceil(end - 1e-9) : symbol->hi;
}

void memory_find_buckets(Program *program, Arena *scratch) {
    find_dims(program, scratch);
    size_t count = program->dims.count, size = count * sizeof(int64_t);
    for (uint32_t part = 0; part < PROGRAM_MAX_BUCKETS; part++) {
        int64_t *hi = NEW_ARRAY(program->arena, int64_t, count);
        for (size_t i = 0; i < count; i++) hi[i] = part_end(program->dims.data[i], part);
        uint32_t last = program->bucket_count;
        if (last && (!size || !memcmp(program->buckets[last - 1].hi, hi, size))) continue;
        program->buckets[program->bucket_count++].hi = hi;
    }
}
