// A caller's tensor in memory that is laid out in an awkward way, with poisoned bytes around and
// between its elements, so that what touches anything but the elements shows.
#ifndef TCC_TESTS_SUPPORT_PLACED_TENSOR_H
#define TCC_TESTS_SUPPORT_PLACED_TENSOR_H

#include "base/arena.h"
#include "ir/tensor.h"

#include <tcc/model.h>

typedef enum Placement {
    PLACE_dense,
    PLACE_shifted,   // one element behind a 64-byte boundary: aligned for its dtype only
    PLACE_unaligned, // one byte behind it
    PLACE_permuted,  // the first axis is the innermost
    PLACE_spread,    // every second element along the last axis, a gap behind each row
    PLACE_reversed,  // strides below zero
    PLACE_count
} Placement;

typedef struct PlacedTensor {
    tcc_tensor view;
    Tensor shape; // its data is not used
    unsigned char *memory;
    size_t size;
} PlacedTensor;

// Room for a tensor of `shape`, all of it poisoned. 4-bit tensors are always dense.
void placed_tensor_new(Arena *arena, const Tensor *shape, Placement placement, PlacedTensor *out);

// Copies dense elements in, and out.
void placed_tensor_put(PlacedTensor *placed, const void *dense);
void placed_tensor_get(const PlacedTensor *placed, void *dense);

// Whether every byte outside the elements, and in the elements where `elements_too`, is poisoned
// still.
bool placed_tensor_is_untouched(const PlacedTensor *placed, bool elements_too, Arena *arena);

// Poisons everything again.
void placed_tensor_poison(PlacedTensor *placed);

#endif
