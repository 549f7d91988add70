/* Calls: where arguments and results are, for functions of the program and for the built-in
 * ones. */
#ifndef TCC_EMULATOR_MACHINE_CALL_H
#define TCC_EMULATOR_MACHINE_CALL_H

#include "emulator/machine/execute.h"

/* An argument or result in the caller. In record->list: results, arguments, then two words each. */
typedef enum PassKind { PASS_memory, PASS_word, PASS_long } PassKind;
typedef struct Pass {
    PassKind kind;
    uint32_t place; /* offset from the frame's `local`, or a slot */
} Pass;

uint32_t call_results(const Record *record);
uint32_t call_arguments(const Record *record);
Pass call_result(const Record *record, uint32_t index);
Pass call_argument(const Record *record, uint32_t index);

/* One lane's argument or result of at most 8 bytes. */
uint64_t call_read(const Warp *warp, Pass pass, int lane, uint32_t size);
void call_write(Warp *warp, const Record *record, Pass pass, int lane, uint32_t size,
                uint64_t value);

/* builtin.c: the handler of an external function; NULL: none of that name. */
Handler *builtin_handler(Str name);

#endif
