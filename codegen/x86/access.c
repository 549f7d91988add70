/* Registers from and to memory on x86.
 *
 * What a mask excludes must not be touched, not even read. Contiguous registers of 32- and 64-bit
 * lanes have masked instructions; narrower ones without AVX-512 go through the spare memory, a lane
 * at a time. A single element under a condition is accessed either at its address or in the spare
 * memory, without a branch.
 */
#include "codegen/x86/x86.h"

#include <string.h>

V x86_spare(Lowering *l) {
    if (!l->spare) l->spare = ll_alloca(l, l->i8, X86_SPARE_BYTES, 64);
    return l->spare;
}

static uint32_t element_bytes(const Access *access) {
    uint32_t bytes = dtype_info(access->view->dtype)->bits / 8;
    return bytes == 0 ? 1 : bytes;
}

static LLVMTypeRef vector_type(const Access *access, uint32_t lanes) {
    return lanes > 1 ? LLVMVectorType(access->storage, lanes) : access->storage;
}

/* The element of a lane, as i64 base plus a number. */
static V lane_element(Lowering *l, const Place *place, uint32_t lane, int64_t *out_offset) {
    *out_offset = 0;
    if (place->kind == PLACE_scattered) return ll_extract(l, place->offsets, lane);
    *out_offset = place->offset;
    if (place->kind == PLACE_same || place->lanes == 1) return place->base;
    if (place->kind == PLACE_spread)
        return ll_add(l, place->base, ll_mul(l, place->stride, ll_i64(l, lane)));
    *out_offset += lane;
    return place->base;
}

static Place lane_place(Lowering *l, const Access *access, const Place *place, uint32_t lane) {
    Place single = {.kind = PLACE_same, .lanes = 1, .align = element_bytes(access)};
    single.base = lane_element(l, place, lane, &single.offset);
    return single;
}

static Mask lane_mask(Lowering *l, const Mask *mask, uint32_t lane) {
    V own = mask->lanes ? ll_extract(l, mask->lanes, lane) : NULL;
    return (Mask){.uniform = ll_and(l, mask->uniform, own)};
}

void x86_each_lane(Lowering *l, const Access *access, const Place *place, const Mask *mask, V value,
                   EmitLane *emit) {
    for (uint32_t lane = 0; lane < place->lanes; lane++) {
        Place single = lane_place(l, access, place, lane);
        Mask own = lane_mask(l, mask, lane);
        emit(l, access, &single, &own, ll_extract(l, value, lane));
    }
}

/* ---- under conditions on the whole ----------------------------------------------------------- */

static V address_if(Lowering *l, const Access *access, const Place *place, V condition) {
    V address = access_address(l, access, place->base, place->offset);
    return condition ? ll_select(l, condition, address, x86_spare(l)) : address;
}

/* A scalar or a whole vector. */
static V load_if(Lowering *l, const Access *access, const Place *place, V condition, V pad) {
    V address = address_if(l, access, place, condition);
    V load = LLVMBuildLoad2(l->builder, vector_type(access, place->lanes), address, "");
    if (!condition) {
        access_mark_load(l, access, load, place->align);
        return load;
    }
    LLVMSetAlignment(load, place->align);
    return ll_select(l, condition, load, pad);
}

static void store_if(Lowering *l, const Access *access, const Place *place, V condition, V value) {
    V store = LLVMBuildStore(l->builder, value, address_if(l, access, place, condition));
    LLVMSetAlignment(store, place->align);
}

/* ---- contiguous registers under a mask of lanes ---------------------------------------------- */

static bool has_masked_access(const Lowering *l, const Access *access) {
    return element_bytes(access) >= 4 || l->masks_bytes;
}

/* The condition on the whole stays out of the mask: where LLVM 19 splits the mask into registers
 * and the lanes of one are all false, it takes the and of them with a repeated condition for
 * undefined, and loads them all. */
static V masked_load(Lowering *l, const Access *access, const Place *place, const Mask *mask,
                     V pad) {
    V address = address_if(l, access, place, mask->uniform);
    LLVMTypeRef overload[2] = {vector_type(access, place->lanes), l->ptr};
    V args[4] = {address, ll_i32(l, place->align), mask->lanes, pad};
    V load = ll_intrinsic(l, "llvm.masked.load", overload, 2, args, 4);
    return mask->uniform ? ll_select(l, mask->uniform, load, pad) : load;
}

static void masked_store(Lowering *l, const Access *access, const Place *place, V lanes, V value) {
    V address = access_address(l, access, place->base, place->offset);
    LLVMTypeRef overload[2] = {vector_type(access, place->lanes), l->ptr};
    V args[4] = {value, address, ll_i32(l, place->align), lanes};
    ll_intrinsic(l, "llvm.masked.store", overload, 2, args, 4);
}

/* Elements of a row: element `at` is at base + at·stride. */
typedef struct Row {
    V base, stride;
} Row;

static V row_address(Lowering *l, const Access *access, const Row *row, V at) {
    return ll_gep(l, access->storage, row->base, ll_mul(l, at, row->stride));
}

/* Copies the elements first..end-1, one after the other. */
static void copy_span(Lowering *l, const Access *access, const Row *to, const Row *from, V first,
                      V end) {
    LLVMBasicBlockRef before = ll_here(l), body = ll_block(l, "span"),
                      behind = ll_block(l, "after");
    ll_branch(l, ll_compare(l, LLVMIntSLT, first, end), body, behind);
    ll_enter(l, body);
    V at = ll_phi(l, l->i64);
    V target = row_address(l, access, to, at), source = row_address(l, access, from, at);
    LLVMBuildStore(l->builder, LLVMBuildLoad2(l->builder, access->storage, source, ""), target);
    V next = ll_add(l, at, ll_i64(l, 1));
    ll_branch(l, ll_compare(l, LLVMIntSLT, next, end), body, behind);
    ll_incoming(at, first, before);
    ll_incoming(at, next, body);
    ll_enter(l, behind);
}

/* Whether the lanes are in a row and the mask is an interval of them. */
static bool is_span(const Place *place, const Mask *mask) {
    bool row = place->kind == PLACE_contiguous || place->kind == PLACE_spread;
    return row && (mask->lanes ? mask->end != NULL : mask->uniform != NULL);
}

static V span_first(Lowering *l, const Mask *mask) {
    return mask->first ? mask->first : ll_i64(l, 0);
}

static V span_end(Lowering *l, const Place *place, const Mask *mask) {
    V end = mask->end ? mask->end : ll_i64(l, place->lanes);
    return mask->uniform ? ll_select(l, mask->uniform, end, ll_i64(l, 0)) : end;
}

static Row place_row(Lowering *l, const Access *access, const Place *place) {
    return (Row){.base = access_address(l, access, place->base, place->offset),
                 .stride = place->kind == PLACE_spread ? place->stride : ll_i64(l, 1)};
}

static V load_span(Lowering *l, const Access *access, const Place *place, const Mask *mask, V pad) {
    Row spare = {x86_spare(l), ll_i64(l, 1)}, row = place_row(l, access, place);
    LLVMSetAlignment(LLVMBuildStore(l->builder, pad, spare.base), 64);
    copy_span(l, access, &spare, &row, span_first(l, mask), span_end(l, place, mask));
    V load = LLVMBuildLoad2(l->builder, LLVMTypeOf(pad), spare.base, "");
    LLVMSetAlignment(load, 64);
    return load;
}

static void store_span(Lowering *l, const Access *access, const Place *place, const Mask *mask,
                       V value) {
    Row spare = {x86_spare(l), ll_i64(l, 1)}, row = place_row(l, access, place);
    LLVMSetAlignment(LLVMBuildStore(l->builder, value, spare.base), 64);
    copy_span(l, access, &row, &spare, span_first(l, mask), span_end(l, place, mask));
}

/* ---- lane by lane ---------------------------------------------------------------------------- */

static V load_element(Lowering *l, const Access *access, const Place *single, V condition, V pad) {
    V load = load_if(l, access, single, condition, pad);
    if (!nibble_is(access->view->dtype)) return load;
    V element = ll_add(l, single->base, ll_i64(l, single->offset));
    V value = nibble_take(l, access->view->dtype, load, element);
    return condition ? ll_select(l, condition, value, pad) : value;
}

static V load_lanes(Lowering *l, const Access *access, const Place *place, const Mask *mask,
                    V pad) {
    V value = LLVMGetPoison(LLVMTypeOf(pad));
    for (uint32_t lane = 0; lane < place->lanes; lane++) {
        Place single = lane_place(l, access, place, lane);
        V condition = lane_mask(l, mask, lane).uniform;
        V element = load_element(l, access, &single, condition, ll_extract(l, pad, lane));
        value = LLVMBuildInsertElement(l->builder, value, element, ll_i32(l, lane), "");
    }
    return value;
}

/* Points of a grid run on several threads, and rows of an odd number of elements meet in a byte. */
static NibbleOwner nibble_owner(const Lowering *l, const Access *access) {
    const Dim *points = dim_const(l->program->ctx, 1);
    for (uint32_t i = 0; i < l->program->work_rank; i++)
        points = dim_mul(l->program->ctx, points, l->program->work_extents[i]);
    bool shared = access->view->space == SPACE_global && points->hi > 1;
    return shared ? NIBBLE_shared : NIBBLE_alone;
}

static void store_element(Lowering *l, const Access *access, const Place *single, V condition,
                          V value) {
    if (!nibble_is(access->view->dtype)) {
        store_if(l, access, single, condition, value);
        return;
    }
    V element = ll_add(l, single->base, ll_i64(l, single->offset));
    nibble_store(l, address_if(l, access, single, condition), element, value,
                 nibble_owner(l, access));
}

static V lane_addresses(Lowering *l, const Access *access, const Place *place) {
    V offsets = place->offsets;
    if (place->kind == PLACE_spread) {
        V lanes = ll_cast(l, l->model->lane_index(l, place->lanes), l->i64, false);
        V steps = ll_mul(l, lanes, ll_splat(l, place->stride, place->lanes));
        V first = ll_add(l, place->base, ll_i64(l, place->offset));
        offsets = ll_add(l, steps, ll_splat(l, first, place->lanes));
    }
    return LLVMBuildInBoundsGEP2(l->builder, access->storage, access->base, &offsets, 1, "");
}

static V gather(Lowering *l, const Access *access, const Place *place, V lanes, V pad) {
    V addresses = lane_addresses(l, access, place);
    LLVMTypeRef overload[2] = {LLVMTypeOf(pad), LLVMTypeOf(addresses)};
    V all = ll_const(LLVMVectorType(l->i1, place->lanes), -1);
    V args[4] = {addresses, ll_i32(l, element_bytes(access)), lanes ? lanes : all, pad};
    return ll_intrinsic(l, "llvm.masked.gather", overload, 2, args, 4);
}

/* ---- 4-bit registers of whole bytes ---------------------------------------------------------- */

static V bytes_of_nibbles(Lowering *l, const Access *access, const Place *place) {
    V address = access_address(l, access, place->base, place->offset);
    LLVMTypeRef type = ll_lanes(l->i8, place->lanes > 2 ? place->lanes / 2 : 0);
    V load = LLVMBuildLoad2(l->builder, type, address, "");
    access_mark_load(l, access, load, 1);
    return load;
}

/* Lanes 0, 2, 4, … (or 1, 3, …) of one register; scalars for a register of two. */
static V every_other(Lowering *l, V value, uint32_t lanes, uint32_t first) {
    V numbers[64];
    if (lanes == 2) return ll_extract(l, value, first);
    require(lanes / 2 <= sizeof numbers / sizeof *numbers);
    for (uint32_t i = 0; i < lanes / 2; i++) numbers[i] = ll_i32(l, 2 * i + first);
    V poison = LLVMGetPoison(LLVMTypeOf(value));
    return LLVMBuildShuffleVector(l->builder, value, poison, LLVMConstVector(numbers, lanes / 2),
                                  "");
}

static V interleave(Lowering *l, V low, V high, uint32_t lanes) {
    V numbers[128];
    if (lanes == 2) {
        V pair = LLVMGetPoison(LLVMVectorType(l->i8, 2));
        pair = LLVMBuildInsertElement(l->builder, pair, low, ll_i32(l, 0), "");
        return LLVMBuildInsertElement(l->builder, pair, high, ll_i32(l, 1), "");
    }
    require(lanes <= sizeof numbers / sizeof *numbers);
    for (uint32_t i = 0; i < lanes; i++) numbers[i] = ll_i32(l, i % 2 * (lanes / 2) + i / 2);
    return LLVMBuildShuffleVector(l->builder, low, high, LLVMConstVector(numbers, lanes), "");
}

static bool is_whole_bytes(const Place *place, const Mask *mask) {
    return place->even && place->lanes > 1 && !mask->uniform && !mask->lanes;
}

static V load_nibbles(Lowering *l, const Access *access, const Place *place, const Mask *mask,
                      V pad) {
    if (place->lanes == 1) return load_element(l, access, place, mask->uniform, pad);
    if (!is_whole_bytes(place, mask)) return load_lanes(l, access, place, mask, pad);
    DType dtype = access->view->dtype;
    V bytes = bytes_of_nibbles(l, access, place);
    return interleave(l, nibble_low(l, dtype, bytes), nibble_high(l, dtype, bytes), place->lanes);
}

static void store_each(Lowering *l, const Access *access, const Place *place, const Mask *mask,
                       V value) {
    store_element(l, access, place, mask->uniform, value);
}

static void store_nibbles(Lowering *l, const Access *access, const Place *place, const Mask *mask,
                          V value) {
    if (place->lanes == 1) {
        store_element(l, access, place, mask->uniform, value);
    } else if (!is_whole_bytes(place, mask)) {
        x86_each_lane(l, access, place, mask, value, store_each);
    } else {
        V low = every_other(l, value, place->lanes, 0),
          high = every_other(l, value, place->lanes, 1);
        V address = access_address(l, access, place->base, place->offset);
        LLVMSetAlignment(LLVMBuildStore(l->builder, nibble_join(l, low, high), address), 1);
    }
}

/* ---- any register ---------------------------------------------------------------------------- */

/* All lanes one element under a mask of lanes: read if any lane wants it. */
static V load_same(Lowering *l, const Access *access, const Place *place, const Mask *mask, V pad) {
    V bits = LLVMBuildBitCast(l->builder, mask->lanes,
                              LLVMIntTypeInContext(l->context, place->lanes), "");
    V any = ll_compare(l, LLVMIntNE, bits, LLVMConstNull(LLVMTypeOf(bits)));
    Place single = lane_place(l, access, place, 0);
    any = ll_and(l, mask->uniform, any);
    V scalar = load_element(l, access, &single, any, ll_extract(l, pad, 0));
    return ll_select(l, mask->lanes, ll_splat(l, scalar, place->lanes), pad);
}

static V load_cut(Lowering *l, const Access *access, const Place *place, const Mask *mask, V pad) {
    if (has_masked_access(l, access)) return masked_load(l, access, place, mask, pad);
    if (is_span(place, mask)) return load_span(l, access, place, mask, pad);
    return load_lanes(l, access, place, mask, pad);
}

/* Whether an interval is all lanes. In code that stands beside a version without guards it hardly
 * ever is, and nothing is gained by asking: NULL. */
static V takes_all(Lowering *l, const Place *place, const Mask *mask) {
    if (l->general > 0 || !mask->end) return NULL;
    V from = ll_compare(l, LLVMIntEQ, mask->first, ll_i64(l, 0));
    V to = ll_compare(l, LLVMIntEQ, mask->end, ll_i64(l, place->lanes));
    return ll_and(l, mask->uniform, ll_and(l, from, to));
}

static V load_contiguous(Lowering *l, const Access *access, const Place *place, const Mask *mask,
                         V pad) {
    if (!mask->lanes) return load_if(l, access, place, mask->uniform, pad);
    V all = takes_all(l, place, mask);
    if (!all) return load_cut(l, access, place, mask, pad);
    LLVMBasicBlockRef whole = ll_block(l, "whole"), cut = ll_block(l, "cut");
    LLVMBasicBlockRef behind = ll_block(l, "loaded");
    ll_branch(l, all, whole, cut);
    ll_enter(l, whole);
    V plain = load_if(l, access, place, NULL, pad);
    ll_jump(l, behind);
    ll_enter(l, cut);
    V masked = load_cut(l, access, place, mask, pad);
    LLVMBasicBlockRef end = ll_here(l);
    ll_jump(l, behind);
    ll_enter(l, behind);
    V value = ll_phi(l, LLVMTypeOf(plain));
    ll_incoming(value, plain, whole);
    ll_incoming(value, masked, end);
    return value;
}

V x86_load(Lowering *l, const Access *access, const Place *place, const Mask *mask, V pad) {
    if (place->kind == PLACE_same && place->lanes > 1 && mask->lanes)
        return load_same(l, access, place, mask, pad);
    if (nibble_is(access->view->dtype)) return load_nibbles(l, access, place, mask, pad);
    if (place->lanes == 1) return load_if(l, access, place, mask->uniform, pad);
    if (place->kind == PLACE_contiguous) return load_contiguous(l, access, place, mask, pad);
    if (l->gathers && element_bytes(access) >= 4 && place->kind != PLACE_same)
        return gather(l, access, place, guards_lanes(l, mask, place->lanes), pad);
    if (is_span(place, mask)) return load_span(l, access, place, mask, pad);
    return load_lanes(l, access, place, mask, pad);
}

static void store_cut(Lowering *l, const Access *access, const Place *place, const Mask *mask,
                      V value) {
    if (has_masked_access(l, access))
        masked_store(l, access, place, guards_lanes(l, mask, place->lanes), value);
    else if (is_span(place, mask))
        store_span(l, access, place, mask, value);
    else
        x86_each_lane(l, access, place, mask, value, store_each);
}

static void store_contiguous(Lowering *l, const Access *access, const Place *place,
                             const Mask *mask, V value) {
    V all = mask->lanes ? takes_all(l, place, mask) : NULL;
    if (!mask->lanes) {
        store_if(l, access, place, mask->uniform, value);
        return;
    }
    if (!all) {
        store_cut(l, access, place, mask, value);
        return;
    }
    LLVMBasicBlockRef whole = ll_block(l, "whole"), cut = ll_block(l, "cut");
    LLVMBasicBlockRef behind = ll_block(l, "stored");
    ll_branch(l, all, whole, cut);
    ll_enter(l, whole);
    store_if(l, access, place, NULL, value);
    ll_jump(l, behind);
    ll_enter(l, cut);
    store_cut(l, access, place, mask, value);
    ll_jump(l, behind);
    ll_enter(l, behind);
}

void x86_store(Lowering *l, const Access *access, const Place *place, const Mask *mask, V value) {
    if (nibble_is(access->view->dtype))
        store_nibbles(l, access, place, mask, value);
    else if (place->lanes == 1)
        store_if(l, access, place, mask->uniform, value);
    else if (place->kind == PLACE_contiguous)
        store_contiguous(l, access, place, mask, value);
    else if (is_span(place, mask))
        store_span(l, access, place, mask, value);
    else
        x86_each_lane(l, access, place, mask, value, store_each);
}
