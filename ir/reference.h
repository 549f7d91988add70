/* The op reference: what ops.def says, as a document. */
#ifndef TCC_IR_REFERENCE_H
#define TCC_IR_REFERENCE_H

#include "base/str.h"

/* All ops as Markdown: a section a class, an entry an op with its operands, attributes, dtypes,
 * formula, meaning and error bound. */
void print_op_reference(Buf *buf);

#endif
