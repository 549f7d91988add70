/* The cascade algebra: which of a row's reductions can be made in one sweep over it, though the
 * later ones are written in terms of the earlier ones.
 *
 * A summand is brought to a product of factors (a maximum's operand to a sum of addends), and each
 * factor is classed by what it depends on: the position k in the row, and earlier reductions r:
 *
 *   plain      no r: it is accumulated as it is
 *   hoisted    r but not k: it leaves the sum, Σ f·c = c·Σ f; for max, as an addend
 *   corrected  exp(a(k) - r) with r = max a, or 0 where that is -inf: the running sum is
 *              multiplied by exp(r_old - r_new) whenever r grows (online softmax)
 *   centred    (a(k) - r)², r the mean of a: partial sums merge by Chan's formula
 *   dependent  anything else: it needs a sweep after r is known
 *
 * This is the invertible-correction condition of Neptune (arXiv 2510.08726) and RedFuser (arXiv
 * 2603.10026), for what models contain, decided by comparing terms. What is derived is validated at
 * once: random vectors with infinities, NaN and large values, in random pieces, against the
 * reductions one after the other. */
#ifndef TCC_PASSES_FUSE_CASCADE_H
#define TCC_PASSES_FUSE_CASCADE_H

#include "passes/fuse/axes.h"

typedef enum CascadeForm {
    CASCADE_plain,
    CASCADE_hoisted,
    CASCADE_corrected,
    CASCADE_centred,
    CASCADE_dependent
} CascadeForm;

enum { CASCADE_MAX_SUMS = 16, CASCADE_MAX_FACTORS = 16 };

/* A value inside the row, with movement taken away: equal values are the same term. */
typedef struct Term Term;
struct Term {
    Op op;       /* OP_input for a leaf */
    NodeId node; /* of the region */
    uint32_t arg_count, id;
    const Term *args[3];
    bool varies;     /* along the row */
    bool opaque;     /* not followed further: nothing is known but what it depends on */
    uint32_t deps;   /* the reductions that it depends on, as bits */
    int reduction;   /* it is the result of that one; -1: of none */
    double constant; /* the value of a constant; NaN for others */
};

typedef struct Factor {
    const Term *term;
    bool inverse; /* divides; of a maximum's operand: is subtracted */
    CascadeForm form;
} Factor;

typedef struct CascadeSum {
    NodeId node; /* of the region */
    Op scalar;   /* add, mul, max, min; gt and lt for argmax and argmin */
    const Term *operand;
    CascadeForm form; /* the least plain of its factors */
    int reference;    /* the reduction that it is corrected by or centred on; -1: none */
    bool zero_unit;   /* corrected: from 0 where the maximum is -inf (safe_softmax) */
    uint32_t factor_count;
    Factor factors[CASCADE_MAX_FACTORS];
    uint32_t sweep;         /* from 1: the first sweep that can make it, by itself … */
    uint32_t derived_sweep; /* … and with what was derived */
} CascadeSum;

typedef struct Cascade {
    uint32_t count;
    CascadeSum sums[CASCADE_MAX_SUMS];
    double length;                   /* of a row, at the dims' tune values */
    uint32_t sweeps, derived_sweeps; /* that make all reductions */
    const Term *const *terms;        /* all, operands before users */
    uint32_t term_count;
} Cascade;

/* The cascade of a row region; NULL when it has too many reductions. What is derived is already
 * validated. All lies in `arena`. */
Cascade *cascade_analyse(Axes *axes, Arena *arena, const Graph *region);

/* The same with a contraction as the last sum, over axis `axis` of its operand `weights`, which is
 * made by the region's reductions along that axis. */
Cascade *cascade_analyse_chain(Axes *axes, Arena *arena, const Graph *region, NodeId contract,
                               uint32_t weights, uint32_t axis);

/* Whether all that was derived agrees with the reductions one after the other (validate.c). */
bool cascade_is_valid(const Cascade *cascade, Arena *arena);

#endif
