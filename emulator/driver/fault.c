/* Failures on request, for the tests of hosts: TCC_EMU_FAIL=FUNCTION:N[:ERROR] makes the Nth call
 * of FUNCTION (by either of its names) fail, with its row's error or the number ERROR. FUNCTION may
 * be "*", the Nth call of any. emuFail sets the same while a program runs. */
#include "emulator/driver/driver.h"
#include "emulator/driver/emu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Fault {
    char function[96];
    long left;      /* calls until it happens; 0: none will */
    CUresult error; /* CUDA_SUCCESS: the row's */
    long calls;     /* since it was set */
} Fault;

/* Part of the driver's state, under its lock. */
static Fault fault;

static bool parse(const char *text, Fault *out_fault) {
    *out_fault = (Fault){0};
    if (text == NULL || *text == 0) return true;
    const char *colon = strchr(text, ':');
    if (colon == NULL || (size_t)(colon - text) >= sizeof out_fault->function) return false;
    memcpy(out_fault->function, text, (size_t)(colon - text));
    char *end;
    out_fault->left = strtol(colon + 1, &end, 10);
    bool good = *end == 0;
    if (*end == ':') {
        out_fault->error = (CUresult)strtol(end + 1, &end, 10);
        good = *end == 0 && out_fault->error > 0;
    }
    return good && out_fault->left > 0;
}

void fault_prepare(void) {
    if (driver.prepared) return;
    driver.prepared = true;
    if (!parse(getenv("TCC_EMU_FAIL"), &fault))
        report_line("TCC_EMU_FAIL is not FUNCTION:N or FUNCTION:N:ERROR: nothing is made to fail");
}

CUresult fault_next(const FunctionRow *row) {
    fault_prepare();
    fault.calls++;
    if (fault.left == 0) return CUDA_SUCCESS;
    if (strcmp(fault.function, "*") != 0 && strcmp(fault.function, row->name) != 0 &&
        strcmp(fault.function, row->symbol) != 0)
        return CUDA_SUCCESS;
    if (--fault.left > 0) return CUDA_SUCCESS;
    return fault.error != CUDA_SUCCESS ? fault.error : row->failure;
}

int emuFail(const char *failure) {
    pthread_mutex_lock(&driver.lock);
    driver.prepared = true;
    Fault parsed;
    bool good = parse(failure, &parsed);
    if (good) fault = parsed;
    pthread_mutex_unlock(&driver.lock);
    return good ? 0 : 1;
}

long emuCalls(void) {
    pthread_mutex_lock(&driver.lock);
    long calls = fault.calls;
    pthread_mutex_unlock(&driver.lock);
    return calls;
}
