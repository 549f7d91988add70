/* Fills: rows of one value of 1, 2 or 4 bytes. */
#include "emulator/driver/driver.h"

#include <string.h>

static bool range_of(const CUDA_MEMSET_NODE_PARAMS *f, uint64_t *out_size) {
    uint64_t row, before;
    if (__builtin_mul_overflow(f->width, f->element_size, &row)) return false;
    if (f->height > 1 && f->pitch < row) return false;
    if (__builtin_mul_overflow(f->pitch, f->height - 1, &before)) return false;
    return !__builtin_add_overflow(before, row, out_size);
}

static bool find(const CUDA_MEMSET_NODE_PARAMS *f, EmuBlock *out_block) {
    uint64_t size;
    return range_of(f, &size) && emu_memory_find(driver.memory, f->dst, size, out_block) &&
           out_block->live;
}

CUresult fill_check(const CUDA_MEMSET_NODE_PARAMS *f) {
    if (f->element_size != 1 && f->element_size != 2 && f->element_size != 4)
        return CUDA_ERROR_INVALID_VALUE;
    if (f->width == 0 || f->height == 0) return CUDA_SUCCESS;
    EmuBlock block;
    if (f->dst % f->element_size != 0 || !find(f, &block)) return CUDA_ERROR_INVALID_VALUE;
    return f->height == 1 || f->pitch % f->element_size == 0 ? CUDA_SUCCESS
                                                             : CUDA_ERROR_INVALID_VALUE;
}

static void fill_row(uint8_t *bytes, const CUDA_MEMSET_NODE_PARAMS *f) {
    for (size_t i = 0; i < f->width; i++)
        memcpy(bytes + i * f->element_size, &f->value, f->element_size);
}

CUresult fill_run(const CUDA_MEMSET_NODE_PARAMS *f) {
    if (f->width == 0 || f->height == 0) return CUDA_SUCCESS;
    EmuBlock block;
    if (!find(f, &block)) return CUDA_ERROR_ILLEGAL_ADDRESS; /* freed since */
    for (size_t y = 0; y < f->height; y++) {
        uint64_t row = f->dst + y * f->pitch;
        fill_row(block.bytes + (row - block.address), f);
        emu_block_mark_written(&block, row, f->width * f->element_size);
    }
    return CUDA_SUCCESS;
}

/* Only a fill of the host's memory is waited for, and that only by the calls without a stream. */
static CUresult submit(CUDA_MEMSET_NODE_PARAMS fill, CUstream handle, bool waits) {
    Stream *stream;
    CUresult result = stream_from_handle(handle, &stream);
    if (result == CUDA_SUCCESS) result = fill_check(&fill);
    if (result != CUDA_SUCCESS) return result;
    Action action = {.kind = ACTION_fill, .as.fill = fill};
    result = stream_submit(stream, &action);
    EmuBlock block;
    if (result != CUDA_SUCCESS || !waits || !find(&fill, &block) || block.kind != EMU_BLOCK_host)
        return result;
    return stream_finish(stream);
}

static CUDA_MEMSET_NODE_PARAMS rows(CUdeviceptr dst, size_t pitch, uint32_t value, uint32_t size,
                                    size_t width, size_t height) {
    return (CUDA_MEMSET_NODE_PARAMS){dst, pitch, value, size, width, height};
}

CUresult fill_8(CUdeviceptr dst, unsigned char value, size_t count) {
    return submit(rows(dst, 0, value, 1, count, 1), NULL, true);
}

CUresult fill_16(CUdeviceptr dst, unsigned short value, size_t count) {
    return submit(rows(dst, 0, value, 2, count, 1), NULL, true);
}

CUresult fill_32(CUdeviceptr dst, unsigned value, size_t count) {
    return submit(rows(dst, 0, value, 4, count, 1), NULL, true);
}

CUresult fill_2d_8(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width,
                   size_t height) {
    return submit(rows(dst, pitch, value, 1, width, height), NULL, true);
}

CUresult fill_2d_16(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width,
                    size_t height) {
    return submit(rows(dst, pitch, value, 2, width, height), NULL, true);
}

CUresult fill_2d_32(CUdeviceptr dst, size_t pitch, unsigned value, size_t width, size_t height) {
    return submit(rows(dst, pitch, value, 4, width, height), NULL, true);
}

CUresult fill_8_async(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream) {
    return submit(rows(dst, 0, value, 1, count, 1), stream, false);
}

CUresult fill_16_async(CUdeviceptr dst, unsigned short value, size_t count, CUstream stream) {
    return submit(rows(dst, 0, value, 2, count, 1), stream, false);
}

CUresult fill_32_async(CUdeviceptr dst, unsigned value, size_t count, CUstream stream) {
    return submit(rows(dst, 0, value, 4, count, 1), stream, false);
}

CUresult fill_2d_8_async(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width,
                         size_t height, CUstream stream) {
    return submit(rows(dst, pitch, value, 1, width, height), stream, false);
}

CUresult fill_2d_16_async(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width,
                          size_t height, CUstream stream) {
    return submit(rows(dst, pitch, value, 2, width, height), stream, false);
}

CUresult fill_2d_32_async(CUdeviceptr dst, size_t pitch, unsigned value, size_t width,
                          size_t height, CUstream stream) {
    return submit(rows(dst, pitch, value, 4, width, height), stream, false);
}
