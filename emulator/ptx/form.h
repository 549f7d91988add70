/* Reading the strings of FORM. They are our own: a mistake in one is a bug, not an error. */
#ifndef TCC_EMULATOR_PTX_FORM_H
#define TCC_EMULATOR_PTX_FORM_H

#include "emulator/ptx/grammar.h"

/* The forms of a row in the order of the table, NULL at the end. */
const Form *const *form_read_row(const Grammar *grammar, PtxRow row);

#endif
