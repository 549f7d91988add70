#include "tests/fuzz/shrink.h"

#include "passes/reduce/reduce.h"

#include <ctype.h>
#include <string.h>

typedef struct Shrinker {
    FuzzJudge *judge;
    const FuzzCase *c;
    uint32_t way;
    const char *why;
} Shrinker;

// Whether two faults are of one kind: the same words, whatever the numbers and names in them.
static bool same_kind(const char *a, const char *b) {
    if (!b) return false;
    const char *last_a = strrchr(a, ':'), *last_b = strrchr(b, ':');
    if (strncmp(a, b, 7) != 0 && strstr(a, "wrong") == NULL) return false;
    if (strncmp(a, "refused", 7) != 0) return strncmp(b, "refused", 7) != 0;
    for (a = last_a ? last_a : a, b = last_b ? last_b : b; *a && *b; a++, b++) {
        while (*a && !isalpha((unsigned char)*a)) a++;
        while (*b && !isalpha((unsigned char)*b)) b++;
        if (*a != *b) return false;
    }
    return *a == *b;
}

static FuzzCase with(const FuzzCase *c, const GraphCase *smaller) {
    FuzzCase result = *c;
    result.graph = smaller->graph;
    result.inputs = smaller->inputs;
    return result;
}

static bool fails_likewise(void *user, const GraphCase *smaller) {
    const Shrinker *s = user;
    FuzzCase c = with(s->c, smaller);
    Arena *arena = arena_new(NULL);
    bool same = same_kind(s->why, fuzz_judge_apart(s->judge, arena, &c, s->way));
    arena_free(arena);
    return same;
}

FuzzCase fuzz_shrink(FuzzJudge *judge, Arena *arena, const FuzzCase *c, uint32_t way,
                     const char *why) {
    Shrinker s = {.judge = judge, .c = c, .way = way, .why = why};
    GraphCase first = {c->ctx, c->graph, c->inputs, c->symbols};
    GraphCase last =
        reduce_case(arena, &first, &(ReduceRequest){.holds = fails_likewise, .user = &s});
    return with(c, &last);
}
