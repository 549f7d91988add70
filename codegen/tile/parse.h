/* What the files of the parser of tile programs share. The entry is tile_parse of tile_tools.h. */
#ifndef TCC_CODEGEN_TILE_PARSE_H
#define TCC_CODEGEN_TILE_PARSE_H

#include "base/diag.h"
#include "codegen/tile/tile.h"

typedef enum TokenKind {
    TOKEN_end,
    TOKEN_name,     /* load, N, bf16 */
    TOKEN_variable, /* %k: a loop variable or a view; the text is without the % */
    TOKEN_value,    /* %12 */
    TOKEN_axis,     /* $0 */
    TOKEN_kernel,   /* @softmax */
    TOKEN_number,   /* 12, 0x1.8p+3, 1.5 */
    TOKEN_mark,     /* one of the marks of the language: ( , .. // <= … */
    TOKEN_wrong     /* a character that begins no token */
} TokenKind;

typedef struct Token {
    TokenKind kind;
    Str text; /* without the sigil of variables, values, axes and kernels */
    Loc loc;
} Token;

typedef VEC(Token) Tokens;

/* All tokens of a text; the last is TOKEN_end. A ; begins a comment up to the end of the line. */
Tokens tile_lex(Arena *arena, uint32_t file, Str text);

/* What a name with a % stands for. */
typedef struct Named {
    const DimSymbol *variable; /* NULL for a view */
    uint32_t view;
} Named;

/* Where an instruction stands in the text. */
typedef struct Place {
    const TileInstr *instr;
    Loc loc;
} Place;

typedef struct Parser {
    IrContext *ctx;
    Arena *arena;
    Diags *diags;
    Tokens tokens;
    size_t at;
    TileProgram *program;
    TileBuilder b;
    Map names;  /* to Named */
    Map values; /* the number as text, to TileId */
    VEC(Place) places;
    uint32_t blocks, parentheses; /* how deep they nest here */
} Parser;

/* Functions that return bool give false after an error, which is then reported; the first one ends
 * the reading. */

/* ---- parse.c: tokens ------------------------------------------------------------------------- */

const Token *parse_token(const Parser *p);
bool parse_is(const Parser *p, const char *text); /* the name or mark `text` */
bool parse_take(Parser *p, const char *text);     /* whether it is there; goes on behind it */
bool parse_want(Parser *p, const char *text);
/* Reports what was expected at the current token; false. */
bool parse_wrong(const Parser *p, const char *expected);
bool parse_kind(Parser *p, TokenKind kind, const char *what, const Token **out_token);
bool parse_int(Parser *p, int64_t least, int64_t most, int64_t *out_value);
bool parse_uint(Parser *p, uint32_t most, uint32_t *out_value);
/* A number of the dtype: *out_number for floats, else *out_integer. */
bool parse_number(Parser *p, DType dtype, double *out_number, int64_t *out_integer);

/* ---- parse_dim.c: expressions and types ------------------------------------------------------ */

/* An expression over dims, variables and, where `shape` is not NULL, its axes. */
bool parse_dim(Parser *p, const TileType *shape, const Dim **out_dim);
/* [a, b, …]: at most `most` of them. */
bool parse_dims(Parser *p, uint32_t most, const Dim **out_dims, uint32_t *out_count);
bool parse_dtype(Parser *p, DType *out_dtype);
/* : tile<f32 [16] lanes=16> */
bool parse_type(Parser *p, TileType *out_type);

/* ---- parse_ops.c: instructions --------------------------------------------------------------- */

typedef struct Yields {
    uint32_t count;
    const TileId *values;
} Yields;

/* { instructions }. `out_yields` gets what the block hands on; NULL where it may not. */
bool parse_block(Parser *p, Yields *out_yields);

#endif
