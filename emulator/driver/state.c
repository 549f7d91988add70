/* The state of the driver: set up once, and the objects that are alive. */
#include "emulator/driver/driver.h"
#include "emulator/driver/emu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Driver driver = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
_Thread_local Thread thread;

/* ---- objects: a hash table of their addresses ------------------------------------------------ */

static size_t slot_of(const void *object) {
    return (size_t)(((uintptr_t)object >> 4) * 0x9E3779B97F4A7C15u >> 20) &
           (driver.object_room - 1);
}

/* Where the object is, or where it would be put. */
static size_t find_slot(const void *object) {
    size_t slot = slot_of(object);
    while (driver.objects[slot] != NULL && driver.objects[slot] != object)
        slot = (slot + 1) & (driver.object_room - 1);
    return slot;
}

static bool grow_objects(void) {
    if (driver.object_count * 2 < driver.object_room) return true;
    size_t old_room = driver.object_room, room = old_room == 0 ? 256 : old_room * 2;
    Object **old = driver.objects, **objects = calloc(room, sizeof *objects);
    if (objects == NULL) return false;
    driver.objects = objects;
    driver.object_room = room;
    for (size_t i = 0; i < old_room; i++)
        if (old[i] != NULL) objects[find_slot(old[i])] = old[i];
    free(old);
    return true;
}

void *object_new(ObjectKind kind, size_t size, Context *context) {
    if (!grow_objects()) return NULL;
    Object *object = calloc(1, size);
    if (object == NULL) return NULL;
    *object = (Object){.kind = kind, .id = ++driver.last_id, .context = context};
    driver.objects[find_slot(object)] = object;
    driver.object_count++;
    return object;
}

/* What stands behind a freed slot is put in anew, so that it is still found. The memory goes when
 * no call is under way: one that waits in another thread may look at the object once more. */
void object_free(void *object) {
    size_t slot = find_slot(object);
    driver.objects[slot] = NULL;
    driver.object_count--;
    for (size_t i = (slot + 1) & (driver.object_room - 1); driver.objects[i] != NULL;
         i = (i + 1) & (driver.object_room - 1)) {
        Object *moved = driver.objects[i];
        driver.objects[i] = NULL;
        driver.objects[find_slot(moved)] = moved;
    }
    ((Object *)object)->next_ended = driver.ended;
    driver.ended = object;
}

void objects_bury(void) {
    while (driver.ended != NULL) {
        Object *object = driver.ended;
        driver.ended = object->next_ended;
        free(object);
    }
}

bool object_is(const void *object, ObjectKind kind) {
    if (object == NULL || driver.object_room == 0) return false;
    const Object *found = driver.objects[find_slot(object)];
    return found != NULL && found->kind == kind;
}

void *object_of(const Context *context, ObjectKind kind) {
    for (size_t i = 0; i < driver.object_room; i++) {
        Object *object = driver.objects[i];
        if (object != NULL && object->kind == kind && object->context == context) return object;
    }
    return NULL;
}

uint64_t emuHandles(void) {
    pthread_mutex_lock(&driver.lock);
    uint64_t count = driver.object_count;
    pthread_mutex_unlock(&driver.lock);
    return count;
}

/* ---- the beginning --------------------------------------------------------------------------- */

static const EmuModel *find_model(const char *key) {
    for (int i = 0; i < emu_model_count; i++)
        if (strcmp(emu_models[i].key, key) == 0) return &emu_models[i];
    return NULL;
}

/* The device that was chosen, or that TCC_EMU_DEVICE names, or the first one. */
static const EmuModel *choose_model(void) {
    const char *key = getenv("TCC_EMU_DEVICE");
    if (driver.chosen != NULL) return driver.chosen;
    return key == NULL || *key == 0 ? &emu_models[0] : find_model(key);
}

int emuChooseDevice(const char *key) {
    const EmuModel *model = key != NULL ? find_model(key) : NULL;
    pthread_mutex_lock(&driver.lock);
    bool good = model != NULL && (driver.device == NULL || driver_model() == model);
    if (good) driver.chosen = model;
    pthread_mutex_unlock(&driver.lock);
    return good ? 0 : 1;
}

static const char *read_order(StreamOrder *out_order) {
    static const char *const names[] = {"latest", "eager", "random"};
    const char *name = getenv("TCC_EMU_STREAMS");
    *out_order = STREAMS_latest;
    if (name == NULL || *name == 0) return NULL;
    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], name) == 0) {
            *out_order = (StreamOrder)i;
            return NULL;
        }
    return "TCC_EMU_STREAMS is not latest, eager or random";
}

static CUresult refuse(const char *problem) {
    report_line("%s", problem);
    return CUDA_ERROR_INVALID_VALUE;
}

/* The device's memory is a file without a name, which a limit of files may forbid. */
static CUresult no_device(void) {
    if (errno != EFBIG) return CUDA_ERROR_OUT_OF_MEMORY;
    report_line("the memory of the device is more than files may have here: ulimit -f unlimited");
    return CUDA_ERROR_OPERATING_SYSTEM;
}

static CUresult set_up(void) {
    const EmuModel *model = choose_model();
    if (model == NULL) {
        report_line("TCC_EMU_DEVICE names no device: choose from");
        for (int i = 0; i < emu_model_count; i++)
            report_line("    %s  %s", emu_models[i].key, emu_models[i].name);
        return CUDA_ERROR_NO_DEVICE;
    }
    const char *problem = emu_options_from_environment(&driver.options);
    if (problem == NULL) problem = read_order(&driver.order);
    if (problem == NULL) problem = fault_problem();
    if (problem != NULL) return refuse(problem);
    driver.random = driver.options.seed * 2 + 1;
    errno = 0;
    driver.device = emu_device_new(model);
    if (driver.device == NULL) return no_device();
    driver.memory = emu_device_memory(driver.device);
    driver.default_pool = object_new(OBJECT_pool, sizeof(Pool), NULL);
    if (driver.default_pool == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    driver.default_pool->access = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    driver.default_pool->reuse[0] = driver.default_pool->reuse[1] = 1;
    driver.default_pool->reuse[2] = 1;
    driver.pool = driver.default_pool;
    return CUDA_SUCCESS;
}

CUresult driver_init(unsigned flags) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (driver.initialised) return CUDA_SUCCESS;
    CUresult result = set_up();
    if (result == CUDA_SUCCESS) {
        driver.initialised = true;
        return result;
    }
    if (driver.device != NULL) emu_device_free(driver.device);
    driver.device = NULL;
    driver.memory = NULL;
    return result;
}

CUresult driver_version(int *version) {
    if (version == NULL) return CUDA_ERROR_INVALID_VALUE;
    *version = DRIVER_VERSION;
    return CUDA_SUCCESS;
}

const EmuModel *driver_model(void) { return emu_device_model(driver.device); }
