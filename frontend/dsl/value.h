/* What an expression is worth while a model is built: a number, a string and the like, which are
 * known at compile time; an expression over dims; or a tensor, a node of the graph. */
#ifndef TCC_FRONTEND_DSL_VALUE_H
#define TCC_FRONTEND_DSL_VALUE_H

#include "frontend/dsl/ast.h"
#include "ir/graph.h"

typedef enum ValueKind {
    VALUE_error, /* something was wrong and is reported: whatever uses it is silent */
    VALUE_none,
    VALUE_bool,
    VALUE_int,
    VALUE_float,
    VALUE_string,
    VALUE_dtype,
    VALUE_dim,      /* not constant: constant dims are VALUE_int */
    VALUE_relation, /* a comparison of dims that is not decided */
    VALUE_list,
    VALUE_tuple, /* several results */
    VALUE_tensor
} ValueKind;

typedef struct Value Value;

typedef struct ValueList {
    uint32_t count;
    uint32_t depth; /* of lists within lists, itself included */
    const Value *items;
} ValueList;

struct Value {
    ValueKind kind;
    union {
        bool flag;
        int64_t integer;
        double number;
        Str text;
        DType dtype;
        const Dim *dim;
        struct {
            AstOp op;
            const Dim *a, *b;
        } relation;
        ValueList list;
        NodeId node;
    };
};

static inline Value dsl_value_error(void) { return (Value){.kind = VALUE_error}; }
static inline Value dsl_value_none(void) { return (Value){.kind = VALUE_none}; }
static inline Value dsl_value_bool(bool flag) { return (Value){.kind = VALUE_bool, .flag = flag}; }
static inline Value dsl_value_int(int64_t i) { return (Value){.kind = VALUE_int, .integer = i}; }
static inline Value dsl_value_float(double x) { return (Value){.kind = VALUE_float, .number = x}; }
static inline Value dsl_value_string(Str s) { return (Value){.kind = VALUE_string, .text = s}; }
static inline Value dsl_value_dtype(DType d) { return (Value){.kind = VALUE_dtype, .dtype = d}; }
Value dsl_value_dim(const Dim *dim); /* an int where it is constant */

/* An error value for NODE_none. */
Value dsl_value_node(NodeId node);

static inline bool dsl_value_is_number(const Value *value) {
    return value->kind == VALUE_int || value->kind == VALUE_float;
}

/* An int or a dim, as a Dim; NULL for anything else. */
const Dim *dsl_value_as_dim(IrContext *ctx, const Value *value);

/* Whether the value needs a tensor to work with: tensors themselves, dims and undecided relations.
 */
static inline bool dsl_value_is_runtime(const Value *value) {
    return value->kind == VALUE_tensor || value->kind == VALUE_dim || value->kind == VALUE_relation;
}

/* The bytes that tell values apart, for the memo of calls. */
void dsl_value_key(Buf *buf, const Value *value);

/* What the value is, for messages: "f32[N, 3]", "a string", "None". */
const char *dsl_value_text(Arena *arena, const Graph *graph, const Value *value);

#endif
