#include "codegen/artefact/elf.h"

#include <elf.h>
#include <string.h>

uint32_t elf_add_section(ElfObject *object, const char *name, uint64_t alignment, bool writable,
                         bool loaded) {
    vec_push(
        object->arena, &object->sections,
        (ElfSection){.name = name, .alignment = alignment, .writable = writable, .loaded = loaded});
    return (uint32_t)object->sections.count - 1;
}

void elf_add_bytes(ElfObject *object, uint32_t section, const void *bytes, size_t size,
                   size_t padding) {
    ElfSection *s = &object->sections.data[section];
    vec_push(object->arena, &s->chunks, (ElfChunk){bytes, size, padding});
    s->size += size + padding;
}

void elf_add_symbol(ElfObject *object, const char *name, uint32_t section) {
    uint64_t size = object->sections.data[section].size;
    vec_push(object->arena, &object->symbols, (ElfSymbol){name, section + 1, size});
}

void elf_add_pointer(ElfObject *object, uint32_t section, const char *symbol) {
    static const uint64_t zero;
    vec_push(object->arena, &object->symbols, (ElfSymbol){symbol, 0, 0});
    vec_push(object->arena, &object->pointers,
             (ElfPointer){section, (uint32_t)object->symbols.count - 1,
                          object->sections.data[section].size});
    elf_add_bytes(object, section, &zero, sizeof zero, 0);
}

/* ---- writing: header, sections in order, relocations, symbols, strings, section headers ------ */

typedef struct Output {
    const ElfObject *object;
    void (*put)(void *user, const void *bytes, size_t size);
    void *user;
    uint64_t offset;
    VEC(Elf64_Shdr) headers;
    Buf names, strings;
} Output;

static void put(Output *out, const void *bytes, size_t size) {
    out->put(out->user, bytes, size);
    out->offset += size;
}

static void put_zeros(Output *out, uint64_t count) {
    static const char zeros[4096];
    for (; count > 0; count -= count < sizeof zeros ? count : sizeof zeros)
        put(out, zeros, count < sizeof zeros ? count : sizeof zeros);
}

static void align(Output *out, uint64_t alignment) {
    put_zeros(out, (alignment - out->offset % alignment) % alignment);
}

static Elf64_Shdr *add_header(Output *out, const char *name, uint32_t type, uint64_t alignment) {
    Elf64_Shdr header = {.sh_name = (Elf64_Word)out->names.size,
                         .sh_type = type,
                         .sh_addralign = alignment,
                         .sh_offset = out->offset};
    buf_bytes(&out->names, name, strlen(name) + 1);
    vec_push(out->object->arena, &out->headers, header);
    return &out->headers.data[out->headers.count - 1];
}

static void put_sections(Output *out) {
    for (size_t i = 0; i < out->object->sections.count; i++) {
        const ElfSection *s = &out->object->sections.data[i];
        align(out, s->alignment);
        Elf64_Shdr *header = add_header(out, s->name, SHT_PROGBITS, s->alignment);
        header->sh_flags = (s->loaded ? SHF_ALLOC : 0) | (s->writable ? SHF_WRITE : 0);
        header->sh_size = s->size;
        for (size_t k = 0; k < s->chunks.count; k++) {
            put(out, s->chunks.data[k].bytes, s->chunks.data[k].size);
            put_zeros(out, s->chunks.data[k].padding);
        }
    }
}

/* One relocation section for each section with pointers; `symtab` is the index of the symbol table.
 */
static void put_relocations(Output *out, uint32_t symtab) {
    const ElfObject *o = out->object;
    for (uint32_t i = 0; i < o->sections.count; i++) {
        align(out, 8);
        uint64_t begin = out->offset;
        for (size_t k = 0; k < o->pointers.count; k++) {
            const ElfPointer *p = &o->pointers.data[k];
            if (p->section != i) continue;
            Elf64_Rela rela = {.r_offset = p->offset,
                               .r_info = ELF64_R_INFO((uint64_t)p->symbol + 1, R_X86_64_64)};
            put(out, &rela, sizeof rela);
        }
        if (out->offset == begin) continue;
        Str name = str_format(o->arena, ".rela%s", o->sections.data[i].name);
        Elf64_Shdr *header = add_header(out, name.data, SHT_RELA, 8);
        header->sh_offset = begin;
        header->sh_size = out->offset - begin;
        header->sh_entsize = sizeof(Elf64_Rela);
        header->sh_link = symtab;
        header->sh_info = i + 1;
        header->sh_flags = SHF_INFO_LINK;
    }
}

static void put_symbols(Output *out, uint32_t strtab) {
    const ElfObject *o = out->object;
    align(out, 8);
    Elf64_Shdr *header = add_header(out, ".symtab", SHT_SYMTAB, 8);
    header->sh_entsize = sizeof(Elf64_Sym);
    header->sh_size = (o->symbols.count + 1) * sizeof(Elf64_Sym);
    header->sh_link = strtab;
    header->sh_info = 1;
    put_zeros(out, sizeof(Elf64_Sym));
    buf_char(&out->strings, 0);
    for (size_t i = 0; i < o->symbols.count; i++) {
        const ElfSymbol *s = &o->symbols.data[i];
        Elf64_Sym symbol = {.st_name = (Elf64_Word)out->strings.size,
                            .st_info =
                                ELF64_ST_INFO(STB_GLOBAL, s->section > 0 ? STT_OBJECT : STT_NOTYPE),
                            .st_other = STV_HIDDEN,
                            .st_shndx = (Elf64_Half)s->section,
                            .st_size = s->size};
        buf_bytes(&out->strings, s->name, strlen(s->name) + 1);
        put(out, &symbol, sizeof symbol);
    }
}

static void put_strings(Output *out) {
    Elf64_Shdr *strtab = add_header(out, ".strtab", SHT_STRTAB, 1);
    strtab->sh_size = out->strings.size;
    put(out, out->strings.data, out->strings.size);
    Elf64_Shdr *shstrtab = add_header(out, ".shstrtab", SHT_STRTAB, 1);
    shstrtab->sh_size = out->names.size;
    put(out, out->names.data, out->names.size);
}

/* How many section headers there will be: the null one, the data, relocations, and a note that the
 * stack is not executable, symtab, strtab, shstrtab. */
static uint32_t count_relocation_sections(const ElfObject *o) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < o->sections.count; i++)
        for (size_t k = 0; k < o->pointers.count; k++)
            if (o->pointers.data[k].section == i) {
                count++;
                break;
            }
    return count;
}

static uint64_t data_end(const ElfObject *o) {
    uint64_t end = sizeof(Elf64_Ehdr);
    for (size_t i = 0; i < o->sections.count; i++) {
        const ElfSection *s = &o->sections.data[i];
        end = (end + s->alignment - 1) / s->alignment * s->alignment + s->size;
    }
    return end;
}

/* Where the section headers stand: after everything else, whose sizes are all known beforehand. */
static uint64_t header_offset(const ElfObject *o) {
    uint64_t end = (data_end(o) + 7) / 8 * 8 + o->pointers.count * sizeof(Elf64_Rela);
    end = (end + 7) / 8 * 8 + (o->symbols.count + 1) * sizeof(Elf64_Sym) + 1;
    for (size_t i = 0; i < o->symbols.count; i++) end += strlen(o->symbols.data[i].name) + 1;
    end += 1 + sizeof ".note.GNU-stack" + sizeof ".symtab" + sizeof ".strtab" + sizeof ".shstrtab";
    for (uint32_t i = 0; i < o->sections.count; i++) {
        size_t name = strlen(o->sections.data[i].name) + 1;
        end += name;
        for (size_t k = 0; k < o->pointers.count; k++)
            if (o->pointers.data[k].section == i) {
                end += name + strlen(".rela");
                break;
            }
    }
    return (end + 7) / 8 * 8;
}

static void put_header(Output *out, uint32_t sections) {
    Elf64_Ehdr header = {.e_type = ET_REL,
                         .e_machine = EM_X86_64,
                         .e_version = EV_CURRENT,
                         .e_shoff = header_offset(out->object),
                         .e_ehsize = sizeof header,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = (Elf64_Half)sections,
                         .e_shstrndx = (Elf64_Half)(sections - 1)};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    put(out, &header, sizeof header);
}

void elf_write(const ElfObject *object,
               void (*put_bytes)(void *user, const void *bytes, size_t size), void *user) {
    Output out = {.object = object,
                  .put = put_bytes,
                  .user = user,
                  .names = {.arena = object->arena},
                  .strings = {.arena = object->arena}};
    uint32_t data = (uint32_t)object->sections.count;
    uint32_t symtab = 2 + data + count_relocation_sections(object);
    put_header(&out, symtab + 3);
    vec_push(object->arena, &out.headers, (Elf64_Shdr){0});
    buf_char(&out.names, 0);
    put_sections(&out);
    put_relocations(&out, symtab);
    add_header(&out, ".note.GNU-stack", SHT_PROGBITS, 1);
    put_symbols(&out, symtab + 1);
    put_strings(&out);
    align(&out, 8);
    put(&out, out.headers.data, out.headers.count * sizeof(Elf64_Shdr));
}
