/* What a model says of a failure while it runs: a stable id and the words, as base/messages.h has
 * them for the compiler. The id follows the words in brackets. */
#ifndef TCC_RUNTIME_MESSAGES_H
#define TCC_RUNTIME_MESSAGES_H

/* arguments */
#define RUN_NULL "null-argument", "%s is NULL"
#define RUN_STREAM "stream", "the stream is none of tcc's"
#define RUN_STREAM_CAPTURED                                                                        \
    "stream", "the stream is being captured into a graph, which cannot have a model's runs"
#define RUN_STREAM_DEVICE "stream", "the stream is one of another device than the model's"
#define RUN_OUTPUT_INDEX "output-index", "the model has %u outputs"
#define RUN_COUNT "tensor-count", "%u %s were given, the model has %u"
#define RUN_STRUCT_SIZE "struct-size", "%s \"%s\": tcc_tensor.size is wrong"
#define RUN_DEVICE "tensor-device", "%s \"%s\" is not in the CPU's memory"
#define RUN_DEVICE_NUMBER "tensor-device", "%s \"%s\": tcc_tensor.device is wrong"
#define RUN_DEVICE_POINTER "tensor-device", "%s \"%s\" is in no memory of the device %s"
#define RUN_DEVICE_STRIDES "tensor-strides", "%s \"%s\" is in the device's memory and must be dense"
#define RUN_DTYPE "tensor-dtype", "%s \"%s\" is %s, expected %s"
#define RUN_RANK "tensor-rank", "%s \"%s\" has rank %u, expected %u"
#define RUN_WRONG_DIM "tensor-dim", "%s \"%s\" has a wrong dim"
#define RUN_NO_DATA "tensor-data", "%s \"%s\" has no data"
#define RUN_DENSE "tensor-strides", "%s \"%s\" has 4-bit elements and must be dense"
#define RUN_STRIDES "tensor-strides", "%s \"%s\" has strides that reach beyond all memory"

/* sizes */
#define RUN_PORT_OVERFLOW "dim-overflow", "the dims of %s \"%s\" overflow"
#define RUN_DIMS_OVERFLOW "dim-overflow", "the model's dims overflow"
#define RUN_SIZES_OVERFLOW "dim-overflow", "the model's sizes overflow"
#define RUN_AXIS "axis-size", "%s \"%s\": axis %u has %lld elements, expected %lld"
#define RUN_DIM_RANGE "dim-range", "input \"%s\": dim %s is %lld, not in %lld..%lld"
#define RUN_CHECK "dim-check", "%s: %lld %s %lld"

/* data and memory */
#define RUN_INDEX "index-out-of-range", "%s%sindex %lld is not in %lld..%lld (kernel %s)"
#define RUN_MEMORY "out-of-memory", "out of memory"
#define RUN_ARENA_MEMORY                                                                           \
    "out-of-memory", "out of memory: the model needs %llu bytes between kernels"

#define RUN_CUDA "device", "%s"

/* opening */
#define RUN_OPEN_DEVICE "device", "%s"
#define RUN_DEVICE_NAME                                                                            \
    "device", "there is no device \"%s\": cpu, cuda, cuda:N, emu, emu:sm_80, auto"
#define RUN_ABI "abi", "the model has version %u of the ABI, the runtime version %d"
#define RUN_OPEN_SIZE "struct-size", "tcc_open_options.size is wrong"
#define RUN_ALLOCATOR "allocator", "tcc_allocator is not complete"
#define RUN_PROCESSOR "processor", "the model was compiled for %s, which this processor is not"

#endif
