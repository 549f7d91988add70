/* Directives outside of functions. */
#include "emulator/ptx/parser.h"

#include <string.h>

enum { NEWEST_VERSION = 90 };

/* .version 9.0: the lexer makes one decimal of it. */
static bool parse_version(Parser *p) {
    double value;
    Token at = p->token;
    if (at.kind != TOKEN_f64 || !str_to_double(at.text, &value) || value < 1 || value > 99)
        return parse_fail_expected(p, "a version such as 9.0");
    parse_advance(p);
    if (p->module->version) return parse_fail(p, &at, ".version is given twice");
    p->module->version = (int)(value * 10 + 0.5);
    if (p->module->version <= NEWEST_VERSION) return true;
    p->too_new = true;
    return parse_fail(p, &at, "PTX %.*s is newer than 9.0", STR_ARG(at.text));
}

/* sm_90a: the number, and whether a or f follows. */
static bool read_target(PtxModule *module, Str name) {
    size_t i = 3;
    int target = 0;
    if (!str_starts_with(name, STR("sm_"))) return false;
    for (; i < name.size && name.data[i] >= '0' && name.data[i] <= '9' && i < 7; i++)
        target = target * 10 + name.data[i] - '0';
    Str rest = {name.data + i, name.size - i};
    module->target_exact = str_equal(rest, STR("a"));
    module->target_family = str_equal(rest, STR("f"));
    module->target = target;
    return target >= 10 && (rest.size == 0 || module->target_exact || module->target_family);
}

static bool parse_target(Parser *p) {
    static const char *const modes[] = {"debug", "texmode_unified", "texmode_independent",
                                        "map_f64_to_f32"};
    if (p->module->target) return parse_fail(p, &p->token, ".target is given twice");
    Token name;
    if (!parse_name(p, &name)) return false;
    if (!read_target(p->module, name.text))
        return parse_fail(p, &name, "unknown target '%.*s'", STR_ARG(name.text));
    while (parse_take_mark(p, ',')) {
        bool known = false;
        if (!parse_name(p, &name)) return false;
        for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
            known |= str_equal(name.text, str_from(modes[i]));
        if (!known) return parse_fail(p, &name, "unknown target '%.*s'", STR_ARG(name.text));
    }
    return true;
}

static bool parse_address_size(Parser *p) {
    uint64_t bits;
    Token at = p->token;
    if (!parse_count(p, 64, &bits)) return false;
    if (bits != 32 && bits != 64) return parse_fail(p, &at, "an address size of 32 or 64 expected");
    p->address_bits = (int)bits;
    return true;
}

/* .pragma "nounroll"; says how to optimise: no matter to us. */
bool parse_pragma(Parser *p) {
    do {
        if (p->token.kind != TOKEN_string) return parse_fail_expected(p, "a string");
        parse_advance(p);
    } while (parse_take_mark(p, ','));
    return parse_mark(p, ';');
}

/* .alias name, function; */
static bool parse_alias(Parser *p) {
    Token names[2];
    if (!parse_name(p, &names[0]) || !parse_mark(p, ',') || !parse_name(p, &names[1])) return false;
    const Symbol *symbols[2];
    for (int i = 0; i < 2; i++) {
        symbols[i] = symbol_find(p, names[i].text);
        if (!symbols[i] || symbols[i]->kind != SYMBOL_function)
            return parse_fail(p, &names[i], "'%.*s' is no function", STR_ARG(names[i].text));
    }
    if (symbols[0]->function->has_body)
        return parse_fail(p, &names[0], "'%.*s' has a body of its own", STR_ARG(names[0].text));
    vec_push(p->scratch, &p->aliases, (Alias){symbols[0]->function, symbols[1]->function});
    return parse_mark(p, ';');
}

static int linkage_of(const Parser *p) {
    static const struct {
        const char *word;
        int linkage;
    } rows[] = {{"extern", LINKAGE_extern},
                {"visible", LINKAGE_visible},
                {"weak", LINKAGE_weak},
                {"common", LINKAGE_common}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (parse_is_word(p, rows[i].word)) return rows[i].linkage;
    return 0;
}

static const struct {
    const char *word;
    PtxSpace space;
} variable_spaces[] = {{"global", PTX_SPACE_global},
                       {"const", PTX_SPACE_const},
                       {"shared", PTX_SPACE_shared},
                       {"local", PTX_SPACE_local}};

static bool parse_linked(Parser *p, int linkage) {
    if (parse_take_word(p, "entry")) return parse_function(p, true, linkage);
    if (parse_take_word(p, "func")) return parse_function(p, false, linkage);
    for (size_t i = 0; i < sizeof variable_spaces / sizeof *variable_spaces; i++)
        if (parse_take_word(p, variable_spaces[i].word))
            return parse_variables(p, variable_spaces[i].space, linkage);
    if (p->token.kind != TOKEN_word) return parse_fail_expected(p, "a directive");
    return parse_fail(p, &p->token, "unknown directive '.%.*s'", STR_ARG(p->token.text));
}

/* What begins a module, in its order; `after` is what must have been said. */
static bool parse_header(Parser *p, bool *out_good) {
    const PtxModule *module = p->module;
    if (parse_take_word(p, "version")) {
        *out_good = parse_version(p);
    } else if (parse_is_word(p, "target")) {
        if (!module->version) {
            *out_good = parse_fail(p, &p->token, ".version must come before .target");
            return true;
        }
        parse_advance(p);
        *out_good = parse_target(p);
    } else if (parse_take_word(p, "address_size")) {
        *out_good = parse_address_size(p);
    } else {
        return false;
    }
    return true;
}

bool parse_module_directive(Parser *p) {
    bool good;
    if (parse_header(p, &good)) return good;
    if (parse_take_word(p, "file")) return parse_file(p);
    if (parse_take_word(p, "section")) return parse_section(p);
    if (parse_take_word(p, "loc")) return parse_loc(p);
    if (parse_take_mark(p, ';')) return true;
    if (!p->module->target)
        return parse_fail(p, &p->token, "a module begins with .version and .target");
    if (parse_take_word(p, "pragma")) return parse_pragma(p);
    if (parse_take_word(p, "alias")) return parse_alias(p);
    int linkage = 0;
    for (int next; (next = linkage_of(p)) != 0; linkage |= next) parse_advance(p);
    return parse_linked(p, linkage);
}
