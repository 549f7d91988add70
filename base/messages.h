/* Every message a user can see, as `id, format` pairs for diag_error and its kin (diag.h): grouped by
 * the part that says it. Lower case, one line, no full stop, no internal names, always the reason.
 * "could not" may work later, "cannot" never will. */
#ifndef TCC_BASE_MESSAGES_H
#define TCC_BASE_MESSAGES_H

/* diagnostics themselves */
#define MSG_MORE_ERRORS "more-errors", "%zu more errors are not shown"

/* files */
#define MSG_CANNOT_READ "cannot-read", "could not read %s: %s"
#define MSG_NOT_A_FILE "not-a-file", "%s is not a regular file"
#define MSG_TOO_LARGE "too-large", "%s has %llu bytes, more than the limit of %llu"
#define MSG_CANNOT_WRITE "cannot-write", "could not write %s: %s"

#endif
