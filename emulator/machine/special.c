/* Values of special registers. Those of a thread or its CTA stand in the warp's block from the
 * beginning; clocks are read when an instruction names them. Time is counted in instructions, so
 * that it goes on in every loop and is the same each run. */
#include "emulator/machine/special.h"

#include "emulator/machine/decode.h"
#include "emulator/machine/lanes.h"

/* Linear in the block: lane 0 of warp 0 is (0, 0, 0). */
static uint32_t thread_component(const Warp *warp, int lane, int component) {
    const uint32_t *block = warp->cta->launch->what->block;
    uint32_t thread = warp->index * EMU_LANES + (uint32_t)lane;
    switch (component) {
    case 0: return thread % block[0];
    case 1: return thread / block[0] % block[1];
    case 2: return thread / block[0] / block[1];
    default: return 0;
    }
}

/* The value in one lane; those that a warp has in common do not look at it. */
static uint64_t special_value(const Warp *warp, PtxSpecial special, int component, int lane) {
    const Cta *cta = warp->cta;
    const Launch *launch = cta->launch;
    const EmuModel *model = emu_device_model(launch->device);
    bool three = component < 3;
    uint32_t bit = 1u << lane;
    switch (special) {
    case PTX_SPECIAL_tid: return thread_component(warp, lane, component);
    case PTX_SPECIAL_ntid: return three ? launch->what->block[component] : 0;
    case PTX_SPECIAL_ctaid:
    case PTX_SPECIAL_clusterid: return three ? cta->index[component] : 0;
    case PTX_SPECIAL_nctaid:
    case PTX_SPECIAL_nclusterid: return three ? launch->what->grid[component] : 0;
    case PTX_SPECIAL_cluster_nctaid: return three ? 1 : 0;
    case PTX_SPECIAL_cluster_nctarank: return 1;
    case PTX_SPECIAL_laneid: return (uint32_t)lane;
    case PTX_SPECIAL_warpid: return warp->index;
    case PTX_SPECIAL_nwarpid: return (uint32_t)model->max_threads_per_multiprocessor / EMU_LANES;
    case PTX_SPECIAL_smid: return cta->index[0] % (uint32_t)model->multiprocessors;
    case PTX_SPECIAL_nsmid: return (uint32_t)model->multiprocessors;
    case PTX_SPECIAL_gridid: return launch->grid_id;
    case PTX_SPECIAL_lanemask_eq: return bit;
    case PTX_SPECIAL_lanemask_lt: return bit - 1;
    case PTX_SPECIAL_lanemask_le: return bit | (bit - 1);
    case PTX_SPECIAL_lanemask_ge: return ~(bit - 1);
    case PTX_SPECIAL_lanemask_gt: return ~(bit | (bit - 1));
    case PTX_SPECIAL_dynamic_smem_size: return launch->what->dynamic_shared;
    case PTX_SPECIAL_total_smem_size:
    case PTX_SPECIAL_aggr_smem_size: return launch->shared_bytes;
    case PTX_SPECIAL_reserved_smem_offset_end:
    case PTX_SPECIAL_reserved_smem_offset_cap: return (uint32_t)model->shared_reserved;
    default: return 0; /* performance counters, environment, clusters of one */
    }
}

/* Most are the same in every CTA that a warp belongs to, one after the other. */
static bool depends_on_cta(PtxSpecial special) {
    return special == PTX_SPECIAL_ctaid || special == PTX_SPECIAL_clusterid ||
           special == PTX_SPECIAL_smid;
}

void special_fill(Warp *warp, bool first) {
    const Program *program = warp->program;
    for (uint32_t k = 0; k < program->special_count; k++) {
        const ProgramSpecial *special = &program->specials[k];
        PtxSpecial name = (PtxSpecial)special->special;
        if (!first && !depends_on_cta(name)) continue;
        uint8_t *block = warp->bases[BASE_specials] + special->offset;
        bool is_long = ptx_type_bits(ptx_special_type(name)) == 64;
        for (int i = 0; i < EMU_LANES; i++) {
            uint64_t value = special_value(warp, name, special->component, i);
            if (is_long)
                ((LaneU64 *)(void *)block)[i] = value;
            else
                ((LaneU32 *)(void *)block)[i] = (uint32_t)value;
        }
    }
}

/* A record that the decoder puts before an instruction that reads a clock; immediate: which. */
Step special_read(Warp *warp, const Record *record, uint32_t lanes) {
    PtxSpecial special = (PtxSpecial)record->immediate;
    bool upper = special == PTX_SPECIAL_clock_hi || special == PTX_SPECIAL_globaltimer_hi;
    bool is_long = ptx_type_bits(ptx_special_type(special)) == 64;
    uint64_t now = warp->steps;
    void *d = warp_slot(warp, record->slot[0]);
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(lanes >> i & 1)) continue;
        if (is_long)
            ((LaneU64 *)d)[i] = now;
        else
            ((LaneU32 *)d)[i] = (uint32_t)(upper ? now >> 32 : now);
    }
    return STEP_next;
}
