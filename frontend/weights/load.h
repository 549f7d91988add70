/* Between the table and the loading of files; for frontend/weights alone. */
#ifndef TCC_FRONTEND_WEIGHTS_LOAD_H
#define TCC_FRONTEND_WEIGHTS_LOAD_H

#include "base/file.h"
#include "frontend/weights/weights.h"

Arena *weight_table_arena(const WeightTable *table);

/* A new storage that the table holds a reference to, and its file's bytes, to be filled. */
WeightStorage *weight_table_add_storage(WeightTable *table);
FileBytes *weight_storage_bytes(WeightStorage *storage);
/* Memory that lives as long as the storage. Raises GUARD_memory. */
void *weight_storage_alloc(WeightStorage *storage, size_t size);

/* The weight as one of the table's; its name is new. */
void weight_table_enter(WeightTable *table, Weight *weight);
void weight_table_add_source(WeightTable *table, Str path, const void *bytes, size_t size);

#endif
