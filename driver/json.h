/* JSON: reading the metadata of models, and the strings of results for programs. */
#ifndef TCC_DRIVER_JSON_H
#define TCC_DRIVER_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum JsonKind { JSON_object, JSON_array, JSON_string, JSON_other } JsonKind;

/* A piece of the text that was read; of a string what stands between its quotes, escapes as they
 * are. */
typedef struct JsonText {
    const char *data;
    size_t size;
} JsonText;

typedef struct JsonValue {
    JsonKind kind;
    JsonText key;                   /* in an object */
    JsonText text;                  /* of strings, numbers, true, false and null */
    struct JsonValue *first, *next; /* the members, and the next in the same object or array */
} JsonValue;

/* The tree of a text, which must outlive it; NULL when it is no JSON or nests deeper than 64
 * levels. False when memory is out. */
bool json_read(const char *text, size_t size, JsonValue **out_root);
void json_free(JsonValue *value); /* NULL is allowed */

/* The member of an object; NULL when there is none, or `object` is NULL or none. */
const JsonValue *json_get(const JsonValue *object, const char *key);
bool json_is(JsonText text, const char *word);
/* The member's value; `otherwise` when it is no whole number. */
int64_t json_get_int(const JsonValue *object, const char *key, int64_t otherwise);

/* Prints to stdout: a quoted string. */
void json_print_string(const char *text);
/* Prints to stdout for people: a line a member, a list of objects a line each. */
void json_print_tree(const JsonValue *root);

#endif
