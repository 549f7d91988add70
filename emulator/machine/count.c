/* Counters of a launch. */
#include "emulator/machine/count.h"

#include "emulator/machine/vector.h"

/* Distinct values of `granule`-sized pieces among the lanes' bytes; the list is short. */
static uint32_t distinct(const uint64_t *pieces, uint32_t count) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = 0;
        while (k < i && pieces[k] != pieces[i]) k++;
        found += k == i;
    }
    return found;
}

/* Sectors of 32 bytes that a request touches. */
static uint32_t sectors(uint32_t lanes, uint32_t size, const uint64_t *addresses) {
    uint64_t pieces[2 * EMU_LANES];
    uint32_t count = 0;
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(lanes >> i & 1)) continue;
        uint64_t first = addresses[i] / 32, last = (addresses[i] + size - 1) / 32;
        if (!count || pieces[count - 1] != first) pieces[count++] = first;
        if (last != first) pieces[count++] = last;
    }
    return distinct(pieces, count);
}

/* Wavefronts of shared memory: 32 banks of 4 bytes; a request of more than 128 bytes is served in
 * phases of 16 or 8 lanes; a phase takes as long as its busiest bank has different words. */
static uint32_t phase_ways(uint32_t first, uint32_t count, uint32_t lanes, uint32_t words,
                           const uint64_t *addresses) {
    uint64_t in_bank[32][EMU_LANES];
    uint8_t used[32] = {0};
    uint32_t most = 0;
    for (uint32_t i = first; i < first + count; i++) {
        if (!(lanes >> i & 1)) continue;
        for (uint32_t w = 0; w < words; w++) {
            uint64_t word = addresses[i] / 4 + w;
            uint32_t bank = word % 32, k = 0;
            while (k < used[bank] && in_bank[bank][k] != word) k++;
            if (k == used[bank]) in_bank[bank][used[bank]++] = word;
            most = used[bank] > most ? used[bank] : most;
        }
    }
    return most;
}

static uint32_t wavefronts(uint32_t lanes, uint32_t size, const uint64_t *addresses) {
    uint32_t words = (size + 3) / 4, phases = words > 4 ? 4 : words > 2 ? 4 : words, sum = 0;
    uint32_t each = EMU_LANES / phases;
    if (words > 4) words = 4;
    for (uint32_t p = 0; p < phases; p++)
        sum += phase_ways(p * each, each, lanes, words, addresses);
    return sum;
}

/* Whether each lane's bytes follow the last one's, which most requests are. */
EMU_VECTOR static bool is_consecutive(uint32_t size, const uint64_t *addresses) {
    uint64_t gaps = 0;
    for (int i = 0; i < EMU_LANES; i++)
        gaps |= (addresses[i] - addresses[0]) ^ ((uint64_t)size * (uint64_t)i);
    return gaps == 0;
}

static void count_consecutive(EmuCounters *counters, PtxSpace space, uint32_t size,
                              uint64_t first) {
    uint64_t bytes = (uint64_t)EMU_LANES * size, waves = (bytes + 127) / 128;
    if (space == PTX_SPACE_global) {
        counters->global_sectors += (first + bytes - 1) / 32 - first / 32 + 1;
        counters->global_useful_bytes += bytes;
    } else {
        counters->shared_wavefronts += waves;
        counters->shared_ideal_wavefronts += waves;
    }
}

void count_access(Warp *warp, const Record *record, uint32_t lanes, PtxSpace space, uint32_t size,
                  const uint64_t *addresses) {
    (void)record;
    EmuCounters *counters = &warp->worker->counters;
    uint32_t active = (uint32_t)__builtin_popcount(lanes);
    if (space != PTX_SPACE_global && space != PTX_SPACE_shared) return;
    if (lanes == ~0u && is_consecutive(size, addresses)) {
        count_consecutive(counters, space, size, addresses[0]);
        return;
    }
    if (space == PTX_SPACE_global) {
        counters->global_sectors += sectors(lanes, size, addresses);
        counters->global_useful_bytes += (uint64_t)active * size;
    } else {
        counters->shared_wavefronts += wavefronts(lanes, size, addresses);
        counters->shared_ideal_wavefronts += ((uint64_t)active * size + 127) / 128;
    }
}

/* Classes of rows. */

static uint64_t *class_of(EmuCounters *counters, const PtxInstruction *instruction) {
    int flags = ptx_row_flags((PtxRow)instruction->row);
    PtxTypeClass class = ptx_type_class((PtxType)instruction->types[0]);
    if (flags & PTX_IS_TENSOR) return &counters->tensor;
    if (flags & PTX_IS_ASYNC) return &counters->asynchronous;
    if (flags & PTX_IS_ATOMIC) return &counters->atomic;
    if (flags & PTX_IS_MEMORY) return &counters->memory;
    if (flags & PTX_IS_SYNC) return &counters->barrier;
    switch (instruction->row) {
    case PTX_cvt:
    case PTX_cvt_pack: return &counters->conversion;
    case PTX_sin:
    case PTX_cos:
    case PTX_ex2:
    case PTX_lg2:
    case PTX_tanh:
    case PTX_rcp:
    case PTX_rsqrt:
    case PTX_sqrt: return &counters->special;
    default: break;
    }
    return class == PTX_CLASS_float || class == PTX_CLASS_packed ? &counters->floats
                                                                 : &counters->integer;
}

void count_records(const Program *program, const uint64_t *counts, EmuCounters *counters) {
    uint64_t times = 0;
    for (uint32_t i = 0; i < program->record_count; i++) {
        const Record *record = &program->records[i];
        times += counts[i];
        const PtxFunction *function = program->functions[record->function].function;
        counters->instructions += times;
        if (record->instruction < function->instruction_count)
            *class_of(counters, &function->instructions[record->instruction]) += times;
    }
}

/* "fma.rn.f32" of "@%p1 fma.rn.f32 %f1, ...;" */
static Str form_of(Str text) {
    size_t start = 0, end;
    if (text.size && text.data[0] == '@')
        while (start < text.size && text.data[start++] != ' ') {
        }
    for (end = start; end < text.size && text.data[end] != ' ' && text.data[end] != ';';) end++;
    return (Str){text.data + start, end - start};
}

void count_tell(const Program *program, const uint64_t *counts, const EmuReporter *reporter) {
    Arena *arena = arena_new(NULL);
    uint64_t times = 0;
    for (uint32_t i = 0; i < program->record_count; i++) {
        const Record *record = &program->records[i];
        const PtxFunction *function = program->functions[record->function].function;
        times += counts[i];
        if (!times || record->instruction >= function->instruction_count) continue;
        Str text = ptx_instruction_text(arena, function, record->instruction);
        reporter->executed(reporter->user, form_of(text),
                           function->instructions[record->instruction].line, times);
    }
    arena_free(arena);
}
