/* Every call that can fail is made to, one after the other.
 *
 *     faults INPUTS [K/N] [sample]
 *     faults INPUTS KIND N[+] COMMAND      one failure again: "memory" 187+ "tcc explain model.g"
 *
 * Each command is run without a fault first, which counts the calls of each kind. Then it is run
 * again with the first call failing, the second, and so on; and with all calls failing from the
 * n-th on. Of many calls a sample takes some, all of them the long form. K/N is a share of the
 * commands' runs. A run must end by itself, say what is wrong with the status for it, leave every
 * older file whole and nothing else behind, and hold no memory or file at the end. Where tcc can
 * do without what failed it must, with the same result. */
#include "tests/faults/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SAMPLE = 12, EXIT_wrong_input = 1, EXIT_system = 3 };

static const Command commands[] = {
    {.line = "tcc model.g -o out.so", .writes = {"out.so"}},
    {.line = "tcc model.g -O0 --strip-info --emit=obj -o out.o", .writes = {"out.o"}},
    {.line = "tcc model.g --emit=tile -o out.tile", .writes = {"out.tile"}},
    {.line = "tcc model.g --emit=ptx --target=sm_80 -o out.ptx", .writes = {"out.ptx"}},
    {.line = "tcc model.g --dump-after=all --dump-dir=dumps/here -o out.so",
     .writes = {"out.so"},
     .many = true},
    {.line = "tcc model.tir --emit=ir"},
    {.line = "tcc run model.g --threads=3 -i x=x.npy -o y=y.npy", .writes = {"y.npy"}},
    {.line = "tcc check model.g -D N=5"},
    {.line = "tcc explain model.g"},
    {.line = "tcc explain model.so"},
    {.line = "tcc info model.so --json"},
};

static const char *const kind_names[] = {
#define FAULT(kind, succeeds) #kind,
    FAULT_KINDS(FAULT)
#undef FAULT
};
static const bool kind_succeeds[] = {
#define FAULT(kind, succeeds) succeeds,
    FAULT_KINDS(FAULT)
#undef FAULT
};

typedef struct Run {
    const char *inputs;
    uint32_t share, shares;
    bool sample;
    Faults *faults;
    const Command *command;
    Outcome before, right, now;
    uint64_t probes, failures;
} Run;

static bool complain(Run *r, const char *what) {
    const Faults *f = r->faults;
    r->failures++;
    printf("FAILED %s\n    %s %llu%s (%s): %s\n    status %d, blocks %lld, files %d\n    said: %s\n"
           "    left:\n%s",
           r->command->line, kind_names[f->kind], (unsigned long long)f->at,
           f->ever_after ? " and all after it" : "", r->now.hit ? r->now.hit : "none", what,
           r->now.status, (long long)r->now.blocks, r->now.files, r->now.error, r->now.left);
    return false;
}

/* A run that failed said so and changed nothing. */
static bool judge_failure(Run *r) {
    const Outcome *o = &r->now;
    bool memory = r->faults->kind == FAULT_memory;
    if (o->status >= 1000) return complain(r, "killed by a signal");
    if (o->status != EXIT_system && (memory || o->status != EXIT_wrong_input))
        return complain(r, "the exit status is not that of a failure");
    if (strstr(o->error, "error: ") == NULL) return complain(r, "it does not say what is wrong");
    if (memory && strstr(o->error, "memory") == NULL)
        return complain(r, "it does not say that memory is short");
    if (!r->command->many && strcmp(o->left, r->before.left) != 0)
        return complain(r, "files changed");
    return true;
}

static bool judge(Run *r) {
    const Outcome *o = &r->now;
    bool succeeded = o->status == r->right.status;
    if (o->hit == NULL && r->faults->at != 0) return true; /* there were fewer calls this time */
    if (kind_succeeds[r->faults->kind] && !succeeded) return complain(r, "it need not have failed");
    if (succeeded && strcmp(o->said, r->right.said) != 0)
        return complain(r, "it said something else");
    if (succeeded && strcmp(o->left, r->right.left) != 0)
        return complain(r, "it made something else");
    if (!succeeded && !judge_failure(r)) return false;
    if (o->blocks != 0) return complain(r, "memory is held");
    return o->files == 0 || complain(r, "a file is open");
}

static void probe(Run *r, FaultKind kind, uint64_t at, bool ever_after) {
    r->faults->kind = kind;
    r->faults->at = at;
    r->faults->ever_after = ever_after;
    if (r->probes++ % r->shares != r->share) return;
    if (!probe_run(r->command, r->inputs, r->faults, &r->now))
        complain(r, "the test could not be run");
    else
        judge(r);
}

/* The calls 1 to `count`, or some of them, with the first and the last. */
static void try_kind(Run *r, FaultKind kind, uint64_t count) {
    uint64_t step = r->sample && count > SAMPLE ? (count + SAMPLE - 1) / SAMPLE : 1;
    for (uint64_t n = 1; n <= count; n += step) {
        probe(r, kind, n, false);
        if (kind != FAULT_interrupt) probe(r, kind, n, true);
    }
    if (count > 1 && step > 1) probe(r, kind, count, false);
}

/* Runs the command without a fault, which is what the others are compared with. */
static bool try_without(Run *r, const Command *command) {
    r->command = command;
    r->faults->at = 0;
    bool done = probe_before(command, r->inputs, &r->before) &&
                probe_run(command, r->inputs, r->faults, &r->right);
    r->now = r->right;
    if (!done || r->right.status != 0) return complain(r, "it fails without a fault");
    return judge(r);
}

static void try_fault(Run *r, const Command *command, FaultKind kind, uint64_t at, bool after) {
    if (try_without(r, command)) probe(r, kind, at, after);
}

static void try_command(Run *r, const Command *command) {
    uint64_t failures = r->failures;
    if (!try_without(r, command)) return;
    for (FaultKind kind = 0; kind < FAULT_count; kind++) try_kind(r, kind, r->right.calls[kind]);
    printf("%s:", command->line);
    for (int k = 0; k < FAULT_count; k++)
        printf(" %llu %s", (unsigned long long)r->right.calls[k], kind_names[k]);
    printf(" calls, %llu failed\n", (unsigned long long)(r->failures - failures));
}

/* The one fault that the words name. */
static void try_again(Run *r, char **words) {
    char *end;
    uint64_t at = strtoull(words[1], &end, 10);
    for (FaultKind kind = 0; kind < FAULT_count; kind++)
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
            if (strcmp(kind_names[kind], words[0]) == 0 && strcmp(commands[i].line, words[2]) == 0)
                try_fault(r, &commands[i], kind, at, *end == '+');
}

int main(int argc, char **argv) {
    static Run r;
    r.shares = 1;
    r.inputs = argc > 1 ? argv[1] : ".";
    if (argc == 3 || argc == 4) sscanf(argv[2], "%u/%u", &r.share, &r.shares);
    r.sample = argc == 4;
    r.faults =
        mmap(NULL, sizeof *r.faults, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (r.faults == MAP_FAILED || r.shares == 0) return 2;
    if (argc == 5) try_again(&r, argv + 2);
    for (size_t i = 0; argc < 5 && i < sizeof commands / sizeof *commands; i++)
        try_command(&r, &commands[i]);
    printf("%llu runs, %llu failed\n", (unsigned long long)(r.probes / r.shares),
           (unsigned long long)r.failures);
    return r.failures != 0;
}
