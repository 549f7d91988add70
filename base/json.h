/* Writing JSON: items one a line, two blanks a level; an empty list or object on its own line.
 *
 *     Json json = {.buf = {.arena = arena}};
 *     json_begin_object(&json, NULL);
 *     json_put_int(&json, "abi", 3);
 *     json_end(&json);
 *
 * The first argument after the writer is the key in an object, and NULL in a list. */
#ifndef TCC_BASE_JSON_H
#define TCC_BASE_JSON_H

#include "base/str.h"

enum { JSON_DEPTH = 16 };

typedef struct Json {
    Buf buf;
    uint32_t depth;
    bool filled[JSON_DEPTH + 1]; /* whether something was put at this depth */
    char closers[JSON_DEPTH];
} Json;

void json_begin_object(Json *json, const char *key);
void json_begin_list(Json *json, const char *key);
/* Ends what was begun last. */
void json_end(Json *json);

/* What is no UTF-8 is replaced by U+FFFD. */
void json_put_string(Json *json, const char *key, Str text);
void json_put_int(Json *json, const char *key, int64_t value);
/* null for what is not finite. */
void json_put_number(Json *json, const char *key, double value);

#endif
