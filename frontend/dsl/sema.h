/* What the parts of the builder share: the state of one compilation, errors, and the functions by
 * which statements, expressions, calls and built-ins reach one another. A model is built by running
 * its body at compile time; each function returns a value at once, VALUE_error after a report.
 */
#ifndef TCC_FRONTEND_DSL_SEMA_H
#define TCC_FRONTEND_DSL_SEMA_H

#include "base/map.h"
#include "base/messages.h"
#include "frontend/dsl/dsl.h"
#include "frontend/dsl/value.h"
#include "ir/infer.h"

/* A name of a file: a function, a dim, a model. */
typedef struct Symbol {
    const Ast *ast;
    bool library;
    bool active; /* a function that is being expanded */
    Value dim;
} Symbol;

/* One expansion of a function, or the body of a model. */
typedef struct Frame {
    struct Frame *caller;
    const Ast *function;  /* or the model */
    const Origin *origin; /* of the call; NULL in a model */
    Str prefix;           /* of parameters declared here */
    bool library;
    bool impure;   /* declares parameters or draws a random stream: not to be remembered */
    bool declares; /* parameters, or what it calls does */
    bool returned;
    Value result;
    Map names;    /* to Value */
    Map assigned; /* of a model: to the Ast of the last assignment's target */
} Frame;

enum { SEMA_ORIGINS = 64 };

typedef struct Sema {
    IrContext *ctx;
    Arena *arena;
    Diags *diags;
    const DslOptions *options;
    size_t errors_before; /* of the file, in diags */
    bool weights_failed;  /* so a weight may be missing because its file could not be read */
    const AstFile *file;
    Map user, library; /* Symbols by name */
    Map module_params; /* full name to the Type it has in the models before */
    /* of the model that is built */
    Graph *graph;
    Frame *frame;
    Map params;    /* full name to Param */
    Map memo;      /* results of calls without parameters, by function and arguments */
    Map reported;  /* places that had an error, so that a loop does not repeat it */
    Map free_dims; /* dims that no input binds */
    Map asserted;  /* pairs of dims that are asserted to be equal */
    uint32_t calls, depth, streams;
    uint64_t steps;
    bool stopped;                        /* a limit was reached: unwind without further words */
    const Origin *origins[SEMA_ORIGINS]; /* made lately, by a hash of their places */
    /* of a graph that is built call by call (live.h) */
    Loc host_call;           /* whose errors all are; file 0 in a file of the language */
    struct LiveBlock *block; /* the innermost open block; NULL: the model's own graph */
} Sema;

/* ---- errors (error.c) ------------------------------------------------------------------------ */

/* Reports once a place and chain of callers, the user's line first, with notes along the way. False
 * when it was silent because the place has had its error. */
bool sema_error(Sema *s, Loc loc, const char *id, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A limit: reported once, and nothing after it is evaluated. Gives VALUE_error. */
Value sema_limit(Sema *s, Loc loc, const char *id, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Whether the place has had no error yet; from now on it has. */
bool sema_may_report(Sema *s, Loc loc);
/* `loc` itself, or within the library the place in the user's file that led there. */
Loc sema_user_loc(const Sema *s, Loc loc);
const char *sema_type_text(Sema *s, NodeId node);
const char *sema_dim_text(Sema *s, const Dim *dim);
const char *sema_value_text(Sema *s, const Value *value);

/* ---- nodes (emit.c): NODE_none after a report ------------------------------------------------ */

const Origin *dsl_emit_origin(Sema *s, Loc loc);
NodeId dsl_emit(Sema *s, Loc loc, Op op, const NodeId *args, uint32_t count, const Attr *attrs);
/* `number` (an int, a float or a bool) as a scalar constant of dtype, which it must fit. */
NodeId dsl_emit_number(Sema *s, Loc loc, DType dtype, const Value *number);
NodeId dsl_emit_dim(Sema *s, Loc loc, const Dim *dim);
/* Nothing for the dtype it has; casts in the user's files pin their rounding. */
NodeId dsl_emit_cast(Sema *s, Loc loc, NodeId x, DType to);
NodeId dsl_emit_reshape(Sema *s, Loc loc, NodeId x, const Dim *const *dims, uint32_t rank);
NodeId dsl_emit_permute(Sema *s, Loc loc, NodeId x, const int64_t *perm);
/* As NumPy broadcasts: axes are aligned at the end. Nothing for the shape it has. */
NodeId dsl_emit_broadcast(Sema *s, Loc loc, NodeId x, const Dim *const *dims, uint32_t rank);
static inline const Type *sema_type(const Sema *s, NodeId node) {
    return graph_type(s->graph, node);
}

/* ---- operands (operand.c) -------------------------------------------------------------------- */

/* The value as a tensor; a number known at compile time gets `want`, or its default dtype when
 * `want` is DT_count. */
NodeId dsl_operand_tensor(Sema *s, Loc loc, const Value *value, DType want);
/* The same, but nothing known at compile time alone is accepted: reports what `what` needs. */
NodeId dsl_operand_tensor_only(Sema *s, Loc loc, const Value *value, const char *what);
/* Brings `count` operands to one dtype (that of the first tensor; numbers follow it) and one shape.
 */
bool dsl_operands_unify(Sema *s, Loc loc, const Value *values, const Loc *places, uint32_t count,
                        NodeId *out_nodes);
/* The common shape of nodes by NumPy's rules; false after a report that shows both and their
 * places. */
bool dsl_operands_broadcast(Sema *s, Loc loc, NodeId *nodes, const Loc *places, uint32_t count);

/* ---- evaluation ------------------------------------------------------------------------------ */

Value dsl_eval(Sema *s, const Ast *ast); /* expr.c */
/* An int known at compile time (constant dims too); false after a report that names `what`. */
bool dsl_eval_int(Sema *s, const Ast *ast, const char *what, int64_t *out_value);
/* Whether a condition holds: +1, 0, or -1 after a report; what is decided at run time is refused.
 */
int dsl_eval_condition(Sema *s, const Ast *ast);
bool dsl_eval_interpolated(Sema *s, Loc loc, Str text, Str *out_text); /* "layer.{i}" */

Value dsl_arith_binary(Sema *s, const Ast *ast, const Value *a, const Value *b); /* arith.c */
Value dsl_arith_unary(Sema *s, const Ast *ast, const Value *a);
Value dsl_arith_choice(Sema *s, const Ast *ast, const Value *c, const Value *a, const Value *b);
/* Both known at compile time (static.c). */
Value dsl_static_binary(Sema *s, const Ast *ast, const Value *a, const Value *b);
Value dsl_static_compare_dims(Sema *s, AstOp op, const Dim *a, const Dim *b);
/* values[0] @ values[1], summed into `sum`, or into what is usual when that is DT_count
 * (contract.c). */
Value dsl_matmul(Sema *s, Loc loc, const Value values[2], const Loc places[2], DType sum);

Value dsl_index_value(Sema *s, const Ast *ast, const Value *of);  /* index.c: of[...] */
Value dsl_member_value(Sema *s, const Ast *ast, const Value *of); /* member.c: of.name */

/* A list, within the limits of length and nesting. */
Value dsl_list_value(Sema *s, Loc loc, uint32_t count, const Value *items);

Value dsl_eval_call(Sema *s, const Ast *ast); /* call.c */

void dsl_exec_block(Sema *s, const Ast *block); /* stmt.c */
/* Whether the model asserts, wherever it does, that the dims are equal. */
bool dsl_is_asserted(const Sema *s, const Dim *a, const Dim *b);
void dsl_exec_param(Sema *s, const Ast *ast); /* param.c */
/* The type that is written, in the current frame; NULL after a report. */
const Type *dsl_eval_type(Sema *s, const Ast *ast);
/* `value` as a tensor of `type`, for `what`: what is not proved equal becomes an entry check. */
NodeId dsl_convert_to_type(Sema *s, Loc loc, const Value *value, const Type *type, Loc type_loc,
                           Str what);

/* What the model declares, wherever it does: `node` of the model's graph as a node of the block
 * that is open (block.c). */
Graph *dsl_model_graph(Sema *s);
NodeId dsl_block_reach(Sema *s, NodeId node);

/* ---- names (scope.c) ------------------------------------------------------------------------- */

void dsl_scope_set(Sema *s, Str name, Value value);
const Value *dsl_scope_find_local(const Sema *s, Str name); /* NULL when there is none */
Symbol *dsl_scope_find_symbol(const Sema *s,
                              Str name); /* of the frame's file, then of the library */
Value dsl_scope_lookup(Sema *s, const Ast *name);
/* Reports that there is no such name, and which one may be meant. */
void dsl_scope_unknown(Sema *s, Loc loc, Str name);
/* Enters the file's items; duplicates are reported. */
void dsl_scope_declare(Sema *s, const AstFile *file, bool library);

/* ---- models (model.c) ------------------------------------------------------------------------ */

/* The graph of a model; NULL after errors anywhere in the file. */
Graph *dsl_model_build(Sema *s, const Ast *model);
/* What of the model that stands is to be warned of. */
void dsl_model_warn(const Sema *s);

/* ---- the whole (dsl.c) ----------------------------------------------------------------------- */

/* Enters the functions of the library. */
void dsl_declare_library(Sema *s);

#endif
