/* Errors: their names and texts, and what the machine's statuses are here. */
#include "emulator/driver/driver.h"

typedef struct ErrorRow {
    CUresult number;
    const char *name, *text;
    bool sticky;
} ErrorRow;

static const ErrorRow rows[] = {
#define ERROR(name, number, text, sticky) {name, #name, text, sticky},
#include "emulator/driver/errors.def"
#undef ERROR
};

static const ErrorRow *find(CUresult error) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].number == error) return &rows[i];
    return NULL;
}

CUresult error_name(CUresult error, const char **text) {
    if (text == NULL) return CUDA_ERROR_INVALID_VALUE;
    const ErrorRow *row = find(error);
    *text = row != NULL ? row->name : NULL;
    return row != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult error_string(CUresult error, const char **text) {
    if (text == NULL) return CUDA_ERROR_INVALID_VALUE;
    const ErrorRow *row = find(error);
    *text = row != NULL ? row->text : NULL;
    return row != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

bool result_is_sticky(CUresult result) {
    const ErrorRow *row = find(result);
    return row != NULL && row->sticky;
}

CUresult result_from_status(EmuStatus status) {
    static const CUresult results[] = {
        [EMU_OK] = CUDA_SUCCESS,
        [EMU_OUT_OF_MEMORY] = CUDA_ERROR_OUT_OF_MEMORY,
        [EMU_INVALID_VALUE] = CUDA_ERROR_INVALID_VALUE,
        [EMU_INVALID_PTX] = CUDA_ERROR_INVALID_PTX,
        [EMU_UNSUPPORTED_VERSION] = CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
        [EMU_NO_BINARY] = CUDA_ERROR_NO_BINARY_FOR_GPU,
        [EMU_OUT_OF_RESOURCES] = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
        [EMU_COOPERATIVE_TOO_LARGE] = CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
        [EMU_INVALID_CLUSTER] = CUDA_ERROR_INVALID_CLUSTER_SIZE,
        [EMU_ILLEGAL_ADDRESS] = CUDA_ERROR_ILLEGAL_ADDRESS,
        [EMU_MISALIGNED_ADDRESS] = CUDA_ERROR_MISALIGNED_ADDRESS,
        [EMU_INVALID_SPACE] = CUDA_ERROR_INVALID_ADDRESS_SPACE,
        [EMU_ILLEGAL_INSTRUCTION] = CUDA_ERROR_ILLEGAL_INSTRUCTION,
        [EMU_ASSERT] = CUDA_ERROR_ASSERT,
        [EMU_LAUNCH_FAILED] = CUDA_ERROR_LAUNCH_FAILED,
        [EMU_TIMEOUT] = CUDA_ERROR_LAUNCH_TIMEOUT,
    };
    return (size_t)status < sizeof results / sizeof *results ? results[status] : CUDA_ERROR_UNKNOWN;
}
