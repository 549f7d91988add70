/* Reading the symbols at the head of .tir text: dims, their ranges, and the narrower ranges that
 * the caller wants them to have. */
#include "base/messages.h"
#include "ir/text_internal.h"

typedef struct Declaration {
    Str name;
    DimSymbolKind kind;
    int64_t lo, hi, tune;
    const Dim *limit;
} Declaration;

static bool in_range(const Declaration *d) {
    const int64_t most = INT64_C(1) << 62;
    return -most <= d->lo && d->lo <= d->tune && d->tune <= d->hi && d->hi <= most;
}

static bool narrow(TextReader *in, DimRanges ranges, Declaration *d, Loc loc) {
    const DimRange *range = dim_ranges_find(&ranges, d->name);
    if (!range || d->kind != SYMBOL_named) return true;
    if (!dim_range_is_within(range, d->lo, d->hi)) {
        diag_error(in->diags, loc, MSG_DIM_OVERRIDE, (long long)range->lo, (long long)range->hi,
                   STR_ARG(d->name));
        return false;
    }
    d->lo = range->lo;
    d->hi = range->hi;
    d->tune = range->tune;
    return true;
}

static bool check_ranges(TextReader *in, DimRanges ranges) {
    for (size_t i = 0; i < ranges.count; i++) {
        Str name = ranges.items[i].name;
        if (dim_find_symbol(in->ctx, name)) continue;
        diag_error(in->diags, (Loc){in->file, 0, 0, 1}, MSG_UNKNOWN_DIM, STR_ARG(name));
        return false;
    }
    return true;
}

static bool declare(TextReader *in, const Declaration *d, Loc loc) {
    const DimSymbol *known = dim_find_symbol(in->ctx, d->name);
    if (!in_range(d)) {
        diag_error(in->diags, loc, MSG_TIR_RANGE, STR_ARG(d->name));
        return false;
    }
    if (!known) {
        known = dim_new_symbol(in->ctx, d->kind, d->name, d->lo, d->hi, d->tune, d->limit);
    }
    if (known->kind == d->kind && known->lo == d->lo && known->hi == d->hi &&
        known->tune == d->tune && known->limit == d->limit) {
        return true;
    }
    diag_error(in->diags, loc, MSG_TIR_DIM, STR_ARG(d->name));
    return false;
}

/* "dim N in 1..256 tune 32" and "bound K in …", with "limit DIM" behind. */
static bool read_symbol(TextReader *in, DimRanges ranges) {
    Declaration d = {.kind = text_peek(in, "bound") ? SYMBOL_bound : SYMBOL_named};
    if (!text_expect(in, d.kind == SYMBOL_bound ? "bound" : "dim")) return false;
    Loc loc = text_loc(in);
    if (!text_name(in, &d.name) || !text_expect(in, "in")) return false;
    if (d.name.data[0] >= '0' && d.name.data[0] <= '9') return text_wrong(in, "a name before this");
    bool good = text_range(in, &d.lo, &d.hi) && text_expect(in, "tune") && text_int(in, &d.tune);
    if (!good || (text_accept(in, "limit") && !text_dim(in, &d.limit))) return false;
    return narrow(in, ranges, &d, loc) && declare(in, &d, loc);
}

bool text_symbols(TextReader *in, DimRanges ranges) {
    while (text_peek(in, "dim") || text_peek(in, "bound")) {
        if (!read_symbol(in, ranges)) return false;
    }
    return check_ranges(in, ranges);
}
