/* A relocatable ELF object for x86-64 that holds data: sections of bytes, symbols on them, and
 * pointers to symbols of other objects. System V ABI, "Object Files"; relocations R_X86_64_64 of
 * its AMD64 supplement. */
#ifndef TCC_CODEGEN_ARTEFACT_ELF_H
#define TCC_CODEGEN_ARTEFACT_ELF_H

#include "base/str.h"
#include "base/vec.h"

/* Bytes that stay the caller's until the object is written; `padding` zeros follow them. */
typedef struct ElfChunk {
    const void *bytes;
    size_t size, padding;
} ElfChunk;

typedef struct ElfSection {
    const char *name;
    uint64_t alignment;
    bool writable; /* to the dynamic linker: holds pointers */
    bool loaded;   /* part of the program's memory */
    VEC(ElfChunk) chunks;
    uint64_t size;
} ElfSection;

typedef struct ElfSymbol {
    const char *name;
    uint32_t section; /* index + 1; 0 for a symbol of another object */
    uint64_t size;
} ElfSymbol;

typedef struct ElfPointer {
    uint32_t section, symbol; /* indices */
    uint64_t offset;
} ElfPointer;

typedef struct ElfObject {
    Arena *arena;
    VEC(ElfSection) sections;
    VEC(ElfSymbol) symbols;
    VEC(ElfPointer) pointers;
} ElfObject;

uint32_t elf_add_section(ElfObject *object, const char *name, uint64_t alignment, bool writable,
                         bool loaded);
void elf_add_bytes(ElfObject *object, uint32_t section, const void *bytes, size_t size,
                   size_t padding);
/* A global, hidden symbol at the begin of a section. */
void elf_add_symbol(ElfObject *object, const char *name, uint32_t section);
/* Appends a pointer to a function that another object defines. */
void elf_add_pointer(ElfObject *object, uint32_t section, const char *symbol);

/* Hands the file to `put` piece by piece, in order. */
void elf_write(const ElfObject *object, void (*put)(void *user, const void *bytes, size_t size),
               void *user);

#endif
