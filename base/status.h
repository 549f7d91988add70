/* Results of operations that may fail for reasons outside tcc: input, environment, memory. Details
 * go to the diagnostics (diag.h). */
#ifndef TCC_BASE_STATUS_H
#define TCC_BASE_STATUS_H

typedef enum Status {
    STATUS_ok,
    STATUS_invalid,     /* the input is wrong; diagnostics say how */
    STATUS_environment, /* a file, the linker, a device: could not */
    STATUS_memory,
    STATUS_internal /* a bug of our own, recovered at the library's edge */
} Status;

const char *status_name(Status status);

/* Returns the failing status to the caller of the function it stands in. */
#define TRY(expression)                                                                            \
    do {                                                                                           \
        Status try_status_ = (expression);                                                         \
        if (try_status_ != STATUS_ok) return try_status_;                                          \
    } while (0)

#endif
