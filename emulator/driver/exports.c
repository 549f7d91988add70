/* The functions that the library exports: each checks what its row says that it needs, under the
 * lock, and calls its body. And the names by which hosts ask for them. */
#include "emulator/driver/driver.h"

#include <string.h>

typedef enum Need { NEED_NONE, NEED_INIT, NEED_CONTEXT, NEED_UNCAPTURED } Need;

enum {
#define FUNCTION(name, symbol, body, since, need, failure, parameters, arguments) ROW_##symbol,
#define ALIAS(name, symbol, since) ROW_ALIAS_##name,
#include "emulator/driver/functions.def"
    ROW_COUNT
};

const FunctionRow function_rows[] = {
#define FUNCTION(name, symbol, body, since, need, failure, parameters, arguments)                  \
    {#name, #symbol, since, CUDA_ERROR_##failure, (void (*)(void))symbol},
#define ALIAS(name, symbol, since)                                                                 \
    {#name, #symbol, since, CUDA_ERROR_UNKNOWN, (void (*)(void))symbol},
#include "emulator/driver/functions.def"
};

const int function_row_count = ROW_COUNT;

static CUresult check_need(Need need) {
    if (need == NEED_NONE) return CUDA_SUCCESS;
    if (!driver.initialised) return CUDA_ERROR_NOT_INITIALIZED;
    if (thread.in_callback) return CUDA_ERROR_NOT_PERMITTED;
    if (need == NEED_INIT) return CUDA_SUCCESS;
    Context *context;
    CUresult result = context_current(&context);
    if (result == CUDA_SUCCESS && need == NEED_UNCAPTURED && capture_forbids(context))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return result;
}

/* A fault that was asked for spoils the context as the real one would. */
static CUresult check_fault(int row) {
    CUresult result = fault_next(&function_rows[row]);
    Context *context = driver.initialised ? context_current_any() : NULL;
    if (result_is_sticky(result) && context != NULL) context_fail(context, result);
    return result;
}

/* Takes the lock, and gives it back when the call cannot go on. */
static CUresult call_begin(int row, Need need) {
    pthread_mutex_lock(&driver.lock);
    CUresult result = check_need(need);
    if (result == CUDA_SUCCESS) result = check_fault(row);
    if (result == CUDA_SUCCESS)
        driver.calls++;
    else
        pthread_mutex_unlock(&driver.lock);
    return result;
}

static CUresult call_end(CUresult result) {
    if (--driver.calls == 0) objects_bury();
    pthread_mutex_unlock(&driver.lock);
    return result;
}

#define FUNCTION(name, symbol, body, since, need, failure, parameters, arguments)                  \
    CUresult symbol parameters {                                                                   \
        CUresult result = call_begin(ROW_##symbol, NEED_##need);                                   \
        if (result != CUDA_SUCCESS) return result;                                                 \
        return call_end(body arguments);                                                           \
    }
#include "emulator/driver/functions.def"

/* ---- by name --------------------------------------------------------------------------------- */

/* The newest symbol of the name that a host of that version knows. */
static const FunctionRow *find_row(const char *name, int version, bool *out_known) {
    const FunctionRow *best = NULL;
    *out_known = false;
    for (int i = 0; i < ROW_COUNT; i++) {
        const FunctionRow *row = &function_rows[i];
        if (strcmp(row->name, name) != 0) continue;
        *out_known = true;
        if (row->since <= version && (best == NULL || row->since > best->since)) best = row;
    }
    return best;
}

CUresult address_get(const char *name, void **address, int version, uint64_t flags,
                     CUdriverProcAddressQueryResult *status) {
    const uint64_t streams =
        CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (name == NULL || address == NULL || (flags & ~streams) != 0 || flags == streams)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) return CUDA_ERROR_NOT_SUPPORTED;
    bool known;
    const FunctionRow *row = find_row(name, version, &known);
    *address = NULL;
    if (row != NULL) memcpy(address, &row->address, sizeof *address);
    if (status != NULL)
        *status = row != NULL ? CU_GET_PROC_ADDRESS_SUCCESS
                  : known     ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                              : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return row != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult address_get_v1(const char *name, void **address, int version, uint64_t flags) {
    return address_get(name, address, version, flags, NULL);
}

/* The tables of functions that NVIDIA's own libraries share with the driver are not public. */
CUresult address_table(const void **table, const CUuuid *id) {
    if (table == NULL || id == NULL) return CUDA_ERROR_INVALID_VALUE;
    *table = NULL;
    return CUDA_ERROR_NOT_FOUND;
}
