/* Text of operands and instructions, for print.c and for reports. */
#ifndef TCC_EMULATOR_PTX_PRINT_H
#define TCC_EMULATOR_PTX_PRINT_H

#include "emulator/ptx/grammar.h"

/* What local names are printed as: those of the text, for reports, or names made from indices,
 * which parse back. `mark` begins all of the latter; no name of the module begins so. */
typedef struct Printer {
    Buf buf;
    Grammar grammar;
    const PtxFunction *function;
    const char *mark; /* NULL: names of the text */
} Printer;

void print_instruction(Printer *printer, const PtxInstruction *instruction);
void print_variable_name(Printer *printer, const PtxVariable *variable);

#endif
