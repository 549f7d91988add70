/* Temporary folders that a signal does not leave behind. */
#ifndef TCC_DRIVER_TEMPORARY_H
#define TCC_DRIVER_TEMPORARY_H

#include <stddef.h>

/* Makes a folder in $TMPDIR that is $TMPDIR from here on, for the library and for what the command
 * makes itself: one place to clean up, whatever lies in it. Where it cannot be made all stays as it
 * was, and whoever needs a folder says why there is none. From now on SIGINT, SIGTERM, SIGHUP and
 * SIGXCPU remove the folder, and the one of temporary_watch, before they end the process; those
 * that were ignored stay so. */
void temporary_begin(void);

/* Removes the folder; what was not begun is no error. */
void temporary_end(void);

/* The value of $TMPDIR before temporary_begin, NULL when there was none: for other programs. */
const char *temporary_user_folder(void);

/* A folder elsewhere that a signal removes with the files in it; NULL: none any more. */
void temporary_watch(const char *path);

/* In a process that was forked: signals are what they are by default, and nothing is removed. */
void temporary_leave(void);

#endif
