/* The grammar of model files: LALR(1) without conflicts. Actions build the tree of ast.h; `error` takes in
 * what is wrong up to the end of its statement or the brace of its block, so that the statements
 * after it are still read. */
%define api.pure full
%define api.prefix {dsl_parse_}
%define api.value.type {union ParseValue}
%define api.location.type {Loc}
%define parse.error custom
%define lr.default-reduction accepting
%locations
%parse-param { struct Parse *parse }
%lex-param { struct Parse *parse }

%code requires {
#include "frontend/dsl/parse.h"

union ParseValue {
    Token token;
    Ast *ast;
    AstList list;
};
}

%code {
#include "base/messages.h"
#include "frontend/dsl/dsl.h"

/* The parser's stack grows in the arena of the parse, to a limit of its own. */
#define YYMAXDEPTH 20000
#define YYMALLOC(size) arena_alloc(parse->arena, (size))
#define YYFREE(block) ((void)(block))
#define YYLLOC_DEFAULT(at, right, count) \
    ((at) = (count) ? YYRHSLOC(right, 1) : (Loc){parse->file, 0, 0, 1})

#define LEAF(kind, token) ast_leaf(parse, kind, (token).loc, (token).text)
#define OPERATOR(op, at, a, b) ast_operator(parse, AST_binary, op, at, a, b)

static int dsl_parse_lex(union ParseValue *value, Loc *loc, struct Parse *parse) {
    const Token *token = &parse->tokens.data[parse->at++];
    value->token = *token;
    *loc = token->loc;
    return token->kind;
}

static Ast *number_leaf(struct Parse *parse, AstKind kind, Token token) {
    Ast *ast = ast_leaf(parse, kind, token.loc, token.text);
    if (kind == AST_int) ast->value.integer = token.value.integer;
    else if (kind == AST_float) ast->value.number = token.value.number;
    else ast->value.dtype = token.value.dtype;
    return ast;
}

static Ast *flagged(Ast *ast, bool flag) {
    ast->flag = flag;
    return ast;
}

static Ast *named(Ast *ast, Str text) {
    if (ast->kind != AST_error) ast->text = text;
    return ast;
}

static void dsl_parse_error(const Loc *loc, struct Parse *parse, const char *message) {
    /* Bison's own calls: the stack is at its limit. */
    (void)message;
    if (!parse->limited) diag_error(parse->diags, *loc, MSG_TOO_DEEP, DSL_MAX_HEIGHT);
    parse->limited = true;
}
}

%token <token> NAME "a name" INT "a whole number" FLOAT "a number" STR "a string" DTYPE "a dtype"
%token <token> SEP "the end of the line" END 0 "the end of the file"
%token <token> NONE "None" TRUE_ "true" FALSE_ "false"
%token <token> WEIGHTS "weights" DIM "dim" IN "in" TUNE "tune" FN "fn" MODEL "model" TRAIN "train"
%token <token> PARAM "param" SHARED "shared" STATE "state" RETURN "return" FOR "for" AS "as"
%token <token> MINIMIZE "minimize" WITH "with" ASSERT "assert" IF "if" ELSE "else" WHILE "while"
%token <token> SCAN "scan" DOTDOT ".." DOTLT "..<" ARROW "->" EQ "==" NE "!=" LE "<=" GE ">="
%token <token> AND "and" OR "or" NOT "not" FDIV "//" POW "**"
%token <token> '+' "+" '-' "-" '*' "*" '/' "/" '@' "@" '%' "%" '<' "<" '>' ">" '=' "=" ',' "," '.' "." ':' ":"
%token <token> '(' "(" ')' ")" '[' "[" ']' "]" '{' "{" '}' "}"

%left OR
%left AND
%precedence NOT
%nonassoc EQ NE LE GE '<' '>'
%left '+' '-'
%left '*' '/' '@' '%' FDIV
%precedence UMINUS
%right POW

%type <ast> item tune parameter type type_name block annotated statement branch init target
%type <ast> expr bin post call arg sub optional annotation_argument
%type <list> items parameters parameter_list annotation_arguments exprs0 exprs statements
%type <list> statement_list targets args arg_list subs carried names

%%

file
    : optional_separators { parse->out->items = (AstList){0}; }
    | items optional_separators { parse->out->items = $1; }
    | separators1 items optional_separators { parse->out->items = $2; }
    ;
items
    : item { $$ = $1 ? ast_list($1) : (AstList){0}; }
    | items separators1 item { $$ = $3 ? ast_append($1, $3) : $1; }
    ;
separators: %empty | separators SEP ;
separators1: SEP | separators1 SEP ;
optional_separators: %empty | separators1 ;

item
    : WEIGHTS STR { $$ = ast_leaf(parse, AST_weights, $2.loc, $2.text); }
    | DIM NAME IN INT DOTDOT INT tune {
        AstList bounds = ast_append(ast_list(number_leaf(parse, AST_int, $4)), number_leaf(parse, AST_int, $6));
        if ($7) bounds = ast_append(bounds, $7);
        $$ = ast_item(parse, AST_dim, $2.loc, $2.text, bounds, (AstList){0}, NULL);
    }
    | annotations FN NAME '(' parameters ')' block {
        $$ = ast_item(parse, AST_function, $3.loc, $3.text, $5, (AstList){0}, $7);
    }
    | annotations MODEL NAME '(' parameters ')' ARROW '(' parameters ')' block {
        $$ = ast_item(parse, AST_model, $3.loc, $3.text, $5, $9, $11);
    }
    | annotations TRAIN NAME '(' parameters ')' ARROW '(' parameters ')' block {
        $$ = ast_item(parse, AST_train, $2.loc, $3.text, $5, $9, $11);
    }
    | error { $$ = NULL; yyerrok; }
    | error block { $$ = NULL; yyerrok; }
    ;
annotations: %empty | annotations annotation separators ;
annotation
    : '@' NAME { parse_check_annotation(parse, $2.loc, $2.text, (AstList){0}); }
    | '@' NAME '(' annotation_arguments ')' { parse_check_annotation(parse, $2.loc, $2.text, $4); }
    ;
annotation_arguments
    : annotation_argument { $$ = ast_list($1); }
    | annotation_arguments ',' annotation_argument { $$ = ast_append($1, $3); }
    ;
annotation_argument
    : NAME { $$ = LEAF(AST_name, $1); }
    | INT { $$ = number_leaf(parse, AST_int, $1); }
    | FLOAT { $$ = number_leaf(parse, AST_float, $1); }
    | DTYPE { $$ = number_leaf(parse, AST_dtype, $1); }
    | STR { $$ = LEAF(AST_string, $1); }
    ;
tune
    : %empty { $$ = NULL; }
    | TUNE INT { $$ = number_leaf(parse, AST_int, $2); }
    ;

parameters
    : %empty { $$ = (AstList){0}; }
    | parameter_list
    | parameter_list ','
    ;
parameter_list
    : parameter { $$ = ast_list($1); }
    | parameter_list ',' parameter { $$ = ast_append($1, $3); }
    ;
parameter
    : NAME { $$ = LEAF(AST_parameter, $1); }
    | NAME ':' type { $$ = named(ast_tree(parse, AST_parameter, $1.loc, $3, NULL, NULL), $1.text); }
    | NAME '=' expr { $$ = named(ast_tree(parse, AST_parameter, $1.loc, NULL, $3, NULL), $1.text); }
    | NAME ':' type '=' expr { $$ = named(ast_tree(parse, AST_parameter, $1.loc, $3, $5, NULL), $1.text); }
    ;
type
    : type_name { $$ = ast_with_list(parse, AST_type, @1, $1, (AstList){0}); }
    | type_name '[' exprs0 ']' { $$ = flagged(ast_with_list(parse, AST_type, @1, $1, $3), true); }
    ;
type_name
    : DTYPE { $$ = number_leaf(parse, AST_dtype, $1); }
    | NAME { $$ = LEAF(AST_name, $1); }
    | NAME '.' NAME { $$ = named(ast_tree(parse, AST_member, $3.loc, LEAF(AST_name, $1), NULL, NULL), $3.text); }
    ;

/* No empty rule stands where a statement begins: recovery can only shift `error`, not reduce to it. */
block
    : '{' statements '}' { $$ = ast_with_list(parse, AST_block, $1.loc, NULL, $2); }
    | '{' separators1 statements '}' { $$ = ast_with_list(parse, AST_block, $1.loc, NULL, $3); }
    ;
statements
    : %empty { $$ = (AstList){0}; }
    | statement_list optional_separators
    ;
statement_list
    : annotated { $$ = $1 ? ast_list($1) : (AstList){0}; }
    | statement_list separators1 annotated { $$ = $3 ? ast_append($1, $3) : $1; }
    ;
annotated
    : annotations statement { $$ = $2; }
    | error { $$ = NULL; yyerrok; }
    | error block { $$ = NULL; yyerrok; }
    ;
statement
    : targets '=' exprs {
        $$ = ast_with_list(parse, AST_assign, $1.first->loc, NULL, $3);
        $$->list = $1;
        $$->more = $3;
    }
    | PARAM NAME ':' type init { $$ = named(ast_tree(parse, AST_param, $2.loc, $4, $5, NULL), $2.text); }
    | SHARED PARAM NAME ':' type init {
        $$ = flagged(named(ast_tree(parse, AST_param, $3.loc, $5, $6, NULL), $3.text), true);
    }
    | STATE NAME ':' type init { $$ = named(ast_tree(parse, AST_state, $1.loc, $4, $5, NULL), $2.text); }
    | RETURN exprs { $$ = ast_with_list(parse, AST_return, $1.loc, NULL, $2); }
    | FOR NAME IN expr DOTLT expr block {
        $$ = named(ast_tree(parse, AST_for, $1.loc, $4, $6, $7), $2.text);
    }
    | MINIMIZE expr WITH expr { $$ = ast_tree(parse, AST_minimize, $1.loc, $2, $4, NULL); }
    | ASSERT expr { $$ = ast_tree(parse, AST_assert, $1.loc, $2, NULL, NULL); }
    | ASSERT expr ',' STR { $$ = ast_tree(parse, AST_assert, $1.loc, $2, LEAF(AST_string, $4), NULL); }
    | ASSERT '(' expr ',' STR ')' {
        $$ = ast_tree(parse, AST_assert, $1.loc, $3, LEAF(AST_string, $5), NULL);
    }
    | branch
    | WHILE expr NAME expr carried block {
        $$ = ast_tree(parse, AST_while, $1.loc, $2, $4, $6);
        $$->list = $5;
    }
    | SCAN NAME IN expr carried block {
        $$ = named(ast_tree(parse, AST_scan, $1.loc, $4, NULL, $6), $2.text);
        $$->list = $5;
    }
    ;
branch
    : IF expr block { $$ = ast_tree(parse, AST_if, $1.loc, $2, $3, NULL); }
    | IF expr block ELSE block { $$ = ast_tree(parse, AST_if, $1.loc, $2, $3, $5); }
    | IF expr block ELSE branch { $$ = ast_tree(parse, AST_if, $1.loc, $2, $3, $5); }
    ;
carried
    : %empty { $$ = (AstList){0}; }
    | WITH names { $$ = $2; }
    ;
names
    : NAME { $$ = ast_list(LEAF(AST_name, $1)); }
    | names ',' NAME { $$ = ast_append($1, LEAF(AST_name, $3)); }
    ;
init
    : %empty { $$ = NULL; }
    | '=' expr { $$ = $2; }
    ;
targets
    : target { $$ = ast_list($1); }
    | targets ',' target { $$ = ast_append($1, $3); }
    ;
target
    : NAME { $$ = LEAF(AST_name, $1); }
    | NAME '[' subs ']' { $$ = ast_with_list(parse, AST_index, $1.loc, LEAF(AST_name, $1), $3); }
    ;

expr
    : bin
    | bin IF bin ELSE expr { $$ = ast_tree(parse, AST_choice, $2.loc, $1, $3, $5); }
    ;
bin
    : bin '+' bin { $$ = OPERATOR(AST_add, @2, $1, $3); }
    | bin '-' bin { $$ = OPERATOR(AST_sub, @2, $1, $3); }
    | bin '*' bin { $$ = OPERATOR(AST_mul, @2, $1, $3); }
    | bin '/' bin { $$ = OPERATOR(AST_div, @2, $1, $3); }
    | bin '@' bin { $$ = OPERATOR(AST_matmul, @2, $1, $3); }
    | bin '%' bin { $$ = OPERATOR(AST_mod, @2, $1, $3); }
    | bin FDIV bin { $$ = OPERATOR(AST_floordiv, @2, $1, $3); }
    | bin POW bin { $$ = OPERATOR(AST_pow, @2, $1, $3); }
    | '-' bin %prec UMINUS { $$ = ast_operator(parse, AST_unary, AST_neg, @1, $2, NULL); }
    | NOT bin { $$ = ast_operator(parse, AST_unary, AST_not, @1, $2, NULL); }
    | bin AND bin { $$ = OPERATOR(AST_and, @2, $1, $3); }
    | bin OR bin { $$ = OPERATOR(AST_or, @2, $1, $3); }
    | bin EQ bin { $$ = OPERATOR(AST_eq, @2, $1, $3); }
    | bin NE bin { $$ = OPERATOR(AST_ne, @2, $1, $3); }
    | bin LE bin { $$ = OPERATOR(AST_le, @2, $1, $3); }
    | bin GE bin { $$ = OPERATOR(AST_ge, @2, $1, $3); }
    | bin '<' bin { $$ = OPERATOR(AST_lt, @2, $1, $3); }
    | bin '>' bin { $$ = OPERATOR(AST_gt, @2, $1, $3); }
    | post
    ;
post
    : NAME { $$ = LEAF(AST_name, $1); }
    | DTYPE { $$ = number_leaf(parse, AST_dtype, $1); }
    | INT { $$ = number_leaf(parse, AST_int, $1); }
    | FLOAT { $$ = number_leaf(parse, AST_float, $1); }
    | STR { $$ = LEAF(AST_string, $1); }
    | NONE { $$ = LEAF(AST_none, $1); }
    | TRUE_ { $$ = flagged(LEAF(AST_bool, $1), true); }
    | FALSE_ { $$ = LEAF(AST_bool, $1); }
    | '(' expr ')' { $$ = $2; }
    | '[' exprs0 ']' { $$ = ast_with_list(parse, AST_list, $1.loc, NULL, $2); }
    | post '.' NAME { $$ = named(ast_tree(parse, AST_member, $3.loc, $1, NULL, NULL), $3.text); }
    | post '[' subs ']' { $$ = ast_with_list(parse, AST_index, $2.loc, $1, $3); }
    | call
    | call AS STR { $$ = $1; $$->b = LEAF(AST_string, $3); }
    ;
call: post '(' args ')' { $$ = ast_with_list(parse, AST_call, $1->loc, $1, $3); } ;
args
    : %empty { $$ = (AstList){0}; }
    | arg_list
    | arg_list ','
    ;
arg_list
    : arg { $$ = ast_list($1); }
    | arg_list ',' arg { $$ = ast_append($1, $3); }
    ;
arg
    : expr
    | NAME '=' expr { $$ = named(ast_tree(parse, AST_argument, $1.loc, $3, NULL, NULL), $1.text); }
    ;
subs
    : sub { $$ = ast_list($1); }
    | subs ',' sub { $$ = ast_append($1, $3); }
    ;
sub
    : expr
    | optional ':' optional { $$ = ast_tree(parse, AST_slice, @2, $1, $3, NULL); }
    | optional ':' optional ':' optional { $$ = ast_tree(parse, AST_slice, @2, $1, $3, $5); }
    ;
optional
    : %empty { $$ = NULL; }
    | expr
    ;
exprs0
    : %empty { $$ = (AstList){0}; }
    | exprs
    | exprs ','
    ;
exprs
    : expr { $$ = ast_list($1); }
    | exprs ',' expr { $$ = ast_append($1, $3); }
    ;
%%

/* Bison's call at a token that fits nowhere. */
static int yyreport_syntax_error(const yypcontext_t *context, struct Parse *parse) {
    yysymbol_kind_t expected[YYNTOKENS];
    const char *names[YYNTOKENS];
    int count = yypcontext_expected_tokens(context, expected, YYNTOKENS);
    for (int i = 0; i < count; i++) names[i] = yysymbol_name(expected[i]);
    parse_report_syntax(parse, names, count);
    return 0;
}

bool parse_grammar(struct Parse *parse) {
    return yyparse(parse) == 0;
}
