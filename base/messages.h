/* Every message a user can see, as `id, format` pairs for diag_error and its kin (diag.h): grouped
 * by the part that says it. Lower case, one line, no full stop, no internal names, always the
 * reason. "could not" may work later, "cannot" never will. */
#ifndef TCC_BASE_MESSAGES_H
#define TCC_BASE_MESSAGES_H

/* diagnostics themselves */
#define MSG_MORE_ERRORS "more-errors", "the limit of errors is reached; %zu more were not shown"

/* files */
#define MSG_CANNOT_READ "cannot-read", "could not read %s: %s"
#define MSG_NOT_A_FILE "not-a-file", "%s is not a regular file"
#define MSG_TOO_LARGE "too-large", "%s has %llu bytes, more than the limit of %llu"
#define MSG_BAD_PATH "bad-path", "\"%.*s\" cannot be the name of a file"
#define MSG_FILE_SHRANK "file-shrank", "could not read %s: it became shorter while it was read"
#define MSG_CANNOT_WRITE "cannot-write", "could not write %s: %s"

#endif
