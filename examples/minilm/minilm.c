/* minilm: sentences by their meaning.
 *
 *     minilm search MODEL.so VOCAB.txt SENTENCES.txt QUERY...
 *     minilm compare MODEL.so VOCAB.txt SENTENCES.txt EXPECTED.npy COSINE
 *     minilm tokens VOCAB.txt SENTENCES.txt
 *
 * `search` embeds the lines of a text file and prints for each query those that mean most nearly
 * the same, with the cosine of the angle between the two. `compare` embeds them and says how near
 * they are to EXPECTED, which has a row of 384 a line; the exit status is 1 when one is further off
 * than COSINE. `tokens` prints the ids of each line. The exit status is 2 for a wrong command line,
 * and 3 when something could not be read or run. */
#include "../digits/npy.h"
#include "embedder.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NEAREST = 3, MAX_TOKENS = 512 };

static int fail(const char *what, const char *why) {
    fprintf(stderr, "minilm: %s: %s\n", what, why);
    return 3;
}

/* ---- lines of a file ------------------------------------------------------------------------- */

typedef struct Lines {
    char *data;
    Text *texts;
    size_t count;
} Lines;

static char *read_file(const char *path, size_t *out_size) {
    FILE *file = fopen(path, "rb");
    size_t size = 0, room = 1 << 16;
    char *data = file ? malloc(room) : NULL;
    while (data && (size += fread(data + size, 1, room - size, file)) == room) {
        char *larger = realloc(data, room *= 2);
        if (!larger) free(data);
        data = larger;
    }
    if (file && ferror(file)) {
        free(data);
        data = NULL;
    }
    if (file) fclose(file);
    *out_size = size;
    return data;
}

/* Empty lines are passed over. */
static bool read_lines(const char *path, Lines *lines) {
    size_t size, room = 1;
    lines->data = read_file(path, &size);
    for (size_t i = 0; i < size && lines->data; i++) room += lines->data[i] == '\n';
    lines->texts = lines->data ? malloc(room * sizeof *lines->texts) : NULL;
    if (!lines->texts) {
        fail(path, "cannot be read");
        return false;
    }
    for (size_t begin = 0; begin < size;) {
        const char *line = lines->data + begin, *stop = memchr(line, '\n', size - begin);
        size_t length = stop ? (size_t)(stop - line) : size - begin;
        if (length > 0) lines->texts[lines->count++] = (Text){line, length};
        begin += length + 1;
    }
    return true;
}

static void free_lines(Lines *lines) {
    free(lines->data);
    free(lines->texts);
}

/* ---- embeddings ------------------------------------------------------------------------------ */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The vectors of all texts, [count, EMBEDDING], which the caller frees; NULL after an error. */
static float *embed(Embedder *embedder, const Text *texts, size_t count) {
    float *vectors = malloc((count ? count : 1) * EMBEDDING * sizeof *vectors);
    if (vectors && embedder_run(embedder, texts, count, vectors) == 0) return vectors;
    free(vectors);
    return NULL;
}

static double dot(const float *a, const float *b) {
    double sum = 0;
    for (int i = 0; i < EMBEDDING; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

/* ---- search ---------------------------------------------------------------------------------- */

/* The NEAREST lines in order; few enough to be found one by one. */
static void print_nearest(const Lines *lines, const float *vectors, const float *query) {
    double last = INFINITY;
    size_t last_line = 0;
    for (int rank = 0; rank < NEAREST; rank++) {
        double best = -INFINITY;
        size_t best_line = lines->count;
        for (size_t i = 0; i < lines->count; i++) {
            double cosine = dot(query, vectors + i * EMBEDDING);
            bool is_next = cosine < last || (cosine == last && i > last_line);
            if (!is_next || cosine <= best) continue;
            best = cosine;
            best_line = i;
        }
        if (best_line == lines->count) return;
        Text text = lines->texts[best_line];
        printf("  %.3f  %.*s\n", best, (int)text.size, text.data);
        last = best;
        last_line = best_line;
    }
}

static int search_for(Embedder *embedder, const Lines *lines, const float *vectors, char *query) {
    Text text = {query, strlen(query)};
    float *vector = embed(embedder, &text, 1);
    if (!vector) return 3;
    printf("%s\n", query);
    print_nearest(lines, vectors, vector);
    free(vector);
    return 0;
}

static int search(Embedder *embedder, const Lines *lines, char **queries) {
    double begin = now();
    float *vectors = embed(embedder, lines->texts, lines->count);
    if (!vectors) return 3;
    double ms = 1e3 * (now() - begin);
    printf("%zu sentences in %.1f ms\n", lines->count, ms);
    int status = 0;
    for (; *queries && status == 0; queries++)
        status = search_for(embedder, lines, vectors, *queries);
    free(vectors);
    return status;
}

/* ---- compare --------------------------------------------------------------------------------- */

/* The least cosine between a row of one and of the other; NaN counts as 0. */
static double least_cosine(const float *vectors, const float *expected, size_t count) {
    double least = 1;
    for (size_t i = 0; i < count; i++) {
        const float *a = vectors + i * EMBEDDING, *b = expected + i * EMBEDDING;
        double cosine = dot(a, b) / sqrt(dot(a, a) * dot(b, b));
        if (isnan(cosine)) cosine = 0;
        if (cosine < least) least = cosine;
    }
    return least;
}

static int compare(Embedder *embedder, const Lines *lines, char **arguments) {
    Npy expected = {0};
    const char *wrong = npy_read(arguments[0], "<f4", sizeof(float), &expected);
    if (!wrong && expected.count != (int64_t)lines->count * EMBEDDING)
        wrong = "is not a row of 384 for each sentence";
    float *vectors = wrong ? NULL : embed(embedder, lines->texts, lines->count);
    int status = wrong ? fail(arguments[0], wrong) : 3;
    if (vectors) {
        double least = least_cosine(vectors, expected.data, lines->count);
        printf("%zu sentences, the least cosine is %.9f\n", lines->count, least);
        status = least >= strtod(arguments[1], NULL) ? 0 : 1;
    }
    free(vectors);
    npy_free(&expected);
    return status;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static int print_tokens(const char *vocabulary_path, const char *path) {
    Vocabulary *vocabulary;
    Lines lines = {0};
    int64_t ids[MAX_TOKENS];
    const char *wrong = vocabulary_read(vocabulary_path, &vocabulary);
    if (wrong) return fail(vocabulary_path, wrong);
    int status = read_lines(path, &lines) ? 0 : 3;
    for (size_t i = 0; i < lines.count; i++) {
        Text text = lines.texts[i];
        int64_t count = wordpiece_ids(vocabulary, text.data, text.size, ids, MAX_TOKENS);
        for (int64_t k = 0; k < count; k++)
            printf("%lld%c", (long long)ids[k], k + 1 < count ? ' ' : '\n');
    }
    free_lines(&lines);
    vocabulary_free(vocabulary);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

typedef int Action(Embedder *embedder, const Lines *lines, char **arguments);

/* paths: the model, the vocabulary, the sentences; then what the action takes. */
static int with_model(Action *action, char **paths) {
    Lines lines = {0};
    Embedder *embedder = embedder_open(paths[0], paths[1]);
    int status = 3;
    if (embedder && read_lines(paths[2], &lines)) status = action(embedder, &lines, paths + 3);
    free_lines(&lines);
    if (embedder) embedder_close(embedder);
    return status;
}

int main(int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : "";
    if (strcmp(word, "search") == 0 && argc >= 6) return with_model(search, argv + 2);
    if (strcmp(word, "compare") == 0 && argc == 7) return with_model(compare, argv + 2);
    if (strcmp(word, "tokens") == 0 && argc == 4) return print_tokens(argv[2], argv[3]);
    fprintf(stderr, "usage: minilm search MODEL.so VOCAB.txt SENTENCES.txt QUERY...\n"
                    "       minilm compare MODEL.so VOCAB.txt SENTENCES.txt EXPECTED.npy COSINE\n"
                    "       minilm tokens VOCAB.txt SENTENCES.txt\n");
    return 2;
}
