/* One run of the command `tcc` in a child process and a folder of its own, with a fault. */
#ifndef TCC_TESTS_FAULTS_PROBE_H
#define TCC_TESTS_FAULTS_PROBE_H

#include "tests/faults/calls.h"

#include <stddef.h>

enum { PROBE_FILES = 6, PROBE_WORDS = 16, PROBE_TEXT = 16384 };

/* A command line, the files that it writes (an older one of each stands there before), and whether
 * it may have written some of them when it fails, each whole: a folder of dumps. */
typedef struct Command {
    const char *line;
    const char *writes[PROBE_FILES];
    bool many;
} Command;

/* What a run left behind. */
typedef struct Outcome {
    int status; /* of the exit, or 1000 + the signal */
    int files;  /* descriptors that were left open */
    int64_t blocks;
    uint64_t calls[FAULT_count];
    const char *hit;        /* the call that failed */
    char said[PROBE_TEXT];  /* on stdout */
    char error[PROBE_TEXT]; /* on stderr */
    char left[PROBE_TEXT];  /* the names of the files and the hashes of what is in them */
} Outcome;

/* Runs `command` beside links to the files of `inputs`. `faults` is shared with the child; its
 * counts start at 0. False when the system does not allow it. */
bool probe_run(const Command *command, const char *inputs, Faults *faults, Outcome *out_outcome);

/* The files as they are when `command` has done nothing. */
bool probe_before(const Command *command, const char *inputs, Outcome *out_outcome);

#endif
