#include "codegen/artefact/read.h"

#include "base/messages.h"

#include <elf.h>
#include <string.h>
#include <zstd.h>

/* A block of zstd has 4 bytes at least and gives 128 KiB at most, so that no more is allocated for
 * a graph than its bytes can hold. */
enum { MAX_GRAPH_BYTES = 1 << 28, BLOCK_BYTES = 4, BLOCK_HOLDS = 128 << 10 };

typedef struct Reader {
    Diags *diags;
    Loc loc;
    Str bytes;
    Elf64_Ehdr header;
    Elf64_Shdr names; /* the section that holds the names of all */
} Reader;

static bool lies_inside(const Reader *r, uint64_t offset, uint64_t size) {
    return offset <= r->bytes.size && size <= r->bytes.size - offset;
}

/* What is said to be at [offset, offset + size) is in the file; `at` is where that is said. */
static bool check_place(const Reader *r, uint64_t at, const char *what, uint64_t offset,
                        uint64_t size) {
    if (lies_inside(r, offset, size)) return true;
    diag_error(r->diags, r->loc, MSG_ARTEFACT_PLACE, (unsigned long long)at, what,
               (unsigned long long)r->bytes.size);
    return false;
}

static uint64_t header_place(const Reader *r, uint32_t index) {
    return r->header.e_shoff + (uint64_t)index * sizeof(Elf64_Shdr);
}

static Elf64_Shdr section_at(const Reader *r, uint32_t index) {
    Elf64_Shdr section;
    memcpy(&section, r->bytes.data + header_place(r, index), sizeof section);
    return section;
}

/* The header of the file, all section headers and the names of sections are where it says. */
static bool read_header(Reader *r) {
    Elf64_Ehdr *h = &r->header;
    if (r->bytes.size < sizeof *h || memcmp(r->bytes.data, ELFMAG, SELFMAG) != 0 ||
        r->bytes.data[EI_CLASS] != ELFCLASS64 || r->bytes.data[EI_DATA] != ELFDATA2LSB) {
        diag_error(r->diags, r->loc, MSG_ARTEFACT_ELF);
        return false;
    }
    memcpy(h, r->bytes.data, sizeof *h);
    if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shstrndx >= h->e_shnum) {
        diag_error(r->diags, r->loc, MSG_ARTEFACT_SECTIONS,
                   (unsigned long long)offsetof(Elf64_Ehdr, e_shentsize));
        return false;
    }
    if (!check_place(r, offsetof(Elf64_Ehdr, e_shoff), "table of sections", h->e_shoff,
                     (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
        return false;
    r->names = section_at(r, h->e_shstrndx);
    return check_place(r, header_place(r, h->e_shstrndx), "section of names", r->names.sh_offset,
                       r->names.sh_size);
}

static bool has_name(const Reader *r, const Elf64_Shdr *section, const char *name) {
    size_t size = strlen(name) + 1;
    if (section->sh_name > r->names.sh_size || size > r->names.sh_size - section->sh_name)
        return false;
    return memcmp(r->bytes.data + r->names.sh_offset + section->sh_name, name, size) == 0;
}

static bool find_section(Reader *r, ArtefactPart part, Str *out) {
    static const struct {
        const char *name, *meaning, *missing;
    } parts[] = {[ARTEFACT_metadata] = {".tcc.meta", "metadata", "metadata"},
                 [ARTEFACT_graph] = {".tcc.graph", "graph",
                                     "graph and explanation (--strip-info leaves them out)"}};
    const char *name = parts[part].name, *meaning = parts[part].meaning;
    if (!read_header(r)) return false;
    for (uint32_t i = 0; i < r->header.e_shnum; i++) {
        Elf64_Shdr section = section_at(r, i);
        if (!has_name(r, &section, name)) continue;
        if (section.sh_type == SHT_NOBITS ||
            !check_place(r, header_place(r, i), meaning, section.sh_offset, section.sh_size))
            break;
        *out = (Str){r->bytes.data + section.sh_offset, section.sh_size};
        return true;
    }
    if (diags_error_count(r->diags) == 0)
        diag_error(r->diags, r->loc, MSG_ARTEFACT_PART, parts[part].missing);
    return false;
}

static Status unpack(Arena *arena, const Reader *r, Str packed, Str *out_text) {
    unsigned long long size = ZSTD_getFrameContentSize(packed.data, packed.size);
    unsigned long long most = (packed.size / BLOCK_BYTES + 1) * (unsigned long long)BLOCK_HOLDS;
    bool known = size != ZSTD_CONTENTSIZE_ERROR && size != ZSTD_CONTENTSIZE_UNKNOWN;
    if (known && size <= MAX_GRAPH_BYTES && size <= most) {
        char *text = arena_alloc(arena, (size_t)size + 1);
        if (ZSTD_decompress(text, (size_t)size, packed.data, packed.size) == size) {
            *out_text = (Str){text, (size_t)size};
            return STATUS_ok;
        }
    }
    diag_error(r->diags, r->loc, MSG_ARTEFACT_GRAPH,
               (unsigned long long)(packed.data - r->bytes.data));
    return STATUS_invalid;
}

Status artefact_read(Arena *arena, Diags *diags, uint32_t file, Str bytes, ArtefactPart part,
                     Str *out_text) {
    Reader r = {.diags = diags, .loc = {.file = file}, .bytes = bytes};
    Str section;
    if (!find_section(&r, part, &section)) return STATUS_invalid;
    if (part == ARTEFACT_graph) return unpack(arena, &r, section, out_text);
    while (section.size > 0 && section.data[section.size - 1] == 0) section.size--;
    *out_text = str_copy(arena, section);
    return STATUS_ok;
}
