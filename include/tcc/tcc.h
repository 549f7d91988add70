/* tcc.h: compile tensor models and run them in this process.
 *
 * A tcc_compiler holds options and callbacks; from it models are compiled, one call a model. A
 * tcc_unit is a compiled model: its IR at each level can be read as text, it can be written as a
 * self-contained model.so, checked against the reference evaluator, or run in this process through
 * the interface of model.h.
 *
 *     tcc_compiler *compiler;
 *     tcc_unit *unit;
 *     if (tcc_compiler_new(&compiler) == TCC_OK &&
 *         tcc_compile_file(compiler, "digits.g", &unit) == TCC_OK)
 *         tcc_unit_write(unit, "digits.so");
 *
 * A pointer that is NULL where a function does not say that it may be is TCC_INVALID, and nothing
 * happens; functions without a status do nothing then, or return NULL (tcc_message: a text). Out
 * parameters are NULL or 0 after a failure.
 * The library never exits, aborts or prints. A compiler and its units belong to one thread at a
 * time; several compilers are independent. Handles are freed in any order. Texts that functions
 * return live as long as the handle they were asked of, or until the next call on it where that is
 * said.
 */
#ifndef TCC_TCC_H
#define TCC_TCC_H

#include <stddef.h>
#include <stdint.h>

#include <tcc/model.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TCC_VERSION_NUMBER 100 /* major * 10000 + minor * 100 + patch */

typedef struct tcc_compiler tcc_compiler;
typedef struct tcc_unit tcc_unit;
typedef struct tcc_cache tcc_cache;
typedef struct tcc_task tcc_task;
struct tcc_graph; /* graph.h */

/* The version of the library, "0.1.0". */
TCC_API const char *tcc_version(void);

/* ---- compilers ------------------------------------------------------------------------------- */

TCC_API tcc_status tcc_compiler_new(tcc_compiler **out_compiler);
TCC_API void tcc_compiler_free(tcc_compiler *compiler); /* NULL is allowed */

typedef struct tcc_compiler_options {
    uint32_t size; /* of this struct */
    /* Of the compiler and of all that it compiles; NULL: malloc. What LLVM, zstd, zlib and jansson
     * allocate inside is not asked of it. */
    const tcc_allocator *allocator;
    tcc_cache *cache; /* what it compiles is kept there (below); NULL: in a cache of its own */
} tcc_compiler_options;
/* The same with choices; `options` may be NULL. */
TCC_API tcc_status tcc_compiler_new_with(const tcc_compiler_options *options,
                                         tcc_compiler **out_compiler);

/* Sets an option by its name on the command line without the dashes, for the compilations that
 * follow: ("O", "2"), ("D", "N=8"), ("target", "native"), ("params", "random:1"), … tcc_option_at
 * lists them all. `value` is NULL or empty for options that take none. TCC_INVALID with a message
 * for unknown names and wrong values; names of targets, models, passes and files are looked up when
 * a model is compiled. */
TCC_API tcc_status tcc_set_option(tcc_compiler *compiler, const char *name, const char *value);

typedef struct tcc_option {
    uint32_t size; /* of this struct */
    const char *name;
    const char *argument; /* what its value is, "N" or "NAME=FILE"; empty when it takes none */
    const char *meaning;
} tcc_option;
/* The i-th option; NULL past the end. */
TCC_API const tcc_option *tcc_option_at(uint32_t index);

/* Where models can run: a device that is here, or why there is none of its kind. */
typedef struct tcc_device_info {
    uint32_t size; /* of this struct */
    int32_t usable;
    char device[32]; /* what tcc_open_options.device takes: "cpu", "cuda:0", "emu" */
    char text[216];  /* "NVIDIA H200, sm_90, 132 multiprocessors, 141 GB", or why there is none */
} tcc_device_info;
/* The i-th device: the CPU, GPUs, the software GPU. TCC_INVALID past the end, and for NULL. Loads
 * the CUDA driver, which stays. */
TCC_API tcc_status tcc_device_at(uint32_t index, tcc_device_info *out_info);

typedef enum tcc_severity { TCC_NOTE, TCC_WARNING, TCC_ERROR } tcc_severity;

typedef struct tcc_diagnostic {
    uint32_t size; /* of this struct */
    tcc_severity severity;
    const char *id;        /* stable: "unknown-name" */
    const char *path;      /* of the input it is about, or NULL */
    uint32_t line, column; /* from 1; 0 when it is about the whole input, or line */
    const char *text;      /* one line */
    const char *rendered;  /* with place, source line and caret; ends in a newline */
    const char *label;     /* of the value of a graph (graph.h) that it is about, or NULL */
} tcc_diagnostic;

/* `callback` is called for each diagnostic of the calls that follow, on the calling thread; the
 * struct and its texts live during the call. NULL: none is told. */
typedef void tcc_diagnostic_callback(void *user, const tcc_diagnostic *diagnostic);
TCC_API void tcc_on_diagnostic(tcc_compiler *compiler, tcc_diagnostic_callback *callback,
                               void *user);

/* `callback` gets the dumps that -d, --dump-after and the like ask for. */
typedef void tcc_text_callback(void *user, const char *text, size_t size);
TCC_API void tcc_on_dump(tcc_compiler *compiler, tcc_text_callback *callback, void *user);

/* What the compiler does, for the host's log: one record a thing done. */
typedef enum tcc_log_level {
    TCC_LOG_NOTHING,
    TCC_LOG_CALLS, /* what a call did as a whole: "compiled", "cache-hit", "opened", "written" */
    TCC_LOG_STEPS /* each "pass" too, and each group of kernels that went through LLVM: "kernels" */
} tcc_log_level;

typedef struct tcc_log_record {
    uint32_t size; /* of this struct */
    tcc_log_level level;
    const char *event;   /* stable, such as "cache-hit" */
    const char *subject; /* the model's path, the pass, the kernels */
    const char *text;    /* one line for people */
    double seconds;      /* that it took */
} tcc_log_record;

/* `callback` is told, on the calling thread, of what is of that level or below; the record lives
 * during the call. NULL: nothing is told. */
typedef void tcc_log_callback(void *user, const tcc_log_record *record);
TCC_API void tcc_on_log(tcc_compiler *compiler, tcc_log_level most, tcc_log_callback *callback,
                        void *user);

/* What the last failing call on this compiler, or on a unit of it, has to say; never NULL. Lives
 * until the next call. */
TCC_API const char *tcc_message(const tcc_compiler *compiler);

/* ---- compiling ------------------------------------------------------------------------------- */

/* Compiles a model file: .g or .tir by its name. TCC_INVALID when the input is wrong (the
 * diagnostics say how), TCC_ENVIRONMENT when a file could not be read. The unit is freed by
 * tcc_unit_free. */
TCC_API tcc_status tcc_compile_file(tcc_compiler *compiler, const char *path, tcc_unit **out_unit);

/* Compiles `size` bytes of text (NULL is allowed for none) as if they were the file `path` (which
 * need not exist; its name decides the language, and paths in the text are relative to its folder).
 */
TCC_API tcc_status tcc_compile_memory(tcc_compiler *compiler, const char *path, const void *text,
                                      size_t size, tcc_unit **out_unit);
TCC_API void tcc_unit_free(tcc_unit *unit); /* NULL is allowed */

/* ---- in the background ----------------------------------------------------------------------- */

/* A file or a text, as for tcc_compile_file and tcc_compile_memory, or a graph that was built. */
typedef struct tcc_source {
    uint32_t size; /* of this struct */
    const char *path;
    const void *text; /* NULL: the file is read */
    size_t text_size;
    struct tcc_graph *graph; /* instead; it is left alone until the task is done */
} tcc_source;

/* Compiles on a thread of its own, up to the point from which tcc_unit_open takes no time, with the
 * options of now; path and text are copied. Any number of tasks may run, and the compiler may be
 * used meanwhile. The allocator is called by the task's threads too. */
TCC_API tcc_status tcc_compile_start(tcc_compiler *compiler, const tcc_source *source,
                                     tcc_task **out_task);
/* Whether it is done, however that ended, so that tcc_task_wait returns at once. Any thread. */
TCC_API int tcc_task_poll(const tcc_task *task);
/* Asks it to stop, which it does between passes and kernels; it then ends with TCC_CANCELLED,
 * unless it was done before. Any thread. */
TCC_API void tcc_task_cancel(tcc_task *task);
/* Waits, once a task; tells the compiler's callbacks what there was to tell, on this thread; and
 * gives the unit, which belongs to the compiler as if it had been compiled now. The status, and
 * tcc_message, are those of the compilation. */
TCC_API tcc_status tcc_task_wait(tcc_task *task, tcc_unit **out_unit);
/* Cancels what still runs and waits for the thread; what was not taken is dropped. */
TCC_API void tcc_task_free(tcc_task *task); /* NULL is allowed */

/* ---- what was compiled ----------------------------------------------------------------------- */

/* The unit at a level as text: "ir" (the graph after all passes asked for), "program", "tile"
 * (placed tile programs), "tile-free", "llvm", "ptx", "asm", "dot", "header", "times"; as JSON:
 * "ir-json", "explain-json" (the kernels and the decisions) and "metadata" (as a model.so has it).
 * The text lives as long as the unit. */
TCC_API tcc_status tcc_unit_text(tcc_unit *unit, const char *kind, const char **out_text,
                                 size_t *out_size);

/* The decisions of the passes for people: `show` is a comma-separated list of fusion, plan, memory,
 * schedule, gpu; NULL for all. */
TCC_API tcc_status tcc_unit_explain(tcc_unit *unit, const char *show, const char **out_text,
                                    size_t *out_size);

/* Writes the object file of the kernels, or the whole self-contained model.so: to a temporary file
 * first, renamed when complete, so that an older file is whole until the new one is. A file that
 * the unit was made from, its model or weights, is not replaced: TCC_INVALID. */
TCC_API tcc_status tcc_unit_write_object(tcc_unit *unit, const char *path);
TCC_API tcc_status tcc_unit_write(tcc_unit *unit, const char *path);

/* The model in this process: like tcc_model_get_api's open on the model.so it would be. `options`
 * may be NULL; without an allocator there, the model has the compiler's. The model is closed by
 * api->close, before or after its unit is freed. */
TCC_API tcc_status tcc_unit_open(tcc_unit *unit, const tcc_open_options *options,
                                 const tcc_model_api **out_api, tcc_model **out_model);

/* ---- the cache of units ---------------------------------------------------------------------- */

/* What was compiled once is not compiled again: the same text under the same path, with the same
 * options and targets, and with files of weights of the same content, which are read and hashed
 * each time (about 1 ms a megabyte). A unit from the cache is a handle of its own; what is
 * compiled is shared and does not change. Compilations that dump are always done anew.
 *
 * Without a cache of the host's, each compiler has one of its own, of as many units as the option
 * "unit-cache" says; 0 keeps none. A cache may be shared by any number of compilers on any threads,
 * and its functions may be called by any: of several that want the same, one compiles and the
 * others wait. With one, what is compiled takes its memory from the allocator of the cache. */
typedef struct tcc_cache_options {
    uint32_t size;                  /* of this struct */
    uint32_t units;                 /* the most that are kept; 0: 64 */
    uint64_t bytes;                 /* the most that they may take; 0: 256 MB */
    const tcc_allocator *allocator; /* NULL: malloc */
} tcc_cache_options;
TCC_API tcc_status tcc_cache_new(const tcc_cache_options *options, tcc_cache **out_cache);
/* Units and compilers that came from it stay. */
TCC_API void tcc_cache_free(tcc_cache *cache); /* NULL is allowed */
/* Forgets all units. */
TCC_API void tcc_cache_clear(tcc_cache *cache);

typedef struct tcc_cache_info {
    uint32_t size;  /* of this struct */
    uint32_t units; /* that it holds */
    uint64_t bytes; /* about what they take */
    uint64_t hits, misses, evicted;
} tcc_cache_info;
TCC_API tcc_status tcc_cache_get_info(tcc_cache *cache, tcc_cache_info *out_info);

/* ---- checking -------------------------------------------------------------------------------- */

/* What tcc_unit_check found for one output of one kernel, or of the whole model. */
typedef struct tcc_check_result {
    uint32_t size;      /* of this struct */
    const char *kernel; /* its name; the model's for a whole run */
    const char *output;
    uint64_t elements, compared, mismatches;
    double worst;                    /* largest |difference| / tolerance of an element */
    uint64_t first_index;            /* row-major, of the first mismatch */
    double got, expected, tolerance; /* there */
    double rms;      /* root mean square of the differences, relative to that of the values */
    uint32_t agrees; /* whether the output counts as right */
    /* The index out of range that the compiled code and the evaluator both report, with its place;
     * a run ends with TCC_INDEX then. NULL: neither does. */
    const char *error;
} tcc_check_result;
typedef void tcc_check_callback(void *user, const tcc_check_result *result);

/* Runs the compiled kernels one by one on what the evaluator gives as their inputs, and the whole
 * model on `inputs` (as many as it has; their dims bind the model's, strides are honoured as in a
 * run), and compares each output with the evaluator's value within the derived tolerance. Where an
 * index is out of range both must say so, and their accesses are clamped alike. An element whose
 * tolerance reaches over a discontinuity is left out; more than 1 % of those in an output counts as
 * a mismatch, except where the bounds of a whole model say nothing any more but its rms is small.
 * TCC_MISMATCH when anything differs. `callback` may be NULL. */
TCC_API tcc_status tcc_unit_check(tcc_unit *unit, const tcc_tensor *inputs, uint32_t input_count,
                                  tcc_check_callback *callback, void *user);

/* The same on a device as tcc_open_options names it (NULL: the CPU); the unit must be compiled for
 * it. On a GPU each kernel has memory of its own and runs twice, with its buffers aligned and
 * misaligned, and the whole model is two runs of a session; what must have the same bits and has
 * not is a mismatch. So is whatever the checks of the software device ("emu") find, which it tells
 * on standard error. TCC_ENVIRONMENT and TCC_INVALID as when a model is opened for the device. */
TCC_API tcc_status tcc_unit_check_on(tcc_unit *unit, const char *device, const tcc_tensor *inputs,
                                     uint32_t input_count, tcc_check_callback *callback,
                                     void *user);

/* ---- artefacts in files --------------------------------------------------------------------- */

/* Reads, without loading or running it, what a model.so holds: "metadata" (JSON), "graph" (its .tir
 * text) or "explain" (what tcc_unit_explain said); the last two are absent after --strip-info. The
 * text lives until the next call on the compiler. */
TCC_API tcc_status tcc_artefact_read(tcc_compiler *compiler, const char *path, const char *kind,
                                     const char **out_text, size_t *out_size);

/* ---- arrays in files ------------------------------------------------------------------------- */

/* Reads an .npy file into memory that tcc_array_free releases; the tensor is dense on the CPU. */
typedef struct tcc_array tcc_array;
TCC_API tcc_status tcc_array_read(tcc_compiler *compiler, const char *path, tcc_array **out_array);
/* A new array of zeros; `dims` may be NULL for rank 0. */
TCC_API tcc_status tcc_array_new(tcc_compiler *compiler, int32_t dtype, uint32_t rank,
                                 const int64_t *dims, tcc_array **out_array);
/* Fills it with numbers that suit a test of its dtype: reproducible by seed. */
TCC_API void tcc_array_fill_random(tcc_array *array, uint64_t seed);
TCC_API tcc_status tcc_array_write(tcc_compiler *compiler, const tcc_array *array,
                                   const char *path);
TCC_API const tcc_tensor *tcc_array_tensor(const tcc_array *array);
TCC_API void tcc_array_free(tcc_array *array); /* NULL is allowed */

/* ---- reference texts ------------------------------------------------------------------------- */

/* The op reference, the functions of the language, the pass list, the targets, the schedule fields:
 * "ops", "functions", "passes", "targets", "schedules". NULL for an unknown kind. The text lives
 * until the next call on the compiler. */
TCC_API tcc_status tcc_reference(tcc_compiler *compiler, const char *kind, const char **out_text,
                                 size_t *out_size);

#ifdef __cplusplus
}
#endif

#endif
