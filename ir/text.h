/* The text form of graphs (.tir): printed and parsed back exactly.
 *
 *     tir 1
 *     dim N in 1..256 tune 32
 *     graph @digits {
 *       %0 = input index=0 name="image" : f32[N, 1, 8, 8]
 *       %1 = param name="conv1.weight" value=blob(9f86…) : f32[16, 1, 3, 3]
 *       %2 = const value=[0x1p+0] : f32[]
 *       %3 = conv %0, %1 strides=[1, 1] … : f32[N, 16, 8, 8]
 *       return probs = %3
 *     }
 *
 * Floats are hexadecimal; constants of up to 64 elements stand in the text, longer ones are named
 * by their SHA-256, and their bytes stand behind the graphs (print_blobs) or are given to the
 * reader (BlobLookup). Origins are printed as `@ line:col` when asked.
 */
#ifndef TCC_IR_TEXT_H
#define TCC_IR_TEXT_H

#include "ir/graph.h"

/* Larger constants together are left out of texts, which then do not read back; a text with them
 * has less than TEXT_MAX_BYTES. */
enum { TEXT_MAX_BLOB_BYTES = 256 << 20, TEXT_MAX_BYTES = 512 << 20 };

/* Finds the bytes of a blob that the text does not hold by digest when text is read; NULL when
 * unknown. */
typedef const Blob *BlobLookup(void *user, const uint8_t digest[32]);

typedef struct PrintOptions {
    bool origins; /* print source places */
    bool files;   /* with the numbers of their files; for comparing, not for reading back */
} PrintOptions;

void print_module(Buf *buf, const Module *module, const PrintOptions *options);
/* The bytes of the blobs that the module's text refers to, to be printed behind it. */
void print_blobs(Buf *buf, const Module *module);
void print_graph(Buf *buf, const Graph *graph, const PrintOptions *options);
/* One node as a line without the newline, for messages. */
void print_node(Buf *buf, const Graph *graph, NodeId id);

/* Calls `visit` for each distinct blob of more than 64 elements that the module's text refers to.
 */
void module_visit_blobs(const Module *module, void (*visit)(void *user, const Blob *blob),
                        void *user);

/* As parse_module, for a whole file: its named dims are narrowed to these ranges. */
Module *parse_module_narrowed(IrContext *ctx, Arena *arena, Diags *diags, uint32_t file,
                              DimRanges ranges);
/* Reads .tir text (file `file` of `diags`). NULL after diagnostics. Accepts hostile text: limits of
 * nesting (64) and nodes (10^6) are errors; every node is inferred and verified as it is read. */
Module *parse_module(IrContext *ctx, Arena *arena, Diags *diags, uint32_t file, BlobLookup *lookup,
                     void *user);

#endif
