/* Programs: a model as a list of kernel launches over planned buffers; what the `memory` pass
 * leaves and what code generation and the artefact take.
 *
 * Every tensor is dense and row-major: another layout is a permuted tensor, and kernels' regions
 * begin and end with the movement ops that say so.
 */
#ifndef TCC_IR_PROGRAM_H
#define TCC_IR_PROGRAM_H

#include "ir/graph.h"
#include "ir/schedule.h"
#include "ir/target.h"

typedef enum BufferKind {
    BUFFER_input,    /* the caller's */
    BUFFER_output,   /* the caller's */
    BUFFER_constant, /* weights and large constants, in the artefact */
    BUFFER_arena     /* between kernels */
} BufferKind;

enum { PROGRAM_MAX_BUCKETS = 4, BUFFER_ALIGNMENT = 64 };

typedef struct Buffer {
    BufferKind kind;
    uint32_t index; /* input or output number, or the constant's */
    const Type *type;
    uint32_t first_launch, last_launch;  /* arena: when it is live, both included */
    int64_t offset[PROGRAM_MAX_BUCKETS]; /* arena: bytes from its start, by bucket */
} Buffer;

typedef struct Constant {
    const Blob *blob;
    const Type *type; /* static */
    const Str *name;  /* the parameter's, or empty */
} Constant;

/* A compiled unit: a fused group. Equal regions with equal schedules are one kernel. */
typedef struct Kernel {
    const Str *name; /* unique in the program, a C identifier */
    const Graph *region;
    const Str *skeleton, *strategy;
    Schedule schedule;
} Kernel;

typedef struct Launch {
    uint32_t kernel;
    uint32_t buffer_count;
    const uint32_t *buffers; /* the region's inputs in order, then its outputs */
    const Origin *origin;
} Launch;

/* One memory plan: it serves dims up to `hi`, in slot order. Buckets are sorted; the last serves
 * all. */
typedef struct Bucket {
    const int64_t *hi;
    int64_t arena_bytes;
} Bucket;

typedef struct Program {
    IrContext *ctx;
    Arena *arena;
    const Target *target; /* that the kernels' schedules were chosen for */
    const Diags *places;  /* where origins' places lie; NULL: not known */
    const Graph *graph; /* what it was made from: names and types of its interface, entry checks */
    VEC(const DimSymbol *) dims; /* the named dims that occur, by slot */
    VEC(Buffer) buffers;
    VEC(Constant) constants;
    VEC(Kernel) kernels;
    VEC(Launch) launches;
    const uint32_t *input_buffers, *output_buffers; /* buffer of each model input and output */
    uint32_t bucket_count;
    Bucket buckets[PROGRAM_MAX_BUCKETS];
} Program;

#endif
