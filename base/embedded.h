// Files that the build puts into the program: the library written in the language
// (frontend_library_files) and the runtime that every model.so links
// (codegen_runtime_object_files). The tables are written by cmake/embed.cmake; who reads one
// declares it in its own header:
//     extern const EmbeddedFile frontend_library_files[];
//     extern const size_t frontend_library_count;
#ifndef TCC_BASE_EMBEDDED_H
#define TCC_BASE_EMBEDDED_H

#include <stddef.h>

// One file. `name` is its name without folders; `bytes` holds `size` bytes and then a zero byte,
// so that a text is a string as well. Constant data; sorted by name in a table.
typedef struct EmbeddedFile {
    const char *name;
    const unsigned char *bytes;
    size_t size;
} EmbeddedFile;

#endif
