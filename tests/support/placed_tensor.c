#include "tests/support/placed_tensor.h"

#include <string.h>

enum { GUARD = 64, POISON = 0xA5 };

// Bytes of the unit that strides count: an element, or for 4-bit tensors a byte of two.
static size_t unit_bytes(DType dtype) {
    uint32_t bits = dtype_info(dtype)->bits;
    return bits < 8 ? 1 : bits / 8;
}

// The strides of a placement in elements, and the index of the first element in the room.
static int64_t choose_strides(const Tensor *shape, Placement placement, int64_t *strides,
                              int64_t *out_room) {
    int64_t stride = placement == PLACE_spread ? 2 : 1, first = 0;
    for (uint32_t i = 0; i < shape->rank; i++) {
        uint32_t axis = placement == PLACE_permuted ? i : shape->rank - 1 - i;
        strides[axis] = stride;
        stride *= shape->dims[axis] > 0 ? shape->dims[axis] : 1;
        if (placement == PLACE_spread) stride += 3;
    }
    for (uint32_t i = 0; placement == PLACE_reversed && i < shape->rank; i++) {
        if (shape->dims[i] > 0) first += (shape->dims[i] - 1) * strides[i];
        strides[i] = -strides[i];
    }
    *out_room = stride;
    return first;
}

void placed_tensor_new(Arena *arena, const Tensor *shape, Placement placement, PlacedTensor *out) {
    size_t unit = unit_bytes(shape->dtype);
    bool packed = dtype_info(shape->dtype)->bits < 8;
    if (packed && placement != PLACE_dense) placement = PLACE_shifted;
    *out = (PlacedTensor){.shape = *shape};
    tcc_tensor *view = &out->view;
    *view = (tcc_tensor){.size = sizeof *view,
                         .device = TCC_CPU,
                         .dtype = (int32_t)shape->dtype,
                         .rank = shape->rank};
    memcpy(view->dims, shape->dims, sizeof view->dims);
    int64_t room, first = choose_strides(shape, placement, view->strides, &room);
    if (placement <= PLACE_unaligned) memset(view->strides, 0, sizeof view->strides);
    size_t shift = placement == PLACE_shifted ? unit : placement == PLACE_unaligned ? 1 : 0;
    out->size = 2 * GUARD + shift + (packed ? tensor_bytes(shape) : (size_t)room * unit);
    char *raw = arena_alloc(arena, out->size + GUARD);
    out->memory = (unsigned char *)raw + (GUARD - (uintptr_t)raw % GUARD) % GUARD;
    // Half of the way to the first element goes by the offset.
    view->byte_offset = GUARD / 2 + shift + (size_t)first * unit;
    view->data = out->memory + GUARD / 2;
    placed_tensor_poison(out);
}

void placed_tensor_poison(PlacedTensor *placed) { memset(placed->memory, POISON, placed->size); }

// Calls visit(data, address, i, bytes) for each unit of the tensor in row-major order.
static void walk(const PlacedTensor *placed, void *data,
                 void (*visit)(void *data, unsigned char *at, size_t i, size_t bytes)) {
    const tcc_tensor *v = &placed->view;
    unsigned char *begin = (unsigned char *)v->data + v->byte_offset;
    size_t unit = unit_bytes(placed->shape.dtype), whole = tensor_bytes(&placed->shape);
    int64_t index[TCC_MAX_RANK] = {0};
    bool packed = dtype_info(placed->shape.dtype)->bits < 8, dense = true;
    for (uint32_t i = 0; i < v->rank; i++) dense = dense && v->strides[i] == 0;
    if (packed) unit = 1;
    if (packed || dense) {
        for (size_t i = 0; i < whole / unit; i++) visit(data, begin + i * unit, i, unit);
        return;
    }
    for (size_t i = 0; i < whole / unit; i++) {
        int64_t offset = 0;
        for (uint32_t a = 0; a < v->rank; a++) offset += index[a] * v->strides[a];
        visit(data, begin + offset * (int64_t)unit, i, unit);
        for (uint32_t a = v->rank; a-- > 0 && ++index[a] == v->dims[a];) index[a] = 0;
    }
}

static void put(void *data, unsigned char *at, size_t i, size_t bytes) {
    memcpy(at, (const char *)data + i * bytes, bytes);
}

static void get(void *data, unsigned char *at, size_t i, size_t bytes) {
    memcpy((char *)data + i * bytes, at, bytes);
}

void placed_tensor_put(PlacedTensor *placed, const void *dense) {
    walk(placed, (void *)(uintptr_t)dense, put);
}

void placed_tensor_get(const PlacedTensor *placed, void *dense) { walk(placed, dense, get); }

typedef struct Copy {
    const PlacedTensor *placed;
    unsigned char *bytes;
} Copy;

static void poison(void *data, unsigned char *at, size_t i, size_t bytes) {
    Copy *copy = data;
    (void)i;
    memset(copy->bytes + (at - copy->placed->memory), POISON, bytes);
}

bool placed_tensor_is_untouched(const PlacedTensor *placed, bool elements_too, Arena *arena) {
    Copy copy = {placed, arena_alloc(arena, placed->size)};
    memcpy(copy.bytes, placed->memory, placed->size);
    if (!elements_too) walk(placed, &copy, poison);
    for (size_t i = 0; i < placed->size; i++)
        if (copy.bytes[i] != POISON) return false;
    return true;
}
