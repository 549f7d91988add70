/* tcc bisect: which step of a compilation is wrong. */
#include "driver/json.h"
#include "driver/report.h"
#include "driver/search.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- for people ------------------------------------------------------------------------------ */

static void print_line(const char *title, const char *text) {
    if (text && *text) printf("%-10s %s\n", title, text);
}

/* Each line of the text indented. */
static void print_lines(const char *title, const char *text) {
    if (!text || !*text) return;
    printf("%s:\n", title);
    while (*text) {
        int size = (int)strcspn(text, "\n");
        printf("  %.*s\n", size, text);
        text += size + (text[size] == '\n');
    }
}

static void print_part(const tcc_bisect_report *r) {
    switch (r->part) {
    case TCC_PART_NONE: break;
    case TCC_PART_READING: printf("wrong: reading the model\n"); break;
    case TCC_PART_EVALUATOR: printf("wrong: the reference evaluator\n"); break;
    case TCC_PART_PASS: printf("wrong: pass %s\n", r->pass); break;
    case TCC_PART_SKELETON:
        printf("wrong: kernel %s, its tile program as skeleton %s builds it\n", r->kernel,
               r->skeleton);
        break;
    case TCC_PART_SCHEDULE:
        printf("wrong: kernel %s, its tile program as its schedule places it\n", r->kernel);
        break;
    case TCC_PART_LOWERING:
        printf("wrong: kernel %s, lowering its tile program to machine code\n", r->kernel);
        break;
    case TCC_PART_BACKEND:
        printf("wrong: kernel %s, what LLVM's passes make of it\n", r->kernel);
        break;
    case TCC_PART_RUNTIME: printf("wrong: the runtime, on kernels that are right alone\n"); break;
    case TCC_PART_UNKNOWN: printf("wrong: the whole, but no step alone\n"); break;
    }
}

/* What a kernel is and when it is wrong. */
static void print_kernel(const tcc_bisect_report *r) {
    print_line("skeleton", r->skeleton);
    print_line("strategy", r->strategy);
    print_line("ops", r->ops);
    print_line("schedule", r->schedule);
    if (r->fields) print_line("because of", *r->fields ? r->fields : "no field of the schedule");
}

static void print_report(const tcc_bisect_report *r) {
    if (r->part == TCC_PART_NONE) {
        printf("all agrees, on %" PRIu32 " set%s of inputs\n", r->sets, r->sets == 1 ? "" : "s");
        return;
    }
    print_part(r);
    if (r->rewrite >= 0)
        printf("%-10s %" PRId64 " (right with --pass-limit=%" PRId64 ", wrong with %" PRId64 ")\n",
               "rewrite", r->rewrite, r->rewrite - 1, r->rewrite);
    print_line("rule", r->rule);
    print_line("place", r->place);
    print_line("seen", r->what);
    print_line("inputs", r->inputs);
    if (r->kernel && r->part == TCC_PART_PASS) print_line("kernel", r->kernel);
    print_kernel(r);
    print_lines("before", r->before);
    print_lines("after", r->after);
}

/* ---- for programs ---------------------------------------------------------------------------- */

static void print_member(const char *key, const char *text) {
    printf(",\n  \"%s\": ", key);
    if (text)
        json_print_string(text);
    else
        printf("null");
}

static void print_json(const tcc_bisect_report *r) {
    static const char *const parts[] = {
        [TCC_PART_NONE] = "none",           [TCC_PART_READING] = "reading",
        [TCC_PART_EVALUATOR] = "evaluator", [TCC_PART_PASS] = "pass",
        [TCC_PART_SKELETON] = "skeleton",   [TCC_PART_SCHEDULE] = "schedule",
        [TCC_PART_LOWERING] = "lowering",   [TCC_PART_BACKEND] = "backend",
        [TCC_PART_RUNTIME] = "runtime",     [TCC_PART_UNKNOWN] = "unknown"};
    static const char *const kinds[] = {
        [TCC_KIND_VALUES] = "values", [TCC_KIND_ERROR] = "error", [TCC_KIND_CRASH] = "crash"};
    bool fault = r->part != TCC_PART_NONE;
    printf("{\n  \"agree\": %s", fault ? "false" : "true");
    print_member("part", fault ? parts[r->part] : NULL);
    print_member("kind", fault ? kinds[r->kind] : NULL);
    print_member("inputs", r->inputs);
    print_member("what", r->what);
    print_member("pass", r->pass);
    if (r->rewrite >= 0)
        printf(",\n  \"rewrite\": %" PRId64, r->rewrite);
    else
        printf(",\n  \"rewrite\": null");
    print_member("rule", r->rule);
    print_member("place", r->place);
    print_member("before", r->before);
    print_member("after", r->after);
    print_member("kernel", r->kernel);
    print_member("skeleton", r->skeleton);
    print_member("strategy", r->strategy);
    print_member("ops", r->ops);
    print_member("schedule", r->schedule);
    print_member("fields", r->fields);
    printf(",\n  \"sets\": %" PRIu32 ",\n  \"probes\": %" PRIu32 "\n}\n", r->sets, r->probes);
}

static void show(void *user, const tcc_bisect_report *report) {
    const Options *options = user;
    if (options_has(options, OPTION_json))
        print_json(report);
    else
        print_report(report);
}

/* ---- the command ----------------------------------------------------------------------------- */

static Exit bisect(const Options *options, Search *s) {
    Compilation *c = &s->compilation;
    const char *path = options->operand;
    if (strcmp(path, "-") == 0) {
        Exit result = compilation_read_stdin(c);
        if (result != EXIT_fine) return result;
        return compilation_result(c,
                                  tcc_bisect_memory(c->compiler, "stdin.g", c->text, c->text_size,
                                                    &s->options, show, (void *)(uintptr_t)options));
    }
    return compilation_result(
        c, tcc_bisect_file(c->compiler, path, &s->options, show, (void *)(uintptr_t)options));
}

Exit cmd_bisect(const Options *options) {
    Search s;
    Exit result = search_open(&s, options);
    if (result == EXIT_fine) result = bisect(options, &s);
    search_close(&s);
    return result;
}
