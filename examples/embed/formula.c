#include "formula.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGUMENTS = 8, MAX_DEPTH = 200, MAX_WORD = 64 };

typedef struct Parser {
    tcc_graph *graph;
    const Table *table;
    const tcc_value *columns;
    const char *start, *at;
    int depth, failed;
    char *message;
    size_t size;
} Parser;

static tcc_value formula(Parser *p);

/* The first thing that is wrong with the text, with its column. */
static tcc_value fail(Parser *p, const char *what) {
    if (!p->failed)
        snprintf(p->message, p->size, "column %d: %s", (int)(p->at - p->start) + 1, what);
    p->failed = 1;
    return TCC_NO_VALUE;
}

static size_t word_size(const char *at) {
    size_t size = 0;
    if (isdigit((unsigned char)*at)) return 0;
    while (isalnum((unsigned char)at[size]) || at[size] == '_') size++;
    return size;
}

/* Takes the mark when it is next. A word ends where it ends, and "*" is no part of "**". */
static int take(Parser *p, const char *mark) {
    size_t size = strlen(mark);
    while (isspace((unsigned char)*p->at)) p->at++;
    if (strncmp(p->at, mark, size) != 0) return 0;
    if (word_size(mark) > 0 && word_size(p->at) != size) return 0;
    if (size == 1 && strchr("*/<>", *mark) != NULL && (p->at[1] == *mark || p->at[1] == '='))
        return 0;
    p->at += size;
    return 1;
}

/* What the next call makes is called by the text that it comes from. */
static void label(Parser *p, const char *from) {
    char text[MAX_WORD];
    snprintf(text, sizeof text, "%.*s", (int)(p->at - from), from);
    tcc_graph_label(p->graph, text);
}

static tcc_value binary(Parser *p, const char *from, const char *op, tcc_value a, tcc_value b) {
    if (p->failed) return TCC_NO_VALUE;
    label(p, from);
    return tcc_graph_binary(p->graph, op, a, b);
}

static tcc_value apply(Parser *p, const char *from, const char *function, const tcc_value *values,
                       uint32_t count) {
    if (p->failed) return TCC_NO_VALUE;
    label(p, from);
    return tcc_graph_apply(p->graph, function, values, count);
}

/* ---- the grammar ----------------------------------------------------------------------------- */

static tcc_value call(Parser *p, const char *from, const char *name) {
    tcc_value arguments[MAX_ARGUMENTS];
    uint32_t count = 0;
    do {
        if (count == MAX_ARGUMENTS) return fail(p, "too many arguments");
        arguments[count++] = formula(p);
    } while (take(p, ","));
    if (!take(p, ")")) return fail(p, "a ) is missing");
    return apply(p, from, name, arguments, count);
}

static tcc_value named(Parser *p) {
    char name[MAX_WORD];
    const char *from = p->at;
    size_t size = word_size(p->at);
    if (size == 0 || size >= sizeof name) return fail(p, "a number, a column or a ( is missing");
    memcpy(name, from, size);
    name[size] = 0;
    int column = table_find(p->table, from, size);
    p->at += size;
    if (take(p, "(")) return call(p, from, name);
    if (column >= 0) return p->columns[column];
    p->at = from;
    return fail(p, "there is no such column");
}

static tcc_value atom(Parser *p) {
    char *end;
    if (take(p, "(")) {
        tcc_value inner = formula(p);
        return take(p, ")") ? inner : fail(p, "a ) is missing");
    }
    if (!isdigit((unsigned char)*p->at)) return named(p);
    double number = strtod(p->at, &end);
    p->at = end;
    return tcc_graph_float(p->graph, number);
}

static tcc_value sign(Parser *p);

static tcc_value power(Parser *p) {
    const char *from = p->at;
    tcc_value base = atom(p);
    return take(p, "**") ? binary(p, from, "**", base, sign(p)) : base;
}

static tcc_value negated(Parser *p, const char *from, const char *op, tcc_value value) {
    if (p->failed) return TCC_NO_VALUE;
    label(p, from);
    return tcc_graph_unary(p->graph, op, value);
}

static tcc_value sign(Parser *p) {
    const char *from = p->at;
    if (++p->depth > MAX_DEPTH) return fail(p, "the formula is too deep");
    tcc_value value = take(p, "-") ? negated(p, from, "-", sign(p)) : power(p);
    p->depth--;
    return value;
}

/* Operators of one level, from left to right, between what `next` reads. */
static tcc_value level(Parser *p, const char *const *ops, tcc_value (*next)(Parser *)) {
    while (isspace((unsigned char)*p->at)) p->at++;
    const char *from = p->at;
    tcc_value left = next(p);
    for (int i = 0; ops[i] != NULL;) {
        if (!take(p, ops[i])) {
            i++;
            continue;
        }
        left = binary(p, from, ops[i], left, next(p));
        i = 0;
    }
    return left;
}

static tcc_value product(Parser *p) {
    return level(p, (const char *const[]){"*", "//", "/", "%", NULL}, sign);
}

static tcc_value sum(Parser *p) { return level(p, (const char *const[]){"+", "-", NULL}, product); }

static tcc_value compare(Parser *p) {
    return level(p, (const char *const[]){"<=", ">=", "==", "!=", "<", ">", NULL}, sum);
}

static tcc_value negation(Parser *p) {
    const char *from = p->at;
    if (++p->depth > MAX_DEPTH) return fail(p, "the formula is too deep");
    tcc_value value = take(p, "not") ? negated(p, from, "not", negation(p)) : compare(p);
    p->depth--;
    return value;
}

static tcc_value conjunction(Parser *p) {
    return level(p, (const char *const[]){"and", NULL}, negation);
}

static tcc_value disjunction(Parser *p) {
    return level(p, (const char *const[]){"or", NULL}, conjunction);
}

static tcc_value formula(Parser *p) {
    if (++p->depth > MAX_DEPTH) return fail(p, "the formula is too deep");
    while (isspace((unsigned char)*p->at)) p->at++;
    const char *from = p->at;
    tcc_value value = disjunction(p);
    if (take(p, "if")) {
        tcc_value condition = disjunction(p);
        if (!take(p, "else")) return fail(p, "an else is missing");
        tcc_value parts[] = {condition, value, formula(p)};
        value = apply(p, from, "select", parts, 3);
    }
    p->depth--;
    return value;
}

tcc_value formula_build(tcc_graph *graph, const Table *table, const tcc_value *columns,
                        const char *text, char *message, size_t size) {
    Parser p = {.graph = graph,
                .table = table,
                .columns = columns,
                .start = text,
                .at = text,
                .message = message,
                .size = size};
    message[0] = 0;
    tcc_value value = formula(&p);
    while (isspace((unsigned char)*p.at)) p.at++;
    if (*p.at != 0) fail(&p, "an operator is missing");
    return p.failed ? TCC_NO_VALUE : value;
}
