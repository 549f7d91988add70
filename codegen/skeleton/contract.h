/* The parts of the contraction skeleton (docs/contractions.md).
 *
 * Labels of the einsum fall in four groups: batch (in both operands and the result), m and n (in
 * one operand and the result) and k (in both operands only). The operands are named so that the
 * result's last axis is an n label: vectors run along n. What is computed is then, for each batch
 * index, the product of a matrix a[m, k] and a matrix b[k, n]. */
#ifndef TCC_CODEGEN_SKELETON_CONTRACT_H
#define TCC_CODEGEN_SKELETON_CONTRACT_H

#include "codegen/skeleton/domain.h"
#include "codegen/skeleton/sums.h"

typedef enum LabelGroup { GROUP_batch, GROUP_m, GROUP_n, GROUP_k, GROUP_count } LabelGroup;

typedef struct Label {
    LabelGroup group;
    const Dim *dim;
    int a_axis, b_axis, out_axis; /* -1 where it does not occur */
    const Dim *index;             /* the current one */
} Label;

/* How the elements of an operand are found, as its loads were emitted. */
typedef struct OperandFacts {
    bool quads;    /* one load of bytes, of which four steps of k are neighbours */
    bool computed; /* more than a load of the sum's dtype */
    bool slow;     /* neighbours along the tile are not neighbours in memory */
    bool far;      /* steps of k are further apart in memory than a tile is wide */
    int64_t apart; /* how many elements, 0 where that varies */
} OperandFacts;

typedef struct Contraction {
    const SkeletonRequest *request;
    ValueEmitter e;
    NodeId id;
    const Node *node;
    NodeId a, b;
    Label labels[3 * TYPE_MAX_RANK];
    uint32_t label_count;
    Domain domain; /* the result's dims */
    const Dim *extent[GROUP_count];
    /* How the work is cut: register tiles of mr × nr, `rows` of them one below the other and
     * `panels` side by side in a grid point, and the sum in parts of `depth` terms; 0: in one. */
    int64_t mr, nr, lanes, rows, panels, depth;
    /* Of rows: blocks of point_tiles tiles, which are `rows` at the most; `tiles` in all, the first
     * `taller` of height + 1 rows. */
    const Dim *blocks, *point_tiles, *tiles, *height, *taller;
    bool pack_a, pack_b; /* copy the rows and the panel at hand to scratch */
    bool prefetch;       /* ask for the next panel */
    bool words;          /* products of bytes, four steps of k at a time (contract_words.c) */
    const Dim *steps;    /* of k: its extent, or the words in it */
    bool has_rows;       /* reductions over whole rows follow (contract_rows.c) */
    NodeId kept;         /* what they read */
    uint32_t totals_view, band_view;
    uint32_t a_view, b_view, sums_view;
    OperandFacts a_facts, b_facts;
} Contraction;

/* A tile of results. */
typedef struct Corner {
    Contraction *s;
    const Dim *block;        /* the point's rows begin with tile block · point_tiles */
    const Dim *row, *column; /* of its first element, among all of m and n */
    const Dim *tile;         /* its number within the point */
    const Dim *block_row;    /* where its rows begin in scratch: tile · mr */
    int64_t mr, nr;
    bool partial;           /* it may reach past n */
    const Dim *first, *end; /* terms to add; NULL: all */
} Corner;

/* ---- contract_labels.c ---- */
/* Names the operands and finds the labels: in the result's order, then the summed ones in a's. */
void contract_find_labels(Contraction *s);
/* Sets the indices of a group's labels from one position over all of them. */
void contract_set_group(Contraction *s, LabelGroup group, const Dim *position);
/* An operand at the labels' current indices, and the same in the sum's dtype. */
TileId contract_raw_operand(Contraction *s, bool is_a);
TileId contract_operand(Contraction *s, bool is_a);
DType contract_sum_dtype(const Contraction *s);
/* Adds a grid axis for each batch label. */
void contract_add_batch(Contraction *s);
/* The result's index at the labels' current indices, for the epilogue. */
void contract_set_result_index(Contraction *s);
/* Provides the finished sums at the result's index and stores what the region makes of them; what
 * rows are made of goes to the band, at the corner's place. */
void contract_store(Contraction *s, TileId sums, const Corner *corner);

/* ---- contract_tile.c ---- */
/* Emits a tile: sums, epilogue, stores. */
void contract_build_tile(const Corner *corner);

/* ---- contract_panels.c ---- */
/* Declares the scratch that packing and parts of sums need. */
void contract_add_views(Contraction *s);
/* Copies the panel at hand; one row of a, or the rows of a tile. */
void contract_pack_b(const Corner *corner);
void contract_pack_a_row(Contraction *s, const Dim *row, const Dim *block_row);
void contract_pack_a_tile(const Corner *corner);
/* a and b of a tile at step k, from the operands or from scratch; b is 0 past n. */
TileId contract_load_a(const Corner *corner, const Dim *k);
TileId contract_load_b(const Corner *corner, const Dim *k);
/* Asks for a part of the next panel at step k of a tile. */
void contract_prefetch_b(const Corner *corner, const Dim *k);
/* The current shape becomes [first, second], or [first] where second is 0. */
void contract_set_shape(Contraction *s, int64_t first, int64_t second, int64_t lanes);

/* ---- contract_words.c ---- */
/* Whether the target multiplies bytes in words, and the operands are such. */
bool contract_takes_words(const Contraction *s);
void contract_add_word_views(Contraction *s);
void contract_pack_a_bytes(Contraction *s, const Dim *row, const Dim *block_row);
/* What is copied of the operand without the last axis: a byte, 128 more where it is signed. */
TileId contract_as_byte(Contraction *s, TileId a);
void contract_pack_b_words(const Corner *corner);
/* What the sums of a panel begin with, to scratch. */
void contract_total_b(const Corner *corner);
/* The sums of a tile. */
TileId contract_sum_words(const Corner *corner);

/* ---- contract_rows.c ---- */
/* Whether reductions follow the contraction. */
bool contract_has_rows(const Graph *region);
/* Finds what they read; false, with the error, where they cannot be made with it. */
bool contract_begin_rows(Contraction *s);
void contract_add_band(Contraction *s);
/* Stores the kept value of a tile, whose sums are provided. */
void contract_store_band(const Corner *corner);
/* What becomes of a row, which lies at `place` of the band. */
void contract_build_row(Contraction *s, const Dim *row, const Dim *place);
/* A grid point a row, in free form. */
void contract_build_free_rows(Contraction *s);

/* ---- contract_schedule.c ---- */
/* The fields of the schedule that contractions have, from shapes and target. */
void contract_schedule(const SkeletonRequest *request, Schedule *schedule);
/* How many rows a register tile of `columns` may have: accumulators, a row of b and one broadcast
 * fill the registers. */
int64_t contract_tile_rows(const Target *target, int64_t columns, int64_t bytes);

/* What pays, by the facts of a first try: copies of the operands, asking for the next panel; and
 * how many panels share a copy of rows. */
bool contract_should_pack_a(const Contraction *tried);
bool contract_should_pack_b(const Contraction *tried);
bool contract_should_prefetch(const Contraction *tried);
int64_t contract_panels_of_point(const Contraction *tried);

/* ---- contract_mma.c ---- */
/* Whether tensor cores take it, and the walk by them. */
bool contract_uses_mma(const Contraction *s);
void contract_build_mma(Contraction *s);

#endif
