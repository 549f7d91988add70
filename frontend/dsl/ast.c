/* Building the syntax tree within its limits. */
#include "frontend/dsl/parse.h"

#include "base/messages.h"
#include "frontend/dsl/dsl.h"

const char *ast_op_name(AstOp op) {
    static const char *const names[] = {
        [AST_add] = "+",       [AST_sub] = "-", [AST_mul] = "*",   [AST_div] = "/",
        [AST_floordiv] = "//", [AST_mod] = "%", [AST_pow] = "**",  [AST_matmul] = "@",
        [AST_eq] = "==",       [AST_ne] = "!=", [AST_lt] = "<",    [AST_le] = "<=",
        [AST_gt] = ">",        [AST_ge] = ">=", [AST_and] = "and", [AST_or] = "or",
        [AST_not] = "not",     [AST_neg] = "-"};
    return names[op];
}

Loc ast_start(const Ast *ast) {
    for (;;) {
        switch (ast->kind) {
        case AST_binary:
        case AST_choice:
        case AST_member:
        case AST_index:
        case AST_call: ast = ast->a; break;
        default: return ast->loc;
        }
    }
}

static uint16_t tallest(uint16_t height, const Ast *ast) {
    return ast && ast->height > height ? ast->height : height;
}

static uint16_t tallest_in(uint16_t height, const AstList *list) {
    for (const Ast *at = list->first; at; at = at->next) height = tallest(height, at);
    return height;
}

/* A node that is one level above `below`; past a limit it stands for nothing, so that the trees
 * above it are low again, and the limit is reported once a file. */
static Ast *new_node(Parse *parse, AstKind kind, Loc loc, unsigned below) {
    Ast *ast = NEW(parse->arena, Ast);
    *ast = (Ast){.kind = kind, .loc = loc, .height = (uint16_t)(below + 1)};
    bool high = below >= DSL_MAX_HEIGHT, many = ++parse->nodes > DSL_MAX_NODES;
    if (!high && !many) return ast;
    if (!parse->limited) {
        if (high)
            diag_error(parse->diags, loc, MSG_TOO_DEEP, DSL_MAX_HEIGHT);
        else
            diag_error(parse->diags, loc, MSG_TOO_MANY_NODES, DSL_MAX_NODES);
    }
    parse->limited = true;
    ast->kind = AST_error;
    ast->height = 1;
    return ast;
}

Ast *ast_leaf(Parse *parse, AstKind kind, Loc loc, Str text) {
    Ast *ast = new_node(parse, kind, loc, 0);
    ast->text = text;
    return ast;
}

Ast *ast_tree(Parse *parse, AstKind kind, Loc loc, Ast *a, Ast *b, Ast *c) {
    Ast *ast = new_node(parse, kind, loc, tallest(tallest(tallest(0, a), b), c));
    if (ast->kind == AST_error) return ast;
    ast->a = a;
    ast->b = b;
    ast->c = c;
    return ast;
}

Ast *ast_operator(Parse *parse, AstKind kind, AstOp op, Loc loc, Ast *a, Ast *b) {
    Ast *ast = ast_tree(parse, kind, loc, a, b, NULL);
    ast->op = op;
    return ast;
}

Ast *ast_with_list(Parse *parse, AstKind kind, Loc loc, Ast *a, AstList list) {
    Ast *ast = new_node(parse, kind, loc, tallest_in(tallest(0, a), &list));
    if (ast->kind == AST_error) return ast;
    ast->a = a;
    ast->list = list;
    return ast;
}

Ast *ast_item(Parse *parse, AstKind kind, Loc loc, Str name, AstList list, AstList more,
              Ast *body) {
    Ast *ast = ast_with_list(parse, kind, loc, NULL, list);
    ast->text = name;
    ast->more = more;
    ast->b = body;
    return ast;
}

AstList ast_list(Ast *only) { return (AstList){only, only, 1}; }

AstList ast_append(AstList list, Ast *ast) {
    if (!list.first) return ast_list(ast);
    list.last->next = ast;
    return (AstList){list.first, ast, list.count + 1};
}
