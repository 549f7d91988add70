/* Calls of tcc's own code to the system, made to fail.
 *
 * The build copies our libraries with the names of these calls replaced (objcopy), so that our code
 * sees the failures and not LLVM, libc or what else is linked; jansson's calls for memory count as
 * ours too. What fails is said by the Faults of this process, in memory that a forked child
 * shares with its parent. */
#ifndef TCC_TESTS_FAULTS_CALLS_H
#define TCC_TESTS_FAULTS_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* FAULT(kind, whether the command still has to succeed) */
#define FAULT_KINDS(FAULT)                                                                         \
    FAULT(memory, false)   /* no memory */                                                         \
    FAULT(file, false)     /* the disk is full, may not be read, or has an error */                \
    FAULT(process, false)  /* the linker cannot be started */                                      \
    FAULT(thread, true)    /* no more threads */                                                   \
    FAULT(interrupt, true) /* a signal in between */                                               \
    FAULT(piece, true)     /* only the first byte is read or written */

typedef enum FaultKind {
#define FAULT(kind, succeeds) FAULT_##kind,
    FAULT_KINDS(FAULT)
#undef FAULT
        FAULT_count
} FaultKind;

typedef struct Faults {
    FaultKind kind;  /* that fails */
    uint64_t at;     /* which call of the kind, from 1; 0: none */
    bool ever_after; /* and all that follow, as on a full disk; else that one alone */
    _Atomic uint64_t calls[FAULT_count];
    _Atomic int64_t blocks;    /* of memory that our code holds */
    _Atomic(const char *) hit; /* the first call that failed; NULL: none did */
} Faults;

/* Where this process finds its faults; set before any of our code runs. */
void faults_use(Faults *faults);

/* Lets jansson's calls for memory count as ours. */
void faults_take_jansson(void);

#endif
