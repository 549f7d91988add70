/* The syntax tree of a model file: one node type, whose fields each kind uses as listed here. Nodes
 * live in the arena of the parse; lists are linked through `next`. */
#ifndef TCC_FRONTEND_DSL_AST_H
#define TCC_FRONTEND_DSL_AST_H

#include "base/diag.h"
#include "ir/dtype.h"

typedef enum AstKind {
    /* expressions */
    AST_error,  /* stands where something was wrong that is already reported */
    AST_name,   /* text */
    AST_int,    /* value.integer */
    AST_float,  /* value.number */
    AST_string, /* text, without its quotes */
    AST_none,
    AST_bool,     /* flag */
    AST_dtype,    /* value.dtype */
    AST_value,    /* value.given, where no text is: a graph that is built call by call (live.h) */
    AST_list,     /* list */
    AST_unary,    /* op a */
    AST_binary,   /* a op b; loc is the operator's */
    AST_choice,   /* a if b else c */
    AST_member,   /* a.text */
    AST_index,    /* a[list] */
    AST_slice,    /* a:b:c within an index, each may be NULL */
    AST_call,     /* a(list) as b, a string; b is NULL without `as` */
    AST_argument, /* text = a, within a call */
    /* statements */
    AST_assign,   /* list = more */
    AST_param,    /* text: a = b; flag when shared */
    AST_state,    /* text: a = b */
    AST_return,   /* list */
    AST_for,      /* for text in a..<b c */
    AST_if,       /* if a b else c (NULL, a block or another AST_if) */
    AST_while,    /* while a, at most b times, c; list is carried */
    AST_scan,     /* for text in a one slice after another, c; list is carried */
    AST_minimize, /* a with b */
    AST_assert,   /* a, with the text b where it is written */
    AST_block,    /* list */
    /* the rest */
    AST_type,      /* dtype a, dims list; flag when the dims are written */
    AST_parameter, /* text: a = b, of a function or a model */
    AST_weights,   /* text */
    AST_dim,       /* text; list holds the two bounds and, where written, tune */
    AST_function,  /* text(list) b */
    AST_model,     /* text(list) -> (more) b */
    AST_train      /* likewise */
} AstKind;

typedef enum AstOp {
    AST_add,
    AST_sub,
    AST_mul,
    AST_div,
    AST_floordiv,
    AST_mod,
    AST_pow,
    AST_matmul,
    AST_eq,
    AST_ne,
    AST_lt,
    AST_le,
    AST_gt,
    AST_ge,
    AST_and,
    AST_or,
    AST_not,
    AST_neg
} AstOp;

typedef struct Ast Ast;

typedef struct AstList {
    Ast *first, *last;
    uint32_t count;
} AstList;

struct Ast {
    AstKind kind;
    AstOp op;
    bool flag;
    uint16_t height; /* of the tree below, itself included */
    Loc loc;
    Str text;
    union {
        int64_t integer;
        double number;
        DType dtype;
        const struct Value *given;
    } value;
    Ast *a, *b, *c;
    AstList list, more;
    Ast *next;
};

/* A file's items: functions, models and the rest, in order. */
typedef struct AstFile {
    uint32_t file;
    AstList items;
} AstFile;

const char *ast_op_name(AstOp op); /* as it is written */

/* Where the text of an expression begins. */
Loc ast_start(const Ast *ast);

/* Parses the text of `file`; NULL after errors. Never recurses on the input: a tree has at most
 * DSL_MAX_HEIGHT levels and DSL_MAX_NODES nodes. */
AstFile *ast_parse(Arena *arena, Diags *diags, uint32_t file);

#endif
