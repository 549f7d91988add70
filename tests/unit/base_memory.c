// Arenas, guards, vectors and maps, with every allocation failing once.
#include "base/guard.h"
#include "base/map.h"
#include "base/vec.h"
#include "tests/unit/test.h"

// A source of blocks that fails after `left` of them and hands out dirty memory.
typedef struct Budget {
    long left, live;
} Budget;

static void *budget_grow(void *user, size_t size, size_t alignment) {
    Budget *budget = user;
    (void)alignment;
    if (budget->left-- <= 0) return NULL;
    budget->live++;
    void *block = malloc(size);
    memset(block, 0xa5, size);
    return block;
}

static void budget_release(void *user, void *block, size_t size) {
    (void)size;
    ((Budget *)user)->live--;
    free(block);
}

static void test_memory_is_zeroed_aligned_and_apart(void) {
    Budget budget = {1000, 0};
    Arena *arena = arena_new(&(ArenaSource){budget_grow, budget_release, &budget});
    unsigned char *before = NULL;
    bool good = true;
    for (size_t size = 0; size < 3000; size = size * 3 / 2 + 1) {
        for (int i = 0; i < 50; i++) {
            unsigned char *at = arena_alloc(arena, size);
            good = good && (uintptr_t)at % 16 == 0 && at != before;
            for (size_t k = 0; k < size; k++) good = good && at[k] == 0;
            memset(at, 0xff, size);
            before = at;
        }
    }
    CHECK(good);
    CHECK(budget.live > 3);
    arena_free(arena);
    CHECK_INT(budget.live, 0);
}

static void test_large_allocations_do_not_waste_the_block(void) {
    Budget budget = {1000, 0};
    Arena *arena = arena_new(&(ArenaSource){budget_grow, budget_release, &budget});
    for (int i = 0; i < 10; i++) {
        arena_alloc(arena, 100000);
        arena_alloc(arena, 16);
    }
    CHECK_INT(budget.live, 11);
    CHECK_INT(arena_used(arena), 1000160);
    arena_free(arena);
    arena_free(NULL);
    CHECK_INT(budget.live, 0);
}

static GuardKind kind_of(void (*work)(void *), void *object) {
    Guard guard;
    guard_enter(&guard);
    if (setjmp(guard.jump) == 0) work(object);
    guard_leave(&guard);
    return guard.kind;
}

static void alloc_too_much(void *arena) { arena_alloc(arena, SIZE_MAX - 3); }

static void alloc_wrapping_array(void *arena) { arena_alloc_array(arena, SIZE_MAX / 4, 8); }

static void alloc_more_than_there_is(void *arena) { arena_alloc(arena, SIZE_MAX / 2); }

static void test_impossible_sizes_raise(void) {
    Arena *arena = arena_new(NULL);
    CHECK_INT(kind_of(alloc_too_much, arena), GUARD_memory);
    CHECK_INT(kind_of(alloc_wrapping_array, arena), GUARD_memory);
    CHECK_INT(kind_of(alloc_more_than_there_is, arena), GUARD_memory);
    CHECK(arena_alloc(arena, 0) != NULL);
    arena_free(arena);
}

static void free_arena(void *arena) { arena_free(arena); }

// Fills a map and a vector, as a stand-in for any work in an arena.
static void fill(void *object) {
    Arena *arena = arena_new(object);
    GuardDefer defer;
    guard_defer(&defer, free_arena, arena);
    Map map = {.arena = arena};
    VEC(size_t) vec = {0};
    for (size_t i = 0; i < 5000; i++) {
        Str key = str_format(arena, "key %zu", i);
        map_set(&map, key, arena);
        vec_push(arena, &vec, i);
    }
    CHECK_INT(map.count, 5000);
    CHECK_INT(vec.count, 5000);
    guard_undefer(&defer);
    arena_free(arena);
}

static void test_every_block_fails_once(void) {
    long failures = 0;
    for (long left = 0;; left++) {
        Budget budget = {left, 0};
        GuardKind kind = kind_of(fill, &(ArenaSource){budget_grow, budget_release, &budget});
        CHECK_INT(budget.live, 0);
        if (kind == GUARD_none) break;
        CHECK_INT(kind, GUARD_memory);
        failures++;
    }
    CHECK(failures > 5);
}

static void count_up(void *object) { ++*(int *)object; }

static void raise_with_defers(void *object) {
    GuardDefer kept, taken_back, last;
    guard_defer(&kept, count_up, object);
    guard_defer(&taken_back, count_up, object);
    guard_defer(&last, count_up, object);
    guard_undefer(&taken_back);
    guard_raise(GUARD_backend, "no %s", "luck");
}

static void test_defers_run_on_the_way_out(void) {
    int runs = 0;
    CHECK_INT(kind_of(raise_with_defers, &runs), GUARD_backend);
    CHECK_INT(runs, 2);
}

static void raise_again(void *object) {
    ++*(int *)object;
    bug("a cleanup of %d", 7);
}

static void raise_in_a_defer(void *object) {
    GuardDefer outer, inner;
    guard_defer(&outer, count_up, object);
    guard_defer(&inner, raise_again, object);
    guard_raise(GUARD_memory, "first");
}

static void test_a_cleanup_that_raises(void) {
    int runs = 0;
    CHECK_INT(kind_of(raise_in_a_defer, &runs), GUARD_bug);
    CHECK_INT(runs, 2);
}

static void test_guards_nest_and_keep_the_message(void) {
    Guard outer;
    int runs = 0;
    guard_enter(&outer);
    if (setjmp(outer.jump) == 0) {
        CHECK_INT(kind_of(raise_with_defers, &runs), GUARD_backend);
        int three = 3;
        require(three == 4);
    }
    guard_leave(&outer);
    CHECK_INT(outer.kind, GUARD_bug);
    CHECK(strstr(outer.message, "base_memory.c:") != NULL);
    CHECK(strstr(outer.message, "three == 4") != NULL);
}

static void note_kind(void *object) { *(GuardKind *)object = guard_raised(); }

static void raise_where_llvm_runs(void *object) {
    GuardDefer defer;
    guard_defer(&defer, note_kind, object);
    CHECK(!guard_set_backend(true));
    CHECK(guard_scope().backend);
    CHECK(guard_raised() == GUARD_none);
    guard_raise(GUARD_backend_memory, "out of memory");
}

static void test_cleanups_know_what_was_raised(void) {
    GuardKind seen = GUARD_none;
    CHECK_INT(kind_of(raise_where_llvm_runs, &seen), GUARD_backend_memory);
    CHECK_INT(seen, GUARD_backend_memory);
    CHECK(guard_is_memory(seen) && guard_is_backend(seen));
    CHECK(guard_is_memory(GUARD_memory) && !guard_is_backend(GUARD_memory));
    CHECK(!guard_is_memory(GUARD_backend) && guard_is_backend(GUARD_backend));
    CHECK(!guard_scope().backend && !guard_set_backend(true) && !guard_scope().backend);
}

static void test_long_messages_are_cut(void) {
    Guard guard;
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    guard_enter(&guard);
    if (setjmp(guard.jump) == 0) bug("%s", text);
    guard_leave(&guard);
    CHECK_INT(strlen(guard.message), sizeof guard.message - 1);
}

static void test_maps_keep_order_and_replace(void) {
    Arena *arena = arena_new(NULL);
    Map map = {.arena = arena};
    int values[3];
    CHECK(map_get(&map, STR("a")) == NULL);
    CHECK(map_set(&map, STR("b"), &values[0]) == NULL);
    CHECK(map_set(&map, STR("a"), &values[1]) == NULL);
    CHECK(map_set(&map, STR("b"), &values[2]) == &values[0]);
    CHECK(map_set(&map, STR(""), &values[0]) == NULL);
    CHECK(map_set(&map, STR("a\0"), &values[0]) == NULL);
    CHECK_INT(map.count, 4);
    CHECK(str_equal(map.entries[0].key, STR("b")));
    CHECK(map_get(&map, STR("b")) == &values[2]);
    CHECK(map_get(&map, STR("a")) == &values[1]);
    CHECK(map_get(&map, STR("")) == &values[0]);
    CHECK(map_get(&map, STR("c")) == NULL);
    arena_free(arena);
}

static void test_maps_with_many_keys(void) {
    Arena *arena = arena_new(NULL);
    Map map = {.arena = arena};
    static char values[20000];
    for (size_t i = 0; i < sizeof values; i++)
        map_set(&map, str_format(arena, "%zx", i), &values[i]);
    size_t right = 0;
    for (size_t i = 0; i < sizeof values; i++) {
        right += map_get(&map, str_format(arena, "%zx", i)) == &values[i];
    }
    CHECK_INT(right, sizeof values);
    arena_free(arena);
}

int main(void) {
    RUN(test_memory_is_zeroed_aligned_and_apart);
    RUN(test_large_allocations_do_not_waste_the_block);
    RUN(test_impossible_sizes_raise);
    RUN(test_every_block_fails_once);
    RUN(test_defers_run_on_the_way_out);
    RUN(test_a_cleanup_that_raises);
    RUN(test_guards_nest_and_keep_the_message);
    RUN(test_cleanups_know_what_was_raised);
    RUN(test_long_messages_are_cut);
    RUN(test_maps_keep_order_and_replace);
    RUN(test_maps_with_many_keys);
    return test_done();
}
