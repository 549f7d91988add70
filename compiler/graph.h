/* What the files of a graph that is built call by call share (include/tcc/graph.h). */
#ifndef TCC_COMPILER_GRAPH_H
#define TCC_COMPILER_GRAPH_H

#include "compiler/session.h"
#include "frontend/dsl/live.h"

#include <tcc/graph.h>

/* A value that the host was given. */
typedef struct GraphValue {
    LiveOperand operand;
    Str label;
    bool is_numbered;           /* the label is not the host's but of this value alone */
    const LiveSubscript *slice; /* of tcc_graph_slice */
} GraphValue;

struct tcc_graph {
    tcc_compiler *compiler;
    Arena *arena; /* of everything here */
    IrContext *ctx;
    Diags *diags;
    WeightTable *weights;
    Live *live;
    Str name;
    uint32_t tag; /* the upper half of its values */
    VEC(GraphValue) values;
    Map files;       /* of diags, by path and label */
    Str label, file; /* for the next call */
    uint32_t line;
    bool spoilt;       /* memory ran out in a call, or we have a bug: nothing more is built */
    bool lacks_output; /* one could not be added */
    char first[MESSAGE_SIZE]; /* what the first call said whose value an output lacks */
    Arena *text;              /* of tcc_graph_text */
};

/* A call on a graph. `make` gives the value, VALUE_error after a report. */
typedef struct GraphCall GraphCall;
struct GraphCall {
    tcc_graph *graph;
    Value (*make)(GraphCall *call);
    const char *what;        /* the name, function or operator, which is the label of what has none;
                                NULL: no label is taken */
    bool is_named;           /* what it makes has that as its name, not a number behind it */
    bool takes_slices;       /* among its operands */
    bool makes_nothing;      /* but says whether it succeeded */
    const tcc_value *values; /* its operands */
    uint32_t value_count;
    LiveOperand *operands;      /* the same, once they are looked up */
    const void *more;           /* what else the call has */
    const LiveSubscript *slice; /* what it makes, of tcc_graph_slice */
    Value *inner;               /* what a block is opened with */
    uint32_t inner_count;
    tcc_value *out_inner;
};

/* Makes a value; TCC_NO_VALUE after a failure. */
tcc_value graph_make(GraphCall *call);
/* The same, for calls that have a status. */
tcc_status graph_do(GraphCall *call);

/* A pointer that is NULL where it may not be: its name is told to the graph's compiler. */
tcc_value graph_refuse_value(tcc_graph *graph, const char *name);
tcc_status graph_refuse(tcc_graph *graph, const char *name);
/* Whether there is such a dtype. */
static inline bool graph_has_dtype(int64_t dtype) { return dtype >= 0 && dtype < DT_count; }

/* A call that makes no value, with the place set. */
tcc_status graph_enter(tcc_graph *graph, tcc_status (*body)(void *data), void *data);
/* The place of what is made, under a label that may be empty. */
Loc graph_place(tcc_graph *graph, Str label);
/* The value's entry; NULL when it is none of the graph's. */
const GraphValue *graph_value(const tcc_graph *graph, tcc_value value);

/* A tensor of the host's as one of the graph's weights; NULL after a report at `loc`. */
Weight *graph_take_tensor(tcc_graph *graph, Loc loc, Str name, const tcc_tensor *tensor);

/* graph_compile.c: the model as a graph of the context, with its files in `diags`, which has none
 * yet. NULL after diagnostics. */
Graph *graph_bring(const tcc_graph *graph, IrContext *ctx, Arena *arena, Diags *diags,
                   const Options *options);
/* compile.c: tcc_compile_graph in two steps: what is the graph's compiler's, and what is not. */
tcc_status check_whole_graph(tcc_compiler *compiler, tcc_graph *graph);
tcc_status compile_whole_graph(tcc_compiler *compiler, tcc_graph *graph, tcc_unit **out_unit);

/* Whether it can be compiled; tells the graph's compiler what is not so. */
bool graph_is_whole(tcc_graph *graph);

#endif
