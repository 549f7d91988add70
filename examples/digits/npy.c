#include "npy.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "\x93NUMPY", version 1.0, the header's length in two bytes. */
enum { PREFIX = 10, MAX_HEADER = 65535 };

/* The header is the text of a Python dictionary, padded with blanks:
 * {'descr': '<f4', 'fortran_order': False, 'shape': (360, 10), } */
static bool read_header(FILE *file, char *header) {
    unsigned char prefix[PREFIX];
    if (fread(prefix, 1, PREFIX, file) != PREFIX || memcmp(prefix, "\x93NUMPY\1", 7) != 0)
        return false;
    size_t length = (size_t)prefix[8] + 256u * prefix[9];
    header[length] = '\0';
    return fread(header, 1, length, file) == length;
}

static bool has_type(const char *header, const char *descr) {
    char wanted[32];
    snprintf(wanted, sizeof wanted, "'descr': '%s'", descr);
    return strstr(header, wanted) && strstr(header, "'fortran_order': False");
}

/* The dims of "'shape': (360, 10)"; the product is kept below 2^40. */
static bool read_shape(const char *header, Npy *array) {
    const char *at = strstr(header, "'shape': (");
    if (!at) return false;
    at += strlen("'shape': (");
    array->count = 1;
    while (*at != ')') {
        char *end;
        long long dim = strtoll(at, &end, 10);
        if (end == at || dim < 0 || dim > 1 << 20 || array->rank == NPY_MAX_RANK) return false;
        array->dims[array->rank++] = dim;
        array->count *= dim;
        if (array->count > (int64_t)1 << 40) return false;
        at = end + strspn(end, ", ");
    }
    return true;
}

static const char *read_array(FILE *file, char *header, const char *descr, int64_t size, Npy *a) {
    if (!read_header(file, header)) return "is not an .npy file of version 1.0";
    if (!has_type(header, descr)) return "has elements of another type, or in another order";
    if (!read_shape(header, a)) return "has a shape that this program does not read";
    size_t bytes = (size_t)(a->count * size);
    a->data = malloc(bytes ? bytes : 1);
    if (!a->data) return "does not fit in memory";
    return fread(a->data, 1, bytes, file) == bytes ? NULL : "ends too early";
}

const char *npy_read(const char *path, const char *descr, int64_t size, Npy *out_array) {
    *out_array = (Npy){0};
    FILE *file = fopen(path, "rb");
    if (!file) return "cannot be read";
    char *header = malloc(MAX_HEADER + 1);
    const char *wrong =
        header ? read_array(file, header, descr, size, out_array) : "does not fit in memory";
    free(header);
    fclose(file);
    if (wrong) npy_free(out_array);
    return wrong;
}

void npy_free(Npy *array) {
    free(array->data);
    *array = (Npy){0};
}
