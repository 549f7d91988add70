/* What the lexer, the bracket matcher and the grammar share. */
#ifndef TCC_FRONTEND_DSL_PARSE_H
#define TCC_FRONTEND_DSL_PARSE_H

#include "base/vec.h"
#include "frontend/dsl/ast.h"

/* A token: `kind` is the grammar's. Of a bracket, `faulty` says that it has no partner, which is
 * reported already. Newlines within brackets are dropped by tokens_match. */
typedef struct Token {
    int kind;
    bool faulty;
    Loc loc;
    Str text;
    union {
        int64_t integer;
        double number;
        DType dtype;
    } value;
} Token;

typedef struct Parse {
    Arena *arena;
    Diags *diags;
    uint32_t file;
    Str text;
    VEC(Token) tokens; /* ends with kind 0 */
    size_t at;         /* the next token for the grammar */
    size_t failed_at;  /* the token after the last one that did not fit */
    bool open_block;   /* a brace has no partner */
    unsigned unclosed; /* brackets that were reported as such */
    size_t nodes;
    bool limited; /* a limit of the tree was reached and reported */
    /* the lexer's place */
    uint32_t line;
    size_t line_start, offset;
    AstFile *out;
} Parse;

/* Fills `tokens`; errors are reported and left out. */
void tokens_scan(Parse *parse);

/* Finds the partner of every bracket, reports those that have none, and drops the newlines between
 * round and square ones. */
void tokens_match(Parse *parse);

/* What is wrong with the bytes themselves: false after an error at the first control character or
 * byte that is not UTF-8. */
bool dsl_text_is_clean(Parse *parse);

/* Tree building; past a limit the result is an AST_error. */
Ast *ast_leaf(Parse *parse, AstKind kind, Loc loc, Str text);
Ast *ast_tree(Parse *parse, AstKind kind, Loc loc, Ast *a, Ast *b, Ast *c);
Ast *ast_operator(Parse *parse, AstKind kind, AstOp op, Loc loc, Ast *a, Ast *b);
Ast *ast_with_list(Parse *parse, AstKind kind, Loc loc, Ast *a, AstList list);
Ast *ast_item(Parse *parse, AstKind kind, Loc loc, Str name, AstList list, AstList more, Ast *body);
AstList ast_list(Ast *only);
AstList ast_append(AstList list, Ast *ast);

/* Reports an annotation that is none of ours or has the wrong arguments. */
void parse_check_annotation(Parse *parse, Loc loc, Str name, AstList arguments);

/* Reports that the token before `at` fits nowhere; those whose names are given would. */
void parse_report_syntax(Parse *parse, const char *const *expected, int count);

/* Runs the grammar over the tokens; false when it could not recover from an error. */
bool parse_grammar(struct Parse *parse);

#endif
