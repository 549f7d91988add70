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

/* ---- parse_access.c: what instructions name -------------------------------------------------- */

typedef VEC(TileId) Ids;
typedef VEC(TileGuard) Guards;

/* Where an instruction reads or writes. */
typedef struct Access {
    uint32_t view;
    const Dim *subscripts[TYPE_MAX_RANK];
    TileId at[TYPE_MAX_RANK]; /* added to the subscript, or TILE_none */
    Guards guards;
} Access;

/* These two report an unknown name, and a number of things that is not the wanted one; false. */
bool parse_unknown(Parser *p, const Token *token);
bool parse_wrong_count(Parser *p, size_t count, const char *what, uint32_t want);

bool parse_value(Parser *p, TileId *out_id);
bool parse_values(Parser *p, Ids *ids); /* %1, %2, … */
/* Gives the value its name; an error if there is one of this name. */
bool parse_define(Parser *p, const Token *token, TileId id);
bool parse_view(Parser *p, uint32_t *out_view);
bool parse_one(Parser *p, const char *key, const TileType *shape, const Dim **out_dim);
bool parse_axis(Parser *p, uint32_t rank, uint32_t *out_axis);

/* 0 <= %c < N and …, or true; the second takes "where" before it, or nothing at all. */
bool parse_guards(Parser *p, const TileType *shape, Guards *guards);
bool parse_where(Parser *p, const TileType *shape, Guards *guards);

/* %x[%r, %4 + %c]; the second with its guards behind. */
bool parse_element(Parser *p, const TileType *shape, Access *access);
bool parse_access(Parser *p, const TileType *shape, Access *access);

/* A type stands at the end of its instruction, but the axes before it depend on it: it is read
 * first. Having come to it then, the second goes on behind it. */
bool parse_type_ahead(Parser *p, TileType *out_type, size_t *out_colon, size_t *out_end);
bool parse_past_type(Parser *p, size_t colon, size_t end);

/* ---- parse_ops.c: instructions without blocks ------------------------------------------------ */

/* One that is no loop, branch or yield, added to the open block. It has *out_count results. */
bool parse_operation(Parser *p, TileId *out_result, uint32_t *out_count);

/* ---- parse_block.c: blocks, loops and branches ----------------------------------------------- */

typedef struct Yields {
    uint32_t count;
    const TileId *values;
} Yields;

/* { instructions }. `out_yields` gets what the block hands on; NULL where it may not. */
bool parse_block(Parser *p, Yields *out_yields);

#endif
