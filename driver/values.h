/* Elements of tensors as text. */
#ifndef TCC_DRIVER_VALUES_H
#define TCC_DRIVER_VALUES_H

#include <stdbool.h>
#include <stdint.h>
#include <tcc/tcc.h>

enum { VALUE_SIZE = 40 };

/* "f32"; "?" for what is none. */
const char *dtype_text(int32_t dtype);

/* The number of elements. The tensors here come from tcc_array, so this does not overflow. */
int64_t tensor_element_count(const tcc_tensor *tensor);

/* Element `index` (row-major) of a dense tensor, so short that it still reads back as the same
 * value of its dtype: true, -3, 0.1, nan, inf. */
void value_text(char out[VALUE_SIZE], const tcc_tensor *tensor, int64_t index);

/* Whether the text of a value is a number or word of JSON: nan and inf are not. */
bool value_is_json(const char *text);

/* Fills a dense tensor with ones. */
void tensor_fill_ones(const tcc_tensor *tensor);

/* Prints a dense tensor to stdout. */
void tensor_print(const tcc_tensor *tensor);

/* "[8, 10]" into `out`, cut off where it is longer. */
void shape_text(char *out, size_t size, uint32_t rank, const int64_t *dims);

#endif
