/* Names: locals hide the file's functions, dims and models, which hide the library's. */
#include "frontend/dsl/sema.h"

#include "frontend/dsl/builtin.h"
#include "frontend/dsl/hints.h"

#include <math.h>

void dsl_scope_set(Sema *s, Str name, Value value) {
    Value *place = map_get(&s->frame->names, name);
    if (place) {
        *place = value;
        return;
    }
    place = NEW(s->arena, Value);
    *place = value;
    map_set(&s->frame->names, name, place);
}

const Value *dsl_scope_find_local(const Sema *s, Str name) {
    return s->frame ? map_get(&s->frame->names, name) : NULL;
}

Symbol *dsl_scope_find_symbol(const Sema *s, Str name) {
    Symbol *symbol = s->frame && s->frame->library ? NULL : map_get(&s->user, name);
    return symbol ? symbol : map_get(&s->library, name);
}

/* Numbers that have no digits to write them with. */
static bool find_constant(Str name, double *out_number) {
    static const struct {
        const char *name;
        double number;
    } constants[] = {
        {"inf", (double)INFINITY}, {"nan", (double)NAN}, {"pi", 3.14159265358979323846}};
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        *out_number = constants[i].number;
        if (str_equal(name, str_from(constants[i].name))) return true;
    }
    return false;
}

static Value symbol_value(Sema *s, const Ast *name, const Symbol *symbol) {
    if (symbol->ast->kind != AST_dim) {
        sema_error(s, name->loc, MSG_NOT_A_VALUE, STR_ARG(name->text));
        return dsl_value_error();
    }
    if (map_get(&s->free_dims, name->text)) {
        if (sema_error(s, name->loc, MSG_UNBOUND_DIM, STR_ARG(name->text))) {
            diag_note(s->diags, symbol->ast->loc, MSG_NOTE_DECLARED);
        }
        return dsl_value_error();
    }
    return symbol->dim;
}

Value dsl_scope_lookup(Sema *s, const Ast *name) {
    const Value *local = dsl_scope_find_local(s, name->text);
    if (local) return *local;
    const Symbol *symbol = dsl_scope_find_symbol(s, name->text);
    if (symbol) return symbol_value(s, name, symbol);
    double number;
    if (find_constant(name->text, &number)) return dsl_value_float(number);
    if (builtin_find(name->text))
        sema_error(s, name->loc, MSG_NOT_A_VALUE, STR_ARG(name->text));
    else
        dsl_scope_unknown(s, name->loc, name->text);
    return dsl_value_error();
}

/* ---- what may be meant ----------------------------------------------------------------------- */

enum { LONGEST = 24 };

/* Edits (a character put in, left out or changed) that turn `a` into `b`; both at most LONGEST
 * long. */
static int edit_distance(Str a, Str b) {
    int row[LONGEST + 1];
    for (size_t j = 0; j <= b.size; j++) row[j] = (int)j;
    for (size_t i = 1; i <= a.size; i++) {
        int corner = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= b.size; j++) {
            int change = corner + (a.data[i - 1] != b.data[j - 1]);
            int insert = row[j - 1] + 1, erase = row[j] + 1;
            corner = row[j];
            row[j] = change < insert ? change : insert;
            if (erase < row[j]) row[j] = erase;
        }
    }
    return row[b.size];
}

typedef struct Guess {
    Str name, best;
    int distance;
} Guess;

static void try_name(Guess *guess, Str candidate) {
    if (candidate.size > LONGEST || candidate.size < 2) return;
    int distance = edit_distance(guess->name, candidate);
    if (distance >= guess->distance) return;
    guess->distance = distance;
    guess->best = candidate;
}

static void try_map(Guess *guess, const Map *map) {
    for (size_t i = 0; i < map->count; i++) try_name(guess, map->entries[i].key);
}

void dsl_scope_unknown(Sema *s, Loc loc, Str name) {
    if (!sema_error(s, loc, MSG_UNKNOWN_NAME, STR_ARG(name))) return;
    if (hint_name(s->diags, sema_user_loc(s, loc), name)) return;
    Guess guess = {.name = name, .distance = name.size < 4 ? 2 : 3};
    if (name.size > LONGEST || name.size < 2) return;
    if (s->frame) try_map(&guess, &s->frame->names);
    try_map(&guess, &s->user);
    try_map(&guess, &s->library);
    for (size_t i = 0; i < builtin_count(); i++) try_name(&guess, builtin_at(i)->name);
    Str known = hint_foreign(name);
    if (known.size) guess.best = known;
    if (guess.best.size)
        diag_note(s->diags, sema_user_loc(s, loc), MSG_NOTE_MEANT, STR_ARG(guess.best));
}

/* ---- a file's items -------------------------------------------------------------------------- */

void dsl_scope_declare(Sema *s, const AstFile *file, bool library) {
    Map *map = library ? &s->library : &s->user;
    for (const Ast *item = file->items.first; item; item = item->next) {
        if (item->kind == AST_weights || item->kind == AST_error) continue;
        const Symbol *old = map_get(map, item->text);
        if (old) {
            if (sema_error(s, item->loc, MSG_DUPLICATE_NAME, STR_ARG(item->text))) {
                diag_note(s->diags, old->ast->loc, MSG_NOTE_DECLARED);
            }
            continue;
        }
        Symbol *symbol = NEW(s->arena, Symbol);
        *symbol = (Symbol){.ast = item, .library = library};
        map_set(map, item->text, symbol);
    }
}
