/* The interpreter of tile programs: the ops that compute. */
#include "codegen/tile/interpret.h"

#include "base/guard.h"

static DType dtype_of(const Run *run, TileId id) {
    return tile_value_type(run->program, id)->dtype;
}

static bool run_const(Run *run, const TileInstr *instr) {
    Shape shape;
    TileCell *cells = run_result(run, instr, &shape);
    DType dtype = dtype_of(run, instr->result);
    if (!cells) return false;
    for (int64_t n = 0; n < shape.count; n++) {
        if (dtype_is_float(dtype))
            cells[n].f = cell_round(dtype, instr->number);
        else
            cells[n].i = cell_wrap(dtype, instr->integer);
    }
    return true;
}

static bool run_index(Run *run, const TileInstr *instr) {
    Shape shape;
    TileCell *cells = run_result(run, instr, &shape);
    if (!cells) return false;
    for (int64_t n = 0; n < shape.count; n++) {
        run_at_element(run, &shape, n);
        if (!run_dim(run, instr->value, &cells[n].i)) return false;
    }
    return true;
}

static bool run_test(Run *run, const TileInstr *instr) {
    Shape shape;
    TileCell *cells = run_result(run, instr, &shape);
    if (!cells) return false;
    for (int64_t n = 0; n < shape.count; n++) {
        bool holds;
        run_at_element(run, &shape, n);
        if (!run_guards(run, instr, &holds)) return false;
        cells[n].i = holds;
    }
    return true;
}

static bool run_map(Run *run, const TileInstr *instr) {
    Shape shape;
    TileCell *cells = run_result(run, instr, &shape);
    DType dtype = dtype_of(run, instr->args[instr->scalar == OP_select ? 1 : 0]);
    if (!cells) return false;
    for (int64_t n = 0; n < shape.count; n++) {
        TileCell args[3];
        for (uint32_t i = 0; i < instr->arg_count && i < 3; i++)
            args[i] = run_arg(run, instr, i)[n];
        if (instr->scalar == OP_cast)
            cells[n] = cell_cast(dtype, dtype_of(run, instr->result), args[0]);
        else if (!cell_apply(instr->scalar, dtype, args, &cells[n]))
            return run_fail(run, "%s: no such op for %s", op_info(instr->scalar)->name,
                            dtype_name(dtype));
    }
    return true;
}

static bool run_move(Run *run, const TileInstr *instr) {
    Shape shape, from;
    TileCell *cells = run_result(run, instr, &shape);
    if (!cells || !run_shape(run, tile_value_type(run->program, instr->args[0]), &from))
        return false;
    for (int64_t n = 0; n < shape.count; n++) {
        int64_t index[TILE_MAX_RANK] = {0}, rest = n, source = 0;
        for (uint32_t i = shape.rank; i-- > 0; rest /= shape.extents[i])
            index[i] = rest % shape.extents[i];
        for (uint32_t i = 0; i < from.rank; i++)
            source = source * from.extents[i] + index[instr->axes[i]];
        cells[n] = run_arg(run, instr, 0)[source];
    }
    return true;
}

/* ---- reductions ------------------------------------------------------------------------------ */

/* The elements along the axis stand `stride` apart, in rows of `extent`. */
typedef struct Lines {
    int64_t extent, stride, count;
} Lines;

static Lines lines_of(const Shape *shape, uint32_t axis) {
    Lines lines = {.extent = shape->extents[axis], .stride = 1, .count = 1};
    for (uint32_t i = 0; i < shape->rank; i++) {
        if (i > axis) lines.stride *= shape->extents[i];
        if (i != axis) lines.count *= shape->extents[i];
    }
    return lines;
}

static int64_t line_start(const Lines *lines, int64_t line) {
    return line / lines->stride * lines->stride * lines->extent + line % lines->stride;
}

static bool combine(Run *run, Op op, DType dtype, TileCell a, TileCell b, TileCell *out) {
    return cell_apply(op, dtype, (TileCell[]){a, b}, out) ||
           run_fail(run, "%s: no such op for %s", op_info(op)->name, dtype_name(dtype));
}

/* In the order that tile.h defines. */
static bool fold(Run *run, Op op, DType dtype, TileCell *cells, int64_t count, TileCell *out) {
    bool halves = (count & (count - 1)) == 0;
    if (!cell_unit(op, dtype, out)) return run_fail(run, "%s cannot reduce", op_info(op)->name);
    if (count == 0) return true;
    for (int64_t half = count / 2; halves && half > 0; half /= 2) {
        for (int64_t i = 0; i < half; i++) {
            if (!combine(run, op, dtype, cells[i], cells[i + half], &cells[i])) return false;
        }
    }
    for (int64_t i = 1; !halves && i < count; i++) {
        if (!combine(run, op, dtype, cells[0], cells[i], &cells[0])) return false;
    }
    *out = cells[0];
    return true;
}

static bool run_reduce(Run *run, const TileInstr *instr) {
    Shape shape, result;
    DType dtype = dtype_of(run, instr->result);
    TileCell *cells = run_result(run, instr, &result);
    if (!cells || !run_shape(run, tile_value_type(run->program, instr->args[0]), &shape))
        return false;
    Lines lines = lines_of(&shape, instr->axis);
    TileCell *line = value_resize(run, &run->line, (size_t)lines.extent);
    for (int64_t n = 0; n < lines.count; n++) {
        const TileCell *from = run_arg(run, instr, 0) + line_start(&lines, n);
        for (int64_t i = 0; i < lines.extent; i++) line[i] = from[i * lines.stride];
        if (!fold(run, instr->scalar, dtype, line, lines.extent, &cells[n])) return false;
    }
    return true;
}

static bool run_scan(Run *run, const TileInstr *instr) {
    Shape shape;
    DType dtype = dtype_of(run, instr->result);
    TileCell *cells = run_result(run, instr, &shape);
    if (!cells) return false;
    Lines lines = lines_of(&shape, instr->axis);
    for (int64_t n = 0; n < lines.count; n++) {
        int64_t start = line_start(&lines, n);
        TileCell sum;
        if (!cell_unit(instr->scalar, dtype, &sum)) return run_fail(run, "scan: no such op");
        for (int64_t i = 0; i < lines.extent; i++) {
            int64_t place = instr->reverse ? lines.extent - 1 - i : i;
            int64_t at = start + place * lines.stride;
            TileCell next = run_arg(run, instr, 0)[at];
            if (instr->exclusive) cells[at] = sum;
            if (i == 0)
                sum = next;
            else if (!combine(run, instr->scalar, dtype, sum, next, &sum))
                return false;
            if (!instr->exclusive) cells[at] = sum;
        }
    }
    return true;
}

static bool run_dot(Run *run, const TileInstr *instr) {
    Shape shape;
    TileCell *cells = run_result(run, instr, &shape);
    DType dtype = dtype_of(run, instr->result);
    if (!cells) return false;
    const TileCell *acc = run_arg(run, instr, 0), *a = run_arg(run, instr, 1);
    const TileCell *b = run_arg(run, instr, 2);
    bool each = tile_value_type(run->program, instr->args[1])->rank == shape.rank;
    for (int64_t n = 0; n < shape.count; n++) {
        int64_t columns = each ? 1 : shape.extents[1];
        cells[n] =
            cell_multiply_add(dtype, a[each ? n : n / columns], b[each ? n : n % columns], acc[n]);
    }
    return true;
}

static bool run_dot4(Run *run, const TileInstr *instr) {
    Shape shape;
    TileCell *cells = run_result(run, instr, &shape);
    if (!cells) return false;
    for (int64_t n = 0; n < shape.count; n++) {
        uint32_t a = (uint32_t)run_arg(run, instr, 1)[n / shape.extents[1]].i;
        uint32_t b = (uint32_t)run_arg(run, instr, 2)[n % shape.extents[1]].i;
        int64_t sum = run_arg(run, instr, 0)[n].i;
        for (int byte = 0; byte < 4; byte++)
            sum += (int64_t)(a >> 8 * byte & 255) * cell_wrap(DT_i8, b >> 8 * byte & 255);
        cells[n].i = cell_wrap(DT_i32, sum);
    }
    return true;
}

/* ---- random and index checks ----------------------------------------------------------------- */

/* Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
 */
static uint32_t philox(uint64_t key, uint64_t block, uint64_t stream, uint32_t word) {
    uint32_t c[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)stream,
                     (uint32_t)(stream >> 32)};
    uint32_t k[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xd2511f53u * c[0], b = (uint64_t)0xcd9e8d57u * c[2];
        c[0] = (uint32_t)(b >> 32) ^ c[1] ^ k[0];
        c[1] = (uint32_t)b;
        c[2] = (uint32_t)(a >> 32) ^ c[3] ^ k[1];
        c[3] = (uint32_t)a;
        k[0] += 0x9e3779b9u;
        k[1] += 0xbb67ae85u;
    }
    return c[word];
}

static bool run_random(Run *run, const TileInstr *instr) {
    Shape shape;
    TileCell *cells = run_result(run, instr, &shape);
    if (!cells) return false;
    uint64_t key = (uint64_t)run_arg(run, instr, 0)[0].i;
    for (int64_t n = 0; n < shape.count; n++) {
        uint64_t counter = (uint64_t)run_arg(run, instr, 1)[n].i;
        cells[n].i = philox(key, counter / 4, (uint64_t)instr->integer, counter % 4);
    }
    return true;
}

/* The index made safe; the first one that is out of range is remembered. */
static int64_t checked_index(Run *run, const TileInstr *instr, int64_t index, int64_t bound) {
    if (index < 0) index += bound;
    if (0 <= index && index < bound) return index;
    if (run->site < 0) run->site = instr->integer;
    return index < 0 || bound == 0 ? 0 : bound - 1;
}

static bool run_check(Run *run, const TileInstr *instr) {
    Shape shape;
    int64_t bound;
    TileCell *cells = run_result(run, instr, &shape);
    if (!cells || !run_dim(run, instr->value, &bound)) return false;
    for (int64_t n = 0; n < shape.count; n++) {
        bool holds;
        run_at_element(run, &shape, n);
        if (!run_guards(run, instr, &holds)) return false;
        int64_t index = run_arg(run, instr, 0)[n].i;
        cells[n].i = holds ? checked_index(run, instr, index, bound) : 0;
    }
    return true;
}

bool run_compute(Run *run, const TileInstr *instr) {
    switch (instr->op) {
    case TILE_const: return run_const(run, instr);
    case TILE_index: return run_index(run, instr);
    case TILE_test: return run_test(run, instr);
    case TILE_map: return run_map(run, instr);
    case TILE_move: return run_move(run, instr);
    case TILE_reduce: return run_reduce(run, instr);
    case TILE_scan: return run_scan(run, instr);
    case TILE_dot: return run_dot(run, instr);
    case TILE_dot4: return run_dot4(run, instr);
    case TILE_random: return run_random(run, instr);
    case TILE_check: return run_check(run, instr);
    default: bug("no interpretation of tile op %d", (int)instr->op);
    }
}
