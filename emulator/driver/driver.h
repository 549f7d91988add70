/* What the files of the driver share: its state and the objects behind CUDA's handles.
 *
 * The driver is one for a process, as the API wants it, and so is its state (`driver`), set up once
 * by cuInit. Every function of the API takes the one lock on its way in (exports.c); what runs
 * kernels, copies and the host's functions lets go of it meanwhile (stream.c). What belongs to a
 * thread (the stack of current contexts) is `thread`.
 *
 * Handles are pointers, looked up before they are followed, so that a stale one is an error. */
#ifndef TCC_EMULATOR_DRIVER_DRIVER_H
#define TCC_EMULATOR_DRIVER_DRIVER_H

#include "emulator/driver/functions.h"
#include "emulator/machine/machine.h"

#include <pthread.h>

enum { DRIVER_VERSION = 13000, MAX_CURRENT = 64, LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 };

typedef struct Context Context;
typedef struct Module Module;
typedef struct Function Function;
typedef struct Library Library;
typedef struct Kernel Kernel;
typedef struct Stream Stream;
typedef struct Event Event;
typedef struct Graph Graph;
typedef struct Node Node;
typedef struct GraphExec GraphExec;
typedef struct Pool Pool;
typedef struct Capture Capture;

/* ---- objects --------------------------------------------------------------------------------- */

typedef enum ObjectKind {
    OBJECT_context,
    OBJECT_module,
    OBJECT_function,
    OBJECT_library,
    OBJECT_kernel,
    OBJECT_stream,
    OBJECT_event,
    OBJECT_graph,
    OBJECT_node,
    OBJECT_exec,
    OBJECT_pool
} ObjectKind;

/* What every object begins with. */
typedef struct Object {
    ObjectKind kind;
    uint64_t id; /* of all objects that ever were, in order */
    Context *context;
    struct Object *next_ended; /* once it has ended */
} Object;

/* A zeroed object of `size` bytes; NULL when there is no memory. */
void *object_new(ObjectKind kind, size_t size, Context *context);
/* Ends the object alone, not what hangs on it. */
void object_free(void *object);
/* Frees those that have ended; no call may be under way. */
void objects_bury(void);
/* Whether that is the address of a living object of the kind. */
bool object_is(const void *object, ObjectKind kind);
/* Some object of the kind that belongs to the context; NULL when there is none. */
void *object_of(const Context *context, ObjectKind kind);

/* ---- contexts -------------------------------------------------------------------------------- */

enum { LIMIT_COUNT = CU_LIMIT_PERSISTING_L2_CACHE_SIZE + 1 };

struct Context {
    Object object;
    bool primary, ending;
    unsigned flags;
    CUfunc_cache cache;
    size_t limits[LIMIT_COUNT];
    CUresult error;  /* what went wrong for good, or CUDA_SUCCESS */
    Stream *legacy;  /* the default stream */
    Stream *streams; /* all of them */
};

/* The current context of the thread, in which nothing has failed; or why there is none. */
CUresult context_current(Context **out_context);
/* The same when it does not matter that something failed. */
Context *context_current_any(void);
/* Remembers an error that stays. */
void context_fail(Context *context, CUresult error);

/* ---- modules --------------------------------------------------------------------------------- */

struct Module {
    Object object;
    EmuModule *machine;
    Arena *arena; /* the text and what the machine keeps of it */
    Function *functions;
    Library *library; /* that it was loaded for, or NULL */
};

struct Function {
    Object object;
    Module *module;
    Function *next;
    const EmuFunction *machine;
    EmuFunctionInfo info;
    const char *name;
    int dynamic_shared_limit; /* bytes */
    int carveout;
    bool non_portable_cluster;
};

/* The function that a CUfunction or, as hosts do, a CUkernel stands for; NULL: it is neither. */
Function *function_from_handle(const void *handle);

/* The PTX text in an image (text, a fatbin or an ELF file with PTX), which lives as long as the
 * image; a null `data` when there is none. `image` has no size: it says so itself. */
Str image_ptx(const void *image, Arena *arena, CUresult *out_error);

/* ---- what streams and graphs do -------------------------------------------------------------- */

/* A point in a stream that somebody waits for. Counted by references; with the last one it goes. */
typedef struct Marker {
    int references;
    bool done;
    uint64_t time_ns;
    Stream *stream; /* where it is, until it is done */
    uint64_t serial;
} Marker;

typedef enum ActionKind {
    ACTION_none,
    ACTION_kernel,
    ACTION_copy,
    ACTION_fill,
    ACTION_host,
    ACTION_callback,
    ACTION_free,
    ACTION_record,       /* marks its marker as done */
    ACTION_wait,         /* stands behind its marker */
    ACTION_event_record, /* these three only in graphs, whose launch makes others of them */
    ACTION_event_wait,
    ACTION_child, /* another graph, which is the action's own */
    ACTION_graph  /* a launched graph: the actions of its nodes, in order */
} ActionKind;

typedef struct KernelAction {
    Function *function;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t shared;
    bool cooperative;
    void *parameters; /* of the function's size; ours */
    size_t parameter_bytes;
} KernelAction;

typedef struct CopyAction {
    CUDA_MEMCPY3D copy;
    void *staged; /* the source's rows, taken when the copy was asked for; ours, or NULL */
} CopyAction;

typedef struct CallbackAction {
    CUstreamCallback *function;
    void *user;
    CUstream stream;
} CallbackAction;

typedef struct Action {
    ActionKind kind;
    union {
        KernelAction kernel;
        CopyAction copy;
        CUDA_MEMSET_NODE_PARAMS fill;
        CUDA_HOST_NODE_PARAMS host;
        CallbackAction callback;
        CUdeviceptr address;
        Marker *marker;
        Event *event;
        Graph *child;
        struct {
            struct Action *actions;
            size_t count;
        } graph;
    } as;
} Action;

/* Both end what the action owns; action_copy makes one that owns the same. */
void action_clear(Action *action);
bool action_copy(Action *out_action, const Action *action);
/* Does what the action says, without the lock. `error` is what went wrong before, with which only
 * callbacks are still called. What is returned is an error of the device. */
CUresult action_run(const Action *action, CUresult error);

/* copy.c: checks a copy against the memory there is, and carries one out. */
CUresult copy_check(const CUDA_MEMCPY3D *copy);
CUresult copy_run(const CopyAction *action);
CUresult fill_check(const CUDA_MEMSET_NODE_PARAMS *fill);
CUresult fill_run(const CUDA_MEMSET_NODE_PARAMS *fill);
/* launch.c: the action of a kernel node; `kernel` and `context` of the parameters are honoured. */
CUresult launch_action(const CUDA_KERNEL_NODE_PARAMS *parameters, Action *out_action);
CUresult launch_run(const KernelAction *kernel);

/* function.c: how many blocks of that size a multiprocessor holds at a time. */
int function_blocks(const Function *function, int block_size, size_t dynamic_shared);
/* node.c: the actions of other nodes, checked. */
CUresult node_copy_action(const CUDA_MEMCPY3D *copy, Action *out_action);
CUresult node_fill_action(const CUDA_MEMSET_NODE_PARAMS *fill, Action *out_action);
CUresult node_host_action(const CUDA_HOST_NODE_PARAMS *host, Action *out_action);

Marker *marker_new(void);
void marker_drop(Marker *marker);

/* ---- streams --------------------------------------------------------------------------------- */

typedef struct Work {
    struct Work *next;
    uint64_t serial;
    bool running;
    Action action;
} Work;

struct Stream {
    Object object;
    Stream *next; /* of the context */
    unsigned flags;
    int priority;
    const void *owner; /* the thread whose default stream it is, or NULL */
    Work *first, *last;
    Capture *capture; /* that it takes part in, or NULL */
    Node **tail;      /* what the next captured node depends on */
    size_t tail_count;
};

/* The stream behind a handle, the default ones included. */
CUresult stream_from_handle(CUstream handle, Stream **out_stream);
/* Makes a stream of the context; NULL when there is no memory. */
Stream *stream_new(Context *context, unsigned flags, int priority);
/* Waits for what is in it, and frees it. */
void stream_free(Stream *stream);
/* Hands the action over, to be done behind all that is in the stream, or, while it is captured, to
 * become a node. The action is the stream's from here, also on failure. */
CUresult stream_submit(Stream *stream, Action *action);
/* Does all that was submitted to the stream. Unlocks while it works or waits. */
CUresult stream_finish(Stream *stream);
/* The same up to a marker, and for all streams of a context. */
CUresult stream_finish_marker(Context *context, Marker *marker);
CUresult context_finish(Context *context);
/* All streams of all contexts, for what belongs to none; returns the current one's error. */
CUresult context_finish_all(void);
/* Takes one step towards the end of the stream, when there is one that nobody else is taking. */
void stream_step(Stream *stream);
/* Whether an operation of the default stream would wait for one that is captured; spoils those. */
bool stream_disturbs_capture(const Stream *stream);

/* event.c: a new record of the event, which takes the place of the last; NULL: no memory. The
 * caller submits it. */
Marker *event_new_marker(Event *event);

struct Event {
    Object object;
    unsigned flags;
    Marker *marker;      /* the last record; NULL before the first */
    uint64_t capture_id; /* recorded in that capture, behind these nodes; 0: not in one */
    Node **nodes;
    size_t node_count;
};

/* ---- graphs ---------------------------------------------------------------------------------- */

struct Node {
    Object object;
    Graph *graph;
    Action action;
    Node **dependencies;
    size_t dependency_count;
    const Node *cloned_from; /* compared, never followed */
    size_t mark;             /* scratch of walks over the graph */
    /* What GetParams shows of a kernel's parameters: an address for each. */
    void **parameter_list;
};

struct Graph {
    Object object;
    bool captured_into; /* a capture is making it: not to be destroyed yet */
    bool nested;        /* belongs to a child node */
    Node **nodes;
    size_t count, room;
};

/* Adds a node behind `dependencies`; the action is the graph's, also on failure. */
CUresult graph_add(Graph *graph, Node *const *dependencies, size_t count, Action *action,
                   Node **out_node);
Graph *graph_copy(const Graph *graph);
void graph_free(Graph *graph);

/* A capture: the streams of it make one graph. */
struct Capture {
    Capture *next; /* of all that are going on */
    uint64_t id;
    Graph *graph;
    Stream *origin;
    CUstreamCaptureMode mode;
    const void *owner; /* the thread that began it */
    bool invalidated;
    Context *context;
};

/* Spoils the capture, which EndCapture will report. */
void capture_invalidate(Capture *capture);
CUresult capture_add(Stream *stream, Action *action);
/* The event as recorded in the capturing stream; a wait for it in `stream`. */
CUresult capture_record(Stream *stream, Event *event);
CUresult capture_wait(Stream *stream, Event *event);
/* Takes the stream, which goes away, out of its capture. */
void capture_leave(Stream *stream);
/* Spoils all captures of the context of that an unsafe call of this thread would disturb; false
 * when there were none. */
bool capture_forbids(Context *context);

/* ---- pools ----------------------------------------------------------------------------------- */

struct Pool {
    Object object;
    size_t max_size; /* 0: the device's */
    uint64_t threshold;
    int reuse[3];
    int access; /* CU_MEM_ACCESS_FLAGS */
    uint64_t used, used_high;
};

/* Whether `address` begins an allocation of a pool; takes it off the pool's account. */
bool pool_forget(CUdeviceptr address);
Pool *pool_holding(CUdeviceptr address);

/* ---- the driver ------------------------------------------------------------------------------ */

typedef enum StreamOrder { STREAMS_latest, STREAMS_eager, STREAMS_random } StreamOrder;

/* memory.c: frees what was allocated in the context, and unpins what was pinned. */
void memory_end_context(const Context *context);

/* What memory of the host was pinned with, and who has an allocation of a pool. */
typedef struct HostBlock {
    uint64_t address, size;
    unsigned flags;
    bool registered;
    struct HostBlock *next;
} HostBlock;

/* Whose an allocation is: it ends with its context. */
typedef struct OwnedBlock {
    uint64_t address;
    const Context *context;
    struct OwnedBlock *next;
} OwnedBlock;

typedef struct PoolBlock {
    uint64_t address, size;
    Pool *pool;
    struct PoolBlock *next;
} PoolBlock;

typedef struct Driver {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* some work was done */
    bool initialised;
    const EmuModel *chosen; /* by emuChooseDevice, or NULL */
    EmuDevice *device;
    EmuMemory *memory;
    EmuOptions options;
    StreamOrder order;
    uint64_t random;
    Object **objects; /* a hash table of addresses, its room a power of two */
    size_t object_count, object_room;
    Object *ended;                 /* to be freed when no call is under way */
    long calls;                    /* that are: several, when they have let the lock go to wait */
    uint64_t last_id, last_serial; /* of objects, of work */
    Capture *captures;
    Context *primary;
    unsigned primary_references, primary_flags;
    Pool *default_pool, *pool;
    HostBlock *host_blocks;
    OwnedBlock *owned_blocks;
    PoolBlock *pool_blocks;
    bool prepared; /* ready to be initialised: the failures were read from the environment */
} Driver;

extern Driver driver;

/* A context that is current; one that was destroyed is told by its id. */
typedef struct Current {
    Context *context;
    uint64_t id;
} Current;

typedef struct Thread {
    Current stack[MAX_CURRENT];
    int depth;
    CUstreamCaptureMode capture_mode;
    bool in_callback; /* of the host: no function of the API may be called */
} Thread;

extern _Thread_local Thread thread;

const EmuModel *driver_model(void);
CUresult result_from_status(EmuStatus status);
/* Whether an error stays with the context. */
bool result_is_sticky(CUresult result);

/* Where findings go (report.c). */
extern const EmuReporter driver_reporter;
void report_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report_launch(const EmuCounters *counters);

/* Whether the call of that row is to fail, now that it was made once more (fault.c). */
typedef struct FunctionRow {
    const char *name, *symbol;
    int since;
    CUresult failure;
    void (*address)(void);
} FunctionRow;

extern const FunctionRow function_rows[];
extern const int function_row_count;

/* Reads TCC_EMU_FAIL once, and what is wrong with it: NULL for nothing, and after emuFail. */
void fault_prepare(void);
const char *fault_problem(void);
CUresult fault_next(const FunctionRow *row);

#endif
