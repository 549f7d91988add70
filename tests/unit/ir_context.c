// Interned lists, strings and blobs; dtypes; the op table.
#include "tests/unit/test.h"

#include "ir/context.h"
#include "ir/ops.h"

static void test_lists_are_interned(void) {
    Arena *arena = arena_new(NULL);
    IrContext *ctx = ir_context_new(arena);
    const IntList *lists[1000];
    for (int64_t i = 0; i < 1000; i++) lists[i] = ir_ints(ctx, (int64_t[]){i, i * i}, 2);
    for (int64_t i = 0; i < 1000; i++) {
        CHECK(ir_ints(ctx, (int64_t[]){i, i * i}, 2) == lists[i]);
        CHECK_INT(lists[i]->items[1], i * i);
    }
    CHECK(ir_ints(ctx, NULL, 0) == ir_ints(ctx, NULL, 0));
    CHECK(ir_ints(ctx, (int64_t[]){0}, 1) != ir_ints(ctx, NULL, 0));
    CHECK(ir_string(ctx, STR("abc")) == ir_string(ctx, (Str){"abcd", 3}));
    CHECK(ir_string(ctx, STR("abc")) != ir_string(ctx, STR("abd")));
    ir_context_free(ctx);
    arena_free(arena);
}

static void count_release(void *owner) { ++*(int *)owner; }

static void test_blobs(void) {
    Arena *arena = arena_new(NULL);
    IrContext *ctx = ir_context_new(arena);
    const Blob *one = ir_blob(ctx, "1234", 4);
    CHECK(ir_blob(ctx, "1234", 4) == one && ir_blob(ctx, "1235", 4) != one);
    CHECK(ir_blob(ctx, NULL, 0) == ir_blob(ctx, "", 0));
    int kept = 0, dropped = 0;
    static const char bytes[] = "mapped weights";
    const Blob *mapped = ir_blob_adopt(ctx, bytes, sizeof bytes, count_release, &kept);
    CHECK(mapped->bytes == bytes);
    CHECK(ir_blob_adopt(ctx, "1234", 4, count_release, &dropped) == one);
    CHECK_INT(kept, 0);
    CHECK_INT(dropped, 1);
    ir_context_free(ctx);
    CHECK_INT(kept, 1);
    arena_free(arena);
}

static void test_dtypes(void) {
    for (unsigned i = 0; i < DT_count; i++) {
        DType back;
        CHECK(dtype_parse(str_from(dtype_name((DType)i)), &back) && back == (DType)i);
    }
    DType none;
    CHECK(!dtype_parse(STR("f31"), &none));
    int64_t bytes;
    CHECK(dtype_bytes(DT_i4, 3, &bytes) && bytes == 2);
    CHECK(dtype_bytes(DT_f64, 0, &bytes) && bytes == 0);
    CHECK(!dtype_bytes(DT_f64, INT64_MAX / 8, &bytes) && !dtype_bytes(DT_u8, -1, &bytes));
    CHECK(dtype_is_int(DT_u4) && !dtype_is_int(DT_bool) && !dtype_is_int(DT_f16));
    CHECK_INT(dtype_compute(DT_f8e5m2), DT_f32);
    CHECK_INT(dtype_compute(DT_i8), DT_i8);
    CHECK_INT(dtype_accumulate(DT_u8), DT_u32);
    CHECK_INT(dtype_accumulate(DT_bf16), DT_f32);
}

static void test_ops(void) {
    for (unsigned i = OP_none + 1; i < OP_count; i++) {
        const OpInfo *info = op_info((Op)i);
        Op back;
        CHECK(op_parse(str_from(info->name), &back) && back == (Op)i);
        CHECK(info->attr_count <= OP_MAX_ATTRS && info->dtypes);
        for (uint32_t k = 0; k < info->attr_count; k++) CHECK(info->attrs[k].name);
    }
    Op none;
    CHECK(!op_parse(STR("none"), &none) && !op_parse(STR("no_such"), &none));
    CHECK_INT(op_info(OP_window_sum)->attr_count, 5);
    CHECK_INT(op_info(OP_add)->attr_count, 0);
    CHECK(op_accepts(OP_not, DT_bool) && !op_accepts(OP_not, DT_f32));
    CHECK(op_is_elementwise(OP_cast) && !op_is_elementwise(OP_iota));
}

int main(void) {
    RUN(test_lists_are_interned);
    RUN(test_blobs);
    RUN(test_dtypes);
    RUN(test_ops);
    return test_done();
}
