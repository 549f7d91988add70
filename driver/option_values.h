/* The words that an option takes, where they are few: for messages and for completion. */
#ifndef TCC_DRIVER_OPTION_VALUES_H
#define TCC_DRIVER_OPTION_VALUES_H

#include <stdbool.h>
#include <stddef.h>

/* The words, a space between two; NULL when the option takes others, or none. `name` is without
 * dashes. */
const char *option_values(const char *name);

/* Whether `word`, of `size` bytes, is one of them. */
bool option_takes(const char *name, const char *word, size_t size);

/* Says that the option takes these words, not `word`. */
void report_option_value(const char *name, const char *word, size_t size);

#endif
