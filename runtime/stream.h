/* Streams: queues of runs that are done in order, by one thread at a time, or a stream of the
 * host's on a GPU, where the device keeps the order. */
#ifndef TCC_RUNTIME_STREAM_H
#define TCC_RUNTIME_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <tcc/model.h>

tcc_status stream_new(tcc_model *model, const tcc_stream_options *options, tcc_stream **out_stream);
tcc_status stream_sync(tcc_stream *stream);
void stream_free(tcc_stream *stream);

/* A piece of work; whoever queues it puts it in front of what `run` needs, and `run` frees it. */
typedef struct StreamWork {
    struct StreamWork *next;
    void (*run)(struct StreamWork *work);
} StreamWork;

/* Whether that is a stream which this runtime can use. */
bool stream_is_known(const tcc_stream *stream);

/* The host's stream that it stands for; NULL: it is a queue. */
void *stream_native(const tcc_stream *stream);
/* Whether it is a queue, or on the device that the model runs on. */
bool stream_fits(const tcc_stream *stream, const tcc_model *model);

/* Queues the work; where no thread can be had it is done at once. */
void stream_queue(tcc_stream *stream, StreamWork *work);

#endif
