/* Building tile programs: memory, names, symbols and result types. */
#include "codegen/tile/tile.h"

#include "base/guard.h"

#include <math.h>

/* ---- programs, names and symbols ------------------------------------------------------------- */

/* `name` as the text can hold it: letters, digits, underscores and `also`; not a digit first. */
static Str plain_name(Arena *arena, Str name, char also) {
    Buf buf = {.arena = arena};
    if (name.size == 0 || (name.data[0] >= '0' && name.data[0] <= '9')) buf_char(&buf, '_');
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i], lower = (char)(c | 32);
        bool plain = (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '_';
        buf_char(&buf, plain || c == also ? c : '_');
    }
    return buf_str(&buf);
}

TileProgram *tile_program_new(IrContext *ctx, Arena *arena, Str name, TileState state) {
    TileProgram *program = NEW(arena, TileProgram);
    program->ctx = ctx;
    program->arena = arena;
    program->name = plain_name(arena, name, '.');
    program->state = state;
    program->names.arena = arena;
    return program;
}

/* `name`, or the first of name1, name2, … that is not taken yet; it is then taken. */
static Str unique_name(TileProgram *program, Str name) {
    Str plain = plain_name(program->arena, name, '_'), unique = plain;
    for (unsigned i = 1; map_get(&program->names, unique); i++)
        unique = str_format(program->arena, "%.*s%u", STR_ARG(plain), i);
    map_set(&program->names, unique, program);
    return unique;
}

uint32_t tile_add_view(TileProgram *program, const TileView *view) {
    TileView copy = *view;
    copy.name = unique_name(program, view->name);
    if (copy.alignment == 0) copy.alignment = (dtype_info(view->dtype)->bits + 7) / 8;
    vec_push(program->arena, &program->views, copy);
    return (uint32_t)program->views.count - 1;
}

static int64_t at_least(int64_t value, int64_t least) { return value < least ? least : value; }

static const DimSymbol *new_variable(TileProgram *program, const char *name, int64_t lo, int64_t hi,
                                     const Dim *limit) {
    Str unique = unique_name(program, str_from(name));
    Str shown = str_format(program->arena, "%%%.*s", STR_ARG(unique));
    return dim_new_symbol(program->ctx, SYMBOL_index, shown, lo, at_least(hi, lo), lo, limit);
}

const DimSymbol *tile_add_work(TileProgram *program, const char *name, const Dim *extent) {
    require(program->work_rank < TYPE_MAX_RANK);
    const DimSymbol *variable = new_variable(program, name, 0, extent->hi - 1, extent);
    program->work[program->work_rank] = variable;
    program->work_extents[program->work_rank++] = extent;
    return variable;
}

const DimSymbol *tile_axis_symbol(TileProgram *program, uint32_t axis, const Dim *extent) {
    for (size_t i = 0; i < program->axes.count; i++) {
        const TileAxis *known = &program->axes.data[i];
        if (known->axis == axis && known->extent == extent) return known->symbol;
    }
    Str name = str_format(program->arena, "$%u", axis);
    const DimSymbol *symbol = dim_shared_index(program->ctx, name, extent);
    vec_push(program->arena, &program->axes,
             (TileAxis){.axis = axis, .extent = extent, .symbol = symbol});
    return symbol;
}

/* ---- types ----------------------------------------------------------------------------------- */

TileType tile_type(DType dtype, uint32_t rank, const Dim *const *extents, uint32_t lanes) {
    require(rank <= TILE_MAX_RANK);
    TileType type = {.dtype = dtype, .rank = rank, .lanes = lanes};
    for (uint32_t i = 0; i < rank; i++) type.extents[i] = extents[i];
    return type;
}

const TileType *tile_value_type(const TileProgram *program, TileId value) {
    require(value < program->values.count);
    return &program->values.data[value];
}

uint32_t tile_register_count(const TileType *type) {
    int64_t elements = 1;
    for (uint32_t i = 0; i < type->rank; i++) {
        int64_t extent = 0;
        if (!dim_is_const(type->extents[i], &extent) || extent < 0) return 0;
        if (__builtin_mul_overflow(elements, extent, &elements)) return UINT32_MAX;
    }
    if (type->lanes > 1) elements /= type->lanes;
    return elements > UINT32_MAX ? UINT32_MAX : (uint32_t)elements;
}

static TileType with_dtype(const TileType *type, DType dtype) {
    TileType result = *type;
    result.dtype = dtype;
    return result;
}

/* ---- instructions ---------------------------------------------------------------------------- */

TileBuilder tile_builder(TileProgram *program) {
    return (TileBuilder){.program = program, .block = &program->body};
}

static TileInstr *emit(TileBuilder *b, TileOp op, const TileId *args, uint32_t arg_count) {
    Arena *arena = b->program->arena;
    TileInstr *instr = NEW(arena, TileInstr);
    instr->op = op;
    instr->origin = b->origin;
    instr->result = instr->carried = TILE_none;
    instr->arg_count = arg_count;
    if (arg_count > 0) instr->args = arena_copy(arena, args, arg_count * sizeof *args);
    vec_push(arena, &b->block->instrs, instr);
    return instr;
}

static TileId add_value(TileBuilder *b, TileType type) {
    vec_push(b->program->arena, &b->program->values, type);
    return (TileId)(b->program->values.count - 1);
}

static TileId give_result(TileBuilder *b, TileInstr *instr, TileType type) {
    instr->result_count = 1;
    return instr->result = add_value(b, type);
}

static void set_guards(TileBuilder *b, TileInstr *instr, const TileGuard *guards, uint32_t count) {
    instr->guard_count = count;
    if (count > 0) instr->guards = arena_copy(b->program->arena, guards, count * sizeof *guards);
}

static void set_access(TileBuilder *b, TileInstr *instr, uint32_t view,
                       const Dim *const *subscripts, const TileId *at) {
    require(view < b->program->views.count);
    Arena *arena = b->program->arena;
    uint32_t rank = b->program->views.data[view].rank;
    instr->view = view;
    instr->subscripts = arena_copy(arena, subscripts, rank * sizeof *subscripts);
    bool any = false;
    for (uint32_t i = 0; at && i < rank; i++) any |= at[i] != TILE_none;
    if (any) instr->at = arena_copy(arena, at, rank * sizeof *at);
}

/* Toward zero, saturating; NaN gives 0. */
static int64_t to_integer(double number) {
    if (isnan(number)) return 0;
    if (number >= 0x1p63) return INT64_MAX;
    if (number < -0x1p63) return INT64_MIN;
    return (int64_t)number;
}

/* The same for u64, whose upper half is held as its bit pattern. */
static int64_t pad_integer(DType dtype, double number) {
    if (dtype != DT_u64 || !(number >= 0x1p63)) return to_integer(number);
    uint64_t bits = number >= 0x1p64 ? UINT64_MAX : (uint64_t)number;
    return (int64_t)bits;
}

TileId tile_load(TileBuilder *b, TileType type, uint32_t view, const Dim *const *subscripts,
                 const TileId *at, const TileGuard *guards, uint32_t guard_count, double pad) {
    TileInstr *instr = emit(b, TILE_load, NULL, 0);
    set_access(b, instr, view, subscripts, at);
    set_guards(b, instr, guards, guard_count);
    if (dtype_is_float(type.dtype))
        instr->number = pad;
    else
        instr->integer = pad_integer(type.dtype, pad);
    return give_result(b, instr, type);
}

TileInstr *tile_store(TileBuilder *b, TileId value, uint32_t view, const Dim *const *subscripts,
                      const TileId *at, const TileGuard *guards, uint32_t guard_count, Op combine) {
    TileInstr *instr = emit(b, TILE_store, &value, 1);
    set_access(b, instr, view, subscripts, at);
    set_guards(b, instr, guards, guard_count);
    instr->scalar = combine;
    return instr;
}

void tile_prefetch(TileBuilder *b, uint32_t view, const Dim *const *subscripts) {
    set_access(b, emit(b, TILE_prefetch, NULL, 0), view, subscripts, NULL);
}

TileId tile_const(TileBuilder *b, TileType type, double number) {
    TileInstr *instr = emit(b, TILE_const, NULL, 0);
    if (dtype_is_float(type.dtype))
        instr->number = number;
    else
        instr->integer = pad_integer(type.dtype, number);
    return give_result(b, instr, type);
}

TileId tile_const_int(TileBuilder *b, TileType type, int64_t integer) {
    TileInstr *instr = emit(b, TILE_const, NULL, 0);
    if (dtype_is_float(type.dtype))
        instr->number = (double)integer;
    else
        instr->integer = integer;
    return give_result(b, instr, type);
}

TileId tile_index(TileBuilder *b, TileType type, const Dim *value) {
    TileInstr *instr = emit(b, TILE_index, NULL, 0);
    instr->value = value;
    return give_result(b, instr, type);
}

TileId tile_test(TileBuilder *b, TileType type, const TileGuard *guards, uint32_t guard_count) {
    TileInstr *instr = emit(b, TILE_test, NULL, 0);
    set_guards(b, instr, guards, guard_count);
    return give_result(b, instr, type);
}

TileId tile_map(TileBuilder *b, Op op, const TileId *args, uint32_t arg_count) {
    require(arg_count >= 1 && (op != OP_select || arg_count >= 2));
    TileInstr *instr = emit(b, TILE_map, args, arg_count);
    instr->scalar = op;
    const TileType *from = tile_value_type(b->program, args[op == OP_select ? 1 : 0]);
    bool compares = op_info(op)->class == CLASS_COMPARE;
    return give_result(b, instr, with_dtype(from, compares ? DT_bool : from->dtype));
}

TileId tile_cast(TileBuilder *b, TileId value, DType to) {
    TileInstr *instr = emit(b, TILE_map, &value, 1);
    instr->scalar = OP_cast;
    return give_result(b, instr, with_dtype(tile_value_type(b->program, value), to));
}

TileId tile_move(TileBuilder *b, TileType type, TileId value, const uint32_t *axes) {
    TileInstr *instr = emit(b, TILE_move, &value, 1);
    uint32_t rank = tile_value_type(b->program, value)->rank;
    for (uint32_t i = 0; i < rank; i++) instr->axes[i] = axes[i];
    return give_result(b, instr, type);
}

TileId tile_reduce(TileBuilder *b, Op op, TileId value, uint32_t axis) {
    TileInstr *instr = emit(b, TILE_reduce, &value, 1);
    instr->scalar = op;
    instr->axis = axis;
    TileType type = *tile_value_type(b->program, value);
    require(axis < type.rank);
    if (axis == type.rank - 1 && type.lanes > 1) type.lanes = 1;
    for (uint32_t i = axis; i + 1 < type.rank; i++) type.extents[i] = type.extents[i + 1];
    type.extents[--type.rank] = NULL;
    return give_result(b, instr, type);
}

TileId tile_scan(TileBuilder *b, Op op, TileId value, uint32_t axis, bool exclusive, bool reverse) {
    TileInstr *instr = emit(b, TILE_scan, &value, 1);
    instr->scalar = op;
    instr->axis = axis;
    instr->exclusive = exclusive;
    instr->reverse = reverse;
    return give_result(b, instr, *tile_value_type(b->program, value));
}

TileId tile_dot(TileBuilder *b, TileId acc, TileId a, TileId c) {
    TileInstr *instr = emit(b, TILE_dot, (TileId[]){acc, a, c}, 3);
    return give_result(b, instr, *tile_value_type(b->program, acc));
}

TileId tile_dot4(TileBuilder *b, TileId acc, TileId a, TileId c) {
    TileInstr *instr = emit(b, TILE_dot4, (TileId[]){acc, a, c}, 3);
    return give_result(b, instr, *tile_value_type(b->program, acc));
}

TileId tile_mma(TileBuilder *b, TileId acc, uint32_t a_view, uint32_t b_view, const Dim *k) {
    TileInstr *instr = emit(b, TILE_mma, &acc, 1);
    instr->views[0] = a_view;
    instr->views[1] = b_view;
    instr->value = k;
    return give_result(b, instr, *tile_value_type(b->program, acc));
}

void tile_mma_store(TileBuilder *b, TileId acc, uint32_t view) {
    TileInstr *instr = emit(b, TILE_mma_store, &acc, 1);
    instr->views[0] = view;
}

void tile_sort(TileBuilder *b, uint32_t keys, uint32_t indices, uint32_t spare_keys,
               uint32_t spare_indices, const Dim *count, bool descending) {
    TileInstr *instr = emit(b, TILE_sort, NULL, 0);
    instr->views[0] = keys;
    instr->views[1] = indices;
    instr->views[2] = spare_keys;
    instr->views[3] = spare_indices;
    instr->value = count;
    instr->descending = descending;
}

TileId tile_random(TileBuilder *b, TileId key, TileId counter, int64_t stream) {
    TileInstr *instr = emit(b, TILE_random, (TileId[]){key, counter}, 2);
    instr->integer = stream;
    return give_result(b, instr, with_dtype(tile_value_type(b->program, counter), DT_u32));
}

TileId tile_check(TileBuilder *b, TileId index, const Dim *bound, const TileGuard *guards,
                  uint32_t guard_count) {
    TileInstr *instr = emit(b, TILE_check, &index, 1);
    instr->value = bound;
    instr->integer = b->program->site_count++;
    set_guards(b, instr, guards, guard_count);
    return give_result(b, instr, *tile_value_type(b->program, index));
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void open_blocks(TileBuilder *b, TileInstr *instr, uint32_t count) {
    instr->blocks = NEW_ARRAY(b->program->arena, TileBlock, count);
    instr->block_count = count;
    for (uint32_t i = 0; i < count; i++) instr->blocks[i].outer = b->block;
    b->block = &instr->blocks[0];
}

static void yield(TileBuilder *b, const TileId *values, uint32_t count) {
    emit(b, TILE_yield, values, count);
}

/* The results of a loop or branch have the types of what its first block yields. */
static TileId give_results(TileBuilder *b, TileInstr *instr, const TileId *yields, uint32_t count) {
    instr->result_count = count;
    for (uint32_t i = 0; i < count; i++) {
        TileId id = add_value(b, *tile_value_type(b->program, yields[i]));
        if (i == 0) instr->result = id;
    }
    return instr->result;
}

/* A loop's variable. Where whole steps fit between the bounds, its last value is a step before the
 * end, and its limit says so: c < to - step + 1 is what makes an unguarded tile of `step` elements
 * fit. */
static const DimSymbol *loop_variable(TileBuilder *b, const char *name, const TileInstr *loop) {
    IrContext *ctx = b->program->ctx;
    const Dim *from = loop->from, *limit = loop->to;
    int64_t start = 0, end = 0, step = loop->step;
    if (step > 1 && dim_is_const(from, &start) && dim_is_const(limit, &end) && start < end)
        limit = dim_const(ctx, start + (end - 1 - start) / step * step + 1);
    else if (step > 1 && dim_proves_divisible(dim_sub(ctx, limit, from), step))
        limit = dim_offset(ctx, limit, 1 - step);
    bool proved = from->lo < 0 && dim_proves_le(ctx, dim_const(ctx, 0), from);
    return new_variable(b->program, name, proved ? 0 : from->lo, limit->hi - 1, limit);
}

TileInstr *tile_begin_for(TileBuilder *b, const char *name, const Dim *from, const Dim *to,
                          int64_t step, const TileId *initial, uint32_t count) {
    TileInstr *loop = emit(b, TILE_for, initial, count);
    loop->from = from;
    loop->to = to;
    loop->step = step;
    loop->variable = loop_variable(b, name, loop);
    for (uint32_t i = 0; i < count; i++) {
        TileId id = add_value(b, *tile_value_type(b->program, initial[i]));
        if (i == 0) loop->carried = id;
    }
    open_blocks(b, loop, 1);
    return loop;
}

TileId tile_end_for(TileBuilder *b, TileInstr *loop, const TileId *yields) {
    yield(b, yields, loop->arg_count);
    b->block = loop->blocks[0].outer;
    return give_results(b, loop, loop->args, loop->arg_count);
}

TileInstr *tile_begin_if(TileBuilder *b, const TileGuard *guards, uint32_t guard_count) {
    TileInstr *branch = emit(b, TILE_if, NULL, 0);
    set_guards(b, branch, guards, guard_count);
    open_blocks(b, branch, 2);
    return branch;
}

void tile_else(TileBuilder *b, TileInstr *branch, const TileId *yields, uint32_t count) {
    yield(b, yields, count);
    b->block = &branch->blocks[1];
}

TileId tile_end_if(TileBuilder *b, TileInstr *branch, const TileId *yields, uint32_t count) {
    yield(b, yields, count);
    b->block = branch->blocks[0].outer;
    return give_results(b, branch, yields, count);
}
