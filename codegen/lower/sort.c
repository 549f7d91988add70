/* Sorting: a function of its own that merges runs of 1, 2, 4, … keys bottom up, back and forth
 * between the row and the spare one, and their indices beside them. A key of the right run goes
 * first only when it must, so equal keys keep their order. Its variables live in stack slots, which
 * LLVM turns into registers. */
#include "codegen/lower/lowering.h"

typedef struct Sorter {
    DType dtype;
    bool descending;
    V keys[2], indices[2];                       /* slots of the row to read and the row to write */
    V width, low, middle, high, left, right, at; /* slots of i64 */
    V count;
} Sorter;

static V get(Lowering *l, V slot) { return LLVMBuildLoad2(l->builder, l->i64, slot, ""); }

static V get_row(Lowering *l, V slot) { return LLVMBuildLoad2(l->builder, l->ptr, slot, ""); }

static void set(Lowering *l, V slot, V value) { LLVMBuildStore(l->builder, value, slot); }

/* ---- elements -------------------------------------------------------------------------------- */

static LLVMTypeRef key_storage(Lowering *l, DType dtype) {
    MathContext m = values_math(l, 1);
    return math_storage_type(&m, dtype);
}

static V key_address(Lowering *l, DType dtype, V row, V at) {
    if (nibble_is(dtype)) at = LLVMBuildLShr(l->builder, at, ll_i64(l, 1), "");
    return ll_gep(l, key_storage(l, dtype), row, at);
}

V sort_load_key(Lowering *l, DType dtype, V row, V at) {
    V stored =
        LLVMBuildLoad2(l->builder, key_storage(l, dtype), key_address(l, dtype, row, at), "");
    return nibble_is(dtype) ? nibble_take(l, dtype, stored, at) : stored;
}

void sort_store_key(Lowering *l, DType dtype, V row, V at, V key) {
    V address = key_address(l, dtype, row, at);
    if (nibble_is(dtype))
        nibble_store(l, address, at, key, NIBBLE_alone);
    else
        LLVMBuildStore(l->builder, key, address);
}

V sort_is_less(Lowering *l, DType dtype, V a, V b) {
    MathContext m = values_math(l, 1);
    a = values_to_register_form(l, dtype, values_from_storage(l, dtype, a), 1);
    b = values_to_register_form(l, dtype, values_from_storage(l, dtype, b), 1);
    V less = math_compare(&m, OP_lt, dtype, a, b);
    if (!dtype_is_float(dtype)) return less;
    V number = math_compare(&m, OP_eq, dtype, a, a), nan = math_compare(&m, OP_ne, dtype, b, b);
    return LLVMBuildOr(l->builder, less, ll_and(l, number, nan), "");
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* while (slot < limit) { body } */
static void emit_while(Lowering *l, const Sorter *s, V slot, V limit,
                       void (*body)(Lowering *, const Sorter *)) {
    LLVMBasicBlockRef test = ll_block(l, "test"), inside = ll_block(l, "body");
    LLVMBasicBlockRef behind = ll_block(l, "behind");
    ll_jump(l, test);
    ll_enter(l, test);
    V bound = LLVMGetTypeKind(LLVMTypeOf(limit)) == LLVMPointerTypeKind ? get(l, limit) : limit;
    ll_branch(l, ll_compare(l, LLVMIntSLT, get(l, slot), bound), inside, behind);
    ll_enter(l, inside);
    body(l, s);
    ll_jump(l, test);
    ll_enter(l, behind);
}

/* Moves one element from `from` to the place written next. */
static void take(Lowering *l, const Sorter *s, V slot) {
    V from = get(l, slot), to = get(l, s->at);
    V key = sort_load_key(l, s->dtype, get_row(l, s->keys[0]), from);
    sort_store_key(l, s->dtype, get_row(l, s->keys[1]), to, key);
    V index =
        LLVMBuildLoad2(l->builder, l->i64, ll_gep(l, l->i64, get_row(l, s->indices[0]), from), "");
    LLVMBuildStore(l->builder, index, ll_gep(l, l->i64, get_row(l, s->indices[1]), to));
    set(l, slot, ll_add(l, from, ll_i64(l, 1)));
    set(l, s->at, ll_add(l, to, ll_i64(l, 1)));
}

static V right_goes_first(Lowering *l, const Sorter *s) {
    V row = get_row(l, s->keys[0]);
    V a = sort_load_key(l, s->dtype, row, get(l, s->right));
    V b = sort_load_key(l, s->dtype, row, get(l, s->left));
    return s->descending ? sort_is_less(l, s->dtype, b, a) : sort_is_less(l, s->dtype, a, b);
}

/* One step of a merge: the left run is over, the right one is, or their keys decide. */
static void merge_step(Lowering *l, const Sorter *s) {
    LLVMBasicBlockRef some = ll_block(l, "some"), both = ll_block(l, "both");
    LLVMBasicBlockRef left = ll_block(l, "left"), right = ll_block(l, "right");
    LLVMBasicBlockRef behind = ll_block(l, "taken");
    ll_branch(l, ll_compare(l, LLVMIntSLT, get(l, s->left), get(l, s->middle)), some, right);
    ll_enter(l, some);
    ll_branch(l, ll_compare(l, LLVMIntSLT, get(l, s->right), get(l, s->high)), both, left);
    ll_enter(l, both);
    ll_branch(l, right_goes_first(l, s), right, left);
    ll_enter(l, left);
    take(l, s, s->left);
    ll_jump(l, behind);
    ll_enter(l, right);
    take(l, s, s->right);
    ll_jump(l, behind);
    ll_enter(l, behind);
}

/* Merges low..middle and middle..high. */
static void merge_pair(Lowering *l, const Sorter *s) {
    V low = get(l, s->low), width = get(l, s->width);
    V middle = ll_min(l, ll_add(l, low, width), s->count);
    set(l, s->middle, middle);
    set(l, s->high, ll_min(l, ll_add(l, middle, width), s->count));
    set(l, s->left, low);
    set(l, s->right, middle);
    set(l, s->at, low);
    emit_while(l, s, s->at, s->high, merge_step);
    set(l, s->low, get(l, s->high));
}

static void swap_rows(Lowering *l, const V *slots) {
    V first = get_row(l, slots[0]), second = get_row(l, slots[1]);
    set(l, slots[0], second);
    set(l, slots[1], first);
}

static void merge_all(Lowering *l, const Sorter *s) {
    set(l, s->low, ll_i64(l, 0));
    emit_while(l, s, s->low, s->count, merge_pair);
    swap_rows(l, s->keys);
    swap_rows(l, s->indices);
    V width = get(l, s->width);
    set(l, s->width, ll_add(l, width, width));
}

static void copy_one(Lowering *l, const Sorter *s) { take(l, s, s->left); }

/* When the last merge wrote into the spare rows. */
static void copy_back(Lowering *l, const Sorter *s, V row) {
    LLVMBasicBlockRef copy = ll_block(l, "copy"), done = ll_block(l, "sorted");
    ll_branch(l, ll_compare(l, LLVMIntEQ, get_row(l, s->keys[0]), row), done, copy);
    ll_enter(l, copy);
    set(l, s->left, ll_i64(l, 0));
    set(l, s->at, ll_i64(l, 0));
    emit_while(l, s, s->at, s->count, copy_one);
    ll_jump(l, done);
    ll_enter(l, done);
}

/* ---- the function (keys, indices, spare keys, spare indices, count) and its call ------------- */

static V slot_of(Lowering *l, LLVMTypeRef type) { return ll_alloca(l, type, 1, 8); }

static void make_slots(Lowering *l, Sorter *s) {
    V *numbers[] = {&s->width, &s->low, &s->middle, &s->high, &s->left, &s->right, &s->at};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) *numbers[i] = slot_of(l, l->i64);
    for (uint32_t i = 0; i < 2; i++) {
        s->keys[i] = slot_of(l, l->ptr);
        s->indices[i] = slot_of(l, l->ptr);
        set(l, s->keys[i], LLVMGetParam(l->function, 2 * i));
        set(l, s->indices[i], LLVMGetParam(l->function, 2 * i + 1));
    }
}

static void emit_sorter(Lowering *l, DType dtype, bool descending) {
    Sorter s = {.dtype = dtype, .descending = descending};
    s.count = LLVMGetParam(l->function, 4);
    ll_enter(l, ll_block(l, "entry"));
    make_slots(l, &s);
    set(l, s.width, ll_i64(l, 1));
    emit_while(l, &s, s.width, s.count, merge_all);
    copy_back(l, &s, LLVMGetParam(l->function, 0));
    LLVMBuildRetVoid(l->builder);
}

static LLVMValueRef sorter(Lowering *l, DType dtype, bool descending) {
    Str name = str_format(l->arena, "%s.sort_%s_%s", l->symbol, dtype_name(dtype),
                          descending ? "down" : "up");
    LLVMValueRef known = LLVMGetNamedFunction(l->module, name.data);
    if (known) return known;
    LLVMBasicBlockRef here = ll_here(l);
    LLVMValueRef caller = l->function;
    LLVMMetadataRef place = LLVMGetCurrentDebugLocation2(l->builder);
    LLVMSetCurrentDebugLocation2(l->builder, NULL); /* the function is no place of the caller's */
    LLVMTypeRef types[5] = {l->ptr, l->ptr, l->ptr, l->ptr, l->i64};
    l->function = ll_function(l, name.data, l->nothing, types, 5, LLVMInternalLinkage);
    LLVMValueRef made = l->function;
    for (uint32_t i = 1; i <= 4; i++) ll_attribute(l, made, i, "nonnull", 0);
    emit_sorter(l, dtype, descending);
    l->function = caller;
    ll_enter(l, here);
    LLVMSetCurrentDebugLocation2(l->builder, place);
    return made;
}

typedef struct SortCall {
    LLVMValueRef function;
    V args[5];
} SortCall;

static void emit_call(Lowering *l, void *user) {
    SortCall *call = user;
    LLVMTypeRef type = LLVMGlobalGetValueType(call->function);
    LLVMBuildCall2(l->builder, type, call->function, call->args, 5, "");
}

void lower_sort(Lowering *l, const TileInstr *instr) {
    DType dtype = l->program->views.data[instr->views[0]].dtype;
    if (l->model->sort && !nibble_is(dtype)) {
        l->model->sort(l, instr);
        return;
    }
    require(instr->views[0] != instr->views[2]);
    SortCall call = {.function = sorter(l, dtype, instr->descending)};
    for (uint32_t i = 0; i < 4; i++) call.args[i] = l->views[instr->views[i]];
    call.args[4] = dims_emit(l, instr->value);
    l->model->one_lane(l, emit_call, &call);
}
