/* Contractions by tensor cores. */
#include "codegen/skeleton/contract.h"
#include "codegen/skeleton/mma.h"

static TileId mma_a(MmaWalk *w, const Dim *row, const Dim *k) {
    Contraction *s = w->user;
    contract_set_group(s, GROUP_m, row);
    contract_set_group(s, GROUP_k, k);
    return contract_raw_operand(s, true);
}

static TileId mma_b(MmaWalk *w, const Dim *row, const Dim *k) {
    Contraction *s = w->user;
    contract_set_group(s, GROUP_n, row);
    contract_set_group(s, GROUP_k, k);
    return contract_raw_operand(s, false);
}

static void mma_result(MmaWalk *w, const Dim *row, const Dim *column, TileId sums) {
    Contraction *s = w->user;
    contract_set_group(s, GROUP_m, row);
    contract_set_group(s, GROUP_n, column);
    contract_set_result_index(s);
    contract_store(s, sums, NULL);
}

/* Whether the operand's last axis is summed over. */
static bool ends_in_k(const Contraction *s, NodeId operand, bool is_a) {
    int last = (int)graph_type(s->request->region, operand)->rank - 1;
    for (uint32_t i = 0; i < s->label_count; i++)
        if ((is_a ? s->labels[i].a_axis : s->labels[i].b_axis) == last)
            return s->labels[i].group == GROUP_k;
    return true;
}

static DType operand_dtype(const Contraction *s) {
    const Graph *g = s->request->region;
    DType a = graph_type(g, s->a)->dtype, b = graph_type(g, s->b)->dtype;
    if (a != b || !mma_pays(s->extent[GROUP_m], s->extent[GROUP_n], s->extent[GROUP_k]))
        return DT_count;
    return mma_operand_dtype(s->request, a, contract_sum_dtype(s));
}

bool contract_uses_mma(const Contraction *s) { return operand_dtype(s) != DT_count; }

void contract_build_mma(Contraction *s) {
    contract_add_batch(s);
    MmaWalk walk = {.e = &s->e,
                    .m = s->extent[GROUP_m],
                    .n = s->extent[GROUP_n],
                    .k = s->extent[GROUP_k],
                    .operand = operand_dtype(s),
                    .sum = contract_sum_dtype(s),
                    .a = mma_a,
                    .b = mma_b,
                    .store = mma_result,
                    .a_along_k = ends_in_k(s, s->a, true),
                    .b_along_k = ends_in_k(s, s->b, false),
                    .user = s};
    mma_build(&walk);
}
