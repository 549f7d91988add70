/* A check is a row: a - b = 0, or b - a >= 0. Rows are linear in their terms, whatever these are
 * made of, so Gaussian elimination finds what follows from equal sizes by adding up checks. Each
 * row, as written and as eliminated, then narrows the ranges of the dims in it, round after round,
 * which sees into products, quotients and minima. Nothing is left of a range: the checks contradict
 * each other. */
#include "ir/conflict.h"

#include "base/messages.h"
#include "base/scratch.h"
#include "ir/dim_range.h"
#include "ir/infer.h"

#include <string.h>

enum {
    MOST_ROUNDS = 64,    /* of narrowing: x <= y - 1, y <= x - 1 would go on for the whole range */
    MOST_STEPS = 100000, /* of elimination: rows added to others */
    MOST_NAMED = 8       /* checks that a message can name */
};

typedef struct Row {
    const Dim *dim; /* = 0, or >= 0 */
    bool equal;
} Row;

typedef struct Rows {
    IrContext *ctx;
    Row *items;
    size_t count;
} Rows;

/* ---- elimination ----------------------------------------------------------------------------- */

static const DimTerm *find_term(const Dim *dim, const DimTerm *like) {
    for (uint32_t i = 0; i < dim->term_count; i++) {
        const DimTerm *term = &dim->terms[i];
        if (!product_compare(term->atoms, term->atom_count, like->atoms, like->atom_count))
            return term;
    }
    return NULL;
}

/* A term with the least coefficient, so that others keep small ones. */
static const DimTerm *choose_pivot(const Dim *dim) {
    const DimTerm *best = &dim->terms[0];
    for (uint32_t i = 1; i < dim->term_count; i++) {
        const DimTerm *term = &dim->terms[i];
        if (gcd_int(0, term->coefficient) < gcd_int(0, best->coefficient)) best = term;
    }
    return best;
}

/* `dim` times a positive number, less as much of `row`, which is 0, as takes the term out. */
static const Dim *eliminate(IrContext *ctx, const Dim *dim, int64_t coefficient, const Dim *row,
                            int64_t pivot) {
    int64_t common = gcd_int(coefficient, pivot);
    int64_t scale = pivot / common, times = coefficient / common;
    if (scale < 0) {
        scale = -scale;
        times = -times;
    }
    return dim_sub(ctx, dim_scale(ctx, dim, scale), dim_scale(ctx, row, times));
}

static void eliminate_all(const Rows *rows) {
    int budget = MOST_STEPS;
    for (size_t i = 0; i < rows->count && budget > 0; i++) {
        const Dim *row = rows->items[i].dim;
        if (!rows->items[i].equal || !row->term_count) continue;
        const DimTerm *pivot = choose_pivot(row);
        for (size_t k = 0; k < rows->count && budget > 0; k++) {
            Row *other = &rows->items[k];
            const DimTerm *term = k == i ? NULL : find_term(other->dim, pivot);
            if (!term) continue;
            const Dim *less =
                eliminate(rows->ctx, other->dim, term->coefficient, row, pivot->coefficient);
            if (!less->overflow) other->dim = less;
            budget--;
        }
    }
}

/* ---- narrowing ------------------------------------------------------------------------------- */

/* 6·x + 4·y = 3 has no solution, whatever the ranges. */
static bool divides_never(const Row *row) {
    int64_t common = 0;
    for (uint32_t i = 0; i < row->dim->term_count; i++) {
        common = gcd_int(common, row->dim->terms[i].coefficient);
    }
    return row->equal && common && row->dim->constant % common;
}

static bool rows_contradict(const Rows *rows, Arena *arena) {
    DimIntervals known = dim_intervals(rows->ctx, arena);
    known.changed = true;
    for (int round = 0; round < MOST_ROUNDS && known.changed && !known.empty; round++) {
        known.changed = false;
        for (size_t i = 0; i < rows->count && !known.empty; i++) {
            const Row *row = &rows->items[i];
            if (divides_never(row)) return true;
            DimInterval want = {0, row->equal ? 0 : DIM_INFINITE};
            dim_narrow(&known, row->dim, want);
        }
    }
    return known.empty;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* The rows of the checks, after `rows`. Sizes too large to compare say nothing. */
static void add_rows(Rows *rows, const EntryCheck *const *checks, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const EntryCheck *check = checks[i];
        bool equal = check->kind == CHECK_equal;
        const Dim *left = equal ? check->a : check->b, *right = equal ? check->b : check->a;
        const Dim *dim = dim_sub(rows->ctx, left, right);
        if (!dim->overflow) rows->items[rows->count++] = (Row){dim, equal};
    }
}

static bool contradict(const Graph *graph, const EntryCheck *const *checks, size_t count) {
    Scratch scratch;
    Arena *arena = scratch_open(&scratch);
    Rows rows = {.ctx = graph->ctx, .items = NEW_ARRAY(arena, Row, 2 * count)};
    add_rows(&rows, checks, count);
    eliminate_all(&rows);
    add_rows(&rows, checks, count);
    bool found = rows_contradict(&rows, arena);
    scratch_close(&scratch);
    return found;
}

/* How many checks from the first on it takes, beside the `named` ones that stand before all, for a
 * contradiction; `count` of them have one. */
static size_t shortest(const Graph *graph, const EntryCheck *const *checks, size_t named,
                       size_t count) {
    size_t low = named, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (contradict(graph, checks, middle))
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

/* The last check of the shortest beginning that contradicts itself is part of the contradiction. It
 * goes to the front, and what is left is shortened again, until the front alone contradicts itself:
 * U. Junker, "QuickXplain", 2004, with a linear number of steps. */
const EntryCheck *const *graph_find_conflict(const Graph *graph, Arena *arena,
                                             uint32_t *out_count) {
    size_t count = graph->checks.count, named = 0;
    const EntryCheck **checks = NEW_ARRAY(arena, const EntryCheck *, count);
    for (size_t i = 0; i < count; i++) checks[i] = &graph->checks.data[i];
    *out_count = 0;
    if (!count || !contradict(graph, checks, count)) return NULL;
    while (named < MOST_NAMED) {
        count = shortest(graph, checks, named, count);
        if (count == named) break;
        const EntryCheck *last = checks[count - 1];
        memmove(checks + named + 1, checks + named, (count - 1 - named) * sizeof *checks);
        checks[named++] = last;
    }
    *out_count = (uint32_t)named;
    return checks;
}

static const char *dim_string(Arena *arena, const Dim *dim) {
    Buf text = {.arena = arena};
    buf_dim(&text, dim);
    return buf_str(&text).data;
}

bool graph_refuse_conflict(const Graph *graph, Diags *diags) {
    Scratch scratch;
    Arena *arena = scratch_open(&scratch);
    uint32_t count;
    const EntryCheck *const *checks = graph_find_conflict(graph, arena, &count);
    for (uint32_t i = 0; i < count; i++) {
        const char *a = dim_string(arena, checks[i]->a), *b = dim_string(arena, checks[i]->b);
        const char *how = checks[i]->kind == CHECK_equal ? "equal" : "be at most";
        Loc loc = origin_loc(checks[i]->origin);
        if (i == 0)
            diag_error(diags, loc, MSG_SIZES_CONFLICT, a, how, b);
        else
            diag_note(diags, loc, MSG_NOTE_SIZES_CONFLICT, a, how, b);
        origin_notes(diags, checks[i]->origin);
    }
    scratch_close(&scratch);
    return count == 0;
}
