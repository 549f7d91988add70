#include "driver/json.h"

#include <stdio.h>

void json_print_string(const char *text) {
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text < ' ' || *text == 0x7f)
            printf("\\u%04x", (unsigned)(unsigned char)*text);
        else
            putchar(*text);
    }
    putchar('"');
}

/* Escapes stay as they are written, so nothing in a name can steer a terminal. */
static void print_text(JsonText text) { fwrite(text.data, 1, text.size, stdout); }

static void print_inline(const JsonValue *value);

static void print_members(const JsonValue *parent) {
    for (const JsonValue *member = parent->first; member; member = member->next) {
        if (member != parent->first) printf(", ");
        if (parent->kind == JSON_object) {
            print_text(member->key);
            printf(": ");
        }
        print_inline(member);
    }
}

static void print_inline(const JsonValue *value) {
    if (value->kind == JSON_string || value->kind == JSON_other) {
        print_text(value->text);
        return;
    }
    putchar(value->kind == JSON_object ? '{' : '[');
    print_members(value);
    putchar(value->kind == JSON_object ? '}' : ']');
}

static void print_list(const JsonValue *list) {
    putchar('\n');
    for (const JsonValue *item = list->first; item; item = item->next) {
        printf("  ");
        print_members(item);
        putchar('\n');
    }
}

void json_print_tree(const JsonValue *root) {
    for (const JsonValue *member = root->first; member; member = member->next) {
        print_text(member->key);
        printf(":");
        bool objects =
            member->kind == JSON_array && member->first && member->first->kind == JSON_object;
        if (objects) {
            print_list(member);
            continue;
        }
        putchar(' ');
        print_inline(member);
        putchar('\n');
    }
}
