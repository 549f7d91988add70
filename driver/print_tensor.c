/* Tensors for people, as numpy prints them: nested brackets, a row a line; of much only the first
 * and the last of each axis. */
#include "driver/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* More elements than THRESHOLD are shown as EDGE at each end of an axis. Long rows go on in the
 * next line. */
enum { THRESHOLD = 1000, EDGE = 3, WIDTH = 100, INDENT = 2 };

typedef struct Printer {
    const tcc_tensor *tensor;
    bool summary;
    int column;
} Printer;

static void put(Printer *p, const char *text) {
    fputs(text, stdout);
    p->column += (int)strlen(text);
}

/* A new line within `axis` brackets. */
static void new_line(Printer *p, uint32_t axis) {
    p->column = INDENT + (int)axis;
    printf("\n%*s", p->column, "");
}

/* What stands between two elements or rows of an axis; `size` columns come next. */
static void separate(Printer *p, uint32_t axis, size_t size) {
    bool rows = axis + 1 < p->tensor->rank;
    put(p, ",");
    if (rows || p->column + 1 + (int)size > WIDTH)
        new_line(p, axis + 1);
    else
        put(p, " ");
}

static void print_axis(Printer *p, uint32_t axis, int64_t index);

/* Element or row `index` of what is before `axis`. */
static void print_item(Printer *p, uint32_t axis, int64_t index, bool first) {
    char text[VALUE_SIZE] = "";
    bool row = axis + 1 < p->tensor->rank;
    if (!row) value_text(text, p->tensor, index);
    if (!first) separate(p, axis, strlen(text) + 1); /* a comma or bracket follows */
    if (row)
        print_axis(p, axis + 1, index);
    else
        put(p, text);
}

static void print_axis(Printer *p, uint32_t axis, int64_t index) {
    int64_t size = p->tensor->dims[axis];
    bool cut = p->summary && size > 2 * EDGE;
    put(p, "[");
    for (int64_t i = 0; i < size; i++) {
        if (cut && i == EDGE) {
            separate(p, axis, 4);
            put(p, "...");
            i = size - EDGE;
        }
        print_item(p, axis, index * size + i, i == 0);
    }
    put(p, "]");
}

void tensor_print(const tcc_tensor *tensor) {
    char text[VALUE_SIZE];
    int64_t count = tensor_element_count(tensor);
    Printer printer = {.tensor = tensor, .summary = count > THRESHOLD, .column = INDENT};
    printf("%*s", INDENT, "");
    if (count == 0) {
        printf("[]");
    } else if (tensor->rank == 0) {
        value_text(text, tensor, 0);
        printf("%s", text);
    } else {
        print_axis(&printer, 0, 0);
    }
    putchar('\n');
}
