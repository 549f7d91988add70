/* How a kernel runs: records, warps, CTAs. What every handler of an instruction sees.
 *
 * A register is 32 lanes wide. It lives at an offset of a frame's register file: 32 words of 4
 * bytes (8-, 16- and 32-bit registers, the value in the low bits), 32 words of 8 bytes, or, of
 * 128 bits, 32 low words of 8 bytes and then 32 high ones. A predicate is one 32-bit mask. A slot
 * names such a place: two bits say of which of the warp's `bases` it is an offset, so that
 * registers, constants, special registers and predicates are all read the same way.
 *
 * A handler executes one record for the lanes of a mask, and nothing else: the guard was applied,
 * and the program counter already stands at the next record. README.md teaches the rest. */
#ifndef TCC_EMULATOR_MACHINE_EXECUTE_H
#define TCC_EMULATOR_MACHINE_EXECUTE_H

#include "emulator/machine/observe.h"

#include <pthread.h>
#include <stdatomic.h>

enum { EMU_LANES = 32, EMU_WARPS = 32, EMU_BARRIERS = 16 };

/* What is in registers and memory that nobody wrote, and in predicates. */
enum { EMU_POISON = 0xff, EMU_POISON_PREDICATE = 0x5a };

/* Bytes of local memory that a thread can have, and its stack when a program calls indirectly or
 * recursively; and how deeply it may call. */
enum { EMU_LOCAL_LIMIT = 512 * 1024, EMU_STACK = 16 * 1024, EMU_DEPTH = 4096 };

typedef struct Warp Warp;
typedef struct Cta Cta;
typedef struct Record Record;
typedef struct Program Program;
typedef struct Worker Worker;
typedef struct Launch Launch;

/* What the run loop does after a record. */
typedef enum Step {
    STEP_next,   /* the next record, at warp->pc */
    STEP_switch, /* the lanes split, ended or wait: choose a fragment */
    STEP_yield,  /* let other warps run: nanosleep, a wait that failed */
    STEP_fault   /* the launch ends: warp_fault was called */
} Step;

typedef Step Handler(Warp *warp, const Record *record, uint32_t lanes);

/* Slots. */
enum { BASE_registers, BASE_constants, BASE_specials, BASE_predicates, BASE_count };
#define SLOT_OFFSET 0x3fffffffu
#define SLOT(base, offset) ((uint32_t)(base) << 30 | (uint32_t)(offset))

/* The guard of records without one: the first constant of every program, true in all lanes. */
#define SLOT_always SLOT(BASE_constants, 0)

/* Options of a record, from modifiers. */
enum {
    OPTION_ftz = 1,
    OPTION_sat = 2,
    OPTION_rounding = 12, /* two bits: 0 rn, 4 rz, 8 rm, 12 rp */
    OPTION_nan = 16,
    OPTION_relu = 32,
    OPTION_xorsign = 64,
    OPTION_carry_out = 128, /* .cc */
    OPTION_invert_c = 256,  /* the predicate operand is !c; invert_a, invert_b of logic */
    OPTION_invert_a = 512,
    OPTION_invert_b = 1024,
    OPTION_address32 = 2048, /* the address register has 32 bits */
    OPTION_signed = 4096,    /* what is loaded is extended by its sign */
    OPTION_strong = 8192     /* relaxed, acquire, release, volatile: one access each lane */
};

/* One decoded instruction: 64 bytes. */
struct Record {
    Handler *run;
    uint32_t guard, guard_flip; /* lanes that take part: *slot(guard) ^ guard_flip */
    uint32_t slot[6];           /* destinations, then sources: see the handler's form */
    const uint32_t *list;       /* more slots, of vectors; may be NULL */
    uint64_t immediate;
    uint16_t options;
    uint16_t function;    /* of program->functions */
    uint32_t instruction; /* of that function */
};

/* An activation of a function: its registers, and where its lanes go on when they return. */
typedef struct Frame {
    struct Frame *caller;
    uint8_t *registers, *predicates;
    uint32_t *defined; /* of full checks: a mask of lanes by 128 bytes of registers, else NULL */
    uint32_t *defined_predicates;
    uint32_t function;
    uint32_t lanes; /* that have not returned or exited */
    uint32_t return_pc, depth;
    uint64_t local; /* where its local variables begin in every lane's local memory */
    uint64_t top;   /* where they end, and what alloca gave */
} Frame;

/* What bar.red gives: true predicates, and whether all and any are. */
typedef struct Reduction {
    uint16_t popc;
    bool all, any;
} Reduction;

/* Lanes of a warp that stand at one place. */
typedef enum Wait {
    WAIT_none,
    WAIT_lanes,  /* for the lanes of `need` to come to the same place */
    WAIT_live,   /* for all lanes that have not exited to come to the same place */
    WAIT_barrier /* for other warps, at barrier `key` */
} Wait;

typedef struct Fragment {
    Frame *frame;
    uint32_t lanes, pc;
    uint32_t need, key; /* of what it waits for */
    Wait wait;
    Reduction reduction;
    bool passes;    /* what it waited for has come: the record at pc runs again, and goes on */
    uint64_t since; /* the warp's step when it was put aside */
} Fragment;

struct Warp {
    uint8_t *bases[BASE_count];
    /* The fragment that runs. */
    uint32_t pc, active;
    Frame *frame;
    Reduction reduction; /* of the barrier that it passes */
    bool passing;        /* Fragment.passes, until the record has seen it */
    bool fair;           /* it runs out of turn, so that every lane makes progress */
    uint32_t limit;      /* at this pc or beyond, choose again: another fragment may stand there */
    uint64_t turn;       /* the step at which another fragment has its turn */
    uint32_t born;       /* lanes that the block gave it */
    uint32_t live;       /* lanes that have not exited */
    uint32_t carry;      /* CC.CF of each lane */
    uint32_t index;      /* in the CTA */
    uint32_t undefined;  /* of full checks: lanes that just loaded what nobody wrote */
    uint32_t fragment_count;
    bool polling;  /* its last step was a wait that failed */
    bool blocked;  /* nothing of it can run until a barrier completes */
    bool finished; /* no lane is live */
    Cta *cta;
    Worker *worker;
    const Program *program;
    uint64_t steps;
    uint8_t *local; /* local memory: lane i at local + i * program->local_stride */
    void *async;    /* what the asynchronous instructions keep of the warp */
    Frame entry_frame;
    Fragment others[EMU_LANES];
};

static inline void *warp_slot(const Warp *warp, uint32_t slot) {
    return warp->bases[slot >> 30] + (slot & SLOT_OFFSET);
}

/* The lanes of a predicate. */
static inline uint32_t warp_predicate(const Warp *warp, uint32_t slot) {
    return *(const uint32_t *)(const void *)warp_slot(warp, slot);
}

static inline void warp_predicate_set(const Warp *warp, uint32_t slot, uint32_t lanes,
                                      uint32_t value) {
    uint32_t *predicate = warp_slot(warp, slot);
    *predicate = (*predicate & ~lanes) | (value & lanes);
}

/* Generic addresses below EMU_WINDOWS are global; the windows of the other spaces lie above every
 * address that a process can have. */
#define EMU_WINDOW_shared (UINT64_C(1) << 56)
#define EMU_WINDOW_local (UINT64_C(2) << 56)
#define EMU_WINDOW_param (UINT64_C(3) << 56)
#define EMU_WINDOW_function (UINT64_C(4) << 56) /* addresses of functions; no memory */
#define EMU_WINDOW_size (UINT64_C(1) << 32)
#define EMU_WINDOWS (UINT64_C(1) << 56)

/* A named barrier of a CTA, in one of its phases. Warps arrive as 32 threads each. */
typedef struct Barrier {
    uint32_t expected; /* threads; 0: all warps that have not ended */
    uint32_t arrived;
    uint32_t came, waiting; /* warps, a bit each */
    bool used, reduces;     /* somebody came in this phase; with a reduction */
    uint32_t popc, lanes;   /* of bar.red: predicates that are true, and lanes that brought one */
} Barrier;

struct Cta {
    Launch *launch;
    Worker *worker;
    uint32_t index[3];
    uint32_t warp_count, thread_count, finished_warps;
    uint32_t live_threads;
    bool used;      /* another CTA had this memory before */
    uint64_t age;   /* instructions that it was given so far */
    uint32_t turn;  /* of the next warp */
    uint32_t polls; /* turns in which nothing but polling was done */
    Warp *warps;
    uint8_t *shared; /* byte of shared offset 0; valid from shared_first to shared_end */
    uint32_t shared_first, shared_end;
    Barrier barriers[EMU_BARRIERS];
    ObserverCta *observer;
    void *async; /* what the asynchronous instructions keep of the CTA */
};

/* A stretch of global memory in which an access was found good. */
typedef struct View {
    uint64_t first, end;
    uint8_t *bytes;
    bool read_only;
} View;

enum { EMU_VIEWS = 16 };

/* A host thread of a launch, and what it reuses from CTA to CTA. */
struct Worker {
    Launch *launch;
    View views[EMU_VIEWS];
    uint64_t *counts; /* executions by record, as differences to the record before */
    uint64_t lane_steps;
    EmuCounters counters;
    uint64_t random; /* state of the random orders */
    Observer *deep;  /* the observer when events are wanted, else NULL */
};

/* A variable of a function that every lane of every activation has: .local, and the .param of
 * functions and of calls. */
typedef struct ProgramLocal {
    const PtxVariable *variable;
    uint64_t offset; /* from the frame's `local` */
} ProgramLocal;

/* A function of a program: entry first. */
typedef struct ProgramFunction {
    const PtxFunction *function;
    uint32_t number;       /* of its address, EMU_WINDOW_function + 16 * number */
    uint32_t first, count; /* records */
    uint32_t register_bytes, predicate_count; /* of a frame */
    uint32_t local_bytes, local_align;        /* of an activation */
    const ProgramLocal *locals;
    uint32_t local_count;
} ProgramFunction;

/* A special register that the program reads: where its lanes are in the warp's block of them. */
typedef struct ProgramSpecial {
    uint8_t special, component;
    uint32_t offset;
} ProgramSpecial;

/* What a register-checking run needs to know of a record. */
typedef struct Effects {
    uint32_t first;                    /* of program->effect_slots: `reads` slots, then `writes` */
    uint16_t reads, writes, addresses; /* the first `addresses` reads are of an address */
    uint8_t kind;                      /* EffectKind */
} Effects;

typedef enum EffectKind {
    EFFECT_plain,
    EFFECT_branch, /* the guard decides where the lanes go */
    EFFECT_store,  /* to memory that others read: a source that was never written matters */
    EFFECT_operand /* of a tensor product, which mixes the lanes */
} EffectKind;

/* An entry, decoded with every function it can reach. Immutable. */
struct Program {
    const PtxFunction *entry;
    const Record *records;
    uint32_t record_count;
    const ProgramFunction *functions;
    uint32_t function_count;
    uint8_t *constants;
    const ProgramSpecial *specials;
    uint32_t special_count, special_bytes;
    const Effects *effects;
    const uint32_t *effect_slots;
    uint32_t shared_first, shared_end; /* where the static variables lie, */
    uint32_t shared_static;            /* how much they take on a device, */
    uint32_t shared_dynamic;           /* and where dynamic shared memory begins */
    const ObserveVariable *shared;
    uint32_t shared_count;
    uint32_t local_stride;            /* bytes of local memory a lane has */
    bool calls_indirectly, has_stack; /* has_stack: alloca is used */
    uint32_t registers;               /* an estimate of those a thread needs */
};

struct Launch {
    EmuDevice *device;
    const Program *program;
    const EmuModule *module;
    const EmuLaunch *what;
    EmuOptions options;
    const EmuReporter *reporter;
    Observer *observer; /* NULL: checks are off */
    const uint8_t *parameters;
    uint64_t grid_id;
    uint64_t cta_count;
    uint32_t shared_end;   /* of every CTA */
    uint32_t shared_bytes; /* that a CTA takes on a device */
    uint32_t warp_count;   /* of a CTA */
    atomic_int status;     /* EmuStatus; what is not EMU_OK ends the launch */
    atomic_ullong next_cta, steps;
    pthread_mutex_t print_lock;
};

/* Tells a fault; the first lane of `lanes` is named. `text` may be NULL. Returns STEP_fault, or
 * STEP_next where the options let the launch go on. */
Step warp_fault(Warp *warp, const Record *record, EmuFindingKind kind, uint32_t lanes,
                uint64_t address, uint32_t size, const char *text);
/* The same for what the machine cannot go on after: always STEP_fault. */
Step warp_fatal(Warp *warp, const Record *record, EmuFindingKind kind, uint32_t lanes,
                uint64_t address, uint32_t size, const char *text);

/* Who executes `record`, for the observer. */
ObserveSite warp_site(const Warp *warp, const Record *record, uint32_t lanes);

/* What .sync handlers begin with: whether the lanes of `need` are all here; of WAIT_live, all that
 * live, and `need` is then the barrier's number + 1 where lanes may come at different places, else
 * 0. Lanes that wait here for the same are added to *lanes. If some are missing still, all wait at
 * this record, and the handler returns the step that is put into *out_step. */
bool warp_gather(Warp *warp, const Record *record, uint32_t *lanes, Wait wait, uint32_t need,
                 Step *out_step);

#endif
