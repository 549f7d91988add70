/* Attention kernels: two contractions with a row of weights between them.
 *
 *     s[…, q, k] = Σ_d queries · keys        the scores
 *     a = f(s, …)                            scaled, masked, capped: any elementwise ops
 *     m = max_k a,  w = exp(a - m) · …,  l = Σ_k w
 *     o[…, q, n] = Σ_k w · v                 and an epilogue, as o / l
 *
 * in one kernel that never stores s or w whole. attention_parts.c finds these parts in a region,
 * attention.c chooses sizes, attention_mask.c finds the keys that a mask leaves, attention_sweep.c
 * has the loops, attention_weights.c makes a block of w, attention_operands.c copies operands to
 * scratch. */
#ifndef TCC_CODEGEN_SKELETON_ATTENTION_H
#define TCC_CODEGEN_SKELETON_ATTENTION_H

#include "codegen/skeleton/domain.h"
#include "codegen/skeleton/sums.h"

/* A contraction's labels, and the index that each has at the moment. */
typedef struct Product {
    NodeId id;
    const Node *node;
    NodeId operands[2];
    const IntList *labels[2], *out;
    uint32_t outer;                    /* the operand that the queries' axis comes from */
    int64_t summed[TYPE_MAX_RANK];     /* labels, in the order of operand `outer` */
    const Dim *extents[TYPE_MAX_RANK]; /* of those */
    uint32_t summed_count;
    const Dim *result[TYPE_MAX_RANK];   /* the index of the result */
    const Dim *position[TYPE_MAX_RANK]; /* of the summed labels */
} Product;

/* Scratch of a grid point; UINT32_MAX where there is none. */
typedef struct AttentionViews {
    uint32_t queries;              /* [d, queries] of the block */
    uint32_t weights;              /* [keys, queries]: a, then w */
    uint32_t keys;                 /* [keys, d]: a copy where an element takes more than a load */
    uint32_t values;               /* [keys, n], likewise */
    uint32_t result;               /* [queries, n] so far */
    uint32_t maximum, sum, factor; /* [queries]: m and l so far, and what corrects o */
} AttentionViews;

typedef struct Attention {
    const SkeletonRequest *request;
    ValueEmitter e;
    Product scores, values;
    uint32_t key_axis, query_axis; /* of the scores */
    NodeId weights;                /* w, the operand of `values` */
    NodeId maximum;                /* m; NODE_none: w is not measured from one */
    NodeId sum;                    /* l; NODE_none: there is none */
    NodeId kept;                   /* what the first sweep leaves: a, or w where there is no m */
    bool zero_unit;                /* a row of -inf counts as measured from 0 (safe_softmax) */
    bool ignores_nan;              /* of the maximum */
    bool resident;                 /* all keys are one block */
    bool copies_keys, copies_values;
    int64_t queries, keys; /* of a block; keys: at most, where resident */
    int64_t score_rows, score_columns, value_rows, value_columns; /* of register tiles */
    const Dim *columns;                                           /* n: how many there are */
    uint32_t column_count;                                        /* its labels */
    AttentionViews views;
    Domain domain;                  /* of the scores: its index at the moment */
    const Dim *first_query;         /* of the grid point */
    const Dim *first_key, *end_key; /* that a mask leaves to the block of queries */
} Attention;

/* Finds the parts in the request's region. What is no attention is the emitter's error. */
void attention_find_parts(Attention *s);

/* The index of operand `which` of the product at the current result and position. */
void attention_operand_index(const Product *p, uint32_t which, const Dim **out_index);

/* Sets first_key and end_key of the block of queries at first_query: what is outside has the weight
 * 0 whatever the scores are. */
void attention_find_keys(Attention *s);

/* Copies of the block's operands in scratch: queries once, keys and values for keys from..from +
 * count. */
void attention_copy_queries(Attention *s);
void attention_copy_keys(Attention *s, const Dim *from, const Dim *count);
void attention_copy_values(Attention *s, const Dim *from, const Dim *count);
/* `rows` keys from key `from` + `row` on at position `d`, a scalar each; the values of a key at the
 * columns of a tile, in vectors. */
TileId attention_load_keys(Attention *s, const Dim *from, const Dim *row, int64_t rows,
                           const Dim *d);
TileId attention_load_values(Attention *s, const Dim *from, const Dim *row, const Dim *column);

/* An index along an axis of `dim`: 0 where there is one element, as movement says. */
const Dim *attention_within(const Attention *s, const Dim *dim, const Dim *index);

void attention_set_shape(Attention *s, uint32_t rank, int64_t first, int64_t second, int64_t lanes);
/* A scratch view accessed at one or two subscripts. */
TileId attention_load(Attention *s, uint32_t view, const Dim *first, const Dim *second);
void attention_store(Attention *s, TileId value, uint32_t view, const Dim *first,
                     const Dim *second);
/* The dtype that a product is summed in, and a value in it. */
DType attention_sum_dtype(const Attention *s, const Product *p);
TileId attention_as(Attention *s, TileId value, DType dtype);

/* An op of two values, TILE_none where one of them is; a number everywhere in the shape. */
TileId attention_map2(Attention *s, Op op, TileId a, TileId b);
TileId attention_number(Attention *s, DType dtype, double value);
/* How many queries the block has, up to a multiple of the tiles of values. */
const Dim *attention_query_count(const Attention *s);
/* A loop over the tiles of `size` that `count` elements fill, the last one perhaps in part. */
EmitLoop attention_begin_tiles(Attention *s, const char *name, const Dim *count, int64_t size);

/* Moves `domain` to a query and a key. */
void attention_set_domain(Attention *s, const Dim *query, const Dim *key);
/* Gives a node of the region its value at the domain: of `rank` axes, which are all, or all but the
 * keys'. A leading value is of a smaller rank and has the first axes of the tile. */
void attention_provide(Attention *s, NodeId id, TileId value, uint32_t rank, bool leading);
TileId attention_exp(Attention *s, TileId value); /* of what is at most 0 */
/* Adds to l, which is behind by the factor, at a place of its row. */
void attention_add_sum(Attention *s, TileId sum, const Dim *place);
/* Makes w of the block's `count` keys from key `from` on; m, l and the factor keep up. */
void attention_make_weights(Attention *s, const Dim *from, const Dim *count);

/* The work of a grid point: the loops over keys, and the results. */
void attention_sweep(Attention *s);
/* The whole of a free program. */
void attention_build_free(Attention *s);

#endif
