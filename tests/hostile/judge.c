#include "ir/tensor.h"
#include "tests/hostile/hostile.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Of processor time; a build with sanitizers may take five times that.
static const double most_seconds = 1;
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const double slower = 5;
#else
static const double slower = 1;
#endif

const char *const format_suffixes[] = {
    [FORMAT_g] = ".g",        [FORMAT_tir] = ".tir", [FORMAT_safetensors] = ".safetensors",
    [FORMAT_npz] = ".npz",    [FORMAT_npy] = ".npy", [FORMAT_so] = ".so",
    [FORMAT_count] = "option"};

// ---- what was said --------------------------------------------------------------------------

// Messages that are about a file as a whole, and so name the path alone.
static bool is_about_the_whole(const char *id) {
    static const char *const ids[] = {
        "no-model",      "not-a-file",     "cannot-read",          "file-shrank",
        "too-large",     "bad-path",       "many-models",          "language",
        "artefact-part", "weights-format", "weights-empty-folder", "file-size"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (strcmp(ids[i], id) == 0) return true;
    return false;
}

// No control characters but line ends, and UTF-8: a terminal shows it as it is.
static bool is_printable(const char *text) {
    for (const char *c = text; *c; c++)
        if (((unsigned char)*c < ' ' && *c != '\n') || *c == 0x7f) return false;
    return str_is_utf8(str_from(text));
}

static void keep_diagnostic(void *user, const tcc_diagnostic *d) {
    Kit *kit = user;
    size_t used = strlen(kit->said);
    snprintf(kit->said + used, sizeof kit->said - used, "%s", d->rendered);
    if (d->severity != TCC_ERROR) return;
    if (d->line > 0 && d->column > 0) kit->has_place = true;
    if (strstr(d->text, "byte ") != NULL) kit->has_place = true;
    if (is_about_the_whole(d->id)) kit->whole_file = true;
}

static bool complain(Kit *kit, const char *what, Format format, Str bytes) {
    Buf shown = {.arena = kit->arena};
    Str start = {bytes.data, bytes.size < 400 ? bytes.size : 400};
    buf_quoted(&shown, start);
    kit->failed++;
    printf("%s %s of %zu bytes: %s\n    %s\n    %s\n", kit->kind, format_suffixes[format],
           bytes.size, what, shown.data, kit->said);
    return false;
}

bool expect(Kit *kit, bool good, const char *what) {
    kit->failed += !good;
    if (!good) printf("%s: failed: %s\n", kit->kind, what);
    return good;
}

// ---- one call of each format ----------------------------------------------------------------

static tcc_status compile(Kit *kit, const char *name, Str bytes) {
    tcc_unit *unit = NULL;
    tcc_status status = tcc_compile_memory(kit->compiler, name, bytes.data, bytes.size, &unit);
    expect(kit, (status == TCC_OK) == (unit != NULL), "a unit or an error");
    tcc_unit_free(unit);
    return status;
}

static tcc_status compile_path(Kit *kit, const char *path) {
    tcc_unit *unit = NULL;
    tcc_status status = tcc_compile_file(kit->compiler, path, &unit);
    tcc_unit_free(unit);
    return status;
}

static tcc_status of_status(Status status) {
    return status == STATUS_ok        ? TCC_OK
           : status == STATUS_invalid ? TCC_INVALID
           : status == STATUS_memory  ? TCC_MEMORY
                                      : TCC_ENVIRONMENT;
}

static tcc_status load(Kit *kit, const char *path) {
    WeightsFixture *w = &kit->weights;
    Status status = weights_fixture_load_path(w, path);
    snprintf(kit->said, sizeof kit->said, "%s", w->text);
    kit->has_place = strstr(w->text, ": byte ") != NULL;
    kit->whole_file = is_about_the_whole(w->id);
    for (size_t i = 0; i < weights_count(w->table); i++) {
        const Weight *t = weights_at(w->table, i);
        Tensor tensor = {.dtype = t->dtype, .rank = t->rank};
        memcpy(tensor.dims, t->dims, sizeof tensor.dims);
        if (!expect(kit, t->size == tensor_bytes(&tensor), "a size")) return TCC_INTERNAL;
        hash_bytes(0, t->bytes, t->size); // all of it can be read
    }
    return of_status(status);
}

static tcc_status read_array(Kit *kit, const char *path) {
    tcc_array *array = NULL;
    tcc_status status = tcc_array_read(kit->compiler, path, &array);
    if (status == TCC_OK) {
        const tcc_tensor *t = tcc_array_tensor(array);
        Tensor tensor = {.dtype = (DType)t->dtype, .rank = t->rank, .data = t->data};
        memcpy(tensor.dims, t->dims, sizeof tensor.dims);
        hash_bytes(0, tensor.data, tensor_bytes(&tensor));
    }
    tcc_array_free(array);
    return status;
}

// An .npy file is read both ways, which must agree unless it changes in between.
static tcc_status load_array(Kit *kit, const char *path) {
    tcc_status first = read_array(kit, path), second = load(kit, path);
    bool same = (first == TCC_OK) == (second == TCC_OK) || kit->changing;
    return expect(kit, same, "weights and arrays agree") ? second : TCC_INTERNAL;
}

static tcc_status read_artefact(Kit *kit, const char *path) {
    const char *text;
    size_t size;
    tcc_status status = tcc_artefact_read(kit->compiler, path, "metadata", &text, &size);
    if (status == TCC_OK) status = tcc_artefact_read(kit->compiler, path, "graph", &text, &size);
    if (status == TCC_OK) status = tcc_artefact_read(kit->compiler, path, "explain", &text, &size);
    return status;
}

static tcc_status call_path(Kit *kit, Format format, const char *path) {
    switch (format) {
    case FORMAT_so: return read_artefact(kit, path);
    case FORMAT_npy: return load_array(kit, path);
    case FORMAT_g:
    case FORMAT_tir: return compile_path(kit, path);
    default: return load(kit, path);
    }
}

static tcc_status call(Kit *kit, Format format, Str bytes) {
    char name[32];
    snprintf(name, sizeof name, "hostile%s", format_suffixes[format]);
    if (format == FORMAT_g || format == FORMAT_tir) return compile(kit, name, bytes);
    weights_fixture_put(&kit->weights, name, bytes);
    const char *path = weights_fixture_path(&kit->weights, name);
    char copy[512];
    snprintf(copy, sizeof copy, "%s", path);
    tcc_status status = call_path(kit, format, copy);
    weights_fixture_remove(&kit->weights, name);
    return status;
}

// ---- the verdict ----------------------------------------------------------------------------

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double begin(Kit *kit) {
    kit->said[0] = 0;
    kit->has_place = kit->whole_file = false;
    kit->variants++;
    tcc_on_diagnostic(kit->compiler, keep_diagnostic, kit);
    return now();
}

// For the command: some of a kind's refused files, more of them from its begin than from its end.
static void keep_sample(Kit *kit, Format format, Str bytes) {
    if (!kit->keep || format == FORMAT_count || kit->refused < kit->next_kept) return;
    kit->next_kept = 2 * kit->refused + 1;
    Str path =
        text_of(kit, "%s/%s-%ld%s", kit->keep, kit->kind, kit->refused, format_suffixes[format]);
    FILE *file = fopen(path.data, "wb");
    if (file) fwrite(bytes.data, 1, bytes.size, file);
    if (file) fclose(file);
}

static bool conclude(Kit *kit, Format format, Verdict verdict, Str bytes, tcc_status status,
                     double seconds) {
    if (seconds > kit->slowest) kit->slowest = seconds;
    if (seconds > most_seconds * slower) return complain(kit, "too slow", format, bytes);
    if (!is_printable(kit->said)) return complain(kit, "an unprintable message", format, bytes);
    if (status == TCC_OK) {
        kit->accepted++;
        return verdict != REFUSED || complain(kit, "was accepted", format, bytes);
    }
    kit->refused++;
    if (verdict == ACCEPTED) return complain(kit, "was refused", format, bytes);
    if (status != TCC_INVALID && !(kit->whole_file && status == TCC_ENVIRONMENT))
        return complain(kit, tcc_message(kit->compiler), format, bytes);
    if (!kit->has_place && !kit->whole_file) return complain(kit, "no place", format, bytes);
    keep_sample(kit, format, bytes);
    return true;
}

bool judge(Kit *kit, Format format, Verdict verdict, Str bytes) {
    double from = begin(kit);
    tcc_status status = call(kit, format, bytes);
    return conclude(kit, format, verdict, bytes, status, now() - from);
}

bool judge_bytes(Kit *kit, Format format, Str bytes, Str tensor) {
    if (!judge(kit, format, ACCEPTED, bytes)) return false;
    const WeightsFixture *w = &kit->weights;
    const Weight *t = weights_count(w->table) > 0 ? weights_at(w->table, 0) : NULL;
    bool same = t && t->size == tensor.size && memcmp(t->bytes, tensor.data, tensor.size) == 0;
    return same || complain(kit, "other bytes arrived", format, bytes);
}

bool judge_path(Kit *kit, Format format, Verdict verdict, const char *path) {
    double from = begin(kit);
    tcc_status status = call_path(kit, format, path);
    return conclude(kit, format, verdict, str_from(path), status, now() - from);
}

bool judge_option(Kit *kit, Verdict verdict, const char *name, Str value) {
    double from = begin(kit);
    tcc_compiler *compiler = NULL;
    tcc_compiler_new(&compiler);
    tcc_status status = tcc_set_option(compiler, name, str_terminated(kit->arena, value));
    snprintf(kit->said, sizeof kit->said, "%s", status == TCC_OK ? "" : tcc_message(compiler));
    kit->has_place = strstr(kit->said, name) != NULL; // the option is named
    tcc_compiler_free(compiler);
    return conclude(kit, FORMAT_count, verdict, value, status, now() - from);
}

// ---- making files ---------------------------------------------------------------------------

Str text_of(Kit *kit, const char *format, ...) {
    Buf buf = {.arena = kit->arena};
    va_list args;
    va_start(args, format);
    buf_vprint(&buf, format, args);
    va_end(args);
    return buf_str(&buf);
}

Str joined(Kit *kit, Str a, Str b) {
    Buf buf = {.arena = kit->arena};
    buf_put(&buf, a);
    buf_put(&buf, b);
    return buf_str(&buf);
}

Str repeated(Kit *kit, const char *before, const char *piece, size_t count, const char *after) {
    Buf buf = {.arena = kit->arena};
    buf_put(&buf, str_from(before));
    for (size_t i = 0; i < count; i++) buf_put(&buf, str_from(piece));
    buf_put(&buf, str_from(after));
    return buf_str(&buf);
}

Str model_of(Kit *kit, const char *expression) {
    return text_of(kit,
                   "dim N in 1..9\nmodel m(x: f32[2, 4, 6, 6], v: f32[5], i: i64[3], s: f32, n: "
                   "f32[N, 4]) -> (y) {\n    y = %s\n}\n",
                   expression);
}

Str graph_of(Kit *kit, const char *lines, const char *last) {
    return text_of(
        kit,
        "tir 1\ndim N in 1..9 tune 2\ngraph @m {\n  %%0 = input index=0 name=\"x\" : f32[2, 3]\n"
        "  %%1 = input index=1 name=\"i\" : i64[3]\n  %s\n  return y = %s\n}\n",
        lines, last);
}

static Str zeros(Kit *kit, size_t size) { return (Str){arena_alloc(kit->arena, size), size}; }

Str one_tensor(Kit *kit, const char *dtype, const char *shape, const char *offsets, size_t data) {
    Str header = text_of(kit, "{\"a\":{\"dtype\":%s,\"shape\":%s,\"data_offsets\":%s}}", dtype,
                         shape, offsets);
    return make_safetensors(kit->arena, header, zeros(kit, data));
}

Str one_array(Kit *kit, const char *descr, const char *order, const char *shape, size_t data) {
    Str header =
        text_of(kit, "{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n", descr, order, shape);
    return make_npy(kit->arena, 1, header, zeros(kit, data));
}

Str archive_of(Kit *kit, Str member, bool deflate) {
    ZipSpec spec = {STR("a.npy"), member, deflate, false};
    return make_zip(kit->arena, &spec, 1, false, STR(""));
}

// A library that holds the two sections of a model.so and nothing else: the file's header, the
// headers of its sections, and the sections.
static Str small_artefact(Kit *kit) {
    // One raw block of zstd, "tir 1".
    static const unsigned char packed[] = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x06, 0x31, 0,
                                           0,    't',  'i',  'r',  ' ',  '1',  '\n'};
    static const char meta[] = "{\"format\":\"tcc model\"}\0";
    static const char names[] = "\0.tcc.meta\0.tcc.graph\0.shstrtab";
    enum { SECTIONS = 4, START = sizeof(Elf64_Ehdr) + SECTIONS * sizeof(Elf64_Shdr) };
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_DYN,
                         .e_machine = EM_X86_64,
                         .e_version = EV_CURRENT,
                         .e_shoff = sizeof header,
                         .e_ehsize = sizeof header,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = SECTIONS,
                         .e_shstrndx = SECTIONS - 1};
    const Elf64_Shdr sections[SECTIONS] = {
        {0},
        {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = START, .sh_size = sizeof meta},
        {.sh_name = 11,
         .sh_type = SHT_PROGBITS,
         .sh_offset = START + sizeof meta,
         .sh_size = sizeof packed},
        {.sh_name = 22,
         .sh_type = SHT_STRTAB,
         .sh_offset = START + sizeof meta + sizeof packed,
         .sh_size = sizeof names}};
    Buf buf = {.arena = kit->arena};
    buf_bytes(&buf, &header, sizeof header);
    buf_bytes(&buf, sections, sizeof sections);
    buf_bytes(&buf, meta, sizeof meta);
    buf_bytes(&buf, packed, sizeof packed);
    buf_bytes(&buf, names, sizeof names);
    return buf_str(&buf);
}

Str good_file(Kit *kit, Format format) {
    switch (format) {
    case FORMAT_g:
        return STR(
            "dim N in 1..9 tune 2\nfn f(a, k=2) { return a[:, ::k] * 1.5 }\n"
            "model m(x: f32[N, 4]) -> (y: f32[N, 2]) {\n    y = softmax(f(x), axis=-1)\n}\n");
    case FORMAT_tir: return graph_of(kit, "%2 = reduce_sum %0 axes=[1] dtype=f32 : f32[2]", "%2");
    case FORMAT_safetensors:
        return make_safetensors(
            kit->arena,
            STR("{\"__metadata__\":{\"format\":\"pt\"},\"a\":{\"dtype\":\"F32\",\"shape\":[2,1],"
                "\"data_offsets\":[0,8]},\"b\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":["
                "8,10]}}"),
            STR("\x00\x00\xa0\x7f\x00\x00\x00\x80\x01\x00"));
    case FORMAT_npy: return one_array(kit, "'<f4'", "False", "(2, 3)", 24);
    case FORMAT_npz: return archive_of(kit, one_array(kit, "'<f4'", "False", "(2, 3)", 24), false);
    default: return small_artefact(kit);
    }
}
