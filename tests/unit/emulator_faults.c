// Kernels with one fault each (tests/emulator/faults): the emulator finds it, names both lines and
// their places in the source, and finds nothing else; nor anything in the kernel without the fault.
//
// A file is the faulty kernel. Lines that end with //fault are not in the right one, and what
// follows //right is in the right one only. Lines at the top say how it is run and what is found:
//     // expect KIND   // block THREADS   // grid BLOCKS
//     // arg in|half|out|freed BYTES, u32|u64 VALUE
// `in` is memory that was written, of `half` the first half was, `freed` memory was given back. A
// mark @place LINE or @other LINE follows the instructions that the finding names, with the lines
// that .loc gives them.
#include "tests/unit/emulator_run.h"

#include <dirent.h>

typedef struct Case {
    const char *name;
    char expected[64];
    uint32_t block, grid;
    uint32_t place_line, place_source, other_line, other_source;
    uint64_t arguments[8];
    uint32_t argument_count;
    bool hopper;
} Case;

typedef struct Seen {
    int count;
    const char *kind;
    EmuFinding first;
    char messages[4096];
} Seen;

static const char *const kind_names[] = {
#define FINDING(name, text, status) #name,
#include "emulator/check/findings.def"
#undef FINDING
};

static void note_finding(void *user, const EmuFinding *finding) {
    Seen *seen = user;
    if (seen->count++ == 0) {
        seen->first = *finding;
        seen->kind = kind_names[finding->kind];
    }
    rig_append(seen->messages, sizeof seen->messages, finding->message);
    rig_append(seen->messages, sizeof seen->messages, STR("\n"));
}

static Str next_line(Str *text) {
    size_t end = 0;
    while (end < text->size && text->data[end] != '\n') end++;
    Str line = {text->data, end};
    size_t used = end < text->size ? end + 1 : end;
    *text = (Str){text->data + used, text->size - used};
    return line;
}

static const char *after(const char *line, const char *word) {
    const char *found = strstr(line, word);
    return found ? found + strlen(word) : NULL;
}

static uint64_t make_argument(Rig *rig, const char *words) {
    char kind[16] = "";
    unsigned long long value = 0;
    sscanf(words, "%15s %llu", kind, &value);
    if (strcmp(kind, "u32") == 0 || strcmp(kind, "u64") == 0) return value;
    uint64_t address = rig_memory(rig, value);
    EmuBlock block;
    emu_memory_find(emu_device_memory(rig->device), address, 1, &block);
    if (strcmp(kind, "in") == 0) emu_block_mark_written(&block, address, value);
    if (strcmp(kind, "half") == 0) emu_block_mark_written(&block, address, value / 2);
    if (strcmp(kind, "freed") == 0) emu_memory_release(emu_device_memory(rig->device), address);
    return address;
}

static void read_marks(Case *c, const char *line, uint32_t number) {
    const char *found;
    if ((found = after(line, "// expect "))) sscanf(found, "%63s", c->expected);
    if ((found = after(line, "// block "))) c->block = (uint32_t)atoi(found);
    if ((found = after(line, "// grid "))) c->grid = (uint32_t)atoi(found);
    if ((found = after(line, "@place "))) {
        c->place_line = number;
        c->place_source = (uint32_t)atoi(found);
    }
    if ((found = after(line, "@other "))) {
        c->other_line = number;
        c->other_source = (uint32_t)atoi(found);
    }
    if (strstr(line, ".target sm_90")) c->hopper = true;
}

static void read_case(Arena *arena, Str text, Case *c) {
    for (uint32_t number = 1; text.size; number++)
        read_marks(c, str_terminated(arena, next_line(&text)), number);
}

static void make_arguments(Rig *rig, Str text, Case *c) {
    while (text.size) {
        const char *found = after(str_terminated(rig->arena, next_line(&text)), "// arg ");
        if (found && c->argument_count < 8)
            c->arguments[c->argument_count++] = make_argument(rig, found);
    }
}

// The kernel without its fault; every line keeps its number.
static Str right_text(Arena *arena, Str text) {
    Buf out = {.arena = arena};
    while (text.size) {
        const char *line = str_terminated(arena, next_line(&text)),
                   *right = after(line, "//right ");
        if (right)
            buf_print(&out, "%s\n", right);
        else
            buf_print(&out, "%s\n", strstr(line, "//fault") ? "" : line);
    }
    return buf_str(&out);
}

// A file has one fault, and so the parameters of its kernel are 8 bytes each, or 4 of a u32.
static EmuStatus launch(Rig *rig, const Case *c, Seen *seen) {
    EmuReporter reporter = {note_finding, NULL, seen, coverage_note};
    const EmuFunction *function = emu_module_function(rig->module, STR("kernel"));
    uint8_t parameters[64] = {0};
    for (uint32_t i = 0; i < c->argument_count; i++) {
        uint64_t offset, size;
        emu_function_parameter(function, i, &offset, &size);
        memcpy(parameters + offset, &c->arguments[i], size);
    }
    EmuLaunch what = {.function = function,
                      .grid = {c->grid, 1, 1},
                      .block = {c->block, 1, 1},
                      .parameters = parameters};
    return emu_launch(rig->device, &what, &rig->options, &reporter, NULL);
}

static bool run_text(Case *c, Str text, Str marks, EmuOrder order, Seen *seen, EmuStatus *status) {
    Rig rig;
    Str log;
    rig_open(&rig, c->hopper ? "sm_90a" : "sm_80");
    rig.options.order = order;
    bool loaded = emu_module_load(rig.device, text, rig.arena, &rig.module, &log) == EMU_OK;
    c->argument_count = 0;
    make_arguments(&rig, marks, c);
    if (!CHECK(loaded))
        printf("    %s: %.*s\n", c->name, STR_ARG(log));
    else
        *status = launch(&rig, c, seen);
    rig_close(&rig);
    return loaded;
}

static bool is_at(const EmuPlace *place, uint32_t ptx_line, uint32_t source_line) {
    return place->ptx_line == ptx_line && place->line == source_line;
}

// Of a race either side may be the one that came later.
static void check_faulty(Case *c, Str text, EmuOrder order) {
    Seen seen = {0};
    EmuStatus status;
    if (!run_text(c, text, text, order, &seen, &status)) return;
    const EmuPlace *place = &seen.first.place, *other = &seen.first.other;
    bool good = seen.count == 1 && strcmp(seen.kind, c->expected) == 0 &&
                (is_at(place, c->place_line, c->place_source)
                     ? is_at(other, c->other_line, c->other_source)
                     : is_at(other, c->place_line, c->place_source) &&
                           is_at(place, c->other_line, c->other_source));
    if (!CHECK(good))
        printf("    %s: want %s at %u, found %d:\n%s", c->name, c->expected, c->place_line,
               seen.count, seen.messages);
}

static void check_right(Case *c, Str text, EmuOrder order) {
    Seen seen = {0};
    EmuStatus status;
    Arena *arena = arena_new(NULL);
    if (run_text(c, right_text(arena, text), text, order, &seen, &status)) {
        bool good = CHECK_INT(status, EMU_OK);
        if (!CHECK_INT(seen.count, 0) || !good)
            printf("    %s without its fault:\n%s", c->name, seen.messages);
    }
    arena_free(arena);
}

static bool read_file(Arena *arena, const char *name, Str *out_text) {
    char path[512];
    snprintf(path, sizeof path, "tests/emulator/faults/%s", name);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    char *text = arena_alloc(arena, 65536);
    *out_text = (Str){text, fread(text, 1, 65535, file)};
    fclose(file);
    return true;
}

static void check_file(const char *name) {
    Arena *arena = arena_new(NULL);
    Case c = {.name = name, .block = 32, .grid = 1};
    Str text;
    if (CHECK(read_file(arena, name, &text))) {
        read_case(arena, text, &c);
        check_faulty(&c, text, EMU_ORDER_round_robin);
        check_right(&c, text, EMU_ORDER_round_robin);
        check_right(&c, text, EMU_ORDER_adversarial);
        check_right(&c, text, EMU_ORDER_random);
    }
    arena_free(arena);
}

static void test_faults_are_found(void) {
    DIR *folder = opendir("tests/emulator/faults");
    int files = 0;
    const char *only = getenv("FAULT");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!strstr(entry->d_name, ".ptx") || (only && !strstr(entry->d_name, only))) continue;
        check_file(entry->d_name);
        files++;
    }
    if (folder) closedir(folder);
    CHECK(only || files >= 25);
}

int main(void) {
    RUN(test_faults_are_found);
    return test_done();
}
