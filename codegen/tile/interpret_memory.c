/* The interpreter of tile programs: memory. Every access is checked against its view; scratch must
 * have been stored in the same grid point; no grid point may touch what another one stores, since
 * points run in any order. */
#include "codegen/tile/interpret.h"

#define MAX_BYTES ((int64_t)1 << 40)

/* ---- views ----------------------------------------------------------------------------------- */

static bool run_view(Run *run, const TileView *view, Memory *memory) {
    int64_t bytes;
    memory->elements = 1;
    for (uint32_t i = 0; i < view->rank; i++) {
        if (!run_dim(run, view->dims[i], &memory->dims[i])) return false;
        if (memory->dims[i] < 0 ||
            __builtin_mul_overflow(memory->elements, memory->dims[i], &memory->elements))
            return run_fail(run, "%%%.*s: too many elements", STR_ARG(view->name));
    }
    if (!dtype_bytes(view->dtype, memory->elements, &bytes) || bytes > MAX_BYTES)
        return run_fail(run, "%%%.*s: too many elements", STR_ARG(view->name));
    if (view->space != SPACE_scratch) return true;
    memory->base = NEW_ARRAY(run->arena, char, (size_t)bytes);
    memory->written = NEW_ARRAY(run->arena, uint64_t, (size_t)memory->elements);
    return true;
}

/* The touches of an argument are those of its first view that is written; nobody counts the
 * others'. */
static void share_touches(Run *run, uint32_t at) {
    const TileView *views = run->program->views.data;
    for (uint32_t i = 0; i < run->program->views.count; i++) {
        bool same = views[i].space == SPACE_global && views[i].argument == views[at].argument;
        if (!same || !views[i].written) continue;
        Memory *first = &run->views[i];
        if (!first->touches) first->touches = NEW_ARRAY(run->arena, Touch, (size_t)first->elements);
        if (run->views[at].elements == first->elements) run->views[at].touches = first->touches;
        return;
    }
}

bool run_views(Run *run, void *const *buffers) {
    const TileProgram *program = run->program;
    run->views = NEW_ARRAY(run->arena, Memory, program->views.count);
    for (uint32_t i = 0; i < program->views.count; i++) {
        const TileView *view = &program->views.data[i];
        if (!run_view(run, view, &run->views[i])) return false;
        if (view->space != SPACE_scratch) run->views[i].base = buffers[view->argument];
    }
    for (uint32_t i = 0; i < program->views.count; i++) {
        if (program->views.data[i].space == SPACE_global) share_touches(run, i);
    }
    return true;
}

/* ---- accesses -------------------------------------------------------------------------------- */

static bool outside(Run *run, const TileInstr *instr, const int64_t *index) {
    const TileView *view = &run->program->views.data[instr->view];
    Buf buf = {.arena = run->arena};
    buf_print(&buf, "%%%.*s[", STR_ARG(view->name));
    for (uint32_t i = 0; i < view->rank; i++)
        buf_print(&buf, i > 0 ? ", %lld" : "%lld", (long long)index[i]);
    buf_put(&buf, STR("] is outside ["));
    for (uint32_t i = 0; i < view->rank; i++)
        buf_print(&buf, i > 0 ? ", %lld" : "%lld", (long long)run->views[instr->view].dims[i]);
    return run_fail(run, "%s]", buf_str(&buf).data);
}

/* The element of the view that tile element n touches. */
static bool locate(Run *run, const TileInstr *instr, int64_t n, int64_t *out_index) {
    const Memory *memory = &run->views[instr->view];
    uint32_t rank = run->program->views.data[instr->view].rank;
    int64_t index[TYPE_MAX_RANK];
    bool inside = true;
    *out_index = 0;
    for (uint32_t i = 0; i < rank; i++) {
        if (!run_dim(run, instr->subscripts[i], &index[i])) return false;
        if (instr->at && instr->at[i] != TILE_none) {
            const Value *at = &run->values[instr->at[i]];
            int64_t added = at->cells[at->count == 1 ? 0 : n].i;
            if (__builtin_add_overflow(index[i], added, &index[i])) index[i] = -1;
        }
        inside &= 0 <= index[i] && index[i] < memory->dims[i];
        if (inside) *out_index = *out_index * memory->dims[i] + index[i];
    }
    return inside || outside(run, instr, index);
}

/* Scratch that this point has not stored holds nothing. */
static bool is_stored(Run *run, uint32_t view, int64_t index) {
    const Memory *memory = &run->views[view];
    if (!memory->written || memory->written[index] == run->point) return true;
    return run_fail(run, "%%%.*s: element %lld is read before it is stored",
                    STR_ARG(run->program->views.data[view].name), (long long)index);
}

/* Neighbours of 4 bits share a byte but not a touch: lowerings store nibbles without disturbing the
 * other one. */
static Touch *touch_of(const Run *run, uint32_t view, int64_t index) {
    Touch *touches = run->views[view].touches;
    return touches ? &touches[index] : NULL;
}

static bool note_read(Run *run, uint32_t view, int64_t index) {
    Touch *touch = touch_of(run, view, index);
    if (!touch) return true;
    if (touch->writer && touch->writer != (uint32_t)run->point)
        return run_fail(run, "%%%.*s: element %lld is read by one grid point and stored by another",
                        STR_ARG(run->program->views.data[view].name), (long long)index);
    touch->reader = (uint32_t)run->point;
    return true;
}

static bool note_write(Run *run, uint32_t view, int64_t index) {
    uint32_t point = (uint32_t)run->point;
    Touch *touch = touch_of(run, view, index);
    if (run->views[view].written) run->views[view].written[index] = run->point;
    if (!touch) return true;
    bool alone =
        (!touch->writer || touch->writer == point) && (!touch->reader || touch->reader == point);
    touch->writer = point;
    return alone || run_fail(run, "%%%.*s: element %lld is touched by two grid points",
                             STR_ARG(run->program->views.data[view].name), (long long)index);
}

static TileCell pad_of(const TileInstr *instr, DType dtype) {
    if (dtype_is_float(dtype)) return (TileCell){.f = cell_round(dtype, instr->number)};
    return (TileCell){.i = cell_wrap(dtype, instr->integer)};
}

/* The element, or the word of four that begins there. */
static bool load_element(Run *run, const TileInstr *instr, int64_t index, TileCell *out) {
    DType dtype = run->program->views.data[instr->view].dtype;
    bool words = tile_takes_words(tile_value_type(run->program, instr->result)->dtype, dtype);
    uint32_t word = 0;
    for (int byte = 0; byte < (words ? 4 : 1); byte++) {
        if (!is_stored(run, instr->view, index + byte) ||
            !note_read(run, instr->view, index + byte))
            return false;
        *out = cell_load(dtype, run->views[instr->view].base, index + byte);
        word |= (uint32_t)(out->i & 255) << 8 * byte;
    }
    if (words) out->i = cell_wrap(DT_i32, word);
    return true;
}

bool run_load(Run *run, const TileInstr *instr) {
    Shape shape;
    TileCell *cells = run_result(run, instr, &shape);
    DType dtype = run->program->views.data[instr->view].dtype;
    if (!cells) return false;
    for (int64_t n = 0; n < shape.count; n++) {
        bool holds;
        int64_t index;
        run_at_element(run, &shape, n);
        if (!run_guards(run, instr, &holds)) return false;
        cells[n] = pad_of(instr, dtype);
        if (!holds) continue;
        if (!locate(run, instr, n, &index) || !load_element(run, instr, index, &cells[n]))
            return false;
    }
    return true;
}

static bool store_element(Run *run, const TileInstr *instr, int64_t index, TileCell cell) {
    DType dtype = run->program->views.data[instr->view].dtype;
    void *base = run->views[instr->view].base;
    if (instr->scalar != OP_none) {
        if (!is_stored(run, instr->view, index) || !note_read(run, instr->view, index))
            return false;
        TileCell pair[2] = {cell_load(dtype, base, index), cell};
        if (!cell_apply(instr->scalar, dtype, pair, &cell))
            return run_fail(run, "store: no such op for %s", dtype_name(dtype));
    }
    cell_store(dtype, base, index, cell);
    return note_write(run, instr->view, index);
}

bool run_store(Run *run, const TileInstr *instr) {
    Shape shape;
    if (!run_shape(run, tile_value_type(run->program, instr->args[0]), &shape)) return false;
    const TileCell *cells = run_arg(run, instr, 0);
    for (int64_t n = 0; n < shape.count; n++) {
        bool holds;
        int64_t index;
        run_at_element(run, &shape, n);
        if (!run_guards(run, instr, &holds)) return false;
        if (!holds) continue;
        if (!locate(run, instr, n, &index) || !store_element(run, instr, index, cells[n]))
            return false;
    }
    return true;
}

/* ---- sort ------------------------------------------------------------------------------------ */

/* Merges the sorted runs [lo, mid) and [mid, hi) of keys and indices into the other pair of arrays.
 */
static void merge(const TileInstr *instr, DType dtype, TileCell *const from[2],
                  TileCell *const to[2], int64_t lo, int64_t mid, int64_t hi) {
    int64_t left = lo, right = mid;
    for (int64_t n = lo; n < hi; n++) {
        bool take_right = left == mid;
        if (left < mid && right < hi) {
            TileCell a = from[0][left], b = from[0][right];
            take_right =
                instr->descending ? cell_sorts_before(dtype, a, b) : cell_sorts_before(dtype, b, a);
        }
        int64_t source = take_right ? right++ : left++;
        to[0][n] = from[0][source];
        to[1][n] = from[1][source];
    }
}

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

/* Bottom up; the sorted arrays end in from[0] and from[1]. */
static void merge_sort(const TileInstr *instr, DType dtype, TileCell *from[2], TileCell *to[2],
                       int64_t count) {
    for (int64_t width = 1; width < count; width *= 2) {
        for (int64_t lo = 0; lo < count; lo += 2 * width)
            merge(instr, dtype, from, to, lo, lesser(lo + width, count),
                  lesser(lo + 2 * width, count));
        for (int i = 0; i < 2; i++) {
            TileCell *swap = from[i];
            from[i] = to[i];
            to[i] = swap;
        }
    }
}

bool run_sort(Run *run, const TileInstr *instr) {
    int64_t count;
    if (!run_dim(run, instr->value, &count)) return false;
    DType dtypes[2] = {run->program->views.data[instr->views[0]].dtype, DT_i64};
    for (uint32_t i = 0; i < 4; i++) {
        if (count < 0 || count > run->views[instr->views[i]].dims[0])
            return run_fail(run, "sort: %lld keys do not fit", (long long)count);
    }
    TileCell *line = value_resize(run, &run->line, 2 * (size_t)count);
    TileCell *spare = value_resize(run, &run->spare, 2 * (size_t)count);
    TileCell *from[2] = {line, line + count}, *to[2] = {spare, spare + count};
    for (int64_t n = 0; n < count; n++) {
        for (int i = 0; i < 2; i++) {
            if (!is_stored(run, instr->views[i], n)) return false;
            from[i][n] = cell_load(dtypes[i], run->views[instr->views[i]].base, n);
        }
    }
    merge_sort(instr, dtypes[0], from, to, count);
    for (int64_t n = 0; n < count; n++) {
        for (int i = 0; i < 2; i++) {
            cell_store(dtypes[i], run->views[instr->views[i]].base, n, from[i][n]);
            if (instr->views[i + 2] != instr->views[i])
                run->views[instr->views[i + 2]].written[n] = 0;
        }
    }
    return true;
}

/* ---- matrix products: the sums of row i and column j are element i · N + j ------------------- */

/* The sum over k of row i of a and row j of b, with what was there before. */
static bool add_row(Run *run, const TileInstr *instr, int64_t i, int64_t j, int64_t k,
                    TileCell *sum) {
    const Memory *a = &run->views[instr->views[0]], *b = &run->views[instr->views[1]];
    DType dtype = run->program->views.data[instr->views[0]].dtype;
    long double number = sum->f;
    int64_t integer = sum->i;
    for (int64_t n = 0; n < k; n++) {
        int64_t at = i * a->dims[1] + n, bt = j * b->dims[1] + n;
        if (!is_stored(run, instr->views[0], at) || !is_stored(run, instr->views[1], bt))
            return false;
        TileCell x = cell_load(dtype, a->base, at), y = cell_load(dtype, b->base, bt);
        if (dtype_is_float(dtype))
            number += (long double)x.f * (long double)y.f;
        else
            integer = cell_wrap(DT_i32, integer + x.i * y.i);
    }
    if (dtype_is_float(dtype))
        sum->f = cell_round(DT_f32, number);
    else
        sum->i = integer;
    return true;
}

bool run_mma(Run *run, const TileInstr *instr) {
    Shape shape;
    int64_t k = 0, columns = run->views[instr->views[1]].dims[0];
    TileCell *cells = run_result(run, instr, &shape);
    if (!cells || !run_dim(run, instr->value, &k)) return false;
    for (int64_t n = 0; n < shape.count; n++) {
        cells[n] = run_arg(run, instr, 0)[n];
        if (!add_row(run, instr, n / columns, n % columns, k, &cells[n])) return false;
    }
    return true;
}

bool run_mma_store(Run *run, const TileInstr *instr) {
    const TileType *type = tile_value_type(run->program, instr->args[0]);
    Memory *memory = &run->views[instr->views[0]];
    for (int64_t n = 0; n < memory->elements; n++) {
        cell_store(type->dtype, memory->base, n, run_arg(run, instr, 0)[n]);
        memory->written[n] = run->point;
    }
    return true;
}
