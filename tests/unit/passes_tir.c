// Runs tests/tir/*.tir: parses each file, runs the passes that its RUN line names, and checks the
// printed result, the remarks or the error by the comments in the file.
#include "base/file.h"
#include "ir/program_tools.h"
#include "ir/text.h"
#include "tests/unit/passes_support.h"

#include <dirent.h>

static const char folder[] = "tests/tir";

// The next line of *text, without its end; false at the end.
static bool next_line(Str *text, Str *out_line) {
    if (!text->size) return false;
    size_t n = 0;
    while (n < text->size && text->data[n] != '\n') n++;
    *out_line = (Str){text->data, n};
    size_t skip = n < text->size ? n + 1 : n;
    *text = (Str){text->data + skip, text->size - skip};
    return true;
}

// Runs of blanks as one, so that layouts of dumps do not matter.
static char *squeezed(Arena *arena, Str text) {
    Buf buf = {.arena = arena};
    for (size_t i = 0; i < text.size; i++) {
        bool blank = text.data[i] == ' ';
        if (!blank || (buf.size && buf.data[buf.size - 1] != ' ')) buf_char(&buf, text.data[i]);
    }
    while (buf.size && buf.data[buf.size - 1] == ' ') buf.data[--buf.size] = 0;
    return buf.data ? buf.data : "";
}

// The rest of the line behind `key`, NULL when the line has another one.
static const char *after_key(Arena *arena, Str line, const char *key) {
    if (!str_starts_with(line, str_from(key))) return NULL;
    size_t skip = strlen(key);
    return squeezed(arena, (Str){line.data + skip, line.size - skip});
}

// ---- the RUN line

static bool read_option(Bench *b, const char *word) {
    PassOptions *options = &b->ctx.options;
    const char *value = strchr(word, '=');
    Str text = str_from(value ? value + 1 : "");
    if (!strncmp(word, "--passes=", 9))
        options->passes = text;
    else if (!strncmp(word, "--skip=", 7))
        options->skip = text;
    else if (!strncmp(word, "--pass-limit=", 13))
        return str_to_int(text, &options->rewrite_limit);
    else if (!strcmp(word, "-fstrict-sums"))
        options->strict_sums = true;
    else if (strlen(word) == 3 && !strncmp(word, "-O", 2))
        options->level = word[2] - '0';
    else
        return !strcmp(word, "tcc") || !strcmp(word, "%s");
    return true;
}

static bool read_run_line(Bench *b, Str text) {
    for (Str line; next_line(&text, &line);) {
        const char *run = after_key(b->arena, line, "# RUN:");
        if (!run) continue;
        bool good = true;
        char *words = arena_copy(b->arena, run, strlen(run) + 1), *rest = NULL;
        for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
            good = read_option(b, word) && good;
        }
        return good;
    }
    return false;
}

// ---- the checks

typedef struct Cursor {
    const char *at, *start; // behind the last match, and where it begins
    const char *forbidden[8];
    int forbidden_count;
} Cursor;

static bool forbidden_before(const Cursor *c, const char *end) {
    for (int i = 0; i < c->forbidden_count; i++) {
        const char *found = strstr(c->at, c->forbidden[i]);
        if (found && (!end || found < end)) return true;
    }
    return false;
}

static bool match(Cursor *c, const char *text, int lines) {
    const char *found = strstr(c->at, text);
    if (!found || forbidden_before(c, found)) return false;
    int between = 0;
    for (const char *p = c->at; p < found; p++) between += *p == '\n';
    if (lines >= 0 && between != lines) return false;
    *c = (Cursor){.at = found + strlen(text)};
    return true;
}

static bool has_remark(const Bench *b, const char *want) {
    for (size_t i = 0; i < b->ctx.remarks.count; i++) {
        const Remark *r = &b->ctx.remarks.data[i];
        Str line = str_format(b->arena, "%s: %.*s", r->rule, STR_ARG(r->text));
        if (!strncmp(squeezed(b->arena, line), want, strlen(want))) return true;
    }
    return false;
}

static bool check_line(Bench *b, Cursor *c, Str line) {
    Arena *arena = b->arena;
    const char *text;
    if ((text = after_key(arena, line, "# CHECK:"))) return match(c, text, -1);
    if ((text = after_key(arena, line, "# CHECK-NEXT:"))) return match(c, text, 1);
    if ((text = after_key(arena, line, "# CHECK-SAME:"))) return match(c, text, 0);
    if ((text = after_key(arena, line, "# REMARK:"))) return has_remark(b, text);
    if ((text = after_key(arena, line, "# CHECK-NOT:"))) {
        c->forbidden[c->forbidden_count++ % 8] = text;
    }
    return true;
}

static Str result_text(Bench *b, const PassResult *result) {
    Buf buf = {.arena = b->arena};
    Graph *models[] = {(Graph *)result->graph};
    Module module = {.ctx = b->ir, .arena = b->arena, .models = {models, 1, 1}};
    if (result->program)
        buf_program(&buf, result->program);
    else
        print_module(&buf, &module, &(PrintOptions){.origins = false});
    return buf_str(&buf);
}

static void check_result(Bench *b, const char *name, Str file, Str result) {
    Cursor cursor = {.at = squeezed(b->arena, result)};
    Str text = file;
    for (Str line; next_line(&text, &line);) {
        if (CHECK(check_line(b, &cursor, line))) continue;
        printf("    %s: %.*s\n%.*s", name, STR_ARG(line), STR_ARG(result));
        return;
    }
    if (!CHECK(!forbidden_before(&cursor, NULL))) printf("    %s: CHECK-NOT at the end\n", name);
}

static const char *wanted_error(Bench *b, Str text) {
    for (Str line; next_line(&text, &line);) {
        const char *id = after_key(b->arena, line, "# ERROR:");
        if (id) return id;
    }
    return "none";
}

static void run_file(const char *name) {
    Bench b;
    bench_open(&b);
    Str path = str_format(b.arena, "%s/%s", folder, name), text;
    Diags *diags = b.ctx.diags;
    CHECK(file_read(b.arena, diags, (Loc){0}, path, 1 << 20, &text) == STATUS_ok);
    if (!CHECK(read_run_line(&b, text))) printf("    %s: no RUN line, or a wrong one\n", name);
    const Module *module =
        parse_module(b.ir, b.arena, diags, diags_add_file(diags, path, text), NULL, NULL);
    if (!CHECK(module && module->models.count == 1)) printf("    %s: %s\n", name, b.last_error);
    if (module) {
        PassResult result;
        bool good = passes_run(&b.ctx, b.arena, module->models.data[0], &result);
        CHECK_STR(good ? "none" : b.last_error, wanted_error(&b, text));
        if (good) check_result(&b, name, text, result_text(&b, &result));
    }
    bench_close(&b);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void test_files(void) {
    char *names[512];
    size_t count = 0;
    DIR *dir = opendir(folder);
    if (!CHECK(dir != NULL)) return;
    for (struct dirent *entry; (entry = readdir(dir)) && count < 512;) {
        if (str_ends_with(str_from(entry->d_name), STR(".tir")))
            names[count++] = strdup(entry->d_name);
    }
    closedir(dir);
    qsort(names, count, sizeof *names, by_name);
    CHECK(count > 0);
    for (size_t i = 0; i < count; i++) {
        run_file(names[i]);
        free(names[i]);
    }
}

int main(void) {
    RUN(test_files);
    return test_done();
}
