/* Tile programs as text. Values are numbered in the order in which building the text again makes
 * them, so that what is read back prints the same. */
#include "codegen/tile/text.h"
#include "codegen/tile/tile_tools.h"
#include "codegen/tile/walk.h"

#include <math.h>
#include <stdlib.h>

typedef struct Printer {
    Buf *buf;
    const TileProgram *program;
    uint32_t *numbers; /* by value */
    uint32_t next;
    uint32_t depth;
} Printer;

const char *tile_space_name(TileSpace space) {
    static const char *const names[] = {"global", "constant", "scratch"};
    return names[space];
}

/* ---- numbering ------------------------------------------------------------------------------- */

static void number(Printer *p, TileId first, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) p->numbers[first + i] = p->next++;
}

static void number_block(Printer *p, const TileBlock *block) {
    for (size_t i = 0; i < block->instrs.count; i++) {
        const TileInstr *instr = block->instrs.data[i];
        if (instr->op == TILE_for) number(p, instr->carried, instr->arg_count);
        for (uint32_t k = 0; k < instr->block_count; k++) number_block(p, &instr->blocks[k]);
        number(p, instr->result, instr->result_count);
    }
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void text(Printer *p, const char *s) { buf_put(p->buf, str_from(s)); }

static void put_dims(Printer *p, const Dim *const *dims, uint32_t count) {
    buf_char(p->buf, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) text(p, ", ");
        tile_put_dim(p->buf, dims[i]);
    }
    buf_char(p->buf, ']');
}

static void put_value(Printer *p, TileId id) { buf_print(p->buf, "%%%u", p->numbers[id]); }

static void put_values(Printer *p, const TileId *ids, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        text(p, i > 0 ? ", " : " ");
        put_value(p, ids[i]);
    }
}

static void put_view_name(Printer *p, uint32_t view) {
    buf_print(p->buf, "%%%.*s", STR_ARG(p->program->views.data[view].name));
}

static void put_type(Printer *p, TileId id) {
    const TileType *type = &p->program->values.data[id];
    buf_print(p->buf, " : tile<%s ", dtype_name(type->dtype));
    put_dims(p, type->extents, type->rank);
    if (type->lanes > 1) buf_print(p->buf, " lanes=%u", type->lanes);
    buf_char(p->buf, '>');
}

/* Hexadecimal, so that it reads back to the same bits; not by printf, whose point depends on the
 * locale. */
static void put_hex(Printer *p, double value) {
    int exponent = 0;
    uint64_t digits = (uint64_t)ldexp(frexp(fabs(value), &exponent), 53);
    buf_print(p->buf, "%s0x%u", signbit(value) ? "-" : "", digits ? 1u : 0u);
    digits &= (1ull << 52) - 1;
    if (digits != 0) buf_char(p->buf, '.');
    for (; digits != 0; digits = digits << 4 & ((1ull << 52) - 1))
        buf_char(p->buf, "0123456789abcdef"[digits >> 48]);
    buf_print(p->buf, "p%+d", value == 0 ? 0 : exponent - 1);
}

static void put_float(Printer *p, double value) {
    if (isnan(value))
        text(p, "nan");
    else if (isinf(value))
        text(p, value < 0 ? "-inf" : "inf");
    else
        put_hex(p, value);
}

static void put_number(Printer *p, const TileInstr *instr, DType dtype) {
    if (dtype_is_float(dtype))
        put_float(p, instr->number);
    else
        buf_print(p->buf, "%lld", (long long)instr->integer);
}

static void put_guards(Printer *p, const TileInstr *instr) {
    for (uint32_t i = 0; i < instr->guard_count; i++) {
        const TileGuard *guard = &instr->guards[i];
        text(p, i > 0 ? " and " : " ");
        tile_put_dim(p->buf, guard->lo);
        text(p, " <= ");
        tile_put_dim(p->buf, guard->value);
        text(p, " < ");
        tile_put_dim(p->buf, guard->hi);
    }
    if (instr->guard_count == 0) text(p, " true");
}

static void put_where(Printer *p, const TileInstr *instr) {
    if (instr->guard_count == 0) return;
    text(p, " where");
    put_guards(p, instr);
}

/* %4, %4 + %c, %4 - 1: an index tile stands before the rest of its subscript. */
static void put_indexed(Printer *p, TileId at, const Dim *subscript) {
    Buf rest = {.arena = p->buf->arena};
    put_value(p, at);
    if (dim_equals_int(subscript, 0)) return;
    tile_put_dim(&rest, subscript);
    Str added = buf_str(&rest);
    bool minus = added.data[0] == '-';
    buf_print(p->buf, minus ? " - %.*s" : " + %.*s", (int)(added.size - minus), added.data + minus);
}

static void put_access(Printer *p, const TileInstr *instr) {
    put_view_name(p, instr->view);
    buf_char(p->buf, '[');
    for (uint32_t i = 0; i < p->program->views.data[instr->view].rank; i++) {
        bool indexed = instr->at && instr->at[i] != TILE_none;
        if (i > 0) text(p, ", ");
        if (indexed)
            put_indexed(p, instr->at[i], instr->subscripts[i]);
        else
            tile_put_dim(p->buf, instr->subscripts[i]);
    }
    buf_char(p->buf, ']');
}

/* ---- instructions ---------------------------------------------------------------------------- */

static void put_block(Printer *p, const TileBlock *block);

static void put_for(Printer *p, const TileInstr *loop) {
    buf_print(p->buf, "for %.*s in ", STR_ARG(loop->variable->name));
    tile_put_dim(p->buf, loop->from);
    text(p, "..");
    tile_put_dim(p->buf, loop->to);
    if (loop->step != 1) buf_print(p->buf, " step %lld", (long long)loop->step);
    if (loop->unroll > 1) buf_print(p->buf, " unroll %u", loop->unroll);
    if (loop->arg_count > 0) text(p, " iter (");
    for (uint32_t i = 0; i < loop->arg_count; i++) {
        if (i > 0) text(p, ", ");
        put_value(p, loop->carried + i);
        text(p, " = ");
        put_value(p, loop->args[i]);
    }
    text(p, loop->arg_count > 0 ? ") " : " ");
    put_block(p, &loop->blocks[0]);
}

static void put_if(Printer *p, const TileInstr *branch) {
    text(p, "if");
    put_guards(p, branch);
    buf_char(p->buf, ' ');
    put_block(p, &branch->blocks[0]);
    if (branch->result_count == 0 && branch->blocks[1].instrs.count <= 1) return;
    text(p, " else ");
    put_block(p, &branch->blocks[1]);
}

static void put_load(Printer *p, const TileInstr *instr) {
    DType dtype = p->program->values.data[instr->result].dtype;
    bool zero =
        dtype_is_float(dtype) ? instr->number == 0 && !signbit(instr->number) : instr->integer == 0;
    text(p, "load ");
    put_access(p, instr);
    put_where(p, instr);
    if (!zero) text(p, " pad=");
    if (!zero) put_number(p, instr, dtype);
    if (instr->ahead > 0) buf_print(p->buf, " ahead=%lld", (long long)instr->ahead);
    put_type(p, instr->result);
}

static void put_store(Printer *p, const TileInstr *instr) {
    text(p, "store");
    put_values(p, instr->args, 1);
    text(p, ", ");
    put_access(p, instr);
    put_where(p, instr);
    if (instr->scalar != OP_none) buf_print(p->buf, " combine=%s", op_info(instr->scalar)->name);
    if (instr->streaming) text(p, " streaming");
}

static void put_prefetch(Printer *p, const TileInstr *instr) {
    text(p, "prefetch ");
    put_access(p, instr);
}

static void put_map(Printer *p, const TileInstr *instr) {
    text(p, op_info(instr->scalar)->name);
    if (instr->scalar == OP_cast)
        buf_print(p->buf, " %s", dtype_name(p->program->values.data[instr->result].dtype));
    put_values(p, instr->args, instr->arg_count);
    if (instr->nonpositive) text(p, " nonpositive");
}

static void put_move(Printer *p, const TileInstr *instr) {
    text(p, "move");
    put_values(p, instr->args, 1);
    text(p, " axes=[");
    for (uint32_t i = 0; i < p->program->values.data[instr->args[0]].rank; i++)
        buf_print(p->buf, i > 0 ? ", %u" : "%u", instr->axes[i]);
    buf_char(p->buf, ']');
    put_type(p, instr->result);
}

static void put_accumulation(Printer *p, const TileInstr *instr) {
    buf_print(p->buf, "%s %s", tile_op_name(instr->op), op_info(instr->scalar)->name);
    put_values(p, instr->args, 1);
    buf_print(p->buf, " axis=%u", instr->axis);
    if (instr->ignores_nan) text(p, " ignores_nan");
    if (instr->exclusive) text(p, " exclusive");
    if (instr->reverse) text(p, " reverse");
}

static void put_sort(Printer *p, const TileInstr *instr) {
    text(p, "sort ");
    for (uint32_t i = 0; i < 4; i++) {
        if (i > 0) text(p, ", ");
        put_view_name(p, instr->views[i]);
    }
    text(p, " count=");
    tile_put_dim(p->buf, instr->value);
    if (instr->descending) text(p, " descending");
}

static void put_mma(Printer *p, const TileInstr *instr) {
    text(p, "mma");
    put_values(p, instr->args, 1);
    for (uint32_t i = 0; i < 2; i++) {
        text(p, ", ");
        put_view_name(p, instr->views[i]);
    }
    text(p, " k=");
    tile_put_dim(p->buf, instr->value);
}

static void put_mma_store(Printer *p, const TileInstr *instr) {
    text(p, "mma_store");
    put_values(p, instr->args, 1);
    text(p, ", ");
    put_view_name(p, instr->views[0]);
}

static void put_check(Printer *p, const TileInstr *instr) {
    text(p, "check");
    put_values(p, instr->args, 1);
    text(p, " bound=");
    tile_put_dim(p->buf, instr->value);
    put_where(p, instr);
}

static void put_const(Printer *p, const TileInstr *instr) {
    text(p, "const ");
    put_number(p, instr, p->program->values.data[instr->result].dtype);
    put_type(p, instr->result);
}

static void put_index(Printer *p, const TileInstr *instr) {
    text(p, "index ");
    tile_put_dim(p->buf, instr->value);
    put_type(p, instr->result);
}

static void put_test(Printer *p, const TileInstr *instr) {
    text(p, "test");
    put_guards(p, instr);
    put_type(p, instr->result);
}

/* dot, yield */
static void put_plain(Printer *p, const TileInstr *instr) {
    text(p, tile_op_name(instr->op));
    put_values(p, instr->args, instr->arg_count);
}

static void put_random(Printer *p, const TileInstr *instr) {
    put_plain(p, instr);
    buf_print(p->buf, " stream=%lld", (long long)instr->integer);
}

static void (*const put_op[TILE_op_count])(Printer *p, const TileInstr *instr) = {
    [TILE_for] = put_for,           [TILE_if] = put_if,
    [TILE_yield] = put_plain,       [TILE_load] = put_load,
    [TILE_store] = put_store,       [TILE_prefetch] = put_prefetch,
    [TILE_const] = put_const,       [TILE_index] = put_index,
    [TILE_test] = put_test,         [TILE_map] = put_map,
    [TILE_move] = put_move,         [TILE_reduce] = put_accumulation,
    [TILE_scan] = put_accumulation, [TILE_dot] = put_plain,
    [TILE_dot4] = put_plain,        [TILE_sort] = put_sort,
    [TILE_random] = put_random,     [TILE_check] = put_check,
    [TILE_mma] = put_mma,           [TILE_mma_store] = put_mma_store,
};

static void indent(Printer *p) {
    buf_char(p->buf, '\n');
    for (uint32_t i = 0; i < p->depth; i++) text(p, "  ");
}

static void put_block(Printer *p, const TileBlock *block) {
    buf_char(p->buf, '{');
    p->depth++;
    for (size_t i = 0; i < block->instrs.count; i++) {
        const TileInstr *instr = block->instrs.data[i];
        if (instr->op == TILE_yield && instr->arg_count == 0) continue;
        indent(p);
        for (uint32_t k = 0; k < instr->result_count; k++) {
            if (k > 0) text(p, ", ");
            put_value(p, instr->result + k);
        }
        if (instr->result_count > 0) text(p, " = ");
        put_op[instr->op](p, instr);
    }
    p->depth--;
    indent(p);
    buf_char(p->buf, '}');
}

/* ---- programs -------------------------------------------------------------------------------- */

typedef struct SymbolList {
    Arena *arena;
    VEC(const DimSymbol *) symbols;
} SymbolList;

static void collect_symbol(void *user, const DimSymbol *symbol) {
    SymbolList *list = user;
    bool known = symbol->kind == SYMBOL_index;
    for (size_t i = 0; !known && i < list->symbols.count; i++)
        known = list->symbols.data[i] == symbol;
    if (known) return;
    if (symbol->limit) tile_visit_symbols(symbol->limit, collect_symbol, user);
    vec_push(list->arena, &list->symbols, symbol);
}

static void collect_dim(void *user, const Dim *dim) {
    tile_visit_symbols(dim, collect_symbol, user);
}

/* Dims of the model first, by name; then bound ones, whose limits may name the others. */
static int compare_symbols(const void *a, const void *b) {
    const DimSymbol *x = *(const DimSymbol *const *)a, *y = *(const DimSymbol *const *)b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return str_compare(x->name, y->name);
}

static void put_symbols(Printer *p) {
    SymbolList list = {.arena = p->buf->arena};
    tile_visit_dims(p->program, collect_dim, &list);
    if (list.symbols.count == 0) return;
    qsort(list.symbols.data, list.symbols.count, sizeof *list.symbols.data, compare_symbols);
    for (size_t i = 0; i < list.symbols.count; i++) {
        const DimSymbol *symbol = list.symbols.data[i];
        buf_print(p->buf, "dim %.*s in %lld..%lld tune %lld", STR_ARG(symbol->name),
                  (long long)symbol->lo, (long long)symbol->hi, (long long)symbol->tune);
        if (symbol->kind == SYMBOL_bound) text(p, " bound");
        if (symbol->limit) text(p, " below ");
        if (symbol->limit) tile_put_dim(p->buf, symbol->limit);
        buf_char(p->buf, '\n');
    }
}

static void put_alignment(Printer *p, const TileView *view) {
    if (view->alignment != (dtype_info(view->dtype)->bits + 7) / 8)
        buf_print(p->buf, " align=%u", view->alignment);
}

static void put_arguments(Printer *p) {
    uint32_t expected = 0;
    for (uint32_t i = 0; i < p->program->views.count; i++) {
        const TileView *view = &p->program->views.data[i];
        if (view->space == SPACE_scratch) continue;
        if (expected > 0) text(p, ", ");
        put_view_name(p, i);
        buf_print(p->buf, ": view<%s %s ", tile_space_name(view->space), dtype_name(view->dtype));
        put_dims(p, view->dims, view->rank);
        buf_char(p->buf, '>');
        if (view->argument != expected) buf_print(p->buf, " arg=%u", view->argument);
        put_alignment(p, view);
        if (view->written) text(p, " out");
        expected++;
    }
}

static void put_scratch(Printer *p) {
    for (uint32_t i = 0; i < p->program->views.count; i++) {
        const TileView *view = &p->program->views.data[i];
        if (view->space != SPACE_scratch) continue;
        text(p, "  ");
        put_view_name(p, i);
        buf_print(p->buf, " = alloc scratch %s ", dtype_name(view->dtype));
        put_dims(p, view->dims, view->rank);
        put_alignment(p, view);
        buf_char(p->buf, '\n');
    }
}

void tile_print(Buf *buf, const TileProgram *program) {
    Printer p = {.buf = buf, .program = program, .depth = 1};
    p.numbers = NEW_ARRAY(buf->arena, uint32_t, program->values.count);
    number_block(&p, &program->body);
    text(&p, "tile 1\n");
    put_symbols(&p);
    buf_print(buf, "kernel @%.*s(", STR_ARG(program->name));
    put_arguments(&p);
    text(&p, program->state == TILE_placed ? ") placed {\n" : ") free {\n");
    put_scratch(&p);
    text(&p, "  work");
    for (uint32_t i = 0; i < program->work_rank; i++)
        buf_print(buf, i > 0 ? ", %.*s" : " %.*s", STR_ARG(program->work[i]->name));
    if (program->work_rank > 0) text(&p, " in ");
    if (program->work_rank > 0) put_dims(&p, program->work_extents, program->work_rank);
    buf_char(buf, ' ');
    put_block(&p, &program->body);
    text(&p, "\n}\n");
}
