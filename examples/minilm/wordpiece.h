/* wordpiece.h: the tokens of a text, as BERT models read it: without case and accents, words and
 * punctuation apart, each word in the longest pieces that the vocabulary has. */
#ifndef EXAMPLES_MINILM_WORDPIECE_H
#define EXAMPLES_MINILM_WORDPIECE_H

#include <stddef.h>
#include <stdint.h>

typedef struct Vocabulary Vocabulary;

/* Reads a vocabulary: a token a line, whose id is the number of its line from 0; pieces that go on
 * within a word begin with "##". [UNK], [CLS] and [SEP] must be among them. NULL, or what is wrong
 * with the file. A vocabulary never changes and may be used by any number of threads. */
const char *vocabulary_read(const char *path, Vocabulary **out_vocabulary);
void vocabulary_free(Vocabulary *vocabulary);

/* Writes the ids of a UTF-8 text to `ids`, from [CLS] to [SEP], and returns how many. What goes
 * beyond `capacity` (at least 2) is left out. Bytes that are not UTF-8 are passed over. A word
 * that has no pieces, or more than 100 letters, is [UNK]. Names of tokens in the text, "[SEP]", are
 * text. */
int64_t wordpiece_ids(const Vocabulary *vocabulary, const char *text, size_t size, int64_t *ids,
                      int64_t capacity);

#endif
