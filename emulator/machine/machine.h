/* The machine: a device in software that holds memory and modules and runs launches. What the
 * driver (emulator/driver) is written upon; it knows nothing of contexts or CUDA's handles.
 *
 * A launch runs to its end in the call. Launches of one device may run at the same time on
 * different threads. Functions of memory are thread-safe. */
#ifndef TCC_EMULATOR_MACHINE_MACHINE_H
#define TCC_EMULATOR_MACHINE_MACHINE_H

#include "base/str.h"
#include "emulator/machine/memory.h"

/* How a launch or a load ended; the driver maps each to one of CUDA's numbers. */
typedef enum EmuStatus {
    EMU_OK,
    EMU_OUT_OF_MEMORY,
    EMU_INVALID_VALUE, /* dims or parameters of a launch that cannot be */
    EMU_INVALID_PTX,
    EMU_UNSUPPORTED_VERSION, /* .version is too new */
    EMU_NO_BINARY,           /* .target does not run on this device */
    EMU_OUT_OF_RESOURCES,    /* too many threads, too much shared memory */
    EMU_COOPERATIVE_TOO_LARGE,
    EMU_INVALID_CLUSTER,
    EMU_ILLEGAL_ADDRESS,
    EMU_MISALIGNED_ADDRESS,
    EMU_INVALID_SPACE,
    EMU_ILLEGAL_INSTRUCTION, /* undefined use of a warp-wide instruction */
    EMU_ASSERT,
    EMU_LAUNCH_FAILED, /* trap, and findings when they fail launches */
    EMU_TIMEOUT        /* deadlock, or more instructions than allowed */
} EmuStatus;

/* What a device can do; the models are the rows of devices.def. */
typedef struct EmuModel {
    const char *name;   /* "NVIDIA A100-SXM4-80GB" */
    const char *key;    /* "sm_80": what --device=emu:KEY names */
    int major, minor;   /* 8, 0 */
    bool arch_specific; /* modules for sm_XYa of the same XY run */
    int multiprocessors;
    uint64_t memory; /* bytes */
    uint64_t l2;     /* bytes */
    int clock_khz, memory_clock_khz, memory_bus_bits;
    int max_threads_per_block, max_threads_per_multiprocessor, max_blocks_per_multiprocessor;
    int registers_per_block, registers_per_multiprocessor;
    int shared_per_block, shared_per_block_optin, shared_per_multiprocessor, shared_reserved;
    int max_cluster; /* CTAs; 1: no clusters */
} EmuModel;

extern const EmuModel emu_models[];
extern const int emu_model_count;

/* How much is checked. Cheap: each access lies in live memory of its space and is aligned, warp
 * instructions are used as defined, barriers agree, deadlocks are reported. Full: also what was
 * never written, races in shared memory and copies that nobody waited for. */
typedef enum EmuChecks { EMU_CHECKS_off, EMU_CHECKS_cheap, EMU_CHECKS_full } EmuChecks;

/* Which warp runs next, and which fragment of a warp. All are legal on the device. */
typedef enum EmuOrder { EMU_ORDER_round_robin, EMU_ORDER_random, EMU_ORDER_adversarial } EmuOrder;

/* When an asynchronous copy is carried out: at once, when a wait needs it, or in between. */
typedef enum EmuCompletion {
    EMU_COMPLETION_latest,
    EMU_COMPLETION_eager,
    EMU_COMPLETION_random
} EmuCompletion;

/* How the approximate units (ex2.approx ...) err, within what PTX allows: hardly at all, by all of
 * it in a direction that argument and seed choose, upwards, downwards, or by a part that argument
 * and seed choose. */
typedef enum EmuApproximation {
    EMU_APPROXIMATION_best,
    EMU_APPROXIMATION_worst,
    EMU_APPROXIMATION_high,
    EMU_APPROXIMATION_low,
    EMU_APPROXIMATION_random
} EmuApproximation;

typedef struct EmuOptions {
    EmuChecks checks;
    EmuOrder order;
    EmuCompletion completion;
    EmuApproximation approximation;
    uint64_t seed; /* of random orders and errors */
    int workers;   /* host threads that run CTAs; 0: one a core; 1: the same order each time */
    uint64_t step_limit; /* warp instructions of a launch; 0: 2^40 */
    bool exact_tensor;   /* tensor cores sum as the device's do, bit by bit; slow */
    bool findings_fail;  /* a finding that hardware would tolerate fails the launch as well */
} EmuOptions;

/* TCC_EMU_CHECKS=off|cheap|full, TCC_EMU_ORDER, TCC_EMU_COMPLETION, TCC_EMU_SEED,
 * TCC_EMU_WORKERS, TCC_EMU_STEPS, TCC_EMU_APPROX=best|worst|high|low|random,
 * TCC_EMU_TENSOR=exact; what is not set: full checks, and zeros for the rest. Returns NULL, or
 * what is wrong with a value. */
const char *emu_options_from_environment(EmuOptions *out_options);

typedef enum EmuFindingKind { /* rows of check/findings.def: name, severity, status */
#define FINDING(name, text, status) EMU_FINDING_##name,
#include "emulator/check/findings.def"
#undef FINDING
                              EMU_FINDING_count
} EmuFindingKind;

/* One place of a finding: an instruction and who executed it. */
typedef struct EmuPlace {
    uint32_t ptx_line; /* 0: no such place */
    Str instruction;   /* its text */
    Str file;          /* of .loc; empty without */
    uint32_t line, column;
    uint32_t cta[3];
    uint32_t warp, lane;
} EmuPlace;

typedef struct EmuFinding {
    EmuFindingKind kind;
    Str kernel;
    EmuPlace place, other; /* other: the write that a race is with, the copy that was not awaited */
    uint64_t address;
    uint32_t size;
    Str variable; /* "tile+128", "allocation of 4096 bytes + 4100" */
    Str message;  /* the whole report, a line or more, without a newline at its end */
} EmuFinding;

/* Called for each finding once per pair of instructions, from the thread that runs the CTA, never
 * two at a time of one launch. The strings live as long as the call. */
typedef struct EmuReporter {
    void (*finding)(void *user, const EmuFinding *finding);
    void (*print)(void *user, Str text); /* vprintf and __assertfail; NULL: to standard output */
    void *user;
    /* When a launch has ended, for every instruction that ran: its opcode with all that follows a
     * dot ("fma.rn.f32"), its line, and how often it ran. May be told in parts; NULL: not told. */
    void (*executed)(void *user, Str form, uint32_t ptx_line, uint64_t times);
} EmuReporter;

/* What a launch did, in warp instructions unless said otherwise. */
typedef struct EmuCounters {
    uint64_t instructions, lane_instructions;
    uint64_t integer, floats, special, conversion, memory, atomic, barrier, tensor, asynchronous;
    uint64_t global_sectors, global_useful_bytes; /* 32-byte sectors of all requests */
    uint64_t shared_wavefronts, shared_ideal_wavefronts;
    uint64_t tensor_flops;
    uint64_t findings;
} EmuCounters;

typedef struct EmuDevice EmuDevice;
typedef struct EmuModule EmuModule;
typedef struct EmuFunction EmuFunction;

/* A device of a model; NULL when there is no memory. The caller frees it, after its modules. */
EmuDevice *emu_device_new(const EmuModel *model);
void emu_device_free(EmuDevice *device);
const EmuModel *emu_device_model(const EmuDevice *device);
EmuMemory *emu_device_memory(EmuDevice *device);

/* Loads PTX text: parses, checks the target, gives its variables memory with their first values.
 * When it fails *out_log (arena memory) is what a driver writes to its error log: "line 12, col 3:
 * error: ..." with the text. The caller frees the module. */
EmuStatus emu_module_load(EmuDevice *device, Str ptx, Arena *arena, EmuModule **out_module,
                          Str *out_log);
void emu_module_free(EmuModule *module);

/* An entry by its name, a variable's address and size: NULL and false where there is none. */
const EmuFunction *emu_module_function(const EmuModule *module, Str name);
bool emu_module_variable(const EmuModule *module, Str name, uint64_t *out_address,
                         uint64_t *out_size);
int emu_module_function_count(const EmuModule *module);
const EmuFunction *emu_module_function_at(const EmuModule *module, int index);

/* What the driver's attributes tell. `registers` is an estimate: the live ones at most. */
typedef struct EmuFunctionInfo {
    Str name;
    uint32_t parameter_count, parameter_bytes;
    uint32_t static_shared, local_bytes, const_bytes, registers;
    uint32_t max_threads; /* .maxntid or the device's */
    uint32_t required_cluster[3];
    int ptx_version, binary_version;
} EmuFunctionInfo;

void emu_function_info(const EmuFunction *function, EmuFunctionInfo *out_info);
/* Offset and size of a parameter in the buffer of a launch. */
void emu_function_parameter(const EmuFunction *function, uint32_t index, uint64_t *out_offset,
                            uint64_t *out_size);

typedef struct EmuLaunch {
    const EmuFunction *function;
    uint32_t grid[3], block[3], cluster[3]; /* cluster of zeros: none */
    uint32_t dynamic_shared;                /* bytes */
    uint32_t dynamic_shared_limit;          /* set by the function's attribute; 0: 48 KiB in all */
    const void *parameters;                 /* parameter_bytes of them */
    bool cooperative;
} EmuLaunch;

/* Runs a launch to its end. `reporter` may be NULL; *out_counters too. */
EmuStatus emu_launch(EmuDevice *device, const EmuLaunch *launch, const EmuOptions *options,
                     const EmuReporter *reporter, EmuCounters *out_counters);

#endif
