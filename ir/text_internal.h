/* What the files text_*.c share: the elements of constants, and the reader of tokens. */
#ifndef TCC_IR_TEXT_INTERNAL_H
#define TCC_IR_TEXT_INTERNAL_H

#include "base/map.h"
#include "ir/text.h"

/* Constants of up to this many elements stand in the text. */
enum { TEXT_MAX_ELEMENTS = 64, TEXT_MAX_NESTING = 64, TEXT_MAX_NODES = 1000000 };

/* Whether a blob that is a value of `type` stands in the text; out_count is its number of elements.
 */
bool text_is_inline(const Type *type, const Blob *blob, int64_t *out_count);

/* Whether the reader takes the text for a name. */
bool text_is_name(Str text);

/* "[0x1p+0, -0x1.8p+1]" for a blob that is inline, "blob(digest)" for another, "none" for NULL. */
void text_put_value(Buf *buf, const Type *type, const Blob *blob);

void text_put_digest(Buf *buf, const Blob *blob); /* in hexadecimal */

/* "dim N in 1..256 tune 32" lines of the symbols that the module mentions. */
void text_put_symbols(Buf *buf, const Module *module);
/* "check N == M" lines of the graph, indented once. */
void text_put_checks(Buf *buf, const Graph *graph, const PrintOptions *options);

/* A place in a text being read. The token at the cursor begins at `rest` once blanks are skipped.
 */
typedef struct TextReader {
    IrContext *ctx;
    Arena *arena; /* of the graphs */
    Diags *diags;
    uint32_t file;
    Str rest;
    const char *line_start;
    uint32_t line;
} TextReader;

Loc text_loc(const TextReader *in); /* of the next token */
/* Skips blanks, line ends and comments. */
void text_skip(TextReader *in);
bool text_at_end(TextReader *in);
/* Whether the next token begins with `mark`; accept also moves past it. */
bool text_peek(TextReader *in, const char *mark);
bool text_accept(TextReader *in, const char *mark);
/* These report what is wrong at the place and return false. */
bool text_expect(TextReader *in, const char *mark);
bool text_name(TextReader *in, Str *out_name); /* letters, digits, "_" and "."; empty is an error */
bool text_string(TextReader *in, Str *out_text);
bool text_name_or_string(TextReader *in, Str *out_text);
bool text_int(TextReader *in, int64_t *out_value);
bool text_range(TextReader *in, int64_t *out_lo, int64_t *out_hi); /* "1..256" */
bool text_dim(TextReader *in, const Dim **out_dim);
bool text_type(TextReader *in, const Type **out_type);
/* What buf_put_value wrote, for a type that is known. */
bool text_value(TextReader *in, const Type *type, BlobLookup *lookup, void *user,
                const Blob **out_blob);
bool text_digest(TextReader *in, uint8_t digest[32]);
/* What print_blobs wrote at the end of the text, which ends before it then: blobs by digest. */
bool text_blobs(TextReader *in, Map *blobs);
/* Reports "expected WHAT, found …" at the next token; returns false. */
bool text_wrong(TextReader *in, const char *what);

/* What text_put_symbols wrote, into the context, each named dim narrowed to its range, if there is
 * one. It is an error if there is no dim of a range's name. */
bool text_symbols(TextReader *in, DimRanges ranges);
/* "graph { … }" as a region of nodes of `root`, which gets the checks that are found in it. */
bool text_region(TextReader *in, BlobLookup *lookup, void *user, Graph *root,
                 const Graph **out_region);
/* "check N == M" lines, into the graph. */
bool text_checks(TextReader *in, Graph *graph);

#endif
