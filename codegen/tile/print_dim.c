/* Dims as text, in an order that depends on names alone. */
#include "codegen/tile/text.h"

#include <stdlib.h>
#include <string.h>

/* A sum's term being ordered: what is added first, then variables, dims of the model, tile axes. */
typedef struct Term {
    Str text; /* the atoms, joined by * */
    int64_t coefficient;
    uint32_t rank;
} Term;

static void put_sum(Buf *buf, const Dim *dim);

static bool is_plain(const Dim *dim) {
    if (dim->term_count == 0) return dim->constant >= 0;
    const DimTerm *term = &dim->terms[0];
    return dim->term_count == 1 && dim->constant == 0 && term->coefficient == 1 &&
           term->atom_count == 1 && term->atoms[0]->kind != ATOM_floordiv;
}

static void put_operand(Buf *buf, const Dim *dim) {
    if (!is_plain(dim)) buf_char(buf, '(');
    put_sum(buf, dim);
    if (!is_plain(dim)) buf_char(buf, ')');
}

static int compare_texts(const void *a, const void *b) {
    return str_compare(*(const Str *)a, *(const Str *)b);
}

static Str sum_text(Arena *arena, const Dim *dim) {
    Buf buf = {.arena = arena};
    put_sum(&buf, dim);
    return buf_str(&buf);
}

static Str atom_text(Arena *arena, const DimAtom *atom, bool alone) {
    Buf buf = {.arena = arena};
    if (atom->kind == ATOM_symbol) return atom->symbol->name;
    if (atom->kind == ATOM_floordiv) {
        if (!alone) buf_char(&buf, '(');
        put_operand(&buf, atom->a);
        buf_put(&buf, STR(" // "));
        put_operand(&buf, atom->b);
        if (!alone) buf_char(&buf, ')');
        return buf_str(&buf);
    }
    Str sides[2] = {sum_text(arena, atom->a), sum_text(arena, atom->b)};
    qsort(sides, 2, sizeof *sides, compare_texts);
    buf_print(&buf, "%s(%.*s, %.*s)", atom->kind == ATOM_min ? "min" : "max", STR_ARG(sides[0]),
              STR_ARG(sides[1]));
    return buf_str(&buf);
}

static uint32_t rank_of(Str text) {
    if (memchr(text.data, '$', text.size)) return 3;
    return memchr(text.data, '%', text.size) ? 1 : 2;
}

static Term make_term(Arena *arena, const DimTerm *term) {
    Str *atoms = NEW_ARRAY(arena, Str, term->atom_count);
    bool alone = term->atom_count == 1 && term->coefficient == 1;
    for (uint32_t i = 0; i < term->atom_count; i++)
        atoms[i] = atom_text(arena, term->atoms[i], alone);
    qsort(atoms, term->atom_count, sizeof *atoms, compare_texts);
    Buf buf = {.arena = arena};
    for (uint32_t i = 0; i < term->atom_count; i++) {
        if (i > 0) buf_char(&buf, '*');
        buf_put(&buf, atoms[i]);
    }
    return (Term){
        .text = buf_str(&buf), .coefficient = term->coefficient, .rank = rank_of(buf_str(&buf))};
}

static int compare_terms(const void *a, const void *b) {
    const Term *x = a, *y = b;
    if ((x->coefficient < 0) != (y->coefficient < 0)) return x->coefficient < 0 ? 1 : -1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return str_compare(x->text, y->text);
}

/* A signed part of a sum: " + 3*N", or "-N" at its begin. */
static void put_part(Buf *buf, int64_t coefficient, Str text, bool first) {
    uint64_t magnitude = coefficient < 0 ? 0 - (uint64_t)coefficient : (uint64_t)coefficient;
    if (!first) buf_put(buf, coefficient < 0 ? STR(" - ") : STR(" + "));
    if (first && coefficient < 0) buf_char(buf, '-');
    if (magnitude != 1 || text.size == 0) buf_print(buf, "%llu", (unsigned long long)magnitude);
    if (magnitude != 1 && text.size > 0) buf_char(buf, '*');
    buf_put(buf, text);
}

/* factor·(base % modulus), which the sum holds as two terms or more. */
static Term make_remainder(Arena *arena, const DimMod *mod) {
    int64_t factor = 1;
    bool plain = dim_is_const(mod->factor, &factor), alone = plain && factor == 1;
    Buf buf = {.arena = arena};
    if (!plain) put_operand(&buf, mod->factor);
    if (!plain) buf_char(&buf, '*');
    if (!alone) buf_char(&buf, '(');
    put_operand(&buf, mod->base);
    buf_put(&buf, STR(" % "));
    put_operand(&buf, mod->modulus);
    if (!alone) buf_char(&buf, ')');
    return (Term){.text = buf_str(&buf), .coefficient = factor, .rank = rank_of(buf_str(&buf))};
}

static void put_sum(Buf *buf, const Dim *dim) {
    Term *terms = NEW_ARRAY(buf->arena, Term, dim->term_count);
    uint32_t count = 0;
    for (; dim->mod && dim->mod->rest->term_count + 1 < dim->term_count; dim = dim->mod->rest)
        terms[count++] = make_remainder(buf->arena, dim->mod);
    for (uint32_t i = 0; i < dim->term_count; i++)
        terms[count++] = make_term(buf->arena, &dim->terms[i]);
    qsort(terms, count, sizeof *terms, compare_terms);
    bool leads = count == 0 || (terms[0].coefficient < 0 && dim->constant > 0);
    if (leads) put_part(buf, dim->constant, STR(""), true);
    for (uint32_t i = 0; i < count; i++)
        put_part(buf, terms[i].coefficient, terms[i].text, i == 0 && !leads);
    if (!leads && dim->constant != 0) put_part(buf, dim->constant, STR(""), false);
}

void tile_put_dim(Buf *buf, const Dim *dim) {
    if (dim_is_overflow(dim))
        buf_put(buf, STR("overflow"));
    else
        put_sum(buf, dim);
}
