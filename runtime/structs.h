/* Structs of the API that begin with their size, so that hosts and libraries of different versions
 * understand each other: what one of them does not know has its default. */
#ifndef TCC_RUNTIME_STRUCTS_H
#define TCC_RUNTIME_STRUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The size of a struct of the first version, whose last member was `member`. */
#define STRUCT_UPTO(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/* Copies what the host gave, of `least` bytes or more, over the defaults in `to`. A larger struct
 * is a newer one: false when it asks for something, by a byte that is not 0, that is not known
 * here. `from` NULL leaves the defaults. */
static inline bool struct_take(void *to, size_t size, const void *from, size_t least) {
    uint32_t given;
    if (from == NULL) return true;
    memcpy(&given, from, sizeof given);
    if (given < least) return false;
    for (size_t i = size; i < given; i++)
        if (((const char *)from)[i] != 0) return false;
    memcpy(to, from, given < size ? given : size);
    return true;
}

/* Copies as much as the host's struct holds; its own size stays. What a newer host knows beyond is
 * zeroed. */
static inline bool struct_give(void *to, const void *from, size_t size, size_t least) {
    uint32_t room;
    memcpy(&room, to, sizeof room);
    if (room < least) return false;
    memset(to, 0, room);
    memcpy(to, from, room < size ? room : size);
    memcpy(to, &room, sizeof room);
    return true;
}

#endif
