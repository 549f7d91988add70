/* Formulas over the columns of a table, such as  price * (1 + tax) if qty > 3 else price.
 *
 *     formula = or [ "if" or "else" formula ]
 *     or      = and { "or" and }          and = not { "and" not }      not = "not" not | compare
 *     compare = sum [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) sum ]
 *     sum     = product { ( "+" | "-" ) product }
 *     product = sign { ( "*" | "/" | "//" | "%" ) sign }               sign = "-" sign | power
 *     power   = atom [ "**" sign ]
 *     atom    = number | column | function "(" formula { "," formula } ")" | "(" formula ")"
 *
 * There is no tree: each part is made on the graph when it has been read. What a function is, which
 * types go together and what shapes come out, tcc knows. */
#ifndef EMBED_FORMULA_H
#define EMBED_FORMULA_H

#include "table.h"

#include <tcc/graph.h>

/* Adds the formula to the graph; columns[i] is the value of column i of the table. TCC_NO_VALUE
 * after a failure: `message` tells it when it is one of the text, tcc_message when it is the
 * graph's. */
tcc_value formula_build(tcc_graph *graph, const Table *table, const tcc_value *columns,
                        const char *text, char *message, size_t size);

#endif
