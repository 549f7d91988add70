/* Modules: PTX text to programs, and the memory of its variables. */
#include "base/guard.h"
#include "emulator/machine/decode.h"
#include "emulator/machine/device.h"

#include <stdlib.h>
#include <string.h>

/* A variable of a module, or of a function, in device memory. */
typedef struct Placed {
    const PtxVariable *variable;
    uint64_t address;
} Placed;

struct EmuModule {
    EmuDevice *device;
    Arena *arena;
    const PtxModule *ptx;
    VEC(Placed) placed;
    Map addresses; /* by pointer to the PtxVariable */
    VEC(EmuFunction) functions;
};

typedef struct Load {
    EmuModule *module;
    Buf log;
    EmuStatus status;
} Load;

static bool fail(Load *load, EmuStatus status) {
    load->status = status;
    return false;
}

/* Parsing, and whether the target is this device's. */

static bool parse(Load *load, Str text) {
    PtxErrors errors = {0};
    PtxStatus status = ptx_parse(load->module->arena, text, &load->module->ptx, &errors);
    for (uint32_t i = 0; i < errors.count; i++)
        buf_print(&load->log, "line %u, col %u: error: %.*s\n    %.*s\n", errors.items[i].line,
                  errors.items[i].column, STR_ARG(errors.items[i].message),
                  STR_ARG(errors.items[i].text));
    if (status == PTX_UNSUPPORTED_VERSION) return fail(load, EMU_UNSUPPORTED_VERSION);
    return status == PTX_OK || fail(load, EMU_INVALID_PTX);
}

/* PTX of an older target runs; with a suffix, on the device it names (a) or on its family (f). */
static bool check_target(Load *load) {
    const PtxModule *ptx = load->module->ptx;
    const EmuModel *model = load->module->device->model;
    int device = 10 * model->major + model->minor;
    bool fits = ptx->target_exact    ? ptx->target == device && model->arch_specific
                : ptx->target_family ? ptx->target / 10 == model->major && ptx->target <= device
                                     : ptx->target <= device;
    if (fits) return true;
    buf_print(&load->log, "error: target sm_%d%s does not run on a device of sm_%d%s\n",
              ptx->target,
              ptx->target_exact    ? "a"
              : ptx->target_family ? "f"
                                   : "",
              device, model->arch_specific ? "a" : "");
    return fail(load, EMU_NO_BINARY);
}

/* Variables. */

static Str key_of(const PtxVariable *const *variable) {
    return (Str){(const char *)variable, sizeof *variable};
}

static bool place(Load *load, const PtxVariable *variable) {
    EmuModule *module = load->module;
    if (variable->space != PTX_SPACE_global && variable->space != PTX_SPACE_const) return true;
    if (variable->is_extern) {
        buf_print(&load->log, "line %u: error: variable %.*s is defined nowhere\n", variable->line,
                  STR_ARG(variable->name));
        return fail(load, EMU_INVALID_PTX);
    }
    uint64_t size = variable->size ? variable->size : 1;
    EmuBlockKind kind = variable->is_managed ? EMU_BLOCK_managed : EMU_BLOCK_module;
    uint64_t address = emu_memory_allocate(module->device->memory, size, variable->align, kind,
                                           str_terminated(module->arena, variable->name));
    if (!address) return fail(load, EMU_OUT_OF_MEMORY);
    Placed placed = {variable, address};
    vec_push(module->arena, &module->placed, placed);
    map_set(&module->addresses, key_of(&variable), (void *)(uintptr_t)address);
    return true;
}

static bool place_all(Load *load) {
    const PtxModule *ptx = load->module->ptx;
    for (uint32_t i = 0; i < ptx->variable_count; i++)
        if (!place(load, ptx->variables[i])) return false;
    for (uint32_t f = 0; f < ptx->function_count; f++)
        for (uint32_t i = 0; i < ptx->functions[f]->variable_count; i++)
            if (!place(load, ptx->functions[f]->variables[i])) return false;
    return true;
}

/* What a relocation writes. Global and const addresses are generic as they are. */
static uint64_t relocated(const EmuModule *module, const PtxRelocation *relocation) {
    uint64_t value = 0;
    if (relocation->variable)
        value = (uintptr_t)map_get(&module->addresses, key_of(&relocation->variable));
    else if (relocation->function)
        value = EMU_WINDOW_function +
                16 * (uint64_t)decode_function_number(module->ptx, relocation->function);
    return (value + (uint64_t)relocation->addend) >> relocation->shift;
}

static void initialise(EmuModule *module, const Placed *placed) {
    EmuBlock block;
    const PtxVariable *variable = placed->variable;
    if (!variable->size ||
        !emu_memory_find(module->device->memory, placed->address, variable->size, &block))
        return;
    if (variable->initial) memcpy(block.bytes, variable->initial, variable->size);
    for (uint32_t i = 0; i < variable->relocation_count; i++) {
        const PtxRelocation *relocation = &variable->relocations[i];
        uint64_t value = relocated(module, relocation);
        memcpy(block.bytes + relocation->at, &value, relocation->size);
    }
    if (variable->space == PTX_SPACE_const)
        emu_memory_set_read_only(module->device->memory, placed->address, true);
}

/* Functions. */

static void describe(EmuFunction *function, const EmuModel *model) {
    const PtxFunction *entry = function->program->entry;
    const PtxModule *ptx = function->module->ptx;
    PtxDimensions threads =
        entry->required_threads.x ? entry->required_threads : entry->max_threads;
    uint64_t most = (uint64_t)(threads.y ? threads.y : 1) * (threads.z ? threads.z : 1) * threads.x;
    function->info = (EmuFunctionInfo){
        .name = entry->name,
        .parameter_count = entry->parameter_count,
        .parameter_bytes = (uint32_t)entry->parameter_bytes,
        .static_shared = function->program->shared_static,
        .local_bytes = function->program->local_stride,
        .registers = function->program->registers,
        .max_threads = most ? (uint32_t)most : (uint32_t)model->max_threads_per_block,
        .required_cluster = {entry->required_cluster.x, entry->required_cluster.y,
                             entry->required_cluster.z},
        .ptx_version = ptx->version,
        .binary_version = 10 * model->major + model->minor};
    for (size_t i = 0; i < function->module->placed.count; i++) {
        const PtxVariable *variable = function->module->placed.data[i].variable;
        if (variable->space == PTX_SPACE_const)
            function->info.const_bytes += (uint32_t)variable->size;
    }
}

static bool decode_all(Load *load) {
    EmuModule *module = load->module;
    DecodeInput input = {.arena = module->arena,
                         .index = form_index_new(module->arena),
                         .module = module->ptx,
                         .model = module->device->model,
                         .addresses = &module->addresses,
                         .log = &load->log};
    for (uint32_t i = 0; i < module->ptx->function_count; i++) {
        if (!module->ptx->functions[i]->is_entry) continue;
        EmuFunction function = {.module = module};
        function.program = decode_program(&input, module->ptx->functions[i]);
        if (!function.program) return fail(load, EMU_INVALID_PTX);
        describe(&function, module->device->model);
        vec_push(module->arena, &module->functions, function);
    }
    return true;
}

static void load_module(Load *load, Str text) {
    EmuModule *module = load->module;
    if (!parse(load, text) || !check_target(load) || !place_all(load) || !decode_all(load)) return;
    for (size_t i = 0; i < module->placed.count; i++) initialise(module, &module->placed.data[i]);
}

EmuStatus emu_module_load(EmuDevice *device, Str ptx, Arena *arena, EmuModule **out_module,
                          Str *out_log) {
    Load load = {.log = {.arena = arena}};
    *out_module = NULL;
    *out_log = (Str){"", 0};
    Guard guard;
    guard_enter(&guard);
    if (setjmp(guard.jump) == 0) {
        Arena *own = arena_new(NULL);
        load.module = NEW(own, EmuModule);
        *load.module = (EmuModule){.device = device, .arena = own, .addresses = {.arena = own}};
        load_module(&load, ptx);
    } else
        load.status = guard.kind == GUARD_memory ? EMU_OUT_OF_MEMORY : EMU_INVALID_PTX;
    guard_leave(&guard);
    if (load.log.size) *out_log = buf_str(&load.log);
    if (load.status == EMU_OK)
        *out_module = load.module;
    else
        emu_module_free(load.module);
    return load.status;
}

void emu_module_free(EmuModule *module) {
    if (!module) return;
    for (size_t i = 0; i < module->placed.count; i++)
        emu_memory_release(module->device->memory, module->placed.data[i].address);
    arena_free(module->arena);
}

const EmuFunction *emu_module_function(const EmuModule *module, Str name) {
    for (size_t i = 0; i < module->functions.count; i++)
        if (str_equal(module->functions.data[i].info.name, name)) return &module->functions.data[i];
    return NULL;
}

bool emu_module_variable(const EmuModule *module, Str name, uint64_t *out_address,
                         uint64_t *out_size) {
    for (size_t i = 0; i < module->placed.count; i++) {
        const PtxVariable *variable = module->placed.data[i].variable;
        if (variable->owner || !str_equal(variable->name, name)) continue;
        *out_address = module->placed.data[i].address;
        *out_size = variable->size;
        return true;
    }
    return false;
}

int emu_module_function_count(const EmuModule *module) { return (int)module->functions.count; }

const EmuFunction *emu_module_function_at(const EmuModule *module, int index) {
    bool found = index >= 0 && (size_t)index < module->functions.count;
    return found ? &module->functions.data[index] : NULL;
}

void emu_function_info(const EmuFunction *function, EmuFunctionInfo *out_info) {
    *out_info = function->info;
}

void emu_function_parameter(const EmuFunction *function, uint32_t index, uint64_t *out_offset,
                            uint64_t *out_size) {
    const PtxFunction *entry = function->program->entry;
    const PtxVariable *parameter = entry->parameters[index];
    *out_offset = parameter->offset;
    *out_size = parameter->size;
}
