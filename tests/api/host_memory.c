// The host's allocator serves all memory of ours: nothing is left out there, and each allocation
// may fail.
#include "tests/support/counted_memory.h"
#include "tests/support/host.h"

#include <tcc/graph.h>

static const char plain[] =
    "dim N in 1..64\n"
    "model m(x: f32[N, 4], w: f32[4, 8]) -> (y: f32[N, 8]) { y = softmax(relu(x @ w)) }\n";
static const char wrong[] = "model m(x: f32[4]) -> (y: f32[5]) { y = x + q }\n";

// A run whose input is strided, so that it is staged.
static tcc_status run(const tcc_model_api *api, tcc_session *session, void *stream) {
    static float x[64 * 4], w[4 * 8], y[64 * 8];
    tcc_tensor inputs[] = {host_matrix(x, 3, 4), host_matrix(w, 4, 8)},
               output = host_matrix(y, 3, 8);
    inputs[0].strides[0] = 1;
    inputs[0].strides[1] = 3;
    if (!stream) return api->run(session, inputs, 2, &output, 1);
    tcc_status status = api->enqueue(session, inputs, 2, &output, 1, stream);
    return status == TCC_OK ? api->sync(session) : status;
}

static tcc_status run_model(const tcc_model_api *api, tcc_model *model) {
    tcc_session *session = NULL;
    tcc_stream *stream = NULL;
    tcc_status status = api->session_new(model, &session);
    if (status == TCC_OK) status = run(api, session, NULL);
    if (status == TCC_OK) status = api->stream_new(model, NULL, &stream);
    if (status == TCC_OK) status = run(api, session, stream);
    api->session_free(session);
    api->stream_free(stream);
    return status;
}

static tcc_status use_unit(tcc_unit *unit) {
    const tcc_model_api *api;
    tcc_model *model;
    const char *text;
    size_t size;
    tcc_open_options options = {.size = sizeof options, .threads = 2};
    tcc_status status = tcc_unit_text(unit, "ir", &text, &size);
    if (status == TCC_OK) status = tcc_unit_text(unit, "asm", &text, &size);
    if (status == TCC_OK) status = tcc_unit_explain(unit, NULL, &text, &size);
    if (status == TCC_OK) status = tcc_unit_open(unit, &options, &api, &model);
    if (status != TCC_OK) return status;
    status = run_model(api, model);
    api->close(model);
    return status;
}

// Compiles, shows, opens and runs.
static tcc_status live(const tcc_compiler_options *options, const char *text) {
    tcc_compiler *compiler;
    tcc_unit *unit = NULL;
    tcc_status status = tcc_compiler_new_with(options, &compiler);
    if (status != TCC_OK) return status;
    status = tcc_set_option(compiler, "threads", "1");
    if (status == TCC_OK) status = tcc_set_option(compiler, "target", "native,sm_80");
    if (status == TCC_OK) status = tcc_compile_memory(compiler, "m.g", text, strlen(text), &unit);
    if (status == TCC_OK) status = use_unit(unit);
    tcc_unit_free(unit);
    tcc_compiler_free(compiler);
    return status;
}

static void check_balance(CountedMemory *m) {
    CHECK_INT(atomic_load(&m->blocks), 0);
    CHECK_INT(atomic_load(&m->bytes), 0);
    CHECK_INT(atomic_load(&m->wrong), 0);
}

static void test_all_memory_comes_back(void) {
    CountedMemory memory = {.left = -1};
    tcc_allocator allocator = counted_allocator(&memory);
    tcc_compiler_options options = {.size = sizeof options, .allocator = &allocator};
    CHECK_INT(live(&options, plain), TCC_OK);
    CHECK(atomic_load(&memory.calls) > 30);
    check_balance(&memory);
    CHECK_INT(live(&options, wrong), TCC_INVALID);
    check_balance(&memory);
}

// The allocator fails from its nth call on, for every n that matters.
static void test_every_allocation_may_fail(void) {
    CountedMemory memory = {.left = -1};
    tcc_allocator allocator = counted_allocator(&memory);
    tcc_compiler_options options = {.size = sizeof options, .allocator = &allocator};
    CHECK_INT(live(&options, plain), TCC_OK);
    long calls = atomic_load(&memory.calls), failed = 0;
    for (long n = 0; n < calls; n++) {
        atomic_store(&memory.left, n);
        tcc_status status = live(&options, plain);
        CHECK(status == TCC_MEMORY || status == TCC_OK);
        failed += status == TCC_MEMORY;
        check_balance(&memory);
    }
    CHECK(failed > calls / 2);
    atomic_store(&memory.left, -1);
    CHECK_INT(live(&options, plain), TCC_OK);
    check_balance(&memory);
}

// What the cache keeps is of the cache's allocator, and outlives the compilers.
// A host that leaves its blocks in a loop comes out of it, whichever call memory lacked in.
static void leave_blocks(const tcc_compiler_options *options) {
    tcc_compiler *compiler = NULL;
    tcc_graph *graph = NULL;
    if (tcc_compiler_new_with(options, &compiler) == TCC_OK &&
        tcc_graph_new(compiler, "blocks", &graph) == TCC_OK) {
        tcc_value c = tcc_graph_input(graph, "c", TCC_BOOL, NULL, 0), inside[2];
        tcc_value x = tcc_graph_input(graph, "x", TCC_F32, NULL, 0);
        tcc_graph_begin_cond(graph, c);
        tcc_graph_begin_loop(graph, (tcc_value[]){x}, 1, 4, inside);
        tcc_graph_do(graph, c, inside);
        tcc_graph_unary(graph, "-", inside[0]);
        int calls = 0;
        while (tcc_graph_depth(graph) > 0 && CHECK(calls++ < 4)) tcc_graph_abandon(graph);
    }
    tcc_graph_free(graph);
    tcc_compiler_free(compiler);
}

static void test_blocks_of_a_lost_graph(void) {
    CountedMemory memory = {.left = -1};
    tcc_allocator own = counted_allocator(&memory);
    tcc_compiler_options options = {.size = sizeof options, .allocator = &own};
    leave_blocks(&options);
    long all = atomic_load(&memory.calls);
    CHECK(all > 10);
    for (long left = 0; left < all; left++) {
        atomic_store(&memory.left, left);
        leave_blocks(&options);
        check_balance(&memory);
    }
}

static void test_memory_of_a_shared_cache(void) {
    CountedMemory own = {.left = -1}, shared = {.left = -1};
    tcc_allocator own_allocator = counted_allocator(&own);
    tcc_allocator shared_allocator = counted_allocator(&shared);
    tcc_cache_options cache_options = {.size = sizeof cache_options,
                                       .allocator = &shared_allocator};
    tcc_cache *cache;
    if (!CHECK_INT(tcc_cache_new(&cache_options, &cache), TCC_OK)) return;
    tcc_compiler_options options = {
        .size = sizeof options, .allocator = &own_allocator, .cache = cache};
    CHECK_INT(live(&options, plain), TCC_OK);
    check_balance(&own);
    CHECK(atomic_load(&shared.bytes) > 10000);
    tcc_cache_free(cache);
    check_balance(&shared);
}

// A model has the compiler's allocator, or that of its own options.
static void test_memory_of_a_model(void) {
    CountedMemory own = {.left = -1}, runs = {.left = -1};
    tcc_allocator own_allocator = counted_allocator(&own), run_allocator = counted_allocator(&runs);
    tcc_compiler_options options = {.size = sizeof options, .allocator = &own_allocator};
    tcc_open_options open = {.size = sizeof open, .allocator = &run_allocator};
    tcc_compiler *compiler;
    tcc_unit *unit;
    const tcc_model_api *api;
    tcc_model *model;
    CHECK_INT(tcc_compiler_new_with(&options, &compiler), TCC_OK);
    CHECK_INT(tcc_compile_memory(compiler, "m.g", plain, strlen(plain), &unit), TCC_OK);
    if (!CHECK_INT(tcc_unit_open(unit, &open, &api, &model), TCC_OK)) return;
    tcc_unit_free(unit);
    tcc_compiler_free(compiler);
    CHECK(atomic_load(&own.bytes) > 0); // the code, which the model keeps
    long before = atomic_load(&own.calls);
    CHECK_INT(run_model(api, model), TCC_OK);
    CHECK_INT(atomic_load(&own.calls), before);
    CHECK(atomic_load(&runs.calls) > 5);
    api->close(model);
    check_balance(&own);
    check_balance(&runs);
}

static void test_half_an_allocator_is_refused(void) {
    CountedMemory memory = {.left = -1};
    tcc_allocator allocator = counted_allocator(&memory), half = allocator, shorter = allocator;
    half.release = NULL;
    shorter.size = 8;
    tcc_compiler *compiler;
    tcc_cache *cache;
    const tcc_allocator *bad[] = {&half, &shorter};
    for (int i = 0; i < 2; i++) {
        tcc_compiler_options options = {.size = sizeof options, .allocator = bad[i]};
        tcc_cache_options cached = {.size = sizeof cached, .allocator = bad[i]};
        CHECK_INT(tcc_compiler_new_with(&options, &compiler), TCC_INVALID);
        CHECK(compiler == NULL);
        CHECK_INT(tcc_cache_new(&cached, &cache), TCC_INVALID);
        CHECK(cache == NULL);
    }
}

int main(void) {
    RUN(test_all_memory_comes_back);
    RUN(test_every_allocation_may_fail);
    RUN(test_blocks_of_a_lost_graph);
    RUN(test_memory_of_a_shared_cache);
    RUN(test_memory_of_a_model);
    RUN(test_half_an_allocator_is_refused);
    return test_done();
}
