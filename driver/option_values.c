#include "driver/option_values.h"

#include "driver/options.h"
#include "driver/report.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *words;
} rows[] = {
    {"emit", "ir program tile tile-free llvm ptx asm obj dot header"},
    {"show", "fusion plan memory schedule gpu"},
    {"O", "0 1 2 3"},
    {"fexcess-precision", "none fused"},
};

const char *option_values(const char *name) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) return rows[i].words;
    return NULL;
}

bool option_takes(const char *name, const char *word, size_t size) {
    const char *at = option_values(name);
    while (at && *at) {
        size_t length = strcspn(at, " ");
        if (length == size && memcmp(at, word, size) == 0) return true;
        at += length + (at[length] == ' ');
    }
    return false;
}

/* "a, b and c". */
static void list_words(char *out, size_t room, const char *words) {
    size_t used = 0;
    for (const char *at = words; *at && used < room;) {
        size_t length = strcspn(at, " ");
        bool last = at[length] == '\0';
        used += (size_t)snprintf(out + used, room - used, "%s%.*s",
                                 at == words ? ""
                                 : last      ? " and "
                                             : ", ",
                                 (int)length, at);
        at += length + !last;
    }
}

void report_option_value(const char *name, const char *word, size_t size) {
    char list[200] = "";
    list_words(list, sizeof list, option_values(name));
    report_error("%s%s takes %s, not '%.*s'", option_dashes(name), name, list, (int)size, word);
}
