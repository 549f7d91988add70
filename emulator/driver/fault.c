/* Failures on request, for the tests of hosts: TCC_EMU_FAIL=FUNCTION:N[:ERROR] makes the Nth call
 * of FUNCTION (by either of its names) fail, with its row's error or the number ERROR. FUNCTION may
 * be "*", the Nth call of any. Several are separated by commas. emuFail sets the same while a
 * program runs. */
#include "emulator/driver/driver.h"
#include "emulator/driver/emu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };

typedef struct Fault {
    char function[96];
    long left;      /* calls until it happens; 0: it did */
    CUresult error; /* CUDA_SUCCESS: the row's */
} Fault;

typedef struct Faults {
    Fault rows[MOST];
    int count;
    long calls, failures; /* since they were set */
    const char *problem;  /* what is wrong with TCC_EMU_FAIL */
} Faults;

/* Part of the driver's state, under its lock. */
static Faults faults;

static bool names(const char *function, const FunctionRow *row) {
    return strcmp(function, "*") == 0 || strcmp(function, row->name) == 0 ||
           strcmp(function, row->symbol) == 0;
}

static bool is_known(const char *function) {
    for (int i = 0; i < function_row_count; i++)
        if (names(function, &function_rows[i])) return true;
    return false;
}

/* One of the list, up to a comma or the end; NULL when it is none. */
static const char *parse_one(const char *text, Fault *out_fault) {
    *out_fault = (Fault){0};
    const char *colon = text + strcspn(text, ":,");
    if (*colon != ':' || (size_t)(colon - text) >= sizeof out_fault->function) return NULL;
    memcpy(out_fault->function, text, (size_t)(colon - text));
    if (!is_known(out_fault->function)) return NULL;
    char *end;
    out_fault->left = strtol(colon + 1, &end, 10);
    if (*end == ':') {
        out_fault->error = (CUresult)strtol(end + 1, &end, 10);
        if (out_fault->error <= 0) return NULL;
    }
    return out_fault->left > 0 && (*end == 0 || *end == ',') ? end : NULL;
}

static bool parse(const char *text, Faults *out_faults) {
    *out_faults = (Faults){0};
    if (text == NULL || *text == 0) return true;
    while (out_faults->count < MOST) {
        text = parse_one(text, &out_faults->rows[out_faults->count++]);
        if (text == NULL || *text == 0) return text != NULL;
        text++;
    }
    return false;
}

void fault_prepare(void) {
    if (driver.prepared) return;
    driver.prepared = true;
    if (parse(getenv("TCC_EMU_FAIL"), &faults)) return;
    faults = (Faults){.problem = "TCC_EMU_FAIL is not FUNCTION:N or FUNCTION:N:ERROR, several "
                                 "with commas, of functions of the driver"};
}

const char *fault_problem(void) { return faults.problem; }

CUresult fault_next(const FunctionRow *row) {
    CUresult result = CUDA_SUCCESS;
    fault_prepare();
    faults.calls++;
    for (int i = 0; i < faults.count; i++) {
        Fault *fault = &faults.rows[i];
        if (fault->left == 0 || !names(fault->function, row) || --fault->left > 0) continue;
        result = fault->error != CUDA_SUCCESS ? fault->error : row->failure;
    }
    faults.failures += result != CUDA_SUCCESS;
    return result;
}

int emuFail(const char *failure) {
    pthread_mutex_lock(&driver.lock);
    driver.prepared = true;
    Faults parsed;
    bool good = parse(failure, &parsed);
    if (good) faults = parsed;
    pthread_mutex_unlock(&driver.lock);
    return good ? 0 : 1;
}

static long read_count(const long *count) {
    pthread_mutex_lock(&driver.lock);
    long value = *count;
    pthread_mutex_unlock(&driver.lock);
    return value;
}

long emuCalls(void) { return read_count(&faults.calls); }
long emuFailures(void) { return read_count(&faults.failures); }
