/* Where models can run. */
#include "compiler/session.h"
#include "runtime/cuda_devices.h"
#include "runtime/features.h"
#include "runtime/structs.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

static int cpu_threads(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static void describe_cpu(tcc_device_info *info) {
    const char *level = NULL;
    uint32_t have = cpu_features();
    for (uint32_t i = 0; target_at(i) != NULL; i++)
        if (target_at(i)->kind == TARGET_cpu && (target_at(i)->features & ~have) == 0)
            level = target_at(i)->name;
    info->usable = level != NULL;
    snprintf(info->device, sizeof info->device, "cpu");
    snprintf(info->text, sizeof info->text, "%s, %d threads",
             level != NULL ? level : "a processor without AVX2, which models need", cpu_threads());
}

/* Device `index` of a kind that has `count`, or the one row that says why it has none. */
static void describe_gpu(tcc_device_info *info, const char *kind, int count, uint32_t index) {
    bool numbered = strcmp(kind, "cuda") == 0 && count > 0;
    if (numbered)
        snprintf(info->device, sizeof info->device, "%s:%u", kind, index);
    else
        snprintf(info->device, sizeof info->device, "%s", kind);
    if (count > 0)
        info->usable = cuda_describe_device(kind, (int)index, info->text, sizeof info->text);
}

tcc_status tcc_device_at(uint32_t index, tcc_device_info *out_info) {
    tcc_device_info info = {0};
    uint32_t rest = index - 1;
    bool found = index == 0;
    if (out_info == NULL) return TCC_INVALID;
    if (found) describe_cpu(&info);
    static const char *const kinds[] = {"cuda", "emu"};
    for (int k = 0; k < 2 && !found; k++) {
        int count = cuda_count_devices(kinds[k], info.text, sizeof info.text);
        uint32_t rows = count > 0 ? (uint32_t)count : 1;
        found = rest < rows;
        if (found) describe_gpu(&info, kinds[k], count, rest);
        rest -= rows;
    }
    size_t least = STRUCT_UPTO(tcc_device_info, text);
    return found && struct_give(out_info, &info, sizeof info, least) ? TCC_OK : TCC_INVALID;
}
