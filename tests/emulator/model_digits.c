// The digits of examples/digits on the GPU under test: all 360 are read as on the CPU, and where it
// is the software GPU its checks find nothing.
#include "emulator/driver/emu.h"
#include "tests/support/device.h"
#include "tests/unit/test.h"

#include <dlfcn.h>
#include <tcc/tcc.h>

enum { IMAGES = 360, PIXELS = 64, CLASSES = 10, PART = 90 };

static const char folder[] = "examples/digits/";

static tcc_tensor part_of(const tcc_tensor *all, int64_t first, size_t bytes) {
    tcc_tensor part = *all;
    part.dims[0] = PART;
    part.data = (char *)all->data + (size_t)first * bytes;
    return part;
}

static bool classify(tcc_unit *unit, tcc_compiler *compiler, const char *device,
                     const tcc_tensor *images, float *out) {
    const tcc_model_api *api;
    tcc_model *model;
    tcc_session *session;
    tcc_open_options options = {.size = sizeof options, .device = device};
    if (!CHECK_INT(tcc_unit_open(unit, &options, &api, &model), TCC_OK)) {
        printf("    %s\n", tcc_message(compiler));
        return false;
    }
    CHECK_INT(api->session_new(model, &session), TCC_OK);
    for (int i = 0; i < IMAGES; i += PART) {
        tcc_tensor in = part_of(images, i, PIXELS * sizeof(float));
        tcc_tensor result = {.size = sizeof result,
                             .dtype = TCC_F32,
                             .rank = 2,
                             .data = out + (size_t)i * CLASSES,
                             .dims = {PART, CLASSES}};
        if (!CHECK_INT(api->run(session, &in, 1, &result, 1), TCC_OK))
            printf("    %s\n", api->session_message(session));
    }
    api->session_free(session);
    api->close(model);
    return true;
}

static int best(const float *row) {
    int k = 0;
    for (int i = 1; i < CLASSES; i++)
        if (row[i] > row[k]) k = i;
    return k;
}

static float cpu[IMAGES * CLASSES], gpu[IMAGES * CLASSES];

static void test_digits(void) {
    tcc_compiler *compiler;
    tcc_unit *unit;
    tcc_array *images;
    char path[64];
    CHECK_INT(tcc_compiler_new(&compiler), TCC_OK);
    CHECK_INT(tcc_set_option(compiler, "target", "native,sm_80"), TCC_OK);
    snprintf(path, sizeof path, "%sdigits.g", folder);
    if (!CHECK_INT(tcc_compile_file(compiler, path, &unit), TCC_OK)) return;
    snprintf(path, sizeof path, "%stest_images.npy", folder);
    CHECK_INT(tcc_array_read(compiler, path, &images), TCC_OK);
    const tcc_tensor *all = tcc_array_tensor(images);
    CHECK_INT(all->dims[0], IMAGES);
    bool ran = classify(unit, compiler, "cpu", all, cpu) &&
               classify(unit, compiler, test_device(), all, gpu);
    for (int i = 0; i < IMAGES && ran; i++)
        CHECK_INT(best(gpu + i * CLASSES), best(cpu + i * CLASSES));
    for (int i = 0; i < IMAGES * CLASSES && ran; i++) CHECK_NEAR(gpu[i], cpu[i], 1e-5);
    tcc_array_free(images);
    tcc_unit_free(unit);
    tcc_compiler_free(compiler);
}

static uint64_t findings(void) {
    uint64_t (*count)(void);
    void *library = dlopen(test_driver(), RTLD_NOW | RTLD_LOCAL);
    void *address = library != NULL ? dlsym(library, "emuFindingCount") : NULL;
    CHECK(library != NULL);
    if (address == NULL) return 0; // a device finds nothing
    memcpy(&count, &address, sizeof count);
    return count();
}

static void test_nothing_was_found(void) { CHECK_INT(findings(), 0); }

int main(void) {
    RUN(test_digits);
    RUN(test_nothing_was_found);
    return test_done();
}
