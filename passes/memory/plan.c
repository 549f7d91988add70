#include "passes/memory/plan.h"

#include "base/str.h"

/* Placed blocks sorted by offset, and the order in which blocks are placed. */
typedef struct Placer {
    PlanBlock *blocks;
    uint32_t count;
    uint32_t *order;  /* of blocks, as they are placed */
    uint32_t *placed; /* by offset */
    uint32_t placed_count;
} Placer;

static bool live_together(const PlanBlock *a, const PlanBlock *b) {
    return a->first <= b->last && b->first <= a->last;
}

/* The smallest gap that holds the block between those placed and live with it, else behind them
 * all. */
static int64_t best_gap(const Placer *p, const PlanBlock *block) {
    int64_t end = 0, best = -1, best_size = INT64_MAX;
    for (uint32_t i = 0; i < p->placed_count; i++) {
        const PlanBlock *other = &p->blocks[p->placed[i]];
        if (!live_together(block, other)) continue;
        int64_t gap = other->offset - end;
        if (gap >= block->bytes && gap < best_size) {
            best = end;
            best_size = gap;
        }
        if (other->offset + other->bytes > end) end = other->offset + other->bytes;
    }
    return best >= 0 ? best : end;
}

static void insert_placed(Placer *p, uint32_t block) {
    uint32_t at = p->placed_count++;
    for (; at && p->blocks[p->placed[at - 1]].offset > p->blocks[block].offset; at--) {
        p->placed[at] = p->placed[at - 1];
    }
    p->placed[at] = block;
}

/* Places all blocks in the current order; the bytes of the arena. */
static int64_t place_all(Placer *p) {
    int64_t peak = 0;
    p->placed_count = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        PlanBlock *block = &p->blocks[p->order[i]];
        block->offset = best_gap(p, block);
        insert_placed(p, p->order[i]);
        if (block->offset + block->bytes > peak) peak = block->offset + block->bytes;
    }
    return peak;
}

/* By decreasing size; longer lives first among equals, then by number. */
static void sort_by_size(Placer *p) {
    for (uint32_t i = 0; i < p->count; i++) {
        const PlanBlock *block = &p->blocks[i];
        uint32_t at = i;
        for (; at; at--) {
            const PlanBlock *before = &p->blocks[p->order[at - 1]];
            bool stays = before->bytes > block->bytes ||
                         (before->bytes == block->bytes &&
                          before->last - before->first >= block->last - block->first);
            if (stays) break;
            p->order[at] = p->order[at - 1];
        }
        p->order[at] = i;
    }
}

static void swap(uint32_t *order, uint32_t a, uint32_t b) {
    uint32_t other = order[a];
    order[a] = order[b];
    order[b] = other;
}

/* How many swaps are tried: 200, fewer where placing itself takes long. */
static uint32_t swap_budget(uint32_t count) {
    uint64_t cost = (uint64_t)count * count + 1, most = 40000000 / cost;
    return most < 200 ? (uint32_t)most : 200;
}

int64_t plan_lower_bound(Arena *scratch, const PlanBlock *blocks, uint32_t count) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (blocks[i].last > last) last = blocks[i].last;
    }
    int64_t *change = NEW_ARRAY(scratch, int64_t, (size_t)last + 2), live = 0, most = 0;
    for (uint32_t i = 0; i < count; i++) {
        change[blocks[i].first] += blocks[i].bytes;
        change[blocks[i].last + 1] -= blocks[i].bytes;
    }
    for (uint32_t i = 0; i <= last; i++) {
        live += change[i];
        if (live > most) most = live;
    }
    return most;
}

int64_t plan_blocks(Arena *scratch, PlanBlock *blocks, uint32_t count) {
    Placer p = {.blocks = blocks, .count = count};
    p.order = NEW_ARRAY(scratch, uint32_t, count);
    p.placed = NEW_ARRAY(scratch, uint32_t, count);
    sort_by_size(&p);
    int64_t bound = plan_lower_bound(scratch, blocks, count), peak = place_all(&p);
    uint64_t random = 1;
    for (uint32_t tries = swap_budget(count); count > 1 && tries && peak > bound; tries--) {
        random = hash_word(random, tries);
        uint32_t a = (uint32_t)(random % count), b = (uint32_t)((random >> 32) % count);
        swap(p.order, a, b);
        int64_t other = place_all(&p);
        if (other <= peak) {
            peak = other;
        } else {
            swap(p.order, a, b);
        }
    }
    return place_all(&p);
}
