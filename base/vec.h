/* Growing arrays in an arena: VEC(T) is a struct type {data, count, capacity}, zero-initialised. */
#ifndef TCC_BASE_VEC_H
#define TCC_BASE_VEC_H

#include "base/arena.h"

#define VEC(T)                                                                                     \
    struct {                                                                                       \
        T *data;                                                                                   \
        size_t count, capacity;                                                                    \
    }

#define vec_push(arena, vec, ...)                                                                  \
    ((vec)->count == (vec)->capacity                                                               \
         ? (void)((vec)->data = vec_grow((arena), (vec)->data, (vec)->count, &(vec)->capacity,     \
                                         sizeof *(vec)->data))                                     \
         : (void)0,                                                                                \
     (void)((vec)->data[(vec)->count++] = (__VA_ARGS__)))

/* For vec_push: a block of at least twice the capacity with the `count` old items copied. */
void *vec_grow(Arena *arena, const void *items, size_t count, size_t *capacity, size_t item_size);

#endif
