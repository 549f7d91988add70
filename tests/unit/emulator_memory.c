// Memory of a device: blocks, what is found at an address, what the host can and cannot touch.
#include "emulator/machine/memory.h"
#include "tests/unit/test.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

static const uint64_t MIB = 1 << 20;

static void test_allocate(void) {
    EmuMemory *m = emu_memory_new(512 * MIB);
    CHECK_INT(emu_memory_capacity(m), 512 * MIB);
    uint64_t a = emu_memory_allocate(m, 100, 1, EMU_BLOCK_device, NULL);
    uint64_t b = emu_memory_allocate(m, 5000, 4096, EMU_BLOCK_device, NULL);
    uint64_t c = emu_memory_allocate(m, 8, 1, EMU_BLOCK_module, "counter");
    CHECK(a != 0 && b != 0 && c != 0);
    CHECK_INT(a % 256, 0);
    CHECK_INT(b % 4096, 0);
    CHECK_INT(emu_memory_used(m), 5108);
    CHECK_INT(emu_memory_blocks(m), 3);
    EmuBlock block;
    CHECK(emu_memory_find(m, c, 8, &block));
    CHECK_STR(block.name, "counter");
    CHECK(block.written == NULL && block.bytes[0] == 0 && block.bytes[7] == 0);
    CHECK_INT(emu_memory_allocate(m, 0, 1, EMU_BLOCK_device, NULL), 0);
    CHECK_INT(emu_memory_allocate(m, 1, 3, EMU_BLOCK_device, NULL), 0);
    CHECK_INT(emu_memory_allocate(m, 512 * MIB, 1, EMU_BLOCK_device, NULL), 0);
    CHECK_INT(emu_memory_allocate(m, UINT64_MAX, 1, EMU_BLOCK_device, NULL), 0);
    emu_memory_free(m);
}

static void test_find(void) {
    EmuMemory *m = emu_memory_new(64 * MIB);
    uint64_t a = emu_memory_allocate(m, 1000, 1, EMU_BLOCK_device, NULL);
    EmuBlock block;
    CHECK(emu_memory_find(m, a, 1000, &block));
    CHECK(block.address == a && block.size == 1000 && block.live);
    CHECK_INT(block.bytes[0], 0xFF);
    CHECK_INT(block.bytes[999], 0xFF);
    CHECK(emu_memory_find(m, a + 999, 1, &block));
    CHECK(emu_memory_find(m, a + 500, 500, &block));
    CHECK(!emu_memory_find(m, a + 500, 501, &block));
    CHECK(!emu_memory_find(m, a + 1000, 1, &block));
    CHECK(!emu_memory_find(m, a - 1, 1, &block));
    CHECK(!emu_memory_find(m, 0, 1, &block));
    CHECK(!emu_memory_find(m, UINT64_MAX, 1, &block));
    CHECK(emu_memory_nearest(m, a + 1003, &block) && block.address == a);
    CHECK(emu_memory_nearest(m, a + 10, &block) && block.address == a);
    CHECK(!emu_memory_nearest(m, a - 1, &block));
    CHECK(emu_memory_set_read_only(m, a, true));
    CHECK(emu_memory_find(m, a, 1, &block) && block.read_only);
    CHECK(!emu_memory_set_read_only(m, a + 1, true));
    emu_memory_free(m);
}

static void test_release(void) {
    EmuMemory *m = emu_memory_new(64 * MIB);
    uint64_t a = emu_memory_allocate(m, 1000, 1, EMU_BLOCK_device, NULL);
    CHECK(!emu_memory_release(m, a + 1));
    CHECK(emu_memory_release(m, a));
    CHECK(!emu_memory_release(m, a));
    EmuBlock block;
    CHECK(emu_memory_find(m, a + 4, 4, &block));
    CHECK(!block.live && block.written == NULL);
    CHECK_INT(block.bytes[4], 0xFF);
    uint64_t b = emu_memory_allocate(m, 1000, 1, EMU_BLOCK_device, NULL);
    CHECK(b != a); // the old address can still be told
    CHECK_INT(emu_memory_blocks(m), 1);
    CHECK_INT(emu_memory_used(m), 1000);
    emu_memory_free(m);
}

// Far more is allocated in the end than there are addresses: freed ones come back, live ones never.
static void test_reuse(void) {
    EmuMemory *m = emu_memory_new(64 * MIB);
    uint64_t kept = emu_memory_allocate(m, 3 * MIB, 1, EMU_BLOCK_device, NULL), last = 0;
    bool good = true, repeated = false;
    uint64_t first = 0;
    for (int i = 0; i < 600 && good; i++) {
        uint64_t a = emu_memory_allocate(m, MIB + 64, 1, EMU_BLOCK_device, NULL);
        good = a != 0 && (a >= kept + 3 * MIB || a + MIB + 64 <= kept);
        if (i == 0) first = a;
        repeated = repeated || (i > 0 && a == first);
        if (last != 0) good = good && emu_memory_release(m, last);
        last = a;
    }
    CHECK(good);
    CHECK(repeated);
    CHECK_INT(emu_memory_used(m), 4 * MIB + 64);
    EmuBlock block;
    CHECK(emu_memory_find(m, kept, 3 * MIB, &block) && block.live);
    emu_memory_free(m);
}

static void test_full(void) {
    EmuMemory *m = emu_memory_new(64 * MIB);
    uint64_t blocks[64];
    int count = 0;
    while (count < 64 &&
           (blocks[count] = emu_memory_allocate(m, 4 * MIB, 1, EMU_BLOCK_device, NULL)) != 0)
        count++;
    CHECK_INT(count, 16);
    CHECK(emu_memory_release(m, blocks[7]));
    CHECK(emu_memory_allocate(m, 4 * MIB, 1, EMU_BLOCK_device, NULL) != 0);
    CHECK_INT(emu_memory_allocate(m, 1, 1, EMU_BLOCK_device, NULL), 0);
    emu_memory_free(m);
}

static void test_written(void) {
    EmuMemory *m = emu_memory_new(64 * MIB);
    uint64_t a = emu_memory_allocate(m, 300, 1, EMU_BLOCK_device, NULL);
    EmuBlock block;
    CHECK(emu_memory_find(m, a, 1, &block) && block.written != NULL);
    static const struct { uint64_t at, size; } marks[] = {{1, 2}, {7, 2}, {30, 100}, {299, 1}};
    bool want[300] = {false};
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
        emu_block_mark_written(&block, a + marks[k].at, marks[k].size);
        for (uint64_t i = 0; i < marks[k].size; i++) want[marks[k].at + i] = true;
    }
    emu_block_mark_written(&block, a + 200, 0);
    bool same = true;
    for (int i = 0; i < 300; i++) same = same && (block.written[i / 8] >> i % 8 & 1) == want[i];
    CHECK(same);
    emu_memory_free(m);
}

static sigjmp_buf fault;
static void on_fault(int number) { siglongjmp(fault, number); }

static bool host_can_read(uint64_t address) {
    struct sigaction action = {.sa_handler = on_fault}, old;
    sigaction(SIGSEGV, &action, &old);
    volatile bool can = false;
    if (sigsetjmp(fault, 1) == 0) {
        (void)*(volatile const char *)(uintptr_t)address;
        can = true;
    }
    sigaction(SIGSEGV, &old, NULL);
    return can;
}

static void test_host(void) {
    EmuMemory *m = emu_memory_new(64 * MIB);
    uint64_t device = emu_memory_allocate(m, 64, 1, EMU_BLOCK_device, NULL);
    CHECK(!host_can_read(device));
    for (int kind = EMU_BLOCK_host; kind <= EMU_BLOCK_managed; kind++) {
        uint64_t a = emu_memory_allocate(m, 5000, 1, (EmuBlockKind)kind, NULL);
        EmuBlock block;
        CHECK(emu_memory_find(m, a, 5000, &block) && block.kind == (EmuBlockKind)kind);
        char *host = (char *)(uintptr_t)a;
        host[4999] = 42;
        CHECK_INT(block.bytes[4999], 42);
        block.bytes[0] = 7;
        CHECK_INT(host[0], 7);
        CHECK(emu_memory_release(m, a));
        CHECK(!host_can_read(a));
    }
    emu_memory_free(m);
}

static void test_register(void) {
    EmuMemory *m = emu_memory_new(64 * MIB);
    static char bytes[4096];
    CHECK(emu_memory_register(m, bytes, sizeof bytes));
    CHECK(!emu_memory_register(m, bytes + 100, 8));
    EmuBlock block;
    CHECK(emu_memory_find(m, (uint64_t)(uintptr_t)bytes + 10, 1, &block));
    CHECK(block.bytes == (uint8_t *)bytes && block.kind == EMU_BLOCK_host);
    CHECK_INT(emu_memory_used(m), 0);
    CHECK(emu_memory_release(m, (uint64_t)(uintptr_t)bytes));
    CHECK(emu_memory_register(m, bytes, 100));
    CHECK(!emu_memory_register(m, NULL, 8));
    CHECK(!emu_memory_register(m, bytes, 0));
    emu_memory_free(m);
}

// Only the last freed blocks are kept, however many there were.
static void test_freed_are_bounded(void) {
    EmuMemory *m = emu_memory_new(64 * MIB);
    uint64_t first = 0, last = 0;
    for (int i = 0; i < 2000; i++) {
        last = emu_memory_allocate(m, 16, 1, EMU_BLOCK_device, NULL);
        if (i == 0) first = last;
        emu_memory_release(m, last);
    }
    EmuBlock block;
    CHECK(!emu_memory_find(m, first, 1, &block));
    CHECK(emu_memory_find(m, last, 1, &block) && !block.live);
    emu_memory_free(m);
}

static void *churn(void *user) {
    EmuMemory *m = user;
    long wrong = 0;
    for (int i = 0; i < 2000; i++) {
        uint64_t a = emu_memory_allocate(m, 64, 1, EMU_BLOCK_device, NULL);
        EmuBlock block;
        if (!emu_memory_find(m, a, 64, &block) || !block.live) wrong++;
        if (!emu_memory_release(m, a)) wrong++;
    }
    return (void *)wrong;
}

static void test_threads(void) {
    EmuMemory *m = emu_memory_new(64 * MIB);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, churn, m) == 0);
    for (int i = 0; i < 3; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        CHECK(wrong == NULL);
    }
    CHECK_INT(emu_memory_blocks(m), 0);
    CHECK_INT(emu_memory_used(m), 0);
    emu_memory_free(m);
}

static void test_large(void) {
    EmuMemory *m = emu_memory_new((uint64_t)80 << 30);
    CHECK(m != NULL);
    uint64_t size = emu_memory_capacity(m) / 2;
    uint64_t a = emu_memory_allocate(m, size, 1, EMU_BLOCK_device, NULL);
    EmuBlock block;
    CHECK(a != 0 && emu_memory_find(m, a, size, &block));
    if (a != 0) block.bytes[size - 1] = 1; // its last page is there
    CHECK(emu_memory_release(m, a));
    emu_memory_free(m);
    emu_memory_free(NULL);
    CHECK(emu_memory_new(0) == NULL);
}

int main(void) {
    RUN(test_allocate);
    RUN(test_find);
    RUN(test_release);
    RUN(test_reuse);
    RUN(test_full);
    RUN(test_written);
    RUN(test_host);
    RUN(test_register);
    RUN(test_freed_are_bounded);
    RUN(test_threads);
    RUN(test_large);
    return test_done();
}
