/* graph.h: models built call by call, for hosts that have no text of their own: a query planner, a
 * game, a spreadsheet. It is a header beside tcc.h, since who compiles files needs none of it.
 *
 *     tcc_graph *g;
 *     tcc_graph_new(compiler, "report", &g);
 *     tcc_value rows = tcc_graph_dim(g, "N", 0, 1000000, 10000);
 *     tcc_value price = tcc_graph_input(g, "price", TCC_F32, &rows, 1);
 *     tcc_value twice = tcc_graph_binary(g, "*", price, tcc_graph_int(g, 2));
 *     tcc_graph_output(g, "twice", twice);
 *     tcc_compile_graph(compiler, g, &unit);
 *
 * A graph belongs to the thread of its compiler, which it keeps alive; it and its units are freed
 * in any order. It may be compiled many times, by other compilers too, and may grow in between.
 *
 * Each call is checked at once, as a statement of the language would be (docs/language.md): its
 * value's type is known from then on, and what is wrong goes to the compiler's diagnostics, with
 * the host's own label and place, and to tcc_message. A call that fails gives TCC_NO_VALUE and
 * leaves the graph as it was. TCC_NO_VALUE may be passed on: what is made of it is TCC_NO_VALUE
 * too, without a further word, so that a host may check once, at tcc_graph_output or
 * tcc_compile_graph, and the message is still that of the first call that failed.
 *
 * Values are numbers that name a value of one graph; those of another graph are refused. The same
 * calls make the same graph, with the same text.
 */
#ifndef TCC_GRAPH_H
#define TCC_GRAPH_H

#include <tcc/tcc.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tcc_graph tcc_graph;

/* A tensor, or what is known while the graph is built: a number, a dim, a string, a dtype, a
 * list. */
typedef uint64_t tcc_value;
#define TCC_NO_VALUE ((tcc_value)0)

TCC_API tcc_status tcc_graph_new(tcc_compiler *compiler, const char *name, tcc_graph **out_graph);
TCC_API void tcc_graph_free(tcc_graph *graph); /* NULL is allowed */

/* ---- labels and places ----------------------------------------------------------------------- */

/* The host's name for what the next call makes: it stands in messages and in what is said of the
 * compiled model. Calls for what is known while the graph is built, of numbers, strings and the
 * like, leave it to the one behind them. Without a label a value is called by what made it and its
 * number, "softmax#7". NULL: none. */
TCC_API void tcc_graph_label(tcc_graph *graph, const char *label);

/* The host's name for a value that was made before; what is said of it from then on has that. A
 * label that the host gave to the call that made it stays in what was compiled of it. */
TCC_API tcc_status tcc_graph_rename(tcc_graph *graph, tcc_value value, const char *label);

/* Where the host is: a file of the host and a line in it, of the calls that follow, until it is set
 * again. A line of 0: only the file. NULL: nowhere. */
TCC_API void tcc_graph_place(tcc_graph *graph, const char *file, uint32_t line);
#define TCC_GRAPH_HERE(graph) tcc_graph_place((graph), __FILE__, (uint32_t)__LINE__)

/* ---- what a model is made of ----------------------------------------------------------------- */

/* A dim of that name, which takes its value from an axis of an input and lies in lo..hi, both
 * included; `tune` is the value that costs are estimated for. With lo == hi it is that number. What
 * the option D of the graph's compiler says of that name by now narrows it from the start, so that
 * types which are too large for the whole range can be made. */
TCC_API tcc_value tcc_graph_dim(tcc_graph *graph, const char *name, int64_t lo, int64_t hi,
                                int64_t tune);

/* An input. `dims` are `rank` whole numbers and dims, or what is computed of these; NULL is allowed
 * for rank 0. */
TCC_API tcc_value tcc_graph_input(tcc_graph *graph, const char *name, tcc_dtype dtype,
                                  const tcc_value *dims, uint32_t rank);

/* A parameter by its full name, such as "fc1.weight"; it gets its value from tcc_graph_weight, or
 * from the option "params" when it is compiled. `dims` may be NULL for rank 0. */
TCC_API tcc_value tcc_graph_param(tcc_graph *graph, const char *name, tcc_dtype dtype,
                                  const int64_t *dims, uint32_t rank);

/* The value of the parameter with that full name, of tcc_graph_param or of a function such as
 * linear; before or after it is declared, once. The bytes are copied; the tensor is on the CPU, its
 * strides are honoured. A tensor that no parameter takes is warned of when the graph is compiled.
 * NULL takes a value back that came behind the declaration, so that another can be given. */
TCC_API tcc_status tcc_graph_weight(tcc_graph *graph, const char *name, const tcc_tensor *tensor);

/* A constant tensor of any size. The bytes are copied. */
TCC_API tcc_value tcc_graph_constant(tcc_graph *graph, const tcc_tensor *tensor);

/* Names an output, which has the type of its value; a number becomes a scalar. A graph that an
 * output could not be added to is not compiled. */
TCC_API tcc_status tcc_graph_output(tcc_graph *graph, const char *name, tcc_value value);

/* ---- what is known while the graph is built -------------------------------------------------- */

/* Numbers take the dtype of the tensor that they meet; with none a float becomes f32 and a whole
 * number i64. None stands for an argument that is not given, and in subscripts for a new axis. */
TCC_API tcc_value tcc_graph_int(tcc_graph *graph, int64_t number);
TCC_API tcc_value tcc_graph_float(tcc_graph *graph, double number);
TCC_API tcc_value tcc_graph_bool(tcc_graph *graph, int truth);
TCC_API tcc_value tcc_graph_string(tcc_graph *graph, const char *text);
TCC_API tcc_value tcc_graph_dtype(tcc_graph *graph, tcc_dtype dtype);
TCC_API tcc_value tcc_graph_none(tcc_graph *graph);
TCC_API tcc_value tcc_graph_list(tcc_graph *graph, const tcc_value *items, uint32_t count);
TCC_API tcc_value tcc_graph_ints(tcc_graph *graph, const int64_t *numbers, uint32_t count);

/* ---- operators, functions -------------------------------------------------------------------- */

/* An operator as the language writes it: "-" and "not"; "+ - * / // % ** @ == != < <= > >= and or",
 * one of these. Shapes are broadcast as NumPy does. */
TCC_API tcc_value tcc_graph_unary(tcc_graph *graph, const char *op, tcc_value a);
TCC_API tcc_value tcc_graph_binary(tcc_graph *graph, const char *op, tcc_value a, tcc_value b);

/* A call of a function of the language (tcc_reference, "functions"); a dtype's name is a cast. */
typedef struct tcc_call {
    uint32_t size; /* of this struct */
    const char *function;
    const tcc_value *args; /* may be NULL when there are none */
    const char *const
        *names; /* of args; NULL, or NULL within, for those by position: these first */
    uint32_t arg_count;
    const char *scope; /* prefixes the names of the parameters declared in the call; may be NULL */
} tcc_call;
TCC_API tcc_value tcc_graph_call(tcc_graph *graph, const tcc_call *call);

/* The same with `count` arguments by position. */
TCC_API tcc_value tcc_graph_apply(tcc_graph *graph, const char *function, const tcc_value *args,
                                  uint32_t count);

/* The i-th result of a call with several, or item of a list. */
TCC_API tcc_value tcc_graph_item(tcc_graph *graph, tcc_value of, uint32_t index);

/* "shape" (a list of numbers and dims), "dtype", "T" (the last two axes swapped). */
TCC_API tcc_value tcc_graph_member(tcc_graph *graph, tcc_value of, const char *name);

/* of[subscripts]: whole numbers and dims are indices, values of tcc_graph_slice are slices, none is
 * a new axis. Axes that are not mentioned are taken whole. */
TCC_API tcc_value tcc_graph_index(tcc_graph *graph, tcc_value of, const tcc_value *subscripts,
                                  uint32_t count);
/* start:stop:step; none for what is left out. For tcc_graph_index alone. */
TCC_API tcc_value tcc_graph_slice(tcc_graph *graph, tcc_value start, tcc_value stop,
                                  tcc_value step);

/* ---- blocks: control that runs in the model -------------------------------------------------- */

/* A block is open from its begin to its end; what is made in between is its own and ends with it.
 * Values from outside may be used inside. Blocks may stand in blocks. Their ends give one value, or
 * several for tcc_graph_item. A begin that fails opens nothing; a block whose results are refused
 * stays open, one whose op is refused (its sides have different types) is closed.
 *
 *     tcc_graph_begin_cond(g, condition);       if condition, a bool scalar, x * 2, else x
 *     y = tcc_graph_binary(g, "*", x, two);
 *     tcc_graph_else(g, &y, 1);
 *     z = tcc_graph_end(g, &x, 1);
 */
TCC_API tcc_status tcc_graph_begin_cond(tcc_graph *graph, tcc_value condition);
TCC_API tcc_status tcc_graph_else(tcc_graph *graph, const tcc_value *results, uint32_t count);

/* Repeats a body while a condition holds, at most `limit` times. `out_carried` receives the carried
 * values within the block that is opened: first that of the condition, which tcc_graph_do closes,
 * then the body, whose results are the carried values of the next step. The end gives the last. */
TCC_API tcc_status tcc_graph_begin_loop(tcc_graph *graph, const tcc_value *carried, uint32_t count,
                                        int64_t limit, tcc_value *out_carried);
TCC_API tcc_status tcc_graph_do(tcc_graph *graph, tcc_value condition, tcc_value *out_carried);

/* Goes along axis 0 of the sequences, whose lengths are equal; from the end if `reverse`. The body
 * gets the carried values and one slice of each sequence (out_carried, out_slices); its first
 * results are the next carried values, the others are stacked. The end gives the last carried
 * values and the stacks. `carried` and `out_carried` may be NULL when there are none. */
TCC_API tcc_status tcc_graph_begin_scan(tcc_graph *graph, const tcc_value *carried, uint32_t count,
                                        const tcc_value *sequences, uint32_t sequence_count,
                                        int reverse, tcc_value *out_carried, tcc_value *out_slices);

TCC_API tcc_value tcc_graph_end(tcc_graph *graph, const tcc_value *results, uint32_t count);

/* How many blocks are open, and the end of the innermost without results, for hosts whose block
 * failed halfway: what was made in it is gone, and with it the names of its parameters. After a
 * call that ran out of memory no further one on the graph succeeds, and no block is open. */
TCC_API uint32_t tcc_graph_depth(const tcc_graph *graph);
TCC_API tcc_status tcc_graph_abandon(tcc_graph *graph);

/* ---- what was built -------------------------------------------------------------------------- */

/* `size` is set by the caller to that of the struct that it has. Texts live as long as the
 * graph. */
typedef struct tcc_value_info {
    uint32_t size;
    const char
        *text; /* "f32[N, 3]" of a tensor; others as they are written: "3", "[N, 3]", "f16" */
    const char *label;          /* never NULL */
    int32_t dtype;              /* of a tensor, or what the value is; -1 for others */
    uint32_t rank;              /* of a tensor; how many items a list has */
    int64_t dims[TCC_MAX_RANK]; /* of a tensor; -1 for those that vary */
} tcc_value_info;
TCC_API tcc_status tcc_graph_info(tcc_graph *graph, tcc_value value, tcc_value_info *info);

/* What leads to the outputs, as .tir text (docs/ir.md), which tcc_compile_memory takes. Lives until
 * the next call of this kind on the graph. */
TCC_API tcc_status tcc_graph_text(tcc_graph *graph, const char **out_text, size_t *out_size);

/* Compiles what was built so far, as tcc_compile_file does a file. */
TCC_API tcc_status tcc_compile_graph(tcc_compiler *compiler, tcc_graph *graph, tcc_unit **out_unit);

#ifdef __cplusplus
}
#endif

#endif
