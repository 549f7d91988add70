/* Loads and stores: where each register of a tile lies in memory.
 *
 * The subscripts of a view become one Dim, the element's number, so that subscripts made by a
 * reshape cancel. For one register its tile axes are numbers but for the lane, and how the Dim
 * depends on the lane decides the instructions: not at all, with coefficient 1, with another, or in
 * some other way.
 */
#include "codegen/lower/lowering.h"

/* ---- the access as a whole ---- */

typedef struct Address {
    Access access;
    const Dim *element; /* over the tile axes */
} Address;

static LLVMTypeRef storage_type(Lowering *l, DType dtype) {
    MathContext m = values_math(l, 1);
    return math_storage_type(&m, dtype);
}

static const Dim *element_number(Lowering *l, const TileView *view, const TileInstr *instr) {
    IrContext *ctx = l->program->ctx;
    const Dim *number = dim_const(ctx, 0);
    for (uint32_t i = 0; i < view->rank; i++)
        number = dim_add(ctx, dim_mul(ctx, number, view->dims[i]), instr->subscripts[i]);
    require(!dim_is_overflow(number));
    return number;
}

/* The view as one of words. */
static Address address_of_words(Lowering *l, const TileInstr *instr, const TileType *type) {
    TileView *words = NEW(l->arena, TileView);
    const TileView *bytes = &l->program->views.data[instr->view];
    const Dim *element = element_number(l, bytes, instr);
    require(dim_proves_divisible(element, 4));
    *words = *bytes;
    words->dtype = type->dtype;
    return (Address){.access = {.instr = instr,
                                .view = words,
                                .type = type,
                                .base = l->views[instr->view],
                                .storage = storage_type(l, type->dtype)},
                     .element =
                         dim_floordiv(l->program->ctx, element, dim_const(l->program->ctx, 4))};
}

static Address address_of(Lowering *l, const TileInstr *instr, const TileType *type) {
    const TileView *view = &l->program->views.data[instr->view];
    if (instr->op == TILE_load && tile_takes_words(type->dtype, view->dtype))
        return address_of_words(l, instr, type);
    return (Address){.access = {.instr = instr,
                                .view = view,
                                .type = type,
                                .base = l->views[instr->view],
                                .storage = storage_type(l, view->dtype)},
                     .element = element_number(l, view, instr)};
}

V access_address(Lowering *l, const Access *access, V base, int64_t offset) {
    if (!nibble_is(access->view->dtype)) {
        V address = ll_gep(l, access->storage, access->base, base);
        return offset == 0 ? address : ll_gep(l, access->storage, address, ll_i64(l, offset));
    }
    V element = ll_add(l, base, ll_i64(l, offset));
    return ll_gep(l, l->i8, access->base, LLVMBuildLShr(l->builder, element, ll_i64(l, 1), ""));
}

static bool overlaps_others(const Lowering *l, uint32_t argument) {
    const LowerOptions *o = l->options;
    return o->may_alias && argument < o->may_alias_count && o->may_alias[argument];
}

static bool is_argument_written(const Lowering *l, uint32_t argument) {
    for (size_t i = 0; i < l->program->views.count; i++) {
        const TileView *view = &l->program->views.data[i];
        if (view->space == SPACE_global && view->argument == argument && view->written) return true;
    }
    return false;
}

static bool is_unchanging(const Lowering *l, const TileView *view) {
    if (view->space == SPACE_scratch) return false;
    if (is_argument_written(l, view->argument)) return false;
    return view->space == SPACE_constant || !overlaps_others(l, view->argument);
}

void access_mark_load(Lowering *l, const Access *access, V load, uint32_t align) {
    LLVMSetAlignment(load, align);
    if (!is_unchanging(l, access->view)) return;
    unsigned kind = LLVMGetMDKindIDInContext(l->context, "invariant.load", 14);
    LLVMValueRef empty = LLVMMetadataAsValue(l->context, LLVMMDNodeInContext2(l->context, NULL, 0));
    LLVMSetMetadata(load, kind, empty);
}

/* ---- the place of one register ---- */

static uint32_t lowest_bit(uint64_t value) {
    uint64_t bit = value & (0 - value);
    return bit == 0 || bit > 64 ? 64 : (uint32_t)bit;
}

static void set_alignment(const Access *access, const Dim *first, bool moved, Place *place) {
    uint32_t bytes = dtype_info(access->view->dtype)->bits / 8;
    place->align = place->step = bytes == 0 ? 1 : bytes;
    if (bytes == 0 || moved) return;
    place->step = bytes * lowest_bit((uint64_t)first->divisor);
    uint32_t base = access->view->space == SPACE_scratch ? LOWER_SCRATCH_ALIGN
                                                         : lowest_bit(access->view->alignment);
    if (base < access->alignment) base = access->alignment;
    uint32_t align = place->step < base ? place->step : base;
    if (align > bytes) place->align = align;
}

/* What `at` tiles add to the element's number: one i64 for all lanes and one by lane, each NULL
 * when none. */
typedef struct Moved {
    V all, lanes;
} Moved;

static V plus(Lowering *l, V sum, V value) { return sum ? ll_add(l, sum, value) : value; }

static V scale(Lowering *l, V index, const Dim *stride, uint32_t width) {
    return ll_mul(l, index, ll_splat(l, dims_emit(l, stride), width));
}

static void add_moved(Lowering *l, Moved *moved, TileId at, const Dim *stride, const TileType *type,
                      uint32_t index) {
    const TileType *at_type = tile_value_type(l->program, at);
    const Registers *registers = values_of(l, at);
    uint32_t which = at_type->rank == 0 ? 0 : index, lanes = values_lanes(at_type);
    V scalar = lanes == 1 ? registers->items[which] : NULL;
    if (!scalar) scalar = registers->splats[which];
    if (scalar) {
        moved->all = plus(l, moved->all, scale(l, scalar, stride, 0));
        return;
    }
    require(lanes == values_lanes(type));
    V lane = scale(l, registers->items[which], stride, l->model->width(lanes));
    moved->lanes = plus(l, moved->lanes, lane);
}

static Moved moved_by(Lowering *l, const Access *access, uint32_t index) {
    Moved moved = {0};
    const Dim *stride = dim_const(l->program->ctx, 1);
    for (uint32_t i = access->view->rank; access->instr->at && i-- > 0;) {
        if (access->instr->at[i] != TILE_none)
            add_moved(l, &moved, access->instr->at[i], stride, access->type, index);
        stride = dim_mul(l->program->ctx, stride, access->view->dims[i]);
    }
    return moved;
}

static V lane_offsets(Lowering *l, const Dim *element, uint32_t lanes, const Moved *moved) {
    V offsets = dims_emit_lanes(l, element, lanes, dims_fits_narrow(element));
    offsets = ll_cast(l, offsets, l->i64, true);
    uint32_t width = l->model->width(lanes);
    if (moved->all) offsets = ll_add(l, offsets, ll_splat(l, moved->all, width));
    return moved->lanes ? ll_add(l, offsets, moved->lanes) : offsets;
}

/* Whether neighbouring lanes are as many elements apart as an access of 16 bytes may have. */
static bool is_step_of_vectors(const Dim *stride) {
    int64_t step = 0;
    return stride && dim_is_const(stride, &step) && step > 1 && step <= 16;
}

/* Threads compute their own offsets. Registers that differ by a constant share the rest, so that
 * LLVM sees neighbours: accesses of one thread that it can join to one of up to 16 bytes, where the
 * first is aligned so. */
static void set_thread_place(Lowering *l, const Access *access, const Dim *element,
                             const Dim *stride, const Moved *moved, Place *place) {
    place->offset = nibble_is(access->view->dtype) ? 0 : element->constant;
    const Dim *rest = dim_offset(l->program->ctx, element, -place->offset);
    place->offsets = lane_offsets(l, rest, place->lanes, moved);
    bool scattered = place->kind == PLACE_scattered;
    set_alignment(access, element, moved->all != NULL || scattered, place);
    if (place->kind != PLACE_spread || !is_step_of_vectors(stride) || l->alignment == 0) return;
    uint32_t before = place->align;
    Access aligned = *access;
    aligned.alignment = l->alignment;
    set_alignment(&aligned, element, moved->all != NULL, place);
    if (place->align > before) l->used_alignment = true;
}

static PlaceKind place_kind(Lowering *l, const Dim *element, const DimSymbol *lane,
                            const Dim **out_stride, const Dim **out_first) {
    *out_first = element;
    if (!lane || !dim_mentions(element, lane)) return PLACE_same;
    if (!dim_split_affine(l->program->ctx, element, lane, out_stride, out_first))
        return PLACE_scattered;
    if (dim_equals_int(*out_stride, 1)) return PLACE_contiguous;
    bool nonzero = (*out_stride)->lo > 0 || (*out_stride)->hi < 0;
    return nonzero ? PLACE_spread : PLACE_scattered;
}

static Place place_of(Lowering *l, const Address *address, uint32_t index) {
    const Access *access = &address->access;
    const Dim *element = dims_of_register(l, access->type, index, address->element);
    const Dim *stride = NULL, *first;
    Place place = {.lanes = values_lanes(access->type)};
    const DimSymbol *lane = place.lanes > 1 ? dims_lane_symbol(l, place.lanes) : NULL;
    Moved moved = moved_by(l, access, index);
    place.kind = moved.lanes ? PLACE_scattered : place_kind(l, element, lane, &stride, &first);
    if (place.kind == PLACE_scattered) first = element;
    set_alignment(access, first, moved.all || place.kind == PLACE_scattered, &place);
    place.even = place.kind == PLACE_contiguous && !moved.all && first->divisor % 2 == 0;
    if (l->model->threads) {
        set_thread_place(l, access, element, stride, &moved, &place);
        return place;
    }
    if (place.kind == PLACE_scattered)
        place.offsets = lane_offsets(l, element, place.lanes, &moved);
    if (place.kind == PLACE_scattered) return place;
    place.offset = first->constant;
    place.base = dims_emit(l, dim_offset(l->program->ctx, first, -first->constant));
    if (moved.all) place.base = ll_add(l, place.base, moved.all);
    if (place.kind == PLACE_spread) place.stride = dims_emit(l, stride);
    return place;
}

/* ---- loads ---- */

static V load_register(Lowering *l, const Access *access, const Place *place, const Mask *mask) {
    const TileInstr *instr = access->instr;
    DType dtype = access->view->dtype;
    V pad = values_number(l, dtype, instr->number, instr->integer, place->lanes);
    return l->model->load(l, access, place, mask, values_to_storage(l, dtype, pad));
}

/* All lanes one element, and none of them masked alone: a scalar that is known to be in all lanes.
 */
static bool load_splat(Lowering *l, const Access *access, Place place, const Mask *mask,
                       uint32_t index) {
    if (place.kind != PLACE_same || place.lanes == 1 || mask->lanes || l->model->threads)
        return false;
    place.lanes = 1;
    V scalar = load_register(l, access, &place, mask);
    scalar = values_from_storage(l, access->view->dtype, scalar);
    values_set_splat(l, access->instr->result, index, scalar);
    return true;
}

static void ask_ahead(Lowering *l, const Access *access, const Place *place, const Mask *mask) {
    if (!l->model->prefetch || access->instr->ahead <= 0) return;
    if (place->kind != PLACE_contiguous || mask->uniform || mask->lanes) return;
    l->model->prefetch(l, access, place, access->instr->ahead);
}

void lower_load(Lowering *l, const TileInstr *instr, uint32_t index) {
    const TileType *type = tile_value_type(l->program, instr->result);
    Address address = address_of(l, instr, type);
    Mask mask = guards_mask(l, instr, type, index);
    Place place = place_of(l, &address, index);
    if (load_splat(l, &address.access, place, &mask, index)) return;
    ask_ahead(l, &address.access, &place, &mask);
    V stored = load_register(l, &address.access, &place, &mask);
    l->values[instr->result].items[index] = values_from_storage(l, type->dtype, stored);
}

void lower_prefetch(Lowering *l, const TileInstr *instr) {
    const TileType scalar = {.dtype = l->program->views.data[instr->view].dtype, .lanes = 1};
    if (!l->model->prefetch_line) return;
    Address address = address_of(l, instr, &scalar);
    Place place = place_of(l, &address, 0);
    l->model->prefetch_line(l, &address.access, &place);
}

/* ---- transposed loads: vectors along the first axis, turned round in registers ---- */

enum { TRANSPOSED_LEAST = 4, TRANSPOSED_MOST = 64, WARP_SIDE = 32 };

static const DimSymbol *axis_symbol(Lowering *l, const TileType *type, uint32_t axis) {
    TileProgram *program = (TileProgram *)(uintptr_t)l->program;
    return tile_axis_symbol(program, axis, type->extents[axis]);
}

/* Neighbours along axis 0, apart along axis 1. */
static bool has_transposed_element(Lowering *l, const Address *address) {
    const TileType *type = address->access.type;
    const DimSymbol *across = axis_symbol(l, type, 0), *along = axis_symbol(l, type, 1);
    const Dim *first, *second, *rest;
    IrContext *ctx = l->program->ctx;
    return dim_split_affine(ctx, address->element, across, &first, &rest) &&
           dim_equals_int(first, 1) && dim_split_affine(ctx, rest, along, &second, &rest) &&
           !dim_equals_int(second, 0) && !dim_equals_int(second, 1);
}

bool access_is_transposed(Lowering *l, const TileInstr *load) {
    if (load->op != TILE_load || !l->model->transpose || load->at) return false;
    const TileType *type = tile_value_type(l->program, load->result);
    int64_t rows = 0;
    if (type->rank != 2 || values_lanes(type) < TRANSPOSED_LEAST || nibble_is(type->dtype))
        return false;
    if (!dim_is_const(type->extents[0], &rows) || rows < TRANSPOSED_LEAST || rows > TRANSPOSED_MOST)
        return false;
    Address address = address_of(l, load, type);
    /* Threads turn round a square, through shared memory. */
    if (l->model->threads && (rows != WARP_SIDE || values_lanes(type) != WARP_SIDE)) return false;
    return (rows & (rows - 1)) == 0 && has_transposed_element(l, &address) &&
           versions_hold(l, load, type);
}

static V load_column(Lowering *l, const Address *address, int64_t rows, int64_t column) {
    const TileType *type = address->access.type;
    IrContext *ctx = l->program->ctx;
    const DimSymbol *symbols[2] = {axis_symbol(l, type, 0), axis_symbol(l, type, 1)};
    const Dim *values[2] = {dim_const(ctx, 0), dim_const(ctx, column)};
    const Dim *element = dim_substitute(ctx, address->element, symbols, values, 2);
    const Mask none = {0};
    Place place = {.kind = PLACE_contiguous, .lanes = (uint32_t)rows, .offset = element->constant};
    set_alignment(&address->access, element, false, &place);
    place.base = dims_emit(l, dim_offset(ctx, element, -element->constant));
    if (l->model->threads) {
        V lane = ll_cast(l, l->model->lane_index(l, place.lanes), l->i64, false);
        place.offsets = ll_add(l, place.base, lane);
        set_alignment(&address->access, element, true, &place);
    }
    return l->model->load(l, &address->access, &place, &none, NULL);
}

void lower_transposed(Lowering *l, const TileInstr *load) {
    const TileType *type = tile_value_type(l->program, load->result);
    Address address = address_of(l, load, type);
    uint32_t lanes = type->lanes;
    int64_t rows = 0, columns = 0;
    require(dim_is_const(type->extents[0], &rows) && dim_is_const(type->extents[1], &columns));
    V *vectors = NEW_ARRAY(l->arena, V, lanes), *turned = NEW_ARRAY(l->arena, V, (size_t)rows);
    for (int64_t group = 0; group < columns / lanes; group++) {
        for (uint32_t lane = 0; lane < lanes; lane++)
            vectors[lane] = load_column(l, &address, rows, group * lanes + lane);
        l->model->transpose(l, vectors, lanes, (uint32_t)rows, turned);
        for (int64_t row = 0; row < rows; row++)
            l->values[load->result].items[row * (columns / lanes) + group] =
                values_from_storage(l, type->dtype, turned[row]);
    }
}

/* ---- stores ---- */

/* Of threads that all have one value only the one that stores it loads the old: the others might
 * load while it stores. */
static Mask storing_lane(Lowering *l, const Place *place, const Mask *mask) {
    Mask result = *mask;
    if (!l->model->threads || place->lanes != 1) return result;
    V first = ll_compare(l, LLVMIntEQ, l->lane, ll_i32(l, 0));
    result.uniform = ll_and(l, mask->uniform, first);
    return result;
}

static void store_lanes(Lowering *l, const Access *access, const Place *place, const Mask *mask,
                        V value) {
    DType dtype = access->view->dtype;
    Op combine = access->instr->scalar;
    Mask storing = *mask;
    if (combine != OP_none) {
        storing = storing_lane(l, place, mask);
        V zero = LLVMConstNull(LLVMTypeOf(values_to_storage(l, dtype, value)));
        V old = values_from_storage(l, dtype, l->model->load(l, access, place, &storing, zero));
        value = values_binary(l, combine, dtype, old, value, place->lanes);
    }
    l->model->store(l, access, place, &storing, values_to_storage(l, dtype, value));
}

/* Whether lanes whose elements have no common stride have different ones nevertheless: those that
 * are a number away from lane 0's, like those of (lane // 8, lane % 8). */
static bool are_apart(Lowering *l, const Dim *element, uint32_t lanes) {
    IrContext *ctx = l->program->ctx;
    const DimSymbol *lane = dims_lane_symbol(l, lanes);
    int64_t *distances = NEW_ARRAY(l->arena, int64_t, lanes);
    const Dim *first = NULL;
    for (uint32_t i = 0; i < lanes; i++) {
        const Dim *number = dim_const(ctx, i);
        const Dim *own = dim_substitute(ctx, element, &lane, &number, 1);
        if (i == 0) first = own;
        if (!dim_is_const(dim_sub(ctx, own, first), &distances[i])) return false;
        for (uint32_t k = 0; k < i; k++)
            if (distances[k] == distances[i]) return false;
    }
    return true;
}

static bool may_collide(Lowering *l, const Address *address, const Place *place, uint32_t index) {
    const Access *access = &address->access;
    if (place->kind == PLACE_same) return true;
    if (place->kind != PLACE_scattered) return false;
    if (!l->model->threads || access->instr->at) return true;
    return !are_apart(l, dims_of_register(l, access->type, index, address->element), place->lanes);
}

static void store_register(Lowering *l, const Access *access, const Place *place, const Mask *mask,
                           V value, bool collide) {
    if (collide)
        l->model->each_lane(l, access, place, mask, value, store_lanes);
    else
        store_lanes(l, access, place, mask, value);
}

/* Whether what this stores is loaded in this kernel, perhaps by another lane. */
static bool is_read_back(const Lowering *l, const TileBlock *block, const TileInstr *store) {
    for (size_t i = 0; i < block->instrs.count; i++) {
        const TileInstr *instr = block->instrs.data[i];
        for (uint32_t j = 0; j < instr->block_count; j++)
            if (is_read_back(l, &instr->blocks[j], store)) return true;
        if (instr->op == TILE_load && access_may_overlap(l, instr->view, store->view)) return true;
    }
    return false;
}

bool access_may_overlap(const Lowering *l, uint32_t view, uint32_t other) {
    const TileView *a = &l->program->views.data[view], *b = &l->program->views.data[other];
    if (a->space == SPACE_scratch || b->space == SPACE_scratch) return view == other;
    if (a->argument == b->argument) return true;
    return overlaps_others(l, a->argument) && overlaps_others(l, b->argument);
}

/* Whether lane t of the access touches the elements t, t + lanes, … alone. */
static bool is_of_lane(Lowering *l, const TileInstr *instr) {
    const TileType *type = instr->op == TILE_store ? tile_value_type(l->program, instr->args[0])
                                                   : tile_value_type(l->program, instr->result);
    const Dim *coefficient, *rest;
    if (values_lanes(type) != l->threads || instr->at) return false;
    const Dim *element = element_number(l, &l->program->views.data[instr->view], instr);
    return dim_split_affine(l->program->ctx, element, axis_symbol(l, type, type->rank - 1),
                            &coefficient, &rest) &&
           dim_equals_int(coefficient, 1) && dim_proves_divisible(rest, l->threads);
}

/* Whether each lane has elements of the scratch view for itself. */
static bool is_shared_out(Lowering *l, const TileBlock *block, uint32_t view) {
    for (size_t i = 0; i < block->instrs.count; i++) {
        const TileInstr *instr = block->instrs.data[i];
        bool access = instr->op == TILE_load || instr->op == TILE_store;
        if (instr->op == TILE_sort || instr->op == TILE_mma || instr->op == TILE_mma_store)
            return false;
        if (access && instr->view == view && !is_of_lane(l, instr)) return false;
        for (uint32_t j = 0; j < instr->block_count; j++)
            if (!is_shared_out(l, &instr->blocks[j], view)) return false;
    }
    return true;
}

bool access_needs_order(Lowering *l, const TileInstr *store) {
    if (!l->model->threads) return false;
    const TileView *view = &l->program->views.data[store->view];
    if (view->space == SPACE_scratch)
        return nibble_is(view->dtype) || !is_shared_out(l, &l->program->body, store->view);
    if (store->scalar != OP_none) return true;
    return is_read_back(l, &l->program->body, store);
}

static bool try_stream(Lowering *l, const Access *access, const Place *place, const Mask *mask,
                       V value) {
    if (!l->model->stream || !access->instr->streaming || access->instr->scalar != OP_none)
        return false;
    if (place->kind != PLACE_contiguous || mask->uniform || mask->lanes) return false;
    return l->model->stream(l, access, place, values_to_storage(l, access->view->dtype, value));
}

void lower_store(Lowering *l, const TileInstr *instr, uint32_t index) {
    const TileType *type = tile_value_type(l->program, instr->args[0]);
    Address address = address_of(l, instr, type);
    V value = values_of(l, instr->args[0])->items[index];
    Mask mask = guards_mask(l, instr, type, index);
    Place place = place_of(l, &address, index);
    if (!try_stream(l, &address.access, &place, &mask, value))
        store_register(l, &address.access, &place, &mask, value,
                       place.lanes > 1 && may_collide(l, &address, &place, index));
}
