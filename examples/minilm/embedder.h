/* embedder.h: a compiled minilm.g that turns texts into vectors of length 1. */
#ifndef EXAMPLES_MINILM_EMBEDDER_H
#define EXAMPLES_MINILM_EMBEDDER_H

#include "wordpiece.h"

#include <stddef.h>
#include <stdint.h>

enum { EMBEDDING = 384 };

typedef struct Text {
    const char *data; /* UTF-8 */
    size_t size;
} Text;

/* One caller at a time. */
typedef struct Embedder Embedder;

/* Loads the model.so and the vocabulary. NULL, with the reason on stderr, when that cannot be. */
Embedder *embedder_open(const char *model_path, const char *vocabulary_path);
void embedder_close(Embedder *embedder);

/* Writes the embedding of texts[i] to vectors + i * EMBEDDING. Of a text that is longer than the
 * model takes, the beginning counts. Non-zero, with the reason on stderr, when a run failed. */
int embedder_run(Embedder *embedder, const Text *texts, size_t count, float *vectors);

#endif
