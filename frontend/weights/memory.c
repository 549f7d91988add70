/* Tensors whose bytes come from the caller's memory. */
#include "frontend/weights/load.h"

Weight *weights_add(WeightTable *table, const Weight *shape, void **out_bytes) {
    Weight *weight = arena_copy(weight_table_arena(table), shape, sizeof *shape);
    weight->storage = weight_table_add_storage(table);
    weight->bytes = *out_bytes = weight_storage_alloc(weight->storage, shape->size);
    return weight;
}

void weights_name(WeightTable *table, Weight *weight, Str name) {
    weight->name = str_copy(weight_table_arena(table), name);
    weight_table_enter(table, weight);
}
