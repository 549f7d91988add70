/* Copies and fills. Everything is a three-dimensional copy between two sides; it is checked when it
 * is asked for, and carried out when its turn in the stream has come.
 *
 * How much a host may rely on is what the API says and no more: a copy from pageable memory takes
 * the bytes at once and is carried out later, one to pageable memory is waited for, one between
 * pinned and device memory is neither, and copies on the device never wait. */
#include "emulator/driver/driver.h"

#include <stdlib.h>
#include <string.h>

/* ---- the sides of a copy --------------------------------------------------------------------- */

typedef struct Side {
    CUmemorytype type;
    uint64_t address;
    size_t x, y, z, pitch, height;
} Side;

/* A pitch or height of 0 is that of the copy. */
static Side make_side(const CUDA_MEMCPY3D *c, CUmemorytype type, uint64_t address, size_t x,
                      size_t y, size_t z, size_t pitch, size_t height) {
    return (Side){type,
                  address,
                  x,
                  y,
                  z,
                  pitch != 0 ? pitch : x + c->width,
                  height != 0 ? height : y + c->height};
}

static Side source_of(const CUDA_MEMCPY3D *c) {
    bool host = c->src_type == CU_MEMORYTYPE_HOST;
    return make_side(c, c->src_type, host ? (uint64_t)(uintptr_t)c->src_host : c->src_device,
                     c->src_x, c->src_y, c->src_z, c->src_pitch, c->src_height);
}

static Side destination_of(const CUDA_MEMCPY3D *c) {
    bool host = c->dst_type == CU_MEMORYTYPE_HOST;
    return make_side(c, c->dst_type, host ? (uint64_t)(uintptr_t)c->dst_host : c->dst_device,
                     c->dst_x, c->dst_y, c->dst_z, c->dst_pitch, c->dst_height);
}

/* sum += a * b; false when that is no number of 64 bits. */
static bool add_product(uint64_t *sum, uint64_t a, uint64_t b) {
    uint64_t product;
    return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*sum, product, sum);
}

/* The bytes from the side's first to its last; false when they are more than there are. */
static bool side_range(const CUDA_MEMCPY3D *c, const Side *s, uint64_t *out_first,
                       uint64_t *out_size) {
    uint64_t slice = 0, first = s->x, size = c->width, end;
    if (!add_product(&slice, s->pitch, s->height) || !add_product(&first, s->pitch, s->y) ||
        !add_product(&first, slice, s->z) || !add_product(&size, s->pitch, c->height - 1) ||
        !add_product(&size, slice, c->depth - 1))
        return false;
    *out_size = size;
    return !__builtin_add_overflow(first, s->address, out_first) &&
           !__builtin_add_overflow(*out_first, size, &end);
}

/* Rows and slices do not overlap. */
static bool side_holds(const CUDA_MEMCPY3D *c, const Side *s) {
    return c->width <= s->pitch && s->x <= s->pitch - c->width && c->height <= s->height &&
           s->y <= s->height - c->height;
}

static bool is_on_device(const EmuBlock *block) {
    return block->kind == EMU_BLOCK_device || block->kind == EMU_BLOCK_module;
}

/* Device memory has to be there; what is the host's may be any, but not the device's. */
static bool side_is_good(const CUDA_MEMCPY3D *c, const Side *s) {
    uint64_t first, size;
    if (s->address == 0 || !side_holds(c, s) || !side_range(c, s, &first, &size)) return false;
    EmuBlock block;
    bool known = emu_memory_find(driver.memory, first, 1, &block);
    if (known && (!block.live || size > block.address + block.size - first)) return false;
    if (!known) return s->type != CU_MEMORYTYPE_DEVICE && !emu_memory_owns(driver.memory, first);
    return s->type != CU_MEMORYTYPE_HOST || !is_on_device(&block);
}

static bool type_is_known(CUmemorytype type) {
    return type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE ||
           type == CU_MEMORYTYPE_UNIFIED;
}

static bool is_empty(const CUDA_MEMCPY3D *c) {
    return c->width == 0 || c->height == 0 || c->depth == 0;
}

CUresult copy_check(const CUDA_MEMCPY3D *c) {
    if (c->src_type == CU_MEMORYTYPE_ARRAY || c->dst_type == CU_MEMORYTYPE_ARRAY)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!type_is_known(c->src_type) || !type_is_known(c->dst_type) || c->src_lod != 0 ||
        c->dst_lod != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (is_empty(c)) return CUDA_SUCCESS;
    Side from = source_of(c), to = destination_of(c);
    return side_is_good(c, &from) && side_is_good(c, &to) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- carrying out ---------------------------------------------------------------------------- */

/* One side's bytes; a block of zeros is pageable memory. */
typedef struct Bytes {
    EmuBlock block;
    uint8_t *base; /* base[offset from the side's address] */
} Bytes;

static bool find_bytes(const CUDA_MEMCPY3D *c, const Side *s, Bytes *out) {
    uint64_t first, size;
    *out = (Bytes){.base = (uint8_t *)(uintptr_t)s->address};
    if (!side_range(c, s, &first, &size)) return false;
    if (!emu_memory_find(driver.memory, first, 1, &out->block)) {
        out->block = (EmuBlock){0};
        return s->type != CU_MEMORYTYPE_DEVICE;
    }
    out->base = out->block.bytes - (out->block.address - s->address);
    return out->block.live && size <= out->block.address + out->block.size - first;
}

static uint64_t row_offset(const Side *s, size_t y, size_t z) {
    return ((z + s->z) * s->height + y + s->y) * s->pitch + s->x;
}

static void copy_row(const Bytes *to, const Side *ts, uint64_t t, const uint8_t *bytes,
                     const Bytes *from, uint64_t from_address, size_t width) {
    memmove(to->base + t, bytes, width);
    if (from != NULL)
        emu_block_copy_written(&to->block, ts->address + t, &from->block, from_address, width);
    else
        emu_block_mark_written(&to->block, ts->address + t, width);
}

CUresult copy_run(const CopyAction *action) {
    const CUDA_MEMCPY3D *c = &action->copy;
    if (is_empty(c)) return CUDA_SUCCESS;
    Side from = source_of(c), to = destination_of(c);
    Bytes f = {0}, t;
    const uint8_t *staged = action->staged;
    if (!find_bytes(c, &to, &t) || (staged == NULL && !find_bytes(c, &from, &f)))
        return CUDA_ERROR_ILLEGAL_ADDRESS; /* freed since */
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++) {
            uint64_t source = row_offset(&from, y, z);
            const uint8_t *row =
                staged != NULL ? staged + (z * c->height + y) * c->width : f.base + source;
            copy_row(&t, &to, row_offset(&to, y, z), row, staged != NULL ? NULL : &f,
                     from.address + source, c->width);
        }
    return CUDA_SUCCESS;
}

/* ---- asking for a copy ----------------------------------------------------------------------- */

static bool is_pageable(uint64_t address) {
    EmuBlock block;
    return !emu_memory_find(driver.memory, address, 1, &block);
}

/* The rows of a pageable source, one behind the other. */
static bool stage(CopyAction *action) {
    const CUDA_MEMCPY3D *c = &action->copy;
    Side from = source_of(c);
    uint8_t *rows = malloc(c->width * c->height * c->depth + 1);
    if (rows == NULL) return false;
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++)
            memcpy(rows + (z * c->height + y) * c->width,
                   (const uint8_t *)(uintptr_t)from.address + row_offset(&from, y, z), c->width);
    action->staged = rows;
    return true;
}

typedef enum Wait { WAIT_never, WAIT_for_host } Wait;

static CUresult submit(const CUDA_MEMCPY3D *copy, CUstream handle, Wait wait) {
    Stream *stream;
    CUresult result = stream_from_handle(handle, &stream);
    if (result == CUDA_SUCCESS) result = copy_check(copy);
    if (result != CUDA_SUCCESS) return result;
    Action action = {.kind = ACTION_copy, .as.copy.copy = *copy};
    if (stream->capture != NULL) return stream_submit(stream, &action);
    if (is_empty(copy)) return CUDA_SUCCESS;
    Side from = source_of(copy), to = destination_of(copy);
    bool from_pageable = is_pageable(from.address), to_pageable = is_pageable(to.address);
    if (from_pageable && !stage(&action.as.copy)) return CUDA_ERROR_OUT_OF_MEMORY;
    result = stream_submit(stream, &action);
    if (result != CUDA_SUCCESS) return result;
    EmuBlock f, t;
    bool on_device = emu_memory_find(driver.memory, from.address, 1, &f) && is_on_device(&f) &&
                     emu_memory_find(driver.memory, to.address, 1, &t) && is_on_device(&t);
    bool must_wait = to_pageable || (wait == WAIT_for_host && !on_device && !from_pageable);
    return must_wait ? stream_finish(stream) : CUDA_SUCCESS;
}

static CUDA_MEMCPY3D flat(CUmemorytype dst_type, uint64_t dst, CUmemorytype src_type, uint64_t src,
                          size_t size) {
    return (CUDA_MEMCPY3D){.src_type = src_type,
                           .src_host = (const void *)(uintptr_t)src,
                           .src_device = src,
                           .dst_type = dst_type,
                           .dst_host = (void *)(uintptr_t)dst,
                           .dst_device = dst,
                           .width = size,
                           .height = 1,
                           .depth = 1};
}

static CUresult submit_flat(CUmemorytype dst_type, uint64_t dst, CUmemorytype src_type,
                            uint64_t src, size_t size, CUstream stream, Wait wait) {
    CUDA_MEMCPY3D copy = flat(dst_type, dst, src_type, src, size);
    return submit(&copy, stream, wait);
}

CUresult copy_any(CUdeviceptr dst, CUdeviceptr src, size_t size) {
    return submit_flat(CU_MEMORYTYPE_UNIFIED, dst, CU_MEMORYTYPE_UNIFIED, src, size, NULL,
                       WAIT_for_host);
}

CUresult copy_any_async(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream) {
    return submit_flat(CU_MEMORYTYPE_UNIFIED, dst, CU_MEMORYTYPE_UNIFIED, src, size, stream,
                       WAIT_never);
}

CUresult copy_to_device(CUdeviceptr dst, const void *src, size_t size) {
    return submit_flat(CU_MEMORYTYPE_DEVICE, dst, CU_MEMORYTYPE_HOST, (uint64_t)(uintptr_t)src,
                       size, NULL, WAIT_for_host);
}

CUresult copy_to_device_async(CUdeviceptr dst, const void *src, size_t size, CUstream stream) {
    return submit_flat(CU_MEMORYTYPE_DEVICE, dst, CU_MEMORYTYPE_HOST, (uint64_t)(uintptr_t)src,
                       size, stream, WAIT_never);
}

CUresult copy_to_host(void *dst, CUdeviceptr src, size_t size) {
    return submit_flat(CU_MEMORYTYPE_HOST, (uint64_t)(uintptr_t)dst, CU_MEMORYTYPE_DEVICE, src,
                       size, NULL, WAIT_for_host);
}

CUresult copy_to_host_async(void *dst, CUdeviceptr src, size_t size, CUstream stream) {
    return submit_flat(CU_MEMORYTYPE_HOST, (uint64_t)(uintptr_t)dst, CU_MEMORYTYPE_DEVICE, src,
                       size, stream, WAIT_never);
}

CUresult copy_on_device(CUdeviceptr dst, CUdeviceptr src, size_t size) {
    return submit_flat(CU_MEMORYTYPE_DEVICE, dst, CU_MEMORYTYPE_DEVICE, src, size, NULL,
                       WAIT_for_host);
}

CUresult copy_on_device_async(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream) {
    return submit_flat(CU_MEMORYTYPE_DEVICE, dst, CU_MEMORYTYPE_DEVICE, src, size, stream,
                       WAIT_never);
}

static CUDA_MEMCPY3D in_three(const CUDA_MEMCPY2D *c) {
    return (CUDA_MEMCPY3D){.src_x = c->src_x,
                           .src_y = c->src_y,
                           .src_type = c->src_type,
                           .src_host = c->src_host,
                           .src_device = c->src_device,
                           .src_pitch = c->src_pitch,
                           .dst_x = c->dst_x,
                           .dst_y = c->dst_y,
                           .dst_type = c->dst_type,
                           .dst_host = c->dst_host,
                           .dst_device = c->dst_device,
                           .dst_pitch = c->dst_pitch,
                           .width = c->width,
                           .height = c->height,
                           .depth = 1};
}

static CUresult submit_2d(const CUDA_MEMCPY2D *copy, CUstream stream, Wait wait) {
    if (copy == NULL) return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D three = in_three(copy);
    return submit(&three, stream, wait);
}

CUresult copy_2d(const CUDA_MEMCPY2D *copy) { return submit_2d(copy, NULL, WAIT_for_host); }

CUresult copy_2d_async(const CUDA_MEMCPY2D *copy, CUstream stream) {
    return submit_2d(copy, stream, WAIT_never);
}

CUresult copy_3d(const CUDA_MEMCPY3D *copy) {
    return copy == NULL ? CUDA_ERROR_INVALID_VALUE : submit(copy, NULL, WAIT_for_host);
}

CUresult copy_3d_async(const CUDA_MEMCPY3D *copy, CUstream stream) {
    return copy == NULL ? CUDA_ERROR_INVALID_VALUE : submit(copy, stream, WAIT_never);
}
