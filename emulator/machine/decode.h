/* From a parsed function to records: what the files of the decoder share. decode.c goes over the
 * instructions, select.c finds the form of each, slots.c turns operands into slots, layout.c gives
 * the variables their places. */
#ifndef TCC_EMULATOR_MACHINE_DECODE_H
#define TCC_EMULATOR_MACHINE_DECODE_H

#include "base/map.h"
#include "base/vec.h"
#include "emulator/machine/forms.h"

/* Forms by row. */
typedef struct FormIndex {
    const Form **forms; /* grouped by row, in the order of the tables */
    uint32_t first[PTX_row_count + 1];
} FormIndex;

const FormIndex *form_index_new(Arena *arena);

/* The form that fits; NULL: none. *out_options gets what its modifiers ask for. */
const Form *form_find(const FormIndex *index, const PtxInstruction *instruction,
                      uint16_t *out_options);

/* What a module gives its programs. */
typedef struct DecodeInput {
    Arena *arena;
    const FormIndex *index;
    const PtxModule *module;
    const EmuModel *model;
    const Map *addresses; /* of global and const variables, by pointer to the PtxVariable */
    Buf *log;             /* gets the error */
} DecodeInput;

/* Decodes an entry and what it calls. NULL: the log says why not. */
const Program *decode_program(const DecodeInput *input, const PtxFunction *entry);

/* Addresses of functions; ~0: no function of the module. */
uint32_t decode_function_number(const PtxModule *module, const PtxFunction *function);

/* Where a label stands in a record until the function is decoded. */
typedef enum FixupKind { FIXUP_immediate, FIXUP_list } FixupKind;
typedef struct Fixup {
    uint32_t record;
    FixupKind kind;
} Fixup;

typedef struct Temporaries {
    VEC(uint32_t) slots;
    uint32_t used;
} Temporaries;

/* Constants by width and value, found by hash. */
typedef struct PoolItem {
    uint64_t value, hash;
    uint32_t width, at;
} PoolItem;
typedef struct ConstantPool {
    VEC(PoolItem) items;
    uint32_t *table; /* number of an item + 1 */
    uint32_t slots, count;
} ConstantPool;

struct Decoder {
    const DecodeInput *input;
    Arena *arena;
    Program *program;
    bool failed;
    /* The program. */
    VEC(Record) records;
    VEC(Effects) effects;
    VEC(uint32_t) effect_slots;
    VEC(ProgramSpecial) specials;
    uint8_t *constants;
    uint32_t constant_bytes, constant_capacity;
    ConstantPool pool;
    /* The function. */
    ProgramFunction *function;
    uint32_t function_number;
    uint32_t *register_slots; /* by register; ~0: not used yet */
    uint32_t *record_of;      /* by instruction */
    VEC(Fixup) fixups;
    Temporaries temporaries[4]; /* by Width */
    /* The instruction. */
    const PtxInstruction *instruction;
    uint32_t instruction_index;
    uint32_t guard, guard_flip;
    VEC(uint32_t) reads;
    VEC(uint32_t) address_reads;
    VEC(uint32_t) writes;
    VEC(Record) after; /* records that follow: extensions into wider registers */
    EffectKind effect;
};

/* layout.c: every function that the entry reaches, with its local variables; shared variables. */
void layout_program(Decoder *decoder, const PtxFunction *entry);
/* The place of a variable of a frame (.local, and .param but for an entry's parameters). */
bool layout_local(const ProgramFunction *function, const PtxVariable *variable,
                  uint64_t *out_offset);
bool layout_shared(const Program *program, const PtxVariable *variable, uint32_t *out_offset);
const ProgramFunction *layout_function(const Program *program, const PtxFunction *function);
bool layout_is_parameter(const PtxFunction *entry, const PtxVariable *variable);

/* slots.c: */
uint32_t slots_register(Decoder *decoder, uint32_t number);
uint32_t slots_scratch(Decoder *decoder, Width width);
Width slots_width(const Decoder *decoder, const PtxOperand *operand);
/* The address of a variable in its own space, as a constant or, of a frame's, in a scratch slot. */
uint32_t slots_variable(Decoder *decoder, const PtxVariable *variable, int64_t offset, Width width);
/* Puts a record that computes an operand before the instruction's. */
void decoder_before(Decoder *decoder, Handler *run, uint32_t target, uint32_t source,
                    uint64_t immediate);
void decoder_fixup(Decoder *decoder, FixupKind kind);

/* Handlers of records that the decoder adds: move.c and special.c. */
Handler move_narrow, move_widen, move_sign_extend, move_frame_address_32, move_frame_address_64;
Handler special_read, control_end, call_return;

#endif
