/* The whole road from a file to its models (dsl.h). */
#include "frontend/dsl/sema.h"

#include "base/embedded.h"
#include "base/file.h"
#include "base/guard.h"

extern const EmbeddedFile frontend_library_files[];
extern const size_t frontend_library_count;

/* ---- dims ------------------------------------------------------------------------------------ */

typedef struct Range {
    int64_t lo, hi, tune;
} Range;

static Range written_range(const Ast *dim) {
    const Ast *lo = dim->list.first, *hi = lo->next, *tune = hi->next;
    Range range = {lo->value.integer, hi->value.integer, hi->value.integer};
    if (tune) range.tune = tune->value.integer;
    return range;
}

static bool check_range(Sema *s, const Ast *dim, Range range) {
    if (range.lo > range.hi)
        sema_error(s, dim->loc, MSG_DIM_EMPTY, STR_ARG(dim->text));
    else if (range.tune < range.lo || range.tune > range.hi) {
        sema_error(s, dim->loc, MSG_DIM_TUNE, (long long)range.tune, STR_ARG(dim->text));
    } else
        return true;
    return false;
}

/* The limit is that of the range which is compiled. */
static bool check_limit(Sema *s, const Ast *dim, Range range) {
    enum { MOST = INT32_MAX };
    if (range.hi <= MOST) return true;
    sema_error(s, dim->loc, MSG_DIM_LIMIT, STR_ARG(dim->text), MOST);
    return false;
}

/* The range that the command line narrows the written one to. */
static bool narrow(Sema *s, const Ast *dim, Range *range) {
    const DimRange *given = dim_ranges_find(&s->options->ranges, dim->text);
    if (!given) return true;
    if (!dim_range_is_within(given, range->lo, range->hi)) {
        sema_error(s, dim->loc, MSG_DIM_OVERRIDE, (long long)given->lo, (long long)given->hi,
                   STR_ARG(dim->text));
        return false;
    }
    *range = (Range){given->lo, given->hi, given->tune};
    return true;
}

static Value declare_dim(Sema *s, const Ast *dim) {
    if (dim->list.count < 2) return dsl_value_error();
    Range range = written_range(dim);
    if (!check_range(s, dim, range) || !narrow(s, dim, &range) || !check_limit(s, dim, range))
        return dsl_value_error();
    if (range.lo == range.hi) return dsl_value_int(range.lo);
    const DimSymbol *symbol = dim_find_symbol(s->ctx, dim->text);
    if (symbol) bug("a context that already has dims compiles a file");
    symbol = dim_new_symbol(s->ctx, SYMBOL_named, dim->text, range.lo, range.hi, range.tune, NULL);
    return dsl_value_dim(dim_of_symbol(s->ctx, symbol));
}

static void declare_dims(Sema *s) {
    for (size_t i = 0; i < s->user.count; i++) {
        Symbol *symbol = s->user.entries[i].value;
        if (symbol->ast->kind == AST_dim) symbol->dim = declare_dim(s, symbol->ast);
    }
    for (size_t i = 0; i < s->options->ranges.count; i++) {
        Str name = s->options->ranges.items[i].name;
        const Symbol *symbol = map_get(&s->user, name);
        if (symbol && symbol->ast->kind == AST_dim) continue;
        diag_error(s->diags, (Loc){s->file->file, 0, 0, 1}, MSG_UNKNOWN_DIM, STR_ARG(name));
    }
}

/* ---- library and weights --------------------------------------------------------------------- */

void dsl_declare_library(Sema *s) {
    for (size_t i = 0; i < frontend_library_count; i++) {
        const EmbeddedFile *embedded = &frontend_library_files[i];
        Str path = str_format(s->arena, "library/%s", embedded->name);
        Str text = {(const char *)embedded->bytes, embedded->size};
        const AstFile *file = ast_parse(s->arena, s->diags, diags_add_file(s->diags, path, text));
        if (!file) bug("the library file %s does not parse", embedded->name);
        dsl_scope_declare(s, file, true);
    }
}

static void load_weights(Sema *s) {
    Str base = diags_file_path(s->diags, s->file->file);
    for (const Ast *item = s->file->items.first; item; item = item->next) {
        if (item->kind != AST_weights || !s->options->weights) continue;
        Str path = file_beside(s->arena, base, item->text);
        Status status = weights_load(s->options->weights, s->diags, item->loc, path);
        if (status != STATUS_ok) s->weights_failed = true;
    }
}

/* Tensors that no model has used, once all models are built: one warning, at the first statement
 * that loads some. */
static void warn_unused(Sema *s) {
    if (!s->options->weights || s->options->entry.size) return;
    Loc loc = {s->file->file, 0, 0, 1};
    for (const Ast *item = s->file->items.first; item && !loc.line; item = item->next) {
        if (item->kind == AST_weights) loc = item->loc;
    }
    weights_warn_unused(s->options->weights, s->diags, loc);
}

/* ---- models ---------------------------------------------------------------------------------- */

static bool is_wanted(const Sema *s, const Ast *item) {
    Str entry = s->options->entry;
    return item->kind == AST_model && (!entry.size || str_equal(entry, item->text));
}

static void refuse_training(Sema *s) {
    for (const Ast *item = s->file->items.first; item; item = item->next) {
        if (item->kind == AST_train) sema_error(s, item->loc, MSG_NOT_LOWERED, "'train'");
    }
}

static void build_models(Sema *s, Module *module) {
    size_t wanted = 0;
    for (const Ast *item = s->file->items.first; item; item = item->next) {
        const Symbol *symbol = item->kind == AST_model ? map_get(&s->user, item->text) : NULL;
        if (!is_wanted(s, item) || symbol->ast != item) continue;
        wanted++;
        Graph *graph = dsl_model_build(s, item);
        if (graph) vec_push(s->arena, &module->models, graph);
    }
    Loc whole = {s->file->file, 0, 0, 1};
    Str entry = s->options->entry;
    if (wanted || diags_error_count(s->diags)) return;
    if (entry.size)
        diag_error(s->diags, whole, MSG_NO_ENTRY, STR_ARG(entry));
    else
        diag_error(s->diags, whole, MSG_NO_MODEL);
}

Module *dsl_compile(IrContext *ctx, Arena *arena, Diags *diags, const DslOptions *options) {
    Sema s = {.ctx = ctx, .arena = arena, .diags = diags, .options = options};
    s.errors_before = diags_error_count(diags);
    s.user.arena = s.library.arena = s.module_params.arena = s.reported.arena = arena;
    s.file = ast_parse(arena, diags, options->file);
    if (!s.file) return NULL;
    dsl_declare_library(&s);
    dsl_scope_declare(&s, s.file, false);
    declare_dims(&s);
    load_weights(&s);
    refuse_training(&s);
    Module *module = NEW(arena, Module);
    *module = (Module){.ctx = ctx, .arena = arena};
    build_models(&s, module);
    if (diags_error_count(diags) != s.errors_before) return NULL;
    warn_unused(&s);
    return module;
}
