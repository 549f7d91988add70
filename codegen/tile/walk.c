#include "codegen/tile/walk.h"

const char *tile_op_name(TileOp op) {
    static const char *const names[TILE_op_count] = {
        [TILE_for] = "for",           [TILE_if] = "if",         [TILE_yield] = "yield",
        [TILE_load] = "load",         [TILE_store] = "store",   [TILE_const] = "const",
        [TILE_index] = "index",       [TILE_test] = "test",     [TILE_map] = "map",
        [TILE_move] = "move",         [TILE_reduce] = "reduce", [TILE_scan] = "scan",
        [TILE_dot] = "dot",           [TILE_sort] = "sort",     [TILE_random] = "random",
        [TILE_check] = "check",       [TILE_mma] = "mma",       [TILE_mma_store] = "mma_store",
        [TILE_prefetch] = "prefetch", [TILE_dot4] = "dot4",
    };
    return (uint32_t)op < TILE_op_count ? names[op] : "unknown";
}

/* ---- dims and symbols ------------------------------------------------------------------------ */

typedef struct Visit {
    void (*dim)(void *user, const Dim *dim);
    void *user;
} Visit;

static void visit(const Visit *v, const Dim *dim) {
    if (dim) v->dim(v->user, dim);
}

static void visit_block(const TileProgram *program, const TileBlock *block, const Visit *v) {
    for (size_t i = 0; i < block->instrs.count; i++) {
        const TileInstr *instr = block->instrs.data[i];
        uint32_t rank = instr->subscripts ? program->views.data[instr->view].rank : 0;
        for (uint32_t k = 0; k < rank; k++) visit(v, instr->subscripts[k]);
        for (uint32_t k = 0; k < instr->guard_count; k++) {
            visit(v, instr->guards[k].lo);
            visit(v, instr->guards[k].value);
            visit(v, instr->guards[k].hi);
        }
        visit(v, instr->from);
        visit(v, instr->to);
        visit(v, instr->value);
        for (uint32_t k = 0; k < instr->block_count; k++)
            visit_block(program, &instr->blocks[k], v);
    }
}

void tile_visit_dims(const TileProgram *program, void (*on_dim)(void *user, const Dim *dim),
                     void *user) {
    Visit v = {.dim = on_dim, .user = user};
    for (size_t i = 0; i < program->views.count; i++) {
        const TileView *view = &program->views.data[i];
        for (uint32_t k = 0; k < view->rank; k++) visit(&v, view->dims[k]);
    }
    for (uint32_t k = 0; k < program->work_rank; k++) visit(&v, program->work_extents[k]);
    for (size_t i = 0; i < program->values.count; i++) {
        const TileType *type = &program->values.data[i];
        for (uint32_t k = 0; k < type->rank; k++) visit(&v, type->extents[k]);
    }
    visit_block(program, &program->body, &v);
}

void tile_visit_symbols(const Dim *dim, void (*on_symbol)(void *user, const DimSymbol *symbol),
                        void *user) {
    for (uint32_t t = 0; t < dim->term_count; t++) {
        for (uint32_t k = 0; k < dim->terms[t].atom_count; k++) {
            const DimAtom *atom = dim->terms[t].atoms[k];
            if (atom->kind == ATOM_symbol) {
                on_symbol(user, atom->symbol);
            } else {
                tile_visit_symbols(atom->a, on_symbol, user);
                tile_visit_symbols(atom->b, on_symbol, user);
            }
        }
    }
}

typedef struct Binding {
    int64_t *env;
    const int64_t *symbols;
} Binding;

static void bind_symbol(void *user, const DimSymbol *symbol) {
    Binding *binding = user;
    if (symbol->kind != SYMBOL_index) binding->env[symbol->id] = binding->symbols[symbol->id];
}

static void bind_dim(void *user, const Dim *dim) { tile_visit_symbols(dim, bind_symbol, user); }

int64_t *tile_bind_symbols(const TileProgram *program, const int64_t *symbols, Arena *arena) {
    Binding binding = {.symbols = symbols};
    binding.env = NEW_ARRAY(arena, int64_t, dim_symbol_count(program->ctx));
    tile_visit_dims(program, bind_dim, &binding);
    return binding.env;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

const TileType *tile_shape_of(const TileProgram *program, const TileInstr *instr) {
    switch (instr->op) {
    case TILE_load:
    case TILE_index:
    case TILE_test: return tile_value_type(program, instr->result);
    case TILE_store:
    case TILE_check: return tile_value_type(program, instr->args[0]);
    default: return NULL;
    }
}

const DimSymbol *tile_find_axis(const TileProgram *program, const TileType *shape, uint32_t axis) {
    for (size_t i = 0; i < program->axes.count; i++) {
        const TileAxis *known = &program->axes.data[i];
        if (known->axis == axis && known->extent == shape->extents[axis]) return known->symbol;
    }
    return NULL;
}

bool tile_same_shape(const TileType *a, const TileType *b) {
    if (a->rank != b->rank || a->lanes != b->lanes) return false;
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->extents[i] != b->extents[i]) return false;
    }
    return true;
}

bool tile_same_type(const TileType *a, const TileType *b) {
    return a->dtype == b->dtype && tile_same_shape(a, b);
}
