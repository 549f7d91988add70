// Calls as the language writes them, made on a graph: "pad(x, [1, 0], [0, 2], value=7.0)". Names
// are those of values that were made before. There are no operators.
#ifndef TCC_TESTS_API_GRAPH_EXPRESSION_H
#define TCC_TESTS_API_GRAPH_EXPRESSION_H

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <tcc/graph.h>

enum { MOST_NAMES = 16, MOST_ARGS = 16, WORD_SIZE = 64 };

typedef struct Scope {
    tcc_graph *graph;
    const char *names[MOST_NAMES];
    tcc_value values[MOST_NAMES];
    int count;
    const char *at; // in the text
} Scope;

static inline void scope_add(Scope *s, const char *name, tcc_value value) {
    s->names[s->count] = name;
    s->values[s->count++] = value;
}

static inline tcc_value expression(Scope *s);

static inline bool accept(Scope *s, char c) {
    while (*s->at == ' ') s->at++;
    if (*s->at != c) return false;
    s->at++;
    return true;
}

static inline void read_word(Scope *s, char word[WORD_SIZE]) {
    int size = 0;
    while (isalnum((unsigned char)*s->at) || *s->at == '_') word[size++] = *s->at++;
    word[size] = 0;
}

static inline tcc_value number(Scope *s) {
    char *end, *whole;
    double real = strtod(s->at, &end);
    long long integer = strtoll(s->at, &whole, 10);
    bool is_whole = whole == end;
    s->at = end;
    return is_whole ? tcc_graph_int(s->graph, integer) : tcc_graph_float(s->graph, real);
}

static inline tcc_value string(Scope *s) {
    char text[WORD_SIZE];
    int size = 0;
    for (s->at++; *s->at != '"';) text[size++] = *s->at++;
    text[size] = 0;
    s->at++;
    return tcc_graph_string(s->graph, text);
}

static inline tcc_value list(Scope *s) {
    tcc_value items[MOST_ARGS];
    uint32_t count = 0;
    while (!accept(s, ']')) {
        items[count++] = expression(s);
        accept(s, ',');
    }
    return tcc_graph_list(s->graph, items, count);
}

// "name=", which it moves past; false for an argument by position.
static inline bool argument_name(Scope *s, char word[WORD_SIZE]) {
    const char *start = s->at;
    read_word(s, word);
    if (word[0] && accept(s, '=')) return true;
    s->at = start;
    return false;
}

static inline tcc_value call(Scope *s, const char *function) {
    char words[MOST_ARGS][WORD_SIZE];
    const char *names[MOST_ARGS];
    tcc_value args[MOST_ARGS];
    tcc_call asked = {.size = sizeof asked, .function = function, .args = args, .names = names};
    while (!accept(s, ')')) {
        uint32_t i = asked.arg_count++;
        while (*s->at == ' ') s->at++;
        names[i] = argument_name(s, words[i]) ? words[i] : NULL;
        args[i] = expression(s);
        accept(s, ',');
    }
    return tcc_graph_call(s->graph, &asked);
}

static inline tcc_value named(Scope *s) {
    static const char *const dtypes[] = {"bool",   "i4",  "u4",   "i8",  "u8",  "i16",
                                         "u16",    "i32", "u32",  "i64", "u64", "f8e4m3",
                                         "f8e5m2", "f16", "bf16", "f32", "f64"};
    char word[WORD_SIZE];
    read_word(s, word);
    if (accept(s, '(')) return call(s, word);
    for (int i = 0; i < s->count; i++)
        if (!strcmp(s->names[i], word)) return s->values[i];
    for (int i = 0; i < (int)(sizeof dtypes / sizeof *dtypes); i++)
        if (!strcmp(dtypes[i], word)) return tcc_graph_dtype(s->graph, (tcc_dtype)i);
    if (!strcmp(word, "true") || !strcmp(word, "false"))
        return tcc_graph_bool(s->graph, word[0] == 't');
    return tcc_graph_none(s->graph);
}

static inline tcc_value expression(Scope *s) {
    while (*s->at == ' ') s->at++;
    tcc_value value;
    if (*s->at == '"')
        value = string(s);
    else if (accept(s, '['))
        value = list(s);
    else if (isdigit((unsigned char)*s->at) || *s->at == '-')
        value = number(s);
    else
        value = named(s);
    char member[WORD_SIZE];
    while (*s->at == '.') {
        s->at++;
        read_word(s, member);
        value = tcc_graph_member(s->graph, value, member);
    }
    return value;
}

#endif
