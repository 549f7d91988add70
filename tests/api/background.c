// Compilations in the background, and the log of what a compiler does.
#include "tests/support/counted_memory.h"
#include "tests/support/host.h"
#include "tests/support/programs.h"

#include <unistd.h>

static const char twice[] = "model twice(x: f32[3]) -> (y: f32[3]) { y = x + x }\n";
static const char warned[] = "model m(x: f32[3]) -> (y: f32[3]) { y = x * (1 / 3) }\n";
static const char wrong[] = "model m(x: f32[3]) -> (y: f32[3]) { y = q }\n";

static tcc_compiler *new_compiler(const tcc_allocator *allocator) {
    tcc_compiler_options options = {.size = sizeof options, .allocator = allocator};
    tcc_compiler *compiler = NULL;
    CHECK_INT(tcc_compiler_new_with(&options, &compiler), TCC_OK);
    return compiler;
}

static tcc_task *start(tcc_compiler *compiler, const char *text) {
    tcc_source source = {
        .size = sizeof source, .path = "m.g", .text = text, .text_size = strlen(text)};
    tcc_task *task = NULL;
    if (!CHECK_INT(tcc_compile_start(compiler, &source, &task), TCC_OK))
        printf("    %s\n", tcc_message(compiler));
    return task;
}

static float run_unit(tcc_unit *unit) {
    float x[3] = {1, 2, 3}, y[3] = {0};
    tcc_tensor in = host_vector(x, TCC_F32, 3), out = host_vector(y, TCC_F32, 3);
    Host h = {.unit = unit};
    if (host_start(&h, NULL)) CHECK_INT(h.api->run(h.session, &in, 1, &out, 1), TCC_OK);
    h.unit = NULL; // the caller's
    host_close(&h);
    return y[2];
}

// ---- what is told, and when ---------------------------------------------------------------------

typedef struct Heard {
    char text[4096];
} Heard;

static void hear(Heard *heard, const char *kind, const char *what) {
    size_t used = strlen(heard->text);
    snprintf(heard->text + used, sizeof heard->text - used, "%s %s\n", kind, what);
}

static void hear_diagnostic(void *user, const tcc_diagnostic *diagnostic) {
    CHECK(diagnostic->rendered != NULL && diagnostic->text != NULL);
    hear(user, "diagnostic", diagnostic->id);
}

static void hear_dump(void *user, const char *text, size_t size) {
    if (size > 2 && memcmp(text, "# ", 2) == 0) hear(user, "dump", "title");
}

static void hear_log(void *user, const tcc_log_record *record) {
    char line[128];
    CHECK(record->size == sizeof *record && record->seconds >= 0 && record->text[0] != 0);
    snprintf(line, sizeof line, "%s %s", record->event, record->subject);
    hear(user, "log", line);
}

static void listen(tcc_compiler *compiler, Heard *heard, tcc_log_level level) {
    heard->text[0] = 0;
    tcc_on_diagnostic(compiler, hear_diagnostic, heard);
    tcc_on_dump(compiler, hear_dump, heard);
    tcc_on_log(compiler, level, hear_log, heard);
}

static void test_what_is_told(void) {
    Heard heard;
    tcc_unit *unit;
    tcc_compiler *compiler = new_compiler(NULL);
    listen(compiler, &heard, TCC_LOG_CALLS);
    tcc_task *task = start(compiler, warned);
    while (!tcc_task_poll(task)) usleep(1000);
    CHECK_STR(heard.text, ""); // only the wait tells
    CHECK_INT(tcc_task_wait(task, &unit), TCC_OK);
    CHECK(strncmp(heard.text, "diagnostic truncated\n", 21) == 0);
    CHECK(strstr(heard.text, "\nlog compiled m.g\n") != NULL);
    tcc_task_free(task);
    heard.text[0] = 0;
    CHECK(run_unit(unit) == 0);
    CHECK_STR(heard.text, "log opened m\n");
    tcc_unit_free(unit);
    tcc_compiler_free(compiler);
}

static void test_errors(void) {
    Heard heard;
    tcc_unit *unit;
    tcc_compiler *compiler = new_compiler(NULL);
    listen(compiler, &heard, TCC_LOG_STEPS);
    tcc_task *task = start(compiler, wrong);
    CHECK_INT(tcc_task_wait(task, &unit), TCC_INVALID);
    CHECK(unit == NULL);
    CHECK_STR(tcc_message(compiler), "there is no 'q'");
    CHECK_STR(heard.text, "diagnostic unknown-name\n");
    CHECK_INT(tcc_task_wait(task, &unit), TCC_INVALID);
    CHECK_STR(tcc_message(compiler), "the task was waited for already");
    tcc_task_free(task);
    tcc_source none = {.size = sizeof none, .path = "/tmp/no-such-file.g"}, bad = {.size = 4};
    CHECK_INT(tcc_compile_start(compiler, &none, &task), TCC_OK);
    CHECK_INT(tcc_task_wait(task, &unit), TCC_ENVIRONMENT);
    tcc_task_free(task);
    CHECK_INT(tcc_compile_start(compiler, &bad, &task), TCC_INVALID);
    CHECK_INT(tcc_compile_start(compiler, NULL, &task), TCC_INVALID);
    CHECK_INT(tcc_compile_start(NULL, &none, &task), TCC_INVALID);
    CHECK_INT(tcc_compile_start(compiler, &none, NULL), TCC_INVALID);
    CHECK_INT(tcc_task_wait(NULL, &unit), TCC_INVALID);
    none.path = NULL;
    CHECK_INT(tcc_compile_start(compiler, &none, &task), TCC_INVALID);
    CHECK_STR(tcc_message(compiler), "path is NULL");
    tcc_task_free(NULL);
    tcc_task_cancel(NULL);
    tcc_compiler_free(compiler);
}

// Passes and kernels one by one, also without a task; a hit of the cache is told as one.
static void test_the_log(void) {
    Heard heard;
    tcc_unit *unit;
    tcc_compiler *compiler = new_compiler(NULL);
    listen(compiler, &heard, TCC_LOG_STEPS);
    CHECK_INT(tcc_set_option(compiler, "O", "1"), TCC_OK);
    CHECK_INT(tcc_compile_memory(compiler, "m.g", twice, strlen(twice), &unit), TCC_OK);
    CHECK(strncmp(heard.text, "log pass inline\n", 16) == 0);
    CHECK(strstr(heard.text, "log pass fuse\n") && strstr(heard.text, "log compiled m.g\n"));
    heard.text[0] = 0;
    CHECK(run_unit(unit) == 6);
    CHECK(strncmp(heard.text, "log kernels ", 12) == 0);
    CHECK(strstr(heard.text, "\nlog opened twice\n") != NULL);
    tcc_unit_free(unit);
    heard.text[0] = 0;
    CHECK_INT(tcc_compile_memory(compiler, "m.g", twice, strlen(twice), &unit), TCC_OK);
    CHECK_STR(heard.text, "log cache-hit m.g\nlog compiled m.g\n");
    heard.text[0] = 0;
    CHECK_INT(tcc_unit_write_object(unit, "/dev/null"), TCC_OK);
    CHECK_STR(heard.text, "log written /dev/null\n");
    tcc_unit_free(unit);
    tcc_on_log(compiler, TCC_LOG_STEPS, NULL, NULL);
    CHECK_INT(tcc_set_option(compiler, "dump-after", "fold"), TCC_OK);
    tcc_task *task = start(compiler, twice);
    heard.text[0] = 0;
    CHECK_INT(tcc_task_wait(task, &unit), TCC_OK);
    CHECK_STR(heard.text, "dump title\n");
    tcc_task_free(task);
    tcc_unit_free(unit);
    tcc_compiler_free(compiler);
}

// ---- many, and none of them to the end ----------------------------------------------------------

static void check_balance(CountedMemory *memory) {
    CHECK_INT(atomic_load(&memory->blocks), 0);
    CHECK_INT(atomic_load(&memory->wrong), 0);
}

// Several at once, while the compiler itself works too; units outlive their tasks.
static void test_several_at_once(void) {
    enum { TASKS = 8 };
    CountedMemory memory = {.left = -1};
    tcc_allocator allocator = counted_allocator(&memory);
    tcc_compiler *compiler = new_compiler(&allocator);
    tcc_task *tasks[TASKS];
    tcc_unit *units[TASKS], *unit;
    char text[128];
    for (int i = 0; i < TASKS; i++) {
        snprintf(text, sizeof text, "model m(x: f32[3]) -> (y: f32[3]) { y = x * %d.0 }\n", i / 2);
        tasks[i] = start(compiler, text);
    }
    CHECK_INT(tcc_set_option(compiler, "O", "0"), TCC_OK); // theirs stay as they were
    CHECK_INT(tcc_compile_memory(compiler, "m.g", twice, strlen(twice), &unit), TCC_OK);
    CHECK(run_unit(unit) == 6);
    for (int i = TASKS; i-- > 0;) CHECK_INT(tcc_task_wait(tasks[i], &units[i]), TCC_OK);
    for (int i = 0; i < TASKS; i++) tcc_task_free(tasks[i]);
    tcc_compiler_free(compiler);
    for (int i = 0; i < TASKS; i++) {
        CHECK(run_unit(units[i]) == 3 * (float)(i / 2));
        tcc_unit_free(units[i]);
    }
    tcc_unit_free(unit);
    check_balance(&memory);
}

// Stopped at once, in the middle, and by being freed; with and without the compiler.
static void test_stopping(void) {
    CountedMemory memory = {.left = -1};
    tcc_allocator allocator = counted_allocator(&memory);
    char *text = program_text(PROGRAM_mixed, 3000);
    tcc_unit *unit;
    int cancelled = 0;
    for (int i = 0; i < 8; i++) {
        tcc_compiler *compiler = new_compiler(&allocator);
        tcc_task *task = start(compiler, text), *other = start(compiler, text);
        usleep((useconds_t)(i * i) * 2000);
        tcc_task_cancel(task);
        tcc_status status = tcc_task_wait(task, &unit);
        CHECK(status == TCC_CANCELLED || status == TCC_OK);
        if (status == TCC_CANCELLED) CHECK_STR(tcc_message(compiler), "cancelled");
        cancelled += status == TCC_CANCELLED;
        tcc_unit_free(unit);
        if (i % 2) tcc_compiler_free(compiler);
        tcc_task_free(task);
        tcc_task_free(other);
        if (i % 2 == 0) tcc_compiler_free(compiler);
        check_balance(&memory);
    }
    CHECK(cancelled > 0);
    free(text);
}

// The allocator fails somewhere in the task.
static void test_without_memory(void) {
    CountedMemory memory = {.left = -1};
    tcc_allocator allocator = counted_allocator(&memory);
    int failed = 0;
    for (long n = 3; n < 120; n += 3) {
        tcc_compiler *compiler = new_compiler(&allocator);
        tcc_source source = {
            .size = sizeof source, .path = "m.g", .text = twice, .text_size = strlen(twice)};
        tcc_task *task;
        tcc_unit *unit = NULL;
        atomic_store(&memory.left, n);
        tcc_status status = tcc_compile_start(compiler, &source, &task);
        if (status == TCC_OK) status = tcc_task_wait(task, &unit);
        CHECK(status == TCC_OK || status == TCC_MEMORY);
        failed += status == TCC_MEMORY;
        atomic_store(&memory.left, -1);
        tcc_unit_free(unit);
        tcc_task_free(task);
        tcc_compiler_free(compiler);
        check_balance(&memory);
    }
    CHECK(failed > 5);
}

int main(void) {
    RUN(test_what_is_told);
    RUN(test_errors);
    RUN(test_the_log);
    RUN(test_several_at_once);
    RUN(test_stopping);
    RUN(test_without_memory);
    return test_done();
}
