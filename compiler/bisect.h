/* What the files of bisect share: the fault in the making. */
#ifndef TCC_COMPILER_BISECT_H
#define TCC_COMPILER_BISECT_H

#include "compiler/subject.h"

typedef struct Bisect {
    Subject s;
    tcc_bisect_report report;
    Outcome whole; /* how the whole compilation failed */
    Outcome step;  /* how the step that is wrong failed, alone */
} Bisect;

/* Fills in the report with what the outcome says. */
void bisect_found(Bisect *b, tcc_fault_part part, const Outcome *outcome);

/* Whether an outcome is a failure of the step. */
bool bisect_failed(const Outcome *outcome);

/* bisect_pass.c: the first pass after which the graph is another model, or that does not come back;
 * false when there is none. */
bool bisect_passes(Bisect *b);
/* bisect_kernel.c: the kernel that is wrong, and at which level of its lowering. */
bool bisect_kernels(Bisect *b);

#endif
