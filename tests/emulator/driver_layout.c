// The driver's own types against CUDA's header, where that is at hand: a program that includes it
// prints sizes, places and values, and ours are to be the same.
#include "emulator/driver/cuda_types.h"
#include "tests/unit/test.h"

#include <unistd.h>

typedef struct Row {
    const char *theirs; // an expression in their names
    long ours;
} Row;

static const Row rows[] = {
#define SIZE(type) {"sizeof(" #type ")", (long)sizeof(type)},
#define PLACE(type, our, their) {"offsetof(" #type ", " #their ")", (long)offsetof(type, our)},
#define VALUE(name) {#name, (long)name},
#include "tests/emulator/layout.def"
#define ERROR(name, number, text, sticky) {#name, number},
#include "emulator/driver/errors.def"
#define ATTRIBUTE(name, number, value) {"CU_DEVICE_ATTRIBUTE_" #name, number},
#include "emulator/driver/device_attributes.def"
};

enum { ROWS = sizeof rows / sizeof *rows };

static const char *find_header(void) {
    static const char *const folders[] = {"/usr/local/cuda/include", "/usr/include",
                                          "/usr/lib/cuda/include"};
    char path[256];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/cuda.h", folders[i]);
        if (access(path, R_OK) == 0) return folders[i];
    }
    return NULL;
}

static void write_program(const char *path) {
    FILE *file = fopen(path, "w");
    if (!CHECK(file != NULL)) return;
    fputs("#include <stddef.h>\n#include <stdio.h>\n#include <cuda.h>\nint main(void) {\n", file);
    for (int i = 0; i < ROWS; i++)
        fprintf(file, "printf(\"%%ld\\n\", (long)%s);\n", rows[i].theirs);
    fputs("return 0; }\n", file);
    fclose(file);
}

static void compare(const char *folder, const char *work) {
    char source[256], command[1024];
    snprintf(source, sizeof source, "%s/layout.c", work);
    write_program(source);
    snprintf(command, sizeof command, "cc -w -I%s -o %s/layout %s && %s/layout", folder, work,
             source, work);
    FILE *pipe = popen(command, "r");
    if (!CHECK(pipe != NULL)) return;
    for (int i = 0; i < ROWS; i++) {
        long theirs;
        if (!CHECK(fscanf(pipe, "%ld", &theirs) == 1)) break;
        if (!CHECK(theirs == rows[i].ours))
            printf("    %s is %ld, not %ld\n", rows[i].theirs, theirs, rows[i].ours);
    }
    CHECK_INT(pclose(pipe), 0);
    snprintf(command, sizeof command, "rm -r %s", work);
    CHECK_INT(system(command), 0);
}

int main(void) {
    const char *folder = find_header();
    char work[] = "/tmp/tcc-layout-XXXXXX";
    if (folder == NULL) return test_skip("there is no cuda.h");
    if (CHECK(mkdtemp(work) != NULL)) compare(folder, work);
    return test_done();
}
