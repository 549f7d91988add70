#include "ir/type.h"

#include "base/guard.h"
#include "ir/intern.h"

#include <string.h>

static uint64_t hash_type(const Type *type) {
    uint64_t hash = hash_word(type->is_tuple, type->dtype);
    for (uint32_t i = 0; i < type->rank; i++) hash = hash_word(hash, type->dims[i]->id);
    for (uint32_t i = 0; i < type->item_count; i++) hash = hash_word(hash, type->items[i]->id);
    return hash;
}

static bool type_equal(const void *item, const void *key) {
    const Type *a = item, *b = key;
    if (a->is_tuple != b->is_tuple || a->dtype != b->dtype || a->rank != b->rank) return false;
    if (a->item_count != b->item_count) return false;
    if (a->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) != 0) return false;
    return !a->item_count || !memcmp(a->items, b->items, a->item_count * sizeof *a->items);
}

static const Type *intern_type(IrContext *ctx, const Type *key) {
    uint64_t hash = hash_type(key);
    const Type *found = intern_find(&ctx->types, hash, type_equal, key);
    if (found) return found;
    Type *type = arena_copy(ctx->arena, key, sizeof *key);
    type->items = arena_copy(ctx->arena, key->items, key->item_count * sizeof *key->items);
    type->id = ctx->type_count++;
    intern_add(&ctx->types, ctx->arena, hash, type);
    return type;
}

const Type *type_tensor(IrContext *ctx, DType dtype, uint32_t rank, const Dim *const *dims) {
    require(rank <= TYPE_MAX_RANK);
    Type key = {.dtype = dtype, .rank = rank};
    for (uint32_t i = 0; i < rank; i++) key.dims[i] = dims[i];
    return intern_type(ctx, &key);
}

const Type *type_scalar(IrContext *ctx, DType dtype) { return type_tensor(ctx, dtype, 0, NULL); }

const Type *type_tuple(IrContext *ctx, uint32_t count, const Type *const *items) {
    require(count <= TYPE_MAX_ITEMS);
    Type key = {.is_tuple = true, .item_count = count, .items = items};
    return intern_type(ctx, &key);
}

const Type *type_with_dtype(IrContext *ctx, const Type *type, DType dtype) {
    require(!type->is_tuple);
    return type_tensor(ctx, dtype, type->rank, type->dims);
}

const Dim *type_elements(IrContext *ctx, const Type *type) {
    const Dim *count = dim_const(ctx, 1);
    for (uint32_t i = 0; i < type->rank; i++) count = dim_mul(ctx, count, type->dims[i]);
    return count;
}

bool type_is_static(const Type *type, int64_t *out_count) {
    int64_t count = 1, dim;
    bool fits = true;
    for (uint32_t i = 0; i < type->rank; i++) {
        if (!dim_is_const(type->dims[i], &dim)) return false;
        fits = !__builtin_mul_overflow(count, dim, &count) && fits;
    }
    if (!fits) return false;
    if (out_count) *out_count = count;
    return true;
}

/* Bits are counted first, since 4-bit values share bytes. */
static const Dim *compute_bytes(IrContext *ctx, const Type *type) {
    const DTypeInfo *info = dtype_info(type->dtype);
    const Dim *count = type_elements(ctx, type);
    if (info->bits % 8 == 0) return dim_scale(ctx, count, info->bits / 8);
    return dim_ceildiv(ctx, dim_scale(ctx, count, info->bits), dim_const(ctx, 8));
}

/* Each node that is made is measured, most often by a type that was seen before. */
const Dim *type_bytes(IrContext *ctx, const Type *type) {
    TypeSize *known = &ctx->sizes[type->id % SIZE_CACHE];
    if (known->type != type) *known = (TypeSize){type, compute_bytes(ctx, type)};
    return known->bytes;
}

void buf_type(Buf *buf, const Type *type) {
    if (!type->is_tuple) buf_print(buf, "%s", dtype_name(type->dtype));
    buf_char(buf, type->is_tuple ? '(' : '[');
    uint32_t count = type->is_tuple ? type->item_count : type->rank;
    for (uint32_t i = 0; i < count; i++) {
        if (i) buf_put(buf, STR(", "));
        if (type->is_tuple) {
            buf_type(buf, type->items[i]);
        } else {
            buf_dim(buf, type->dims[i]);
        }
    }
    buf_char(buf, type->is_tuple ? ')' : ']');
}

/* Reads a name of letters and digits. */
static Str take_word(Str *text) {
    Str word = {text->data, 0};
    while (word.size < text->size) {
        char c = text->data[word.size];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!good) break;
        word.size++;
    }
    *text = (Str){text->data + word.size, text->size - word.size};
    return word;
}

static void skip_blanks(Str *text) {
    while (text->size && text->data[0] == ' ') *text = (Str){text->data + 1, text->size - 1};
}

static bool accept(Str *text, char c) {
    skip_blanks(text);
    if (!text->size || text->data[0] != c) return false;
    *text = (Str){text->data + 1, text->size - 1};
    return true;
}

static const Type *parse_tensor(IrContext *ctx, Str *text) {
    const Dim *dims[TYPE_MAX_RANK];
    uint32_t rank = 0;
    DType dtype;
    skip_blanks(text);
    if (!dtype_parse(take_word(text), &dtype) || !accept(text, '[')) return NULL;
    for (bool more = !accept(text, ']'); more; more = !accept(text, ']')) {
        if (rank == TYPE_MAX_RANK || (rank && !accept(text, ','))) return NULL;
        dims[rank] = dim_parse(ctx, text);
        if (!dims[rank++]) return NULL;
    }
    return type_tensor(ctx, dtype, rank, dims);
}

static const Type *parse_tuple(IrContext *ctx, Str *text) {
    const Type *items[TYPE_MAX_ITEMS];
    uint32_t count = 0;
    for (bool more = !accept(text, ')'); more; more = !accept(text, ')')) {
        if (count == TYPE_MAX_ITEMS || (count && !accept(text, ','))) return NULL;
        items[count] = parse_tensor(ctx, text);
        if (!items[count++]) return NULL;
    }
    return type_tuple(ctx, count, items);
}

const Type *type_parse(IrContext *ctx, Str *text) {
    Str rest = *text;
    const Type *type = accept(&rest, '(') ? parse_tuple(ctx, &rest) : parse_tensor(ctx, &rest);
    if (type) *text = rest;
    return type;
}
