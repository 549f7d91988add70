/* Dims as text. A product binds closer than a sum; *, // and % associate to the left:
 *
 *     sum     = ["-"] product { ("+" | "-") product }
 *     product = factor { ("*" | "//" | "%") factor }
 *     factor  = number | name | "(" sum ")" | ("min" | "max") "(" sum "," sum ")"
 *     name    = (letter | "_") { letter | digit | "_" | "." }
 */
#include "ir/dim_internal.h"

/* ---- printing -------------------------------------------------------------------------------- */

/* Whether `dim` prints as a factor without parentheses. */
static bool is_factor(const Dim *dim) {
    if (dim->mod) return false;
    if (!dim->term_count) return dim->constant >= 0;
    const DimAtom *atom = dim->constant ? NULL : dim_lone_atom(dim);
    return atom && atom->kind != ATOM_floordiv;
}

static void put_factor(Buf *buf, const Dim *dim) {
    bool bare = is_factor(dim);
    if (!bare) buf_char(buf, '(');
    buf_dim(buf, dim);
    if (!bare) buf_char(buf, ')');
}

static void put_call(Buf *buf, const char *name, const DimAtom *atom) {
    buf_print(buf, "%s(", name);
    buf_dim(buf, atom->a);
    buf_put(buf, STR(", "));
    buf_dim(buf, atom->b);
    buf_char(buf, ')');
}

/* `alone`: a quotient needs no parentheses, since it is the first factor of its product. */
static void put_atom(Buf *buf, const DimAtom *atom, bool alone) {
    switch (atom->kind) {
    case ATOM_symbol: buf_put(buf, atom->symbol->name); break;
    case ATOM_floordiv:
        if (!alone) buf_char(buf, '(');
        put_factor(buf, atom->a);
        buf_put(buf, STR(" // "));
        put_factor(buf, atom->b);
        if (!alone) buf_char(buf, ')');
        break;
    case ATOM_min: put_call(buf, "min", atom); break;
    case ATOM_max: put_call(buf, "max", atom); break;
    }
}

/* The sign before a product: nothing before a first positive one. */
static void put_sign(Buf *buf, bool negative, bool first) {
    if (first) {
        if (negative) buf_char(buf, '-');
    } else {
        buf_put(buf, negative ? STR(" - ") : STR(" + "));
    }
}

static void put_term(Buf *buf, const DimTerm *term, bool first) {
    bool negative = term->coefficient < 0;
    int64_t size = negative ? -term->coefficient : term->coefficient;
    put_sign(buf, negative, first);
    if (size != 1) buf_print(buf, "%lld", (long long)size);
    for (uint32_t i = 0; i < term->atom_count; i++) {
        bool leads = size == 1 && i == 0;
        if (!leads) buf_char(buf, '*');
        put_atom(buf, term->atoms[i], leads);
    }
}

/* `first`: nothing of this sum was printed yet. A zero is printed only where it is all there is. */
static void put_plain(Buf *buf, const Dim *dim, bool first) {
    for (uint32_t i = 0; i < dim->term_count; i++) {
        put_term(buf, &dim->terms[i], first);
        first = false;
    }
    if (dim->constant == 0 && !first) return;
    put_sign(buf, dim->constant < 0, first);
    buf_print(buf, "%lld", (long long)(dim->constant < 0 ? -dim->constant : dim->constant));
}

/* A remainder is shorter than the terms it stands for when it replaces two or more. */
static bool mod_is_shorter(const Dim *dim) {
    return dim->mod && dim->mod->rest->term_count + 1 < dim->term_count;
}

static void put_sum(Buf *buf, const Dim *dim, bool first) {
    if (!mod_is_shorter(dim)) {
        put_plain(buf, dim, first);
        return;
    }
    const DimMod *mod = dim->mod;
    int64_t factor;
    bool plain = dim_is_const(mod->factor, &factor);
    put_sign(buf, plain && factor < 0, first);
    if (plain && factor < 0) factor = -factor;
    if (!plain) put_factor(buf, mod->factor);
    if (plain && factor != 1) buf_print(buf, "%lld", (long long)factor);
    bool leads = plain && factor == 1;
    if (!leads) buf_put(buf, STR("*("));
    put_factor(buf, mod->base);
    buf_put(buf, STR(" % "));
    put_factor(buf, mod->modulus);
    if (!leads) buf_char(buf, ')');
    put_sum(buf, mod->rest, false);
}

void buf_dim(Buf *buf, const Dim *dim) {
    if (dim->overflow) {
        buf_put(buf, STR("overflow"));
        return;
    }
    put_sum(buf, dim, true);
}

/* ---- reading --------------------------------------------------------------------------------- */

enum { MAX_NESTING = 64 };

typedef struct Reader {
    IrContext *ctx;
    Str rest;
    DimResolve *resolve;
    void *user;
    bool index; /* an index expression: see dim_index_floordiv */
    int depth;
} Reader;

static void skip_blanks(Reader *in) {
    while (in->rest.size && (in->rest.data[0] == ' ' || in->rest.data[0] == '\t')) {
        in->rest.data++;
        in->rest.size--;
    }
}

static bool accept(Reader *in, Str token) {
    skip_blanks(in);
    if (!str_starts_with(in->rest, token)) return false;
    in->rest.data += token.size;
    in->rest.size -= token.size;
    return true;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static Str take_while_name(Reader *in) {
    Str name = {in->rest.data, 0};
    while (name.size < in->rest.size) {
        char c = in->rest.data[name.size];
        if (!is_name_start(c) && !is_digit(c) && c != '.') break;
        name.size++;
    }
    in->rest.data += name.size;
    in->rest.size -= name.size;
    return name;
}

static const Dim *read_sum(Reader *in);

static const Dim *read_call(Reader *in, bool is_min) {
    const Dim *a = accept(in, STR("(")) ? read_sum(in) : NULL;
    const Dim *b = a && accept(in, STR(",")) ? read_sum(in) : NULL;
    if (!b || !accept(in, STR(")"))) return NULL;
    return is_min ? dim_min(in->ctx, a, b) : dim_max(in->ctx, a, b);
}

static const Dim *read_name(Reader *in) {
    Str name = take_while_name(in);
    bool is_min = str_equal(name, STR("min")), is_max = str_equal(name, STR("max"));
    skip_blanks(in);
    bool called = in->rest.size && in->rest.data[0] == '(';
    if (called && (is_min || is_max)) return read_call(in, is_min);
    const DimSymbol *symbol = in->resolve(in->user, name);
    return symbol ? dim_of_symbol(in->ctx, symbol) : NULL;
}

static const Dim *read_number(Reader *in) {
    Str digits = {in->rest.data, 0};
    while (digits.size < in->rest.size && is_digit(digits.data[digits.size])) digits.size++;
    in->rest.data += digits.size;
    in->rest.size -= digits.size;
    int64_t value;
    if (!str_to_int(digits, &value)) return NULL;
    return dim_const(in->ctx, value);
}

static const Dim *read_factor(Reader *in) {
    if (accept(in, STR("("))) {
        const Dim *inner = read_sum(in);
        return inner && accept(in, STR(")")) ? inner : NULL;
    }
    if (!in->rest.size) return NULL;
    if (is_digit(in->rest.data[0])) return read_number(in);
    return is_name_start(in->rest.data[0]) ? read_name(in) : NULL;
}

static const Dim *read_product(Reader *in) {
    const Dim *product = read_factor(in);
    while (product) {
        const Dim *(*op)(IrContext *, const Dim *, const Dim *) = NULL;
        if (accept(in, STR("*")))
            op = dim_mul;
        else if (accept(in, STR("//")))
            op = dim_floordiv;
        else if (accept(in, STR("%")))
            op = dim_mod;
        if (!op) break;
        const Dim *factor = read_factor(in);
        product = factor ? op(in->ctx, product, factor) : NULL;
    }
    return product;
}

static const Dim *read_terms(Reader *in) {
    bool negative = accept(in, STR("-"));
    const Dim *sum = read_product(in);
    if (sum && negative) sum = dim_scale(in->ctx, sum, -1);
    while (sum) {
        bool minus = accept(in, STR("-"));
        if (!minus && !accept(in, STR("+"))) break;
        const Dim *term = read_product(in);
        if (!term) return NULL;
        sum = minus ? dim_sub(in->ctx, sum, term) : dim_add(in->ctx, sum, term);
    }
    return sum;
}

static const Dim *read_sum(Reader *in) {
    if (in->depth == MAX_NESTING) return NULL;
    in->depth++;
    const Dim *sum = read_terms(in);
    in->depth--;
    return sum;
}

static const Dim *read_all(Reader in, Str *text) {
    const Dim *dim = read_sum(&in);
    if (dim) *text = in.rest;
    return dim;
}

const Dim *dim_parse_names(IrContext *ctx, Str *text, DimResolve *resolve, void *user) {
    return read_all((Reader){ctx, *text, resolve, user, true, 0}, text);
}

static const DimSymbol *find_named(void *user, Str name) { return dim_find_symbol(user, name); }

const Dim *dim_parse(IrContext *ctx, Str *text) {
    return read_all((Reader){ctx, *text, find_named, ctx, false, 0}, text);
}
