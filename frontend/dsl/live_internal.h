/* What live.c and block.c share. */
#ifndef TCC_FRONTEND_DSL_LIVE_INTERNAL_H
#define TCC_FRONTEND_DSL_LIVE_INTERNAL_H

#include "frontend/dsl/live.h"
#include "frontend/dsl/sema.h"

/* A node of the block around, which came in as an input. */
typedef struct Capture {
    NodeId outer, inner;
} Capture;

/* A block's nodes and results, and what came in behind the inputs that it was opened with. */
typedef struct Body {
    Graph *graph;
    uint32_t given; /* inputs */
    VEC(Capture) captures;
    Map by_outer; /* index into captures + 1 */
} Body;

/* What is undone when a call fails. */
typedef struct LiveMark {
    size_t errors, checks, model_checks, params, module_params;
} LiveMark;

typedef enum LiveKind { LIVE_cond, LIVE_loop, LIVE_scan } LiveKind;

typedef struct LiveBlock {
    struct LiveBlock *outer;
    uint32_t number;
    LiveKind kind;
    bool second;
    LiveMark before;      /* it was opened */
    const Origin *origin; /* of the call that opened it */
    Body first, body;     /* `first` once that is closed */
    Map outer_memo;
    NodeId *args; /* of the block around: the condition, or what is carried, then sequences */
    uint32_t arg_count, carried;
    int64_t limit;
    bool reverse;
} LiveBlock;

struct Live {
    Sema sema;
    DslOptions options;
    Frame frame;
    AstFile file;
    Ast model;
    Graph *graph;              /* the model's */
    VEC(Graph *) block_graphs; /* by their numbers, from 1 */
};

/* The value as one of the block that is open; VALUE_error after a report, when it belongs to a
 * block that was closed. */
Value live_reach(Live *live, const LiveOperand *operand);

LiveMark live_begin(Live *live);
/* False when something was reported since. */
bool live_end(Live *live, const LiveMark *mark);
/* Takes back what was declared and asked for since, in the block that was open then. */
void live_undo(Live *live, const LiveMark *mark);

#endif
